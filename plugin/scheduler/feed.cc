#include "plugin/scheduler/feed.h"

#include <algorithm>
#include <optional>

#include "plugin/ingest/ingest.h"

namespace gangway::scheduler {

using api::NamespacedName;
using model::GangKind;

void Feed::On(const NamespacedName& key, const api::core::Node* node) {
  Apply([&] { node == nullptr ? cluster_.RemoveNode(key.name) : cluster_.SetNode(ingest::NodeFactsOf(*node)); });
}

void Feed::On(const NamespacedName& key, const api::volcano::Queue* queue) {
  Apply([&] { queue == nullptr ? cluster_.RemoveQueue(key.name) : cluster_.SetQueue(ingest::QueueFactsOf(*queue)); });
}

void Feed::On(const NamespacedName& key, const api::core::PriorityClass* priority_class) {
  Apply([&] {
    priority_class == nullptr ? cluster_.RemovePriorityClass(key.name)
                              : cluster_.SetPriorityClass(ingest::PriorityClassFactsOf(*priority_class));
  });
}

void Feed::On(const NamespacedName& key, const api::core::PodDisruptionBudget* budget) {
  Apply([&] {
    budget == nullptr ? cluster_.RemoveBudget(key.ns, key.name) : cluster_.SetBudget(ingest::BudgetFactsOf(*budget));
  });
}

void Feed::On(const NamespacedName& key, const api::core::PersistentVolumeClaim* claim) {
  Apply([&] {
    claim == nullptr ? cluster_.RemoveClaim(key.ns, key.name) : cluster_.SetClaim(ingest::ClaimFactsOf(*claim));
  });
}

void Feed::On(const NamespacedName& key, const api::core::PersistentVolume* volume) {
  Apply([&] {
    volume == nullptr ? cluster_.RemoveVolume(key.name) : cluster_.SetVolume(ingest::VolumeFactsOf(*volume));
  });
}

void Feed::On(const NamespacedName& key, const api::core::StorageClass* storage_class) {
  Apply([&] {
    storage_class == nullptr ? cluster_.RemoveStorageClass(key.name)
                             : cluster_.SetStorageClass(ingest::StorageClassFactsOf(*storage_class));
  });
}

void Feed::On(const NamespacedName& key, const api::core::CsiNode* node) {
  Apply(
      [&] { node == nullptr ? cluster_.RemoveCsiNode(key.name) : cluster_.SetCsiNode(ingest::CsiNodeFactsOf(*node)); });
}

void Feed::On(const NamespacedName& key, const api::core::CsiDriver* driver) {
  Apply([&] {
    driver == nullptr ? cluster_.RemoveCsiDriver(key.name) : cluster_.SetCsiDriver(ingest::CsiDriverFactsOf(*driver));
  });
}

void Feed::On(const NamespacedName& key, const api::core::CsiStorageCapacity* capacity) {
  Apply([&] {
    capacity == nullptr ? cluster_.RemoveStorageCapacity(key.ns, key.name)
                        : cluster_.SetStorageCapacity(ingest::StorageCapacityFactsOf(*capacity));
  });
}

void Feed::On(const NamespacedName& key, const api::core::VolumeAttachment* attachment) {
  Apply([&] {
    attachment == nullptr ? cluster_.RemoveVolumeAttachment(key.name)
                          : cluster_.SetVolumeAttachment(ingest::VolumeAttachmentFactsOf(*attachment));
  });
}

void Feed::On(const NamespacedName& key, const api::core::ResourceQuota* quota,
              const kube::Informer<api::volcano::PodGroup>& groups) {
  const bool had = cluster_.quotas().Of(key.ns) != nullptr;
  const std::optional<model::QuotaFacts> facts = quota == nullptr ? std::nullopt : ingest::QuotaFactsOf(*quota);
  Apply([&] { facts.has_value() ? cluster_.SetQuota(*facts) : cluster_.RemoveQuota(key.ns, key.name); });
  if (had || cluster_.quotas().Of(key.ns) == nullptr) return;
  groups.ForEach([&](const NamespacedName& name, const auto& group) {
    if (name.ns == key.ns) On(name, group.get());
  });
}

void Feed::On(const NamespacedName& key, const api::volcano::HyperNode* hyper_node) {
  Apply([&] {
    hyper_node == nullptr ? cluster_.RemoveHyperNode(key.name)
                          : cluster_.SetHyperNode(ingest::HyperNodeFactsOf(*hyper_node));
  });
}

void Feed::On(const NamespacedName& key, const api::core::PartialObject* ns) {
  Apply([&] {
    ns == nullptr ? cluster_.RemoveNamespace(key.name) : cluster_.SetNamespace(ingest::NamespaceFactsOf(*ns));
  });
}

namespace {

model::GangFacts FactsOf(const api::volcano::PodGroup& group, const std::string& scheduler_name) {
  return ingest::GangFactsOf(group, scheduler_name);
}
template <class T>
model::GangFacts FactsOf(const T& group, const std::string&) {
  return ingest::GangFactsOf(group);
}

}  // namespace

template <class T>
void Feed::OnGroup(GangKind kind, const NamespacedName& key, const T* group) {
  Apply([&] {
    if (group == nullptr) {
      cluster_.RemoveGang(key.ns, key.name, kind);
    } else {
      cluster_.SetGang(FactsOf(*group, scheduler_name_));
    }
  });
}

void Feed::On(const NamespacedName& key, const api::volcano::PodGroup* group) {
  OnGroup(GangKind::kVolcano, key, group);
}
void Feed::On(const NamespacedName& key, const api::core::KubernetesPodGroup* group) {
  OnGroup(GangKind::kKubernetes, key, group);
}
void Feed::On(const NamespacedName& key, const api::core::CoschedulingPodGroup* group) {
  OnGroup(GangKind::kCoscheduling, key, group);
}

void Feed::On(const NamespacedName& key, const api::core::Pod* pod, bool coscheduling) {
  Apply([&] {
    if (pod == nullptr) return cluster_.RemovePod(key.ns, key.name);
    model::PodFacts facts = ingest::PodFactsOf(*pod, scheduler_name_, coscheduling);
    facts.ours = facts.ours && IsOurs(key.ns);
    cluster_.SetPod(facts);
  });
}

bool Feed::IsOurs(const std::string& ns) const {
  return namespaces_.empty() || std::find(namespaces_.begin(), namespaces_.end(), ns) != namespaces_.end();
}

}  // namespace gangway::scheduler
