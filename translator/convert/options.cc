#include "translator/convert/options.h"

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace gangway::convert {
namespace {

// Takes a number of at most four digits off the front.
bool TakeNumber(absl::string_view& text, int& out) {
  std::size_t digits = 0;
  out = 0;
  while (digits < text.size() && digits < 5 && absl::ascii_isdigit(static_cast<unsigned char>(text[digits]))) out = out * 10 + (text[digits++] - '0');
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

std::string_view TargetName(Target target) {
  switch (target) {
    case Target::kVolcano: return "volcano";
    case Target::kGangway: return "gangway";
  }
  return "";
}

absl::StatusOr<VolcanoVersion> ParseVolcanoVersion(absl::string_view text) {
  VolcanoVersion out;
  if (!ReadVersion(text, out)) return absl::InvalidArgumentError(absl::StrCat("'", text, "' is no version of Volcano: write it like 1.13"));
  return out;
}

}  // namespace gangway::convert
