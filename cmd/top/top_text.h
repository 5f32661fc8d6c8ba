// What `gangway top` prints. Pure.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "cmd/dashboard/view/view.h"

namespace gangway::cmd {

// Queues, the gangs that wait and why, and the nodes by who holds them; ages as of `now`. Names and reasons are made
// printable.
std::string TopText(const dashboard::View& view, absl::Time now);

}  // namespace gangway::cmd
