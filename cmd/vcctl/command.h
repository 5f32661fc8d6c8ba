// The Command objects that vcctl makes (Volcano: pkg/cli/util). Pure.
#pragma once

#include "absl/strings/string_view.h"
#include "api/volcano/scheduling.h"

namespace gangway::cmd {

// `action` such as AbortJob. The job owns the command, so what nobody carried out goes with it.
api::volcano::Command JobCommandObject(const api::volcano::Job& job, absl::string_view action);
// Such as CloseQueue. A queue has no namespace; its commands are in `default`.
api::volcano::Command QueueCommandObject(const api::volcano::Queue& queue, absl::string_view action);

}  // namespace gangway::cmd
