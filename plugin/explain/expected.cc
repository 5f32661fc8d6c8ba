#include "plugin/explain/expected.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/gang/minimum.h"
#include "plugin/gang/schedule.h"

namespace gangway::explain {
namespace {

using model::Cluster;
using model::Decision;
using model::Decisions;
using model::GangId;
using model::PodFacts;

constexpr int kMaxRounds = 200;

bool HoldsRoom(const PodFacts& pod) {
  return !pod.node.empty() && pod.phase != model::PodPhase::kSucceeded && pod.phase != model::PodPhase::kFailed;
}

absl::Time EndOf(const PodFacts& pod) { return pod.terminating ? std::min(pod.ends, pod.grace_ends) : pod.ends; }

// Beyond its time nobody knows when it ends; a minute is for what lies between its end and the news of it.
bool IsOverdue(const PodFacts& pod, absl::Time now) { return EndOf(pod) + absl::Minutes(1) < now; }

gang::Policy WithoutEvictions(gang::Policy policy) {
  policy.preempt = policy.reclaim = policy.consolidate = false;
  return policy;
}

// The cluster from now on.
class Course {
 public:
  Course(const ClusterFacts& facts, const gang::Policy& policy, absl::Time now)
      : policy_(WithoutEvictions(policy)), begin_(now), now_(now) {
    Tell(facts, cluster_);
    for (const auto* const pods : {&facts.pods, &facts.to_come}) {
      for (const PodFacts& pod : *pods) {
        PodFacts& of_course = pods_[absl::StrCat(pod.ns, "/", pod.name)] = pod;
        if (IsOverdue(pod, now)) of_course.ends = of_course.grace_ends = absl::InfiniteFuture();
      }
    }
    std::set<std::tuple<std::string, std::string, model::GangKind>> have_pods;
    for (const auto& [name, pod] : pods_) have_pods.insert({pod.ns, pod.gang, pod.gang_kind});
    for (const model::GangFacts& gang : facts.gangs) {
      if (!have_pods.contains({gang.ns, gang.name, gang.kind})) MakePods(gang);
    }
    for (const auto& [name, pod] : pods_) cluster_.SetPod(pod);
  }

  std::map<std::string, absl::Time> Run() {
    for (int round = 0; round < kMaxRounds; ++round) {
      CarryOut(gang::Schedule(cluster_, policy_, now_, scratch_));
      if (cluster_.waiting().empty() || !EndNext()) break;
    }
    return std::move(starts_);
  }

 private:
  void MakePods(const model::GangFacts& gang) {
    if (!gang.has_min_resources || gang.phase == model::GangPhase::kCompleted) return;
    for (int i = 0; i < gang.min_member; ++i) {
      PodFacts pod;
      pod.ns = gang.ns;
      pod.name = absl::StrCat(gang.name, "-to-come-", i);
      pod.uid = pod.name;
      pod.gang = gang.name;
      pod.gang_kind = gang.kind;
      for (const auto& [dim, amount] : gang.min_resources)
        pod.wants.requests.emplace_back(dim, (amount + gang.min_member - 1) / gang.min_member);
      std::erase_if(pod.wants.requests, [](const auto& each) { return each.first == "pods"; });
      pod.wants.requests.emplace_back("pods", 1);
      pods_[absl::StrCat(pod.ns, "/", pod.name)] = std::move(pod);
    }
  }

  void CarryOut(const Decisions& decisions) {
    std::optional<model::Reservation> kept;
    for (const Decision& decision : decisions) {
      const model::Gang& gang = cluster_.gang(decision.gang);
      if (decision.admit) cluster_.SetAdmitted(decision.gang, true);
      if (decision.passed_over_until != absl::InfinitePast())
        cluster_.PassOver(decision.gang, decision.passed_over_until);
      if (decision.kept.has_value()) kept = {decision.gang, gang.uid, *decision.kept};
      const bool short_before = !gang::HasMinimum(cluster_, gang);
      for (const model::Placement& placement : decision.placements) Begin(placement);
      const bool starts = !decision.placements.empty() && short_before && now_ > begin_;
      if (starts) starts_.emplace(GangKey{gang.ns, gang.name, gang.kind}.ToString(), now_);
    }
    cluster_.SetReservation(std::move(kept));
  }

  void Begin(const model::Placement& placement) {
    const model::Task& task = cluster_.task(placement.task);
    PodFacts& pod = pods_.at(absl::StrCat(task.ns, "/", task.name));
    pod.node = std::string(cluster_.node_name(placement.row));
    pod.phase = model::PodPhase::kRunning;
    pod.started = now_;
    pod.ends = pod.lasts == absl::InfiniteDuration() ? absl::InfiniteFuture() : now_ + pod.lasts;
    cluster_.SetPod(pod);
  }

  // Those that end first do. False: nobody is known to end.
  bool EndNext() {
    absl::Time next = absl::InfiniteFuture();
    for (const auto& [name, pod] : pods_) {
      if (HoldsRoom(pod)) next = std::min(next, EndOf(pod));
    }
    if (next == absl::InfiniteFuture()) return false;
    now_ = std::max(now_, next);
    for (auto& [name, pod] : pods_) {
      if (!HoldsRoom(pod) || EndOf(pod) > now_) continue;
      pod.phase = model::PodPhase::kSucceeded;
      cluster_.SetPod(pod);
    }
    return true;
  }

  const gang::Policy policy_;
  const absl::Time begin_;
  absl::Time now_;
  Cluster cluster_;
  gang::Scratch scratch_;
  std::map<std::string, PodFacts> pods_;
  std::map<std::string, absl::Time> starts_;
};

}  // namespace

std::map<std::string, absl::Time> ExpectedStarts(const ClusterFacts& facts, const gang::Policy& policy,
                                                 absl::Time now) {
  const auto ends = [&](const PodFacts& pod) {
    return HoldsRoom(pod) && EndOf(pod) != absl::InfiniteFuture() && !IsOverdue(pod, now);
  };
  if (std::none_of(facts.pods.begin(), facts.pods.end(), ends)) return {};
  return Course(facts, policy, now).Run();
}

}  // namespace gangway::explain
