#include "plugin/lifecycle/job/happenings.h"

#include <algorithm>

namespace gangway::lifecycle {
namespace {

class Finder {
 public:
  Finder(const JobView& seen, const Roster& roster, const Record& record, const EventSet& wanted)
      : seen_(seen), roster_(roster), record_(record), wanted_(wanted), version_(seen.job->status.version) {}

  std::vector<Fact> Find() && {
    if (wanted_.Has(Event::kTaskCompleted)) EachTask([this](const TaskPods& task) { Completed(task); });
    if (wanted_.Has(Event::kPodFailed))
      EachSlot([this](const TaskPods& t, std::int32_t i, const Slot& s) { Failed(t, i, s); });
    if (wanted_.Has(Event::kPodEvicted))
      EachSlot([this](const TaskPods& t, std::int32_t i, const Slot& s) { Evicted(t, i, s); });
    if (wanted_.Has(Event::kTaskFailed)) EachTask([this](const TaskPods& task) { BudgetSpent(task); });
    if (wanted_.Has(Event::kUnknown)) Unknown();
    if (wanted_.Has(Event::kPodPending))
      EachSlot([this](const TaskPods& t, std::int32_t i, const Slot& s) { Pending(t, i, s); });
    return std::move(facts_);
  }

 private:
  template <class F>
  void EachTask(F f) {
    for (const TaskPods& task : roster_.tasks) f(task);
  }
  template <class F>
  void EachSlot(F f) {
    for (const TaskPods& task : roster_.tasks) {
      auto restarting = record_.restarting.find(task.spec->name);
      for (std::size_t i = 0; i < task.slots.size(); ++i) {
        const auto index = static_cast<std::int32_t>(i);
        if (restarting != record_.restarting.end() && restarting->second.Contains(index)) continue;
        f(task, index, task.slots[i]);
      }
    }
  }

  bool Current(const Slot& slot) const { return slot.pod != nullptr && !slot.foreign && slot.pod->version >= version_; }
  bool Recorded(const TaskPods& task, std::int32_t index) const {
    if (record_.version != version_) return false;
    auto created = record_.created.find(task.spec->name);
    return created != record_.created.end() && created->second.Contains(index);
  }
  bool Restarting(const TaskPods& task, std::size_t index) const {
    auto restarting = record_.restarting.find(task.spec->name);
    return restarting != record_.restarting.end() && restarting->second.Contains(static_cast<std::int32_t>(index));
  }

  Happening& Add(Event event, const TaskPods& task, std::int32_t index) {
    Happening& happening = facts_.emplace_back().happening;
    happening.event = event;
    happening.job_uid = seen_.job->metadata.uid;
    happening.version = version_;
    happening.task = task.spec->name;
    happening.index = index;
    if (index >= 0) happening.pod = task.PodName(index);
    return happening;
  }

  // Pods of older versions count, but the last word is a pod of this one.
  void Completed(const TaskPods& task) {
    if (task.slots.empty()) return;
    std::int32_t last = -1;
    for (std::size_t i = 0; i < task.slots.size(); ++i) {
      const Slot& slot = task.slots[i];
      if (slot.pod == nullptr || slot.foreign || slot.pod->phase != PodPhase::kSucceeded || Restarting(task, i)) return;
      if (!Current(slot)) continue;
      if (last < 0 || slot.pod->finished >= task.slots[static_cast<std::size_t>(last)].pod->finished)
        last = static_cast<std::int32_t>(i);
    }
    if (last >= 0) Add(Event::kTaskCompleted, task, last);
  }

  void Failed(const TaskPods& task, std::int32_t index, const Slot& slot) {
    if (!Current(slot) || !slot.pod->failed_first || slot.pod->out_of_sync) return;
    Happening& happening = Add(Event::kPodFailed, task, index);
    happening.exit_code = slot.pod->exit_code;
    happening.failure = slot.pod->failure;
  }

  void Evicted(const TaskPods& task, std::int32_t index, const Slot& slot) {
    if (!Recorded(task, index)) return;
    if (slot.pod == nullptr || slot.foreign) {
      if (seen_.CertainlyGone(task.PodName(index))) AddEvicted(task, index);
    } else if (!record_.delayed.empty() && Current(slot) && slot.pod->phase == PodPhase::kPending) {
      Add(Event::kPodEvicted, task, index);
      facts_.back().made_anew = true;
    }
  }

  void AddEvicted(const TaskPods& task, std::int32_t index) {
    Happening& happening = Add(Event::kPodEvicted, task, index);
    if (seen_.leaving_failures == nullptr) return;
    const auto known = seen_.leaving_failures->find(happening.pod);
    if (known != seen_.leaving_failures->end()) happening.failure = known->second;
  }

  // The restarts that the task's pods may spend together are spent.
  void BudgetSpent(const TaskPods& task) {
    if (task.slots.empty() || task.spec->max_retry < 0) return;
    const std::int32_t budget = task.spec->max_retry == 0 ? 3 : task.spec->max_retry;
    std::int64_t restarts = 0;
    std::int32_t worst = -1;
    for (std::size_t i = 0; i < task.slots.size(); ++i) {
      const Slot& slot = task.slots[i];
      if (!Current(slot) || Restarting(task, i)) continue;
      if (slot.pod->phase != PodPhase::kRunning && slot.pod->phase != PodPhase::kPending) continue;
      restarts += slot.pod->restarts;
      if (worst < 0 || slot.pod->restarts > task.slots[static_cast<std::size_t>(worst)].pod->restarts)
        worst = static_cast<std::int32_t>(i);
    }
    if (worst < 0 || restarts < budget) return;
    Add(Event::kTaskFailed, task, worst).failure = task.slots[static_cast<std::size_t>(worst)].pod->failure;
  }

  void Unknown() {
    const api::volcano::PodGroup* group = seen_.pod_group;
    if (group == nullptr || group->status.phase != "Unknown" || group->metadata.deleting()) return;
    if (group->metadata.uid == record_.unknown_answered || group->metadata.uid == record_.killed_pod_group) return;
    Happening& happening = facts_.emplace_back().happening;
    happening.event = Event::kUnknown;
    happening.version = version_;  // Volcano sends 0, so that there the policy works only until the first kill
  }

  void Pending(const TaskPods& task, std::int32_t index, const Slot& slot) {
    if (Current(slot) && slot.pod->phase == PodPhase::kPending && !slot.pod->deleting)
      Add(Event::kPodPending, task, index);
  }

  const JobView& seen_;
  const Roster& roster_;
  const Record& record_;
  const EventSet& wanted_;
  const std::int32_t version_;
  std::vector<Fact> facts_;
};

}  // namespace

std::vector<Fact> FindFacts(const JobView& seen, const Roster& roster, const Record& record, const EventSet& wanted) {
  return Finder(seen, roster, record, wanted).Find();
}

}  // namespace gangway::lifecycle
