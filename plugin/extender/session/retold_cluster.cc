#include "plugin/extender/session/retold_cluster.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace gangway::extender {

using model::PodPhase;
using model::TaskStatus;

namespace {

bool RunsOn(const model::Task& task) {
  return task.row != model::kNone && (task.status == TaskStatus::kBound || task.status == TaskStatus::kRunning);
}

bool Stays(const model::PodFacts& facts) {
  return !facts.node.empty() && !facts.terminating &&
         (facts.phase == PodPhase::kPending || facts.phase == PodPhase::kRunning);
}

// All members, so that one more does not compile.

// But for how far it is.
bool AsksTheSame(const model::GangFacts& x, const model::GangFacts& y) {
  const auto& [ns, name, uid, kind, queue, priority_class, min_member, min_task_member, sub_groups, has_min_resources,
               min_resources, quota_asks, topology, not_modelled, created, waiting_time, phase, was_whole, evictable,
               moved, evictions, last_evicted, evicted_for, moved_pods, leaving_pods, short_since, past_runs, lasts,
               ours] = x;
  return std::tie(ns, name, uid, kind, queue, priority_class, min_member, min_task_member, sub_groups,
                  has_min_resources, min_resources, quota_asks, topology, not_modelled, created, waiting_time,
                  evictable, moved, evictions, last_evicted, evicted_for, moved_pods, leaving_pods, short_since,
                  past_runs, lasts, ours) ==
         std::tie(y.ns, y.name, y.uid, y.kind, y.queue, y.priority_class, y.min_member, y.min_task_member, y.sub_groups,
                  y.has_min_resources, y.min_resources, y.quota_asks, y.topology, y.not_modelled, y.created,
                  y.waiting_time, y.evictable, y.moved, y.evictions, y.last_evicted, y.evicted_for, y.moved_pods,
                  y.leaving_pods, y.short_since, y.past_runs, y.lasts, y.ours);
}

bool Same(const model::QueueFacts& x, const model::QueueFacts& y) {
  const auto& [name, parent, weight, priority, open, reclaimable, min_runtime, lost_member_grace, capability, guarantee,
               deserved, not_modelled, created, use] = x;
  return std::tie(name, parent, weight, priority, open, reclaimable, min_runtime, lost_member_grace, capability,
                  guarantee, deserved, not_modelled, created, use) ==
         std::tie(y.name, y.parent, y.weight, y.priority, y.open, y.reclaimable, y.min_runtime, y.lost_member_grace,
                  y.capability, y.guarantee, y.deserved, y.not_modelled, y.created, y.use);
}

bool Same(const model::QuotaFacts& x, const model::QuotaFacts& y) {
  const auto& [ns, name, limits] = x;
  return std::tie(ns, name, limits) == std::tie(y.ns, y.name, y.limits);
}

bool LetIn(model::GangPhase phase) {
  return phase == model::GangPhase::kInqueue || phase == model::GangPhase::kRunning;
}

}  // namespace

void RetoldCluster::Note(std::vector<Telling>& told, int id, Telling telling) {
  const auto at = static_cast<std::size_t>(id);
  if (told.size() <= at) told.resize(std::max(at + 1, 2 * told.size()));
  told[at] = telling;
}

void RetoldCluster::Begin(const SessionPlan* plan) {
  ++telling_;
  plan_ = plan;
  begun_ = cluster_.version();
  foreseen_ = 0;
  on_planned_nodes_ = 0;
}

void RetoldCluster::SetNode(const model::NodeFacts& facts) {
  cluster_.SetNode(facts);
  Note(nodes_, cluster_.FindNode(facts.name), telling_);
}

void RetoldCluster::SetPod(const model::PodFacts& facts) {
  const std::uint64_t version = cluster_.version(), waiting = cluster_.version_of_waiting();
  const model::TaskId id = cluster_.FindTask(facts.ns, facts.name);
  const bool planned = plan_ != nullptr && !facts.node.empty() && plan_->NodeOf(facts.uid) == facts.node;
  on_planned_nodes_ += planned ? 1 : 0;
  std::optional<Before> before;
  if (id != model::kNone && plan_ != nullptr) before = BeforeOf(cluster_.task(id));
  Note(pods_, cluster_.SetPod(facts), telling_);
  if (cluster_.version() == version || !before.has_value() || !Stays(facts)) return;
  const model::Task& now = cluster_.task(cluster_.FindTask(facts.ns, facts.name));
  if (now.uid != before->uid || now.priority != before->priority || now.evictable != before->evictable ||
      now.leaving != before->leaving)
    return;
  // Of one that is where it was, and whose gang has all it waited for, only how far it is. One that came there asked
  // for more while it waited than it holds now.
  const bool runs_on =
      before->runs && now.row == before->row && now.shape == before->shape && cluster_.version_of_waiting() == waiting;
  if (before->runs ? runs_on : planned) foreseen_ += cluster_.version() - version;
}

RetoldCluster::Before RetoldCluster::BeforeOf(const model::Task& task) {
  return {
      std::string(task.uid.text()), task.row, task.shape, task.priority, task.evictable, task.leaving, RunsOn(task)};
}

void RetoldCluster::RemovePod(absl::string_view ns, absl::string_view name) {
  const model::TaskId id = cluster_.FindTask(ns, name);
  if (id == model::kNone) return;
  Note(pods_, id, 0);
  cluster_.RemovePod(ns, name);
}

void RetoldCluster::SetGang(const model::GangFacts& facts) {
  Said<model::GangFacts>& said = gangs_[Key(facts.ns, facts.name)];
  const bool asks_the_same = said.told != 0 && AsksTheSame(said.facts, facts);
  said.told = telling_;
  if (asks_the_same && said.facts.phase == facts.phase && said.facts.was_whole == facts.was_whole) return;
  const PlannedGang* const planned = plan_ == nullptr ? nullptr : plan_->Find(model::KeyOf(facts.ns, facts.name));
  const bool foreseen = asks_the_same && planned != nullptr && planned->verdict == PlannedGang::Verdict::kPlaced &&
                        LetIn(facts.phase) && LetIn(said.facts.phase);
  const std::uint64_t version = cluster_.version();
  cluster_.SetGang(facts);
  if (foreseen) foreseen_ += cluster_.version() - version;
  said.facts = facts;
}

void RetoldCluster::RemoveGang(absl::string_view ns, absl::string_view name) {
  gangs_.erase(Key(ns, name));
  cluster_.RemoveGang(ns, name);
}

void RetoldCluster::SetQueue(const model::QueueFacts& facts) {
  Said<model::QueueFacts>& said = queues_[facts.name];
  const bool same = said.told != 0 && Same(said.facts, facts);
  said.told = telling_;
  if (same) return;
  cluster_.SetQueue(facts);
  said.facts = facts;
}

void RetoldCluster::SetQuota(const model::QuotaFacts& facts) {
  Said<model::QuotaFacts>& said = quotas_[Key(facts.ns, facts.name)];
  const bool same = said.told != 0 && Same(said.facts, facts);
  said.told = telling_;
  if (same) return;
  cluster_.SetQuota(facts);
  said.facts = facts;
  // What gangs ask of quotas is kept where there are some: they are told of again.
  for (auto& [key, gang] : gangs_) {
    if (key.first == facts.ns) gang.facts.quota_asks = {{"", -1}};
  }
}

void RetoldCluster::SetHyperNode(const model::HyperNodeFacts& facts) {
  Said<model::HyperNodeFacts>& said = hyper_nodes_[facts.name];
  const bool same = said.told != 0 && said.facts == facts;
  said.told = telling_;
  if (same) return;
  cluster_.SetHyperNode(facts);
  said.facts = facts;
}

void RetoldCluster::SetPriorityClass(const model::PriorityClassFacts& facts) {
  if (priority_classes_.insert(facts.name).second) cluster_.SetPriorityClass(facts);
}

template <class Map, class F>
void RetoldCluster::RemoveUntold(Map& said, F remove) {
  for (auto it = said.begin(); it != said.end();) {
    const auto at = it++;
    if (at->second.told == telling_) continue;
    remove(at->first);
    said.erase(at);
  }
}

void RetoldCluster::End() {
  const auto untold = [&](std::vector<Telling>& told, auto remove) {
    for (std::size_t id = 0; id < told.size(); ++id) {
      if (told[id] == 0 || told[id] == telling_) continue;
      told[id] = 0;
      remove(static_cast<int>(id));
    }
  };
  untold(pods_, [&](model::TaskId id) {
    const std::string name = cluster_.task(id).name;
    cluster_.RemovePod(cluster_.task(id).ns, name);
  });
  untold(nodes_, [&](model::Row row) { cluster_.RemoveNode(std::string(cluster_.node_name(row))); });
  RemoveUntold(gangs_, [&](const Key& key) { cluster_.RemoveGang(key.first, key.second); });
  RemoveUntold(queues_, [&](const std::string& name) { cluster_.RemoveQueue(name); });
  RemoveUntold(hyper_nodes_, [&](const std::string& name) { cluster_.RemoveHyperNode(name); });
  RemoveUntold(quotas_, [&](const Key& key) { cluster_.RemoveQuota(key.first, key.second); });
}

bool RetoldCluster::Told(absl::string_view ns, absl::string_view pod) const {
  const model::TaskId id = cluster_.FindTask(ns, pod);
  return id != model::kNone && static_cast<std::size_t>(id) < pods_.size() &&
         pods_[static_cast<std::size_t>(id)] == telling_;
}

bool RetoldCluster::AsPlanned() const {
  return plan_ != nullptr && cluster_.version() == begun_ + foreseen_ && on_planned_nodes_ == plan_->placed();
}

}  // namespace gangway::extender
