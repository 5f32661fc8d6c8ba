// The kubelets of all nodes, and what Kubernetes' node lifecycle and pod garbage collection do about nodes
// that fall silent or go: one component that watches Pods and Nodes and writes their status.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "api/core/node.h"
#include "base/loop.h"
#include "kube/client/client.h"
#include "kube/runtime/component.h"
#include "kube/runtime/recorder.h"
#include "sandbox/kubelet/behaviour.h"
#include "sandbox/kubelet/claim_sync.h"
#include "sandbox/kubelet/container_log.h"
#include "sandbox/kubelet/hosted_pod.h"
#include "sandbox/kubelet/node_shape.h"
#include "sandbox/kubelet/node_sync.h"
#include "sandbox/kubelet/pod_runtime.h"
#include "sandbox/kubelet/pod_sources.h"
#include "sandbox/kubelet/pod_sync.h"

namespace gangway::sandbox {

struct KubeletsOptions {
  std::vector<SimulatedNode> nodes;  // registered at the start, once; a Node deleted later stays away
  Behaviour behaviour;
  KubeletTimes times;
  MakePodRuntime make_runtime;  // empty: containers are simulated, by `behaviour` and `times`
  NodeTimes node_times;
  std::string scheduler_name = "volcano";  // of the pods that somebody schedules
};

class Kubelets final : public kube::Component {
 public:
  Kubelets(kube::Informers& informers, KubeletsOptions options);

  // The log of a container, as LogOf has it; NotFound also when there is no pod of that name and UID.
  absl::StatusOr<ContainerLog> Log(const api::NamespacedName& pod, absl::string_view uid, absl::string_view container,
                                   bool previous) const;
  absl::Status CheckStream(const api::NamespacedName& pod, absl::string_view uid, absl::string_view container) const;
  // As PodRuntime has them; NotFound also when there is no pod of that name and UID.
  absl::StatusOr<std::unique_ptr<ContainerStream>> Exec(const api::NamespacedName& pod, absl::string_view uid,
                                                        const ExecOrder& order, StreamEvents events);
  absl::StatusOr<std::unique_ptr<ContainerStream>> Dial(const api::NamespacedName& pod, absl::string_view uid, int port,
                                                        StreamEvents events);
  // Told the UID of every pod that has changed or gone or written something: its logs may have grown.
  void SetOnPod(absl::AnyInvocable<void(const std::string& uid)> on_pod) { on_pod_ = std::move(on_pod); }

 private:
  absl::StatusOr<std::shared_ptr<const HostedPod>> Find(const api::NamespacedName& key, absl::string_view uid) const;
  kube::Plan DecidePod(const api::NamespacedName& key, absl::Time now);
  kube::Plan DecideNode(const api::NamespacedName& key, absl::Time now);
  void OnPod(const api::NamespacedName& key, const std::shared_ptr<const HostedPod>& before,
             const std::shared_ptr<const HostedPod>& after);
  void OnNode(const api::NamespacedName& key, const std::shared_ptr<const api::core::Node>& before,
              const std::shared_ptr<const api::core::Node>& after);
  void Wake() override;
  void OnReply(const kube::Write& write, const kube::Response& response) override;
  void TellWhenNobodySchedules(const HostedPod* before, const HostedPod& pod);
  void WakeWaiting(const std::string& ns);
  SourceLookup LookupFor(const HostedPod& pod) const;
  NodeState StateOf(const std::string& node);
  void AskWhetherGone(const std::string& node);
  std::string NextPodIp();

  const KubeletsOptions options_;
  kube::Informer<HostedPod>& pods_;
  kube::Informer<api::core::Node>& nodes_;
  kube::Informer<SourceObject>&config_maps_, &secrets_;
  kube::Informer<Claim>& claims_;
  kube::Recorder sandbox_recorder_;
  kube::Driver &pod_driver_, &node_driver_;

  absl::flat_hash_map<std::string, absl::btree_set<api::NamespacedName>> pods_by_node_;
  absl::btree_set<api::NamespacedName> waiting_;  // pods that miss something of other objects
  std::unique_ptr<PodRuntime> runtime_;
  absl::flat_hash_map<std::string, NodeMemory> node_memory_;  // by name
  absl::flat_hash_map<std::string, absl::Time> unreachable_;  // since when a node has the taint, by name
  absl::flat_hash_map<std::string, const SimulatedNode*> unregistered_;
  absl::flat_hash_set<std::string> pod_ips_;  // in use
  std::uint32_t next_pod_ip_ = 0;
  // Nodes with pods that the cache misses: whether the API server has said that they are not there.
  absl::flat_hash_map<std::string, bool> gone_;
  absl::AnyInvocable<void(const std::string&)> on_pod_;
};

}  // namespace gangway::sandbox
