// What of an object would keep pods waiting for good, for those who look before there are pods: fields that our
// scheduler does not know, and claims that cannot serve so many pods; and what of queues and HyperNodes it cannot read.
// Pure.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "api/core/pod.h"
#include "api/core/pod_groups.h"
#include "api/resource.h"
#include "api/volcano/cron_job.h"
#include "api/volcano/flow.h"
#include "api/volcano/hyper_node.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"

namespace gangway::ingest {

struct Foresight {
  std::string field;  // "spec.tasks[0].template.spec.resourceClaims[gpu]"
  std::string what;   // a sentence that goes with it
  // "spec...: gangway's scheduler does not know it: ..."
  std::string ToString() const;
  friend bool operator==(const Foresight&, const Foresight&) = default;
};

// Of a Job only when its pods are the scheduler's of that name. At most kMaxForesights, of the first kMaxTasksLookedAt
// tasks.
inline constexpr std::size_t kMaxForesights = 10, kMaxTasksLookedAt = 100;
std::vector<Foresight> Foresee(const api::volcano::Job& job, absl::string_view scheduler_name = "volcano");
std::vector<Foresight> Foresee(const api::volcano::CronJob& cron_job);
std::vector<Foresight> Foresee(const api::volcano::JobTemplate& job_template);
// When the scheduler named volcano is to place it.
std::vector<Foresight> Foresee(const api::core::Pod& pod);
std::vector<Foresight> Foresee(const api::volcano::PodGroup& group);
std::vector<Foresight> Foresee(const api::volcano::Queue& queue);
// Whose pods are its scheduler's to place.
std::vector<Foresight> Foresee(const api::core::KubernetesPodGroup& group);
// Of one for itself.
std::vector<Foresight> Foresee(const api::volcano::HyperNode& hyper_node);
// Of several that are members of each other: whose member leads round, by name, and the way.
std::vector<std::pair<std::string, Foresight>> ForeseeCycles(const std::vector<api::volcano::HyperNode>& hyper_nodes);
// Of the object of that kind, whichever it is, also of those of Kubernetes' that make pods; nothing of one that does
// not decode, which is refused elsewhere.
std::vector<Foresight> ForeseeIn(const api::Resource& resource, absl::string_view json);

}  // namespace gangway::ingest
