// Volcano's types as its releases ship them (tests/golden/volcano/types), to be put into an API server in place of
// ours.
#pragma once

#include <string>
#include <vector>

namespace gangway::testutil {

// Those that are here, the oldest first: "1.10".
std::vector<std::string> VolcanoReleases();

// Its CustomResourceDefinitions as one manifest. Pod templates are anything in them.
std::string VolcanoTypes(const std::string& release);

}  // namespace gangway::testutil
