// API objects as facts of the model. Pure.
#pragma once

#include "absl/strings/string_view.h"
#include "api/core/node.h"
#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/core/storage.h"
#include "api/volcano/hyper_node.h"
#include "api/volcano/scheduling.h"
#include "plugin/model/facts.h"

namespace gangway::ingest {

inline constexpr absl::string_view kGroupNameAnnotation = "scheduling.k8s.io/group-name";
inline constexpr absl::string_view kTaskAnnotation = "volcano.sh/task-spec";
inline constexpr absl::string_view kPartitionLabel = "volcano.sh/partition-id";
inline constexpr absl::string_view kTaskPriorityAnnotation = "volcano.sh/task-priority";

// kubernetes: component-helpers/storage/volume, AnnSelectedNode
inline constexpr absl::string_view kSelectedNodeAnnotation = "volume.kubernetes.io/selected-node";

// `scheduler_name`: the pods we place. Of a pod that is bound only what it takes is told, and whom it keeps away.
model::PodFacts PodFactsOf(const api::core::Pod& pod, absl::string_view scheduler_name);
model::NodeFacts NodeFactsOf(const api::core::Node& node);
model::GangFacts GangFactsOf(const api::volcano::PodGroup& group);
model::QueueFacts QueueFactsOf(const api::volcano::Queue& queue);
model::ClaimFacts ClaimFactsOf(const api::core::PersistentVolumeClaim& claim);
// Where it can be reached from: its node affinity, and its labels of zones and regions; and what it offers.
model::VolumeFacts VolumeFactsOf(const api::core::PersistentVolume& volume);
model::StorageClassFacts StorageClassFactsOf(const api::core::StorageClass& object);
model::HyperNodeFacts HyperNodeFactsOf(const api::volcano::HyperNode& object);
model::NamespaceFacts NamespaceFactsOf(const api::core::PartialObject& object);
model::PriorityClassFacts PriorityClassFactsOf(const api::core::PriorityClass& object);

}  // namespace gangway::ingest
