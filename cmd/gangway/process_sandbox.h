// gangway sandbox --run=process: the container host beside this process, and the kubelets' runtime that uses it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/loop.h"
#include "cmd/gangway/sandbox_command.h"
#include "sandbox/process/host_client.h"
#include "sandbox/process/process_runtime.h"

namespace gangway::cmd {

// Where pods with a network of their own find the API server, as in a cluster: the address of the Service `kubernetes`.
inline constexpr char kApiServerIp[] = "10.96.0.1";
inline constexpr int kApiServerPort = 443;

struct ProcessSandbox {
  std::unique_ptr<sandbox::HostClient> host;  // outlives the cluster
  sandbox::ProcessOptions options;
};

// InvalidArgument: the flags are wrong, or say what only simulated containers can heed. Unavailable: what this machine
// does not allow.
absl::StatusOr<ProcessSandbox> StartProcessSandbox(const SandboxFlags& flags, Loop& loop);

// What a user has to know before he runs something in it, a line each.
std::vector<std::string> WarningsOf(const ProcessSandbox& process);

}  // namespace gangway::cmd
