// What a client asks before its first real request: groups, resources, version, OpenAPI and health.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "api/resource.h"
#include "kube/client/client.h"

namespace gangway::sandbox {

// A part of a resource with a path of its own: "pods/status".
struct Subresource {
  std::string_view name;     // "status"
  std::string_view group;    // of `kind`, where it is not the resource's own
  std::string_view version;
  std::string_view kind;     // "Eviction"
  std::string_view verbs;    // comma separated, sorted
};
// In the order of discovery; empty for resources that have none.
absl::Span<const Subresource> SubresourcesOf(const api::Resource& resource);
inline const Subresource* FindSubresource(const api::Resource& resource, absl::string_view name) {
  for (const Subresource& sub : SubresourcesOf(resource)) {
    if (View(sub.name) == name) return &sub;
  }
  return nullptr;
}

// Immutable; const calls may run together.
class Discovery {
 public:
  explicit Discovery(std::string git_version = "v1.36.1+gangway");

  // The answer to /api /apis /api/v1 /apis/<group>[/<version>] /version /openapi/* /healthz /livez /readyz, whatever the
  // method (405 for other than GET and HEAD); nullopt when the path is none of these.
  std::optional<kube::Response> Answer(const kube::Request& request) const;

 private:
  const std::string git_version_;
};

}  // namespace gangway::sandbox
