// How long does `gangway simulate` take for a week of a cluster?
#include <benchmark/benchmark.h>

#include "bench/plugin/simulate/week.h"

namespace gangway::simulate {
namespace {

const absl::Time kMonday = absl::FromUnixSeconds(1'795'478'400);

// Arguments: pods; what they ask for in percent of the cluster; queues. In one that is nearly full queues take back
// their shares from each other, and what was evicted begins anew: then all of the time goes into looking for whom to
// evict. With one queue it goes into keeping room for those that need much of it.
void BM_SimulateWeek(benchmark::State& state) {
  const bench::Week week = bench::DrawWeek(1, static_cast<int>(state.range(0)), static_cast<int>(state.range(1)),
                                           static_cast<int>(state.range(2)));
  double rounds = 0;
  int ended = 0;
  for (auto _ : state) {
    const auto course = Simulate(week.facts, kMonday, week.arrivals, {});
    if (!course.ok()) {
      state.SkipWithError(course.status().ToString().c_str());
      return;
    }
    rounds = course->rounds;
    ended = 0;
    for (const QueueUse& queue : course->queues) ended += queue.ended;
  }
  if (ended != week.fit) state.SkipWithError("not all that fit have ended");
  state.counters["rounds"] = rounds;
  state.counters["nodes"] = static_cast<double>(week.facts.nodes.size());
}
BENCHMARK(BM_SimulateWeek)
    ->ArgNames({"pods", "percent", "queues"})
    ->Args({100'000, 50, 4})
    ->Args({100'000, 70, 4})
    ->Args({100'000, 90, 1})
    ->Args({3'000, 90, 4})
    ->Args({10'000, 90, 4})
    ->Unit(benchmark::kSecond);

}  // namespace
}  // namespace gangway::simulate
