// The PodGroup of pods that no Job made: of a bare pod, or of the pods of a ReplicaSet, StatefulSet, DaemonSet, batch
// Job or any other controller (Volcano: pkg/controllers/podgroup). Values in, kube::Plan out.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "api/core/workload.h"
#include "api/volcano/scheduling.h"
#include "kube/plan/plan.h"

namespace gangway::lifecycle {

// What a group takes from one of its pods. Pods of one owner mostly say the same.
struct GroupSource {
  std::vector<api::OwnerReference> owners;  // of the group: the pod's own, or the pod itself
  bool bare = false;                        // no controller owns the pod
  api::ResourceList usage;                  // of one pod
  std::string usage_error;                  // not empty: the pod's requests cannot be added up
  std::string priority_class, queue;        // queue: "" when the pod does not say
  std::map<std::string, std::string> annotations, labels;
  std::optional<api::volcano::NetworkTopologySpec> topology;
};
bool operator==(const GroupSource& a, const GroupSource& b);

// A pod of a group, or one that waits for it.
struct GroupPod {
  std::string name, uid, resource_version;
  std::string revision;  // label controller-revision-hash
  absl::Time created;
  bool waits = false;  // the group's name is not written on it yet
  std::shared_ptr<const GroupSource> source;
};

// What matters of a workload that may own pods.
struct OwnerFacts {
  const api::Resource* resource = nullptr;  // kReplicaSets, kStatefulSets, kDaemonSets, kBatchJobs
  std::string uid;
  std::optional<std::int32_t> replicas;            // of those that scale
  std::string update_revision;                     // of a StatefulSet
  std::map<std::string, std::string> annotations;  // those that a group inherits, and group-min-member
  // ReplicaSets and StatefulSets: the group follows what they and their pods become.
  bool scales() const { return resource == &api::kReplicaSets || resource == &api::kStatefulSets; }
};
OwnerFacts FactsOf(const api::Resource& resource, const api::core::Workload& workload);
// Which of the four an owner reference names; nullptr for anything else.
const api::Resource* WorkloadOf(const api::OwnerReference& owner);

// "podgroup-<uid of the controlling owner>", or of the pod itself.
std::string GroupNameFor(const api::ObjectMeta& pod);

// The pod as a group sees it; nullopt when it has none of these groups: it names another scheduler, belongs to another
// group, has ended or is being deleted. `like`, when not null, is shared as the source when it says the same.
std::optional<GroupPod> GroupPodOf(const api::core::Pod& pod, absl::string_view scheduler,
                                   const std::shared_ptr<const GroupSource>& like);

struct WorkloadGroupView {
  std::string ns, name;                           // of the group
  const api::volcano::PodGroup* group = nullptr;  // null: there is none
  std::vector<const GroupPod*> pods;              // by name
  // The controlling owner, and all owners in the order in which the first pod names them; null: not known (yet), or of
  // another kind.
  const OwnerFacts* controller = nullptr;
  std::vector<const OwnerFacts*> owners;
  bool owner_missing = false;   // the first pod names an owner of the four kinds that was not seen yet
  std::string namespace_queue;  // the namespace's annotation kQueueNameAnnotation; "": none, or not known
  bool inherit = true;          // owners' annotations count
};

// How long a pod waits for an owner that was not seen yet.
inline constexpr absl::Duration kOwnerPatience = absl::Seconds(5);

// Pure. The group, made, changed or (with no replicas and no pods) deleted; then its name on the pods that wait for it.
kube::Plan ReconcileWorkloadGroup(const WorkloadGroupView& seen, absl::Time now);

// The pod that decides what the group is; nullptr when there is none.
const GroupPod* SourcePod(const std::vector<const GroupPod*>& pods, const OwnerFacts* controller, bool group_exists);

}  // namespace gangway::lifecycle
