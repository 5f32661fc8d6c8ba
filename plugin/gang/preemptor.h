// What a gang for which others may have to leave needs of nodes.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "plugin/gang/alike_minimum.h"
#include "plugin/gang/overlay.h"
#include "plugin/model/cluster.h"

namespace gangway::gang {

struct Preemptor {
  model::GangId gang = model::kNone;
  bool preempts = true;                                  // neither its class nor a pod that it needs forbids it
  bool asks_for_nothing = true;                          // but to be a pod
  model::Resources sum;                                  // of its minimum
  int count = 0;                                         // tasks of its minimum
  std::vector<std::pair<model::ShapeId, int>> by_shape;  // of all that may be placed
  bool patient = true;                                   // it has waited for its share (Policy::reclaim_after)
  model::GangId spares = model::kNone;                   // stays, as Reclaim::WentFor says
  bool more_fit_less = true;                             // of each of those shapes (constraint::Constraint)
  friend bool operator==(const Preemptor&, const Preemptor&) = default;
};

// nullopt: it waits for something else than room. The overlay is as before when it returns.
std::optional<Preemptor> FindPreemptor(Overlay& overlay, model::GangId gang);

// The same of one whose minimum is alike, in fewer looks. nullopt: of its pods some only forbid that others go for
// them.
std::optional<Preemptor> PreemptorOf(const Overlay& overlay, model::GangId gang, const AlikeMinimum& needs);

// But to be a pod.
bool AsksForNothing(const model::Resources& request);

}  // namespace gangway::gang
