// What a cluster is like now, in one look: as the dashboard shows it.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "cmd/caller/api_caller.h"
#include "cmd/dashboard/view/view.h"

namespace gangway::cmd {

// PodGroups and pods of the namespace, "" all. What may not be read is told in View::not_seen and left out.
absl::StatusOr<dashboard::View> LookAtCluster(ApiCaller& caller, const std::string& ns);

}  // namespace gangway::cmd
