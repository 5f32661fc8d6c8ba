// Invariants over many random clusters. A failure names the seed.
#include <algorithm>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "plugin/gang/schedule.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::gang {
namespace {

using model::Cluster;
using model::Decision;
using model::Decisions;
using model::Dim;
using model::Row;
using model::TaskStatus;
using testutil::Cpu;
using testutil::Gang;
using testutil::Node;
using testutil::Pod;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int Below(int limit) { return static_cast<int>(engine_() % static_cast<unsigned>(limit)); }
  bool Chance(int percent) { return Below(100) < percent; }
  std::mt19937& engine() { return engine_; }

 private:
  std::mt19937 engine_;
};

model::NodeFacts RandomNode(Random& random, int number) {
  model::NodeFacts node = Node(absl::StrCat("n", number), 1 + random.Below(16));
  node.labels.emplace_back("zone", random.Chance(50) ? "a" : "b");
  if (random.Chance(15)) node.taints = {{"dedicated", "x", model::TaintEffect::kNoSchedule}};
  if (random.Chance(10)) node.unschedulable = true;
  if (random.Chance(20)) node.allocatable.emplace_back("nvidia.com/gpu", random.Below(9));
  return node;
}

model::Wants RandomWants(Random& random) {
  model::Wants wants = Cpu(500 * (1 + random.Below(12)));
  if (random.Chance(20)) wants.selector = {{"zone", random.Chance(50) ? "a" : "b"}};
  if (random.Chance(15)) wants.tolerations = {{"dedicated", "", "", true}};
  if (random.Chance(10)) wants.requests.emplace_back("nvidia.com/gpu", 1 + random.Below(4));
  if (random.Chance(8)) wants.host_ports = {{"TCP", "", 8080 + random.Below(2)}};
  return wants;
}

struct Events {
  std::vector<model::NodeFacts> nodes;
  std::vector<model::GangFacts> gangs;
  std::vector<model::PodFacts> pods;
  std::vector<model::QueueFacts> queues;
};

Events RandomEvents(Random& random) {
  Events events;
  const int nodes = 1 + random.Below(8);
  for (int i = 0; i < nodes; ++i) events.nodes.push_back(RandomNode(random, i));
  for (const char* name : {"default", "other"}) {
    model::QueueFacts queue = testutil::Queue(name);
    queue.weight = 1 + random.Below(3);
    if (random.Chance(20)) queue.capability = {{"cpu", 1000 * (1 + random.Below(40))}};
    events.queues.push_back(queue);
  }
  const int gangs = 1 + random.Below(5);
  for (int g = 0; g < gangs; ++g) {
    const std::string name = absl::StrCat("g", g);
    const int tasks = 1 + random.Below(8);
    model::GangFacts gang = Gang(name, random.Below(tasks + 2));
    gang.created = testutil::At(random.Below(3));
    gang.queue = random.Chance(70) ? "default" : "other";
    if (random.Chance(30)) gang.phase = model::GangPhase::kPending;
    if (random.Chance(50)) {
      gang.has_min_resources = true;
      gang.min_resources = {{"cpu", 1000 * random.Below(30)}};
    }
    std::vector<model::Wants> shapes = {RandomWants(random), RandomWants(random)};
    if (random.Chance(30)) gang.min_task_member = {{"r0", random.Below(3)}, {"r1", random.Below(3)}};
    for (int i = 0; i < tasks; ++i) {
      const int role = random.Below(2);
      model::PodFacts pod = Pod(name, absl::StrCat("r", role), i, shapes[static_cast<std::size_t>(role)]);
      if (random.Chance(15)) {
        pod.node = absl::StrCat("n", random.Below(nodes));
        pod.phase = random.Chance(30) ? model::PodPhase::kSucceeded : model::PodPhase::kRunning;
        pod.terminating = random.Chance(20);
      }
      events.pods.push_back(pod);
    }
    events.gangs.push_back(gang);
  }
  return events;
}

void Feed(Cluster& cluster, const Events& events, Random* shuffle) {
  std::vector<std::function<void()>> calls;
  for (const auto& node : events.nodes) calls.push_back([&] { cluster.SetNode(node); });
  for (const auto& gang : events.gangs) calls.push_back([&] { cluster.SetGang(gang); });
  for (const auto& pod : events.pods) calls.push_back([&] { cluster.SetPod(pod); });
  for (const auto& queue : events.queues) calls.push_back([&] { cluster.SetQueue(queue); });
  if (shuffle != nullptr) std::shuffle(calls.begin(), calls.end(), shuffle->engine());
  for (const auto& call : calls) call();
}

Decisions Decide(const Cluster& cluster) {
  Scratch scratch;
  return Schedule(cluster, Policy(), testutil::At(100), scratch);
}

void Apply(Cluster& cluster, const Decisions& decisions) {
  for (const Decision& decision : decisions) {
    if (decision.admit) cluster.SetAdmitted(decision.gang, true);
    for (const model::Placement& p : decision.placements) cluster.Assume(p.task, p.row);
  }
}

// In words that do not depend on ids.
std::vector<std::string> Told(const Cluster& cluster, const Decisions& decisions) {
  std::vector<std::string> told;
  for (const Decision& decision : decisions) {
    std::string line = absl::StrCat(cluster.gang(decision.gang).name, decision.admit ? " admitted" : "");
    for (const model::Placement& p : decision.placements) {
      absl::StrAppend(&line, " ", cluster.task(p.task).name, "->", cluster.node_name(p.row));
    }
    if (decision.reason.has_value()) absl::StrAppend(&line, " ", model::Render(*decision.reason));
    told.push_back(line);
  }
  return told;
}

TEST(ScheduleProperty, NeverOvercommitsNeverPlacesPartOfAGang) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    Cluster cluster;
    Feed(cluster, RandomEvents(random), nullptr);
    std::vector<std::vector<std::int64_t>> before;
    for (Row row = 0; row < cluster.rows(); ++row) {
      before.emplace_back();
      for (Dim dim = 0; dim < cluster.dims().count(); ++dim) before.back().push_back(cluster.free(row, dim));
    }
    const Decisions decisions = Decide(cluster);
    Apply(cluster, decisions);
    for (Row row = 0; row < cluster.rows(); ++row) {
      for (Dim dim = 0; dim < cluster.dims().count(); ++dim) {
        const std::int64_t was = before[static_cast<std::size_t>(row)][static_cast<std::size_t>(dim)];
        ASSERT_TRUE(cluster.free(row, dim) >= 0 || cluster.free(row, dim) == was) << "seed " << seed;
      }
    }
    for (const Decision& decision : decisions) {
      const model::Gang& gang = cluster.gang(decision.gang);
      if (!decision.placements.empty()) {
        ASSERT_GE(gang.ready(), gang.min_member) << "seed " << seed;
        ASSERT_TRUE(gang.admitted) << "seed " << seed;
      }
      for (const model::Placement& p : decision.placements) {
        const model::Shape& shape = cluster.shape(cluster.task(p.task).shape);
        ASSERT_EQ(cluster.StaticObstacle(p.row, shape), model::Obstacle::kNothing) << "seed " << seed;
      }
      ASSERT_TRUE(decision.short_of_minimum ? decision.placements.empty() : true) << "seed " << seed;
      ASSERT_TRUE(gang.ready() >= gang.min_member || decision.reason.has_value() || decision.admit) << "seed " << seed;
    }
    for (const char* name : {"default", "other"}) {
      for (model::QueueId id = 0; id < cluster.queue_slots(); ++id) {
        const model::Queue& queue = cluster.queue(id);
        if (queue.name != name || queue.capability[model::kCpu] == 0) continue;
        std::int64_t placed = 0;
        for (const Decision& decision : decisions) {
          if (cluster.gang(decision.gang).queue != id) continue;
          for (const model::Placement& p : decision.placements) placed += cluster.shape(cluster.task(p.task).shape).request[model::kCpu];
        }
        ASSERT_TRUE(placed == 0 || queue.held[model::kCpu] <= queue.capability[model::kCpu]) << "seed " << seed;
      }
    }
  }
}

TEST(ScheduleProperty, TheOrderOfEventsDecidesNothing) {
  for (unsigned seed = 0; seed < 1500; ++seed) {
    Random random(seed);
    const Events events = RandomEvents(random);
    Cluster plain, shuffled;
    Feed(plain, events, nullptr);
    Feed(shuffled, events, &random);
    ASSERT_EQ(Told(plain, Decide(plain)), Told(shuffled, Decide(shuffled))) << "seed " << seed;
  }
}

TEST(ScheduleProperty, ScratchIsOnlyACache) {
  for (unsigned seed = 0; seed < 600; ++seed) {
    Random random(seed);
    Events events = RandomEvents(random);
    Cluster cluster;
    Feed(cluster, events, nullptr);
    Scratch kept(seed % 3 == 0 ? 1 : 64);
    for (int round = 0; round < 8; ++round) {
      const Decisions with = Schedule(cluster, Policy(), testutil::At(100), kept);
      ASSERT_EQ(with, Decide(cluster)) << "seed " << seed << " round " << round;
      if (random.Chance(70)) Apply(cluster, with);
      switch (random.Below(6)) {
        case 0:
          cluster.SetNode(RandomNode(random, random.Below(9)));
          break;
        case 1:
          cluster.RemoveNode(absl::StrCat("n", random.Below(9)));
          break;
        case 2: {
          const model::PodFacts& pod = events.pods[static_cast<std::size_t>(random.Below(static_cast<int>(events.pods.size())))];
          cluster.RemovePod(pod.ns, pod.name);
          break;
        }
        case 3: {
          model::PodFacts pod = events.pods[static_cast<std::size_t>(random.Below(static_cast<int>(events.pods.size())))];
          pod.uid += absl::StrCat("-", round);
          pod.wants = RandomWants(random);
          cluster.SetPod(pod);
          break;
        }
        case 4: {
          const auto& pod = events.pods.front();
          const model::TaskId task = cluster.FindTask(pod.ns, pod.name);
          if (task != model::kNone) cluster.Forget(task);
          break;
        }
        default:
          testutil::AddGang(cluster, absl::StrCat("extra", round), 2, 3, 1000);
      }
    }
  }
}

TEST(ScheduleProperty, AFreeNodeMoreNeverMakesALoneGangWait) {
  int placed_before = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    Events events = RandomEvents(random);
    events.gangs.resize(1);
    events.gangs[0].phase = model::GangPhase::kInqueue;
    std::erase_if(events.pods, [](const model::PodFacts& pod) { return pod.gang != "g0"; });
    events.queues[0].capability.clear();
    events.queues[1].capability.clear();
    Cluster cluster;
    Feed(cluster, events, nullptr);
    const Decisions before = Decide(cluster);
    if (before.size() != 1 || before[0].short_of_minimum) continue;
    ++placed_before;
    cluster.SetNode(RandomNode(random, 99));
    const Decisions after = Decide(cluster);
    ASSERT_EQ(after.size(), 1u);
    ASSERT_FALSE(after[0].short_of_minimum) << "seed " << seed;
  }
  EXPECT_GT(placed_before, 500);
}

// The rest of a decision applied, nothing is left to decide: rounds do not go on for ever.
TEST(ScheduleProperty, DecisionsSettle) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    Random random(seed);
    Cluster cluster;
    Feed(cluster, RandomEvents(random), nullptr);
    for (int round = 0; round < 4; ++round) Apply(cluster, Decide(cluster));
    for (const Decision& decision : Decide(cluster)) {
      ASSERT_TRUE(decision.placements.empty() && !decision.admit) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace gangway::gang
