// Gangway's own decisions, gang::Schedule over a model::Cluster, through a day. Around them is what the controllers and
// the kubelet would do: pods are made once their PodGroup is let in, run when they have nodes, and of a gang that was
// evicted the PodGroup is Pending again and waits to be let in anew. There is no API server: everything is seen at
// once.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "plugin/gang/schedule.h"
#include "plugin/model/cluster.h"
#include "tests/day/day.h"

namespace gangway::day {

struct GangwayOptions {
  gang::Policy policy;
  absl::Duration evictions_apart = absl::Seconds(1);  // rounds that may evict
  std::optional<absl::Duration> min_runtime;          // of all queues
  // Each call of Schedule is measured by it; absent: none is.
  std::function<absl::Duration()> clock;
};

struct Rounds {
  int count = 0;
  absl::Duration all, longest;  // in Schedule
  std::size_t most_waiting = 0;
  int evicted_for_priority = 0, evicted_for_share = 0;  // gangs
};

class GangwayDay : public Scheduler {
 public:
  GangwayDay(const Workload& workload, GangwayOptions options);

  void Come(const Job& job, Seconds now) override;
  void Gone(const Job& job, Seconds now) override;
  void Decide(Seconds now, Hands& hands) override;
  Seconds LookAgain() const override { return look_again_; }

  const Rounds& rounds() const { return rounds_; }
  const model::Cluster& cluster() const { return cluster_; }

 private:
  model::GangFacts GangOf(const Job& job, model::GangPhase phase) const;
  model::PodFacts PodOf(const Job& job, int pod) const;
  const Job& JobOf(model::GangId gang) const;
  const std::string& NodeName(int node) const { return nodes_[static_cast<std::size_t>(node)]; }
  model::Decisions Ask(Seconds now);
  // Whether it would be decided otherwise now.
  bool CarryOut(const model::Decisions& decisions, Seconds now, Hands& hands);
  void Start(const Job& job, const model::Decision& decision, Seconds now, Hands& hands);
  void Evict(const model::Decision& decision, Seconds now, Hands& hands);

  const Workload& workload_;
  const GangwayOptions options_;
  model::Cluster cluster_;
  gang::Scratch scratch_;
  std::vector<std::string> nodes_;
  std::vector<int> node_of_row_;
  std::vector<absl::Time> came_;  // by job: for the first time
  struct Evicted {
    int times = 0;
    absl::Time last = absl::InfinitePast();
    std::string for_whom;  // then
  };
  std::vector<Evicted> evicted_;  // by job
  absl::flat_hash_map<std::string, int> job_of_;
  Seconds look_again_ = kNever;
  absl::Time evict_from_ = absl::InfinitePast();
  Rounds rounds_;
};

}  // namespace gangway::day
