#include "cmd/logs/log_choice.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/field_table.h"
#include "api/resource.h"
#include "base/printable.h"
#include "base/strings.h"
#include "plugin/lifecycle/words.h"

namespace gangway::cmd {
namespace {

using api::core::Container;
using api::core::ContainerStatus;
using api::core::Pod;

constexpr char kDefaultContainer[] = "kubectl.kubernetes.io/default-container";

std::string AnnotationOf(const Pod& pod, absl::string_view key) {
  const auto at = pod.metadata.annotations.find(std::string(key));
  return at == pod.metadata.annotations.end() ? std::string() : at->second;
}

bool Contains(const std::vector<std::string>& list, absl::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

int IndexOf(const Pod& pod) {
  int index = 0;
  return absl::SimpleAtoi(AnnotationOf(pod, lifecycle::kTaskIndexKey), &index) ? index : 0;
}

std::size_t TaskPlace(const api::volcano::Job& job, const Pod& pod) {
  const std::string task = AnnotationOf(pod, lifecycle::kTaskSpecKey);
  const auto at = std::find_if(job.spec.tasks.begin(), job.spec.tasks.end(),
                               [&](const api::volcano::TaskSpec& t) { return t.name == task; });
  return static_cast<std::size_t>(at - job.spec.tasks.begin());
}

const ContainerStatus* StatusOf(const Pod& pod, absl::string_view container) {
  for (const auto* statuses : {&pod.status.container_statuses, &pod.status.init_container_statuses}) {
    for (const ContainerStatus& status : *statuses) {
      if (status.name == container) return &status;
    }
  }
  return nullptr;
}

}  // namespace

absl::Status CheckTasks(const api::volcano::Job& job, const LogChoice& choice) {
  std::vector<std::string> names;
  for (const api::volcano::TaskSpec& task : job.spec.tasks) names.push_back(task.name);
  for (const std::string& task : choice.tasks) {
    if (Contains(names, task)) continue;
    return absl::InvalidArgumentError(absl::StrCat("job ", job.metadata.name, " has no task ", task,
                                                   "; --task is one of ", absl::StrJoin(names, ", ")));
  }
  return absl::OkStatus();
}

bool IsWanted(const Pod& pod, const api::volcano::Job& job, const LogChoice& choice) {
  const api::OwnerReference* owner = pod.metadata.Controller();
  if (owner == nullptr || owner->uid != job.metadata.uid) return false;
  return choice.tasks.empty() || Contains(choice.tasks, AnnotationOf(pod, lifecycle::kTaskSpecKey));
}

void SortPods(const api::volcano::Job& job, std::vector<Pod>& pods) {
  std::sort(pods.begin(), pods.end(), [&](const Pod& a, const Pod& b) {
    return std::make_tuple(TaskPlace(job, a), IndexOf(a), absl::string_view(a.metadata.name)) <
           std::make_tuple(TaskPlace(job, b), IndexOf(b), absl::string_view(b.metadata.name));
  });
}

std::vector<std::string> ContainersOf(const Pod& pod, const LogChoice& choice) {
  std::vector<std::string> all;
  for (const Container& container : pod.spec.init_containers) all.push_back(container.name);
  for (const Container& container : pod.spec.containers) all.push_back(container.name);
  if (!choice.containers.empty()) {
    std::erase_if(all, [&](const std::string& name) { return !Contains(choice.containers, name); });
    return all;
  }
  if (choice.all_containers || all.empty()) return all;
  if (std::string named = AnnotationOf(pod, kDefaultContainer); Contains(all, named)) return {std::move(named)};
  return {pod.spec.containers.empty() ? all.front() : pod.spec.containers.front().name};
}

ContainerRun RunOf(const Pod& pod, absl::string_view container) {
  ContainerRun out;
  const ContainerStatus* status = StatusOf(pod, container);
  if (status == nullptr) {
    out.waits = pod.bound() ? "not started yet" : "not placed yet";
    return out;
  }
  const bool ran_before = status->last_state.terminated.has_value();
  out.run = status->restart_count;
  out.had_previous = ran_before;
  out.ended = !status->state.running.has_value() && (status->state.terminated.has_value() || ran_before);
  out.started = status->state.running.has_value() || out.ended;
  if (!out.started)
    out.waits = status->state.waiting.has_value() && !status->state.waiting->reason.empty()
                    ? status->state.waiting->reason
                    : "not started yet";
  return out;
}

std::string ShortName(const Pod& pod) {
  const std::string task = AnnotationOf(pod, lifecycle::kTaskSpecKey),
                    index = AnnotationOf(pod, lifecycle::kTaskIndexKey);
  return task.empty() || index.empty() ? pod.metadata.name : absl::StrCat(task, "-", index);
}

std::string PrefixOf(const Pod& pod, absl::string_view container, const LogChoice& choice) {
  if (!choice.prefix) return "";
  const bool several = pod.spec.containers.size() + pod.spec.init_containers.size() > 1;
  return OneLine(absl::StrCat("[", ShortName(pod), several ? "/" : "", several ? container : "", "] "));
}

kube::Request LogRequest(const Pod& pod, absl::string_view container, const LogChoice& choice, const LogPlace& place) {
  kube::Request request;
  request.method = "GET";
  request.accept = "*/*";
  request.path = absl::StrCat(api::PathOf(api::kPods, pod.metadata.ns, pod.metadata.name), "/log");
  request.query = absl::StrCat("container=", PercentEncode(container), "&timestamps=true");
  if (place.follow) absl::StrAppend(&request.query, "&follow=true");
  if (place.previous) absl::StrAppend(&request.query, "&previous=true");
  if (place.from.has_value()) {
    absl::StrAppend(&request.query, "&sinceTime=", PercentEncode(api::FormatTime(*place.from)));
  } else if (place.first) {
    if (choice.tail >= 0) absl::StrAppend(&request.query, "&tailLines=", choice.tail);
    if (choice.since.has_value()) {
      absl::StrAppend(&request.query,
                      "&sinceSeconds=", absl::ToInt64Seconds(absl::Ceil(*choice.since, absl::Seconds(1))));
    } else if (choice.since_time.has_value()) {
      absl::StrAppend(&request.query, "&sinceTime=", PercentEncode(api::FormatTime(*choice.since_time)));
    }
  }
  return request;
}

}  // namespace gangway::cmd
