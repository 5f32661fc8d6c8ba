// The scheduler's telling: what each gang that waits is told, and what its pods say of it already.
//
// In: what a round decided, and pods as they are shown. Out: which gangs have something new to be told, and the Telling
// of each. Pure; used on the scheduler's loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "api/core/pod.h"
#include "api/json.h"
#include "api/meta.h"
#include "plugin/model/cluster.h"
#include "plugin/model/decision.h"
#include "plugin/scheduler/telling.h"

namespace gangway::scheduler {

class Tellings {
 public:
  // Who could leave for the gang later (plugin/gang/resting.h).
  using FindResting = std::function<std::optional<model::Resting>(model::GangId, absl::Time now)>;
  // The cluster must outlive it.
  Tellings(const model::Cluster& cluster, TellingRules rules, FindResting find_resting)
      : cluster_(cluster), rules_(rules), find_resting_(std::move(find_resting)) {}

  // One decision of a round about the gang of this key; true when there may be something new to tell.
  bool Decide(const model::Decision& decision, const api::NamespacedName& key, absl::Time now);
  // All of the round's decisions are told. Returns gangs that waited before it and do not any more, where there may be
  // something new to tell.
  std::vector<api::NamespacedName> EndRound();
  // The same of a round that decided on few: the others go on waiting for what they do.
  void EndRoundOfFew() { ++round_; }
  std::size_t waiting() const { return waiting_.size(); }

  // Brought up to date. Good until something else is called.
  Telling& Look(const api::NamespacedName& key, absl::Time now);
  // When a look would change something if nothing else happens.
  absl::Time NextChange(const api::NamespacedName& key) const;
  // Its PodGroup is gone, or another.
  void Forget(const api::NamespacedName& key);

  // What the pod's PodScheduled=False condition says, as ConditionText does; "" when it has none.
  void Seen(const api::core::Pod& pod);
  void ForgetPod(const std::string& uid) { written_.erase(uid); }
  std::string WrittenOf(const model::Task& task) const;

  // Members of a JSON object: how many gangs wait, and the first of them with their reasons.
  void Dump(api::JsonWriter& json, std::size_t max_gangs) const;

 private:
  struct Waits {
    Telling telling;
    std::uint64_t round = 0;  // the last that decided on it
  };

  TellingRules Rules() const;

  const model::Cluster& cluster_;
  const TellingRules rules_;
  const FindResting find_resting_;
  absl::btree_map<api::NamespacedName, Waits> waiting_;    // those that wait for something
  Telling nothing_;                                        // of all others
  std::uint64_t round_ = 0;                                // that which is carried out
  absl::flat_hash_map<std::string, std::string> written_;  // by UID
};

}  // namespace gangway::scheduler
