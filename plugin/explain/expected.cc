#include "plugin/explain/expected.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/explain/counted_use.h"
#include "plugin/gang/carry_out.h"
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
// Of one gang, and of all of them, that are made up. Larger gangs take no part.
constexpr int kMostPodsOfGang = 10'000;
constexpr int kMostPods = 50'000;

bool HoldsRoom(const PodFacts& pod) {
  return !pod.node.empty() && pod.phase != model::PodPhase::kSucceeded && pod.phase != model::PodPhase::kFailed;
}

// What lies between the end of a pod and the news of it. Beyond its time nobody knows when it ends.
constexpr absl::Duration kUntilTold = absl::Minutes(1);

absl::Time KnownEnd(const PodFacts& pod, absl::Time now) {
  const absl::Time end = pod.terminating ? std::min(pod.ends, pod.grace_ends) : pod.ends;
  return end + kUntilTold < now ? absl::InfiniteFuture() : end;
}

absl::Time LikelyEnd(const PodFacts& pod, const model::PastRuns& past, absl::Time now) {
  const absl::Time known = KnownEnd(pod, now);
  if (past.runs == 0 || pod.started == absl::InfinitePast()) return known;
  const absl::Time likely = pod.started + past.longest;
  return likely + kUntilTold < now ? known : std::min(known, likely);
}

model::PastRuns PastOf(const FactIndex& index, const PodFacts& pod, Ends ends) {
  const model::GangFacts* const gang =
      ends == Ends::kKnown ? nullptr : index.FindGang({pod.ns, pod.gang, pod.gang_kind});
  return gang == nullptr ? model::PastRuns() : gang->past_runs;
}

gang::Policy WithoutEvictions(gang::Policy policy) {
  policy.preempt = policy.reclaim = policy.consolidate = false;
  return policy;
}

// The cluster from now on.
class Course {
 public:
  Course(const FactIndex& index, const KnownClaims& claims, const gang::Policy& policy, absl::Time now, Ends ends)
      : policy_(WithoutEvictions(policy)), begin_(now), now_(now) {
    const ClusterFacts& facts = index.facts();
    Tell(facts, cluster_);
    if (policy_.use_half_life.has_value()) use_.emplace(index, cluster_, *policy_.use_half_life, now);
    for (const auto* const pods : {&facts.pods, &facts.to_come}) {
      for (const PodFacts& pod : *pods) {
        Pod& of_course = pods_[model::KeyOf(pod.ns, pod.name)];
        of_course = {pod, PastOf(index, pod, ends), absl::InfiniteFuture()};
        of_course.ends = LikelyEnd(pod, of_course.past, now);
        if (KnownEnd(pod, now) == absl::InfiniteFuture())
          of_course.facts.ends = of_course.facts.grace_ends = absl::InfiniteFuture();
      }
    }
    std::set<std::tuple<std::string, std::string, model::GangKind>> have_pods;
    for (const auto& [name, pod] : pods_) have_pods.insert({pod.facts.ns, pod.facts.gang, pod.facts.gang_kind});
    for (const model::GangFacts& gang : facts.gangs) {
      if (!have_pods.contains({gang.ns, gang.name, gang.kind}))
        MakePods(gang, ends == Ends::kLikely ? gang.past_runs : model::PastRuns());
    }
    for (const auto& [name, pod] : pods_) cluster_.SetPod(pod.facts);
    claims.Tell(cluster_);
  }

  std::map<std::string, absl::Time> Run(StillWanted still_wanted) {
    for (int round = 0; round < kMaxRounds && still_wanted().ok(); ++round) {
      CarryOut(gang::Schedule(cluster_, policy_, now_, scratch_));
      if (cluster_.waiting().empty() || !EndNext()) break;
    }
    return std::move(starts_);
  }

 private:
  struct Pod {
    PodFacts facts;  // as the scheduler sees it
    model::PastRuns past;
    absl::Time ends;  // InfiniteFuture: nobody knows
  };

  void MakePods(const model::GangFacts& gang, const model::PastRuns& past) {
    if (!gang.has_min_resources || gang.phase == model::GangPhase::kCompleted) return;
    if (gang.min_member > std::min(kMostPodsOfGang, kMostPods - made_)) return;
    made_ += std::max(gang.min_member, 0);
    for (int i = 0; i < gang.min_member; ++i) {
      PodFacts pod;
      pod.ns = gang.ns;
      pod.name = absl::StrCat(gang.name, "-to-come-", i);
      pod.uid = pod.name;
      pod.gang = gang.name;
      pod.gang_kind = gang.kind;
      for (const auto& [dim, amount] : gang.min_resources)
        pod.wants.requests.emplace_back(dim, amount <= 0 ? 0 : (amount - 1) / gang.min_member + 1);
      std::erase_if(pod.wants.requests, [](const auto& each) { return each.first == "pods"; });
      pod.wants.requests.emplace_back("pods", 1);
      const std::string name = model::KeyOf(pod.ns, pod.name);
      pods_[name] = {std::move(pod), past, absl::InfiniteFuture()};
    }
  }

  void CarryOut(const Decisions& decisions) {
    for (const Decision& decision : decisions) {
      const model::Gang& gang = cluster_.gang(decision.gang);
      const bool short_before = !gang::HasMinimum(cluster_, gang);
      gang::CarryOut(decision, cluster_);
      for (const model::Placement& placement : decision.placements) Begin(placement);
      const bool starts = !decision.placements.empty() && short_before && now_ > begin_;
      if (starts) starts_.emplace(GangKey{gang.ns, gang.name, gang.kind}.ToString(), now_);
    }
    gang::EndRound(decisions, policy_.victims_take, now_, cluster_);
  }

  void Begin(const model::Placement& placement) {
    const model::Task& task = cluster_.task(placement.task);
    Pod& of_course = pods_.at(model::KeyOf(task.ns, task.name));
    PodFacts& pod = of_course.facts;
    pod.node = std::string(cluster_.node_name(placement.row));
    pod.phase = model::PodPhase::kRunning;
    pod.started = now_;
    pod.ends = pod.lasts == absl::InfiniteDuration() ? absl::InfiniteFuture() : now_ + pod.lasts;
    of_course.ends = LikelyEnd(pod, of_course.past, now_);
    cluster_.SetPod(pod);
  }

  // Those that end first do. False: nobody is known to end.
  bool EndNext() {
    absl::Time next = absl::InfiniteFuture();
    for (const auto& [name, pod] : pods_) {
      if (HoldsRoom(pod.facts)) next = std::min(next, pod.ends);
    }
    if (next == absl::InfiniteFuture()) return false;
    now_ = std::max(now_, next);
    if (use_.has_value()) use_->CountTo(now_, cluster_);
    for (auto& [name, pod] : pods_) {
      if (!HoldsRoom(pod.facts) || pod.ends > now_) continue;
      pod.facts.phase = model::PodPhase::kSucceeded;
      cluster_.SetPod(pod.facts);
    }
    return true;
  }

  const gang::Policy policy_;
  const absl::Time begin_;
  absl::Time now_;
  Cluster cluster_;
  std::optional<CountedUse> use_;
  int made_ = 0;
  gang::Scratch scratch_;
  std::map<std::string, Pod> pods_;
  std::map<std::string, absl::Time> starts_;
};

}  // namespace

std::map<std::string, absl::Time> ExpectedStarts(const FactIndex& index, const KnownClaims& claims,
                                                 const gang::Policy& policy, absl::Time now, Ends ends,
                                                 StillWanted still_wanted) {
  const auto end = [&](const PodFacts& pod) {
    return HoldsRoom(pod) && LikelyEnd(pod, PastOf(index, pod, ends), now) != absl::InfiniteFuture();
  };
  const std::vector<PodFacts>& pods = index.facts().pods;
  if (std::none_of(pods.begin(), pods.end(), end)) return {};
  return Course(index, claims, policy, now, ends).Run(still_wanted);
}

}  // namespace gangway::explain
