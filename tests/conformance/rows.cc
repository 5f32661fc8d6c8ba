#include "tests/conformance/rows.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/json_value.h"
#include "tests/conformance/text.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

// The word that all of the text is; null: none.
const json::value* WordOf(absl::string_view text, const Row& row) {
  if (text.size() < 3 || text.front() != '<' || text.back() != '>') return nullptr;
  return row.words.if_contains({text.data() + 1, text.size() - 2});
}

std::string Filled(std::string text, const Row& row) {
  if (!absl::StrContains(text, '<')) return text;
  text = absl::StrReplaceAll(text, {{"<kind>", row.name}});
  for (const json::key_value_pair& word : row.words) {
    if (!word.value().is_string()) continue;
    text = absl::StrReplaceAll(text, {{absl::StrCat("<", ToText(word.key()), ">"), ToText(word.value().get_string())}});
  }
  return text;
}

bool Names(const json::object& document, const char* list, const std::string& row) {
  const json::value* const names = document.if_contains(list);
  if (names == nullptr || !names->is_array()) return false;
  return std::any_of(names->get_array().begin(), names->get_array().end(),
                     [&](const json::value& each) { return each.is_string() && ToText(each.get_string()) == row; });
}

absl::Status CheckNames(const json::object& document, const char* list, const std::vector<Row>& rows) {
  const json::value* const names = document.if_contains(list);
  if (names == nullptr) return absl::OkStatus();
  if (!names->is_array()) return absl::InvalidArgumentError(absl::StrCat(list, " is a list of rows"));
  for (const json::value& each : names->get_array()) {
    const std::string name = each.is_string() ? ToText(each.get_string()) : "";
    if (std::none_of(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; })) {
      return absl::InvalidArgumentError(absl::StrCat(list, ": there is no row ", name));
    }
  }
  return absl::OkStatus();
}

}  // namespace

json::value WithWords(const json::value& in, const Row& row) {
  if (in.is_string()) {
    const std::string text = ToText(in.get_string());
    const json::value* const word = WordOf(text, row);
    return word != nullptr ? *word : json::value(json::string(Filled(text, row)));
  }
  if (in.is_array()) {
    json::array out;
    for (const json::value& each : in.get_array()) out.push_back(WithWords(each, row));
    return out;
  }
  if (!in.is_object()) return in;
  json::object out;
  for (const json::key_value_pair& member : in.get_object()) {
    const json::value* const word = WordOf(ToText(member.key()), row);
    if (word == nullptr || !word->is_object()) {
      out[Filled(ToText(member.key()), row)] = WithWords(member.value(), row);
      continue;
    }
    for (const json::key_value_pair& each : word->get_object()) out.emplace(each.key(), each.value());
  }
  return out;
}

absl::Status AddTable(const json::object& document, Tables& tables) {
  const std::string name = TextOf(document, "table");
  const json::value* const rows = document.if_contains("rows");
  if (name.empty() || rows == nullptr || !rows->is_object() || document.size() != 2) {
    return absl::InvalidArgumentError("a table has a name and rows, nothing else");
  }
  if (tables.contains(name)) return absl::InvalidArgumentError(absl::StrCat("there is another table ", name));
  for (const json::key_value_pair& each : rows->get_object()) {
    if (!each.value().is_object())
      return absl::InvalidArgumentError(absl::StrCat("row ", ToText(each.key()), " is a map of words"));
    tables[name].push_back({ToText(each.key()), each.value().get_object()});
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<json::object>> CasesOf(const json::object& document, const Tables& tables) {
  if (!document.contains("for")) return std::vector<json::object>{document};
  const auto table = tables.find(TextOf(document, "for"));
  if (table == tables.end())
    return absl::InvalidArgumentError(absl::StrCat("there is no table ", TextOf(document, "for")));
  for (const char* list : {"but", "only"}) {
    if (absl::Status status = CheckNames(document, list, table->second); !status.ok()) return status;
  }
  json::object bare = document;
  for (const char* word : {"for", "but", "only"}) bare.erase(word);
  std::vector<json::object> out;
  for (const Row& row : table->second) {
    const bool wanted =
        document.contains("only") ? Names(document, "only", row.name) : !Names(document, "but", row.name);
    if (wanted) out.push_back(WithWords(bare, row).as_object());
  }
  return out;
}

}  // namespace gangway::testutil
