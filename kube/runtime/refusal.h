// Why an API server does not let us list or watch, in one line that says what to do about it. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/resource.h"

namespace gangway::kube {

// What /apis/<group> said: nullopt when there is no such group.
using ServedVersions = std::optional<std::vector<std::string>>;
ServedVersions VersionsFrom(absl::string_view api_group_json);

// "podgroups.scheduling.volcano.sh"
std::string FullName(const api::Resource& resource);

// `verb`: "list" or "watch"; `ns` "" is all of them.
std::string ExplainNotFound(const api::Resource& resource, const ServedVersions& served);
std::string ExplainRefusal(const api::Resource& resource, absl::string_view verb, absl::string_view ns,
                           const absl::Status& status);

// Whether nobody answered, which is no matter of one resource; and what the transport says about it, without addresses
// that differ from request to request.
bool IsUnreached(const absl::Status& status);
// The most that anybody waits before trying again when nobody answered: an API server that comes back is not waited for
// longer.
inline constexpr absl::Duration kUnreachedPause = absl::Seconds(5);
std::string WhyUnreached(const absl::Status& status);

}  // namespace gangway::kube
