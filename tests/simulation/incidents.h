// What goes wrong in a history: a list drawn from its seed, so that single incidents can be left out and a failing
// history be shrunk.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/random.h"
#include "sandbox/cluster/cluster.h"

namespace gangway::testutil {

enum class IncidentKind {
  // To one write of a component: the next after the moment.
  kWriteLost,
  kWriteReplyLost,
  kWriteConflict,
  kWriteTooMany,
  kWriteError,
  kWriteLate,
  kWriteReplyLate,
  kWebhookTimeout,   // of a create: 500 after ten seconds, and the server never saw it
  kRemadeMeanwhile,  // to a pod: the reply comes when the pod has gone and another one is there under its name. Who
                     // makes pods waits for replies
  // To one event that it tells.
  kEventLost,
  kEventReplyLost,
  kEventTooMany,
  kEventError,
  // To one list or GET.
  kReadLost,
  kReadTooMany,
  kReadError,
  kReadLate,
  kListStale,        // as of an older resourceVersion, from a replica that lags
  kListExpired,      // 410: of a resourceVersion that is too old
  kContinueExpired,  // 410 to the second page of a list, whose first page was small
  kGetStale,
  // To one watch as it starts.
  kWatchLost,
  kWatchTooMany,
  kWatchError,
  kWatchExpired,
  // To one batch of frames of a watch.
  kFramesLate,
  kFramesBroken,   // the stream breaks instead
  kFramesEnded,    // the stream ends in an orderly way instead
  kFramesExpired,  // an ERROR frame of 410 ends it
  kFramesTooMany,
  kFramesError,
  kFramesRepeated,
  kFramesReordered,  // comes behind the next batch; found out by the server (sandbox::WatchFate)
  kFramesMissing,    // found out by the server
  // To the connection of a component, for a stretch.
  kPartition,
  kRequestsCut,  // replies and frames come
  kRepliesCut,   // requests arrive; frames wait
  // To a component.
  kWatchesBroken,
  kCrash,
  kClockOff,   // minutes ahead or behind, from its start
  kClockJump,  // ahead
  kPause,      // of one of two replicas; so the next
  kSuspend,    // the same of its machine: the clock that timers go by stands still
  // To the API server.
  kCompaction,  // and the watches of a component break
  kServerRestart,
  // To the cluster: what belongs to its life.
  kEviction,
  kPodDeleted,
  kNodeSilent,
  kNodeDeleted,
};

absl::string_view NameOf(IncidentKind kind);

struct Incident {
  IncidentKind kind = IncidentKind::kCrash;
  absl::Duration at;  // since the start of the history
  sandbox::Component who = sandbox::Component::kScheduler;
  int replica = 0;         // of `who`, where there are two
  absl::Duration lasts;    // or how late, how far ahead
  std::uint64_t pick = 0;  // which pod, node, resourceVersion
};

// "12.345s scheduler: write conflict (3s)".
std::string Text(const Incident& incident);
// From when it takes effect until it is over and what it kept from being done has been tried again; zero: nobody waits
// for it.
absl::Duration GotOverIn(const Incident& incident);

struct IncidentOptions {
  absl::Duration window = absl::Seconds(90);
  bool faults = true;
  bool chaos = true;          // what belongs to the life of a cluster, too: then nobody knows how often a job restarts
  bool two_replicas = false;  // of controllers and scheduler, behind a fence
  bool paddle = false;        // the controllers of PaddleJobs have something to do
  int nodes = 3;
};

using IncidentOf = std::pair<IncidentKind, sandbox::Component>;
// All that may be drawn, and to whom. A kind that happens to nobody in particular is the kubelets'.
std::vector<IncidentOf> AllIncidents(const IncidentOptions& options);
std::vector<Incident> DrawIncidents(RandomStream& random, const IncidentOptions& options);

// How often each took effect.
using IncidentCounts = std::map<IncidentOf, int>;

}  // namespace gangway::testutil
