// Whether an API server's types are those that this program works with.
#pragma once

#include <string>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/string_view.h"
#include "api/kind.h"

namespace gangway::cmd {

// Paths of the fields that `ours` has and `theirs` has not ("spec.tasks[].partitionPolicy"), in alphabetical order, of
// two openAPIV3Schemas; of what is missing as a whole only the top. What `theirs` keeps although it does not know it is
// not missing.
std::vector<std::string> MissingFields(const boost::json::value& ours, const boost::json::value& theirs);

// Whether nothing of ours works without the type. Without the others some of our controllers have nothing to do.
bool IsNeeded(const api::KindRow& kind);

struct TypeReport {
  bool wrong = false;   // an error, not a note
  std::string finding;  // "": the server's definition has all that ours has
};
// `theirs` is the server's CustomResourceDefinition, null when there is none. With `strict` every type of Volcano must
// be there and have all fields of ours.
TypeReport CompareType(const api::KindRow& kind, const boost::json::value& theirs, bool strict);

}  // namespace gangway::cmd
