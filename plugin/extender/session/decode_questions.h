// The bodies of the verbs that come in a session: what is asked, and no more of it. volcano: plugins/extender
//
// As lenient as DecodeSession. InvalidArgument begins with the path, "evictees[3].UID: must be a string". Views are
// into the body. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/extender/session/decode_task.h"
#include "plugin/extender/session/job_counts.h"

namespace gangway::extender {

// Of one list; beyond: ResourceExhausted.
inline constexpr std::size_t kMaxAsked = 200'000;

// {"job":JobInfo}: its name, "namespace/podgroup".
absl::StatusOr<std::string> DecodeJobName(absl::string_view body);
// The same with everything that says whether it is ready.
absl::StatusOr<JobCounts> DecodeJobCounts(absl::string_view body);

struct PredicateQuestion {
  TaskKey task;
  std::string node;
};
absl::StatusOr<PredicateQuestion> DecodePredicate(absl::string_view body);

struct PrioritizeQuestion {
  TaskKey task;
  std::vector<std::string> nodes;  // of null none
};
absl::StatusOr<PrioritizeQuestion> DecodePrioritize(absl::string_view body);

struct VictimsQuestion {
  TaskKey evictor;
  std::vector<std::string> uids;          // of those that are offered
  std::vector<absl::string_view> bodies;  // the same, each as it was written
};
absl::StatusOr<VictimsQuestion> DecodeVictims(absl::string_view body);

// {"queue":QueueInfo}: its name.
absl::StatusOr<std::string> DecodeQueueName(absl::string_view body);
// {"task":TaskInfo} of an event.
absl::StatusOr<TaskKey> DecodeEvent(absl::string_view body);

}  // namespace gangway::extender
