// What Kubernetes fills into core objects (pkg/apis/*/v1/defaults.go): the part that users see and components rely on.
#pragma once

#include <span>
#include <string_view>

#include "boost/json/fwd.hpp"

namespace gangway::schemas {

struct CoreDefault {
  std::string_view definition;  // "core.v1.PodSpec", below io.k8s.api or the like
  std::string_view property;
  std::string_view json;
};
std::span<const CoreDefault> CoreDefaults();

// The defaults of a definition that depend on other fields of the object; nullptr: none.
using DeriveDefaults = void (*)(boost::json::object& object);
DeriveDefaults DerivedDefaultsOf(std::string_view definition);

}  // namespace gangway::schemas
