// How much memory does the table take for a pod, and for a node? Of pods as Jobs have them: 16 of a gang, running, with
// the labels that the Job's controller gives them.
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "plugin/model/cluster.h"

namespace gangway::model {
namespace {

constexpr int kPodsOfGang = 16;

// Bytes of the process that are in memory; what was freed before is given back.
std::size_t Resident() {
  malloc_trim(0);
  std::ifstream file("/proc/self/statm");
  std::size_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void AddNodes(Cluster& cluster, std::int64_t nodes) {
  for (std::int64_t i = 0; i < nodes; ++i) {
    NodeFacts node;
    node.name = absl::StrCat("node-", i);
    node.allocatable = {{"cpu", 128'000}, {"memory", std::int64_t{1} << 40}, {"nvidia.com/gpu", 8}, {"pods", 110}};
    node.labels = {{"kubernetes.io/hostname", node.name},
                   {"kubernetes.io/arch", "amd64"},
                   {"kubernetes.io/os", "linux"},
                   {"topology.kubernetes.io/zone", absl::StrCat("z", i % 3)}};
    cluster.SetNode(node);
  }
}

void AddPods(Cluster& cluster, std::int64_t nodes, std::int64_t pods, bool labels) {
  for (std::int64_t i = 0; i < pods; ++i) {
    const std::string job = absl::StrCat("train-", i / kPodsOfGang);
    PodFacts pod;
    pod.ns = "research";
    pod.name = absl::StrCat(job, "-worker-", i % kPodsOfGang);
    pod.uid = absl::StrCat("6f1c2a3e-5d21-4b7e-9c11-", absl::Dec(i, absl::kZeroPad12));
    pod.gang = absl::StrCat(job, "-6f1c2a3e-5d21-4b7e-9c11-000000000000");
    pod.role = "worker";
    pod.index = static_cast<int>(i % kPodsOfGang);
    pod.phase = PodPhase::kRunning;
    pod.node = absl::StrCat("node-", i % nodes);
    pod.wants.requests = {{"cpu", 4000}, {"memory", std::int64_t{16} << 30}, {"nvidia.com/gpu", 1}, {"pods", 1}};
    if (labels) {
      pod.labels = {{"volcano.sh/job-name", job},
                    {"volcano.sh/job-namespace", "research"},
                    {"volcano.sh/queue-name", "default"},
                    {"volcano.sh/task-spec", "worker"},
                    {"volcano.sh/task-index", absl::StrCat(i % kPodsOfGang)}};
    }
    cluster.SetPod(pod);
  }
}

// Argument 0: nodes; 1: pods; 2: whether they have labels. bytes_per_node is of nodes without pods.
void BM_Memory(benchmark::State& state) {
  for (auto _ : state) {
    const std::size_t before = Resident();
    const auto cluster = std::make_unique<Cluster>();
    AddNodes(*cluster, state.range(0));
    const std::size_t with_nodes = Resident();
    AddPods(*cluster, state.range(0), state.range(1), state.range(2) != 0);
    const std::size_t with_pods = Resident();
    if (cluster->used()[cluster->dims().Find("nvidia.com/gpu")] != state.range(1))
      state.SkipWithError("not every pod holds its GPU");
    state.counters["bytes_per_node"] = static_cast<double>(with_nodes - before) / static_cast<double>(state.range(0));
    state.counters["bytes_per_pod"] = static_cast<double>(with_pods - with_nodes) / static_cast<double>(state.range(1));
  }
}
BENCHMARK(BM_Memory)
    ->ArgNames({"nodes", "pods", "labels"})
    ->Args({5000, 150'000, 0})
    ->Args({5000, 150'000, 1})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gangway::model
