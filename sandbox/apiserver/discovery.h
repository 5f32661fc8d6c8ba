// What a client asks before its first real request: groups, resources, version, OpenAPI and health.
#pragma once

#include <optional>
#include <string>

#include "kube/client/client.h"
#include "sandbox/apiserver/served_versions.h"

namespace gangway::sandbox {

// Used on one loop: what is served may change.
class Discovery {
 public:
  // `served` outlives it.
  explicit Discovery(const ServedVersions& served, std::string git_version = "v1.36.1+gangway");

  // The answer to /api /apis /api/v1 /apis/<group>[/<version>] /version /openapi/* /healthz /livez /readyz, whatever
  // the method (405 for other than GET and HEAD); nullopt when the path is none of these.
  std::optional<kube::Response> Answer(const kube::Request& request) const;

 private:
  const ServedVersions& served_;
  const std::string git_version_;
};

}  // namespace gangway::sandbox
