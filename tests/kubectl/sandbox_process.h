// The real program and the real kubectl, as a user has them: `gangway sandbox` in a process of its own, kubectl against
// it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/process/process.h"

namespace gangway::testutil {

// Serving when the constructor returns; stopped by SIGINT when destroyed, which must end it with exit code 0.
class SandboxProcess {
 public:
  explicit SandboxProcess(std::vector<std::string> flags = {});
  ~SandboxProcess();
  SandboxProcess(const SandboxProcess&) = delete;
  SandboxProcess& operator=(const SandboxProcess&) = delete;

  Outcome Kubectl(std::vector<std::string> args, const std::string& input = {}) const;
  const std::string& folder() const { return folder_.path(); }
  const std::string& kubeconfig() const { return kubeconfig_; }
  const std::string& welcome() const { return welcome_; }  // what it printed first
  std::string url() const;
  // With --rbac: a kubeconfig with a token of that service account; the path of the file.
  std::string KubeconfigOf(const std::string& ns, const std::string& account) const;

 private:
  const TemporaryFolder folder_{"gangway-kubectl"};
  const std::string kubeconfig_;
  std::optional<ChildProcess> process_;
  std::string welcome_;
  int output_ = -1;
};

// Names, ages, times, UIDs and ports that differ between runs, replaced by words.
std::string Normalize(const std::string& text);

}  // namespace gangway::testutil
