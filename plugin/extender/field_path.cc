#include "plugin/extender/field_path.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace gangway::extender {

namespace {
constexpr std::size_t kMaxShown = 100;
}  // namespace

std::string At(absl::string_view path, std::size_t index) { return absl::StrCat(path, "[", index, "]"); }
std::string AtKey(absl::string_view path, absl::string_view key) { return absl::StrCat(path, "[", Quoted(key), "]"); }

absl::Status Wrong(absl::string_view path, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

std::string Quoted(absl::string_view text) {
  return absl::StrCat("\"", absl::CHexEscape(text.substr(0, kMaxShown)), text.size() > kMaxShown ? "..." : "", "\"");
}

}  // namespace gangway::extender
