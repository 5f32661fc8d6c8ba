// What one run of a real container wrote, as lines with the time of each: the last of them, as a kubelet's rotation
// keeps them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace gangway::sandbox {

struct LogLine {
  absl::Time at;
  std::string text;
  bool partial = false;  // what follows belongs to the same line
  friend bool operator==(const LogLine&, const LogLine&) = default;
};

// Used on one loop.
class WrittenLog {
 public:
  // kubelet: containerLogMaxSize. What a line costs beside its text is counted, too.
  static constexpr std::size_t kMaxBytes = 10u << 20, kLineCost = 64;
  // A longer line comes in parts (the container runtime interface's log format).
  static constexpr std::size_t kMaxLine = 16u << 10;

  explicit WrittenLog(std::size_t max_bytes = kMaxBytes) : max_bytes_(max_bytes) {}

  // A line is there once its end has been written, or kMaxLine of it.
  void Append(absl::Time at, absl::string_view bytes);
  // Nothing follows: what has no end yet is a line.
  void Close();

  // What it costs: its lines, as kMaxBytes counts them.
  std::size_t bytes() const { return bytes_; }
  // Takes away the oldest lines beyond that; the last line is kept.
  void KeepLast(std::size_t max_bytes);

  // Lines are counted from 0; those before first_kept() are gone.
  std::int64_t count() const { return first_ + static_cast<std::int64_t>(lines_.size()); }
  std::int64_t first_kept() const { return first_; }
  // first_kept() <= index < count()
  const LogLine& line(std::int64_t index) const { return lines_[static_cast<std::size_t>(index - first_)]; }

 private:
  void Add(std::string text, bool partial);

  const std::size_t max_bytes_;
  std::deque<LogLine> lines_;
  std::int64_t first_ = 0;
  std::size_t bytes_ = 0;
  std::string rest_;    // of a line that goes on
  absl::Time rest_at_;  // when its first byte came
};

}  // namespace gangway::sandbox
