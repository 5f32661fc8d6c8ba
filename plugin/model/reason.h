// Why something waits, as data: which requirement, how many nodes failed it, how much is missing, what would help.
// Conditions, events, metrics, logs and `gangway explain` are renderings of these values; Tell makes the one sentence.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "plugin/model/resources.h"
#include "plugin/phrases/words.h"

namespace gangway::model {

// Nodes on which one resource is the first thing missing.
struct Lack {
  std::string dim;
  std::int64_t needed = 0;
  std::int64_t best_free = 0;  // the most that one of these nodes has left
  int nodes = 0;
  friend bool operator==(const Lack&, const Lack&) = default;
};

// What is wrong with a claim of a volume.
enum class ClaimTrouble : std::uint8_t {
  kNothing,
  kMissing,            // there is no such claim
  kUnreadable,         // claims cannot be read at all
  kUnbound,            // it has no volume yet
  kLost,               // its volume is gone
  kEnding,             // it is being deleted
  kOfAnother,          // it was not made for the pod, as it should be
  kInUse,              // one pod at a time may use it, and one does
  kVolumeMissing,      // its volume is not known
  kVolumeNotModelled,  // its volume asks for something the scheduler does not know
};

// Nodes on which one constraint is the first thing in the way, room aside.
struct Hindrance {
  std::string constraint;  // its name: "taints"
  int nodes = 0;
  Words words;   // of so many nodes: "are tainted"
  Words detail;  // "with dedicated": what is so on most of them
  Words needs;   // "nodes with zone=b": what is wanted instead, when nothing is lacking but that; the detail goes
                 // without saying then
  friend bool operator==(const Hindrance&, const Hindrance&) = default;
};

// One shape of one role that did not find room.
struct RoleReason {
  std::string role;
  int missing = 0;  // tasks of it that found no node
  // Nodes by the first thing that stands against the shape, with the gang's other tasks placed.
  int nodes = 0, fit = 0;
  std::vector<Lack> lacks;            // sorted by dimension
  std::vector<Hindrance> hindrances;  // in the order in which they are told
  Words asks;                         // what it asks of nodes beside amounts
  // Amounts asked, for a sentence when no node got as far as a resource.
  std::string request_text;

  void AddHindrance(absl::string_view constraint, int of_nodes, Words words, Words detail = {}, Words needs = {});
  // How many nodes the constraint is the first thing on.
  int HinderedBy(absl::string_view constraint) const;
  friend bool operator==(const RoleReason&, const RoleReason&) = default;
};

// Something asked of a queue or the cluster as a sum.
struct SumLack {
  std::string dim;
  std::int64_t needed = 0;  // by the gang
  std::int64_t limit = 0;
  std::int64_t in_use = 0;    // of the limit: placed, or let in before
  std::int64_t capacity = 0;  // kClusterFull: what there is; `limit` may be more
  std::int64_t promised = 0;  // of in_use: to gangs let in before, who hold nothing of it yet
  friend bool operator==(const SumLack&, const SumLack&) = default;
};

struct Reason {
  enum class Kind : std::uint8_t {
    kNoRoom,           // its pods exist, nodes for the minimum do not
    kRoomAwaited,      // room is kept for it where pods end
    kKeptForMinimum,   // what it wants beyond its minimum would take room that is kept for gangs without theirs
    kTooFewTasks,      // fewer pods exist than the minimum
    kTooFewOfRole,     // the same, for one task of the job
    kTooFewSubGroups,  // fewer of a policy's sub-groups have all their pods than must start together
    kGated,            // pods with scheduling gates are needed for the minimum
    kNotModelled,      // a field asks for something the scheduler does not know
    kClaim,            // a claim of its pods cannot be used
    kNoHyperNode,      // no HyperNode that it may use has its nodes
    kBindFailed,       // a binding was refused; tried again later
    kQueueMissing,     // there is no such queue
    kQueueClosed,
    kQueueFull,    // over the queue's capability
    kQuotaFull,    // not let in: over a ResourceQuota of its namespace
    kClusterFull,  // not let in: over the cluster's total times the overcommit factor
  };
  Kind kind = Kind::kNoRoom;
  int missing = 0;     // tasks
  int min_member = 0;  // of the gang, of the role for kTooFewOfRole; sub-groups for kTooFewSubGroups
  int existing = 0;    // tasks that exist and count; sub-groups that are whole
  int size = 0;        // kTooFewSubGroups: pods of one; kRoomAwaited: gangs that pods end of
  int ending = 0;      // kTooFewTasks, kRoomAwaited: pods that are terminating, or about to
  Words within;        // kNoRoom: "s0, tier 1", the HyperNode that comes closest
  Words broken;        // kNoHyperNode: one that selects nothing as it is written, which may be why
  Words subject;       // tier, queue, quota, field, role, claim, gate's pod or gang, as the kind says
  ClaimTrouble trouble = ClaimTrouble::kNothing;  // kClaim
  std::string detail;                             // kClaim: storage class, volume or field, as the trouble says
  std::vector<RoleReason> roles;                  // kNoRoom, sorted by role
  std::vector<SumLack> sums;                      // kQueueFull, kQuotaFull, kClusterFull
  int overcommit_percent = 0;                     // kClusterFull: of which the limits are that much
  // kNoRoom: on so many nodes room is kept until so many pods end; for whom, "" is the gang itself.
  int kept_nodes = 0, kept_until_ends = 0;  // kQueueFull: the second alone, of its queue's pods
  std::string kept_for;
  friend bool operator==(const Reason&, const Reason&) = default;
};

// Gangs that could leave for one that waits, and may not yet.
struct Resting {
  int gangs = 0;
  absl::Time from;    // the first of them may go then
  std::string queue;  // of all of them; "": they are of several
  friend bool operator==(const Resting&, const Resting&) = default;
};

// A small fixed word for metric labels.
absl::string_view KindText(Reason::Kind kind);

// What to do instead of asking by a field that the scheduler does not know; empty when there is nothing to say.
// "spec.resourceClaims[gpu]" is such a field, and "spec.containers[c].resources.limits[volcano.sh/vgpu-number]".
Words InsteadOf(absl::string_view field);

// One sentence for a user: "waits for 3 of 16 tasks: worker needs nvidia.com/gpu 8; 12 nodes have 4 free, 20 are
// tainted, 0 fit".
Words Tell(const Reason& reason);
// In English, as what is written into objects, events, logs and messages always is.
std::string Render(const Reason& reason);

// Follows the reason of the one that waits.
Words Tell(const Resting& resting);

// As a sentence has it, in UTC: "2026-12-24T18:05:10Z".
std::string TimeText(absl::Time time);

// Of a pod whose PodGroup is not there. `resource`: "podgroups.scheduling.k8s.io"; served: whether the cluster has such
// a kind, as far as we may know.
Words GroupMissing(absl::string_view resource, absl::string_view name, bool served);

}  // namespace gangway::model
