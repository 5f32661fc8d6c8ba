// What there is to say of a gang, or of a queue, as data: texts, JSON and messages are renderings of these values, in a
// language that whoever shows them chooses.
//
// Amounts are as in the model: cpu in thousandths, memory in bytes, everything else in units. Lists are in an order
// that depends on nothing but the facts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "plugin/explain/cluster_facts.h"
#include "plugin/model/decision.h"
#include "plugin/model/reason.h"
#include "plugin/model/resources.h"
#include "plugin/phrases/words.h"

namespace gangway::explain {

enum class State : std::uint8_t {
  kQueued,      // not let in: it gets no pods, or they get no nodes
  kWaits,       // let in, and short of its minimum
  kStarts,      // nothing stands in its way: the next round lets it in or places it
  kRunsPartly,  // has its minimum and wants more
  kRuns,
  kEnded,
};
// A fixed word: "queued".
absl::string_view NameOf(State state);

// Pods of one role that ask for the same.
struct Ask {
  std::string role;
  int pods = 0;     // with those to come
  int placed = 0;   // of them: have a node, or have succeeded
  int to_come = 0;  // of them: not made yet
  int min = 0;      // of the role, 0: none of its own that counts (gang/minimum.h)
  model::NamedAmounts requests;
  Words wants;  // beside amounts: "zone=b"
  friend bool operator==(const Ask&, const Ask&) = default;
};

// How much of something nodes have, of those that lack it the one that has most left.
struct NodeAmount {
  std::string dim;
  std::int64_t needed = 0, free = 0, allocatable = 0;
  friend bool operator==(const NodeAmount&, const NodeAmount&) = default;
};

// Nodes with the same thing first in the way of one pod more.
struct NodeGroup {
  std::string obstacle;    // the constraint's name; "": nothing
  Words words;             // "are tainted with dedicated"
  bool too_small = false;  // with nothing on them they would lack the same
  int copies =
      0;  // nothing in the way: so many pods these nodes take together; 0: where one goes changes where others may
  std::vector<NodeAmount> amounts;  // of the example: what is lacking, or all that is asked
  std::string example;
  std::vector<std::string> nodes;  // all of them, sorted
  friend bool operator==(const NodeGroup&, const NodeGroup&) = default;
};

// Where pods of one role that wait could go, as things are when the gang's turn comes.
struct RoleNodes {
  std::string role;
  int pods = 0;
  std::vector<NodeGroup> groups;  // those with nothing in the way first, then by size
  friend bool operator==(const RoleNodes&, const RoleNodes&) = default;
};

struct QueueAmount {
  std::string dim;
  std::optional<std::int64_t> capability, deserved;
  std::int64_t guarantee = 0;
  std::int64_t held = 0;      // by pods of the queue and of those below it
  std::int64_t promised = 0;  // to gangs that were let in and have not all of their pods
  std::int64_t limit =
      0;  // the most that it may hold: within capabilities, the cluster, and what others are guaranteed
  // What it deserves while others ask for theirs (gang/shares.h), where it holds or asks for more.
  std::optional<std::int64_t> share = std::nullopt;
  // What it held of late on average, with those below it, where that counts.
  std::optional<std::int64_t> used = std::nullopt;
  bool deserved_counts = true;  // false: queues share by weight
  friend bool operator==(const QueueAmount&, const QueueAmount&) = default;
};

struct QueueAccount {
  std::string name, parent;
  bool known = false, open = false;
  int weight = 1;
  std::int32_t priority = 0;
  std::vector<QueueAmount> amounts;
  friend bool operator==(const QueueAccount&, const QueueAccount&) = default;
};

struct ClusterAmount {
  std::string dim;
  std::int64_t total = 0, held = 0;
  std::int64_t outside = 0;  // of what is held: by pods of no gang
  friend bool operator==(const ClusterAmount&, const ClusterAmount&) = default;
};

// Another gang, in a line.
struct GangLine {
  GangKey gang;
  std::string queue;
  State state = State::kQueued;
  Words sentence;
  std::int32_t priority = 0;
  int min_member = 0, pods = 0, placed = 0;
  model::NamedAmounts holds;
  model::NamedAmounts asks;  // what it waits for: of its pods without a node, or of its minimum
  // Of one that waits: by then it starts (expected.h); absent: that is not known.
  std::optional<absl::Time> expected_start = std::nullopt;
  // The same if runs take no longer than others of their kind did before; absent: that tells no more.
  std::optional<absl::Time> likely_start = std::nullopt;
  friend bool operator==(const GangLine&, const GangLine&) = default;
};

// A gang whose pods go in the next round, so that another has room.
struct Evicted {
  GangKey gang;
  std::string queue;
  std::int32_t priority = 0;
  int of = 0;                     // so many pods it has
  std::vector<std::string> pods;  // those that go, by name
  friend bool operator==(const Evicted&, const Evicted&) = default;
};

struct Spot {
  std::string node, role;
  int pods = 0;
  friend bool operator==(const Spot&, const Spot&) = default;
};

// A change with which the gang would start, at once or where those have gone who are evicted for it, as was tried; or,
// of one that runs partly, would have all its pods.
struct Suggestion {
  Words text;           // "1 more node like n17 (cpu 16)"
  std::string what_if;  // the same as --what-if has it; "": it has no word for it
  std::vector<Spot> spots;
  friend bool operator==(const Suggestion&, const Suggestion&) = default;
};

struct Explanation {
  GangKey gang;
  State state = State::kQueued;
  Words sentence;  // goes with "podgroup default/ctr"
  std::optional<model::Reason> reason;
  std::optional<absl::Time> expected_start, likely_start;  // as of GangLine
  bool admitted = false;
  bool awaits_volume = false;  // it was given nodes, and is placed once its volumes are made
  int min_member = 0;
  int pods = 0, placed = 0, to_come = 0;  // pods: those that exist
  std::string priority_class;
  std::int32_t priority = 0;
  std::vector<Ask> asks;
  std::vector<RoleNodes> nodes;
  int cluster_nodes = 0;
  std::vector<ClusterAmount> cluster;
  QueueAccount queue;
  std::vector<GangLine> before;   // are served before it, in order
  std::vector<GangLine> holders;  // others that hold room, who holds most of what it lacks first
  std::vector<Spot> spots;        // where its pods are, or go in the next round
  std::vector<Evicted> evicted;   // for it, by name
  model::EvictFor evict_for = model::EvictFor::kNobody;
  std::vector<Suggestion> suggestions;
};

struct QueueExplanation {
  QueueAccount queue;
  Words sentence;  // goes with "queue ads"
  std::vector<QueueAccount> children;
  std::vector<GangLine> holders;  // of this queue and those below it, who holds most first
  std::vector<GangLine> waiting;  // of the same, in the order in which they are served
};

}  // namespace gangway::explain
