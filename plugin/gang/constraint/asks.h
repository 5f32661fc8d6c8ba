// All that one shape asks of nodes: its constraints, compiled and in order.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "plugin/gang/constraint/constraint.h"
#include "plugin/gang/constraint/placed.h"

namespace gangway::constraint {

// How many pods of the shape the row takes now.
struct RowFit {
  static constexpr std::int16_t kAbsent = -2, kNothing = -1;
  std::int16_t obstacle =
      kAbsent;             // against one more when it is 0: which of the shape's constraints, the first in order
  std::int16_t limit = 0;  // which one allows no more than that
  int copies = 0;
};

using Scores = std::array<std::int64_t, kLevels>;  // higher first

class Asks {
 public:
  // Both must outlive it.
  Asks(const Placed& placed, const model::Shape& shape);

  const model::Shape& shape() const { return shape_; }
  RowFit At(model::Row row) const;
  // The same but for room.
  RowFit BesideRoom(model::Row row) const;
  // What only events and placements on the row change: how many it takes, and how good it is.
  int CopiesOnRow(model::Row row) const;
  Scores ScoresOnRow(model::Row row) const;
  // What placements on other rows change, too.
  bool AllowedBeyond(model::Row row) const;
  Scores ScoresBeyond(model::Row row) const;

  // Whether pods that are placed, of whichever shape, change anything of it but room.
  bool minds_pods() const { return minds_pods_; }
  // Whether placing a pod changes what is beside room, on its row; on other rows.
  bool changes_beside_room() const { return changes_beside_room_; }
  bool changes_beyond() const { return !beyond_.empty(); }
  // It may let pods onto rows that it kept them off.
  bool reopens() const { return reopens_; }
  // A pod of the other shape may keep pods of this one off nodes by where it is; also those that count as placed.
  bool KeptOffBy(const model::Shape& other) const;
  bool UnsettledBy(const model::Shape& other) const;
  // When so many pods find no room then neither do more, also after others were placed.
  bool more_fit_less() const { return more_fit_less_; }
  // The fewest rows that are known to be the only ones where pods may go; nullptr: any may be.
  const std::vector<model::Row>* among() const { return among_; }
  bool ranks_beyond() const { return ranks_beyond_; }
  // The domains of the row, where the first pod that is placed decides for the others; empty where none does.
  std::vector<int> Decides(model::Row row) const;

  // What keeps the shape from every node, by what the facts are, or by what is placed; the first in order.
  bool blocks() const { return !blockers_.empty(); }  // false: nothing may
  std::optional<Blocked> BlockedByFacts() const;
  std::optional<Blocked> BlockedByPlaced() const;
  bool exclusive() const { return exclusive_; }

  // The name of what stands against one pod more; "" when nothing does, or the node is not there.
  absl::string_view ObstacleAt(model::Row row) const;
  // What stands against one pod more on each node; with `fill` after as many as fit have been placed. `role` and
  // `missing` are left to the caller. `rows`: of these nodes alone; nullptr: of all.
  model::RoleReason Explain(bool fill, const std::vector<model::Row>* rows = nullptr) const;

 private:
  struct Part {
    const Kind* kind = nullptr;
    std::unique_ptr<Constraint> constraint;
    bool beyond = false;
  };
  RowFit Look(model::Row row, std::size_t parts) const;

  const Placed& placed_;
  const model::Shape& shape_;
  std::vector<Part> parts_;  // room last
  struct Ranker {
    std::size_t level = 0;
    const Constraint* constraint = nullptr;
    bool beyond = false;
  };
  Scores SumOf(model::Row row, bool beyond) const;
  std::vector<Ranker> rankers_;
  std::vector<const Constraint*> beyond_, blockers_;
  const std::vector<model::Row>* among_ = nullptr;
  bool minds_pods_ = false, changes_beside_room_ = false, reopens_ = false, ranks_beyond_ = false, exclusive_ = false,
       more_fit_less_ = true;
};

}  // namespace gangway::constraint
