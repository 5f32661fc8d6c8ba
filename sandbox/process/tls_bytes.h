// TLS over bytes that somebody else carries, as the client that a kubelet's probes are: it looks at no certificate.
// Pure.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace gangway::sandbox {

// The message of Take's error when the other side answers by HTTP without TLS, as a Go program has it.
inline constexpr absl::string_view kHttpForHttps = "http: server gave HTTP response to HTTPS client";

class TlsBytes {
 public:
  TlsBytes();
  ~TlsBytes();
  TlsBytes(const TlsBytes&) = delete;
  TlsBytes& operator=(const TlsBytes&) = delete;

  // To be said to the other side, once it can be.
  void Write(absl::string_view plain);
  // What of the wire has come; what the other side said by that. InvalidArgument: it speaks no TLS, or refuses ours.
  absl::StatusOr<std::string> Take(absl::string_view wire);
  // What is to be sent now: at the beginning, and after each Write and Take.
  std::string TakeOutput();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace gangway::sandbox
