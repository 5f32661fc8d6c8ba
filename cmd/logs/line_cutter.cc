#include "cmd/logs/line_cutter.h"

#include <algorithm>
#include <utility>

namespace gangway::cmd {
namespace {

// Longer than any stamp; a line whose first word is longer has none.
constexpr std::size_t kMaxStamp = 40;

absl::Time WholeSecond(absl::Time at) { return absl::FromUnixSeconds(absl::ToUnixSeconds(at)); }

}  // namespace

void LineCutter::Begin() {
  if (emitted_ > 0 && at_.has_value() && !dropped_) {
    broken_at_ = at_;
    broken_bytes_ = emitted_;
  }
  buffer_.clear();
  open_ = dropped_ = false;
  emitted_ = skip_ = 0;
  resuming_ = last_.has_value();
  again_ = at_last_;
}

std::optional<absl::Time> LineCutter::resume_from() const {
  std::optional<absl::Time> from = last_;
  const std::optional<absl::Time>& partial = emitted_ > 0 && !dropped_ ? at_ : broken_at_;
  if (!from.has_value() || (partial.has_value() && *partial < *from)) from = partial.has_value() ? partial : from;
  return from.has_value() ? std::optional<absl::Time>(WholeSecond(*from)) : std::nullopt;
}

void LineCutter::Feed(absl::string_view bytes, Sink sink) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    Take(bytes.substr(0, end), sink);
    if (end == absl::string_view::npos) return;
    Emit(true, sink);
    bytes.remove_prefix(end + 1);
  }
}

void LineCutter::Finish(Sink sink) {
  if (!buffer_.empty() || emitted_ > 0) Emit(true, sink);
}

void LineCutter::Take(absl::string_view bytes, Sink sink) {
  while (!bytes.empty()) {
    const std::size_t limit = open_ ? kMaxLine : kMaxLine + kMaxStamp;
    const absl::string_view part = bytes.substr(0, limit - buffer_.size());
    buffer_.append(part.data(), part.size());
    bytes.remove_prefix(part.size());
    if (buffer_.size() == limit) Emit(false, sink);
  }
}

// Takes the stamp off the line's beginning.
void LineCutter::OpenLine() {
  open_ = true;
  stamp_.clear();
  at_.reset();
  skip_ = 0;
  const std::size_t space = absl::string_view(buffer_).substr(0, kMaxStamp).find(' ');
  absl::Time at;
  std::string error;
  if (space != absl::string_view::npos &&
      absl::ParseTime(absl::RFC3339_full, absl::string_view(buffer_).substr(0, space), &at, &error)) {
    stamp_ = buffer_.substr(0, space);
    at_ = at;
    buffer_.erase(0, space + 1);
  }
  dropped_ = IsKnown();
  if (!dropped_ && at_.has_value() && broken_at_ == at_) {
    skip_ = std::exchange(broken_bytes_, 0);
    broken_at_.reset();
  }
}

// Whether the line has come before the break. Lines without a stamp say nothing of when they were written.
bool LineCutter::IsKnown() {
  if (!resuming_ || !at_.has_value()) return false;
  if (*at_ < *last_) return true;
  if (*at_ == *last_ && again_ > 0) {
    --again_;
    return true;
  }
  resuming_ = false;
  return false;
}

void LineCutter::Emit(bool whole, Sink sink) {
  if (!open_) OpenLine();
  const std::size_t known = std::min(skip_, buffer_.size());
  const bool nothing_new = buffer_.size() == known && (known > 0 || emitted_ > 0);
  if (!dropped_ && !nothing_new) sink(stamp_, absl::string_view(buffer_).substr(known));
  skip_ -= known;
  emitted_ += buffer_.size();
  buffer_.clear();
  if (!whole) return;
  if (!dropped_ && at_.has_value()) {
    if (!last_.has_value() || *at_ > *last_) {
      last_ = at_;
      at_last_ = 1;
    } else if (*at_ == *last_) {
      ++at_last_;
    }
  }
  open_ = dropped_ = false;
  emitted_ = skip_ = 0;
}

}  // namespace gangway::cmd
