#include "base/thread_time.h"

#include <ctime>

#include "base/check.h"

namespace gangway {

absl::Duration ThreadTime() {
  std::timespec time{};
  GW_CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0);
  return absl::DurationFromTimespec(time);
}

}  // namespace gangway
