#include "api/quantity.h"

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/strings.h"

namespace gangway::api {
namespace {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

constexpr Int128 kNano = 1000000000;
constexpr Int128 kMaxNanos = Int128{std::numeric_limits<std::int64_t>::max()} * kNano;
constexpr Int128 kMinNanos = Int128{std::numeric_limits<std::int64_t>::min()} * kNano;

bool InRange(Int128 nanos) { return nanos >= kMinNanos && nanos <= kMaxNanos; }

struct Suffix {
  std::string_view text;
  Quantity::Format format;
  int exponent;  // of 10, of binary ones of 2
};
constexpr Suffix kSuffixes[] = {
    {"", Quantity::Format::kDecimalSI, 0},   {"m", Quantity::Format::kDecimalSI, -3},
    {"Ki", Quantity::Format::kBinarySI, 10}, {"Mi", Quantity::Format::kBinarySI, 20},
    {"Gi", Quantity::Format::kBinarySI, 30}, {"Ti", Quantity::Format::kBinarySI, 40},
    {"Pi", Quantity::Format::kBinarySI, 50}, {"Ei", Quantity::Format::kBinarySI, 60},
    {"k", Quantity::Format::kDecimalSI, 3},  {"M", Quantity::Format::kDecimalSI, 6},
    {"G", Quantity::Format::kDecimalSI, 9},  {"T", Quantity::Format::kDecimalSI, 12},
    {"P", Quantity::Format::kDecimalSI, 15}, {"E", Quantity::Format::kDecimalSI, 18},
    {"u", Quantity::Format::kDecimalSI, -6}, {"n", Quantity::Format::kDecimalSI, -9},
};
// Longer exponents say no more: the number is out of range, or one nano.
constexpr std::int64_t kExponentCap = 1000000000;

std::optional<Suffix> ReadSuffix(absl::string_view text) {
  for (const Suffix& suffix : kSuffixes) {
    if (View(suffix.text) == text) return suffix;
  }
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  const bool negative = text[1] == '-';
  text.remove_prefix(negative || text[1] == '+' ? 2 : 1);
  if (text.empty()) return std::nullopt;
  std::int64_t exponent = 0;  // ten times the cap is more than an int
  for (const char c : text) {
    if (!IsDigit(c)) return std::nullopt;
    if (exponent < kExponentCap) exponent = exponent * 10 + (c - '0');
    if (exponent > kExponentCap) exponent = kExponentCap;
  }
  return Suffix{{}, Quantity::Format::kDecimalExponent, static_cast<int>(negative ? -exponent : exponent)};
}

// digits × 2^shift, in decimal digits again. Ten bits at a time keep every step within an int.
std::string ShiftLeft(std::string digits, int shift) {
  for (; shift > 0; shift -= 10) {
    int carry = 0;
    for (std::size_t i = digits.size(); i-- > 0;) {
      const int n = (digits[i] - '0') * 1024 + carry;
      digits[i] = static_cast<char>('0' + n % 10);
      carry = n / 10;
    }
    if (carry != 0) digits.insert(0, std::to_string(carry));
  }
  return digits;
}

// digits × 10^exponent, rounded up to a whole number; nullopt when that is beyond any quantity.
std::optional<Int128> Scale(std::string_view digits, std::int64_t exponent) {
  while (!digits.empty() && digits.front() == '0') digits.remove_prefix(1);
  while (!digits.empty() && digits.back() == '0') digits.remove_suffix(1), ++exponent;
  if (digits.empty()) return 0;
  bool rest = false;
  if (exponent < 0) {  // the last digits are the fraction, and not all of them zero
    const auto cut = static_cast<std::uint64_t>(-exponent);
    digits = cut >= digits.size() ? std::string_view() : digits.substr(0, digits.size() - cut);
    exponent = 0;
    rest = true;
  }
  if (static_cast<std::int64_t>(digits.size()) + exponent > 29) return std::nullopt;  // 9.2e27 has 28 digits
  Int128 n = 0;
  for (const char c : digits) n = n * 10 + (c - '0');
  for (; exponent > 0; --exponent) n *= 10;
  return n + (rest ? 1 : 0);
}

absl::Status Malformed(absl::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("invalid quantity \"", text,
                   "\": quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"));
}

absl::Status OutOfRange(absl::string_view what) {
  return absl::OutOfRangeError(absl::StrCat(what, " is out of range: a quantity is at most 2^63-1"));
}

absl::StatusOr<std::int64_t> Rounded(Int128 nanos, Int128 unit, absl::string_view what) {
  Int128 n = nanos / unit;
  if (nanos % unit != 0) n += nanos < 0 ? -1 : 1;
  if (n > std::numeric_limits<std::int64_t>::max() || n < std::numeric_limits<std::int64_t>::min()) {
    return absl::OutOfRangeError(absl::StrCat(what, " does not fit 64 bits"));
  }
  return static_cast<std::int64_t>(n);
}

std::string Decimal(Int128 n) {
  char text[48];
  char* end = text + sizeof text;
  char* at = end;
  UInt128 rest = n < 0 ? -static_cast<UInt128>(n) : static_cast<UInt128>(n);
  do *--at = static_cast<char>('0' + static_cast<int>(rest % 10));
  while ((rest /= 10) != 0);
  if (n < 0) *--at = '-';
  return {at, end};
}

}  // namespace

absl::StatusOr<Quantity> Quantity::Parse(absl::string_view text) {
  absl::string_view rest = text;
  const bool negative = !rest.empty() && rest[0] == '-';
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) rest.remove_prefix(1);
  std::size_t whole = 0;
  while (whole < rest.size() && IsDigit(rest[whole])) ++whole;
  std::size_t end = whole;
  if (end < rest.size() && rest[end] == '.') ++end;
  std::size_t fraction = 0;
  while (end < rest.size() && IsDigit(rest[end])) ++end, ++fraction;
  if (whole + fraction == 0) return Malformed(text);
  const std::optional<Suffix> suffix = ReadSuffix(rest.substr(end));
  if (!suffix) return Malformed(text);

  std::string digits(rest.substr(0, whole));
  digits.append(rest.data() + end - fraction, fraction);
  std::int64_t exponent = 9 - static_cast<std::int64_t>(fraction);
  if (suffix->format == Format::kBinarySI) {
    digits = ShiftLeft(std::move(digits), suffix->exponent);
  } else {
    exponent += suffix->exponent;
  }
  const std::optional<Int128> size = Scale(digits, exponent);
  if (!size || !InRange(negative ? -*size : *size)) return OutOfRange(absl::StrCat("quantity \"", text, "\""));
  Format format = suffix->format;
  if (format == Format::kBinarySI && *size != 0 && *size < kNano) format = Format::kDecimalSI;  // as Kubernetes
  return Quantity(negative ? -*size : *size, format);
}

Quantity Quantity::FromUnits(std::int64_t units, Format format) { return Quantity(Int128{units} * kNano, format); }
Quantity Quantity::FromMilli(std::int64_t milli, Format format) {
  return Quantity(Int128{milli} * (kNano / 1000), format);
}

std::string Quantity::ToString() const {
  if (nanos_ == 0) return "0";
  if (format_ == Format::kBinarySI && nanos_ % kNano == 0 && (nanos_ <= -1024 * kNano || nanos_ >= 1024 * kNano)) {
    static constexpr std::string_view kNames[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    Int128 n = nanos_ / kNano;
    std::size_t power = 0;
    while (n % 1024 == 0) n /= 1024, ++power;
    return absl::StrCat(Decimal(n), View(kNames[power]));
  }
  static constexpr std::string_view kNames[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  Int128 n = nanos_;
  int power = 0;
  while (n % 1000 == 0) n /= 1000, ++power;
  if (format_ != Format::kDecimalExponent) return absl::StrCat(Decimal(n), View(kNames[power]));
  return power == 3 ? Decimal(n) : absl::StrCat(Decimal(n), "e", power * 3 - 9);
}

absl::StatusOr<std::int64_t> Quantity::Units() const { return Rounded(nanos_, kNano, ToString()); }
absl::StatusOr<std::int64_t> Quantity::Milli() const {
  return Rounded(nanos_, kNano / 1000, absl::StrCat(ToString(), " in thousandths"));
}

absl::StatusOr<Quantity> Quantity::Plus(const Quantity& other) const {
  const Quantity sum(nanos_ + other.nanos_, zero() ? other.format_ : format_);
  if (!InRange(sum.nanos_)) return OutOfRange(absl::StrCat(ToString(), " + ", other.ToString()));
  return sum;
}

absl::StatusOr<Quantity> Quantity::Minus(const Quantity& other) const {
  const Quantity difference(nanos_ - other.nanos_, zero() ? other.format_ : format_);
  if (!InRange(difference.nanos_)) return OutOfRange(absl::StrCat(ToString(), " - ", other.ToString()));
  return difference;
}

absl::StatusOr<Quantity> Quantity::Times(std::int64_t factor) const {
  Int128 product = 0;
  if (__builtin_mul_overflow(nanos_, Int128{factor}, &product) || !InRange(product)) {
    return OutOfRange(absl::StrCat(ToString(), " x ", factor));
  }
  return Quantity(product, format_);
}

}  // namespace gangway::api
