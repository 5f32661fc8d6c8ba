// What comes beyond the minima waits a moment for gangs that are made together.
#include "plugin/scheduler/scheduler.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "api/resource.h"
#include "tests/plugin/scheduler/scheduler_fixture.h"

namespace gangway::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(SchedulerTest, TheElasticRestFollowsWhenThereIsRoom) {
  AddNodes(6);
  StartScheduler();
  AddGroup("elastic", 4);
  for (int i = 0; i < 8; ++i) AddPod(absl::StrCat("elastic-w-", i), "elastic", "9");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Bound(), 6);
  for (int i = 0; i < 6; ++i) SetPhase(absl::StrCat("elastic-w-", i), "Running");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Phase("elastic"), "Running");
  EXPECT_EQ(Running("elastic"), 6);
  EXPECT_THAT(Conditions(api::kPodGroups, "elastic"),
              ElementsAre("Scheduled=True tasks in gang are ready to be scheduled: "));
  EXPECT_THAT(Conditions(api::kPods, "elastic-w-7"),
              ElementsAre(HasSubstr("PodScheduled=False Unschedulable: waits for 2 of 8")));
  for (int i = 0; i < 6; ++i) SetPhase(absl::StrCat("elastic-w-", i), "Succeeded");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Bound(), 8);
  EXPECT_EQ(Phase("elastic"), "Running");
}

// ---- the pause after a PodGroup came, before anything beyond minima is placed

class SurplusPauseTest : public SchedulerTest {
 protected:
  // A gang of one with three pods more.
  void AddElastic() {
    AddGroup("elastic", 1);
    for (int i = 0; i < 4; ++i) AddPod(absl::StrCat("elastic-w-", i), "elastic", "1");
  }
};

TEST_F(SurplusPauseTest, WhatIsBeyondTheMinimumWaitsForGangsMadeTogetherWithIt) {
  AddNodes(1);
  StartScheduler();
  loop_.RunFor(absl::Seconds(1));
  AddElastic();
  loop_.RunFor(absl::Milliseconds(450));
  EXPECT_EQ(Bound(), 1);
  loop_.RunFor(absl::Milliseconds(100));
  EXPECT_EQ(Bound(), 4);
  AddPod("elastic-w-4", "elastic", "1");
  loop_.RunFor(absl::Milliseconds(50));
  EXPECT_EQ(Bound(), 5) << "no gang came";
}

TEST_F(SurplusPauseTest, GangsThatGoOnComingProlongItToFourTimesAsLong) {
  AddNodes(1);
  StartScheduler();
  loop_.RunFor(absl::Seconds(1));
  AddElastic();
  for (int i = 0; i < 4; ++i) {
    loop_.RunFor(absl::Milliseconds(450));
    EXPECT_EQ(Bound(), 1) << i;
    AddGroup(absl::StrCat("other", i), 1);
  }
  loop_.RunFor(absl::Milliseconds(150));
  EXPECT_EQ(Bound(), 1);
  loop_.RunFor(absl::Milliseconds(100));
  EXPECT_EQ(Bound(), 4) << "two seconds after the first, though the last came just now";
}

// Nothing was decided about the rest meanwhile, so it goes on waiting for what it waited for.
TEST_F(SurplusPauseTest, WhatWaitsBeyondItsMinimumIsNotForgottenMeanwhile) {
  AddNodes(1, 2);
  AddElastic();
  StartScheduler();
  loop_.RunFor(absl::Seconds(3));
  ASSERT_EQ(Bound(), 2);
  const auto told = [this] { return Text(Get(api::kPods, "elastic-w-3"), "/metadata/resourceVersion"); };
  const std::string before = told();
  AddGroup("other", 1);
  loop_.RunFor(absl::Milliseconds(250));
  EXPECT_THAT(scheduler_->Dump(), HasSubstr("waits for 2 of 4 tasks"));
  loop_.RunFor(absl::Seconds(20));
  EXPECT_THAT(scheduler_->Dump(), HasSubstr("waits for 2 of 4 tasks"));
  EXPECT_EQ(told(), before) << "nothing new is said";
}

TEST_F(SurplusPauseTest, WhatWasThereBeforeTheSchedulerWaitsForNobody) {
  AddNodes(1);
  AddElastic();
  StartScheduler();
  loop_.RunFor(absl::Milliseconds(100));
  EXPECT_EQ(Bound(), 4);
}

}  // namespace
}  // namespace gangway::scheduler
