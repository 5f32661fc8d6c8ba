// Lifecycle.Decide: the request as a Job and a happening, the lifecycle's answer as the reply.
#pragma once

#include "absl/status/statusor.h"
#include "proto/gangway/v1/lifecycle.pb.h"

namespace gangway::extender {

// InvalidArgument names the field. Pure; thread-safe.
absl::StatusOr<v1::DecideResponse> Decide(const v1::DecideRequest& request);

}  // namespace gangway::extender
