#include "plugin/lifecycle/job_plugins/flags.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

namespace gangway::lifecycle {
namespace {

// strconv.ParseBool.
std::optional<bool> ParseBool(absl::string_view text) {
  for (const char* yes : {"1", "t", "T", "true", "TRUE", "True"})
    if (text == yes) return true;
  for (const char* no : {"0", "f", "F", "false", "FALSE", "False"})
    if (text == no) return false;
  return std::nullopt;
}

// strconv.ParseInt with base 0: decimal, 0x, 0o or 0, 0b; a sign.
std::optional<std::int64_t> ParseInteger(absl::string_view text) {
  const bool negative = absl::StartsWith(text, "-");
  if (negative || absl::StartsWith(text, "+")) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char letter = text[1];
    base = letter == 'x' || letter == 'X' ? 16 : letter == 'b' || letter == 'B' ? 2 : 8;
    text.remove_prefix(letter >= '0' && letter <= '9' ? 1 : 2);
  }
  if (text.empty() || text[0] == '-') return std::nullopt;
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc() || at != end) return std::nullopt;
  return negative ? -value : value;
}

bool Set(const PluginFlag& flag, absl::string_view text) {
  if (auto* const* to = std::get_if<bool*>(&flag.value)) {
    const std::optional<bool> value = ParseBool(text);
    if (value) **to = *value;
    return value.has_value();
  }
  if (auto* const* to = std::get_if<std::int64_t*>(&flag.value)) {
    const std::optional<std::int64_t> value = ParseInteger(text);
    if (value) **to = *value;
    return value.has_value();
  }
  std::get<std::string*>(flag.value)->assign(text.data(), text.size());
  return true;
}

std::string Complaint(absl::string_view text, absl::string_view what, std::initializer_list<PluginFlag> known) {
  return absl::StrCat(
      "flag ", text, " ", what, "; it and what follows it are not read (the flags are ",
      absl::StrJoin(known, ", ",
                    [](std::string* out, const PluginFlag& flag) { absl::StrAppend(out, "--", flag.name); }),
      ")");
}

// What can be no part of a key: the small letters and dashes that it begins with.
absl::string_view NameIn(absl::string_view text) {
  return text.substr(0, text.find_first_not_of("-abcdefghijklmnopqrstuvwxyz"));
}

}  // namespace

std::string ReadFlags(const std::vector<std::string>& texts, std::initializer_list<PluginFlag> known,
                      FlagValues values) {
  const auto wrong = [&](absl::string_view text, absl::string_view what) {
    return Complaint(values == FlagValues::kShown ? text : NameIn(text), what, known);
  };
  for (std::size_t i = 0; i < texts.size(); ++i) {
    absl::string_view text = texts[i];
    if (text.size() < 2 || text[0] != '-' || text == "--") break;
    text.remove_prefix(text[1] == '-' ? 2 : 1);
    if (text[0] == '-' || text[0] == '=') return wrong(texts[i], "is not written as one");
    const std::size_t equal = text.find('=');
    const absl::string_view name = text.substr(0, equal);
    const auto* const flag =
        std::find_if(known.begin(), known.end(), [&](const PluginFlag& one) { return name == one.name; });
    if (flag == known.end()) return wrong(texts[i], "is not known");
    if (equal != absl::string_view::npos) {
      if (!Set(*flag, text.substr(equal + 1))) return wrong(texts[i], "has a value that does not read");
    } else if (std::holds_alternative<bool*>(flag->value)) {
      *std::get<bool*>(flag->value) = true;
    } else if (i + 1 == texts.size()) {
      return wrong(texts[i], "has no value");
    } else if (!Set(*flag, texts[++i])) {
      return wrong(absl::StrCat(texts[i - 1], " ", texts[i]), "has a value that does not read");
    }
  }
  return {};
}

}  // namespace gangway::lifecycle
