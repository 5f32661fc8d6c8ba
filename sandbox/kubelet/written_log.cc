#include "sandbox/kubelet/written_log.h"

#include <utility>

namespace gangway::sandbox {

void WrittenLog::Append(absl::Time at, absl::string_view bytes) {
  while (!bytes.empty()) {
    if (rest_.empty()) rest_at_ = at;
    const std::size_t end = bytes.find('\n');
    const std::size_t room = kMaxLine - rest_.size();
    if (end != absl::string_view::npos && end <= room) {
      Add(std::exchange(rest_, {}).append(bytes.data(), end), false);
      bytes.remove_prefix(end + 1);
    } else if (bytes.size() >= room) {
      Add(std::exchange(rest_, {}).append(bytes.data(), room), true);
      bytes.remove_prefix(room);
    } else {
      rest_.append(bytes.data(), bytes.size());
      return;
    }
  }
}

void WrittenLog::Close() {
  if (!rest_.empty()) Add(std::exchange(rest_, {}), true);
}

void WrittenLog::Add(std::string text, bool partial) {
  bytes_ += text.size() + kLineCost;
  lines_.push_back({rest_at_, std::move(text), partial});
  KeepLast(max_bytes_);
}

void WrittenLog::KeepLast(std::size_t max_bytes) {
  while (bytes_ > max_bytes && lines_.size() > 1) {
    bytes_ -= lines_.front().text.size() + kLineCost;
    lines_.pop_front();
    ++first_;
  }
}

}  // namespace gangway::sandbox
