// Who must leave so that another begins, and who may not be asked to.
#include "plugin/gang/victims.h"

#include <optional>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/plugin/gang/evict_world.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::gang {
namespace {

using model::Decision;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testutil::Amounts;
using testutil::At;
using testutil::EvictTest;

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

// Others that hold as much and are looked at before it, one by one, help nobody.
TEST_F(EvictTest, TheOneGangIsTheSixteenthAtMost) {
  for (const char* name : {"n1", "n2"}) Node(name, Amounts(4000));
  Node("far", Amounts(100'000), 100);
  Group("whole", "low", 4);
  for (int i = 0; i < 4; ++i) Runs("whole", absl::StrCat("w-", i), Amounts(1000), "n2");
  for (int i = 0; i < 16; ++i) OneRuns(absl::StrCat("away-", i), "low", "default", Amounts(4000), "far");  // younger
  for (int i = 0; i < 4; ++i) OneRuns(absl::StrCat("x-", i), "low", "default", Amounts(1000), "n1");
  Group("high", "high", 1);
  model::PodFacts high = PodOf("high", "high", Amounts(4000));
  high.wants.has_affinity = true;
  high.wants.affinity = {{{"kubernetes.io/hostname", model::Op::kIn, {"n1", "n2"}}}};
  cluster.SetPod(high);
  EXPECT_THAT(Evicted(), ElementsAre("x-0", "x-1", "x-2", "x-3"));
  cluster.RemovePod("default", "away-15");
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
  gang.sub_groups = {testutil::SubGroupsOfTask("w", 2, 0)};
  cluster.SetGang(gang);
  for (int i = 0; i < 4; ++i) {
    model::PodFacts w = PodOf("job", absl::StrCat("w-", i), Amounts(1000), "n1");
    testutil::SetPartition(w, absl::StrCat(i % 2));
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
  // Where the minimum is the role's, others go for it that come before its pods in order.
  for (int i = 0; i < 2; ++i) {
    model::PodFacts pod = PodOf("low", absl::StrCat("l-", i), Amounts(1000), "n1");
    pod.role = "ps";
    pod.priority = 2;
    cluster.SetPod(pod);
  }
  cluster.SetPod(PodOf("high", "high", Amounts(2000)));
  EXPECT_THAT(Evicted(), ElementsAre("l-0", "l-1"));
  cluster.SetPod(PodOf("high", "high", Amounts(3000)));
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
