#include "plugin/lifecycle/job/roster.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace gangway::lifecycle {
namespace {

// The index that ends a pod's name, written as we write it: no sign, no leading zero. -1: none.
std::int32_t IndexOf(absl::string_view name, absl::string_view prefix) {
  if (name.size() <= prefix.size() || name.substr(0, prefix.size()) != prefix) return -1;
  const absl::string_view digits = name.substr(prefix.size());
  if (digits.size() > 9 || (digits.size() > 1 && digits[0] == '0')) return -1;
  std::int32_t index = 0;
  for (const char c : digits) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return -1;
    index = index * 10 + (c - '0');
  }
  return index;
}

TaskPods* FindPodsOf(Roster& roster, const std::string& name, TaskPods* guess) {
  if (guess != nullptr && guess->spec->name == name) return guess;
  for (TaskPods& task : roster.tasks) {
    if (task.spec->name == name) return &task;
  }
  return nullptr;
}

// A pod without a task's annotation that nevertheless holds a name of ours.
TaskPods* FindByName(Roster& roster, const std::string& pod_name) {
  for (TaskPods& task : roster.tasks) {
    const std::int32_t index = IndexOf(pod_name, task.prefix);
    if (index >= 0 && index < static_cast<std::int32_t>(task.slots.size())) return &task;
  }
  return nullptr;
}

}  // namespace

std::string TaskPods::PodName(std::int32_t index) const { return absl::StrCat(prefix, index); }

Roster MakeRoster(const JobView& seen) {
  Roster roster;
  for (const api::volcano::TaskSpec& task : seen.job->spec.tasks) {
    TaskPods& pods = roster.tasks.emplace_back();
    pods.spec = &task;
    pods.prefix = absl::StrCat(seen.job->metadata.name, "-", task.name, "-");
    // Of two tasks of one name, which admission refuses, the first has the places.
    const bool first = FindPodsOf(roster, task.name, nullptr) == &pods;
    pods.slots.resize(static_cast<std::size_t>(first && task.replicas > 0 ? task.replicas : 0));
  }
  if (seen.pods == nullptr) return roster;
  TaskPods* task = nullptr;
  for (const auto& [name, pod] : *seen.pods) {
    TaskPods* found = FindPodsOf(roster, pod.task, task);
    std::int32_t index = found == nullptr ? -1 : IndexOf(name, found->prefix);
    // Anybody may edit an annotation; nobody a name.
    if (index < 0) {
      if (TaskPods* const by_name = FindByName(roster, name); by_name != nullptr) {
        found = by_name;
        index = IndexOf(name, found->prefix);
      }
    }
    if (found != nullptr) task = found;
    const bool foreign = pod.job_uid != seen.job->metadata.uid;
    if (index >= 0 && index < static_cast<std::int32_t>(found->slots.size())) {
      found->slots[static_cast<std::size_t>(index)] = {&pod, foreign};
    } else if (!foreign && (found != nullptr || !pod.task.empty())) {
      roster.unwanted.push_back({&name, &pod});
    }
  }
  return roster;
}

void BelieveRecord(const Record& record, std::int32_t version, Roster& roster) {
  if (record.version != version) return;
  for (TaskPods& task : roster.tasks) {
    const auto created = record.created.find(task.spec->name);
    if (created == record.created.end()) continue;
    for (std::size_t i = 0; i < task.slots.size(); ++i) {
      Slot& slot = task.slots[i];
      if (slot.pod == nullptr || slot.foreign || (slot.pod->version >= 0 && slot.pod->version <= version)) continue;
      if (!created->second.Contains(static_cast<std::int32_t>(i))) continue;
      roster.corrected.push_back(*slot.pod);
      roster.corrected.back().version = version;
      slot.pod = &roster.corrected.back();
    }
  }
}

}  // namespace gangway::lifecycle
