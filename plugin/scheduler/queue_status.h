// What a Queue's status says of the pods placed in it and in the queues below (Volcano: pkg/controllers/queue;
// recording queue-states).
#pragma once

#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "api/meta.h"
#include "plugin/model/cluster.h"

namespace gangway::scheduler {

// By queue, for every queue that pods hold room in and those above it.
std::map<std::string, api::ResourceList> AllocatedByQueue(const model::Cluster& cluster);

// cpu and memory always, anything else while there is some of it.
api::ResourceList AllocatedList(const model::Resources& held, const model::Dims& dims);

// The merge patch of the status; "" when both say the same. It says all that is wanted: `is` may be out of date.
std::string AllocatedPatch(const api::ResourceList& is, const api::ResourceList& wanted);

}  // namespace gangway::scheduler
