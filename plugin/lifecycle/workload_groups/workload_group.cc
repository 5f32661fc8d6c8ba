#include "plugin/lifecycle/workload_groups/workload_group.h"

#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/core/pod_groups.h"
#include "api/json.h"
#include "api/resource.h"
#include "api/volcano/defaults.h"
#include "base/strings.h"
#include "plugin/lifecycle/pod_usage.h"
#include "plugin/lifecycle/words.h"

namespace gangway::lifecycle {
namespace {

using api::core::Pod;
using api::volcano::PodGroup;
using kube::EventNote;
using Annotations = std::map<std::string, std::string>;

constexpr char kMinMemberKey[] = "scheduling.volcano.sh/group-min-member";
constexpr char kTopologyModeKey[] = "volcano.sh/network-topology-mode";
constexpr char kTopologyTierKey[] = "volcano.sh/network-topology-highest-tier";
constexpr char kRevisionKey[] = "controller-revision-hash";
constexpr absl::string_view kInherited = "volcano.sh/";

std::string ValueAt(const Annotations& from, absl::string_view key) {
  auto it = from.find(std::string(key));
  return it == from.end() ? std::string() : it->second;
}

void CopyIfThere(const Annotations& from, absl::string_view key, Annotations& into) {
  if (auto it = from.find(std::string(key)); it != from.end()) into.insert(*it);
}

std::optional<api::volcano::NetworkTopologySpec> TopologyOf(const Annotations& from) {
  if (!from.contains(kTopologyModeKey) && !from.contains(kTopologyTierKey)) return std::nullopt;
  api::volcano::NetworkTopologySpec topology;
  topology.mode = absl::AsciiStrToLower(ValueAt(from, kTopologyModeKey));
  if (topology.mode != "soft") topology.mode = "hard";
  std::int32_t tier = 0;
  if (absl::SimpleAtoi(ValueAt(from, kTopologyTierKey), &tier)) topology.highest_tier_allowed = tier;
  return topology;
}

GroupSource SourceOf(const Pod& pod) {
  GroupSource source;
  const Annotations& annotations = pod.metadata.annotations;
  source.bare = pod.metadata.Controller() == nullptr;
  if (source.bare) {
    source.owners = {
        {api::kPods.ApiVersion(), std::string(api::kPods.kind), pod.metadata.name, pod.metadata.uid, true, true}};
  } else {
    source.owners = pod.metadata.owner_references;
    // A group holds up nobody's deletion; to say that it does, one would need a right on the finalizers of every kind
    // of owner.
    for (api::OwnerReference& owner : source.owners) owner.block_owner_deletion.reset();
  }
  absl::StatusOr<api::ResourceList> usage = QuotaUsage(pod.spec);
  if (usage.ok()) {
    source.usage = *std::move(usage);
  } else {
    source.usage_error = std::string(usage.status().message());
  }
  source.priority_class = pod.spec.priority_class_name;
  source.queue = ValueAt(annotations, View(api::volcano::kQueueNameAnnotation));
  for (const absl::string_view key : {kPreemptableKey, kCooldownTimeKey, kRevocableZoneKey})
    CopyIfThere(annotations, key, source.annotations);
  const bool has_min = !ValueAt(annotations, kJdbMinAvailableKey).empty();
  CopyIfThere(annotations, has_min ? kJdbMinAvailableKey : kJdbMaxUnavailableKey, source.annotations);
  CopyIfThere(pod.metadata.labels, kPreemptableKey, source.labels);
  CopyIfThere(pod.metadata.labels, kCooldownTimeKey, source.labels);
  source.topology = TopologyOf(annotations);
  return source;
}

// What the owners say; of a key that several have, the first counts.
Annotations Inherited(const WorkloadGroupView& seen) {
  Annotations out;
  if (!seen.inherit) return out;
  for (const OwnerFacts* owner : seen.owners) {
    if (owner != nullptr) out.insert(owner->annotations.begin(), owner->annotations.end());
  }
  return out;
}

std::int32_t MinMember(const Annotations& inherited) {
  std::int32_t members = 0;
  auto it = inherited.find(kMinMemberKey);
  return it != inherited.end() && absl::SimpleAtoi(it->second, &members) && members >= 0 ? members : 1;
}

absl::StatusOr<PodGroup> WantedGroup(const WorkloadGroupView& seen, const GroupSource& source) {
  if (!source.usage_error.empty()) return absl::InvalidArgumentError(source.usage_error);
  PodGroup group;
  group.api_version = api::kPodGroups.ApiVersion();
  group.kind = std::string(api::kPodGroups.kind);
  group.metadata.name = seen.name;
  group.metadata.ns = seen.ns;
  group.metadata.owner_references = source.owners;
  group.metadata.labels = source.labels;
  group.metadata.annotations = source.annotations;
  Annotations inherited = Inherited(seen);
  group.spec.min_member = MinMember(inherited);
  inherited.erase(kMinMemberKey);
  group.metadata.annotations.merge(inherited);  // the pod's own go first
  if (absl::Status status = AddTimes(source.usage, group.spec.min_member, group.spec.min_resources); !status.ok())
    return status;
  group.spec.priority_class_name = source.priority_class;
  group.spec.queue = source.queue;
  group.spec.network_topology = source.topology;
  group.status.phase = "Pending";
  return group;
}

// Annotations and labels of other prefixes than ours, and a queue that the pods do not name, are others' business.
absl::StatusOr<std::string> GroupPatch(const PodGroup& is, const PodGroup& wanted) {
  PodGroup before, after;
  before.spec = is.spec;
  before.metadata.labels = is.metadata.labels;
  before.metadata.annotations = is.metadata.annotations;
  after = before;
  std::erase_if(after.metadata.annotations,
                [](const auto& entry) { return absl::StartsWith(entry.first, kInherited); });
  for (const auto& [key, value] : wanted.metadata.annotations) after.metadata.annotations[key] = value;
  for (const absl::string_view key : {kPreemptableKey, kCooldownTimeKey}) after.metadata.labels.erase(std::string(key));
  for (const auto& [key, value] : wanted.metadata.labels) after.metadata.labels[key] = value;
  after.spec.min_member = wanted.spec.min_member;
  if (after.spec.min_resources != wanted.spec.min_resources) after.spec.min_resources = wanted.spec.min_resources;
  after.spec.priority_class_name = wanted.spec.priority_class_name;
  after.spec.network_topology = wanted.spec.network_topology;
  if (!wanted.spec.queue.empty()) after.spec.queue = wanted.spec.queue;
  absl::StatusOr<std::string> patch = api::MergePatchDiff(api::Encode(before), api::Encode(after));
  if (patch.ok() && *patch == "{}") patch->clear();
  return patch;
}

bool Owns(const std::string& owner_uid, const PodGroup& group) {
  const api::OwnerReference* owner = group.metadata.Controller();
  return owner != nullptr && owner->uid == owner_uid;
}

kube::Write WriteOfGroup(kube::Verb verb, const PodGroup& group) {
  kube::Write write;
  write.verb = verb;
  write.resource = &api::kPodGroups;
  write.ns = group.metadata.ns;
  write.name = group.metadata.name;
  write.uid = group.metadata.uid;
  return write;
}

kube::Write NameOn(const GroupPod& pod, const WorkloadGroupView& seen) {
  kube::Write write;
  write.verb = kube::Verb::kMergePatch;
  write.resource = &api::kPods;
  write.ns = seen.ns;
  write.name = pod.name;
  write.uid = pod.uid;
  write.resource_version = pod.resource_version;
  api::JsonWriter(write.body)
      .BeginObject()
      .Key("metadata")
      .BeginObject()
      .Key("annotations")
      .BeginObject()
      .Field(kGroupNameKey, seen.name)
      .EndObject()
      .EndObject()
      .EndObject();
  return write;
}

// The group's own write, when there is one. False: it cannot be what it should be, and an event says so.
bool WantGroup(const WorkloadGroupView& seen, const GroupPod& pod, kube::Plan& plan) {
  const bool follows = seen.controller != nullptr && seen.controller->scales();
  if (seen.group != nullptr && !(follows && Owns(seen.controller->uid, *seen.group))) return true;
  absl::StatusOr<PodGroup> wanted = WantedGroup(seen, *pod.source);
  if (!wanted.ok()) {
    plan.events.push_back({EventNote::Type::kWarning,
                           "PodGroupError",
                           absl::StrCat("the pod has no PodGroup: ", wanted.status().message()),
                           {api::kPods.ApiVersion(),
                            std::string(api::kPods.kind),
                            seen.ns,
                            pod.name,
                            pod.uid,
                            pod.resource_version,
                            {}}});
    return false;
  }
  const std::string queue = api::volcano::QueueOfPodGroup(wanted->spec.queue, seen.namespace_queue);
  if (seen.group == nullptr) {
    if (!seen.namespace_queue.empty()) wanted->spec.queue = queue;
    kube::Write create = WriteOfGroup(kube::Verb::kCreate, *wanted);
    create.body = api::Encode(*wanted);
    plan.stages.push_back({std::move(create)});
    return true;
  }
  if (queue != wanted->spec.queue)
    wanted->spec.queue.clear();  // where the pods leave it to the namespace, it was asked once
  absl::StatusOr<std::string> patch = GroupPatch(*seen.group, *wanted);
  if (!patch.ok() || patch->empty()) return true;  // both are objects that we encoded
  kube::Write change = WriteOfGroup(kube::Verb::kMergePatch, *seen.group);
  change.resource_version = seen.group->metadata.resource_version;
  change.body = *std::move(patch);
  plan.stages.push_back({std::move(change)});
  return true;
}

}  // namespace

bool operator==(const GroupSource& a, const GroupSource& b) {
  const auto topology = [](const GroupSource& s) {
    return s.topology.has_value() ? std::tuple(true, s.topology->mode, s.topology->highest_tier_allowed)
                                  : std::tuple(false, std::string(), std::optional<std::int32_t>());
  };
  return a.bare == b.bare && a.owners == b.owners && a.usage == b.usage && a.usage_error == b.usage_error &&
         a.priority_class == b.priority_class && a.queue == b.queue && a.annotations == b.annotations &&
         a.labels == b.labels && topology(a) == topology(b);
}

OwnerFacts FactsOf(const api::Resource& resource, const api::core::Workload& workload) {
  OwnerFacts facts;
  facts.resource = &resource;
  facts.uid = workload.metadata.uid;
  if (facts.scales()) facts.replicas = workload.spec.replicas.value_or(1);
  facts.update_revision = workload.status.update_revision;
  for (const auto& [key, value] : workload.metadata.annotations) {
    if (key == kMinMemberKey || absl::StartsWith(key, kInherited)) facts.annotations.emplace(key, value);
  }
  return facts;
}

const api::Resource* WorkloadOf(const api::OwnerReference& owner) {
  for (const api::Resource* resource : {&api::kReplicaSets, &api::kStatefulSets, &api::kDaemonSets, &api::kBatchJobs}) {
    if (owner.kind == resource->kind && owner.api_version == resource->ApiVersion()) return resource;
  }
  return nullptr;
}

std::string GroupNameFor(const api::ObjectMeta& pod) {
  const api::OwnerReference* owner = pod.Controller();
  return absl::StrCat("podgroup-", owner != nullptr ? owner->uid : pod.uid);
}

std::optional<GroupPod> GroupPodOf(const Pod& pod, absl::string_view scheduler,
                                   const std::shared_ptr<const GroupSource>& like) {
  if (pod.spec.scheduler_name != scheduler || pod.metadata.deleting() || pod.ended()) return std::nullopt;
  const std::string written = ValueAt(pod.metadata.annotations, kGroupNameKey);
  // Gangs that are not Volcano's.
  if (written.empty() &&
      (!api::core::SchedulingGroupOf(pod.spec).empty() || !api::core::CoschedulingGroupOf(pod.metadata).empty()))
    return std::nullopt;
  if (!written.empty() && written != GroupNameFor(pod.metadata)) return std::nullopt;
  GroupPod out{pod.metadata.name,
               pod.metadata.uid,
               pod.metadata.resource_version,
               ValueAt(pod.metadata.labels, kRevisionKey),
               pod.metadata.creation_timestamp.at,
               written.empty(),
               like};
  GroupSource source = SourceOf(pod);
  if (like == nullptr || !(*like == source)) out.source = std::make_shared<const GroupSource>(std::move(source));
  return out;
}

const GroupPod* SourcePod(const std::vector<const GroupPod*>& pods, const OwnerFacts* controller, bool group_exists) {
  if (pods.empty()) return nullptr;
  if (controller == nullptr || controller->update_revision.empty()) return pods.front();
  for (const GroupPod* pod : pods) {
    if (pod->revision == controller->update_revision) return pod;
  }
  return group_exists ? nullptr : pods.front();  // an update that has no pods yet changes nothing
}

kube::Plan ReconcileWorkloadGroup(const WorkloadGroupView& seen, absl::Time now) {
  kube::Plan plan;
  if (seen.group != nullptr && seen.group->metadata.deleting()) return plan;  // looked at again when it is gone
  if (seen.pods.empty()) {
    const bool unused = seen.group != nullptr && seen.controller != nullptr && seen.controller->replicas == 0 &&
                        Owns(seen.controller->uid, *seen.group);
    if (unused) plan.stages.push_back({WriteOfGroup(kube::Verb::kDelete, *seen.group)});
    return plan;
  }
  if (seen.owner_missing && now < seen.pods.front()->created + kOwnerPatience) {
    plan.look_again = seen.pods.front()->created + kOwnerPatience;
    return plan;
  }
  const GroupPod* source = SourcePod(seen.pods, seen.controller, seen.group != nullptr);
  if (source != nullptr && !WantGroup(seen, *source, plan)) return plan;
  std::vector<kube::Write> names;
  for (const GroupPod* pod : seen.pods) {
    if (pod->waits) names.push_back(NameOn(*pod, seen));
  }
  if (!names.empty()) plan.stages.push_back(std::move(names));
  return plan;
}

}  // namespace gangway::lifecycle
