// How long does one decision take? In a running scheduler something has changed before each: here a pod that is none of the gangs'.
#include <benchmark/benchmark.h>

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "plugin/gang/schedule.h"
#include "plugin/model/cluster.h"

namespace gangway::gang {
namespace {

constexpr std::int64_t kGi = std::int64_t{1} << 30;

std::string NodeName(std::int64_t number) { return absl::StrCat("node-", absl::Dec(number, absl::kZeroPad5)); }

void AddNodes(model::Cluster& cluster, int nodes) {
  for (int i = 0; i < nodes; ++i) {
    model::NodeFacts node;
    node.name = NodeName(i);
    node.allocatable = {{"cpu", 16'000}, {"memory", 64 * kGi}, {"ephemeral-storage", 200 * kGi}, {"pods", 110}};
    node.labels = {{"kubernetes.io/hostname", node.name}, {"zone", absl::StrCat("z", i % 3)}};
    cluster.SetNode(node);
  }
  model::QueueFacts queue;
  queue.name = "default";
  queue.weight = 1;
  queue.open = true;
  queue.created = absl::InfinitePast();
  cluster.SetQueue(queue);
}

void AddGang(model::Cluster& cluster, const std::string& name, int tasks, std::int64_t milli) {
  model::GangFacts gang;
  gang.ns = "default";
  gang.name = name;
  gang.uid = name;
  gang.min_member = tasks;
  gang.phase = model::GangPhase::kInqueue;
  cluster.SetGang(gang);
  for (int i = 0; i < tasks; ++i) {
    model::PodFacts pod;
    pod.ns = "default";
    pod.name = absl::StrCat(name, "-w-", i);
    pod.uid = pod.name;
    pod.gang = name;
    pod.role = "worker";
    pod.index = i;
    pod.wants.requests = {{"cpu", milli}, {"memory", 1 << 28}, {"pods", 1}};
    cluster.SetPod(pod);
  }
}

// Bound and running, in no gang.
model::PodFacts RunningPod(const std::string& name, const std::string& node, std::int64_t milli) {
  model::PodFacts pod;
  pod.ns = "default";
  pod.name = name;
  pod.uid = name;
  pod.node = node;
  pod.phase = model::PodPhase::kRunning;
  pod.wants.requests = {{"cpu", milli}, {"pods", 1}};
  return pod;
}

std::size_t Placed(const model::Decisions& decisions) {
  std::size_t placed = 0;
  for (const model::Decision& decision : decisions) placed += decision.placements.size();
  return placed;
}

// Arguments: nodes, tasks of the gang. Nothing is known from before.
void BM_PlaceGang(benchmark::State& state) {
  model::Cluster cluster;
  AddNodes(cluster, static_cast<int>(state.range(0)));
  AddGang(cluster, "gang", static_cast<int>(state.range(1)), 4000);
  std::size_t placed = 0;
  for (auto _ : state) {
    Scratch scratch;
    const model::Decisions decisions = Schedule(cluster, Policy(), absl::UnixEpoch(), scratch);
    placed = Placed(decisions);
  }
  if (placed != static_cast<std::size_t>(state.range(1))) state.SkipWithError("the gang was not placed");
  state.SetItemsProcessed(state.iterations() * state.range(1));
}
BENCHMARK(BM_PlaceGang)
    ->ArgNames({"nodes", "tasks"})
    ->Args({6, 4})
    ->Args({1000, 10})
    ->Args({1000, 1000})
    ->Args({5000, 1000})
    ->Unit(benchmark::kMicrosecond);

// The same in a running scheduler: fits are known, and follow the rows that changed. Before each decision a pod appears on the next node, or
// leaves it when it has one.
void BM_PlaceGangWarm(benchmark::State& state) {
  model::Cluster cluster;
  AddNodes(cluster, static_cast<int>(state.range(0)));
  AddGang(cluster, "gang", static_cast<int>(state.range(1)), 4000);
  Scratch scratch;
  std::int64_t change = 0;
  for (auto _ : state) {
    const std::string node = NodeName(change / 2 % state.range(0));
    if (change++ % 2 == 0) {
      cluster.SetPod(RunningPod("other", node, 1000));
    } else {
      cluster.RemovePod("default", "other");
    }
    if (Placed(Schedule(cluster, Policy(), absl::UnixEpoch(), scratch)) != static_cast<std::size_t>(state.range(1))) state.SkipWithError("the gang was not placed");
  }
  state.SetItemsProcessed(state.iterations() * state.range(1));
}
BENCHMARK(BM_PlaceGangWarm)
    ->ArgNames({"nodes", "tasks"})
    ->Args({6, 4})
    ->Args({1000, 10})
    ->Args({5000, 1000})
    ->Unit(benchmark::kMicrosecond);

// What a round costs while many gangs wait on a full cluster, one of whose pods has changed. Argument: waiting gangs of 4 on 1,000 nodes.
void BM_RoundWithWaitingGangs(benchmark::State& state) {
  model::Cluster cluster;
  AddNodes(cluster, 1000);
  for (int i = 0; i < 1000; ++i) cluster.SetPod(RunningPod(absl::StrCat("filler-", i), NodeName(i), 14'000));
  for (int i = 0; i < state.range(0); ++i) AddGang(cluster, absl::StrCat("g", i), 4, 4000);
  Scratch scratch;
  std::int64_t change = 0;
  for (auto _ : state) {
    const std::int64_t node = change % 1000;
    cluster.SetPod(RunningPod(absl::StrCat("filler-", node), NodeName(node), change / 1000 % 2 == 0 ? 13'500 : 14'000));
    ++change;
    const model::Decisions decisions = Schedule(cluster, Policy(), absl::UnixEpoch(), scratch);
    if (decisions.size() != static_cast<std::size_t>(state.range(0)) || Placed(decisions) != 0) state.SkipWithError("not every gang waits");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_RoundWithWaitingGangs)->ArgNames({"gangs"})->Arg(10)->Arg(1000)->Unit(benchmark::kMicrosecond);

// The same beside a gang that wants more than its minimum: room is kept for those that wait. Argument: waiting gangs on 1,000 nodes, half of
// whose room such pods hold.
void BM_SurplusBesideWaitingGangs(benchmark::State& state) {
  model::Cluster cluster;
  AddNodes(cluster, 1000);
  model::GangFacts elastic;
  elastic.ns = "default";
  elastic.name = elastic.uid = "elastic";
  elastic.min_member = 1;
  elastic.phase = model::GangPhase::kInqueue;
  cluster.SetGang(elastic);
  for (int i = 0; i < 2000; ++i) {
    model::PodFacts pod;
    pod.ns = "default";
    pod.name = absl::StrCat("elastic-w-", i);
    pod.uid = pod.name;
    pod.gang = "elastic";
    pod.index = i;
    if (i < 1000) {
      pod.node = NodeName(i);
      pod.phase = model::PodPhase::kRunning;
    }
    pod.wants.requests = {{"cpu", 13'000}, {"pods", 1}};
    cluster.SetPod(pod);
  }
  for (int i = 0; i < state.range(0); ++i) AddGang(cluster, absl::StrCat("g", i), 4, 4000);
  Scratch scratch;
  std::int64_t change = 0;
  std::optional<std::size_t> placed;
  for (auto _ : state) {
    model::PodFacts pod = RunningPod("other", NodeName(change % 1000), change / 1000 % 2 == 0 ? 100 : 200);
    ++change;
    cluster.SetPod(pod);
    const std::size_t now_placed = Placed(Schedule(cluster, Policy(), absl::UnixEpoch(), scratch));
    if (placed.value_or(now_placed) != now_placed) state.SkipWithError("another answer than the round before");
    placed = now_placed;
  }
  state.counters["placed"] = static_cast<double>(placed.value_or(0));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_SurplusBesideWaitingGangs)->ArgNames({"gangs"})->Arg(10)->Arg(1000)->Unit(benchmark::kMicrosecond);

// 1,000 gangs of 4 at once on 1,000 nodes, from pods that wait to all assumed.
void BM_ThousandGangs(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    model::Cluster cluster;
    AddNodes(cluster, 1000);
    for (int i = 0; i < 1000; ++i) AddGang(cluster, absl::StrCat("g", i), 4, 1000);
    Scratch scratch;
    state.ResumeTiming();
    for (const model::Decision& decision : Schedule(cluster, Policy(), absl::UnixEpoch(), scratch)) {
      for (const model::Placement& placement : decision.placements) cluster.Assume(placement.task, placement.row);
    }
    if (!cluster.waiting().empty()) state.SkipWithError("gangs were left waiting");
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(BM_ThousandGangs)->Unit(benchmark::kMillisecond);

// One event about a pod. Items are events.
void BM_PodEvents(benchmark::State& state) {
  model::Cluster cluster;
  AddNodes(cluster, 1000);
  AddGang(cluster, "gang", 1000, 1000);
  model::PodFacts pod;
  pod.ns = "default";
  pod.name = "gang-w-7";
  pod.uid = pod.name;
  pod.gang = "gang";
  pod.role = "worker";
  pod.index = 7;
  pod.node = "node-00000";
  pod.wants.requests = {{"cpu", 1000}, {"memory", 1 << 28}, {"pods", 1}};
  for (auto _ : state) {
    pod.phase = pod.phase == model::PodPhase::kPending ? model::PodPhase::kRunning : model::PodPhase::kPending;
    cluster.SetPod(pod);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_PodEvents);

}  // namespace
}  // namespace gangway::gang
