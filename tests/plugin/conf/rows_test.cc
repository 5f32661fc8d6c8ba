// Rows of tests/spec/volcano-scheduler.rows that its configuration decides: a file in, a decision about
// a cluster out.
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/conf/scheduler_conf.h"
#include "plugin/gang/constraint/asks.h"
#include "plugin/gang/schedule.h"
#include "tests/plugin/gang/world.h"
#include "tests/testing/status_matchers.h"

namespace gangway::conf {
namespace {

using model::NamedAmounts;
using model::Reason;

constexpr std::int64_t kG = 1'000'000'000;
constexpr std::int64_t kGi = std::int64_t{1} << 30;
constexpr char kGpu[] = "nvidia.com/gpu", kFoo[] = "example.com/foo";

// The policy of a file with one plugin, and these arguments of it.
gang::Policy PolicyOf(const std::string& plugin, const std::string& arguments) {
  const auto conf = ReadSchedulerConf(absl::StrCat("actions: \"enqueue, allocate\"\ntiers: [{plugins: [{name: ", plugin,
                                                   ", arguments: {", arguments, "}}]}]"),
                                      "conf");
  EXPECT_TRUE(conf.ok()) << conf.status();
  return conf.ok() ? conf->policy : gang::Policy();
}

model::NodeFacts NodeOf(const std::string& name, std::int64_t milli, std::int64_t memory, NamedAmounts more = {}) {
  model::NodeFacts node;
  node.name = name;
  node.allocatable = std::move(more);
  for (const auto& amount : NamedAmounts{{"cpu", milli}, {"memory", memory}, {"pods", 10}})
    node.allocatable.push_back(amount);
  return node;
}

model::GangFacts Pending(const std::string& name, std::optional<NamedAmounts> min_resources) {
  model::GangFacts gang = testutil::Gang(name, 1);
  gang.phase = model::GangPhase::kPending;
  gang.has_min_resources = min_resources.has_value();
  if (min_resources.has_value()) gang.min_resources = *std::move(min_resources);
  return gang;
}

// ---- 9.1 enqueue

TEST(SchedulerConfRowTest, E6OvercommitLetsInUpToItsFactor) {
  for (const char* factor : {"1.2", "0.8"}) {
    testutil::World world;
    world.policy = PolicyOf("overcommit", absl::StrCat("overcommit-factor: ", factor));
    world.cluster.SetNode(NodeOf("n", 6000, 6 * kG));
    world.cluster.SetGang(Pending("little", NamedAmounts{{"cpu", 2000}, {"memory", 2 * kG}}));
    world.cluster.SetGang(Pending("much", NamedAmounts{{"cpu", 20'000}, {"memory", 20 * kG}}));
    world.cluster.SetGang(Pending("null", std::nullopt));
    EXPECT_TRUE(world.Of("little").admit);
    ASSERT_TRUE(world.Of("much").reason.has_value());
    EXPECT_EQ(world.Of("much").reason->kind, Reason::Kind::kClusterFull);
    EXPECT_EQ(world.Of("much").reason->overcommit_percent, 120) << factor;
    EXPECT_TRUE(world.Of("null").admit);
    world.cluster.SetGang(Pending("the-rest", NamedAmounts{{"cpu", 5200}}));
    EXPECT_TRUE(world.Of("the-rest").admit) << "2 and 5.2 are 120% of 6";
    world.cluster.SetGang(Pending("the-rest", NamedAmounts{{"cpu", 5201}}));
    EXPECT_FALSE(world.Of("the-rest").admit);
  }
}

// Without overcommit nobody is refused for the cluster's sum, without proportion and capacity for that of a queue.
TEST(SchedulerConfRowTest, WhoIsLetInWithoutSums) {
  testutil::World world;
  world.cluster.SetNode(NodeOf("n", 6000, 6 * kG));
  model::QueueFacts small = testutil::Queue("small");
  small.capability = {{"cpu", 1000}};
  world.cluster.SetQueue(small);
  model::GangFacts of_small = Pending("of-small", NamedAmounts{{"cpu", 2000}});
  of_small.queue = "small";
  world.cluster.SetGang(of_small);
  world.cluster.SetGang(Pending("much", NamedAmounts{{"cpu", 20'000}}));
  EXPECT_FALSE(world.Of("much").admit) << "as it is without a file";
  world.policy = PolicyOf("proportion", "");
  ASSERT_TRUE(world.Of("of-small").reason.has_value());
  EXPECT_EQ(world.Of("of-small").reason->kind, Reason::Kind::kQueueFull);
  world.policy = PolicyOf("gang", "");
  EXPECT_TRUE(world.Of("of-small").admit);
  EXPECT_TRUE(world.Of("much").admit);
  small.open = false;
  world.cluster.SetQueue(small);
  EXPECT_FALSE(world.Of("of-small").admit) << "a closed queue lets nobody in";
}

model::GangFacts AskingQuota(const std::string& name, NamedAmounts asks) {
  model::GangFacts gang = Pending(name, NamedAmounts{{"cpu", 1000}});
  gang.quota_asks = std::move(asks);
  return gang;
}

TEST(SchedulerConfRowTest, E8WhatQuotasOfTheNamespaceLeave) {
  testutil::World world;
  world.policy = PolicyOf("resourcequota", "");
  world.cluster.SetNode(NodeOf("n", 60'000, 60 * kG));
  world.cluster.SetQuota({"default", "q", {{"count/pods", 10, 2}, {"requests.cpu", 8000, 3000}}});
  world.cluster.SetGang(AskingQuota("fits", {{"cpu", 5000}, {"requests.cpu", 5000}, {"requests.memory", 9 * kG}}));
  EXPECT_TRUE(world.Of("fits").admit) << "memory is not limited";
  world.cluster.RemoveGang("default", "fits");
  world.cluster.SetGang(AskingQuota("exceeds", {{"count/pods", 9}, {"requests.cpu", 5001}}));
  ASSERT_TRUE(world.Of("exceeds").reason.has_value());
  EXPECT_EQ(model::Render(*world.Of("exceeds").reason),
            "waits for 1 of 1 task: needs count/pods 9, quota q uses 2 of 10, 1 too many; needs requests.cpu 5.001, "
            "quota q uses 3 of 8, 0.001 too many");
  world.cluster.SetGang(Pending("null", std::nullopt));
  EXPECT_TRUE(world.Of("null").admit);
  model::GangFacts elsewhere = AskingQuota("elsewhere", {{"requests.cpu", 50'000}});
  elsewhere.ns = "free";
  world.cluster.SetGang(elsewhere);
  const auto decided = [&](const std::string& ns, const std::string& name) {
    gang::Scratch scratch;
    for (const model::Decision& decision : gang::Schedule(world.cluster, world.policy, testutil::At(0), scratch)) {
      if (decision.gang == world.cluster.FindGang(ns, name)) return decision.admit;
    }
    return false;
  };
  EXPECT_TRUE(decided("free", "elsewhere")) << "a namespace without quotas";
  world.policy.admit_by_quotas = false;
  EXPECT_TRUE(world.Of("exceeds").admit) << "as it is without the plugin";
}

// Whoever is refused by another rule takes nothing of the quota; who is let in does, while his pods are not there.
TEST(SchedulerConfRowTest, E8WhoIsRefusedTakesNothingOfAQuota) {
  testutil::World world;
  world.policy = PolicyOf("resourcequota", "");
  world.policy.admit_by_queues = true;
  world.cluster.SetNode(NodeOf("n", 60'000, 60 * kG));
  world.cluster.SetQuota({"default", "q", {{"requests.cpu", 4000, 0}}});
  model::QueueFacts closed = testutil::Queue("closed");
  closed.open = false;
  world.cluster.SetQueue(closed);
  model::GangFacts refused = AskingQuota("a-refused", {{"requests.cpu", 4000}});
  refused.queue = "closed";
  world.cluster.SetGang(refused);
  world.cluster.SetGang(AskingQuota("b", {{"requests.cpu", 3000}}));
  world.cluster.SetGang(AskingQuota("c", {{"requests.cpu", 1001}}));
  EXPECT_FALSE(world.Of("a-refused").admit);
  EXPECT_TRUE(world.Of("b").admit);
  ASSERT_TRUE(world.Of("c").reason.has_value());
  EXPECT_THAT(world.Of("c").reason->sums,
              ::testing::ElementsAre(model::SumLack{"requests.cpu", 1001, 4000, 3000, 0, 3000}));
  model::GangFacts let_in = AskingQuota("b", {{"requests.cpu", 3000}});
  let_in.phase = model::GangPhase::kInqueue;
  world.cluster.SetGang(let_in);
  EXPECT_FALSE(world.Of("c").admit) << "its pods are still to come";
  model::Wants wants;
  wants.requests = {{"cpu", 3000}, {"pods", 1}};
  world.cluster.SetPod(testutil::Pod("b", "w", 0, wants));
  EXPECT_TRUE(world.Of("c").admit) << "from now on the quota's own count says what they take";
}

// Of two pods one is there, and the quota counts it.
TEST(SchedulerConfRowTest, E8WhatIsForPodsThatAreThereIsCountedOnce) {
  testutil::World world;
  world.policy = PolicyOf("resourcequota", "");
  world.cluster.SetNode(NodeOf("n", 60'000, 60 * kG));
  world.cluster.SetQuota({"default", "q", {{"requests.cpu", 4000, 2000}}});
  model::GangFacts gang = AskingQuota("g", {{"requests.cpu", 4000}});
  gang.min_member = 2;
  world.cluster.SetGang(gang);
  EXPECT_FALSE(world.Of("g").admit);
  model::Wants wants;
  wants.requests = {{"cpu", 2000}, {"pods", 1}};
  world.cluster.SetPod(testutil::Pod("g", "w", 0, wants));
  EXPECT_TRUE(world.Of("g").admit);
}

// The node takes one of the two.
TEST(SchedulerConfRowTest, E7WhoseWaitingTimeIsOverFirstGoesFirst) {
  const auto first = [](const std::string& arguments) {
    testutil::World world;
    world.policy = PolicyOf("sla", arguments);
    world.cluster.SetNode(NodeOf("n", 1000, kG));
    for (const auto& [name, wait] : {std::pair("a", std::optional<absl::Duration>()),
                                     std::pair("b", std::optional<absl::Duration>(absl::Hours(1)))}) {
      model::GangFacts gang = testutil::Gang(name, 1);
      gang.waiting_time = wait;
      world.cluster.SetGang(gang);
      model::Wants wants;
      wants.requests = {{"cpu", 1000}, {"pods", 1}};
      world.cluster.SetPod(testutil::Pod(name, "w", 0, wants));
    }
    const auto placed = world.Placed();
    return placed.size() == 1 ? placed.begin()->first : "";
  };
  EXPECT_EQ(first("sla-waiting-time: 3m"), "a-w-0");
  EXPECT_EQ(first("sla-waiting-time: 180"), "b-w-0") << "of a wrong type";
  EXPECT_EQ(first(""), "b-w-0");
}

// Priority goes before waiting time, and without the plugin none counts.
TEST(SchedulerConfRowTest, WaitingTimesCountAmongEquals) {
  testutil::World world;
  world.cluster.SetPriorityClass({"high", 10, false});
  world.cluster.SetNode(NodeOf("n", 1000, kG));
  model::GangFacts hurried = testutil::Gang("hurried", 1), high = testutil::Gang("high", 1);
  hurried.waiting_time = absl::Seconds(1);
  high.priority_class = "high";
  model::Wants wants;
  wants.requests = {{"cpu", 1000}, {"pods", 1}};
  for (const model::GangFacts& gang : {hurried, high}) {
    world.cluster.SetGang(gang);
    world.cluster.SetPod(testutil::Pod(gang.name, "w", 0, wants));
  }
  world.policy = PolicyOf("sla", "");
  EXPECT_TRUE(world.Placed().contains("high-w-0"));
  high.priority_class = "";
  world.cluster.SetGang(high);
  EXPECT_TRUE(world.Placed().contains("hurried-w-0"));
  world.policy = PolicyOf("gang", "");
  EXPECT_TRUE(world.Placed().contains("high-w-0")) << "by name, since they came together";
}

// ---- 9.10 binpack: the scores of our own, of a million, as Volcano's

struct BinpackRowTest : testutil::World, ::testing::Test {
  BinpackRowTest() {
    cluster.SetNode(NodeOf("n1", 2000, 4 * kGi));
    cluster.SetNode(NodeOf("n2", 4000, 16 * kGi, {{kGpu, 4}}));
    cluster.SetNode(NodeOf("n3", 2000, 4 * kGi, {{kFoo, 16}}));
    Add("p1", {{"cpu", 1000}, {"memory", kGi}}, "n1");
    Add("p2", {{"cpu", 1500}}, "n3");
    Add("p3", {{"cpu", 2000}, {"memory", 10 * kGi}, {kGpu, 2}}, "");
    Add("p4", {{"cpu", 3000}, {"memory", 4 * kGi}, {kFoo, 3}}, "");
  }
  void Add(const std::string& name, NamedAmounts requests, const std::string& node) {
    cluster.SetGang(testutil::Gang(name, 1));
    model::Wants wants;
    wants.requests = std::move(requests);
    model::PodFacts pod = testutil::Pod(name, "w", 0, wants);
    pod.name = name;
    pod.node = node;
    if (!node.empty()) pod.phase = model::PodPhase::kRunning;
    cluster.SetPod(pod);
  }
  // As binpack would say it with that weight of its own.
  double Score(const std::string& pod, const std::string& node, double weight) {
    const gang::Overlay overlay(cluster, constraint::AllKinds(), policy.packing);
    const constraint::Asks& asks = overlay.AsksOf(cluster.task(cluster.FindTask("default", pod)).shape);
    return static_cast<double>(
               asks.ScoresOnRow(cluster.FindNode(node))[static_cast<std::size_t>(constraint::Level::kPack)]) /
           1e6 * 100 * weight;
  }
  bool Fits(const std::string& pod, const std::string& node) {
    const gang::Overlay overlay(cluster, constraint::AllKinds(), policy.packing);
    return overlay.AsksOf(cluster.task(cluster.FindTask("default", pod)).shape).CopiesOnRow(cluster.FindNode(node)) > 0;
  }
  // Where Volcano says 0 because a resource is not enough, a node is not ranked at all.
  void ExpectTooLittle() {
    for (const auto& [pod, node] :
         {std::pair("p1", "n3"), std::pair("p2", "n1"), std::pair("p2", "n3"), std::pair("p3", "n1"),
          std::pair("p3", "n3"), std::pair("p4", "n1"), std::pair("p4", "n3")}) {
      EXPECT_FALSE(Fits(pod, node)) << pod << " " << node;
    }
  }
};

TEST_F(BinpackRowTest, B1WeightsOfResources) {
  policy = PolicyOf("binpack",
                    absl::StrCat("binpack.weight: 10, binpack.cpu: 2, binpack.memory: 3, binpack.resources: \"", kGpu,
                                 ", ", kFoo, "\", binpack.resources.", kGpu, ": 7, binpack.resources.", kFoo, ": 8"));
  EXPECT_NEAR(Score("p1", "n1", 10), 700, 0.002);
  EXPECT_NEAR(Score("p1", "n2", 10), 137.5, 0.002);
  EXPECT_NEAR(Score("p2", "n2", 10), 375, 0.002);
  EXPECT_NEAR(Score("p3", "n2", 10), 531.25, 0.002);
  EXPECT_NEAR(Score("p4", "n2", 10), 173.0769, 0.002);
  ExpectTooLittle();
}

TEST_F(BinpackRowTest, B2WhatHasNoWeightDoesNotCount) {
  policy = PolicyOf("binpack",
                    absl::StrCat("binpack.weight: 1, binpack.resources: ", kGpu, ", binpack.resources.", kGpu, ": 23"));
  EXPECT_NEAR(Score("p1", "n1", 1), 75, 0.002);
  EXPECT_NEAR(Score("p1", "n2", 1), 15.625, 0.002);
  EXPECT_NEAR(Score("p2", "n2", 1), 37.5, 0.002);
  EXPECT_NEAR(Score("p3", "n2", 1), 50.5, 0.002);
  EXPECT_NEAR(Score("p4", "n2", 1), 50, 0.002);
  ExpectTooLittle();
}

TEST_F(BinpackRowTest, B3WhatIsNegativeCountsAsOne) {
  policy = PolicyOf("binpack",
                    absl::StrCat("binpack.weight: 10, binpack.cpu: 5, binpack.memory: 2, binpack.resources: \"", kGpu,
                                 ", ", kFoo, "\", binpack.resources.", kGpu, ": 7, binpack.resources.", kFoo, ": -3"));
  ASSERT_TRUE(policy.packing.weights.has_value());
  EXPECT_THAT(*policy.packing.weights, ::testing::ElementsAre(::testing::Pair("cpu", 5), ::testing::Pair(kFoo, 1),
                                                              ::testing::Pair("memory", 2), ::testing::Pair(kGpu, 7)));
}

// The weights decide where a pod goes: one node is full by cpu, the other by memory.
TEST(SchedulerConfRowTest, WeightsDecideWhichNodeIsFuller) {
  testutil::World world;
  world.cluster.SetNode(NodeOf("by-cpu", 10'000, 10 * kG));
  world.cluster.SetNode(NodeOf("by-memory", 10'000, 10 * kG));
  for (const auto& [node, milli, memory] : {std::tuple("by-cpu", 5000, kG), std::tuple("by-memory", 1000, 5 * kG)}) {
    world.cluster.SetGang(testutil::Gang(node, 1));
    model::Wants wants;
    wants.requests = {{"cpu", milli}, {"memory", memory}, {"pods", 1}};
    model::PodFacts pod = testutil::Pod(node, "w", 0, wants);
    pod.node = node;
    pod.phase = model::PodPhase::kRunning;
    world.cluster.SetPod(pod);
  }
  testutil::AddGang(world.cluster, "g", 1, 1, 1000);
  world.policy = PolicyOf("binpack", "binpack.cpu: 1, binpack.memory: 3");
  EXPECT_EQ(world.Placed()["g-w-0"], "by-memory");
  world.policy = PolicyOf("binpack", "binpack.cpu: 3, binpack.memory: 1");
  EXPECT_EQ(world.Placed()["g-w-0"], "by-cpu");
  world.policy = PolicyOf("binpack", "binpack.cpu: 0, binpack.memory: 0");
  EXPECT_EQ(world.Placed()["g-w-0"], "by-cpu") << "by name";
}

}  // namespace
}  // namespace gangway::conf
