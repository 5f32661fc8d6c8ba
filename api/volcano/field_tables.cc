// The field tables of the kinds of this folder, compiled here alone.
#include "api/volcano/cron_job.h"
#include "api/volcano/flow.h"
#include "api/volcano/hyper_node.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"

template struct gangway::api::internal::TypeFor<gangway::api::volcano::CronJob>;
template struct gangway::api::internal::TypeFor<gangway::api::volcano::JobFlow>;
template struct gangway::api::internal::TypeFor<gangway::api::volcano::JobTemplate>;
template struct gangway::api::internal::TypeFor<gangway::api::volcano::HyperNode>;
template struct gangway::api::internal::TypeFor<gangway::api::volcano::Job>;
template struct gangway::api::internal::TypeFor<gangway::api::volcano::PodGroup>;
template struct gangway::api::internal::TypeFor<gangway::api::volcano::Queue>;
template struct gangway::api::internal::TypeFor<gangway::api::volcano::Command>;
