#include "plugin/extender/calls/field_path.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace gangway::extender {

namespace {
constexpr std::size_t kMaxShown = 100, kMaxComplaint = 500;
}  // namespace

std::string At(absl::string_view path, std::size_t index) { return absl::StrCat(path, "[", index, "]"); }
std::string AtKey(absl::string_view path, absl::string_view key) { return absl::StrCat(path, "[", Quoted(key), "]"); }

absl::Status Wrong(absl::string_view path, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

absl::Status CheckLength(absl::string_view name, absl::string_view path) {
  if (name.size() <= kMaxNameBytes) return absl::OkStatus();
  return Wrong(path, absl::StrCat("is longer than ", kMaxNameBytes, " bytes"));
}

absl::Status WrongIn(absl::string_view path, absl::string_view complaint) {
  const std::size_t colon = complaint.find(": ");
  const bool names_field =
      colon != absl::string_view::npos && complaint.substr(0, colon).find(' ') == absl::string_view::npos;
  return absl::InvalidArgumentError(absl::StrCat(path, names_field ? "." : ": ",
                                                 absl::CHexEscape(complaint.substr(0, kMaxComplaint)),
                                                 complaint.size() > kMaxComplaint ? "..." : ""));
}

std::string Quoted(absl::string_view text) {
  return absl::StrCat("\"", absl::CHexEscape(text.substr(0, kMaxShown)), text.size() > kMaxShown ? "..." : "", "\"");
}

}  // namespace gangway::extender
