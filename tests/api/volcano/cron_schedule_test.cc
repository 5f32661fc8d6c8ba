#include "api/volcano/cron_schedule.h"

#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/field_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::api::volcano {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testutil::StatusIs;

absl::TimeZone Zone(const std::string& name) {
  auto zone = LoadCronTimeZone(name);
  EXPECT_TRUE(zone.ok()) << zone.status();
  return zone.ok() ? *zone : absl::UTCTimeZone();
}
CronSchedule Schedule(const std::string& text, const std::string& zone = "UTC") {
  return *CronSchedule::Parse(text, Zone(zone));
}
absl::Time At(const std::string& text) { return *ParseTime(text); }

// The starts after `from`, in the schedule's zone, as many as are expected.
struct Row {
  std::string name, schedule, zone, from, starts;
  friend void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }
};
class CronScheduleTest : public ::testing::TestWithParam<Row> {};
TEST_P(CronScheduleTest, Starts) {
  const Row& row = GetParam();
  const CronSchedule schedule = Schedule(row.schedule, row.zone);
  std::vector<std::string> starts;
  absl::Time t = At(row.from);
  for (std::size_t n = std::vector<std::string>(absl::StrSplit(row.starts, ' ')).size(); n > 0; --n) {
    t = schedule.Next(t);
    starts.push_back(t == absl::InfiniteFuture() ? "never"
                                                 : absl::FormatTime("%Y-%m-%dT%H:%M:%S%Ez", t, schedule.zone()));
  }
  EXPECT_EQ(absl::StrJoin(starts, " "), row.starts);
}
INSTANTIATE_TEST_SUITE_P(
    All, CronScheduleTest,
    ::testing::Values(
        // Fields.
        Row{"EveryMinute", "* * * * *", "UTC", "2026-11-21T10:00:00Z",
            "2026-11-21T10:01:00+00:00 2026-11-21T10:02:00+00:00"},
        Row{"AfterMeansAfter", "0 10 * * *", "UTC", "2026-11-21T10:00:00Z", "2026-11-22T10:00:00+00:00"},
        Row{"FromWithinASecond", "0 10 * * *", "UTC", "2026-11-21T09:59:59.999Z", "2026-11-21T10:00:00+00:00"},
        Row{"Step", "*/15 * * * *", "UTC", "2026-11-21T10:14:59Z",
            "2026-11-21T10:15:00+00:00 2026-11-21T10:30:00+00:00"},
        Row{"StepFromANumber", "50/4 * * * *", "UTC", "2026-11-21T10:00:00Z",
            "2026-11-21T10:50:00+00:00 2026-11-21T10:54:00+00:00 2026-11-21T10:58:00+00:00 2026-11-21T11:50:00+00:00"},
        Row{"StepInARange", "0 6-16/4 * * *", "UTC", "2026-11-21T10:30:00Z",
            "2026-11-21T14:00:00+00:00 2026-11-22T06:00:00+00:00"},
        Row{"List", "5,35 8,20 * * *", "UTC", "2026-11-21T08:05:00Z",
            "2026-11-21T08:35:00+00:00 2026-11-21T20:05:00+00:00"},
        Row{"EmptyPartsOfAList", ",5,,35, * * * *", "UTC", "2026-11-21T08:05:00Z", "2026-11-21T08:35:00+00:00"},
        Row{"Names", "0 0 * Jan,DEC MON-fri", "UTC", "2026-11-28T00:00:00Z",
            "2026-12-01T00:00:00+00:00 2026-12-02T00:00:00+00:00"},
        Row{"QuestionMark", "0 0 ? * 3", "UTC", "2026-11-21T00:00:00Z", "2026-11-25T00:00:00+00:00"},
        Row{"SundayIsZero", "0 0 * * 0", "UTC", "2026-11-21T00:00:00Z", "2026-11-22T00:00:00+00:00"},
        Row{"Blanks", "  0\t12  *   * *  ", "UTC", "2026-11-21T00:00:00Z", "2026-11-21T12:00:00+00:00"},
        // Day of month and day of week: both where one is '*', else either.
        Row{"EitherDay", "0 0 1,15 * SUN", "UTC", "2026-11-10T00:00:00Z",
            "2026-11-15T00:00:00+00:00 2026-11-22T00:00:00+00:00 2026-11-29T00:00:00+00:00 2026-12-01T00:00:00+00:00"},
        Row{"DayOfMonthAlone", "0 0 13 * *", "UTC", "2026-11-14T00:00:00Z",
            "2026-12-13T00:00:00+00:00 2027-01-13T00:00:00+00:00"},
        Row{"StepOfOneIsAStar", "0 0 */1 * 5", "UTC", "2026-11-21T00:00:00Z", "2026-11-27T00:00:00+00:00"},
        Row{"StepOfTwoIsNone", "0 0 */2 * 5", "UTC", "2026-11-21T00:00:00Z",
            "2026-11-23T00:00:00+00:00 2026-11-25T00:00:00+00:00 2026-11-27T00:00:00+00:00"},
        // Descriptors.
        Row{"Hourly", "@hourly", "UTC", "2026-11-21T10:59:00Z", "2026-11-21T11:00:00+00:00"},
        Row{"Daily", "@daily", "UTC", "2026-11-21T10:59:00Z", "2026-11-22T00:00:00+00:00"},
        Row{"Midnight", "@midnight", "Asia/Shanghai", "2026-11-21T10:59:00Z", "2026-11-22T00:00:00+08:00"},
        Row{"Weekly", "@weekly", "UTC", "2026-11-21T10:59:00Z", "2026-11-22T00:00:00+00:00 2026-11-29T00:00:00+00:00"},
        Row{"Monthly", "@monthly", "UTC", "2026-11-21T10:59:00Z", "2026-12-01T00:00:00+00:00"},
        Row{"Yearly", "@yearly", "UTC", "2026-11-21T10:59:00Z", "2027-01-01T00:00:00+00:00"},
        Row{"Annually", "@annually", "UTC", "2027-01-01T00:00:00Z", "2028-01-01T00:00:00+00:00"},
        Row{"Every", "@every 1h30m", "UTC", "2026-11-21T10:10:10.9Z",
            "2026-11-21T11:40:10+00:00 2026-11-21T13:10:10+00:00"},
        Row{"EveryIsASecondAtLeast", "@every 10ms", "UTC", "2026-11-21T10:10:10Z", "2026-11-21T10:10:11+00:00"},
        Row{"EveryInWholeSeconds", "@every 2.9s", "UTC", "2026-11-21T10:10:10Z", "2026-11-21T10:10:12+00:00"},
        // The calendar.
        Row{"LeapDay", "0 0 29 2 *", "UTC", "2026-03-01T00:00:00Z",
            "2028-02-29T00:00:00+00:00 2032-02-29T00:00:00+00:00"},
        Row{"LeapDayOverACentury", "0 0 29 Feb ?", "UTC", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00+00:00"},
        Row{"LastDays", "0 0 31 * *", "UTC", "2027-01-31T00:00:00Z",
            "2027-03-31T00:00:00+00:00 2027-05-31T00:00:00+00:00"},
        Row{"NoSuchDay", "0 0 30 2 *", "UTC", "2026-01-01T00:00:00Z", "never"},
        Row{"NoMinute", ", * * * *", "UTC", "2026-01-01T00:00:00Z", "never"},
        Row{"YearTurns", "59 23 31 12 *", "UTC", "2026-12-31T23:59:00Z", "2027-12-31T23:59:00+00:00"},
        // Zones.
        Row{"Zone", "30 2 * * *", "Asia/Shanghai", "2026-11-20T18:30:00Z", "2026-11-22T02:30:00+08:00"},
        Row{"HalfAnHoursZone", "0 9 * * *", "Asia/Kolkata", "2026-11-21T03:29:59Z", "2026-11-21T09:00:00+05:30"},
        // New York puts its clocks forward on 8 March 2026 at 02:00 and back on 1 November 2026 at 02:00.
        Row{"SpringSkipsWhatIsNotThere", "30 2 * * *", "America/New_York", "2026-03-07T03:00:00-05:00",
            "2026-03-09T02:30:00-04:00"},
        Row{"SpringHourly", "0 * * * *", "America/New_York", "2026-03-08T00:30:00-05:00",
            "2026-03-08T01:00:00-05:00 2026-03-08T03:00:00-04:00 2026-03-08T04:00:00-04:00"},
        Row{"SpringDayItself", "0 0 8 3 *", "America/New_York", "2026-03-07T00:00:00-05:00",
            "2026-03-08T00:00:00-05:00"},
        Row{"AutumnTwice", "30 1 * * *", "America/New_York", "2026-10-31T12:00:00-04:00",
            "2026-11-01T01:30:00-04:00 2026-11-01T01:30:00-05:00 2026-11-02T01:30:00-05:00"},
        Row{"AutumnHourly", "0 * * * *", "America/New_York", "2026-11-01T00:30:00-04:00",
            "2026-11-01T01:00:00-04:00 2026-11-01T01:00:00-05:00 2026-11-01T02:00:00-05:00"},
        Row{"AutumnTwoOClockOnce", "0 2 * * *", "America/New_York", "2026-10-31T12:00:00-04:00",
            "2026-11-01T02:00:00-05:00 2026-11-02T02:00:00-05:00"},
        Row{"AutumnTwoInTheHour", "0,30 1 * * *", "America/New_York", "2026-11-01T01:10:00-04:00",
            "2026-11-01T01:30:00-04:00 2026-11-01T01:00:00-05:00 2026-11-01T01:30:00-05:00"},
        // Sao Paulo, 4 November 2018: midnight becomes one o'clock. 18 February 2018: midnight becomes eleven.
        Row{"NoMidnight", "0 0 * * *", "America/Sao_Paulo", "2018-11-03T00:00:00-03:00", "2018-11-05T00:00:00-02:00"},
        Row{"NineOClockThatDay", "0 9 10 * ?", "America/Sao_Paulo", "2018-10-17T05:00:00-04:00",
            "2018-11-10T09:00:00-02:00"},
        Row{"LastHourOfTheDayTwice", "30 23 * * *", "America/Sao_Paulo", "2018-02-17T12:00:00-02:00",
            "2018-02-17T23:30:00-02:00 2018-02-17T23:30:00-03:00 2018-02-18T23:30:00-03:00"},
        // Lord Howe Island moves its clocks by half an hour: on 5 April 2026 two o'clock becomes half past one.
        Row{"HalfAnHourBack", "0 2 * * *", "Australia/Lord_Howe", "2026-04-04T12:00:00+11:00",
            "2026-04-05T02:00:00+10:30"}),
    [](const auto& tested) { return tested.param.name; });

TEST(CronScheduleTextTest, WhatDoesNotReadIsRefusedWithItsField) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"", "must not be empty"},
      {"error schedule", "must have 5 fields"},
      {"* * * *", "must have 5 fields (minute hour day-of-month month day-of-week), has 4"},
      {"0 * * * * *", "has 6"},
      {"TZ=UTC 0 20 * * *", "timeZone"},
      {"CRON_TZ=UTC 0 20 * * *", "timeZone"},
      {"60 * * * *", "minute \"60\": must be between 0 and 59"},
      {"* 24 * * *", "hour \"24\": must be between 0 and 23"},
      {"* * 0 * *", "day of month \"0\": must be between 1 and 31"},
      {"* * 32 * *", "day of month \"32\""},
      {"* * * 13 *", "month \"13\""},
      {"* * * * 7", "day of week \"7\": must be between 0 and 6"},
      {"* * * mon *", "month \"mon\": must be a number"},
      {"* * * * jan", "day of week \"jan\": must be a number"},
      {"5-1 * * * *", "ends before it begins"},
      {"1-2-3 * * * *", "more than one '-'"},
      {"1/2/3 * * * *", "more than one '/'"},
      {"*/0 * * * *", "the step must be at least 1"},
      {"*/-5 * * * *", "must be a number"},
      {"-5 * * * *", "must be a number"},
      {"1- * * * *", "must be a number"},
      {"1/ * * * *", "must be a number"},
      {"99999999999999999999 * * * *", "must be a number"},
      {"*/99999999999999999999 * * * *", "must be a number"},
      {"0x5 * * * *", "must be a number"},
      {"@fortnightly", "must be one of @yearly"},
      {"@Hourly", "must be one of"},
      {"@every", "must be one of"},
      {"@every soon", "invalid duration"},
      {"@every 1h extra", "unknown unit"},
  };
  for (const auto& [text, why] : rows) {
    const auto schedule = CronSchedule::Parse(text);
    EXPECT_THAT(schedule, StatusIs(absl::StatusCode::kInvalidArgument)) << text;
    EXPECT_THAT(std::string(schedule.status().message()), HasSubstr(why)) << text;
  }
}

TEST(CronScheduleTextTest, WhatRobfigReadsIsRead) {
  for (const char* text : {"+5 * * * *", "005 * * * *", "*-5 * * * *", "?/2 * * * *", "5-5 * * * *", "*/100 * * * *",
                           "0 0 1-31/31 * *", ", , , , ,", "@every 1h30m10s", "@every -5m", "* * * JAN-dec sUn"}) {
    GW_EXPECT_OK(CronSchedule::Parse(text).status()) << text;
  }
}

TEST(CronTimeZoneTest, NamesOfTheDatabaseOnly) {
  for (const char* name : {"UTC", "Etc/UTC", "Asia/Shanghai", "Pacific/Honolulu", "America/Argentina/Buenos_Aires",
                           "Etc/GMT-14", "America/Port-au-Prince"}) {
    GW_EXPECT_OK(LoadCronTimeZone(name).status()) << name;
  }
  for (const char* name : {"", "Local", "LOCAL", "local", "Amerrica/New_York", "Asia/./Shanghai", "America/-NewYork",
                           "New York", "UTC!", "../../etc/passwd", "/etc/localtime", "Asia//Shanghai", "Asia/",
                           "file:/etc/localtime", "Fixed/UTC+01:00:00", "a.name.longer.than.any"}) {
    EXPECT_THAT(LoadCronTimeZone(name), StatusIs(absl::StatusCode::kInvalidArgument)) << name;
  }
}

TEST(CronScheduleLastTest, TheLastOneUpToNow) {
  const CronSchedule nightly = Schedule("30 2 * * *");
  EXPECT_EQ(nightly.Last(At("2026-11-21T02:30:00Z"), At("2026-11-22T02:29:59Z")), absl::InfinitePast());
  EXPECT_EQ(nightly.Last(At("2026-11-21T02:30:00Z"), At("2026-11-22T02:30:00Z")), At("2026-11-22T02:30:00Z"));
  EXPECT_EQ(nightly.Last(At("2026-01-01T00:00:00Z"), At("2026-11-22T02:30:01Z")), At("2026-11-22T02:30:00Z"));
  EXPECT_EQ(nightly.Last(At("2026-11-22T02:30:00Z"), At("2026-11-21T02:30:00Z")), absl::InfinitePast());
  const CronSchedule january = Schedule("* * * 1 *");
  EXPECT_EQ(january.Last(At("2020-01-01T00:00:00Z"), At("2026-11-22T00:00:00Z")), At("2026-01-31T23:59:00Z"));
  const CronSchedule every = Schedule("@every 7m");
  EXPECT_EQ(every.Last(At("2026-11-21T10:00:00Z"), At("2026-11-21T10:06:59Z")), absl::InfinitePast());
  EXPECT_EQ(every.Last(At("2026-11-21T10:00:00Z"), At("2026-11-21T11:00:00Z")), At("2026-11-21T10:56:00Z"));
  EXPECT_EQ(Schedule("0 0 30 2 *").Last(At("2020-01-01T00:00:00Z"), At("2026-11-22T00:00:00Z")), absl::InfinitePast());
}

// Next() gives the first second that matches, and Last() the last, in every zone: the same as looking at every minute.
TEST(CronScheduleProperty, SameAsLookingAtEveryMinute) {
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned long>(n)); };
  const std::vector<std::pair<std::string, std::string>> places = {{"America/New_York", "2026-03-08T05:00:00Z"},
                                                                   {"America/New_York", "2026-11-01T04:00:00Z"},
                                                                   {"America/Sao_Paulo", "2018-11-04T01:00:00Z"},
                                                                   {"America/Sao_Paulo", "2018-02-18T00:00:00Z"},
                                                                   {"Australia/Lord_Howe", "2026-04-04T13:00:00Z"},
                                                                   {"Australia/Lord_Howe", "2026-10-03T13:00:00Z"},
                                                                   {"UTC", "2028-02-28T22:00:00Z"}};
  for (int i = 0; i < 300; ++i) {
    const auto& [zone, around] = places[static_cast<std::size_t>(below(static_cast<int>(places.size())))];
    const std::string text = absl::StrCat(
        "*/", 1 + below(59), " ", below(3) == 0 ? "*" : absl::StrCat(below(24), "-23/", 1 + below(5)), " * * *");
    const CronSchedule schedule = Schedule(text, zone);
    const std::vector<std::string> fields = absl::StrSplit(text, ' ');
    const absl::Time from = At(around) + absl::Seconds(below(7200));
    const absl::Time until = from + absl::Hours(6);
    std::vector<absl::Time> found, expected;
    for (absl::Time t = schedule.Next(from); t <= until; t = schedule.Next(t)) found.push_back(t);
    int step = 0, low = 0, hours = 1;
    ASSERT_TRUE(absl::SimpleAtoi(fields[0].substr(2), &step));
    if (fields[1] != "*") {
      const std::vector<std::string> parts = absl::StrSplit(fields[1], absl::ByAnyChar("-/"));
      ASSERT_TRUE(absl::SimpleAtoi(parts[0], &low) && absl::SimpleAtoi(parts[2], &hours));
    }
    for (absl::Time t = absl::UnixEpoch() + absl::Ceil(from - absl::UnixEpoch(), absl::Minutes(1)); t <= until;
         t += absl::Minutes(1)) {
      const absl::CivilSecond local = absl::ToCivilSecond(t, schedule.zone());
      if (t > from && local.minute() % step == 0 && local.hour() >= low && (local.hour() - low) % hours == 0)
        expected.push_back(t);
    }
    EXPECT_EQ(found, expected) << text << " in " << zone << " from " << from;
    EXPECT_EQ(schedule.Last(from, until), expected.empty() ? absl::InfinitePast() : expected.back())
        << text << " in " << zone;
  }
}

// Any text either reads, and then Next() comes after its argument, or is refused with a reason.
TEST(CronScheduleProperty, AnyTextIsReadOrRefused) {
  std::mt19937 random(11);
  const std::string alphabet = "0123456789*?/,- \tjanmonsuTZ@everyhd.+x";
  const absl::Time now = At("2026-11-21T10:00:00Z");
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = i % 2 == 0 ? "* * * * *" : "@every 1h";
    for (auto edits = random() % 6; edits > 0; --edits) {
      const std::size_t at = random() % (text.size() + 1);
      const char c = alphabet[random() % alphabet.size()];
      switch (random() % 3) {
        case 0:
          text.insert(at, 1, c);
          break;
        case 1:
          text.erase(at, 1);
          break;
        default:
          if (at < text.size()) text[at] = c;
      }
    }
    const auto schedule = CronSchedule::Parse(text);
    if (schedule.ok()) {
      ++read;
      EXPECT_GT(schedule->Next(now), now) << text;
    } else {
      EXPECT_THAT(std::string(schedule.status().message()), ::testing::Not(IsEmpty())) << text;
    }
  }
  EXPECT_GT(read, 1000);
}

}  // namespace
}  // namespace gangway::api::volcano
