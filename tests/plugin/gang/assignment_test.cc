#include "plugin/gang/assignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/gang/placement_trial.h"
#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using model::kCpu;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testutil::Cpu;
using testutil::PlacementTrial;
using testutil::Pod;

// Two nodes of 4 cpu, and a gang of two pods of 1 cpu and one of 2.
class AssignmentTest : public ::testing::Test {
 protected:
  AssignmentTest() {
    testutil::AddNodes(w.cluster, 2, 4);
    w.cluster.SetGang(testutil::Gang("g", 3));
    for (const int i : {0, 2}) w.cluster.SetPod(Pod("g", "w", i, Cpu(1000)));
    w.cluster.SetPod(Pod("g", "w", 1, Cpu(2000)));
    a = w.cluster.FindNode("node-000");
  }
  testutil::World w;
  model::Row a = model::kNone;
};

TEST_F(AssignmentTest, TasksOfOneShapeAreAGroup) {
  const PlacementTrial trial(w.cluster);
  const std::vector<TaskGroup> groups = trial.Groups();
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_THAT(groups[0].tasks, ElementsAre(0, 2));
  EXPECT_THAT(groups[1].tasks, ElementsAre(1));
  EXPECT_EQ(groups[1].shape, trial.tasks[1].shape);
}

TEST_F(AssignmentTest, WhatIsPutTakesRoomOnTheNodeAndInTheQueue) {
  PlacementTrial trial(w.cluster);
  const model::ShapeId small = trial.tasks[0].shape;
  EXPECT_EQ(trial.tasks.Fit(small).copies(a), 4);
  const std::size_t both[] = {0, 2};
  trial.tasks.Put(both, a);
  EXPECT_THAT(trial.Nodes(), ElementsAre("node-000", "", "node-000"));
  EXPECT_EQ(trial.tasks.Fit(small).copies(a), 2);
  EXPECT_EQ(trial.overlay.taken_from(trial.gang.queue)[kCpu], 2000);
}

TEST_F(AssignmentTest, WhatIsTakenBackIsAsBefore) {
  PlacementTrial trial(w.cluster);
  const model::ShapeId large = trial.tasks[1].shape;
  const std::size_t first = 0, second = 1;
  trial.tasks.Put({&first, 1}, a);
  trial.tasks.Put({&second, 1}, a);
  EXPECT_EQ(trial.tasks.Fit(large).copies(a), 0);
  trial.tasks.TakeBack(1);
  EXPECT_THAT(trial.Nodes(), ElementsAre("node-000", "", ""));
  EXPECT_EQ(trial.tasks.Fit(large).copies(a), 1);
  EXPECT_EQ(trial.overlay.taken_from(trial.gang.queue)[kCpu], 1000);
}

TEST_F(AssignmentTest, ADroppedTrialLeavesNoneARow) {
  PlacementTrial trial(w.cluster);
  const model::ShapeId small = trial.tasks[0].shape;
  const std::size_t both[] = {0, 2};
  trial.tasks.Put(both, a);
  EXPECT_EQ(trial.tasks.Fit(small).copies(a), 2);
  trial.tasks.DropAll();
  EXPECT_THAT(trial.Nodes(), ElementsAre("", "", ""));
  EXPECT_EQ(trial.tasks.Fit(small).copies(a), 4);
  EXPECT_EQ(trial.overlay.taken_from(trial.gang.queue)[kCpu], 0);
}

TEST_F(AssignmentTest, TheQueueHasRoomForAllTogetherOrNot) {
  model::QueueFacts queue = testutil::Queue("default");
  queue.capability = {{"cpu", 3000}};
  w.cluster.SetQueue(queue);
  PlacementTrial trial(w.cluster);
  const std::size_t all[] = {0, 1, 2};
  EXPECT_EQ(trial.tasks.WhyQueueFull({all, 2}), std::nullopt);
  const auto why = trial.tasks.WhyQueueFull(all);
  ASSERT_TRUE(why.has_value());
  EXPECT_THAT(model::Render(*why), HasSubstr("cpu 4"));
  trial.tasks.Put({all, 1}, a);
  EXPECT_TRUE(trial.tasks.WhyQueueFull({all + 1, 2}).has_value()) << "what is put counts";
}

}  // namespace
}  // namespace gangway::gang
