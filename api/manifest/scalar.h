// What a plain scalar of YAML means to Kubernetes.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace gangway::api::manifest {

enum class ScalarType : std::uint8_t { kString, kNull, kBool, kInt, kFloat, kNotFinite };

struct Scalar {
  ScalarType type = ScalarType::kString;
  std::string text;  // kString: as written; kNotFinite: empty; else the JSON literal
};

// The rules of sigs.k8s.io/yaml (goyaml.v2, resolve.go): YAML 1.1's words for true and false; 0x, 0o, 0b and a leading
// zero; underscores within numbers; a number that fits no 64 bits is a float, and one that fits no float a string.
Scalar ResolveScalar(absl::string_view text);

}  // namespace gangway::api::manifest
