#include "plugin/model/queues.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "plugin/model/gangs.h"

namespace gangway::model {

std::int64_t Queue::Limit(Dim dim) const {
  for (const auto& [limited, amount] : capability) {
    if (limited == dim) return amount;
  }
  return kUnlimited;
}

QueueId Queues::Intern(absl::string_view name) {
  if (auto it = by_name_.find(name); it != by_name_.end()) return it->second;
  const QueueId id = table_.Add();
  table_[id].name = std::string(name);
  by_name_.emplace(std::string(name), id);
  return id;
}

void Queues::FreeIfUnused(QueueId id) {
  const Queue& queue = table_[id];
  if (queue.known || queue.gangs > 0 || queue.children > 0) return;
  by_name_.erase(queue.name);
  table_.Remove(id);
}

void Queues::SetParent(QueueId id, QueueId parent) {
  const QueueId before = table_[id].parent;
  if (before == parent) return;
  table_[id].parent = parent;
  if (parent != kNone) ++table_[parent].children;
  if (before == kNone) return;
  --table_[before].children;
  FreeIfUnused(before);
}

void Queues::Set(const QueueFacts& facts) {
  const QueueId id = Intern(facts.name);
  SetParent(id, facts.parent.empty() || facts.parent == facts.name ? kNone : Intern(facts.parent));
  Queue& queue = table_[id];
  queue.known = true;
  queue.weight = std::max(facts.weight, 1);
  queue.priority = facts.priority;
  queue.open = facts.open;
  queue.reclaimable = facts.reclaimable;
  queue.min_runtime = facts.min_runtime;
  queue.lost_member_grace = facts.lost_member_grace;
  queue.capability.clear();
  for (const auto& [name, amount] : facts.capability) {
    const Dim dim = dims_.Intern(name);
    if (amount > 0 || (dim != kCpu && dim != kMemory))
      queue.capability.emplace_back(dim, std::clamp<std::int64_t>(amount, 0, kMaxAmount));
  }
  queue.guarantee = dims_.Intern(facts.guarantee);
  queue.deserved.clear();
  for (const auto& [name, amount] : facts.deserved)
    queue.deserved.emplace_back(dims_.Intern(name), std::clamp<std::int64_t>(amount, 0, kMaxAmount));
  queue.not_modelled = facts.not_modelled;
  queue.created = facts.created;
}

bool Queues::Remove(absl::string_view name) {
  const auto it = by_name_.find(name);
  if (it == by_name_.end()) return false;
  const QueueId id = it->second;
  Queue& queue = table_[id];
  queue.known = false;
  queue.capability.clear();
  queue.guarantee = Resources();
  queue.deserved.clear();
  queue.not_modelled.clear();
  SetParent(id, kNone);
  FreeIfUnused(id);
  return true;
}

void Queues::Enter(QueueId id, const Resources& held) {
  table_[id].held.Add(held);
  ++table_[id].gangs;
}

void Queues::Leave(QueueId id, const Resources& held) {
  table_[id].held.Subtract(held);
  --table_[id].gangs;
  FreeIfUnused(id);
}

void Queues::Audit(const SlotTable<Gang>& gangs, const Dims& dims, std::vector<std::string>& wrong) const {
  struct Sums {
    int gangs = 0, children = 0;
    Resources held;
  };
  std::map<QueueId, Sums> sums;
  gangs.ForEach([&](GangId, const Gang& gang) {
    if (gang.queue == kNone) return;
    ++sums[gang.queue].gangs;
    sums[gang.queue].held.Add(gang.held);
  });
  table_.ForEach([&](QueueId, const Queue& queue) {
    if (queue.parent != kNone) ++sums[queue.parent].children;
  });
  for (const auto& [id, sum] : sums) {
    if (!table_.Has(id)) wrong.push_back(absl::StrCat("queue number ", id, ": is named and not there"));
  }
  table_.ForEach([&](QueueId id, const Queue& queue) {
    const Sums& sum = sums[id];
    if (queue.gangs != sum.gangs)
      wrong.push_back(
          absl::StrCat("queue ", queue.name, ": gangs are ", queue.gangs, ", of those that name it ", sum.gangs));
    if (queue.children != sum.children)
      wrong.push_back(absl::StrCat("queue ", queue.name, ": children are ", queue.children, ", of those that name it ",
                                   sum.children));
    AuditAmounts(absl::StrCat("queue ", queue.name, ": held"), queue.held, sum.held, dims, wrong);
    if (!queue.known && queue.gangs == 0 && queue.children == 0)
      wrong.push_back(absl::StrCat("queue ", queue.name, ": is kept for nobody"));
  });
}

}  // namespace gangway::model
