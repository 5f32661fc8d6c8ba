// Sessions as large as one likes, of what the real scheduler sent: tests/golden/extender/onSessionOpen-large.
#pragma once

#include <string>

namespace gangway::bench {

// Gangs of 50 pods of 1 cpu on nodes of 32; each pod stands in the body as often as in a recorded one. `running` and
// `pending` are multiples of 50.
std::string SessionBody(int nodes, int running, int pending);

}  // namespace gangway::bench
