#include "sandbox/kubelet/pod_status.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/json.h"

namespace gangway::sandbox {
namespace {

using api::JsonWriter;
using Container = HostedContainer;
using api::core::ContainerState;
using api::core::ContainerStatus;
using Pod = HostedPod;
using api::core::PodCondition;
using api::core::PodStatus;

void SetCondition(PodStatus& status, absl::string_view type, bool holds, absl::string_view reason, std::string message,
                  absl::Time now) {
  auto it = std::find_if(status.conditions.begin(), status.conditions.end(),
                         [&](const PodCondition& c) { return c.type == type; });
  if (it == status.conditions.end())
    it = status.conditions.insert(status.conditions.end(), PodCondition{std::string(type), "", "", "", {}});
  const char* value = holds ? "True" : "False";
  if (it->status != value) it->last_transition_time.at = now;
  it->status = value;
  it->reason = holds ? std::string() : std::string(reason);
  it->message = holds ? std::string() : std::move(message);
}

void Field(JsonWriter& w, absl::string_view key, const api::Time& time) {
  if (time.set()) w.Field(key, api::FormatTime(time.at));
}
void Text(JsonWriter& w, absl::string_view key, const std::string& value) {
  if (!value.empty()) w.Field(key, value);
}

void WriteState(JsonWriter& w, absl::string_view key, const ContainerState& state, absl::string_view container_id) {
  w.Key(key).BeginObject();
  if (state.waiting) {
    w.Key("waiting").BeginObject();
    Text(w, "message", state.waiting->message);
    Text(w, "reason", state.waiting->reason);
    w.EndObject();
  }
  if (state.running) {
    w.Key("running").BeginObject();
    Field(w, "startedAt", state.running->started_at);
    w.EndObject();
  }
  if (state.terminated) {
    w.Key("terminated").BeginObject().Field("exitCode", static_cast<std::int64_t>(state.terminated->exit_code));
    w.Field("containerID", std::string(container_id));
    Text(w, "reason", state.terminated->reason);
    Text(w, "message", state.terminated->message);
    Field(w, "startedAt", state.terminated->started_at);
    Field(w, "finishedAt", state.terminated->finished_at);
    w.EndObject();
  }
  w.EndObject();
}

void WriteContainers(JsonWriter& w, absl::string_view key, const std::vector<ContainerStatus>& statuses,
                     const std::vector<Container>& containers, const Pod& pod, absl::string_view runtime) {
  if (statuses.empty()) return;
  w.Key(key).BeginArray();
  for (const ContainerStatus& status : statuses) {
    const auto spec =
        std::find_if(containers.begin(), containers.end(), [&](const Container& c) { return c.name == status.name; });
    const std::string image = spec == containers.end() ? std::string() : spec->image;
    const std::string id = absl::StrCat(runtime, "://", pod.metadata.uid, "/", status.name, "/", status.restart_count);
    w.BeginObject()
        .Field("name", status.name)
        .Field("image", image)
        .Field("imageID", absl::StrCat(runtime, "://", image));
    if (!status.state.waiting || status.last_state.terminated) w.Field("containerID", id);
    w.Field("ready", status.ready).Field("started", status.started.value_or(status.state.running.has_value()));
    w.Field("restartCount", static_cast<std::int64_t>(status.restart_count));
    WriteState(w, "state", status.state, id);
    // While it waits to be run again that is the run that ended last.
    const int last = status.restart_count - (status.state.waiting ? 0 : 1);
    WriteState(w, "lastState", status.last_state,
               absl::StrCat(runtime, "://", pod.metadata.uid, "/", status.name, "/", last));
    w.EndObject();
  }
  w.EndArray();
}

void WriteConditions(JsonWriter& w, const std::vector<PodCondition>& conditions) {
  w.Key("conditions").BeginArray();
  for (const PodCondition& condition : conditions) {
    w.BeginObject().Field("type", condition.type).Field("status", condition.status);
    Text(w, "reason", condition.reason);
    Text(w, "message", condition.message);
    Field(w, "lastTransitionTime", condition.last_transition_time);
    w.EndObject();
  }
  w.EndArray();
}

// pkg/kubelet/status: GeneratePodReadyCondition
std::string ClosedGates(const PodStatus& status, const Pod& pod) {
  std::vector<std::string> out;
  for (const ReadinessGate& gate : pod.spec.readiness_gates) {
    const auto it = std::find_if(status.conditions.begin(), status.conditions.end(),
                                 [&](const PodCondition& c) { return c.type == gate.condition_type; });
    if (it == status.conditions.end()) {
      out.push_back(
          absl::StrCat("corresponding condition of pod readiness gate \"", gate.condition_type, "\" does not exist."));
    } else if (it->status != "True") {
      out.push_back(absl::StrCat("the status of pod readiness gate \"", gate.condition_type, "\" is not \"True\", but ",
                                 it->status));
    }
  }
  return absl::StrJoin(out, ", ");
}

}  // namespace

void SetConditions(PodStatus& status, const Pod& pod, absl::Time now) {
  std::vector<std::string> unready;
  for (const ContainerStatus& container : status.container_statuses) {
    if (!container.ready) unready.push_back(container.name);
  }
  bool initialized = true;
  // pkg/kubelet/status: GenerateContainersReadyCondition counts sidecars, too.
  for (std::size_t i = 0; i < status.init_container_statuses.size() && i < pod.spec.init_containers.size(); ++i) {
    const ContainerState& state = status.init_container_statuses[i].state;
    const bool sidecar = pod.spec.init_containers[i].restart_policy == "Always";
    initialized &=
        state.terminated || (sidecar && status.init_container_statuses[i].started.value_or(state.running.has_value()));
    if (sidecar && !status.init_container_statuses[i].ready) unready.push_back(pod.spec.init_containers[i].name);
  }
  const bool completed = status.phase == "Succeeded";
  const absl::string_view reason = completed                  ? "PodCompleted"
                                   : status.phase == "Failed" ? "PodFailed"
                                                              : "ContainersNotReady";
  const std::string message = completed || status.phase == "Failed"
                                  ? std::string()
                                  : absl::StrCat("containers with unready status: [", absl::StrJoin(unready, " "), "]");
  SetCondition(status, "PodScheduled", true, "", "", now);
  SetCondition(status, "Initialized", initialized, "ContainersNotInitialized", "containers with incomplete status",
               now);
  SetCondition(status, "ContainersReady", unready.empty(), reason, message, now);
  if (const std::string gates = ClosedGates(status, pod); unready.empty() && !gates.empty()) {
    SetCondition(status, "Ready", false, "ReadinessGatesNotReady", gates, now);
  } else {
    SetCondition(status, "Ready", unready.empty(), reason, message, now);
  }
}

std::string PodStatusBody(const PodStatus& status, const Pod& pod, absl::string_view runtime) {
  std::string out;
  JsonWriter w(out);
  w.BeginObject().Key("status").BeginObject().Field("phase", status.phase);
  WriteConditions(w, status.conditions);
  Text(w, "reason", status.reason);
  Text(w, "message", status.message);
  Text(w, "hostIP", status.host_ip);
  if (!status.host_ip.empty())
    w.Key("hostIPs").BeginArray().BeginObject().Field("ip", status.host_ip).EndObject().EndArray();
  Text(w, "podIP", status.pod_ip);
  if (!status.pod_ip.empty())
    w.Key("podIPs").BeginArray().BeginObject().Field("ip", status.pod_ip).EndObject().EndArray();
  Field(w, "startTime", status.start_time);
  WriteContainers(w, "initContainerStatuses", status.init_container_statuses, pod.spec.init_containers, pod, runtime);
  WriteContainers(w, "containerStatuses", status.container_statuses, pod.spec.containers, pod, runtime);
  w.EndObject().EndObject();
  return out;
}

}  // namespace gangway::sandbox
