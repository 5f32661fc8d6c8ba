// Puts one case to one server.
#pragma once

#include <string>

#include "boost/json.hpp"
#include "tests/conformance/case.h"
#include "tests/conformance/server.h"

namespace gangway::testutil {

struct CaseOutcome {
  std::string wrong;  // "" when every answer was as expected; else which step differed, and how
  boost::json::array
      seen;  // what came, normalised (normal.h): each answer, the frames that were waited for, ends of watches
};

// The case gets the namespace `ns`, which is made first and begins the names of what it makes outside of namespaces.
CaseOutcome RunCase(const Case& c, Server& server, const std::string& ns);

}  // namespace gangway::testutil
