#include "plugin/controller/job_flow_controller.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/strings.h"
#include "kube/plan/writes.h"

namespace gangway::controller {
namespace {

using api::NamespacedName;
using api::volcano::Flow;
using api::volcano::Job;

// The template that a job says it was made from; its name is empty when it says nothing, or another namespace's.
NamespacedName TemplateOf(const Job& job) {
  auto it = job.metadata.annotations.find(std::string(lifecycle::kByTemplateKey));
  if (it == job.metadata.annotations.end()) return {};
  absl::string_view name = it->second;
  if (!absl::ConsumePrefix(&name, absl::StrCat(job.metadata.ns, "."))) return {};
  return {job.metadata.ns, std::string(name)};
}

template <class Map>
void Erase(Map& map, const NamespacedName& key, const std::string& name) {
  auto it = map.find(key);
  if (it == map.end()) return;
  it->second.erase(name);
  if (it->second.empty()) map.erase(it);
}

}  // namespace

// A cluster may have Volcano's CRDs without those of flows.
JobFlowController::JobFlowController(kube::Informers& informers, kube::ComponentOptions options)
    : Component(informers, std::move(options)),
      job_flows_(Watch<api::volcano::JobFlow>(
          api::kJobFlows, {.optional = true},
          [this](const auto& key, const auto& before, const auto& after) { OnFlow(key, before, after); })),
      job_templates_(
          Watch<api::volcano::JobTemplate>(api::kJobTemplates, {.optional = true},
                                           [this](const auto& key, const auto&, const auto&) { OnTemplate(key); })),
      jobs_(Watch<StoredJob>(
          api::kJobs, {},
          [this](const auto& key, const auto& before, const auto& after) { OnJob(key, before, after); })),
      flows_(Drive("jobflow", [this](const NamespacedName& key, absl::Time) { return DecideFlow(key); })),
      templates_(Drive("jobtemplate", [this](const NamespacedName& key, absl::Time) { return DecideTemplate(key); })) {
  flows_.SetOnPermanentError([this](const auto& key, const auto& uid, const auto& write, const auto& status) {
    Explain(key, uid, write, status);
  });
}

void JobFlowController::OnFlow(const NamespacedName& key, const JobFlowPtr& before, const JobFlowPtr& after) {
  if (before != nullptr) {
    for (const Flow& step : before->spec.flows) {
      if (after == nullptr) gone_.erase(NamespacedName{key.ns, lifecycle::FlowJobName(*before, step.name)});
      Erase(flows_of_template_, {key.ns, step.name}, key.name);
      Erase(flows_of_job_, {key.ns, lifecycle::FlowJobName(*before, step.name)}, key.name);
    }
  }
  if (after != nullptr) {
    for (const Flow& step : after->spec.flows) {
      flows_of_template_[{key.ns, step.name}].insert(key.name);
      flows_of_job_[{key.ns, lifecycle::FlowJobName(*after, step.name)}].insert(key.name);
    }
    for (const std::string& job : after->status.completed_jobs) gone_.erase(NamespacedName{key.ns, job});
  }
  flows_.Enqueue(key);
}

void JobFlowController::OnTemplate(const NamespacedName& key) {
  templates_.Enqueue(key);
  auto flows = flows_of_template_.find(key);
  if (flows == flows_of_template_.end()) return;
  for (const std::string& flow : flows->second) flows_.Enqueue({key.ns, flow});
}

void JobFlowController::OnJob(const NamespacedName& key, const JobPtr& before, const JobPtr& after) {
  const NamespacedName was = before == nullptr ? NamespacedName{} : TemplateOf(*before);
  const NamespacedName is = after == nullptr ? NamespacedName{} : TemplateOf(*after);
  if (was != is) {
    if (!was.name.empty()) {
      Erase(jobs_of_template_, was, key.name);
      templates_.Enqueue(was);
    }
    if (!is.name.empty()) {
      jobs_of_template_[is].insert(key.name);
      templates_.Enqueue(is);
    }
  }
  auto flows = flows_of_job_.find(key);
  if (flows == flows_of_job_.end()) return;
  if (after != nullptr) {
    gone_.erase(key);
  } else if (before != nullptr && before->status.state.phase == "Completed" && !Remembered(*before)) {
    gone_[key] = before;
  }
  for (const std::string& flow : flows->second) flows_.Enqueue({key.ns, flow});
}

// Whether the flow that made the job has written that it was Completed, or is gone itself.
bool JobFlowController::Remembered(const Job& job) const {
  const api::OwnerReference* owner = job.metadata.Controller();
  const JobFlowPtr flow = owner == nullptr ? nullptr : job_flows_.Get({job.metadata.ns, owner->name});
  if (flow == nullptr || !lifecycle::MadeBy(*flow, job)) return true;
  const std::vector<std::string>& completed = flow->status.completed_jobs;
  return std::find(completed.begin(), completed.end(), job.metadata.name) != completed.end();
}

void JobFlowController::Wake() {
  job_flows_.ForEach([this](const NamespacedName& key, const auto&) { flows_.Enqueue(key); });
  job_templates_.ForEach([this](const NamespacedName& key, const auto&) { templates_.Enqueue(key); });
}

kube::Plan JobFlowController::DecideFlow(const NamespacedName& key) const {
  const JobFlowPtr flow = job_flows_.Get(key);
  if (flow == nullptr) return {};
  lifecycle::JobFlowView view;
  view.flow = flow.get();
  std::vector<std::shared_ptr<const void>> held;
  for (const Flow& step : flow->spec.flows) {
    const NamespacedName name{key.ns, lifecycle::FlowJobName(*flow, step.name)};
    JobPtr job = jobs_.Get(name);
    if (auto gone = gone_.find(name); job == nullptr && gone != gone_.end() && !Remembered(*gone->second))
      job = gone->second;
    if (job != nullptr) view.jobs[name.name] = job.get();
    held.push_back(std::move(job));
    auto from = job_templates_.Get({key.ns, step.name});
    if (from != nullptr) view.templates[step.name] = from.get();
    held.push_back(std::move(from));
  }
  kube::Plan plan = lifecycle::ReconcileJobFlow(view);
  plan.uid = flow->metadata.uid;
  return plan;
}

kube::Plan JobFlowController::DecideTemplate(const NamespacedName& key) const {
  const auto of = job_templates_.Get(key);
  if (of == nullptr) return {};
  auto jobs = jobs_of_template_.find(key);
  return lifecycle::ReconcileJobTemplate(*of, jobs == jobs_of_template_.end()
                                                  ? std::vector<std::string>()
                                                  : std::vector<std::string>(jobs->second.begin(), jobs->second.end()));
}

void JobFlowController::Explain(const NamespacedName& key, const std::string& uid, const kube::Write& write,
                                const absl::Status& status) {
  const JobFlowPtr flow = job_flows_.Get(key);
  if (flow == nullptr || flow->metadata.uid != uid) return;
  recorder().Record({kube::EventNote::Type::kWarning,
                     write.verb == kube::Verb::kCreate ? "FailedCreate" : "FailedUpdate",
                     absl::StrCat(View(write.resource->kind), " ", write.name, ": ", status.message()),
                     kube::ReferenceTo(api::kJobFlows, flow->metadata)});
}

}  // namespace gangway::controller
