#include "plugin/ingest/ingest.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "plugin/ingest/requests.h"
#include "plugin/ingest/wants.h"

namespace gangway::ingest {

using model::GangPhase;
using model::PodPhase;
using model::TaintEffect;

namespace {

const std::string& Find(const std::map<std::string, std::string>& map, absl::string_view key) {
  static const std::string& none = *new std::string();
  auto it = map.find(std::string(key));
  return it == map.end() ? none : it->second;
}

PodPhase PhaseOf(const std::string& phase) {
  if (phase == "Running") return PodPhase::kRunning;
  if (phase == "Succeeded") return PodPhase::kSucceeded;
  if (phase == "Failed") return PodPhase::kFailed;
  if (phase == "Unknown") return PodPhase::kUnknown;
  return PodPhase::kPending;
}

GangPhase GangPhaseOf(const std::string& phase) {
  if (phase.empty()) return GangPhase::kNone;
  if (phase == "Inqueue") return GangPhase::kInqueue;
  if (phase == "Running") return GangPhase::kRunning;
  if (phase == "Unknown") return GangPhase::kUnknown;
  if (phase == "Completed") return GangPhase::kCompleted;
  return GangPhase::kPending;
}

// volcano: api/job_info.go: the number at the end of a name of at least three parts.
int IndexOf(absl::string_view name) {
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '-');
  int index = -1;
  if (parts.size() < 3 || !absl::SimpleAtoi(parts.back(), &index) || index < 0) return -1;
  return index;
}

std::int32_t PriorityOf(const api::core::Pod& pod) {
  std::int32_t priority = 0;
  if (absl::SimpleAtoi(Find(pod.metadata.annotations, kTaskPriorityAnnotation), &priority)) return priority;
  return pod.spec.priority.value_or(1);
}

absl::Time BoundAt(const api::core::Pod& pod) {
  for (const api::core::PodCondition& condition : pod.status.conditions) {
    if (condition.type == "PodScheduled" && condition.status == "True") return condition.last_transition_time.at;
  }
  return absl::InfinitePast();
}

}  // namespace

model::PodFacts PodFactsOf(const api::core::Pod& pod, absl::string_view scheduler_name) {
  model::PodFacts facts;
  facts.ns = pod.metadata.ns;
  facts.name = pod.metadata.name;
  facts.uid = pod.metadata.uid;
  facts.gang = Find(pod.metadata.annotations, kGroupNameAnnotation);
  facts.role = Find(pod.metadata.annotations, kTaskAnnotation);
  if (facts.role.empty()) facts.role = Find(pod.metadata.labels, kTaskAnnotation);
  facts.node = pod.spec.node_name;
  facts.phase = PhaseOf(pod.status.phase);
  facts.terminating = pod.metadata.deleting();
  facts.ours = pod.spec.scheduler_name == scheduler_name;
  facts.gated = !pod.spec.scheduling_gates.empty();
  facts.controlled = pod.metadata.Controller() != nullptr;
  facts.priority = PriorityOf(pod);
  facts.index = IndexOf(pod.metadata.name);
  facts.created = pod.metadata.creation_timestamp.at;
  facts.bound_at = BoundAt(pod);
  facts.wants = pod.bound() || pod.ended() ? HoldsOf(pod.spec) : WantsOf(pod.spec);
  return facts;
}

model::NodeFacts NodeFactsOf(const api::core::Node& node) {
  model::NodeFacts facts;
  facts.name = node.metadata.name;
  // A pod that asks for kMaxAmount asks for that or more: no node has it.
  facts.allocatable = ToAmounts(node.status.allocatable.empty() ? node.status.capacity : node.status.allocatable,
                                model::kMaxAmount - 1);
  facts.labels.assign(node.metadata.labels.begin(), node.metadata.labels.end());
  for (const api::core::Taint& taint : node.spec.taints) {
    TaintEffect effect = TaintEffect::kNoSchedule;
    if (taint.effect == "PreferNoSchedule") effect = TaintEffect::kPreferNoSchedule;
    if (taint.effect == "NoExecute") effect = TaintEffect::kNoExecute;
    facts.taints.push_back({taint.key, taint.value, effect});
  }
  facts.unschedulable = node.spec.unschedulable;
  return facts;
}

model::GangFacts GangFactsOf(const api::volcano::PodGroup& group) {
  model::GangFacts facts;
  facts.ns = group.metadata.ns;
  facts.name = group.metadata.name;
  facts.uid = group.metadata.uid;
  if (!group.spec.queue.empty()) facts.queue = group.spec.queue;
  facts.priority_class = group.spec.priority_class_name;
  facts.min_member = group.spec.min_member;
  facts.min_task_member.assign(group.spec.min_task_member.begin(), group.spec.min_task_member.end());
  facts.has_min_resources = !group.spec.min_resources.empty();
  facts.min_resources = MinResources(group.spec.min_resources);
  const bool hard_topology = group.spec.network_topology.has_value() && group.spec.network_topology->mode != "soft";
  if (hard_topology) facts.not_modelled = "spec.networkTopology";
  if (!group.spec.sub_group_policy.empty()) facts.not_modelled = "spec.subGroupPolicy";
  facts.created = group.metadata.creation_timestamp.at;
  facts.phase = GangPhaseOf(group.status.phase);
  return facts;
}

model::QueueFacts QueueFactsOf(const api::volcano::Queue& queue) {
  model::QueueFacts facts;
  facts.name = queue.metadata.name;
  facts.weight = std::max(queue.spec.weight, 1);
  facts.priority = queue.spec.priority;
  // Its controller may not have said anything about it yet; only a queue that was closed takes nobody.
  facts.open = queue.status.state != "Closed" && queue.status.state != "Closing";
  facts.capability = ToAmounts(queue.spec.capability);
  if (queue.spec.guarantee.has_value()) facts.guarantee = ToAmounts(queue.spec.guarantee->resource);
  facts.created = queue.metadata.creation_timestamp.at;
  return facts;
}

model::PriorityClassFacts PriorityClassFactsOf(const api::core::PriorityClass& object) {
  return {object.metadata.name, object.value, object.global_default};
}

}  // namespace gangway::ingest
