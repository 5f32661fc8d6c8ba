// The real program and the real kubectl, as a user has them: `gangway sandbox` in a process of its own, kubectl against it.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

namespace gangway::testutil {

struct Outcome {
  int exit_code = -1;
  std::string out, err;
};

// Runs a program to its end (`input` on its standard input). Exit code 127: it cannot be started.
Outcome RunProgram(const std::vector<std::string>& argv, const std::vector<std::string>& environment = {}, const std::string& input = {});

bool HasKubectl();

// Serving when the constructor returns; stopped by SIGINT when destroyed, which must end it with exit code 0.
class SandboxProcess {
 public:
  explicit SandboxProcess(std::vector<std::string> flags = {});
  ~SandboxProcess();
  SandboxProcess(const SandboxProcess&) = delete;
  SandboxProcess& operator=(const SandboxProcess&) = delete;

  Outcome Kubectl(std::vector<std::string> args, const std::string& input = {}) const;
  const std::string& folder() const { return folder_; }  // temporary; removed at the end
  const std::string& kubeconfig() const { return kubeconfig_; }
  std::string url() const;

 private:
  std::string folder_, kubeconfig_;
  pid_t pid_ = -1;
  int output_ = -1;
};

// Names, ages, times, UIDs and ports that differ between runs, replaced by words.
std::string Normalize(const std::string& text);

}  // namespace gangway::testutil
