// `gangway extender --mode steer|full` beside a scheduler that does as Volcano's, whose sessions tell what stands in an
// API server at that moment, and which writes there what comes of them. HyperNodes are in no session: the extender
// watches them.
#pragma once

#include <string>

#include "plugin/extender/verbs/verb.h"
#include "tests/cmd/gangway/light_story.h"

namespace gangway::testutil {

// Two nodes in one rack and four in another, on which one of two gangs has room at a time, four pods anywhere or three
// that must lie in a rack, and a third never has. Each of the two is bound whole when it has room, and in its rack; no
// other is ever bound in part; the third is not let in. In mode `full` one comes that goes before them, and has all
// nodes in the end. The API server has the nodes node-000.. of 16 cpu, 64Gi; nothing runs there but what this binds.
void TellOfSessions(const CallApi& call, const std::string& kubeconfig, extender::Mode mode);

}  // namespace gangway::testutil
