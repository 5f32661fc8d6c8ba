// What becomes of a PaddleJob depends on this much of each of its pods (docs/paddlejob-lifecycle.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/time/time.h"
#include "api/core/pod.h"
#include "api/volcano/pod_failure.h"

namespace gangway::paddle_lifecycle {

// As the status counts it. Starting: its node has it, and it does not do its work yet: it waits for DNS, or not all of
// its containers are up. Unknown: its node does not answer.
enum class PodStage : std::uint8_t { kPending, kStarting, kRunning, kFailed, kSucceeded, kUnknown };

struct PaddlePod {
  std::string uid;
  std::string owner_uid;     // of the object that controls it
  bool of_operator = false;  // that is a PaddleJob: another controller made the pod
  std::string task;          // "worker": its role
  std::int32_t index = 0;    // within the task
  PodStage stage = PodStage::kPending;
  bool deleting = false;
  bool begun = false;         // a container of it runs or has run, other than those that come first
  bool disrupted = false;     // evicted, preempted or drained: not the program's fault
  std::int32_t restarts = 0;  // of all its containers in place
  std::string
      waiting;  // what a container waits for that does not come by itself: "ImagePullBackOff: ..."; "" for nothing
  absl::Time started = absl::InfiniteFuture();              // when its node took it
  std::shared_ptr<const api::volcano::PodFailure> failure;  // only of a pod in which something failed
};

// By name.
using PodTable = absl::btree_map<std::string, PaddlePod>;

// The name of the Volcano Job or of the PaddleJob, of either dialect, that controls the pod; "" when none does.
std::string JobOf(const api::core::Pod& pod);
// Meant for pods of which JobOf is not empty.
PaddlePod PaddlePodOf(const api::core::Pod& pod);

}  // namespace gangway::paddle_lifecycle
