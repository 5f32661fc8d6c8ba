#include "sandbox/process/sync_processes.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sandbox/kubelet/behaviour.h"
#include "sandbox/kubelet/pod_pass.h"
#include "sandbox/process/environment.h"
#include "sandbox/process/hook_failure.h"
#include "sandbox/process/run_states.h"
#include "sandbox/process/security.h"

namespace gangway::sandbox {
namespace {

using api::core::ContainerState;
using api::core::ContainerStatus;
using State = ProcessRun::State;
using Want = ProcessWant::Kind;

// After the ground could not be made (kubelet: its work queue's back-off, which begins with half a second).
constexpr absl::Duration kGroundAgain = absl::Seconds(2);

// It holds back those that come after it (pkg/kubelet/kuberuntime: startContainer).
bool PostStartPending(const HostedContainer& container, const ProcessRuns& runs) {
  return container.lifecycle && container.lifecycle->post_start && runs.live() &&
         runs.now->post_start != ProcessRun::PostStart::kDone;
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
      bool held = false;
      for (std::size_t i = 0; i < std::min(status_.container_statuses.size(), pod_.spec.containers.size()); ++i) {
        ProcessRuns& runs = known_.containers[pod_.spec.containers[i].name];
        if (held && !runs.now) continue;
        RunContainer(status_.container_statuses[i], pod_.spec.containers[i], runs);
        held |= PostStartPending(pod_.spec.containers[i], runs);
      }
      status_.phase = PhaseOf(status_.container_statuses);
    }
    // pkg/kubelet/status: a pod has not ended before all of its containers have.
    if ((status_.phase == "Succeeded" || status_.phase == "Failed") && EndSidecars())
      status_.phase = MainBegun() ? "Running" : pod_.status.phase;
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
    for (const std::string& field : IgnoredFields(pod_)) NoteWarning("", "FieldIgnored", field);
  }
  ProcessPlan With(kube::Plan plan) { return {std::move(plan), std::move(wants_)}; }
  void Ask(Want kind, std::string container = {}, std::optional<HandlerUse> use = {}) {
    wants_.push_back({kind, std::move(container), use});
  }
  kube::Plan Drop() {
    if (!std::exchange(known_.dropped, true)) Ask(Want::kDrop);  // without ground there are folders at least
    return {};
  }

  ProcessPlan Stop() {
    const bool live = std::any_of(known_.containers.begin(), known_.containers.end(),
                                  [](const auto& each) { return each.second.live(); });
    if (!live || known_.dropped) {
      Drop();
      if (Begun() && !pod_.ended()) {
        TellEnds();
        plan_ = Finish();
      }
      Remove();
      return With(std::move(plan_));
    }
    if (!memory_.deleting) memory_.deleting = now_;
    const absl::Time until = *memory_.deleting + absl::Seconds(pod_.metadata.deletion_grace_period_seconds.value_or(0));
    bool others = false;
    for (const HostedContainer& each : pod_.spec.containers) others |= StopOne(each, until, false);
    StopInitContainers(until, others);
    GoOnAskingReadiness();
    TellEnds();
    return With(Finish());
  }

  // pkg/kubelet/prober: StopLivenessAndStartup, which leaves this one.
  void GoOnAskingReadiness() {
    for (auto* const statuses : {&status_.init_container_statuses, &status_.container_statuses}) {
      for (ContainerStatus& status : *statuses) {
        const HostedContainer* const spec = FindContainer(pod_, status.name);
        const auto runs = known_.containers.find(status.name);
        if (spec == nullptr || !spec->readiness_probe || !status.started.value_or(false)) continue;
        if (runs == known_.containers.end() || !runs->second.live()) continue;
        ProcessRun& run = *runs->second.now;
        status.ready = run.probes[HandlerUse::kReadiness].verdict.value_or(false);
        AskWhenDue(spec->name, *spec->readiness_probe, HandlerUse::kReadiness, run);
      }
    }
  }

  // Exit codes of a pod that is being deleted; its phase stays, so that nobody takes a deletion for a failure.
  void TellEnds() {
    for (auto* const statuses : {&status_.init_container_statuses, &status_.container_statuses}) {
      for (ContainerStatus& status : *statuses) {
        const auto runs = known_.containers.find(status.name);
        if (runs == known_.containers.end() || !runs->second.now || runs->second.live()) continue;
        status.state = EndOf(*runs->second.now);
        status.restart_count = runs->second.now->number;
        status.ready = false;
        status.started = false;
      }
    }
  }

  // pkg/kubelet/kuberuntime, killContainer: a sidecar has SIGTERM after all that came after it has ended; its preStop
  // hook does not wait. Whether one runs still.
  bool StopInitContainers(absl::Time until, bool others) {
    for (auto each = pod_.spec.init_containers.rbegin(); each != pod_.spec.init_containers.rend(); ++each)
      others |= StopOne(*each, until, others && IsSidecar(*each));
    return others;
  }

  // Once what decides about the pod has ended. Whether one runs still.
  bool EndSidecars() {
    if (!known_.finishing) known_.finishing = now_;
    return StopInitContainers(*known_.finishing + Grace(), false);
  }

  // Whether it runs still. `waits`: for the end of others, as long as there is time.
  bool StopOne(const HostedContainer& spec, absl::Time until, bool waits) {
    const auto runs = known_.containers.find(spec.name);
    if (runs == known_.containers.end() || !runs->second.live()) return false;
    ProcessRun& run = *runs->second.now;
    TakeResults(spec, run);
    if (!run.stop) BeginStop(spec, run, absl::StrCat("Stopping container ", spec.name), until);
    run.stop->until = std::min(run.stop->until, until);
    run.stop->waits = waits;
    GoOnStopping(spec.name, *run.stop);
    return true;
  }

  void BeginStop(const HostedContainer& spec, ProcessRun& run, std::string message, absl::Time until) {
    Note(spec.name, "Killing", std::move(message));
    run.stop.emplace().until = until;
    if (!spec.lifecycle || !spec.lifecycle->pre_stop || run.state != State::kRunning || until <= now_) return;
    run.stop->hook = RunStop::Hook::kUnderWay;
    Ask(Want::kHandle, spec.name, HandlerUse::kPreStop);
  }

  void GoOnStopping(const std::string& container, RunStop& stop) {
    const StopStep step = NextStopStep(stop, now_);
    if (step.terminate) Ask(Want::kTerminate, container);
    if (step.kill) Ask(Want::kKill, container);
    Due(step.look_again);
  }

  // Takes in what handlers have answered, and tells of what is not well.
  void TakeResults(const HostedContainer& spec, ProcessRun& run) {
    for (const HandlerResult& result : std::exchange(run.results, {})) {
      const bool success = result.answer == HandlerResult::Answer::kSuccess;
      if (result.use == HandlerUse::kPostStart) {
        run.post_start = success ? ProcessRun::PostStart::kDone : ProcessRun::PostStart::kFailed;
        NoteHook(spec.name, result);
        if (!success) run.hook_failure = HookFailure(pod_, spec, result);
      } else if (result.use == HandlerUse::kPreStop) {
        if (run.stop) run.stop->hook = RunStop::Hook::kOver;
        NoteHook(spec.name, result);
      } else if (const HostedProbe* const probe = ProbeFor(spec, result.use);
                 probe != nullptr && (result.use == HandlerUse::kReadiness || !pod_.metadata.deleting())) {
        NoteProbe(spec.name, result);
        TakeAnswer(*probe, result, run.probes[result.use]);
      }
    }
  }

  // In an event, what the hook itself said could be a secret (pkg/kubelet/kuberuntime: startContainer); why it could
  // not be asked is none.
  void NoteHook(const std::string& container, const HandlerResult& result) {
    if (result.answer == HandlerResult::Answer::kSuccess) {
      if (!result.message.empty()) NoteWarning("", "LifecycleHTTPFallback", result.message);
      return;
    }
    const absl::string_view name = NameOf(result.use);
    const bool unknown = result.answer == HandlerResult::Answer::kUnknown;
    NoteWarning(container, absl::StrCat("Failed", name, "Hook"),
                absl::StrCat(name, "Hook failed", unknown ? absl::StrCat(": ", result.message) : std::string()));
  }

  // pkg/kubelet/prober: probe
  void NoteProbe(const std::string& container, const HandlerResult& result) {
    const absl::string_view name = NameOf(result.use);
    switch (result.answer) {
      case HandlerResult::Answer::kSuccess:
        if (!result.message.empty())
          NoteWarning(container, "ProbeWarning", absl::StrCat(name, " probe warning: ", result.message));
        return;
      case HandlerResult::Answer::kFailure:
        return NoteWarning(container, "Unhealthy", absl::StrCat(name, " probe failed: ", result.message));
      case HandlerResult::Answer::kUnknown:
        return NoteWarning(container, "Unhealthy",
                           absl::StrCat(name, " probe errored and resulted in unknown state: ", result.message));
    }
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
      Step(status, spec, runs, sidecar ? !known_.finishing : RestartPolicyOf(pod_) != "Never", !sidecar);
      const bool done = runs.now && runs.now->state == State::kEnded && runs.now->exit_code == 0 && !sidecar;
      if (!sidecar) status.ready = done;
      // A sidecar that begins again holds nobody back (pkg/kubelet/kuberuntime: computeInitContainerActions).
      if (done || (sidecar && (*status.started || MainBegun()))) continue;
      if (status.state.terminated) status_.phase = "Failed";
      return false;
    }
    return true;
  }

  void RunContainer(ContainerStatus& status, const HostedContainer& spec, ProcessRuns& runs) {
    const bool success_ends = RestartPolicyOf(pod_) != "Always";
    Step(status, spec, runs, RestartPolicyOf(pod_) != "Never", success_ends);
  }

  // One container: begins it, tells of it, and begins it again after its end. `again`: also after a failure;
  // `success_ends`: but not after it has succeeded.
  void Step(ContainerStatus& status, const HostedContainer& spec, ProcessRuns& runs, bool again, bool success_ends) {
    status.ready = false;
    status.started = false;
    if (!runs.now) return Begin(status, spec, runs);
    ProcessRun& run = *runs.now;
    Tell(spec.name, run);
    TakeResults(spec, run);
    if (runs.before) status.last_state = EndOf(*runs.before);
    if (run.state != State::kStarting)
      status.restart_count = run.number;  // until then its log is that of the run before
    switch (run.state) {
      case State::kStarting:
        if (!status.state.waiting) status.state = StartingState(runs);
        return;
      case State::kRunning:
        if (PostStartPending(spec, runs)) {
          AfterStart(spec, run);
        } else {
          status.state = RunningState(run.started);
          Probe(status, spec, run);
        }
        if (run.stop) GoOnStopping(spec.name, *run.stop);
        return;
      case State::kEnded:
        break;
    }
    status.state = EndOf(run);
    const bool forced = run.stop && run.stop->restarts;
    if (!again || (success_ends && run.exit_code == 0 && !forced)) return;
    const absl::Duration wait = RestartBackoff(WasLong(run) ? 0 : run.quick, times_);
    if (Due(run.ended + wait)) return Begin(status, spec, runs);
    status.last_state = status.state;
    BackOff(status, wait, run.exit_code);
  }

  // It has its back-off behind it (client-go: flowcontrol.Backoff, which forgets after twice the longest wait).
  bool WasLong(const ProcessRun& run) const { return run.ended - run.started >= 2 * times_.max_restart_backoff; }

  // Until that hook is over nothing of the container is seen.
  void AfterStart(const HostedContainer& spec, ProcessRun& run) {
    if (run.post_start == ProcessRun::PostStart::kNone) {
      run.post_start = ProcessRun::PostStart::kUnderWay;
      Ask(Want::kHandle, spec.name, HandlerUse::kPostStart);
    } else if (run.post_start == ProcessRun::PostStart::kFailed && !run.stop) {
      BeginStop(spec, run, "FailedPostStartHook", now_ + Grace());
    }
  }

  absl::Duration Grace() const {
    constexpr std::int64_t kDefault = 30;
    return absl::Seconds(pod_.spec.termination_grace_period_seconds.value_or(kDefault));
  }

  // pkg/kubelet/prober: UpdatePodStatus; pkg/kubelet/kuberuntime: computePodActions
  void Probe(ContainerStatus& status, const HostedContainer& spec, ProcessRun& run) {
    status.started = !spec.startup_probe || run.probes[HandlerUse::kStartup].verdict.value_or(false);
    status.ready =
        *status.started && (!spec.readiness_probe || run.probes[HandlerUse::kReadiness].verdict.value_or(false));
    if (run.stop) return;
    for (const HandlerUse use : {HandlerUse::kStartup, HandlerUse::kLiveness, HandlerUse::kReadiness}) {
      const HostedProbe* const probe = ProbeFor(spec, use);
      if (probe == nullptr || (use != HandlerUse::kStartup && !*status.started)) continue;
      ProbeState& state = run.probes[use];
      if (use != HandlerUse::kReadiness && state.verdict == false) {
        const bool restarts = RestartPolicyOf(pod_) != "Never" || IsSidecar(spec);
        const absl::Duration grace =
            probe->termination_grace_period_seconds ? absl::Seconds(*probe->termination_grace_period_seconds) : Grace();
        BeginStop(
            spec, run,
            absl::StrCat("Container ", spec.name, " failed ", use == HandlerUse::kStartup ? "startup" : "liveness",
                         " probe", restarts ? ", will be restarted" : ""),
            now_ + grace);
        run.stop->restarts = restarts;
        return;
      }
      AskWhenDue(spec.name, *probe, use, run);
    }
  }

  void AskWhenDue(const std::string& container, const HostedProbe& probe, HandlerUse use, ProcessRun& run) {
    ProbeState& state = run.probes[use];
    if (!Due(NextProbe(probe, state, run.started))) return;
    state.under_way = true;
    state.asked = now_;
    Ask(Want::kHandle, container, use);
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
      run.quick = WasLong(*runs.now) ? 1 : runs.now->quick + 1;
      runs.before = std::move(runs.now);
      status.last_state = EndOf(*runs.before);
    }
    status.state = StartingState(runs);
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

  PodProcesses& known_;
  std::vector<ProcessWant> wants_;
};

}  // namespace

ProcessPlan SyncProcesses(const PodView& view, const KubeletTimes& times, PodProcesses& known, absl::Time now) {
  return ProcessPass(view, times, known, now).Run();
}

}  // namespace gangway::sandbox
