// How many histories of the seed job, faults included, does one core judge in a minute?
#include "base/check.h"
#include "benchmark/benchmark.h"
#include "tests/simulation/history.h"

namespace gangway::testutil {
namespace {

void BM_SeedJobHistory(benchmark::State& state) {
  HistoryOptions options;
  options.random_jobs = false;
  options.chaos = true;
  std::size_t records = 0;
  for (auto _ : state) {
    const HistoryResult result = RunHistory(options);
    GW_CHECK(result.violations.empty());
    records += result.records;
    ++options.seed;
  }
  state.counters["histories/min"] =
      benchmark::Counter(60.0 * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.counters["records"] = benchmark::Counter(static_cast<double>(records), benchmark::Counter::kAvgIterations);
}
BENCHMARK(BM_SeedJobHistory)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gangway::testutil
