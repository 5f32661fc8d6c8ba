#include "api/field_walk.h"

namespace gangway::api {
namespace {

constexpr std::size_t kMaxFieldBytes = 512, kMaxValueBytes = 512, kMaxTextBytes = 2048;

std::string Cut(absl::string_view text, std::size_t max) {
  if (text.size() <= max) return std::string(text);
  while (max > 0 && (static_cast<unsigned char>(text[max]) & 0xC0) == 0x80) --max;  // not within a character
  return absl::StrCat(text.substr(0, max), "...");
}

}  // namespace

void AddFieldError(FieldErrors& errors, FieldError::Type type, absl::string_view field, absl::string_view value,
                   absl::string_view rule, absl::string_view fix) {
  if (Full(errors)) return;
  errors.push_back({type, Cut(field, kMaxFieldBytes), Cut(value, kMaxValueBytes), Cut(rule, kMaxTextBytes),
                    Cut(fix, kMaxTextBytes)});
}

}  // namespace gangway::api
