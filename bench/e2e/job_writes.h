// What a Job costs an API server until its pods are bound, from its audit log: each write counts for the Job whose it
// is, up to the binding of the Job's last pod.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gangway::bench {

struct JobWrites {
  int jobs = 0;                     // those whose pods are all bound
  std::map<std::string, int> what;  // "gangway-controller patch jobs/status" -> how many, of all these Jobs
  int total() const;
};

// Of the Jobs of a namespace, as bench/e2e/load.h makes them. `log` as tests/e2e/audit_journal.h reads it.
absl::StatusOr<JobWrites> WritesUntilBound(absl::string_view log, absl::string_view ns, int pods_of_each);

// "6.00 a Job: load create jobs 1.00, ..."
std::string ToText(const JobWrites& writes);

}  // namespace gangway::bench
