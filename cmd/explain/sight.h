// What `gangway explain` reads of a cluster: the objects that the scheduler reads, as its facts, and whom the user
// named.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/resource.h"
#include "api/volcano/job.h"
#include "cmd/caller/api_caller.h"
#include "plugin/explain/cluster_facts.h"
#include "plugin/phrases/words.h"

namespace gangway::cmd {

enum class TargetKind : std::uint8_t { kJob, kPodGroup, kPod, kQueue };

struct Target {
  TargetKind kind = TargetKind::kJob;
  std::string subject;                       // "job default/ctr"
  explain::GangKey gang;                     // of a queue: only its name
  bool any_kind = false;                     // a PodGroup of whichever kind has that name
  std::string scheduler_name;                // what the object says; "": nothing
  Words prelude;                             // a line on the pod itself
  std::vector<model::PodFacts> wanted_pods;  // all that the Job's controller wants to be there; none of other kinds
};

// NotFound, or FailedPrecondition when it belongs to no gang, with what to do. `group`: of a PodGroup, which kind is
// meant.
absl::StatusOr<Target> FindTarget(ApiCaller& caller, TargetKind kind, std::optional<model::GangKind> group,
                                  const std::string& ns, const std::string& name, absl::string_view scheduler_name);

struct ExplainSight {
  explain::ClusterFacts facts;
  std::map<std::string, model::NamedAmounts> deserved;  // by queue: our scheduler does not ask for it
  std::vector<std::string> not_seen;  // a line each: kinds without which the rest can still be explained
};

// All objects of a kind, each as JSON; NotFound: the kind is not served.
using ListObjects = std::function<absl::StatusOr<std::vector<std::string>>(const api::Resource&)>;
// Each kind as the scheduler reads it; `scheduler_name`: whose pods are placed.
absl::StatusOr<ExplainSight> ReadCluster(ListObjects list, absl::string_view scheduler_name);

// What the Job's controller makes, in the PodGroup of that name: while it keeps pods, all of them.
absl::StatusOr<std::vector<model::PodFacts>> WantedPods(const api::volcano::Job& job, const std::string& group,
                                                        absl::string_view scheduler_name);

// Those of the pods that are wanted and not there.
std::vector<model::PodFacts> NotMadeYet(const std::vector<model::PodFacts>& wanted, const explain::ClusterFacts& facts);

}  // namespace gangway::cmd
