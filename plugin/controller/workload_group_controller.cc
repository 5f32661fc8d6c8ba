#include "plugin/controller/workload_group_controller.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/strings.h"

namespace gangway::controller {
namespace {

using lifecycle::GroupPod;
using lifecycle::OwnerFacts;

constexpr absl::string_view kPrefix = "podgroup-";

}  // namespace

WorkloadGroupController::WorkloadGroupController(kube::Informers& informers, kube::ComponentOptions options,
                                                 std::string scheduler_name, bool inherit)
    : Component(informers, std::move(options)),
      pod_groups_(Watch<api::volcano::PodGroup>(
          api::kPodGroups, {}, [this](const auto& key, const auto&, const auto&) { OnPodGroup(key); })),
      namespace_queues_(Watch<api::core::PartialObject>(api::kNamespaces, NamespaceQueues::Selected(), nullptr)),
      scheduler_name_(std::move(scheduler_name)),
      inherit_(inherit),
      driver_(Drive("podgroup", [this](const api::NamespacedName& key, absl::Time now) { return Decide(key, now); })) {
  Watch<api::core::Pod>(api::kPods, {.keep = false},
                        [this](const auto& key, const auto&, const auto& after) { OnPod(key, after.get()); });
  for (const api::Resource* const resource :
       {&api::kReplicaSets, &api::kStatefulSets, &api::kDaemonSets, &api::kBatchJobs}) {
    Watch<api::core::Workload>(
        *resource, {.keep = false, .optional = true},  // a server need not have all of these
        [this, resource](const auto& key, const auto&, const auto& after) { OnOwner(*resource, key, after.get()); });
  }
  Watch<api::volcano::Queue>(api::kQueues, {}, [this](const auto&, const auto& before, const auto& after) {
    const auto open = [](const auto& queue) { return queue != nullptr && queue->status.state == "Open"; };
    if (open(after) && !open(before)) OnQueueOpened();
  });
  driver_.SetOnPermanentError(
      [this](const auto& key, const auto&, const auto& write, const auto& status) { Explain(key, write, status); });
}

void WorkloadGroupController::Remove(const api::NamespacedName& key) {
  auto known = group_of_pod_.find(key);
  if (known == group_of_pod_.end()) return;
  const api::NamespacedName group{key.ns, known->second};
  group_of_pod_.erase(known);
  auto pods = groups_.find(group);
  pods->second.erase(key.name);
  if (pods->second.empty()) groups_.erase(pods);
  driver_.Enqueue(group);
}

void WorkloadGroupController::Put(const api::NamespacedName& key, GroupPod pod, const std::string& group) {
  auto known = group_of_pod_.find(key);
  if (known != group_of_pod_.end() && known->second != group) Remove(key);
  group_of_pod_[key] = group;
  groups_[{key.ns, group}].insert_or_assign(key.name, std::move(pod));
  driver_.Enqueue({key.ns, group});
}

void WorkloadGroupController::OnPod(const api::NamespacedName& key, const api::core::Pod* pod) {
  if (pod == nullptr || pod->spec.scheduler_name != scheduler_name_) return Remove(key);
  const std::string group = lifecycle::GroupNameFor(pod->metadata);
  auto pods = groups_.find(api::NamespacedName{key.ns, group});
  std::optional<GroupPod> seen = lifecycle::GroupPodOf(
      *pod, scheduler_name_, pods == groups_.end() ? nullptr : pods->second.begin()->second.source);
  if (!seen.has_value()) return Remove(key);
  Put(key, *std::move(seen), group);
}

void WorkloadGroupController::OnOwner(const api::Resource& resource, const api::NamespacedName& key,
                                      const api::core::Workload* workload) {
  const std::pair<const api::Resource*, api::NamespacedName> name{&resource, key};
  if (auto known = uid_of_owner_.find(name);
      known != uid_of_owner_.end() && (workload == nullptr || workload->metadata.uid != known->second)) {
    owners_.erase(known->second);
    uid_of_owner_.erase(known);
  }
  if (workload == nullptr) return;  // its pods and their group go with it
  uid_of_owner_[name] = workload->metadata.uid;
  OwnerFacts facts = lifecycle::FactsOf(resource, *workload);
  const api::NamespacedName group{key.ns, absl::StrCat(kPrefix, facts.uid)};
  const bool matters = facts.replicas == 0 || groups_.contains(group);
  owners_[facts.uid] = std::move(facts);
  if (matters) driver_.Enqueue(group);
}

void WorkloadGroupController::OnPodGroup(const api::NamespacedName& key) {
  if (absl::StartsWith(key.name, kPrefix)) driver_.Enqueue(key);
}

void WorkloadGroupController::OnQueueOpened() {
  for (const api::NamespacedName& key : std::exchange(refused_, {})) driver_.Enqueue(key);
}

void WorkloadGroupController::Wake() {
  std::vector<api::NamespacedName> keys;
  for (const auto& [key, pods] : groups_) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  for (const api::NamespacedName& key : keys) driver_.Enqueue(key);
  pod_groups_.ForEach([this](const api::NamespacedName& key, const auto&) { OnPodGroup(key); });
}

const OwnerFacts* WorkloadGroupController::OwnerOf(const std::string& uid) const {
  auto it = owners_.find(uid);
  return it == owners_.end() ? nullptr : &it->second;
}

kube::Plan WorkloadGroupController::Decide(const api::NamespacedName& key, absl::Time now) const {
  const auto group = pod_groups_.Get(key);
  lifecycle::WorkloadGroupView view;
  view.ns = key.ns;
  view.name = key.name;
  view.group = group.get();
  view.inherit = inherit_;
  view.namespace_queue = namespace_queues_.Of(key.ns);
  view.controller = OwnerOf(key.name.substr(kPrefix.size()));
  if (auto pods = groups_.find(key); pods != groups_.end()) {
    for (const auto& [name, pod] : pods->second) view.pods.push_back(&pod);
  }
  if (const GroupPod* source = lifecycle::SourcePod(view.pods, view.controller, group != nullptr)) {
    for (const api::OwnerReference& owner : source->source->owners) {
      if (lifecycle::WorkloadOf(owner) == nullptr) continue;
      view.owners.push_back(OwnerOf(owner.uid));
      view.owner_missing = view.owner_missing || (inherit_ && view.owners.back() == nullptr);
    }
  }
  if (group == nullptr && !view.pods.empty()) {
    if (const auto when = namespace_queues_.LookAgain(key.ns, view.pods.front()->created, now)) {
      kube::Plan later;
      later.look_again = *when;
      return later;
    }
  }
  return lifecycle::ReconcileWorkloadGroup(view, now);
}

// On the first pod that waits: whoever wonders why it is not placed looks there.
void WorkloadGroupController::Explain(const api::NamespacedName& key, const kube::Write& write,
                                      const absl::Status& status) {
  auto pods = groups_.find(key);
  if (pods == groups_.end()) return;
  refused_.insert(key);
  const GroupPod& pod = pods->second.begin()->second;
  recorder().Record(
      {kube::EventNote::Type::kWarning,
       "PodGroupError",
       absl::StrCat(View(write.resource->kind), " ", write.name, ": ", status.message()),
       {api::kPods.ApiVersion(), std::string(api::kPods.kind), key.ns, pod.name, pod.uid, pod.resource_version, {}}});
}

}  // namespace gangway::controller
