// What `gangway job` does once its flags are known: asks the API server, prints on standard output, progress on
// standard error.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "api/meta.h"
#include "cmd/caller/api_caller.h"
#include "cmd/vcctl/job_list.h"
#include "cmd/vcctl/job_wait.h"

namespace gangway::cmd {

// `ns` "" is all namespaces.
absl::Status ListJobs(ApiCaller& caller, const std::string& ns, const JobListOptions& options);
absl::Status ViewJob(ApiCaller& caller, const api::NamespacedName& key);

// `patience` none: returns once the API server has taken it. Otherwise waits so long for it to come true; Cancelled
// when it did not.
absl::Status CarryOut(ApiCaller& caller, JobVerb verb, const api::NamespacedName& key,
                      std::optional<absl::Duration> patience);

}  // namespace gangway::cmd
