// What a person sees of a cluster: queues, gangs, nodes, jobs and PaddleJobs, as rows of plain values.
//
// Pure, and without a clock: times are told as they are, so that nothing changes while nothing happens. Names and texts
// are whoever wrote them; a renderer makes them fit for its place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "cmd/dashboard/view/seen.h"
#include "plugin/model/resources.h"

namespace gangway::dashboard {

struct QueueRow {
  std::string name, parent, state;  // parent "": it is at the top
  std::int32_t weight = 0;
  int share_permille = 0;  // of the weights of the queues beside it, in thousandths
  // With the queues below it; without the resource `pods`.
  model::NamedAmounts held;        // by pods that have a node and have not ended
  model::NamedAmounts asked;       // by the minima of the gangs that wait
  model::NamedAmounts deserved;    // as the scheduler wrote it, else as the queue does; may be empty
  model::NamedAmounts capability;  // empty: no bound
  int waiting = 0, running = 0;    // gangs of its own
};

enum class GangState : std::uint8_t { kWaiting, kPlaced, kEnded };

struct GangRow {
  std::string ns, name;
  std::string owner_kind, owner;  // "": nobody's
  std::string queue, phase;
  GangState state = GangState::kWaiting;
  int min_member = 0;
  int pods = 0, placed = 0;                 // those that are there, and those of them with a node
  std::string reason;                       // why it waits, in the scheduler's words; "": it has not said
  absl::Time since = absl::InfinitePast();  // when the reason came, or it was placed; else when it was created
};

struct Holder {
  std::string ns, name;
  int pods = 0;
  std::int64_t amount = 0;  // of the node's leading resource
};

struct NodeRow {
  std::string name;
  bool ready = true, cordoned = false;
  int taints = 0;
  std::string leading;                     // the resource that is drawn: a device where the node has one, else cpu
  std::int64_t allocatable = 0, held = 0;  // of it
  model::NamedAmounts all_held;            // of cpu, memory and devices
  std::vector<Holder> holders;             // by namespace and name
};

// A step of a job's life.
struct Moment {
  enum class What : std::uint8_t {
    kCreated,
    kAdmitted,  // its queue let it in: its pods were made
    kPlaced,    // its gang has its nodes
    kPhase,     // text: the phase that it entered
    kFailed,    // text: what failed
    kAction,    // text: what was done, and why
    kWarning,   // text
  };
  What what = What::kCreated;
  absl::Time at = absl::InfinitePast();
  std::string text;
  std::int32_t count = 1;
};

struct TaskRow {
  std::string name;
  int replicas = 0;
  int pending = 0, running = 0, succeeded = 0, failed = 0;
};

struct JobRow {
  std::string ns, name, queue, phase, message;
  bool ended = false;
  int min_available = 0;
  int restarts = 0, most_restarts = 0;
  std::vector<TaskRow> tasks;
  std::vector<Moment> life;        // by time, in one second by cause; what is known of it now, not all that ever was
  std::vector<std::string> nodes;  // where its pods are, sorted
};

struct RoleRow {
  std::string name;  // ps, worker, heter, Master...
  int wanted = 0, pending = 0, running = 0, succeeded = 0, failed = 0;
};

struct PaddleRow {
  std::string ns, name;
  std::string group;  // the API group of its dialect
  std::string phase, mode, queue, message;
  bool ended = false;
  int restarts = 0;
  std::vector<RoleRow> roles;
  absl::Time created = absl::InfinitePast(), started = absl::InfinitePast(), completed = absl::InfinitePast();
};

struct View {
  std::vector<QueueRow> queues;        // by name, each behind the one above it
  std::vector<GangRow> gangs;          // those that wait first, the longest first; then by name
  std::vector<NodeRow> nodes;          // by name
  std::vector<JobRow> jobs;            // those that have not ended first; then by name
  std::vector<PaddleRow> paddle_jobs;  // the same
  std::vector<std::string> not_seen;   // what is missing here, and why
};

View MakeView(const Seen& seen);

// The amount of a resource; 0 where it does not stand.
std::int64_t AmountOf(const model::NamedAmounts& amounts, absl::string_view resource);

}  // namespace gangway::dashboard
