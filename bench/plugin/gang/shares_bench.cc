// What do shares cost in a round?
#include <benchmark/benchmark.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "plugin/gang/schedule.h"
#include "plugin/gang/shares.h"
#include "plugin/model/cluster.h"

namespace gangway::gang {
namespace {

constexpr std::int64_t kGi = std::int64_t{1} << 30;

model::PodFacts SharesPod(const std::string& gang, int index, std::int64_t gpus) {
  model::PodFacts pod;
  pod.ns = "default";
  pod.name = absl::StrCat(gang, "-w-", index);
  pod.uid = pod.name;
  pod.gang = gang;
  pod.role = "worker";
  pod.index = index;
  pod.wants.requests = {{"cpu", 4000}, {"memory", kGi}, {"pods", 1}, {"nvidia.com/gpu", gpus}};
  return pod;
}

// One gang of 4 waits in it.
void AddQueue(model::Cluster& cluster, const std::string& name, const std::string& parent, int weight, bool gang) {
  model::QueueFacts queue;
  queue.name = name;
  queue.parent = parent;
  queue.weight = weight;
  if (weight % 5 == 0) queue.guarantee = {{"nvidia.com/gpu", 1}};
  if (weight % 3 == 0) queue.capability = {{"nvidia.com/gpu", 100 * weight}};
  cluster.SetQueue(queue);
  if (!gang) return;
  model::GangFacts facts;
  facts.ns = "default";
  facts.name = facts.uid = name;
  facts.queue = name;
  facts.min_member = 4;
  facts.phase = model::GangPhase::kInqueue;
  cluster.SetGang(facts);
  for (int i = 0; i < 4; ++i) cluster.SetPod(SharesPod(name, i, 1 + weight % 7));
}

void AddNodesWithGpus(model::Cluster& cluster, int nodes) {
  for (int i = 0; i < nodes; ++i) {
    model::NodeFacts node;
    node.name = absl::StrCat("node-", absl::Dec(i, absl::kZeroPad5));
    node.allocatable = {{"cpu", 64'000}, {"memory", 512 * kGi}, {"pods", 110}, {"nvidia.com/gpu", 8}};
    cluster.SetNode(node);
  }
}

// 1,000 queues in 4 levels, a gang in each leaf.
void BM_Shares(benchmark::State& state) {
  model::Cluster cluster;
  AddNodesWithGpus(cluster, 100);
  int queues = 1;
  AddQueue(cluster, "root", "", 1, false);
  for (int a = 0; a < 9; ++a) {
    const std::string top = absl::StrCat("q", a);
    AddQueue(cluster, top, "root", 1 + a, false);
    for (int b = 0; b < 10; ++b) {
      const std::string middle = absl::StrCat(top, "-", b);
      AddQueue(cluster, middle, top, 1 + b, false);
      for (int c = 0; c < 10; ++c) AddQueue(cluster, absl::StrCat(middle, "-", c), middle, 1 + c, true);
      queues += 11;
    }
    ++queues;
  }
  const Sharing sharing = state.range(0) == 0 ? Sharing::kByWeight : Sharing::kAsWritten;
  const model::Dim gpus = cluster.dims().Find("nvidia.com/gpu");
  std::int64_t deserved = 0;
  for (auto _ : state) {
    const QueueTree tree(cluster);
    const Shares shares(cluster, tree, sharing);
    deserved = 0;
    for (model::QueueId queue = 0; queue < cluster.queue_slots(); ++queue) deserved += shares.OwnDeserved(queue, gpus);
  }
  if (deserved <= 0 || deserved > cluster.total()[gpus]) state.SkipWithError("shares are none, or more than there is");
  state.counters["queues"] = queues;
}
BENCHMARK(BM_Shares)->ArgName("as_written")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

// A pod of no gang that holds so many of a node's GPUs.
model::PodFacts Filler(int node, std::int64_t gpus) {
  model::PodFacts filler = SharesPod("", node, gpus);
  filler.node = absl::StrCat("node-", absl::Dec(node, absl::kZeroPad5));
  filler.phase = model::PodPhase::kRunning;
  return filler;
}

// A full cluster, and gangs of 4 that wait in many queues.
void FillAndWait(model::Cluster& cluster, std::int64_t gangs, std::int64_t queues) {
  AddNodesWithGpus(cluster, 1000);
  for (int i = 0; i < 1000; ++i) cluster.SetPod(Filler(i, 8));
  for (int i = 0; i < queues; ++i) AddQueue(cluster, absl::StrCat("q", i), "", 1 + i % 4, false);
  for (int i = 0; i < gangs; ++i) {
    model::GangFacts facts;
    facts.ns = "default";
    facts.name = facts.uid = absl::StrCat("g", i);
    facts.queue = absl::StrCat("q", i % queues);
    facts.min_member = 4;
    facts.phase = model::GangPhase::kInqueue;
    cluster.SetGang(facts);
    for (int pod = 0; pod < 4; ++pod) cluster.SetPod(SharesPod(facts.name, pod, 1));
  }
}

std::size_t PlacedAndEvicted(const model::Cluster& cluster, Scratch& scratch) {
  std::size_t count = 0;
  for (const model::Decision& decision : Schedule(cluster, Policy(), absl::UnixEpoch(), scratch))
    count += decision.placements.size() + decision.evicted.size();
  return count;
}

// A round after a pod has changed, which lets nobody begin. Arguments: gangs, queues, whether each is tried again
// though nothing could let it begin.
void BM_RoundOfQueues(benchmark::State& state) {
  model::Cluster cluster;
  FillAndWait(cluster, state.range(0), state.range(1));
  Scratch scratch;
  int change = 0, whole = 0;
  const auto nobody = [&](Scratch& with) {
    if (PlacedAndEvicted(cluster, with) > 0) state.SkipWithError("a gang begins, or somebody goes");
  };
  for (auto _ : state) {
    cluster.SetPod(Filler(0, change++ % 2 == 0 ? 7 : 8));
    if (state.range(2) == 0 && StandsStill(cluster, Policy(), absl::UnixEpoch(), scratch)) continue;
    ++whole;
    nobody(scratch);
  }
  for (const std::int64_t held : {7, 8}) {  // what stood still was right to
    cluster.SetPod(Filler(0, held));
    Scratch knows_nothing;
    nobody(knows_nothing);
  }
  state.counters["whole"] = whole;  // rounds in which each gang was tried
}
BENCHMARK(BM_RoundOfQueues)
    ->ArgNames({"gangs", "queues", "try_all"})
    ->Args({2000, 1, 0})
    ->Args({2000, 200, 0})
    ->Args({2000, 200, 1})
    ->Unit(benchmark::kMicrosecond);

// A round after a pod has changed, which makes room for one of the gangs. Arguments: gangs, queues, whether all are
// looked at.
void BM_RoundThatLetsOneBegin(benchmark::State& state) {
  model::Cluster cluster;
  FillAndWait(cluster, state.range(0), state.range(1));
  Scratch scratch;
  const auto nobody = [&] {
    if (PlacedAndEvicted(cluster, scratch) != 0) state.SkipWithError("a gang begins without room");
  };
  nobody();
  std::int64_t looked_at = 0;
  for (auto _ : state) {
    cluster.SetPod(Filler(0, 4));
    std::optional<model::Decisions> decisions;
    if (state.range(2) == 0) decisions = ScheduleFew(cluster, Policy(), absl::UnixEpoch(), scratch);
    if (!decisions.has_value()) decisions = Schedule(cluster, Policy(), absl::UnixEpoch(), scratch);
    state.PauseTiming();
    std::size_t placed = 0;
    for (const model::Decision& decision : *decisions) placed += decision.placements.size() + decision.evicted.size();
    if (placed != 4) state.SkipWithError("not just one gang begins");
    looked_at += static_cast<std::int64_t>(decisions->size());
    cluster.SetPod(Filler(0, 8));
    nobody();
    state.ResumeTiming();
  }
  state.counters["looked_at"] =
      static_cast<double>(looked_at) / static_cast<double>(std::max<std::int64_t>(state.iterations(), 1));
}
BENCHMARK(BM_RoundThatLetsOneBegin)
    ->ArgNames({"gangs", "queues", "all"})
    ->Args({200, 20, 0})
    ->Args({2000, 1, 0})
    ->Args({2000, 1, 1})
    ->Args({2000, 200, 0})
    ->Args({2000, 200, 1})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace gangway::gang
