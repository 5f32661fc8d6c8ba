// Who is spared a trial because it was in vain for another would have tried in vain: on many random clusters with gangs
// that are alike, or want more of the same, the same is decided as when each is tried. A failure names the seed.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "plugin/gang/schedule.h"
#include "tests/plugin/gang/carried_out.h"
#include "tests/plugin/gang/crowd.h"
#include "tests/plugin/gang/dice.h"
#include "tests/plugin/gang/random_root.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::gang {
namespace {

using model::Decisions;
using testutil::Crowd;
using testutil::Dice;

std::string TextOf(const Crowd& crowd, const model::Decision& decision) {
  return absl::StrCat(crowd.cluster.gang(decision.gang).name, ": ",
                      decision.reason.has_value() ? model::Render(*decision.reason) : "", ", ", decision.evicted.size(),
                      " evicted, looks again at ", absl::FormatTime(decision.look_again));
}

// "": they are the same.
std::string WhatDiffers(const Crowd& crowd, const Decisions& a, const Decisions& b) {
  if (a.size() != b.size()) return "others are decided about";
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) return absl::StrCat(TextOf(crowd, a[i]), "\nwhen each is tried\n", TextOf(crowd, b[i]));
  }
  return "";
}

// Some of three queues, of which one may lie below another, have filled the cluster; those that come later want their
// share of it.
void MakeContention(Crowd& crowd, Dice& dice) {
  model::Cluster& cluster = crowd.cluster;
  const int nodes = 2 + dice.Below(4);
  for (int i = 0; i < nodes; ++i) cluster.SetNode(testutil::Node(absl::StrCat("n", i), 4 + 4 * dice.Below(2)));
  for (const auto& [name, value] : {std::pair("low", 1), {"mid", 5}, {"high", 9}})
    cluster.SetPriorityClass({name, value});
  std::vector<model::QueueFacts> queues;
  const std::string top = testutil::RandomRoot(dice, queues);
  std::vector<std::string> above = {top};
  for (const char* const name : {"default", "a", "b", "c"}) {
    model::QueueFacts queue = testutil::Queue(name);
    queue.parent = above[static_cast<std::size_t>(dice.Chance(60) ? 0 : dice.Below(static_cast<int>(above.size())))];
    above.emplace_back(name);
    queue.weight = 1 + dice.Below(3);
    queue.priority = dice.Below(2);
    queue.reclaimable = !dice.Chance(5);
    if (dice.Chance(50)) queue.deserved = {{"cpu", 2000 * dice.Below(8)}};
    if (dice.Chance(25)) queue.guarantee = {{"cpu", 2000 * dice.Below(3)}};
    if (dice.Chance(15)) queue.min_runtime = absl::Seconds(dice.Below(60));
    queues.push_back(queue);
  }
  for (const model::QueueFacts& queue : queues) cluster.SetQueue(queue);
  if (dice.Chance(40)) cluster.SetBudget({"default", "b", {{"app", model::Op::kIn, {"a"}}}, dice.Below(6)});
  for (int i = 0; i < 2; ++i) crowd.wants.push_back(testutil::Cpu(1000 * (1 + dice.Below(4))));
}

struct Seen {
  int evicted = 0, for_share = 0, moved = 0, wait = 0;
};

// Four rounds, of which the first goes before `late` come.
void ExpectTheSame(Crowd& crowd, const Policy& policy, Dice& dice, bool may_move, absl::FunctionRef<void()> late,
                   Seen& seen) {
  Scratch kept;
  for (int round = 0; round < 4; ++round) {
    const absl::Time now = testutil::At(100 + 2 * round);
    Scratch all(64, /*searches_again=*/true);
    const Decisions decisions = Schedule(crowd.cluster, policy, now, kept);
    ASSERT_EQ(WhatDiffers(crowd, decisions, Schedule(crowd.cluster, policy, now, all)), "") << "round " << round;
    for (const model::Decision& decision : decisions) {
      seen.evicted += decision.evicted.empty() ? 0 : 1;
      seen.for_share += decision.evict_for == model::EvictFor::kShare ? 1 : 0;
      seen.moved += decision.moves.empty() ? 0 : 1;
      seen.wait += decision.reason.has_value() ? 1 : 0;
    }
    testutil::CarryOut(crowd.cluster, decisions);
    PassTime(crowd, dice, may_move);
    if (round == 0) late();
  }
}

TEST(InVainProperty, BetweenQueuesTheSameIsDecidedAsWhenEachIsTried) {
  Seen seen;
  for (unsigned seed = 0; seed < testutil::Worlds(3000) && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Dice dice(seed);
    Crowd crowd;
    MakeContention(crowd, dice);
    Policy policy;
    policy.preempt = dice.Chance(50);
    policy.sharing = dice.Chance(50) ? Sharing::kByWeight : Sharing::kAsWritten;
    policy.keeps_after = absl::Seconds(dice.Below(100));
    policy.place_surplus = dice.Chance(70);
    crowd.queues = {"default", "a"};
    for (int i = 0; i < 8; ++i) AddToCrowd(crowd, dice, absl::StrCat("first", i));
    const auto late = [&] {
      crowd.queues = dice.Chance(50) ? std::vector<std::string>{"b"} : std::vector<std::string>{"a", "b", "c"};
      for (int i = 0; i < 10; ++i) AddToCrowd(crowd, dice, absl::StrCat("late", i));
    };
    ExpectTheSame(crowd, policy, dice, /*may_move=*/false, late, seen);
  }
  EXPECT_GT(seen.for_share, 500);
  EXPECT_GT(seen.wait, 25'000);
}

TEST(InVainProperty, TheSameIsDecidedAsWhenEachIsTried) {
  Seen seen;
  for (unsigned seed = 0; seed < testutil::Worlds(3000) && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Dice dice(seed);
    Crowd crowd;
    MakeCrowd(crowd, dice);
    Policy policy;
    policy.preempt = !dice.Chance(15);
    policy.reclaim = !dice.Chance(15);
    policy.sharing = dice.Chance(50) ? Sharing::kByWeight : Sharing::kAsWritten;
    policy.keeps_after = absl::Seconds(dice.Below(100));
    const bool may_move = dice.Chance(30);
    const int first = 2 + dice.Below(4);
    for (int i = 0; i < first; ++i) AddToCrowd(crowd, dice, absl::StrCat("first", i));
    const auto late = [&] {
      for (int i = 0; i < 8; ++i) AddToCrowd(crowd, dice, absl::StrCat("late", i));
    };
    ExpectTheSame(crowd, policy, dice, may_move, late, seen);
  }
  EXPECT_GT(seen.evicted, 500);
  EXPECT_GT(seen.moved, 25);
  EXPECT_GT(seen.wait, 25'000);
}

}  // namespace
}  // namespace gangway::gang
