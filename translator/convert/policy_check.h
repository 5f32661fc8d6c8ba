// Policies in a Volcano Job that somebody wrote, or added to a translated one, and that harm the training it runs
// (docs/paddlejob.md).
#pragma once

#include "api/volcano/job.h"
#include "translator/convert/codes.h"

namespace gangway::convert {

// W-POLICY: workers of Paddle's elastic training may come and go, so nothing may happen to the whole job when one is
// evicted. Volcano takes a pod that a smaller number of replicas removes for evicted, too. Elastic is a task whose env
// names an etcd, as PADDLE_MASTER or, for Paddle before 2.3, as PADDLE_ELASTIC_SERVER. Pure; templates may be any JSON.
Findings CheckPolicies(const api::volcano::Job& job);

}  // namespace gangway::convert
