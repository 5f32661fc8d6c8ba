// A real control plane on loopback: etcd, kube-apiserver with TLS, RBAC and an audit log, and, where asked for,
// kube-controller-manager and kwok as the kubelets of its nodes. scripts/e2e-tools builds the programs.
//
//   auto plane = ControlPlane::Start({.kwok = true});
//   const kube::Response reply = (*plane)->Call("POST", "/api/v1/namespaces", body);
//
// One starts in about five seconds and takes a gigabyte. Its destructor, and the death of the process, leave nothing
// behind.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/meta.h"
#include "api/resource.h"
#include "kube/client/client.h"
#include "kube/client/connection.h"
#include "tests/certificates/identity.h"
#include "tests/process/process.h"
#include "tests/testing/loop_thread.h"

namespace gangway::kube {
class HttpClient;
}

namespace gangway::testutil {

struct ControlPlaneOptions {
  // Garbage collector, namespaces, service accounts with tokens, volume protection, disruption budgets.
  bool controller_manager = true;
  bool node_lifecycle = false;  // taints that evict
  bool workloads = false;       // Deployments, ReplicaSets, StatefulSets and batch Jobs get their pods
  // Plays the kubelet of every node: pods run 0.4 s after they were bound and are gone 1 s after they were told to go.
  // Annotation test.kwok/finish=succeed or fail ends one, test.kwok/exit-code says with which code, test.kwok/hold
  // keeps it Pending.
  bool kwok = false;
  bool volcano_crds = true;        // deploy/volcano/crds.yaml, and those of PaddleJobs
  std::string volcano_types = {};  // a manifest in place of deploy/volcano/crds.yaml
  bool audit = true;
  std::vector<std::string> api_server_flags = {};  // added to ours
};

class ControlPlane {
 public:
  // Whether the programs are there: build/e2e/bin, or $GW_E2E_BIN.
  static bool ToolsPresent();
  // Of which Kubernetes they are: 36 of 1.36.1. A test of what an older one lacks skips with that reason.
  static int Minor();
  // Of an API server that serves Kubernetes' own gangs; none where it has none yet.
  static std::vector<std::string> GangFlags();
  // Serving, CRDs established, service accounts' default in place. Errors show the end of the log of what failed.
  static absl::StatusOr<std::unique_ptr<ControlPlane>> Start(ControlPlaneOptions options = {});
  ~ControlPlane();
  ControlPlane(const ControlPlane&) = delete;
  ControlPlane& operator=(const ControlPlane&) = delete;

  std::string url() const;
  std::string etcd_url() const;
  const std::string& folder() const { return folder_.path(); }  // temporary; removed at the end
  std::string ca_file() const { return folder() + "/ca.crt"; }
  std::string admin_kubeconfig() const { return folder() + "/admin.kubeconfig"; }  // of a user in system:masters
  // The audit log from a byte on, in whole lines: one that is being written is left out.
  std::string AuditLog(std::size_t from = 0) const;
  const Identity& ca() const { return ca_; }

  // The same port, the same data. What was under way breaks off (told to go with SIGTERM, it would first serve its
  // watches out).
  void StopApiServer(int signal = 9);
  absl::Status StartApiServer();  // returns when it serves
  pid_t api_server_pid() const { return api_server_->pid(); }
  int api_port() const { return api_port_.number(); }
  // A second one on the same data, on a port of its own; returns when it serves.
  absl::Status StartSecondApiServer();
  void StopSecondApiServer(int signal = 9);
  int second_api_port() const { return second_port_.number(); }

  kube::Connection admin_connection() const;
  // A client certificate of the cluster's authority, as a kubeconfig; the path of the file.
  std::string KubeconfigForUser(const std::string& user, const std::string& group,
                                absl::Duration valid_for = absl::Hours(24));
  // A token of the service account (made by the API server, an hour long), as a kubeconfig; the path of the file.
  absl::StatusOr<std::string> KubeconfigForServiceAccount(const std::string& ns, const std::string& name);
  absl::StatusOr<std::string> ServiceAccountToken(const std::string& ns, const std::string& name, int seconds = 3600);

  // One request as the admin, waited for. A transport error ends the test program.
  kube::Response Call(const std::string& method, const std::string& path, const std::string& body = {},
                      const std::string& content_type = "application/json", const std::string& query = {});
  // Creates every object of a manifest; `ns`, when given, instead of the namespace they name. What is there already is
  // left as it is.
  absl::Status Create(const std::string& manifest, const std::string& ns = {});
  // Nodes node-000.. of 16 cpu, 64Gi memory, 200Gi ephemeral-storage, 110 pods, Ready and without taints.
  absl::Status CreateNodes(int count);
  Outcome Kubectl(std::vector<std::string> args, const std::string& input = {}) const;

 private:
  explicit ControlPlane(ControlPlaneOptions options);
  absl::Status StartAll();
  void WriteCredentials();
  void StartEtcd();
  std::vector<std::string> ApiServerArguments(int port) const;
  void StartControllerManager();
  void StartKwok();
  absl::Status InstallCrds();
  absl::StatusOr<std::unique_ptr<kube::HttpClient>> AdminOf(int port);
  absl::StatusOr<kube::Response> Send(kube::Request request, kube::Client& client);
  // Polls a GET until it answers 2xx.
  absl::Status WaitFor(const std::string& path, absl::Duration patience, ChildProcess* process, const std::string& log,
                       kube::Client& client);
  std::string WriteKubeconfig(const std::string& name, const std::string& user);
  std::string Log(const std::string& program) const { return folder() + "/" + program + ".log"; }

  // Holds a port without listening: both of those who listen there later share it (SO_REUSEPORT), nobody else can have
  // it.
  class HeldPort {
   public:
    HeldPort();
    ~HeldPort();
    HeldPort(const HeldPort&) = delete;
    HeldPort& operator=(const HeldPort&) = delete;
    int number() const { return number_; }

   private:
    const int socket_;
    int number_ = 0;
  };

  const ControlPlaneOptions options_;
  const TemporaryFolder folder_{"gangway-e2e"};
  const HeldPort api_port_, second_port_, etcd_port_, etcd_peer_port_;
  const Identity ca_{{.common_name = "gangway-e2e-authority"}, nullptr};
  std::optional<ChildProcess> etcd_, api_server_, second_api_server_, controller_manager_, kwok_;
  LoopThread loop_;
  std::unique_ptr<kube::HttpClient> admin_, second_admin_;
};

}  // namespace gangway::testutil
