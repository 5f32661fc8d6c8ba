// `gangway crds`: the CustomResourceDefinitions of Volcano's types and, by name, of Paddle's, for kubectl.
#pragma once

#include <string>
#include <vector>

namespace gangway::cmd {

// Prints the definitions of these names, all of Volcano's when there are none, as a YAML stream. The exit code: 2 for a
// name there is not.
int PrintCrds(const std::vector<std::string>& names);

}  // namespace gangway::cmd
