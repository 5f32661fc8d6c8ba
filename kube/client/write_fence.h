// Until when this process may write: the end of the lease it holds, looked at with a fresh clock by whoever is about to
// send.
//
// A process that was stopped for a while (SIGSTOP, a machine that was suspended) may find, when it goes on, that
// somebody else leads. Whatever it had decided by then must not leave: so the clock is asked as near to the socket as
// there is a place for it (HttpClientOptions::fence), not when the write was decided.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace gangway::kube {

// Thread-safe, when its clock is.
class WriteFence {
 public:
  using Clock = std::function<absl::Time()>;

  // By the machine's clock that never jumps and counts while the machine sleeps.
  WriteFence();
  // A simulation gives its loop's.
  explicit WriteFence(Clock clock) : clock_(std::move(clock)) {}

  // Comparable with one another only; not the time of day.
  absl::Time Now() const { return clock_(); }
  // Closed when made.
  bool open() const { return absl::ToUnixNanos(Now()) < until_.load(std::memory_order_acquire); }
  void OpenUntil(absl::Time until) { until_.store(absl::ToUnixNanos(until), std::memory_order_release); }
  void Close() { until_.store(INT64_MIN, std::memory_order_release); }

 private:
  const Clock clock_;
  std::atomic<std::int64_t> until_ = INT64_MIN;
};

// Whether a request of this method may change anything.
bool IsWriteMethod(absl::string_view method);
// What a write ends with that was not sent: FailedPrecondition.
absl::Status FencedOff(absl::string_view what);
inline bool IsFencedOff(const absl::Status& status) { return absl::IsFailedPrecondition(status); }

}  // namespace gangway::kube
