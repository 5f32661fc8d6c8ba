#include "tests/conformance/match.h"

#include <algorithm>
#include <regex>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "api/json_value.h"
#include "tests/conformance/text.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

// A regexp that cannot be read is like nothing.
bool IsLike(const std::string& text, const std::string& regexp) {
  try {
    return std::regex_search(text, std::regex(regexp));
  } catch (const std::regex_error&) {
    return false;
  }
}

class Matcher {
 public:
  explicit Matcher(std::vector<std::string>& out) : out_(out) {}

  void Visit(const json::value& pattern, const json::value* value, const std::string& path) {
    if (pattern.is_object() && pattern.get_object().size() == 1 &&
        pattern.get_object().begin()->key().starts_with("$")) {
      const json::key_value_pair& matcher = *pattern.get_object().begin();
      return Special({matcher.key().data(), matcher.key().size()}, matcher.value(), value, path);
    }
    if (pattern.is_null()) {
      if (value != nullptr && !value->is_null()) Say(path, "should be absent", value);
    } else if (value == nullptr) {
      Say(path, absl::StrCat("should be ", api::ToJson(pattern)), value);
    } else if (pattern.is_object() && value->is_object()) {
      for (const json::key_value_pair& member : pattern.get_object()) {
        Visit(member.value(), value->get_object().if_contains(member.key()),
              absl::StrCat(path, "/", absl::string_view(member.key().data(), member.key().size())));
      }
    } else if (pattern.is_array() && value->is_array()) {
      Elements(pattern.get_array(), *value, path);
    } else if (!Equal(pattern, *value)) {
      Say(path, absl::StrCat("should be ", api::ToJson(pattern)), value);
    }
  }

 private:
  static bool Equal(const json::value& a, const json::value& b) {
    return a == b || (a.is_number() && b.is_number() && a.to_number<double>() == b.to_number<double>());
  }
  static bool Matches(const json::value& pattern, const json::value& value) {
    return Differences(pattern, &value).empty();
  }

  void Say(const std::string& path, absl::string_view what, const json::value* value) {
    out_.push_back(absl::StrCat(path.empty() ? "/" : path, ": ", what, ", is ",
                                value == nullptr ? "absent" : api::ToJson(*value)));
  }

  void Elements(const json::array& patterns, const json::value& value, const std::string& path) {
    const json::array& elements = value.get_array();
    if (patterns.size() != elements.size())
      return Say(path, absl::StrCat("should have ", patterns.size(), " elements"), &value);
    for (std::size_t i = 0; i < patterns.size(); ++i) Visit(patterns[i], &elements[i], absl::StrCat(path, "/", i));
  }

  // A pattern may take an element once.
  void InAnyOrder(const json::array& patterns, const json::array& elements, const std::string& path) {
    std::vector<bool> taken(elements.size());
    for (const json::value& pattern : patterns) {
      std::size_t i = 0;
      while (i < elements.size() && (taken[i] || !Matches(pattern, elements[i]))) ++i;
      if (i == elements.size()) {
        const json::value all(elements);
        return Say(path, absl::StrCat("should have ", api::ToJson(pattern)), &all);
      }
      taken[i] = true;
    }
  }

  void Special(absl::string_view name, const json::value& argument, const json::value* value, const std::string& path) {
    const bool there = value != nullptr && !value->is_null();
    if (name == "$not") {
      if (Differences(argument, value).empty()) Say(path, absl::StrCat("should not be ", api::ToJson(argument)), value);
    } else if (!there) {
      Say(path, absl::StrCat("should be there (", name, ")"), value);
    } else if (name == "$exactly") {
      if (*value != argument) Say(path, absl::StrCat("should be exactly ", api::ToJson(argument)), value);
    } else if (name == "$size") {
      const std::size_t size = value->is_array()    ? value->get_array().size()
                               : value->is_object() ? value->get_object().size()
                                                    : 0;
      if (json::value(static_cast<std::int64_t>(size)) != argument)
        Say(path, absl::StrCat("should have ", api::ToJson(argument)), value);
    } else if (name == "$like") {
      const bool like = value->is_string() && IsLike(ToText(value->get_string()), ToText(argument.get_string()));
      if (!like) Say(path, absl::StrCat("should be like ", api::ToJson(argument)), value);
    } else if (name == "$contains" && argument.is_string()) {
      if (!value->is_string() || !absl::StrContains(ToText(value->get_string()), ToText(argument.get_string()))) {
        Say(path, absl::StrCat("should contain ", api::ToJson(argument)), value);
      }
    } else if ((name == "$contains" || name == "$among") && argument.is_array() && value->is_array()) {
      if (name == "$among" && argument.get_array().size() != value->get_array().size()) {
        return Say(path, absl::StrCat("should have ", argument.get_array().size(), " elements"), value);
      }
      InAnyOrder(argument.get_array(), value->get_array(), path);
    } else if (name != "$any") {
      Say(path, absl::StrCat("cannot be judged by ", name), value);
    }
  }

  std::vector<std::string>& out_;
};

}  // namespace

std::vector<std::string> Differences(const json::value& pattern, const json::value* value) {
  std::vector<std::string> out;
  Matcher(out).Visit(pattern, value, "");
  return out;
}

}  // namespace gangway::testutil
