// `gangway scheduler` and `gangway controller`: one component, its clients, its lease, its endpoints and its end.
#pragma once

#include "cmd/process/settings.h"

namespace gangway::cmd {

// Exit codes: 0 a signal ended it and it ended in order, 1 it could not start (a port is taken), 2 a setting or a file
// is wrong, 3 the lease was lost: a fresh process should start. A second signal ends it at once, with 128 and its
// number.
int RunProcess(ProcessKind kind, SettingSources sources);

}  // namespace gangway::cmd
