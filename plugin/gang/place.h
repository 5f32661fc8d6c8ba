// Places at least the minimum of one gang, or none of it; then, one by one, what is beyond the minimum.
//
// The tasks that the minimum needs are tried hardest shape first, each shape on the fullest nodes that take it; when
// that does not fit, a search bounded by the policy's budget tries other ways. A gang alone, within the budget, never
// waits because of a node more.
//
// A gang with a network topology lies in one HyperNode, the narrowest that holds it; or as near to that as can be,
// where it is only preferred.
//
// Tasks of one sub-group are one unit: what it lacks of its size is placed together, within the minimum and beyond it.
#pragma once

#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "plugin/gang/choice.h"
#include "plugin/gang/fit.h"
#include "plugin/gang/kept_room.h"
#include "plugin/gang/needs.h"
#include "plugin/gang/overlay.h"
#include "plugin/gang/policy.h"
#include "plugin/gang/usable.h"
#include "plugin/model/decision.h"

namespace gangway::gang {

// One gang during one Schedule call. Everything it places stays in the overlay; a minimum that does not fit leaves
// nothing there.
class GangPlacement {
 public:
  GangPlacement(Overlay& overlay, Scratch& scratch, const Policy& policy, model::GangId gang);

  // False: the gang stays as it is, and Finish says why.
  bool PlaceMinimum();
  // After a minimum that was placed: whether there are tasks beyond it that were not tried.
  bool wants_more() const { return next_rest_ < needs_.rest.size(); }
  // One task more, where that leaves what is kept. False: nothing more fits.
  bool PlaceOneMore(const KeptRoom& kept);
  // After a minimum that was not placed: what it lacks, when room or its controller can give it.
  std::optional<Lacking> lacking() const;
  // Placements and reason, as things are now.
  void Finish(model::Decision& decision);

  model::GangId gang() const { return id_; }

 private:
  // Tasks of one shape that are placed together.
  struct Group {
    model::ShapeId shape = model::kNone;
    std::vector<std::size_t> tasks;  // indices into tasks_
  };

  // A binding was refused. With others of its pods bound, room for its minimum is kept from everybody until it is tried
  // again.
  bool rests() const { return !gang_.held_back.empty(); }
  std::vector<Group> GroupByShape(const std::vector<std::size_t>& tasks) const;
  // The rows that take one of the shape, best first; those of `within_`.
  std::vector<Rank> RanksOf(model::ShapeId shape);
  Choice ChoiceOf(model::ShapeId shape);
  const Rank* FirstOf(const ShapeFit& fit) const;
  std::int64_t CopiesOf(model::ShapeId shape, const model::HyperDomain* within);
  bool PlaceNeeds();
  bool PlaceWithinHyperNode();
  std::vector<model::Row> RowsOfGang() const;
  bool SamePart(std::size_t a, std::size_t b) const;
  std::vector<model::Row> RowsOfPart(std::size_t of) const;
  std::vector<const model::HyperDomain*> HyperDomainsToTry(const model::TopologyFacts& topology,
                                                           const std::vector<model::Row>& there,
                                                           const std::vector<std::size_t>& tasks);
  std::int64_t WidestTier(const model::TopologyFacts& topology) const;
  const model::HyperDomain* Closest(const std::vector<const model::HyperDomain*>& domains,
                                    const std::vector<Group>& groups);
  model::Reason NoHyperNode(const model::TopologyFacts& topology, const std::vector<model::Row>& there) const;
  const model::SubGroups* PolicyWithTopology(std::size_t task) const;
  bool PlaceTogether(const std::vector<std::size_t>& tasks);
  bool PlacePart(const std::vector<std::size_t>& tasks, const model::SubGroups& policy);
  bool PlaceNeedsByParts();
  void ComplainOfPart(const std::vector<std::size_t>& part, const model::TopologyFacts& topology);
  bool Fill(const std::vector<Group>& groups);
  bool FillGreedily(const std::vector<Group>& groups);
  bool FillOneByOne(const Group& group);
  bool FillByDomains(const std::vector<Group>& groups);
  bool FillBySearch(std::vector<Group>& groups);
  bool Decides(const Group& group);
  bool TooMany(const Group& group);
  void Complain(const std::vector<Group>& groups);
  bool TryOthers();
  model::Row BestRow(std::size_t task);
  bool PlaceOne(std::size_t task);
  bool PlaceUnit(const Unit& unit);
  void TakeBack(std::size_t task);
  void Put(absl::Span<const std::size_t> tasks, model::Row row);
  void DropAll();
  bool AllowedByQueue(const std::vector<std::size_t>& tasks, bool complain);

  Overlay& overlay_;
  Scratch& scratch_;
  const Policy& policy_;
  const model::GangId id_;
  const model::Gang& gang_;

  Usable usable_;
  Needs needs_;
  std::vector<model::Row> rows_;  // parallel to usable_.tasks; kNone: not placed
  std::size_t next_rest_ = 0;     // of needs_.rest
  std::vector<model::ShapeId> full_shapes_;
  const KeptRoom* kept_ = nullptr;         // from the rest; set while that is placed
  model::GangId kept_for_ = model::kNone;  // something of the rest would fit but for what is kept
  // The HyperNode to which placement is held now; that of the minimum; and the widest that the rest may lie in.
  // nullptr: the whole cluster.
  const model::HyperDomain* within_ = nullptr;
  const model::HyperDomain* narrow_ = nullptr;
  const model::HyperDomain* wide_ = nullptr;
  int search_budget_;
  bool in_part_ = false;   // of what is placed now nothing leaves `within_`
  bool complains_ = true;  // of what is tried now a failure is told
  bool placed_minimum_ = false;
  std::optional<model::Reason> reason_;
  std::vector<model::TaskId> would_fit_;
};

}  // namespace gangway::gang
