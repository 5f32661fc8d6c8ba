// The scheduler's feed: what its watches show becomes facts of the cluster.
//
// In: objects that come, change and go. Out: the cluster, and a call whenever it is another than before. Used on the
// scheduler's loop.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "api/core/node.h"
#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/core/pod_groups.h"
#include "api/core/storage.h"
#include "api/meta.h"
#include "api/volcano/hyper_node.h"
#include "api/volcano/scheduling.h"
#include "kube/runtime/informer.h"
#include "plugin/model/cluster.h"

namespace gangway::scheduler {

class Feed {
 public:
  // Of the namespaces, empty: of all, pods that name the scheduler are ours. What is not a value must outlive it.
  Feed(model::Cluster& cluster, std::string scheduler_name, const std::vector<std::string>& namespaces,
       std::function<void()> changed)
      : cluster_(cluster),
        scheduler_name_(std::move(scheduler_name)),
        namespaces_(namespaces),
        changed_(std::move(changed)) {}

  // nullptr: it is gone.
  void On(const api::NamespacedName& key, const api::core::Node* node);
  void On(const api::NamespacedName& key, const api::volcano::Queue* queue);
  void On(const api::NamespacedName& key, const api::core::PriorityClass* priority_class);
  void On(const api::NamespacedName& key, const api::core::PodDisruptionBudget* budget);
  void On(const api::NamespacedName& key, const api::core::PersistentVolumeClaim* claim);
  void On(const api::NamespacedName& key, const api::core::PersistentVolume* volume);
  void On(const api::NamespacedName& key, const api::core::StorageClass* storage_class);
  void On(const api::NamespacedName& key, const api::core::CsiNode* node);
  void On(const api::NamespacedName& key, const api::core::CsiDriver* driver);
  void On(const api::NamespacedName& key, const api::core::CsiStorageCapacity* capacity);
  void On(const api::NamespacedName& key, const api::core::VolumeAttachment* attachment);
  void On(const api::NamespacedName& key, const api::volcano::HyperNode* hyper_node);
  // What `groups` ask of quotas is kept from the first one of their namespace on, so they are fed again then.
  void On(const api::NamespacedName& key, const api::core::ResourceQuota* quota,
          const kube::Informer<api::volcano::PodGroup>& groups);
  void On(const api::NamespacedName& key, const api::core::PartialObject* ns);  // a Namespace
  void On(const api::NamespacedName& key, const api::volcano::PodGroup* group);
  void On(const api::NamespacedName& key, const api::core::KubernetesPodGroup* group);
  void On(const api::NamespacedName& key, const api::core::CoschedulingPodGroup* group);
  // `coscheduling`: there are PodGroups of that kind, so that a label of theirs means one.
  void On(const api::NamespacedName& key, const api::core::Pod* pod, bool coscheduling);

  // Changes the cluster for another reason than an event.
  template <class F>
  void Apply(F change) {
    const std::uint64_t before = cluster_.version();
    change();
    if (cluster_.version() == before) return;
    cluster_.AuditIfAsked();
    changed_();
  }

 private:
  bool IsOurs(const std::string& ns) const;
  template <class T>
  void OnGroup(model::GangKind kind, const api::NamespacedName& key, const T* group);

  model::Cluster& cluster_;
  const std::string scheduler_name_;
  const std::vector<std::string>& namespaces_;
  const std::function<void()> changed_;
};

}  // namespace gangway::scheduler
