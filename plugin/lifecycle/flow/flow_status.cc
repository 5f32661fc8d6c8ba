// What a JobFlow's status says of its jobs.
#include <algorithm>
#include <set>
#include <utility>

#include "plugin/lifecycle/flow/reconcile_job_flow.h"
#include "plugin/lifecycle/words.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::FlowCondition;
using api::volcano::FlowJobHistory;
using api::volcano::FlowJobStatus;
using api::volcano::Job;
using api::volcano::JobFlowStatus;

// The phases the job was in, in the order of time; each ends where the next begins.
std::vector<FlowJobHistory> Histories(const Job& job) {
  std::vector<FlowJobHistory> histories;
  for (const api::volcano::JobCondition& condition : job.status.conditions) {
    histories.push_back({condition.last_transition_time, {}, condition.status});
  }
  std::stable_sort(histories.begin(), histories.end(),
                   [](const auto& a, const auto& b) { return a.start.at < b.start.at; });
  for (std::size_t i = 0; i + 1 < histories.size(); ++i) histories[i].end = histories[i + 1].start;
  return histories;
}

FlowJobStatus StatusOf(const Job& job) {
  FlowJobStatus status;
  status.name = job.metadata.name;
  status.state = job.status.state.phase;
  status.start = job.metadata.creation_timestamp;
  if (Finished(ParsePhase(job.status.state.phase))) status.end = job.status.state.last_transition_time;
  status.restart_count = job.status.retry_count;
  status.histories = Histories(job);
  return status;
}

FlowCondition ConditionOf(const Job& job) {
  return {job.status.state.phase, job.metadata.creation_timestamp, job.status.running_duration,
          job.status.task_status_count};
}

std::vector<std::string>& ListFor(const std::string& phase, JobFlowStatus& status) {
  if (phase.empty() || phase == "Pending") return status.pending_jobs;
  if (phase == "Running") return status.running_jobs;
  if (phase == "Completed") return status.completed_jobs;
  if (phase == "Failed") return status.failed_jobs;
  return phase == "Terminated" ? status.terminated_jobs : status.unknown_jobs;
}

// A completed job that is gone: what was written about it stays.
void Keep(const std::string& name, const JobFlowStatus& before, JobFlowStatus& status) {
  if (std::find(before.completed_jobs.begin(), before.completed_jobs.end(), name) == before.completed_jobs.end())
    return;
  status.completed_jobs.push_back(name);
  for (const FlowJobStatus& job : before.job_status_list) {
    if (job.name == name) status.job_status_list.push_back(job);
  }
  if (auto it = before.conditions.find(name); it != before.conditions.end()) status.conditions.insert(*it);
}

std::string PhaseOf(const JobFlowStatus& status, std::size_t flows) {
  if (!status.failed_jobs.empty() || !status.terminated_jobs.empty()) return "Failed";
  if (flows > 0 && status.completed_jobs.size() == flows) return "Succeed";
  return status.running_jobs.empty() && status.completed_jobs.empty() && status.unknown_jobs.empty() ? "Pending"
                                                                                                     : "Running";
}

}  // namespace

std::vector<const api::volcano::Flow*> StepsOf(const api::volcano::JobFlow& flow) {
  std::vector<const api::volcano::Flow*> steps;
  std::set<std::string> names;
  for (const api::volcano::Flow& step : flow.spec.flows) {
    if (names.insert(step.name).second) steps.push_back(&step);
  }
  return steps;
}

JobFlowStatus FlowStatusOf(const JobFlowView& seen) {
  const JobFlowStatus& before = seen.flow->status;
  if (before.state.phase == "Succeed") return before;  // for good: its jobs may go
  JobFlowStatus status;
  const std::vector<const api::volcano::Flow*> steps = StepsOf(*seen.flow);
  for (const api::volcano::Flow* step : steps) {
    const std::string name = FlowJobName(*seen.flow, step->name);
    auto job = seen.jobs.find(name);
    if (job == seen.jobs.end() || !MadeBy(*seen.flow, *job->second)) {
      Keep(name, before, status);
      continue;
    }
    ListFor(job->second->status.state.phase, status).push_back(name);
    status.job_status_list.push_back(StatusOf(*job->second));
    status.conditions[name] = ConditionOf(*job->second);
  }
  status.state.phase = seen.flow->metadata.deleting() ? "Terminating" : PhaseOf(status, steps.size());
  return status;
}

}  // namespace gangway::lifecycle
