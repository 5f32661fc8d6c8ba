// gangway sandbox: an embedded cluster in this process, for kubectl and for one job's run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gangway::cmd {

struct SandboxFlags {
  int nodes = 6;
  std::vector<std::string> node_shapes;
  std::vector<std::string> apply;  // files; "-" is standard input
  std::string until;               // a Goal; empty: run until a signal
  std::string timeout;             // a Go duration; empty: none
  std::vector<std::string> finish, fail, log;
  std::string run = "simulated";    // or "process"
  std::string network = "own";      // of pods whose containers are processes; or "shared"
  std::vector<std::string> images;  // NAME=FOLDER
  std::string volumes;              // the folder of claims; empty: they go with the sandbox
  std::vector<std::string> show;    // whose output is printed
  std::string start_delay = "100ms", stop_delay = "100ms";
  std::vector<std::string> runtime_config;  // alpha versions to serve: "scheduling.k8s.io/v1alpha2=true"
  bool rbac = false;                        // roles and bindings are in force, and there are identities
  std::vector<std::string> users;           // NAME or NAME=GROUP,... with certificates, beside the administrator
  int port = 0;
  std::string dashboard;   // HOST:PORT; empty: any port of 127.0.0.1, and none where there is a goal
  std::string kubeconfig;  // empty: a temporary file
  std::string components = "kubelets,controllers,scheduler";
  std::string scheduler_conf, controller_conf;  // files; empty: none
  bool quiet = false;
  std::string log_level = "warning", log_format = "text";
  std::uint64_t seed = 0;  // 0: by the clock
};

// Exit codes: 0 the goal was reached (or a signal ended a run without one), 1 an object was refused, 2 the flags or
// files are wrong, 3 the goal was not reached.
int RunSandbox(const SandboxFlags& flags);

}  // namespace gangway::cmd
