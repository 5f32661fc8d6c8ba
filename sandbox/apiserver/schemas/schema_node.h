// The precompiled form of a type. Internal to this room: strategic merge walks it too, others ask Check, Prune and so on.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "boost/json/value.hpp"
#include "sandbox/apiserver/schemas/schemas.h"

namespace gangway::sandbox {

enum class Shape : std::uint8_t {
  kAny,     // anything
  kFree,    // an object of anything
  kObject,  // an object with known properties
  kMap, kList, kString, kBase64, kBool, kInt32, kInt64, kNumber, kQuantity, kIntOrString, kTime
};

struct SchemaProperty {
  std::string_view name;
  const SchemaNode* node = nullptr;
  bool required = false;
  bool is_status = false;  // of an object's top level: below, types count, rules do not
  const boost::json::value* default_value = nullptr;
};

struct SchemaNode {
  Shape shape = Shape::kAny;
  bool custom = false;                     // wrong types are rule errors; rules are judged elsewhere
  bool pod_spec = false;                   // rules are api::core::CheckPodSpec's
  bool has_defaults = false;               // some property below has a default, or a quantity is to be made canonical
  std::vector<SchemaProperty> properties;  // kObject: sorted by name
  std::vector<std::string_view> required;  // kObject: sorted
  const SchemaNode* element = nullptr;     // kMap, kList
  std::vector<std::string_view> one_of;    // kString: the values allowed
  ListKeys keys;                           // kList
  void (*derive_defaults)(boost::json::object& object) = nullptr;  // defaults that depend on other fields

  const SchemaProperty* Find(std::string_view name) const;
};

}  // namespace gangway::sandbox
