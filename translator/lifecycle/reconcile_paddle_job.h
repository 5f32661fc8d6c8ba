// What becomes of a PaddleJob: the whole lifecycle as one function, for both dialects (docs/paddlejob-lifecycle.md).
//
//   what the dialects have in common (wanted.h) -> what is to be done: create, replace, patch, command
//   (reconcile_paddle_job.cc)
//   -> counts, phase, message, conditions (progress.h) -> the dialect's own status (paddle_status.h, kubeflow_status.h)
//
// A PaddleJob becomes a Job of its name, and what that needs before it. The Job carries annotations of ours (record.h)
// that say of which spec it was made, so that an edit is noticed after a restart, and a new release of ours that would
// translate otherwise replaces nothing. A Job is never changed where its pods know each other by env: it is replaced,
// which begins with a status that says so and counts it, and goes on when the old Job, its pods and their Service are
// gone.
//
// What is not ours is left alone: jobs with another manager, jobs that had ended before we saw them, and jobs whose
// pods another controller makes.
#pragma once

#include "absl/time/time.h"
#include "kube/plan/plan.h"
#include "translator/lifecycle/paddle_job_view.h"

namespace gangway::paddle_lifecycle {

// Pure: the same view gives the same plan. Events come with the status that explains them, except where another
// controller writes it.
kube::Plan ReconcilePaddleJob(const PaddleJobView& seen, absl::Time now);

}  // namespace gangway::paddle_lifecycle
