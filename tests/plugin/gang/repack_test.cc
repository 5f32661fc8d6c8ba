// Gangs that are placed in one call are packed together where one of them would find no room otherwise.
#include "plugin/gang/repack.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/plugin/gang/dice.h"
#include "tests/plugin/gang/evict_world.h"
#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;
using testutil::Amounts;
using testutil::EvictTest;

struct PackedTest : EvictTest {
  // Nodes of so many cpus, and gangs of one pod that asks for so many, which come in this order.
  void Cpus(const std::vector<int>& nodes, const std::map<std::string, int>& gangs) {
    for (const int cpus : nodes) Node(absl::StrCat("n", cpus), Amounts(cpus * 1000));
    for (const auto& [name, cpus] : gangs) OneWaits(name, "mid", "default", Amounts(cpus * 1000));
  }
};

// Each on the fullest node that takes it leaves 1 and 1.
struct RepackTest : PackedTest {
  RepackTest() { Cpus({4, 5}, {{"a", 3}, {"b", 2}, {"c", 2}, {"d", 2}}); }
  // The pod of that gang once more.
  model::PodFacts Again(const std::string& gang, std::int64_t milli) { return PodOf(gang, gang, Amounts(milli)); }
};

TEST_F(RepackTest, WhoWouldNotFitDoesWhereOthersLieElsewhere) {
  EXPECT_THAT(Placed(), ElementsAre(Pair("a", "n5"), Pair("b", "n4"), Pair("c", "n4"), Pair("d", "n5")));
  policy.repack_budget = 0;
  EXPECT_THAT(Placed(), SizeIs(3));
}

// Of those that no node takes there are many, and few looks; whoever comes after them still finds its room. Beside them
// one has what it needs, and wants more.
TEST_F(PackedTest, WhatNoNodeTakesIsLookedAtOnceForAllThatAreLikeIt) {
  Node("n1", Amounts(1000));
  OneRuns("elastic", "high", "default", Amounts(1000), "n1");
  cluster.SetPod(PodOf("elastic", "more", Amounts(20'000)));
  for (int i = 0; i < 100; ++i) OneWaits(absl::StrCat("x", i), "mid", "default", Amounts(9000));
  Cpus({4, 5}, {{"a", 3}, {"b", 2}, {"c", 2}, {"d", 2}});
  policy.repack_budget = 200;
  EXPECT_THAT(Placed(), SizeIs(4));
}

// Of whom nobody is evicted for it then.
TEST_F(RepackTest, NobodyIsEvictedWhereItIsEnough) {
  Node("n2", Amounts(2000));
  OneRuns("low", "low", "default", Amounts(2000), "n2");
  EXPECT_THAT(Placed(), SizeIs(4));
  EXPECT_THAT(Evicted(), IsEmpty());
}

// a leaves n4, where room is then for c and d; f has none.
TEST_F(PackedTest, WhereOneLayIsRoomThenAndWhereItLiesIsNone) {
  Cpus({5, 4}, {{"a", 2}, {"b", 3}, {"c", 3}, {"d", 1}, {"f", 1}});
  EXPECT_THAT(Placed(), ElementsAre(Pair("a", "n5"), Pair("b", "n4"), Pair("c", "n5"), Pair("d", "n4")));
}

TEST_F(RepackTest, WhatRunsStays) {
  OneRuns("r", "mid", "default", Amounts(1000), "n4");
  EXPECT_THAT(Placed(), SizeIs(3));
}

TEST_F(RepackTest, WhoFitsNoWayChangesNothingForOthers) {
  const std::map<std::string, std::string> before = [&] {
    policy.repack_budget = 0;
    return Placed();
  }();
  policy.repack_budget = Policy().repack_budget;
  cluster.SetPod(Again("d", 3000));
  EXPECT_EQ(Placed(), before);
}

TEST_F(RepackTest, EachStaysWhereItsNodesTakeIt) {
  model::PodFacts a = Again("a", 3000);
  a.wants.selector = {{"kubernetes.io/hostname", "n4"}};
  cluster.SetPod(a);
  EXPECT_THAT(Placed(), SizeIs(3));
}

TEST_F(RepackTest, WhoMustLieInAHyperNodeStaysThereAndHasNobodyMoved) {
  model::HyperNodeFacts rack;
  rack.name = "rack";
  rack.tier = 1;
  rack.members = {{true, model::HyperNodeFacts::By::kName, "n4", {}}};
  cluster.SetHyperNode(rack);
  for (const char* const name : {"a", "d"}) {
    model::GangFacts gang = testutil::Gang(name, 1);
    gang.priority_class = "mid";
    gang.created = testutil::At(name[0] - 'a');
    gang.topology = model::TopologyFacts{true, 1, ""};
    cluster.SetGang(gang);
    EXPECT_THAT(Placed(), ElementsAre(Pair("a", "n4"), Pair("b", "n5"), Pair("c", "n5"))) << name;
    gang.topology.reset();
    cluster.SetGang(gang);
  }
  EXPECT_THAT(Placed(), SizeIs(4));
}

// e goes where a is: who was placed before it stays from then on. Else b, c and d would find room without a.
TEST_F(RepackTest, WhomOthersLookAtStays) {
  model::PodFacts a = Again("a", 1000);
  a.labels = {{"app", "a"}};
  cluster.SetPod(a);
  Group("a", "high", 1);
  Group("e", "high", 1);
  model::PodFacts e = Again("e", 2000);
  e.wants.pod_affinity = {{"kubernetes.io/hostname", {{"default"}, {}, {{"app", model::Op::kIn, {"a"}}}}}};
  cluster.SetPod(e);
  const std::map<std::string, std::string> placed = Placed();
  EXPECT_THAT(placed, SizeIs(4));
  EXPECT_EQ(placed.at("a"), placed.at("e"));
}

// All of a gang or none, of more roles than one.
TEST_F(RepackTest, AGangIsPackedWhole) {
  Node("n3", Amounts(3000));
  Group("e", "mid", 2);
  Waits("e", "e-0", Amounts(1000));
  Waits("e", "e-1", Amounts(2000));
  EXPECT_THAT(Placed(), SizeIs(6));
  Waits("e", "e-2", Amounts(1000));
  Group("e", "mid", 3);
  EXPECT_THAT(Placed(), Not(Contains(Key(::testing::StartsWith("e-")))));
}

// What is beyond a minimum moves nobody.
TEST_F(RepackTest, SurplusIsPlacedAfterIt) {
  Node("n3", Amounts(3000));
  Group("e", "mid", 1);
  Waits("e", "e-0", Amounts(2000));
  Waits("e", "e-1", Amounts(1000));
  EXPECT_THAT(Placed(), SizeIs(6));
}

TEST_F(RepackTest, AQueueThatIsFullIsNoWantOfRoom) {
  Queue("default", {}, Amounts(7000));
  EXPECT_THAT(Placed(), SizeIs(3));
  ASSERT_TRUE(Of("d").reason.has_value());
  EXPECT_EQ(Of("d").reason->kind, model::Reason::Kind::kQueueFull);
}

// Of those that want too much one is tried: the budget is enough for it, and for f, which finds its room.
TEST_F(PackedTest, WhoWantsAsMuchInVainIsNotTriedAgain) {
  Cpus({4, 5}, {{"a", 3}, {"b", 2}, {"c", 2}});
  for (int i = 0; i < 20; ++i) OneWaits(absl::StrCat("d-", i), "mid", "default", Amounts(5000));
  OneWaits("f", "mid", "default", Amounts(2000));
  policy.repack_budget = 30;
  EXPECT_THAT(Placed(), Contains(Key("f")));
  EXPECT_THAT(Placed(), SizeIs(4));
}

// b, c and d ask for the same amounts of nodes that all of them may have, each in other words: any two of them could
// lie on n4. Whichever pod was told first, it is the same two.
TEST(RepackOrderTest, IsOfWhatIsAskedForAndNotOfWhoWasToldFirst) {
  const auto placed = [](const std::vector<std::string>& told) {
    testutil::World world;
    for (const int cpus : {4, 5}) {
      model::NodeFacts node = testutil::Node(absl::StrCat("n", cpus), cpus);
      node.labels.emplace_back("zone", "z");
      node.labels.emplace_back("row", "r");
      world.cluster.SetNode(node);
    }
    const std::map<std::string, model::Wants> wants = {{"a", testutil::Cpu(3000)},
                                                       {"b", testutil::CpuOn(2000, "zone", "z")},
                                                       {"c", testutil::CpuOn(2000, "row", "r")},
                                                       {"d", testutil::Cpu(2000)}};
    for (const std::string& name : told) {
      model::GangFacts gang = testutil::Gang(name, 1);
      gang.created = testutil::At(name[0] - 'a');
      world.cluster.SetGang(gang);
      world.cluster.SetPod(testutil::Pod(name, "w", 0, wants.at(name)));
    }
    return world.Placed();
  };
  const std::map<std::string, std::string> first = placed({"a", "b", "c", "d"});
  EXPECT_THAT(first, SizeIs(4));
  std::vector<std::string> told = {"a", "b", "c", "d"};
  while (std::next_permutation(told.begin(), told.end())) EXPECT_EQ(placed(told), first);
}

// However often others lie elsewhere: nothing is placed where it may not be, or where no room is left, and gangs whole.
TEST(RepackProperty, NodesTakeNoMoreThanTheyHave) {
  int packed = 0;
  for (unsigned seed = 1; seed <= 1'500 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    testutil::Dice dice(seed);
    testutil::World world;
    const int nodes = 2 + dice.Below(3);
    for (int i = 0; i < nodes; ++i) {
      model::NodeFacts node = testutil::Node(absl::StrCat("n", i), 4 + dice.Below(5));
      node.allocatable.emplace_back("nvidia.com/gpu", dice.Below(5));
      world.cluster.SetNode(node);
    }
    std::map<std::string, std::pair<int, std::string>> gangs;  // cpus of each of its pods, and its node
    for (int i = 0; i < 12; ++i) {
      const std::string name = absl::StrCat("g", 10 + i);
      const int pods = 1 + dice.Below(2), cpus = 1 + dice.Below(4);
      model::Wants wants = testutil::Cpu(cpus * 1000);
      if (dice.Below(3) == 0) wants.requests.emplace_back("nvidia.com/gpu", 1);
      if (dice.Below(3) == 0) wants.selector = {{"kubernetes.io/hostname", absl::StrCat("n", dice.Below(nodes))}};
      gangs[name] = {cpus, wants.selector.empty() ? "" : wants.selector.front().second};
      world.cluster.SetGang(testutil::Gang(name, pods));
      for (int pod = 0; pod < pods; ++pod) world.cluster.SetPod(testutil::Pod(name, "w", pod, wants));
    }
    const std::map<std::string, std::string> placed = world.Placed();
    world.policy.repack_budget = 0;
    packed += world.Placed().size() < placed.size() ? 1 : 0;
    std::map<std::string, int> used;
    for (const auto& [pod, node] : placed) {
      const auto& [cpus, own] = gangs.at(pod.substr(0, 3));
      used[node] += cpus;
      EXPECT_TRUE(own.empty() || own == node) << pod << " on " << node;
    }
    for (const auto& [node, cpus] : used) {
      const model::Row row = world.cluster.FindNode(node);
      EXPECT_LE(cpus * 1000, world.cluster.free(row, model::kCpu)) << node;
    }
  }
  EXPECT_GT(packed, 100);
}

// Once its budget is used up, those that come later in order wait as they would.
TEST_F(RepackTest, ItsBudgetIsOfACall) {
  policy.repack_budget = 1;
  EXPECT_THAT(Placed(), SizeIs(3));
}

}  // namespace
}  // namespace gangway::gang
