// The record of pods that the scheduler deletes, in their PodGroup's status.
//
// When some bindings of a gang fail for good, the pods that were bound are deleted; so are pods that are evicted for
// another gang. Before that the scheduler writes a condition of type GangReleased with their names and UIDs, and marks
// each pod with condition DisruptionTarget, reason GangReleased or, as Kubernetes' scheduler does,
// PreemptionByScheduler. So whoever recreates them knows that this is no failure of theirs. Of a Job's pods that go
// for others its controller reads that in the PodGroup, and the mark comes behind the deletion, where they are still
// there.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "api/volcano/scheduling.h"
#include "base/counted.h"

namespace gangway::api::volcano {

inline constexpr absl::string_view kGangReleased = "GangReleased";

// kubernetes: core/v1, PodReasonPreemptionByScheduler
inline constexpr absl::string_view kPreemptionByScheduler = "PreemptionByScheduler";

// Reason of GangReleased: its pods are placed again at once, elsewhere.
inline constexpr absl::string_view kMoved = "Moved";

// The same: it lost members, and for too long found no room for others.
inline constexpr absl::string_view kLostMember = "LostMember";

// The same: for a gang of its queue with a higher priority; for a queue that holds less than it deserves.
inline constexpr absl::string_view kPreempted = "Preempted", kReclaimed = "Reclaimed";

// Of GangReleased: its pods go, and are not placed again at once.
inline bool IsForOthers(absl::string_view reason) { return reason == kPreempted || reason == kReclaimed; }

// Of a pod's condition DisruptionTarget.
inline bool IsRelease(absl::string_view reason) { return reason == kGangReleased || reason == kPreemptionByScheduler; }

struct ReleasedPod {
  std::string name, uid;
  std::string node;  // of Moved: on which room is kept for the pod that is made for it; else ""
  friend bool operator==(const ReleasedPod&, const ReleasedPod&) = default;
};

// "released 2 of 4 tasks: ... [name/uid name/uid]", "evicted 1 of 1 task: ... [name/uid/node]"
inline std::string ReleaseMessage(absl::string_view sentence, const std::vector<ReleasedPod>& pods) {
  return absl::StrCat(sentence, " [",
                      absl::StrJoin(pods, " ",
                                    [](std::string* out, const ReleasedPod& pod) {
                                      absl::StrAppend(out, pod.name, "/", pod.uid, pod.node.empty() ? "" : "/",
                                                      pod.node);
                                    }),
                      "]");
}

// For whom pods are evicted, in the sentence of such a release: "evicted 4 of 8 tasks for default/high: ...", "evicted
// 2 of 8 tasks: others of the gang were evicted before, for default/high".
inline std::string ForGang(absl::string_view gang) { return absl::StrCat(" for ", gang); }
// "default/high"; "": it was for no other gang, or does not say for which.
inline std::string GangEvictedFor(absl::string_view reason, absl::string_view message) {
  const std::size_t at = message.find(ForGang(""));
  if (!IsForOthers(reason) || at == absl::string_view::npos) return "";
  const absl::string_view gang = message.substr(at + ForGang("").size());
  return std::string(gang.substr(0, gang.find_first_of(":; ")));
}

// What the sentence of a release ends with when pods of the gang were evicted for others so often: "; evicted 3 times
// of late".
inline constexpr absl::string_view kEvictedTimes = "; evicted ";
inline std::string EvictedTimes(int times) { return absl::StrCat(kEvictedTimes, Counted(times, "time"), " of late"); }

// How often pods of the gang had been evicted for others by the time of this release. One that does not say it counts
// itself, if it was for others.
inline int EvictionsBy(absl::string_view reason, absl::string_view message) {
  const std::size_t from = message.rfind(kEvictedTimes);
  if (from != absl::string_view::npos) {
    const absl::string_view number = message.substr(from + kEvictedTimes.size());
    int times = 0;
    if (absl::SimpleAtoi(number.substr(0, number.find(' ')), &times) && times > 0) return times;
  }
  return IsForOthers(reason) ? 1 : 0;
}

// The condition of the latest release; nullptr when there was none.
inline const PodGroupCondition* LatestRelease(const PodGroupStatus& status) {
  for (const PodGroupCondition& condition : status.conditions) {
    if (absl::string_view(condition.type) == kGangReleased && condition.status == "True") return &condition;
  }
  return nullptr;
}

// What a condition says to people: of a release without the pods.
inline absl::string_view SentenceOf(const PodGroupCondition& condition) {
  const absl::string_view message = condition.message;
  const bool lists_pods = absl::string_view(condition.type) == kGangReleased && absl::EndsWith(message, "]");
  return message.substr(0, lists_pods ? message.rfind(" [") : absl::string_view::npos);
}

// The pods that the release names; empty when it does not read.
inline std::vector<ReleasedPod> ReleasedPods(const PodGroupCondition& release) {
  std::vector<ReleasedPod> pods;
  const std::size_t open = release.message.rfind('[');
  if (open == std::string::npos || release.message.back() != ']') return pods;
  const absl::string_view list = absl::string_view(release.message).substr(open + 1, release.message.size() - open - 2);
  for (const absl::string_view part : absl::StrSplit(list, ' ', absl::SkipEmpty())) {
    const std::vector<std::string> words = absl::StrSplit(part, absl::MaxSplits('/', 2));
    if (words.size() > 1 && !words[1].empty()) pods.push_back({words[0], words[1], words.size() > 2 ? words[2] : ""});
  }
  return pods;
}

// Whether the pod of this UID is among those that the release names.
inline bool NamesPod(const PodGroupCondition& release, absl::string_view uid) {
  const absl::string_view message = release.message;
  const std::string wanted = absl::StrCat("/", uid);
  for (std::size_t at = message.rfind('['); at != absl::string_view::npos && !uid.empty();) {
    at = message.find(wanted, at);
    if (at == absl::string_view::npos) break;
    at += wanted.size();
    if (at < message.size() && absl::StrContains(" /]", message[at])) return true;
  }
  return false;
}

}  // namespace gangway::api::volcano
