// What queues held of late (plugin/model/use.h), which lowers what they get beyond what is promised to them
// (plugin/gang/shares.h).
//
// It stands in an annotation of each queue (plugin/ingest/use_text.h), so that the next scheduler goes on from there:
// it takes what is held then as held since the annotation was written. In: the cluster, queues, and the time. Out: what
// is set in the cluster, and what to write. Used on the scheduler's loop.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "api/volcano/scheduling.h"
#include "kube/plan/plan.h"
#include "plugin/model/cluster.h"

namespace gangway::scheduler {

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
    std::optional<model::Use> use;       // absent: not reckoned yet
    std::map<std::string, double> held;  // since use->as_of
    absl::Time changed = absl::InfinitePast();
    std::optional<model::Use> written;
  };
  std::map<std::string, Entry> queues_;
  bool counts_ = false;
};

}  // namespace gangway::scheduler
