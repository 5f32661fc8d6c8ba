// What the walks of this room ask about a node of a type. Internal.
#pragma once

#include <optional>

#include "absl/strings/string_view.h"
#include "api/schemas/schema_node.h"
#include "boost/json.hpp"
#include "sandbox/apiserver/apply/path_element.h"

namespace gangway::sandbox::apply {

// What a value is to its owners.
enum class Atom : std::uint8_t {
  kLeaf,  // a scalar, or a map or list that is owned as a whole
  kMap,   // each field by itself
  kList,  // each element by itself
};

bool IsMapShape(const schemas::SchemaNode& node);
// `value` matters where the type says nothing; null counts as a map there.
Atom AtomOf(const schemas::SchemaNode& node, const boost::json::value& value);

// The type of a member; nullptr when there is none of that name.
const schemas::SchemaNode* MemberNode(const schemas::SchemaNode& node, absl::string_view name);
bool IsProperty(const schemas::SchemaNode& node, absl::string_view name);

// Null, false, 0, "" or nothing in it.
bool IsZero(const boost::json::value& value);

// The step to one element of a list that is no leaf; nullopt when it has none: no keys, or nothing that a set can hold.
std::optional<PathElement> StepOf(const schemas::SchemaNode& list, const boost::json::value& element);

inline absl::string_view KeyOf(const boost::json::key_value_pair& member) {
  return {member.key().data(), member.key().size()};
}

}  // namespace gangway::sandbox::apply
