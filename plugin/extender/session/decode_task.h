// Volcano's TaskInfo as facts of the model. volcano: pkg/scheduler/api/job_info.go
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "plugin/extender/session/json_walk.h"
#include "plugin/model/facts.h"

namespace gangway::extender {

// volcano: pkg/scheduler/api/types.go, TaskStatus
enum class WireStatus : std::int64_t {
  kPending = 1,
  kAllocated = 2,
  kPipelined = 4,
  kBinding = 8,
  kBound = 16,
  kRunning = 32,
  kReleasing = 64,
  kSucceeded = 128,
  kFailed = 256,
  kUnknown = 512,
};
inline constexpr std::int64_t kWireStatuses = 1023;  // all of them
// One of them; anything else is an error that names the field.
absl::Status DecodeStatus(JsonWalk& walk, WireStatus& out);

// All that is asked about a pod: everything of it but its embedded Pod.
struct TaskKey {
  std::string uid, job, name, node;
  WireStatus status = WireStatus::kPending;
};
absl::Status DecodeTaskKey(JsonWalk& walk, TaskKey& out);

// `facts`: what PodFactsOf says of the embedded Pod, where Volcano does not say otherwise: node, status, priority,
// request. `job`: "namespace/podgroup", "" = none. A task without a Pod is an error.
struct DecodedTask {
  model::PodFacts facts;
  std::string job;
};
absl::Status DecodeTask(JsonWalk& walk, DecodedTask& out);

}  // namespace gangway::extender
