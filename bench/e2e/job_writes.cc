#include "bench/e2e/job_writes.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "sandbox/apiserver/journal.h"
#include "tests/e2e/audit_journal.h"

namespace gangway::bench {
namespace {

// "job-7" of "job-7", "job-7-worker-0" and "job-7-worker-0.18ab"; "" of others.
std::string JobOf(absl::string_view name) {
  const std::vector<std::string> parts = absl::StrSplit(name, absl::MaxSplits(absl::ByAnyChar("-."), 2));
  return parts.size() < 2 || parts[0] != "job" ? "" : absl::StrCat(parts[0], "-", parts[1]);
}

}  // namespace

int JobWrites::total() const {
  int sum = 0;
  for (const auto& [kind, count] : what) sum += count;
  return sum;
}

absl::StatusOr<JobWrites> WritesUntilBound(absl::string_view log, absl::string_view ns, int pods_of_each) {
  GW_ASSIGN_OR_RETURN(const std::vector<sandbox::JournalRecord> records, testutil::ReadAuditLog(log));
  struct Life {
    int bound = 0;
    std::map<std::string, int> what;
  };
  std::map<std::string, Life> lives;
  JobWrites all;
  for (const sandbox::JournalRecord& record : records) {
    const std::string job = record.key.ns == ns ? JobOf(record.key.name) : "";
    if (job.empty()) continue;
    Life& life = lives[job];
    if (life.bound == pods_of_each) continue;
    ++life.what[absl::StrCat(record.client, " ", record.verb, " ", std::string(record.resource->plural),
                             record.subresource.empty() ? "" : "/", record.subresource)];
    if (record.subresource != "binding" || ++life.bound < pods_of_each) continue;
    ++all.jobs;
    for (const auto& [what, count] : life.what) all.what[what] += count;
  }
  return all;
}

std::string ToText(const JobWrites& writes) {
  const double jobs = writes.jobs == 0 ? 1 : writes.jobs;
  return absl::StrFormat("%.2f a Job: %s", writes.total() / jobs,
                         absl::StrJoin(writes.what, ", ", [&](std::string* out, const auto& each) {
                           absl::StrAppendFormat(out, "%s %.2f", each.first, each.second / jobs);
                         }));
}

}  // namespace gangway::bench
