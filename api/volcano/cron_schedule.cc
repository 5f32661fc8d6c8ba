#include "api/volcano/cron_schedule.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "api/duration.h"
#include "base/status_macros.h"

namespace gangway::api::volcano {
namespace {

// 29 February of a year that is none in a century's turn is at most eight years away.
constexpr int kMostDays = 8 * 366 + 1;

struct CronField {
  const char* name;
  int low, high;
  absl::Span<const absl::string_view> words;  // the first stands for `low`
};
constexpr std::array<absl::string_view, 12> kMonths = {"jan", "feb", "mar", "apr", "may", "jun",
                                                       "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<absl::string_view, 7> kWeekdays = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

struct Bits {
  std::uint64_t bits = 0;
  bool star = false;
};

absl::Status Wrong(const CronField& field, absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(field.name, " \"", text, "\": ", why));
}

// As Go's strconv.Atoi reads it, and not negative.
absl::StatusOr<int> ParseNumber(const CronField& field, absl::string_view text) {
  absl::string_view digits = text;
  absl::ConsumePrefix(&digits, "+");
  int n = 0;
  const bool plain = !digits.empty() && std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit);
  if (!plain || !absl::SimpleAtoi(digits, &n)) return Wrong(field, text, "must be a number");
  return n;
}

absl::StatusOr<int> ParseWord(const CronField& field, absl::string_view text) {
  const auto word = std::find(field.words.begin(), field.words.end(), absl::AsciiStrToLower(text));
  if (word != field.words.end()) return field.low + static_cast<int>(word - field.words.begin());
  return ParseNumber(field, text);
}

// "*", "1", "1-5", "mon-fri", each with "/step".
absl::StatusOr<Bits> ParseRange(const CronField& field, absl::string_view text) {
  const std::vector<absl::string_view> steps = absl::StrSplit(text, '/');
  const std::vector<absl::string_view> ends = absl::StrSplit(steps[0], '-');
  if (steps.size() > 2) return Wrong(field, text, "has more than one '/'");
  Bits out;
  int low = field.low, high = field.high, step = 1;
  if (ends[0] == "*" || ends[0] == "?") {
    out.star = true;
  } else {
    if (ends.size() > 2) return Wrong(field, text, "has more than one '-'");
    GW_ASSIGN_OR_RETURN(low, ParseWord(field, ends[0]));
    high = low;
    if (ends.size() == 2) {
      GW_ASSIGN_OR_RETURN(high, ParseWord(field, ends[1]));
    }
  }
  if (steps.size() == 2) {
    GW_ASSIGN_OR_RETURN(step, ParseNumber(field, steps[1]));
    if (ends.size() == 1) high = field.high;  // "5/10" is from 5 on
    if (step > 1) out.star = false;
  }
  if (low < field.low || high > field.high)
    return Wrong(field, text, absl::StrCat("must be between ", field.low, " and ", field.high));
  if (low > high) return Wrong(field, text, "the range ends before it begins");
  if (step == 0) return Wrong(field, text, "the step must be at least 1");
  for (std::int64_t n = low; n <= high; n += step) out.bits |= std::uint64_t{1} << n;
  return out;
}

absl::StatusOr<Bits> ParseField(const CronField& field, absl::string_view text) {
  Bits out;
  for (const absl::string_view range : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    GW_ASSIGN_OR_RETURN(const Bits one, ParseRange(field, range));
    out.bits |= one.bits;
    out.star = out.star || one.star;
  }
  return out;
}

absl::string_view FieldsOfDescriptor(absl::string_view text) {
  if (text == "@yearly" || text == "@annually") return "0 0 1 1 *";
  if (text == "@monthly") return "0 0 1 * *";
  if (text == "@weekly") return "0 0 * * 0";
  if (text == "@daily" || text == "@midnight") return "0 0 * * *";
  if (text == "@hourly") return "0 * * * *";
  return "";
}

bool Has(std::uint64_t bits, int n) { return (bits >> n & 1) != 0; }

absl::Time WholeSeconds(absl::Time t) { return absl::FromUnixSeconds(absl::ToUnixSeconds(t)); }

}  // namespace

absl::StatusOr<CronSchedule> CronSchedule::Parse(absl::string_view text, absl::TimeZone zone) {
  static const std::array<CronField, 5> kFields = {{{"minute", 0, 59, {}},
                                                    {"hour", 0, 23, {}},
                                                    {"day of month", 1, 31, {}},
                                                    {"month", 1, 12, kMonths},
                                                    {"day of week", 0, 6, kWeekdays}}};
  CronSchedule out;
  out.zone_ = zone;
  if (text.empty()) return absl::InvalidArgumentError("must not be empty");
  if (absl::StrContains(text, "TZ"))
    return absl::InvalidArgumentError("must not name a time zone: that is the field timeZone");
  if (absl::string_view duration = text; absl::ConsumePrefix(&duration, "@every ")) {
    GW_ASSIGN_OR_RETURN(const absl::Duration every, ParseGoDuration(duration));
    out.every_ = std::max(absl::Trunc(every, absl::Seconds(1)), absl::Seconds(1));
    return out;
  }
  if (text[0] == '@') {
    const absl::string_view fields = FieldsOfDescriptor(text);
    if (fields.empty()) {
      return absl::InvalidArgumentError(
          "must be one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly, or @every and a duration");
    }
    text = fields;
  }
  const std::vector<absl::string_view> words = absl::StrSplit(text, absl::ByAnyChar(" \t\n\v\f\r"), absl::SkipEmpty());
  if (words.size() != kFields.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("must have 5 fields (minute hour day-of-month month day-of-week), has ", words.size()));
  }
  std::array<Bits, 5> parsed;
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    GW_ASSIGN_OR_RETURN(parsed[i], ParseField(kFields[i], words[i]));
  }
  out.minutes_ = parsed[0].bits;
  out.hours_ = parsed[1].bits;
  out.days_ = parsed[2].bits;
  out.months_ = parsed[3].bits;
  out.weekdays_ = parsed[4].bits;
  out.any_day_ = parsed[2].star;
  out.any_weekday_ = parsed[4].star;
  return out;
}

bool CronSchedule::DayMatches(absl::CivilDay day) const {
  if (!Has(months_, day.month())) return false;
  const bool by_month = Has(days_, day.day());
  // Abseil's week begins with Monday, cron's with Sunday.
  const bool by_week = Has(weekdays_, (static_cast<int>(absl::GetWeekday(day)) + 1) % 7);
  return any_day_ || any_weekday_ ? by_month && by_week : by_month || by_week;
}

absl::Time CronSchedule::FirstOn(absl::CivilDay day, absl::Time from, bool& certain) const {
  absl::Time first = absl::InfiniteFuture();
  for (int hour = 0; hour < 24; ++hour) {
    if (!Has(hours_, hour)) continue;
    const absl::TimeZone::TimeInfo end = zone_.At(absl::CivilSecond(day.year(), day.month(), day.day(), hour, 59, 59));
    if (std::max(end.pre, end.post) < from) continue;
    for (int minute = 0; minute < 60; ++minute) {
      if (!Has(minutes_, minute)) continue;
      const absl::TimeZone::TimeInfo local =
          zone_.At(absl::CivilSecond(day.year(), day.month(), day.day(), hour, minute, 0));
      if (local.kind == absl::TimeZone::TimeInfo::SKIPPED) continue;
      if (local.pre >= from) {
        certain = true;
        return std::min(first, local.pre);
      }
      if (local.kind == absl::TimeZone::TimeInfo::REPEATED && local.post >= from) first = std::min(first, local.post);
    }
  }
  return first;
}

absl::Time CronSchedule::Next(absl::Time after) const {
  if (after == absl::InfiniteFuture()) return after;
  const absl::Time from = WholeSeconds(after) + absl::Seconds(1);
  if (every_ > absl::ZeroDuration()) return WholeSeconds(after) + every_;
  // From the day before: when the clocks are put back over midnight, a part of it comes again.
  absl::CivilDay day = absl::ToCivilDay(from, zone_) - 1;
  absl::Time first = absl::InfiniteFuture();
  for (int i = 0; i < kMostDays; ++i, ++day) {
    if (!DayMatches(day)) {
      // Nothing of the days of a month that is not wanted.
      if (!Has(months_, day.month()) && first == absl::InfiniteFuture()) {
        const absl::CivilDay next_month(absl::CivilMonth(day) + 1);
        i += static_cast<int>(next_month - day) - 1;
        day = next_month - 1;
      }
      continue;
    }
    bool certain = false;
    first = std::min(first, FirstOn(day, from, certain));
    if (certain) return first;
  }
  return first;
}

absl::Time CronSchedule::Last(absl::Time after, absl::Time until) const {
  if (every_ > absl::ZeroDuration()) {
    const absl::Time first = WholeSeconds(after) + every_;
    return first > until ? absl::InfinitePast() : first + absl::Floor(until - first, every_);
  }
  // Next() never goes back when its argument grows; so the largest argument whose start is not too late gives the last
  // one.
  after = std::max(after, until - 2 * kMostDays * absl::Hours(24));  // starts lie closer together
  std::int64_t low = absl::ToUnixSeconds(after), high = absl::ToUnixSeconds(until);
  if (Next(absl::FromUnixSeconds(low)) > until) return absl::InfinitePast();
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (Next(absl::FromUnixSeconds(middle)) <= until ? low : high) = middle;
  }
  return Next(absl::FromUnixSeconds(low));
}

absl::StatusOr<absl::TimeZone> LoadCronTimeZone(absl::string_view name) {
  const auto wrong = [&](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat("time zone \"", name, "\": ", why));
  };
  if (name.empty()) return wrong("must not be empty");
  if (absl::EqualsIgnoreCase(name, "Local")) return wrong("every machine has its own");
  for (const absl::string_view part : absl::StrSplit(name, '/')) {
    const bool plain = !part.empty() && part.size() <= 14 && std::all_of(part.begin(), part.end(), [](char c) {
      return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '_' || c == '+';
    });
    if (!plain || part == "." || part == ".." || part[0] == '-')
      return wrong("is no name of the IANA time zone database");
  }
  absl::TimeZone zone;
  if (!absl::LoadTimeZone(std::string(name), &zone))
    return wrong("is not in the IANA time zone database of this machine");
  return zone;
}

}  // namespace gangway::api::volcano
