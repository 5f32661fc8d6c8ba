// What does a round cost in which many wait for room that nobody may be evicted for?
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "plugin/gang/schedule.h"
#include "plugin/model/cluster.h"

namespace gangway::gang {
namespace {

constexpr int kQueues = 20, kHeldPods = 8;

std::string GpuNode(int number) { return absl::StrCat("node-", absl::Dec(number, absl::kZeroPad5)); }

model::PodFacts GpuPod(const std::string& gang, int index) {
  model::PodFacts pod;
  pod.ns = "default";
  pod.name = absl::StrCat(gang, "-w-", index);
  pod.uid = pod.name;
  pod.gang = gang;
  pod.role = "worker";
  pod.index = index;
  pod.wants.requests = {{"cpu", 4000}, {"memory", std::int64_t{1} << 30}, {"pods", 1}, {"nvidia.com/gpu", 1}};
  return pod;
}

model::GangFacts GangOf(const std::string& name, int queue, int members, const char* priority) {
  model::GangFacts gang;
  gang.ns = "default";
  gang.name = gang.uid = name;
  gang.queue = absl::StrCat("q", queue);
  gang.priority_class = priority;
  gang.min_member = members;
  gang.phase = model::GangPhase::kInqueue;
  return gang;
}

// Gangs of 8 GPUs hold all of them, a node each: of 20 queues ten are 8 GPUs above what they deserve and ten 8 below, a
// tenth is of a low priority. Those that wait are of a middle one and of `sizes` sizes, and want more than what those
// of low priority hold, or than may be taken back. Arguments: gangs that hold, and that wait; sizes; whether each is
// searched for again.
void BM_RoundInVain(benchmark::State& state) {
  const int holders = static_cast<int>(state.range(0)), waiting = static_cast<int>(state.range(1)),
            sizes = static_cast<int>(state.range(2));
  model::Cluster cluster;
  for (const auto& [name, value] : {std::pair("low", 1), {"middle", 5}, {"high", 9}})
    cluster.SetPriorityClass({name, value});
  for (int i = 0; i < kQueues; ++i) {
    model::QueueFacts queue;
    queue.name = absl::StrCat("q", i);
    cluster.SetQueue(queue);
  }
  for (int i = 0; i < holders; ++i) {
    model::NodeFacts node;
    node.name = GpuNode(i);
    node.allocatable = {{"cpu", 4000 * kHeldPods}, {"memory", (std::int64_t{1} << 30) * kHeldPods + 2}, {"pods", 110}};
    node.allocatable.emplace_back("nvidia.com/gpu", kHeldPods);
    cluster.SetNode(node);
    // One of each ten rounds the second of two queues has, the first has one more.
    const int queue = i / kQueues == 0 && i % 2 == 1 ? i % kQueues - 1 : i % kQueues;
    const std::string name = absl::StrCat("holds-", i);
    model::GangFacts gang = GangOf(name, queue, kHeldPods, i / kQueues % 10 == 0 ? "low" : "high");
    gang.phase = model::GangPhase::kRunning;
    gang.was_whole = true;
    cluster.SetGang(gang);
    for (int pod = 0; pod < kHeldPods; ++pod) {
      model::PodFacts facts = GpuPod(name, pod);
      facts.node = node.name;
      facts.phase = model::PodPhase::kRunning;
      cluster.SetPod(facts);
    }
  }
  for (int i = 0; i < waiting; ++i) {
    const std::string name = absl::StrCat("waits-", i);
    const int pods = 64 + 2 * (i / kQueues % sizes);
    cluster.SetGang(GangOf(name, i % kQueues, pods, "middle"));
    for (int pod = 0; pod < pods; ++pod) cluster.SetPod(GpuPod(name, pod));
  }
  Scratch scratch(64, state.range(3) != 0);
  Policy policy;
  policy.overcommit_percent.reset();
  std::size_t evicted = 0;
  // Something has changed before each: a pod of no gang that asks for nothing of which there is too little.
  model::PodFacts other;
  other.ns = "default";
  other.name = other.uid = "other";
  other.node = GpuNode(0);
  other.phase = model::PodPhase::kRunning;
  std::int64_t change = 0;
  for (auto _ : state) {
    other.wants.requests = {{"memory", 1 + change++ % 2}};
    cluster.SetPod(other);
    const model::Decisions decisions = Schedule(cluster, policy, absl::UnixEpoch(), scratch);
    for (const model::Decision& decision : decisions) evicted += decision.evicted.size() + decision.placements.size();
  }
  if (evicted > 0) state.SkipWithError("somebody was evicted, or placed");
}
BENCHMARK(BM_RoundInVain)
    ->ArgNames({"hold", "wait", "sizes", "again"})
    ->Args({1000, 2000, 1, 1})
    ->Args({1000, 2000, 1, 0})
    ->Args({1000, 2000, 16, 1})
    ->Args({1000, 2000, 16, 0})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gangway::gang
