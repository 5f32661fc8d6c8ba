// The roles and bindings that a cluster has from its beginning: those of kube-apiserver 1.36, as it writes them.
#pragma once

#include "absl/strings/string_view.h"

namespace gangway::sandbox::rbac {

// JSON objects with kind, metadata and what they say; a line each.
absl::string_view BootstrapObjects();

}  // namespace gangway::sandbox::rbac
