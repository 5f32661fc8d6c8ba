// The bytes of one connection as messages of a WebSocket. Private to the front; used on the I/O thread that owns the
// connection.
#pragma once

#include <openssl/ssl.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include "absl/functional/any_invocable.h"
#include "absl/strings/string_view.h"

namespace gangway::kube {

using UpgradeRequest = boost::beast::http::request<boost::beast::http::string_body>;

class WebSocketStream {
 public:
  struct Events {
    absl::AnyInvocable<void(std::string)> on_message;
    absl::AnyInvocable<void()> on_room;
    absl::AnyInvocable<void()> on_gone;  // once, last; not after Close
  };
  // Answers the request, and reads the first message. `tls`: the session on the socket, past its handshake; it is taken
  // over. Null: plain. `unsent`: bytes to be sent, counted by whoever sends them; what
  // has been sent is taken off.
  static std::shared_ptr<WebSocketStream> Accept(boost::asio::ip::tcp::socket socket, SSL* tls, UpgradeRequest request,
                                                 absl::string_view protocol,
                                                 std::shared_ptr<std::atomic<std::size_t>> unsent, Events events);
  virtual ~WebSocketStream() = default;
  virtual void Send(std::string message) = 0;
  // After each message: the next.
  virtual void ReadOn() = 0;
  // Closes it in an orderly way after what was sent.
  virtual void Finish() = 0;
  virtual void Close() = 0;
  // One side has said that it ends, or broke the protocol; the other has not closed yet. Or the other has gone while
  // nothing is read, which no reader can notice.
  virtual bool closing() = 0;
};

}  // namespace gangway::kube
