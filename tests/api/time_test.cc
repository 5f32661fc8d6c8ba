#include "gtest/gtest.h"

#include "api/field_table.h"
#include "tests/testing/status_matchers.h"

namespace gangway::api {
namespace {

using ::gangway::testutil::StatusIs;

constexpr std::int64_t kSecond = 1795237913;  // 2026-11-21T05:11:53Z

TEST(TimeTest, TimesAreRfc3339InUtc) {
  EXPECT_EQ(api::FormatTime(absl::FromUnixSeconds(kSecond)), "2026-11-21T05:11:53Z");
  EXPECT_EQ(api::FormatTime(absl::FromUnixMillis(kSecond * 1000 + 999)), "2026-11-21T05:11:53Z");
  EXPECT_EQ(api::FormatTime(absl::UnixEpoch()), "1970-01-01T00:00:00Z");
  EXPECT_EQ(api::FormatTime(absl::FromCivil(absl::CivilSecond(1), absl::UTCTimeZone())), "0001-01-01T00:00:00Z");
}

TEST(TimeTest, MicroTimesAlwaysHaveSixDigits) {
  EXPECT_EQ(FormatMicroTime(absl::FromUnixSeconds(kSecond)), "2026-11-21T05:11:53.000000Z");
  EXPECT_EQ(FormatMicroTime(absl::FromUnixMicros(kSecond * 1000000 + 123456)), "2026-11-21T05:11:53.123456Z");
  EXPECT_EQ(FormatMicroTime(absl::FromUnixMicros(-1)), "1969-12-31T23:59:59.999999Z");
}

TEST(TimeTest, ReadsFractionsAndOffsets) {
  const absl::Time at = absl::FromUnixSeconds(kSecond);
  EXPECT_EQ(*ParseTime("2026-11-21T05:11:53Z"), at);
  EXPECT_EQ(*ParseTime("2026-11-21T13:11:53+08:00"), at);
  EXPECT_EQ(*ParseTime("2026-11-20T23:41:53-05:30"), at);
  EXPECT_EQ(*ParseTime("2026-11-21T05:11:53.5Z"), at + absl::Milliseconds(500));
  EXPECT_EQ(*ParseTime("2026-11-21T05:11:53.123456Z"), at + absl::Microseconds(123456));
  EXPECT_EQ(*ParseTime("2026-11-21T05:11:53.1234567899Z"), at + absl::Nanoseconds(123456789));
  EXPECT_EQ(api::FormatTime(*ParseTime("2024-02-29T00:00:00Z")), "2024-02-29T00:00:00Z");
}

class BadTimeTest : public ::testing::TestWithParam<const char*> {};
TEST_P(BadTimeTest, IsRefused) { EXPECT_THAT(ParseTime(GetParam()), StatusIs(absl::StatusCode::kInvalidArgument)); }
INSTANTIATE_TEST_SUITE_P(All, BadTimeTest,
                         ::testing::Values("", "now", "infinite-past", "2026-11-21", "2026-11-21 05:11:53Z",
                                           "2026-11-21T05:11:53", "2026-11-21T05:11:53z", "2026-11-21T05:11:53.Z",
                                           "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-02-30T00:00:00Z",
                                           "2025-02-29T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T05:60:00Z",
                                           "2026-11-21T05:11:60Z", "2026-11-21T05:11:53+0800",
                                           "2026-11-21T05:11:53+24:00", "2026-11-21T05:11:53Z ",
                                           " 2026-11-21T05:11:53Z", "26-11-21T05:11:53Z", "+026-11-21T05:11:53Z"));

}  // namespace
}  // namespace gangway::api
