// All that a scheduler has read of a cluster at one moment, as plain values: what a what-if starts from.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "plugin/model/cluster.h"
#include "plugin/model/facts.h"

namespace gangway::explain {

// The API group of the PodGroups of that kind: "scheduling.volcano.sh".
absl::string_view GroupOf(model::GangKind kind);

struct GangKey {
  std::string ns, name;
  model::GangKind kind = model::GangKind::kVolcano;
  // "ads/ctr"; of a PodGroup that is not Volcano's "ads/ctr (scheduling.k8s.io)".
  std::string ToString() const;
  friend bool operator==(const GangKey&, const GangKey&) = default;
};

struct ClusterFacts {
  std::vector<model::NodeFacts> nodes;
  std::vector<model::PodFacts> pods;
  std::vector<model::GangFacts> gangs;
  std::vector<model::QueueFacts> queues;
  std::vector<model::PriorityClassFacts> priority_classes;
  std::vector<model::ClaimFacts> claims;
  std::vector<model::VolumeFacts> volumes;
  std::vector<model::StorageClassFacts> storage_classes;
  std::vector<model::CsiNodeFacts> csi_nodes;
  std::vector<model::CsiDriverFacts> csi_drivers;
  std::vector<model::StorageCapacityFacts> storage_capacities;
  std::vector<model::VolumeAttachmentFacts> attachments;
  std::vector<model::NamespaceFacts> namespaces;
  std::vector<model::HyperNodeFacts> hyper_nodes;
  std::vector<model::QuotaFacts> quotas;
  std::vector<model::BudgetFacts> budgets;
  bool claims_readable = true;
  // Pods of the gang in question that its controller makes once it is let in. None of them stands in `pods`.
  std::vector<model::PodFacts> to_come;
};

// Tells the cluster of everything but the pods to come.
void Tell(const ClusterFacts& facts, model::Cluster& cluster);

}  // namespace gangway::explain
