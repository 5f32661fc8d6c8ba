// What a kubelet would do about one pod whose containers are processes: the same way as a simulated one goes
// (sandbox/kubelet/pod_sync.h), but each container for itself, by what is known of its processes. Pure.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "kube/plan/plan.h"
#include "sandbox/kubelet/pod_sync.h"
#include "sandbox/kubelet/written_log.h"

namespace gangway::sandbox {

inline constexpr absl::string_view kProcess = "process";  // what the IDs of such containers begin with

// One run of a container.
struct ProcessRun {
  enum class State { kStarting, kRunning, kEnded };
  int number = 0;  // of runs before it
  State state = State::kStarting;
  absl::Time started, ended;  // when we heard of it
  int exit_code = 0;
  bool out_of_memory = false;
  std::string error;    // why it could not be started
  std::string message;  // what it left in its terminationMessagePath
  std::shared_ptr<WrittenLog> log;
  bool told = false;  // that it started, or why it did not
};

// Why a container could not even be ordered, and when that is tried again.
struct ProcessRefusal {
  std::string reason, message;  // CreateContainerConfigError...
  absl::Time until;
};

struct ProcessRuns {
  std::optional<ProcessRun> now, before;
  std::optional<ProcessRefusal> refused;
  bool live() const { return now.has_value() && now->state != ProcessRun::State::kEnded; }
};

// What containers of the pod share: network, host name, volumes.
enum class PodGround { kNone, kAsked, kReady };

struct PodProcesses {
  PodGround ground = PodGround::kNone;
  std::string ground_reason, ground_error;  // of the last try: FailedMount...; "": none failed
  absl::Time ground_failed;
  std::map<std::string, ProcessRuns> containers;             // by name
  bool terminated = false, killed = false, dropped = false;  // what was asked for
  PodMemory memory;
};

struct ProcessWant {
  enum class Kind {
    kPrepare,    // the ground
    kStart,      // a run of `container`
    kTerminate,  // SIGTERM to every run
    kKill,       // SIGKILL to every run
    kDrop,       // all of it is needed no more
  };
  Kind kind = Kind::kPrepare;
  std::string container;
  friend bool operator==(const ProcessWant&, const ProcessWant&) = default;
};

struct ProcessPlan {
  kube::Plan plan;
  std::vector<ProcessWant> wants;  // to be done now, in this order; `known` has them already
};

ProcessPlan SyncProcesses(const PodView& view, const KubeletTimes& times, PodProcesses& known, absl::Time now);

}  // namespace gangway::sandbox
