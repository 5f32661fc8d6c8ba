// Gangs that are bound in part: which are released, and which never.
#include "plugin/scheduler/scheduler.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/resource.h"
#include "tests/plugin/scheduler/scheduler_fixture.h"
#include "tests/testing/fake_client.h"

namespace gangway::scheduler {
namespace {

using ::testing::HasSubstr;
namespace json = boost::json;

TEST_F(SchedulerTest, LeftoversThatCannotBeCompletedAreReleased) {
  AddNodes(2);
  AddGroup("g", 2);
  for (int i = 0; i < 2; ++i) AddPod(absl::StrCat("g-w-", i), "g", "16");
  // Half a gang, as a crash leaves it; and the other node is taken meanwhile.
  Bind("g-w-0", "node-000");
  AddPod("other", "", "16");
  Bind("other", "node-001");
  const std::string uid = Text(Get(api::kPods, "g-w-0"), "/metadata/uid");
  StartScheduler();
  loop_.RunFor(absl::Seconds(25));
  EXPECT_EQ(NodeOf("g-w-0"), "node-000") << "not before the deadline";
  loop_.RunFor(absl::Seconds(10));
  const json::value pod = Get(api::kPods, "g-w-0");
  EXPECT_TRUE(Leaves("g-w-0"));
  EXPECT_THAT(Conditions(api::kPodGroups, "g"),
              ::testing::Contains(HasSubstr("GangReleased=True NotWhole: released 1 of 2 tasks")));
  EXPECT_THAT(Conditions(api::kPodGroups, "g"), ::testing::Contains(HasSubstr(absl::StrCat("[g-w-0/", uid, "]"))));
  if (!pod.is_null()) {
    EXPECT_THAT(Conditions(api::kPods, "g-w-0"), ::testing::Contains(HasSubstr("DisruptionTarget=True GangReleased")));
  }
  EXPECT_EQ(NodeOf("other"), "node-001");
}

// Each try takes its room for a moment, and is no reason to count anew.
TEST_F(SchedulerTest, LeftoversWhoseRestIsRefusedAgainAndAgainAreReleased) {
  AddNodes(2);
  int refused = 0;
  fate_ = [&](const kube::Request& request) {
    sandbox::RequestFate fate;
    if (IsBinding(request) && absl::StrContains(request.path, "g-w-1") && ++refused > 0)
      fate.answer = testutil::Refusal(403, "Forbidden");
    return fate;
  };
  StartScheduler();
  AddGroup("g", 2);
  for (int i = 0; i < 2; ++i) AddPod(absl::StrCat("g-w-", i), "g", "16");
  loop_.RunFor(absl::Seconds(25));
  ASSERT_FALSE(NodeOf("g-w-0").empty());
  EXPECT_FALSE(Leaves("g-w-0")) << "not before the deadline";
  EXPECT_GE(refused, 4) << "it is tried every five seconds";
  loop_.RunFor(absl::Seconds(10));
  EXPECT_TRUE(Leaves("g-w-0"));
  EXPECT_THAT(Conditions(api::kPodGroups, "g"),
              ::testing::Contains(HasSubstr("GangReleased=True NotWhole: released 1 of 2 tasks")));
}

// The node that the other half was to get is taken; those that are bound pull their images.
TEST_F(SchedulerTest, ARestartedSchedulerCountsFromWhenItSawTheHalf) {
  AddNodes(2);
  AddGroup("g", 2);
  for (int i = 0; i < 2; ++i) AddPod(absl::StrCat("g-w-", i), "g", "16");
  Bind("g-w-0", "node-000");
  AddPod("other", "", "16");
  Bind("other", "node-001");
  loop_.RunFor(absl::Minutes(10));
  StartScheduler();
  loop_.RunFor(absl::Seconds(25));
  EXPECT_FALSE(Leaves("g-w-0")) << "nobody has tried to make it whole for so long";
  loop_.RunFor(absl::Seconds(10));
  EXPECT_TRUE(Leaves("g-w-0"));
}

TEST_F(SchedulerTest, ARunningPodIsNeverReleased) {
  AddNodes(3);
  AddGroup("g", 3);
  for (int i = 0; i < 3; ++i) AddPod(absl::StrCat("g-w-", i), "g", "16");
  Bind("g-w-0", "node-000");
  Bind("g-w-1", "node-001");
  SetPhase("g-w-0", "Running");
  AddPod("other", "", "16");
  Bind("other", "node-002");
  StartScheduler();
  loop_.RunFor(absl::Minutes(2));
  EXPECT_FALSE(Leaves("g-w-0"));
  EXPECT_TRUE(Leaves("g-w-1")) << "it holds room that others could start with";
  EXPECT_THAT(Conditions(api::kPodGroups, "g"),
              ::testing::Contains(HasSubstr(
                  "GangReleased=True NotWhole: released 1 of 3 tasks: the gang did not become whole within 30s, it "
                  "waits for 1 of 3 tasks: w needs cpu 16; with 2 placed, 3 nodes have 0 free, 0 fit; 1 task runs and "
                  "stays [g-w-1/")));
}

// Its first pods are made anew one by one while the others still pull their images.
TEST_F(SchedulerTest, AGangThatWasWholeIsNeverReleased) {
  AddNodes(3);
  AddGroup("g", 3);
  for (int i = 0; i < 3; ++i) AddPod(absl::StrCat("g-w-", i), "g", "16");
  StartScheduler();
  loop_.RunFor(absl::Seconds(34));
  ASSERT_EQ(Bound(), 3);
  Delete(api::kPods, "g-w-2");
  AddPod("other", "", "16");
  Bind("other", "node-002");
  AddPod("g-w-2", "g", "16");
  loop_.RunFor(absl::Minutes(5));
  EXPECT_FALSE(Leaves("g-w-0") || Leaves("g-w-1"));
  EXPECT_THAT(Events("g"), ::testing::Not(::testing::Contains(HasSubstr("eleased"))));
  Crash();
  StartScheduler();
  loop_.RunFor(absl::Minutes(5));
  EXPECT_FALSE(Leaves("g-w-0") || Leaves("g-w-1")) << "the next scheduler knows it too";
  Delete(api::kPods, "other");
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(NodeOf("g-w-2"), "node-002");
  EXPECT_EQ(Phase("g"), "Running");
}

TEST_F(SchedulerTest, AGangThatWasWholeForAMomentIsRemembered) {
  AddNodes(2);
  // Its status does not get through before it loses a pod.
  fate_ = [](const kube::Request& request) {
    return request.method == "PATCH" && absl::EndsWith(request.path, "/podgroups/g")
               ? Lose(sandbox::RequestFate::Loss::kRequest)
               : sandbox::RequestFate{};
  };
  AddGroup("g", 2, R"(},"status":{"phase":"Inqueue")");
  for (int i = 0; i < 2; ++i) AddPod(absl::StrCat("g-w-", i), "g", "16");
  StartScheduler();
  loop_.RunFor(absl::Seconds(1));
  ASSERT_EQ(Bound(), 2);
  Delete(api::kPods, "g-w-1");
  loop_.RunFor(absl::Seconds(3));
  fate_ = nullptr;
  loop_.RunFor(absl::Minutes(5));
  EXPECT_FALSE(Leaves("g-w-0"));
}

TEST_F(SchedulerTest, AnUncontrolledLeftoverStaysAndIsTold) {
  AddNodes(1);
  AddGroup("g", 2);
  AddPod("g-w-0", "g", "16", "", false);
  AddPod("g-w-1", "g", "16", "", false);
  Bind("g-w-0", "node-000");
  StartScheduler();
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(NodeOf("g-w-0"), "node-000");
  EXPECT_THAT(
      Conditions(api::kPodGroups, "g"),
      ::testing::Contains(HasSubstr("GangPartBound=True PodsStay: the gang did not become whole within 30s, it waits "
                                    "for 1 of 2 tasks: w needs cpu 16; with 1 "
                                    "placed, 1 node has 0 free, 0 fit; 1 pod without a controller stays: g-w-0")));
  EXPECT_THAT(Events("g"), ::testing::Contains(HasSubstr("Warning GangPartBound the gang did not become whole")));
  EXPECT_THAT(Events("g"), ::testing::Not(::testing::Contains(HasSubstr("GangReleased")))) << "nothing was released";
}

}  // namespace
}  // namespace gangway::scheduler
