#include "plugin/scheduler/queue_metrics.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::scheduler {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(QueueMetricsTest, AsVolcanoCountsThem) {
  model::Cluster cluster;
  model::NodeFacts node = testutil::Node("node-000", 12);
  node.allocatable.emplace_back("nvidia.com/gpu", 8);
  cluster.SetNode(node);
  for (const char* name : {"ads", "maps"}) {
    model::QueueFacts queue = testutil::Queue(name);
    queue.weight = name == std::string("ads") ? 3 : 1;
    if (queue.weight == 3) queue.capability = {{"cpu", 11'000}};
    cluster.SetQueue(queue);
    model::GangFacts gang = testutil::Gang(name, 1);
    gang.queue = name;
    cluster.SetGang(gang);
    model::PodFacts pod = testutil::Pod(name, "w", 0, testutil::Cpu(6000));
    pod.wants.requests.emplace_back("nvidia.com/gpu", 2);
    if (queue.weight == 1) pod.node = "node-000";
    cluster.SetPod(pod);
    cluster.SetPod(testutil::Pod(name, "w", 1, testutil::Cpu(6000)));
  }
  Metrics metrics;
  QueueMetrics queues;
  queues.Set(cluster, gang::Sharing::kByWeight);  // counts nothing
  EXPECT_THAT(metrics.Expose(), Not(HasSubstr("volcano_queue")));
  queues.CountIn(metrics);
  queues.Set(cluster, gang::Sharing::kByWeight);
  EXPECT_THAT(metrics.Expose(), AllOf(HasSubstr("volcano_queue_allocated_milli_cpu{queue_name=\"maps\"} 6000\n"),
                                      HasSubstr("volcano_queue_request_milli_cpu{queue_name=\"ads\"} 11000\n"),
                                      HasSubstr("volcano_queue_deserved_milli_cpu{queue_name=\"ads\"} 9000\n"),
                                      HasSubstr("volcano_queue_deserved_milli_cpu{queue_name=\"maps\"} 3000\n"),
                                      HasSubstr("volcano_queue_capacity_milli_cpu{queue_name=\"ads\"} 11000\n"),
                                      HasSubstr("volcano_queue_real_capacity_milli_cpu{queue_name=\"maps\"} 12000\n")));
  EXPECT_THAT(
      metrics.Expose(),
      AllOf(HasSubstr("volcano_queue_allocated_scalar_resources{queue_name=\"maps\",resource=\"nvidia.com/gpu\"} "
                      "2000\n"),
            HasSubstr("volcano_queue_allocated_scalar_resources{queue_name=\"maps\",resource=\"pods\"} 1\n"),
            HasSubstr("volcano_queue_share{queue_name=\"maps\"} 2\n"),
            HasSubstr("volcano_queue_share{queue_name=\"ads\"} 0\n"),
            HasSubstr("volcano_queue_weight{queue_name=\"ads\"} 3\n"),
            HasSubstr("volcano_queue_overused{queue_name=\"ads\"} 0\n")));
  cluster.RemoveQueue("ads");
  queues.Set(cluster, gang::Sharing::kByWeight);
  EXPECT_THAT(metrics.Expose(), HasSubstr("volcano_queue_weight{queue_name=\"ads\"} 0\n")) << "it is gone";
}

TEST(QueueMetricsTest, NothingStaysAsItWas) {
  model::Cluster cluster;
  testutil::AddNodes(cluster, 1);
  model::NodeFacts node = testutil::Node("gpus", 12);
  node.allocatable.emplace_back("nvidia.com/gpu", 8);
  cluster.SetNode(node);
  model::QueueFacts queue = testutil::Queue("ads");
  queue.capability = {{"cpu", 11'000}};
  cluster.SetQueue(queue);
  Metrics metrics;
  QueueMetrics queues;
  queues.CountIn(metrics);
  const auto page = [&] {
    queues.Set(cluster, gang::Sharing::kByWeight);
    return metrics.Expose();
  };
  const std::string capacity = "volcano_queue_capacity_milli_cpu{queue_name=\"ads\"} ",
                    gpus =
                        "volcano_queue_real_capacity_scalar_resources{queue_name=\"ads\",resource=\"nvidia.com/gpu\"} ";
  EXPECT_THAT(page(), AllOf(HasSubstr(capacity + "11000\n"), HasSubstr(gpus + "8000\n")));
  queue.capability = {};
  cluster.SetQueue(queue);
  cluster.RemoveNode("gpus");
  EXPECT_THAT(page(), AllOf(HasSubstr(capacity + "+Inf\n"), HasSubstr(gpus + "0\n")));
}

// volcano: plugins/capacity: what was let in and has not been given yet; its pods may not be made.
TEST(QueueMetricsTest, WhatQueuesWereLetInFor) {
  model::Cluster cluster;
  testutil::AddNodes(cluster, 1);
  model::QueueFacts team = testutil::Queue("team"), below = testutil::Queue("below");
  below.parent = "team";
  cluster.SetQueue(team);
  cluster.SetQueue(below);
  const auto add = [&](const char* name, model::GangPhase phase) {
    model::GangFacts gang = testutil::Gang(name, 2);
    gang.queue = "below";
    gang.phase = phase;
    gang.has_min_resources = true;
    gang.min_resources = {{"cpu", 4000}, {"acme.com/npu", 1}};
    cluster.SetGang(gang);
  };
  add("let-in", model::GangPhase::kInqueue);
  add("not-yet", model::GangPhase::kPending);
  add("over", model::GangPhase::kCompleted);
  add("half", model::GangPhase::kRunning);
  model::PodFacts pod = testutil::Pod("half", "w", 0, testutil::Cpu(1000));
  pod.node = "node-000";
  cluster.SetPod(pod);
  Metrics metrics;
  QueueMetrics queues;
  queues.CountIn(metrics);
  queues.Set(cluster, gang::Sharing::kByWeight);
  for (const char* const name : {"below", "team"}) {
    const std::string queue = name;
    EXPECT_THAT(metrics.Expose(),
                AllOf(HasSubstr("volcano_queue_inqueue_milli_cpu{queue_name=\"" + queue + "\"} 7000\n"),
                      HasSubstr("volcano_queue_inqueue_scalar_resources{queue_name=\"" + queue +
                                "\",resource=\"acme.com/npu\"} 2000\n")));
  }
  add("let-in", model::GangPhase::kCompleted);
  queues.Set(cluster, gang::Sharing::kByWeight);
  EXPECT_THAT(metrics.Expose(), HasSubstr("volcano_queue_inqueue_milli_cpu{queue_name=\"team\"} 3000\n"));
}

TEST(QueueMetricsTest, WhatNoNodeHasIsSaidOfWhoHoldsItOrAsksForIt) {
  model::Cluster cluster;
  testutil::AddNodes(cluster, 1);
  model::NodeFacts gone = testutil::Node("gone");
  gone.allocatable.emplace_back("nvidia.com/gpu", 8);
  cluster.SetNode(gone);
  for (const char* name : {"asks", "holds", "neither"}) {
    model::QueueFacts queue = testutil::Queue(name);
    if (name == std::string("holds")) queue.capability = {{"nvidia.com/gpu", 0}};
    cluster.SetQueue(queue);
    model::GangFacts gang = testutil::Gang(name, 1);
    gang.queue = name;
    cluster.SetGang(gang);
    model::PodFacts pod = testutil::Pod(name, "w", 0, testutil::Cpu(1000));
    if (name != std::string("neither")) pod.wants.requests.emplace_back("nvidia.com/gpu", 2);
    if (name == std::string("holds")) pod.node = "gone";
    cluster.SetPod(pod);
  }
  cluster.RemoveNode("gone");
  Metrics metrics;
  QueueMetrics queues;
  queues.CountIn(metrics);
  queues.Set(cluster, gang::Sharing::kByWeight);
  const std::string gpu = ",resource=\"nvidia.com/gpu\"}";
  EXPECT_THAT(metrics.Expose(),
              AllOf(HasSubstr("volcano_queue_request_scalar_resources{queue_name=\"asks\"" + gpu + " 2000\n"),
                    HasSubstr("volcano_queue_allocated_scalar_resources{queue_name=\"holds\"" + gpu + " 2000\n"),
                    Not(HasSubstr("{queue_name=\"neither\"" + gpu))));
}

}  // namespace
}  // namespace gangway::scheduler
