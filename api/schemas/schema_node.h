// The precompiled form of a type. Internal to this room: strategic merge walks it too, others ask Check, Prune and so
// on.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "api/schemas/schemas.h"
#include "boost/json/value.hpp"

namespace gangway::schemas {

enum class Shape : std::uint8_t {
  kAny,     // anything
  kFree,    // an object of anything
  kObject,  // an object with known properties
  kMap,
  kList,
  kString,
  kBase64,
  kBool,
  kInt32,
  kInt64,
  kNumber,
  kQuantity,
  kIntOrString,
  kTime
};

struct SchemaProperty {
  std::string_view name;
  const SchemaNode* node = nullptr;
  bool required = false;
  bool is_status = false;  // of an object's top level: below, types count, rules do not
  const boost::json::value* default_value = nullptr;
  const boost::json::value* zero = nullptr;  // what Go writes where it is absent; null: nothing (go_fields.h)
  bool drops_zero = false;                   // Go does not write it when it is zero
};

// How the elements of a list are owned: all by one, or each by its keys or its value.
enum class ListType : std::uint8_t { kAtomic, kSet, kMap };

struct SchemaNode {
  Shape shape = Shape::kAny;
  bool custom = false;                     // wrong types are rule errors; rules are judged elsewhere
  bool pod_spec = false;                   // rules are api::core::CheckPodSpec's
  bool has_defaults = false;               // some property below has a default, or a quantity is to be made canonical
  std::vector<SchemaProperty> properties;  // kObject: sorted by name
  std::vector<std::uint64_t> beginnings;   // of their names, parallel: few look-ups read more (SortProperties)
  std::vector<std::string_view> required;  // kObject: sorted
  const SchemaNode* element = nullptr;     // kMap, kList
  std::vector<std::string_view> one_of;    // kString: the values allowed
  ListKeys keys;                           // kList
  ListType list_type = ListType::kAtomic;  // kList; x-kubernetes-list-type, else what the patch strategy implies
  std::vector<std::string_view> element_keys;  // of ListType::kMap, sorted
  bool atomic = false;                         // kObject, kMap, kFree: owned as a whole (x-kubernetes-map-type)
  bool keeps_unknown = false;                  // kObject: x-kubernetes-preserve-unknown-fields beside its properties
  bool nullable = false;                       // a null is a value
  bool has_zeros = false;                      // some property has a `zero`
  void (*derive_defaults)(boost::json::object& object) = nullptr;  // defaults that depend on other fields

  // Only once they are sorted; null: there is none.
  const SchemaProperty* Find(std::string_view name) const;
  void SortProperties();
};

}  // namespace gangway::schemas
