// Who goes first. All orders are total: the same cluster gives the same order, whatever the order of events was.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "plugin/gang/overlay.h"
#include "plugin/gang/policy.h"
#include "plugin/gang/shares.h"
#include "plugin/model/cluster.h"

namespace gangway::gang {

// Which queue goes next: spec.priority (higher first); then, level by level from the top of the tree, the share (lower
// first), creation time and name. A queue's share is the largest part that it holds, with the queues below it, of what
// it deserves of a resource; one that deserves nothing comes after all that hold less than theirs, by what it holds per
// weight. volcano: plugins/proportion, QueueOrderFn
class QueueOrder {
 public:
  // `shares`: nullptr when there is one queue; the order is of the arguments as they are and must not outlive them.
  QueueOrder(const Overlay& overlay, const Shares* shares, const std::vector<model::QueueId>& queues);

  model::QueueId First() const;  // kNone: all are done
  void Done(model::QueueId queue);
  // It may hold another amount than when it was looked at last. Only that of one queue changes between two calls.
  void Moved(model::QueueId queue);
  // From now on it holds so much more.
  void Count(model::QueueId queue, const model::Resources& amounts);
  // Whether with so much more the queue and all above it keep within what they deserve; pods are not looked at.
  bool Within(model::QueueId queue, const model::Resources& more) const;

 private:
  // The gangs of a queue, or the queue with all below it.
  struct Place {
    Part share;
    std::vector<int> children;  // places with something to serve, in order
  };
  static int GangsOf(model::QueueId queue) { return 2 * queue + 1; }
  static int TreeOf(model::QueueId queue) { return 2 * queue; }
  int Above(int place) const;
  std::int64_t Held(int place, model::Dim dim) const;
  std::int64_t Deserved(int place, model::Dim dim) const;
  Part ShareOf(int place) const;
  bool Before(int a, int b) const;
  void Enter();
  void Insert(int place);
  void Erase(int place);

  const Overlay& overlay_;
  const Shares* const shares_;
  std::vector<Place> places_;                      // the last one is above all
  std::vector<model::QueueId> later_;              // of lower priorities, the lowest first
  std::vector<model::Resources> counted_, below_;  // by queue, its own and with those below it; empty: nothing
};

// Whose turn it is among gangs that want their minimum: by queues (QueueOrder), in a queue by priority (higher first),
// then deadline where the policy has them, then arrival (creation time, then namespace and name).
//
// First come those with whom their queue keeps within what it deserves; those with whom it would not come after all of
// these, and with them whoever has a lower priority in the queue. So no queue gets past its share while another waits
// for its own, and nothing stays free that somebody could use.
class Turns {
 public:
  // What the gang's minimum still needs.
  using Needs = absl::FunctionRef<const model::Resources&(model::GangId)>;
  Turns(const Overlay& overlay, const Shares* shares, const Policy& policy, const std::vector<model::GangId>& gangs);
  // Of gangs that are in order already, by queue.
  Turns(const Overlay& overlay, const Shares* shares, std::map<model::QueueId, std::vector<model::GangId>> gangs);

  // kNone: nobody is left with whom a queue keeps within its share.
  model::GangId NextWithin(Needs needs);
  // Of those that are left, whatever their queues hold.
  model::GangId NextBeyond();
  // Before the first turn: the gangs of each queue, in order.
  template <class F>  // void(QueueId, const std::vector<GangId>&)
  void ForEachLine(F visit) const {
    for (const auto& [queue, line] : lines_) visit(queue, line.gangs);
  }
  // Counts as held by the gang's queue from now on.
  void Count(model::GangId gang, const model::Resources& amounts);

 private:
  struct Line {
    std::vector<model::GangId> gangs, beyond;
    std::size_t next = 0;
  };
  model::GangId Take(model::QueueId queue);
  void LookAtLast();
  void Order();
  void OrderFirst();

  const Overlay& overlay_;
  const Shares* const shares_;
  std::map<model::QueueId, Line> lines_;
  std::optional<QueueOrder> order_, first_order_;  // the second: before the first turn, where there are shares
  std::uint64_t first_changes_ = 0;                // of the overlay's queues, then
  std::vector<std::pair<model::QueueId, model::Resources>> counted_;
  model::QueueId last_ = model::kNone;  // served, and not looked at since
  std::uint64_t changes_ = 0;           // of the overlay's queues, before it was
  bool beyond_ = false;
};

// By priority, deadline where the policy has them, and arrival.
bool GoesBefore(const model::Cluster& cluster, const Policy& policy, model::GangId a, model::GangId b);
void SortGangs(const model::Cluster& cluster, const Policy& policy, std::vector<model::GangId>& gangs);

// A gang's tasks in the order in which they are placed: priority (higher first), number in the task, creation time,
// name.
void SortTasks(const model::Cluster& cluster, std::vector<model::TaskId>& tasks);

}  // namespace gangway::gang
