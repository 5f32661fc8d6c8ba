#include <algorithm>
#include <tuple>
#include <utility>

#include "cmd/dashboard/view/rows.h"

namespace gangway::dashboard {
namespace {

namespace kubeflow = api::paddle::kubeflow;

PaddleRow HeadOf(const api::ObjectMeta& meta, const api::Resource& resource) {
  PaddleRow row;
  row.ns = meta.ns;
  row.name = meta.name;
  row.group = std::string(resource.group);
  row.created = meta.creation_timestamp.at;
  return row;
}

void AddRole(absl::string_view name, const std::optional<api::paddle::RoleSpec>& spec,
             const std::optional<api::paddle::RoleStatus>& status, PaddleRow& row) {
  if (!spec.has_value()) return;
  RoleRow role;
  role.name = std::string(name);
  role.wanted = spec->replicas;
  if (status.has_value()) {
    role.pending = status->pending + status->starting;
    role.running = status->running;
    role.succeeded = status->succeeded;
    role.failed = status->failed;
  }
  row.roles.push_back(std::move(role));
}

PaddleRow RowOf(const api::paddle::PaddleJob& job) {
  PaddleRow row = HeadOf(job.metadata, api::paddle::kPaddleJobs);
  row.phase = job.status.phase;
  row.mode = job.status.mode;
  row.queue = job.status.queue;
  row.message = job.status.message;
  row.restarts = job.status.restarts;
  row.ended = row.phase == "Completed" || row.phase == "Failed" || row.phase == "Aborted";
  AddRole("ps", job.spec.ps, job.status.ps, row);
  AddRole("worker", job.spec.worker, job.status.worker, row);
  AddRole("heter", job.spec.heter, job.status.heter, row);
  row.started = job.status.start_time.at;
  row.completed = job.status.completion_time.at;
  return row;
}

PaddleRow RowOf(const kubeflow::PaddleJob& job) {
  PaddleRow row = HeadOf(job.metadata, kubeflow::kPaddleJobs);
  if (!job.status.conditions.empty()) {
    row.phase = job.status.conditions.back().type;  // the newest stands last
    row.message = job.status.conditions.back().message;
  }
  if (job.spec.run_policy.scheduling_policy.has_value()) row.queue = job.spec.run_policy.scheduling_policy->queue;
  row.ended = row.phase == "Succeeded" || row.phase == "Failed";
  for (const auto& [name, spec] : job.spec.replica_specs) {
    RoleRow role;
    role.name = name;
    role.wanted = spec.replicas.value_or(1);
    if (const auto status = job.status.replica_statuses.find(name); status != job.status.replica_statuses.end()) {
      role.running = status->second.active;
      role.succeeded = status->second.succeeded;
      role.failed = status->second.failed;
    }
    row.roles.push_back(std::move(role));
  }
  row.started = job.status.start_time.at;
  row.completed = job.status.completion_time.at;
  return row;
}

}  // namespace

std::vector<PaddleRow> PaddleRows(const Seen& seen) {
  std::vector<PaddleRow> rows;
  for (const auto& job : seen.paddle_jobs) rows.push_back(RowOf(*job));
  for (const auto& job : seen.kubeflow_jobs) rows.push_back(RowOf(*job));
  std::stable_sort(rows.begin(), rows.end(), [](const PaddleRow& a, const PaddleRow& b) {
    return std::tie(a.ended, a.ns, a.name, a.group) < std::tie(b.ended, b.ns, b.name, b.group);
  });
  return rows;
}

}  // namespace gangway::dashboard
