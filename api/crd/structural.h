// Types of Kubernetes as a CRD may embed them: structural, no references. Internal to this room.
#pragma once

#include "absl/strings/string_view.h"
#include "boost/json/value.hpp"

namespace gangway::api {

// As CRD generators write it: types, required fields, list keys and the few defaults of CrdDefaults(); no enumerations
// and no descriptions. Metadata keeps names, labels, annotations and finalizers. `definitions` are those of
// KubernetesSchemas().
boost::json::object StructuralSchema(absl::string_view definition, const boost::json::object& definitions);

}  // namespace gangway::api
