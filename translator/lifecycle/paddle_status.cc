// The status of batch.paddlepaddle.org (paddle-operator 0.3.5: api/v1; docs/paddlejob-lifecycle.md).
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "translator/lifecycle/progress.h"

namespace gangway::paddle_lifecycle {
namespace {

using api::paddle::PaddleJobCondition;
using api::paddle::PaddleJobStatus;
using api::paddle::RoleStatus;

Told ReadCondition(const PaddleJobStatus& from, std::string_view type) {
  for (const PaddleJobCondition& condition : from.conditions) {
    if (condition.type == type) return {condition.status, condition.reason, condition.message};
  }
  return {};
}

void WriteCondition(std::string_view type, const Told& told, std::int64_t generation, absl::Time now,
                    PaddleJobStatus& status) {
  const auto is = std::ranges::find(status.conditions, type, &PaddleJobCondition::type);
  if (!told.set()) {
    if (is != status.conditions.end()) status.conditions.erase(is);
    return;
  }
  PaddleJobCondition& condition = is != status.conditions.end() ? *is : status.conditions.emplace_back();
  if (condition.status != told.status || !condition.last_transition_time.set())
    condition.last_transition_time = SecondOf(now);
  condition.type = std::string(type);
  condition.status = told.status;
  condition.reason = told.reason;
  condition.message = told.message;
  condition.observed_generation = generation;
}

RoleProgress ReadRole(const char* name, const RoleStatus& from) {
  return {name, name, 0, from.pending, from.starting, from.running, from.failed, from.succeeded, from.unknown, {}};
}

RoleStatus RoleStatusOf(const RoleProgress& role) {
  return {role.pending,
          role.starting,
          role.running,
          role.failed,
          role.succeeded,
          role.unknown,
          absl::StrCat(role.running, "/", role.replicas),
          role.refs};
}

}  // namespace

Progress ReadPaddleStatus(const PaddleJobStatus& from) {
  Progress progress;
  progress.phase = ParsePhase(from.phase);
  progress.mode = from.mode;
  progress.queue = from.queue;
  progress.elastic = from.elastic;
  progress.message = from.message;
  if (from.ps.has_value()) progress.roles.push_back(ReadRole("ps", *from.ps));
  if (from.worker.has_value()) progress.roles.push_back(ReadRole("worker", *from.worker));
  if (from.heter.has_value()) progress.roles.push_back(ReadRole("heter", *from.heter));
  progress.restarts = from.restarts;
  progress.start = from.start_time;
  progress.completion = from.completion_time;
  progress.generation = from.observed_generation;
  progress.translated = ReadCondition(from, "Translated");
  progress.scheduled = ReadCondition(from, "Scheduled");
  return progress;
}

PaddleJobStatus PaddleStatusOf(const PaddleJobStatus& was, const Progress& progress, const api::ObjectMeta& metadata,
                               absl::Time now) {
  PaddleJobStatus status = was;
  status.phase = std::string(PhaseName(progress.phase));
  status.mode = progress.mode;
  status.queue = progress.queue;
  status.elastic = progress.elastic;
  status.message = progress.message;
  status.ps.reset();
  status.worker.reset();
  status.heter.reset();
  for (const RoleProgress& role : progress.roles) {
    (role.role == "ps" ? status.ps : role.role == "worker" ? status.worker : status.heter) = RoleStatusOf(role);
  }
  status.restarts = progress.restarts;
  status.start_time = progress.start;
  status.completion_time = progress.completion;
  status.observed_generation = metadata.generation;
  WriteCondition("Translated", progress.translated, metadata.generation, now, status);
  WriteCondition("Scheduled", progress.scheduled, metadata.generation, now, status);
  return status;
}

}  // namespace gangway::paddle_lifecycle
