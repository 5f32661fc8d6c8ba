#include "sandbox/apiserver/apply/path_element.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/json_value.h"
#include "boost/json.hpp"

namespace gangway::sandbox::apply {
namespace {

namespace json = boost::json;

absl::string_view Text(json::string_view s) { return {s.data(), s.size()}; }

// As Go's encoder writes them into FieldsV1: <, > and & escaped.
void AppendScalar(const json::value& value, std::string& out) {
  const std::size_t from = out.size();
  api::AppendJson(value, out);
  if (out.find_first_of("<>&", from) == std::string::npos) return;
  const std::string plain = out.substr(from);
  out.resize(from);
  for (const char c : plain) {
    if (c == '<') {
      out.append("\\u003c");
    } else if (c == '>') {
      out.append("\\u003e");
    } else if (c == '&') {
      out.append("\\u0026");
    } else {
      out.push_back(c);
    }
  }
}

int Sign(int c) { return c < 0 ? -1 : c > 0 ? 1 : 0; }
int RankOf(const json::value& value) {
  if (value.is_number()) return 0;
  if (value.is_string()) return 1;
  if (value.is_bool()) return 2;
  if (value.is_array()) return 3;
  return value.is_object() ? 4 : 5;
}

// structured-merge-diff: value.Compare, for scalars
int CompareScalars(const json::value& a, const json::value& b) {
  if (RankOf(a) != RankOf(b)) return RankOf(a) < RankOf(b) ? -1 : 1;
  if (a.is_number()) {
    if (a.is_int64() && b.is_int64()) {
      return a.get_int64() < b.get_int64() ? -1 : a.get_int64() > b.get_int64() ? 1 : 0;
    }
    const double x = a.to_number<double>(), y = b.to_number<double>();
    return x < y ? -1 : x > y ? 1 : 0;
  }
  if (a.is_string()) return Sign(a.get_string().compare(json::string_view(b.get_string())));
  if (a.is_bool()) return static_cast<int>(a.get_bool()) - static_cast<int>(b.get_bool());
  return Sign(api::ToJson(a).compare(api::ToJson(b)));
}

int CompareParsed(StepKind kind, const std::string& a, const std::string& b) {
  const json::value x = api::ParseJson(a).value_or(nullptr), y = api::ParseJson(b).value_or(nullptr);
  if (kind != StepKind::kKeys || !x.is_object() || !y.is_object()) return CompareScalars(x, y);
  auto i = x.get_object().begin(), j = y.get_object().begin();
  for (; i != x.get_object().end() && j != y.get_object().end(); ++i, ++j) {
    if (const int c = Sign(Text(i->key()).compare(Text(j->key()))); c != 0) return c;
    if (const int c = CompareScalars(i->value(), j->value()); c != 0) return c;
  }
  return i != x.get_object().end() ? 1 : j != y.get_object().end() ? -1 : 0;
}

// The order by the texts alone, where they first differ. 2: they must be read.
int CompareTexts(const std::string& a, const std::string& b) {
  const std::size_t size = std::min(a.size(), b.size());
  bool in_string = false;
  std::size_t at = 0;
  for (; at < size && a[at] == b[at]; ++at) {
    if (a[at] == '\\') return 2;
    if (a[at] == '"') in_string = !in_string;
  }
  // Within a string bytes decide, and an end of the string comes first.
  if (at == size || !in_string || a[at] == '\\' || b[at] == '\\') return 2;
  if (a[at] == '"') return -1;
  if (b[at] == '"') return 1;
  return static_cast<unsigned char>(a[at]) < static_cast<unsigned char>(b[at]) ? -1 : 1;
}

}  // namespace

PathElement PathElement::Keys(const std::vector<std::pair<absl::string_view, const json::value*>>& keys) {
  std::string text = "{";
  for (const auto& [name, value] : keys) {
    if (text.size() > 1) text.push_back(',');
    api::AppendJsonString(name, text);
    text.push_back(':');
    AppendScalar(*value, text);
  }
  text.push_back('}');
  return PathElement(StepKind::kKeys, std::move(text));
}

PathElement PathElement::Value(const json::value& scalar) {
  std::string text;
  AppendScalar(scalar, text);
  return PathElement(StepKind::kValue, std::move(text));
}

PathElement::Reading PathElement::Read(absl::string_view text, PathElement* out) {
  if (text.size() < 2 || text[1] != ':') return Reading::kBroken;
  const absl::string_view rest = text.substr(2);
  switch (text[0]) {
    case 'f':
      *out = Field(rest);
      return Reading::kOk;
    case 'i': {
      std::int64_t index = 0;
      if (!absl::SimpleAtoi(rest, &index)) return Reading::kBroken;
      *out = PathElement(StepKind::kIndex, absl::StrCat(index));
      return Reading::kOk;
    }
    case 'k':
    case 'v':
      break;
    default:
      return Reading::kUnknownKind;
  }
  // What is no JSON, or has a number that could not be written again ("1e999").
  if (!api::ParseCompletely(rest).ok()) return Reading::kBroken;
  const absl::StatusOr<json::value> value = api::ParseJson(rest);
  if (!value.ok()) return Reading::kBroken;
  if (text[0] == 'v') {
    *out = Value(*value);
    return Reading::kOk;
  }
  if (!value->is_object()) return Reading::kBroken;
  std::vector<std::pair<absl::string_view, const json::value*>> keys;
  for (const auto& member : value->get_object()) keys.emplace_back(Text(member.key()), &member.value());
  std::sort(keys.begin(), keys.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  *out = Keys(keys);
  return Reading::kOk;
}

void PathElement::AppendFieldsV1(std::string& out) const {
  out.push_back("fkvi"[static_cast<int>(kind_)]);
  out.push_back(':');
  out.append(text_);
}

namespace {

// Go's %q of strings, %v of the rest.
void AppendShown(const json::value& value, std::string& out) {
  if (value.is_string()) {
    api::AppendJsonString(Text(value.get_string()), out);
  } else {
    api::AppendJson(value, out);
  }
}

}  // namespace

void PathElement::AppendTo(std::string& path) const {
  switch (kind_) {
    case StepKind::kField:
      absl::StrAppend(&path, ".", text_);
      return;
    case StepKind::kIndex:
      absl::StrAppend(&path, "[", text_, "]");
      return;
    case StepKind::kValue:
      path.append("[=");
      AppendShown(api::ParseJson(text_).value_or(nullptr), path);
      break;
    case StepKind::kKeys: {
      const json::value keys = api::ParseJson(text_).value_or(json::object());
      char separator = '[';
      for (const auto& member : keys.get_object()) {
        path.push_back(std::exchange(separator, ','));
        absl::StrAppend(&path, Text(member.key()), "=");
        AppendShown(member.value(), path);
      }
      break;
    }
  }
  path.push_back(']');
}

int PathElement::Compare(const PathElement& a, const PathElement& b) {
  if (a.kind_ != b.kind_) return a.kind_ < b.kind_ ? -1 : 1;
  if (a.kind_ == StepKind::kField) return Sign(a.text_.compare(b.text_));
  if (a.text_ == b.text_) return 0;
  const int quick = CompareTexts(a.text_, b.text_);
  return quick != 2 ? quick : CompareParsed(a.kind_, a.text_, b.text_);
}

std::string ToText(const Path& path) {
  std::string out;
  for (const PathElement& step : path) step.AppendTo(out);
  return out;
}

}  // namespace gangway::sandbox::apply
