// One budget for what all real containers wrote: a sandbox's memory does not grow with every job that is not deleted.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "sandbox/kubelet/written_log.h"

namespace gangway::sandbox {

// The log of one run of a container.
struct KeptLog {
  std::shared_ptr<WrittenLog> log;
  bool latest = true;                         // of its container
  absl::Time ended = absl::InfiniteFuture();  // it runs still
};

// Takes away the oldest lines of logs until all together cost at most `max_bytes`: first of runs that others followed,
// then of those that have ended, the longest ago first; then of those that run, of the longest log first. A log that
// costs at most `least` is left alone.
void KeepWithin(std::vector<KeptLog> logs, std::size_t max_bytes, std::size_t least = 64u << 10);

}  // namespace gangway::sandbox
