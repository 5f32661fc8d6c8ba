// A Job as the API server holds it.
#pragma once

#include "api/volcano/job.h"

namespace gangway::controller {

// A minAvailable that is absent is negative, so that it is not taken for a 0, which somebody wrote.
struct StoredJob : api::volcano::Job {
  StoredJob() { spec.min_available = -1; }
};
// No webhook need have filled it in, and a Job without minAvailable would be no gang. A 0 stays: the Job is to run
// without any of its pods.
api::volcano::Job FilledIn(const StoredJob& job);

}  // namespace gangway::controller
