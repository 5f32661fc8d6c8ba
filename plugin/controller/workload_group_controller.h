// Gives a PodGroup to every pod that names our scheduler and that no Job made, and keeps those of ReplicaSets and
// StatefulSets as these are. One key is one group: "podgroup-<uid>". Used on its loop.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "api/core/pod.h"
#include "api/core/workload.h"
#include "api/volcano/scheduling.h"
#include "kube/runtime/component.h"
#include "plugin/controller/namespace_queues.h"
#include "plugin/lifecycle/workload_groups/workload_group.h"

namespace gangway::controller {

class WorkloadGroupController final : public kube::Component {
 public:
  // `inherit`: groups take annotations from the pods' owners.
  WorkloadGroupController(kube::Informers& informers, kube::ComponentOptions options, std::string scheduler_name,
                          bool inherit);

 private:
  using Pods = absl::btree_map<std::string, lifecycle::GroupPod>;  // by name

  // Null is absent.
  void OnPod(const api::NamespacedName& key, const api::core::Pod* pod);
  void OnOwner(const api::Resource& resource, const api::NamespacedName& key, const api::core::Workload* workload);
  void OnPodGroup(const api::NamespacedName& key);
  // A queue opened: groups that were refused may be taken now.
  void OnQueueOpened();

  void Wake() override;
  void Put(const api::NamespacedName& key, lifecycle::GroupPod pod, const std::string& group);
  void Remove(const api::NamespacedName& key);
  kube::Plan Decide(const api::NamespacedName& key, absl::Time now) const;
  const lifecycle::OwnerFacts* OwnerOf(const std::string& uid) const;
  void Explain(const api::NamespacedName& key, const kube::Write& write, const absl::Status& status);

  kube::Informer<api::volcano::PodGroup>& pod_groups_;
  const NamespaceQueues namespace_queues_;
  const std::string scheduler_name_;
  const bool inherit_;
  absl::flat_hash_map<api::NamespacedName, Pods> groups_;  // live pods, by group
  absl::flat_hash_map<api::NamespacedName, std::string> group_of_pod_;
  absl::flat_hash_map<std::string, lifecycle::OwnerFacts> owners_;  // by UID
  absl::flat_hash_map<std::pair<const api::Resource*, api::NamespacedName>, std::string> uid_of_owner_;
  absl::btree_set<api::NamespacedName> refused_;  // groups that the API server did not take
  kube::Driver& driver_;
};

}  // namespace gangway::controller
