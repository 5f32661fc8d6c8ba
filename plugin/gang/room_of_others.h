// Keeps in the overlay the room that pods of other schedulers are nominated for, while gangs of no higher priority look
// for theirs: their scheduler has made it for them, as a rule by evictions, and binds them once it is free
// (kubernetes: framework/runtime, RunFilterPluginsWithNominatedPods).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plugin/gang/fit.h"
#include "plugin/gang/overlay.h"

namespace gangway::gang {

// For one call of Schedule. Both must outlive it.
class RoomOfOthers {
 public:
  // Keeps all of it from now on.
  RoomOfOthers(Overlay& overlay, Scratch& scratch);

  bool empty() const { return kept_.empty(); }

  // What pods of a lower priority are nominated for may be used, what those of this and higher ones are is kept. True:
  // something else is kept than before.
  bool KeepFrom(std::int32_t priority);
  bool KeepAll() { return LetGo(0); }

  // On so many nodes a pod of the shape would have room as they are, which is kept from that priority; and the first of
  // those for whom, kNone: there is none.
  struct InTheWay {
    int nodes = 0;
    model::TaskId first = model::kNone;
  };
  InTheWay KeptFrom(model::ShapeId shape, std::int32_t priority) const;

 private:
  struct Kept {
    std::int32_t priority = 0;
    model::Row row = model::kNone;
    model::ShapeId shape = model::kNone;
    model::TaskId task = model::kNone;
  };
  bool LetGo(std::size_t first);
  void Hold(const Kept& kept, int times);

  Overlay& overlay_;
  Scratch& scratch_;
  std::vector<Kept> kept_;  // lowest priority first
  std::size_t let_go_ = 0;  // the first of them
};

}  // namespace gangway::gang
