// The gangs that hold room and may be asked to go, by queue, and in which order; and the pods that are going anyhow.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "plugin/gang/policy.h"
#include "plugin/gang/queue_tree.h"
#include "plugin/model/cluster.h"

namespace gangway::gang {

// A gang of which something may go.
struct Candidate {
  model::GangId gang = model::kNone;
  bool whole = true;                // all of it; or what is beyond its minimum
  bool leaving = false;             // some of it is marked to be evicted
  bool has_surplus = false;         // beyond its minimum
  std::int32_t queue_priority = 0;  // 0 within a queue
  std::int32_t priority = 0;
  absl::Time started;  // model::Gang::mean_start
  absl::Time created;
};

// In which candidates go, as a heap has it (the one that goes first is on top): who is in the middle of an eviction
// goes first, then members before whole gangs, then by priority of the queue and its own, then who loses least: whose
// pods have started last, in the mean, or not at all; then youth.
class GoesLater {
 public:
  explicit GoesLater(const model::Cluster& cluster) : cluster_(&cluster) {}
  bool operator()(const Candidate& a, const Candidate& b) const;

 private:
  const model::Cluster* cluster_;
};

// Of one that holds room: it is terminating, and that it will be gone soon is not counted on, since it should have been
// long ago, or its node is gone.
bool IsStuck(const model::Cluster& cluster, const Policy& policy, const model::Task& task, absl::Time now);

// As the cluster is at a time; all must outlive it.
class Holders {
 public:
  Holders(const model::Cluster& cluster, const QueueTree& tree, const Policy& policy, absl::Time now);

  // Each whole; those of a gang's queue of lower priority, with what is beyond their minima beside.
  const std::map<model::QueueId, std::vector<Candidate>>& by_queue() const { return by_queue_; }
  std::vector<Candidate> LowerInQueue(model::GangId gang) const;
  // Adds the candidate, and what is beyond its minimum as one more.
  static void Add(Candidate candidate, std::vector<Candidate>& candidates);
  // Of each resource the most that one of them holds.
  const model::Resources& most_held() const { return most_held_; }

  // Of the gang's queue somebody has a lower priority.
  bool AnyLowerInQueue(const model::Gang& gang) const;
  bool AnyLowerInQueue(model::QueueId queue, std::int32_t priority) const;
  // Some of it may be moved to other nodes.
  bool AnyMovable() const { return any_movable_; }
  bool AnyInOtherQueues(model::QueueId queue) const { return by_queue_.size() > (by_queue_.contains(queue) ? 1u : 0u); }
  // What those of its queue hold that the gang may evict for their lower priority.
  const model::Resources& HeldByLower(model::GangId gang);

  // Pods that hold room and will not for long: they are terminating, or were told to go. Without those whose room is
  // kept for the pods that are made for them (lost_member.h).
  const std::vector<model::TaskId>& going() const { return going_; }
  void Go(const std::vector<model::TaskId>& tasks) { going_.insert(going_.end(), tasks.begin(), tasks.end()); }
  // When one of them is not counted on any more, though nothing happens.
  absl::Time look_again() const { return look_again_; }

 private:
  void FindGoing(const model::Gang& gang, absl::Time now);

  const model::Cluster& cluster_;
  const Policy& policy_;
  std::map<model::QueueId, std::vector<Candidate>> by_queue_;
  std::map<model::QueueId, std::int32_t> lowest_;  // priority
  std::map<std::pair<model::QueueId, std::int32_t>, model::Resources> lower_held_;
  bool any_movable_ = false;
  model::Resources most_held_;
  std::vector<model::GangId> being_bound_;  // they hold room and are not asked yet
  std::vector<model::TaskId> going_;
  absl::Time look_again_ = absl::InfiniteFuture();
};

}  // namespace gangway::gang
