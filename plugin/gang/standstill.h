// Whether gangs that wait go on waiting, without trying each of them again.
//
// A call of Schedule that did nothing leaves here what its refusals hang on: for gangs without room the shape of which
// fewer pods have room than they need. What happened since changes nothing while that stays so and nobody might be
// evicted for them; all else that was found, and all that is told of the gangs that wait, stays as it was. Kueue keeps
// such workloads aside until an event concerns them, kube-scheduler has its queueing hints.
//
// It never says so when a gang would be placed, let in, moved, have others evicted, or wait for another kind of reason.
// It says so for policy.keeps_same at most: in between, the numbers in reasons are those of the last call, and nodes
// stay kept for the gang that has them.
//
// Gangs that are not let in for what others hold, or look for victims in vain, or lie in HyperNodes, or claim room of
// their queue, hang on more than that: then any change that may matter to them has all tried again.
//
// When an event does let a gang begin, it is enough to look at those whose needs it has met, and at those that changed
// themselves, in their turn: the others have less room than before (ScheduleFew). For that all that waits must be
// listed (lines.h), and hang on nothing else than room.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "plugin/gang/lines.h"
#include "plugin/gang/policy.h"
#include "plugin/model/cluster.h"
#include "plugin/model/decision.h"

namespace gangway::gang {

struct AlikeMinimum;
class Overlay;
class Scratch;

// A part of what one call of Schedule leaves for the next (fit.h).
class Standstill {
 public:
  // In a call of Schedule.
  void Begin(const model::Cluster& cluster, const Policy& policy, absl::Time now);
  // A gang waits at least as long as fewer than `wanted` pods of the shape have room; `beside_kept`: without the room
  // on nodes that are kept for another.
  void HangsOnRoom(model::ShapeId shape, std::int64_t wanted, bool beside_kept);
  // Exactly so long, as far as room goes.
  void WaitsForRoom(const model::Cluster& cluster, model::GangId gang, const AlikeMinimum& needs, bool beside_kept);
  // That gang needs so much, and its queue would have room for it.
  void Needs(const model::Cluster& cluster, const model::Gang& gang, const model::Resources& sum);
  // At least as long as queues and the cluster hold what they do.
  void HangsOnSums() { on_sums_ = true; }
  // And as long as nothing happens to gangs that hold something.
  void HangsOnGangs() { on_gangs_ = true; }
  // As long as nothing happens.
  void HangsOnAll() { on_all_ = true; }
  // It was tried in vain to evict somebody.
  void TriedVictims() { tried_victims_ = true; }
  // Somebody waits who is in no line, or does not wait for room alone.
  void HasOthers() { has_others_ = true; }
  Lines& lines() { return lines_; }
  // No longer than until then, whatever happens.
  void Until(absl::Time time) { until_ = std::min(until_, time); }
  void End(const model::Cluster& cluster, const model::Decisions& decisions);

  // Whether Schedule would do nothing that it has not done, its last decisions carried out.
  bool Holds(const model::Cluster& cluster, const Policy& policy, absl::Time now, Scratch& scratch) const;
  // How long, if nothing happens.
  absl::Time until() const { return until_; }

  // Whether it may be enough to look at few; what each of them waits for is to be looked at still.
  bool MayLookAtFew(const model::Cluster& cluster, const Policy& policy, absl::Time now) const;
  // The gangs that changed since the last call, and those for which it did something; each once.
  std::vector<model::GangId> Changed(const model::Cluster& cluster) const;
  // Whether the queue of each who waits would have room for it.
  bool QueuesHaveRoom(const Overlay& overlay) const;
  // Whether none of those who wait may have others evicted.
  bool NobodyGoes(const Overlay& overlay, const Policy& policy, absl::Time now) const;
  // After a call that looked at few: these are its decisions. `keeps_for`: who has nodes kept for it still.
  void EndFew(const model::Cluster& cluster, const model::Decisions& decisions, model::GangId keeps_for);
  // All are to be looked at next.
  void LookAtAll() { still_ = few_ = false; }

 private:
  // Of the gangs without room of one queue.
  struct OfQueue {
    std::optional<std::int32_t> priority;  // the highest of those for whom pods may be evicted
    model::Resources least, most;          // by dimension, of what they need of it
  };
  struct Sums {
    model::Resources total, used;
    std::vector<model::Resources> held;  // by queue
    friend bool operator==(const Sums&, const Sums&) = default;
  };
  static Sums SumsOf(const model::Cluster& cluster);
  bool KeepsNodes(const model::Cluster& cluster) const;
  void NoteForWhom(const model::Decisions& decisions);
  void NeedsRoom(model::ShapeId shape, std::int64_t wanted, bool beside_kept);
  bool LacksRoom(const Overlay& overlay, Scratch& scratch, bool beside_kept) const;
  bool NobodyMayGo(const Overlay& overlay, const Policy& policy, absl::Time now) const;
  bool Asks(const Policy& policy) const;
  bool DecidesAsThen(Policy policy) const;

  bool still_ = false;
  std::uint64_t cluster_ = 0, version_ = 0, version_of_waiting_ = 0, version_of_gangs_ = 0;
  bool few_ = false, has_others_ = false;
  std::uint64_t version_of_rest_ = 0, gang_changes_ = 0;  // the position up to which they are known
  std::vector<model::GangId> done_for_;                   // in the last call
  Lines lines_;
  Policy policy_;
  absl::Time from_, until_;
  absl::flat_hash_map<model::ShapeId, std::int64_t> wanted_, wanted_beside_;  // the fewest
  std::map<model::QueueId, OfQueue> by_queue_;
  bool on_sums_ = false, on_gangs_ = false, on_all_ = false, tried_victims_ = false;
  std::optional<Sums> sums_;
  model::GangId keeps_for_ = model::kNone;
  std::optional<model::KeptNodes> kept_;
};

}  // namespace gangway::gang
