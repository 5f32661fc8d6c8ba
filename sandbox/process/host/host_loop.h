// The container host at work: carries out orders that come over a socket and sends news back, until the socket ends.
#pragma once

#include <string>

#include "sandbox/process/orders.h"

namespace gangway::sandbox {

// Runs as process 1 of a process namespace, with one thread: when it ends, for whatever reason, the kernel ends
// everything in there. `socket` has to be a stream; both ends are ours.
void RunHostLoop(int socket, const HostSetup& setup);

// A folder and all below it, as far as it lets us.
void RemoveTree(const std::string& folder);

}  // namespace gangway::sandbox
