#include "tests/simulation/print.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "api/core/pod.h"
#include "api/field_table.h"
#include "api/resource.h"
#include "api/volcano/job.h"
#include "api/volcano/release.h"
#include "api/volcano/scheduling.h"

namespace gangway::testutil {

void PrintRecord(const sandbox::JournalRecord& record) {
  if (record.resource == &api::kEvents) return;
  std::string state = record.after == nullptr ? "gone" : "";
  if (record.after != nullptr && record.resource == &api::kPods) {
    const auto pod = api::Decode<api::core::Pod>(*record.after);
    state = absl::StrCat(pod->status.phase, " ", pod->spec.node_name, pod->metadata.deleting() ? " deleting" : "",
                         pod->bound() || pod->status.nominated_node_name.empty() ? "" : " for ",
                         pod->bound() ? "" : pod->status.nominated_node_name);
  } else if (record.after != nullptr && record.resource == &api::kJobs) {
    const auto job = api::Decode<api::volcano::Job>(*record.after);
    state = absl::StrCat(job->status.state.phase, " version ", job->status.version, " retryCount ",
                         job->status.retry_count);
  } else if (record.after != nullptr && record.resource == &api::kPodGroups) {
    const auto group = api::Decode<api::volcano::PodGroup>(*record.after);
    state = group->status.phase;
    const auto* const told = api::volcano::LatestRelease(group->status);
    if (told != nullptr) absl::StrAppend(&state, ", last: ", api::volcano::SentenceOf(*told));
  }
  std::printf("%s %6d %-12s %-7s %-9s %-10s %s: %s\n",
              absl::FormatTime("%H:%M:%E3S", record.time, absl::UTCTimeZone()).c_str(),
              static_cast<int>(record.revision), record.client.c_str(), record.verb.c_str(), record.subresource.c_str(),
              std::string(record.resource->plural).c_str(), record.key.ToString().c_str(), state.c_str());
}

}  // namespace gangway::testutil
