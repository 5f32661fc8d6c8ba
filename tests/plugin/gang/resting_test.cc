// Who could leave for a gang that waits, and from when.
#include "plugin/gang/resting.h"

#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/plugin/gang/evict_world.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::gang {
namespace {

using testutil::Amounts;
using testutil::At;

// Pods run since a second, and ten minutes at least; "high" waits.
struct RestingTest : testutil::EvictTest {
  RestingTest() {
    Node("n1", Amounts(8000));
    RunsAtLeast("default", absl::Minutes(10));
    OneWaits("high", "high", "default", Amounts(8000));
  }
  void RunsAtLeast(const std::string& name, absl::Duration least) {
    model::QueueFacts queue = testutil::Queue(name);
    queue.min_runtime = least;
    cluster.SetQueue(queue);
  }
  void RunsSince(int second, const std::string& gang, const std::string& pod, bool evictable = true) {
    model::PodFacts facts = PodOf(gang, pod, Amounts(2000), "n1");
    facts.started = At(second);
    facts.evictable = evictable;
    cluster.SetPod(facts);
  }
  std::optional<model::Resting> ForHigh() const {
    return FindResting(cluster, policy, At(10), cluster.FindGang("default", "high"));
  }
};

TEST_F(RestingTest, ThoseInTheirMinimumRuntimeAndWhenTheFirstOfThemMayGo) {
  EXPECT_EQ(ForHigh(), std::nullopt);
  for (const auto& [name, second] : {std::pair("a", 5), {"b", 3}, {"old", -600}}) {
    Group(name, "low", 1);
    RunsSince(second, name, name);
  }
  EXPECT_EQ(ForHigh(), (model::Resting{2, At(603), "default"})) << "old may go now";
  Group("peer", "high", 1);
  RunsSince(1, "peer", "peer");
  EXPECT_EQ(ForHigh()->gangs, 2);
  policy.preempt = false;
  EXPECT_EQ(ForHigh(), std::nullopt);
}

TEST_F(RestingTest, AGangMayGoWhenAllOfItMay) {
  Group("g", "low", 2);
  RunsSince(5, "g", "g-0");
  RunsSince(100, "g", "g-1");
  EXPECT_EQ(ForHigh(), (model::Resting{1, At(700), "default"}));
  RunsSince(5, "g", "g-2", /*evictable=*/false);
  EXPECT_EQ(ForHigh(), std::nullopt) << "it never does";
}

// "both" holds more than its queue would give for what "high" wants, until its queue deserves less.
TEST_F(RestingTest, ThoseOfOtherQueuesThatWereEvictedOfLateAndThatTheirQueueCouldLose) {
  RunsAtLeast("q1", absl::ZeroDuration());
  cluster.RemoveGang("default", "high");
  cluster.RemovePod("default", "high");
  OneWaits("high", "high", "default", Amounts(2000));
  for (const auto& [name, pods] : {std::pair("x", 1), {"y", 1}, {"both", 2}}) {
    model::GangFacts gang = testutil::Gang(name, pods);
    gang.queue = "q1";
    gang.evictions = 1;
    gang.last_evicted = At(-60);
    cluster.SetGang(gang);
    for (int i = 0; i < pods; ++i) RunsSince(name[0] == 'y' ? 2 : 4, name, absl::StrCat(name, i));
  }
  EXPECT_EQ(ForHigh(), (model::Resting{2, At(602), "q1"}));
  EXPECT_TRUE(Evicted().empty());
  Group("low", "low", 1);
  RunsSince(0, "low", "low");
  EXPECT_EQ(ForHigh(), (model::Resting{4, At(600), ""}));
  policy.preempt = policy.reclaim = false;
  EXPECT_EQ(ForHigh(), std::nullopt);
}

// It went for "x", as it says, which therefore stays.
TEST_F(RestingTest, ThoseForWhichItWent) {
  RunsAtLeast("q1", absl::ZeroDuration());
  RunsAtLeast("default", absl::ZeroDuration());
  cluster.RemovePod("default", "high");
  for (const char* name : {"x", "y", "z", "u"}) {
    Group(name, "low", 1, "q1");
    RunsSince(4, name, name);
  }
  model::GangFacts high = testutil::Gang("high", 1);
  high.evictions = 1;
  high.last_evicted = At(2);
  high.evicted_for = "default/x";
  cluster.SetGang(high);
  Waits("high", "high", Amounts(2000));
  EXPECT_EQ(ForHigh(), (model::Resting{1, At(604), "q1"}));
  high.evicted_for = "default/gone";
  cluster.SetGang(high);
  EXPECT_EQ(ForHigh(), std::nullopt);
}

// 4 cpu are free in two pieces, and "high" wants 3: one that may be moved lies beside each.
TEST_F(RestingTest, ThoseThatWereMovedOfLateAndCouldBeMovedAgain) {
  RunsAtLeast("default", absl::ZeroDuration());
  cluster.RemoveGang("default", "high");
  cluster.RemovePod("default", "high");
  OneWaits("high", "low", "default", Amounts(3000));
  Node("n1", Amounts(4000));
  Node("n2", Amounts(4000));
  for (const auto& [name, second] : {std::pair("a", -60), {"b", -30}}) {
    model::GangFacts gang = testutil::Gang(name, 1);
    gang.priority_class = "low";
    gang.moved = At(second);
    cluster.SetGang(gang);
    model::PodFacts pod = PodOf(name, name, Amounts(2000), name[0] == 'a' ? "n1" : "n2");
    pod.movable = true;
    cluster.SetPod(pod);
  }
  EXPECT_EQ(ForHigh(), (model::Resting{2, At(540), "default"}));
  policy.consolidate = false;
  EXPECT_EQ(ForHigh(), std::nullopt);
  policy.consolidate = true;
  Waits("high", "more", Amounts(2000));
  Group("high", "low", 2);
  EXPECT_EQ(ForHigh(), std::nullopt) << "more is wanted than is free";
}

}  // namespace
}  // namespace gangway::gang
