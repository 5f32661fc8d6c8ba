// Containers that somebody else puts into pods.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

namespace gangway::api::core {

// The labels of a namespace that InjectsSidecars reads.
inline constexpr std::array<std::string_view, 2> kSidecarLabels = {"istio-injection", "istio.io/rev"};

// Whether Istio puts a sidecar into the pods of a namespace with these labels: it is told to, or a revision is named
// and it is not told not to.
inline bool InjectsSidecars(const std::map<std::string, std::string>& labels) {
  const auto text = [&](std::string_view key) {
    const auto at = labels.find(std::string(key));
    return at == labels.end() ? std::string() : at->second;
  };
  const std::string wish = text(kSidecarLabels[0]);
  return wish == "enabled" || (wish != "disabled" && !text(kSidecarLabels[1]).empty());
}

}  // namespace gangway::api::core
