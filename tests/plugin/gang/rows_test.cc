// Rows of tests/spec/volcano-scheduler.rows, as decisions about a cluster; scheduler_test and
// fields_test have those that only objects show. `2c1G` here is {2000, 1}: milli-cpu and gigabytes.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/gang/world.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::gang {
namespace {

using model::Decision;
using model::GangPhase;
using model::NamedAmounts;
using model::Reason;
using model::Wants;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using testutil::At;

constexpr std::int64_t kG = 1'000'000'000;
constexpr std::int64_t kGi = std::int64_t{1} << 30;
constexpr char kGpu[] = "nvidia.com/gpu";

// "1c2G" of a queue, a node or a pod.
NamedAmounts Amounts(std::int64_t milli, std::int64_t memory, NamedAmounts more = {}) {
  NamedAmounts amounts = {{"cpu", milli}, {"memory", memory}};
  for (auto& extra : more) amounts.push_back(std::move(extra));
  return amounts;
}

struct SchedulerRowTest : testutil::World, ::testing::Test {
  void AddNode(const std::string& name, NamedAmounts allocatable, const std::string& role = "") {
    model::NodeFacts node;
    node.name = name;
    node.allocatable = std::move(allocatable);
    node.allocatable.emplace_back("pods", 10);
    node.labels = {{"kubernetes.io/hostname", name}};
    if (!role.empty()) node.labels.emplace_back("role", role);
    cluster.SetNode(node);
  }
  void AddQueue(const std::string& name, NamedAmounts capability = {}, const std::string& parent = "",
                int priority = 0) {
    model::QueueFacts queue = testutil::Queue(name);
    queue.capability = std::move(capability);
    queue.parent = parent;
    queue.priority = priority;
    cluster.SetQueue(queue);
  }
  void AddGang(const std::string& name, const std::string& queue, int min_member,
               std::vector<std::pair<std::string, int>> minima = {}) {
    model::GangFacts gang = testutil::Gang(name, min_member);
    gang.queue = queue;
    gang.min_task_member = std::move(minima);
    gang.created = At(created_++);
    cluster.SetGang(gang);
  }
  // One that is not let in, and asks for that much.
  void AddOutside(const std::string& name, const std::string& queue, NamedAmounts min_resources) {
    model::GangFacts gang = testutil::Gang(name, 1);
    gang.queue = queue;
    gang.phase = GangPhase::kPending;
    gang.has_min_resources = true;
    gang.min_resources = std::move(min_resources);
    gang.created = At(created_++);
    cluster.SetGang(gang);
  }
  model::PodFacts PodOf(const std::string& gang, const std::string& name, NamedAmounts requests) {
    Wants wants;
    wants.requests = std::move(requests);
    wants.requests.emplace_back("pods", 1);
    model::PodFacts pod = testutil::Pod(gang, "w", pods_++, wants);
    pod.name = name;
    return pod;
  }
  void AddPod(const std::string& gang, const std::string& name, NamedAmounts requests, const std::string& role = "") {
    model::PodFacts pod = PodOf(gang, name, std::move(requests));
    if (!role.empty()) {
      pod.role = role;
      pod.wants.selector = {{"role", role}};
    }
    cluster.SetPod(pod);
  }
  void AddRunning(const std::string& gang, const std::string& name, NamedAmounts requests, const std::string& node,
                  const std::string& role = "w") {
    model::PodFacts pod = PodOf(gang, name, std::move(requests));
    pod.role = role;
    pod.node = node;
    pod.phase = model::PodPhase::kRunning;
    cluster.SetPod(pod);
  }
  // A gang of one in the queue, whose pod has that name too.
  void AddOne(const std::string& name, const std::string& queue, NamedAmounts requests) {
    AddGang(name, queue, 1);
    AddPod(name, name, std::move(requests));
  }
  void AddOneThatRuns(const std::string& name, const std::string& queue, NamedAmounts requests,
                      const std::string& node) {
    AddGang(name, queue, 1);
    AddRunning(name, name, std::move(requests), node);
  }
  Reason::Kind Waits(const std::string& gang) {
    const Decision decision = Of(gang);
    EXPECT_FALSE(decision.admit);
    EXPECT_THAT(decision.placements, IsEmpty());
    return decision.reason.has_value() ? decision.reason->kind : Reason::Kind::kBindFailed;
  }
  int created_ = 0, pods_ = 0;
};

// ---- 9.1 enqueue

// Whoever is refused by another rule takes nothing of its queue's room.
TEST_F(SchedulerRowTest, E9WhoIsRefusedHoldsNothing) {
  AddNode("n1", Amounts(4000, 4 * kG));
  AddQueue("c1", {{"cpu", 1000}});
  AddOutside("pg-a", "c1", {{"cpu", 1000}, {kGpu, 1}});  // there is none in the cluster
  AddOutside("pg-b", "c1", {{"cpu", 1000}});
  EXPECT_EQ(Waits("pg-a"), Reason::Kind::kClusterFull);
  EXPECT_TRUE(Of("pg-b").admit);
  AddNode("n2", Amounts(4000, 4 * kG, {{kGpu, 1}}));
  EXPECT_TRUE(Of("pg-a").admit);
  EXPECT_EQ(Waits("pg-b"), Reason::Kind::kQueueFull);
}

// ---- 9.2 allocate

TEST_F(SchedulerRowTest, A1AnyTaskFillsAMinimumOfOne) {
  AddNode("n1", Amounts(2000, 4 * kGi), "worker");
  AddGang("pg", "default", 1);
  AddPod("pg", "p1", Amounts(1000, kG), "master");
  AddPod("pg", "p2", Amounts(1000, kG), "worker");
  EXPECT_THAT(Placed(), ElementsAre(Pair("p2", "n1")));
}

TEST_F(SchedulerRowTest, A2EachRoleItsMinimum) {
  AddNode("n1", Amounts(1000, 4 * kGi), "master");
  AddNode("n2", Amounts(1000, 4 * kGi), "worker");
  AddGang("pg", "default", 2, {{"master", 1}, {"worker", 1}});
  for (const char* name : {"p0", "p1"}) AddPod("pg", name, Amounts(1000, kG), "master");
  for (const char* name : {"p2", "p3"}) AddPod("pg", name, Amounts(1000, kG), "worker");
  EXPECT_THAT(Placed(), ElementsAre(Pair("p0", "n1"), Pair("p2", "n2")));
}

TEST_F(SchedulerRowTest, A3ARoleShortBindsNothing) {
  AddNode("n1", Amounts(1000, 4 * kGi), "master");
  AddNode("n2", Amounts(2000, 4 * kGi), "worker");
  AddGang("pg", "default", 2, {{"master", 2}, {"worker", 0}});
  for (const char* name : {"p0", "p1"}) AddPod("pg", name, Amounts(1000, kG), "master");
  for (const char* name : {"p2", "p3"}) AddPod("pg", name, Amounts(1000, kG), "worker");
  EXPECT_THAT(Placed(), IsEmpty());
  EXPECT_EQ(Waits("pg"), Reason::Kind::kNoRoom);
}

TEST_F(SchedulerRowTest, A4NoMinimumPlacesWhatFits) {
  AddNode("n1", Amounts(2000, 4 * kGi));
  AddGang("pg", "default", 0);
  for (const char* name : {"p0", "p1"}) AddPod("pg", name, Amounts(1000, kG));
  EXPECT_THAT(Placed(), ElementsAre(Pair("p0", "n1"), Pair("p1", "n1")));
}

TEST_F(SchedulerRowTest, A5QueuesShareWhatIsBeyondMinima) {
  AddNode("n1", Amounts(2000, 4 * kG));
  for (const char* name : {"c1", "c2"}) AddQueue(name);
  AddGang("pg1", "c1", 0);
  AddGang("pg2", "c2", 0);
  for (const char* name : {"pg1", "pg2"}) {
    for (const char* pod : {"-p-1", "-p-2"}) AddPod(name, absl::StrCat(name, pod), Amounts(1000, kG));
  }
  EXPECT_THAT(Placed(), ElementsAre(Pair("pg1-p-1", "n1"), Pair("pg2-p-1", "n1")));
}

TEST_F(SchedulerRowTest, A6WhatFitsNowhereIsInNobodysWay) {
  AddNode("n1", Amounts(2000, 4 * kG));
  for (const char* name : {"c1", "c2"}) AddQueue(name);
  AddGang("pg1", "c1", 0);
  AddGang("pg2", "c2", 0);
  AddPod("pg1", "p1", Amounts(3000, kG));
  AddPod("pg2", "p2", Amounts(1000, kG));
  EXPECT_THAT(Placed(), ElementsAre(Pair("p2", "n1")));
}

// The queue that holds less goes first.
TEST_F(SchedulerRowTest, A7TheQueueThatHoldsLessGoesFirst) {
  AddNode("n1", Amounts(5000, 5 * kG));
  for (const char* name : {"q-1", "q-2"}) AddQueue(name);
  AddOneThatRuns("running", "q-1", Amounts(1000, kG), "n1");
  AddOne("two", "q-1", Amounts(2000, kG));
  AddOne("three", "q-2", Amounts(3000, kG));
  EXPECT_THAT(Placed(), ElementsAre(Pair("three", "n1")));
}

TEST_F(SchedulerRowTest, A8AndThenTheOther) {
  AddNode("n1", Amounts(5000, 5 * kG));
  for (const char* name : {"q-1", "q-2"}) AddQueue(name);
  AddOneThatRuns("running", "q-1", Amounts(1000, kG), "n1");
  AddOne("large-1", "q-1", Amounts(2000, kG));
  AddOne("large-2", "q-2", Amounts(2000, kG));
  AddOne("small-2", "q-2", Amounts(1000, kG));
  EXPECT_THAT(Placed(), ElementsAre(Pair("large-1", "n1"), Pair("large-2", "n1")));
}

TEST_F(SchedulerRowTest, A9AGangThatOnlyRunsHoldsUpNobody) {
  AddNode("n1", Amounts(5000, 5 * kG));
  AddQueue("q-1");
  AddOneThatRuns("pod-1", "q-1", Amounts(1000, kG), "n1");
  AddOne("pod-2", "q-1", Amounts(2000, kG));
  EXPECT_THAT(Placed(), ElementsAre(Pair("pod-2", "n1")));
}

// As there nothing is bound before both have room. Until then what is free is for whom it is enough.
TEST_F(SchedulerRowTest, A15NothingIsBoundWhileAPartOfTheRoomEnds) {
  AddNode("n1", Amounts(2000, 4 * kG));
  AddQueue("q1");
  AddGang("ends", "q1", 1);
  model::PodFacts ends = PodOf("ends", "ends", Amounts(1000, kG));
  ends.node = "n1";
  ends.phase = model::PodPhase::kRunning;
  ends.terminating = true;
  ends.grace_ends = At(30);
  cluster.SetPod(ends);
  AddGang("pg", "q1", 2);
  for (const char* name : {"a", "b"}) AddPod("pg", name, Amounts(1000, kG));
  EXPECT_EQ(Waits("pg"), Reason::Kind::kNoRoom);
  AddOne("behind", "q1", Amounts(1000, kG));
  EXPECT_THAT(Placed(), ElementsAre(Pair("behind", "n1")));
  cluster.RemovePod("default", "behind");
  cluster.RemovePod("default", "ends");
  EXPECT_THAT(Placed(), ElementsAre(Pair("a", "n1"), Pair("b", "n1")));
}

// ---- 9.4 gang formulas

// One each that asks for something and for nothing runs, waits for room, and waits without any. The row's six are five
// of a minimum of 5, and enough for one of 3: there those that wait and ask for nothing are counted as placed.
TEST_F(SchedulerRowTest, G1G2WhoAsksForNothingCountsOnceItHasANode) {
  AddNode("n1", Amounts(1000, 4 * kG));
  AddQueue("q1");
  AddGang("pg", "q1", 3);
  AddRunning("pg", "runs", Amounts(1000, kG), "n1");
  AddRunning("pg", "runs-be", {}, "n1");
  for (const char* name : {"waits", "pipelined"}) AddPod("pg", name, Amounts(1000, kG));
  for (const char* name : {"waits-be", "pipelined-be"}) AddPod("pg", name, {}, "elsewhere");
  EXPECT_TRUE(Of("pg").short_of_minimum);
  AddNode("n2", Amounts(0, 0), "elsewhere");
  EXPECT_THAT(Placed(), ElementsAre(Pair("pipelined-be", "n2"), Pair("waits-be", "n2")));
  AddGang("pg", "q1", 5);
  EXPECT_TRUE(Of("pg").short_of_minimum);
  EXPECT_THAT(Placed(), IsEmpty());
}

// What waits is beyond the minimum: the roles' are not looked at, since they ask for more than the gang does.
TEST_F(SchedulerRowTest, G10RolesAreSkippedWhenTheGangAsksForLess) {
  AddNode("n1", Amounts(2000, 4 * kG));
  const auto add = [&](int min_member) { AddGang("pg", "default", min_member, {{"a", 2}, {"b", 2}}); };
  add(2);
  AddRunning("pg", "a-0", Amounts(1000, kG), "n1", "a");
  AddRunning("pg", "b-0", Amounts(1000, kG), "n1", "b");
  AddPod("pg", "a-1", Amounts(1000, kG));
  EXPECT_EQ(Waits("pg"), Reason::Kind::kNoRoom);
  EXPECT_FALSE(Of("pg").short_of_minimum);
  add(4);
  EXPECT_TRUE(Of("pg").short_of_minimum);
}

// ---- 9.5 and 9.11 eviction, and the order of pods that ask for nothing

// Whoever is on a node that its pod may never use stays there, though it would go first.
TEST_F(SchedulerRowTest, V15NobodyIsEvictedWhereThatHelpsNobody) {
  cluster.SetPriorityClass({"low", 1});
  cluster.SetPriorityClass({"high", 9});
  AddNode("n1", Amounts(1000, 4 * kG), "gpu");
  AddNode("n2", Amounts(1000, 4 * kG), "cpu");
  AddQueue("q1");
  for (const auto& [name, node] : {std::pair("helps", "n2"), std::pair("in-vain", "n1")}) {
    AddOneThatRuns(name, "q1", Amounts(1000, kG), node);
    model::GangFacts gang = testutil::Gang(name, 1);
    gang.queue = "q1";
    gang.priority_class = "low";
    gang.created = At(created_++);
    cluster.SetGang(gang);
  }
  model::GangFacts high = testutil::Gang("high", 1);
  high.queue = "q1";
  high.priority_class = "high";
  cluster.SetGang(high);
  AddPod("high", "high", Amounts(1000, kG), "cpu");
  const Decision decision = Of("high");
  ASSERT_EQ(decision.evicted.size(), 1u);
  EXPECT_EQ(cluster.task(decision.evicted[0]).name, "helps");
  AddPod("high", "high", Amounts(1000, kG), "nowhere");
  EXPECT_THAT(Of("high").evicted, IsEmpty());
}

TEST_F(SchedulerRowTest, P19GangsThenPodsByPriority) {
  cluster.SetPriorityClass({"high", 2, false});
  cluster.SetPriorityClass({"low", 1, false});
  for (const auto& [gang, priority] : {std::pair("pg1", "low"), std::pair("pg2", "high")}) {
    model::GangFacts facts = testutil::Gang(gang, 0);
    facts.priority_class = priority;
    cluster.SetGang(facts);
    for (int i = 1; i <= 4; ++i) {
      model::PodFacts pod = PodOf(gang, absl::StrCat(gang, "-", i), {});
      pod.priority = i;
      cluster.SetPod(pod);
    }
  }
  const std::vector<std::string> order = {"pg2-4", "pg2-3", "pg2-2", "pg2-1", "pg1-4", "pg1-3", "pg1-2", "pg1-1"};
  for (std::size_t room = 0; room <= order.size(); ++room) {
    cluster.SetNode({"n1", {{"cpu", 1000}, {"pods", static_cast<std::int64_t>(room)}}, {}, {}, false});
    std::set<std::string> placed;
    for (const auto& [pod, node] : Placed()) placed.insert(pod);
    EXPECT_EQ(placed, std::set<std::string>(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(room)));
  }
}

// ---- 9.7 proportion

// Two queues with a pod each on two nodes of 2c2G.
struct ProportionRowTest : SchedulerRowTest {
  ProportionRowTest() {
    for (const char* name : {"n1", "n2"}) AddNode(name, Amounts(2000, 2 * kG));
    AddQueue("q1", Amounts(2000, 2 * kG));
    AddQueue("q2", Amounts(3000, 3 * kG));
    AddOneThatRuns("r1", "q1", Amounts(1000, 2 * kG), "n1");
    AddOneThatRuns("r2", "q2", Amounts(2000, kG), "n2");
    policy.overcommit_percent = 1000;
  }
  // Let in, with its pod.
  void AddPending(const std::string& name, const std::string& queue, const NamedAmounts& amounts) {
    AddOutside(name, queue, amounts);
    AddPod(name, name, amounts);
  }
};

TEST_F(ProportionRowTest, Q1OnlyWhatIsAskedForIsCompared) {
  AddPending("pod", "q1", Amounts(1000, 0));
  EXPECT_TRUE(Of("pod").admit);
  EXPECT_THAT(Placed(), ElementsAre(Pair("pod", "n1")));
  AddQueue("q1", Amounts(2000, kG));
  EXPECT_TRUE(Of("pod").admit) << "whose queue holds more memory than it may";
  EXPECT_THAT(Placed(), ElementsAre(Pair("pod", "n1")));
}

TEST_F(ProportionRowTest, Q2MemoryAloneToo) {
  AddPending("pod", "q2", Amounts(0, kG));
  EXPECT_TRUE(Of("pod").admit);
  EXPECT_THAT(Placed(), ElementsAre(Pair("pod", "n2")));
}

TEST_F(ProportionRowTest, Q3WhatIsTooMuchForTheQueueIsNotLetIn) {
  AddNode("n3", Amounts(8000, 8 * kG));
  AddPending("pod", "q1", Amounts(1000, kG));
  EXPECT_EQ(Waits("pod"), Reason::Kind::kQueueFull);
}

TEST_F(ProportionRowTest, Q4NorPlacedWhereItWasLetInBefore) {
  AddNode("n3", Amounts(8000, 8 * kG));
  AddOne("pod", "q1", Amounts(1000, kG));
  EXPECT_EQ(Waits("pod"), Reason::Kind::kQueueFull);
}

TEST_F(ProportionRowTest, Q5AClosedQueueLetsNobodyIn) {
  AddNode("n3", Amounts(8000, 8 * kG));
  model::QueueFacts closed = testutil::Queue("q3");
  closed.open = false;
  cluster.SetQueue(closed);
  AddPending("pod", "q3", Amounts(1000, kG));
  EXPECT_EQ(Waits("pod"), Reason::Kind::kQueueClosed);
  closed.open = true;
  cluster.SetQueue(closed);
  EXPECT_TRUE(Of("pod").admit);
}

TEST_F(SchedulerRowTest, Q6C5TheQueueOfHigherPriorityGoesFirst) {
  for (const char* name : {"n1", "n2"}) AddNode(name, Amounts(2000, 4 * kGi));
  AddQueue("q1", {}, "", 5);
  AddQueue("q2", {}, "", 1);
  AddQueue("q3", {}, "", 10);
  AddOneThatRuns("runs", "q1", Amounts(2000, kG), "n1");
  AddOne("low", "q2", Amounts(2000, kG));
  AddOne("high", "q3", Amounts(2000, kG));
  EXPECT_THAT(Placed(), ElementsAre(Pair("high", "n2")));
}

// What is bound is not counted a second time as what was let in.
TEST_F(SchedulerRowTest, Q7BoundPodsOfAGangThatIsStillInqueueCountOnce) {
  AddNode("n1", Amounts(4000, 16 * kG));
  AddQueue("q1", {{"cpu", 4000}});
  model::GangFacts gang = testutil::Gang("pg-a", 3);
  gang.queue = "q1";
  gang.has_min_resources = true;
  gang.min_resources = {{"cpu", 3000}};
  cluster.SetGang(gang);
  for (int i = 0; i < 3; ++i) AddPod("pg-a", absl::StrCat("a", i), Amounts(1000, kG));
  EXPECT_EQ(Placed().size(), 3u);
  for (int i = 0; i < 3; ++i) AddRunning("pg-a", absl::StrCat("a", i), Amounts(1000, kG), "n1");
  AddOutside("pg-b", "q1", {{"cpu", 1000}});
  AddPod("pg-b", "b", Amounts(1000, kG));
  EXPECT_TRUE(Of("pg-b").admit);
  EXPECT_THAT(Placed(), ElementsAre(Pair("b", "n1")));
}

TEST_F(SchedulerRowTest, Q8WhatACapabilityDoesNotNameIsNotLimited) {
  for (const char* name : {"n1", "n2"}) AddNode(name, Amounts(2000, 2 * kG));
  AddNode("n3", Amounts(2000, 2 * kG, {{kGpu, 4}, {"rdma/ib", 1}}));
  AddQueue("q2", {{"cpu", 2000}, {kGpu, 4}});
  AddOutside("pod", "q2", Amounts(1000, kG, {{kGpu, 1}, {"rdma/ib", 1}}));
  AddPod("pod", "pod", Amounts(1000, kG, {{kGpu, 1}, {"rdma/ib", 1}}));
  EXPECT_THAT(Placed(), ElementsAre(Pair("pod", "n3")));
}

// ---- 9.8 capacity, flat

TEST_F(SchedulerRowTest, C1AQueueGetsWhatItsCapabilityAllows) {
  AddNode("n1", Amounts(2000, 4 * kGi), "here");
  AddNode("n2", Amounts(2000, 4 * kGi));
  AddQueue("q1", Amounts(2000, 2 * kGi));
  AddOneThatRuns("runs", "q1", Amounts(1000, kGi), "n1");
  AddGang("pod", "q1", 1);
  AddPod("pod", "pod", Amounts(1000, kGi), "here");
  EXPECT_THAT(Placed(), ElementsAre(Pair("pod", "n1")));
}

TEST_F(SchedulerRowTest, C2AndNoMore) {
  for (const char* name : {"n1", "n2"}) AddNode(name, Amounts(2000, 4 * kGi));
  AddQueue("q2", {{"cpu", 1500}});
  AddOneThatRuns("runs", "q2", Amounts(1000, kGi), "n1");
  AddOne("pod", "q2", Amounts(1000, kGi));
  EXPECT_EQ(Waits("pod"), Reason::Kind::kQueueFull);
}

TEST_F(SchedulerRowTest, C12EveryQueueByItself) {
  for (const char* name : {"n1", "n2"}) AddNode(name, Amounts(3000, 3 * kG));
  AddQueue("q1", Amounts(2000, 2 * kG));
  AddQueue("q2", Amounts(3000, 3 * kG));
  model::QueueFacts closed = testutil::Queue("q3");
  closed.open = false;
  cluster.SetQueue(closed);
  AddOneThatRuns("r1", "q1", Amounts(1000, 3 * kG), "n1");
  AddOneThatRuns("r2", "q2", Amounts(3000, kG), "n2");
  policy.overcommit_percent = 1000;
  AddOutside("both", "q1", Amounts(1000, kG));
  AddOutside("closed", "q3", Amounts(1000, kG));
  EXPECT_EQ(Waits("both"), Reason::Kind::kQueueFull);
  EXPECT_EQ(Waits("closed"), Reason::Kind::kQueueClosed);
  AddOutside("cpu", "q1", Amounts(1000, 0));
  AddPod("cpu", "cpu", Amounts(1000, 0));
  AddOutside("memory", "q2", Amounts(0, kG));
  AddPod("memory", "memory", Amounts(0, kG));
  EXPECT_THAT(Placed(), ElementsAre(Pair("cpu", "n1"), Pair("memory", "n2")));
}

// ---- 9.9 capacity, hierarchical

struct TreeRowTest : SchedulerRowTest {
  TreeRowTest() {
    AddNode("n1", Amounts(8000, 8 * kGi));
    AddQueue("root");
  }
};

TEST_F(TreeRowTest, T1ALeafWithinItsCapability) {
  AddQueue("q1", {{"cpu", 4000}}, "root");
  AddQueue("q11", {{"cpu", 1000}}, "q1");
  AddQueue("q12", {{"cpu", 3000}}, "q1");
  AddOne("pod", "q11", Amounts(1000, kGi));
  EXPECT_THAT(Placed(), ElementsAre(Pair("pod", "n1")));
}

// Volcano runs none in a queue that has queues below it.
TEST_F(TreeRowTest, T2AQueueWithQueuesBelowItRunsJobsToo) {
  AddQueue("q1", {{"cpu", 4000}}, "root");
  AddQueue("q11", {{"cpu", 1000}}, "q1");
  AddQueue("q12", {{"cpu", 3000}}, "q1");
  AddOne("pod", "q1", Amounts(1000, kGi));
  EXPECT_THAT(Placed(), ElementsAre(Pair("pod", "n1")));
}

TEST_F(TreeRowTest, T3ALeafUpToItsCapability) {
  AddQueue("q3", {{"cpu", 4000}}, "root");
  for (const char* name : {"q31", "q32"}) AddQueue(name, {{"cpu", 4000}}, "q3");
  AddGang("pg", "q31", 2);
  for (const char* name : {"p0", "p1"}) AddPod("pg", name, Amounts(2000, kGi));
  EXPECT_THAT(Placed(), ElementsAre(Pair("p0", "n1"), Pair("p1", "n1")));
}

TEST_F(TreeRowTest, T6WhatALeafDoesNotNameItsParentsLimit) {
  AddQueue("q5", {{"memory", 4 * kGi}}, "root");
  AddQueue("q51", {{"memory", 2 * kGi}}, "q5");
  AddOne("pod", "q51", Amounts(1000, 0));
  EXPECT_THAT(Placed(), ElementsAre(Pair("pod", "n1")));
}

TEST_F(TreeRowTest, T7TheParentsRoomIsLetOutOnce) {
  AddQueue("q6", Amounts(2000, 4 * kGi), "root");
  for (const char* name : {"q61", "q62"}) AddQueue(name, {}, "q6");
  AddOutside("first", "q61", Amounts(2000, 4 * kGi));
  AddOutside("second", "q62", Amounts(2000, 4 * kGi));
  EXPECT_TRUE(Of("first").admit);
  EXPECT_EQ(Waits("second"), Reason::Kind::kQueueFull);
}

TEST_F(TreeRowTest, T8ChildrenThatAreGuaranteedMoreThanThereIs) {
  AddQueue("q7", {{"cpu", 6000}}, "root");
  for (const char* name : {"q71", "q72"}) {
    model::QueueFacts queue = testutil::Queue(name);
    queue.parent = "q7";
    queue.guarantee = {{"cpu", 4000}};
    cluster.SetQueue(queue);
  }
  AddOutside("one", "q71", {{"cpu", 2000}});
  EXPECT_TRUE(Of("one").admit) << "and the process lives";
}

TEST_F(TreeRowTest, T9AChildHasItsParentsDevices) {
  AddNode("gpu", Amounts(4000, 8 * kGi, {{kGpu, 8}}));
  AddQueue("q8", {{"cpu", 4000}, {kGpu, 8}}, "root");
  for (const char* name : {"q81", "q82"}) AddQueue(name, {}, "q8");
  AddOne("pod", "q81", Amounts(2000, kGi, {{kGpu, 1}}));
  EXPECT_THAT(Placed(), ElementsAre(Pair("pod", "gpu")));
}

TEST_F(TreeRowTest, T11AParentWithoutACapabilityLimitsNobody) {
  AddNode("gpu", Amounts(8000, 16 * kGi, {{kGpu, 8}}));
  AddQueue("q", {}, "root");
  for (const char* name : {"left", "right"}) {
    AddQueue(name, {{"cpu", 4000}, {kGpu, 4}}, "q");
    AddOne(absl::StrCat("in-", name), name, Amounts(1000, kGi, {{kGpu, 4}}));
  }
  EXPECT_THAT(Placed(), ElementsAre(Pair("in-left", "gpu"), Pair("in-right", "gpu")));
}

}  // namespace
}  // namespace gangway::gang
