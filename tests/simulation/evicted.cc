#include "tests/simulation/evicted.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/cluster_resources.h"
#include "api/duration.h"
#include "api/field_table.h"
#include "api/selector.h"
#include "api/volcano/release.h"
#include "base/check.h"
#include "base/strings.h"
#include "tests/simulation/checkers.h"
#include "tests/simulation/gang_name.h"

namespace gangway::testutil {
namespace {

using api::NamespacedName;
using api::ResourceList;
using api::core::Node;
using api::core::PersistentVolumeClaim;
using api::core::Pod;
using api::core::PodDisruptionBudget;
using api::core::PriorityClass;
using api::volcano::PodGroup;
using sandbox::JournalRecord;
using Words = std::map<std::string, std::string>;

constexpr absl::Duration kSecond = absl::Seconds(2);  // times of the API are whole seconds
// A gang that was moved stays for so long; and so long after the end of its pods its room is kept (docs/queues.md).
constexpr absl::Duration kMovedStays = absl::Minutes(10), kRoomIsKept = absl::Minutes(5);

template <class T>
T ReadRecord(const Bytes& bytes) {
  auto object = api::Decode<T>(*bytes);
  GW_CHECK(object.ok());
  return *std::move(object);
}

std::string WordOf(const Words& words, const char* key) {
  const auto it = words.find(key);
  return it == words.end() ? "" : it->second;
}
bool IsThere(const Pod& pod) { return pod.bound() && !pod.ended() && !pod.metadata.deleting(); }

bool IsNominated(const Pod& pod) { return !pod.bound() && !pod.status.nominated_node_name.empty(); }
bool WaitsForVolumes(const Pod& pod) {
  return !pod.bound() && absl::StrContains(pod.spec.volumes.json, "persistentVolumeClaim");
}

// Of what `of` says nothing of.
api::Quantity AmountOf(const ResourceList& of, const std::string& resource) {
  const auto it = of.find(resource);
  return it == of.end() ? api::Quantity() : it->second;
}

bool IsProtected(const api::ObjectMeta& metadata) {
  for (const Words* const words : {&metadata.annotations, &metadata.labels}) {
    bool may = true;
    if (absl::SimpleAtob(WordOf(*words, "volcano.sh/preemptable"), &may)) return !may;
  }
  return false;
}
absl::Duration DurationIn(const Words& words, const char* key) {
  const std::string text = WordOf(words, key);
  return text.empty() ? absl::ZeroDuration() : api::ParseGoDuration(text).value_or(absl::ZeroDuration());
}

const api::volcano::PodGroupCondition* EvictionOf(const PodGroup& group) {
  const auto* const told = api::volcano::LatestRelease(group.status);
  const bool evicted = told != nullptr && (told->reason == "Preempted" || told->reason == "Reclaimed" ||
                                           told->reason == api::volcano::kMoved);
  return evicted ? told : nullptr;
}
// "evicted 2 of 8 tasks for default/high: ..."; empty: it goes with others of its gang that went before.
NamespacedName ForWhom(const std::string& message) {
  const std::size_t from = message.find(" for "), to = message.find(": ");
  if (from == std::string::npos || to == std::string::npos || to < from) return {};
  const std::pair<std::string, std::string> name =
      absl::StrSplit(message.substr(from + 5, to - from - 5), absl::MaxSplits('/', 1));
  return {name.first, name.second};
}
std::string SpecOf(const PodGroup& group) { return api::Encode(group.spec); }

}  // namespace

// ---- what is there

bool Evicted::BudgetForbids(const Pod& pod) const {
  return std::any_of(budgets_.begin(), budgets_.end(), [&](const auto& each) {
    const auto selector = api::LabelSelector::FromJson(each.second.spec.selector.json);
    return each.first.ns == pod.metadata.ns && each.second.status.disruptions_allowed <= 0 && selector.ok() &&
           selector->Matches(pod.metadata.labels);
  });
}

std::int32_t Evicted::PriorityOf(const PodGroup& group) const {
  const auto of = classes_.find(group.spec.priority_class_name);
  return of == classes_.end() ? 0 : of->second.value;
}

absl::Time Evicted::ChangeOf(const NamespacedName& gang) const {
  const auto at = changed_of_.find(gang);
  return at == changed_of_.end() ? absl::InfinitePast() : at->second;
}
bool Evicted::Calm(const Told& told, absl::Time now) const {
  return now - std::max({disturbed_, changed_, ChangeOf(told.gang), ChangeOf(told.for_whom)}) >= rules_.known;
}

std::vector<const Pod*> Evicted::PodsOf(const NamespacedName& gang) const {
  std::vector<const Pod*> found;
  for (auto it = pods_.lower_bound({gang.ns, ""}); it != pods_.end() && it->first.ns == gang.ns; ++it) {
    if (IsOfGang(it->second, gang)) found.push_back(&it->second);
  }
  return found;
}

// With what left it of late: the scheduler may not have known; and with what room is kept for.
ResourceList Evicted::HeldBy(const Branch& branch, absl::Time now) const {
  ResourceList held;
  for (const auto& [key, pod] : pods_) {
    const PodGroup* const group = IsThere(pod) || IsNominated(pod) ? group_of_(pod) : nullptr;
    if (group != nullptr && IsIn(queues_, branch, group->spec.queue)) AddRequests(pod, held);
  }
  for (const Departed& departed : departed_) {
    if (now - departed.at <= rules_.known && IsIn(queues_, branch, departed.queue)) AddRequests(departed.pod, held);
  }
  return held;
}

// What there is where pods may go, but for what pods of no gang have.
ResourceList Evicted::Shared() const {
  ResourceList total;
  for (const auto& [name, node] : nodes_) {
    if (node.spec.unschedulable || !node.spec.taints.empty()) continue;
    for (const auto& [resource, amount] : node.status.allocatable) total[resource] = *total[resource].Plus(amount);
  }
  ResourceList others;
  for (const auto& [key, pod] : pods_) {
    if (pod.bound() && !pod.ended() && group_of_(pod) == nullptr) AddRequests(pod, others);
  }
  for (const auto& [resource, amount] : others) total[resource] = *total[resource].Minus(amount);
  return total;
}

void Evicted::OnRecord(const JournalRecord& record, const std::string& where) {
  if (record.resource == &api::kPodGroups) return OnGroup(record, where);
  if (record.resource == &api::kQueues) {
    const auto spec = [](const Bytes& bytes) {
      return bytes == nullptr ? "" : api::Encode(ReadRecord<api::volcano::Queue>(bytes).spec);
    };
    if (spec(record.before) != spec(record.after)) changed_ = record.time;
  } else if (record.resource == &api::kPriorityClasses) {
    changed_ = record.time;
    classes_.erase(record.key.name);
    if (record.after != nullptr) classes_[record.key.name] = ReadRecord<PriorityClass>(record.after);
  } else if (record.resource == &api::kPodDisruptionBudgets) {
    changed_ = record.time;
    budgets_.erase(record.key);
    if (record.after != nullptr) budgets_[record.key] = ReadRecord<PodDisruptionBudget>(record.after);
  } else if (record.resource == &api::kNodes) {
    const auto old = nodes_.find(record.key.name);
    if (record.after == nullptr) {
      nodes_.erase(record.key.name);
      changed_ = record.time;
      return;
    }
    Node node = ReadRecord<Node>(record.after);
    const bool same = old != nodes_.end() && old->second.status.allocatable == node.status.allocatable &&
                      old->second.metadata.labels == node.metadata.labels &&
                      old->second.spec.unschedulable == node.spec.unschedulable &&
                      old->second.spec.taints.size() == node.spec.taints.size();
    if (!same) changed_ = record.time;
    nodes_[record.key.name] = std::move(node);
  } else if (record.resource == &api::kPersistentVolumeClaims) {
    awaited_.erase(record.key);
    if (record.after == nullptr) return;
    const auto claim = ReadRecord<PersistentVolumeClaim>(record.after);
    if (claim.status.phase != "Bound" && claim.metadata.annotations.contains("volume.kubernetes.io/selected-node"))
      awaited_.insert(record.key);
  }
}

void Evicted::OnPod(const Pod* before, const Pod* after, absl::Time now) {
  const bool same = before != nullptr && after != nullptr && before->metadata.uid == after->metadata.uid;
  const bool ends = after != nullptr && after->ended() && !(same && before->ended());
  const bool comes = after != nullptr && names_.insert(after->metadata.name).second;
  if (ends || comes || (before != nullptr && after != nullptr && !before->bound() && group_of_(*after) == nullptr))
    asked_ = now;
  if (before != nullptr && IsThere(*before) && !(same && IsThere(*after))) {
    const PodGroup* const group = group_of_(*before);
    if (group != nullptr) departed_.push_back({*before, group->spec.queue, now});
  }
  if (before != nullptr && !same) bound_at_.erase(before->metadata.uid);
  if (after != nullptr && after->bound()) bound_at_.emplace(after->metadata.uid, now);
}

// ---- an eviction

void Evicted::OnGroup(const JournalRecord& record, const std::string& where) {
  if (record.before == nullptr || record.after == nullptr) asked_ = record.time;
  if (record.after == nullptr) {
    groups_.erase(record.key);
    return;
  }
  PodGroup group = ReadRecord<PodGroup>(record.after);
  const auto old = groups_.find(record.key);
  const bool same = old != groups_.end() && old->second.metadata.uid == group.metadata.uid;
  if (same && SpecOf(old->second) != SpecOf(group)) asked_ = changed_of_[record.key] = record.time;
  const auto* const was = same ? EvictionOf(old->second) : nullptr;
  const auto* const is = EvictionOf(group);
  std::optional<Told> told;
  if (is != nullptr && record.client == rules_.scheduler && (was == nullptr || was->message != is->message)) {
    told = Told{record.key, ForWhom(is->message), group.metadata.uid, is->reason, where, {}, {}, record.time, {}};
    for (const api::volcano::ReleasedPod& pod : api::volcano::ReleasedPods(*is)) told->named.insert(pod.uid);
    for (const Pod* const pod : PodsOf(record.key)) {
      if (IsThere(*pod)) told->there.insert(pod->metadata.uid);
    }
  }
  groups_[record.key] = std::move(group);
  if (told.has_value()) OnTold(*told, groups_.at(record.key));
}

void Evicted::OnTold(Told told, const PodGroup& group) {
  std::erase_if(told_, [&](const Told& other) { return other.gang == told.gang; });  // what is told last counts
  const auto it = groups_.find(told.for_whom);
  if (it == groups_.end()) {
    told_.push_back(std::move(told));
    return;
  }
  const PodGroup& for_whom = it->second;
  Gain& gain = gains_[told.for_whom];
  if (gain.uid != for_whom.metadata.uid) gain = {};
  gain.uid = for_whom.metadata.uid;
  gain.spec = SpecOf(for_whom);
  gain.where = told.where;
  gain.victims.insert(told.named.begin(), told.named.end());
  gain.told = told.at;
  gain.waited = absl::ZeroDuration();
  for (const Pod* const pod : PodsOf(told.for_whom)) gain.pods.insert(pod->metadata.uid);
  if (clocks_are_right_) CheckTurns(told);
  OnMoved(told, group);
  if (Calm(told, told.at)) CheckEntitled(told, group, for_whom);
  told_.push_back(std::move(told));
}

void Evicted::CheckEntitled(Told& told, const PodGroup& group, const PodGroup& for_whom) {
  const auto of = classes_.find(for_whom.spec.priority_class_name);
  if (of != classes_.end() && of->second.preemption_policy == "Never") {
    tell_(Rule::kNeverPreempts, absl::StrCat("gang ", told.gang.ToString(), " had to go for ", told.for_whom.ToString(),
                                             ", of class ", of->first, ", at ", told.where));
  }
  const bool reclaimed = told.reason == "Reclaimed", moved = told.reason == api::volcano::kMoved;
  const std::int32_t above = PriorityOf(for_whom) - PriorityOf(group);
  const bool entitled = moved       ? above >= 0
                        : reclaimed ? group.spec.queue != for_whom.spec.queue
                                    : group.spec.queue == for_whom.spec.queue && above > 0;
  if (!entitled) {
    tell_(Rule::kEvictedHigher,
          absl::StrCat("gang ", told.gang.ToString(), " of priority ", PriorityOf(group), " in ", group.spec.queue,
                       " was ", told.reason, " for ", told.for_whom.ToString(), " of priority ", PriorityOf(for_whom),
                       " in ", for_whom.spec.queue, " at ", told.where));
    return;
  }
  const Branch branch = BranchOf(queues_, group.spec.queue, for_whom.spec.queue);
  CheckProtected(told, group, reclaimed, branch);
  if (!reclaimed) return;
  NoteShare(told, group, branch);
  NoteGuarantees(told, group.spec.queue, branch);
}

// Of his own will, as a whole (JudgeSettled), and not again soon.
void Evicted::OnMoved(const Told& told, const PodGroup& group) {
  if (told.reason != api::volcano::kMoved) {
    comebacks_.erase(told.gang);
    moved_.erase(told.gang);
    return;
  }
  for (const Pod* const pod : PodsOf(told.gang)) {
    if (told.named.contains(pod->metadata.uid) && WordOf(pod->metadata.annotations, "gangway.io/movable") != "true")
      tell_(Rule::kMovedUndeclared,
            absl::StrCat("pod ", pod->metadata.name, " did not say that it may be moved, and was, at ", told.where));
  }
  const auto before = moved_.find(told.gang);
  if (before != moved_.end() && before->second.first == told.uid && clocks_are_right_ &&
      told.at - before->second.second < kMovedStays - kSecond) {
    tell_(Rule::kMovedAgain,
          absl::StrCat("gang ", told.gang.ToString(), " was moved ",
                       absl::FormatDuration(told.at - before->second.second), " after it was, at ", told.where));
  }
  moved_[told.gang] = {told.uid, told.at};
  comebacks_[told.gang] = {told.uid, SpecOf(group), told.where, told.for_whom, told.named, {}, told.at, told.at, {}};
}

// Who says that he may not be evicted, or not yet.
void Evicted::CheckProtected(const Told& told, const PodGroup& group, bool reclaimed, const Branch& branch) {
  const auto violation = [&](const auto&... why) {
    tell_(Rule::kEvictedProtected, absl::StrCat(why..., ", at ", told.where));
  };
  const std::vector<std::string> path = PathOf(queues_, group.spec.queue);
  absl::Duration min_runtime;
  bool said = false;
  for (const std::string& level : path) {
    const auto queue = queues_.find(level);
    if (queue == queues_.end()) continue;
    const Words& words = queue->second.metadata.annotations;
    if (!std::exchange(said, said || words.contains("gangway.io/min-runtime")))
      min_runtime = DurationIn(words, "gangway.io/min-runtime");
  }
  for (const std::string& level : path) {
    const auto queue = queues_.find(level);
    if (reclaimed && queue != queues_.end() && queue->second.spec.reclaimable == false)
      violation("queue ", level, " is not reclaimable and had to give");
    if (level == branch.queue) break;
  }
  for (const Pod* const pod : PodsOf(told.gang)) {
    if (!told.named.contains(pod->metadata.uid) || !IsThere(*pod)) continue;
    if (IsProtected(pod->metadata) || IsProtected(group.metadata))
      violation("pod ", pod->metadata.name, " is not preemptable and had to go");
    if (BudgetForbids(*pod)) violation("pod ", pod->metadata.name, ", whose budget allows no disruption, had to go");
    const absl::Duration needs =
        std::max({min_runtime, DurationIn(pod->metadata.annotations, "volcano.sh/cooldown-time"),
                  DurationIn(pod->metadata.labels, "volcano.sh/cooldown-time")});
    const absl::Duration ran = told.at - bound_at_[pod->metadata.uid];
    if (clocks_are_right_ && ran < needs - kSecond)
      violation("pod ", pod->metadata.name, " may stay for ", absl::FormatDuration(needs), " and had to go after ",
                absl::FormatDuration(ran));
  }
}

// Nobody asks for more or less since, so the second of them has no better right than the first had.
void Evicted::CheckTurns(const Told& told) {
  const auto back = turns_.find({told.for_whom, told.gang});
  if (back != turns_.end() && back->second > std::max({asked_, changed_, disturbed_})) {
    tell_(Rule::kTakesTurns, absl::StrCat("gang ", told.gang.ToString(), " had to go for ", told.for_whom.ToString(),
                                          ", which had gone for it ", absl::FormatDuration(told.at - back->second),
                                          " before, and nobody asked for more or less, at ", told.where));
  }
  turns_[{told.gang, told.for_whom}] = told.at;
}

// A queue gives only what it holds beyond what it deserves, of something that is asked for.
void Evicted::NoteShare(Told& told, const PodGroup& group, const Branch& branch) const {
  Promise promise{Rule::kBelowShare,
                  branch,
                  HeldBy(branch, told.at),
                  DeservesAtLeast(queues_, branch, Shared()),
                  {},
                  absl::StrCat("held no more than it deserves and had to give gang ", told.gang.ToString(), " of ",
                               group.spec.queue)};
  for (const Pod* const pod : PodsOf(told.for_whom)) AddRequests(*pod, promise.asked);
  told.promises.push_back(std::move(promise));
}

// What is left of a queue after all who go for that gang.
void Evicted::NoteGuarantees(Told& told, const std::string& queue, const Branch& branch) const {
  std::set<std::string> named = told.named;
  for (const Told& other : told_) {
    if (other.for_whom == told.for_whom && told.at - other.at <= rules_.settles)
      named.insert(other.named.begin(), other.named.end());
  }
  ResourceList given;
  for (const Pod* const pod : PodsOf(told.gang)) {
    if (told.named.contains(pod->metadata.uid)) AddRequests(*pod, given);
  }
  for (const std::string& level : PathOf(queues_, queue)) {
    const auto it = queues_.find(level);
    if (it != queues_.end() && it->second.spec.guarantee.has_value()) {
      Promise promise{
          Rule::kBelowGuarantee,
          {level, false},
          HeldBy({level, false}, told.at),
          it->second.spec.guarantee->resource,
          given,
          absl::StrCat("is left less than is guaranteed to it by gang ", told.gang.ToString(), ", which had to go")};
      for (const auto& [key, pod] : pods_) {
        const PodGroup* const group = named.contains(pod.metadata.uid) && IsThere(pod) ? group_of_(pod) : nullptr;
        if (group == nullptr || !IsIn(queues_, promise.branch, group->spec.queue)) continue;
        ResourceList its;
        AddRequests(pod, its);
        for (const auto& [resource, amount] : its) promise.held[resource] = *promise.held[resource].Minus(amount);
      }
      told.promises.push_back(std::move(promise));
    }
    if (level == branch.queue) break;
  }
}

// ---- what comes of it

// By what is bound by now: bindings may have been under way. One that was decided on since counts for the queue, too.
void Evicted::JudgePromise(const Told& told, Promise promise) {
  for (const auto& [key, pod] : pods_) {
    const PodGroup* const group = IsThere(pod) || IsNominated(pod) ? group_of_(pod) : nullptr;
    const auto bound = bound_at_.find(pod.metadata.uid);
    if (group != nullptr && (bound == bound_at_.end() || bound->second > told.at) &&
        IsIn(queues_, promise.branch, group->spec.queue))
      AddRequests(pod, promise.held);
  }
  bool over = false, short_of_it = false;
  std::string text;
  for (const auto& [resource, amount] : promise.asked) {
    if (amount.zero() || !promise.promised.contains(resource)) continue;
    over = over || AmountOf(promise.held, resource) > promise.promised[resource];
    short_of_it = short_of_it || AmountOf(promise.held, resource) < promise.promised[resource];
    absl::StrAppend(&text, text.empty() ? "" : ", ", AmountOf(promise.held, resource).ToString(), " ", resource, " of ",
                    promise.promised[resource].ToString());
  }
  if (promise.rule == Rule::kBelowShare ? over || text.empty() : !short_of_it) return;
  tell_(promise.rule, absl::StrCat("queue ", promise.branch.queue, " ", promise.text, ": ", text, " at ", told.where));
}

void Evicted::OnFault(absl::Time now, absl::Time until, FaultOf of) {
  Settle(now);
  calm_.Disturbed(now, until);
  if (of == FaultOf::kScheduler) disturbed_ = std::max(disturbed_, until);
  if (of == FaultOf::kCluster) nodes_lacking_ = std::max(nodes_lacking_, until);
}

void Evicted::Settle(absl::Time now) {
  std::erase_if(departed_, [&](const Departed& departed) { return now - departed.at > rules_.known; });
  for (auto it = told_.begin(); it != told_.end();) {
    if (now - std::max(it->at, disturbed_) <= rules_.settles) {
      ++it;
      continue;
    }
    JudgeSettled(*it);
    if (changed_ < it->at && disturbed_ < it->at) {
      for (const Promise& promise : it->promises) JudgePromise(*it, promise);
    }
    it = told_.erase(it);
  }
  const absl::Duration more = last_ == absl::InfinitePast() ? absl::ZeroDuration() : calm_.Between(last_, now);
  for (auto it = gains_.begin(); it != gains_.end();)
    it = Awaited(it->first, it->second, more) ? std::next(it) : gains_.erase(it);
  for (auto it = comebacks_.begin(); it != comebacks_.end();)
    it = ComesBack(it->first, it->second, more, now) ? std::next(it) : comebacks_.erase(it);
  CheckStarved(now);
  last_ = now;
}

// Who stays is enough for the gang to go on, or nobody does.
void Evicted::JudgeSettled(const Told& told) {
  const auto group = groups_.find(told.gang);
  if (group == groups_.end() || group->second.metadata.uid != told.uid ||
      std::max(changed_, ChangeOf(told.gang)) >= told.at)
    return;
  int stay = 0, succeeded = 0;
  std::map<std::string, int> by_task;
  std::set<std::string> seen;
  for (const Pod* const pod : PodsOf(told.gang)) {
    const bool there = told.there.contains(pod->metadata.uid);
    if (pod->bound() && pod->status.phase == "Succeeded") ++succeeded;
    if (there) seen.insert(pod->metadata.uid);
    if (there && IsThere(*pod)) ++stay;
    if ((there && IsThere(*pod)) || pod->status.phase == "Succeeded")
      ++by_task[WordOf(pod->metadata.annotations, "volcano.sh/task-spec")];
    if (there && !IsThere(*pod) && !told.named.contains(pod->metadata.uid)) return;  // it left for reasons of its own
  }
  for (const std::string& uid : told.there) {
    if (!seen.contains(uid) && !told.named.contains(uid)) return;
  }
  const api::volcano::PodGroupSpec& spec = group->second.spec;
  bool whole = stay + succeeded >= spec.min_member;
  int sum = 0;
  for (const auto& [task, minimum] : spec.min_task_member) sum += minimum;
  for (const auto& [task, minimum] : spec.min_task_member)
    whole = whole && (sum > spec.min_member || by_task[task] >= minimum);
  if (stay == 0 || (whole && told.reason != api::volcano::kMoved)) return;
  tell_(Rule::kPartEvicted,
        absl::StrCat("gang ", told.gang.ToString(), ", minMember ", spec.min_member, ", has ", stay, " pods left and ",
                     succeeded, " that succeeded after the eviction at ", told.where));
}

bool Evicted::Awaited(const NamespacedName& key, Gain& gain, absl::Duration more) {
  const auto group = groups_.find(key);
  if (group == groups_.end() || group->second.metadata.uid != gain.uid || SpecOf(group->second) != gain.spec ||
      std::max(changed_, disturbed_) > gain.told)
    return false;
  int bound = 0;
  std::set<std::string> pods;
  for (const Pod* const pod : PodsOf(key)) {
    if (pod->bound()) ++bound;
    if (!pod->ended() && !pod->metadata.deleting()) pods.insert(pod->metadata.uid);
    if (WaitsForVolumes(*pod)) return false;
  }
  if (bound >= group->second.spec.min_member || pods != gain.pods) return false;
  const bool some_go = std::any_of(pods_.begin(), pods_.end(), [&](const auto& entry) {
    return gain.victims.contains(entry.second.metadata.uid) && !entry.second.ended();
  });
  gain.waited = some_go ? absl::ZeroDuration() : gain.waited + more;
  if (gain.waited <= rules_.gain_takes || !clocks_are_right_) return true;
  tell_(
      Rule::kEvictedWithoutGain,
      absl::StrCat("gang ", key.ToString(), " has ", bound, " of minMember ", group->second.spec.min_member, " bound ",
                   absl::FormatDuration(gain.waited), " after the last of those who had to go for it at ", gain.where));
  return false;
}

// As many pods as went are made again, and those are gone who were moved for the same gang: where these were may be its
// room. False: nothing is asked of it any more.
bool Evicted::ComesBack(const NamespacedName& key, Comeback& comeback, absl::Duration more, absl::Time now) {
  const auto group = groups_.find(key);
  if (group == groups_.end() || group->second.metadata.uid != comeback.uid || SpecOf(group->second) != comeback.spec ||
      std::max(changed_, disturbed_) > comeback.since || now - comeback.gone > kRoomIsKept)
    return false;
  std::size_t bound = 0;
  std::set<std::string> made;
  for (const Pod* const pod : PodsOf(key)) {
    if (comeback.went.contains(pod->metadata.uid)) continue;
    if (pod->bound()) ++bound;
    if (!pod->ended() && !pod->metadata.deleting()) made.insert(pod->metadata.uid);
  }
  if (bound >= comeback.went.size()) return false;
  const auto goes = [&](const auto& entry) {
    const std::string& uid = entry.second.metadata.uid;
    return !entry.second.ended() && std::any_of(comebacks_.begin(), comebacks_.end(), [&](const auto& other) {
      return other.second.for_whom == comeback.for_whom && other.second.went.contains(uid);
    });
  };
  const bool some_go = std::any_of(pods_.begin(), pods_.end(), goes);
  if (std::exchange(comeback.made, made) != made) comeback.waited = absl::ZeroDuration();
  comeback.waited += more;
  if (some_go) {
    comeback.gone = now;
    comeback.waited = absl::ZeroDuration();
  }
  if (made.size() < comeback.went.size() || comeback.waited <= rules_.gain_takes || !clocks_are_right_) return true;
  tell_(Rule::kNotBack, absl::StrCat("gang ", key.ToString(), " was moved, and of ", comeback.went.size(), " pods ",
                                     bound, " are bound ", absl::FormatDuration(comeback.waited),
                                     " after they were made again, at ", comeback.where));
  return false;
}

// All of its minimum is there, and nobody holds anything, nor nodes until volumes are made for them. What is so now has
// been so since the record before.
void Evicted::CheckStarved(absl::Time now) {
  const bool idle = awaited_.empty() && std::none_of(pods_.begin(), pods_.end(), [](const auto& entry) {
                      return entry.second.bound() && !entry.second.ended();
                    });
  if (!idle) {
    idle_.reset();
    waits_.clear();
    return;
  }
  if (!idle_.has_value()) idle_ = last_;
  for (const auto& [key, group] : groups_) {
    int waiting = 0;
    for (const Pod* const pod : PodsOf(key))
      waiting += !pod->bound() && !pod->metadata.deleting() && pod->spec.scheduler_name == "volcano" ? 1 : 0;
    if (waiting == 0 || waiting < group.spec.min_member) {
      waits_.erase(key);
      continue;
    }
    const absl::Time since =
        std::max({waits_.emplace(key, last_).first->second, *idle_, disturbed_, nodes_lacking_, changed_});
    if (now - since <= rules_.idle) continue;
    tell_(Rule::kStarved, absl::StrCat("gang ", key.ToString(), " with ", waiting, " pods waits for ",
                                       absl::FormatDuration(now - since), " while nobody holds anything"));
    waits_[key] = now;
  }
}

}  // namespace gangway::testutil
