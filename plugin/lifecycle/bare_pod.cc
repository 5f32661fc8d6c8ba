#include "plugin/lifecycle/bare_pod.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/resource.h"
#include "api/volcano/scheduling.h"
#include "plugin/lifecycle/pod_usage.h"
#include "plugin/lifecycle/words.h"

namespace gangway::lifecycle {
namespace {

using api::core::Pod;
using api::volcano::PodGroup;
using kube::EventNote;

constexpr char kPodQueueKey[] = "scheduling.volcano.sh/queue-name";

std::string Annotation(const Pod& pod, absl::string_view key) {
  auto it = pod.metadata.annotations.find(std::string(key));
  return it == pod.metadata.annotations.end() ? std::string() : it->second;
}

api::ObjectReference ReferenceTo(const Pod& pod) {
  return {api::kPods.ApiVersion(), std::string(api::kPods.kind), pod.metadata.ns, pod.metadata.name,
          pod.metadata.uid, pod.metadata.resource_version, {}};
}

void CopyIfThere(const std::map<std::string, std::string>& from, absl::string_view key, std::map<std::string, std::string>& into) {
  if (auto it = from.find(std::string(key)); it != from.end()) into.insert(*it);
}

PodGroup GroupFor(const Pod& pod, api::ResourceList min_resources) {
  PodGroup group;
  group.api_version = api::kPodGroups.ApiVersion();
  group.kind = std::string(api::kPodGroups.kind);
  group.metadata.name = GroupNameFor(pod);
  group.metadata.ns = pod.metadata.ns;
  if (pod.metadata.Controller() != nullptr) {
    group.metadata.owner_references = pod.metadata.owner_references;
  } else {
    group.metadata.owner_references = {{api::kPods.ApiVersion(), std::string(api::kPods.kind), pod.metadata.name, pod.metadata.uid, true, true}};
  }
  for (const absl::string_view key : {kPreemptableKey, kCooldownTimeKey, kRevocableZoneKey}) {
    CopyIfThere(pod.metadata.annotations, key, group.metadata.annotations);
  }
  const bool has_min = !Annotation(pod, kJdbMinAvailableKey).empty();
  CopyIfThere(pod.metadata.annotations, has_min ? kJdbMinAvailableKey : kJdbMaxUnavailableKey, group.metadata.annotations);
  CopyIfThere(pod.metadata.labels, kPreemptableKey, group.metadata.labels);
  CopyIfThere(pod.metadata.labels, kCooldownTimeKey, group.metadata.labels);
  group.spec.min_member = 1;
  group.spec.min_resources = std::move(min_resources);
  group.spec.priority_class_name = pod.spec.priority_class_name;
  group.spec.queue = Annotation(pod, kPodQueueKey);
  return group;
}

}  // namespace

bool WantsGroup(const Pod& pod, absl::string_view scheduler) {
  return pod.spec.scheduler_name == scheduler && !pod.metadata.deleting() && !pod.ended() && Annotation(pod, kGroupNameKey).empty();
}

std::string GroupNameFor(const Pod& pod) {
  const api::OwnerReference* owner = pod.metadata.Controller();
  return absl::StrCat("podgroup-", owner != nullptr ? owner->uid : pod.metadata.uid);
}

kube::Plan ReconcileBarePod(const Pod& pod, bool group_exists) {
  kube::Plan plan;
  if (!group_exists) {
    absl::StatusOr<api::ResourceList> usage = QuotaUsage(pod.spec);
    if (!usage.ok()) {
      plan.events.push_back({EventNote::Type::kWarning, "PodGroupError",
                             absl::StrCat("the pod has no PodGroup: ", usage.status().message()), ReferenceTo(pod)});
      return plan;
    }
    const PodGroup group = GroupFor(pod, *std::move(usage));
    kube::Write create;
    create.resource = &api::kPodGroups;
    create.ns = group.metadata.ns;
    create.name = group.metadata.name;
    create.body = api::Encode(group);
    plan.stages.push_back({std::move(create)});
  }
  kube::Write annotate;
  annotate.verb = kube::Verb::kMergePatch;
  annotate.resource = &api::kPods;
  annotate.ns = pod.metadata.ns;
  annotate.name = pod.metadata.name;
  annotate.uid = pod.metadata.uid;
  annotate.resource_version = pod.metadata.resource_version;
  api::JsonWriter(annotate.body).BeginObject().Key("metadata").BeginObject().Key("annotations").BeginObject()
      .Field(kGroupNameKey, GroupNameFor(pod)).EndObject().EndObject().EndObject();
  plan.stages.push_back({std::move(annotate)});
  return plan;
}

}  // namespace gangway::lifecycle
