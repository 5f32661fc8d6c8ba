// What of a gang may be evicted now: members beyond its minimum, or all of it.
//
// Never are pods that say `volcano.sh/preemptable: "false"`, or whose PodGroup does, pods of the system, those in their
// cooldown or in their queue's minimum runtime, gangs that lost a member in their grace (lost_member.h), those whose
// disruption budget is used up, those that are being bound, and those that name another scheduler. Pods that ask for
// nothing are evicted only by pods that ask for nothing, or the other way round when a node has no place for more pods.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "plugin/gang/policy.h"
#include "plugin/gang/queue_tree.h"
#include "plugin/model/cluster.h"

namespace gangway::gang {

// For so long pods of the queue run before they may go, as it says, or the next above it that does.
absl::Duration MinRuntimeOf(const model::Cluster& cluster, const QueueTree& tree, model::QueueId queue);

// As far as its cooldown and its queue's minimum runtime go, it may go from then on.
absl::Time MayGoFrom(const model::Task& task, absl::Duration min_runtime);

// Pods that go together: one beyond a gang's minimum, a sub-group, or all of a gang.
struct Bundle {
  model::GangId gang = model::kNone;
  bool whole = false;
  std::vector<model::TaskId> tasks;
  model::Resources amounts;  // that they ask for
  double loss = 0;           // between queues: see Reclaim::LossBy
};

// In one call of Schedule: knows who goes already. All must outlive it.
class Victims {
 public:
  Victims(const model::Cluster& cluster, const QueueTree& tree, const Policy& policy, absl::Time now)
      : cluster_(cluster), tree_(tree), policy_(policy), now_(now) {}

  // What of a gang is beyond its minimum, the last in order first: pods, or sub-groups. Without disruption budgets.
  std::vector<Bundle> Surplus(model::GangId gang, bool asks_for_nothing);
  // All of it that is left; nullopt: some of it may not go. Without disruption budgets. The reference is good until the
  // next call; it is the same for all who ask, so it is looked for once.
  const std::optional<Bundle>& Whole(model::GangId gang, bool asks_for_nothing);

  // It is on a node and nobody decided that it goes; and it may go when its time has come.
  bool CanGo(const model::Task& task) const;
  bool IsEvictable(const model::Task& task) const;

  // Whether their disruption budgets let all of them go beside those that are counted. volcano: plugins/pdb
  bool WithinBudgets(const std::vector<model::TaskId>& tasks) const;
  // They go: their budgets are used by them; with -1 they stay.
  void Count(const std::vector<model::TaskId>& tasks, int times);

  // It was decided that they go, and they are counted: what was said of their gangs holds without them.
  void Evict(const std::vector<model::TaskId>& tasks);
  // When more may go though nothing happens.
  absl::Time look_again() const { return look_again_; }

 private:
  bool Stays(const model::Task& task) const;
  bool MayGo(const model::Task& task, absl::Duration min_runtime);
  std::optional<Bundle> FindWhole(model::GangId gang, bool asks_for_nothing);

  const model::Cluster& cluster_;
  const QueueTree& tree_;
  const Policy& policy_;
  const absl::Time now_;
  absl::flat_hash_set<const model::Task*> evicted_;  // in this call
  std::map<const model::BudgetFacts*, int> used_;
  absl::flat_hash_map<std::pair<model::GangId, bool>, std::optional<Bundle>> whole_;  // as it is now
  absl::Time look_again_ = absl::InfiniteFuture();
};

}  // namespace gangway::gang
