// The queues that every cluster has: whoever runs first, the scheduler or the controllers, makes them.
#pragma once

#include <array>
#include <string_view>

#include "api/volcano/defaults.h"
#include "api/volcano/scheduling.h"

namespace gangway::api::volcano {

inline constexpr std::array kOwnQueues{kRootQueue, kDefaultQueue};

// `name`: one of those.
Queue OwnQueue(std::string_view name);

}  // namespace gangway::api::volcano
