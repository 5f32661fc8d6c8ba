#include "bench/e2e/job_writes.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/resource.h"
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

// "gangway-controller patch jobs/status"
std::string KindOf(const sandbox::JournalRecord& record) {
  return absl::StrCat(record.client, " ", record.verb, " ", std::string(record.resource->plural),
                      record.subresource.empty() ? "" : "/", record.subresource);
}

std::string ToText(const std::map<std::string, int>& what, double of, const char* whose) {
  double total = 0;
  for (const auto& [kind, count] : what) total += count;
  return absl::StrFormat("%.2f a %s: %s", total / of, whose,
                         absl::StrJoin(what, ", ", [of](std::string* out, const auto& each) {
                           absl::StrAppendFormat(out, "%s %.2f", each.first, each.second / of);
                         }));
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
    ++life.what[KindOf(record)];
    if (record.subresource != "binding" || ++life.bound < pods_of_each) continue;
    ++all.jobs;
    for (const auto& [what, count] : life.what) all.what[what] += count;
  }
  return all;
}

std::string ToText(const JobWrites& writes) { return ToText(writes.what, writes.jobs == 0 ? 1 : writes.jobs, "Job"); }

absl::StatusOr<EvictionWrites> WritesOfEvictions(absl::string_view log, absl::string_view ns, int pods) {
  GW_ASSIGN_OR_RETURN(const std::vector<sandbox::JournalRecord> records, testutil::ReadAuditLog(log));
  std::size_t begin = records.size(), told = 0, bound = 0;
  EvictionWrites all;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const sandbox::JournalRecord& record = records[i];
    const bool here = record.key.ns == ns;
    if (here && record.resource == &api::kJobs) begin = std::min(begin, i);
    if (begin == records.size()) continue;
    if (record.client == "gangway-scheduler" && record.verb == "delete") {
      ++all.victims;
      told = i + 1;
    }
    if (here && record.subresource == "binding" && pods-- > 0) bound = i + 1;
  }
  for (std::size_t i = begin; i < records.size(); ++i) {
    if (records[i].resource == &api::kLeases) continue;
    ++(i < told ? all.until_told : i < bound ? all.until_bound : all.later)[KindOf(records[i])];
  }
  return all;
}

std::string ToText(const EvictionWrites& writes) {
  const double victims = writes.victims == 0 ? 1 : writes.victims;
  return absl::StrCat("until the last of ", writes.victims,
                      " victims is told to go: ", ToText(writes.until_told, victims, "victim"),
                      "\n  from there until all are bound: ", ToText(writes.until_bound, victims, "victim"),
                      "\n  later: ", ToText(writes.later, victims, "victim"));
}

}  // namespace gangway::bench
