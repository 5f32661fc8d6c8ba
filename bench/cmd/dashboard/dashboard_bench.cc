// How long does the dashboard take for its first paint, and for one change, and how many bytes are they? Every job is a
// gang of eight pods; every second one runs.
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "cmd/dashboard/page/page.h"
#include "cmd/dashboard/page/sheet.h"
#include "tests/cmd/dashboard/cluster_seen.h"

namespace gangway::dashboard {
namespace {

constexpr int kPods = 8;
constexpr char kJob[] =
    R"({"minAvailable":8,"queue":"default","maxRetry":3,"tasks":[{"name":"ps","replicas":2},{"name":"trainer","replicas":6}]})";
constexpr char kRunning[] =
    R"({"state":{"phase":"Running"},"taskStatusCount":{"ps":{"phase":{"Running":2}},"trainer":{"phase":{"Running":6}}},
  "conditions":[{"status":"Running","lastTransitionTime":"2026-11-24T07:00:06Z"}]})";
constexpr char kPlaced[] =
    R"({"phase":"Running","conditions":[{"type":"Scheduled","status":"True","lastTransitionTime":"2026-11-24T07:00:05Z"}]})";
constexpr char kWaits[] = R"({"phase":"Inqueue","conditions":[{"type":"Unschedulable","status":"True","message":
  "waits for 3 of 8 tasks: trainer needs nvidia.com/gpu 1; 12 nodes have 0 free, 20 are tainted, 0 fit","lastTransitionTime":"2026-11-24T07:00:03Z"}]})";

void Fill(testutil::ClusterSeen& cluster, int jobs, int nodes) {
  cluster.Queue("default", R"({"weight":1,"deserved":{"cpu":"100","nvidia.com/gpu":"500"}})");
  for (int i = 0; i < nodes; ++i)
    cluster.Node(absl::StrCat("node-", 10'000 + i), R"({"cpu":"64","memory":"512Gi","nvidia.com/gpu":"8"})");
  for (int i = 0; i < jobs; ++i) {
    const std::string name = absl::StrCat("training-", 10'000 + i);
    const bool runs = i % 2 == 0;
    cluster.Job(name, kJob, runs ? kRunning : R"({"state":{"phase":"Pending"}})");
    cluster.Group(name, R"({"minMember":8,"minResources":{"cpu":"8","nvidia.com/gpu":"8"}})", runs ? kPlaced : kWaits);
    for (int k = 0; k < kPods; ++k) {
      cluster.Pod(absl::StrCat(name, "-", k), name, runs ? absl::StrCat("node-", 10'000 + (i * kPods + k) % nodes) : "",
                  R"({"cpu":"1","memory":"4Gi","nvidia.com/gpu":"1"})", runs ? "Running" : "Pending");
    }
  }
}

// Arguments: jobs, nodes. From what is known of the cluster to the page's last byte.
void BM_DashboardFirstPaint(benchmark::State& state) {
  testutil::ClusterSeen cluster;
  Fill(cluster, static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  std::size_t bytes = 0;
  for (auto _ : state) {
    Sheet sheet;
    sheet.Take(RowsOf(cluster.View(), Lang::kEnglish));
    bytes = RenderPage(sheet.rows(), {}).size();
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(BM_DashboardFirstPaint)
    ->ArgNames({"jobs", "nodes"})
    ->Args({100, 100})
    ->Args({1000, 1000})
    ->Unit(benchmark::kMillisecond);

// The same of one pod more: from what is known to the event that an open page gets.
void BM_DashboardOneChange(benchmark::State& state) {
  testutil::ClusterSeen cluster;
  Fill(cluster, static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  Sheet sheet;
  sheet.Take(RowsOf(cluster.View(), Lang::kEnglish));
  std::size_t bytes = 0;
  for (auto _ : state) {
    state.PauseTiming();
    cluster.Pod("late", "training-10000", "node-10000", R"({"cpu":"1"})");
    const std::uint64_t before = sheet.version();
    state.ResumeTiming();
    if (!sheet.Take(RowsOf(cluster.View(), Lang::kEnglish))) state.SkipWithError("nothing changed");
    bytes = sheet.ChangedSince(before, "e.")->size();
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(BM_DashboardOneChange)->ArgNames({"jobs", "nodes"})->Args({1000, 1000})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gangway::dashboard
