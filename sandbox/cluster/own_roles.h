// Who Gangway's components are in a cluster, and what they may do there: as deploy/volcano/gangway.yaml says.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace gangway::sandbox {

inline constexpr absl::string_view kOwnNamespace = "gangway-system";

struct OwnObject {
  std::string kind, ns, json;  // "ClusterRole"
};
// The namespace, and of one component ("controller" or "scheduler") its service account, roles and bindings, in the
// order of the file.
std::vector<OwnObject> OwnRoles(absl::string_view component);

}  // namespace gangway::sandbox
