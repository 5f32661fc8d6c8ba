// What does a round cost in which many wait for room that nobody may be evicted for, and what do all rounds cost until
// those who were evicted have left?
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "base/check.h"
#include "plugin/gang/carry_out.h"
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

// Jobs of one pod, all of them movable, fill nodes of 8 GPUs; then `jobs` of another queue come that together want half
// of the cluster. The pods that are evicted for them end ten at a time, their Jobs make others, and there is a round
// after each ten, until all that came have their room. Arguments: nodes; jobs that come, and what each of their pods
// asks for.
void BM_UntilVictimsLeft(benchmark::State& state) {
  const int nodes = static_cast<int>(state.range(0)), jobs = static_cast<int>(state.range(1)),
            gpus = static_cast<int>(state.range(2)), pods = nodes * kHeldPods / 2 / gpus / jobs;
  int rounds = 0;
  std::size_t evicted = 0;
  for (auto _ : state) {
    state.PauseTiming();
    model::Cluster cluster;
    for (const auto& [name, weight] : {std::pair("fills", 1), {"comes", 100}}) {
      model::QueueFacts queue;
      queue.name = name;
      queue.weight = weight;
      cluster.SetQueue(queue);
    }
    const auto small = [&](int number, int made) {
      model::PodFacts pod = GpuPod(absl::StrCat("fills-", number), 0);
      pod.uid = absl::StrCat(pod.name, "/", made);
      pod.controlled = pod.movable = true;
      return pod;
    };
    for (int node = 0; node < nodes; ++node) {
      model::NodeFacts facts;
      facts.name = GpuNode(node);
      facts.allocatable = {{"cpu", 128'000}, {"memory", std::int64_t{1} << 40}, {"pods", 110}};
      facts.allocatable.emplace_back("nvidia.com/gpu", kHeldPods);
      cluster.SetNode(facts);
      for (int i = node * kHeldPods; i < (node + 1) * kHeldPods; ++i) {
        model::GangFacts gang = GangOf(absl::StrCat("fills-", i), 0, 1, "");
        gang.queue = "fills";
        gang.phase = model::GangPhase::kRunning;
        gang.was_whole = true;
        cluster.SetGang(gang);
        model::PodFacts pod = small(i, 0);
        pod.node = facts.name;
        pod.phase = model::PodPhase::kRunning;
        pod.started = absl::UnixEpoch() + absl::Milliseconds(i);
        cluster.SetPod(pod);
      }
    }
    for (int job = 0; job < jobs; ++job) {
      model::GangFacts gang = GangOf(absl::StrCat("comes-", job), 0, pods, "");
      gang.queue = "comes";
      cluster.SetGang(gang);
      for (int i = 0; i < pods; ++i) {
        model::PodFacts pod = GpuPod(gang.name, i);
        pod.wants.requests.back().second = gpus;
        cluster.SetPod(pod);
      }
    }
    Scratch scratch;
    Policy policy;
    policy.overcommit_percent.reset();
    std::vector<model::TaskId> leave;
    int placed = 0;
    rounds = 0;
    absl::Time now = absl::UnixEpoch() + absl::Hours(1);
    state.ResumeTiming();
    for (std::size_t left = 0; placed < jobs * pods && rounds < 4 * nodes; now += absl::Milliseconds(50), ++rounds) {
      for (int i = 0; i < 10 && left < leave.size(); ++i, ++left) {
        const std::string name = cluster.task(leave[left]).name;
        cluster.RemovePod("default", name);
        int number = 0;
        GW_CHECK(absl::SimpleAtoi(absl::StripSuffix(absl::StripPrefix(name, "fills-"), "-w-0"), &number));
        cluster.SetPod(small(number, 1));
      }
      if (StandsStill(cluster, policy, now, scratch)) continue;
      const model::Decisions decisions = Schedule(cluster, policy, now, scratch);
      for (const model::Decision& decision : decisions) {
        CarryOut(decision, cluster);
        leave.insert(leave.end(), decision.evicted.begin(), decision.evicted.end());
        placed += static_cast<int>(decision.placements.size());
      }
      EndRound(decisions, policy.victims_take, now, cluster);
    }
    evicted = leave.size();
    if (placed < jobs * pods) state.SkipWithError("not all that came have room");
  }
  state.counters["rounds"] = rounds;
  state.counters["evicted"] = static_cast<double>(evicted);
}
BENCHMARK(BM_UntilVictimsLeft)
    ->ArgNames({"nodes", "jobs", "gpus"})
    ->Args({500, 1, 8})
    ->Args({500, 50, 5})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gangway::gang
