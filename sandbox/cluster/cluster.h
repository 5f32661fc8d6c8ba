// The whole embedded cluster on one loop: API server, kubelets with the cluster's own controllers, controllers of jobs
// and of PaddleJobs, and scheduler, each with a client and informers of its own, as separate processes would have.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "base/loop.h"
#include "kube/client/client.h"
#include "kube/runtime/components.h"
#include "plugin/gang/policy.h"
#include "plugin/lifecycle/hyper_nodes/label_source.h"
#include "sandbox/apiserver/api_server.h"
#include "sandbox/apiserver/in_process_client.h"
#include "sandbox/cluster/pod_log.h"
#include "sandbox/cluster/pod_streams.h"
#include "sandbox/kubelet/kubelets.h"

namespace gangway::sandbox {

// What can crash and come back alone: the kubelets and what else every cluster has, and the processes of
// assembly/components.h.
enum class Component { kKubelets, kControllers, kScheduler, kPaddleControllers };
inline constexpr std::array kAllComponents{Component::kKubelets, Component::kControllers, Component::kScheduler,
                                           Component::kPaddleControllers};
absl::string_view ClientName(Component component);  // in the journal: "kubelet", or the process's name
// Who it is where RBAC is on: as deploy/ has it. nullopt: the sandbox's own, who may do everything.
std::optional<User> AccountOf(Component component);

struct ClusterOptions {
  ApiServerOptions api_server;  // with RBAC components have the roles of deploy/, which come with them
  KubeletsOptions kubelets;
  // The controllers of PaddleJobs run with the others as kControllers, as `gangway controller` has them, and share what
  // these watch; kPaddleControllers is not started.
  bool one_controller_process = false;
  // Deployments and ReplicaSets have pods, as in a cluster; otherwise they are stored and nothing acts on them.
  bool workloads = false;
  // PodDisruptionBudgets are counted, as in a cluster; otherwise their status stays as it is written.
  bool budgets = false;
  std::optional<lifecycle::LabelSource> label_source;  // which labels of nodes make HyperNodes; none: none do
  gang::Policy policy;                                 // by which the scheduler decides
  int audit_every = 0;                                 // of the scheduler's table, see model::Cluster
  int ssh_key_threads = 0;  // that make keys for jobs with the plugin ssh; 0: the loop, as a simulated one must
  // Faults between a component and the API server; asked whenever the component starts. Empty: none.
  std::function<Faults(Component)> faults;
  // A component's own view of the loop, whose clock may be off; asked whenever the component starts, and outlives the
  // cluster. Empty: the loop.
  std::function<Loop&(Component)> clock;
};

// Used on its loop.
class Cluster {
 public:
  Cluster(Loop& loop, ClusterOptions options);
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Starts every component.
  void Start();
  // As a crash: the component's memory is gone, its requests under way are carried out, their replies lost.
  void Stop(Component component);
  void Start(Component component);
  bool running(Component component) const;
  void BreakWatches(Component component);

  ApiServer& api_server() { return server_; }
  PodStreams& pod_streams() { return pod_streams_; }
  // A client for somebody else: a user, a test.
  std::unique_ptr<InProcessClient> NewClient(absl::string_view name, Faults faults = {});

 private:
  struct Process;  // a component and its client
  std::unique_ptr<Process>& ProcessOf(Component component);
  void MakeRoles(Component component);
  Kubelets& AddClustersOwn(kube::Components& components);
  absl::StatusOr<ContainerLog> LogOfPod(const LogQuery& query);

  Loop& loop_;
  const bool rbac_;
  std::set<std::string> roles_made_;  // for whom
  const KubeletsOptions kubelets_options_;
  const bool one_controller_process_, workloads_, budgets_;
  const std::optional<lifecycle::LabelSource> label_source_;
  const gang::Policy policy_;
  const int audit_every_;
  const int ssh_key_threads_;
  const std::function<Faults(Component)> faults_;
  const std::function<Loop&(Component)> clock_;
  ApiServer server_;
  PodLogFollower followed_logs_;
  PodStreams pod_streams_;
  std::array<std::unique_ptr<Process>, kAllComponents.size()> processes_;
};

}  // namespace gangway::sandbox
