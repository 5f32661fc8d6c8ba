#include "plugin/ingest/ingest.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/duration.h"
#include "api/field_table.h"
#include "api/scheduling_resources.h"
#include "api/volcano/controlling_job.h"
#include "api/volcano/group_notes.h"
#include "api/volcano/past_runs.h"
#include "api/volcano/queue_notes.h"
#include "api/volcano/queue_parts.h"
#include "api/volcano/release.h"
#include "plugin/ingest/requests.h"
#include "plugin/ingest/use_text.h"
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

// volcano: api/job_info.go, extractWaitingTime: what is no positive duration says nothing.
std::optional<absl::Duration> WaitingTimeOf(const api::volcano::PodGroup& group) {
  const std::string& own = Find(group.metadata.annotations, "volcano.sh/sla-waiting-time");
  const auto wait = api::ParseGoDuration(own.empty() ? Find(group.metadata.annotations, "sla-waiting-time") : own);
  return wait.ok() && *wait > absl::ZeroDuration() ? std::optional<absl::Duration>(*wait) : std::nullopt;
}

std::int32_t PriorityOf(const api::core::Pod& pod) {
  std::int32_t priority = 0;
  if (absl::SimpleAtoi(Find(pod.metadata.annotations, kTaskPriorityAnnotation), &priority)) return priority;
  return pod.spec.priority.value_or(1);
}

// Without a tier, by number or by name, any will do.
model::TopologyFacts TopologyOf(const api::volcano::NetworkTopologySpec& topology) {
  model::TopologyFacts facts;
  facts.tier_name = topology.highest_tier_name;
  if (topology.highest_tier_allowed.has_value()) facts.tier = *topology.highest_tier_allowed;
  facts.required = topology.hard() && (facts.tier.has_value() || !facts.tier_name.empty());
  return facts;
}

bool AsksForNothing(const model::SubGroupFacts& policy) {
  return policy.size <= 1 && policy.min_groups <= 0 && !policy.topology.has_value();
}

// Policies at the end that ask for nothing take no pod from any other.
void AddSubGroups(const std::vector<api::volcano::SubGroupPolicySpec>& policies, model::GangFacts& facts) {
  for (std::size_t i = 0; i < policies.size(); ++i) {
    const api::volcano::SubGroupPolicySpec& policy = policies[i];
    model::SubGroupFacts& of = facts.sub_groups.emplace_back();
    of.name = policy.name.empty() ? absl::StrCat("subGroupPolicy[", i, "]") : policy.name;
    if (policy.label_selector.has_value()) of.selector = RequirementsOf({api::Encode(*policy.label_selector)});
    if (std::count(of.selector.begin(), of.selector.end(), model::kNoPod) > 0)
      facts.not_modelled = absl::StrCat("spec.subGroupPolicy[", policy.name, "].labelSelector");
    of.keys = policy.match_label_keys;
    of.size = policy.sub_group_size.value_or(1);
    of.min_groups = policy.min_sub_groups.value_or(0);
    if (policy.network_topology.has_value()) of.topology = TopologyOf(*policy.network_topology);
  }
  while (!facts.sub_groups.empty() && AsksForNothing(facts.sub_groups.back())) facts.sub_groups.pop_back();
}

// A preferred node group is a wish that is not granted.
bool AsksForNodeGroups(const api::Document& document) {
  if (document.empty()) return false;
  const absl::StatusOr<api::volcano::QueueAffinity> affinity = api::Decode<api::volcano::QueueAffinity>(document.json);
  if (!affinity.ok()) return true;
  return (affinity->near.has_value() && !affinity->near->required.empty()) ||
         (affinity->far.has_value() && !affinity->far->required.empty());
}

// Bytes of storage are more than those of memory.
constexpr std::int64_t kMostStorage = std::int64_t{1} << 61;

std::int64_t StorageOf(const api::ResourceList& list) {
  const model::NamedAmounts amounts = ToAmounts(list, kMostStorage);
  const auto it =
      std::find_if(amounts.begin(), amounts.end(), [](const auto& amount) { return amount.first == "storage"; });
  return it == amounts.end() ? 0 : it->second;
}

std::optional<std::int64_t> BytesOf(const std::optional<api::Quantity>& quantity) {
  if (!quantity.has_value()) return std::nullopt;
  return StorageOf({{"storage", *quantity}});
}

// Volumes of the kinds of before CSI are the drivers' that have taken them over: csi-translation-lib. Of those that
// Kubernetes counts, and no others: plugins/nodevolumelimits, isCSIMigrationOn.
struct Migrated {
  absl::string_view provisioner, driver;
};
constexpr Migrated kAwsEbs{"kubernetes.io/aws-ebs", "ebs.csi.aws.com"};
constexpr Migrated kAzureDisk{"kubernetes.io/azure-disk", "disk.csi.azure.com"};
constexpr Migrated kCinder{"kubernetes.io/cinder", "cinder.csi.openstack.org"};
constexpr Migrated kGcePd{"kubernetes.io/gce-pd", "pd.csi.storage.gke.io"};
constexpr Migrated kPortworx{"kubernetes.io/portworx-volume", "pxd.portworx.com"};
constexpr std::array<absl::string_view, 2> kNotCounted{"kubernetes.io/azure-file", "kubernetes.io/vsphere-volume"};

std::string DriverOf(const std::string& provisioner) {
  for (const Migrated& each : {kAwsEbs, kAzureDisk, kCinder, kGcePd, kPortworx}) {
    if (each.provisioner == provisioner) return std::string(each.driver);
  }
  const bool counted = std::find(kNotCounted.begin(), kNotCounted.end(), provisioner) == kNotCounted.end();
  return counted ? provisioner : "";
}

void AddDriver(const api::core::PersistentVolumeSpec& spec, model::VolumeFacts& facts) {
  if (spec.csi.has_value()) {
    facts.driver = spec.csi->driver;
    facts.handle = spec.csi->volume_handle;
    return;
  }
  const auto in_tree = [&](const auto& source, const Migrated& migrated, std::string handle) {
    if (!source.has_value()) return;
    facts.in_tree = true;
    facts.driver = std::string(migrated.driver);
    facts.handle = std::move(handle);
  };
  const auto id_of = [](const std::optional<api::core::InTreeVolumeSource>& source) {
    return source.has_value() ? source->volume_id : "";
  };
  const std::string ebs = id_of(spec.aws_elastic_block_store);  // may be "aws://zone/vol-1"
  in_tree(spec.aws_elastic_block_store, kAwsEbs, ebs.substr(ebs.rfind('/') + 1));
  in_tree(spec.azure_disk, kAzureDisk, spec.azure_disk.has_value() ? spec.azure_disk->disk_uri : "");
  in_tree(spec.cinder, kCinder, id_of(spec.cinder));
  in_tree(spec.gce_persistent_disk, kGcePd,
          spec.gce_persistent_disk.has_value() ? spec.gce_persistent_disk->pd_name : "");
  in_tree(spec.portworx_volume, kPortworx, id_of(spec.portworx_volume));
}

std::vector<std::string> Sorted(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  return texts;
}

// A volume's label of a zone or region: nodes that say where they are must be in one of these, by the label of the same
// name or of its successor. kubernetes: plugins/volumezone
void AddZone(const std::string& key, const std::string& value, model::VolumeFacts& facts) {
  static constexpr std::array<std::pair<absl::string_view, absl::string_view>, 4> kZones{
      {{"topology.kubernetes.io/zone", ""},
       {"topology.kubernetes.io/region", ""},
       {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
       {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"}}};
  const auto zone = std::find_if(kZones.begin(), kZones.end(), [&](const auto& entry) { return entry.first == key; });
  if (zone == kZones.end()) return;
  const std::vector<std::string> values = absl::StrSplit(value, "__");
  std::vector<model::TermFacts>& any = facts.selectors.emplace_back();
  any.push_back({{key, model::Op::kIn, values}});
  if (!zone->second.empty())
    any.push_back({{key, model::Op::kDoesNotExist, {}}, {std::string(zone->second), model::Op::kIn, values}});
  model::TermFacts says_nothing;
  for (const auto& [each, successor] : kZones)
    says_nothing.push_back({std::string(each), model::Op::kDoesNotExist, {}});
  any.push_back(std::move(says_nothing));
}

// The condition stays when the gang falls apart later.
bool WasWhole(const api::volcano::PodGroupStatus& status) {
  const GangPhase phase = GangPhaseOf(status.phase);
  return phase == GangPhase::kRunning || phase == GangPhase::kUnknown || phase == GangPhase::kCompleted ||
         std::any_of(status.conditions.begin(), status.conditions.end(),
                     [](const api::volcano::PodGroupCondition& condition) {
                       return condition.type == "Scheduled" && condition.status == "True";
                     });
}

// Unknown follows Running only; the newer of the two conditions says what holds. Of one that began anew and lies in
// part the phase is another, however long it waited.
absl::Time ShortSince(const api::volcano::PodGroupStatus& status) {
  if (GangPhaseOf(status.phase) != GangPhase::kUnknown) return absl::InfiniteFuture();
  absl::Time scheduled = absl::InfinitePast(), unschedulable = absl::InfinitePast();
  for (const api::volcano::PodGroupCondition& condition : status.conditions) {
    if (condition.status != "True" || !condition.last_transition_time.set()) continue;
    if (condition.type == "Scheduled") scheduled = condition.last_transition_time.at;
    if (condition.type == "Unschedulable") unschedulable = condition.last_transition_time.at;
  }
  return unschedulable == absl::InfinitePast() || unschedulable < scheduled ? absl::InfiniteFuture() : unschedulable;
}

// Who names the gang; two who do are said in `wants`.
void NameGang(const api::core::Pod& pod, bool coscheduling, model::PodFacts& facts) {
  struct Named {
    std::string gang, field;
    model::GangKind kind;
  };
  const std::string& annotated = Find(pod.metadata.annotations, kGroupNameAnnotation);
  std::vector<Named> named = {
      {annotated, absl::StrCat("metadata.annotations[", kGroupNameAnnotation, "]"), model::GangKind::kVolcano},
      {api::core::SchedulingGroupOf(pod.spec), kSchedulingGroupField, model::GangKind::kKubernetes}};
  std::erase_if(named, [](const Named& each) { return each.gang.empty(); });
  const std::string label = api::core::CoschedulingGroupOf(pod.metadata);
  if (!label.empty() && (coscheduling || named.empty()))
    named.push_back(
        {label, absl::StrCat("metadata.labels[", api::core::kCoschedulingLabel, "]"), model::GangKind::kCoscheduling});
  if (named.empty()) return;
  facts.gang = named[0].gang;
  facts.gang_kind = named[0].kind;
  if (named.size() > 1 && !pod.bound() && !pod.ended())
    facts.wants.not_modelled = absl::StrCat(named[0].field, " and ", named[1].field, model::kNameTwoGangs);
}

// nullopt: it does not read, or is not there.
// What is no time that passes says nothing; of queues Foresee tells.
std::optional<absl::Duration> DurationOf(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto duration = api::ParseGoDuration(text);
  return duration.ok() && *duration >= absl::ZeroDuration() ? std::optional<absl::Duration>(*duration) : std::nullopt;
}

// volcano: api/job_info.go, GetPodPreemptable: an annotation goes before a label, and what is no bool says nothing.
std::optional<bool> PreemptableOf(const api::ObjectMeta& metadata) {
  for (const auto* const words : {&metadata.annotations, &metadata.labels}) {
    const std::string& text = Find(*words, kPreemptableKey);
    bool preemptable = true;
    if (!text.empty() && absl::SimpleAtob(text, &preemptable)) return preemptable;
  }
  return std::nullopt;
}

// volcano: plugins/conformance
bool IsCritical(const api::core::Pod& pod) {
  return pod.metadata.ns == "kube-system" || pod.spec.priority_class_name == "system-cluster-critical" ||
         pod.spec.priority_class_name == "system-node-critical";
}

void NoteEviction(const api::core::Pod& pod, model::PodFacts& facts) {
  facts.evictable = PreemptableOf(pod.metadata).value_or(true) && !IsCritical(pod);
  facts.preempts = pod.spec.preemption_policy != "Never";
  if (pod.ended()) return;
  bool movable = false;
  facts.movable = facts.ours && facts.controlled &&
                  absl::SimpleAtob(Find(pod.metadata.annotations, kMovableKey), &movable) && movable;
  if (!pod.bound()) {
    facts.nominated = pod.status.nominated_node_name;
  } else {
    facts.started = pod.status.start_time.set() ? pod.status.start_time.at : absl::InfinitePast();
    // volcano: plugins/cdp: what does not read protects nobody.
    for (const auto* const words : {&pod.metadata.annotations, &pod.metadata.labels}) {
      const auto cooldown = DurationOf(Find(*words, kCooldownTimeKey));
      if (cooldown.has_value()) facts.cooldown = std::max(facts.cooldown, *cooldown);
    }
  }
  for (const api::core::PodCondition& condition : pod.status.conditions) {
    if (condition.status != "True") continue;
    if (condition.type == "PodScheduled" && pod.bound() && condition.last_transition_time.set())
      facts.started = condition.last_transition_time.at;
    if (condition.type == "DisruptionTarget" && condition.reason == api::volcano::kPreemptionByScheduler)
      facts.leaving = pod.bound();
  }
  if (pod.metadata.deleting()) facts.grace_ends = pod.metadata.deletion_timestamp.at;
  if (pod.spec.termination_grace_period_seconds.has_value())
    facts.grace = absl::Seconds(std::max<std::int64_t>(*pod.spec.termination_grace_period_seconds, 0));
}

}  // namespace

// volcano: api/job_info.go
int IndexOf(absl::string_view name) {
  const std::size_t last = name.rfind('-');
  if (last == absl::string_view::npos || name.find('-') == last) return -1;
  int index = -1;
  return absl::SimpleAtoi(name.substr(last + 1), &index) && index >= 0 ? index : -1;
}

model::PodFacts PodFactsOf(const api::core::Pod& pod, absl::string_view scheduler_name, bool coscheduling) {
  model::PodFacts facts;
  facts.ns = pod.metadata.ns;
  facts.name = pod.metadata.name;
  facts.uid = pod.metadata.uid;
  facts.role = Find(pod.metadata.annotations, kTaskAnnotation);
  if (facts.role.empty()) facts.role = Find(pod.metadata.labels, kTaskAnnotation);
  facts.node = pod.spec.node_name;
  facts.phase = PhaseOf(pod.status.phase);
  facts.terminating = pod.metadata.deleting();
  facts.ours = pod.spec.scheduler_name == scheduler_name;
  facts.gated = !pod.spec.scheduling_gates.empty();
  facts.controlled = pod.metadata.Controller() != nullptr;
  facts.of_job = api::volcano::ControllingJob(pod.metadata) != nullptr;
  facts.priority = PriorityOf(pod);
  facts.index = IndexOf(pod.metadata.name);
  facts.created = pod.metadata.creation_timestamp.at;
  if (pod.spec.active_deadline_seconds.value_or(0) > 0) facts.lasts = absl::Seconds(*pod.spec.active_deadline_seconds);
  if (const auto expected = DurationOf(Find(pod.metadata.annotations, kExpectedRuntimeKey));
      expected.has_value() && *expected > absl::ZeroDuration())
    facts.lasts = std::min(facts.lasts, *expected);
  if (facts.lasts != absl::InfiniteDuration() && pod.status.start_time.set())
    facts.ends = pod.status.start_time.at + facts.lasts;
  NoteEviction(pod, facts);
  facts.wants = pod.ended() || (pod.bound() && !facts.movable) ? HoldsOf(pod) : WantsOf(pod);
  NameGang(pod, coscheduling, facts);
  if (!pod.ended() || !facts.gang.empty()) facts.labels.assign(pod.metadata.labels.begin(), pod.metadata.labels.end());
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

model::GangFacts GangFactsOf(const api::volcano::PodGroup& group, absl::string_view scheduler_name) {
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
  facts.quota_asks = QuotaAmounts(group.spec.min_resources);
  if (group.spec.network_topology.has_value()) facts.topology = TopologyOf(*group.spec.network_topology);
  AddSubGroups(group.spec.sub_group_policy, facts);
  facts.created = group.metadata.creation_timestamp.at;
  facts.waiting_time = WaitingTimeOf(group);
  facts.phase = GangPhaseOf(group.status.phase);
  facts.was_whole = WasWhole(group.status);
  facts.short_since = ShortSince(group.status);
  facts.evictable = PreemptableOf(group.metadata).value_or(true);
  const api::volcano::PodGroupCondition* const release = api::volcano::LatestRelease(group.status);
  if (release != nullptr) {
    facts.evictions = api::volcano::EvictionsBy(release->reason, release->message);
    if (facts.evictions > 0) facts.last_evicted = release->last_transition_time.at;
    facts.evicted_for = api::volcano::GangEvictedFor(release->reason, release->message);
  }
  if (release != nullptr && api::volcano::IsForOthers(release->reason) &&
      api::volcano::ControllingJob(group.metadata) != nullptr) {
    for (api::volcano::ReleasedPod& pod : api::volcano::ReleasedPods(*release))
      facts.leaving_pods.push_back(std::move(pod.uid));
  }
  if (release != nullptr && release->reason == api::volcano::kMoved) {
    facts.moved = release->last_transition_time.at;
    for (api::volcano::ReleasedPod& pod : api::volcano::ReleasedPods(*release)) {
      if (!pod.node.empty()) facts.moved_pods.push_back({std::move(pod.name), std::move(pod.uid), std::move(pod.node)});
    }
  }
  if (const auto past =
          api::volcano::ParsePastRuns(Find(group.metadata.annotations, api::volcano::kPastRunsAnnotation)))
    facts.past_runs = {past->runs, past->longest};
  if (const auto expected = DurationOf(Find(group.metadata.annotations, kExpectedRuntimeKey));
      expected.has_value() && *expected > absl::ZeroDuration())
    facts.lasts = *expected;
  const std::string& scheduler = Find(group.metadata.annotations, api::volcano::kSchedulerNameAnnotation);
  facts.ours = scheduler.empty() || scheduler_name.empty() || scheduler == scheduler_name;
  return facts;
}

model::GangFacts GangFactsOf(const api::core::KubernetesPodGroup& group) {
  model::GangFacts facts;
  facts.kind = model::GangKind::kKubernetes;
  facts.ns = group.metadata.ns;
  facts.name = group.metadata.name;
  facts.uid = group.metadata.uid;
  facts.priority_class = group.spec.priority_class_name;
  facts.min_member = group.spec.policy.gang.has_value() ? group.spec.policy.gang->min_count : 1;
  if (group.spec.constraints.has_value() && !group.spec.constraints->topology.empty())
    facts.not_modelled = "spec.schedulingConstraints.topology";
  if (!group.spec.resource_claims.empty()) facts.not_modelled = "spec.resourceClaims";
  facts.created = group.metadata.creation_timestamp.at;
  facts.was_whole = std::any_of(group.status.conditions.begin(), group.status.conditions.end(),
                                [](const api::core::Condition& condition) {
                                  return condition.type == kPodGroupScheduled && condition.status == "True";
                                });
  for (const api::core::Condition& condition : group.status.conditions) {
    if (absl::string_view(condition.type) != api::volcano::kGangReleased) continue;
    facts.evictions = api::volcano::EvictionsBy(condition.reason, condition.message);
    if (facts.evictions > 0) facts.last_evicted = condition.last_transition_time.at;
    facts.evicted_for = api::volcano::GangEvictedFor(condition.reason, condition.message);
  }
  // Its status has no word for being let in: decided anew by each process, until it has run.
  if (facts.was_whole) facts.phase = GangPhase::kRunning;
  return facts;
}

model::GangFacts GangFactsOf(const api::core::CoschedulingPodGroup& group) {
  model::GangFacts facts;
  facts.kind = model::GangKind::kCoscheduling;
  facts.ns = group.metadata.ns;
  facts.name = group.metadata.name;
  facts.uid = group.metadata.uid;
  facts.min_member = std::max(group.spec.min_member, 1);
  facts.has_min_resources = !group.spec.min_resources.empty();
  facts.min_resources = MinResources(group.spec.min_resources);
  facts.quota_asks = QuotaAmounts(group.spec.min_resources);
  facts.created = group.metadata.creation_timestamp.at;
  // The other phases say nothing of what we decided.
  if (group.status.phase == "Running") facts.phase = GangPhase::kRunning;
  if (group.status.phase == "Finished" || group.status.phase == "Failed") facts.phase = GangPhase::kCompleted;
  facts.was_whole = facts.phase != GangPhase::kNone;
  return facts;
}

model::QueueFacts QueueFactsOf(const api::volcano::Queue& queue) {
  model::QueueFacts facts;
  facts.name = queue.metadata.name;
  if (facts.name != "root") facts.parent = queue.spec.parent.empty() ? "root" : queue.spec.parent;
  facts.weight = std::max(queue.spec.weight, 1);
  facts.priority = queue.spec.priority;
  // Its controller may not have said anything about it yet; only a queue that was closed takes nobody.
  facts.open = queue.status.state != "Closed" && queue.status.state != "Closing";
  facts.capability = ToAmounts(queue.spec.capability);
  if (AsksForNodeGroups(queue.spec.affinity)) facts.not_modelled = "spec.affinity";
  if (queue.spec.guarantee.has_value()) facts.guarantee = ToAmounts(queue.spec.guarantee->resource);
  facts.deserved = ToAmounts(queue.spec.deserved);
  facts.reclaimable = queue.spec.reclaimable.value_or(true) && facts.name != "root";
  facts.min_runtime = DurationOf(Find(queue.metadata.annotations, kMinRuntimeKey));
  facts.lost_member_grace = DurationOf(Find(queue.metadata.annotations, kLostMemberGraceKey));
  facts.created = queue.metadata.creation_timestamp.at;
  facts.use = ParseUse(Find(queue.metadata.annotations, api::volcano::kUsageAnnotation));
  return facts;
}

std::optional<model::QuotaFacts> QuotaFactsOf(const api::core::ResourceQuota& quota) {
  if (!quota.spec.scopes.empty() || !quota.spec.scope_selector.empty()) return std::nullopt;
  model::QuotaFacts facts;
  facts.ns = quota.metadata.ns;
  facts.name = quota.metadata.name;
  const model::NamedAmounts used = QuotaAmounts(quota.status.used);
  for (const auto& [name, hard] : QuotaAmounts(quota.status.hard)) {
    const auto at =
        std::find_if(used.begin(), used.end(), [&, &what = name](const auto& one) { return one.first == what; });
    facts.limits.push_back({name, hard, at == used.end() ? 0 : at->second});
  }
  return facts;
}

model::ClaimFacts ClaimFactsOf(const api::core::PersistentVolumeClaim& claim) {
  model::ClaimFacts facts;
  facts.ns = claim.metadata.ns;
  facts.name = claim.metadata.name;
  if (claim.status.phase == "Bound") facts.phase = model::ClaimPhase::kBound;
  if (claim.status.phase == "Lost") facts.phase = model::ClaimPhase::kLost;
  facts.volume = claim.spec.volume_name;
  facts.storage_class = claim.spec.storage_class_name;
  facts.ending = claim.metadata.deleting();
  facts.one_pod = std::count(claim.spec.access_modes.begin(), claim.spec.access_modes.end(), "ReadWriteOncePod") > 0;
  facts.uid = claim.metadata.uid;
  facts.bytes = StorageOf(claim.spec.resources.requests);
  facts.access_modes = Sorted(claim.spec.access_modes);
  facts.block = claim.spec.volume_mode == "Block";
  if (!claim.spec.selector.empty()) facts.selector = RequirementsOf(claim.spec.selector);
  facts.selected_node = Find(claim.metadata.annotations, kSelectedNodeAnnotation);
  if (const api::OwnerReference* const owner = claim.metadata.Controller()) facts.owner = owner->uid;
  return facts;
}

model::VolumeFacts VolumeFactsOf(const api::core::PersistentVolume& volume) {
  model::VolumeFacts facts;
  facts.name = volume.metadata.name;
  if (volume.spec.node_affinity.has_value() && volume.spec.node_affinity->required.has_value()) {
    std::vector<model::TermFacts>& any = facts.selectors.emplace_back();
    for (const api::core::NodeSelectorTerm& term : volume.spec.node_affinity->required->terms) {
      // Kubernetes looks at labels alone: component-helpers, storage/volume, CheckNodeAffinity.
      std::optional<model::TermFacts> term_facts = TermOf({term.match_expressions, {}});
      if (!term_facts.has_value()) facts.not_modelled = "spec.nodeAffinity";
      if (term.match_expressions.empty() && !term.match_fields.empty()) term_facts = {{"", model::Op::kExists, {}}};
      if (term_facts.has_value()) any.push_back(*std::move(term_facts));
    }
  }
  for (const auto& [key, value] : volume.metadata.labels) AddZone(key, value, facts);
  facts.uid = volume.metadata.uid;
  facts.resource_version = volume.metadata.resource_version;
  facts.available = volume.status.phase == "Available" && !volume.metadata.deleting();
  if (volume.spec.claim.has_value()) facts.claim = absl::StrCat(volume.spec.claim->ns, "/", volume.spec.claim->name);
  facts.storage_class = volume.spec.storage_class_name;
  facts.bytes = StorageOf(volume.spec.capacity);
  facts.access_modes = Sorted(volume.spec.access_modes);
  facts.block = volume.spec.volume_mode == "Block";
  facts.labels.assign(volume.metadata.labels.begin(), volume.metadata.labels.end());
  AddDriver(volume.spec, facts);
  return facts;
}

model::StorageClassFacts StorageClassFactsOf(const api::core::StorageClass& object) {
  model::StorageClassFacts facts;
  facts.name = object.metadata.name;
  facts.waits_for_pod = object.volume_binding_mode == "WaitForFirstConsumer";
  facts.makes_volumes = object.provisioner != "kubernetes.io/no-provisioner";
  for (const api::core::TopologyTerm& term : object.allowed_topologies) {
    model::TermFacts& labels = facts.topologies.emplace_back();
    for (const api::core::TopologyLabel& label : term.labels)
      labels.push_back({label.key, model::Op::kIn, label.values});
  }
  facts.provisioner = object.provisioner;
  facts.driver = DriverOf(object.provisioner);
  return facts;
}

model::CsiNodeFacts CsiNodeFactsOf(const api::core::CsiNode& object) {
  model::CsiNodeFacts facts;
  facts.name = object.metadata.name;
  for (const api::core::CsiNodeDriver& driver : object.spec.drivers) {
    if (driver.allocatable.has_value() && driver.allocatable->count.has_value())
      facts.limits.emplace_back(driver.name, *driver.allocatable->count);
  }
  return facts;
}

model::CsiDriverFacts CsiDriverFactsOf(const api::core::CsiDriver& object) {
  return {object.metadata.name, object.spec.storage_capacity};
}

model::StorageCapacityFacts StorageCapacityFactsOf(const api::core::CsiStorageCapacity& object) {
  model::StorageCapacityFacts facts;
  facts.ns = object.metadata.ns;
  facts.name = object.metadata.name;
  facts.storage_class = object.storage_class_name;
  facts.topology = RequirementsOf(object.node_topology);
  if (facts.topology.empty()) facts.topology = {{"", model::Op::kExists, {}}};  // every node
  facts.bytes = BytesOf(object.capacity);
  facts.a_volumes = BytesOf(object.maximum_volume_size);
  return facts;
}

model::VolumeAttachmentFacts VolumeAttachmentFactsOf(const api::core::VolumeAttachment& object) {
  return {object.metadata.name, object.spec.node_name, object.spec.attacher, object.spec.source.persistent_volume_name};
}

model::HyperNodeFacts HyperNodeFactsOf(const api::volcano::HyperNode& object) {
  using By = model::HyperNodeFacts::By;
  model::HyperNodeFacts facts;
  facts.name = object.metadata.name;
  facts.tier = object.spec.tier;
  facts.tier_name = object.spec.tier_name;
  facts.labels.assign(object.metadata.labels.begin(), object.metadata.labels.end());
  for (const api::volcano::MemberSpec& member : object.spec.members) {
    const bool node = member.type == "Node";
    const api::volcano::MemberSelector& selector = member.selector;
    if (selector.exact_match.has_value()) facts.members.push_back({node, By::kName, selector.exact_match->name, {}});
    if (selector.regex_match.has_value())
      facts.members.push_back({node, By::kPattern, selector.regex_match->pattern, {}});
    if (selector.label_match.has_value())
      facts.members.push_back({node, By::kLabels, "", RequirementsOf({api::Encode(*selector.label_match)})});
  }
  return facts;
}

model::BudgetFacts BudgetFactsOf(const api::core::PodDisruptionBudget& object) {
  model::BudgetFacts facts;
  facts.ns = object.metadata.ns;
  facts.name = object.metadata.name;
  facts.pods = RequirementsOf(object.spec.selector);
  facts.allowed = object.status.disruptions_allowed;
  return facts;
}

model::NamespaceFacts NamespaceFactsOf(const api::core::PartialObject& object) {
  model::NamespaceFacts facts;
  facts.name = object.metadata.name;
  facts.labels.assign(object.metadata.labels.begin(), object.metadata.labels.end());
  return facts;
}

model::PriorityClassFacts PriorityClassFactsOf(const api::core::PriorityClass& object) {
  return {object.metadata.name, object.value, object.global_default, object.preemption_policy != "Never"};
}

const api::Resource& ResourceOf(model::GangKind kind) {
  switch (kind) {
    case model::GangKind::kVolcano:
      return api::kPodGroups;
    case model::GangKind::kKubernetes:
      return api::kKubernetesPodGroups;
    case model::GangKind::kCoscheduling:
      return api::kCoschedulingPodGroups;
  }
  return api::kPodGroups;
}

}  // namespace gangway::ingest
