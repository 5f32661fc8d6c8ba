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

// What an eviction costs it, and in which order: writes since the first Job of `ns` was posted, of anybody, up to the
// last deletion that the scheduler sent, from there up to the binding of the last of `pods` pods of `ns`, and later.
struct EvictionWrites {
  int victims = 0;
  std::map<std::string, int> until_told, until_bound, later;
};
absl::StatusOr<EvictionWrites> WritesOfEvictions(absl::string_view log, absl::string_view ns, int pods);

// Lines: "until the last is told to go: 3.00 a victim: ..."
std::string ToText(const EvictionWrites& writes);

// "6.00 a Job: load create jobs 1.00, ..."
std::string ToText(const JobWrites& writes);

}  // namespace gangway::bench
