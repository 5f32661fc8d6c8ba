#include "plugin/extender/wire/frame_guard.h"

#include <algorithm>

namespace gangway::extender {
namespace {

// RFC 9113, sections 3.4, 4.1 and 6
constexpr absl::string_view kGreeting = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr std::uint8_t kData = 0, kHeaders = 1, kResetStream = 3, kSettings = 4, kContinuation = 9;
constexpr std::uint8_t kAcknowledged = 1;

std::uint32_t Number(const char* bytes, int count) {
  std::uint32_t number = 0;
  for (int i = 0; i < count; ++i) number = number << 8 | static_cast<std::uint8_t>(bytes[i]);
  return number;
}

}  // namespace

FrameFault FrameGuard::Look(absl::string_view bytes, absl::Time now) {
  if (greeting_ < kGreeting.size()) {
    const std::size_t count = std::min(bytes.size(), kGreeting.size() - greeting_);
    is_http2_ = is_http2_ && bytes.substr(0, count) == kGreeting.substr(greeting_, count);
    greeting_ += count;
    bytes.remove_prefix(count);
  }
  while (is_http2_ && fault_ == FrameFault::kNone && !bytes.empty()) {
    const std::size_t skipped = std::min(bytes.size(), payload_left_);
    payload_left_ -= skipped;
    bytes.remove_prefix(skipped);
    const std::size_t count = std::min(bytes.size(), head_.size() - head_bytes_);
    std::copy_n(bytes.data(), count, head_.data() + head_bytes_);
    head_bytes_ += count;
    bytes.remove_prefix(count);
    if (head_bytes_ < head_.size()) break;
    head_bytes_ = 0;
    payload_left_ = Number(head_.data(), 3);
    fault_ = Frame(now);
  }
  return fault_;
}

FrameFault FrameGuard::Frame(absl::Time now) {
  const auto type = static_cast<std::uint8_t>(head_[3]), flags = static_cast<std::uint8_t>(head_[4]);
  switch (type) {
    case kHeaders: {
      header_bytes_ = 0;
      header_frames_ = 0;
      const std::uint32_t stream = Number(head_.data() + 5, 4);
      const bool begins = stream > last_stream_;
      last_stream_ = std::max(last_stream_, stream);
      if (begins && !settled_ && ++streams_ > limits_.unsettled_streams) return FrameFault::kStreams;
      if (const FrameFault fault = begins ? Asks() : AsksForNothing(now); fault != FrameFault::kNone) return fault;
    }
      [[fallthrough]];
    case kContinuation:
      header_bytes_ += payload_left_;
      ++header_frames_;
      return header_bytes_ > limits_.header_bytes || header_frames_ > limits_.header_frames ? FrameFault::kHeader
                                                                                            : FrameFault::kNone;
    case kResetStream:
      return resets_.TryTake(now) && of_all_.TryTake(now) ? FrameFault::kNone : FrameFault::kResets;
    case kData:
      return payload_left_ > 0 ? Asks() : AsksForNothing(now);
    case kSettings:
      settled_ = settled_ || (flags & kAcknowledged) != 0;
      [[fallthrough]];
    default:
      return AsksForNothing(now);
  }
}

FrameFault FrameGuard::Asks() {
  beside_ = std::min(beside_ + limits_.idle_frames_beside, limits_.idle_frames);
  return FrameFault::kNone;
}

FrameFault FrameGuard::AsksForNothing(absl::Time now) {
  if (beside_ == 0) return idle_frames_.TryTake(now) ? FrameFault::kNone : FrameFault::kFrames;
  --beside_;
  return FrameFault::kNone;
}

}  // namespace gangway::extender
