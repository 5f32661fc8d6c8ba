// How Kubernetes' Go types write their fields, where that is more than the published OpenAPI says: what a Go program
// drops when it is zero and what it writes even then. Field ownership (sandbox/apiserver/apply) sees objects as Go
// writes them.
#pragma once

#include <span>
#include <string_view>

namespace gangway::schemas {

// `fields` are names, each followed by one character, with blanks between them:
//   -  dropped when it is zero: "", 0, false, an empty list or map
//   =  an object that is written as {} when nothing is in it
//   ?  written as null, $ as "", ! as false, # as 0, % as "0"
// Fields that are not named are absent or what they were set to.
struct GoFields {
  std::string_view definition;  // "io.k8s.api.core.v1.Pod"
  std::string_view fields;
};

// Sorted by definition.
std::span<const GoFields> AllGoFields();

}  // namespace gangway::schemas
