// What `vcctl job list` prints. Pure.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "api/volcano/job.h"

namespace gangway::cmd {

struct JobListOptions {
  bool all_namespaces = false;  // a column for the namespace
  // Only jobs of which this is true; "" is all.
  std::string scheduler = {};
  std::string queue = {};
  std::string name_part = {};
};

// In the order given. "No resources found" when none is left.
std::string JobListText(absl::Span<const api::volcano::Job> jobs, const JobListOptions& options);

}  // namespace gangway::cmd
