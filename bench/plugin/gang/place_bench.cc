// How long does one decision take? The real Volcano, recorded: 1,000 equal tasks on 1,000 nodes 2.4 s, on 5,000 nodes 3.2 s; a gang
// of 10 on 1,000 nodes 24 ms; 4 tasks on 6 nodes 0.48 ms.
#include <benchmark/benchmark.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "plugin/gang/schedule.h"
#include "plugin/model/cluster.h"

namespace gangway::gang {
namespace {

constexpr std::int64_t kGi = std::int64_t{1} << 30;

void AddNodes(model::Cluster& cluster, int nodes) {
  for (int i = 0; i < nodes; ++i) {
    model::NodeFacts node;
    node.name = absl::StrCat("node-", absl::Dec(i, absl::kZeroPad5));
    node.allocatable = {{"cpu", 16'000}, {"memory", 64 * kGi}, {"ephemeral-storage", 200 * kGi}, {"pods", 110}};
    node.labels = {{"kubernetes.io/hostname", node.name}, {"zone", absl::StrCat("z", i % 3)}};
    cluster.SetNode(node);
  }
  cluster.SetQueue({.name = "default", .weight = 1, .priority = 0, .open = true, .capability = {}, .guarantee = {},
                    .created = absl::InfinitePast()});
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

// Arguments: nodes, tasks of the gang. Nothing is known from before.
void BM_PlaceGang(benchmark::State& state) {
  model::Cluster cluster;
  AddNodes(cluster, static_cast<int>(state.range(0)));
  AddGang(cluster, "gang", static_cast<int>(state.range(1)), 4000);
  std::size_t placed = 0;
  for (auto _ : state) {
    Scratch scratch;
    const model::Decisions decisions = Schedule(cluster, Policy(), absl::UnixEpoch(), scratch);
    placed = decisions.front().placements.size();
    benchmark::DoNotOptimize(decisions);
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

// The same in a running scheduler: fits are known, and follow the rows that changed.
void BM_PlaceGangWarm(benchmark::State& state) {
  model::Cluster cluster;
  AddNodes(cluster, static_cast<int>(state.range(0)));
  AddGang(cluster, "gang", static_cast<int>(state.range(1)), 4000);
  Scratch scratch;
  for (auto _ : state) {
    const model::Decisions decisions = Schedule(cluster, Policy(), absl::UnixEpoch(), scratch);
    benchmark::DoNotOptimize(decisions);
  }
  state.SetItemsProcessed(state.iterations() * state.range(1));
}
BENCHMARK(BM_PlaceGangWarm)
    ->ArgNames({"nodes", "tasks"})
    ->Args({6, 4})
    ->Args({1000, 10})
    ->Args({5000, 1000})
    ->Unit(benchmark::kMicrosecond);

// What a round costs while many gangs wait on a full cluster. Argument: waiting gangs of 4 on 1,000 nodes.
void BM_RoundWithWaitingGangs(benchmark::State& state) {
  model::Cluster cluster;
  AddNodes(cluster, 1000);
  for (int i = 0; i < 1000; ++i) {
    model::PodFacts pod;
    pod.ns = "default";
    pod.name = absl::StrCat("filler-", i);
    pod.uid = pod.name;
    pod.node = absl::StrCat("node-", absl::Dec(i, absl::kZeroPad5));
    pod.phase = model::PodPhase::kRunning;
    pod.wants.requests = {{"cpu", 14'000}, {"pods", 1}};
    cluster.SetPod(pod);
  }
  for (int i = 0; i < state.range(0); ++i) AddGang(cluster, absl::StrCat("g", i), 4, 4000);
  Scratch scratch;
  for (auto _ : state) {
    const model::Decisions decisions = Schedule(cluster, Policy(), absl::UnixEpoch(), scratch);
    benchmark::DoNotOptimize(decisions);
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
      pod.node = absl::StrCat("node-", absl::Dec(i, absl::kZeroPad5));
      pod.phase = model::PodPhase::kRunning;
    }
    pod.wants.requests = {{"cpu", 13'000}, {"pods", 1}};
    cluster.SetPod(pod);
  }
  for (int i = 0; i < state.range(0); ++i) AddGang(cluster, absl::StrCat("g", i), 4, 4000);
  Scratch scratch;
  for (auto _ : state) {
    const model::Decisions decisions = Schedule(cluster, Policy(), absl::UnixEpoch(), scratch);
    benchmark::DoNotOptimize(decisions);
  }
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
