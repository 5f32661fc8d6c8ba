// What our scheduler writes on a Queue beside its status, which has no fields for it.
#pragma once

#include "absl/strings/string_view.h"

namespace gangway::api::volcano {

// What it held of late: `2026-09-21T10:00:00Z cpu=12.5 nvidia.com/gpu=37.25`, the time and what was held on average
// until then, as Kubernetes counts it.
inline constexpr absl::string_view kUsageAnnotation = "gangway.io/usage";
// What it deserves, with the queues below it, of what it holds or asks more of: `cpu=12 nvidia.com/gpu=14`.
inline constexpr absl::string_view kDeservedAnnotation = "gangway.io/deserved";

}  // namespace gangway::api::volcano
