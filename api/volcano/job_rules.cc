// Rules of a Job that is created (Volcano: pkg/webhooks/admission/jobs/validate/admit_job.go).
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <boost/json.hpp>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/core/json_place.h"
#include "api/core/pod_validation.h"
#include "api/duration.h"
#include "api/json.h"
#include "api/name.h"
#include "api/volcano/admission_rules.h"
#include "api/volcano/defaults.h"

namespace gangway::api::volcano {
namespace {

std::string TaskPath(std::size_t index) { return absl::StrCat("spec.tasks[", index, "]"); }

void CheckDuration(const std::string& text, const std::string& path, FieldErrors& errors) {
  if (text.empty() || ParseGoDuration(text).ok()) return;
  AddInvalid(errors, path, JsonString(text), "must be a duration", "such as 30s, 5m or 1h30m");
}

// Pod names are <job>-<task>-<index>; like Volcano, this looks at the task's own index only.
void CheckPodName(const Job& job, const TaskSpec& task, std::size_t index, FieldErrors& errors) {
  // A generated name ends in five more characters.
  const ObjectMeta& metadata = job.metadata;
  constexpr std::size_t kLongEnough = 300;  // whatever follows, it is too long
  const std::string job_name = metadata.name.empty() ? metadata.generate_name.substr(0, kLongEnough) + "xxxxx"
                                                     : metadata.name.substr(0, kLongEnough);
  const std::string name = absl::StrCat(job_name, "-", task.name, "-", index);
  const Complaints complaints = CheckQualifiedName(name);
  if (complaints.empty()) return;
  AddInvalid(errors, absl::StrCat(TaskPath(index), ".name"), JsonString(task.name),
             absl::StrCat("its pods would be called ", name, ": ", absl::StrJoin(complaints, ", ")),
             "shorten the name of the job or of the task");
}

// NUMA policies deal in whole CPUs.
void CheckWholeCpus(const boost::json::value& pod_template, const TaskSpec& task, std::size_t index,
                    FieldErrors& errors) {
  if (task.topology_policy.empty() || task.topology_policy == "none") return;
  FieldErrors told_elsewhere;
  const std::string path = absl::StrCat(TaskPath(index), ".template");
  const core::Place root(pod_template, path, told_elsewhere);
  const core::Place spec = root["spec"];
  for (const absl::string_view list : {"containers", "initContainers"}) {
    const core::Place containers = spec[list];
    if (!containers.present()) continue;
    containers.ForEachItem([&](const core::Place& container, std::size_t) {
      const core::Place resources = container["resources"];
      const core::Place requests = resources["requests"];
      const bool asks = requests.present() && requests.json().is_object() && !requests.json().get_object().empty();
      const core::Place amounts = resources[asks ? "requests" : "limits"];
      const core::Place cpu = amounts["cpu"];
      const std::optional<Quantity> quantity = cpu.Amount();
      if (quantity.has_value() && !quantity->zero() && *quantity == Quantity::FromUnits(quantity->Units().value_or(0)))
        return;
      const core::Place shown = resources["requests"];
      AddInvalid(errors, absl::StrCat(shown.Path(), ".cpu"),
                 quantity.has_value() ? JsonString(quantity->ToString()) : "",
                 absl::StrCat("must be a whole number of CPUs with topologyPolicy ", task.topology_policy),
                 "ask for 1, 2, ... or set topologyPolicy: none");
    });
  }
}

const boost::json::value* TemplateOf(const boost::json::value& object, std::size_t index) {
  const boost::json::value* task = &object.as_object().at("spec").as_object().at("tasks").as_array().at(index);
  const auto it = task->as_object().find("template");
  return it == task->as_object().end() ? nullptr : &it->value();
}

void CheckTemplate(const boost::json::value& object, const TaskSpec& task, std::size_t index, FieldErrors& errors) {
  static const boost::json::value kAbsent;
  const boost::json::value* pod_template = TemplateOf(object, index);
  if (pod_template == nullptr) pod_template = &kAbsent;
  FieldErrors wrong = core::CheckPodTemplate(*pod_template, absl::StrCat(TaskPath(index), ".template"));
  if (wrong.empty()) CheckWholeCpus(*pod_template, task, index, wrong);
  for (FieldError& error : wrong) {
    if (!Full(errors)) errors.push_back(std::move(error));
  }
}

// What must hold between minAvailable and replicas; true when it does.
bool CheckTaskMinAvailable(const TaskSpec& task, std::size_t index, FieldErrors& errors) {
  if (task.min_available.value_or(task.replicas) <= task.replicas) return true;
  AddInvalid(errors, absl::StrCat(TaskPath(index), ".minAvailable"), absl::StrCat(*task.min_available),
             absl::StrCat("must not be greater than the task's replicas, ", task.replicas),
             "raise replicas or lower minAvailable");
  return false;
}

void CheckTask(const Job& job, const boost::json::value& object, std::size_t index, FieldErrors& errors) {
  const TaskSpec& task = job.spec.tasks[index];
  CheckPolicies(task.policies, absl::StrCat(TaskPath(index), ".policies"), errors);
  CheckPodName(job, task, index, errors);
  CheckTemplate(object, task, index, errors);
  CheckPartition(task, TaskPath(index), errors);
}

// Names of tasks tell their pods apart.
void CheckTaskNames(const std::vector<TaskSpec>& tasks, FieldErrors& errors) {
  absl::flat_hash_map<absl::string_view, std::size_t> first;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto [it, fresh] = first.try_emplace(tasks[i].name, i);
    if (fresh) continue;
    AddError(errors, FieldError::Type::kDuplicate, absl::StrCat(TaskPath(i), ".name"), JsonString(tasks[i].name),
             absl::StrCat(TaskPath(it->second), " has the same name"), "give each task its own");
  }
}

void CheckMinAvailable(const JobSpec& spec, bool tasks_ok, FieldErrors& errors) {
  std::int64_t replicas = 0, min_available = 0;
  for (const TaskSpec& task : spec.tasks) {
    replicas += task.replicas;
    min_available += task.min_available.value_or(task.replicas);
  }
  // The sum of the tasks' is what the default is; when one of them is wrong that has been said.
  if (spec.min_available <= replicas || (!tasks_ok && spec.min_available == min_available)) return;
  AddInvalid(errors, "spec.minAvailable", absl::StrCat(spec.min_available),
             absl::StrCat("must not be greater than the replicas of all tasks together, ", replicas),
             "raise replicas or lower minAvailable");
}

void CheckQueueOf(const JobSpec& spec, const QueueLookup& queues, FieldErrors& errors) {
  const auto add = [&](absl::string_view rule, absl::string_view fix) {
    AddInvalid(errors, "spec.queue", JsonString(spec.queue), rule, fix);
  };
  if (spec.queue == kRootQueue)
    return add("jobs can not be submitted to the root queue", "name one of the queues below it");
  if (!queues) return;
  const std::optional<QueueFacts> queue = queues(spec.queue);
  if (!queue.has_value()) {
    return AddError(errors, FieldError::Type::kNotFound, "spec.queue", JsonString(spec.queue),
                    "there is no queue of this name", "create it, or name one that `kubectl get queues` lists");
  }
  if (queue->state != "Open") {
    add(absl::StrCat("the queue takes no jobs: its state is ", queue->state.empty() ? "not known yet" : queue->state,
                     ", not Open"),
        queue->state.empty() ? "wait until the controller has seen the queue" : "open the queue or name another");
  }
  if (!queue->children.empty()) {
    add(absl::StrCat("jobs can be submitted to queues without children only; this one has ", queue->children.size(),
                     ": ", absl::StrJoin(queue->children, ", ")),
        "name one of these");
  }
}

}  // namespace

void CheckDurations(const JobSpec& spec, FieldErrors& errors) {
  const auto policies = [&](const std::vector<LifecyclePolicy>& list, const std::string& path) {
    for (std::size_t i = 0; i < list.size(); ++i)
      CheckDuration(list[i].timeout, absl::StrCat(path, "[", i, "].timeout"), errors);
  };
  policies(spec.policies, "spec.policies");
  CheckDuration(spec.running_estimate, "spec.runningEstimate", errors);
  for (std::size_t i = 0; i < spec.tasks.size(); ++i)
    policies(spec.tasks[i].policies, absl::StrCat(TaskPath(i), ".policies"));
}

void CheckTopology(const NetworkTopologySpec& topology, const std::string& path, FieldErrors& errors) {
  if (!topology.highest_tier_allowed.has_value() || topology.highest_tier_name.empty()) return;
  AddError(errors, FieldError::Type::kForbidden, absl::StrCat(path, ".highestTierName"), "",
           "must not be given together with highestTierAllowed", "keep one of them");
}

void CheckPartition(const TaskSpec& task, const std::string& path, FieldErrors& errors) {
  if (!task.partition_policy.has_value()) return;
  const PartitionPolicySpec& policy = *task.partition_policy;
  const std::string at = absl::StrCat(path, ".partitionPolicy");
  const std::int64_t total = std::int64_t{policy.total_partitions} * policy.partition_size;
  const std::int64_t least = std::int64_t{policy.min_partitions} * policy.partition_size;
  if (task.replicas != total) {
    AddInvalid(errors, absl::StrCat(path, ".replicas"), absl::StrCat(task.replicas),
               absl::StrCat("must be totalPartitions x partitionSize, ", policy.total_partitions, " x ",
                            policy.partition_size, " = ", total));
  } else if (task.min_available.has_value() && policy.min_partitions > 0 && least != *task.min_available) {
    AddInvalid(errors, absl::StrCat(path, ".minAvailable"), absl::StrCat(*task.min_available),
               absl::StrCat("must be minPartitions x partitionSize, ", policy.min_partitions, " x ",
                            policy.partition_size, " = ", least),
               "leave it out to get that");
  }
  if (policy.network_topology.has_value())
    CheckTopology(*policy.network_topology, absl::StrCat(at, ".networkTopology"), errors);
}

void CheckJobCreate(const Job& job, const boost::json::value& object, const QueueLookup& queues, FieldErrors& errors) {
  const JobSpec& spec = job.spec;
  if (spec.tasks.empty()) {
    return AddError(errors, FieldError::Type::kRequired, "spec.tasks", "", "a job needs at least one task");
  }
  if (const Complaints complaints = CheckQualifiedName(job.metadata.name);
      !job.metadata.name.empty() && !complaints.empty()) {
    AddInvalid(errors, "metadata.name", JsonString(job.metadata.name), absl::StrJoin(complaints, ", "), "shorten it");
  }
  bool tasks_ok = true;
  for (std::size_t i = 0; i < spec.tasks.size(); ++i)
    tasks_ok = CheckTaskMinAvailable(spec.tasks[i], i, errors) && tasks_ok;
  CheckMinAvailable(spec, tasks_ok, errors);
  CheckTaskNames(spec.tasks, errors);
  for (std::size_t i = 0; i < spec.tasks.size() && !Full(errors); ++i) CheckTask(job, object, i, errors);
  CheckDependencies(spec.tasks, errors);
  CheckPolicies(spec.policies, "spec.policies", errors);
  CheckPlugins(spec, errors);
  CheckVolumes(spec.volumes, errors);
  if (spec.network_topology.has_value()) CheckTopology(*spec.network_topology, "spec.networkTopology", errors);
  CheckQueueOf(spec, queues, errors);
}

}  // namespace gangway::api::volcano
