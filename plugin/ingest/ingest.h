// API objects as facts of the model. Pure.
#pragma once

#include <optional>

#include "absl/strings/string_view.h"
#include "api/core/node.h"
#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/core/pod_groups.h"
#include "api/core/storage.h"
#include "api/resource.h"
#include "api/volcano/hyper_node.h"
#include "api/volcano/scheduling.h"
#include "plugin/model/facts.h"

namespace gangway::ingest {

inline constexpr absl::string_view kGroupNameAnnotation = "scheduling.k8s.io/group-name";
inline constexpr absl::string_view kTaskAnnotation = "volcano.sh/task-spec";
inline constexpr absl::string_view kPartitionLabel = "volcano.sh/partition-id";
inline constexpr absl::string_view kTaskPriorityAnnotation = "volcano.sh/task-priority";

inline constexpr absl::string_view kPreemptableKey = "volcano.sh/preemptable";
inline constexpr absl::string_view kCooldownTimeKey = "volcano.sh/cooldown-time";
// On a Job or a pod: "true" says that its gang may be moved to other nodes, since it begins where it was when its pods
// are made anew.
inline constexpr absl::string_view kMovableKey = "gangway.io/movable";
// On a Job or a pod: how long its owner expects it to run at most. A duration as Go writes it; nothing ends the pod
// then, which `activeDeadlineSeconds` does.
inline constexpr absl::string_view kExpectedRuntimeKey = "gangway.io/expected-runtime";
// On a queue, for those below it too: so long after it got its node no pod is evicted. A duration as Go writes it.
inline constexpr absl::string_view kMinRuntimeKey = "gangway.io/min-runtime";
// The same: so long a gang that lost a member may look for room for another, before all others and without being
// evicted; then what is left of it is.
inline constexpr absl::string_view kLostMemberGraceKey = "gangway.io/lost-member-grace";

inline constexpr char kSchedulingGroupField[] = "spec.schedulingGroup";
// kubernetes: api/scheduling/v1alpha2, types.go
inline constexpr absl::string_view kPodGroupScheduled = "PodGroupScheduled";

// kubernetes: component-helpers/storage/volume, AnnSelectedNode
inline constexpr absl::string_view kSelectedNodeAnnotation = "volume.kubernetes.io/selected-node";

// `scheduler_name`: the pods we place. Of a pod that is bound only what it takes is told, and whom it keeps away. A pod
// that names gangs by more than one of the annotation, spec.schedulingGroup and kCoschedulingLabel is never placed;
// without `coscheduling`, on a cluster that has no such PodGroups, its label counts where nothing else names a gang.
model::PodFacts PodFactsOf(const api::core::Pod& pod, absl::string_view scheduler_name, bool coscheduling = false);
// Of a pod of that name among those of its task: the number at the end of a name of at least three parts; -1 = none.
int IndexOf(absl::string_view name);
model::NodeFacts NodeFactsOf(const api::core::Node& node);
// `scheduler_name`: ours; "": whoever places its pods.
model::GangFacts GangFactsOf(const api::volcano::PodGroup& group, absl::string_view scheduler_name = "");
// Those that are not Volcano's are of the queue default. A basic one is let go pod by pod: a gang of one, and more.
model::GangFacts GangFactsOf(const api::core::KubernetesPodGroup& group);
model::GangFacts GangFactsOf(const api::core::CoschedulingPodGroup& group);
model::QueueFacts QueueFactsOf(const api::volcano::Queue& queue);
model::ClaimFacts ClaimFactsOf(const api::core::PersistentVolumeClaim& claim);
// Where it can be reached from: its node affinity, and its labels of zones and regions; and what it offers.
model::VolumeFacts VolumeFactsOf(const api::core::PersistentVolume& volume);
model::StorageClassFacts StorageClassFactsOf(const api::core::StorageClass& object);
model::CsiNodeFacts CsiNodeFactsOf(const api::core::CsiNode& object);
model::CsiDriverFacts CsiDriverFactsOf(const api::core::CsiDriver& object);
model::StorageCapacityFacts StorageCapacityFactsOf(const api::core::CsiStorageCapacity& object);
model::VolumeAttachmentFacts VolumeAttachmentFactsOf(const api::core::VolumeAttachment& object);
model::HyperNodeFacts HyperNodeFactsOf(const api::volcano::HyperNode& object);
// What the disruption controller has not counted yet allows nothing.
model::BudgetFacts BudgetFactsOf(const api::core::PodDisruptionBudget& object);
model::NamespaceFacts NamespaceFactsOf(const api::core::PartialObject& object);
// nullopt: it is about some of the namespace's pods only, and which of a gang's these are its PodGroup does not say.
std::optional<model::QuotaFacts> QuotaFactsOf(const api::core::ResourceQuota& quota);
model::PriorityClassFacts PriorityClassFactsOf(const api::core::PriorityClass& object);

// Of the gang's PodGroup.
const api::Resource& ResourceOf(model::GangKind kind);

}  // namespace gangway::ingest
