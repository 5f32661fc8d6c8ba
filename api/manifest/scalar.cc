#include "api/manifest/scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/json_value.h"

namespace gangway::api::manifest {
namespace {

bool OneOf(absl::string_view text, std::initializer_list<absl::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// Go's strconv.ParseInt and ParseUint with base 0, one after the other, as decimal text.
std::optional<std::string> Integer(absl::string_view text) {
  bool negative = false;
  if (absl::StartsWith(text, "-") || absl::StartsWith(text, "+")) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char letter = absl::ascii_tolower(static_cast<unsigned char>(text[1]));
    base = letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
    text.remove_prefix(letter == 'x' || letter == 'b' || letter == 'o' ? 2 : 1);
  }
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!negative) return absl::StrCat(value);
  if (value > kMax + 1) return std::nullopt;
  return value == 0 ? "0" : absl::StrCat("-", value);
}

// ^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$
bool LooksLikeFloat(absl::string_view text) {
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t from = i;
    while (i < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[i]))) ++i;
    return i - from;
  };
  const auto sign = [&] {
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
  };
  sign();
  const std::size_t whole = digits();
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (digits() == 0 && whole == 0) return false;
  } else if (whole == 0) {
    return false;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    sign();
    if (digits() == 0) return false;
  }
  return i == text.size();
}

std::optional<std::string> Float(absl::string_view text) {
  if (!LooksLikeFloat(text)) return std::nullopt;
  if (text[0] == '+') text.remove_prefix(1);
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    // Too small is zero to Go, too large an error.
    const absl::string_view exponent = text.substr(std::min(text.find_first_of("eE"), text.size()));
    if (!absl::StrContains(exponent, '-')) return std::nullopt;
    value = 0;
  } else if (error != std::errc()) {
    return std::nullopt;
  }
  return ToJson(boost::json::value(value));
}

}  // namespace

Scalar ResolveScalar(absl::string_view text) {
  if (OneOf(text, {"", "~", "null", "Null", "NULL"})) return {ScalarType::kNull, "null"};
  if (OneOf(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})) {
    return {ScalarType::kBool, "true"};
  }
  if (OneOf(text, {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})) {
    return {ScalarType::kBool, "false"};
  }
  absl::string_view unsigned_text = text;
  if (unsigned_text[0] == '-' || unsigned_text[0] == '+') unsigned_text.remove_prefix(1);
  if (OneOf(unsigned_text, {".inf", ".Inf", ".INF"}) || OneOf(text, {".nan", ".NaN", ".NAN"})) {
    return {ScalarType::kNotFinite, ""};
  }
  const char first = text[0];
  if (first == '.') {
    if (std::optional<std::string> number = Float(text)) return {ScalarType::kFloat, *std::move(number)};
  } else if (first == '-' || first == '+' || absl::ascii_isdigit(static_cast<unsigned char>(first))) {
    const std::string plain = absl::StrReplaceAll(text, {{"_", ""}});
    if (std::optional<std::string> number = Integer(plain)) return {ScalarType::kInt, *std::move(number)};
    if (std::optional<std::string> number = Float(plain)) return {ScalarType::kFloat, *std::move(number)};
  }
  return {ScalarType::kString, std::string(text)};
}

}  // namespace gangway::api::manifest
