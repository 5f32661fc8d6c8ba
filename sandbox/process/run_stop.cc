#include "sandbox/process/run_stop.h"

#include <algorithm>

namespace gangway::sandbox {
namespace {

// Between SIGTERM and SIGKILL, however much of the grace is left (pkg/kubelet/kuberuntime:
// minimumGracePeriodInSeconds).
constexpr absl::Duration kLeastGrace = absl::Seconds(2);

}  // namespace

StopStep NextStopStep(RunStop& stop, absl::Time now) {
  StopStep step;
  if (stop.hook == RunStop::Hook::kUnderWay) {
    if (now < stop.until) {
      step.look_again = stop.until;
      return step;
    }
    stop.hook = RunStop::Hook::kOver;
  }
  if (!stop.terminated) {
    if (stop.waits && now < stop.until) {
      step.look_again = stop.until;
      return step;
    }
    stop.terminated = step.terminate = true;
    stop.not_before = now + kLeastGrace;
  }
  if (stop.killed) return step;
  const absl::Time kill = std::max(stop.until, stop.not_before);
  if (now >= kill) {
    stop.killed = step.kill = true;
  } else {
    step.look_again = kill;
  }
  return step;
}

}  // namespace gangway::sandbox
