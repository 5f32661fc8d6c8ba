#include "translator/lifecycle/paddle_pod.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/paddle/paddle_job.h"
#include "api/resource.h"
#include "api/volcano/controlling_job.h"
#include "api/volcano/release.h"
#include "base/strings.h"

namespace gangway::paddle_lifecycle {
namespace {

using api::core::ContainerStatus;
using api::core::Pod;
using api::core::PodCondition;

constexpr absl::string_view kTaskSpec = "volcano.sh/task-spec", kTaskIndex = "volcano.sh/task-index",
                            kOperatorRole = "paddle-resource";
// The container that waits for the names of the others; paddle-operator's own is called otherwise.
constexpr absl::string_view kWaiters[] = {"wait-dns", "coord-paddle"};
// These come by themselves.
constexpr absl::string_view kPatient[] = {"", "ContainerCreating", "PodInitializing"};

template <std::size_t n>
bool IsOneOf(absl::string_view text, const absl::string_view (&of)[n]) {
  return std::ranges::find(of, text) != std::end(of);
}

std::string Text(const std::map<std::string, std::string>& map, absl::string_view key) {
  const auto it = map.find(std::string(key));
  return it == map.end() ? std::string() : it->second;
}

bool IsPaddleJob(const api::OwnerReference& owner) {
  for (const api::Resource* resource : {&api::paddle::kPaddleJobs, &api::paddle::kubeflow::kPaddleJobs}) {
    if (owner.kind == resource->kind && owner.api_version == resource->ApiVersion()) return true;
  }
  return false;
}

bool Waits(const ContainerStatus& init) { return init.state.running.has_value() && IsOneOf(init.name, kWaiters); }

bool AllUp(const Pod& pod) {
  const auto ended = [](const ContainerStatus& init) { return init.ready || init.state.terminated.has_value(); };
  const auto up = [](const ContainerStatus& container) {
    return container.ready && container.state.running.has_value();
  };
  return !pod.status.container_statuses.empty() && std::ranges::all_of(pod.status.init_container_statuses, ended) &&
         std::ranges::all_of(pod.status.container_statuses, up);
}

PodStage StageOf(const Pod& pod) {
  const std::string& phase = pod.status.phase;
  if (phase == "Succeeded") return PodStage::kSucceeded;
  if (phase == "Failed") return PodStage::kFailed;
  if (phase == "Running") return AllUp(pod) ? PodStage::kRunning : PodStage::kStarting;
  if (phase.empty() || phase == "Pending")
    return std::ranges::any_of(pod.status.init_container_statuses, Waits) ? PodStage::kStarting : PodStage::kPending;
  return PodStage::kUnknown;
}

bool Disrupted(const Pod& pod) {
  if (pod.status.reason == "Evicted" || pod.status.reason == "Preempted" || pod.status.reason == "Preempting")
    return true;
  return std::ranges::any_of(pod.status.conditions,
                             [](const PodCondition& c) { return c.type == "DisruptionTarget" && c.status == "True"; });
}

std::string Waiting(const Pod& pod) {
  for (const auto* containers : {&pod.status.init_container_statuses, &pod.status.container_statuses}) {
    for (const ContainerStatus& container : *containers) {
      if (!container.state.waiting.has_value()) continue;
      const auto& [reason, message] = *container.state.waiting;
      if (IsOneOf(reason, kPatient)) continue;
      return message.empty() ? reason : absl::StrCat(reason, ": ", message);
    }
  }
  return {};
}

}  // namespace

std::string JobOf(const Pod& pod) {
  const api::OwnerReference* owner = pod.metadata.Controller();
  if (owner == nullptr) return {};
  const bool job = api::volcano::ControllingJob(pod.metadata) != nullptr;
  return job || IsPaddleJob(*owner) ? owner->name : std::string();
}

PaddlePod PaddlePodOf(const Pod& pod) {
  PaddlePod facts;
  facts.uid = pod.metadata.uid;
  if (const api::OwnerReference* owner = pod.metadata.Controller()) {
    facts.owner_uid = owner->uid;
    facts.of_operator = IsPaddleJob(*owner);
  }
  facts.task = Text(pod.metadata.annotations, facts.of_operator ? kOperatorRole : kTaskSpec);
  if (facts.task.empty()) facts.task = Text(pod.metadata.labels, kTaskSpec);
  if (!absl::SimpleAtoi(Text(pod.metadata.labels, kTaskIndex), &facts.index)) {
    if (!absl::SimpleAtoi(pod.metadata.name.substr(pod.metadata.name.rfind('-') + 1), &facts.index)) facts.index = 0;
  }
  facts.stage = StageOf(pod);
  facts.deleting = pod.metadata.deleting();
  facts.begun = !pod.status.phase.empty() && pod.status.phase != "Pending";
  facts.disrupted = Disrupted(pod);
  for (const auto* containers : {&pod.status.init_container_statuses, &pod.status.container_statuses}) {
    for (const ContainerStatus& container : *containers) facts.restarts += container.restart_count;
  }
  facts.waiting = Waiting(pod);
  if (pod.status.start_time.set()) facts.started = pod.status.start_time.at;
  if (std::optional<api::volcano::PodFailure> failure = api::volcano::FailureOf(pod)) {
    facts.failure = std::make_shared<const api::volcano::PodFailure>(*std::move(failure));
  }
  return facts;
}

}  // namespace gangway::paddle_lifecycle
