#include "translator/convert/options.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/name.h"

namespace gangway::convert {
namespace {

// Takes a number of at most four digits off the front.
bool TakeNumber(absl::string_view& text, int& out) {
  std::size_t digits = 0;
  out = 0;
  while (digits < text.size() && digits < 5 && absl::ascii_isdigit(static_cast<unsigned char>(text[digits])))
    out = out * 10 + (text[digits++] - '0');
  text.remove_prefix(digits);
  return digits > 0 && digits < 5;
}

bool ReadVersion(absl::string_view text, VolcanoVersion& out) {
  absl::ConsumePrefix(&text, "v");
  int patch = 0;
  if (!TakeNumber(text, out.major) || !absl::ConsumePrefix(&text, ".") || !TakeNumber(text, out.minor)) return false;
  if (absl::ConsumePrefix(&text, ".") && !TakeNumber(text, patch)) return false;
  // "-alpha.0", "+build"
  return text.empty() || (text.size() > 1 && (text[0] == '-' || text[0] == '+'));
}

}  // namespace

bool IsEtcdAddress(absl::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos || colon == 0) return false;
  const absl::string_view digits = text.substr(colon + 1);
  int port = 0;
  const bool whole =
      digits.size() <= 5 && std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!whole || !absl::SimpleAtoi(digits, &port) || port < 1 || port > 65535) return false;
  return std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '\x7f' || c == '/' || c == ',';
  });
}

bool IsClusterDomain(absl::string_view text) { return api::CheckDns1123Subdomain(text).empty(); }

std::string_view TargetName(Target target) {
  switch (target) {
    case Target::kVolcano:
      return "volcano";
    case Target::kGangway:
      return "gangway";
    case Target::kKubernetes:
      return "kubernetes";
  }
  return "";
}

absl::StatusOr<VolcanoVersion> ParseVolcanoVersion(absl::string_view text) {
  VolcanoVersion out;
  if (!ReadVersion(text, out))
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is no version of Volcano: write it like 1.13"));
  return out;
}

}  // namespace gangway::convert
