#include "tests/conformance/normal.h"

#include <algorithm>
#include <regex>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "api/json_value.h"
#include "tests/conformance/text.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

std::string TextAt(const json::object& object, const char* key) {
  const json::value* const found = object.if_contains(key);
  return found != nullptr && found->is_string() ? ToText(found->get_string()) : "";
}

const std::regex& Uid() {
  static const std::regex& uid = *new std::regex("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
  return uid;
}
const std::regex& Time() {
  static const std::regex& time = *new std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z)");
  return time;
}
// Versions within texts: "too old resource version: 3 (7)", "requested: 9, current: 7", "in the precondition (3)", "in
// record (7)", and an object's as JSON.
const std::regex& Versions() {
  static const std::regex& versions = *new std::regex(
      R"re((resource version: |current: |requested: |in record \(|in the precondition \(|\\?"resourceVersion\\?":\\?")\d+( \(\d+\))?)re");
  return versions;
}
// Of a table's column: how old something is.
bool IsAge(const std::string& text) {
  static const std::regex& age = *new std::regex(R"(\d{1,2}s)");
  return std::regex_match(text, age);
}
// Since a time that a case wrote: one more tomorrow.
bool IsDays(const std::string& text) {
  static const std::regex& days = *new std::regex(R"(\d{3,}d|\d+y(\d+d)?)");
  return std::regex_match(text, days);
}

bool IsOfNow(const std::string& time) {
  absl::Time at;
  return absl::ParseTime(absl::RFC3339_full, time, &at, nullptr) &&
         absl::AbsDuration(absl::Now() - at) < absl::Hours(2);
}

// Every match becomes what `word` makes of it.
template <class F>
std::string Replaced(const std::string& text, const std::regex& pattern, F word) {
  std::string out;
  auto at = text.cbegin();
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) {
    out.append(at, it->prefix().second);
    out += word(it->str());
    at = it->suffix().first;
  }
  out.append(at, text.cend());
  return out;
}

// Of an entry of managedFields.
std::string WhoOwns(const json::value& entry) {
  const json::object* const object = entry.if_object();
  return object == nullptr ? ""
                           : absl::StrCat(TextAt(*object, "manager"), "/", TextAt(*object, "operation"), "/",
                                          TextAt(*object, "subresource"), "/", TextAt(*object, "apiVersion"));
}

bool IsList(const json::object& object) {
  return absl::EndsWith(TextAt(object, "kind"), "List") || TextAt(object, "kind") == "Table";
}

}  // namespace

std::string Normalizer::Numbered(const std::string& what, const std::string& text) {
  std::map<std::string, std::string>& known = numbered_[what];
  const auto [it, fresh] = known.try_emplace(text);
  if (fresh) it->second = absl::StrCat("<", what, " ", known.size(), ">");
  return it->second;
}

std::string Normalizer::Text(std::string text) {
  for (const auto& [from, to] : words_) text = absl::StrReplaceAll(text, {{from, to}});
  for (const auto& [from, to] : generated_) text = absl::StrReplaceAll(text, {{from, to}});
  if (text.size() > (1u << 16))
    return absl::StrCat("<", text.size(), " bytes>");  // regular expressions of the library recurse
  text = Replaced(text, Uid(), [this](const std::string& uid) { return Numbered("uid", uid); });
  text = Replaced(text, Time(), [](const std::string& time) {
    return !IsOfNow(time) ? time : std::string(absl::StrContains(time, '.') ? "<micro time>" : "<time>");
  });
  return Replaced(text, Versions(), [](const std::string& match) {
    return match.substr(0, match.find_first_of("0123456789")) + "<version>";
  });
}

json::value Normalizer::WalkObject(const json::object& object, const std::string& key, bool of_list) {
  const std::string generate = TextAt(object, "generateName"), name = TextAt(object, "name");
  // The base is cut where the name would become too long.
  const std::string base = name.substr(0, name.size() - std::min<std::size_t>(name.size(), 5));
  if (!base.empty() && absl::StartsWith(generate, base)) generated_.try_emplace(name, absl::StrCat(base, "<name>"));
  std::map<std::string, const json::value*> sorted;
  for (const json::key_value_pair& member : object) sorted[ToText(member.key())] = &member.value();
  const bool list = IsList(object);
  json::object out;
  for (const auto& [name_of, value] : sorted) {
    const bool metadata_of_list = list && name_of == "metadata";
    out[Text(name_of)] = Walk(*value, name_of, metadata_of_list || (of_list && key == "metadata"));
  }
  return out;
}

json::value Normalizer::Walk(const json::value& value, const std::string& key, bool of_list) {
  if (value.is_object()) return WalkObject(value.get_object(), key, of_list);
  if (value.is_array()) {
    json::array out;
    for (const json::value& each : value.get_array()) out.push_back(Walk(each, key, false));
    // Sorted by their times, which are whole seconds.
    if (key == "managedFields")
      std::stable_sort(out.begin(), out.end(),
                       [](const json::value& a, const json::value& b) { return WhoOwns(a) < WhoOwns(b); });
    return out;
  }
  if (!value.is_string()) return value;
  const std::string text = ToText(value.get_string());
  if (key == "resourceVersion" && !text.empty() && text != "0")
    return json::value(of_list ? "<version>" : Numbered("rv", text));
  if (key == "continue" && !text.empty()) return json::value("<continue>");
  if (key == "cells" && IsAge(text)) return json::value("<age>");
  if (key == "cells" && IsDays(text)) return json::value("<days>");
  return json::value(Text(text));
}

json::object Normalizer::Of(const kube::Response& response) {
  json::object out;
  const absl::StatusOr<json::value> parsed = api::ParseJson(*response.body);
  const bool is_json = parsed.ok() && absl::StrContains(response.content_type, "json");
  out["body"] = is_json ? Walk(*parsed, "", false) : json::value(Text(*response.body));
  // The kinds of an API group with all their fields: schemas are compared elsewhere.
  if (parsed.ok() && parsed->is_object() && parsed->get_object().contains("openapi"))
    out["body"] = "<an OpenAPI document>";
  out["code"] = response.code;
  if (response.retry_after.has_value()) out["retry-after"] = absl::FormatDuration(*response.retry_after);
  out["type"] = response.content_type;
  json::array warnings;
  for (const std::string& warning : response.warnings) warnings.push_back(json::value(Text(warning)));
  if (!warnings.empty()) out["warnings"] = std::move(warnings);
  return out;
}

json::object Normalizer::Of(const kube::Frame& frame) {
  static constexpr const char* kNames[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};
  const absl::StatusOr<json::value> parsed = api::ParseJson(*frame.object);
  json::object out;
  const bool bookmark = frame.type == kube::FrameType::kBookmark;
  const json::value wrapped = parsed.ok() ? *parsed : json::value(*frame.object);
  if (bookmark && wrapped.is_object() && wrapped.get_object().contains("metadata")) {
    json::value told = wrapped;
    told.at("metadata").as_object()["resourceVersion"] = "0";  // everybody's writes count
    out[kNames[static_cast<int>(frame.type)]] = Walk(told, "", false);
    return out;
  }
  out[kNames[static_cast<int>(frame.type)]] = Walk(wrapped, "", false);
  return out;
}

}  // namespace gangway::testutil
