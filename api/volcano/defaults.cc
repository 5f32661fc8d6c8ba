#include "api/volcano/defaults.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/field_rules.h"
#include "api/json_value.h"
#include "api/volcano/job_plugins.h"
#include "base/strings.h"

namespace gangway::api::volcano {
namespace {

using boost::json::object;
using boost::json::value;

std::int32_t Clamp(std::int64_t n) {
  return static_cast<std::int32_t>(std::min<std::int64_t>(n, std::numeric_limits<std::int32_t>::max()));
}

// The object at `key`; nullptr when there is none.
object* ObjectAt(object& parent, std::string_view key) {
  const auto it = parent.find(key);
  return it == parent.end() ? nullptr : it->value().if_object();
}

bool EmptyText(const object& parent, std::string_view key) {
  const auto it = parent.find(key);
  if (it == parent.end() || it->value().is_null()) return true;
  const boost::json::string* text = it->value().if_string();
  return text != nullptr && text->empty();
}

// hostNetwork with the ordinary dnsPolicy would not see the cluster's names.
bool DefaultDnsPolicy(value& pod_template) {
  object* members = pod_template.if_object();
  object* spec = members == nullptr ? nullptr : ObjectAt(*members, "spec");
  if (spec == nullptr || !EmptyText(*spec, "dnsPolicy")) return false;
  const auto host_network = spec->find("hostNetwork");
  if (host_network == spec->end() || host_network->value() != value(true)) return false;
  (*spec)["dnsPolicy"] = "ClusterFirstWithHostNet";
  return true;
}

void DefaultMode(std::optional<NetworkTopologySpec>& topology) {
  if (topology.has_value() && topology->mode.empty()) topology->mode = "hard";
}

// nullopt: made of values that admission refuses.
std::optional<std::int32_t> DefaultMinAvailable(const TaskSpec& task) {
  std::int64_t min_available = task.replicas;
  if (task.partition_policy.has_value() && task.partition_policy->min_partitions > 0) {
    min_available = std::int64_t{task.partition_policy->min_partitions} * task.partition_policy->partition_size;
  }
  if (min_available < 0) return std::nullopt;
  return Clamp(min_available);
}

// Everything but the template.
bool DefaultTask(TaskSpec& task, std::size_t index) {
  const bool wanting = task.name.empty() || !task.min_available.has_value() || task.max_retry == 0;
  if (task.name.empty()) task.name = absl::StrCat("default", index);
  if (!task.min_available.has_value()) task.min_available = DefaultMinAvailable(task);
  if (task.max_retry == 0) task.max_retry = kDefaultMaxRetry;
  return wanting;
}

// What needs no flags comes first: whoever brings it with some only wants it to be there.
void DefaultPlugins(std::map<std::string, std::vector<std::string>>& plugins) {
  for (const bool with_flag : {false, true}) {
    for (const JobPlugin& plugin : kJobPlugins) {
      if (!plugins.contains(std::string(plugin.name))) continue;
      for (const BroughtPlugin& brought : plugin.brings) {
        if (brought.flag.empty() == with_flag) continue;
        plugins.try_emplace(std::string(brought.name), with_flag ? std::vector<std::string>{std::string(brought.flag)}
                                                                 : std::vector<std::string>());
      }
    }
  }
}

// True when a task's own fields (not its template) needed a default.
bool DefaultSpec(JobSpec& spec) {
  if (spec.queue.empty()) spec.queue = std::string(kDefaultQueue);
  if (spec.scheduler_name.empty()) spec.scheduler_name = std::string(kDefaultScheduler);
  if (spec.max_retry == 0) spec.max_retry = kDefaultMaxRetry;
  DefaultMode(spec.network_topology);
  bool wanting = false;
  std::int64_t sum = 0;
  bool sum_known = true;
  for (std::size_t i = 0; i < spec.tasks.size(); ++i) {
    TaskSpec& task = spec.tasks[i];
    if (DefaultTask(task, i)) wanting = true;
    if (task.partition_policy.has_value()) DefaultMode(task.partition_policy->network_topology);
    sum += task.min_available.value_or(0);
    sum_known = sum_known && task.min_available.value_or(-1) >= 0;
  }
  if (spec.min_available == 0 && sum_known) spec.min_available = Clamp(sum);
  DefaultPlugins(spec.plugins);
  return wanting;
}

// Fields of ours from the decoded job into its document.
void WriteTask(const TaskSpec& task, object& out) {
  if (EmptyText(out, "name")) out["name"] = task.name;
  if (task.min_available.has_value()) out["minAvailable"] = *task.min_available;
  out["maxRetry"] = task.max_retry;
}

void WriteSpec(const JobSpec& spec, object& out) {
  if (EmptyText(out, "queue")) out["queue"] = spec.queue;
  if (EmptyText(out, "schedulerName")) out["schedulerName"] = spec.scheduler_name;
  out["maxRetry"] = spec.max_retry;
  out["minAvailable"] = spec.min_available;
  if (object* plugins = ObjectAt(out, "plugins")) {
    for (const auto& [name, flags] : spec.plugins) {
      if (!plugins->contains(name)) (*plugins)[name] = boost::json::array(flags.begin(), flags.end());
    }
  }
}

// The document's spec when it is an object. (Not operator[]: it may move the members, even one that is there.)
value* SpecOf(value& document) {
  object* root = document.if_object();
  const auto it = root == nullptr ? nullptr : root->find("spec");
  return root != nullptr && it != root->end() && it->value().is_object() ? &it->value() : nullptr;
}

}  // namespace

std::string QueueOfPodGroup(absl::string_view asked, absl::string_view namespace_queue) {
  if (!asked.empty() && asked != View(kDefaultQueue)) return std::string(asked);
  return std::string(namespace_queue.empty() ? View(kDefaultQueue) : namespace_queue);
}

void ApplyDefaults(Job& job) {
  DefaultSpec(job.spec);
  for (TaskSpec& task : job.spec.tasks) {
    if (!absl::StrContains(task.pod_template.json, "\"hostNetwork\"")) continue;  // few have it, and parsing is dear
    absl::StatusOr<value> pod_template = ParseJson(task.pod_template.json);
    if (pod_template.ok() && DefaultDnsPolicy(*pod_template)) task.pod_template.json = ToJson(*pod_template);
  }
}

void ApplyDefaults(PodGroup& group) {
  if (group.spec.queue.empty()) group.spec.queue = std::string(kDefaultQueue);
  DefaultMode(group.spec.network_topology);
  for (SubGroupPolicySpec& policy : group.spec.sub_group_policy) {
    if (!policy.min_sub_groups.has_value()) policy.min_sub_groups = 0;
    DefaultMode(policy.network_topology);
  }
}

void ApplyDefaults(Queue& queue) {
  if (queue.spec.weight == 0) queue.spec.weight = 1;
  if (!queue.spec.reclaimable.has_value()) queue.spec.reclaimable = true;
  if (queue.spec.dequeue_strategy.empty()) queue.spec.dequeue_strategy = "traverse";
}

void ApplyDefaults(CronJob& cron) {
  if (cron.spec.concurrency_policy.empty()) cron.spec.concurrency_policy = "Allow";
  if (!cron.spec.suspend.has_value()) cron.spec.suspend = false;
  if (!cron.spec.successful_jobs_history_limit.has_value()) cron.spec.successful_jobs_history_limit = 3;
  if (!cron.spec.failed_jobs_history_limit.has_value()) cron.spec.failed_jobs_history_limit = 1;
}

void ApplyJobDefaults(value& job) {
  value* found = SpecOf(job);
  if (found == nullptr) return;
  ApplyTableDefaults(TypeOf<JobSpec>(), *found);
  JobSpec decoded;
  if (!DecodeInto(ToJson(*found), TypeOf<JobSpec>(), &decoded).status.ok()) return;
  bool wanting = DefaultSpec(decoded);
  object& spec = found->get_object();
  if (const auto it = spec.find("tasks"); it != spec.end() && it->value().is_array()) {
    boost::json::array& tasks = it->value().get_array();
    for (std::size_t i = 0; i < tasks.size() && i < decoded.tasks.size(); ++i) {
      object& task = tasks[i].get_object();
      WriteTask(decoded.tasks[i], task);
      if (const auto t = task.find("template"); t != task.end() && DefaultDnsPolicy(t->value())) wanting = true;
    }
    for (value& task : tasks) {
      object* pod_template = wanting ? ObjectAt(task.get_object(), "template") : nullptr;
      if (pod_template != nullptr && !pod_template->contains("metadata")) pod_template->emplace("metadata", object());
    }
  }
  WriteSpec(decoded, spec);
}

void ApplyPodGroupDefaults(value& group, absl::string_view namespace_queue) {
  value* spec = SpecOf(group);
  if (spec == nullptr) return;
  ApplyTableDefaults(TypeOf<PodGroupSpec>(), *spec);
  object& members = spec->get_object();
  const bool absent = EmptyText(members, "queue");
  if (!absent && !members["queue"].is_string()) return;
  const std::string asked(absent ? std::string() : std::string(members["queue"].get_string()));
  if (const std::string queue = QueueOfPodGroup(asked, namespace_queue); queue != asked) members["queue"] = queue;
}

void ApplyCronJobDefaults(value& cron) {
  if (value* spec = SpecOf(cron)) ApplyTableDefaults(TypeOf<CronJobSpec>(), *spec);
}

void ApplyQueueDefaults(value& queue) {
  if (!queue.is_object()) return;
  value& spec = queue.get_object()["spec"];
  if (spec.is_null()) spec = object();
  if (!spec.is_object()) return;
  ApplyTableDefaults(TypeOf<QueueSpec>(), spec);
  object& members = spec.get_object();
  if (members["weight"] == value(0)) members["weight"] = 1;
  if (members["reclaimable"].is_null()) members["reclaimable"] = true;
  if (EmptyText(members, "dequeueStrategy")) members["dequeueStrategy"] = "traverse";
}

}  // namespace gangway::api::volcano
