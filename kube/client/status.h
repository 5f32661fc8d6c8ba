// What an API server's refusal means, as an absl::Status.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/field_table.h"
#include "kube/client/client.h"

namespace gangway::kube {

// metav1.Status, the fields we act on.
struct StatusDetails {
  std::string name, kind;
  std::int32_t retry_after_seconds = 0;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "StatusDetails";
  static constexpr auto Fields() {
    return api::MakeFields(
        api::MakeField<&StatusDetails::name>("name", "of the object"),
        api::MakeField<&StatusDetails::kind>("kind", "of the object"),
        api::MakeField<&StatusDetails::retry_after_seconds>("retryAfterSeconds", "when to try again"));
  }
};
struct StatusView {
  std::string kind, status, message, reason;
  std::int32_t code = 0;
  StatusDetails details;
  static constexpr bool kView = true;
  static constexpr std::string_view kName = "Status";
  static constexpr auto Fields() {
    return api::MakeFields(api::MakeField<&StatusView::kind>("kind", "Status"),
                           api::MakeField<&StatusView::status>("status", "Success or Failure"),
                           api::MakeField<&StatusView::message>("message", "for people"),
                           api::MakeField<&StatusView::reason>("reason", "for programs: NotFound, AlreadyExists..."),
                           api::MakeField<&StatusView::code>("code", "the HTTP status"),
                           api::MakeField<&StatusView::details>("details", "of what the message is about"));
  }
};

// The one table from HTTP to absl:
//   400 405 406 413 415 422 InvalidArgument · 401 Unauthenticated · 403 PermissionDenied · 404 NotFound
//   409 AlreadyExists when the reason says so, else Aborted · 410 OutOfRange · 429 ResourceExhausted
//   500 Internal · 504 DeadlineExceeded · other 5xx Unavailable · 2xx Ok · anything else Unknown
absl::StatusCode CodeFromHttp(int http_code, absl::string_view reason);

// Ok for a 2xx. The message is the server's, or the first of the body's text when that is no Status object.
absl::Status StatusFromResponse(const Response& response);
// Also when there was none.
inline absl::Status StatusOf(const absl::StatusOr<Response>& reply) {
  return reply.ok() ? StatusFromResponse(*reply) : reply.status();
}

// Of a watch's kError frame, never OK: the code in the Status object decides (410 is OutOfRange).
absl::Status StatusFromObject(absl::string_view json);

// A Status object as the body of a refusal: StatusBody(404, "NotFound", "pods \"a\" not found").
std::string StatusBody(int http_code, absl::string_view reason, absl::string_view message);

}  // namespace gangway::kube
