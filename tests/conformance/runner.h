// Puts one case to one server.
#pragma once

#include <string>

#include "tests/conformance/case.h"
#include "tests/conformance/server.h"

namespace gangway::testutil {

// "" when every answer was as expected; else which step differed, and how. The case gets the namespace `ns`, which is made
// first and begins the names of what it makes outside of namespaces.
std::string RunCase(const Case& c, Server& server, const std::string& ns);

}  // namespace gangway::testutil
