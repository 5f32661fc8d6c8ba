// How one run of a container is brought to its end: its preStop hook, SIGTERM, SIGKILL (pkg/kubelet/kuberuntime:
// killContainer). Pure.
#pragma once

#include <optional>

#include "absl/time/time.h"

namespace gangway::sandbox {

struct RunStop {
  enum class Hook { kNone, kUnderWay, kOver };
  absl::Time until;       // the end of its grace
  bool restarts = false;  // whatever its exit code is: a probe wanted it
  bool waits = false;     // others end first: it has no SIGTERM before `until`
  Hook hook = Hook::kNone;
  bool terminated = false, killed = false;       // what was asked for
  absl::Time not_before = absl::InfinitePast();  // of the kill
};

struct StopStep {
  bool terminate = false, kill = false;  // SIGTERM, SIGKILL: now, in this order
  absl::Time look_again = absl::InfiniteFuture();
};

// `stop` has what comes of it.
StopStep NextStopStep(RunStop& stop, absl::Time now);

}  // namespace gangway::sandbox
