// What becomes of gangs that lost a member, judged from the journal. A part of the Checker.
//
// A gang whose PodGroup was Running, some of whose pods run on, has the room kept that a pod of it left, until the pod
// that is made for it has a node (docs/queues.md). That it lacks members its PodGroup says: phase Unknown, condition
// Unschedulable. For a grace from then on nobody evicts it; when that is over it goes, where its queue, or one above
// it, says how long it is: condition GangReleased, reason LostMember.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/meta.h"
#include "api/volcano/scheduling.h"
#include "sandbox/apiserver/journal.h"
#include "tests/simulation/portions.h"

namespace gangway::testutil {

enum class Rule;

class Lost {
 public:
  struct Rules {
    absl::Duration known;    // after it changed so long, the scheduler knows of it
    absl::Duration settles;  // all that is written of one decision arrives within
    absl::Duration grace;    // where no queue says
    absl::Duration takes;    // from the end of the grace until it goes
  };
  using Pods = std::map<api::NamespacedName, api::core::Pod>;
  using Tell = std::function<void(Rule, const std::string&)>;

  // `pods` and `queues` are those the Checker keeps.
  Lost(Rules rules, const Pods& pods, const Queues& queues, Tell tell)
      : rules_(rules), pods_(pods), queues_(queues), tell_(std::move(tell)) {}

  // Before anything changes.
  void Settle(absl::Time now);
  // Nodes and PodGroups.
  void OnRecord(const sandbox::JournalRecord& record, const std::string& where);
  // One is gone; the Checker keeps it no more.
  void OnGone(const api::core::Pod& pod, absl::Time now);
  // Of one that has its node now.
  void OnBinding(const api::core::Pod& pod, absl::Time now, const std::string& where);
  void Disturbed(absl::Time until) { disturbed_ = std::max(disturbed_, until); }
  void ClocksAreWrong() { clocks_are_right_ = false; }

 private:
  // Left by a pod, and taken by others as it seems.
  struct Room {
    std::string node;
    api::ResourceList requests;
    absl::Time since;
    std::optional<absl::Time> taken;
    std::string text;
  };
  struct Gang {
    api::volcano::PodGroup group;
    bool ran = false;
    std::optional<absl::Time> short_since;
    std::string released;               // the last release that was told
    std::map<std::string, Room> rooms;  // by the name of the pod
  };
  std::optional<absl::Duration> GraceIn(const std::string& queue) const;
  bool RunsInPart(const api::NamespacedName& key, const Gang& gang) const;
  void OnReleased(const api::NamespacedName& key, const Gang& gang, const api::volcano::PodGroupCondition& release,
                  absl::Time now, const std::string& where);

  const Rules rules_;
  const Pods& pods_;
  const Queues& queues_;
  const Tell tell_;
  std::map<api::NamespacedName, Gang> gangs_;
  std::map<std::string, api::core::Node> nodes_;
  absl::Time disturbed_ = absl::InfinitePast();
  bool clocks_are_right_ = true;  // else nobody knows when a time is over
};

}  // namespace gangway::testutil
