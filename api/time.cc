#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "api/field_table.h"

namespace gangway::api {
namespace {

std::string FormatCivil(absl::Time t, const char* fraction) {
  const absl::CivilSecond c = absl::ToCivilSecond(t, absl::UTCTimeZone());
  char text[64];
  const int n = std::snprintf(text, sizeof text, "%04lld-%02d-%02dT%02d:%02d:%02d%sZ", static_cast<long long>(c.year()),
                              c.month(), c.day(), c.hour(), c.minute(), c.second(), fraction);
  return {text, static_cast<std::size_t>(n)};
}

// Reads fixed-width parts from the front; `ok` stays false once something did not fit.
struct Reader {
  absl::string_view rest;
  bool ok = true;

  int Number(std::size_t width, int low, int high) {
    int n = 0;
    for (std::size_t i = 0; i < width; ++i) {
      if (i >= rest.size() || rest[i] < '0' || rest[i] > '9') return Fail();
      n = n * 10 + (rest[i] - '0');
    }
    rest.remove_prefix(width);
    return n < low || n > high ? Fail() : n;
  }
  char OneOf(absl::string_view wanted) {
    if (rest.empty() || wanted.find(rest[0]) == absl::string_view::npos) return static_cast<char>(Fail());
    const char c = rest[0];
    rest.remove_prefix(1);
    return c;
  }
  // ".123": whatever is finer than a nanosecond is dropped.
  absl::Duration Fraction() {
    if (rest.empty() || rest[0] != '.') return absl::ZeroDuration();
    std::int64_t nanos = 0;
    std::int64_t unit = 100000000;
    std::size_t i = 1;
    for (; i < rest.size() && rest[i] >= '0' && rest[i] <= '9'; ++i, unit /= 10) nanos += unit * (rest[i] - '0');
    if (i == 1) Fail();
    rest.remove_prefix(i);
    return absl::Nanoseconds(nanos);
  }
  int Fail() {
    ok = false;
    return 0;
  }
};

}  // namespace

std::string FormatTime(absl::Time t) { return FormatCivil(t, ""); }

std::string FormatMicroTime(absl::Time t) {
  const absl::Duration fraction = t - absl::FromUnixSeconds(absl::ToUnixSeconds(t));
  char text[16];
  std::snprintf(text, sizeof text, ".%06lld", static_cast<long long>(fraction / absl::Microseconds(1)));
  return FormatCivil(t, text);
}

absl::StatusOr<absl::Time> ParseTime(absl::string_view text) {
  Reader in{text};
  const int year = in.Number(4, 0, 9999);
  in.OneOf("-");
  const int month = in.Number(2, 1, 12);
  in.OneOf("-");
  const int day = in.Number(2, 1, 31);
  in.OneOf("T");
  const int hour = in.Number(2, 0, 23);
  in.OneOf(":");
  const int minute = in.Number(2, 0, 59);
  in.OneOf(":");
  const int second = in.Number(2, 0, 59);
  const absl::Duration fraction = in.Fraction();
  absl::Duration offset = absl::ZeroDuration();
  if (const char sign = in.OneOf("Z+-"); sign == '+' || sign == '-') {
    const int hours = in.Number(2, 0, 23);
    in.OneOf(":");
    offset = absl::Hours(hours) + absl::Minutes(in.Number(2, 0, 59));
    if (sign == '-') offset = -offset;
  }
  const absl::CivilDay date(year, month, day);
  if (!in.ok || !in.rest.empty() || date.day() != day) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is no RFC 3339 time such as \"2026-11-21T05:11:53Z\""));
  }
  // Every day of UTC has 86,400 seconds; the time zone's tables need not be asked.
  const std::int64_t days = date - absl::CivilDay(1970, 1, 1);
  return absl::FromUnixSeconds(days * 86400 + hour * 3600 + minute * 60 + second) + fraction - offset;
}

}  // namespace gangway::api
