// What an API server calls the two kinds of PaddleJob (their CRDs in paddle-operator 0.3.5 and
// kubeflow/training-operator 1.9): the same kind and plural in two groups.
#pragma once

#include "api/resource.h"

namespace gangway::api::paddle {

// Compare by address, as those of api/resource.h.
inline constexpr Resource kPaddleJobs{
    "batch.paddlepaddle.org", "v1", "paddlejobs", "paddlejob", "PaddleJob", true, "pdj"};

namespace kubeflow {

inline constexpr Resource kPaddleJobs{"kubeflow.org", "v1", "paddlejobs", "paddlejob", "PaddleJob"};

}  // namespace kubeflow
}  // namespace gangway::api::paddle
