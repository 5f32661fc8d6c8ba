// OpenAPI v3 documents, one a group and version, made when asked for: `kubectl explain`, the check whether the server
// knows fieldValidation and dryRun, and the keys by which `kubectl apply` merges. Internal to this room.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "sandbox/apiserver/served_versions.h"

namespace gangway::sandbox {

// The body of /openapi/v3: the documents there are, each with a hash of its content.
std::string OpenApiIndex(const ServedVersions& served);

// The document of "api/v1" or "apis/apps/v1"; nullopt when there is none.
std::optional<std::string> OpenApiDocument(const ServedVersions& served, absl::string_view group_version_path);

}  // namespace gangway::sandbox
