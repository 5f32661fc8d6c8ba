#include "cmd/explain/language.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"

namespace gangway::cmd {

Language LanguageOf(absl::string_view lc_all, absl::string_view lc_messages, absl::string_view lang) {
  const absl::string_view locale = !lc_all.empty() ? lc_all : !lc_messages.empty() ? lc_messages : lang;
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(locale, absl::MaxSplits('.', 1));
  const absl::string_view place = parts.first;
  const std::string encoding = absl::AsciiStrToLower(parts.second.substr(0, parts.second.find('@')));
  const bool readable = encoding == "utf-8" || encoding == "utf8";
  return readable && (place == "zh" || place == "zh_CN" || place == "zh_SG") ? Language::kChinese : Language::kEnglish;
}

}  // namespace gangway::cmd
