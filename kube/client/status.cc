#include "kube/client/status.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "api/json.h"

namespace gangway::kube {
namespace {

constexpr std::size_t kMaxQuotedText = 300;

// What a proxy or a load balancer wrote, on one line.
std::string QuotedText(absl::string_view body) {
  std::string text(body.substr(0, kMaxQuotedText));
  for (char& c : text) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = ' ';
  }
  absl::StripAsciiWhitespace(&text);
  return text;
}

absl::Status StatusFromView(int http_code, const StatusView& view) {
  const absl::StatusCode code = CodeFromHttp(http_code, view.reason);
  if (!view.message.empty()) return absl::Status(code, view.message);
  return absl::Status(code, absl::StrCat("HTTP ", http_code, view.reason.empty() ? "" : " ", view.reason));
}

}  // namespace

absl::StatusCode CodeFromHttp(int http_code, absl::string_view reason) {
  if (http_code >= 200 && http_code < 300) return absl::StatusCode::kOk;
  switch (http_code) {
    case 400:
    case 405:
    case 406:
    case 413:
    case 415:
    case 422:
      return absl::StatusCode::kInvalidArgument;
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
      return absl::StatusCode::kNotFound;
    case 409:
      return reason == "AlreadyExists" ? absl::StatusCode::kAlreadyExists : absl::StatusCode::kAborted;
    case 410:
      return absl::StatusCode::kOutOfRange;
    case 429:
      return absl::StatusCode::kResourceExhausted;
    case 500:
      return absl::StatusCode::kInternal;
    case 504:
      return absl::StatusCode::kDeadlineExceeded;
    default:
      break;
  }
  return http_code > 500 && http_code < 600 ? absl::StatusCode::kUnavailable : absl::StatusCode::kUnknown;
}

absl::Status StatusFromResponse(const Response& response) {
  if (response.ok()) return absl::OkStatus();
  absl::StatusOr<StatusView> view = api::Decode<StatusView>(*response.body);
  if (view.ok() && view->kind == "Status") return StatusFromView(response.code, *view);
  const std::string text = QuotedText(*response.body);
  return absl::Status(CodeFromHttp(response.code, ""),
                      absl::StrCat("HTTP ", response.code, text.empty() ? "" : ": ", text));
}

absl::Status StatusFromObject(absl::string_view json) {
  absl::StatusOr<StatusView> view = api::Decode<StatusView>(json);
  if (!view.ok()) return absl::UnknownError(absl::StrCat("a Status that cannot be read: ", view.status().message()));
  if (view->kind != "Status") return absl::UnknownError(absl::StrCat("not a Status: ", QuotedText(json)));
  const absl::Status status = StatusFromView(view->code, *view);
  return status.ok() ? absl::UnknownError(absl::StrCat("a Status that tells no error: ", QuotedText(json))) : status;
}

std::string StatusBody(int http_code, absl::string_view reason, absl::string_view message) {
  std::string out;
  api::JsonWriter(out)
      .BeginObject()
      .Field("kind", "Status")
      .Field("apiVersion", "v1")
      .RawField("metadata", "{}")
      .Field("status", "Failure")
      .Field("message", message)
      .Field("reason", reason)
      .Field("code", http_code)
      .EndObject();
  return out;
}

}  // namespace gangway::kube
