#include "plugin/gang/shares.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using testutil::AddNodes;
using testutil::Cpu;
using testutil::Gang;
using testutil::Pod;
using testutil::World;

struct SharesTest : ::testing::Test {
  void Add(const std::string& name, const std::string& parent = "", int weight = 1, std::int64_t guarantee = 0,
           std::int64_t capability = 0, std::int64_t deserved = 0) {
    model::QueueFacts queue = testutil::Queue(name);
    queue.parent = parent;
    queue.weight = weight;
    if (guarantee > 0) queue.guarantee = {{"cpu", guarantee}};
    if (capability > 0) queue.capability = {{"cpu", capability}};
    if (deserved > 0) queue.deserved = {{"cpu", deserved}};
    w.cluster.SetQueue(queue);
  }
  // So much runs in the queue, and so much waits.
  void Use(const std::string& queue, std::int64_t runs, std::int64_t waits) {
    model::GangFacts gang = Gang(absl::StrCat("of-", queue), 1);
    gang.queue = queue;
    w.cluster.SetGang(gang);
    if (runs > 0) {
      model::PodFacts pod = Pod(gang.name, "w", 0, Cpu(runs));
      pod.node = "node-000";
      pod.phase = model::PodPhase::kRunning;
      w.cluster.SetPod(pod);
    }
    if (waits > 0) w.cluster.SetPod(Pod(gang.name, "w", 1, Cpu(waits)));
  }
  model::QueueId Id(const std::string& queue) {
    for (model::QueueId id = 0; id < w.cluster.queue_slots(); ++id) {
      if (w.cluster.queue(id).name == queue) return id;
    }
    return model::kNone;
  }
  std::int64_t Deserved(const std::string& queue) {
    const QueueTree tree(w.cluster);
    return Shares(w.cluster, tree, sharing).Deserved(Id(queue), model::kCpu);
  }
  static model::Resources Milli(std::int64_t milli) {
    model::Resources amounts;
    amounts.Set(model::kCpu, milli);
    return amounts;
  }
  World w;
  Sharing sharing = Sharing::kByWeight;
};

// What is written with 0 is nothing; only what is not written is what the queues below deserve together.
TEST_F(SharesTest, AWrittenZeroIsZeroAlsoForThoseBelow) {
  sharing = Sharing::kAsWritten;
  AddNodes(w.cluster, 1, 12);
  Add("shop", "");
  Add("ads", "shop", 1, 0, 0, 4000);
  EXPECT_EQ(Deserved("shop"), 4000);
  model::QueueFacts shop = testutil::Queue("shop");
  shop.deserved = {{"cpu", 0}};
  w.cluster.SetQueue(shop);
  EXPECT_EQ(Deserved("shop"), 0);
  EXPECT_EQ(Deserved("ads"), 0) << "what those below promise beyond their parent's is cut";
  shop.deserved = {{"memory", 0}};
  w.cluster.SetQueue(shop);
  EXPECT_EQ(Deserved("ads"), 4000) << "of cpu nothing is written";
}

TEST_F(SharesTest, WeightsDivideTheCluster) {
  AddNodes(w.cluster, 1, 12);
  Add("a", "", 1);
  Add("b", "", 2);
  Use("a", 0, 12000);
  Use("b", 0, 12000);
  EXPECT_EQ(Deserved("a"), 4000);
  EXPECT_EQ(Deserved("b"), 8000);
  EXPECT_EQ(Deserved("default"), 0) << "it asks for nothing";
}

TEST_F(SharesTest, WhatWasUsedOfLateLowersAWeight) {
  AddNodes(w.cluster, 1, 10);
  for (const char* name : {"a", "b", "idle"}) Add(name);
  Use("a", 0, 12000);
  Use("b", 0, 12000);
  const auto used = [&](const char* name, double milli) { w.cluster.SetUsed(Id(name), {milli}); };
  used("a", 8000);
  EXPECT_EQ(Deserved("a"), 2000) << "all of the use with half of the weights: a quarter of its weight";
  EXPECT_EQ(Deserved("b"), 8000);
  used("b", 8000);
  EXPECT_EQ(Deserved("a"), 5000);
  used("idle", 80'000);  // asks for nothing
  EXPECT_EQ(Deserved("a"), 5000);
  used("b", 0);
  Add("a", "", 1, 3000);
  EXPECT_EQ(Deserved("a"), 3000) << "its guarantee stays";
  sharing = Sharing::kAsWritten;
  Add("a", "", 1, 0, 0, 6000);
  EXPECT_EQ(Deserved("a"), 6000);
}

TEST_F(SharesTest, AsWrittenUseLowersTurnsAndNotWhatIsDeserved) {
  AddNodes(w.cluster, 1, 100);
  sharing = Sharing::kAsWritten;
  Add("a", "", 1, 0, 0, 8000);
  Add("b", "", 1, 0, 0, 8000);
  Add("none", "", 2);
  Add("other", "", 2);
  const QueueTree tree(w.cluster);
  {
    const Shares shares(w.cluster, tree, sharing);
    EXPECT_EQ(shares.Due(Id("a"), model::kCpu), 8000) << "nobody used anything";
    EXPECT_EQ(shares.TurnWeight(Id("none"), model::kCpu), 2 * Shares::kOne);
  }
  w.cluster.SetUsed(Id("a"), {6000});
  w.cluster.SetUsed(Id("b"), {2000});
  w.cluster.SetUsed(Id("none"), {50'000});
  const Shares shares(w.cluster, tree, sharing);
  EXPECT_EQ(shares.Deserved(Id("a"), model::kCpu), 8000);
  // Three quarters of the use with half of what is deserved: 2^-1.5; a quarter: 2^-0.5.
  EXPECT_EQ(shares.Due(Id("a"), model::kCpu), 2828);
  EXPECT_EQ(shares.Due(Id("b"), model::kCpu), 5657);
  EXPECT_EQ(shares.TurnWeight(Id("other"), model::kCpu), 2 * Shares::kOne);
  // All of the use with 2 of 5 of the weights (default has 1): 2^-2.5.
  EXPECT_EQ(shares.TurnWeight(Id("none"), model::kCpu), 370728);
}

// 4 cpu free, both hold more than they deserve; `a` came first and used more.
TEST_F(SharesTest, BeyondWhatIsWrittenWhoUsedLessGoesFirst) {
  AddNodes(w.cluster, 1, 16);
  w.policy.sharing = Sharing::kAsWritten;
  w.policy.reclaim = false;
  for (const char* name : {"a", "b"}) {
    Add(name, "", 1, 0, 0, 2000);
    Use(name, 6000, 4000);
  }
  EXPECT_EQ(w.Placed().count("of-a-w-1"), 1u);
  w.cluster.SetUsed(Id("a"), {6000});
  w.cluster.SetUsed(Id("b"), {3000});
  EXPECT_EQ(w.Placed().count("of-b-w-1"), 1u);
  EXPECT_EQ(w.Placed().count("of-a-w-1"), 0u);
  Add("a", "", 1, 0, 0, 12'000);
  EXPECT_EQ(w.Placed().count("of-a-w-1"), 1u) << "within what it deserves it goes first whatever it used";
}

TEST_F(SharesTest, AsWrittenUseMovesNothingOfWhatIsCutEither) {
  AddNodes(w.cluster, 1, 8);
  sharing = Sharing::kAsWritten;
  for (const char* name : {"a", "b"}) Add(name, "", 1, 0, 0, 8000);
  w.cluster.SetUsed(Id("a"), {8000});
  EXPECT_EQ(Deserved("a"), 4000);
  EXPECT_EQ(Deserved("b"), 4000);
}

TEST_F(SharesTest, AsWrittenTurnsAreComparedBesideEachOtherAndSomethingStays) {
  AddNodes(w.cluster, 1, 100);
  sharing = Sharing::kAsWritten;
  for (const char* org : {"x", "y"}) Add(org);
  for (const char* name : {"a", "b"}) Add(name, "x", 1, 0, 0, 8000);
  Add("c", "y", 1, 0, 0, 8000);
  Add("small", "y", 1, 0, 0, 100);
  w.cluster.SetUsed(Id("a"), {1000});
  w.cluster.SetUsed(Id("b"), {1000});
  w.cluster.SetUsed(Id("small"), {50'000});
  const QueueTree tree(w.cluster);
  const Shares shares(w.cluster, tree, sharing);
  EXPECT_EQ(shares.Due(Id("a"), model::kCpu), 4000) << "half of the use in x with half of what is deserved there";
  EXPECT_EQ(shares.Due(Id("c"), model::kCpu), 8000);
  // All of the use in y with 1 of 81 of what is deserved there: 2^-81 of it.
  EXPECT_EQ(shares.Due(Id("small"), model::kCpu), 1);
}

// 4 cpu free, and neither deserves anything; both hold as much.
TEST_F(SharesTest, WhoDeservesNothingGoesByWhatUseLeavesOfItsWeight) {
  AddNodes(w.cluster, 1, 16);
  w.policy.sharing = Sharing::kAsWritten;
  w.policy.reclaim = false;
  for (const char* name : {"a", "b"}) {
    Add(name);
    Use(name, 6000, 4000);
  }
  w.cluster.SetUsed(Id("a"), {6000});
  w.cluster.SetUsed(Id("b"), {3000});
  EXPECT_EQ(w.Placed().count("of-b-w-1"), 1u);
  Add("a", "", 9);  // of ten parts of the weights it used two thirds
  EXPECT_EQ(w.Placed().count("of-a-w-1"), 1u);
}

// `a` used all of late and holds less than it deserves; `b` used nothing and holds more; 4 cpu are free.
TEST_F(SharesTest, WithinWhatIsWrittenOneGoesFirstWhateverItUsed) {
  AddNodes(w.cluster, 1, 100);
  w.policy.sharing = Sharing::kAsWritten;
  w.policy.reclaim = false;
  for (const auto& [name, cpu] : {std::pair("a", 10'000), {"b", 2000}, {"c", 60'000}}) {
    model::QueueFacts queue = testutil::Queue(name);
    queue.deserved = {{"cpu", cpu}, {"memory", 10'000'000'000}};
    w.cluster.SetQueue(queue);
  }
  Use("a", 6000, 4000);
  Use("b", 6000, 4000);
  Use("c", 84'000, 0);
  w.cluster.SetUsed(Id("a"), {60'000});
  EXPECT_EQ(w.Placed().count("of-a-w-1"), 1u);
}

TEST_F(SharesTest, WhatTheQueuesBelowUsedCountsAbove) {
  AddNodes(w.cluster, 1, 10);
  Add("org");
  Add("team", "org");
  Add("b");
  Use("team", 0, 12000);
  Use("b", 0, 12000);
  w.cluster.SetUsed(Id("team"), {8000});
  EXPECT_EQ(Deserved("org"), 2000);
  Use("org", 0, 12000);
  EXPECT_EQ(Deserved("team"), 400) << "its own gangs used nothing";
}

TEST_F(SharesTest, WhatOneDoesNotAskForIsTheOthers) {
  AddNodes(w.cluster, 1, 12);
  for (const char* name : {"a", "b", "c"}) Add(name);
  Use("a", 1000, 0);
  Use("b", 2000, 10000);
  Use("c", 0, 12000);
  EXPECT_EQ(Deserved("a"), 1000);
  EXPECT_EQ(Deserved("b"), 5500);
  EXPECT_EQ(Deserved("c"), 5500);
}

TEST_F(SharesTest, AGuaranteeIsKeptAndACapabilityIsNotPassed) {
  AddNodes(w.cluster, 1, 12);
  Add("a", "", 1, 7000);
  Add("b");
  Add("c", "", 1, 0, 1000);
  for (const char* name : {"b", "c"}) Use(name, 0, 12000);
  EXPECT_EQ(Deserved("a"), 7000) << "also while it asks for nothing";
  EXPECT_EQ(Deserved("b"), 4000);
  EXPECT_EQ(Deserved("c"), 1000);
  Use("a", 0, 12000);
  EXPECT_EQ(Deserved("a"), 7000);
}

TEST_F(SharesTest, MoreGuaranteedThanThereIsIsCutInProportion) {
  AddNodes(w.cluster, 1, 12);
  Add("a", "", 1, 16000);
  Add("b", "", 1, 8000);
  Add("c");
  for (const char* name : {"a", "b", "c"}) Use(name, 0, 12000);
  EXPECT_EQ(Deserved("a"), 8000);
  EXPECT_EQ(Deserved("b"), 4000);
  EXPECT_EQ(Deserved("c"), 0);
}

TEST_F(SharesTest, AQueueSharesWithinTheOneAbove) {
  AddNodes(w.cluster, 1, 12);
  Add("lab");
  Add("a", "lab", 3);
  Add("b", "lab", 1);
  Add("shop");
  for (const char* name : {"a", "b", "shop"}) Use(name, 0, 12000);
  EXPECT_EQ(Deserved("lab"), 6000);
  EXPECT_EQ(Deserved("a"), 4500);
  EXPECT_EQ(Deserved("b"), 1500);
  EXPECT_EQ(Deserved("shop"), 6000);
  Add("lab", "", 1, 0, 4000);
  EXPECT_EQ(Deserved("a"), 3000);
  EXPECT_EQ(Deserved("shop"), 8000);
  Use("lab", 0, 12000);  // its own gangs are one more queue below it
  EXPECT_EQ(Deserved("a"), 2400);
  EXPECT_EQ(Deserved("b"), 800);
}

// Another scheduler's, of no queue.
model::PodFacts Stranger() {
  model::PodFacts stranger = Pod("", "x", 0, Cpu(4000));
  stranger.ours = false;
  stranger.node = "node-000";
  stranger.phase = model::PodPhase::kRunning;
  return stranger;
}

TEST_F(SharesTest, WhatIsHeldOutsideOfQueuesIsNobodys) {
  AddNodes(w.cluster, 1, 12);
  for (const char* name : {"a", "b"}) {
    Add(name);
    Use(name, 0, 12000);
  }
  w.cluster.SetPod(Stranger());
  EXPECT_EQ(Deserved("a"), 4000);
}

// `a` runs 6 cpu, which are deleted; `b` waits for all of the cluster.
struct SharesOfWhatIsDeletedTest : SharesTest {
  SharesOfWhatIsDeletedTest() {
    AddNodes(w.cluster, 1, 12);
    for (const char* name : {"a", "b"}) Add(name);
    Use("a", 6000, 0);
    Use("b", 0, 12000);
  }
  void Delete(const std::string& gang) {
    model::PodFacts pod = Pod(gang, "w", 0, Cpu(6000));
    pod.node = "node-000";
    pod.terminating = true;
    w.cluster.SetPod(pod);
  }
};

TEST_F(SharesOfWhatIsDeletedTest, IsAskedForNoMore) {
  EXPECT_EQ(Deserved("a"), 6000);
  Delete("of-a");
  EXPECT_EQ(Deserved("a"), 0);
  EXPECT_EQ(Deserved("b"), 12000);
  w.cluster.RemoveGang("default", "of-a");
  EXPECT_EQ(Deserved("b"), 12000) << "and is nobody's no more";
  w.cluster.RemovePod("default", "of-a-w-0");
  EXPECT_EQ(Deserved("b"), 12000);
}

TEST_F(SharesOfWhatIsDeletedTest, IsAskedForWhereItIsMadeAgain) {
  w.cluster.SetEvicted(w.cluster.FindTask("default", "of-a-w-0"), true);
  Delete("of-a");
  EXPECT_EQ(Deserved("a"), 6000);
}

TEST_F(SharesOfWhatIsDeletedTest, IsAskedForAsFarAsItsGangSaysSoWhileSomeOfItStays) {
  model::GangFacts gang = Gang("of-a", 2);
  gang.queue = "a";
  gang.has_min_resources = true;
  gang.min_resources = {{"cpu", 5000}};
  w.cluster.SetGang(gang);
  model::PodFacts stays = Pod("of-a", "w", 1, Cpu(1000));
  stays.node = "node-000";
  stays.phase = model::PodPhase::kRunning;
  w.cluster.SetPod(stays);
  Delete("of-a");
  EXPECT_EQ(Deserved("a"), 5000);
  stays.terminating = true;
  w.cluster.SetPod(stays);
  EXPECT_EQ(Deserved("a"), 0);
}

TEST_F(SharesOfWhatIsDeletedTest, OutsideOfQueuesIsShared) {
  w.cluster.RemovePod("default", "of-a-w-0");
  model::PodFacts stranger = Stranger();
  w.cluster.SetPod(stranger);
  EXPECT_EQ(Deserved("b"), 8000);
  stranger.terminating = true;
  w.cluster.SetPod(stranger);
  EXPECT_EQ(Deserved("b"), 12000);
}

TEST_F(SharesTest, GangsWithoutPodsAskForWhatTheySay) {
  AddNodes(w.cluster, 1, 12);
  for (const char* name : {"a", "b"}) {
    Add(name);
    model::GangFacts gang = Gang(name, 2);
    gang.queue = name;
    gang.phase = model::GangPhase::kNone;
    gang.has_min_resources = true;
    gang.min_resources = {{"cpu", name == std::string("a") ? 3000 : 12000}};
    w.cluster.SetGang(gang);
  }
  EXPECT_EQ(Deserved("a"), 3000);
  EXPECT_EQ(Deserved("b"), 9000);
}

TEST_F(SharesTest, AsWritten) {
  AddNodes(w.cluster, 1, 12);
  sharing = Sharing::kAsWritten;
  Add("lab");
  Add("a", "lab", 1, 0, 0, 2000);
  Add("b", "lab", 1, 0, 3000, 4000);
  Add("c", "", 1, 1000);
  EXPECT_EQ(Deserved("a"), 2000) << "whether it asks for it or not";
  EXPECT_EQ(Deserved("b"), 3000) << "within its capability";
  EXPECT_EQ(Deserved("lab"), 5000) << "those below it together";
  EXPECT_EQ(Deserved("c"), 1000) << "not below its guarantee";
  Use("default", 0, 1000);
  EXPECT_EQ(Deserved("default"), 0) << "nothing is nothing";
  Add("lab", "", 1, 0, 0, 2500);
  EXPECT_EQ(Deserved("lab"), 2500);
  EXPECT_EQ(Deserved("a"), 1000);
  EXPECT_EQ(Deserved("b"), 1500);
}

}  // namespace
}  // namespace gangway::gang
