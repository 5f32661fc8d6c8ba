// What a thread costs.
#pragma once

#include "absl/time/time.h"

namespace gangway {

// Processor time that the calling thread has used: what else runs on the machine is not counted.
absl::Duration ThreadTime();

}  // namespace gangway
