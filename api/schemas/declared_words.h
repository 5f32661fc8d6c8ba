// The words of a schema as a definition writes it, read from its JSON.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include <re2/re2.h>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "api/json_value.h"
#include "boost/json.hpp"

namespace gangway::schemas::declared {

namespace json = boost::json;
using api::AbslView;
using api::JsonView;

inline constexpr std::size_t kMaxErrors = 50;     // that are told of one schema, or object
inline constexpr std::size_t kMaxPattern = 4096;  // bytes

inline const json::value* Member(const json::object& object, absl::string_view name) {
  return object.if_contains(JsonView(name));
}
inline absl::string_view TextOf(const json::object& object, absl::string_view name) {
  const json::value* const value = Member(object, name);
  return value != nullptr && value->is_string() ? AbslView(value->get_string()) : absl::string_view();
}
inline bool FlagOf(const json::object& object, absl::string_view name) {
  const json::value* const value = Member(object, name);
  return value != nullptr && value->is_bool() && value->get_bool();
}
inline const json::object* ObjectOf(const json::object& object, absl::string_view name) {
  const json::value* const value = Member(object, name);
  return value == nullptr ? nullptr : value->if_object();
}
inline const json::array* ListOf(const json::object& object, absl::string_view name) {
  const json::value* const value = Member(object, name);
  return value == nullptr ? nullptr : value->if_array();
}
inline std::optional<double> NumberOf(const json::object& object, absl::string_view name) {
  const json::value* const value = Member(object, name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->to_number<double>();
}

inline std::string JsonText(absl::string_view text) { return api::ToJson(json::value(JsonView(text))); }

// Calls `visit` with each schema below: properties, items, additional properties, and those that only judge.
template <class Visit>
void ForEachBelow(const json::object& schema, Visit visit) {
  if (const json::object* const properties = ObjectOf(schema, "properties")) {
    for (const auto& member : *properties) visit(member.value());
  }
  for (const absl::string_view name : {"items", "additionalProperties", "not"}) {
    if (const json::value* const below = Member(schema, name)) visit(*below);
  }
  for (const absl::string_view name : {"allOf", "anyOf", "oneOf"}) {
    if (const json::array* const list = ListOf(schema, name)) {
      for (const json::value& below : *list) visit(below);
    }
  }
}

// nullptr: it is too long, or none of Go's regular expressions.
std::shared_ptr<const re2::RE2> CompilePattern(absl::string_view pattern);

using Patterns = absl::flat_hash_map<std::string, std::shared_ptr<const re2::RE2>>;
// Those of the schema and of all below it.
void CollectPatterns(const json::value& schema, Patterns& out);

}  // namespace gangway::schemas::declared
