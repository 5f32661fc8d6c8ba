// Room that is kept from surplus: what gangs want beyond their minimum never takes what a gang that is let in needs to
// begin.
//
// A gang that is let in and short of its minimum has room kept for it where it would be placed if no pod beyond a
// minimum ran: first for those to whom free room is enough, then for those in whose way such pods, or pods that are
// ending, stand; for these the fullest part of what is free is kept, so that what becomes free gathers for them. Its
// pods need not exist: an equal part of its minResources stands for each one that is still to be made, on nodes without
// taints. Who would not fit even so, or waits for something else, has nothing kept and stops nobody: a minimum in the
// way may run for long. Minima go anywhere; room is kept from surplus alone, and no more than the minima need that fit
// together, in the order of being served, within a budget of looks at nodes.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "plugin/gang/constraint/asks.h"
#include "plugin/gang/overlay.h"
#include "plugin/model/cluster.h"
#include "plugin/model/kept_nodes.h"

namespace gangway::gang {

// What a gang that was let in lacks.
enum class Lacking : std::uint8_t {
  kPods,  // too few of them exist, their controller may be at work
  kTime,  // it rests after a binding was refused
  kRoom,  // none was found for the pods there are
};

class KeptRoom {
 public:
  // `gangs` in the order in which they are served. After all minima are in the overlay, which must outlive this.
  KeptRoom(const Overlay& overlay, const std::vector<std::pair<model::GangId, Lacking>>& gangs, int budget);

  // On its row at least so much, and what the spot has beside amounts, for a gang.
  void AlsoKeep(model::GangId gang, const model::KeptNodes::Spot& spot);

  bool empty() const { return first_ == model::kNone; }
  // The first for which something is kept; kNone.
  model::GangId first() const { return first_; }
  // Whether one more pod of the shape leaves on the row, and in the queue, what is kept there, and keeps none of those
  // pods off nodes by where it is. That it fits is the caller's to know.
  bool Leaves(model::Row row, const model::Shape& shape) const;
  bool LeavesInQueue(model::QueueId queue, const model::Resources& request) const;

 private:
  // Pods that are alike; without a shape, pods that are still to be made.
  struct Need {
    const model::Shape* shape = nullptr;
    const constraint::Asks* asks = nullptr;
    model::Resources request;
    int count = 0;
    std::int64_t places = 0;  // in the cluster, for each of them
  };
  using Amounts = absl::flat_hash_map<int, model::Resources>;  // by row, or by queue

  void FindEnding();
  void SumRoom();
  std::vector<Need> NeedsOf(const model::Gang& gang, Lacking lacking) const;
  bool MayKeepOff(const model::Shape& shape) const;
  void HardestFirst(std::vector<Need>& needs);
  bool KeepFor(model::GangId id, Lacking lacking, bool without_surplus);
  int Keep(const Need& need, const std::vector<model::Row>& rows, int wanted, bool without_surplus,
           std::vector<std::pair<model::Row, model::Resources>>& kept);
  std::vector<model::Row> FreestFirst(const Need& need);
  bool QueueHasRoom(const model::Gang& gang, const model::Resources& sum, bool without_surplus) const;
  int Copies(model::Row row, const Need& need, bool without_surplus) const;

  const Overlay& overlay_;
  const model::Shape any_;  // that asks for nothing
  const constraint::Asks any_asks_;
  int budget_;                        // looks at a row that are left
  std::vector<model::Row> rows_;      // present ones, by name
  Amounts ending_, ending_in_queue_;  // held by pods beyond a minimum, and by those that are ending
  Amounts kept_, kept_in_queue_;
  absl::flat_hash_map<model::Row, model::KeptNodes::Spot> spots_;
  // Of pods for which room is kept, where others may keep them off nodes; and which shapes do, as far as it was asked.
  absl::btree_set<const constraint::Asks*> kept_for_;
  mutable absl::flat_hash_map<const model::Shape*, bool> may_keep_off_;
  model::Resources room_;  // in the cluster, free or ending, that may still be kept
  model::GangId first_ = model::kNone;
};

}  // namespace gangway::gang
