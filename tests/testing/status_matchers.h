// gMock matchers for absl::Status and absl::StatusOr: IsOk(), StatusIs(code, message matcher), IsOkAndHolds(matcher).
#pragma once

#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"

namespace gangway::testutil {

inline const absl::Status& ToStatus(const absl::Status& s) { return s; }
template <class T>
const absl::Status& ToStatus(const absl::StatusOr<T>& s) {
  return s.status();
}

MATCHER(IsOk, "is OK") {
  *result_listener << ToStatus(arg).ToString();
  return arg.ok();
}

MATCHER_P2(StatusIs, code, message, "") {
  const absl::Status& status = ToStatus(arg);
  *result_listener << status.ToString();
  return status.code() == code &&
         ::testing::ExplainMatchResult(message, std::string(status.message()), result_listener);
}
template <class Code>
auto StatusIs(Code code) {
  return StatusIs(code, ::testing::_);
}

MATCHER_P(IsOkAndHolds, value, "") {
  if (!arg.ok()) {
    *result_listener << ToStatus(arg).ToString();
    return false;
  }
  return ::testing::ExplainMatchResult(value, *arg, result_listener);
}

}  // namespace gangway::testutil

#define GW_ASSERT_OK(expr) ASSERT_THAT((expr), ::gangway::testutil::IsOk())
#define GW_EXPECT_OK(expr) EXPECT_THAT((expr), ::gangway::testutil::IsOk())
