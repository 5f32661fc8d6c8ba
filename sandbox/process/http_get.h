// One GET of a probe or a hook, and where it goes: the bytes to send and what came back. Pure.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sandbox/kubelet/hosted_pod.h"

namespace gangway::sandbox {

// The number behind a port that may be one of the container's by name. InvalidArgument in a kubelet's words.
absl::StatusOr<int> PortOf(const api::Document& port, const HostedContainer& container);

struct HttpTarget {
  std::string host;  // an address
  int port = 0;
  std::string path;  // begins with "/", and has no bytes that a request line may not have
  bool tls = false;
  std::string url() const;
};
HttpTarget TargetOf(const std::string& host, int port, absl::string_view path, bool tls = false);

std::string HttpGetRequest(const HttpTarget& target, const HttpGetAction& action);

struct HttpAnswer {
  int code = 0;
  std::string location;  // of a redirection
};
// Beyond this a header is refused.
inline constexpr std::size_t kMaxHttpHeader = 16u << 10;
// None: the header is not complete yet. InvalidArgument: this is no HTTP/1.
absl::StatusOr<std::optional<HttpAnswer>> ReadHttpAnswer(absl::string_view bytes);

// Where a redirection leads: to another path, port or scheme of the same host. None: it leads elsewhere, or is none.
std::optional<HttpTarget> RedirectOf(const HttpTarget& from, const HttpAnswer& answer);

}  // namespace gangway::sandbox
