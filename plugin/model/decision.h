// What Schedule decides about one gang.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "plugin/model/cluster.h"
#include "plugin/model/kept_nodes.h"
#include "plugin/model/queue_claim.h"
#include "plugin/model/reason.h"

namespace gangway::model {

struct Placement {
  TaskId task = kNone;
  Row row = kNone;
  friend bool operator==(const Placement&, const Placement&) = default;
};

// On whose behalf pods are evicted.
enum class EvictFor : std::uint8_t {
  kNobody,
  kPriority,  // for a gang of their queue with a higher priority
  kShare,     // for a queue that holds less than it deserves
  kRoom,      // so that what is free lies together: they are placed again at once
  kLost,      // since their gang lost a member, and for too long finds no room for another; for nobody, or one alike
};

// "priority", as proto/gangway/v1/extender.proto has it; "" for nobody.
constexpr absl::string_view NameOf(EvictFor what_for) {
  switch (what_for) {
    case EvictFor::kNobody:
      return "";
    case EvictFor::kPriority:
      return "priority";
    case EvictFor::kShare:
      return "share";
    case EvictFor::kRoom:
      return "room";
    case EvictFor::kLost:
      return "lost";
  }
  return "";
}

struct Decision {
  GangId gang = kNone;
  bool admit = false;                 // let it in now
  std::vector<Placement> placements;  // bind these, all of them or none; in task order
  // Set when it still wants something: the gang is short of its minimum, or its elastic rest found no room.
  std::optional<Reason> reason;
  bool short_of_minimum = false;  // the reason keeps the gang from starting
  bool rest_undecided = false;    // it has its minimum and wants more, which was not looked at
  // Nodes are kept for it from now on, or still; of one gang at most.
  std::optional<KeptNodes> kept;
  // Room of its queue is kept for it from now on, or still; of one gang of a queue at most.
  std::optional<QueueClaim> claim;
  // Either was kept for it in vain: nothing is until then. InfinitePast: nothing of the kind.
  absl::Time passed_over_until = absl::InfinitePast();
  // It has no room, and its queue is entitled to it, since then; InfiniteFuture: it is not so.
  absl::Time entitled_since = absl::InfiniteFuture();
  std::vector<TaskId> would_fit;  // pending tasks that found a node in a trial that was not committed
  // Room is kept for these tasks of it where pods end, and for no others of it; absent: as before.
  std::optional<std::vector<Placement>> nominations;
  std::vector<TaskId> evicted;  // of other gangs, so that it has that room, or with kLost its own; by name
  EvictFor evict_for = EvictFor::kNobody;
  std::vector<Placement> moves;  // with kRoom: where room is kept for each of them
  // When it would be decided otherwise though nothing happens.
  absl::Time look_again = absl::InfiniteFuture();
  friend bool operator==(const Decision&, const Decision&) = default;
};

// In the order in which gangs were decided.
using Decisions = std::vector<Decision>;

}  // namespace gangway::model
