// What the lifecycle of a Job needs to know of one of its pods: a hundred bytes instead of the object.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/time/time.h"
#include "api/core/pod.h"
#include "plugin/lifecycle/pod_failure.h"

namespace gangway::lifecycle {

enum class PodPhase : std::uint8_t { kPending, kRunning, kSucceeded, kFailed, kUnknown };
absl::string_view NameOf(PodPhase phase);

struct JobPod {
  std::string uid;
  std::string job_uid;        // of the controlling Job
  std::string task;           // annotation volcano.sh/task-spec
  std::int32_t version = -1;  // annotation volcano.sh/job-version; -1: none that reads
  PodPhase phase = PodPhase::kPending;
  bool deleting = false;      // somebody asked for its deletion; it is still there
  bool failed_first = false;  // Failed, and not because it is being deleted
  bool released = false;      // the scheduler marked it: it goes because its gang did not start, nobody evicted it
  bool named = false;         // its PodGroup said that it goes: known to who looked after it since
  bool out_of_sync = false;   // Volcano's controller marked it and meant to remove it: nothing that becomes of it is an
                              // event, and it goes
  bool ready = false;         // every container status is ready, and there is one
  std::int32_t exit_code = 0;                  // of containerStatuses[0], when terminated
  std::int32_t restarts = 0;                   // of all containers, init containers included
  std::string reason;                          // status.reason: Evicted, NodeLost...
  absl::Time finished = absl::InfinitePast();  // when its last container ended
  std::shared_ptr<const PodFailure> failure;   // only of a pod in which something failed
  bool ended() const { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }
};

// By name, so that a task's pods stand together and the order is always the same.
using PodTable = absl::btree_map<std::string, JobPod>;

// The name of the Job that controls the pod; "" when none does.
std::string JobOf(const api::core::Pod& pod);
// Meant for pods of which JobOf is not empty.
JobPod JobPodOf(const api::core::Pod& pod);

}  // namespace gangway::lifecycle
