// A pod in the table: its shape, its node and its gang.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "plugin/model/compact.h"
#include "plugin/model/shape.h"

namespace gangway::model {

using Row = int;
using TaskId = int;
using GangId = int;
using QueueId = int;
inline constexpr int kNone = -1;

enum class TaskStatus : std::uint8_t {
  kPending,  // no node yet
  kBinding,  // assumed: a binding was decided, the API server has not shown it yet
  kBound,    // has a node, does not run yet
  kRunning,
  kReleasing,  // terminating; holds its node until it is gone
  kSucceeded,
  kFailed,
  kUnknown,
};
inline constexpr int kTaskStatuses = 8;

// When a pod goes, as far as that is known; of most nothing is.
struct Departure {
  Moment ends = absl::InfiniteFuture();           // infinite also of one that has not begun
  Moment protected_until = absl::InfinitePast();  // by its own cooldown
  Moment grace_ends = absl::InfiniteFuture();     // while it is releasing
  absl::Duration lasts = absl::InfiniteDuration();
  friend bool operator==(const Departure&, const Departure&) = default;
};

struct Task {
  // What each event about it looks at lies together.
  alignas(kCacheLine) TextOfOther ns;  // the cluster's
  ShortText name;
  std::uint64_t told = 0;  // what was told of it last, but for its phase and node, as a hash
  GangId gang = kNone;
  ShapeId shape = kNone;
  Row row = kNone;  // of its node, known or assumed
  TaskStatus status = TaskStatus::kPending;
  bool ours : 1 = true, gated : 1 = false, controlled : 1 = false;
  bool promised : 1 = false;  // its claims are promised volumes on its node
  bool evictable : 1 = true, preempts : 1 = true;
  bool movable : 1 = false;  // its shape is what it would ask for on another node
  bool of_job : 1 = false;   // a Job of Volcano's controls it
  bool marked : 1 = false;   // its status says that it is about to be evicted
  bool leaving : 1 = false;  // that or its PodGroup says so
  bool evicted : 1 = false;  // that it goes was decided

  Uid uid;
  Moment started = absl::InfinitePast();  // when it got its node
  Seldom<Departure> known_departure;
  int nominated = kNone;   // interned: the node on which room is kept for it
  int role = 0;            // interned
  int sub_groups = kNone;  // the policy of its gang that chooses it: its number in Gang::sub_groups
  int partition = kNone;   // interned: which sub-group of these
  std::int32_t priority = 1;
  int index = -1;
  Moment created = absl::InfinitePast();

  const Departure& departure() const {
    static const Departure nothing;
    return known_departure.has_value() ? *known_departure : nothing;
  }
  void SetDeparture(const Departure& departure) {
    known_departure = departure == Departure() ? std::nullopt : std::optional(departure);
  }
  // Its request is taken from the node.
  bool holds_room() const { return row != kNone && status != TaskStatus::kSucceeded && status != TaskStatus::kFailed; }
  // What it has done on its node would be lost.
  bool has_started() const { return holds_room() && status != TaskStatus::kBinding && started != absl::InfinitePast(); }
  // It waits for a node that we may give it.
  bool asks_for_room() const { return status == TaskStatus::kPending && row == kNone && ours && !gated; }
  // Its room becomes free.
  bool goes() const { return status == TaskStatus::kReleasing || evicted; }
};

}  // namespace gangway::model
