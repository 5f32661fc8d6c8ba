// One line per decision that changed, with stable keys: ts level msg, then the fields in the order given.
//
//   log::Info("job restarted", {{"job", key.ToString()}, {"version", 3}});
//
// A line equal to one printed less than `repeat_window` ago (level, message and fields) is counted, not printed; with
// the first line after the window it is printed once more, with `repeated` saying how often it came. Thread-safe.
// Without Configure(): text, info and above, to standard error.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/strings.h"

namespace gangway::log {

enum class Level { kDebug, kInfo, kWarning, kError, kOff };
enum class Format { kText, kJson };

struct Options {
  Level level = Level::kInfo;
  Format format = Format::kText;
  absl::Duration repeat_window = absl::Seconds(10);  // zero: print all
  // Where lines go, without their line break, one at a time; it must not log. Empty: standard error.
  absl::AnyInvocable<void(absl::string_view line)> sink;
  // What stands in ts. Empty: the wall clock. A simulation gives its loop's.
  absl::AnyInvocable<absl::Time()> now;
};

// Replaces what was configured before. Call it before other threads log.
void Configure(Options options);
// "debug", "info", "warning", "error", "off"; false when it is none of these.
bool ParseLevel(absl::string_view text, Level& level);
bool Enabled(Level level);

// A key and a value that knows how it prints. Texts are borrowed: a Field lives as long as the call.
class Field {
 public:
  using Value = std::variant<absl::string_view, std::string, std::int64_t, std::uint64_t, double, bool>;

  Field(absl::string_view key, absl::string_view v) : key_(key), value_(v) {}
  Field(absl::string_view key, std::string_view v) : key_(key), value_(View(v)) {}
  Field(absl::string_view key, const std::string& v) : key_(key), value_(absl::string_view(v)) {}
  Field(absl::string_view key, const char* v) : key_(key), value_(absl::string_view(v)) {}
  Field(absl::string_view key, bool v) : key_(key), value_(v) {}
  Field(absl::string_view key, std::signed_integral auto v) : key_(key), value_(static_cast<std::int64_t>(v)) {}
  Field(absl::string_view key, std::unsigned_integral auto v) : key_(key), value_(static_cast<std::uint64_t>(v)) {}
  Field(absl::string_view key, std::floating_point auto v) : key_(key), value_(static_cast<double>(v)) {}
  Field(absl::string_view key, absl::Duration v) : key_(key), value_(absl::FormatDuration(v)) {}
  Field(absl::string_view key, const absl::Status& v) : key_(key), value_(v.ToString()) {}

  absl::string_view key() const { return key_; }
  const Value& value() const { return value_; }

 private:
  absl::string_view key_;
  Value value_;
};

using Fields = std::initializer_list<Field>;

void Write(Level level, absl::string_view msg, Fields fields = {});
inline void Debug(absl::string_view msg, Fields fields = {}) {
  if (Enabled(Level::kDebug)) Write(Level::kDebug, msg, fields);
}
inline void Info(absl::string_view msg, Fields fields = {}) { Write(Level::kInfo, msg, fields); }
inline void Warning(absl::string_view msg, Fields fields = {}) { Write(Level::kWarning, msg, fields); }
inline void Error(absl::string_view msg, Fields fields = {}) { Write(Level::kError, msg, fields); }

// Prints the counts of repeats not yet printed, and flushes. At the end of a process.
void Flush();

}  // namespace gangway::log
