#include "sandbox/process/sync_processes.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sandbox/kubelet/behaviour.h"
#include "sandbox/kubelet/pod_pass.h"

namespace gangway::sandbox {
namespace {

using api::core::ContainerState;
using api::core::ContainerStatus;
using State = ProcessRun::State;
using Want = ProcessWant::Kind;

// After the ground could not be made (kubelet: its work queue's back-off, which begins with half a second).
constexpr absl::Duration kGroundAgain = absl::Seconds(2);

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

class ProcessPass : private PodPass {
 public:
  ProcessPass(const PodView& view, const KubeletTimes& times, PodProcesses& known, absl::Time now)
      : PodPass(view, times, known.memory, now, kProcess), known_(known) {}

  ProcessPlan Run() {
    if (!pod_.bound()) return {};
    if (view_.node == NodeState::kAbsent) return With(RemoveOrphan());
    memory_.orphaned.reset();
    if (view_.node == NodeState::kLost) return {};
    if (pod_.metadata.deleting()) return Stop();
    if (pod_.ended()) return With(Drop());  // not before that is stored: without it containers would begin again
    if (status_.container_statuses.empty()) CreateStatus();
    if (!WaitsForVolumes() && Grounded() && RunInitContainers()) {
      for (std::size_t i = 0; i < std::min(status_.container_statuses.size(), pod_.spec.containers.size()); ++i)
        RunContainer(status_.container_statuses[i], pod_.spec.containers[i]);
      SetPhase();
    }
    return With(Finish());
  }

 private:
  void CreateStatus() {
    Create();
    for (const absl::string_view key : {kFinishAnnotation, kFailAnnotation, kLogAnnotation, kMessageAnnotation}) {
      if (pod_.metadata.annotations.count(std::string(key)) > 0) {
        NoteWarning("", "InvalidAnnotation",
                    absl::StrCat("annotation ", key, " is for simulated containers; it is ignored"));
      }
    }
  }
  ProcessPlan With(kube::Plan plan) { return {std::move(plan), std::move(wants_)}; }
  void Ask(Want kind, std::string container = {}) { wants_.push_back({kind, std::move(container)}); }
  kube::Plan Drop() {
    if (!std::exchange(known_.dropped, true)) Ask(Want::kDrop);  // without ground there are folders at least
    return {};
  }

  ProcessPlan Stop() {
    const bool live = std::any_of(known_.containers.begin(), known_.containers.end(),
                                  [](const auto& each) { return each.second.live(); });
    if (!live || known_.dropped) {
      Drop();
      Remove();
      return With(std::move(plan_));
    }
    if (!memory_.deleting) memory_.deleting = now_;
    if (!std::exchange(known_.terminated, true)) {
      for (const auto& [name, runs] : known_.containers) {
        if (runs.live()) Note(name, "Killing", absl::StrCat("Stopping container ", name));
      }
      Ask(Want::kTerminate);
    }
    const absl::Duration grace = absl::Seconds(pod_.metadata.deletion_grace_period_seconds.value_or(0));
    if (Due(*memory_.deleting + grace) && !std::exchange(known_.killed, true)) Ask(Want::kKill);
    return With(std::move(plan_));
  }

  bool Grounded() {
    if (!known_.ground_error.empty()) NoteOnce("", known_.ground_reason, known_.ground_error);
    if (known_.ground == PodGround::kNone &&
        (known_.ground_error.empty() || Due(known_.ground_failed + kGroundAgain))) {
      known_.ground = PodGround::kAsked;
      Ask(Want::kPrepare);
    }
    if (known_.ground != PodGround::kReady) return false;
    status_.pod_ip = view_.pod_ip;
    return true;
  }

  bool MainBegun() const {
    return std::any_of(pod_.spec.containers.begin(), pod_.spec.containers.end(), [this](const HostedContainer& each) {
      const auto runs = known_.containers.find(each.name);
      return runs != known_.containers.end() && runs->second.now.has_value();
    });
  }

  // True when all have done their part; sidecars only have to run.
  bool RunInitContainers() {
    for (std::size_t i = 0; i < std::min(status_.init_container_statuses.size(), pod_.spec.init_containers.size());
         ++i) {
      const HostedContainer& spec = pod_.spec.init_containers[i];
      ContainerStatus& status = status_.init_container_statuses[i];
      const bool sidecar = IsSidecar(spec);
      ProcessRuns& runs = known_.containers[spec.name];
      Step(status, spec, runs, sidecar || RestartPolicyOf(pod_) != "Never", !sidecar);
      const bool done = runs.now && runs.now->state == State::kEnded && runs.now->exit_code == 0 && !sidecar;
      status.ready = done || (sidecar && status.state.running);
      // A sidecar that begins again holds nobody back (pkg/kubelet/kuberuntime: computeInitContainerActions).
      if (done || status.ready || (sidecar && MainBegun())) continue;
      if (status.state.terminated) status_.phase = "Failed";
      return false;
    }
    return true;
  }

  void RunContainer(ContainerStatus& status, const HostedContainer& spec) {
    ProcessRuns& runs = known_.containers[spec.name];
    const bool success_ends = RestartPolicyOf(pod_) != "Always";
    Step(status, spec, runs, RestartPolicyOf(pod_) != "Never", success_ends);
    status.ready = status.state.running && Due(runs.now->started + ReadyAfter(spec));
  }

  // One container: begins it, tells of it, and begins it again after its end. `again`: also after a failure;
  // `success_ends`: but not after it has succeeded.
  void Step(ContainerStatus& status, const HostedContainer& spec, ProcessRuns& runs, bool again, bool success_ends) {
    if (!runs.now) return Begin(status, spec, runs);
    const ProcessRun& run = *runs.now;
    Tell(spec.name, *runs.now);
    status.restart_count = run.number;
    if (runs.before) status.last_state = EndOf(*runs.before);
    switch (run.state) {
      case State::kStarting:
        if (!status.state.waiting) status.state = WaitingState("ContainerCreating");
        return;
      case State::kRunning:
        status.state = RunningState(run.started);
        return;
      case State::kEnded:
        break;
    }
    status.state = EndOf(run);
    if (!again || (success_ends && run.exit_code == 0)) return;
    const absl::Duration wait = RestartBackoff(run.number, times_);
    if (Due(run.ended + wait)) return Begin(status, spec, runs);
    status.last_state = status.state;
    BackOff(status, wait, run.exit_code);
  }

  void Begin(ContainerStatus& status, const HostedContainer& spec, ProcessRuns& runs) {
    if (const std::string why = WhyNotConfigured(spec.name); !why.empty()) {
      status.state = WaitingState("CreateContainerConfigError", why);
      return;
    }
    if (runs.refused && !Due(runs.refused->until)) {
      NoteOnce(spec.name, "Failed", absl::StrCat("Error: ", runs.refused->message));
      status.state = WaitingState(runs.refused->reason, runs.refused->message);
      return;
    }
    runs.refused.reset();
    ProcessRun run;
    if (runs.now) {
      run.number = runs.now->number + 1;
      runs.before = std::move(runs.now);
      status.last_state = EndOf(*runs.before);
    }
    status.restart_count = run.number;
    status.state = WaitingState("ContainerCreating");
    run.log = std::make_shared<WrittenLog>();
    runs.now = std::move(run);
    Ask(Want::kStart, spec.name);
  }

  void Tell(const std::string& container, ProcessRun& run) {
    if (run.told || run.state == State::kStarting) return;
    run.told = true;
    if (!run.error.empty()) {
      NoteWarning(container, "Failed", absl::StrCat("Error: ", run.error));
      return;
    }
    Note(container, "Started",
         absl::StrCat("Started container ", container,
                      run.number > 0 ? absl::StrCat(" again, restart ", run.number) : std::string()));
  }

  // pkg/kubelet: getPhase, of a pod whose init containers are done.
  void SetPhase() {
    bool waits = false, runs = false, restarts = false, failed = false;
    for (const ContainerStatus& each : status_.container_statuses) {
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
    if (waits && !runs) return;  // Pending, as it is
    status_.phase = waits || runs || restarts ? "Running" : failed ? "Failed" : "Succeeded";
  }

  PodProcesses& known_;
  std::vector<ProcessWant> wants_;
};

}  // namespace

ProcessPlan SyncProcesses(const PodView& view, const KubeletTimes& times, PodProcesses& known, absl::Time now) {
  return ProcessPass(view, times, known, now).Run();
}

}  // namespace gangway::sandbox
