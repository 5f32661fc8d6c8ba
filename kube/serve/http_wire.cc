#include "kube/serve/http_wire.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "kube/client/status.h"

namespace gangway::kube {
namespace {

constexpr std::size_t kMaxCallerName = 128;

struct Phrase {
  int code;
  absl::string_view text;
  absl::string_view reason;  // metav1.StatusReason, of those that the front itself sends
};
constexpr Phrase kPhrases[] = {
    {200, "OK", ""},
    {201, "Created", ""},
    {202, "Accepted", ""},
    {204, "No Content", ""},
    {304, "Not Modified", ""},
    {400, "Bad Request", "BadRequest"},
    {401, "Unauthorized", "Unauthorized"},
    {403, "Forbidden", "Forbidden"},
    {404, "Not Found", "NotFound"},
    {405, "Method Not Allowed", "MethodNotAllowed"},
    {406, "Not Acceptable", "NotAcceptable"},
    {408, "Request Timeout", "Timeout"},
    {409, "Conflict", "Conflict"},
    {410, "Gone", "Gone"},
    {413, "Request Entity Too Large", "RequestEntityTooLarge"},
    {415, "Unsupported Media Type", "UnsupportedMediaType"},
    {417, "Expectation Failed", "BadRequest"},
    {422, "Unprocessable Entity", "Invalid"},
    {429, "Too Many Requests", "TooManyRequests"},
    {431, "Request Header Fields Too Large", "BadRequest"},
    {500, "Internal Server Error", "InternalError"},
    {501, "Not Implemented", "BadRequest"},
    {503, "Service Unavailable", "ServiceUnavailable"},
    {504, "Gateway Timeout", "Timeout"},
    {505, "HTTP Version Not Supported", "BadRequest"},
};

const Phrase& PhraseOf(int code) {
  static constexpr Phrase kUnknown{0, "Status", "Unknown"};
  const auto* found =
      std::find_if(std::begin(kPhrases), std::end(kPhrases), [&](const Phrase& p) { return p.code == code; });
  return found == std::end(kPhrases) ? kUnknown : *found;
}

// A header's value: line breaks would start a header of their own.
void AppendValue(absl::string_view value, std::string& out) {
  for (const char c : value) out.push_back(absl::ascii_iscntrl(static_cast<unsigned char>(c)) ? ' ' : c);
}

void AppendWarning(absl::string_view text, std::string& out) {
  out.append("Warning: 299 - \"");
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(absl::ascii_iscntrl(static_cast<unsigned char>(c)) ? ' ' : c);
  }
  out.append("\"\r\n");
}

bool IsPort(absl::string_view text) {
  return text.size() <= 5 && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool SplitTarget(absl::string_view target, std::string& path, std::string& query) {
  for (const absl::string_view scheme : {"http://", "https://"}) {
    if (!absl::StartsWithIgnoreCase(target, scheme)) continue;
    target.remove_prefix(scheme.size());
    const std::size_t slash = target.find('/');
    target = slash == absl::string_view::npos ? "/" : target.substr(slash);
    break;
  }
  if (!absl::StartsWith(target, "/")) return false;
  for (const char c : target) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte >= 0x7f || c == '#') return false;
  }
  const std::size_t mark = target.find('?');
  path = std::string(target.substr(0, mark));
  query = mark == absl::string_view::npos ? "" : std::string(target.substr(mark + 1));
  return true;
}

bool IsLoopbackHost(absl::string_view host) {
  for (const absl::string_view name : {"localhost", "127.0.0.1", "[::1]"}) {
    if (!absl::StartsWithIgnoreCase(host, name)) continue;
    absl::string_view rest = host.substr(name.size());
    if (rest.empty() || (absl::ConsumePrefix(&rest, ":") && IsPort(rest))) return true;
  }
  return false;
}

bool IsLoopbackOrigin(absl::string_view origin) {
  return (absl::ConsumePrefix(&origin, "http://") || absl::ConsumePrefix(&origin, "https://")) &&
         IsLoopbackHost(origin);
}

std::string CallerName(absl::string_view user_agent) {
  const std::size_t end = user_agent.find_first_of("/ (");
  absl::string_view name = user_agent.substr(0, std::min(end, kMaxCallerName));
  if (name.empty()) return "unknown";
  std::string out;
  for (const char c : name) out.push_back(absl::ascii_isgraph(static_cast<unsigned char>(c)) ? c : '?');
  return out;
}

bool SameSecret(absl::string_view a, absl::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i] ^ b[i]));
  return difference == 0;
}

void AppendHead(const AnswerHead& head, const Response* more, std::string& out) {
  absl::StrAppend(&out, "HTTP/1.1 ", head.code, " ", PhraseOf(head.code).text, "\r\n");
  if (!head.content_type.empty()) {
    out.append("Content-Type: ");
    AppendValue(head.content_type, out);
    out.append("\r\n");
  }
  if (head.chunked) {
    out.append("Transfer-Encoding: chunked\r\n");
  } else if (!head.no_length && head.code != 204 && head.code != 304) {
    absl::StrAppend(&out, "Content-Length: ", head.content_length, "\r\n");
  }
  out.append("Cache-Control: no-cache, private\r\n");
  if (head.code == 401) out.append("WWW-Authenticate: Bearer\r\n");
  if (head.code == 405)
    out.append(head.read_only ? "Allow: GET, HEAD\r\n" : "Allow: GET, HEAD, POST, PUT, PATCH, DELETE\r\n");
  absl::StrAppend(&out, head.more_lines);
  if (more != nullptr) {
    if (more->retry_after.has_value()) {
      const std::int64_t seconds = absl::ToInt64Seconds(absl::Ceil(*more->retry_after, absl::Seconds(1)));
      absl::StrAppend(&out, "Retry-After: ", std::max<std::int64_t>(0, seconds), "\r\n");
    }
    for (const std::string& warning : more->warnings) AppendWarning(warning, out);
  }
  if (!head.keep_alive) {
    out.append("Connection: close\r\n");
  } else if (head.http10) {
    out.append("Connection: keep-alive\r\n");
  }
  out.append("\r\n");
}

std::string HeaderLines(const std::vector<std::pair<std::string, std::string>>& headers) {
  std::string lines;
  for (const auto& [name, value] : headers) {
    absl::StrAppend(&lines, name, ": ");
    AppendValue(value, lines);
    lines.append("\r\n");
  }
  return lines;
}

Response RefusalResponse(int code, absl::string_view message) {
  Response response;
  response.code = code;
  response.content_type = "application/json";
  response.body = MakeBytes(StatusBody(code, PhraseOf(code).reason, message));
  return response;
}

}  // namespace gangway::kube
