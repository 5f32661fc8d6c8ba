// The scheduler's evictions: pods that were chosen to go, until they are gone, and the nodes on which room is kept for
// whom they go.
//
// In: decisions, pods as they are shown, replies to deletions. Out: facts of the cluster (who is not evicted after
// all), and what should be written of a gang: which of its pods go and why, and what its pods say of their nomination.
// Nothing is lost with the process: before a pod is deleted it says that it goes (condition DisruptionTarget, reason
// PreemptionByScheduler), or of a Job's pod its PodGroup does (api/volcano/release.h), and a pod for which room is kept
// says where (status.nominatedNodeName). Used on the scheduler's loop.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "api/core/pod.h"
#include "api/meta.h"
#include "api/volcano/release.h"
#include "base/metrics.h"
#include "plugin/model/cluster.h"
#include "plugin/model/decision.h"

namespace gangway::scheduler {

// Of one gang, what goes.
struct Removal {
  std::vector<model::TaskId> tasks;             // to be deleted, by name
  std::vector<api::volcano::ReleasedPod> told;  // that the PodGroup names: also who is terminating already
  std::string sentence;
  std::string reason;  // Preempted, Reclaimed, Moved or LostMember
};

class Evictions {
 public:
  // The cluster must outlive it.
  explicit Evictions(model::Cluster& cluster) : cluster_(cluster) {}

  void CountIn(Metrics& metrics);

  // One decision of a round, which the cluster knows of already (gang/carry_out.h). Returns the gangs of which there is
  // something to write now, but for its own.
  std::vector<api::NamespacedName> CarryOut(const model::Decision& decision, const api::NamespacedName& key,
                                            absl::Time now);
  // Set: pods of it are to be deleted.
  std::optional<Removal> RemovalOf(const api::NamespacedName& key, model::GangId id) const;
  // A pod whose status names another node than that on which room is kept for it. "" = none is.
  struct Nomination {
    model::TaskId task = model::kNone;
    std::string node;
  };
  std::vector<Nomination> NominationsOf(model::GangId id) const;

  void Seen(const api::core::Pod& pod);
  void ForgetPod(const std::string& uid) {
    shown_.erase(uid);
    untold_.erase(uid);
  }
  // Pods that were chosen, and that nobody has told to go yet.
  std::size_t untold() const { return untold_.size(); }
  // Its PodGroup is gone, or another: nobody goes for it who was not told yet.
  void Forget(const api::NamespacedName& key);
  // Its pods may not be deleted: who still runs stays.
  void OnForbidden(const api::NamespacedName& key);

 private:
  struct Leaving {
    std::vector<api::volcano::ReleasedPod> pods;
    absl::Time decided = absl::InfinitePast();  // last
    int times = 0;                              // with this one, of late
    bool refused = false;                       // nobody went: the next time is no other
    std::string sentence, reason;
    api::NamespacedName on_behalf;
  };
  void Stay(const api::NamespacedName& gang, const Leaving& leaving);
  std::string SentenceOf(const model::Decision& decision, model::GangId victim, std::size_t pods) const;

  model::Cluster& cluster_;
  absl::btree_map<api::NamespacedName, Leaving> leaving_;  // by gang
  absl::flat_hash_set<api::NamespacedName> evicted_for_;   // on whose behalf those are
  absl::flat_hash_map<std::string, std::string> shown_;    // nominatedNodeName of pods that have one, by UID
  absl::flat_hash_set<std::string> untold_;                // UIDs of pods that are to be told to go
  Gauge victims_;
  Counter attempts_, preempted_, reclaimed_, consolidated_, lost_;
};

}  // namespace gangway::scheduler
