// The list of requests and expected answers that every API server is held to: read from cases/*.yaml, one document a
// case. docs/testing.md says how a case is written.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "boost/json.hpp"

namespace gangway::testutil {

// One entry of a case's `steps`.
struct Step {
  std::string verb;             // GET POST PUT PATCH DELETE WATCH FRAMES END COMPACT AT-ONCE
  std::string target;           // the verb's value: a path, or the name of a watch
  int times = 0;                // AT-ONCE: how many requests
  std::vector<Step> each = {};  // AT-ONCE: the one request that they all are
  boost::json::object fields;   // the others; names and types have been checked
  std::string where;            // "create.yaml:12:5"
};

struct Case {
  std::string name;       // "CreateConflict"
  std::string file = {};  // that it stands in, without its end: "create"
  bool alone = false;     // what it does to the server concerns others: runs when nothing else does
  std::vector<Step> steps;
};

// All cases of a folder's *.yaml, files in order of their names. InvalidArgument names file and line: an unknown word,
// a name that stands twice.
absl::StatusOr<std::vector<Case>> LoadCases(const std::string& folder);

}  // namespace gangway::testutil
