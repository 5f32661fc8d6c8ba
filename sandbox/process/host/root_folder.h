// What a container sees as /: a folder of the machine, or all of the machine, with everything that the container writes
// there kept apart in its scratch folder; its own /proc, /dev, /tmp and /run; its mounts.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "sandbox/process/orders.h"

namespace gangway::sandbox {

// Of the calling process, which has a mount namespace and a process namespace of its own. After an error it is good for
// nothing but to end.
absl::Status EnterRootFolder(const StartOrder& order);

// mkdir -p; "" is there.
absl::Status MakeFolders(const std::string& path);

}  // namespace gangway::sandbox
