#include "plugin/lifecycle/flow/reconcile_job_flow.h"

#include <algorithm>
#include <set>
#include <utility>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/name.h"
#include "api/resource.h"
#include "api/volcano/admission_rules.h"
#include "api/volcano/defaults.h"
#include "base/counted.h"
#include "base/status_macros.h"
#include "kube/plan/writes.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::Flow;
using api::volcano::Job;
using api::volcano::JobFlow;
using api::volcano::JobFlowStatus;
using api::volcano::JobTemplate;
using boost::json::value;
using kube::EventNote;

const char* const kNoDifference = "{}";

EventNote Note(const JobFlow& flow, EventNote::Type type, std::string reason, std::string message) {
  return {type, std::move(reason), std::move(message), kube::ReferenceTo(api::kJobFlows, flow.metadata)};
}

kube::Write StatusWrite(const api::Resource& resource, const api::ObjectMeta& of, const std::string& diff) {
  std::string body;
  api::JsonWriter(body).BeginObject().RawField("status", diff).EndObject();
  return kube::ChangeOf(resource, of, std::move(body), "status");
}

// --- The job of a flow.

value* Named(boost::json::array& tasks, const value& name) {
  for (value& task : tasks) {
    if (task.is_object() && task.get_object().contains("name") && task.get_object().at("name") == name) return &task;
  }
  return nullptr;
}

// Tasks that both have are merged; those that only the patch has come last.
void MergeTasks(value& tasks, const value& patch) {
  if (!tasks.is_array() || !patch.is_array()) {
    tasks = patch;
    return;
  }
  for (const value& task : patch.get_array()) {
    value* with = task.is_object() && task.get_object().contains("name")
                      ? Named(tasks.get_array(), task.get_object().at("name"))
                      : nullptr;
    if (with != nullptr) {
      api::ApplyMergePatch(*with, task);
    } else {
      tasks.get_array().push_back(task);
    }
  }
}

absl::Status ApplyPatch(const std::string& text, api::volcano::JobSpec& spec) {
  GW_ASSIGN_OR_RETURN(value patch, api::ParseJson(text));
  if (!patch.is_object()) return absl::InvalidArgumentError("it is no object");
  GW_ASSIGN_OR_RETURN(value merged, api::ParseJson(api::Encode(spec)));
  boost::json::object& members = patch.get_object();
  if (auto tasks = members.find("tasks"); tasks != members.end() && !tasks->value().is_null()) {
    MergeTasks(merged.as_object()["tasks"], tasks->value());
    members.erase(tasks);
  }
  api::ApplyMergePatch(merged, patch);
  spec = {};
  const api::DecodeReport report = api::DecodeInto(api::ToJson(merged), api::TypeOf<api::volcano::JobSpec>(), &spec);
  GW_RETURN_IF_ERROR(report.status);
  if (!report.unknown.empty())
    return absl::InvalidArgumentError(absl::StrCat("a Job's spec has no ", absl::StrJoin(report.unknown, ", ")));
  return absl::OkStatus();
}

void Put(absl::string_view key, const std::string& text, api::ObjectMeta& metadata) {
  metadata.annotations[std::string(key)] = text;
  if (api::CheckLabelValue(text).empty())
    metadata.labels[std::string(key)] = text;  // a long name does not fit into a label
}

// --- Whose turn it is.

class Steps {
 public:
  Steps(const JobFlowView& seen, const JobFlowStatus& status) : seen_(seen) {
    completed_.insert(status.completed_jobs.begin(), status.completed_jobs.end());
  }

  void Plan(kube::Plan& plan) {
    std::vector<kube::Write> writes;
    for (const Flow* step : StepsOf(*seen_.flow)) {
      const std::string name = FlowJobName(*seen_.flow, step->name);
      if (completed_.contains(name) || !TargetsCompleted(*step)) continue;
      if (auto job = seen_.jobs.find(name); job != seen_.jobs.end()) {
        if (!MadeBy(*seen_.flow, *job->second))
          Warn(plan, "JobExists",
               absl::StrCat("flow ", step->name, " waits: there is a job ", name, " that it did not make"));
        continue;
      }
      Create(*step, plan, writes);
    }
    // Nobody need have refused it.
    api::FieldErrors errors;
    api::volcano::CheckFlows(seen_.flow->spec, errors);
    for (const api::FieldError& error : errors) Warn(plan, "InvalidFlow", error.ToString());
    if (!writes.empty()) plan.stages.push_back(std::move(writes));
  }

 private:
  bool TargetsCompleted(const Flow& step) const {
    if (!step.depends_on.has_value()) return true;
    return std::all_of(
        step.depends_on->targets.begin(), step.depends_on->targets.end(),
        [this](const std::string& target) { return completed_.contains(FlowJobName(*seen_.flow, target)); });
  }

  void Warn(kube::Plan& plan, const char* reason, std::string message) const {
    plan.events.push_back(Note(*seen_.flow, EventNote::Type::kWarning, reason, std::move(message)));
  }

  void Create(const Flow& step, kube::Plan& plan, std::vector<kube::Write>& writes) const {
    auto from = seen_.templates.find(step.name);
    if (from == seen_.templates.end())
      return Warn(plan, "JobTemplateMissing",
                  absl::StrCat("flow ", step.name, " waits: there is no JobTemplate ", step.name));
    const absl::StatusOr<Job> job = FlowJobOf(*seen_.flow, step, *from->second);
    if (!job.ok())
      return Warn(plan, "PatchError",
                  absl::StrCat("flow ", step.name, " waits: patch.jobSpec: ", job.status().message()));
    if (step.depends_on.has_value() && step.depends_on->probe.has_value() && !step.depends_on->probe->empty()) {
      Warn(plan, "ProbeIgnored",
           absl::StrCat("flow ", step.name,
                        ": dependsOn.probe is not carried out; its job is made once its targets are Completed"));
    }
    kube::Write& write = writes.emplace_back();
    write.resource = &api::kJobs;
    write.ns = job->metadata.ns;
    write.name = job->metadata.name;
    write.body = api::Encode(*job);
    plan.events.push_back(Note(*seen_.flow, EventNote::Type::kNormal, "JobCreated",
                               absl::StrCat("job ", write.name, " of JobTemplate ", step.name)));
  }

  const JobFlowView& seen_;
  std::set<std::string> completed_;
};

void WantStatus(const JobFlow& flow, const JobFlowStatus& to, kube::Plan& plan) {
  const absl::StatusOr<std::string> diff = api::MergePatchDiff(api::Encode(flow.status), api::Encode(to));
  if (!diff.ok() || *diff == kNoDifference) return;  // both are objects that we encoded
  plan.stages.push_back({StatusWrite(api::kJobFlows, flow.metadata, *diff)});
  if (to.state == flow.status.state) return;
  std::vector<std::string> stopped = to.failed_jobs;
  stopped.insert(stopped.end(), to.terminated_jobs.begin(), to.terminated_jobs.end());
  const bool failed = to.state.phase == "Failed";
  plan.events.push_back(
      Note(flow, failed ? EventNote::Type::kWarning : EventNote::Type::kNormal, to.state.phase,
           failed ? absl::StrCat("no more jobs are made: ", absl::StrJoin(stopped, ", "), " did not complete")
                  : absl::StrCat(to.completed_jobs.size(), " of ", Counted(StepsOf(flow).size(), "job"),
                                 to.completed_jobs.size() == 1 ? " is" : " are", " Completed")));
}

// After Succeed, with jobRetainPolicy delete.
void RemoveJobs(const JobFlowView& seen, kube::Plan& plan) {
  std::vector<kube::Write> writes;
  for (const auto& [name, job] : seen.jobs) {
    if (!MadeBy(*seen.flow, *job) || job->metadata.deleting()) continue;
    writes.push_back(kube::DeletionOf(api::kJobs, job->metadata));
  }
  if (!writes.empty()) plan.stages.push_back(std::move(writes));
}

}  // namespace

std::string FlowJobName(const JobFlow& flow, absl::string_view name) {
  return absl::StrCat(flow.metadata.name, "-", name);
}

bool MadeBy(const JobFlow& flow, const Job& job) {
  const api::OwnerReference* owner = job.metadata.Controller();
  return owner != nullptr && owner->uid == flow.metadata.uid;
}

absl::StatusOr<Job> FlowJobOf(const JobFlow& flow, const Flow& step, const JobTemplate& from) {
  Job job;
  job.api_version = api::kJobs.ApiVersion();
  job.kind = std::string(api::kJobs.kind);
  job.metadata.name = FlowJobName(flow, step.name);
  job.metadata.ns = flow.metadata.ns;
  Put(kByTemplateKey, absl::StrCat(from.metadata.ns, ".", from.metadata.name), job.metadata);
  Put(kByFlowKey, absl::StrCat(flow.metadata.ns, ".", flow.metadata.name), job.metadata);
  job.metadata.owner_references = {{api::kJobFlows.ApiVersion(), std::string(api::kJobFlows.kind), flow.metadata.name,
                                    flow.metadata.uid, true, true}};
  job.spec = from.spec;
  if (step.patch.has_value() && !step.patch->job_spec.empty())
    GW_RETURN_IF_ERROR(ApplyPatch(step.patch->job_spec.json, job.spec));
  api::volcano::ApplyDefaults(job);
  return job;
}

kube::Plan ReconcileJobFlow(const JobFlowView& seen) {
  kube::Plan plan;
  const JobFlow& flow = *seen.flow;
  const JobFlowStatus to = FlowStatusOf(seen);
  // A job is remembered as Completed before anything is made because of it, and before it may go.
  WantStatus(flow, to, plan);
  if (flow.metadata.deleting() || to.state.phase == "Failed") return plan;
  if (to.state.phase == "Succeed") {
    if (flow.spec.job_retain_policy == "delete") RemoveJobs(seen, plan);
    return plan;
  }
  Steps(seen, to).Plan(plan);
  return plan;
}

kube::Plan ReconcileJobTemplate(const JobTemplate& of, const std::vector<std::string>& jobs) {
  kube::Plan plan;
  if (of.metadata.deleting() || of.status.job_depends_on_list == jobs) return plan;
  std::string body;
  api::JsonWriter json(body);
  json.BeginObject().Key("jobDependsOnList").BeginArray();
  for (const std::string& job : jobs) json.String(job);
  json.EndArray().EndObject();
  plan.stages.push_back({StatusWrite(api::kJobTemplates, of.metadata, body)});
  return plan;
}

}  // namespace gangway::lifecycle
