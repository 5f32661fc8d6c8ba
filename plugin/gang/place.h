// Places at least the minimum of one gang, or none of it; then, one by one, what is beyond the minimum.
//
// The tasks that the minimum needs are tried hardest shape first, each shape on the fullest nodes that take it; when that
// does not fit, a search bounded by the policy's budget tries other ways. A gang alone, within the budget, never waits
// because of a node more.
#pragma once

#include <vector>

#include "plugin/gang/fit.h"
#include "plugin/gang/overlay.h"
#include "plugin/gang/policy.h"
#include "plugin/model/decision.h"

namespace gangway::gang {

// One gang during one Schedule call. Everything it places stays in the overlay; a minimum that does not fit leaves nothing there.
class GangPlacement {
 public:
  GangPlacement(Overlay& overlay, Scratch& scratch, const Policy& policy, model::GangId gang);

  // False: the gang stays as it is, and Finish says why.
  bool PlaceMinimum();
  // After a minimum that was placed: one task more. False: nothing more fits.
  bool PlaceOneMore();
  // Placements and reason, as things are now.
  void Finish(model::Decision& decision);

  model::GangId gang() const { return id_; }

 private:
  // Tasks of one shape that are placed together.
  struct Group {
    model::ShapeId shape = model::kNone;
    std::vector<std::size_t> tasks;  // indices into tasks_
  };

  void Collect();
  bool Complain();  // what no node could change; true: the gang waits
  bool ComplainOfBlocked(int usable);
  void Choose();
  std::vector<Group> GroupByShape(const std::vector<std::size_t>& tasks) const;
  bool Fill(const std::vector<Group>& groups);
  bool FillGreedily(const std::vector<Group>& groups);
  void Complain(const std::vector<Group>& groups);
  bool TryOthers();
  bool PlaceOne(std::size_t task);
  void Put(std::size_t task, model::Row row);
  void DropAll();
  bool AllowedByQueue(const std::vector<std::size_t>& tasks, bool complain);
  model::Reason NewReason(model::Reason::Kind kind) const;

  Overlay& overlay_;
  Scratch& scratch_;
  const Policy& policy_;
  const model::GangId id_;
  const model::Gang& gang_;

  std::vector<model::TaskId> tasks_;  // that may be placed, in order
  std::vector<model::Row> rows_;      // parallel to tasks_; kNone: not placed
  std::vector<std::size_t> role_needed_, needed_, rest_;  // indices into tasks_, in order
  std::size_t next_rest_ = 0;
  std::vector<model::ShapeId> full_shapes_;
  bool placed_minimum_ = false;
  std::optional<model::Reason> reason_;
  std::vector<model::TaskId> would_fit_;
};

}  // namespace gangway::gang
