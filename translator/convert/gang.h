// How many pods of a job, and of each of its tasks, start together (docs/paddlejob.md). From these numbers the Job
// controller makes the PodGroup: minMember, minTaskMember and what they request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "translator/convert/codes.h"
#include "translator/convert/names.h"

namespace gangway::convert {

// spec.<role>.requests and .limits: the fewest and the most replicas of an elastic role.
struct WantedBounds {
  std::optional<std::int32_t> requests = {}, limits = {};
  bool given() const { return requests.has_value() || limits.has_value(); }
};

struct GangTask {
  TaskSize size = {};
  WantedBounds bounds = {};
};

// spec.schedulingPolicy; nothing said is "" or absent.
struct GangWish {
  std::optional<std::int32_t> min_available = {};
  std::string queue = {}, priority_class = {};
  bool min_resources = false;  // given
};

// A PodGroup that was written by hand beside a PaddleJob, as paddle-operator's guide tells its users.
struct HandMadeGroup {
  std::string name;
  std::optional<std::int32_t> min_member = {};
  std::string queue = {}, priority_class = {};
  bool min_resources = false;
};

// Takes over what the group asks for and the wish says nothing of. The finding, W-PG-DROPPED, is about the group's own
// metadata.name.
Finding TakeOver(const HandMadeGroup& group, GangWish& wish);

// The fewest and the most workers that Paddle's launcher trains with. Those of a run stay: they stand in its pods.
struct ElasticBounds {
  std::int32_t min = 1, max = 1;
  bool Hold(std::int32_t replicas) const { return min <= replicas && replicas <= max; }
  friend bool operator==(const ElasticBounds&, const ElasticBounds&) = default;
};

// Of an elastic job that names neither its fewest nor its most: it is to take any number that it is scaled to.
inline constexpr std::int32_t kMostWorkersUnbounded = 1000;

struct Gang {
  std::int32_t min_available = 0;
  std::vector<std::int32_t> task_minimums;  // of the tasks, in their order
  std::optional<ElasticBounds> bounds;      // of the workers of an elastic job
  Findings findings;                        // arranged; with an error the rest says nothing
};

// `tasks` as LineUp gives them; of an elastic job the workers alone. Pure. Errors: E-MIN-AVAILABLE, E-ELASTIC.
Gang CountGang(const std::vector<GangTask>& tasks, bool elastic, const GangWish& wish);

}  // namespace gangway::convert
