#include "plugin/gang/order.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using ::testing::ElementsAre;
using testutil::At;
using testutil::Cpu;
using testutil::Gang;
using testutil::Pod;
using testutil::World;

model::GangId Add(World& w, const std::string& name, int created, const std::string& priority = "",
                  const std::string& queue = "default") {
  model::GangFacts gang = Gang(name, 1);
  gang.created = At(created);
  gang.priority_class = priority;
  gang.queue = queue;
  return w.cluster.SetGang(gang);
}

TEST(SortGangsTest, PriorityThenArrivalThenName) {
  World w;
  w.cluster.SetPriorityClass({"high", 10, false});
  std::vector<model::GangId> gangs = {Add(w, "late", 2), Add(w, "b", 1), Add(w, "a", 1),
                                      Add(w, "important", 3, "high")};
  SortGangs(w.cluster, Policy(), gangs);
  std::vector<std::string> names;
  for (const model::GangId id : gangs) names.push_back(w.cluster.gang(id).name);
  EXPECT_THAT(names, ElementsAre("important", "a", "b", "late"));
}

TEST(SortGangsTest, HowLongAGangMayWaitCountsWhereThePolicySaysSo) {
  World w;
  model::GangFacts hurried = Gang("hurried", 1);
  hurried.created = At(5);
  hurried.waiting_time = absl::Seconds(10);
  std::vector<model::GangId> gangs = {Add(w, "first", 1), w.cluster.SetGang(hurried)};
  const auto sorted = [&](const Policy& policy) {
    SortGangs(w.cluster, policy, gangs);
    return w.cluster.gang(gangs[0]).name;
  };
  Policy policy;
  policy.by_deadline = false;
  EXPECT_EQ(sorted(policy), "first");
  policy.by_deadline = true;
  EXPECT_EQ(sorted(policy), "hurried");
}

// 10 cpu; `default` and `other` ask for 10 each.
class QueueOrderTest : public ::testing::Test {
 protected:
  QueueOrderTest() {
    testutil::AddNodes(w.cluster, 1, 10);
    w.cluster.SetQueue(testutil::Queue("other"));
    for (const char* name : {"default", "other"}) {
      queues.push_back(w.cluster.gang(Add(w, name, 0, "", name)).queue);
      for (int i = 0; i < 5; ++i) w.cluster.SetPod(Pod(name, "w", i, Cpu(2000)));
    }
  }
  static model::Resources Milli(std::int64_t milli) {
    model::Resources amounts;
    amounts.Set(model::kCpu, milli);
    return amounts;
  }
  void Set(const std::string& name, int weight, int priority = 0, const std::string& parent = "") {
    model::QueueFacts queue = testutil::Queue(name);
    queue.weight = weight;
    queue.priority = priority;
    queue.parent = parent;
    w.cluster.SetQueue(queue);
  }
  // Each queue once, when `taken` of it is taken.
  std::vector<std::string> Served(const std::vector<std::int64_t>& taken,
                                  const std::vector<std::int64_t>& counted = {}) {
    Overlay overlay(w.cluster);
    for (std::size_t i = 0; i < taken.size(); ++i) overlay.TakeFromQueue(queues[i], Milli(taken[i]));
    const Shares shares(w.cluster, overlay.tree(), Sharing::kByWeight);
    QueueOrder order(overlay, &shares, queues);
    for (std::size_t i = 0; i < counted.size(); ++i) order.Count(queues[i], Milli(counted[i]));
    std::vector<std::string> names;
    for (model::QueueId id = order.First(); id != model::kNone; id = order.First()) {
      names.push_back(w.cluster.queue(id).name);
      order.Done(id);
    }
    return names;
  }
  World w;
  std::vector<model::QueueId> queues;
};

TEST_F(QueueOrderTest, TheNameEndsTies) { EXPECT_THAT(Served({}), ElementsAre("default", "other")); }

TEST_F(QueueOrderTest, WhoHoldsLessComesFirst) {
  EXPECT_THAT(Served({2000}), ElementsAre("other", "default"));
  EXPECT_THAT(Served({2000, 4000}), ElementsAre("default", "other"));
  EXPECT_THAT(Served({2000, 4000}, {4000}), ElementsAre("other", "default")) << "what was counted is held, too";
}

TEST_F(QueueOrderTest, WhatTheClusterHasNoneOfAnyMoreDoesNotCount) {
  model::NodeFacts node = testutil::Node("gone", 0);
  node.allocatable.emplace_back("nvidia.com/gpu", 1);
  w.cluster.SetNode(node);
  model::PodFacts pod = Pod("default", "gpu", 0, {});
  pod.wants.requests = {{"nvidia.com/gpu", 1}};
  pod.node = "gone";
  w.cluster.SetPod(pod);
  w.cluster.RemoveNode("gone");
  EXPECT_THAT(Served({}), ElementsAre("default", "other"));
}

// Though nothing waits in it.
TEST_F(QueueOrderTest, WhatIsCountedForAQueueIsHeldByTheOneAboveItsSiblings) {
  Set("a", 1);
  for (const char* name : {"a1", "a2"}) Set(name, 1, 0, "a");
  const model::QueueId idle = w.cluster.gang(Add(w, "idle", 0, "", "a1")).queue;
  const model::QueueId beside = w.cluster.gang(Add(w, "waits", 0, "", "a2")).queue;
  w.cluster.SetPod(Pod("waits", "w", 0, Cpu(2000)));
  Overlay overlay(w.cluster);
  const Shares shares(w.cluster, overlay.tree(), Sharing::kByWeight);
  QueueOrder order(overlay, &shares, {beside, queues[1]});
  EXPECT_EQ(order.First(), beside);
  order.Count(idle, Milli(1000));
  EXPECT_EQ(order.First(), queues[1]);
}

TEST_F(QueueOrderTest, WhatCountsIsHowMuchOfItsShareAQueueHolds) {
  Set("default", 4);
  EXPECT_THAT(Served({4000, 2000}), ElementsAre("default", "other"));
  EXPECT_THAT(Served({6000, 1000}), ElementsAre("other", "default"));
}

TEST_F(QueueOrderTest, PriorityComesBeforeShares) {
  Set("other", 1, 1);
  EXPECT_THAT(Served({0, 2000}), ElementsAre("other", "default"));
}

// What one queue holds counts for those beside it, too, against queues elsewhere.
TEST_F(QueueOrderTest, BranchesComeBeforeTheirQueues) {
  Set("lab", 1);
  Set("default", 1, 0, "lab");
  Set("mate", 1, 0, "lab");
  queues.push_back(w.cluster.gang(Add(w, "mate", 0, "", "mate")).queue);
  for (int i = 0; i < 5; ++i) w.cluster.SetPod(Pod("mate", "w", i, Cpu(2000)));
  EXPECT_THAT(Served({0, 2000, 2500}), ElementsAre("other", "default", "mate")) << "lab has half of its 5";
  EXPECT_THAT(Served({0, 3000, 2500}), ElementsAre("default", "mate", "other"));
  Overlay overlay(w.cluster);
  overlay.TakeFromQueue(queues[2], Milli(4000));
  const Shares shares(w.cluster, overlay.tree(), Sharing::kByWeight);
  QueueOrder order(overlay, &shares, queues);
  EXPECT_TRUE(order.Within(queues[0], Milli(1000)));
  EXPECT_FALSE(order.Within(queues[0], Milli(2000))) << "lab has no more, though its queue has";
}

TEST_F(QueueOrderTest, AQueueThatMovedIsFoundAnew) {
  Overlay overlay(w.cluster);
  const Shares shares(w.cluster, overlay.tree(), Sharing::kByWeight);
  QueueOrder order(overlay, &shares, queues);
  EXPECT_EQ(order.First(), queues[0]);
  EXPECT_TRUE(order.Within(queues[0], Milli(5000)));
  overlay.TakeFromQueue(queues[0], Milli(2000));
  order.Moved(queues[0]);
  EXPECT_EQ(order.First(), queues[1]);
  EXPECT_FALSE(order.Within(queues[0], Milli(5000)));
  EXPECT_TRUE(order.Within(queues[0], Milli(3000)));
}

TEST(SortTasksTest, PriorityNumberArrivalName) {
  World w;
  w.cluster.SetGang(Gang("g", 1));
  std::vector<model::TaskId> tasks;
  const auto add = [&](const std::string& name, int priority, int index, int created) {
    model::PodFacts pod = Pod("g", "w", index, Cpu(100));
    pod.name = pod.uid = name;
    pod.priority = priority;
    pod.created = At(created);
    tasks.push_back(w.cluster.SetPod(pod));
  };
  add("z", 1, 0, 5);
  add("y", 1, 0, 5);
  add("older", 1, 0, 4);
  add("second", 1, 1, 0);
  add("first", 2, 9, 9);
  SortTasks(w.cluster, tasks);
  std::vector<std::string> names;
  for (const model::TaskId id : tasks) names.push_back(w.cluster.task(id).name);
  EXPECT_THAT(names, ElementsAre("first", "older", "y", "z", "second"));
}

}  // namespace
}  // namespace gangway::gang
