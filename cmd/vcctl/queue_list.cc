#include "cmd/vcctl/queue_list.h"

#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/json.h"
#include "api/volcano/queue_notes.h"
#include "base/printable.h"
#include "cmd/terminal/columns.h"
#include "plugin/lifecycle/queue/reconcile_queue.h"

namespace gangway::cmd {

using api::volcano::PodGroup;
using api::volcano::Queue;

namespace {

// "cpu=4"
using Words = std::vector<std::string>;

Words AmountsOf(const api::ResourceList& list) {
  Words words;
  for (const auto& [name, amount] : list) words.push_back(absl::StrCat(name, "=", amount.ToString()));
  return words;
}

// The amounts of an annotation; words without any are left out.
Words AmountsIn(const Queue& queue, absl::string_view annotation) {
  const auto said = queue.metadata.annotations.find(std::string(annotation));
  if (said == queue.metadata.annotations.end()) return {};
  Words words = absl::StrSplit(said->second, ' ', absl::SkipEmpty());
  std::erase_if(words, [](const std::string& word) { return !absl::StrContains(word, '='); });
  return words;
}

std::string OrDash(const Words& words) { return words.empty() ? "-" : OneLine(absl::StrJoin(words, ",")); }

void PutAmounts(absl::string_view key, const Words& words, api::JsonWriter& json) {
  json.Key(key).BeginObject();
  for (const std::string& word : words) {
    const std::pair<std::string, std::string> amount = absl::StrSplit(word, absl::MaxSplits('=', 1));
    json.Field(amount.first, amount.second);
  }
  json.EndObject();
}

using Counts = absl::btree_map<std::string, lifecycle::PodGroupCounts>;

Counts CountsOf(absl::Span<const PodGroup> groups) {
  Counts counts;
  for (const PodGroup& group : groups)
    counts[group.spec.queue.empty() ? "default" : group.spec.queue].Add(group.status.phase);
  return counts;
}

}  // namespace

std::string QueueListText(absl::Span<const Queue> queues, absl::Span<const PodGroup> groups,
                          const std::map<std::string, QueueNow>* wide) {
  if (queues.empty()) return "No resources found\n";
  Counts counts = CountsOf(groups);
  std::vector<std::vector<std::string>> rows = {{absl::StrFormat("%-25s%-8s%-8s%-8s%-8s%-8s%-8s", "Name", "Weight",
                                                                 "State", "Inqueue", "Pending", "Running", "Unknown")}};
  if (wide != nullptr) rows.back().insert(rows.back().end(), {"Allocated", "Deserved", "Of-late", "Share", "Waiting"});
  for (const Queue& queue : queues) {
    const lifecycle::PodGroupCounts& count = counts[queue.metadata.name];
    rows.push_back(
        {absl::StrFormat("%-25s%-8d%-8s%-8d%-8d%-8d%-8d", OneLine(queue.metadata.name), queue.spec.weight,
                         OneLine(queue.status.state), count.inqueue, count.pending, count.running, count.unknown)});
    if (wide == nullptr) continue;
    const auto now = wide->find(queue.metadata.name);
    const bool seen = now != wide->end();
    rows.back().insert(rows.back().end(), {OrDash(AmountsOf(queue.status.allocated)),
                                           OrDash(AmountsIn(queue, api::volcano::kDeservedAnnotation)),
                                           OrDash(AmountsIn(queue, api::volcano::kUsageAnnotation)),
                                           seen ? absl::StrFormat("%.1f%%", now->second.share_permille / 10.0) : "-",
                                           seen ? absl::StrCat(now->second.waiting) : "-"});
  }
  return Columns(rows);
}

std::string QueueListJson(absl::Span<const Queue> queues, absl::Span<const PodGroup> groups,
                          const std::map<std::string, QueueNow>& now) {
  Counts counts = CountsOf(groups);
  std::string out;
  api::JsonWriter json(out);
  json.BeginObject().Key("queues").BeginArray();
  for (const Queue& queue : queues) {
    const lifecycle::PodGroupCounts& count = counts[queue.metadata.name];
    json.BeginObject()
        .Field("name", queue.metadata.name)
        .Field("parent", queue.spec.parent)
        .Field("state", queue.status.state)
        .Field("weight", queue.spec.weight);
    json.Key("podGroups")
        .BeginObject()
        .Field("inqueue", count.inqueue)
        .Field("pending", count.pending)
        .Field("running", count.running)
        .Field("unknown", count.unknown)
        .EndObject();
    PutAmounts("held", AmountsOf(queue.status.allocated), json);
    PutAmounts("deserved", AmountsIn(queue, api::volcano::kDeservedAnnotation), json);
    PutAmounts("ofLate", AmountsIn(queue, api::volcano::kUsageAnnotation), json);
    PutAmounts("capability", AmountsOf(queue.spec.capability), json);
    if (const auto seen = now.find(queue.metadata.name); seen != now.end()) {
      json.RawField("share", absl::StrFormat("%.1f", seen->second.share_permille / 10.0))
          .Field("waiting", seen->second.waiting);
    }
    json.EndObject();
  }
  json.EndArray().EndObject();
  out += '\n';
  return out;
}

}  // namespace gangway::cmd
