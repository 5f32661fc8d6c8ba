// Whether a gang that has nodes kept for it begins in time, judged from the journal. A part of the Checker.
//
// Its PodGroup says so: "...; on 2 nodes room is kept for it until 3 pods end" (docs/queues.md). On which nodes is not
// told; but whichever these are, all that it waits for was there then, or came later and is known to end by then. So
// when all of these have ended it begins, whoever else came meanwhile. Other nodes may become its own where fewer pods
// must end: then it waits for those who are there by then.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "api/core/pod.h"
#include "api/meta.h"
#include "api/volcano/scheduling.h"
#include "sandbox/apiserver/journal.h"

namespace gangway::testutil {

enum class Rule;

class Kept {
 public:
  struct Rules {
    std::string scheduler;
    absl::Duration takes;       // from the end of the last for whom it waits until it is bound
    bool of_all_nodes = false;  // whom nodes are kept for needs them all: no others become its own
  };
  using Pods = std::map<api::NamespacedName, api::core::Pod>;
  using Tell = std::function<void(Rule, const std::string&)>;

  // `pods` are those the Checker keeps.
  Kept(Rules rules, const Pods& pods, Tell tell) : rules_(std::move(rules)), pods_(pods), tell_(std::move(tell)) {}

  // Before anything changes.
  void Settle(absl::Time now);
  // Nodes and PodGroups.
  void OnRecord(const sandbox::JournalRecord& record, const std::string& where);
  // Of one that has its node now.
  void OnBinding(const api::core::Pod& pod, absl::Time now);
  void Disturbed(absl::Time until) { disturbed_ = std::max(disturbed_, until); }

 private:
  struct Gang {
    std::string uid, spec, where;
    int min_member = 0, ends = 0;      // so many pods, as it was told
    std::set<std::string> own, there;  // UIDs; of those for whom it waits
    absl::Time latest;                 // when the last of these ends, as far as they say so
    absl::Time since;                  // one of them is there
  };
  void WaitForAllThere(Gang& gang, absl::Time now) const;
  // False: nothing is asked of it any more.
  bool Waits(const api::NamespacedName& key, Gang& gang, absl::Time now);

  const Rules rules_;
  const Pods& pods_;
  const Tell tell_;
  std::map<api::NamespacedName, Gang> gangs_;
  std::map<std::string, absl::Time> bound_at_;  // by UID
  absl::Time disturbed_ = absl::InfinitePast();
};

}  // namespace gangway::testutil
