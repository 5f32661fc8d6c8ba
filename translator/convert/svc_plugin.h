// The flags that translated Jobs give Volcano's job plugin svc, which names their pods (docs/paddlejob.md).
#pragma once

#include <string>
#include <vector>

#include "translator/convert/options.h"

namespace gangway::convert {

// Pods find each other before they are ready, since they wait for each other; and, as with paddle-operator, everybody
// may reach them unless `network_policy`. Host lists in the env are turned off where the release can: an older one
// would not read flags after one it does not know, so that it stands last.
inline std::vector<std::string> SvcArguments(bool network_policy, const TranslateOptions& options) {
  std::vector<std::string> out{"--publish-not-ready-addresses=true",
                               network_policy ? "--disable-network-policy=false" : "--disable-network-policy=true"};
  if (options.target == Target::kVolcano && options.volcano >= VolcanoVersion{1, 16})
    out.emplace_back("--inject-hosts-env=false");
  return out;
}

}  // namespace gangway::convert
