// When a CronJob runs: five fields, or a descriptor such as @hourly, in a time zone.
//
// What it reads is what the standard parser of github.com/robfig/cron reads, which Volcano uses: lists, ranges, steps,
// the names of months and days (any case), '*' and '?', and "@every 1h30m". Day of month and day of week: when one of
// them is '*' (or
// '?', or '*/1') both must match, otherwise one is enough. A prefix TZ= is refused: the time zone is a field of its
// own.
//
// Daylight saving: a start at a local time that does not exist is left out that day; at a local time that comes twice
// it comes twice. (An hour that is skipped is also left out when the clocks are put by less than an hour, where
// robfig/cron errs.)
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"

namespace gangway::api::volcano {

class CronSchedule {
 public:
  // InvalidArgument says which field is wrong and why: `hour "25": must be between 0 and 23`.
  static absl::StatusOr<CronSchedule> Parse(absl::string_view text, absl::TimeZone zone = absl::UTCTimeZone());

  // The first start after `after`. InfiniteFuture: there is none in the next eight years (30 February).
  absl::Time Next(absl::Time after) const;

  // The last start after `after` and not after `until`. InfinitePast: there is none. Of @every, starts are counted from
  // `after`.
  absl::Time Last(absl::Time after, absl::Time until) const;

  const absl::TimeZone& zone() const { return zone_; }

 private:
  CronSchedule() = default;
  bool DayMatches(absl::CivilDay day) const;
  // The first start on that day that is not before `from`; InfiniteFuture when there is none. `certain`: every later
  // day's come later.
  absl::Time FirstOn(absl::CivilDay day, absl::Time from, bool& certain) const;

  // Bit n: the field may be n.
  std::uint64_t minutes_ = 0, hours_ = 0, days_ = 0, months_ = 0, weekdays_ = 0;
  bool any_day_ = false, any_weekday_ = false;   // written as '*'
  absl::Duration every_ = absl::ZeroDuration();  // @every: the rest says nothing
  absl::TimeZone zone_;
};

// A zone of the IANA database: "Asia/Shanghai", "UTC". InvalidArgument for any other name, for "Local" and for "".
absl::StatusOr<absl::TimeZone> LoadCronTimeZone(absl::string_view name);

}  // namespace gangway::api::volcano
