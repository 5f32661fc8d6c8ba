// Why a gang waits or where it runs, from the cluster and what Schedule decides of it.
//
// Pure. Suggestions are not made here, since each needs a cluster that may be changed (suggest.h).
#pragma once

#include <vector>

#include "absl/time/time.h"
#include "plugin/explain/explanation.h"
#include "plugin/gang/policy.h"
#include "plugin/model/cluster.h"
#include "plugin/model/decision.h"

namespace gangway::explain {

// `decisions` are what Schedule decided of this very cluster by this policy at that time. The gang is known.
Explanation ExplainGang(const model::Cluster& cluster, const model::Decisions& decisions, model::GangId gang,
                        const gang::Policy& policy, absl::Time now);

// The parts that are about its pods, for a cluster in which those to come are there too.
std::vector<Ask> AsksOf(const model::Cluster& cluster, model::GangId gang);
std::vector<RoleNodes> NodesFor(const model::Cluster& cluster, const model::Decisions& decisions, model::GangId gang);

// What becomes of a gang in the next round, in short.
struct Outcome {
  bool let_in = false;    // it is, or will be
  bool starts = false;    // it has its minimum then, or when the pods have ended whose room is kept for it
  bool at_once = false;   // the first of the two
  bool complete = false;  // and each of its pods a node
  Words evicts;           // "2 pods of ads/low", so that it starts; empty: nobody
  Words sentence;
  std::vector<Spot> spots;
};
Outcome OutcomeOf(const model::Cluster& cluster, const model::Decisions& decisions, model::GangId gang);

// kNone: there is no queue of that name, nor is it asked for.
model::QueueId FindQueue(const model::Cluster& cluster, absl::string_view name);
// With the gangs of the queues below it: what it holds is what they hold together.
QueueExplanation ExplainQueue(const model::Cluster& cluster, const model::Decisions& decisions, model::QueueId queue,
                              gang::Sharing sharing);

// "cpu 9, memory 2Gi"; "nothing".
Words AmountsText(const model::NamedAmounts& amounts);

// " for its priority"
Words EvictedForText(model::EvictFor what_for);

// "4 pods", "1 pod"
Words Counted(std::int64_t count, const CountedPhrase& things);

}  // namespace gangway::explain
