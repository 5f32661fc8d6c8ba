// What a CRD that embeds Kubernetes' types defaults in them: the `+default` markers of k8s.io/api that CRD generators
// take over. Everything else is defaulted when the pod is made.
#pragma once

#include <span>
#include <string_view>

namespace gangway::api {

struct CrdDefault {
  std::string_view definition;  // "core.v1.ContainerPort", below io.k8s.api.
  std::string_view property;
  std::string_view json;
};
std::span<const CrdDefault> CrdDefaults();

}  // namespace gangway::api
