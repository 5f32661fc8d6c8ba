// How long does one decision take? In a running scheduler something has changed before each: here a pod that is none of
// the gangs'. `of_limit`: beside what nobody can do without, done in the same run.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "bench/clock/of_limit.h"
#include "plugin/gang/schedule.h"
#include "plugin/model/cluster.h"

namespace gangway::gang {
namespace {

using bench::LeastSeconds;
using bench::OfLimit;

constexpr std::int64_t kGi = std::int64_t{1} << 30;

// The limit of a decision about equal pods: one look at what is free on each node, and one write for each pod, first
// fit. It ranks nothing, keeps nothing for anybody and explains nothing.
double SecondsOfFirstFit(std::int64_t of_nodes, std::int64_t of_pods, std::int64_t most_on_a_node) {
  const auto nodes = static_cast<std::size_t>(of_nodes);
  const std::vector<std::int64_t> cpu(nodes, 16'000), memory(nodes, 64 * kGi), slots(nodes, 110);
  std::vector<std::uint8_t> has_room(nodes);
  std::vector<std::size_t> node_of_pod(static_cast<std::size_t>(of_pods));
  return LeastSeconds([&] {
    for (std::size_t node = 0; node < nodes; ++node)
      has_room[node] =
          static_cast<std::uint8_t>(static_cast<int>(cpu[node] >= 4000) & static_cast<int>(memory[node] >= kGi / 4) &
                                    static_cast<int>(slots[node] >= 1));
    std::size_t node = 0;
    std::int64_t on_it = 0;
    for (std::size_t& chosen : node_of_pod) {
      while (on_it == most_on_a_node || has_room[node] == 0) {
        node = node + 1 == nodes ? 0 : node + 1;
        on_it = 0;
      }
      chosen = node;
      ++on_it;
    }
    benchmark::DoNotOptimize(node_of_pod.data());
    benchmark::ClobberMemory();
  });
}

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
  OfLimit of_limit(state, SecondsOfFirstFit(state.range(0), state.range(1), 4));
  of_limit.Begin();
  for (auto _ : state) {
    Scratch scratch;
    const model::Decisions decisions = Schedule(cluster, Policy(), absl::UnixEpoch(), scratch);
    placed = Placed(decisions);
  }
  of_limit.End();
  if (placed != static_cast<std::size_t>(state.range(1))) state.SkipWithError("the gang was not placed");
  state.SetItemsProcessed(state.iterations() * state.range(1));
}
BENCHMARK(BM_PlaceGang)
    ->ArgNames({"nodes", "tasks"})
    ->Args({6, 4})
    ->Args({1000, 10})
    ->Args({1000, 1000})
    ->Args({5000, 1000})
    ->Args({10'000, 1000})
    ->Unit(benchmark::kMicrosecond);

// Decides again and again; before each a pod appears on the next node, or leaves it when it has one. All `tasks` of the
// gang are placed, at most so many on a node.
void ScheduleWarm(benchmark::State& state, model::Cluster& cluster, std::int64_t tasks, std::int64_t most_on_a_node) {
  Scratch scratch;
  std::int64_t change = 0;
  OfLimit of_limit(state, SecondsOfFirstFit(state.range(0), tasks, most_on_a_node));
  of_limit.Begin();
  for (auto _ : state) {
    const std::string node = NodeName(change / 2 % state.range(0));
    if (change++ % 2 == 0) {
      cluster.SetPod(RunningPod("other", node, 1000));
    } else {
      cluster.RemovePod("default", "other");
    }
    if (Placed(Schedule(cluster, Policy(), absl::UnixEpoch(), scratch)) != static_cast<std::size_t>(tasks))
      state.SkipWithError("the gang was not placed");
  }
  of_limit.End();
  state.SetItemsProcessed(state.iterations() * tasks);
}

// The same in a running scheduler: fits are known, and follow the rows that changed.
void BM_PlaceGangWarm(benchmark::State& state) {
  model::Cluster cluster;
  AddNodes(cluster, static_cast<int>(state.range(0)));
  AddGang(cluster, "gang", static_cast<int>(state.range(1)), 4000);
  ScheduleWarm(state, cluster, state.range(1), 4);
}
BENCHMARK(BM_PlaceGangWarm)
    ->ArgNames({"nodes", "tasks"})
    ->Args({6, 4})
    ->Args({1000, 10})
    ->Args({1000, 1000})
    ->Args({5000, 10})
    ->Args({5000, 100})
    ->Args({5000, 1000})
    ->Args({10'000, 1000})
    ->Unit(benchmark::kMicrosecond);

// What a round costs while many gangs wait on a full cluster, one of whose pods has changed. Argument: waiting gangs of
// 4 on 1,000 nodes.
void BM_RoundWithWaitingGangs(benchmark::State& state) {
  model::Cluster cluster;
  AddNodes(cluster, 1000);
  for (int i = 0; i < 1000; ++i) cluster.SetPod(RunningPod(absl::StrCat("filler-", i), NodeName(i), 14'000));
  for (int i = 0; i < state.range(0); ++i) AddGang(cluster, absl::StrCat("g", i), 4, 4000);
  Scratch scratch;
  std::int64_t change = 0;
  OfLimit of_limit(state, SecondsOfFirstFit(1000, state.range(0), 4));
  of_limit.Begin();
  for (auto _ : state) {
    const std::int64_t node = change % 1000;
    cluster.SetPod(RunningPod(absl::StrCat("filler-", node), NodeName(node), change / 1000 % 2 == 0 ? 13'500 : 14'000));
    ++change;
    const model::Decisions decisions = Schedule(cluster, Policy(), absl::UnixEpoch(), scratch);
    if (decisions.size() != static_cast<std::size_t>(state.range(0)) || Placed(decisions) != 0)
      state.SkipWithError("not every gang waits");
  }
  of_limit.End();
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_RoundWithWaitingGangs)->ArgNames({"gangs"})->Arg(10)->Arg(1000)->Unit(benchmark::kMicrosecond);

// The same beside a gang that wants more than its minimum: room is kept for those that wait. Argument: waiting gangs on
// 1,000 nodes, half of whose room such pods hold.
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
  OfLimit of_limit(state, SecondsOfFirstFit(1000, state.range(0), 4));
  of_limit.Begin();
  for (auto _ : state) {
    model::PodFacts pod = RunningPod("other", NodeName(change % 1000), change / 1000 % 2 == 0 ? 100 : 200);
    ++change;
    cluster.SetPod(pod);
    const std::size_t now_placed = Placed(Schedule(cluster, Policy(), absl::UnixEpoch(), scratch));
    if (placed.value_or(now_placed) != now_placed) state.SkipWithError("another answer than the round before");
    placed = now_placed;
  }
  of_limit.End();
  state.counters["placed"] = static_cast<double>(placed.value_or(0));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_SurplusBesideWaitingGangs)->ArgNames({"gangs"})->Arg(10)->Arg(1000)->Unit(benchmark::kMicrosecond);

// 1,000 gangs of 4 at once on 1,000 nodes, from pods that wait to all assumed. The limit looks at the nodes for each.
void BM_ThousandGangs(benchmark::State& state) {
  OfLimit of_limit(state, 1000 * SecondsOfFirstFit(1000, 4, 16));
  for (auto _ : state) {
    state.PauseTiming();
    model::Cluster cluster;
    AddNodes(cluster, 1000);
    for (int i = 0; i < 1000; ++i) AddGang(cluster, absl::StrCat("g", i), 4, 1000);
    Scratch scratch;
    state.ResumeTiming();
    of_limit.Begin();
    for (const model::Decision& decision : Schedule(cluster, Policy(), absl::UnixEpoch(), scratch)) {
      for (const model::Placement& placement : decision.placements) cluster.Assume(placement.task, placement.row);
    }
    of_limit.End();
    if (!cluster.waiting().empty()) state.SkipWithError("gangs were left waiting");
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(BM_ThousandGangs)->Unit(benchmark::kMillisecond);

// ---- what pods ask of each other and of nodes

// Nodes at 95 % of their cpu: what is left is a task of a gang below.
void FillNodes(model::Cluster& cluster, int nodes) {
  for (int i = 0; i < nodes; ++i) cluster.SetPod(RunningPod(absl::StrCat("filler-", i), NodeName(i), 15'200));
}

enum class Asks { kNodes, kApart, kSpread };

// `gangs` of 3 tasks, each with a shape of its own: a selector, a toleration, a preferred zone; and, as `asks` says,
// its pods on nodes of their own, or evenly over zones.
void AddOwnGangs(model::Cluster& cluster, int gangs, Asks asks) {
  for (int g = 0; g < gangs; ++g) {
    const std::string name = absl::StrCat("g", g);
    model::GangFacts gang;
    gang.ns = "default";
    gang.name = gang.uid = name;
    gang.min_member = 3;
    gang.phase = model::GangPhase::kInqueue;
    cluster.SetGang(gang);
    model::Wants wants;
    wants.requests = {{"cpu", 200}, {"memory", 1 << 28}, {"pods", 1}};
    wants.selector = {{"pool", absl::StrCat("p", g % 10)}};
    wants.tolerations = {{name, "", "", true}};
    wants.preferences = {{10, {{"zone", model::Op::kIn, {absl::StrCat("z", g % 3)}}}}};
    const model::PodTermFacts own{asks == Asks::kApart ? "kubernetes.io/hostname" : "zone",
                                  {{"default"}, {}, {{"job", model::Op::kIn, {name}}}}};
    if (asks == Asks::kApart) wants.pod_anti_affinity = {own};
    if (asks == Asks::kSpread) wants.spreads = {{own}};
    for (int i = 0; i < 3; ++i) {
      model::PodFacts pod;
      pod.ns = "default";
      pod.name = absl::StrCat(name, "-w-", i);
      pod.uid = pod.name;
      pod.gang = name;
      pod.role = "worker";
      pod.index = i;
      pod.labels = {{"job", name}, {"index", absl::StrCat(i)}};
      pod.wants = wants;
      cluster.SetPod(pod);
    }
  }
}

// Arguments: nodes, gangs, what is asked. All of them at once, from pods that wait to a decision for each; items are
// gangs. The limit looks at the nodes for each.
void BM_GangsOfTheirOwn(benchmark::State& state) {
  const int nodes = static_cast<int>(state.range(0));
  const int gangs = static_cast<int>(state.range(1));
  const auto asks = static_cast<Asks>(state.range(2));
  model::Cluster cluster;
  AddNodes(cluster, nodes);
  for (int i = 0; i < nodes; ++i) {
    model::NodeFacts node;
    node.name = NodeName(i);
    node.allocatable = {{"cpu", 16'000}, {"memory", 64 * kGi}, {"ephemeral-storage", 200 * kGi}, {"pods", 110}};
    node.labels = {
        {"kubernetes.io/hostname", node.name}, {"zone", absl::StrCat("z", i % 3)}, {"pool", absl::StrCat("p", i % 10)}};
    cluster.SetNode(node);
  }
  FillNodes(cluster, nodes);
  AddOwnGangs(cluster, gangs, asks);
  OfLimit of_limit(state, gangs * SecondsOfFirstFit(nodes, 3, 1));
  of_limit.Begin();
  for (auto _ : state) {
    Scratch scratch;
    if (Placed(Schedule(cluster, Policy(), absl::UnixEpoch(), scratch)) != 3 * static_cast<std::size_t>(gangs))
      state.SkipWithError("not every gang was placed");
  }
  of_limit.End();
  state.SetItemsProcessed(state.iterations() * gangs);
}
BENCHMARK(BM_GangsOfTheirOwn)
    ->ArgNames({"nodes", "gangs", "asks"})
    ->Args({1000, 1000, 0})
    ->Args({5000, 100, 0})
    ->Args({5000, 1000, 0})
    ->Args({5000, 1000, 1})
    ->Args({5000, 1000, 2})
    ->Unit(benchmark::kMillisecond);

// Arguments: nodes, tasks. One gang whose pods are each on a node of their own, or evenly over three zones; warm, as
// above.
void PlaceWarm(benchmark::State& state, Asks asks) {
  model::Cluster cluster;
  AddNodes(cluster, static_cast<int>(state.range(0)));
  AddGang(cluster, "gang", static_cast<int>(state.range(1)), 4000);
  const model::PodTermFacts own{asks == Asks::kApart ? "kubernetes.io/hostname" : "zone",
                                {{"default"}, {}, {{"job", model::Op::kIn, {"gang"}}}}};
  for (std::int64_t i = 0; i < state.range(1); ++i) {
    model::PodFacts pod;
    pod.ns = "default";
    pod.name = absl::StrCat("gang-w-", i);
    pod.uid = pod.name;
    pod.gang = "gang";
    pod.role = "worker";
    pod.index = static_cast<int>(i);
    pod.labels = {{"job", "gang"}};
    pod.wants.requests = {{"cpu", 4000}, {"memory", 1 << 28}, {"pods", 1}};
    if (asks == Asks::kApart) pod.wants.pod_anti_affinity = {own};
    if (asks == Asks::kSpread) pod.wants.spreads = {{own}};
    cluster.SetPod(pod);
  }
  ScheduleWarm(state, cluster, state.range(1), asks == Asks::kApart ? 1 : 4);
}
void BM_PlaceApartWarm(benchmark::State& state) { PlaceWarm(state, Asks::kApart); }
void BM_PlaceSpreadWarm(benchmark::State& state) { PlaceWarm(state, Asks::kSpread); }
BENCHMARK(BM_PlaceApartWarm)
    ->ArgNames({"nodes", "tasks"})
    ->Args({1000, 100})
    ->Args({5000, 100})
    ->Args({5000, 512})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_PlaceSpreadWarm)
    ->ArgNames({"nodes", "tasks"})
    ->Args({1000, 100})
    ->Args({5000, 100})
    ->Args({5000, 512})
    ->Unit(benchmark::kMicrosecond);

// Arguments: nodes, 16 in a rack, 16 racks in a pod, and one spine; tasks of a gang that lies in one HyperNode of the
// second tier; warm.
void BM_PlaceInHyperNodeWarm(benchmark::State& state) {
  const int nodes = static_cast<int>(state.range(0)), tasks = static_cast<int>(state.range(1));
  model::Cluster cluster;
  AddNodes(cluster, nodes);
  const auto add = [&](const std::string& name, int tier, const std::string& prefix, int first, int count,
                       bool of_nodes) {
    model::HyperNodeFacts hyper_node;
    hyper_node.name = name;
    hyper_node.tier = tier;
    for (int i = first; i < first + count; ++i) {
      hyper_node.members.push_back(
          {of_nodes, model::HyperNodeFacts::By::kName, of_nodes ? NodeName(i) : absl::StrCat(prefix, i), {}});
    }
    cluster.SetHyperNode(hyper_node);
  };
  const int racks = nodes / 16, pods = racks / 16;
  for (int i = 0; i < racks; ++i) add(absl::StrCat("rack-", i), 1, "", 16 * i, 16, true);
  for (int i = 0; i < pods; ++i) add(absl::StrCat("pod-", i), 2, "rack-", 16 * i, 16, false);
  add("spine", 3, "pod-", 0, pods, false);
  AddGang(cluster, "gang", tasks, 4000);
  model::GangFacts gang;
  gang.ns = "default";
  gang.name = gang.uid = "gang";
  gang.min_member = tasks;
  gang.phase = model::GangPhase::kInqueue;
  gang.topology = {true, 2, ""};
  cluster.SetGang(gang);
  ScheduleWarm(state, cluster, tasks, 4);
}
BENCHMARK(BM_PlaceInHyperNodeWarm)
    ->ArgNames({"nodes", "tasks"})
    ->Args({1024, 512})
    ->Args({10'240, 64})
    ->Args({10'240, 512})
    ->Unit(benchmark::kMicrosecond);

// Arguments: nodes, pods on them, jobs whose pods ask where their own are. All objects as facts, to the first decision.
// The limit makes the same facts and finds a place for each in a table by name.
void BM_FirstDecision(benchmark::State& state) {
  const int nodes = static_cast<int>(state.range(0)), pods = static_cast<int>(state.range(1)),
            jobs = static_cast<int>(state.range(2));
  const auto fact = [&](int i) {
    model::PodFacts pod = RunningPod(absl::StrCat("pod-", i), NodeName(i % nodes), 100);
    const std::string job = absl::StrCat("job-", i % 5000);
    pod.labels = {{"job", job}, {"index", absl::StrCat(i)}};
    if (i % 5000 < jobs)
      pod.wants.pod_anti_affinity = {{"zone", {{"elsewhere"}, {}, {{"job", model::Op::kIn, {job}}}}}};
    return pod;
  };
  OfLimit of_limit(state, LeastSeconds([&] {
                     absl::flat_hash_map<std::string, int> table;
                     for (int i = 0; i < pods; ++i) table.emplace(fact(i).name, i);
                     benchmark::DoNotOptimize(table);
                   }));
  of_limit.Begin();
  for (auto _ : state) {
    model::Cluster cluster;
    AddNodes(cluster, nodes);
    for (int i = 0; i < pods; ++i) cluster.SetPod(fact(i));
    AddGang(cluster, "gang", 16, 4000);
    Scratch scratch;
    if (Placed(Schedule(cluster, Policy(), absl::UnixEpoch(), scratch)) != 16)
      state.SkipWithError("the gang was not placed");
  }
  of_limit.End();
  state.SetItemsProcessed(state.iterations() * pods);
}
BENCHMARK(BM_FirstDecision)
    ->ArgNames({"nodes", "pods", "jobs"})
    ->Args({5000, 150'000, 0})
    ->Args({5000, 150'000, 1000})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

// Pods as Jobs have them, ten of a gang, with the labels that the Job's controller gives them.
constexpr int kOfGang = 10;
std::string JobUid(int gang) { return absl::StrCat("6f1c2a3e-5d21-4b7e-9c11-", absl::Dec(gang, absl::kZeroPad12)); }
std::string JobGang(int gang) { return absl::StrCat("train-", gang, "-", JobUid(gang)); }
void TellOfJobPod(int number, int nodes, bool runs, bool labels, model::PodFacts& pod) {
  const int gang = number / kOfGang;
  pod.ns = "default";
  pod.name = absl::StrCat("train-", gang, "-worker-", number % kOfGang);
  pod.uid = absl::StrCat("0c9b7f5e-18d4-4a63-8f02-", absl::Dec(number, absl::kZeroPad12));
  pod.gang = JobGang(gang);
  pod.role = "worker";
  pod.index = number % kOfGang;
  pod.node = NodeName(number % nodes);
  pod.phase = runs ? model::PodPhase::kRunning : model::PodPhase::kPending;
  pod.wants.requests = {{"cpu", 100}, {"pods", 1}};
  if (!labels) return;
  pod.labels = {{"volcano.sh/job-name", absl::StrCat("train-", gang)},
                {"volcano.sh/job-namespace", "default"},
                {"volcano.sh/queue-name", "default"},
                {"volcano.sh/task-spec", "worker"},
                {"volcano.sh/task-index", absl::StrCat(pod.index)}};
}

// Events about pods of gangs of 10, each time about a random one: it runs, or begins anew. What they say has just been
// read, as when they come from the API server; that is not counted. Arguments: nodes, pods, whether they have labels.
// Items are events, the time is the processor's. The limit finds as many of those pods by name in a table of nothing
// else.
void BM_PodEvents(benchmark::State& state) {
  constexpr std::size_t kRead = 32;
  const int nodes = static_cast<int>(state.range(0)), pods = static_cast<int>(state.range(1));
  const bool labels = state.range(2) != 0;
  model::Cluster cluster;
  AddNodes(cluster, nodes);
  std::vector<int> numbers;
  std::vector<bool> runs(static_cast<std::size_t>(pods), true);
  std::vector<model::PodFacts> events(kRead);
  for (int i = 0; i < pods; ++i) {
    if (i % kOfGang == 0) {
      model::GangFacts gang;
      gang.ns = "default";
      gang.name = JobGang(i / kOfGang);
      gang.uid = JobUid(i / kOfGang);
      gang.min_member = kOfGang;
      gang.phase = model::GangPhase::kRunning;
      cluster.SetGang(gang);
    }
    TellOfJobPod(i, nodes, true, labels, events.front());
    cluster.SetPod(events.front());
    numbers.push_back(i);
  }
  std::mt19937 random(1);  // NOLINT: the same events each time
  std::shuffle(numbers.begin(), numbers.end(), random);
  std::size_t next = 0;
  const double limit = [&] {
    absl::flat_hash_map<std::string, int> table;
    std::vector<std::string> names;
    for (const int number : numbers) {
      TellOfJobPod(number, nodes, true, false, events.front());
      table.emplace(names.emplace_back(events.front().name), number);
    }
    auto name = names.begin();
    return LeastSeconds([&] {
      for (std::size_t i = 0; i < kRead; ++i) {
        if (name == names.end()) name = names.begin();
        benchmark::DoNotOptimize(table.find(*name++));
      }
    });
  }();
  OfLimit of_limit(state, limit);
  for (auto _ : state) {
    for (model::PodFacts& event : events) {
      const int number = numbers[next];
      next = next + 1 == numbers.size() ? 0 : next + 1;
      runs[static_cast<std::size_t>(number)].flip();
      TellOfJobPod(number, nodes, runs[static_cast<std::size_t>(number)], labels, event);
    }
    of_limit.Begin();
    for (const model::PodFacts& event : events) cluster.SetPod(event);
    state.SetIterationTime(of_limit.End());
  }
  std::int64_t counted = 0;
  for (int gang = 0; gang < pods / kOfGang; ++gang)
    counted += cluster.gang(cluster.FindGang("default", JobGang(gang))).Count(model::TaskStatus::kRunning);
  if (counted != std::count(runs.begin(), runs.end(), true)) state.SkipWithError("other pods run than was told");
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kRead));
}
BENCHMARK(BM_PodEvents)
    ->ArgNames({"nodes", "pods", "labels"})
    ->Args({1000, 1000, 1})
    ->Args({5000, 150'000, 0})
    ->Args({5000, 150'000, 1})
    ->UseManualTime();

// Who must leave for a gang of 100 pods of a high priority among 50,000 that run: 5,000 nodes, full, and gangs of so
// many pods with a lower one. Something has changed before each decision.
void BM_Evict(benchmark::State& state) {
  constexpr std::size_t kGoing =
      100;  // of a node's ten equal pods one makes room for one; gangs go whole, and divide it
  const int size = static_cast<int>(state.range(0));
  model::Cluster cluster;
  AddNodes(cluster, 5000);
  cluster.SetPriorityClass({"high", 100});
  for (int pod = 0; pod < 50'000; ++pod) {
    const std::string gang = absl::StrCat("low-", pod / size);
    if (pod % size == 0) {
      model::GangFacts facts;
      facts.ns = "default";
      facts.name = gang;
      facts.uid = gang;
      facts.min_member = size;
      facts.created = absl::FromUnixSeconds(pod * 7919 % 50'000);
      facts.phase = model::GangPhase::kRunning;
      facts.was_whole = true;
      cluster.SetGang(facts);
    }
    model::PodFacts facts = RunningPod(absl::StrCat(gang, "-", pod % size), NodeName(pod * 4801 % 5000), 1600);
    facts.gang = gang;
    cluster.SetPod(facts);
  }
  AddGang(cluster, "high", 100, 1600);
  model::GangFacts high;
  high.ns = "default";
  high.name = "high";
  high.uid = "high";
  high.min_member = 100;
  high.priority_class = "high";
  high.phase = model::GangPhase::kInqueue;
  cluster.SetGang(high);
  Policy policy;
  Scratch scratch;
  model::PodFacts other = RunningPod("other", NodeName(7), 1);
  std::size_t evicted = 0, decided = 0;
  for (auto _ : state) {
    state.PauseTiming();
    other.wants.requests = {{"memory", 1 + static_cast<std::int64_t>(decided++ % 2)}};
    cluster.SetPod(other);
    state.ResumeTiming();
    std::size_t go = 0;
    for (const model::Decision& decision : Schedule(cluster, policy, absl::UnixEpoch() + absl::Hours(24), scratch))
      go += decision.evicted.size();
    if (go != kGoing) state.SkipWithError("not just as many pods go as come");
    evicted += go;
  }
  state.counters["evicted"] = static_cast<double>(evicted) / static_cast<double>(std::max<std::size_t>(decided, 1));
}
BENCHMARK(BM_Evict)->ArgNames({"gang"})->Arg(1)->Arg(10)->Arg(100)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gangway::gang
