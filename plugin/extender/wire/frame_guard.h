// What a client of HTTP/2 may send that the packaged gRPC (1.51) itself puts no bound on: a request's header over ever
// more frames (CVE-2023-33953), requests that are taken back as soon as they are sent (CVE-2023-44487), requests
// without end from one who never acknowledges how many it may have open, and frames that ask for nothing (CVE-2019-9511
// to 9518): settings, pings, priorities, windows, empty data, headers of requests that there are already.
//
// It looks at the nine bytes that each frame begins with, and keeps no others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "base/rate_limiter.h"

namespace gangway::extender {

struct FrameLimits {
  std::size_t header_bytes = std::size_t{64} << 10;  // of one header as it is packed, all its frames together
  int header_frames = 32;
  int unsettled_streams = 256;  // begun before our settings are acknowledged; then the library counts those open
  // Requests taken back: so many at once, and a second from then on.
  int resets = 100;
  int resets_of_all = 400;  // of all connections together
  // Frames that ask for nothing: so many at once, as a client sends that takes a large answer, and a second from then
  // on; and so many more with each that asks.
  int idle_frames = 10'000;
  int idle_frames_per_second = 1000;
  int idle_frames_beside = 16;
};

// What all connections may take back together. Thread-safe.
class ResetAllowance {
 public:
  explicit ResetAllowance(int resets) : left_(resets, resets) {}
  bool TryTake(absl::Time now) {
    const MutexLock lock(mu_);
    return left_.TryTake(now);
  }

 private:
  Mutex mu_;
  RateLimiter left_ ABSL_GUARDED_BY(mu_);
};

enum class FrameFault { kNone, kHeader, kStreams, kResets, kFrames };

// One connection. Thread-compatible.
class FrameGuard {
 public:
  // `of_all` outlives it.
  FrameGuard(const FrameLimits& limits, ResetAllowance& of_all)
      : limits_(limits),
        resets_(limits.resets, limits.resets),
        of_all_(of_all),
        idle_frames_(limits.idle_frames_per_second, limits.idle_frames) {}

  // What the client has sent next, in pieces of any size. What has a fault keeps it. What does not begin as HTTP/2 does
  // is left to the library, which refuses it.
  FrameFault Look(absl::string_view bytes, absl::Time now);

 private:
  FrameFault Frame(absl::Time now);  // its head is there
  FrameFault Asks();
  FrameFault AsksForNothing(absl::Time now);

  const FrameLimits limits_;
  RateLimiter resets_;
  ResetAllowance& of_all_;
  RateLimiter idle_frames_;
  int beside_ = 0;  // that those which ask have brought, and have not been used
  FrameFault fault_ = FrameFault::kNone;
  bool is_http2_ = true;
  std::size_t greeting_ = 0;      // bytes of it that have come
  std::array<char, 9> head_{};    // of the next frame
  std::size_t head_bytes_ = 0;    // of it that have come
  std::size_t payload_left_ = 0;  // of the frame before
  std::size_t header_bytes_ = 0;  // of the header under way
  int header_frames_ = 0;
  int streams_ = 0;  // begun, until the settings are acknowledged
  std::uint32_t last_stream_ = 0;
  bool settled_ = false;
};

}  // namespace gangway::extender
