// A look at few decides what a look at all would: on many random clusters, over what becomes of them. A failure names
// the seed.
#include <iterator>
#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "plugin/gang/carry_out.h"
#include "plugin/gang/schedule.h"
#include "tests/plugin/gang/crowd.h"
#include "tests/plugin/gang/dice.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::gang {
namespace {

using model::Decision;
using model::Decisions;
using model::GangId;
using testutil::Crowd;
using testutil::Dice;
using Kinds = std::map<GangId, int>;

constexpr int kNoReason = -1;
int KindOf(const Decision& decision) {
  return decision.reason.has_value() ? static_cast<int>(decision.reason->kind) : kNoReason;
}

// "": who is not among the few does nothing, and waits for what it did; the others do the same.
std::string Difference(const Kinds& told, const Decisions& few, const Decisions& all) {
  std::map<GangId, const Decision*> looked_at;
  for (const Decision& decision : few) looked_at[decision.gang] = &decision;
  for (const Decision& decision : all) {
    const std::string gang = absl::StrCat("gang number ", decision.gang, " ");
    const auto it = looked_at.find(decision.gang);
    const Decision nothing;
    const Decision& other = it == looked_at.end() ? nothing : *it->second;
    if (decision.placements != other.placements) return gang + "is placed elsewhere, or not";
    if (decision.admit != other.admit) return gang + "is let in";
    if (decision.nominations != other.nominations) return gang + "has other room kept for it";
    if (decision.evicted != other.evicted) return gang + "has others evicted";
    const auto before = told.find(decision.gang);
    const int kind = it != looked_at.end() ? KindOf(other) : before == told.end() ? kNoReason : before->second;
    if (kind != KindOf(decision))
      return absl::StrCat(gang, "waits for something else: ", KindOf(decision), " and not ", kind,
                          it == looked_at.end() ? ", and was not looked at" : "");
    if (it == looked_at.end() && before == told.end()) return gang + "is not decided on";
    looked_at.erase(decision.gang);
  }
  return looked_at.empty() ? "" : "one is decided on who does not wait";
}

model::PodFacts OfOthers(Dice& dice, int nodes) {
  model::PodFacts pod = testutil::Pod("", "s", dice.Below(8), testutil::Cpu(1000 * (1 + dice.Below(4))));
  pod.ours = false;
  pod.node = absl::StrCat("n", dice.Below(nodes));
  pod.phase = dice.Chance(50) ? model::PodPhase::kSucceeded : model::PodPhase::kRunning;
  if (dice.Chance(20)) pod.labels = {{"app", "a"}};
  return pod;
}

TEST(FewProperty, WhoIsNotLookedAtWouldHaveWaitedAndTheOthersDoTheSame) {
  int nothing = 0, placed_by_few = 0, placed_beside_kept = 0, who_had_nodes = 0, changed = 0;
  for (unsigned seed = 0; seed < testutil::Worlds(3000); ++seed) {
    Dice dice(seed);
    Crowd crowd;
    MakeCrowd(crowd, dice);
    model::Cluster& cluster = crowd.cluster;
    Policy policy;
    policy.keeps_after = dice.Chance(50) ? absl::Hours(1) : absl::Seconds(dice.Below(120));
    policy.preempt = policy.reclaim = policy.consolidate = dice.Chance(20);
    policy.choose_victims = dice.Chance(50);
    policy.sharing = dice.Chance(50) ? Sharing::kByWeight : Sharing::kAsWritten;
    for (int i = 0; i < 8; ++i) AddToCrowd(crowd, dice, absl::StrCat("g", i));
    Scratch kept;
    Kinds told;
    for (int round = 0; round < 24; ++round) {
      const absl::Time now = testutil::At(100) + round * absl::Milliseconds(70);
      const bool has_nodes = cluster.reservation().has_value();
      const GangId holder = has_nodes ? cluster.reservation()->gang : model::kNone;
      Decisions decisions;
      const std::optional<Decisions> few = ScheduleFew(cluster, policy, now, kept);
      if (few.has_value()) {
        Scratch empty;
        ASSERT_EQ(Difference(told, *few, Schedule(cluster, policy, now, empty)), "")
            << "seed " << seed << " round " << round;
        nothing += few->empty() ? 1 : 0;
        for (const Decision& decision : *few) {
          placed_by_few += decision.placements.empty() ? 0 : 1;
          placed_beside_kept += !decision.placements.empty() && has_nodes && decision.gang != holder ? 1 : 0;
          who_had_nodes += !decision.placements.empty() && decision.gang == holder ? 1 : 0;
          changed += decision.placements.empty() ? 1 : 0;
        }
        decisions = *few;
      } else {
        told.clear();
        decisions = Schedule(cluster, policy, now, kept);
      }
      for (const Decision& decision : decisions) {
        told[decision.gang] = KindOf(decision);
        CarryOut(decision, cluster);
      }
      if (few.has_value()) {
        EndRoundOfFew(decisions, policy.victims_take, now, cluster);
      } else {
        EndRound(decisions, policy.victims_take, now, cluster);
      }
      switch (dice.Below(10)) {
        case 0:
          AddToCrowd(crowd, dice, absl::StrCat("h", round));
          break;
        case 1:
          cluster.SetNode(testutil::Node(absl::StrCat("n", dice.Below(5)), 3 + dice.Below(6)));
          break;
        case 2:
          PassTime(crowd, dice, false);
          break;
        case 3: {
          const auto pod = std::next(crowd.pods.begin(), dice.Below(static_cast<int>(crowd.pods.size())));
          cluster.RemovePod(pod->second.ns, pod->second.name);
          crowd.pods.erase(pod);
          break;
        }
        case 4:
          if (const model::TaskId task = cluster.FindTask("default", crowd.pods.begin()->first); task != model::kNone)
            cluster.Forget(task);
          break;
        default:
          cluster.SetPod(OfOthers(dice, 5));
      }
    }
  }
  EXPECT_GT(nothing, 100);
  EXPECT_GT(placed_by_few, 100);
  EXPECT_GT(placed_beside_kept, 10);
  EXPECT_GT(who_had_nodes, 10);
  EXPECT_GT(changed, 100);
}

}  // namespace
}  // namespace gangway::gang
