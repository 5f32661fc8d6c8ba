#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace gangway::explain {

// Asked now and then: not OK when nobody waits for the answer any more.
using StillWanted = absl::FunctionRef<absl::Status()>;

// For those who always wait.
inline absl::Status AlwaysWanted() { return absl::OkStatus(); }

}  // namespace gangway::explain
