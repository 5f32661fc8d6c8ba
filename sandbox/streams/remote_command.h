// The messages of `kubectl exec` over a WebSocket: v4.channel.k8s.io and v5.channel.k8s.io, which adds the end of a
// channel (KEP-4006; k8s.io/apimachinery: remotecommand). The first byte of a message is its channel. Pure.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "sandbox/kubelet/container_stream.h"

namespace gangway::sandbox {

inline constexpr absl::string_view kRemoteCommandV5 = "v5.channel.k8s.io", kRemoteCommandV4 = "v4.channel.k8s.io";

enum class RemoteChannel : unsigned char {
  kInput = 0,
  kOutput = 1,
  kErrorOutput = 2,
  kStatus = 3,   // how it ended, a metav1.Status
  kResize = 4,   // {"Width":80,"Height":24}
  kClose = 255,  // v5: the channel that its one byte names has ended
};

std::string RemoteMessage(RemoteChannel channel, absl::string_view bytes);

struct TerminalSize {
  int columns = 0, rows = 0;
};
// nullopt: it is none.
std::optional<TerminalSize> ParseTerminalSize(absl::string_view json);

// As a kubelet says it: Success, the exit code as a cause, or why there is none.
std::string RemoteStatus(const StreamEnd& end);

}  // namespace gangway::sandbox
