#include "cmd/vcctl/queue_list.h"

#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/volcano/queue_notes.h"
#include "base/printable.h"
#include "plugin/lifecycle/queue/reconcile_queue.h"

namespace gangway::cmd {

using api::volcano::PodGroup;
using api::volcano::Queue;

namespace {

// "-" where nothing is.
std::string AmountsOf(const api::ResourceList& list) {
  std::vector<std::string> words;
  for (const auto& [name, amount] : list) words.push_back(absl::StrCat(name, "=", amount.ToString()));
  return words.empty() ? "-" : absl::StrJoin(words, ",");
}

// The amounts of an annotation; words without any are left out.
std::string AmountsIn(const Queue& queue, absl::string_view annotation) {
  const auto said = queue.metadata.annotations.find(std::string(annotation));
  if (said == queue.metadata.annotations.end()) return "-";
  std::vector<std::string> words = absl::StrSplit(said->second, ' ', absl::SkipEmpty());
  std::erase_if(words, [](const std::string& word) { return !absl::StrContains(word, '='); });
  return words.empty() ? "-" : OneLine(absl::StrJoin(words, ","));
}

}  // namespace

std::string QueueListText(absl::Span<const Queue> queues, absl::Span<const PodGroup> groups,
                          const std::map<std::string, QueueNow>* wide) {
  if (queues.empty()) return "No resources found\n";
  absl::btree_map<std::string, lifecycle::PodGroupCounts> counts;
  for (const PodGroup& group : groups)
    counts[group.spec.queue.empty() ? "default" : group.spec.queue].Add(group.status.phase);
  std::string out = absl::StrFormat("%-25s%-8s%-8s%-8s%-8s%-8s%-8s", "Name", "Weight", "State", "Inqueue", "Pending",
                                    "Running", "Unknown");
  absl::StrAppend(&out, wide != nullptr ? "Allocated Deserved Of-late Share Waiting\n" : "\n");
  for (const Queue& queue : queues) {
    const lifecycle::PodGroupCounts& count = counts[queue.metadata.name];
    absl::StrAppendFormat(&out, "%-25s%-8d%-8s%-8d%-8d%-8d%-8d", OneLine(queue.metadata.name), queue.spec.weight,
                          OneLine(queue.status.state), count.inqueue, count.pending, count.running, count.unknown);
    if (wide != nullptr) {
      absl::StrAppend(&out, AmountsOf(queue.status.allocated), " ", AmountsIn(queue, api::volcano::kDeservedAnnotation),
                      " ", AmountsIn(queue, api::volcano::kUsageAnnotation));
      const auto now = wide->find(queue.metadata.name);
      if (now == wide->end()) {
        absl::StrAppend(&out, " - -");
      } else {
        absl::StrAppendFormat(&out, " %.1f%% %d", now->second.share_permille / 10.0, now->second.waiting);
      }
    }
    out += '\n';
  }
  return out;
}

}  // namespace gangway::cmd
