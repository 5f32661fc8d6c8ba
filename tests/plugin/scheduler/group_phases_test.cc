// Rows of tests/spec/volcano-scheduler.rows, those that objects show; and that what is written is not
// written again.
#include "plugin/scheduler/scheduler.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/resource.h"
#include "tests/plugin/scheduler/scheduler_fixture.h"

namespace gangway::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace json = boost::json;

TEST_F(SchedulerTest, E1E3AGangStaysWhatItIs) {
  AddQueue("c1", R"("capability":{"cpu":"4","memory":"4G"})");
  AddGroupIn("c1", "waits", 2, "Inqueue");
  for (const char* pod : {"w0", "w1"}) AddPod(pod, "waits", "1");
  AddGroupIn("c1", "runs", 2, "Running");
  for (const char* pod : {"r0", "r1"}) {
    AddPod(pod, "runs", "1");
    Bind(pod, "nowhere");
    SetPhase(pod, "Running");
  }
  StartScheduler();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Phase("waits"), "Inqueue");
  EXPECT_EQ(Phase("runs"), "Running");
  EXPECT_EQ(Running("runs"), 2);
}

TEST_F(SchedulerTest, E2WhatAsksForNothingIsLetInThoughThereAreNoNodes) {
  for (const char* queue : {"c1", "c2"}) AddQueue(queue, R"("capability":{"cpu":"4","memory":"4G"})");
  AddGroupIn("c1", "pg1", 1, "Pending");
  AddGroupIn("c2", "pg2", 1, "Pending");
  AddPod("p1", "pg1", "3");
  AddPod("p2", "pg2", "1");
  StartScheduler();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Phase("pg1"), "Inqueue");
  EXPECT_EQ(Phase("pg2"), "Inqueue");
}

TEST_F(SchedulerTest, E5MoreThanTheQueuesCapabilityIsNotLetIn) {
  AddNodes(6);
  AddQueue("c1", R"("capability":{"cpu":"1","memory":"1G"})");
  AddGroupIn("c1", "pg", 1, "Pending", R"(,"minResources":{"cpu":"8","memory":"8G"})");
  StartScheduler();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Phase("pg"), "Pending");
  EXPECT_THAT(Conditions(api::kPodGroups, "pg"), ElementsAre(HasSubstr("queue c1 uses 0 of 1")));
}

// A gang of which some pods are ending. Nobody ends them: there is no kubelet, and a finalizer keeps those that have no
// node.
class EndingTest : public SchedulerTest {
 protected:
  EndingTest() { AddNodes(1, 2); }
  void AddRunning(const std::string& pod) {
    AddPod(pod, "g", "1");
    Bind(pod, "node-000");
    SetPhase(pod, "Running");
  }
  void End(const std::string& pod) {
    const kube::Response kept = Ask("PATCH", api::PathOf(api::kPods, "default", pod),
                                    R"({"metadata":{"finalizers":["test/keep"]}})", "application/merge-patch+json");
    ASSERT_TRUE(kept.ok()) << *kept.body;
    Delete(api::kPods, pod);
    ASSERT_NE(Text(Get(api::kPods, pod), "/metadata/deletionTimestamp"), "");
  }
  std::vector<std::string> ConditionsLater() {
    StartScheduler();
    loop_.RunFor(absl::Minutes(1));
    return Conditions(api::kPodGroups, "g");
  }
};

TEST_F(EndingTest, G3AGangThatOnlyWaitsForEndingPodsIsNotUnschedulable) {
  AddGroupIn("default", "g", 2, "Running");
  AddRunning("p0");
  AddRunning("p1");
  End("p1");
  EXPECT_THAT(ConditionsLater(), IsEmpty());
}

TEST_F(EndingTest, G4ItIsWithAReplacementThatFindsNoRoom) {
  AddGroupIn("default", "g", 2, "Running");
  AddRunning("p0");
  AddRunning("p1");
  End("p1");
  AddPod("p2", "g", "1");
  EXPECT_THAT(ConditionsLater(), ElementsAre(HasSubstr("Unschedulable=True NotEnoughResources: ")));
  EXPECT_EQ(NodeOf("p2"), "");
}

TEST_F(EndingTest, G5ItIsWhenWhatEndsNeverHadANode) {
  AddGroupIn("default", "g", 1, "Inqueue");
  AddPod("p0", "g", "9");
  End("p0");
  EXPECT_THAT(ConditionsLater(), ElementsAre(HasSubstr("Unschedulable=True NotEnoughResources: ")));
}

TEST_F(EndingTest, G6ItIsWhenMoreIsMissingThanWhatEnds) {
  AddGroupIn("default", "g", 3, "Running");
  AddRunning("p0");
  AddRunning("p1");
  End("p1");
  EXPECT_THAT(ConditionsLater(), ElementsAre(HasSubstr("Unschedulable=True NotEnoughResources: ")));
}

// Three nodes, of which one may have no second pod and two have no more room.
TEST_F(SchedulerTest, G7G8AGangThatDoesNotFitIsOneSentence) {
  const auto add_node = [this](const std::string& name, const std::string& cpu, const std::string& pods) {
    Create(api::kNodes, absl::StrCat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")", name,
                                     R"("},"status":{"allocatable":{"cpu":")", cpu, R"(","memory":"64Gi","pods":")",
                                     pods, R"("}}})"));
  };
  add_node("node1", "16", "1");
  add_node("node2", "1", "10");
  add_node("node3", "1", "10");
  AddGroup("g", 6);
  for (int i = 1; i <= 6; ++i) AddPod(absl::StrCat("task-", i), "g", "1");
  StartScheduler();
  loop_.RunFor(absl::Minutes(1));
  const std::string sentence =
      "waits for 3 of 6 tasks: w needs cpu 1 and pods 1; with 3 placed, 2 nodes have cpu 0 free, 1 node has pods 0 "
      "free, 0 fit";
  EXPECT_THAT(Conditions(api::kPodGroups, "g"), ElementsAre("Unschedulable=True NotEnoughResources: " + sentence));
  EXPECT_THAT(Conditions(api::kPods, "task-6"), ElementsAre("PodScheduled=False Unschedulable: " + sentence));
  EXPECT_THAT(Conditions(api::kPods, "task-3"),
              ElementsAre("PodScheduled=False Schedulable: fits a node; its gang " + sentence));
}

TEST_F(SchedulerTest, G9AMinimumOfNothingIsCompleteAtOnce) {
  AddGroup("pg", 0);
  StartScheduler();
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(Phase("pg"), "Completed");
}

TEST_F(SchedulerTest, TheNextSchedulerWritesNothingThatIsWritten) {
  AddNodes(1);
  StartScheduler();
  AddGroup("tight", 2);
  for (int i = 0; i < 2; ++i) AddPod(absl::StrCat("tight-w-", i), "tight", "9");
  loop_.RunFor(absl::Minutes(1));
  Crash();
  std::vector<std::string> writes;
  fate_ = [&](const kube::Request& request) {
    if (request.method != "GET" && !absl::StrContains(request.path, "/events")) writes.push_back(request.path);
    return sandbox::RequestFate{};
  };
  StartScheduler();
  loop_.RunFor(absl::Minutes(2));
  EXPECT_THAT(writes, IsEmpty());
}

TEST_F(SchedulerTest, TheNextSchedulerWritesNothingOfAGangThatRunsAndOfItsQueue) {
  AddNodes(1);
  StartScheduler();
  AddGroup("g", 1);
  AddPod("p", "g", "3");
  loop_.RunFor(absl::Seconds(5));
  SetPhase("p", "Running");
  loop_.RunFor(absl::Seconds(5));
  Crash();
  std::vector<std::string> writes;
  fate_ = [&](const kube::Request& request) {
    if (request.method != "GET") writes.push_back(absl::StrCat(request.path, " ", request.body));
    return sandbox::RequestFate{};
  };
  StartScheduler();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_THAT(writes, IsEmpty());
}

}  // namespace
}  // namespace gangway::scheduler
