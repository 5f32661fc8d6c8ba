// One `kubectl port-forward`: SPDY streams within a WebSocket, two for each connection that the user's machine takes;
// what comes goes to a port of a pod, and back (cri-streaming: portforward/httpstream.go).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "kube/serve/web_socket.h"
#include "sandbox/kubelet/container_stream.h"
#include "sandbox/streams/spdy.h"

namespace gangway::sandbox {

inline constexpr absl::string_view kPortForward = "SPDY/3.1+portforward.k8s.io";

// Used on the loop.
class PortForwardSession final : public kube::WebSocketUser {
 public:
  using Dial = std::function<absl::StatusOr<std::unique_ptr<ContainerStream>>(int port, StreamEvents events)>;
  static constexpr std::size_t kMaxConnections = 256;  // at once; beyond: its streams are refused
  // `pod` is named in errors. `socket` outlives it.
  PortForwardSession(kube::WebSocket& socket, std::string pod, Dial dial)
      : socket_(socket), pod_(std::move(pod)), dial_(std::move(dial)) {}

  bool OnMessage(std::string message) override;
  void OnRoom() override;

 private:
  // One connection: the stream for its bytes and the one for what is wrong with it. 0: not opened yet.
  struct Forward {
    std::uint32_t data = 0, error = 0;
    int port = 0;
    std::string early;  // came before the connection was made
    bool input_ended = false;
    std::unique_ptr<ContainerStream> stream;
    std::size_t owed = 0;
  };
  void Obey(const SpdyFrame& frame);
  void Open(const SpdyFrame& frame);
  void Connect(const std::string& request, Forward& forward);
  void OnData(const SpdyFrame& frame);
  void OnOutput(const std::string& request, absl::string_view bytes);
  void OnEnd(const std::string& request, const StreamEnd& end);
  void ReadOn();
  Forward* Find(std::uint32_t stream, std::string* request);

  kube::WebSocket& socket_;
  const std::string pod_;
  const Dial dial_;
  SpdyReader reader_;
  SpdyWriter writer_;
  std::map<std::string, Forward> forwards_;        // by request
  std::map<std::uint32_t, std::string> requests_;  // by stream
  std::uint32_t last_opened_ = 0;                  // each is above those before it (2.3.2 of the draft)
  bool held_ = false, over_ = false;
};

}  // namespace gangway::sandbox
