// Which of Volcano's Jobs an object belongs to.
#pragma once

#include "api/meta.h"
#include "api/resource.h"

namespace gangway::api::volcano {

// The Job that controls an object; nullptr when something else does, or nothing.
inline const OwnerReference* ControllingJob(const ObjectMeta& metadata) {
  const OwnerReference* const owner = metadata.Controller();
  const bool is_job = owner != nullptr && owner->kind == kJobs.kind && owner->api_version == kJobs.ApiVersion();
  return is_job ? owner : nullptr;
}

}  // namespace gangway::api::volcano
