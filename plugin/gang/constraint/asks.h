// All that one shape asks of nodes: its constraints, compiled and in order.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "plugin/gang/constraint/constraint.h"
#include "plugin/gang/constraint/placed.h"

namespace gangway::constraint {

// How many pods of the shape the row takes now.
struct RowFit {
  static constexpr std::int16_t kAbsent = -2, kNothing = -1;
  std::int16_t obstacle = kAbsent;  // against one more when it is 0: which of the shape's constraints, the first in order
  std::int16_t limit = 0;           // which one allows no more than that
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
  Scores ScoresAt(model::Row row) const;

  // Whether placing a pod changes what is beside room, on its row; on other rows.
  bool changes_beside_room() const { return changes_beside_room_; }
  bool changes_beyond() const { return !beyond_.empty(); }
  // Of those that change beyond their rows, for who keeps what they said.
  std::vector<std::uint64_t> Versions() const;
  // The rows that changed since, each at least once; false: all may have.
  bool ChangedRows(const std::vector<std::uint64_t>& since, std::vector<model::Row>& rows) const;

  // What keeps the shape from every node, by what the facts are, or by what is placed; the first in order.
  std::optional<Blocked> BlockedByFacts() const;
  std::optional<Blocked> BlockedByPlaced() const;
  bool exclusive() const { return exclusive_; }

  // The name of what stands against one pod more; "" when nothing does, or the node is not there.
  absl::string_view ObstacleAt(model::Row row) const;
  // What stands against one pod more on each node; with `fill` after as many as fit have been placed. `role` and `missing` are left to the caller.
  model::RoleReason Explain(bool fill) const;

 private:
  struct Part {
    const Kind* kind = nullptr;
    std::unique_ptr<Constraint> constraint;
  };
  RowFit Look(model::Row row, std::size_t parts) const;

  const Placed& placed_;
  const model::Shape& shape_;
  std::vector<Part> parts_;  // room last
  std::vector<std::pair<std::size_t, const Constraint*>> rankers_;  // by level
  std::vector<const Constraint*> beyond_, blockers_;
  bool changes_beside_room_ = false, exclusive_ = false;
};

}  // namespace gangway::constraint
