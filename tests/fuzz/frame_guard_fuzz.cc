// What a client of gRPC sends, looked at by its frames: the same fault behind the same byte however the bytes are cut.
#include <algorithm>
#include <utility>

#include "absl/time/time.h"
#include "plugin/extender/wire/frame_guard.h"
#include "tests/fuzz/fuzz_target.h"

namespace gangway::testutil {
namespace {

using extender::FrameFault;
using extender::FrameGuard;

// So that short inputs reach them.
const extender::FrameLimits kLimits{.header_bytes = 300,
                                    .header_frames = 3,
                                    .unsettled_streams = 2,
                                    .resets = 2,
                                    .resets_of_all = 3,
                                    .idle_frames = 4,
                                    .idle_frames_per_second = 4,
                                    .idle_frames_beside = 1};
const absl::Time kNow = absl::FromUnixSeconds(1'795'000'000);

// How many of them have been looked at without a fault, in pieces of these sizes by turns.
std::size_t Faultless(absl::string_view bytes, std::size_t first, std::size_t second) {
  extender::ResetAllowance of_all(kLimits.resets_of_all);
  FrameGuard guard(kLimits, of_all);
  std::size_t at = 0;
  for (std::size_t size = first; at < bytes.size(); size = size == first ? second : first) {
    const absl::string_view piece = bytes.substr(at, size);
    if (guard.Look(piece, kNow) != FrameFault::kNone) {
      Require(guard.Look("", kNow) != FrameFault::kNone, "what is at fault stays so", bytes);
      return at;
    }
    at += piece.size();
  }
  return at;
}

}  // namespace
}  // namespace gangway::testutil

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gangway::testutil;
  const absl::string_view bytes = TextOf(data, size);
  const std::size_t faultless = Faultless(bytes, 1, 1);
  for (const auto& [first, second] : {std::pair(2, 3), std::pair(1, 10), std::pair(9, 9), std::pair(24, 100)}) {
    const std::size_t there = Faultless(bytes, static_cast<std::size_t>(first), static_cast<std::size_t>(second));
    Require(there <= faultless, "no fault is overlooked", bytes);
    Require(there == bytes.size() || there + static_cast<std::size_t>(std::max(first, second)) > faultless,
            "none is seen before it is there", bytes);
  }
  const std::size_t whole = Faultless(bytes, bytes.size() + 1, 1);
  Require((whole == bytes.size()) == (faultless == bytes.size()), "whole it has the same fault", bytes);
  if (faultless < bytes.size()) ++came_out;
  return 0;
}
