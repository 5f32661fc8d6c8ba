// The precompiled form of a type. Internal to this room: strategic merge walks it too, others ask Check, Prune and so on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "boost/json/value.hpp"
#include "sandbox/apiserver/schemas/schemas.h"

namespace gangway::sandbox {

enum class Shape : std::uint8_t {
  kAny,          // anything
  kFree,         // an object of anything
  kObject,       // an object with known properties
  kMap, kList, kString, kBase64, kBool, kInt32, kInt64, kNumber, kQuantity, kIntOrString, kTime
};

// A named text pattern; `matches` does what `regex` says.
struct TextPattern {
  std::string_view name, regex;
  bool (*matches)(std::string_view text);
};
const TextPattern* FindTextPattern(std::string_view name);
// The pattern of a quantity, as CRDs spell it.
extern const TextPattern kQuantityPattern;

struct SchemaRules {
  std::vector<std::string_view> one_of;
  std::optional<std::int64_t> minimum, maximum, min_length, max_length, min_items;
  const TextPattern* pattern = nullptr;
};

struct SchemaProperty {
  std::string_view name;
  const SchemaNode* node = nullptr;
  bool required = false;
  bool judged = true;  // false below status: types count there, rules do not
  const boost::json::value* default_value = nullptr;
};

struct SchemaNode {
  Shape shape = Shape::kAny;
  bool custom = false;                          // of a custom type, so wrong types are rule errors
  std::uint16_t required_count = 0;
  std::vector<SchemaProperty> properties;       // kObject: sorted by name
  const SchemaNode* element = nullptr;          // kMap, kList
  const SchemaRules* rules = nullptr;
  const ListKeys* keys = nullptr;               // kList, when its elements can be told apart
  void (*derive_defaults)(boost::json::object& object) = nullptr;  // defaults that depend on other fields

  const SchemaProperty* Find(std::string_view name) const;
};

}  // namespace gangway::sandbox
