// A connection that has become a WebSocket (RFC 6455), as whoever answers sees it. Used on the loop.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "kube/client/client.h"

namespace gangway::kube {

// A message beyond this breaks the connection off.
inline constexpr std::size_t kMaxWebSocketMessage = 1u << 20;

// To the client. Binary messages. After it is gone nothing happens any more.
class WebSocket {
 public:
  virtual ~WebSocket() = default;
  virtual void Send(std::string message) = 0;
  // Bytes that the client has not taken yet. Whoever sends keeps them few.
  virtual std::size_t unsent() const = 0;
  // After what was sent, in an orderly way; what comes from then on is dropped.
  virtual void Close() = 0;
  // Reading goes on, after a message that held it up.
  virtual void ReadOn() = 0;
};

// From the client. Destroyed in a task of its own when the client is gone.
class WebSocketUser {
 public:
  virtual ~WebSocketUser() = default;
  // False: nothing more is read until ReadOn.
  virtual bool OnMessage(std::string message) = 0;
  // Of what was sent little is left.
  virtual void OnRoom() = 0;
};

// What becomes of a request for one.
struct WebSocketAnswer {
  std::unique_ptr<WebSocketUser> user;  // null: refused
  std::string protocol;                 // of those that were offered
  Response refused;
};

}  // namespace gangway::kube
