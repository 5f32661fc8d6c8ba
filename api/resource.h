// The resources we know: how an API object's kind, path and name go together.
#pragma once

#include <string>
#include <string_view>

#include "absl/strings/string_view.h"

namespace gangway::api {

struct KindRow;  // api/kind.h

// One resource of the Kubernetes API. Compare by address; the catalogue (api/kinds/kinds.h) has all that there are.
struct Resource {
  std::string_view group;     // "" is the core group
  std::string_view version;   // "v1"
  std::string_view plural;    // "pods"
  std::string_view singular;  // "pod"
  std::string_view kind;      // "Pod"
  bool namespaced = true;
  std::string_view short_names = {};  // comma separated: "vcjob,vj"
  std::string_view categories = {};   // comma separated: "all"
  // Of a kind that a definition declared while the program ran: its row. Null: the catalogue has it.
  const KindRow* declared = nullptr;

  // "v1", "batch.volcano.sh/v1alpha1"
  std::string ApiVersion() const;
  std::string ListKind() const { return std::string(kind) + "List"; }
};

inline constexpr Resource kNamespaces{"", "v1", "namespaces", "namespace", "Namespace", false, "ns"};
inline constexpr Resource kNodes{"", "v1", "nodes", "node", "Node", false, "no"};
inline constexpr Resource kPods{"", "v1", "pods", "pod", "Pod", true, "po", "all"};
inline constexpr Resource kServices{"", "v1", "services", "service", "Service", true, "svc", "all"};
inline constexpr Resource kConfigMaps{"", "v1", "configmaps", "configmap", "ConfigMap", true, "cm"};
inline constexpr Resource kSecrets{"", "v1", "secrets", "secret", "Secret", true};
inline constexpr Resource kEvents{"", "v1", "events", "event", "Event", true, "ev"};
inline constexpr Resource kEndpoints{"", "v1", "endpoints", "endpoints", "Endpoints", true, "ep"};
inline constexpr Resource kServiceAccounts{"", "v1", "serviceaccounts", "serviceaccount", "ServiceAccount", true, "sa"};
inline constexpr Resource kPersistentVolumes{"",    "v1", "persistentvolumes", "persistentvolume", "PersistentVolume",
                                             false, "pv"};
inline constexpr Resource kPersistentVolumeClaims{
    "", "v1", "persistentvolumeclaims", "persistentvolumeclaim", "PersistentVolumeClaim", true, "pvc"};
inline constexpr Resource kLimitRanges{"", "v1", "limitranges", "limitrange", "LimitRange", true, "limits"};
inline constexpr Resource kResourceQuotas{"", "v1", "resourcequotas", "resourcequota", "ResourceQuota", true, "quota"};
inline constexpr Resource kLeases{"coordination.k8s.io", "v1", "leases", "lease", "Lease", true};
inline constexpr Resource kNetworkPolicies{"networking.k8s.io", "v1", "networkpolicies", "networkpolicy",
                                           "NetworkPolicy",     true, "netpol"};
inline constexpr Resource kPodDisruptionBudgets{
    "policy", "v1", "poddisruptionbudgets", "poddisruptionbudget", "PodDisruptionBudget", true, "pdb"};
inline constexpr Resource kPriorityClasses{
    "scheduling.k8s.io", "v1", "priorityclasses", "priorityclass", "PriorityClass", false, "pc"};
inline constexpr Resource kDeployments{"apps", "v1", "deployments", "deployment", "Deployment", true, "deploy", "all"};
inline constexpr Resource kReplicaSets{"apps", "v1", "replicasets", "replicaset", "ReplicaSet", true, "rs", "all"};
inline constexpr Resource kStatefulSets{"apps", "v1", "statefulsets", "statefulset", "StatefulSet", true, "sts", "all"};
// Watched where they are served; the sandbox does not serve them.
inline constexpr Resource kDaemonSets{"apps", "v1", "daemonsets", "daemonset", "DaemonSet", true, "ds", "all"};
inline constexpr Resource kBatchJobs{"batch", "v1", "jobs", "job", "Job", true, {}, "all"};
inline constexpr Resource kJobs{"batch.volcano.sh", "v1alpha1", "jobs", "job", "Job", true, "vcjob,vj"};
inline constexpr Resource kCronJobs{"batch.volcano.sh", "v1alpha1", "cronjobs",        "cronjob",
                                    "CronJob",          true,       "cronvcjob,cronvj"};
inline constexpr Resource kPodGroups{"scheduling.volcano.sh", "v1beta1", "podgroups", "podgroup", "PodGroup", true,
                                     "pg,podgroup-v1beta1"};
inline constexpr Resource kQueues{"scheduling.volcano.sh", "v1beta1", "queues", "queue", "Queue", false,
                                  "q,queue-v1beta1"};
inline constexpr Resource kCommands{"bus.volcano.sh", "v1alpha1", "commands", "command", "Command", true};
inline constexpr Resource kJobFlows{"flow.volcano.sh", "v1alpha1", "jobflows", "jobflow", "JobFlow", true, "jf"};
inline constexpr Resource kJobTemplates{
    "flow.volcano.sh", "v1alpha1", "jobtemplates", "jobtemplate", "JobTemplate", true, "jt"};

// "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/ctr/status". An empty namespace means all (or cluster
// scope), an empty name the collection. Names are percent-encoded.
std::string PathOf(const Resource& resource, absl::string_view ns, absl::string_view name = {},
                   absl::string_view subresource = {});

}  // namespace gangway::api
