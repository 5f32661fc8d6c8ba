// A gang from its PodGroup to its end, by a scheduler that runs.
#include "plugin/scheduler/scheduler.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "tests/plugin/scheduler/scheduler_fixture.h"

namespace gangway::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace json = boost::json;

// tests/golden/volcano/seed-ctr-volcano, the scheduler's part.
TEST_F(SchedulerTest, TheSeedGangFromPendingToCompleted) {
  AddNodes(6);
  StartScheduler();
  AddGroup("ctr", 4, R"(,"minResources":{"cpu":"4","count/pods":"4","pods":"4","requests.cpu":"4","limits.cpu":"40"})");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Phase("ctr"), "Inqueue");
  EXPECT_THAT(Conditions(api::kPodGroups, "ctr"), IsEmpty());
  EXPECT_THAT(Events("ctr"), IsEmpty()) << "a gang that is being admitted is nothing to warn about";

  for (int i = 0; i < 4; ++i) AddPod(absl::StrCat("ctr-w-", i), "ctr", "1");
  loop_.RunFor(absl::Seconds(3));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(NodeOf(absl::StrCat("ctr-w-", i)), "node-000");
  EXPECT_EQ(Phase("ctr"), "Running");
  EXPECT_THAT(Conditions(api::kPodGroups, "ctr"),
              ElementsAre("Scheduled=True tasks in gang are ready to be scheduled: "));
  EXPECT_THAT(Events("ctr-w-0"), ElementsAre("Normal Scheduled Successfully assigned default/ctr-w-0 to node-000"));
  EXPECT_THAT(Events("ctr"), ElementsAre("Normal Scheduled 4 of 4 tasks are placed: node-000 (4)"));

  for (int i = 0; i < 4; ++i) SetPhase(absl::StrCat("ctr-w-", i), "Running");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Running("ctr"), 4);
  for (int i = 0; i < 4; ++i) SetPhase(absl::StrCat("ctr-w-", i), "Succeeded");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Phase("ctr"), "Completed");
  EXPECT_EQ(Running("ctr"), 0);

  for (int i = 0; i < 4; ++i) Delete(api::kPods, absl::StrCat("ctr-w-", i));
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Phase("ctr"), "Completed") << "volcano-sh/volcano#2208: it would be let in again and hold room for ever";
}

// tests/golden/volcano/gang-unschedulable
TEST_F(SchedulerTest, AGangThatDoesNotFitIsExplainedOnceAndBoundWhenNodesCome) {
  AddNodes(6);
  StartScheduler();
  AddGroup("tight", 8);
  for (int i = 0; i < 8; ++i) AddPod(absl::StrCat("tight-w-", i), "tight", "9");
  loop_.RunFor(absl::Seconds(60));
  EXPECT_EQ(Bound(), 0);
  const std::string sentence =
      "waits for 2 of 8 tasks: w needs cpu 9; with 6 placed, 6 nodes have at most 7 free, 0 fit";
  EXPECT_EQ(Phase("tight"), "Inqueue");
  EXPECT_THAT(Conditions(api::kPodGroups, "tight"), ElementsAre("Unschedulable=True NotEnoughResources: " + sentence));
  EXPECT_THAT(Events("tight"), ElementsAre("Warning Unschedulable " + sentence));
  EXPECT_THAT(Conditions(api::kPods, "tight-w-7"), ElementsAre("PodScheduled=False Unschedulable: " + sentence));
  EXPECT_THAT(Conditions(api::kPods, "tight-w-0"),
              ElementsAre("PodScheduled=False Schedulable: fits a node; its gang " + sentence));
  EXPECT_THAT(Events("tight-w-7"), ElementsAre("Warning FailedScheduling " + sentence));

  AddNodes(2);
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Bound(), 8);
  EXPECT_EQ(Phase("tight"), "Running");
  EXPECT_THAT(Conditions(api::kPodGroups, "tight"),
              ElementsAre("Unschedulable=True NotEnoughResources: " + sentence,
                          "Scheduled=True tasks in gang are ready to be scheduled: "));
}

// What the first of its name was told, the second was not.
TEST_F(SchedulerTest, AGangThatIsMadeAnewIsToldAnew) {
  AddNodes(1);
  StartScheduler();
  const auto make = [this] {
    AddGroup("tight", 1);
    AddPod("tight-w-0", "tight", "20");
  };
  make();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_THAT(Conditions(api::kPodGroups, "tight"),
              ElementsAre(HasSubstr("NotEnoughResources: waits for 1 of 1 task")));
  Delete(api::kPodGroups, "tight");
  Delete(api::kPods, "tight-w-0");
  make();
  loop_.RunFor(absl::Milliseconds(400));
  EXPECT_THAT(Conditions(api::kPodGroups, "tight"), IsEmpty()) << "a reason is told once it has lasted";
  loop_.RunFor(absl::Minutes(1));
  EXPECT_THAT(Conditions(api::kPodGroups, "tight"),
              ElementsAre(HasSubstr("NotEnoughResources: waits for 1 of 1 task")));
}

TEST_F(SchedulerTest, NothingIsWrittenOnceAllIsSaid) {
  AddNodes(1);
  StartScheduler();
  AddGroup("tight", 2);
  for (int i = 0; i < 2; ++i) AddPod(absl::StrCat("tight-w-", i), "tight", "9");
  loop_.RunFor(absl::Minutes(1));
  int writes = 0;
  fate_ = [&](const kube::Request& request) {
    if (request.method != "GET") ++writes;
    return sandbox::RequestFate{};
  };
  loop_.RunFor(absl::Minutes(10));
  EXPECT_EQ(writes, 0);
}

// tests/golden/volcano/gang-not-enqueueable
TEST_F(SchedulerTest, AGangTooLargeForTheClusterStaysPendingWithAReason) {
  AddNodes(6);
  StartScheduler();
  AddGroup("big", 12, R"(,"minResources":{"cpu":"144"})");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Phase("big"), "Pending");
  EXPECT_THAT(Events("big"), ElementsAre(HasSubstr("Normal Unschedulable waits for 12 of 12 tasks: needs cpu 144")));
  AddNodes(4);
  AddNodes(2);
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Phase("big"), "Inqueue");
}

// tests/golden/volcano/minavailable-lt-replicas
// What was decided by another policy is decided anew, without any event.
TEST_F(SchedulerTest, APolicyThatChangesLetsInWhoWaits) {
  AddNodes(1);
  Options options;
  options.live_policy = std::make_shared<LivePolicy>(gang::Policy());
  const std::shared_ptr<LivePolicy> live = options.live_policy;
  StartScheduler(std::move(options));
  AddGroup("large", 1, R"(,"minResources":{"cpu":"20"})");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Phase("large"), "Pending");
  gang::Policy policy;
  policy.overcommit_percent.reset();
  policy.admit_by_queues = false;
  live->Set(policy);
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Phase("large"), "Inqueue");
  Crash();
  live->Set(gang::Policy());  // nobody is told any more
}

// Ranks that were kept from the last round are forgotten.
TEST_F(SchedulerTest, APolicyThatChangesRanksNodesAnew) {
  AddNodes(2);
  gang::Policy by_memory;
  by_memory.packing.weights = {{"memory", 1}};
  Options options;
  options.live_policy = std::make_shared<LivePolicy>(by_memory);
  const std::shared_ptr<LivePolicy> live = options.live_policy;
  StartScheduler(std::move(options));
  AddGroup("first", 1);
  AddPod("first-w-0", "first", "1");
  Bind("first-w-0", "node-001");
  AddGroup("never", 2);  // its small pod leaves ranks behind
  AddPod("never-w-0", "never", "1");
  AddPod("never-w-1", "never", "100");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(NodeOf("never-w-0"), "");
  live->Set(gang::Policy());
  AddGroup("second", 1);
  AddPod("second-w-0", "second", "1");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(NodeOf("second-w-0"), "node-001") << "it is fuller";
}

// ---- what was written is known from the reply, before the watch tells of it

TEST_F(SchedulerTest, NothingIsWrittenTwiceWhileTheWatchLags) {
  AddNodes(1);
  std::map<std::string, int> written;
  fate_ = [&](const kube::Request& request) {
    if (IsBinding(request)) watch_delay_ = absl::Seconds(20);
    const bool writes = request.method != "GET" && !absl::StrContains(request.path, "/events");
    if (writes && watch_delay_ > absl::ZeroDuration()) ++written[absl::StrCat(request.method, " ", request.path)];
    return sandbox::RequestFate{};
  };
  StartScheduler();
  AddGroup("g", 2);
  for (int i = 0; i < 2; ++i) AddPod(absl::StrCat("g-w-", i), "g", "1");
  loop_.RunFor(absl::Seconds(15));
  EXPECT_EQ(Bound(), 2);
  for (const auto& [what, times] : written) EXPECT_EQ(times, 1) << what;
  EXPECT_GE(written.size(), 3u) << "both bindings, and what queues have allocated";
}

// ---- what goes is gone for whoever wants it next

TEST_F(SchedulerTest, WhatGoesIsNotReckonedWith) {
  AddNodes(1);
  for (const char* const name : {"kept", "lost"}) {
    Create(
        api::kPersistentVolumes,
        absl::StrCat(
            R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"pv-)", name,
            R"("},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/x"}}})"));
    Create(api::kPersistentVolumeClaims,
           absl::StrCat(R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":")", name,
                        R"("},"spec":{"accessModes":["ReadWriteOnce"],"volumeName":"pv-)", name,
                        R"(","resources":{"requests":{"storage":"1Gi"}}}})"));
    ASSERT_TRUE(Ask("PATCH", api::PathOf(api::kPersistentVolumeClaims, "default", name, "status"),
                    R"({"status":{"phase":"Bound"}})", "application/merge-patch+json")
                    .ok());
  }
  StartScheduler();
  const auto with_claim = [this](const std::string& name, const std::string& claim) {
    AddGroup(name, 1);
    AddPod(name, name, "1",
           absl::StrCat(R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":")", claim, R"("}}],)"));
  };
  const auto why = [this](const std::string& name) {
    loop_.RunFor(absl::Seconds(15));
    const std::vector<std::string> conditions = Conditions(api::kPodGroups, name);
    return conditions.empty() ? "" : conditions[0];
  };
  with_claim("before", "kept");
  EXPECT_THAT(why("before"), HasSubstr("Scheduled=True"));
  const auto gone = [this](const api::Resource& resource, const std::string& name) {
    ASSERT_TRUE(Ask("DELETE", api::PathOf(resource, resource.namespaced ? "default" : "", name)).ok());
  };
  gone(api::kPersistentVolumes, "pv-lost");
  with_claim("without-volume", "lost");
  EXPECT_THAT(why("without-volume"), HasSubstr("volume pv-lost of claim lost is not known"));
  gone(api::kPersistentVolumeClaims, "lost");
  EXPECT_THAT(why("without-volume"), HasSubstr("there is no claim lost"));
  gone(api::kNodes, "node-000");
  loop_.RunFor(absl::Seconds(1));
  with_claim("without-node", "kept");
  EXPECT_THAT(why("without-node"), HasSubstr("the cluster has no nodes"));
}

TEST_F(SchedulerTest, APriorityClassThatIsGoneGivesNobodyPrecedence) {
  Create(api::kPriorityClasses,
         R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},"value":100})");
  StartScheduler();
  AddGroup("a-first", 1);
  AddPod("a-first", "a-first", "16");
  AddGroup("b-high", 1, R"(,"priorityClassName":"high")");
  AddPod("b-high", "b-high", "16");
  loop_.RunFor(absl::Seconds(1));
  ASSERT_TRUE(Ask("DELETE", api::PathOf(api::kPriorityClasses, "", "high")).ok());
  loop_.RunFor(absl::Seconds(1));
  AddNodes(1);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(NodeOf("a-first"), "node-000");
  EXPECT_EQ(NodeOf("b-high"), "");
}

// tests/golden/volcano/raw-podgroup
TEST_F(SchedulerTest, ARawPodGroupThatLosesAPod) {
  AddNodes(6);
  StartScheduler();
  AddGroup("pg1", 3, R"(,"minResources":{"cpu":"3"})");
  AddPod("p0", "pg1", "1");
  AddPod("p1", "pg1", "1");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Phase("pg1"), "Inqueue");
  EXPECT_EQ(Bound(), 0);
  EXPECT_THAT(Conditions(api::kPodGroups, "pg1"),
              ElementsAre("Unschedulable=True NotEnoughResources: waits for 1 of 3 tasks: 2 pods exist"));
  AddPod("p2", "pg1", "1");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Bound(), 3);
  for (const char* pod : {"p0", "p1", "p2"}) SetPhase(pod, "Running");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Phase("pg1"), "Running");
  Delete(api::kPods, "p1");
  loop_.RunFor(absl::Seconds(90));
  EXPECT_EQ(Phase("pg1"), "Unknown");
  EXPECT_EQ(Bound(), 2) << "a gang that ran is not torn down because of one pod";
  SetPhase("p0", "Succeeded");
  SetPhase("p2", "Succeeded");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Phase("pg1"), "Inqueue");
}

TEST_F(SchedulerTest, AFieldTheSchedulerDoesNotKnowKeepsThePodPending) {
  AddNodes(1);
  StartScheduler();
  AddGroup("g", 1);
  AddPod("g-w-0", "g", "1", R"("resourceClaims":[{"name":"gpu","resourceClaimName":"x"}],)");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Bound(), 0);
  EXPECT_THAT(
      Conditions(api::kPods, "g-w-0"),
      ElementsAre(HasSubstr("spec.resourceClaims[gpu] asks for something this scheduler does not know: it allocates no "
                            "devices of resource.k8s.io; ask for")));
}

// Parts and shares of GPUs by the names that device plugins give them: held by the name, and by nothing else.
class DeviceNamesTest : public SchedulerTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void AddPodOf(const std::string& group, int index, const std::string& device, int count) {
    Create(api::kPods,
           absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", group, "-", index, R"(",)", owner_,
                        R"("annotations":{"scheduling.k8s.io/group-name":")", group,
                        R"(","volcano.sh/task-spec":"w"}},"spec":{"schedulerName":"volcano",
                          "containers":[{"name":"c","image":"i","resources":{"limits":{")",
                        device, R"(":")", count, R"("},"requests":{")", device, R"(":")", count, R"("}}}]}})"));
  }
};

TEST_P(DeviceNamesTest, PartsAndSharesOfGpusAreResourcesAsAny) {
  const std::string device = GetParam();
  AddNodes(1);
  Create(api::kNodes, absl::StrCat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"gpus"},
           "status":{"allocatable":{"cpu":"16","memory":"64Gi","pods":"110","nvidia.com/gpu":"8",")",
                                   device, R"(":"7"}}})"));
  StartScheduler();
  AddGroup("fits", 2, absl::StrCat(R"(,"minResources":{")", device, R"(":"6"})"));
  AddGroup("waits", 2);
  for (int i = 0; i < 2; ++i) AddPodOf("fits", i, device, 3);
  loop_.RunFor(absl::Seconds(3));
  for (int i = 0; i < 2; ++i) AddPodOf("waits", i, device, 1);
  loop_.RunFor(absl::Seconds(3));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(NodeOf(absl::StrCat("fits-", i)), "gpus");
  EXPECT_EQ(NodeOf("waits-0"), "") << "one is left, and whole GPUs are no parts";
  ASSERT_THAT(Conditions(api::kPodGroups, "waits"), ElementsAre(HasSubstr(absl::StrCat("w needs ", device, " 1"))));
}

INSTANTIATE_TEST_SUITE_P(All, DeviceNamesTest,
                         ::testing::Values("nvidia.com/mig-1g.5gb", "nvidia.com/mig-3g.20gb", "nvidia.com/gpu.shared",
                                           "amd.com/cpx_nps4", "huawei.com/Ascend910-2c"));

// The node tells how much of them it has in all, not which card has it: a pod would be bound and never start.
TEST_F(SchedulerTest, APodThatAsksForAPartOfACardWaitsAndIsToldWhatToAskForInstead) {
  Create(api::kNodes, R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"gpus"},
           "status":{"allocatable":{"cpu":"16","memory":"64Gi","pods":"110","volcano.sh/vgpu-number":"8"}}})");
  StartScheduler();
  AddGroup("g", 1);
  Create(api::kPods,
         absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p",)", owner_,
                      R"("annotations":{"scheduling.k8s.io/group-name":"g"}},"spec":{"schedulerName":"volcano",
                        "containers":[{"name":"c","image":"i","resources":{"limits":{"volcano.sh/vgpu-number":"1"},
                          "requests":{"volcano.sh/vgpu-number":"1"}}}]}})"));
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(NodeOf("p"), "");
  ASSERT_THAT(Conditions(api::kPodGroups, "g"),
              ElementsAre(AllOf(HasSubstr("spec.containers[c].resources.limits[volcano.sh/vgpu-number] asks for "
                                          "something this scheduler does not know: it does not say which card"),
                                HasSubstr("ask for whole cards (nvidia.com/gpu)"))));
}

TEST_F(SchedulerTest, RoomForWhichAPodOfAnotherSchedulerIsNominatedIsLeftToIt) {
  AddNodes(1);
  Create(api::kPods,
         R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"theirs"},"spec":{"schedulerName":"default-scheduler",
           "priority":0,"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"12"}}}]}})");
  ASSERT_TRUE(Ask("PATCH", api::PathOf(api::kPods, "default", "theirs", "status"),
                  R"({"status":{"nominatedNodeName":"node-000"}})", "application/merge-patch+json")
                  .ok());
  StartScheduler();
  AddGroup("g", 1);
  AddPod("p", "g", "8");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(NodeOf("p"), "");
  EXPECT_THAT(Conditions(api::kPodGroups, "g"), ElementsAre(HasSubstr("on 1 node room is kept for default/theirs")));
  Delete(api::kPods, "theirs");
  loop_.RunFor(absl::Seconds(60));
  EXPECT_EQ(NodeOf("p"), "node-000");
}

TEST_F(SchedulerTest, AStandbyFillsItsCachesAndDecidesNothingUntilItLeads) {
  AddNodes(1);
  StartScheduler({}, true);
  AddGroup("g", 1);
  AddPod("p", "g", "1");
  loop_.RunFor(absl::Minutes(1));
  EXPECT_TRUE(scheduler_->synced());
  EXPECT_EQ(Text(Get(api::kPods, "p"), "/spec/nodeName"), "");
  EXPECT_EQ(Text(Get(api::kPodGroups, "g"), "/status/phase"), "");
  scheduler_->Lead();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(Text(Get(api::kPods, "p"), "/spec/nodeName"), "node-000");
}

TEST_F(SchedulerTest, StoppedItWritesWhatItDecidedAndDecidesNoMore) {
  AddNodes(1);
  StartScheduler();
  AddGroup("g", 1);
  AddPod("p", "g", "1");
  loop_.RunFor(absl::Seconds(1));
  scheduler_->Stop();
  AddGroup("late", 1);
  AddPod("q", "late", "1");
  loop_.RunFor(absl::Minutes(1));
  EXPECT_TRUE(scheduler_->stopped());
  EXPECT_EQ(Text(Get(api::kPods, "p"), "/spec/nodeName"), "node-000");
  EXPECT_EQ(Text(Get(api::kPods, "q"), "/spec/nodeName"), "");
}

TEST_F(SchedulerTest, OtherNamespacesAreLeftAloneAndTakeRoom) {
  AddNodes(1, 4);
  Ask("POST", "/api/v1/namespaces", R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"mine"}})");
  AddGroup("g", 1);
  AddPod("p", "g", "3");
  AddPod("taken", "other", "3");
  Bind("taken", "node-000");
  Ask("POST", "/apis/scheduling.volcano.sh/v1beta1/namespaces/mine/podgroups",
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"m"},"spec":{"minMember":1,"queue":"default"}})");
  Ask("POST", "/api/v1/namespaces/mine/pods",
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"m","annotations":{"scheduling.k8s.io/group-name":"m"}},"spec":{"schedulerName":"volcano","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"2"}}}]}})");
  StartScheduler({}, false, {"mine"});
  loop_.RunFor(absl::Seconds(5));
  EXPECT_EQ(Text(Get(api::kPodGroups, "g"), "/status/phase"), "") << "not ours to write";
  const std::string mine(*Ask("GET", "/apis/scheduling.volcano.sh/v1beta1/namespaces/mine/podgroups/m").body);
  EXPECT_THAT(mine, HasSubstr("cpu 2")) << "the pod of another namespace takes room";
  Delete(api::kPods, "taken");
  loop_.RunFor(absl::Seconds(5));
  EXPECT_THAT(std::string(*Ask("GET", "/api/v1/namespaces/mine/pods/m").body), HasSubstr(R"("nodeName":"node-000")"));
  EXPECT_EQ(Text(Get(api::kPods, "p"), "/spec/nodeName"), "");
}

TEST_F(SchedulerTest, TheDumpSaysWhoWaitsAndWhy) {
  AddNodes(1, 1);
  StartScheduler();
  AddGroup("g", 1);
  AddPod("p", "g", "3");
  loop_.RunFor(absl::Seconds(5));
  const auto dump = api::ParseJson(scheduler_->Dump());
  ASSERT_TRUE(dump.ok()) << dump.status();
  EXPECT_EQ(dump->at("caches").at("nodes").as_int64(), 1);
  EXPECT_EQ(Text(*dump, "/gangs/0/gang"), "default/g");
  EXPECT_THAT(Text(*dump, "/gangs/0/reason"), HasSubstr("needs cpu 3"));
  for (const char* number : {"queuedKeys", "plansUnderWay"})
    EXPECT_EQ(dump->at("controllers").at("podgroup").at(number).as_int64(), 0) << number;
  EXPECT_EQ(dump->at("eventsWaiting").as_int64(), 0);
  EXPECT_EQ(dump->at("waitingGangs").as_int64(), 1);
  EXPECT_EQ(dump->at("gangs").at(0).at("minMember").as_int64(), 1);
  EXPECT_EQ(dump->at("gangs").at(0).at("tasks").as_int64(), 1);
  for (const char* cache : {"pods", "podgroups"}) EXPECT_EQ(dump->at("caches").at(cache).as_int64(), 1) << cache;
  for (const char* cache : {"persistentvolumeclaims", "persistentvolumes"})
    EXPECT_EQ(dump->at("caches").at(cache).as_int64(), 0) << cache;
  for (const char* cache : {"storageclasses", "priorityclasses", "queues"})
    EXPECT_GE(dump->at("caches").at(cache).as_int64(), 1) << cache << ": those that are always there";
  Crash();
  Options none;
  none.max_dumped_gangs = 0;
  StartScheduler(none);
  loop_.RunFor(absl::Seconds(5));
  EXPECT_THAT(scheduler_->Dump(), HasSubstr(R"("waitingGangs":1,"gangs":[])"));
}

// Small gangs come all the time; without nodes kept for it the large one waits as long as they do.
TEST_F(SchedulerTest, ALargeGangIsNotPassedForEver) {
  AddNodes(2, 8);
  StartScheduler();
  AddGroup("r0", 2);
  for (const char* pod : {"r0-w-0", "r0-w-1"}) AddPod(pod, "r0", "8");
  loop_.RunFor(absl::Seconds(5));
  ASSERT_EQ(Bound(), 2);
  AddGroup("large", 2);
  for (const char* pod : {"large-w-0", "large-w-1"}) AddPod(pod, "large", "8");
  loop_.RunFor(absl::Minutes(2));
  Delete(api::kPods, "r0-w-0");
  AddGroup("small", 1);
  AddPod("small-w-0", "small", "4");
  loop_.RunFor(absl::Seconds(15));
  EXPECT_EQ(NodeOf("small-w-0"), "");
  EXPECT_THAT(Conditions(api::kPodGroups, "small"),
              ElementsAre(HasSubstr("on 2 nodes room is kept for default/large until 1 pod ends")));
  // Nothing ends for an hour: others have their turn, though nothing happens.
  loop_.RunFor(absl::Minutes(61));
  EXPECT_NE(NodeOf("small-w-0"), "");
  EXPECT_EQ(NodeOf("large-w-0"), "");
}

}  // namespace
}  // namespace gangway::scheduler
