#include "api/duration.h"

#include <limits>

#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

#include <rapidcheck/gtest.h>  // needs gtest before it

namespace gangway::api {
namespace {

using ::gangway::testutil::StatusIs;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

struct ParseCase {
  const char* text;
  std::int64_t nanos;
};
class ParseTest : public ::testing::TestWithParam<ParseCase> {};
TEST_P(ParseTest, ReadsAsGoDoes) {
  const auto duration = ParseGoDuration(GetParam().text);
  GW_ASSERT_OK(duration.status());
  EXPECT_EQ(absl::ToInt64Nanoseconds(*duration), GetParam().nanos);
}
constexpr std::int64_t kS = 1000000000;
INSTANTIATE_TEST_SUITE_P(
    All, ParseTest,
    ::testing::Values(ParseCase{"0", 0}, ParseCase{"-0", 0}, ParseCase{"0s", 0}, ParseCase{"5s", 5 * kS},
                      ParseCase{"30s", 30 * kS}, ParseCase{"1478s", 1478 * kS}, ParseCase{"-5s", -5 * kS},
                      ParseCase{"+5s", 5 * kS}, ParseCase{"5.0s", 5 * kS}, ParseCase{"5.6s", 5600000000},
                      ParseCase{"5.s", 5 * kS}, ParseCase{".5s", kS / 2}, ParseCase{"1.004s", 1004000000},
                      ParseCase{"100.00100s", 100001000000}, ParseCase{"10ns", 10}, ParseCase{"11us", 11000},
                      ParseCase{"12\xC2\xB5s", 12000}, ParseCase{"12\xCE\xBCs", 12000}, ParseCase{"13ms", 13000000},
                      ParseCase{"14s", 14 * kS}, ParseCase{"15m", 900 * kS}, ParseCase{"16h", 57600 * kS},
                      ParseCase{"3h30m", 12600 * kS}, ParseCase{"10.5s4m", 250500000000},
                      ParseCase{"-2m3.4s", -123400000000}, ParseCase{"1h2m3s4ms5us6ns", 3723004005006},
                      ParseCase{"39h9m14.425s", 140954425000000}, ParseCase{"52763797000ns", 52763797000},
                      ParseCase{"0.3333333333333333333h", 1200 * kS}, ParseCase{"9007199254740993ns", 9007199254740993},
                      ParseCase{"9223372036854775807ns", kMax}, ParseCase{"9223372036854775.807us", kMax},
                      ParseCase{"9223372036s854ms775us807ns", kMax}, ParseCase{"-9223372036854775808ns", kMin},
                      ParseCase{"-2562047h47m16.854775808s", kMin}, ParseCase{"0.100000000000000000000h", 360 * kS},
                      ParseCase{"0.830103483285477580700h", 2988372539827}));

struct ErrorCase {
  const char* text;
  const char* message;
};
class ErrorTest : public ::testing::TestWithParam<ErrorCase> {};
TEST_P(ErrorTest, SaysWhatGoSays) {
  EXPECT_THAT(ParseGoDuration(GetParam().text), StatusIs(absl::StatusCode::kInvalidArgument, GetParam().message));
}
INSTANTIATE_TEST_SUITE_P(
    All, ErrorTest,
    ::testing::Values(
        ErrorCase{"", R"(time: invalid duration "")"}, ErrorCase{"abc", R"(time: invalid duration "abc")"},
        ErrorCase{"3", R"(time: missing unit in duration "3")"}, ErrorCase{"-", R"(time: invalid duration "-")"},
        ErrorCase{"s", R"(time: invalid duration "s")"}, ErrorCase{".", R"(time: invalid duration ".")"},
        ErrorCase{"-.", R"(time: invalid duration "-.")"}, ErrorCase{".s", R"(time: invalid duration ".s")"},
        ErrorCase{"+.s", R"(time: invalid duration "+.s")"},
        ErrorCase{"1d", R"(time: unknown unit "d" in duration "1d")"},
        ErrorCase{"5 s", R"(time: unknown unit " s" in duration "5 s")"},
        ErrorCase{" 5s", R"(time: invalid duration " 5s")"},
        ErrorCase{"1h2", R"(time: missing unit in duration "1h2")"},
        ErrorCase{"9223372036854775808ns", R"(time: invalid duration "9223372036854775808ns")"},
        ErrorCase{"9223372036854775.808us", R"(time: invalid duration "9223372036854775.808us")"},
        ErrorCase{"9223372036854ms775us808ns", R"(time: invalid duration "9223372036854ms775us808ns")"},
        ErrorCase{"-9223372036854775809ns", R"(time: invalid duration "-9223372036854775809ns")"},
        ErrorCase{"3000000h", R"(time: invalid duration "3000000h")"}));

struct FormatCase {
  std::int64_t nanos;
  const char* text;
};
class FormatTest : public ::testing::TestWithParam<FormatCase> {};
TEST_P(FormatTest, PrintsAsGoDoes) {
  EXPECT_EQ(FormatGoDuration(absl::Nanoseconds(GetParam().nanos)), GetParam().text);
}
INSTANTIATE_TEST_SUITE_P(
    All, FormatTest,
    ::testing::Values(FormatCase{0, "0s"}, FormatCase{1, "1ns"}, FormatCase{1100, "1.1\xC2\xB5s"},
                      FormatCase{2200000, "2.2ms"}, FormatCase{3300000000, "3.3s"}, FormatCase{300000000, "300ms"},
                      FormatCase{90 * kS, "1m30s"}, FormatCase{245 * kS, "4m5s"}, FormatCase{245001000000, "4m5.001s"},
                      FormatCase{18367001000000, "5h6m7.001s"}, FormatCase{480000000001, "8m0.000000001s"},
                      FormatCase{3600 * kS, "1h0m0s"}, FormatCase{-1, "-1ns"}, FormatCase{-90 * kS, "-1m30s"},
                      FormatCase{kMax, "2562047h47m16.854775807s"}, FormatCase{kMin, "-2562047h47m16.854775808s"}));

TEST(GoDurationTest, InfiniteIsTheLongestThatGoHas) {
  EXPECT_EQ(FormatGoDuration(absl::InfiniteDuration()), "2562047h47m16.854775807s");
  EXPECT_EQ(FormatGoDuration(-absl::InfiniteDuration()), "-2562047h47m16.854775808s");
}

RC_GTEST_PROP(GoDurationProperty, WhatIsPrintedReadsBack, (std::int64_t nanos)) {
  const auto again = ParseGoDuration(FormatGoDuration(absl::Nanoseconds(nanos)));
  RC_ASSERT(again.ok());
  RC_ASSERT(absl::ToInt64Nanoseconds(*again) == nanos);
}

}  // namespace
}  // namespace gangway::api
