#include "sandbox/process/run_states.h"

#include "sandbox/kubelet/pod_pass.h"

namespace gangway::sandbox {

using api::core::ContainerState;
using api::core::ContainerStatus;

ContainerState EndOf(const ProcessRun& run) {
  ContainerState state = TerminatedState(RunningState(run.started), run.exit_code, run.ended);
  if (!run.error.empty()) {
    state.terminated->reason = "StartError";
    state.terminated->message = run.error;
    state.terminated->started_at.at = absl::UnixEpoch();  // as containerd's
  } else {
    if (run.out_of_memory) state.terminated->reason = "OOMKilled";
    state.terminated->message = run.message;
  }
  return state;
}

ContainerState StartingState(const ProcessRuns& runs) {
  const bool failed = runs.before && runs.before->post_start == ProcessRun::PostStart::kFailed;
  return failed ? WaitingState("PostStartHookError", runs.before->hook_failure) : WaitingState("ContainerCreating");
}

std::string PhaseOf(const std::vector<ContainerStatus>& statuses) {
  bool waits = false, runs = false, restarts = false, failed = false;
  for (const ContainerStatus& each : statuses) {
    if (each.state.running) {
      runs = true;
    } else if (each.state.terminated) {
      failed |= each.state.terminated->exit_code != 0;
    } else if (each.last_state.terminated) {
      restarts = true;
    } else {
      waits = true;
    }
  }
  return waits ? "Pending" : runs || restarts ? "Running" : failed ? "Failed" : "Succeeded";
}

}  // namespace gangway::sandbox
