#include "plugin/model/gangs.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/check.h"

namespace gangway::model {
namespace {

bool Ends(const Task& task) { return task.status == TaskStatus::kReleasing && task.row != kNone; }

void AddStart(const Task& task, int times, Gang& gang) {
  if (!task.has_started()) return;
  gang.started += times;
  gang.starts += (task.started - absl::UnixEpoch()) * times;
}

}  // namespace

GangId Gangs::Intern(GangKind kind, absl::string_view ns, absl::string_view name) {
  ByName<Gang>& by_name = by_name_[static_cast<std::size_t>(kind)];
  if (const GangId known = by_name.Find(ns, name); known != kNone) return known;
  const GangId id = table_.Add();
  table_[id].kind = kind;
  table_[id].ns = std::string(ns);
  table_[id].name = std::string(name);
  by_name.Insert(id);
  return id;
}

GangId Gangs::Find(GangKind kind, absl::string_view ns, absl::string_view name) const {
  return by_name_[static_cast<std::size_t>(kind)].Find(ns, name);
}

void Gangs::FreeIfUnused(GangId id) {
  const Gang& gang = table_[id];
  if (gang.known || !gang.tasks.empty()) return;
  by_name_[static_cast<std::size_t>(gang.kind)].Erase(id);
  table_.Remove(id);
}

void Gangs::Join(TaskId id, Task& task, GangId gang_id) {
  task.gang = gang_id;
  task.leaving = IsSaidToLeave(task);
  if (gang_id == kNone) return;
  Gang& gang = table_[gang_id];
  gang.tasks.push_back(id);
  ++gang.count[static_cast<std::size_t>(task.status)];
  if (Ends(task)) ++gang.binding_releasing;
  if (task.ours) ++gang.ours;
  if (task.nominated != kNone) ++gang.nominated;
  if (task.evicted) ++gang.evicted;
  if (task.leaving) ++gang.leaving;
  if (task.movable) ++gang.movable;
  Changed(gang_id);
}

void Gangs::Leave(TaskId id, Task& task) {
  if (task.gang == kNone) return;
  const GangId gang_id = task.gang;
  Gang& gang = table_[gang_id];
  auto it = std::find(gang.tasks.begin(), gang.tasks.end(), id);
  GW_CHECK(it != gang.tasks.end());
  *it = gang.tasks.back();
  gang.tasks.pop_back();
  --gang.count[static_cast<std::size_t>(task.status)];
  if (Ends(task)) --gang.binding_releasing;
  if (task.ours) --gang.ours;
  if (task.nominated != kNone) --gang.nominated;
  if (task.evicted) --gang.evicted;
  if (task.leaving) --gang.leaving;
  if (task.movable) --gang.movable;
  task.gang = kNone;
  Changed(gang_id);
  FreeIfUnused(gang_id);
}

void Gangs::StatusChanged(GangId id, TaskStatus before, TaskStatus now, int releasing) {
  table_[id].binding_releasing += releasing;
  --table_[id].count[static_cast<std::size_t>(before)];
  ++table_[id].count[static_cast<std::size_t>(now)];
  Changed(id);
}

void Gangs::Hold(const Task& task, const Resources& amounts, int times) {
  Gang& gang = table_[task.gang];
  gang.held.Add(amounts, times);
  AddStart(task, times, gang);
}

bool Gangs::Waits(const Gang& gang) {
  const bool short_of_ready = gang.ready() < gang.min_member && !gang.tasks.empty();
  return gang.is_ours() && (!gang.admitted || gang.Count(TaskStatus::kPending) > 0 || short_of_ready);
}

bool Gangs::AwaitsPods(const Gang& gang) {
  return gang.is_ours() && gang.admitted && gang.phase != GangPhase::kCompleted &&
         gang.ready() + gang.Count(TaskStatus::kPending) < gang.min_member;
}

// kNone: of a pod that has none.
void Gangs::Note(GangId id) {
  ++version_;
  if (id == kNone) return;
  constexpr std::size_t kSpare = 4096;
  if (changes_.size() > 4 * static_cast<std::size_t>(table_.slots()) + kSpare) {
    const std::size_t forgotten = changes_.size() / 2;
    changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(forgotten));
    changes_begin_ += forgotten;
  }
  changes_.push_back(id);
}

void Gangs::Changed(GangId id) {
  Gang& gang = table_[id];
  const auto list = [id](absl::btree_set<GangId>& set, bool now, bool& listed) {
    if (now == listed) return;
    listed = now;
    if (now) {
      set.insert(id);
    } else {
      set.erase(id);
    }
  };
  Note(id);
  const bool before = gang.waits || gang.awaits_pods;
  list(waiting_, Waits(gang), gang.waits);
  list(awaiting_pods_, AwaitsPods(gang), gang.awaits_pods);
  if (before || gang.waits || gang.awaits_pods) ++version_of_waiting_;
}

void Gangs::Set(GangId id, const GangFacts& facts, bool has_quotas) {
  Gang& gang = table_[id];
  if (gang.uid != facts.uid) {
    gang.held_back = Text();
    gang.passed_over_until = absl::InfinitePast();
    gang.claim = std::nullopt;
    gang.entitled_since = absl::InfiniteFuture();
  }
  const bool same = gang.known && gang.uid == facts.uid;
  gang.known = true;
  gang.uid = Uid(facts.uid);
  gang.priority_class = facts.priority_class.empty() ? kNone : names_.Intern(facts.priority_class);
  gang.min_member = facts.min_member;
  gang.min_task_member.clear();
  std::vector<std::pair<std::string, int>> minima = facts.min_task_member;
  std::sort(minima.begin(), minima.end());  // names are numbered in the order in which they came
  for (const auto& [role, count] : minima) {
    if (count > 0) gang.min_task_member.emplace_back(names_.Intern(role), count);
  }
  gang.sub_groups = facts.sub_groups;
  for (SubGroupFacts& policy : gang.sub_groups) policy.size = std::max(policy.size, 1);
  gang.topology = facts.topology;
  gang.has_min_resources = facts.has_min_resources;
  gang.min_resources = dims_.Intern(facts.min_resources);
  gang.quota_asks = has_quotas ? facts.quota_asks : NamedAmounts();
  gang.not_modelled = Text(facts.not_modelled);
  gang.created = facts.created;
  gang.waiting_time = facts.waiting_time;
  const bool let_in = facts.phase != GangPhase::kNone && facts.phase != GangPhase::kPending;
  // A decision to let it in outlives events that were written before it.
  gang.admitted = let_in || (same && gang.admitted && gang.phase == facts.phase);
  gang.phase = facts.phase;
  gang.was_whole = facts.was_whole;
  gang.evictable = facts.evictable;
  gang.of_others = !facts.ours;
  gang.moved = facts.moved;
  gang.evictions = facts.evictions;
  gang.last_evicted = facts.last_evicted;
  gang.evicted_for = Text(facts.evicted_for);
  gang.moved_pods = facts.moved_pods.empty() ? std::nullopt : std::optional(facts.moved_pods);
  gang.leaving_pods = facts.leaving_pods.empty() ? std::nullopt : std::optional(facts.leaving_pods);
  gang.short_since = facts.short_since;
  gang.past_runs = facts.past_runs;
  gang.lasts = facts.lasts;
  Changed(id);
}

void Gangs::Remove(GangId id) {
  Gang& gang = table_[id];
  gang.known = false;
  gang.admitted = false;
  gang.uid = Uid();
  gang.phase = GangPhase::kNone;
  gang.was_whole = false;
  gang.min_member = 0;
  gang.min_task_member.clear();
  gang.sub_groups.clear();
  gang.topology = std::nullopt;
  gang.leaving_pods = std::nullopt;
  Changed(id);
  FreeIfUnused(id);
}

void Gangs::SetNominated(Task& task, int node) {
  if (task.nominated == node) return;
  if (task.gang != kNone) table_[task.gang].nominated += (node != kNone ? 1 : 0) - (task.nominated != kNone ? 1 : 0);
  task.nominated = node;
  Note(task.gang);
}

void Gangs::SetEvicted(Task& task, bool evicted) {
  if (task.evicted == evicted) return;
  if (task.gang != kNone) table_[task.gang].evicted += evicted ? 1 : -1;
  task.evicted = evicted;
  Note(task.gang);
}

bool Gangs::IsSaidToLeave(const Task& task) const {
  if (task.marked || task.gang == kNone || !table_[task.gang].leaving_pods.has_value()) return task.marked;
  const std::vector<std::string>& named = *table_[task.gang].leaving_pods;
  return task.of_job && task.holds_room() &&
         std::any_of(named.begin(), named.end(), [&](const std::string& uid) { return task.uid == uid; });
}

void Gangs::NoteLeaving(Task& task) {
  const bool leaving = IsSaidToLeave(task);
  if (task.leaving == leaving) return;
  if (task.gang != kNone) table_[task.gang].leaving += leaving ? 1 : -1;
  task.leaving = leaving;
  Note(task.gang);
}

void Gangs::SetAdmitted(GangId id, bool admitted) {
  table_[id].admitted = admitted;
  Changed(id);
}

void Gangs::SetHeldBack(GangId id, absl::string_view why) {
  Gang& gang = table_[id];
  if (gang.held_back == why) return;
  gang.held_back = Text(why);
  Changed(id);
}

void Gangs::Audit(const SlotTable<Task>& tasks, const Shapes& shapes, std::vector<std::string>& wrong) const {
  std::map<GangId, Gang> sums;
  tasks.ForEach([&](TaskId id, const Task& task) {
    if (task.gang == kNone) return;
    Gang& sum = sums[task.gang];
    sum.tasks.push_back(id);
    ++sum.count[static_cast<std::size_t>(task.status)];
    if (Ends(task)) ++sum.binding_releasing;
    if (task.ours) ++sum.ours;
    if (task.nominated != kNone) ++sum.nominated;
    if (task.evicted) ++sum.evicted;
    if (task.leaving) ++sum.leaving;
    if (task.movable) ++sum.movable;
    AddStart(task, 1, sum);
    if (task.holds_room()) sum.held.Add(shapes[task.shape].request);
    if (task.asks_for_room()) sum.asks.Add(shapes[task.shape].request);
  });
  for (const auto& [id, sum] : sums) {
    if (!table_.Has(id)) wrong.push_back(absl::StrCat("gang number ", id, ": is named and not there"));
  }
  table_.ForEach([&](GangId id, const Gang& gang) {
    const Gang& sum = sums[id];
    const std::string name = absl::StrCat("gang ", gang.ns, "/", gang.name, ": ");
    std::vector<TaskId> own = gang.tasks;
    std::sort(own.begin(), own.end());
    if (own != sum.tasks)
      wrong.push_back(absl::StrCat(name, "tasks are ", own.size(), ", of those that name it ", sum.tasks.size()));
    for (std::size_t status = 0; status < gang.count.size(); ++status) {
      if (gang.count[status] == sum.count[status]) continue;
      wrong.push_back(absl::StrCat(name, "count of status ", status, " is ", gang.count[status], ", of its tasks ",
                                   sum.count[status]));
    }
    if (gang.binding_releasing != sum.binding_releasing) {
      wrong.push_back(absl::StrCat(name, "binding_releasing is ", gang.binding_releasing, ", of its tasks ",
                                   sum.binding_releasing));
    }
    if (gang.ours != sum.ours) wrong.push_back(absl::StrCat(name, "ours is ", gang.ours, ", of its tasks ", sum.ours));
    if (gang.movable != sum.movable)
      wrong.push_back(absl::StrCat(name, "movable is ", gang.movable, ", of its tasks ", sum.movable));
    if (gang.nominated != sum.nominated || gang.evicted != sum.evicted || gang.leaving != sum.leaving)
      wrong.push_back(absl::StrCat(name, "nominated, evicted and leaving are ", gang.nominated, ", ", gang.evicted,
                                   " and ", gang.leaving, ", of its tasks ", sum.nominated, ", ", sum.evicted, " and ",
                                   sum.leaving));
    if (gang.started != sum.started || gang.starts != sum.starts)
      wrong.push_back(absl::StrCat(name, "started are ", gang.started, ", starts ", absl::FormatDuration(gang.starts),
                                   ", of its tasks ", sum.started, " and ", absl::FormatDuration(sum.starts)));
    AuditAmounts(absl::StrCat(name, "held"), gang.held, sum.held, dims_, wrong);
    AuditAmounts(absl::StrCat(name, "asks"), gang.asks, sum.asks, dims_, wrong);
    if (Waits(gang) != gang.waits || gang.waits != waiting_.contains(id))
      wrong.push_back(absl::StrCat(name, "waits and is not listed so, or the other way round"));
    if (AwaitsPods(gang) != gang.awaits_pods || gang.awaits_pods != awaiting_pods_.contains(id))
      wrong.push_back(absl::StrCat(name, "awaits pods and is not listed so, or the other way round"));
    if (!gang.known && gang.tasks.empty()) wrong.push_back(absl::StrCat(name, "is kept for nobody"));
  });
  for (const auto* const list : {&waiting_, &awaiting_pods_}) {
    for (const GangId id : *list) {
      if (!table_.Has(id)) wrong.push_back(absl::StrCat("gang number ", id, ": is listed and not there"));
    }
  }
}

}  // namespace gangway::model
