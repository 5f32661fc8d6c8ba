// Gangs that run and gangs that wait, of three priorities, and who is evicted. `2c1G` is {2000, 1}: milli-cpu and
// gigabytes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/gang/world.h"

namespace gangway::testutil {

inline constexpr std::int64_t kG = 1'000'000'000;
inline constexpr char kGpu[] = "nvidia.com/gpu";
inline constexpr char kA100[] = "nvidia.com/a100";

inline model::NamedAmounts Amounts(std::int64_t milli, std::int64_t giga = 0, model::NamedAmounts more = {}) {
  model::NamedAmounts amounts;
  if (milli > 0) amounts.emplace_back("cpu", milli);
  if (giga > 0) amounts.emplace_back("memory", giga * kG);
  for (auto& extra : more) amounts.push_back(std::move(extra));
  return amounts;
}

struct EvictTest : World, ::testing::Test {
  EvictTest() {
    policy.preempt = policy.reclaim = true;
    cluster.SetPriorityClass({"low", 10});
    cluster.SetPriorityClass({"mid", 50});
    cluster.SetPriorityClass({"high", 100});
  }
  void Node(const std::string& name, model::NamedAmounts allocatable, int pods = 10) {
    model::NodeFacts node;
    node.name = name;
    node.allocatable = std::move(allocatable);
    node.allocatable.emplace_back("pods", pods);
    node.labels = {{"kubernetes.io/hostname", name}};
    cluster.SetNode(node);
  }
  void Queue(const std::string& name, model::NamedAmounts deserved = {}, model::NamedAmounts capability = {},
             const std::string& parent = "", int priority = 0) {
    model::QueueFacts queue = testutil::Queue(name);
    queue.deserved = std::move(deserved);
    queue.capability = std::move(capability);
    queue.parent = parent;
    queue.priority = priority;
    cluster.SetQueue(queue);
  }
  void Group(const std::string& name, const std::string& priority, int min_member,
             const std::string& queue = "default") {
    model::GangFacts gang = testutil::Gang(name, min_member);
    gang.priority_class = priority;
    gang.queue = queue;
    gang.created = At(created_++);
    cluster.SetGang(gang);
  }
  model::PodFacts PodOf(const std::string& gang, const std::string& name, model::NamedAmounts requests,
                        const std::string& node = "") {
    model::Wants wants;
    wants.requests = std::move(requests);
    wants.requests.emplace_back("pods", 1);
    model::PodFacts pod = testutil::Pod(gang, "w", pods_++, wants);
    pod.name = name;
    pod.uid = "uid-" + name;
    pod.node = node;
    if (!node.empty()) pod.phase = model::PodPhase::kRunning;
    return pod;
  }
  void Runs(const std::string& gang, const std::string& name, model::NamedAmounts requests, const std::string& node,
            bool evictable = true) {
    model::PodFacts pod = PodOf(gang, name, std::move(requests), node);
    pod.evictable = evictable;
    cluster.SetPod(pod);
  }
  void Waits(const std::string& gang, const std::string& name, model::NamedAmounts requests) {
    cluster.SetPod(PodOf(gang, name, std::move(requests)));
  }
  // A gang with one pod of the same name.
  void OneRuns(const std::string& name, const std::string& priority, const std::string& queue,
               model::NamedAmounts requests, const std::string& node, bool evictable = true) {
    Group(name, priority, 1, queue);
    Runs(name, name, std::move(requests), node, evictable);
  }
  void OneWaits(const std::string& name, const std::string& priority, const std::string& queue,
                model::NamedAmounts requests) {
    Group(name, priority, 1, queue);
    Waits(name, name, std::move(requests));
  }
  std::vector<std::string> NamesOf(const std::vector<model::TaskId>& tasks) const {
    std::vector<std::string> names;
    for (const model::TaskId task : tasks) names.push_back(cluster.task(task).name);
    return names;
  }
  std::vector<std::string> Evicted() {
    std::vector<std::string> names;
    for (const model::Decision& decision : World::Run()) {
      for (const std::string& name : NamesOf(decision.evicted)) names.push_back(name);
    }
    return names;
  }
  // As the edge does: what was decided is so.
  void CarryOut() {
    for (const model::Decision& decision : World::Run()) {
      for (const model::Placement& placement : decision.placements) cluster.Assume(placement.task, placement.row);
      if (decision.nominations.has_value()) {
        for (const model::TaskId task : cluster.gang(decision.gang).tasks) cluster.Nominate(task, model::kNone);
        for (const model::Placement& placement : *decision.nominations) cluster.Nominate(placement.task, placement.row);
      }
      for (const model::TaskId task : decision.evicted) cluster.SetEvicted(task, true);
    }
    EXPECT_THAT(cluster.Audit(), ::testing::IsEmpty());
  }
  int created_ = 0, pods_ = 0;
};

struct CapacityTest : EvictTest {
  CapacityTest() { policy.sharing = gang::Sharing::kAsWritten; }
};

}  // namespace gangway::testutil
