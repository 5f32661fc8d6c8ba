// How a pod failed, under this room's names.
#pragma once

#include "api/volcano/pod_failure.h"

namespace gangway::lifecycle {

using api::volcano::Describe;
using api::volcano::FailureOf;
using api::volcano::LastLine;
using api::volcano::PodFailure;
using api::volcano::ReasonText;
using api::volcano::TailOf;

}  // namespace gangway::lifecycle
