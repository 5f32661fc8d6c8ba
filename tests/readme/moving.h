// The way from paddle-operator and back, in a cluster: by the README's commands, with what the operator has running.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/process/process.h"

namespace gangway::testutil {

class GangwayProcess;

// The job of the operator's guide.
inline constexpr char kGuidesJob[] = "wide-ande-deep-volcano";

// A cluster that one moves in: gangway sandbox, or a real API server. Nodes node-000 to node-005 at least, whose
// kubelets end a pod by the annotation sandbox.gangway.io/finish or test.kwok/finish.
class MovingCluster {
 public:
  virtual ~MovingCluster() = default;
  virtual Outcome Kubectl(std::vector<std::string> args, const std::string& input) const = 0;
  virtual std::string folder() const = 0;
  virtual std::string kubeconfig() const = 0;  // an administrator's
  virtual std::string KubeconfigOf(const std::string& ns, const std::string& account) const = 0;
};

class Moving {
 public:
  explicit Moving(const MovingCluster& cluster);

  // Expects success.
  std::string Kubectl(std::vector<std::string> args, const std::string& input = {}) const;
  std::vector<std::string> Lines(std::vector<std::string> args) const;
  // A shell's, which stops at the first command that fails.
  std::string Run(const std::string& commands) const;

  // What paddle-operator has made of its guide's example.
  void LetTheOperatorWork() const;
  // Jobs of the operator's, with their pods.
  void MakeJobs(const std::vector<std::string>& jobs) const;

  // The whole way where nobody may do more than their roles say: the overlay of the README is applied as it stands
  // there, and scheduler and controller run as their Deployments start them, with their accounts' tokens. Volcano's
  // part is played by our own Job controller. New jobs come all the while; both programs are replaced by the next
  // version and that by the one before; no pod is lost and no job restarted.
  void ThereUpgradedAndBack(int jobs) const;

 private:
  std::unique_ptr<GangwayProcess> Start(const std::string& name, std::vector<std::string> arguments) const;
  // As its Deployment starts it, but for addresses.
  std::unique_ptr<GangwayProcess> StartInstalled(const std::string& component, const std::string& version) const;
  std::string PodsOf(const std::vector<std::string>& jobs) const;
  void WaitFor(const std::vector<std::string>& jobs, const std::string& phase) const;
  std::string OperatorsPods() const;

  const MovingCluster& cluster_;
};

}  // namespace gangway::testutil
