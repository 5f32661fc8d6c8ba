// What a pod asks of its node, and the field that asks for more than the scheduler knows.
#pragma once

#include "api/core/pod.h"
#include "plugin/model/facts.h"

namespace gangway::ingest {

// Everything, for a pod that waits for a node.
model::Wants WantsOf(const api::core::PodSpec& spec);
// Only what it takes of its node, for a pod that has one.
model::Wants HoldsOf(const api::core::PodSpec& spec);

}  // namespace gangway::ingest
