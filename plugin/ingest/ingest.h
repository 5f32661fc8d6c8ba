// API objects as facts of the model. Pure.
#pragma once

#include "absl/strings/string_view.h"
#include "api/core/node.h"
#include "api/core/objects.h"
#include "api/core/pod.h"
#include "api/volcano/scheduling.h"
#include "plugin/model/facts.h"

namespace gangway::ingest {

inline constexpr absl::string_view kGroupNameAnnotation = "scheduling.k8s.io/group-name";
inline constexpr absl::string_view kTaskAnnotation = "volcano.sh/task-spec";
inline constexpr absl::string_view kTaskPriorityAnnotation = "volcano.sh/task-priority";

// `scheduler_name`: the pods we place. Of a pod that is bound only what it takes is told.
//
// A claim of a volume is accepted as it is: the scheduler does not see claims, so one that is not bound yet (class with
// WaitForFirstConsumer) or that is bound to a zone is not waited for.
model::PodFacts PodFactsOf(const api::core::Pod& pod, absl::string_view scheduler_name);
model::NodeFacts NodeFactsOf(const api::core::Node& node);
model::GangFacts GangFactsOf(const api::volcano::PodGroup& group);
model::QueueFacts QueueFactsOf(const api::volcano::Queue& queue);
model::PriorityClassFacts PriorityClassFactsOf(const api::core::PriorityClass& object);

}  // namespace gangway::ingest
