#include "api/schemas/column_path.h"

#include <cstddef>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/json_value.h"

namespace gangway::schemas {
namespace {

namespace json = boost::json;
using Kind = PathStep::Kind;

// A name up to the next dot or bracket; a backslash takes the meaning of what is behind it.
std::optional<std::string> TakeName(absl::string_view& text) {
  std::string name;
  std::size_t at = 0;
  for (; at < text.size() && text[at] != '.' && text[at] != '['; ++at) {
    if (text[at] == '\\' && ++at == text.size()) return std::nullopt;
    name.push_back(text[at]);
  }
  text.remove_prefix(at);
  if (name.empty()) return std::nullopt;
  return name;
}

std::optional<std::string> Unquoted(absl::string_view text) {
  if (text.size() < 2 || text.front() != text.back() || (text.front() != '\'' && text.front() != '"'))
    return std::nullopt;
  return std::string(text.substr(1, text.size() - 2));
}

// What stands in brackets: '*', a number, "-1:", a quoted name, or ?(@.name=="value").
std::optional<PathStep> BracketStep(absl::string_view text) {
  if (text == "*") return PathStep{Kind::kAll, ""};
  if (std::optional<std::string> name = Unquoted(text)) return PathStep{Kind::kMember, *std::move(name)};
  if (absl::ConsumePrefix(&text, "?(@.")) {
    const std::size_t sign = text.find("==");
    if (!absl::ConsumeSuffix(&text, ")") || sign == absl::string_view::npos) return std::nullopt;
    std::optional<std::string> value = Unquoted(absl::StripAsciiWhitespace(text.substr(sign + 2)));
    const absl::string_view name = absl::StripAsciiWhitespace(text.substr(0, sign));
    if (!value.has_value() || name.empty() || name.find('.') != absl::string_view::npos) return std::nullopt;
    return PathStep{Kind::kFilter, std::string(name), 0, *std::move(value)};
  }
  absl::ConsumeSuffix(&text, ":");
  PathStep step{Kind::kIndex, ""};
  if (!absl::SimpleAtoi(text, &step.index)) return std::nullopt;
  return step;
}

const json::value* Search(const std::vector<PathStep>& path, std::size_t at, const json::value& from) {
  if (at == path.size()) return &from;
  const PathStep& step = path[at];
  if (step.kind == Kind::kMember) {
    const json::object* const object = from.if_object();
    const json::value* const member = object == nullptr ? nullptr : object->if_contains(step.name);
    return member == nullptr ? nullptr : Search(path, at + 1, *member);
  }
  const json::array* const list = from.if_array();
  if (list == nullptr) return nullptr;
  if (step.kind == Kind::kIndex) {
    const auto size = static_cast<std::int64_t>(list->size());
    const std::int64_t index = step.index < 0 ? size + step.index : step.index;
    return index < 0 || index >= size ? nullptr : Search(path, at + 1, (*list)[static_cast<std::size_t>(index)]);
  }
  for (const json::value& element : *list) {
    if (step.kind == Kind::kFilter) {
      const json::object* const object = element.if_object();
      const json::value* const asked = object == nullptr ? nullptr : object->if_contains(step.name);
      if (asked == nullptr || !asked->is_string() || api::AbslView(asked->get_string()) != step.value) continue;
    }
    if (const json::value* const found = Search(path, at + 1, element); found != nullptr) return found;
  }
  return nullptr;
}

}  // namespace

std::optional<std::vector<PathStep>> ParseColumnPath(absl::string_view path) {
  std::vector<PathStep> steps;
  if (path.empty() || (path.front() != '.' && path.front() != '[')) return std::nullopt;
  while (!path.empty()) {
    if (absl::ConsumePrefix(&path, ".")) {
      std::optional<std::string> name = TakeName(path);
      if (!name.has_value()) return std::nullopt;
      steps.push_back({Kind::kMember, *std::move(name)});
    } else if (absl::ConsumePrefix(&path, "[")) {
      const std::size_t end = path.find(']');
      if (end == absl::string_view::npos) return std::nullopt;
      std::optional<PathStep> step = BracketStep(path.substr(0, end));
      if (!step.has_value()) return std::nullopt;
      steps.push_back(*std::move(step));
      path.remove_prefix(end + 1);
    } else {
      return std::nullopt;
    }
  }
  return steps;
}

const json::value* FindAlong(const std::vector<PathStep>& path, const json::value& from) {
  return Search(path, 0, from);
}

}  // namespace gangway::schemas
