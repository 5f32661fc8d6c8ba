#include "cmd/vcctl/job_list.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "base/printable.h"

namespace gangway::cmd {
namespace {

using api::volcano::Job;

constexpr char kJobTypeLabel[] = "volcano.sh/job-type";
constexpr std::size_t kGap = 3;  // behind the columns that are as wide as their longest cell

bool Wanted(const Job& job, const JobListOptions& options) {
  const std::string& queue = job.spec.queue.empty() ? "default" : job.spec.queue;
  return (options.scheduler.empty() || job.spec.scheduler_name == options.scheduler) &&
         (options.queue.empty() || queue == options.queue) && absl::StrContains(job.metadata.name, options.name_part);
}

std::int64_t Replicas(const Job& job) {
  std::int64_t sum = 0;
  for (const api::volcano::TaskSpec& task : job.spec.tasks) sum += task.replicas;
  return sum;
}

std::string JobType(const Job& job) {
  const auto label = job.metadata.labels.find(kJobTypeLabel);
  return label == job.metadata.labels.end() || label->second.empty() ? "Batch" : label->second;
}

}  // namespace

std::string JobListText(absl::Span<const Job> jobs, const JobListOptions& options) {
  std::vector<const Job*> wanted;
  std::size_t name_width = sizeof("Name") - 1, namespace_width = sizeof("Namespace") - 1;
  for (const Job& job : jobs) {
    if (!Wanted(job, options)) continue;
    wanted.push_back(&job);
    name_width = std::max(name_width, OneLine(job.metadata.name).size());
    namespace_width = std::max(namespace_width, OneLine(job.metadata.ns).size());
  }
  if (wanted.empty()) return "No resources found\n";
  const auto names = [&](const std::string& ns, const std::string& name) {
    std::string text;
    if (options.all_namespaces) text = absl::StrFormat("%-*s", static_cast<int>(namespace_width + kGap), ns);
    absl::StrAppendFormat(&text, "%-*s", static_cast<int>(name_width + kGap), name);
    return text;
  };
  std::string out = names("Namespace", "Name");
  absl::StrAppendFormat(&out, "%-15s%-12s%-12s%-12s%-6s%-10s%-10s%-12s%-10s%-12s%-10s\n", "Creation", "Phase",
                        "JobType", "Replicas", "Min", "Pending", "Running", "Succeeded", "Failed", "Unknown",
                        "RetryCount");
  for (const Job* job : wanted) {
    const api::volcano::JobStatus& status = job->status;
    absl::StrAppend(&out, names(OneLine(job->metadata.ns), OneLine(job->metadata.name)));
    absl::StrAppendFormat(&out, "%-15s%-12s%-12s%-12d%-6d%-10d%-10d%-12d%-10d%-12d%-10d\n",
                          absl::FormatTime("%Y-%m-%d", job->metadata.creation_timestamp.at, absl::UTCTimeZone()),
                          OneLine(status.state.phase), OneLine(JobType(*job)), Replicas(*job), status.min_available,
                          status.pending, status.running, status.succeeded, status.failed, status.unknown,
                          status.retry_count);
  }
  return out;
}

}  // namespace gangway::cmd
