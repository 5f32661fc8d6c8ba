// What became of a cluster in virtual time: when each gang ran and what it waited for, and how much each queue held.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "plugin/model/reason.h"

namespace gangway::simulate {

struct Stretch {
  absl::Time from, to;
  friend bool operator==(const Stretch&, const Stretch&) = default;
};

// How long a gang waited for one thing, in all.
struct Wait {
  model::Reason::Kind kind = model::Reason::Kind::kNoRoom;
  absl::Duration lasted;
  std::string reason;  // the sentence, as it was when it began to wait for that last
  friend bool operator==(const Wait&, const Wait&) = default;
};

struct Story {
  std::string ns, name, queue;
  int pods = 0;
  absl::Time came;
  std::optional<absl::Time> started, ended;  // for the first time; for good. Absent: it did not
  std::vector<Stretch> ran;                  // one more than it was evicted and moved, if it ran to its end
  int evicted = 0;                           // how often it had to begin anew
  int moved = 0;                             // how often it went on elsewhere
  std::vector<Wait> waits;                   // the longest first
};

struct QueueUse {
  std::string name;
  int gangs = 0, ended = 0;
  // Of each resource the part of the cluster's that pods of the queue held, on average.
  std::vector<std::pair<std::string, double>> held;
};

struct Course {
  absl::Time from, to;  // from the moment of the facts until nothing happens any more
  int nodes = 0, rounds = 0;
  std::vector<Story> gangs;      // by when they came
  std::vector<QueueUse> queues;  // by name; those that held something or were asked for something
};

}  // namespace gangway::simulate
