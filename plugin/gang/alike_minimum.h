// Of gangs that wait most are simple: all their pods ask for the same, and the minimum needs more of them than have
// room. To say so of one nothing need be tried.
#pragma once

#include <optional>

#include "plugin/gang/fit.h"
#include "plugin/gang/no_room.h"
#include "plugin/gang/overlay.h"
#include "plugin/model/cluster.h"

namespace gangway::gang {

// So many pods of one shape, of those that wait; there are as many.
struct AlikeMinimum {
  model::ShapeId shape = model::kNone;
  int count = 0;
};

// nullopt: it takes more to say what the gang needs, or whether it may be tried (usable.h, needs.h); or its queue has
// no room for it, as things are. Where fewer than `count` copies of the shape have room, PlaceMinimum (place.h) would
// find none, whichever pods it took.
std::optional<AlikeMinimum> FindAlikeMinimum(const Overlay& overlay, const model::Gang& gang);

// Why fewer have room; as WhyNoRoom (no_room.h) says it. No trial of the overlay has begun.
NoRoom WhyNoRoomForAlike(const Overlay& overlay, Scratch& scratch, const model::Gang& gang, const AlikeMinimum& needs);

}  // namespace gangway::gang
