// Cases that say the same of many things: a document `table: NAME` lists rows of words, and a case with `for: NAME` is
// one case for each row.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "boost/json.hpp"

namespace gangway::testutil {

struct Row {
  std::string name;           // "Pod": the word <kind>
  boost::json::object words;  // {"path": "pods", ...}: the word <path>
};
using Tables = std::map<std::string, std::vector<Row>>;

// {table: NAME, rows: {Pod: {path: pods, ...}, ...}}. InvalidArgument: it is something else.
absl::Status AddTable(const boost::json::object& document, Tables& tables);

// The case for each of its rows: those of the table `for`, without `but` or `only` those named. A case without `for` is
// itself.
absl::StatusOr<std::vector<boost::json::object>> CasesOf(const boost::json::object& document, const Tables& tables);

// A text that is one of the row's words becomes its value, whatever that is; within longer texts words of text are put
// in. A member that is called like a word becomes the members of its value. Words that the row does not have stay.
boost::json::value WithWords(const boost::json::value& in, const Row& row);

}  // namespace gangway::testutil
