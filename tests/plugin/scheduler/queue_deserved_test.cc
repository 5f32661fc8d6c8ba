#include "plugin/scheduler/queue_deserved.h"

#include <string>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "api/volcano/queue_notes.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::scheduler {
namespace {

using testutil::At;

class QueueDeservedTest : public ::testing::Test {
 protected:
  QueueDeservedTest() {
    for (const char* name : {"ads", "lab"}) cluster_.SetQueue(testutil::Queue(name));
    queue_.metadata.name = "ads";
    queue_.metadata.uid = "u";
    cluster_.SetNode(testutil::Node("n", 8));
    Ask("ads", 8);
    Ask("lab", 8);
  }
  void Ask(const std::string& queue, int cpus) {
    model::GangFacts gang = testutil::Gang(queue, cpus);
    gang.queue = queue;
    cluster_.SetGang(gang);
    for (int i = 0; i < 8; ++i) {
      if (i < cpus) {
        cluster_.SetPod(testutil::Pod(queue, "w", i, testutil::Cpu(1000)));
      } else {
        cluster_.RemovePod("default", absl::StrCat(queue, "-w-", i));
      }
    }
    deserved_.Reckon(cluster_, gang::Sharing::kByWeight);
  }
  std::string Written(int second) {
    const kube::Plan plan = deserved_.PlanFor(queue_, At(second));
    look_again_ = plan.look_again;
    return plan.stages.empty() ? "" : plan.stages[0].at(0).body;
  }
  void Say(const std::string& text) {
    queue_.metadata.annotations[std::string(api::volcano::kDeservedAnnotation)] = text;
  }

  model::Cluster cluster_;
  api::volcano::Queue queue_;
  QueueDeserved deserved_;
  absl::Time look_again_;
};

// Another leader told in between, and this one may put it right at once.
TEST_F(QueueDeservedTest, WhoLeadsAgainBeginsAnew) {
  EXPECT_NE(Written(0), "");
  Say("cpu=7");
  EXPECT_EQ(Written(10), "");
  deserved_.Forget();
  deserved_.Reckon(cluster_, gang::Sharing::kByWeight);
  EXPECT_NE(Written(10), "");
}

TEST_F(QueueDeservedTest, WhatItDeservesOfWhatItAsksMoreOf) {
  EXPECT_TRUE(deserved_.Lags(queue_));
  EXPECT_EQ(Written(0), R"({"metadata":{"annotations":{"gangway.io/deserved":"cpu=4"}}})");
  Say("cpu=4");
  EXPECT_FALSE(deserved_.Lags(queue_));
  EXPECT_EQ(Written(100), "");
}

TEST_F(QueueDeservedTest, ItIsTakenAwayWhenItHasAllThatItAsksFor) {
  Say("cpu=4");
  Ask("ads", 3);
  EXPECT_EQ(Written(0), R"({"metadata":{"annotations":{"gangway.io/deserved":null}}})");
}

// Gangs name a queue that is not there yet; what it deserves is reckoned once it is.
TEST_F(QueueDeservedTest, AQueueThatIsNotThereDeservesNothing) {
  cluster_.RemoveQueue("ads");
  deserved_.Reckon(cluster_, gang::Sharing::kByWeight);
  EXPECT_FALSE(deserved_.Lags(queue_));
  cluster_.SetQueue(testutil::Queue("ads"));
  deserved_.Reckon(cluster_, gang::Sharing::kByWeight);
  EXPECT_TRUE(deserved_.Lags(queue_));
}

TEST_F(QueueDeservedTest, OnceAMinuteAtMost) {
  EXPECT_NE(Written(0), "");
  Say("cpu=4");
  Ask("lab", 3);
  EXPECT_EQ(Written(59), "");
  EXPECT_EQ(look_again_, At(60));
  EXPECT_EQ(Written(60), R"({"metadata":{"annotations":{"gangway.io/deserved":"cpu=5"}}})");
}

}  // namespace
}  // namespace gangway::scheduler
