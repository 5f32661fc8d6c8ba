// Who is told to go, and who is moved: as it is written, and where it was broken off.
#include "plugin/scheduler/scheduler.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "api/resource.h"
#include "tests/plugin/scheduler/scheduler_fixture.h"
#include "tests/testing/fake_client.h"

namespace gangway::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two nodes that a gang of low priority fills, and one of high priority that comes.
class EvictionTest : public SchedulerTest {
 protected:
  EvictionTest() {
    for (const auto& [name, value] : {std::pair("low", 10), std::pair("high", 100)}) {
      Create(api::kPriorityClasses,
             absl::StrCat(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":")", name,
                          R"("},"value":)", value, "}"));
    }
    AddNodes(2, 4);
    options_.policy.preempt = options_.policy.reclaim = true;
  }
  void LowRuns() {
    AddGroup("low", 2, R"(,"priorityClassName":"low")");
    for (int i = 0; i < 2; ++i) AddPod(absl::StrCat("low-w-", i), "low", "4");
    loop_.RunFor(absl::Seconds(1));
    for (int i = 0; i < 2; ++i) SetPhase(absl::StrCat("low-w-", i), "Running");
    loop_.RunFor(absl::Seconds(1));
    ASSERT_EQ(Phase("low"), "Running");
  }
  void HighComes() {
    AddGroup("high", 2, R"(,"priorityClassName":"high")");
    for (int i = 0; i < 2; ++i) AddPod(absl::StrCat("high-w-", i), "high", "4");
  }
  // As a kubelet does when the grace is over.
  void End(const std::string& pod) { Delete(api::kPods, pod); }
  std::string NominatedTo(const std::string& pod) { return Text(Get(api::kPods, pod), "/status/nominatedNodeName"); }
  Options options_;
};

TEST_F(EvictionTest, AHighPriorityDoesNotWaitBehindALowOneThatRuns) {
  StartScheduler(options_);
  LowRuns();
  HighComes();
  loop_.RunFor(absl::Seconds(1));
  const std::string why = "evicted 2 of 2 tasks for default/high: its priority is 100, that of this gang 10";
  for (const char* pod : {"low-w-0", "low-w-1"}) {
    EXPECT_TRUE(Leaves(pod));
    EXPECT_THAT(Conditions(api::kPods, pod),
                ::testing::Contains(absl::StrCat("DisruptionTarget=True PreemptionByScheduler: ", why)));
    EXPECT_THAT(Events(pod), ::testing::Contains(absl::StrCat("Warning Evict Pod is evicted; its gang: ", why)));
  }
  EXPECT_THAT(Conditions(api::kPodGroups, "low"),
              ::testing::Contains(HasSubstr(absl::StrCat("GangReleased=True Preempted: ", why, " [low-w-0/"))));
  EXPECT_THAT(Events("low"), ::testing::Contains(absl::StrCat("Normal Evict ", why)));
  // While they end, the room is kept, and the gang says so.
  EXPECT_THAT(Conditions(api::kPodGroups, "high"),
              ElementsAre("Unschedulable=True NotEnoughResources: waits for 2 of 2 tasks: room is kept for it until 2 "
                          "pods of default/low have ended"));
  EXPECT_EQ(NominatedTo("high-w-0"), "node-000");
  EXPECT_EQ(NominatedTo("high-w-1"), "node-001");
  AddGroup("other", 1, R"(,"priorityClassName":"high")");
  AddPod("other", "other", "4");
  End("low-w-0");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(Bound(), 1) << "neither half of the one, nor the other on the room of the one";
  End("low-w-1");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(Phase("high"), "Running");
  EXPECT_EQ(NodeOf("other"), "");
}

TEST_F(EvictionTest, WhoIsNotAskedToEvictsNobody) {
  StartScheduler();
  options_.policy.preempt = false;
  Crash();
  StartScheduler(options_);
  LowRuns();
  HighComes();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_FALSE(Leaves("low-w-0"));
}

// At each write of an eviction: its next life evicts the same, all of it, and nobody else.
TEST_F(EvictionTest, ACrashInTheMiddleIsFinishedByTheNext) {
  AddNodes(2, 4);
  AddGroup("young", 2, R"(,"priorityClassName":"low")");
  for (int crash_after = 0; crash_after <= 8; ++crash_after) {
    SCOPED_TRACE(crash_after);
    StartScheduler(options_);
    LowRuns();
    for (int i = 0; i < 2; ++i) AddPod(absl::StrCat("young-w-", i), "young", "4");
    loop_.RunFor(absl::Seconds(1));
    ASSERT_EQ(Bound(), 4);
    for (int i = 0; i < 2; ++i) SetPhase(absl::StrCat("young-w-", i), "Running");
    loop_.RunFor(absl::Seconds(1));
    int sent = 0;
    fate_ = [&](const kube::Request& request) {
      return request.method != "GET" && ++sent > crash_after ? Lose(sandbox::RequestFate::Loss::kRequest)
                                                             : sandbox::RequestFate{};
    };
    HighComes();
    loop_.RunFor(absl::Milliseconds(20));
    Crash();
    fate_ = nullptr;
    loop_.RunFor(absl::Seconds(1));
    StartScheduler(options_);
    loop_.RunFor(absl::Seconds(5));
    std::vector<std::string> gone;
    for (const char* pod : {"low-w-0", "low-w-1", "young-w-0", "young-w-1"}) {
      if (Leaves(pod)) gone.push_back(pod);
    }
    EXPECT_THAT(gone, ::testing::SizeIs(2));
    EXPECT_EQ(gone.front().substr(0, 3), gone.back().substr(0, 3)) << "one gang, whole";
    for (const std::string& pod : gone) End(pod);
    loop_.RunFor(absl::Seconds(2));
    EXPECT_EQ(Phase("high"), "Running");
    Crash();
    for (const char* gang : {"low", "high"}) Delete(api::kPodGroups, gang);
    for (const char* gang : {"low", "high", "young"}) {
      for (int i = 0; i < 2; ++i) End(absl::StrCat(gang, "-w-", i));
    }
  }
}

// Of two nodes half is free on each.
class ConsolidationTest : public EvictionTest {
 protected:
  ConsolidationTest() {
    for (const char* name : {"a", "b"}) {
      AddGroup(name, 1);
      AddMovable(name);
    }
    Bind("a-w-0", "node-000");
    Bind("b-w-0", "node-001");
    StartScheduler(options_);
    loop_.RunFor(absl::Seconds(1));
    for (const char* pod : {"a-w-0", "b-w-0"}) SetPhase(pod, "Running");
    loop_.RunFor(absl::Seconds(1));
    AddGroup("big", 1);
    AddPod("big-w-0", "big", "4");
    loop_.RunFor(absl::Seconds(1));
  }
  void AddMovable(const std::string& gang) { AddPod(gang + "-w-0", gang + R"(","gangway.io/movable":"true)", "2"); }
};

TEST_F(ConsolidationTest, AGangThatMayBeMovedMakesRoomAndHasItsOwnElsewhere) {
  const std::string why = "evicted 1 of 1 task for default/big: moved so that it finds room, and placed again at once";
  ASSERT_TRUE(Leaves("a-w-0"));
  EXPECT_FALSE(Leaves("b-w-0"));
  EXPECT_THAT(Conditions(api::kPods, "a-w-0"),
              ::testing::Contains(absl::StrCat("DisruptionTarget=True PreemptionByScheduler: ", why)));
  EXPECT_THAT(Conditions(api::kPodGroups, "a"),
              ::testing::Contains(HasSubstr(absl::StrCat("GangReleased=True Moved: ", why, " [a-w-0/"))));
  EXPECT_THAT(Events("a"), ::testing::Contains(absl::StrCat("Normal Evict ", why)));
  EXPECT_EQ(NominatedTo("big-w-0"), "node-000");
  AddGroup("other", 1);
  AddPod("other", "other", "2");
  End("a-w-0");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(NodeOf("big-w-0"), "node-000");
  EXPECT_EQ(NodeOf("other"), "") << "the room is kept for the one that is moved";
  AddMovable("a");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(NodeOf("a-w-0"), "node-001");
  EXPECT_EQ(Phase("a"), "Running");
}

// Its room is anybody's some time after its pods are gone.
TEST_F(ConsolidationTest, WhoDoesNotComeBackHasNoRoomForEver) {
  ASSERT_TRUE(Leaves("a-w-0"));
  End("a-w-0");
  AddGroup("other", 1);
  AddPod("other", "other", "2");
  loop_.RunFor(absl::Minutes(4));
  EXPECT_EQ(NodeOf("other"), "");
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(NodeOf("other"), "node-001");
}

TEST_F(ConsolidationTest, WithItsPodGroupItsRoomGoes) {
  ASSERT_TRUE(Leaves("a-w-0"));
  End("a-w-0");
  Delete(api::kPodGroups, "a");
  AddGroup("other", 1);
  AddPod("other", "other", "2");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(NodeOf("other"), "node-001");
}

TEST_F(EvictionTest, RoomIsGivenBackWhenTheGangGoes) {
  StartScheduler(options_);
  LowRuns();
  HighComes();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_TRUE(Leaves("low-w-0"));
  for (int i = 0; i < 2; ++i) End(absl::StrCat("high-w-", i));
  Delete(api::kPodGroups, "high");
  AddGroup("other", 1, R"(,"priorityClassName":"low")");
  AddPod("other", "other", "4");
  for (int i = 0; i < 2; ++i) End(absl::StrCat("low-w-", i));
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(NodeOf("other"), "node-000");
}

TEST_F(EvictionTest, WhoIsNotTerminatingYetStaysWhenTheGangGoes) {
  StartScheduler(options_);
  LowRuns();
  fate_ = [&](const kube::Request& request) {
    sandbox::RequestFate fate;
    if (request.method == "DELETE") fate.answer = testutil::Refusal(500, "InternalError");
    return fate;
  };
  HighComes();
  loop_.RunFor(absl::Seconds(1));
  ASSERT_FALSE(NominatedTo("high-w-0").empty());
  Delete(api::kPodGroups, "high");
  for (int i = 0; i < 2; ++i) End(absl::StrCat("high-w-", i));
  loop_.RunFor(absl::Milliseconds(100));
  fate_ = nullptr;
  loop_.RunFor(absl::Minutes(2));
  for (const char* pod : {"low-w-0", "low-w-1"}) EXPECT_FALSE(Leaves(pod));
  EXPECT_EQ(Phase("low"), "Running");
}

TEST_F(EvictionTest, APodMadeAgainIsNominatedThoughItsGangWaitsForTheSame) {
  StartScheduler(options_);
  LowRuns();
  HighComes();
  loop_.RunFor(absl::Seconds(1));
  ASSERT_EQ(NominatedTo("high-w-1"), "node-001");
  End("high-w-1");
  AddPod("high-w-1", "high", "4");
  ASSERT_EQ(NominatedTo("high-w-1"), "");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(NominatedTo("high-w-1"), "node-001");
}

TEST_F(EvictionTest, WhoMayNotBeDeletedStaysAndIsNotAskedForAgainAtOnce) {
  StartScheduler(options_);
  LowRuns();
  int refused = 0;
  fate_ = [&](const kube::Request& request) {
    sandbox::RequestFate fate;
    if (request.method != "DELETE") return fate;
    ++refused;
    fate.answer = testutil::Refusal(403, "Forbidden");
    return fate;
  };
  HighComes();
  loop_.RunFor(absl::Seconds(14));
  EXPECT_FALSE(Leaves("low-w-0"));
  EXPECT_GT(refused, 2);
  EXPECT_LT(refused, 10);
}

}  // namespace
}  // namespace gangway::scheduler
