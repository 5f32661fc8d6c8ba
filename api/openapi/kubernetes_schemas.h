// Kubernetes' published OpenAPI, the part that the sandbox serves and our CRDs embed: the text of
// kubernetes-schemas.json.
#pragma once

#include <cstddef>
#include <string_view>

extern "C" const char gangway_kubernetes_schemas_begin[];
extern "C" const char gangway_kubernetes_schemas_end[];

namespace gangway::api {

inline std::string_view KubernetesSchemas() {
  return {gangway_kubernetes_schemas_begin,
          static_cast<std::size_t>(gangway_kubernetes_schemas_end - gangway_kubernetes_schemas_begin)};
}

}  // namespace gangway::api
