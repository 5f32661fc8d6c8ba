// One call of grpc.health.v1.Health/Check, without TLS, over a connection that somebody else has: bytes to send, bytes
// that came, and what they say. Pure; the protocol's frames are nghttp2's.
//
// It is not the gRPC library that asks: that owns its threads, its clock and its connections, and a probe's connection
// is made in its pod's network, by the process beside the sandbox (orders.h), on the sandbox's loop, whose time may be
// simulated.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sandbox/process/health/health_answer.h"

struct nghttp2_session;

namespace gangway::sandbox {

class HealthCall {
 public:
  // `authority`: "10.1.0.1:50051"; `service`: "" is the server as a whole.
  HealthCall(absl::string_view authority, absl::string_view service, int timeout_seconds);
  HealthCall(const HealthCall&) = delete;
  HealthCall& operator=(const HealthCall&) = delete;

  // What is to be sent now, at the beginning and after each Take.
  std::string TakeOutput();
  // None: more has to come. InvalidArgument: this is no HTTP/2, or more than kMaxBytes of it.
  absl::StatusOr<std::optional<HealthAnswer>> Take(absl::string_view bytes);
  // The server has spoken HTTP/2.
  bool connected() const { return connected_; }

  static constexpr std::size_t kMaxBytes = 256u << 10;

 private:
  struct Callbacks;  // nghttp2's
  struct Close {
    void operator()(nghttp2_session* session) const;
  };

  void Send();
  void ReadField(absl::string_view name, absl::string_view value);
  void ReadData(absl::string_view bytes);
  void EndStream();
  void Answer(int code, std::string message);

  std::unique_ptr<nghttp2_session, Close> session_;
  std::string request_, out_, message_;
  std::string broken_;     // why we ended the connection
  std::size_t taken_ = 0;  // bytes, in all
  bool connected_ = false;
  int http_code_ = 0;
  std::optional<int> grpc_code_;
  std::string grpc_message_;
  std::optional<HealthAnswer> answer_;
};

}  // namespace gangway::sandbox
