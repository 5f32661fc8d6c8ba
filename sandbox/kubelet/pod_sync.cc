#include "sandbox/kubelet/pod_sync.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sandbox/kubelet/pod_pass.h"

namespace gangway::sandbox {
namespace {

using Container = HostedContainer;
using api::core::ContainerState;
using api::core::ContainerStatus;
using Pod = HostedPod;

// What the container left in the file of its terminationMessagePath (kubelet: at most 4096 bytes).
std::string TerminationMessage(const Pod& pod) {
  const auto it = pod.metadata.annotations.find(std::string(kMessageAnnotation));
  return it == pod.metadata.annotations.end() ? std::string() : it->second.substr(0, 4096);
}

// One pass over one pod: what its status becomes and when to look again.
class Pass : private PodPass {
 public:
  Pass(const PodView& view, const KubeletTimes& times, PodMemory& memory, absl::Time now)
      : PodPass(view, times, memory, now, kSimulated) {
    // One that is played has started when it runs, whatever was stored before that.
    for (auto* const statuses : {&status_.init_container_statuses, &status_.container_statuses})
      for (ContainerStatus& each : *statuses) each.started.reset();
  }

  kube::Plan Run() {
    if (!pod_.bound()) return {};
    if (view_.node == NodeState::kAbsent) return RemoveOrphan();
    memory_.orphaned.reset();
    if (view_.node == NodeState::kLost) return {};
    if (pod_.metadata.deleting()) return Stop();
    if (pod_.ended()) return {};
    if (status_.container_statuses.empty()) Begin();
    if (!WaitsForVolumes() && RunInitContainers()) RunContainers();
    return Finish();
  }

 private:
  kube::Plan Stop() {
    const bool runs = std::any_of(status_.container_statuses.begin(), status_.container_statuses.end(),
                                  [](const ContainerStatus& c) { return c.state.running.has_value(); });
    const bool first = !memory_.deleting.has_value();
    if (first) memory_.deleting = now_;
    if (!runs || pod_.ended()) {
      Remove();
      return std::move(plan_);
    }
    if (first) {
      for (const Container& container : pod_.spec.containers)
        Note(container.name, "Killing", absl::StrCat("Stopping container ", container.name));
    }
    const absl::Duration grace = absl::Seconds(pod_.metadata.deletion_grace_period_seconds.value_or(0));
    if (Due(*memory_.deleting + std::min(times_.stop, grace))) Remove();
    return std::move(plan_);
  }

  void Begin() {
    Create();
    if (const absl::Status annotations = Behaviour::CheckAnnotations(pod_); !annotations.ok()) {
      NoteWarning("", "InvalidAnnotation", absl::StrCat(annotations.message(), "; it is ignored"));
    }
  }

  bool WaitsForConfiguration() {
    bool waits = false;
    for (ContainerStatus& container : status_.container_statuses) {
      if (const std::string why = WhyNotConfigured(container.name); !why.empty()) {
        container.state = WaitingState("CreateContainerConfigError", why);
        waits = true;
      } else if (!container.state.waiting || container.state.waiting->reason == "CreateContainerConfigError") {
        container.state = WaitingState("ContainerCreating");
      }
    }
    return waits;
  }

  // True when all have done their part; sidecars only have to run.
  bool RunInitContainers() {
    for (std::size_t i = 0; i < std::min(status_.init_container_statuses.size(), pod_.spec.init_containers.size());
         ++i) {
      ContainerStatus& init = status_.init_container_statuses[i];
      if (init.state.terminated) continue;
      const bool sidecar = IsSidecar(pod_.spec.init_containers[i]);
      if (!init.state.running) {
        if (const std::string why = WhyNotConfigured(init.name); !why.empty()) {
          init.state = WaitingState("CreateContainerConfigError", why);
          return false;
        }
        init.state = RunningState(now_);
        init.ready = sidecar;
        memory_.created = now_;
        Note(init.name, "Started", absl::StrCat("Started container ", init.name));
      }
      if (sidecar) continue;
      if (!Due(memory_.created.value_or(init.state.running->started_at.at) + times_.init)) return false;
      init.state = TerminatedState(init.state, 0, now_);
      init.ready = true;
      memory_.created = now_;
    }
    return true;
  }

  void RunContainers() {
    const ContainerState& first = status_.container_statuses.front().state;
    if (first.waiting && first.waiting->reason != "CrashLoopBackOff") {
      if (!Due(memory_.created.value_or(CreatedByStatus()) + times_.start)) return;
      Start();
    } else if (first.waiting) {
      const ContainerStatus& status = status_.container_statuses.front();
      if (!Due(EndedAt(status) + RestartBackoff(status.restart_count - memory_.forgiven, times_))) return;
      Start();
    }
    if (!status_.container_statuses.front().state.running) return;
    if (view_.outcome && Due(StartedAt() + view_.outcome->after)) End(view_.outcome->exit_code);
    UpdateReadiness();
  }

  absl::Time CreatedByStatus() const { return status_.start_time.set() ? status_.start_time.at : now_; }
  absl::Time StartedAt() const {
    return memory_.started.value_or(status_.container_statuses.front().state.running->started_at.at);
  }
  absl::Time EndedAt(const ContainerStatus& status) const {
    if (memory_.ended) return *memory_.ended;
    return status.last_state.terminated ? status.last_state.terminated->finished_at.at : now_;
  }

  // For the first time or again.
  void Start() {
    if (WaitsForConfiguration()) return;
    memory_.started = now_;
    status_.phase = "Running";
    status_.pod_ip = view_.pod_ip;
    for (ContainerStatus& container : status_.container_statuses) {
      container.state = RunningState(now_);
      const bool again = container.last_state.terminated.has_value();
      if (again) ++container.restart_count;
      Note(container.name, "Started",
           absl::StrCat("Started container ", container.name,
                        again ? absl::StrCat(" again, restart ", container.restart_count) : ""));
    }
  }

  void End(int exit_code) {
    memory_.ended = now_;
    const bool restarts = Restarts(pod_, exit_code);
    bool at_once = false;
    for (ContainerStatus& container : status_.container_statuses) {
      ContainerState ended = TerminatedState(container.state, exit_code, now_);
      if (exit_code != 0) ended.terminated->message = TerminationMessage(pod_);
      container.ready = false;
      container.state = ended;
      if (!restarts) continue;
      if (now_ - ended.terminated->started_at.at >= 2 * times_.max_restart_backoff)
        memory_.forgiven = container.restart_count;
      const absl::Duration wait = RestartBackoff(container.restart_count - memory_.forgiven, times_);
      container.last_state = ended;
      if (wait == absl::ZeroDuration()) {
        at_once = true;
        continue;
      }
      BackOff(container, wait, exit_code);
      Due(now_ + wait + absl::Nanoseconds(1));
    }
    if (at_once) {
      Start();
      Due(now_ + view_.outcome->after + absl::Nanoseconds(1));
    }
    if (!restarts) status_.phase = exit_code == 0 ? "Succeeded" : "Failed";
  }

  void UpdateReadiness() {
    for (std::size_t i = 0; i < std::min(status_.container_statuses.size(), pod_.spec.containers.size()); ++i) {
      ContainerStatus& container = status_.container_statuses[i];
      if (container.state.running && !container.ready)
        container.ready = Due(StartedAt() + ReadyAfter(pod_.spec.containers[i]));
    }
  }
};

}  // namespace

kube::Plan SyncPod(const PodView& view, const KubeletTimes& times, PodMemory& memory, absl::Time now) {
  return Pass(view, times, memory, now).Run();
}

}  // namespace gangway::sandbox
