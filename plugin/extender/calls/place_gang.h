// GangScheduler.PlaceGang: the request as a cluster of the model, Schedule's decision as the reply.
#pragma once

#include "absl/status/statusor.h"
#include "plugin/extender/calls/still_wanted.h"
#include "plugin/gang/policy.h"
#include "proto/gangway/v1/extender.pb.h"

namespace gangway::extender {

// InvalidArgument names the field; what `still_wanted` says ends the work. Pure otherwise; thread-safe. What one call
// may ask for is in request_facts.h and typed_facts.h.
absl::StatusOr<v1::PlaceGangResponse> PlaceGang(const v1::PlaceGangRequest& request, const gang::Policy& policy,
                                                StillWanted still_wanted);

}  // namespace gangway::extender
