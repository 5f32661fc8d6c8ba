// The request that a Write is, with its preconditions. Pure.
#pragma once

#include "absl/status/statusor.h"
#include "kube/client/client.h"
#include "kube/plan/plan.h"

namespace gangway::kube {

// kCreate: POST. kDelete: DELETE with DeleteOptions that name `uid` and `resource_version`, when set. The patches and kPut: these two
// stand in the body's metadata. InvalidArgument when a body that must be edited is no JSON object.
absl::StatusOr<Request> RequestFor(const Write& write);

// "create", "patch", "update", "delete".
const char* VerbName(Verb verb);

}  // namespace gangway::kube
