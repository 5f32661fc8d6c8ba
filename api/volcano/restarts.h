// Restarts in a user's words. Volcano's maxRetry counts runs: the last retry that is counted is the end of the job, not
// a restart.
#pragma once

#include <cstdint>
#include <string>

namespace gangway::api::volcano {

// How often a job of so many counted retries has started again, at most maxRetry - 1 times.
std::int32_t RestartsOf(std::int32_t retry_count, std::int32_t max_retry);
// How often it may.
std::int32_t MostRestarts(std::int32_t max_retry);

// What a retry that was just counted means: "restart 1 of 2 (maxRetry 3)", "no restart left of maxRetry 3".
std::string RetryText(std::int32_t retry_count, std::int32_t max_retry);

}  // namespace gangway::api::volcano
