// Who must leave so that another begins: what users rely on, and the rows of the contract of Volcano's scheduler about
// preemption and reclaim as decisions about a cluster. `2c1G` here is {2000, 1}: milli-cpu and gigabytes.
#include "plugin/gang/evict.h"

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
using model::NamedAmounts;
using model::Reason;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using testutil::At;

constexpr std::int64_t kG = 1'000'000'000;
constexpr char kGpu[] = "nvidia.com/gpu";
constexpr char kA100[] = "nvidia.com/a100";

NamedAmounts Amounts(std::int64_t milli, std::int64_t giga = 0, NamedAmounts more = {}) {
  NamedAmounts amounts;
  if (milli > 0) amounts.emplace_back("cpu", milli);
  if (giga > 0) amounts.emplace_back("memory", giga * kG);
  for (auto& extra : more) amounts.push_back(std::move(extra));
  return amounts;
}

struct EvictTest : testutil::World, ::testing::Test {
  EvictTest() {
    policy.preempt = policy.reclaim = true;
    cluster.SetPriorityClass({"low", 10});
    cluster.SetPriorityClass({"mid", 50});
    cluster.SetPriorityClass({"high", 100});
  }
  void Node(const std::string& name, NamedAmounts allocatable, int pods = 10) {
    model::NodeFacts node;
    node.name = name;
    node.allocatable = std::move(allocatable);
    node.allocatable.emplace_back("pods", pods);
    node.labels = {{"kubernetes.io/hostname", name}};
    cluster.SetNode(node);
  }
  void Queue(const std::string& name, NamedAmounts deserved = {}, NamedAmounts capability = {},
             const std::string& parent = "", int priority = 0) {
    model::QueueFacts queue = testutil::Queue(name);
    queue.deserved = std::move(deserved);
    queue.capability = std::move(capability);
    queue.parent = parent;
    queue.priority = priority;
    cluster.SetQueue(queue);
  }
  void Group(const std::string& name, const std::string& priority, int min_member,
             const std::string& queue = "default") {
    model::GangFacts gang = testutil::Gang(name, min_member);
    gang.priority_class = priority;
    gang.queue = queue;
    gang.created = At(created_++);
    cluster.SetGang(gang);
  }
  model::PodFacts PodOf(const std::string& gang, const std::string& name, NamedAmounts requests,
                        const std::string& node = "") {
    model::Wants wants;
    wants.requests = std::move(requests);
    wants.requests.emplace_back("pods", 1);
    model::PodFacts pod = testutil::Pod(gang, "w", pods_++, wants);
    pod.name = name;
    pod.uid = "uid-" + name;
    pod.node = node;
    if (!node.empty()) pod.phase = model::PodPhase::kRunning;
    return pod;
  }
  void Runs(const std::string& gang, const std::string& name, NamedAmounts requests, const std::string& node,
            bool evictable = true) {
    model::PodFacts pod = PodOf(gang, name, std::move(requests), node);
    pod.evictable = evictable;
    cluster.SetPod(pod);
  }
  void Waits(const std::string& gang, const std::string& name, NamedAmounts requests) {
    cluster.SetPod(PodOf(gang, name, std::move(requests)));
  }
  // A gang with one pod of the same name.
  void OneRuns(const std::string& name, const std::string& priority, const std::string& queue, NamedAmounts requests,
               const std::string& node, bool evictable = true) {
    Group(name, priority, 1, queue);
    Runs(name, name, std::move(requests), node, evictable);
  }
  void OneWaits(const std::string& name, const std::string& priority, const std::string& queue, NamedAmounts requests) {
    Group(name, priority, 1, queue);
    Waits(name, name, std::move(requests));
  }
  std::vector<std::string> NamesOf(const std::vector<model::TaskId>& tasks) const {
    std::vector<std::string> names;
    for (const model::TaskId task : tasks) names.push_back(cluster.task(task).name);
    return names;
  }
  std::vector<std::string> Evicted() {
    std::vector<std::string> names;
    for (const Decision& decision : World::Run()) {
      for (const std::string& name : NamesOf(decision.evicted)) names.push_back(name);
    }
    return names;
  }
  // As the edge does: what was decided is so.
  void CarryOut() {
    for (const Decision& decision : World::Run()) {
      for (const model::Placement& placement : decision.placements) cluster.Assume(placement.task, placement.row);
      if (decision.nominations.has_value()) {
        for (const model::TaskId task : cluster.gang(decision.gang).tasks) cluster.Nominate(task, model::kNone);
        for (const model::Placement& placement : *decision.nominations) cluster.Nominate(placement.task, placement.row);
      }
      for (const model::TaskId task : decision.evicted) cluster.SetEvicted(task, true);
    }
    EXPECT_THAT(cluster.Audit(), IsEmpty());
  }
  int created_ = 0, pods_ = 0;
};

// ---- what users see

TEST_F(EvictTest, AHighPriorityDoesNotWaitBehindALowOneThatRuns) {
  Node("n1", Amounts(4000));
  Group("low", "low", 2);
  for (const char* name : {"low-0", "low-1"}) Runs("low", name, Amounts(2000), "n1");
  Group("high", "high", 2);
  for (const char* name : {"high-0", "high-1"}) Waits("high", name, Amounts(2000));
  const Decision decision = Of("high");
  EXPECT_THAT(NamesOf(decision.evicted), ElementsAre("low-0", "low-1"));
  EXPECT_EQ(decision.evict_for, model::EvictFor::kPriority);
  EXPECT_THAT(decision.placements, IsEmpty());
  ASSERT_TRUE(decision.nominations.has_value());
  EXPECT_THAT(*decision.nominations, SizeIs(2));
  ASSERT_TRUE(decision.reason.has_value());
  EXPECT_EQ(model::Render(*decision.reason),
            "waits for 2 of 2 tasks: room is kept for it until 2 pods of default/low have ended");
}

// Until the pods are gone nobody else is evicted for it, and nobody else is placed where they were.
TEST_F(EvictTest, TheRoomIsKeptForWhomItWasMadeUntilThePodsAreGone) {
  Node("n1", Amounts(4000));
  for (const char* name : {"a", "b"}) OneRuns(name, "low", "default", Amounts(2000), "n1");
  OneWaits("high", "high", "default", Amounts(2000));
  EXPECT_THAT(Evicted(), ElementsAre("b"));  // the younger one
  CarryOut();
  Queue("other");
  OneWaits("rival", "high", "other", Amounts(1000));
  policy.reclaim = false;
  EXPECT_THAT(Evicted(), IsEmpty());
  EXPECT_EQ(Of("high").reason->kind, Reason::Kind::kRoomAwaited);
  model::PodFacts going = PodOf("b", "b", Amounts(2000), "n1");
  going.terminating = true;
  cluster.SetPod(going);
  EXPECT_THAT(Evicted(), IsEmpty());
  cluster.RemovePod("default", "b");
  EXPECT_THAT(Placed(), ElementsAre(Pair("high", "n1")));
  // It goes; so does what was kept for it.
  cluster.RemovePod("default", "high");
  cluster.RemoveGang("default", "high");
  EXPECT_THAT(Placed(), ElementsAre(Pair("rival", "n1")));
}

// Neither he whose own room is not free yet, and comes first in order; nor where only a part of it is free.
TEST_F(EvictTest, WhoWaitsForHisRoomDoesNotTakeThatOfAnother) {
  for (const char* name : {"n1", "n2", "n3"}) Node(name, Amounts(4000));
  for (const char* name : {"v1", "v2", "v3"})
    OneRuns(name, "low", "default", Amounts(4000), absl::StrCat("n", name + 1));
  OneWaits("first", "high", "default", Amounts(4000));
  Group("second", "high", 2);
  for (const char* name : {"s-0", "s-1"}) Waits("second", name, Amounts(4000));
  for (const auto& [pod, node] : std::map<std::string, std::string>{{"first", "n1"}, {"s-0", "n2"}, {"s-1", "n3"}})
    cluster.Nominate(cluster.FindTask("default", pod), cluster.FindNode(node));
  for (const char* name : {"v1", "v2", "v3"}) cluster.SetEvicted(cluster.FindTask("default", name), true);
  cluster.RemovePod("default", "v2");
  EXPECT_THAT(Placed(), IsEmpty());
  EXPECT_EQ(Of("first").reason->kind, Reason::Kind::kRoomAwaited);
  cluster.RemovePod("default", "v3");
  EXPECT_THAT(Placed(), UnorderedElementsAre(Pair("s-0", "n2"), Pair("s-1", "n3")));
  // What is nobody's it takes.
  Node("n4", Amounts(4000));
  EXPECT_THAT(Placed(), UnorderedElementsAre(Pair("first", "n4"), Pair("s-0", "n2"), Pair("s-1", "n3")));
}

// On a node of which both wait for a part, what is free goes to him whom it is enough for.
TEST_F(EvictTest, WhoFindsAllHisRoomFreeDoesNotWaitForWhoDoesNot) {
  Node("n1", Amounts(8000), 20);
  Node("n2", Amounts(4000));
  for (const char* name : {"v1", "v2"}) {
    OneRuns(name, "low", "default", Amounts(4000), absl::StrCat("n", name + 1));
    cluster.SetEvicted(cluster.FindTask("default", name), true);
  }
  Group("first", "high", 2);
  for (const char* name : {"f-0", "f-1"}) Waits("first", name, Amounts(4000));
  OneWaits("second", "high", "default", Amounts(4000));
  for (const auto& [pod, node] : std::map<std::string, std::string>{{"f-0", "n1"}, {"f-1", "n2"}, {"second", "n1"}})
    cluster.Nominate(cluster.FindTask("default", pod), cluster.FindNode(node));
  EXPECT_THAT(Placed(), ElementsAre(Pair("second", "n1")));
}

// A pod is nominated still, but its gang lost members since and cannot begin with that alone.
TEST_F(EvictTest, RoomThatIsNotEnoughForAGangIsNotKeptForIt) {
  Node("n1", Amounts(4000));
  OneRuns("goes", "low", "default", Amounts(4000), "n1");
  cluster.SetEvicted(cluster.FindTask("default", "goes"), true);
  OneWaits("whole", "high", "default", Amounts(4000));
  Group("part", "high", 2);
  for (const char* name : {"p-0", "p-1"}) Waits("part", name, Amounts(4000));
  for (const char* pod : {"whole", "p-0"}) cluster.Nominate(cluster.FindTask("default", pod), cluster.FindNode("n1"));
  EXPECT_EQ(Of("whole").reason->kind, Reason::Kind::kRoomAwaited);
}

// A pod more that its spread counts on n2 would leave it no second node.
TEST_F(EvictTest, NorDoOthersTakeWhatItsSpreadNeeds) {
  for (const char* name : {"n1", "n2", "n3"}) Node(name, Amounts(name[1] == '3' ? 2000 : 4000));
  OneRuns("stays", "high", "default", Amounts(2000), "n3");
  OneRuns("goes", "low", "default", Amounts(4000), "n1");
  Group("spread", "mid", 2);
  for (int i = 0; i < 2; ++i) {
    model::PodFacts pod = PodOf("spread", absl::StrCat("spread-", i), Amounts(2000));
    pod.labels = {{"app", "a"}};
    pod.wants.spreads = {{{"kubernetes.io/hostname", {{"default"}, std::nullopt, {{"app", model::Op::kIn, {"a"}}}}}}};
    cluster.SetPod(pod);
  }
  Group("counted", "low", 1);
  for (int i = 0; i < 2; ++i) {
    model::PodFacts pod = PodOf("counted", absl::StrCat("counted-", i), Amounts(1000));
    pod.labels = {{"app", "a"}};
    cluster.SetPod(pod);
  }
  EXPECT_THAT(Evicted(), ElementsAre("goes"));
  EXPECT_THAT(Placed(), IsEmpty());
  EXPECT_EQ(model::Render(*Of("counted").reason),
            "waits for 1 of 1 task: room is kept for gangs that lack their minimum, the first is default/spread");
  // What is beyond a minimum neither.
  Runs("stays", "stays", Amounts(1000), "n3");
  model::PodFacts runs = PodOf("counted", "counted-0", Amounts(1000), "n3");
  runs.labels = {{"app", "a"}};
  cluster.SetPod(runs);
  EXPECT_THAT(Evicted(), ElementsAre("goes"));
  EXPECT_THAT(Placed(), IsEmpty());
}

TEST_F(EvictTest, WhoItsSpreadDoesNotCountIsPlacedBesideIt) {
  for (const char* name : {"n1", "n2"}) Node(name, Amounts(4000));
  OneRuns("goes", "low", "default", Amounts(4000), "n1");
  Group("spread", "mid", 2);
  for (int i = 0; i < 2; ++i) {
    model::PodFacts pod = PodOf("spread", absl::StrCat("spread-", i), Amounts(2000));
    pod.labels = {{"app", "a"}};
    pod.wants.spreads = {{{"kubernetes.io/hostname", {{"default"}, std::nullopt, {{"app", model::Op::kIn, {"a"}}}}}}};
    cluster.SetPod(pod);
  }
  OneWaits("stranger", "low", "default", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("goes"));
  EXPECT_THAT(Placed(), ElementsAre(Pair("stranger", "n2")));
}

TEST_F(EvictTest, NobodyIsEvictedForAGangThatWouldNotFitThen) {
  Node("n1", Amounts(4000));
  OneRuns("low", "low", "default", Amounts(4000), "n1");
  OneWaits("high", "high", "default", Amounts(5000));
  EXPECT_THAT(Evicted(), IsEmpty());
  EXPECT_EQ(Of("high").reason->kind, Reason::Kind::kNoRoom);
}

TEST_F(EvictTest, NobodyIsEvictedWhereEnoughEndsAnyhow) {
  Node("n1", Amounts(4000));
  OneRuns("low", "low", "default", Amounts(2000), "n1");
  Group("ends", "low", 1);
  model::PodFacts going = PodOf("ends", "ends", Amounts(2000), "n1");
  going.terminating = true;
  going.grace_ends = At(30);
  cluster.SetPod(going);
  OneWaits("high", "high", "default", Amounts(2000));
  EXPECT_THAT(Evicted(), IsEmpty());
  const Decision decision = Of("high");
  EXPECT_EQ(decision.reason->kind, Reason::Kind::kRoomAwaited);
  EXPECT_EQ(decision.look_again, At(30) + policy.victims_take);
  // One that never ends is not waited for.
  going.grace_ends = At(10) - policy.victims_take;
  cluster.SetPod(going);
  EXPECT_THAT(Evicted(), ElementsAre("low"));
}

// Where its pods are nominated already there is nothing to write.
TEST_F(EvictTest, WhoGoesOnWaitingForItsRoomIsNotNominatedAgain) {
  Node("n1", Amounts(4000));
  OneRuns("low", "low", "default", Amounts(4000), "n1");
  OneWaits("high", "high", "default", Amounts(2000));
  EXPECT_TRUE(Of("high").nominations.has_value());
  CarryOut();
  const Decision decision = Of("high");
  EXPECT_EQ(decision.reason->kind, Reason::Kind::kRoomAwaited);
  EXPECT_FALSE(decision.nominations.has_value());
}

// Here because its node is gone.
TEST_F(EvictTest, WhoWaitsForOtherRoomThanBeforeIsNominatedThere) {
  for (const char* name : {"n1", "n2"}) Node(name, Amounts(4000));
  for (const char* name : {"v1", "v2"}) OneRuns(name, "low", "default", Amounts(4000), absl::StrCat("n", name + 1));
  OneWaits("high", "high", "default", Amounts(4000));
  EXPECT_THAT(Evicted(), ElementsAre("v2"));
  CarryOut();
  cluster.SetEvicted(cluster.FindTask("default", "v1"), true);
  cluster.RemoveNode("n2");
  const Decision decision = Of("high");
  EXPECT_EQ(decision.reason->kind, Reason::Kind::kRoomAwaited);
  ASSERT_TRUE(decision.nominations.has_value());
  EXPECT_EQ(cluster.node_name(decision.nominations->front().row), "n1");
}

TEST_F(EvictTest, RoomIsGivenBackWhenItWillNotComeAnyMore) {
  Node("n1", Amounts(4000));
  Group("ends", "low", 1);
  model::PodFacts going = PodOf("ends", "ends", Amounts(4000), "n1");
  going.terminating = true;
  going.grace_ends = At(10) - policy.victims_take;
  cluster.SetPod(going);
  OneWaits("high", "high", "default", Amounts(2000));
  cluster.Nominate(cluster.FindTask("default", "high"), cluster.FindNode("n1"));
  const Decision decision = Of("high");
  ASSERT_TRUE(decision.nominations.has_value());
  EXPECT_THAT(*decision.nominations, IsEmpty());
  EXPECT_EQ(decision.reason->kind, Reason::Kind::kNoRoom);
}

// Members beyond a minimum before gangs, the lowest priority before others, the youngest first, one gang rather than
// several.
TEST_F(EvictTest, TheCheapestGo) {
  Node("n1", Amounts(8000), 20);
  Group("elastic", "mid", 1);
  for (const char* name : {"e-0", "e-1", "e-2"}) Runs("elastic", name, Amounts(1000), "n1");
  for (const char* name : {"x-0", "x-1", "x-2"}) OneRuns(name, "low", "default", Amounts(1000), "n1");
  Group("pair", "low", 2);
  for (const char* name : {"p-0", "p-1"}) Runs("pair", name, Amounts(1000), "n1");
  OneWaits("high", "high", "default", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("e-2"));
  cluster.RemoveGang("default", "high");
  cluster.RemovePod("default", "high");
  OneWaits("higher", "high", "default", Amounts(4000));
  EXPECT_THAT(Evicted(), ElementsAre("e-1", "e-2", "p-0", "p-1"));
}

TEST_F(EvictTest, OneGangRatherThanSeveral) {
  Node("n1", Amounts(4000));
  Node("n2", Amounts(4000));
  Group("whole", "low", 4);
  for (int i = 0; i < 4; ++i) Runs("whole", absl::StrCat("w-", i), Amounts(1000), "n2");
  for (int i = 0; i < 4; ++i) OneRuns(absl::StrCat("x-", i), "low", "default", Amounts(1000), "n1");  // younger
  OneWaits("high", "high", "default", Amounts(4000));
  EXPECT_THAT(Evicted(), ElementsAre("w-0", "w-1", "w-2", "w-3"));
}

TEST_F(EvictTest, OfSeveralThatWouldDoAloneTheYoungestGoes) {
  for (const char* name : {"n1", "n2", "n3"}) Node(name, Amounts(3000));
  for (const auto& [gang, node] : {std::pair("older", "n2"), std::pair("younger", "n3")}) {
    Group(gang, "low", 3);
    for (int i = 0; i < 3; ++i) Runs(gang, absl::StrCat(gang, "-", i), Amounts(1000), node);
  }
  for (int i = 0; i < 3; ++i) OneRuns(absl::StrCat("x-", i), "low", "default", Amounts(1000), "n1");
  OneWaits("high", "high", "default", Amounts(3000));
  EXPECT_THAT(Evicted(), ElementsAre("younger-0", "younger-1", "younger-2"));
}

// However many have members beyond their minimum, which do not help.
TEST_F(EvictTest, TheOneGangIsFoundAmongManyWithMembersToSpare) {
  for (const char* name : {"n1", "n2"}) Node(name, Amounts(4000));
  Node("far", Amounts(100'000), 100);
  for (int i = 0; i < 27; ++i) {
    const std::string gang = absl::StrCat("elastic-", i);
    Group(gang, "low", 1);
    for (int pod = 0; pod < 2; ++pod) Runs(gang, absl::StrCat(gang, "-", pod), Amounts(1000), "far");
  }
  Group("whole", "low", 4);
  for (int i = 0; i < 4; ++i) Runs("whole", absl::StrCat("w-", i), Amounts(1000), "n2");
  for (int i = 0; i < 4; ++i) OneRuns(absl::StrCat("x-", i), "low", "default", Amounts(1000), "n1");
  Group("high", "high", 1);
  model::PodFacts high = PodOf("high", "high", Amounts(4000));
  high.wants.has_affinity = true;
  high.wants.affinity = {{{"kubernetes.io/hostname", model::Op::kIn, {"n1", "n2"}}}};
  cluster.SetPod(high);
  EXPECT_THAT(Evicted(), ElementsAre("w-0", "w-1", "w-2", "w-3"));
}

TEST_F(EvictTest, AGangGoesWholeOrNotAtAll) {
  Node("n1", Amounts(4000));
  Node("n2", Amounts(4000));
  Group("low", "low", 4);
  for (int i = 0; i < 4; ++i) Runs("low", absl::StrCat("l-", i), Amounts(2000), i < 2 ? "n1" : "n2");
  OneWaits("high", "high", "default", Amounts(2000));
  EXPECT_THAT(Evicted(), SizeIs(4));
  // One of them may not go, so none does.
  model::PodFacts stays = PodOf("low", "l-3", Amounts(2000), "n2");
  stays.evictable = false;
  cluster.SetPod(stays);
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(EvictTest, ARolesMinimumAndWholeSubGroupsStay) {
  Node("n1", Amounts(6000));
  model::GangFacts gang = testutil::Gang("job", 2);
  gang.priority_class = "low";
  gang.min_task_member = {{"ps", 2}};
  cluster.SetGang(gang);
  for (int i = 0; i < 2; ++i) {
    model::PodFacts ps = PodOf("job", absl::StrCat("ps-", i), Amounts(1000), "n1");
    ps.role = "ps";
    ps.priority = 0;  // the last in order
    cluster.SetPod(ps);
  }
  for (int i = 0; i < 4; ++i) Runs("job", absl::StrCat("w-", i), Amounts(1000), "n1");
  OneWaits("high", "high", "default", Amounts(2000));
  EXPECT_THAT(Evicted(), ElementsAre("w-2", "w-3"));
  gang.min_task_member.clear();
  gang.sub_groups = {{"w", 2, 0}};
  cluster.SetGang(gang);
  for (int i = 0; i < 4; ++i) {
    model::PodFacts w = PodOf("job", absl::StrCat("w-", i), Amounts(1000), "n1");
    w.partition = absl::StrCat(i % 2);
    w.index = i;
    w.priority = -1;
    cluster.SetPod(w);
  }
  EXPECT_THAT(Evicted(), ElementsAre("w-1", "w-3"));
}

TEST_F(EvictTest, HostPortsAndOtherPodsAreInTheTrialToo) {
  Node("n1", Amounts(4000));
  Node("n2", Amounts(4000));
  Group("port", "low", 1);
  model::PodFacts port = PodOf("port", "port", Amounts(1000), "n1");
  port.wants.host_ports = {{"TCP", "", 80}};
  cluster.SetPod(port);
  Group("keeper", "low", 1);
  model::PodFacts keeper = PodOf("keeper", "keeper", Amounts(1000), "n2");
  keeper.labels = {{"app", "keeper"}};
  cluster.SetPod(keeper);
  Group("high", "high", 1);
  model::PodFacts high = PodOf("high", "high", Amounts(1000));
  high.wants.host_ports = {{"TCP", "", 80}};
  high.wants.selector = {{"kubernetes.io/hostname", "n1"}};
  cluster.SetPod(high);
  EXPECT_THAT(Evicted(), ElementsAre("port"));
  high.wants.host_ports.clear();
  high.wants.selector = {{"kubernetes.io/hostname", "n2"}};
  high.wants.pod_anti_affinity = {
      {"kubernetes.io/hostname", {{"default"}, std::nullopt, {{"app", model::Op::kIn, {"keeper"}}}}}};
  cluster.SetPod(high);
  EXPECT_THAT(Evicted(), ElementsAre("keeper"));
}

TEST_F(EvictTest, V12WhoSaysSoStays) {
  Node("n1", Amounts(2000));
  OneRuns("a", "low", "default", Amounts(1000), "n1", /*evictable=*/false);
  OneRuns("b", "low", "default", Amounts(1000), "n1");
  model::GangFacts gang = testutil::Gang("b", 1);
  gang.priority_class = "low";
  gang.evictable = false;
  cluster.SetGang(gang);
  OneWaits("high", "high", "default", Amounts(1000));
  EXPECT_THAT(Evicted(), IsEmpty());
  gang.evictable = true;
  cluster.SetGang(gang);
  EXPECT_THAT(Evicted(), ElementsAre("b"));
}

// Of a queue, or of one above it.
TEST_F(EvictTest, NobodyIsEvictedBeforeItsQueuesMinimumRuntime) {
  model::QueueFacts above = testutil::Queue("above");
  above.min_runtime = absl::Minutes(10);
  cluster.SetQueue(above);
  Queue("below", {}, {}, "above");
  Node("n1", Amounts(1000));
  Group("low", "low", 1, "below");
  model::PodFacts low = PodOf("low", "low", Amounts(1000), "n1");
  low.started = At(0);
  cluster.SetPod(low);
  OneWaits("high", "high", "below", Amounts(1000));
  const Decision decision = Of("high");
  EXPECT_THAT(decision.evicted, IsEmpty());
  EXPECT_EQ(decision.look_again, At(600));
  low.started = At(-590);
  cluster.SetPod(low);
  EXPECT_THAT(Evicted(), ElementsAre("low"));
}

TEST_F(EvictTest, TwoThatWantTheSameRoomAreNotEvictedForTwice) {
  Node("n1", Amounts(2000));
  for (const char* name : {"a", "b"}) OneRuns(name, "low", "default", Amounts(1000), "n1");
  for (const char* name : {"h-0", "h-1", "h-2"}) OneWaits(name, "high", "default", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("b", "a"));  // each once
}

// A crash between the mark and the deletion: the same ones go, though others would be cheaper by now.
TEST_F(EvictTest, WhoIsMarkedGoesFirst) {
  Node("n1", Amounts(2000));
  Group("marked", "low", 1);
  model::PodFacts marked = PodOf("marked", "marked", Amounts(1000), "n1");
  marked.leaving = true;
  cluster.SetPod(marked);
  OneRuns("younger", "low", "default", Amounts(1000), "n1");
  OneWaits("high", "high", "default", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("marked"));
}

// What the loser of one reclaim cannot do is take it back.
TEST_F(EvictTest, NoTwoQueuesTakeTurns) {
  Node("n1", Amounts(3000));
  for (const char* name : {"q1", "q2"}) Queue(name);
  OneRuns("a", "low", "q1", Amounts(2000), "n1");
  OneWaits("b", "low", "q2", Amounts(2000));
  EXPECT_THAT(Evicted(), IsEmpty());  // both deserve 1.5, and 2 in the one are no better than in the other
  Node("n2", Amounts(1000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

// What is won for the low gang, gpus that its queue lacks, would be lost with it.
TEST_F(EvictTest, NoRoomIsTakenBackForAGangThatAHigherPriorityOfItsQueueWouldEvict) {
  Node("n1", Amounts(6000, 6, {{kGpu, 3}}));
  Queue("lab");
  OneRuns("held", "mid", "default", Amounts(4000), "n1");
  OneRuns("beside", "high", "lab", Amounts(1000), "n1");
  OneWaits("low", "low", "lab", Amounts(3000, 0, {{kGpu, 1}}));
  EXPECT_THAT(Evicted(), ElementsAre("held"));
  OneWaits("mid", "mid", "lab", Amounts(3000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

// "held" would come back where it may evict "low", which holds less than is wanted.
TEST_F(EvictTest, WhoCouldEvictNobodyWhenItComesBackMayGo) {
  Node("n1", Amounts(4000));
  for (const char* name : {"q1", "q2"}) Queue(name);
  OneRuns("low", "low", "q1", Amounts(1000), "n1", /*evictable=*/false);
  OneRuns("held", "mid", "q1", Amounts(3000), "n1");
  OneWaits("b", "low", "q2", Amounts(2000));
  EXPECT_THAT(Evicted(), ElementsAre("held"));
  Runs("low", "low", Amounts(1000), "n1");
  EXPECT_THAT(Evicted(), IsEmpty());
}

// The gpu of "low" is enough for that: nobody takes its cpu.
TEST_F(EvictTest, OnlyWhatIsWantedSaysWhoComesBack) {
  Node("n1", Amounts(16'000, 0, {{kGpu, 4}}));
  for (const char* name : {"q1", "q2"}) Queue(name);
  OneRuns("held", "mid", "q1", Amounts(1000, 0, {{kGpu, 3}}), "n1");
  OneWaits("low", "low", "q1", Amounts(0, 0, {{kGpu, 1}}));
  cluster.Assume(cluster.FindTask("default", "low"), cluster.FindNode("n1"));
  OneWaits("b", "low", "q2", Amounts(0, 0, {{kGpu, 2}}));
  EXPECT_THAT(Evicted(), IsEmpty());
  policy.preempt = false;
  EXPECT_THAT(Evicted(), ElementsAre("held"));
}

// "shop" would hold 4 of the 7.5 that it deserves, and take back from "default" what it lacks then.
TEST_F(EvictTest, NoQueueAboveBothLosesWhatOthersAskFor) {
  Node("n1", Amounts(10'000));
  model::QueueFacts shop = testutil::Queue("shop"), ads = testutil::Queue("ads");
  shop.weight = 3;
  ads.weight = 2;
  ads.parent = "shop";
  for (const model::QueueFacts& queue : {shop, ads}) cluster.SetQueue(queue);
  OneRuns("large", "low", "shop", Amounts(6000), "n1");
  OneRuns("other", "low", "default", Amounts(4000), "n1");
  OneWaits("small", "low", "ads", Amounts(4000));
  OneWaits("more", "low", "default", Amounts(4000));
  EXPECT_THAT(Evicted(), IsEmpty());
  // Nobody beside it asks for more.
  cluster.RemovePod("default", "more");
  EXPECT_THAT(Evicted(), ElementsAre("large"));
}

TEST_F(EvictTest, AQueueThatTookAllGivesBackWhatAnotherDeserves) {
  Node("n1", Amounts(8000), 20);
  for (const char* name : {"q1", "q2"}) Queue(name);
  for (int i = 0; i < 8; ++i) OneRuns(absl::StrCat("a-", i), "low", "q1", Amounts(1000), "n1");
  Group("b", "low", 4, "q2");
  for (int i = 0; i < 4; ++i) Waits("b", absl::StrCat("b-", i), Amounts(1000));
  const Decision decision = Of("b");
  EXPECT_THAT(NamesOf(decision.evicted), ElementsAre("a-4", "a-5", "a-6", "a-7"));
  EXPECT_EQ(decision.evict_for, model::EvictFor::kShare);
  // No more than that: q1 has what it deserves left.
  CarryOut();
  for (int i = 4; i < 8; ++i) cluster.RemovePod("default", absl::StrCat("a-", i));
  CarryOut();
  OneWaits("c", "high", "q2", Amounts(1000));
  EXPECT_THAT(Of("c").evicted, IsEmpty());
}

TEST_F(EvictTest, AGuaranteeIsNeverTaken) {
  Node("n1", Amounts(4000));
  Queue("q2");
  model::QueueFacts guaranteed = testutil::Queue("q1");
  guaranteed.guarantee = Amounts(4000);
  cluster.SetQueue(guaranteed);
  OneRuns("a", "low", "q1", Amounts(4000), "n1");
  OneWaits("b", "low", "q2", Amounts(2000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

// Though the cluster would be shared better without.
TEST_F(EvictTest, NorForSomethingElseThatIsNotGuaranteed) {
  policy.sharing = Sharing::kAsWritten;
  Node("n1", Amounts(4000, 0, {{kGpu, 2}}));
  Queue("q2", {{kGpu, 2}});
  model::QueueFacts guaranteed = testutil::Queue("q1");
  cluster.SetQueue(guaranteed);
  OneRuns("a", "low", "q1", Amounts(1000, 0, {{kGpu, 2}}), "n1");
  OneWaits("b", "low", "q2", Amounts(0, 0, {{kGpu, 2}}));
  EXPECT_THAT(Evicted(), ElementsAre("a"));
  guaranteed.guarantee = Amounts(1000);
  cluster.SetQueue(guaranteed);
  EXPECT_THAT(Evicted(), IsEmpty());
}

// One of two sub-groups is more than what is beyond the minimum.
TEST_F(EvictTest, ASubGroupThatTheMinimumNeedsGoesWithAll) {
  Node("n1", Amounts(4000));
  model::GangFacts gang = testutil::Gang("job", 3);
  gang.priority_class = "low";
  gang.sub_groups = {{"w", 2, 0}};
  cluster.SetGang(gang);
  for (int i = 0; i < 4; ++i) {
    model::PodFacts w = PodOf("job", absl::StrCat("w-", i), Amounts(1000), "n1");
    w.partition = absl::StrCat(i % 2);
    cluster.SetPod(w);
  }
  OneWaits("high", "high", "default", Amounts(1000));
  EXPECT_THAT(Evicted(), SizeIs(4));
}

TEST_F(EvictTest, AQueueThatIsNotReclaimableKeepsWhatItHas) {
  Node("n1", Amounts(4000));
  Queue("q2");
  model::QueueFacts keeps = testutil::Queue("q1");
  keeps.reclaimable = false;
  cluster.SetQueue(keeps);
  for (const char* name : {"a", "b", "c", "d"}) OneRuns(name, "low", "q1", Amounts(1000), "n1");
  OneWaits("e", "low", "q2", Amounts(1000));
  EXPECT_THAT(Evicted(), IsEmpty());
  keeps.reclaimable = true;
  cluster.SetQueue(keeps);
  EXPECT_THAT(Evicted(), ElementsAre("d"));
}

// ---- 9.5 preempt

TEST_F(EvictTest, P1TheRestOfAJobEvictsNobody) {
  Node("n1", Amounts(2000));
  Group("pg1", "high", 2);
  for (const char* name : {"p-0", "p-1"}) Runs("pg1", name, Amounts(1000), "n1");
  Waits("pg1", "p-2", Amounts(1000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(EvictTest, P2NorDoesWhoHasItsMinimum) {
  Node("n1", Amounts(3000));
  Group("pg1", "low", 1);
  for (const char* name : {"a-0", "a-1"}) Runs("pg1", name, Amounts(1000), "n1");
  Group("pg2", "high", 1);
  Runs("pg2", "b-0", Amounts(1000), "n1");
  Waits("pg2", "b-1", Amounts(1000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(EvictTest, P3OnlyWhoMayGo) {
  Node("n1", Amounts(2000));
  Group("pg1", "low", 1);
  Runs("pg1", "#1", Amounts(1000), "n1");
  Runs("pg1", "#2", Amounts(1000), "n1", false);
  Group("pg2", "high", 1);
  for (const char* name : {"h-0", "h-1"}) Waits("pg2", name, Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("#1"));
}

TEST_F(EvictTest, P4SeveralForOne) {
  Node("n1", Amounts(6000));
  Group("pg1", "low", 1);
  for (const char* name : {"#1", "#2"}) Runs("pg1", name, Amounts(1000), "n1");
  Runs("pg1", "#3", Amounts(1000), "n1", false);
  OneWaits("high", "high", "default", Amounts(5000));
  EXPECT_THAT(Evicted(), ElementsAre("#1", "#2"));
}

TEST_F(EvictTest, P5P6WhereTheQueueIsFull) {
  Node("n1", Amounts(12000));
  Queue("q", {}, Amounts(4000));
  Group("pg1", "low", 0, "q");
  Runs("pg1", "#1", Amounts(3000), "n1");
  OneWaits("high", "high", "q", Amounts(3000));
  EXPECT_THAT(Evicted(), ElementsAre("#1"));
  Queue("q", {}, Amounts(6000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(EvictTest, P7ThePriorityOfTheGangCounts) {
  Node("n1", Amounts(12000));
  Queue("q", {}, Amounts(3000));
  Group("pg1", "low", 1, "q");
  Runs("pg1", "#1", Amounts(1000), "n1", false);
  Runs("pg1", "#2", Amounts(1000), "n1");
  model::PodFacts third = PodOf("pg1", "#3", Amounts(1000), "n1");
  third.priority = 100;
  cluster.SetPod(third);
  OneWaits("high", "high", "q", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("#2"));
}

TEST_F(EvictTest, P8P9WhereThereIsNoPlaceForMorePods) {
  Node("n1", Amounts(12000), 1);
  Group("pg1", "low", 0);
  Runs("pg1", "#1", {}, "n1");
  OneWaits("high", "high", "default", Amounts(3000));
  EXPECT_THAT(Evicted(), ElementsAre("#1"));
  cluster.SetPod(PodOf("high", "high", {}));
  EXPECT_THAT(Evicted(), ElementsAre("#1"));
  cluster.SetPod(PodOf("pg1", "#1", Amounts(1000), "n1"));
  EXPECT_THAT(Evicted(), IsEmpty());  // who asks for nothing evicts nobody who does
}

TEST_F(EvictTest, P10R4PolicyNever) {
  Node("n1", Amounts(1000));
  Queue("q2");
  OneRuns("low", "low", "default", Amounts(1000), "n1");
  Group("high", "high", 1);
  model::PodFacts high = PodOf("high", "high", Amounts(1000));
  high.preempts = false;
  cluster.SetPod(high);
  Group("other", "low", 1, "q2");
  model::PodFacts other = PodOf("other", "other", Amounts(1000));
  other.preempts = false;
  cluster.SetPod(other);
  EXPECT_THAT(Evicted(), IsEmpty());
  high.preempts = true;
  cluster.SetPod(high);
  cluster.SetPriorityClass({"high", 100, false, /*preempts=*/false});
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(EvictTest, P11WhatTheQueueNeverHolds) {
  Node("n1", Amounts(10000));
  Queue("q", {}, Amounts(3000));
  Group("pg1", "low", 1, "q");
  for (const char* name : {"#1", "#2"}) Runs("pg1", name, Amounts(1000), "n1");
  OneWaits("high", "high", "q", Amounts(4000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(EvictTest, P12WhoHelpsBothTheNodeAndTheQueue) {
  Node("n1", Amounts(3000));
  Node("n2", Amounts(4000));
  Queue("q", {}, Amounts(6000));
  Group("pg1", "low", 0, "q");
  Runs("pg1", "a", Amounts(1000), "n1");
  Group("pg3", "low", 0, "q");
  Runs("pg3", "b", Amounts(4000), "n2");
  OneWaits("high", "high", "q", Amounts(3000));
  EXPECT_THAT(Evicted(), ElementsAre("b"));
}

TEST_F(EvictTest, P13OnlyInItsQueue) {
  Node("n1", Amounts(2000));
  Queue("q1");
  Queue("q2", {}, Amounts(4000));
  OneRuns("a", "low", "q1", Amounts(1000), "n1");
  Group("pg2", "low", 0, "q2");
  Runs("pg2", "b", Amounts(1000), "n1");
  OneWaits("high", "high", "q2", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("b"));
}

TEST_F(EvictTest, P14P16WhoStandsInTheWayThoughThereIsRoom) {
  Node("n1", Amounts(2000), 2);
  Group("pg1", "low", 0);
  Runs("pg1", "#1", Amounts(500), "n1");
  model::PodFacts second = PodOf("pg1", "#2", Amounts(500), "n1");
  second.labels = {{"app", "rival"}};
  second.priority = 7;
  cluster.SetPod(second);
  Node("n1", Amounts(2000), 3);
  Group("high", "high", 1);
  model::PodFacts high = PodOf("high", "high", Amounts(1000));
  high.wants.pod_anti_affinity = {
      {"kubernetes.io/hostname", {{"default"}, std::nullopt, {{"app", model::Op::kIn, {"rival"}}}}}};
  cluster.SetPod(high);
  EXPECT_THAT(Evicted(), ElementsAre("#2"));
}

TEST_F(EvictTest, P17NotWhoHasTheSamePriority) {
  Node("n1", Amounts(2000), 2);
  Queue("q1", Amounts(1000), Amounts(1000), "", 1);
  Queue("q2", Amounts(1000), Amounts(1000), "", 10);
  OneRuns("#1", "low", "q1", Amounts(1000), "n1");
  OneRuns("#2", "high", "q2", Amounts(1000), "n1");
  OneWaits("high", "high", "q1", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("#1"));
}

TEST_F(EvictTest, P18OnlyWhenAsked) {
  Node("n1", Amounts(1000));
  OneRuns("low", "low", "default", Amounts(1000), "n1");
  OneWaits("high", "high", "default", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("low"));
  policy.preempt = false;
  EXPECT_THAT(Evicted(), IsEmpty());
}

// ---- 9.6 reclaim

TEST_F(EvictTest, R1OneBeyondTheMinimum) {
  Node("n1", Amounts(3000));
  for (const char* name : {"q1", "q2"}) Queue(name);
  Group("pg1", "low", 1, "q1");
  Runs("pg1", "#1", Amounts(1000), "n1", false);
  Runs("pg1", "#2", Amounts(1000), "n1");
  Runs("pg1", "#3", Amounts(1000), "n1", false);
  OneWaits("b", "low", "q2", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("#2"));
}

TEST_F(EvictTest, R2TheLowerPriority) {
  Node("n1", Amounts(4000));
  for (const char* name : {"q1", "q2", "q3"}) Queue(name);
  Group("pg1", "mid", 1, "q1");
  for (const char* name : {"a-1", "a-2"}) Runs("pg1", name, Amounts(1000), "n1");
  Group("pg2", "low", 1, "q2");
  Runs("pg2", "b-1", Amounts(1000), "n1");
  Runs("pg2", "b-2", Amounts(1000), "n1", false);
  OneWaits("c", "high", "q3", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("b-1"));
}

TEST_F(EvictTest, R3TheQueueOfLowerPriority) {
  Node("n1", Amounts(4000));
  Queue("q1", {}, {}, "", 5);
  Queue("q2", {}, {}, "", 10);
  Queue("q3", {}, {}, "", 1);
  for (const auto& [gang, queue] : {std::pair("a", "q1"), std::pair("b", "q2")}) {
    Group(gang, "low", 1, queue);
    Runs(gang, absl::StrCat(gang, "-1"), Amounts(1000), "n1");
    Runs(gang, absl::StrCat(gang, "-2"), Amounts(1000), "n1", false);
  }
  OneWaits("c", "low", "q3", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("a-1"));
}

TEST_F(EvictTest, R5AClosedQueueTakesNothingBack) {
  Node("n1", Amounts(3000));
  Queue("q1");
  model::QueueFacts closed = testutil::Queue("q2");
  closed.open = false;
  cluster.SetQueue(closed);
  for (const char* name : {"a", "b", "c"}) OneRuns(name, "low", "q1", Amounts(1000), "n1");
  OneWaits("d", "low", "q2", Amounts(1000));
  for (const Sharing sharing : {Sharing::kByWeight, Sharing::kAsWritten}) {
    policy.sharing = sharing;
    EXPECT_THAT(Evicted(), IsEmpty());
  }
}

// And q1's pod, which waits then, evicts nobody: what its queue lacks more is less than what q3 lacked.
TEST_F(EvictTest, R6TheQueueOfTheLowestPriority) {
  Node("n1", Amounts(10000, 2));
  Queue("q1", {}, {}, "", 1);
  Queue("q2", {}, {}, "", 2);
  Queue("q3");
  for (const char* name : {"q1", "q2"}) OneRuns(name, "low", name, Amounts(1000, 1), "n1");
  OneWaits("c", "low", "q3", Amounts(2000, 1));
  EXPECT_THAT(Evicted(), ElementsAre("q1"));
  CarryOut();
  cluster.RemovePod("default", "q1");
  CarryOut();
  Waits("q1", "again", Amounts(1000, 1));
  EXPECT_THAT(Evicted(), IsEmpty());
}

// Volcano evicts for the second pod, which alone is of no use to the gang.
TEST_F(EvictTest, R7APodOfTheMinimumThatEvictsNobody) {
  Node("n1", Amounts(2000));
  for (const char* name : {"q1", "q2"}) Queue(name);
  Group("pg1", "low", 1, "q1");
  Runs("pg1", "a-0", Amounts(1000), "n1", false);
  Runs("pg1", "a-1", Amounts(1000), "n1");
  Group("pg2", "low", 2, "q2");
  model::PodFacts never = PodOf("pg2", "b-0", Amounts(1000));
  never.preempts = false;
  cluster.SetPod(never);
  Waits("pg2", "b-1", Amounts(1000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(EvictTest, R8NotWhereThereIsRoom) {
  Node("n1", Amounts(10000));
  Queue("q1");
  model::QueueFacts heavy = testutil::Queue("q2");
  heavy.weight = 9;
  cluster.SetQueue(heavy);
  OneRuns("a", "low", "q1", Amounts(2000), "n1");
  OneWaits("b", "low", "q2", Amounts(3000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

// ---- 9.8 capacity

struct CapacityTest : EvictTest {
  CapacityTest() { policy.sharing = Sharing::kAsWritten; }
};

TEST_F(CapacityTest, C3WhoHoldsMoreThanItDeserves) {
  for (const char* name : {"n1", "n2"}) Node(name, Amounts(2000, 4));
  for (const char* name : {"q3", "q4"}) Queue(name, Amounts(2000, 4));
  OneRuns("a", "low", "q3", Amounts(2000), "n1", false);
  OneRuns("b", "low", "q3", Amounts(2000), "n2");
  OneWaits("c", "low", "q4", Amounts(2000));
  EXPECT_THAT(Evicted(), ElementsAre("b"));
  const Decision decision = Of("c");
  ASSERT_TRUE(decision.nominations.has_value());
  EXPECT_EQ(cluster.node_name(decision.nominations->front().row), "n2");
}

TEST_F(CapacityTest, WhatIsKeptForTheHigherPriorityCountsAsItsOwn) {
  policy.keeps_after = absl::ZeroDuration();
  Node("n1", Amounts(2000, 0, {{kGpu, 2}}));
  Node("n2", Amounts(2000));
  Queue("default", Amounts(500, 0, {{kGpu, 2}}));
  Queue("lab", Amounts(1500));
  OneRuns("held", "mid", "lab", Amounts(2000, 0, {{kGpu, 2}}), "n1");
  OneWaits("low", "low", "default", Amounts(2000, 0, {{kGpu, 2}}));
  EXPECT_THAT(Evicted(), ElementsAre("held"));
  Group("high", "high", 2);
  for (int i = 0; i < 2; ++i) Waits("high", absl::StrCat("high-", i), Amounts(2000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(CapacityTest, C4WhatIsAskedForCounts) {
  for (const char* name : {"n3", "n4"}) Node(name, Amounts(2000, 0, {{kGpu, 10}}));
  for (const char* name : {"q5", "q6"}) Queue(name, Amounts(2000, 0, {{kGpu, 10}}));
  OneRuns("a", "low", "q5", Amounts(0, 0, {{kGpu, 10}}), "n3", false);
  OneRuns("b", "low", "q5", Amounts(0, 0, {{kGpu, 10}}), "n4");
  OneRuns("c", "low", "q6", Amounts(2000), "n3");
  OneRuns("d", "low", "q6", Amounts(2000), "n4");
  OneWaits("e", "low", "q6", Amounts(0, 0, {{kGpu, 10}}));
  EXPECT_THAT(Evicted(), ElementsAre("b"));
}

TEST_F(CapacityTest, C6OneOfWhatIsAskedForIsEnough) {
  Node("n1", Amounts(2000, 4));
  Queue("q10", Amounts(2000, 2), Amounts(4000, 4));
  Queue("q11", {}, Amounts(2000));
  OneRuns("a", "low", "q10", Amounts(1000, 3), "n1");
  OneRuns("b", "low", "q11", Amounts(1000, 1), "n1");
  OneWaits("c", "low", "q10", Amounts(1000, 1));
  EXPECT_THAT(Evicted(), ElementsAre("b"));
}

TEST_F(CapacityTest, C7NoneOfWhatIsAskedForIsDeserved) {
  Node("n1", Amounts(2000, 4));
  Queue("q12", Amounts(1000, 2), Amounts(4000, 4));
  Queue("q13");
  OneRuns("a", "low", "q12", Amounts(1000, 1), "n1");
  OneRuns("b", "low", "q13", Amounts(1000, 1), "n1");
  OneWaits("c", "low", "q12", Amounts(1000, 2));
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(CapacityTest, C8NotWhenItWouldNotFitThen) {
  Node("n7", Amounts(4000, 8, {{kGpu, 4}}));
  for (const char* name : {"q14", "q16"}) Queue(name, Amounts(2000, 4, {{kGpu, 2}}));
  Queue("q15");
  OneRuns("a", "low", "q14", Amounts(2000, 4), "n7");
  OneRuns("b", "low", "q15", Amounts(0, 0, {{kGpu, 1}}), "n7");
  OneRuns("c", "low", "q16", Amounts(2000, 1, {{kGpu, 1}}), "n7");
  OneWaits("d", "low", "q16", Amounts(2000, 3, {{kGpu, 1}}));
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(CapacityTest, C9OnlyWhoHelps) {
  Node("n8", Amounts(4000, 8, {{kGpu, 1}}));
  Queue("q17", Amounts(2000, 2));
  Queue("q18", Amounts(2000, 4, {{kGpu, 1}}));
  OneRuns("mem", "low", "q17", Amounts(0, 4), "n8");
  OneRuns("cpu", "low", "q17", Amounts(1000), "n8");
  OneRuns("gpu", "low", "q17", Amounts(0, 0, {{kGpu, 1}}), "n8");
  OneRuns("own", "low", "q18", Amounts(2000, 4), "n8");
  OneWaits("c", "low", "q18", Amounts(1000, 0, {{kGpu, 1}}));
  EXPECT_THAT(Evicted(), ElementsAre("gpu"));
}

TEST_F(CapacityTest, C10NotWhatItDeserves) {
  Node("n8", Amounts(4000, 8, {{kGpu, 1}}));
  Queue("q19", {{kGpu, 1}});
  Queue("q20", Amounts(2000, 2));
  OneRuns("a", "low", "q19", Amounts(4000, 4, {{kGpu, 1}}), "n8");
  OneWaits("b", "low", "q20", Amounts(1000, 1));
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(CapacityTest, TheLastPieceOfWhatIsGuaranteedIsNotTaken) {
  Node("n1", Amounts(4000, 0, {{kGpu, 2}}));
  Queue("q2", Amounts(4000));
  model::QueueFacts guaranteed = testutil::Queue("q1");
  cluster.SetQueue(guaranteed);
  OneRuns("a", "low", "q1", Amounts(4000, 0, {{kGpu, 1}}), "n1");
  OneWaits("b", "low", "q2", Amounts(4000));
  EXPECT_THAT(Evicted(), ElementsAre("a"));
  guaranteed.guarantee = {{kGpu, 1}};
  cluster.SetQueue(guaranteed);
  EXPECT_THAT(Evicted(), IsEmpty());
}

// Less than q2 would win by it.
TEST_F(CapacityTest, AQueueThatHoldsNoMoreThanItDeservesLosesNothing) {
  Node("n1", Amounts(4000));
  for (const char* name : {"q1", "q2"}) Queue(name, Amounts(2000));
  OneRuns("a", "low", "q1", Amounts(1000), "n1");
  OneRuns("stays", "low", "default", Amounts(2000), "n1", false);
  OneWaits("b", "low", "q2", Amounts(2000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

// However many gangs run in queues that hold no more than they deserve.
TEST_F(CapacityTest, TheOneGangIsLookedForWhereMoreIsHeldThanDeserved) {
  for (const char* name : {"n1", "n2"}) Node(name, Amounts(3000));
  Node("n3", Amounts(34'000), 100);
  Queue("q1");
  Queue("q2", Amounts(3000));
  Queue("q3", Amounts(34'000));
  Group("whole", "low", 3, "q1");
  for (int i = 0; i < 3; ++i) Runs("whole", absl::StrCat("w-", i), Amounts(1000), "n2");
  for (int i = 0; i < 3; ++i) OneRuns(absl::StrCat("x-", i), "low", "q1", Amounts(1000), "n1");
  for (int i = 0; i < 17; ++i) OneRuns(absl::StrCat("within-", i), "low", "q3", Amounts(2000), "n3");
  OneWaits("b", "low", "q2", Amounts(3000));
  EXPECT_THAT(Evicted(), ElementsAre("w-0", "w-1", "w-2"));
}

// "shop" would hold 5 of the 5 that it deserves, or 4.
TEST_F(CapacityTest, AQueueAboveBothMayComeDownToWhatItDeserves) {
  Node("n1", Amounts(10'000));
  Queue("shop", Amounts(5000));
  Queue("ads", Amounts(5000), {}, "shop");
  Queue("default", Amounts(5000));
  OneRuns("large", "low", "shop", Amounts(6000), "n1");
  OneRuns("other", "low", "default", Amounts(4000), "n1");
  OneWaits("more", "low", "default", Amounts(4000));
  OneWaits("small", "low", "ads", Amounts(5000));
  EXPECT_THAT(Evicted(), ElementsAre("large"));
  cluster.SetPod(PodOf("small", "small", Amounts(4000)));
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(CapacityTest, C11NotBeyondItsCapability) {
  for (const char* name : {"n9", "n10"}) Node(name, Amounts(8000, 100));
  Queue("q21", Amounts(8000, 100), Amounts(8000, 100));
  Queue("q22", {}, Amounts(2000, 5));
  OneRuns("a", "low", "q21", Amounts(7000, 90), "n9");
  OneRuns("b", "low", "q22", Amounts(2000, 5), "n10");
  OneWaits("c", "low", "q21", Amounts(2000, 5));
  EXPECT_THAT(Evicted(), IsEmpty());
}

// ---- 9.9 trees

TEST_F(CapacityTest, T4T5SiblingsShareWhatTheirParentDeserves) {
  Node("n1", Amounts(8000, 8));
  Queue("root");
  Queue("q3", Amounts(4000), Amounts(4000), "root");
  for (const char* name : {"q31", "q32"}) Queue(name, Amounts(2000), Amounts(4000), "q3");
  Queue("q33", {}, Amounts(4000), "q3");
  Queue("q4", Amounts(2000), Amounts(4000), "root");
  OneRuns("x", "low", "q4", Amounts(4000), "n1");
  OneRuns("a", "low", "q31", Amounts(2000), "n1", false);
  OneRuns("b", "low", "q31", Amounts(2000), "n1");
  OneWaits("c", "low", "q32", Amounts(2000));
  EXPECT_THAT(Evicted(), ElementsAre("b"));
  // T5
  cluster.RemovePod("default", "b");
  cluster.RemovePod("default", "c");
  OneRuns("d", "low", "q32", Amounts(2000), "n1");
  Group("e", "low", 1, "q33");
  Waits("e", "e", Amounts(3000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(CapacityTest, T12ALeafTakesBackWhatItDeserves) {
  Node("n1", Amounts(8000, 8, {{kA100, 4}}));
  Queue("a", {{kA100, 2}});
  Queue("b");
  OneRuns("stays", "low", "b", Amounts(0, 0, {{kA100, 2}}), "n1", false);
  OneRuns("goes", "low", "b", Amounts(0, 0, {{kA100, 2}}), "n1");
  OneWaits("c", "low", "a", Amounts(0, 0, {{kA100, 2}}));
  EXPECT_THAT(Evicted(), ElementsAre("goes"));
}

TEST_F(CapacityTest, T13ByWhatTheQueueAboveDeserves) {
  Node("n1", Amounts(8000, 8, {{kA100, 4}}));
  Queue("root");
  Queue("a", {{kA100, 1}}, {}, "root");
  Queue("leaf", {}, {}, "a");
  Queue("b", {}, {}, "root");
  for (int i = 0; i < 4; ++i) OneRuns(absl::StrCat("b-", i), "low", "b", Amounts(0, 0, {{kA100, 1}}), "n1");
  OneWaits("c", "low", "leaf", Amounts(0, 0, {{kA100, 1}}));
  EXPECT_THAT(Evicted(), ElementsAre("b-3"));
}

TEST_F(CapacityTest, T14TheLowestPriorityOfTheQueue) {
  Node("n1", Amounts(8000, 8, {{kA100, 4}}));
  Queue("root");
  Queue("project2", {{kA100, 3}}, {}, "root");
  Queue("child2", {}, {}, "project2");
  Queue("project1", {{kA100, 1}}, {}, "root");
  Queue("child1", {}, {}, "project1");
  OneRuns("p-0", "mid", "child2", Amounts(0, 0, {{kA100, 1}}), "n1");
  OneRuns("p-1", "low", "child2", Amounts(0, 0, {{kA100, 1}}), "n1");
  OneRuns("p-2", "high", "child2", Amounts(0, 0, {{kA100, 1}}), "n1");
  OneRuns("p-3", "mid", "child2", Amounts(0, 0, {{kA100, 1}}), "n1");
  OneWaits("c", "low", "child1", Amounts(0, 0, {{kA100, 1}}));
  EXPECT_THAT(Evicted(), ElementsAre("p-1"));
}

TEST_F(CapacityTest, T15T16T17TheChildrenOfTheQueueAboveBothAreCompared) {
  Node("n1", Amounts(3000, 8));
  Queue("root");
  for (const char* side : {"a", "b"}) {
    Queue(absl::StrCat(side, "-project"), {}, {}, "root");
    Queue(absl::StrCat(side, "-leaf"), Amounts(side[0] == 'a' ? 1000 : 2000), {}, absl::StrCat(side, "-project"));
  }
  OneRuns("v", "low", "a-leaf", Amounts(2000), "n1");
  OneWaits("c", "low", "b-leaf", Amounts(2000));
  EXPECT_THAT(Evicted(), ElementsAre("v"));
  Queue("a-project", Amounts(1000), {}, "root");  // T16
  EXPECT_THAT(Evicted(), ElementsAre("v"));
  Node("n2", Amounts(3000, 8));
  OneRuns("other", "low", "default", Amounts(3000), "n2", false);
  Queue("a-project", Amounts(3000), {}, "root");  // T17: it holds no more than it deserves
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(CapacityTest, T18SiblingsThatDeserveNothing) {
  Node("n1", Amounts(2000, 8));
  Queue("root");
  Queue("project", Amounts(2000), {}, "root");
  for (const char* name : {"leaf1", "leaf2"}) Queue(name, {}, {}, "project");
  OneRuns("a", "low", "leaf1", Amounts(2000), "n1");
  OneWaits("b", "low", "leaf2", Amounts(2000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

// ---- 9.11 who may go

TEST_F(EvictTest, V6ItsCooldown) {
  Node("n1", Amounts(1000));
  Group("low", "low", 1);
  model::PodFacts low = PodOf("low", "low", Amounts(1000), "n1");
  low.cooldown = absl::Seconds(600);
  low.started = At(10 - 100);
  cluster.SetPod(low);
  OneWaits("high", "high", "default", Amounts(1000));
  EXPECT_THAT(Of("high").evicted, IsEmpty());
  EXPECT_EQ(Of("high").look_again, At(510));
  low.started = At(10 - 800);
  cluster.SetPod(low);
  EXPECT_THAT(Evicted(), ElementsAre("low"));
}

TEST_F(EvictTest, V7ItsDisruptionBudget) {
  Node("n1", Amounts(2000));
  for (const char* name : {"a", "b"}) {
    Group(name, "low", 1);
    model::PodFacts pod = PodOf(name, name, Amounts(1000), "n1");
    pod.labels = {{"app", "web"}};
    cluster.SetPod(pod);
  }
  for (const char* name : {"h-0", "h-1"}) OneWaits(name, "high", "default", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("b", "a"));
  model::BudgetFacts budget{"default", "web", {{"app", model::Op::kIn, {"web"}}}, 0};
  cluster.SetBudget(budget);
  EXPECT_THAT(Evicted(), IsEmpty());
  budget.allowed = 1;
  cluster.SetBudget(budget);
  EXPECT_THAT(Evicted(), ElementsAre("b"));
  CarryOut();
  EXPECT_THAT(Evicted(), IsEmpty());  // the one that goes has used it up
  cluster.RemoveBudget("default", "web");
  EXPECT_THAT(Evicted(), ElementsAre("a"));
}

TEST_F(EvictTest, V7WhoGoesCountsOnceInItsBudget) {
  Node("n1", Amounts(2000));
  for (const char* name : {"a", "b"}) {
    Group(name, "low", 1);
    model::PodFacts pod = PodOf(name, name, Amounts(1000), "n1");
    pod.labels = {{"app", "web"}};
    cluster.SetPod(pod);
  }
  cluster.SetBudget({"default", "web", {{"app", model::Op::kIn, {"web"}}}, 2});
  OneWaits("h-0", "high", "default", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("b"));
  CarryOut();
  OneWaits("h-1", "high", "default", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("a"));
}

TEST_F(EvictTest, V8V10BeyondAMinimumOrWhole) {
  Node("n1", Amounts(5000));
  model::GangFacts gang = testutil::Gang("low", 3);
  gang.priority_class = "low";
  gang.min_task_member = {{"w", 3}};
  cluster.SetGang(gang);
  for (int i = 0; i < 5; ++i) Runs("low", absl::StrCat("l-", i), Amounts(1000), "n1");
  OneWaits("high", "high", "default", Amounts(2000));
  EXPECT_THAT(Evicted(), ElementsAre("l-3", "l-4"));
  cluster.SetPod(PodOf("high", "high", Amounts(3000)));
  EXPECT_THAT(Evicted(), SizeIs(5));
  Runs("low", "l-0", Amounts(1000), "n1", false);
  EXPECT_THAT(Evicted(), IsEmpty());
}

// Volcano takes members of it one by one.
TEST_F(EvictTest, V9AGangShortOfItsMinimumGoesWhole) {
  Node("n1", Amounts(3000));
  Group("low", "low", 3);
  for (const char* name : {"l-0", "l-1"}) Runs("low", name, Amounts(1000), "n1");
  model::PodFacts failed = PodOf("low", "l-2", Amounts(1000), "n1");
  failed.phase = model::PodPhase::kFailed;
  cluster.SetPod(failed);
  OneWaits("high", "high", "default", Amounts(2000));
  EXPECT_THAT(Evicted(), ElementsAre("l-0", "l-1"));
}

// What Volcano does without allowWholeBundle: "false".
TEST_F(EvictTest, V11AWholeGangWhereNothingIsBeyondItsMinimum) {
  Node("n1", Amounts(2000));
  Group("low", "low", 2);
  for (const char* name : {"l-0", "l-1"}) Runs("low", name, Amounts(1000), "n1");
  OneWaits("high", "high", "default", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("l-0", "l-1"));
}

TEST_F(EvictTest, V13AQueueThatIsNotReclaimable) {
  Node("n1", Amounts(2000));
  Queue("q2");
  model::QueueFacts keeps = testutil::Queue("q1");
  keeps.reclaimable = false;
  cluster.SetQueue(keeps);
  for (const char* name : {"a", "b"}) OneRuns(name, "low", "q1", Amounts(1000), "n1");
  OneWaits("c", "high", "q2", Amounts(1000));
  EXPECT_THAT(Evicted(), IsEmpty());
}

TEST_F(EvictTest, V14PriorityCountsWithinAQueueAlone) {
  Node("n1", Amounts(2000));
  for (const char* name : {"q1", "q2"}) Queue(name);
  for (const char* name : {"a", "b"}) OneRuns(name, "high", "q1", Amounts(1000), "n1");
  OneWaits("c", "low", "q2", Amounts(1000));
  OneWaits("d", "high", "q1", Amounts(1000));
  EXPECT_THAT(Evicted(), ElementsAre("b"));
  EXPECT_EQ(Of("c").evict_for, model::EvictFor::kShare);
}

}  // namespace
}  // namespace gangway::gang
