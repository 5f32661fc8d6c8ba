#include "plugin/extender/session_service.h"

#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "plugin/extender/calls/session_verbs.h"

namespace gangway::extender {
namespace {

// Numbers go on from the time of the start: one that a server before this gave out is no session of another caller now.
SessionStoreOptions StoreOptions() {
  SessionStoreOptions options = KeptSessions();
  options.first = static_cast<SessionId>(absl::ToUnixMicros(absl::Now()));
  return options;
}

// The address a call comes from, without the port, which is another for each connection.
std::string AddressOf(const grpc::CallbackServerContext& context) {
  const std::string peer = context.peer();  // ipv4:127.0.0.1:40000
  return peer.substr(0, peer.rfind(':'));
}

}  // namespace

SessionService::SessionService(Desk& desk, const CurrentPolicy& policy)
    : desk_(desk), policy_(policy), store_(StoreOptions()) {}

// What is asked in a session: `verb` is StatusOr<Out>(const In&, const SessionPlan&).
template <class In, class Out, class F>
Reactor* SessionService::LookUp(absl::string_view method, grpc::CallbackServerContext& context,
                                const grpc::ByteBuffer& request, grpc::ByteBuffer& response, F verb) {
  return desk_.LookUp<In, Out>(
      method, context, request, response, [this, verb](const In& in, StillWanted) -> absl::StatusOr<Out> {
        GW_ASSIGN_OR_RETURN(const std::shared_ptr<const SessionPlan> plan, FindPlan(in.session(), absl::Now(), store_));
        return verb(in, *plan);
      });
}

Reactor* SessionService::OpenSession(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* response) {
  return desk_.Serve<v1::OpenSessionRequest, v1::OpenSessionResponse>(
      "OpenSession", *context, *request, *response,
      [this, caller = AddressOf(*context)](const v1::OpenSessionRequest& in, StillWanted still_wanted) {
        return extender::OpenSession(in, caller, *policy_.Get(), absl::Now(), store_, still_wanted);
      });
}

Reactor* SessionService::CloseSession(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) {
  return desk_.Serve<v1::CloseSessionRequest, v1::CloseSessionResponse>(
      "CloseSession", *context, *request, *response, [this](const v1::CloseSessionRequest& in, StillWanted) {
        return extender::CloseSession(in, absl::Now(), store_);
      });
}

Reactor* SessionService::Allocate(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* response) {
  return desk_.LookUp<v1::AllocateRequest, v1::AllocateResponse>(
      "Allocate", *context, *request, *response,
      [this](const v1::AllocateRequest& in, StillWanted) { return extender::Allocate(in, absl::Now(), store_); });
}

Reactor* SessionService::Deallocate(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* response) {
  return desk_.LookUp<v1::DeallocateRequest, v1::DeallocateResponse>(
      "Deallocate", *context, *request, *response,
      [this](const v1::DeallocateRequest& in, StillWanted) { return extender::Deallocate(in, absl::Now(), store_); });
}

Reactor* SessionService::ListSessions(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) {
  return desk_.Serve<v1::ListSessionsRequest, v1::ListSessionsResponse>(
      "ListSessions", *context, *request, *response,
      [this](const v1::ListSessionsRequest& in, StillWanted) -> absl::StatusOr<v1::ListSessionsResponse> {
        const SessionStore* const stores[] = {&store_, desk_.options().more_sessions.get()};
        return extender::ListSessions(in, absl::Now(), absl::MakeConstSpan(stores, stores[1] == nullptr ? 1 : 2));
      });
}

Reactor* SessionService::JobEnqueueable(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) {
  return LookUp<v1::JobEnqueueableRequest, v1::JobEnqueueableResponse>("JobEnqueueable", *context, *request, *response,
                                                                       &extender::JobEnqueueable);
}

Reactor* SessionService::JobEnqueued(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* response) {
  return LookUp<v1::JobEnqueuedRequest, v1::JobEnqueuedResponse>("JobEnqueued", *context, *request, *response,
                                                                 &extender::JobEnqueued);
}

Reactor* SessionService::JobReady(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* response) {
  return LookUp<v1::JobReadyRequest, v1::JobReadyResponse>("JobReady", *context, *request, *response,
                                                           &extender::JobReady);
}

Reactor* SessionService::QueueOverused(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* response) {
  return LookUp<v1::QueueOverusedRequest, v1::QueueOverusedResponse>("QueueOverused", *context, *request, *response,
                                                                     &extender::QueueOverused);
}

Reactor* SessionService::Predicate(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* response) {
  return LookUp<v1::PredicateRequest, v1::PredicateResponse>("Predicate", *context, *request, *response,
                                                             &extender::Predicate);
}

Reactor* SessionService::Prioritize(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* response) {
  return LookUp<v1::PrioritizeRequest, v1::PrioritizeResponse>("Prioritize", *context, *request, *response,
                                                               &extender::Prioritize);
}

Reactor* SessionService::Preemptable(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* response) {
  return LookUp<v1::VictimsRequest, v1::VictimsResponse>("Preemptable", *context, *request, *response,
                                                         &extender::Preemptable);
}

Reactor* SessionService::Reclaimable(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* response) {
  return LookUp<v1::VictimsRequest, v1::VictimsResponse>("Reclaimable", *context, *request, *response,
                                                         &extender::Reclaimable);
}

}  // namespace gangway::extender
