// The field tables of the kinds of this folder, compiled here alone.
#include "api/paddle/paddle_job.h"

template struct gangway::api::internal::TypeFor<gangway::api::paddle::PaddleJob>;
template struct gangway::api::internal::TypeFor<gangway::api::paddle::kubeflow::PaddleJob>;
