#include "sandbox/process/http_get.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/json_value.h"

namespace gangway::sandbox {
namespace {

constexpr int kMaxPort = 65535;

absl::Status NoHttp(absl::string_view line) {
  return absl::InvalidArgumentError(
      absl::StrCat("net/http: HTTP/1.x transport connection broken: malformed HTTP response \"",
                   line.substr(0, std::min<std::size_t>(line.size(), 100)), "\""));
}

}  // namespace

absl::StatusOr<int> PortOf(const api::Document& port, const HostedContainer& container) {
  const auto value = api::ParseJson(port.json);
  int number = 0;
  if (value.ok() && value->is_int64()) {
    number = static_cast<int>(std::clamp<std::int64_t>(value->get_int64(), -1, kMaxPort + 1));
  } else if (value.ok() && value->is_string()) {
    const std::string name(value->get_string());
    const auto named = std::find_if(container.ports.begin(), container.ports.end(),
                                    [&](const api::core::ContainerPort& each) { return each.name == name; });
    if (named != container.ports.end()) {
      number = named->container_port;
    } else if (!absl::SimpleAtoi(name, &number)) {
      return absl::InvalidArgumentError(absl::StrCat("strconv.Atoi: parsing \"", name, "\": invalid syntax: container ",
                                                     container.name, " has no port of that name"));
    }
  }
  if (number < 1 || number > kMaxPort) return absl::InvalidArgumentError(absl::StrCat("invalid port number: ", number));
  return number;
}

HttpTarget TargetOf(const std::string& host, int port, absl::string_view path, bool tls) {
  HttpTarget out{host, port, absl::StartsWith(path, "/") ? "" : "/", tls};
  for (const char c : path) {
    const bool plain = absl::ascii_isgraph(static_cast<unsigned char>(c));
    absl::StrAppend(&out.path, plain ? std::string(1, c) : absl::StrFormat("%%%02X", static_cast<unsigned char>(c)));
  }
  return out;
}

std::string HttpTarget::url() const { return absl::StrCat(tls ? "https://" : "http://", host, ":", port, path); }

std::string HttpGetRequest(const HttpTarget& target, const HttpGetAction& action) {
  std::string host = absl::StrCat(target.host, ":", target.port), more;
  bool agent = false, accept = false;
  for (const HttpHeader& header : action.http_headers) {
    if (absl::EqualsIgnoreCase(header.name, "Host")) {
      host = header.value;
      continue;
    }
    agent |= absl::EqualsIgnoreCase(header.name, "User-Agent");
    accept |= absl::EqualsIgnoreCase(header.name, "Accept");
    absl::StrAppend(&more, header.name, ": ", header.value, "\r\n");
  }
  return absl::StrCat("GET ", target.path, " HTTP/1.1\r\nHost: ", host, "\r\n",
                      agent ? "" : "User-Agent: kube-probe/\r\n", accept ? "" : "Accept: */*\r\n", more,
                      "Connection: close\r\n\r\n");
}

absl::StatusOr<std::optional<HttpAnswer>> ReadHttpAnswer(absl::string_view bytes) {
  constexpr absl::string_view kVersion = "HTTP/1.";
  HttpAnswer out;
  absl::string_view rest = bytes;
  while (out.code < 200) {  // those below are interim
    const absl::string_view line = rest.substr(0, rest.find("\r\n"));
    if (!absl::StartsWith(line, kVersion.substr(0, line.size()))) return NoHttp(line);
    const std::size_t end = rest.find("\r\n\r\n");
    if (end == absl::string_view::npos) {
      if (bytes.size() <= kMaxHttpHeader) return std::optional<HttpAnswer>();
      return absl::InvalidArgumentError(absl::StrCat("the answer's header exceeds ", kMaxHttpHeader, " bytes"));
    }
    const std::vector<absl::string_view> words = absl::StrSplit(line, absl::MaxSplits(' ', 2));
    if (words.size() < 2 || words[1].size() != 3 || !absl::SimpleAtoi(words[1], &out.code) || out.code < 100)
      return NoHttp(line);
    for (const absl::string_view field : absl::StrSplit(rest.substr(0, end), "\r\n")) {
      const std::size_t colon = field.find(':');
      if (colon != absl::string_view::npos && absl::EqualsIgnoreCase(field.substr(0, colon), "Location"))
        out.location = std::string(absl::StripAsciiWhitespace(field.substr(colon + 1)));
    }
    rest.remove_prefix(end + 4);
  }
  return std::optional<HttpAnswer>(std::move(out));
}

std::optional<HttpTarget> RedirectOf(const HttpTarget& from, const HttpAnswer& answer) {
  constexpr int kRedirects[] = {301, 302, 303, 307, 308};
  if (std::find(std::begin(kRedirects), std::end(kRedirects), answer.code) == std::end(kRedirects)) return std::nullopt;
  absl::string_view rest = answer.location;
  if (absl::StartsWith(rest, "/") && !absl::StartsWith(rest, "//"))
    return TargetOf(from.host, from.port, rest, from.tls);
  const bool tls = absl::ConsumePrefix(&rest, "https://");
  if ((!tls && !absl::ConsumePrefix(&rest, "http://")) || !absl::ConsumePrefix(&rest, from.host)) return std::nullopt;
  int number = tls ? 443 : 80;
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  absl::string_view port = rest.substr(0, slash);
  if (absl::ConsumePrefix(&port, ":") ? !absl::SimpleAtoi(port, &number) || number < 1 || number > kMaxPort
                                      : !port.empty())
    return std::nullopt;
  return TargetOf(from.host, number, rest.substr(slash), tls);
}

}  // namespace gangway::sandbox
