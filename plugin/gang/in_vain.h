// For whom it was tried in vain to make room, so that it is not tried again for a gang that wants the same, or more.
//
// Gangs of one queue and priority with the same pods are alike to every trial: until somebody is given room, what was
// in vain for one is so for all. In the queue, and of pods that are ending anyhow, more holds: those that may go are
// the same whoever asks, and of most pods, such as ask for nothing but amounts, the more are wanted the less they fit,
// also when others have taken room since (constraint::Constraint::more_fit_less). Between queues more may be taken back
// for who wants more, where that is worth more (reclaim.h): there less says something of more only up to a gain, of the
// same levels, the same patience (Policy::reclaim_after), of those who spare the same gang (Reclaim::WentFor), and
// until others have taken room; but when places were lacking then it says so for all priorities. Whom to move is
// searched for by what is wanted: there nothing follows from less.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "plugin/gang/preemptor.h"
#include "plugin/model/decision.h"

namespace gangway::gang {

// In one call of Schedule; the cluster must outlive it.
class InVain {
 public:
  explicit InVain(const model::Cluster& cluster) : cluster_(cluster) {}

  // Whether the trial would fail again. `what_for`: whom it evicts; kNobody: it counts on what is ending alone.
  bool Knows(model::EvictFor what_for, const Preemptor& preemptor) const;
  // The trial failed, and was carried to its end.
  void Note(model::EvictFor what_for, const Preemptor& preemptor);
  // The same of kShare. `levels`: at which its queue is entitled (Reclaim::EntitledLevels); `most_gain`:
  // Reclaim::MostGain; `lacks_places_up_to`: see VictimSearch.
  bool KnowsBetweenQueues(const Preemptor& preemptor, int levels, double most_gain) const;
  void NoteBetweenQueues(const Preemptor& preemptor, int levels, std::optional<double> lacks_places_up_to);

  // Somebody has room now that was free, or it is kept.
  void RoomTaken();
  // Room became free, or is about to.
  void RoomFreed();

 private:
  struct Wish {
    model::QueueId queue = model::kNone;
    std::int32_t priority = 0;
    std::vector<std::pair<model::ShapeId, int>> by_shape;
    bool patient = false;  // this and the next between queues
    model::GangId spares = model::kNone;
    friend auto operator<=>(const Wish&, const Wish&) = default;
  };
  // Of a plain wish, whatever its priority.
  struct Share {
    model::QueueId queue = model::kNone;
    model::ShapeId shape = model::kNone;
    int levels = 0;
    bool patient = false;
    model::GangId spares = model::kNone;
    friend auto operator<=>(const Share&, const Share&) = default;
  };
  // nullopt: no other gang is alike.
  std::optional<Wish> WishOf(model::EvictFor what_for, const Preemptor& preemptor) const;
  // It wants pods of one shape, of which more fit less.
  static bool IsPlain(const Preemptor& preemptor) { return preemptor.by_shape.size() == 1 && preemptor.more_fit_less; }

  const model::Cluster& cluster_;
  absl::btree_set<std::pair<model::EvictFor, Wish>> wishes_;
  std::map<std::pair<model::EvictFor, Wish>, int> fewest_;  // of a plain wish, whose count is 0 in the key
  // So many lacked places, and more up to which gain.
  std::map<Share, std::map<int, double>> lacked_places_;
};

}  // namespace gangway::gang
