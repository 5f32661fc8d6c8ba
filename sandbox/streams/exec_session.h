// One `kubectl exec`: what comes over a WebSocket goes to a command in a container, and back.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "kube/serve/web_socket.h"
#include "sandbox/kubelet/container_stream.h"

namespace gangway::sandbox {

// Of what one side has not taken yet; beyond that the other waits.
inline constexpr std::size_t kMaxUntaken = 256u << 10;

struct ExecOutputs {
  bool output = true, error_output = true;  // what is not wanted is dropped
};

// Used on the loop.
class ExecSession final : public kube::WebSocketUser {
 public:
  using Open = std::function<absl::StatusOr<std::unique_ptr<ContainerStream>>(StreamEvents events)>;
  // The errors of `open`. `socket` outlives it.
  static absl::StatusOr<std::unique_ptr<ExecSession>> Start(kube::WebSocket& socket, ExecOutputs outputs,
                                                            const Open& open);

  bool OnMessage(std::string message) override;
  void OnRoom() override;

 private:
  explicit ExecSession(kube::WebSocket& socket, ExecOutputs outputs) : socket_(socket), outputs_(outputs) {}
  void OnOutput(bool error_output, absl::string_view bytes);
  void OnEnd(const StreamEnd& end);

  kube::WebSocket& socket_;
  const ExecOutputs outputs_;
  std::unique_ptr<ContainerStream> stream_;
  std::size_t owed_ = 0;  // output that was passed on, and not told so
  bool held_ = false;     // the client waits for us
  bool input_ended_ = false;
};

}  // namespace gangway::sandbox
