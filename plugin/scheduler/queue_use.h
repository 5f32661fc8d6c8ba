// What queues held of late: an average over time, in which what was held a half-life ago counts half as much as what is
// held now (slurm: PriorityDecayHalfLife). It lowers what queues deserve by weight (plugin/gang/shares.h).
//
// It stands in an annotation of each queue, so that the next scheduler goes on from there: it takes what is held then
// as held since the annotation was written. In: the cluster, queues, and the time. Out: what is set in the cluster, and
// what to write. Used on the scheduler's loop.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/volcano/scheduling.h"
#include "kube/plan/plan.h"
#include "plugin/model/cluster.h"

namespace gangway::scheduler {

// Value: `2026-09-21T10:00:00Z cpu=12.5 nvidia.com/gpu=37.25`, the time and what was held on average until then, as
// Kubernetes counts it.
inline constexpr absl::string_view kUsageAnnotation = "gangway.io/usage";

struct Use {
  absl::Time as_of;
  std::map<std::string, double> held;  // by resource
  friend bool operator==(const Use&, const Use&) = default;
};

// Of one that held so much from `use.as_of` to `now`, which is not before.
Use UseAt(const Use& use, const std::map<std::string, double>& held, absl::Duration half_life, absl::Time now);

std::string FormatUse(const Use& use);
// nullopt: it does not read.
std::optional<Use> ParseUse(absl::string_view text);

class QueueUse {
 public:
  // It is shown like this; nullptr: there is none any more. What is known already goes before what it says.
  void Seen(const std::string& name, const api::volcano::Queue* queue);
  // Another scheduler decided until now: what queues say counts.
  void Forget();
  // What was held last was held until now. Sets what counts in the cluster: without a half-life nothing.
  void Advance(model::Cluster& cluster, std::optional<absl::Duration> half_life, absl::Time now);
  // The annotation, where the queue holds something else than when it was written, a minute ago or longer; one that
  // says a time to come is written over.
  kube::Plan PlanFor(const std::string& name, const api::volcano::Queue& queue) const;

 private:
  struct Entry {
    std::optional<Use> use;              // absent: not reckoned yet
    std::map<std::string, double> held;  // since use->as_of
    absl::Time changed = absl::InfinitePast();
    std::optional<Use> written;
  };
  std::map<std::string, Entry> queues_;
  bool counts_ = false;
};

}  // namespace gangway::scheduler
