// Capability and guarantee, in a tree and alone.
#include "plugin/gang/schedule.h"

#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using model::Decision;
using model::PodFacts;
using model::PodPhase;
using model::Wants;
using ::testing::IsEmpty;
using testutil::AddGang;
using testutil::AddNodes;
using testutil::Cpu;
using testutil::Gang;
using testutil::Node;
using testutil::Pod;
using testutil::Queue;
using testutil::World;

TEST(ScheduleTest, ACapabilityOfNoDevicesIsNone) {
  World w;
  model::NodeFacts node = Node("n");
  node.allocatable.emplace_back("nvidia.com/gpu", 8);
  w.cluster.SetNode(node);
  model::QueueFacts queue = Queue("default");
  queue.capability = {{"cpu", 0}, {"memory", 0}, {"nvidia.com/gpu", 0}};
  w.cluster.SetQueue(queue);
  AddGang(w.cluster, "plain", 1, 1, 1000);
  EXPECT_EQ(w.Placed().size(), 1u) << "cpu and memory of 0 are no limit, as in Volcano";
  w.cluster.SetGang(Gang("gpu", 1));
  Wants wants = Cpu(1000);
  wants.requests.emplace_back("nvidia.com/gpu", 1);
  w.cluster.SetPod(Pod("gpu", "w", 0, wants));
  EXPECT_THAT(w.Of("gpu").placements, IsEmpty());
  EXPECT_EQ(model::Render(*w.Of("gpu").reason),
            "waits for 1 of 1 task: needs nvidia.com/gpu 1, queue default uses 0 of 0, 1 too many");
  model::GangFacts asks = Gang("asks", 1);
  asks.phase = model::GangPhase::kNone;
  asks.has_min_resources = true;
  asks.min_resources = {{"nvidia.com/gpu", 1}};
  w.cluster.SetGang(asks);
  EXPECT_FALSE(w.Of("asks").admit);
}

// 16 cpu; `lab` keeps 8 of them and its child 6 of those 8.
struct QueueLimitTest : ::testing::Test {
  QueueLimitTest() {
    AddNodes(w.cluster, 1);
    Set("root", "", {}, {});
    Set("lab", "root", {}, {{"cpu", 8000}});
    Set("team", "lab", {}, {{"cpu", 6000}});
    Set("mate", "lab", {}, {});
    Set("other", "root", {}, {});
    w.policy.overcommit_percent = 1000;
  }
  void Set(const std::string& name, const std::string& parent, model::NamedAmounts capability,
           model::NamedAmounts guarantee) {
    model::QueueFacts queue = Queue(name);
    queue.parent = parent;
    queue.capability = std::move(capability);
    queue.guarantee = std::move(guarantee);
    w.cluster.SetQueue(queue);
  }
  // The reason why `milli` more are not let into the queue.
  std::string Asks(const std::string& queue, std::int64_t milli) {
    model::GangFacts gang = Gang("asks", 1);
    gang.queue = queue;
    gang.phase = model::GangPhase::kNone;
    gang.has_min_resources = true;
    gang.min_resources = {{"cpu", milli}};
    w.cluster.SetGang(gang);
    const Decision decision = w.Of("asks");
    return decision.reason.has_value() ? model::Render(*decision.reason) : "";
  }
  World w;
};

TEST_F(QueueLimitTest, AGuaranteeLiesWithinThatOfTheQueueAbove) {
  EXPECT_EQ(Asks("other", 8000), "");
  EXPECT_EQ(Asks("other", 9000), "waits for 1 of 1 task: needs cpu 9, queue other uses 0 of 8, 1 too many");
  EXPECT_EQ(Asks("team", 16000), "");
  EXPECT_EQ(Asks("mate", 10000), "");
  EXPECT_EQ(Asks("mate", 11000), "waits for 1 of 1 task: needs cpu 11, queue mate uses 0 of 10, 1 too many");
  Set("team", "lab", {}, {{"cpu", 10000}});  // more than its parent's
  EXPECT_EQ(Asks("other", 7000), "waits for 1 of 1 task: needs cpu 7, queue other uses 0 of 6, 1 too many");
}

// What is kept for "other" is kept once, above "lab".
TEST_F(QueueLimitTest, NoMoreIsPlacedThanGuaranteesBesideItsQueuesLeave) {
  Set("other", "root", {}, {{"cpu", 4000}});
  Set("team", "lab", {}, {{"cpu", 6000}});
  Set("lab", "root", {}, {});
  model::GangFacts gang = Gang("g", 1);
  gang.queue = "mate";
  w.cluster.SetGang(gang);
  w.cluster.SetPod(Pod("g", "w", 0, Cpu(6000)));
  EXPECT_FALSE(w.Of("g").reason.has_value());
  w.cluster.SetPod(Pod("g", "w", 0, Cpu(7000)));
  EXPECT_EQ(model::Render(*w.Of("g").reason), "waits for 1 of 1 task: needs cpu 7, queue mate uses 0 of 6, 1 too many");
}

// 20 and 20 of 16: half of it for each, and of what one has half for each below it. Nothing stays free that nobody may
// use.
TEST_F(QueueLimitTest, MoreGuaranteedThanThereIsIsCutInProportion) {
  Set("lab", "root", {}, {{"cpu", 20000}});
  Set("other", "root", {}, {{"cpu", 20000}});
  EXPECT_EQ(Asks("other", 8000), "");
  EXPECT_EQ(Asks("other", 9000), "waits for 1 of 1 task: needs cpu 9, queue other uses 0 of 8, 1 too many");
  Set("team", "lab", {}, {{"cpu", 20000}});
  Set("mate", "lab", {}, {{"cpu", 20000}});
  EXPECT_EQ(Asks("mate", 4000), "") << "40 for the two below lab: two thirds of 16 are lab's, and half of that";
  EXPECT_EQ(Asks("mate", 6000), "waits for 1 of 1 task: needs cpu 6, queue mate uses 0 of 5.334, 0.666 too many");
}

TEST_F(QueueLimitTest, ACapabilityHoldsForTheQueuesBelow) {
  w.policy.reclaim = false;
  Set("lab", "root", {{"cpu", 4000}}, {});
  Set("team", "lab", {}, {});
  model::GangFacts runs = Gang("runs", 1);
  runs.queue = "mate";
  w.cluster.SetGang(runs);
  PodFacts running = Pod("runs", "w", 0, Cpu(3000));
  running.node = "node-000";
  running.phase = PodPhase::kRunning;
  w.cluster.SetPod(running);
  EXPECT_EQ(Asks("team", 1000), "");
  EXPECT_EQ(Asks("team", 2000), "waits for 1 of 1 task: needs cpu 2, queue lab uses 3 of 4, 1 too many");
  model::GangFacts gang = Gang("g", 2);
  gang.queue = "team";
  w.cluster.SetGang(gang);
  for (int i = 0; i < 2; ++i) w.cluster.SetPod(Pod("g", "w", i, Cpu(1000)));
  EXPECT_EQ(model::Render(*w.Of("g").reason), "waits for 2 of 2 tasks: needs cpu 2, queue lab uses 3 of 4, 1 too many");
  Set("mate", "root", {}, {});
  EXPECT_FALSE(w.Of("g").reason.has_value()) << "what runs in mate counts no more";
}

TEST_F(QueueLimitTest, ACircleOfParentsIsNobodysTree) {
  Set("lab", "team", {{"cpu", 4000}}, {{"cpu", 8000}});
  EXPECT_EQ(Asks("mate", 4000), "");
  EXPECT_EQ(Asks("mate", 5000), "waits for 1 of 1 task: needs cpu 5, queue mate uses 0 of 4, 1 too many");
  w.cluster.RemoveQueue("lab");
  w.cluster.RemoveQueue("team");
  EXPECT_EQ(Asks("other", 16000), "");
}

TEST(ScheduleTest, AQueuesFieldWeDoNotKnowIsNamed) {
  World w;
  AddNodes(w.cluster, 1);
  model::QueueFacts queue = Queue("default");
  queue.not_modelled = "spec.affinity";
  w.cluster.SetQueue(queue);
  AddGang(w.cluster, "g", 1, 1, 1000);
  EXPECT_EQ(model::Render(*w.Of("g").reason),
            "waits for 1 of 1 task: spec.affinity of queue default asks for something this scheduler does not know");
}

}  // namespace
}  // namespace gangway::gang
