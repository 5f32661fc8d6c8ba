// What may stand between a pod and a node. A constraint is a file: its row in table.cc names it and compiles what a
// shape asks of it; a shape that does not ask has nothing compiled and pays nothing. Placement, search, kept room,
// eviction and explanation know constraints only through this. What has a default is safe by it: at worst a shortcut is
// not taken, or room stays free that could be used.
//
// What a constraint keeps of the facts stands in the model, which changes by events alone: a part of the Cluster, or
// columns of its rows. The part says which shapes an event concerns (as Volumes does), or the row changes; what is
// kBeyond is never kept from call to call. What it keeps of pods that would be placed beside the facts is its State in
// the overlay.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "plugin/model/cluster.h"
#include "plugin/model/kept_nodes.h"
#include "plugin/model/reason.h"
#include "plugin/phrases/words.h"

namespace gangway::constraint {

class Placed;

inline constexpr int kAnyNumber = std::numeric_limits<int>::max();

// What a pod that is placed changes of a constraint's answers for others of the shape.
enum class Changes : std::uint8_t {
  kNothing,
  kRow,     // on the row it is placed on
  kBeyond,  // on other rows, too: it is asked anew at each choice
};

// Which comes first when rows are ranked; what several constraints say of one level is added.
enum class Level : std::uint8_t { kAvoid, kPrefer, kPack };
inline constexpr int kLevels = 3;

// A row that takes no more pods of the shape after `copies` of them.
struct Refusal {
  model::Row row = model::kNone;
  int copies = 0;
};

// Why no node takes a pod of the shape, as a reason tells it.
struct Blocked {
  model::Reason::Kind kind = model::Reason::Kind::kClaim;
  std::string subject;
  model::ClaimTrouble trouble = model::ClaimTrouble::kNothing;
  std::string detail;
};

// What one shape asks of a constraint, compiled: made once for a shape and overlay, while the cluster does not change,
// so it may point into both.
class Constraint {
 public:
  virtual ~Constraint() = default;

  // How many pods of the shape more the row takes, as far as this goes; 0: it stands in the way.
  virtual int Copies(model::Row row) const = 0;

  virtual Changes changes() const { return Changes::kNothing; }
  // With kBeyond: a placement may also let pods onto rows that they were kept off.
  virtual bool reopens() const { return false; }
  // With kBeyond: while the first pod that is placed decides where all others go, adds the domains that the row would
  // decide for.
  virtual void Decides(model::Row /*row*/, std::vector<int>& /*domains*/) const {}
  // With kBeyond: whether a pod of the other shape, by where it is, may keep pods of this one off nodes. While room is
  // kept for these, such a pod goes nowhere that is not for its own gang's minimum.
  virtual bool KeptOffBy(const model::Shape& /*other*/) const { return true; }
  // The same of pods of this shape that count as placed already: what the other asks for does not prevent it.
  virtual bool UnsettledBy(const model::Shape& other) const { return KeptOffBy(other); }

  // Whether it follows, when so many pods find no room, that more find none, also after others were placed.
  virtual bool more_fit_less() const { return changes() == Changes::kNothing; }
  // Where it is known which rows are the only ones that it may allow; nullptr: it may allow any.
  virtual const std::vector<model::Row>* Among() const { return nullptr; }

  // Of those that rank rows: the level, and how good a row is, higher first.
  virtual std::optional<Level> level() const { return std::nullopt; }
  virtual std::int64_t Score(model::Row /*row*/) const { return 0; }

  // Whether it may keep the shape from every node; only then it is asked what does: as the facts are; because of what
  // is placed.
  virtual bool blocks() const { return false; }
  virtual std::optional<Blocked> BlockedByFacts() const { return std::nullopt; }
  virtual std::optional<Blocked> BlockedByPlaced() const { return std::nullopt; }
  // Whether a pod of the shape, wherever it goes, may block others.
  virtual bool exclusive() const { return false; }

  // Tells of the rows where this is the first thing in the way, in numbers and words. There is one at least.
  virtual void Explain(absl::Span<const Refusal> refused, model::RoleReason& reason) const = 0;
  // What is asked of nodes beside amounts; empty when that goes without saying.
  virtual Words Text() const { return {}; }
};

// A pod that holds room on a node.
struct Released {
  model::Row row = model::kNone;
  const model::Shape* shape = nullptr;
  std::vector<model::TermId> matched;  // the terms that hold for it
  bool live = true;                    // it is not terminating
};

// What a constraint keeps of pods that are placed in an overlay. A trial needs no more than this: what is dropped is
// removed newest first.
class State {
 public:
  virtual ~State() = default;
  // Of any shape, also one that does not ask. `row` is kNone for pods that will be somewhere.
  virtual void Add(model::Row row, const model::Shape& shape, int pods) = 0;
  virtual void Remove(model::Row row, const model::Shape& shape, int pods) = 0;
  // A pod of another scheduler is to be on the row, or with -1 is no more: what it keeps others off counts, that it is
  // there does not yet. By default it is as good as there.
  virtual void Nominate(model::Row row, const model::Shape& shape, int times) {
    times > 0 ? Add(row, shape, times) : Remove(row, shape, -times);
  }
  // A pod that the facts show on the row is taken away; with -1 it is back. In any order with the others. By default it
  // goes on to be in the way.
  virtual void Release(const Released& /*pod*/, int /*times*/) {}
};

// What room that is kept on a row for a gang has of a constraint, in the spot's own field: what one pod there can have
// and no other. Without it the room is amounts alone.
class Keeping {
 public:
  using Spot = model::KeptNodes::Spot;
  virtual ~Keeping() = default;
  // So many pods of the shape are to go there.
  virtual void Add(const model::Shape& shape, int pods, Spot& spot) const = 0;
  // Whether a pod of the shape would take some of what is kept.
  virtual bool TakenBy(const model::Shape& shape, const Spot& spot) const = 0;
  // Whether nobody has any of it, as the facts are but for pods of these shapes that are gone from the row.
  virtual bool IsFree(const model::Cluster& cluster, const Spot& spot,
                      absl::Span<const model::Shape* const> gone) const = 0;
  // It is taken, or with -1 not any more, for nobody's sake.
  virtual void Hold(const Spot& spot, int times, State& state) const = 0;
};

// A row of the table.
struct Kind {
  absl::string_view name;  // a fixed word
  int told = 0;            // its place in a sentence
  // nullptr: the shape does not ask. `state` is what `begin` made.
  std::unique_ptr<Constraint> (*ask)(const Placed& placed, const State* state, const model::Shape& shape) = nullptr;
  // nullptr: pods that are placed matter only by the room they take. Kinds with the same one share what it makes.
  std::unique_ptr<State> (*begin)(const model::Cluster& cluster) = nullptr;
  // nullptr: room that is kept for a gang has nothing of it. Only where there is a state.
  const Keeping& (*keeping)() = nullptr;
};

}  // namespace gangway::constraint
