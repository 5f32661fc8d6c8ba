// Who waits for room, in the lines in which they have their turn, and how much of it each needs: kept from one call of
// Schedule to the next, so that after an event only those are tried whom it may let begin (ScheduleFew, schedule.h).
//
// A gang whose pods all ask for the same waits for so many copies of one shape (alike_minimum.h): it is listed with
// that need, which it shares with all that need the same. Of a gang that waits for more than that only the needs are
// known, not whose they are: when one of them is met all gangs are looked at again. A gang that waits for what it is
// itself, such as more of its pods, has no need, and goes on waiting until it changes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "plugin/gang/policy.h"
#include "plugin/model/cluster.h"

namespace gangway::gang {

struct AlikeMinimum;

class Lines {
 public:
  struct Need {
    model::ShapeId shape = model::kNone;
    std::int64_t copies = 0;
    bool beside_kept = false;  // beside the nodes that are kept for another
    bool listed = true;        // with the gangs that have it
    int gangs = 0;
    absl::Time created = absl::InfiniteFuture();  // when the first of them was, or before that
  };
  using Line = std::vector<model::GangId>;

  // Nobody waits.
  void Clear();
  // The gangs of a queue in the order in which they have their turn.
  void SetLine(model::QueueId queue, Line line) { lines_[queue] = std::move(line); }
  const std::map<model::QueueId, Line>& lines() const { return lines_; }
  const std::vector<Need>& needs() const { return needs_; }

  // The newest answer: it waits for so much room.
  void Waits(const model::Cluster& cluster, model::GangId gang, const AlikeMinimum& needs, bool beside_kept);
  // For more than that; what it needs of room, NeedsOfAny says.
  void WaitsForMore(model::GangId gang) { Become(gang, kMore); }
  // For nothing but a change of its own.
  void WaitsForItself(model::GangId gang) { Become(gang, kItself); }
  void NeedsOfAny(model::ShapeId shape, std::int64_t copies, bool beside_kept);

  // An answer of it is there.
  bool Knows(model::GangId gang) const { return StateOf(gang) != kUnknown; }
  bool HangsOnMore(model::GangId gang) const { return StateOf(gang) == kMore; }
  // Of needs(); -1: it is not listed with one.
  int NeedOf(model::GangId gang) const { return std::max(StateOf(gang), -1); }
  // It is the gang that is listed, and it needs the same.
  bool WaitsAsBefore(const model::Cluster& cluster, model::GangId gang, const AlikeMinimum& needs) const;

  // It has changed: it takes its place in the line of its queue, wherever it was; its answer stays.
  void Enter(const model::Cluster& cluster, const Policy& policy, model::GangId gang);
  // It waits no more, or not in line.
  void Leave(model::GangId gang);

 private:
  static constexpr int kUnknown = -1, kMore = -2, kItself = -3;  // else the number of its need
  struct Place {
    int state = kUnknown;
    std::size_t who = 0;  // of the gang's names and age: its number may be another one's by now
  };
  int StateOf(model::GangId gang) const {
    const auto at = static_cast<std::size_t>(gang);
    return at < places_.size() ? places_[at].state : kUnknown;
  }
  int Find(model::ShapeId shape, std::int64_t copies, bool beside_kept, bool listed);
  void Become(model::GangId gang, int state);
  void TakeOut(model::GangId gang);

  std::map<model::QueueId, Line> lines_;
  std::vector<Need> needs_;
  std::vector<Place> places_;  // by gang
};

}  // namespace gangway::gang
