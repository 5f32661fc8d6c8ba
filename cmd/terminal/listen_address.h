// HOST:PORT, as flags that listen have it.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace gangway::cmd {

struct ListenAt {
  std::string host;
  std::uint16_t port = 0;  // 0: any that is free
  // As sockets have it: no name, no brackets.
  std::string ip() const {
    if (host == "localhost") return "127.0.0.1";
    const bool brackets = absl::StartsWith(host, "[") && absl::EndsWith(host, "]");
    return brackets ? host.substr(1, host.size() - 2) : host;
  }
  bool loopback() const { return absl::StartsWith(host, "127.") || host == "localhost" || host == "[::1]"; }
};

inline absl::StatusOr<ListenAt> ParseListenAt(absl::string_view flag, const std::string& text) {
  const std::size_t colon = text.rfind(':');
  int port = -1;
  if (colon == std::string::npos || colon == 0 || !absl::SimpleAtoi(text.substr(colon + 1), &port) || port < 0 ||
      port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, " ", text, ": write HOST:PORT, such as 127.0.0.1:9443; port 0 is any that is free"));
  }
  return ListenAt{text.substr(0, colon), static_cast<std::uint16_t>(port)};
}

}  // namespace gangway::cmd
