#include "api/duration.h"

#include <cstdint>
#include <limits>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "base/strings.h"

namespace gangway::api {
namespace {

constexpr std::uint64_t kLimit = std::uint64_t{1} << 63;  // of nanoseconds; reached only by the most negative duration

// Nanoseconds; 0: no such unit.
std::uint64_t UnitOf(absl::string_view name) {
  if (name == "ns") return 1;
  if (name == "us" || name == "\xC2\xB5s" || name == "\xCE\xBCs") return 1000;  // both code points of the micro sign
  if (name == "ms") return 1000000;
  if (name == "s") return 1000000000;
  if (name == "m") return 60ULL * 1000000000;
  if (name == "h") return 3600ULL * 1000000000;
  return 0;
}

// The leading digits; nullopt beyond the limit.
std::optional<std::uint64_t> TakeWhole(absl::string_view& text) {
  std::uint64_t n = 0;
  for (; !text.empty() && IsDigit(text.front()); text.remove_prefix(1)) {
    if (n > kLimit / 10) return std::nullopt;
    n = n * 10 + static_cast<std::uint64_t>(text.front() - '0');
    if (n > kLimit) return std::nullopt;
  }
  return n;
}

// The leading digits as a fraction, digits / scale; those that no longer fit are dropped, as Go does.
void TakeFraction(absl::string_view& text, std::uint64_t& digits, double& scale) {
  bool full = false;
  for (; !text.empty() && IsDigit(text.front()); text.remove_prefix(1)) {
    if (full) continue;
    if (digits > (kLimit - 1) / 10) {
      full = true;
      continue;
    }
    const std::uint64_t next = digits * 10 + static_cast<std::uint64_t>(text.front() - '0');
    if (next > kLimit) {
      full = true;
      continue;
    }
    digits = next;
    scale *= 10;
  }
}

absl::Status Invalid(absl::string_view what, absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat("time: ", what, " ", JsonString(text)));
}

// "1.5" of the number v / 10^digits, with the zeros at the end of the fraction gone.
std::string Fixed(std::uint64_t v, int digits) {
  std::string fraction;
  for (; digits > 0; --digits, v /= 10) {
    const char c = static_cast<char>('0' + static_cast<int>(v % 10));
    if (c != '0' || !fraction.empty()) fraction.insert(fraction.begin(), c);
  }
  return fraction.empty() ? absl::StrCat(v) : absl::StrCat(v, ".", fraction);
}

}  // namespace

absl::StatusOr<absl::Duration> ParseGoDuration(absl::string_view text) {
  absl::string_view rest = text;
  const bool negative = !rest.empty() && rest.front() == '-';
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) rest.remove_prefix(1);
  if (rest == "0") return absl::ZeroDuration();
  if (rest.empty()) return Invalid("invalid duration", text);

  std::uint64_t total = 0;
  while (!rest.empty()) {
    const std::size_t before = rest.size();
    const std::optional<std::uint64_t> whole = TakeWhole(rest);
    if (!whole) return Invalid("invalid duration", text);
    bool any_digit = rest.size() != before;
    std::uint64_t fraction = 0;
    double scale = 1;
    if (!rest.empty() && rest.front() == '.') {
      rest.remove_prefix(1);
      const std::size_t after_point = rest.size();
      TakeFraction(rest, fraction, scale);
      any_digit = any_digit || rest.size() != after_point;
    }
    if (!any_digit) return Invalid("invalid duration", text);

    std::size_t length = 0;
    while (length < rest.size() && rest[length] != '.' && !IsDigit(rest[length])) ++length;
    const absl::string_view name = rest.substr(0, length);
    if (name.empty()) return Invalid("missing unit in duration", text);
    const std::uint64_t unit = UnitOf(name);
    if (unit == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("time: unknown unit ", JsonString(name), " in duration ", JsonString(text)));
    }
    rest.remove_prefix(length);
    if (*whole > kLimit / unit) return Invalid("invalid duration", text);
    std::uint64_t value = *whole * unit;
    if (fraction > 0) {
      value += static_cast<std::uint64_t>(static_cast<double>(fraction) * (static_cast<double>(unit) / scale));
      if (value > kLimit) return Invalid("invalid duration", text);
    }
    total += value;
    if (total > kLimit) return Invalid("invalid duration", text);
  }
  if (negative) return absl::Nanoseconds(static_cast<std::int64_t>(-total));  // wraps on purpose at the limit
  if (total > kLimit - 1) return Invalid("invalid duration", text);
  return absl::Nanoseconds(static_cast<std::int64_t>(total));
}

std::string FormatGoDuration(absl::Duration duration) {
  const std::int64_t nanos = absl::ToInt64Nanoseconds(duration);  // saturates
  if (nanos == 0) return "0s";
  const std::uint64_t size = nanos < 0 ? -static_cast<std::uint64_t>(nanos) : static_cast<std::uint64_t>(nanos);
  const absl::string_view sign = nanos < 0 ? "-" : "";
  if (size < 1000) return absl::StrCat(sign, size, "ns");
  if (size < 1000000) return absl::StrCat(sign, Fixed(size, 3), "\xC2\xB5s");
  if (size < 1000000000) return absl::StrCat(sign, Fixed(size, 6), "ms");
  constexpr std::uint64_t kMinute = 60ULL * 1000000000;
  const std::string seconds = absl::StrCat(Fixed(size % kMinute, 9), "s");
  const std::uint64_t minutes = size / kMinute;
  if (minutes == 0) return absl::StrCat(sign, seconds);
  if (minutes < 60) return absl::StrCat(sign, minutes, "m", seconds);
  return absl::StrCat(sign, minutes / 60, "h", minutes % 60, "m", seconds);
}

}  // namespace gangway::api
