// Gangway installed on a real control plane as deploy/volcano/gangway.yaml says: its namespace, accounts and roles, and
// its programs with the arguments of the Deployments, each with its own account's token.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/e2e/control_plane.h"
#include "tests/e2e/gangway_process.h"

namespace gangway::testutil {

struct InstalledGangwayOptions {
  int nodes = 6;
  bool kwok = true;
  bool audit = true;
  bool node_lifecycle = false;
  bool workloads = false;
  bool webhook = false;                 // the controller's; what it refuses is refused, its defaults are stored
  std::vector<std::string> flags = {};  // added to those of the Deployments, for both programs
  std::vector<std::string> controller_flags = {};  // added to those of the controller
  std::vector<std::string> api_server_flags = {};
  std::string volcano_types = {};  // a manifest in place of deploy/volcano/crds.yaml
  bool start = true;               // the programs; else Start() does
  std::string program = {};        // another gangway than the one that was built with this
};

class InstalledGangway {
 public:
  // Ready, with queue default Open.
  static absl::StatusOr<std::unique_ptr<InstalledGangway>> Start(InstalledGangwayOptions options = {});

  ControlPlane& plane() { return *plane_; }
  GangwayProcess& scheduler() { return *scheduler_; }
  GangwayProcess& controller() { return *controller_; }
  // For messages.
  std::string Logs() const;

  // "scheduler" or "controller", as its Deployment starts it; a second one is a replica.
  std::unique_ptr<GangwayProcess> StartProcess(const std::string& command, const std::vector<std::string>& flags = {});
  // Programs that start from now on find the API server at this address.
  void ReachThrough(const std::string& url);
  void StartBoth();
  void StopBoth();  // in order: they release their leases
  void KillBoth();
  absl::Status WaitReady();

 private:
  InstalledGangway() = default;
  absl::Status Install();

  InstalledGangwayOptions options_;
  std::unique_ptr<ControlPlane> plane_;
  std::map<std::string, std::vector<std::string>> arguments_;  // of the Deployments' containers, by command
  std::map<std::string, std::string> kubeconfigs_;
  std::unique_ptr<GangwayProcess> scheduler_, controller_;
  int started_ = 0;
};

// As docs/job-plugins.md says: the controller may have Secrets in this namespace.
absl::Status GiveSshRights(ControlPlane& plane, const std::string& ns);

// The API server learns of roles in its own time, and refuses until then. Returns when it lets service accounts do what
// a manifest's roles and bindings, which it has, say; what has been given by GiveSshRights.
absl::Status AwaitRights(ControlPlane& plane, const std::string& manifest);
absl::Status AwaitSshRights(ControlPlane& plane, const std::string& ns);

}  // namespace gangway::testutil
