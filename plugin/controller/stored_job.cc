#include "plugin/controller/stored_job.h"

#include <algorithm>

#include "api/volcano/defaults.h"

namespace gangway::controller {

api::volcano::Job FilledIn(const StoredJob& stored) {
  api::volcano::Job job = stored;
  const bool none = job.spec.min_available == 0;
  job.spec.min_available = std::max(job.spec.min_available, 0);
  api::volcano::ApplyDefaults(job);
  if (none) job.spec.min_available = 0;
  return job;
}

}  // namespace gangway::controller
