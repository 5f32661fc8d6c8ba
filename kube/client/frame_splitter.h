// Cuts the bytes of a watch into frames.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/client/client.h"

namespace gangway::kube {

// One line of a watch: {"type":"ADDED","object":{...}}, keys in any order, others skipped. The object's bytes are taken
// as they are. Pure.
absl::StatusOr<Frame> ParseFrame(absl::string_view line);
// The reverse: appends the line with its line feed.
void AppendFrame(const Frame& frame, std::string& out);
absl::string_view FrameTypeName(FrameType type);  // "ADDED"

// Collects bytes until a line is whole. After an error nothing more is accepted.
class FrameSplitter {
 public:
  explicit FrameSplitter(std::size_t max_frame_bytes) : max_frame_bytes_(max_frame_bytes) {}
  // Appends the frames that `bytes` completes.
  absl::Status Feed(absl::string_view bytes, std::vector<Frame>& frames);
  // The stream has ended; Unavailable when it ended within a frame.
  absl::Status Finish() const;

 private:
  const std::size_t max_frame_bytes_;
  std::string rest_;  // the beginning of a line
  bool failed_ = false;
};

}  // namespace gangway::kube
