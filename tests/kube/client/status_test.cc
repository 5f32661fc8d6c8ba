#include "kube/client/status.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::kube {
namespace {

using testutil::IsOk;
using testutil::StatusIs;

Response Answer(int code, std::string body) {
  Response response;
  response.code = code;
  response.body = MakeBytes(std::move(body));
  return response;
}

TEST(StatusFromResponseTest, TheServersReasonDecides) {
  struct Case {
    int http;
    const char* reason;
    absl::StatusCode code;
  };
  for (const Case& c :
       {Case{400, "BadRequest", absl::StatusCode::kInvalidArgument},
        Case{401, "Unauthorized", absl::StatusCode::kUnauthenticated},
        Case{403, "Forbidden", absl::StatusCode::kPermissionDenied}, Case{404, "NotFound", absl::StatusCode::kNotFound},
        Case{409, "AlreadyExists", absl::StatusCode::kAlreadyExists}, Case{409, "Conflict", absl::StatusCode::kAborted},
        Case{410, "Expired", absl::StatusCode::kOutOfRange},
        Case{413, "RequestEntityTooLarge", absl::StatusCode::kInvalidArgument},
        Case{422, "Invalid", absl::StatusCode::kInvalidArgument},
        Case{429, "TooManyRequests", absl::StatusCode::kResourceExhausted},
        Case{500, "InternalError", absl::StatusCode::kInternal},
        Case{503, "ServiceUnavailable", absl::StatusCode::kUnavailable},
        Case{504, "Timeout", absl::StatusCode::kDeadlineExceeded}}) {
    const std::string body = StatusBody(c.http, c.reason, "pods \"a\": no");
    EXPECT_THAT(StatusFromResponse(Answer(c.http, body)), StatusIs(c.code, "pods \"a\": no"));
    EXPECT_THAT(StatusFromObject(body), StatusIs(c.code, "pods \"a\": no"));
  }
}

TEST(StatusFromResponseTest, SuccessIsOk) { EXPECT_THAT(StatusFromResponse(Answer(201, "{}")), IsOk()); }

TEST(StatusFromResponseTest, SomebodyElsesPageIsQuoted) {
  EXPECT_THAT(StatusFromResponse(Answer(502, "<html>\n bad gateway</html>\n")),
              StatusIs(absl::StatusCode::kUnavailable, "HTTP 502: <html>  bad gateway</html>"));
  EXPECT_THAT(StatusFromResponse(Answer(404, "")), StatusIs(absl::StatusCode::kNotFound, "HTTP 404"));
  EXPECT_THAT(StatusFromResponse(Answer(404, R"({"kind":"Pod","message":"x"})")),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST(StatusFromObjectTest, WhatIsNoStatusIsNotOk) {
  for (const char* json : {"", "{", "[]", "{}", R"({"kind":"Pod"})", R"({"kind":"Status","code":"x"})",
                           R"({"kind":"Status","status":"Success"})",
                           R"({"kind":"Status","status":"Failure","message":"gone","code":205})"}) {
    EXPECT_THAT(StatusFromObject(json), StatusIs(absl::StatusCode::kUnknown)) << json;
  }
}

}  // namespace
}  // namespace gangway::kube
