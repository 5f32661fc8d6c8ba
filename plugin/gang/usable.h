// Which tasks of a gang may be placed now, and why the others may not: what no look at nodes could change.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "plugin/gang/constraint/constraint.h"
#include "plugin/gang/overlay.h"
#include "plugin/model/cluster.h"
#include "plugin/model/reason.h"

namespace gangway::gang {

// Tasks that are placed together or not at all; mostly one.
struct Unit {
  absl::InlinedVector<std::size_t, 1> tasks;  // indices into Usable::tasks
  int after = model::kNone;                   // the unit that makes its sub-group whole and goes first
};

struct Usable {
  std::vector<model::TaskId> tasks;  // in order
  std::vector<Unit> units;           // by their first task
  std::optional<constraint::Blocked>
      blocked;                    // why no node takes some of the others: of several reasons the first by subject
  int incomplete = model::kNone;  // a policy that has a sub-group of which too few pods exist
};

// What keeps a gang from being tried at all, in the order in which it is told: too few pods, or that it goes as a
// whole, a field nobody knows, a binding that was refused while it holds nothing, its queue.
std::optional<model::Reason> WhyNotTried(const model::Cluster& cluster, const model::Gang& gang);
// A field nobody knows, of the gang or of pods without which it has too few.
std::optional<model::Reason> WhyNotModelled(const model::Cluster& cluster, const model::Gang& gang);
// It rests after a binding was refused.
model::Reason BindingRefused(const model::Gang& gang);

// The overlay is as before when it returns.
Usable FindUsable(Overlay& overlay, const model::Gang& gang);

// Fewer are ready or usable than the minimum.
std::optional<model::Reason> WhyTooFew(const model::Cluster& cluster, const model::Gang& gang, const Usable& usable);

// Why tasks that exist are not usable, where something can be said of it; `count` tasks are ready or usable.
std::optional<model::Reason> WhyBlocked(const model::Cluster& cluster, const model::Gang& gang, const Usable& usable,
                                        int count);

// Of a policy's sub-groups fewer are whole than `wanted`.
model::Reason TooFewSubGroups(const model::Cluster& cluster, const model::Gang& gang, int policy, int wanted);

}  // namespace gangway::gang
