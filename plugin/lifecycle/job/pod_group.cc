#include "plugin/lifecycle/job/pod_group.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/core/pod.h"
#include "api/json.h"
#include "api/volcano/group_notes.h"
#include "base/status_macros.h"
#include "plugin/lifecycle/job/pod.h"
#include "plugin/lifecycle/job_plugins/job_plugin.h"
#include "plugin/lifecycle/pod_usage.h"
#include "plugin/lifecycle/policy/transitions.h"
#include "plugin/lifecycle/words.h"

namespace gangway::lifecycle {
namespace {

using api::volcano::JobSpec;
using api::volcano::PodGroupSpec;
using api::volcano::SubGroupPolicySpec;
using api::volcano::TaskSpec;

struct TemplateView {
  api::core::PodSpec spec;
  static constexpr std::string_view kName = "PodTemplateSpec";
  static constexpr bool kView = true;
  static constexpr auto Fields() { return api::MakeFields(api::MakeField<&TemplateView::spec>("spec", "")); }
};

struct TaskShare {
  const TaskSpec* task = nullptr;
  TemplateView pod;
  std::int32_t priority = 0;
  std::int64_t taken = 0;
};

absl::StatusOr<std::vector<TaskShare>> ByPriority(const JobSpec& spec, const PriorityClasses& classes) {
  std::vector<TaskShare> shares;
  for (const TaskSpec& task : spec.tasks) {
    TaskShare& share = shares.emplace_back();
    share.task = &task;
    if (!task.pod_template.empty()) {
      absl::StatusOr<TemplateView> pod = api::Decode<TemplateView>(task.pod_template.json);
      if (!pod.ok())
        return absl::InvalidArgumentError(absl::StrCat("task ", task.name, ": template: ", pod.status().message()));
      share.pod = *std::move(pod);
    }
    if (auto it = classes.find(share.pod.spec.priority_class_name); it != classes.end()) share.priority = it->second;
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const TaskShare& a, const TaskShare& b) { return a.priority > b.priority; });
  return shares;
}

// The members of the gang: how many of each task.
void TakeMembers(std::int64_t members, bool below_sum, std::vector<TaskShare>& shares) {
  std::int64_t left = std::max<std::int64_t>(members, 0);  // nobody need have judged the Job
  const auto take = [&left](TaskShare& share, std::int64_t most) {
    const std::int64_t n = std::clamp<std::int64_t>(most, 0, left);
    share.taken += n;
    left -= n;
  };
  if (!below_sum) {
    for (TaskShare& share : shares) take(share, share.task->min_available.value_or(0));
  }
  for (TaskShare& share : shares) take(share, share.task->replicas - share.taken);
}

std::int32_t MinMembers(const TaskSpec& task) {
  if (task.min_available) return *task.min_available;
  if (task.partition_policy && task.partition_policy->min_partitions != 0 &&
      task.partition_policy->partition_size != 0) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(
        std::int64_t{task.partition_policy->min_partitions} * task.partition_policy->partition_size,
        std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
  }
  return task.replicas;
}

std::vector<SubGroupPolicySpec> SubGroups(const JobSpec& spec) {
  std::vector<SubGroupPolicySpec> out;
  for (const TaskSpec& task : spec.tasks) {
    if (!task.partition_policy) continue;
    SubGroupPolicySpec& group = out.emplace_back();
    group.name = task.name;
    group.sub_group_size = task.partition_policy->partition_size;
    group.min_sub_groups = task.partition_policy->min_partitions;
    group.label_selector.emplace().match_labels[std::string(kTaskSpecKey)] = task.name;
    group.match_label_keys = {std::string(kPartitionIdKey)};
    group.network_topology = task.partition_policy->network_topology;
  }
  return out;
}

using PodsBehindGates = absl::btree_map<std::string, std::int32_t>;

// How many pods of the task there may be now, of `most`.
std::int32_t Possible(const TaskSpec& task, std::int32_t most, const PodsBehindGates& closed) {
  const auto it = closed.find(task.name);
  return it == closed.end() ? most : std::min(it->second, most);
}

// The smallest gang of pods that may be there.
std::int64_t OpenMembers(const JobSpec& spec, const PodsBehindGates& closed) {
  std::int64_t open = 0;
  for (const TaskSpec& task : spec.tasks) open += Possible(task, task.replicas, closed);
  return std::min<std::int64_t>(spec.min_available, open);
}

bool SamePolicies(const std::vector<SubGroupPolicySpec>& a, const std::vector<SubGroupPolicySpec>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const SubGroupPolicySpec& x, const SubGroupPolicySpec& y) { return x.name == y.name; });
}

}  // namespace

absl::StatusOr<api::ResourceList> MinResources(const JobSpec& spec, const PriorityClasses& classes) {
  GW_ASSIGN_OR_RETURN(std::vector<TaskShare> shares, ByPriority(spec, classes));
  TakeMembers(spec.min_available, spec.min_available < TotalMinAvailable(spec), shares);
  api::ResourceList sum;
  for (const TaskShare& share : shares) {
    if (share.taken == 0) continue;
    GW_ASSIGN_OR_RETURN(const api::ResourceList usage, QuotaUsage(share.pod.spec));
    GW_RETURN_IF_ERROR(AddTimes(usage, share.taken, sum));
  }
  return sum;
}

absl::StatusOr<PodGroupSpec> WantedPodGroupSpec(const JobSpec& spec, const PriorityClasses& classes,
                                                const absl::btree_map<std::string, std::int32_t>& closed) {
  PodGroupSpec group;
  group.min_member = static_cast<std::int32_t>(OpenMembers(spec, closed));
  for (const TaskSpec& task : spec.tasks) group.min_task_member[task.name] = Possible(task, MinMembers(task), closed);
  group.queue = spec.queue;
  group.priority_class_name = spec.priority_class_name;
  GW_ASSIGN_OR_RETURN(group.min_resources, MinResources(spec, classes));
  group.network_topology = spec.network_topology;
  if (group.network_topology && group.network_topology->highest_tier_allowed)
    group.network_topology->highest_tier_name.clear();
  group.sub_group_policy = SubGroups(spec);
  return group;
}

api::volcano::PodGroup NewPodGroup(const api::volcano::Job& job, PodGroupSpec spec,
                                   const api::volcano::PastRuns& past) {
  api::volcano::PodGroup group;
  group.api_version = api::kPodGroups.ApiVersion();
  group.kind = std::string(api::kPodGroups.kind);
  group.metadata.name = PodGroupName(job);
  group.metadata.ns = job.metadata.ns;
  group.metadata.labels = job.metadata.labels;
  group.metadata.annotations = job.metadata.annotations;
  group.metadata.annotations.erase("kubectl.kubernetes.io/last-applied-configuration");  // it speaks of the Job
  const std::string past_runs(api::volcano::kPastRunsAnnotation);
  group.metadata.annotations.erase(past_runs);
  if (past.runs > 0) group.metadata.annotations[past_runs] = api::volcano::FormatPastRuns(past);
  const std::string scheduler(api::volcano::kSchedulerNameAnnotation);
  group.metadata.annotations.erase(scheduler);
  if (!job.spec.scheduler_name.empty()) group.metadata.annotations[scheduler] = job.spec.scheduler_name;
  group.metadata.owner_references = {OwnerReferenceTo(job)};
  group.spec = std::move(spec);
  return group;
}

absl::StatusOr<std::string> PodGroupPatch(const PodGroupSpec& is, const PodGroupSpec& wanted) {
  bool same = is.priority_class_name == wanted.priority_class_name && is.min_member == wanted.min_member &&
              is.min_resources == wanted.min_resources && SamePolicies(is.sub_group_policy, wanted.sub_group_policy);
  for (const auto& [task, members] : wanted.min_task_member) {
    auto it = is.min_task_member.find(task);
    same = same && it != is.min_task_member.end() && it->second == members;
  }
  if (same) return std::string();
  PodGroupSpec to = is;
  to.priority_class_name = wanted.priority_class_name;
  to.min_member = wanted.min_member;
  to.min_resources = wanted.min_resources;
  for (const auto& [task, members] : wanted.min_task_member) to.min_task_member[task] = members;
  if (!SamePolicies(is.sub_group_policy, wanted.sub_group_policy)) to.sub_group_policy = wanted.sub_group_policy;
  GW_ASSIGN_OR_RETURN(const std::string diff, api::MergePatchDiff(api::Encode(is), api::Encode(to)));
  std::string out;
  api::JsonWriter(out).BeginObject().RawField("spec", diff).EndObject();
  return out;
}

}  // namespace gangway::lifecycle
