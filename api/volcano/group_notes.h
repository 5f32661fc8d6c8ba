// What our controller writes on a Job's PodGroup beside its spec, which has no fields for it.
#pragma once

#include "absl/strings/string_view.h"

namespace gangway::api::volcano {

// The Job's spec.schedulerName, so that a scheduler of another name leaves the group alone while it has no pods.
inline constexpr absl::string_view kSchedulerNameAnnotation = "gangway.io/scheduler-name";

}  // namespace gangway::api::volcano
