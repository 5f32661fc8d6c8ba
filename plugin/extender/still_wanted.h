#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace gangway::extender {

// Asked now and then: not OK when nobody waits for the answer any more.
using StillWanted = absl::FunctionRef<absl::Status()>;

}  // namespace gangway::extender
