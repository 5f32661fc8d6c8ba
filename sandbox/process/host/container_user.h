// As whom a container runs.
#pragma once

#include "absl/status/status.h"
#include "sandbox/process/orders.h"

namespace gangway::sandbox {

// Of the calling process, for good; the names of users and groups are those that it sees.
absl::Status BecomeUser(const UserOrder& user);

}  // namespace gangway::sandbox
