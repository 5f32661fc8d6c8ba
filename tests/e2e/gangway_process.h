// `gangway controller` and `gangway scheduler` as a cluster runs them: processes of their own, each with its service
// account.
#pragma once

#include <string>
#include <vector>

#include "tests/process/process.h"

namespace gangway::testutil {

class GangwayProcess {
 public:
  // `command` is "controller" or "scheduler"; `flags` are added to --kubeconfig and the address of its endpoints. The
  // log is in `folder`/`name`.log. `program`: another gangway than the one that was built with this.
  GangwayProcess(const std::string& folder, const std::string& name, const std::string& command,
                 const std::string& kubeconfig, const std::vector<std::string>& flags = {},
                 const std::string& program = "");

  ChildProcess& process() { return process_; }
  std::string Log() const;
  // Whether /readyz says so within a test's patience.
  bool WaitReady();
  // The whole answer of one of its pages ("health" or "metrics", "/readyz"); "" when there is none.
  std::string Get(const std::string& page, const std::string& path) const;

 private:
  const std::string name_, log_;
  ChildProcess process_;
};

// What a process has used, and holds.
struct ProcessUse {
  double cpu_seconds = 0;
  double resident_mebibytes = 0;
  double anonymous_mebibytes = 0;  // of these its own, not pages of programs and libraries
};
ProcessUse UseOf(pid_t pid);

}  // namespace gangway::testutil
