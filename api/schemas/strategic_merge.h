// Kubernetes' strategic merge patch: what `kubectl apply`, `cordon`, `label` and `patch` send for core types.
#pragma once

#include "absl/status/status.h"
#include "api/schemas/schemas.h"
#include "boost/json/value.hpp"

namespace gangway::schemas {

// Applies `patch` to `target`: lists with a merge key are merged by it, others replaced; null deletes; the directives
// $patch (replace, merge, delete), $deleteFromPrimitiveList, $setElementOrder and $retainKeys are carried out.
// InvalidArgument: the patch is malformed, the message has the path; `target` may then be half changed, so patch a
// copy. Internal, as Kubernetes has it: an element without its merge key. Only for core types: a custom resource has no
// merge keys, and the caller answers 415.
absl::Status StrategicMergePatch(boost::json::value& target, const boost::json::value& patch, const Schema& schema);

}  // namespace gangway::schemas
