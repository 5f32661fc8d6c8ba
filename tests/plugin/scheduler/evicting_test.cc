// Who is told to go, and who is moved: as it is written, and where it was broken off.
#include "plugin/scheduler/scheduler.h"

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "api/meta.h"
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
  void RefuseDeletions() {
    fate_ = [](const kube::Request& request) {
      sandbox::RequestFate fate;
      if (request.method == "DELETE") fate.answer = testutil::Refusal(500, "InternalError");
      return fate;
    };
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

// The API server's time is for the deletions.
TEST_F(EvictionTest, WhoWaitsIsToldWhoCouldLeaveForItLaterAndThatOnce) {
  int told = 0;
  fate_ = [&](const kube::Request& request) {
    told += request.method == "PATCH" && absl::StrContains(request.path, "/podgroups/high") ? 1 : 0;
    return sandbox::RequestFate();
  };
  StartScheduler(options_);
  const kube::Response least =
      Ask("PATCH", api::PathOf(api::kQueues, "", "default"),
          R"({"metadata":{"annotations":{"gangway.io/min-runtime":"10m"}}})", "application/merge-patch+json");
  ASSERT_TRUE(least.ok()) << *least.body;
  const absl::Time started = loop_.Now();
  LowRuns();
  HighComes();
  loop_.RunFor(absl::Minutes(9));
  const std::string later = absl::StrCat("2 nodes have 0 free, 0 fit; 1 gang of queue default could leave for it from ",
                                         api::FormatTime(started + absl::Minutes(10)), " on");
  EXPECT_THAT(Conditions(api::kPodGroups, "high"), ElementsAre(HasSubstr(later)));
  EXPECT_THAT(Conditions(api::kPods, "high-w-0"), ElementsAre(HasSubstr(later)));
  EXPECT_LE(told, 2) << "let in, and told";
  EXPECT_FALSE(Leaves("low-w-0"));
  loop_.RunFor(absl::Minutes(2));
  EXPECT_TRUE(Leaves("low-w-0"));
  EXPECT_THAT(Conditions(api::kPodGroups, "high"), ElementsAre(HasSubstr("room is kept for it until 2 pods")));
}

TEST_F(EvictionTest, WhatIsOnlyToldWaitsUntilThoseWhoGoAreTold) {
  StartScheduler(options_);
  AddGroup("runs", 1, R"(,"priorityClassName":"high")");
  AddPod("runs", "runs", "0");
  LowRuns();
  EXPECT_EQ(Running("runs"), 0);
  fate_ = [](const kube::Request& request) {
    sandbox::RequestFate fate;
    if (request.method == "DELETE") fate.request_delay = absl::Seconds(5);
    return fate;
  };
  HighComes();
  loop_.RunFor(absl::Seconds(1));
  SetPhase("runs", "Running");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_FALSE(Leaves("low-w-0"));
  EXPECT_EQ(Running("runs"), 0);
  loop_.RunFor(absl::Seconds(3));
  EXPECT_TRUE(Leaves("low-w-0"));
  EXPECT_EQ(Running("runs"), 1);
}

// Somebody waits for their room, and their Job goes by what the PodGroup tells.
TEST_F(EvictionTest, AJobsPodsAreMarkedBehindTheirDeletion) {
  MakeOfJob();
  StartScheduler(options_);
  LowRuns();
  std::vector<std::string> writes;
  fate_ = [&writes](const kube::Request& request) {
    if (absl::StrContains(request.path, "/low")) writes.push_back(absl::StrCat(request.method, " ", request.path));
    return sandbox::RequestFate{};
  };
  HighComes();
  loop_.RunFor(absl::Milliseconds(300));
  const std::string pods = "/api/v1/namespaces/default/pods/low-w-";
  EXPECT_THAT(writes, ElementsAre(HasSubstr("/podgroups/low"), absl::StrCat("DELETE ", pods, "0"),
                                  absl::StrCat("DELETE ", pods, "1")));
  writes.clear();
  End("low-w-0");
  loop_.RunFor(absl::Seconds(2));
  EXPECT_THAT(writes, ::testing::Contains(absl::StrCat("PATCH ", pods, "1/status")).Times(1));
  EXPECT_THAT(writes, ::testing::Not(::testing::Contains(HasSubstr(absl::StrCat(pods, "0")))));
  EXPECT_THAT(Conditions(api::kPods, "low-w-1"),
              ::testing::Contains("DisruptionTarget=True PreemptionByScheduler: evicted 2 of 2 tasks for default/high: "
                                  "its priority is 100, that of this gang 10"));
}

// Whoever makes it anew reads the pod alone.
TEST_F(EvictionTest, APodOfOthersIsMarkedFirstThoughItsPodGroupIsAJobs) {
  const std::string others = owner_;
  MakeOfJob();
  owner_ = others;
  StartScheduler(options_);
  LowRuns();
  RefuseDeletions();
  HighComes();
  loop_.RunFor(absl::Milliseconds(300));
  for (const char* pod : {"low-w-0", "low-w-1"}) {
    EXPECT_FALSE(Leaves(pod));
    EXPECT_THAT(Conditions(api::kPods, pod), ::testing::Contains(HasSubstr("DisruptionTarget=True")));
  }
}

TEST_F(EvictionTest, ADeletionThatIsRefusedAgainAndAgainHoldsNothingUp) {
  StartScheduler(options_);
  AddGroup("runs", 1, R"(,"priorityClassName":"high")");
  AddPod("runs", "runs", "0");
  LowRuns();
  RefuseDeletions();
  HighComes();
  loop_.RunFor(absl::Seconds(1));
  SetPhase("runs", "Running");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Running("runs"), 0);
  loop_.RunFor(absl::Seconds(2));
  EXPECT_EQ(Running("runs"), 1);
  EXPECT_FALSE(Leaves("low-w-0"));
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

// Why two gangs, `a` and `b`, may have to go for a third, `next`: one of them is enough, and of those that have more
// than their minimum one pod of it.
enum class Why { kPriority, kSurplus, kShare, kRoom };

// As it is before the third comes, once for each crash.
class Scene : public EvictionTest {
 public:
  Scene(Why why, bool of_job) : why_(why) {
    if (of_job) MakeOfJob();
    if (why == Why::kShare) {
      for (const char* queue : {"ads", "lab"}) AddQueue(queue, R"("weight":1,"reclaimable":true)");
    }
    if (why != Why::kRoom) AddNodes(2, 4);
    for (const char* gang : {"a", "b"}) {
      AddGang(gang);
      for (int i = 0; i < pods(); ++i) AddVictim(gang, i);
    }
    if (why == Why::kRoom) {
      Bind("a-w-0", "node-000");
      Bind("b-w-0", "node-001");
    }
    StartScheduler(options_);
    loop_.RunFor(absl::Seconds(2));
    for (const char* gang : {"a", "b"}) {
      for (int i = 0; i < pods(); ++i) SetPhase(absl::StrCat(gang, "-w-", i), "Running");
    }
    loop_.RunFor(absl::Seconds(3));
    EXPECT_EQ(Phase("a"), "Running");
    EXPECT_EQ(Phase("b"), "Running");
  }

  // The third comes; the write of that number, from 0, is lost or its reply, and nothing gets through after it. Then
  // the scheduler dies, and another begins. Returns how many writes there were.
  int CrashAt(int write, sandbox::RequestFate::Loss loss) {
    int sent = 0;
    fate_ = [&sent, write, loss](const kube::Request& request) {
      if (request.method == "GET") return sandbox::RequestFate{};
      const int number = sent++;
      return number < write ? sandbox::RequestFate{}
                            : Lose(number == write ? loss : sandbox::RequestFate::Loss::kRequest);
    };
    if (why_ == Why::kShare) {
      AddGroupIn("lab", "next", 2, "Pending");
    } else {
      AddGroup("next", goes(), why_ == Why::kRoom ? "" : R"(,"priorityClassName":"high")");
    }
    for (int i = 0; i < goes(); ++i) AddPod(absl::StrCat("next-w-", i), "next", "4");
    loop_.RunFor(absl::Seconds(3));
    Crash();
    fate_ = nullptr;
    loop_.RunFor(absl::Seconds(1));
    StartScheduler(options_);
    loop_.RunFor(absl::Seconds(5));
    return sent;
  }

  // One gang went, whole or what it has too much, and was told why; the third runs when that has ended, and the other
  // all along.
  void ExpectItIsFinished() {
    std::string gone;
    std::vector<std::string> victims;
    for (const char* gang : {"a", "b"}) {
      std::vector<std::string> leave;
      for (int i = 0; i < pods(); ++i) {
        if (const std::string pod = absl::StrCat(gang, "-w-", i); Leaves(pod)) leave.push_back(pod);
      }
      if (leave.empty()) continue;
      EXPECT_EQ(gone, "") << "both of them";
      gone = gang;
      victims = std::move(leave);
    }
    ASSERT_EQ(victims.size(), static_cast<std::size_t>(goes())) << "of " << gone;
    if (why_ == Why::kRoom) {  // it would like the room of the one that is moved
      AddGroup("other", 1);
      AddPod("other", "other", "2");
      loop_.RunFor(absl::Seconds(2));
    }
    // The Job goes by the pods that are named.
    EXPECT_THAT(Conditions(api::kPodGroups, gone),
                ::testing::Contains(::testing::AllOf(
                    HasSubstr(absl::StrCat("GangReleased=True ", reason(), ": evicted ", goes(), " of ", pods())),
                    HasSubstr(victims.front() + "/"), HasSubstr(victims.back() + "/"))));
    for (const std::string& pod : victims) {
      EXPECT_THAT(Conditions(api::kPods, pod),
                  ::testing::Contains(HasSubstr("DisruptionTarget=True PreemptionByScheduler: evicted")));
      End(pod);
    }
    loop_.RunFor(absl::Seconds(2));
    for (int i = 0; i < goes(); ++i) EXPECT_NE(NodeOf(absl::StrCat("next-w-", i)), "");
    EXPECT_EQ(Phase(gone == "a" ? "b" : "a"), "Running");
    if (why_ == Why::kSurplus) EXPECT_EQ(Phase(gone), "Running");
    if (why_ != Why::kRoom) return;
    AddVictim(gone, 0);
    loop_.RunFor(absl::Seconds(2));
    EXPECT_NE(NodeOf(gone + "-w-0"), "") << "it was moved, and has its place";
    EXPECT_EQ(NodeOf("other"), "");
  }

 private:
  void TestBody() override {}
  int pods() const { return why_ == Why::kRoom ? 1 : 2; }
  int goes() const { return why_ == Why::kSurplus ? 1 : pods(); }
  absl::string_view reason() const {
    return why_ == Why::kShare ? "Reclaimed" : why_ == Why::kRoom ? "Moved" : "Preempted";
  }
  void AddGang(const std::string& gang) {
    if (why_ == Why::kShare) {
      AddGroupIn("ads", gang, pods(), "Pending");
    } else {
      AddGroup(gang, goes(), why_ == Why::kRoom ? "" : R"(,"priorityClassName":"low")");
    }
  }
  void AddVictim(const std::string& gang, int index) {
    const std::string movable = why_ == Why::kRoom ? gang + R"(","gangway.io/movable":"true)" : gang;
    AddPod(absl::StrCat(gang, "-w-", index), movable, why_ == Why::kRoom ? "2" : "4");
  }
  const Why why_;
};

class CrashTest : public ::testing::TestWithParam<std::tuple<Why, bool>> {};

// At each write of an eviction, up to the last: its next life evicts the same, all of it, and nobody else.
TEST_P(CrashTest, AnEvictionThatWasBrokenOffIsFinishedByTheNext) {
  using Loss = sandbox::RequestFate::Loss;
  const auto [why, of_job] = GetParam();
  for (const Loss loss : {Loss::kRequest, Loss::kReply}) {
    int write = 0;
    for (bool lost = true; lost; ++write) {
      SCOPED_TRACE(absl::StrCat(loss == Loss::kReply ? "the reply to write " : "write ", write));
      Scene scene(why, of_job);
      lost = scene.CrashAt(write, loss) > write;
      scene.ExpectItIsFinished();
      ASSERT_LT(write, 100) << "it never comes to an end";
      if (HasFailure()) return;
    }
    EXPECT_GE(write, why == Why::kRoom || why == Why::kSurplus ? 6 : 9) << "marks, deletions, room, and what is told";
  }
}

std::string NameOfCrash(const ::testing::TestParamInfo<std::tuple<Why, bool>>& info) {
  const auto [why, of_job] = info.param;
  return absl::StrCat(why == Why::kPriority  ? "ByPriority"
                      : why == Why::kSurplus ? "OfTheSurplus"
                      : why == Why::kShare   ? "ByShare"
                                             : "ToMakeRoom",
                      of_job ? "OfAJob" : "");
}

INSTANTIATE_TEST_SUITE_P(All, CrashTest,
                         ::testing::Combine(::testing::Values(Why::kPriority, Why::kSurplus, Why::kShare, Why::kRoom),
                                            ::testing::Bool()),
                         NameOfCrash);

// A gang of low priority is evicted for one of high, and meanwhile somebody changes a priority.
enum class When { kMarked, kEnding, kEnded };
enum class What { kVictimsClass, kVictimsGroup, kComersClass, kComersGroup };

class PriorityChangeTest : public EvictionTest, public ::testing::WithParamInterface<std::tuple<When, What>> {
 protected:
  // As Kubernetes has it: a class is made anew, a PodGroup is patched.
  void SetClass(const std::string& name, int value) {
    Ask("DELETE", api::PathOf(api::kPriorityClasses, "", name));
    Create(api::kPriorityClasses,
           absl::StrCat(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":")", name,
                        R"("},"value":)", value, "}"));
  }
  void SetGroup(const std::string& name, const std::string& priority_class) {
    const kube::Response reply = Ask("PATCH", api::PathOf(api::kPodGroups, "default", name),
                                     absl::StrCat(R"({"spec":{"priorityClassName":")", priority_class, R"("}})"),
                                     "application/merge-patch+json");
    ASSERT_TRUE(reply.ok()) << *reply.body;
  }
  // Now the victim is the one of higher priority.
  void Change(What what) {
    if (what == What::kVictimsClass) SetClass("low", 1000);
    if (what == What::kVictimsGroup) SetGroup("low", "highest");
    if (what == What::kComersClass) SetClass("high", 1);
    if (what == What::kComersGroup) SetGroup("high", "lowest");
  }
  // What kubelets and the Job controller do in a second: who was told to go is gone and made anew, who has a node runs.
  void ASecond() {
    for (const char* gang : {"low", "high"}) {
      int told = 0;
      for (int i = 0; i < 2; ++i) {
        const std::string pod = absl::StrCat(gang, "-w-", i);
        const boost::json::value object = Get(api::kPods, pod);
        if (object.is_null() || !Text(object, "/metadata/deletionTimestamp").empty()) {
          ++told;
          End(pod);
          AddPod(pod, gang, "4");
        } else if (!Text(object, "/spec/nodeName").empty() && Text(object, "/status/phase") != "Running") {
          SetPhase(pod, "Running");
        }
      }
      EXPECT_TRUE(told == 0 || told == 2) << gang << " goes in part";
      evicted_[gang] += told / 2;
    }
    loop_.RunFor(absl::Seconds(1));
  }
  std::map<std::string, int> evicted_;
};

// The eviction is carried out or given up, whole; nobody is evicted in turn, and the one with the priority runs in the
// end.
TEST_P(PriorityChangeTest, IsNoDeadlockAndNoTurns) {
  const auto [when, what] = GetParam();
  for (const auto& [name, value] : {std::pair("highest", 1000), std::pair("lowest", 1)}) SetClass(name, value);
  StartScheduler(options_);
  LowRuns();
  if (when == When::kMarked) RefuseDeletions();
  HighComes();
  loop_.RunFor(absl::Milliseconds(500));
  ASSERT_THAT(Conditions(api::kPods, "low-w-0"), ::testing::Contains(HasSubstr("DisruptionTarget=True")));
  ASSERT_EQ(Leaves("low-w-0"), when != When::kMarked);
  if (when == When::kEnded) {
    for (int i = 0; i < 2; ++i) End(absl::StrCat("low-w-", i));
  }
  Change(what);
  if (when == When::kMarked) loop_.RunFor(absl::Milliseconds(200));
  fate_ = nullptr;
  for (int second = 0; second < 120; ++second) ASecond();
  EXPECT_LE(evicted_["low"], 1);
  EXPECT_LE(evicted_["high"], 1);
  const std::map<std::string, int> before = evicted_;
  for (int second = 0; second < 120; ++second) ASecond();
  EXPECT_EQ(evicted_, before) << "it is at rest";
  EXPECT_EQ(Phase("low"), "Running") << "its priority is the higher one now";
  for (int i = 0; i < 2; ++i) EXPECT_EQ(NodeOf(absl::StrCat("high-w-", i)), "");
}

std::string NameOf(const ::testing::TestParamInfo<std::tuple<When, What>>& info) {
  static constexpr const char* kWhen[] = {"Marked", "Ending", "Ended"};
  static constexpr const char* kWhat[] = {"VictimsClass", "VictimsGroup", "ComersClass", "ComersGroup"};
  return absl::StrCat(kWhen[static_cast<int>(std::get<0>(info.param))],
                      kWhat[static_cast<int>(std::get<1>(info.param))]);
}

INSTANTIATE_TEST_SUITE_P(All, PriorityChangeTest,
                         ::testing::Combine(::testing::Values(When::kMarked, When::kEnding, When::kEnded),
                                            ::testing::Values(What::kVictimsClass, What::kVictimsGroup,
                                                              What::kComersClass, What::kComersGroup)),
                         NameOf);

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
  RefuseDeletions();
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
