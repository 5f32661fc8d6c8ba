#include "plugin/explain/cluster_facts.h"

#include "absl/strings/str_cat.h"

namespace gangway::explain {

absl::string_view GroupOf(model::GangKind kind) {
  switch (kind) {
    case model::GangKind::kVolcano:
      return "scheduling.volcano.sh";
    case model::GangKind::kKubernetes:
      return "scheduling.k8s.io";
    case model::GangKind::kCoscheduling:
      return "scheduling.x-k8s.io";
  }
  return "";
}

std::string GangKey::ToString() const {
  const std::string out = absl::StrCat(ns, "/", name);
  return kind == model::GangKind::kVolcano ? out : absl::StrCat(out, " (", GroupOf(kind), ")");
}

void Tell(const ClusterFacts& facts, model::Cluster& cluster) {
  cluster.SetClaimsReadable(facts.claims_readable);
  for (const auto& each : facts.namespaces) cluster.SetNamespace(each);
  for (const auto& each : facts.priority_classes) cluster.SetPriorityClass(each);
  for (const auto& each : facts.storage_classes) cluster.SetStorageClass(each);
  for (const auto& each : facts.hyper_nodes) cluster.SetHyperNode(each);
  for (const auto& each : facts.volumes) cluster.SetVolume(each);
  for (const auto& each : facts.claims) cluster.SetClaim(each);
  for (const auto& each : facts.csi_nodes) cluster.SetCsiNode(each);
  for (const auto& each : facts.csi_drivers) cluster.SetCsiDriver(each);
  for (const auto& each : facts.storage_capacities) cluster.SetStorageCapacity(each);
  for (const auto& each : facts.attachments) cluster.SetVolumeAttachment(each);
  for (const auto& each : facts.queues) cluster.SetQueue(each);
  for (const auto& each : facts.nodes) cluster.SetNode(each);
  for (const auto& each : facts.budgets) cluster.SetBudget(each);
  for (const auto& each : facts.quotas) cluster.SetQuota(each);
  for (const auto& each : facts.gangs) cluster.SetGang(each);
  for (const auto& each : facts.pods) cluster.SetPod(each);
}

}  // namespace gangway::explain
