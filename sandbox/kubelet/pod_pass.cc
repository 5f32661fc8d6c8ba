#include "sandbox/kubelet/pod_pass.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/duration.h"
#include "api/resource.h"
#include "sandbox/kubelet/pod_status.h"

namespace gangway::sandbox {

using api::core::ContainerState;
using api::core::ContainerStatus;

bool IsSidecar(const HostedContainer& container) { return container.restart_policy == "Always"; }

absl::string_view RestartPolicyOf(const HostedPod& pod) {
  return pod.spec.restart_policy.empty() ? absl::string_view("Always") : pod.spec.restart_policy;
}

bool Restarts(const HostedPod& pod, int exit_code) {
  return RestartPolicyOf(pod) == "Always" || (RestartPolicyOf(pod) == "OnFailure" && exit_code != 0);
}

ContainerState WaitingState(absl::string_view reason, std::string message) {
  ContainerState state;
  state.waiting.emplace();
  state.waiting->reason = std::string(reason);
  state.waiting->message = std::move(message);
  return state;
}
ContainerState RunningState(absl::Time since) {
  ContainerState state;
  state.running.emplace();
  state.running->started_at.at = since;
  return state;
}
ContainerState TerminatedState(const ContainerState& running, int exit_code, absl::Time now) {
  ContainerState state;
  state.terminated.emplace();
  state.terminated->exit_code = exit_code;
  state.terminated->reason = exit_code == 0 ? "Completed" : "Error";
  if (running.running) state.terminated->started_at = running.running->started_at;
  state.terminated->finished_at.at = now;
  return state;
}

absl::Duration RestartBackoff(int restarts, const KubeletTimes& times) {
  if (restarts == 0) return absl::ZeroDuration();
  absl::Duration wait = times.restart_backoff;
  for (int i = 1; i < restarts && wait < times.max_restart_backoff; ++i) wait *= 2;
  return std::min(wait, times.max_restart_backoff);
}

absl::Duration ReadyAfter(const HostedContainer& container) {
  return container.readiness_probe ? absl::Seconds(container.readiness_probe->initial_delay_seconds)
                                   : absl::ZeroDuration();
}

bool PodPass::Due(absl::Time when) {
  if (now_ >= when) return true;
  plan_.look_again = std::min(plan_.look_again, when);
  return false;
}

kube::Plan PodPass::RemoveOrphan() {
  if (!memory_.orphaned) memory_.orphaned = now_;
  if (Due(*memory_.orphaned + times_.orphan)) Remove();
  return std::move(plan_);
}

void PodPass::Remove() {
  kube::Write write;
  write.verb = kube::Verb::kDelete;
  write.resource = &api::kPods;
  write.ns = pod_.metadata.ns;
  write.name = pod_.metadata.name;
  write.uid = pod_.metadata.uid;
  write.grace_period_seconds = 0;
  plan_.stages.push_back({std::move(write)});
}

void PodPass::Create() {
  memory_ = {};
  memory_.created = now_;
  status_.phase = "Pending";
  status_.host_ip = view_.host_ip;
  status_.start_time.at = now_;
  const bool inits = !pod_.spec.init_containers.empty();
  for (const HostedContainer& container : pod_.spec.init_containers) {
    status_.init_container_statuses.push_back({container.name, false, 0, WaitingState("PodInitializing"), {}});
  }
  for (const HostedContainer& container : pod_.spec.containers) {
    status_.container_statuses.push_back(
        {container.name, false, 0, WaitingState(inits ? "PodInitializing" : "ContainerCreating"), {}});
  }
}

bool PodPass::Begun() const {
  const auto ran = [](const ContainerStatus& c) { return !c.state.waiting || c.last_state.terminated; };
  return std::any_of(status_.container_statuses.begin(), status_.container_statuses.end(), ran) ||
         std::any_of(status_.init_container_statuses.begin(), status_.init_container_statuses.end(), ran);
}

bool PodPass::WaitsForVolumes() {
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

std::string PodPass::WhyNotConfigured(const std::string& container) {
  const auto it = view_.missing.containers.find(container);
  if (it == view_.missing.containers.end()) return "";
  NoteOnce(container, "Failed", absl::StrCat("Error: ", it->second));
  return it->second;
}

kube::Plan PodPass::Finish() {
  SetConditions(status_, pod_, now_);
  const std::string body = PodStatusBody(status_, pod_, runtime_), before = PodStatusBody(pod_.status, pod_, runtime_);
  if (before != memory_.written) TellAgain(std::move(memory_.unconfirmed));
  memory_.unconfirmed.clear();
  if (body != before) {
    memory_.unconfirmed = plan_.events;
    memory_.written = body;
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

// Those that this pass tells anyway are not told twice.
void PodPass::TellAgain(std::vector<kube::EventNote> notes) {
  const auto told = [this](const kube::EventNote& note) {
    return std::any_of(plan_.events.begin(), plan_.events.end(), [&](const kube::EventNote& each) {
      return each.reason == note.reason && each.message == note.message;
    });
  };
  notes.erase(std::remove_if(notes.begin(), notes.end(), told), notes.end());
  plan_.events.insert(plan_.events.begin(), notes.begin(), notes.end());
}

void PodPass::BackOff(ContainerStatus& container, absl::Duration wait, int exit_code) {
  container.state =
      WaitingState("CrashLoopBackOff", absl::StrCat("back-off ", api::FormatGoDuration(wait), " restarting container ",
                                                    container.name, " after exit code ", exit_code));
  const std::string& message = container.state.waiting->message;
  for (const auto* const statuses : {&pod_.status.container_statuses, &pod_.status.init_container_statuses}) {
    for (const ContainerStatus& each : *statuses)
      if (each.name == container.name && each.state.waiting && each.state.waiting->message == message) return;
  }
  NoteWarning(container.name, "BackOff", message);
}

void PodPass::Note(absl::string_view container, absl::string_view reason, std::string message, bool warning) {
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

void PodPass::NoteOnce(absl::string_view container, absl::string_view reason, const std::string& message) {
  if (memory_.told.insert(absl::StrCat(container, " ", message)).second) NoteWarning(container, reason, message);
}

}  // namespace gangway::sandbox
