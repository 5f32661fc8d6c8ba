#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_split.h"
#include "api/quantity.h"
#include "api/volcano/queue_notes.h"
#include "cmd/dashboard/view/rows.h"
#include "plugin/ingest/requests.h"

namespace gangway::dashboard {
namespace {

using api::volcano::PodGroup;
using api::volcano::Queue;

constexpr int kMaxLevels = 32;  // of queues; who stands deeper, or in a circle, counts as being at the top

model::NamedAmounts WithoutPods(model::NamedAmounts amounts) {
  std::erase_if(amounts, [](const auto& amount) { return amount.first == "pods"; });
  return amounts;
}

// "cpu=12 nvidia.com/gpu=14"; what does not read is left out.
model::NamedAmounts AmountsIn(absl::string_view text) {
  api::ResourceList list;
  for (const absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(word, absl::MaxSplits('=', 1));
    if (const auto amount = api::Quantity::Parse(parts.second); amount.ok()) list[std::string(parts.first)] = *amount;
  }
  return ingest::ToAmounts(list);
}

model::NamedAmounts DeservedBy(const Queue& queue) {
  const auto told = queue.metadata.annotations.find(std::string(api::volcano::kDeservedAnnotation));
  return WithoutPods(told == queue.metadata.annotations.end() ? ingest::ToAmounts(queue.spec.deserved)
                                                              : AmountsIn(told->second));
}

struct OwnUse {
  model::NamedAmounts held, asked;
  int waiting = 0, running = 0;
};

std::map<std::string, OwnUse> UseByQueue(const Seen& seen, const std::vector<GangRow>& gangs) {
  std::map<std::string, OwnUse> use;
  std::map<std::pair<absl::string_view, absl::string_view>, std::string> queue_of;  // of a PodGroup
  std::map<std::pair<absl::string_view, absl::string_view>, const PodGroup*> group_of;
  for (const auto& group : seen.groups) {
    queue_of[{group->metadata.ns, group->metadata.name}] = QueueOf(*group);
    group_of[{group->metadata.ns, group->metadata.name}] = group.get();
  }
  for (const PodSeen* pod : seen.pods) {
    if (pod->node.empty() || pod->ended || pod->group.empty()) continue;
    const auto queue = queue_of.find({pod->ns, pod->group});
    if (queue != queue_of.end()) AddAmounts(pod->requests, use[queue->second].held);
  }
  for (const GangRow& gang : gangs) {
    OwnUse& own = use[gang.queue];
    own.running += gang.state == GangState::kPlaced ? 1 : 0;
    if (gang.state != GangState::kWaiting) continue;
    ++own.waiting;
    AddAmounts(ingest::MinResources(group_of.at({gang.ns, gang.name})->spec.min_resources), own.asked);
  }
  return use;
}

// Each behind the one above it, by name.
class QueueTreeWalk {
 public:
  explicit QueueTreeWalk(std::vector<QueueRow>& rows) : rows_(rows) {
    std::map<std::string, std::size_t> at;
    for (std::size_t i = 0; i < rows.size(); ++i) at[rows[i].name] = i;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto parent = at.find(rows[i].parent);
      if (parent == at.end() || !EndsAbove(i, at)) {
        rows[i].parent = parent == at.end() ? rows[i].parent : "";
        top_.push_back(i);
      } else {
        below_[parent->second].push_back(i);
      }
    }
  }

  std::vector<QueueRow> Take() {
    Share(top_);
    for (const std::size_t queue : top_) Visit(queue);
    std::vector<QueueRow> out;
    for (const std::size_t queue : order_) out.push_back(std::move(rows_[queue]));
    return out;
  }

 private:
  bool EndsAbove(std::size_t queue, const std::map<std::string, std::size_t>& at) const {
    std::string above = rows_[queue].parent;
    for (int level = 0; level < kMaxLevels; ++level) {
      const auto next = at.find(above);
      if (next == at.end()) return true;
      above = rows_[next->second].parent;
    }
    return false;
  }
  void Share(const std::vector<std::size_t>& beside) {
    std::int64_t weights = 0;
    for (const std::size_t queue : beside) weights += std::max(rows_[queue].weight, 0);
    for (const std::size_t queue : beside) {
      if (weights > 0)
        rows_[queue].share_permille = static_cast<int>(std::int64_t{1000} * std::max(rows_[queue].weight, 0) / weights);
    }
  }
  void Visit(std::size_t queue) {
    order_.push_back(queue);
    const auto below = below_.find(queue);
    if (below == below_.end()) return;
    Share(below->second);
    for (const std::size_t child : below->second) {
      Visit(child);
      AddAmounts(rows_[child].held, rows_[queue].held);
      AddAmounts(rows_[child].asked, rows_[queue].asked);
    }
  }

  std::vector<QueueRow>& rows_;
  std::vector<std::size_t> top_, order_;
  std::map<std::size_t, std::vector<std::size_t>> below_;
};

}  // namespace

std::vector<QueueRow> QueueRows(const Seen& seen, const std::vector<GangRow>& gangs) {
  std::map<std::string, OwnUse> use = UseByQueue(seen, gangs);
  std::vector<QueueRow> rows;
  std::set<std::string> known;
  for (const auto& queue : seen.queues) {
    QueueRow row;
    row.name = queue->metadata.name;
    row.parent = queue->spec.parent;
    row.state = queue->status.state;
    row.weight = queue->spec.weight;
    row.deserved = DeservedBy(*queue);
    row.capability = WithoutPods(ingest::ToAmounts(queue->spec.capability));
    known.insert(row.name);
    rows.push_back(std::move(row));
  }
  // Queues that are not there, or may not be read, and that gangs are in all the same.
  for (const GangRow& gang : gangs) {
    if (gang.state == GangState::kEnded || !known.insert(gang.queue).second) continue;
    QueueRow row;
    row.name = gang.queue;
    rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end(), [](const QueueRow& a, const QueueRow& b) { return a.name < b.name; });
  for (QueueRow& row : rows) {
    OwnUse& own = use[row.name];
    row.held = WithoutPods(std::move(own.held));
    row.asked = WithoutPods(std::move(own.asked));
    row.waiting = own.waiting;
    row.running = own.running;
  }
  return QueueTreeWalk(rows).Take();
}

}  // namespace gangway::dashboard
