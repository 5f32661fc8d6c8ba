// A GET whose answer is text that comes as it is written: the log of a container that is followed.
#pragma once

#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/strings/string_view.h"
#include "base/loop.h"
#include "kube/client/client.h"

namespace gangway::kube {

class TextSource {
 public:
  // A piece of the text, cut anywhere. May destroy the stream.
  using OnText = absl::AnyInvocable<void(absl::string_view)>;

  virtual ~TextSource() = default;
  // Calls back as a watch does (client.h): OnEnd once, Ok when the server ended the text in an orderly way, the Status
  // of a refusal, or a transport error. A stream without a byte for HttpClientOptions::watch_idle_timeout ends with
  // DeadlineExceeded. What the loop has not taken is bounded as a watch's frames are; then the server has to wait.
  [[nodiscard]] virtual std::unique_ptr<Watch> StartText(Request request, Token owner, OnText on_text,
                                                         Client::OnEnd on_end) = 0;
};

// For implementations that have the pieces as frames: hands on their objects.
inline Client::OnFrames TextOfFrames(TextSource::OnText on_text) {
  return [on_text = std::move(on_text)](std::vector<Frame> frames) mutable {
    if (frames.size() == 1) return on_text(*frames.front().object);
    std::string text;  // one call, after which nothing of ours is touched: it may end the stream
    for (const Frame& frame : frames) text += *frame.object;
    on_text(text);
  };
}

}  // namespace gangway::kube
