#include "plugin/scheduler/queue_upkeep.h"

#include "api/cluster_resources.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::scheduler {
namespace {

using api::volcano::Queue;
using ::testing::HasSubstr;

class QueueUpkeepTest : public ::testing::Test {
 protected:
  QueueUpkeepTest() {
    queue_.metadata.name = "default";
    queue_.metadata.uid = "u1";
    queue_.metadata.resource_version = "7";
    testutil::AddNodes(cluster_, 1);
    cluster_.SetQueue(testutil::Queue("default"));
  }
  void PlacePod() {
    cluster_.SetGang(testutil::Gang("g", 1));
    cluster_.Assume(cluster_.SetPod(testutil::Pod("g", "w", 0, testutil::Cpu(1000))), 0);
  }
  model::Cluster cluster_;
  QueueUpkeep upkeep_{cluster_, true};
  Queue queue_;
};

TEST_F(QueueUpkeepTest, AQueueThatEveryClusterHasIsMadeWhenItIsMissing) {
  const kube::Plan plan = upkeep_.PlanFor("default", nullptr);
  ASSERT_EQ(plan.stages.size(), 1u);
  const kube::Write& write = plan.stages[0].at(0);
  EXPECT_EQ(write.verb, kube::Verb::kCreate);
  EXPECT_EQ(write.resource, &api::kQueues);
  EXPECT_EQ(write.name, "default");
  EXPECT_TRUE(upkeep_.PlanFor("research", nullptr).empty());
  upkeep_.Came("default");
  EXPECT_TRUE(upkeep_.PlanFor("default", nullptr).empty()) << "it is there, and cannot be read";
  upkeep_.Went("default");
  EXPECT_FALSE(upkeep_.PlanFor("default", nullptr).empty());
}

TEST_F(QueueUpkeepTest, WhatPodsHoldIsWrittenAsOfTheLastReckoning) {
  upkeep_.Reckon();
  queue_.status.allocated = {{"cpu", {}}, {"memory", {}}};
  EXPECT_FALSE(upkeep_.Lags(queue_));
  PlacePod();
  EXPECT_FALSE(upkeep_.Lags(queue_));
  upkeep_.Reckon();
  EXPECT_TRUE(upkeep_.Lags(queue_));
  const kube::Plan plan = upkeep_.PlanFor("default", &queue_);
  ASSERT_EQ(plan.stages.size(), 1u);
  const kube::Write& write = plan.stages[0].at(0);
  EXPECT_EQ(write.verb, kube::Verb::kMergePatch);
  EXPECT_EQ(write.subresource, "status");
  EXPECT_EQ(write.uid, "u1");
  EXPECT_EQ(write.resource_version, "") << "others write the rest of the status";
  EXPECT_THAT(write.body, HasSubstr(R"("cpu":"1")"));
}

TEST_F(QueueUpkeepTest, AQueueThatEndsIsLeftAlone) {
  PlacePod();
  upkeep_.Reckon();
  queue_.metadata.deletion_timestamp.at = testutil::At(0);
  EXPECT_TRUE(upkeep_.PlanFor("default", &queue_).empty());
}

TEST_F(QueueUpkeepTest, WhoServesSomeNamespacesWritesNoStatus) {
  PlacePod();
  QueueUpkeep part(cluster_, false);
  part.Reckon();
  EXPECT_TRUE(part.PlanFor("default", &queue_).empty());
  EXPECT_FALSE(part.PlanFor("default", nullptr).empty()) << "but makes what is missing";
}

}  // namespace
}  // namespace gangway::scheduler
