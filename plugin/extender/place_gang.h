// GangScheduler.PlaceGang: the request as a cluster of the model, Schedule's decision as the reply.
#pragma once

#include "absl/status/statusor.h"
#include "plugin/extender/still_wanted.h"
#include "plugin/gang/policy.h"
#include "proto/gangway/v1/extender.pb.h"

namespace gangway::extender {

// What one call may ask for; both bound its memory and its time. Members of the gang, and kinds of members times nodes.
inline constexpr int kMaxMembers = 10'000;
inline constexpr std::int64_t kMaxFits = 1'000'000;

// InvalidArgument names the field; what `still_wanted` says ends the work. Pure otherwise; thread-safe.
absl::StatusOr<v1::PlaceGangResponse> PlaceGang(const v1::PlaceGangRequest& request, const gang::Policy& policy,
                                                StillWanted still_wanted);

}  // namespace gangway::extender
