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
#include "sandbox/process/probe_state.h"
#include "sandbox/process/run_stop.h"

namespace gangway::sandbox {

inline constexpr absl::string_view kProcess = "process";  // what the IDs of such containers begin with

// One run of a container.
struct ProcessRun {
  enum class State { kStarting, kRunning, kEnded };
  int number = 0;  // of runs before it
  int quick = 0;   // of these, since the last one that was long
  State state = State::kStarting;
  absl::Time started, ended;  // when we heard of it
  int exit_code = 0;
  bool out_of_memory = false;
  std::string error;    // why it could not be started
  std::string message;  // what it left in its terminationMessagePath
  std::shared_ptr<WrittenLog> log;
  bool told = false;  // that it started, or why it did not
  enum class PostStart { kNone, kUnderWay, kDone, kFailed };
  PostStart post_start = PostStart::kNone;
  std::string hook_failure;  // why its postStart failed
  std::map<HandlerUse, ProbeState> probes;
  std::vector<HandlerResult> results;  // that have come since the last pass
  std::optional<RunStop> stop;         // it is to end
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
  std::map<std::string, ProcessRuns> containers;  // by name
  bool dropped = false;                           // was asked for
  std::optional<absl::Time> finishing;            // since when only sidecars are to be ended
  PodMemory memory;
};

struct ProcessWant {
  enum class Kind {
    kPrepare,    // the ground
    kStart,      // a run of `container`
    kHandle,     // the handler for `use` in the run of `container`
    kTerminate,  // SIGTERM to that run
    kKill,       // SIGKILL to it
    kDrop,       // all of the pod is needed no more
  };
  Kind kind = Kind::kPrepare;
  std::string container;
  std::optional<HandlerUse> use = {};
  friend bool operator==(const ProcessWant&, const ProcessWant&) = default;
};

struct ProcessPlan {
  kube::Plan plan;
  std::vector<ProcessWant> wants;  // to be done now, in this order; `known` has them already
};

ProcessPlan SyncProcesses(const PodView& view, const KubeletTimes& times, PodProcesses& known, absl::Time now);

}  // namespace gangway::sandbox
