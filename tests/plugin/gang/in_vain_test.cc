#include "plugin/gang/in_vain.h"

#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "plugin/gang/schedule.h"
#include "tests/plugin/gang/claim_world.h"
#include "tests/plugin/gang/evict_world.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::gang {
namespace {

using model::EvictFor;

class InVainTest : public ::testing::Test {
 protected:
  InVainTest() {
    cluster_.SetQueue(testutil::Queue("default"));
    cluster_.SetQueue(testutil::Queue("other"));
    cluster_.SetPriorityClass({"high", 9});
    cluster_.SetNode(testutil::Node("n"));
  }
  Preemptor Add(model::GangFacts gang, int tasks, const model::Wants& wants = testutil::Cpu(1000)) {
    cluster_.SetGang(gang);
    for (int i = 0; i < tasks; ++i) {
      model::PodFacts pod = testutil::Pod(gang.name, "w", i, wants);
      if (!gang.sub_groups.empty()) testutil::SetPartition(pod, "0");
      cluster_.SetPod(pod);
    }
    return Find(gang.name);
  }
  Preemptor Find(const std::string& gang) {
    Overlay overlay(cluster_);
    const std::optional<Preemptor> found = FindPreemptor(overlay, cluster_.FindGang("default", gang));
    EXPECT_TRUE(found.has_value()) << gang;
    return found.value_or(Preemptor());
  }
  model::Cluster cluster_;
  InVain in_vain_{cluster_};
};

TEST_F(InVainTest, WhoWantsNoLessInTheSameQueueOfTheSamePriority) {
  in_vain_.Note(EvictFor::kPriority, Add(testutil::Gang("a", 2), 2));
  const auto knows = [&](const Preemptor& other) { return in_vain_.Knows(EvictFor::kPriority, other); };
  EXPECT_TRUE(knows(Add(testutil::Gang("same", 2), 2)));
  EXPECT_TRUE(knows(Add(testutil::Gang("more", 3), 4)));
  EXPECT_FALSE(knows(Add(testutil::Gang("less", 1), 1)));
  EXPECT_FALSE(knows(Add(testutil::Gang("smaller", 2), 2, testutil::Cpu(500))));
  model::GangFacts gang = testutil::Gang("elsewhere", 2);
  gang.queue = "other";
  EXPECT_FALSE(knows(Add(gang, 2)));
  gang = testutil::Gang("higher", 2);
  gang.priority_class = "high";
  EXPECT_FALSE(knows(Add(gang, 2)));
}

TEST_F(InVainTest, OfSeveralThatTriedTheFewestCount) {
  in_vain_.Note(EvictFor::kPriority, Add(testutil::Gang("two", 2), 2));
  in_vain_.Note(EvictFor::kPriority, Add(testutil::Gang("four", 4), 4));
  EXPECT_TRUE(in_vain_.Knows(EvictFor::kPriority, Add(testutil::Gang("three", 3), 3)));
}

TEST_F(InVainTest, BetweenQueuesAndOfThoseToBeMovedOnlyWhoWantsTheSame) {
  for (const EvictFor what_for : {EvictFor::kShare, EvictFor::kRoom}) {
    const std::string name = what_for == EvictFor::kShare ? "share" : "room";
    in_vain_.Note(what_for, Add(testutil::Gang(name, 2), 2));
    EXPECT_TRUE(in_vain_.Knows(what_for, Add(testutil::Gang(name + "-same", 2), 2)));
    EXPECT_FALSE(in_vain_.Knows(what_for, Add(testutil::Gang(name + "-more", 3), 3)));
    EXPECT_FALSE(in_vain_.Knows(EvictFor::kPriority, Add(testutil::Gang(name + "-again", 2), 2)));
  }
}

TEST_F(InVainTest, BetweenQueuesWhoLackedPlacesSpeaksForWhoWantsNoLessUpToAGain) {
  const Preemptor two = Add(testutil::Gang("two", 2), 2);
  in_vain_.NoteBetweenQueues(two, 1, /*lacks_places_up_to=*/0.25);
  in_vain_.NoteBetweenQueues(Add(testutil::Gang("four", 4), 4), 1, /*lacks_places_up_to=*/0.5);
  const auto knows = [&](const Preemptor& other, double gain = 0.25) {
    return in_vain_.KnowsBetweenQueues(other, 1, gain);
  };
  EXPECT_TRUE(knows(Add(testutil::Gang("same", 2), 2)));
  EXPECT_TRUE(knows(two, 0.3)) << "who wants as many wins as much, whatever is reckoned";
  const Preemptor three = Add(testutil::Gang("three", 3), 4), five = Add(testutil::Gang("five", 5), 5);
  EXPECT_TRUE(knows(three));
  EXPECT_FALSE(knows(three, 0.3));
  EXPECT_TRUE(knows(five, 0.5)) << "of several the one that says most counts";
  EXPECT_FALSE(knows(five, 0.6));
  EXPECT_FALSE(knows(Add(testutil::Gang("less", 1), 1)));
  EXPECT_FALSE(knows(Add(testutil::Gang("smaller", 2), 2, testutil::Cpu(500))));
  EXPECT_FALSE(in_vain_.KnowsBetweenQueues(two, 2, 0.25)) << "others may go for it";
  Preemptor spares = two;
  spares.spares = three.gang;
  EXPECT_FALSE(knows(spares)) << "others may not";
  EXPECT_FALSE(in_vain_.Knows(EvictFor::kPriority, two));
  model::GangFacts gang = testutil::Gang("elsewhere", 2);
  gang.queue = "other";
  EXPECT_FALSE(knows(Add(gang, 2)));
  gang = testutil::Gang("higher", 2);
  gang.priority_class = "high";
  EXPECT_TRUE(knows(Add(gang, 2))) << "queues give no more to it";
  in_vain_.RoomTaken();
  EXPECT_FALSE(knows(two)) << "others hold more now";
}

TEST_F(InVainTest, BetweenQueuesWhoHadPlacesSpeaksForItsLikeAlone) {
  in_vain_.NoteBetweenQueues(Add(testutil::Gang("two", 2), 2), 1, /*lacks_places_up_to=*/std::nullopt);
  const auto knows = [&](const Preemptor& other) { return in_vain_.KnowsBetweenQueues(other, 1, 0.25); };
  EXPECT_TRUE(knows(Add(testutil::Gang("same", 2), 2)));
  EXPECT_FALSE(knows(Add(testutil::Gang("more", 3), 3)));
  model::GangFacts gang = testutil::Gang("higher", 2);
  gang.priority_class = "high";
  EXPECT_FALSE(knows(Add(gang, 2)));
}

// What they ask for is more than amounts: what is in vain for two may be had by three.
TEST_F(InVainTest, WhoAsksForMoreThanAmountsIsLikeWhoWantsTheSame) {
  const model::PodTermFacts term{"kubernetes.io/hostname", {{"default"}, std::nullopt, {}}};
  std::map<std::string, model::Wants> all;
  all["spread"].spreads = {{.term = term}};
  all["near"].pod_affinity = {term};
  all["away"].pod_anti_affinity = {term};
  all["port"].host_ports = {{"TCP", "", 80}};
  all["claim"].claims = {"default/c"};
  cluster_.SetVolume(testutil::Volume("v"));
  cluster_.SetClaim(testutil::BoundTo("c", "v"));
  for (auto& [name, wants] : all) {
    SCOPED_TRACE(name);
    wants.requests = testutil::Cpu(1000).requests;
    in_vain_.NoteBetweenQueues(Add(testutil::Gang(name + "-between", 2), 2, wants), 1, 1.0);
    const Preemptor more = Add(testutil::Gang(name + "-more-between", 3), 3, wants);
    EXPECT_FALSE(in_vain_.KnowsBetweenQueues(more, 1, 0.25));
    in_vain_.Note(EvictFor::kPriority, Add(testutil::Gang(name, 2), 2, wants));
    EXPECT_TRUE(in_vain_.Knows(EvictFor::kPriority, Add(testutil::Gang(name + "-same", 2), 2, wants)));
    EXPECT_FALSE(in_vain_.Knows(EvictFor::kPriority, Add(testutil::Gang(name + "-more", 3), 3, wants)));
  }
}

TEST_F(InVainTest, WhoIsLikeNobody) {
  std::map<std::string, Preemptor> all;
  model::GangFacts gang = testutil::Gang("in-hyper-nodes", 2);
  gang.topology = {true, 1, ""};
  all.emplace(gang.name, Add(gang, 2));
  gang = testutil::Gang("of-gangs", 2);
  gang.sub_groups = {testutil::SubGroupsOfTask("w", 2, 1)};
  all.emplace(gang.name, Add(gang, 2));
  model::PodFacts pod = testutil::Pod("in-part", "w", 0, testutil::Cpu(1000));
  pod.node = "n";
  pod.phase = model::PodPhase::kRunning;
  Add(testutil::Gang("in-part", 3), 3);
  cluster_.SetPod(pod);
  all.emplace("in-part", Find("in-part"));
  const Preemptor nominated = Add(testutil::Gang("nominated", 2), 2);
  cluster_.Nominate(cluster_.gang(nominated.gang).tasks.front(), cluster_.FindNode("n"));
  all.emplace("nominated", nominated);
  for (const auto& [name, preemptor] : all) {
    in_vain_.Note(EvictFor::kPriority, preemptor);
    EXPECT_FALSE(in_vain_.Knows(EvictFor::kPriority, preemptor)) << name;
  }
}

TEST_F(InVainTest, WhatIsTakenSinceMakesAmountsNoFreerAndWhatIsFreedMayHelpAll) {
  const Preemptor a = Add(testutil::Gang("a", 2), 2);
  for (const EvictFor what_for : {EvictFor::kPriority, EvictFor::kShare}) in_vain_.Note(what_for, a);
  const Preemptor more = Add(testutil::Gang("more", 3), 3);
  const auto knows_more = [&] { return in_vain_.KnowsBetweenQueues(more, 1, 0.25); };
  in_vain_.NoteBetweenQueues(a, 1, /*lacks_places_up_to=*/1.0);
  EXPECT_TRUE(knows_more());
  in_vain_.RoomTaken();
  EXPECT_FALSE(knows_more());
  in_vain_.NoteBetweenQueues(a, 1, /*lacks_places_up_to=*/1.0);
  EXPECT_TRUE(in_vain_.Knows(EvictFor::kPriority, a));
  EXPECT_FALSE(in_vain_.Knows(EvictFor::kShare, a));
  in_vain_.RoomFreed();
  EXPECT_FALSE(in_vain_.Knows(EvictFor::kPriority, a));
  EXPECT_FALSE(knows_more());
}

// 8 pods of two to a node may go. Who wants five nodes of four tries all 8 and has none; who wants one needs two of
// them.
struct InVainBudgetTest : testutil::EvictTest {
  InVainBudgetTest() {
    policy.evict_budget = 40;
    for (int i = 0; i < 8; ++i) {
      const std::string node = absl::StrCat("n", i / 2);
      if (i % 2 == 0) Node(node, testutil::Amounts(8000));
      OneRuns(absl::StrCat("low", i), "low", "default", testutil::Amounts(4000), node);
    }
  }
  void LargeWait(int gangs) {
    for (int gang = 0; gang < gangs; ++gang) {
      const std::string name = absl::StrCat("large", gang);
      Group(name, "mid", 5);
      for (int i = 0; i < 5; ++i) Waits(name, absl::StrCat(name, "-", i), testutil::Amounts(8000));
    }
  }
};

TEST_F(InVainBudgetTest, GangsThatAreAlikeAreTriedOnceAndLeaveTheRestToOthers) {
  LargeWait(50);
  EXPECT_EQ(Evicted().size(), 0u);
  OneWaits("one", "mid", "default", testutil::Amounts(8000));
  EXPECT_EQ(Evicted().size(), 2u);
}

// "default" holds 32 and deserves 16: two nodes may be taken back. To try in vain for three takes away 8 pods.
TEST_F(InVainBudgetTest, BetweenQueuesThoseOfAllPrioritiesAreTriedOnce) {
  policy.evict_budget = 12;
  Queue("q");
  const auto want = [&](const std::string& name, const std::string& priority, int nodes) {
    Group(name, priority, nodes, "q");
    for (int i = 0; i < nodes; ++i) Waits(name, absl::StrCat(name, "-", i), testutil::Amounts(5000));
  };
  for (int i = 0; i < 20; ++i) want(absl::StrCat("large", i), i % 2 == 0 ? "high" : "mid", 3);
  EXPECT_EQ(Evicted().size(), 0u);
  want("small", "low", 1);
  EXPECT_EQ(Evicted().size(), 2u);
}

// A node of 8, of which 4 may go. Nobody is near what `first` and `second` want to be near, until `between` comes.
TEST_F(InVainBudgetTest, WhoIsPlacedMayHelpWhoAsksToBeNear) {
  Node("near", testutil::Amounts(8000));
  OneRuns("goes", "low", "default", testutil::Amounts(4000), "near");
  const auto wants_near = [&](const std::string& name) {
    Group(name, "mid", 1);
    model::PodFacts pod = PodOf(name, name, testutil::Amounts(6000));
    pod.wants.pod_affinity = {
        {"kubernetes.io/hostname", {{"default"}, std::nullopt, {{"app", model::Op::kIn, {"between"}}}}}};
    cluster.SetPod(pod);
  };
  wants_near("first");
  Group("between", "mid", 1);
  model::PodFacts between = PodOf("between", "between", testutil::Amounts(2000));
  between.labels = {{"app", "between"}};
  cluster.SetPod(between);
  wants_near("second");
  EXPECT_THAT(Evicted(), ::testing::ElementsAre("goes"));
}

}  // namespace
}  // namespace gangway::gang
