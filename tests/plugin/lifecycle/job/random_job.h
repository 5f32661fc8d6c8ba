// Jobs as chance makes them, from a table of values for each field: most could be a user's, some could not be admitted.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "api/volcano/job.h"
#include "base/random.h"

namespace gangway::testutil {

class RandomJobs {
 public:
  // `wild`: fields also take values that admission refuses.
  RandomJobs(std::uint64_t seed, bool wild) : random_(seed), wild_(wild) {}

  bool Chance(int percent) { return Below(100) < percent; }
  int Below(int bound) { return static_cast<int>(random_.Below(static_cast<std::uint64_t>(bound))); }
  std::string OneOf(const std::vector<std::string>& values) {
    return values[static_cast<std::size_t>(Below(static_cast<int>(values.size())))];
  }

  api::volcano::Job Job() {
    api::volcano::Job job;
    job.api_version = "batch.volcano.sh/v1alpha1";
    job.kind = "Job";
    job.metadata.name = "ctr";
    job.metadata.ns = "default";
    api::volcano::JobSpec& spec = job.spec;
    spec.scheduler_name = "volcano";
    spec.queue = "default";
    const int tasks = 1 + Below(3);
    for (int i = 0; i < tasks; ++i) spec.tasks.push_back(Task(i, spec.tasks));
    int least = 0, most = 0;
    for (const auto& task : spec.tasks) {
      least += std::max(task.min_available.value_or(task.replicas), 0);
      most += std::max(task.replicas, 0);
    }
    spec.min_available = Chance(50) ? least : Chance(50) ? 1 : Below(most + 1);
    if (wild_ && Chance(5)) spec.min_available = Chance(50) ? -3 : 1'000'000;
    spec.max_retry = 1 + Below(3);
    if (wild_ && Chance(5)) spec.max_retry = Below(3) - 1;
    if (Chance(20)) spec.min_success = 1 + Below(3);
    if (Chance(15)) spec.ttl_seconds_after_finished = Below(100);
    spec.policies = Policies();
    if (Chance(50)) AddPlugins(spec);
    if (Chance(20)) AddVolumes(spec);
    if (Chance(10)) spec.priority_class_name = "system-cluster-critical";
    return job;
  }

  static const std::vector<std::string>& Phases() {
    static const std::vector<std::string> phases = {"",        "Pending",    "Running",   "Restarting",  "Aborting",
                                                    "Aborted", "Completing", "Completed", "Terminating", "Terminated",
                                                    "Failed",  "Nonsense"};
    return phases;
  }
  static const std::vector<std::string>& Actions() {
    static const std::vector<std::string> actions = {"AbortJob",         "RestartJob",   "RestartTask", "RestartPod",
                                                     "RestartPartition", "TerminateJob", "CompleteJob", "ResumeJob",
                                                     "SyncJob",          "EnqueueJob",   "Nonsense"};
    return actions;
  }

 private:
  api::volcano::TaskSpec Task(int number, const std::vector<api::volcano::TaskSpec>& before) {
    api::volcano::TaskSpec task;
    task.name = number == 0 ? "ps" : number == 1 ? "w" : "a-0";
    if (wild_ && Chance(5)) task.name = OneOf({"", "ps", "w", "Upper", "a/b", std::string(70, 'x'), "\xc3\xa4"});
    task.replicas = Below(5);
    if (wild_ && Chance(5)) task.replicas = Chance(50) ? -1 : 200'000;
    if (Chance(50)) task.min_available = Below(std::max(task.replicas, 0) + 1);
    if (wild_ && Chance(5)) task.min_available = Chance(50) ? -1 : 1000;
    task.pod_template.json = Template();
    if (Chance(50)) task.policies = Policies();
    if (Chance(20)) task.max_retry = 1 + Below(3);
    if (!before.empty() && Chance(25)) {
      task.depends_on.emplace();
      task.depends_on->name.push_back(before[static_cast<std::size_t>(Below(static_cast<int>(before.size())))].name);
      if (before.size() > 1 && Chance(50)) task.depends_on->name.push_back(before.back().name);
      if (Chance(30)) task.depends_on->iteration = "any";
    }
    if (wild_ && Chance(5)) task.depends_on.emplace().name = {task.name, "nobody"};
    if (Chance(10)) {
      task.partition_policy.emplace();
      task.partition_policy->partition_size = 1 + Below(2);
      task.partition_policy->total_partitions = 1 + Below(2);
      task.replicas = task.partition_policy->total_partitions * task.partition_policy->partition_size;
      task.min_available.reset();
      task.partition_policy->min_partitions = Below(task.partition_policy->total_partitions + 1);
      if (wild_ && Chance(30)) task.partition_policy->partition_size = Below(3) - 1;
    }
    if (Chance(10)) task.topology_policy = OneOf({"none", "best-effort", "restricted", "single-numa-node"});
    return task;
  }

  std::string Template() {
    std::string containers = R"({"name":"c","image":"i","resources":{"requests":{"cpu":"1","memory":"1Gi"}}})";
    if (Chance(30))
      absl::StrAppend(
          &containers,
          R"(,{"name":"d","image":"i","env":[{"name":"A","value":""},{"name":"B","value":"8"}],"ports":[{"containerPort":80}]})");
    std::string extra;
    if (Chance(20)) absl::StrAppend(&extra, R"(,"initContainers":[{"name":"init","image":"i"}])");
    if (Chance(20)) absl::StrAppend(&extra, R"(,"restartPolicy":")", OneOf({"Never", "OnFailure", "Always"}), R"(")");
    if (Chance(10)) absl::StrAppend(&extra, R"(,"hostNetwork":true)");
    if (Chance(10)) absl::StrAppend(&extra, R"(,"volumes":[{"name":"v","emptyDir":{}}])");
    const std::string metadata = Chance(20) ? R"("metadata":{"labels":{"app":"x"},"annotations":{"note":"y"}},)" : "";
    if (wild_ && Chance(10)) {
      return OneOf({"{}", "null", R"({"spec":null})", R"({"spec":{"containers":"none"}})",
                    R"({"spec":{"containers":[]}})", R"({"metadata":7,"spec":{}})", "[]", "3",
                    R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"many"}}}]}})"});
    }
    return absl::StrCat("{", metadata, R"("spec":{"containers":[)", containers, "]", extra, "}}");
  }

  // As admission has them: an event once, `*` alone.
  std::vector<api::volcano::LifecyclePolicy> Policies() {
    std::vector<api::volcano::LifecyclePolicy> policies;
    const std::vector<std::string> actions = {"AbortJob",   "RestartJob",   "RestartTask",
                                              "RestartPod", "TerminateJob", "CompleteJob"};
    if (Chance(15)) {
      policies.emplace_back();
      policies.back().event = "*";
      policies.back().action = OneOf(actions);
      return policies;
    }
    for (const char* event : {"PodPending", "PodFailed", "PodEvicted", "TaskCompleted", "TaskFailed", "Unknown"}) {
      if (!Chance(20)) continue;
      policies.emplace_back();
      (Chance(70) ? policies.back().event : policies.back().events.emplace_back()) = event;
      policies.back().action = OneOf(actions);
      if (Chance(30) || absl::string_view(event) == "PodPending") policies.back().timeout = OneOf({"3s", "10s", "1m"});
    }
    if (Chance(15)) {
      policies.emplace_back();
      policies.back().exit_code = 3;
      policies.back().action = OneOf(actions);
    }
    if (wild_ && Chance(10)) {
      policies.emplace_back();
      policies.back().event = OneOf({"*", "Nonsense", "", "OutOfSync", "CommandIssued"});
      policies.back().action = OneOf(Actions());
      policies.back().timeout = OneOf({"", "soon", "-3s", "9999999h"});
      if (Chance(50)) policies.back().exit_code = Below(3) - 1;
    }
    return policies;
  }

  void AddPlugins(api::volcano::JobSpec& spec) {
    if (Chance(60)) spec.plugins["env"];
    if (Chance(60))
      spec.plugins["svc"] = Chance(50) ? std::vector<std::string>{}
                                       : std::vector<std::string>{OneOf(
                                             {"--publish-not-ready-addresses=true", "--disable-network-policy=true"})};
    // Its port, opened in every container, would be taken twice on a host's network; the API server says so.
    const bool on_host = std::any_of(spec.tasks.begin(), spec.tasks.end(), [](const auto& task) {
      return absl::StrContains(task.pod_template.json, "hostNetwork");
    });
    if (Chance(20) && !on_host) spec.plugins["pytorch"] = {"--master=ps", "--worker=w", "--port=23456"};
    if (Chance(10)) spec.plugins["tensorflow"] = {"--port=5000"};
    if (wild_ && Chance(10))
      spec.plugins[OneOf({"nope", "ray", "mpi", "paddle", "ssh"})] = {
          OneOf({"", "--", "--port=x", "nonsense", "--port=70000"})};
  }

  void AddVolumes(api::volcano::JobSpec& spec) {
    const int count = 1 + Below(2);
    for (int i = 0; i < count; ++i) {
      api::volcano::VolumeSpec& volume = spec.volumes.emplace_back();
      volume.mount_path = absl::StrCat("/data", i);
      if (Chance(70)) {
        volume.volume_claim.json = R"({"accessModes":["ReadWriteMany"],"resources":{"requests":{"storage":"1Gi"}}})";
      } else {
        volume.volume_claim_name = "theirs";
      }
      if (wild_ && Chance(10)) volume = {};
    }
  }

  RandomStream random_;
  const bool wild_;
};

}  // namespace gangway::testutil
