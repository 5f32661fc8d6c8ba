#include "plugin/gang/minimum.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using model::PodPhase;
using testutil::Cpu;
using testutil::Gang;
using testutil::Pod;
using testutil::World;

class MinimumTest : public ::testing::Test {
 protected:
  MinimumTest() { testutil::AddNodes(w.cluster, 1); }
  void Add(const char* role, int index, PodPhase phase = PodPhase::kRunning, const std::string& partition = "") {
    model::PodFacts pod = Pod("g", role, index, Cpu(100));
    pod.node = "node-000";
    pod.phase = phase;
    testutil::SetPartition(pod, partition);
    w.cluster.SetPod(pod);
  }
  bool Has(Counts counts = IsReady) const {
    return HasMinimum(w.cluster, w.cluster.gang(w.cluster.FindGang("default", "g")), counts);
  }
  World w;
};

TEST_F(MinimumTest, AsManyTasks) {
  w.cluster.SetGang(Gang("g", 2));
  Add("w", 0);
  EXPECT_FALSE(Has());
  Add("w", 1, PodPhase::kFailed);
  EXPECT_FALSE(Has());
  EXPECT_TRUE(Has(IsScheduled));
  Add("w", 1, PodPhase::kSucceeded);
  EXPECT_TRUE(Has());
}

TEST_F(MinimumTest, ABindingMayStillBeRefused) {
  w.cluster.SetGang(Gang("g", 1));
  const model::TaskId task = w.cluster.SetPod(Pod("g", "w", 0, Cpu(100)));
  w.cluster.Assume(task, 0);
  EXPECT_TRUE(Has());
  EXPECT_FALSE(Has(IsBoundOrDone));
}

TEST_F(MinimumTest, AsManyOfEachTask) {
  model::GangFacts gang = Gang("g", 2);
  gang.min_task_member = {{"ps", 1}, {"w", 1}};
  w.cluster.SetGang(gang);
  for (int i = 0; i < 3; ++i) Add("w", i);
  EXPECT_FALSE(Has());
  Add("ps", 0);
  EXPECT_TRUE(Has());
}

// volcano: api/job_info.go, CheckTaskReady
TEST_F(MinimumTest, TasksMinimaAreNotLookedAtWhenTheyAreMoreThanTheGangs) {
  model::GangFacts gang = Gang("g", 2);
  gang.min_task_member = {{"ps", 2}, {"w", 1}};
  w.cluster.SetGang(gang);
  for (int i = 0; i < 2; ++i) Add("w", i);
  EXPECT_TRUE(Has());
}

TEST_F(MinimumTest, AsManyWholeSubGroups) {
  model::GangFacts gang = Gang("g", 2);
  gang.sub_groups = {testutil::SubGroupsOfTask("w", 2, 1)};
  w.cluster.SetGang(gang);
  Add("w", 0, PodPhase::kRunning, "a");
  Add("w", 1, PodPhase::kRunning, "b");
  Add("w", 2);
  EXPECT_FALSE(Has());
  Add("w", 3, PodPhase::kRunning, "b");
  EXPECT_TRUE(Has());
}

}  // namespace
}  // namespace gangway::gang
