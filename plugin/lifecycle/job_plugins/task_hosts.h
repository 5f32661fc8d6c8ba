// What the hosts of a task are called (Volcano: pkg/controllers/job/plugins): host is the template's hostname or else
// the pod's name, domain its subdomain or else the Job's name, and the address of a pod is host.domain.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/volcano/job.h"

namespace gangway::lifecycle {

struct HostNames {
  std::string hostname;  // "" = each pod's own name
  std::string domain;
};
HostNames HostNamesOf(const api::volcano::Job& job, const api::volcano::TaskSpec& task);

// The address of the task's pod number `index`.
std::string AddressOf(const api::volcano::Job& job, const api::volcano::TaskSpec& task, std::int32_t index);
// Those of all its pods; one for all where the template sets a hostname.
std::vector<std::string> AddressesOf(const api::volcano::Job& job, const api::volcano::TaskSpec& task);

// The Job's task of this name; null when there is none.
const api::volcano::TaskSpec* FindTask(const api::volcano::Job& job, absl::string_view name);

}  // namespace gangway::lifecycle
