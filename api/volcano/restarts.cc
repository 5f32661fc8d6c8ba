#include "api/volcano/restarts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace gangway::api::volcano {

std::int32_t MostRestarts(std::int32_t max_retry) { return std::max(max_retry, 1) - 1; }

std::int32_t RestartsOf(std::int32_t retry_count, std::int32_t max_retry) {
  return std::clamp(retry_count, 0, MostRestarts(max_retry));
}

std::string RetryText(std::int32_t retry_count, std::int32_t max_retry) {
  if (retry_count > MostRestarts(max_retry)) return absl::StrCat("no restart left of maxRetry ", max_retry);
  return absl::StrCat("restart ", retry_count, " of ", MostRestarts(max_retry), " (maxRetry ", max_retry, ")");
}

}  // namespace gangway::api::volcano
