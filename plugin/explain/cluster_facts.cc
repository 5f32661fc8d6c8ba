#include "plugin/explain/cluster_facts.h"

namespace gangway::explain {

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
  for (const auto& each : facts.gangs) cluster.SetGang(each);
  for (const auto& each : facts.pods) cluster.SetPod(each);
}

}  // namespace gangway::explain
