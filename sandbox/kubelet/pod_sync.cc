#include "sandbox/kubelet/pod_sync.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/duration.h"
#include "api/resource.h"
#include "sandbox/kubelet/pod_status.h"

namespace gangway::sandbox {
namespace {

using Container = HostedContainer;
using api::core::ContainerState;
using api::core::ContainerStatus;
using Pod = HostedPod;
using api::core::PodStatus;

bool IsSidecar(const Container& container) { return container.restart_policy == "Always"; }

absl::string_view RestartPolicy(const Pod& pod) {
  return pod.spec.restart_policy.empty() ? absl::string_view("Always") : pod.spec.restart_policy;
}

ContainerState Waiting(absl::string_view reason, std::string message = {}) {
  ContainerState state;
  state.waiting.emplace();
  state.waiting->reason = std::string(reason);
  state.waiting->message = std::move(message);
  return state;
}
ContainerState Running(absl::Time now) {
  ContainerState state;
  state.running.emplace();
  state.running->started_at.at = now;
  return state;
}
ContainerState Terminated(const ContainerState& running, int exit_code, absl::Time now) {
  ContainerState state;
  state.terminated.emplace();
  state.terminated->exit_code = exit_code;
  state.terminated->reason = exit_code == 0 ? "Completed" : "Error";
  if (running.running) state.terminated->started_at = running.running->started_at;
  state.terminated->finished_at.at = now;
  return state;
}

// What the container left in the file of its terminationMessagePath (kubelet: at most 4096 bytes).
std::string TerminationMessage(const Pod& pod) {
  const auto it = pod.metadata.annotations.find(std::string(kMessageAnnotation));
  return it == pod.metadata.annotations.end() ? std::string() : it->second.substr(0, 4096);
}

// The first restart is at once, later ones wait (kubelet: MaxContainerBackOff).
absl::Duration RestartBackoff(int restarts, const KubeletTimes& times) {
  if (restarts == 0) return absl::ZeroDuration();
  absl::Duration wait = times.restart_backoff;
  for (int i = 1; i < restarts && wait < times.max_restart_backoff; ++i) wait *= 2;
  return std::min(wait, times.max_restart_backoff);
}

absl::Duration ReadyAfter(const Container& container) {
  return container.readiness_probe ? absl::Seconds(container.readiness_probe->initial_delay_seconds)
                                   : absl::ZeroDuration();
}

// One pass over one pod: what its status becomes and when to look again.
class Pass {
 public:
  Pass(const PodView& view, const KubeletTimes& times, PodMemory& memory, absl::Time now)
      : pod_(view.pod), view_(view), times_(times), memory_(memory), now_(now), status_(view.pod.status) {}

  kube::Plan Run() {
    if (!pod_.bound()) return {};
    if (view_.node == NodeState::kAbsent) return RemoveOrphan();
    memory_.orphaned.reset();
    if (view_.node == NodeState::kLost) return {};
    if (pod_.metadata.deleting()) return Stop();
    if (pod_.ended()) return {};
    if (status_.container_statuses.empty()) Create();
    if (!WaitsForVolumes() && RunInitContainers()) RunContainers();
    return Finish();
  }

 private:
  // At or past `when`; otherwise the pass is repeated then.
  bool Due(absl::Time when) {
    if (now_ >= when) return true;
    plan_.look_again = std::min(plan_.look_again, when);
    return false;
  }

  kube::Plan RemoveOrphan() {
    if (!memory_.orphaned) memory_.orphaned = now_;
    if (Due(*memory_.orphaned + times_.orphan)) Remove();
    return std::move(plan_);
  }

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

  void Remove() {
    kube::Write write;
    write.verb = kube::Verb::kDelete;
    write.resource = &api::kPods;
    write.ns = pod_.metadata.ns;
    write.name = pod_.metadata.name;
    write.uid = pod_.metadata.uid;
    write.grace_period_seconds = 0;
    plan_.stages.push_back({std::move(write)});
  }

  void Create() {
    memory_ = {};
    memory_.created = now_;
    status_.phase = "Pending";
    status_.host_ip = view_.host_ip;
    status_.start_time.at = now_;
    const bool inits = !pod_.spec.init_containers.empty();
    for (const Container& container : pod_.spec.init_containers) {
      status_.init_container_statuses.push_back({container.name, false, 0, Waiting("PodInitializing"), {}});
    }
    for (const Container& container : pod_.spec.containers) {
      status_.container_statuses.push_back(
          {container.name, false, 0, Waiting(inits ? "PodInitializing" : "ContainerCreating"), {}});
    }
    if (const absl::Status annotations = Behaviour::CheckAnnotations(pod_); !annotations.ok()) {
      NoteWarning("", "InvalidAnnotation", absl::StrCat(annotations.message(), "; it is ignored"));
    }
  }

  // Whether a container has ever run.
  bool Begun() const {
    const auto ran = [](const ContainerStatus& c) { return !c.state.waiting || c.last_state.terminated; };
    return std::any_of(status_.container_statuses.begin(), status_.container_statuses.end(), ran) ||
           std::any_of(status_.init_container_statuses.begin(), status_.init_container_statuses.end(), ran);
  }

  // pkg/kubelet: syncPod waits for its volumes and then asks for the secrets of its images.
  bool WaitsForVolumes() {
    if (Begun()) return false;
    for (const std::string& why : view_.missing.mounts) NoteOnce("", "FailedMount", why);
    if (!view_.missing.mounts.empty()) {
      memory_.held = true;
      return true;
    }
    if (!view_.missing.pull_secrets.empty()) {
      NoteOnce(
          "", "FailedToRetrieveImagePullSecret",
          absl::StrCat("Unable to retrieve some image pull secrets (", absl::StrJoin(view_.missing.pull_secrets, ", "),
                       "); attempting to pull the image may not succeed."));
    }
    if (std::exchange(memory_.held, false)) memory_.created = now_;
    return false;
  }

  // pkg/kubelet/kuberuntime: generateContainerConfig. "" when there is all that the container needs.
  std::string WhyNotConfigured(const std::string& container) {
    const auto it = view_.missing.containers.find(container);
    if (it == view_.missing.containers.end()) return "";
    NoteOnce(container, "Failed", absl::StrCat("Error: ", it->second));
    return it->second;
  }
  bool WaitsForConfiguration() {
    bool waits = false;
    for (ContainerStatus& container : status_.container_statuses) {
      if (const std::string why = WhyNotConfigured(container.name); !why.empty()) {
        container.state = Waiting("CreateContainerConfigError", why);
        waits = true;
      } else if (!container.state.waiting || container.state.waiting->reason == "CreateContainerConfigError") {
        container.state = Waiting("ContainerCreating");
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
          init.state = Waiting("CreateContainerConfigError", why);
          return false;
        }
        init.state = Running(now_);
        init.ready = sidecar;
        memory_.created = now_;
        Note(init.name, "Started", absl::StrCat("Started container ", init.name));
      }
      if (sidecar) continue;
      if (!Due(memory_.created.value_or(init.state.running->started_at.at) + times_.init)) return false;
      init.state = Terminated(init.state, 0, now_);
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
      if (!Due(EndedAt(status) + RestartBackoff(status.restart_count, times_))) return;
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
      container.state = Running(now_);
      const bool again = container.last_state.terminated.has_value();
      if (again) ++container.restart_count;
      Note(container.name, "Started",
           absl::StrCat("Started container ", container.name,
                        again ? absl::StrCat(" again, restart ", container.restart_count) : ""));
    }
  }

  void End(int exit_code) {
    memory_.ended = now_;
    const bool restarts = RestartPolicy(pod_) == "Always" || (RestartPolicy(pod_) == "OnFailure" && exit_code != 0);
    bool at_once = false;
    for (ContainerStatus& container : status_.container_statuses) {
      ContainerState ended = Terminated(container.state, exit_code, now_);
      if (exit_code != 0) ended.terminated->message = TerminationMessage(pod_);
      container.ready = false;
      container.state = ended;
      if (!restarts) continue;
      const absl::Duration wait = RestartBackoff(container.restart_count, times_);
      container.last_state = ended;
      if (wait == absl::ZeroDuration()) {
        at_once = true;
        continue;
      }
      container.state =
          Waiting("CrashLoopBackOff", absl::StrCat("back-off ", api::FormatGoDuration(wait), " restarting container ",
                                                   container.name, " after exit code ", exit_code));
      NoteWarning(container.name, "BackOff", container.state.waiting->message);
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

  kube::Plan Finish() {
    SetConditions(status_, pod_, now_);
    const std::string body = PodStatusBody(status_, pod_);
    if (body != PodStatusBody(pod_.status, pod_)) {
      kube::Write write;
      write.verb = kube::Verb::kMergePatch;
      write.resource = &api::kPods;
      write.subresource = "status";
      write.ns = pod_.metadata.ns;
      write.name = pod_.metadata.name;
      write.uid = pod_.metadata.uid;
      write.resource_version = pod_.metadata.resource_version;
      write.body = body;
      plan_.stages.push_back({std::move(write)});
    }
    return std::move(plan_);
  }

  void Note(absl::string_view container, absl::string_view reason, std::string message, bool warning = false) {
    kube::EventNote note;
    note.type = warning ? kube::EventNote::Type::kWarning : kube::EventNote::Type::kNormal;
    note.reason = std::string(reason);
    note.message = std::move(message);
    note.regarding = {"v1",
                      "Pod",
                      pod_.metadata.ns,
                      pod_.metadata.name,
                      pod_.metadata.uid,
                      pod_.metadata.resource_version,
                      container.empty() ? std::string() : absl::StrCat("spec.containers{", container, "}")};
    plan_.events.push_back(std::move(note));
  }
  void NoteWarning(absl::string_view container, absl::string_view reason, std::string message) {
    Note(container, reason, std::move(message), true);
  }

  void NoteOnce(absl::string_view container, absl::string_view reason, const std::string& message) {
    if (memory_.told.insert(absl::StrCat(container, " ", message)).second) NoteWarning(container, reason, message);
  }

  const Pod& pod_;
  const PodView& view_;
  const KubeletTimes& times_;
  PodMemory& memory_;
  const absl::Time now_;
  PodStatus status_;
  kube::Plan plan_;
};

}  // namespace

kube::Plan SyncPod(const PodView& view, const KubeletTimes& times, PodMemory& memory, absl::Time now) {
  return Pass(view, times, memory, now).Run();
}

}  // namespace gangway::sandbox
