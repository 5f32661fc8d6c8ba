// The verbs of v1.Extender: a session's cluster in messages becomes a plan, and each question a look-up in it.
//
// InvalidArgument names the field, NotFound a session that is not open. Thread-safe, as the store is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "plugin/extender/calls/still_wanted.h"
#include "plugin/extender/session/session_plan.h"
#include "plugin/extender/session/session_store.h"
#include "plugin/gang/policy.h"
#include "proto/gangway/v1/session.pb.h"

namespace gangway::extender {

// Names in one question.
inline constexpr int kMaxNamesAsked = 200'000;
// Gangs that are tried whole before they have pods, times nodes.
inline constexpr std::int64_t kMaxTried = 1'000'000;

// What a server keeps of sessions. Callers name themselves, so there are few.
SessionStoreOptions KeptSessions();

// Opens a session; `caller`: who it is when the request does not say. What `still_wanted` says ends the work, and
// leaves no session. Aborted: the caller has opened so many meanwhile that this one was forgotten.
absl::StatusOr<v1::OpenSessionResponse> OpenSession(const v1::OpenSessionRequest& request, const std::string& caller,
                                                    const gang::Policy& policy, absl::Time now, SessionStore& store,
                                                    StillWanted still_wanted);
absl::StatusOr<v1::CloseSessionResponse> CloseSession(const v1::CloseSessionRequest& request, absl::Time now,
                                                      SessionStore& store);

// The plan of an open session.
absl::StatusOr<std::shared_ptr<const SessionPlan>> FindPlan(SessionId session, absl::Time now,
                                                            const SessionStore& store);

// Look-ups in it. Pure.
absl::StatusOr<v1::JobEnqueueableResponse> JobEnqueueable(const v1::JobEnqueueableRequest& request,
                                                          const SessionPlan& plan);
absl::StatusOr<v1::JobEnqueuedResponse> JobEnqueued(const v1::JobEnqueuedRequest& request, const SessionPlan& plan);
absl::StatusOr<v1::JobReadyResponse> JobReady(const v1::JobReadyRequest& request, const SessionPlan& plan);
absl::StatusOr<v1::QueueOverusedResponse> QueueOverused(const v1::QueueOverusedRequest& request,
                                                        const SessionPlan& plan);
absl::StatusOr<v1::PredicateResponse> Predicate(const v1::PredicateRequest& request, const SessionPlan& plan);
absl::StatusOr<v1::PrioritizeResponse> Prioritize(const v1::PrioritizeRequest& request, const SessionPlan& plan);
absl::StatusOr<v1::VictimsResponse> Preemptable(const v1::VictimsRequest& request, const SessionPlan& plan);
absl::StatusOr<v1::VictimsResponse> Reclaimable(const v1::VictimsRequest& request, const SessionPlan& plan);

// Are counted in the session.
absl::StatusOr<v1::AllocateResponse> Allocate(const v1::AllocateRequest& request, absl::Time now, SessionStore& store);
absl::StatusOr<v1::DeallocateResponse> Deallocate(const v1::DeallocateRequest& request, absl::Time now,
                                                  SessionStore& store);

// The sessions of all these stores that are open.
v1::ListSessionsResponse ListSessions(const v1::ListSessionsRequest& request, absl::Time now,
                                      absl::Span<const SessionStore* const> stores);

}  // namespace gangway::extender
