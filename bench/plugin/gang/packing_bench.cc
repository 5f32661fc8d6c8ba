// How many gangs find room when they ask for 95 % of a cluster, beside bins packed by best fit, and beside the most
// that can. `of_limit`: how many times as long ours takes, from objects to decisions, as best fit decreasing over plain
// numbers.
#include <benchmark/benchmark.h>

#include <optional>
#include <utility>
#include <vector>

#include "bench/clock/of_limit.h"
#include "bench/plugin/gang/packing.h"

namespace gangway::bench {
namespace {

constexpr int kCases = 300, kSmallCases = 200;

double SecondsOfBestFit(const std::vector<PackCase>& cases) {
  return LeastSeconds([&] {
    for (const PackCase& cluster : cases) benchmark::DoNotOptimize(PackBestFit(cluster, true));
  });
}

double Percent(int of, int all) { return 100.0 * of / all; }

// Arguments: nodes, pods of a gang at most. Sums over 300 random clusters; an item is a gang.
void BM_Pack(benchmark::State& state) {
  std::vector<PackCase> cases;
  int gangs = 0, decreasing = 0, in_order = 0, ours = 0, fewer = 0;
  for (unsigned seed = 1; seed <= kCases; ++seed) {
    cases.push_back(DrawPackCase(seed, static_cast<int>(state.range(0)), static_cast<int>(state.range(1)), 95));
    gangs += static_cast<int>(cases.back().gangs.size());
    const int best_fit = PackBestFit(cases.back(), true);
    decreasing += best_fit;
    in_order += PackBestFit(cases.back(), false);
    fewer += PackByGangway(cases.back()) < best_fit ? 1 : 0;
  }
  OfLimit of_limit(state, SecondsOfBestFit(cases));
  of_limit.Begin();
  for (auto _ : state) {
    ours = 0;
    for (const PackCase& cluster : cases) ours += PackByGangway(cluster);
  }
  of_limit.End();
  if (ours < decreasing) state.SkipWithError("fewer gangs than best fit decreasing has");
  state.SetItemsProcessed(state.iterations() * gangs);
  state.counters["asked"] = gangs;
  state.counters["gangway"] = ours;
  state.counters["best_fit_decreasing"] = decreasing;
  state.counters["best_fit_in_order"] = in_order;
  state.counters["clusters_with_fewer"] = fewer;
  state.counters["percent_of_best_fit"] = Percent(ours, decreasing);
}
BENCHMARK(BM_Pack)
    ->ArgNames({"nodes", "pods"})
    ->Args({8, 8})
    ->Args({40, 16})
    ->Args({40, 64})
    ->Args({160, 64})
    ->Unit(benchmark::kMillisecond);

// Argument: nodes. 200 random clusters, of which those count for which the solver (cbc) proves what the most is.
// `exact` leaves large gangs out for more small ones, `exact_in_order` does not, as Gangway.
void BM_PackSmall(benchmark::State& state) {
  std::vector<PackCase> cases;
  int exact = 0, in_order = 0, best_fit = 0, ours = 0;
  for (unsigned seed = 1; seed <= kSmallCases; ++seed) {
    PackCase cluster = DrawPackCase(seed, static_cast<int>(state.range(0)), 6, 95);
    const std::optional<int> most = PackExactly(cluster, false), most_in_order = PackExactly(cluster, true);
    if (!most.has_value() || !most_in_order.has_value()) continue;
    exact += *most;
    in_order += *most_in_order;
    best_fit += PackBestFit(cluster, true);
    cases.push_back(std::move(cluster));
  }
  if (cases.size() < kSmallCases / 2) {
    state.SkipWithError("what the most is was proved of too few: is cbc there?");
    return;
  }
  OfLimit of_limit(state, SecondsOfBestFit(cases));
  of_limit.Begin();
  for (auto _ : state) {
    ours = 0;
    for (const PackCase& cluster : cases) ours += PackByGangway(cluster);
  }
  of_limit.End();
  if (ours > exact) state.SkipWithError("more gangs than can be");
  if (100 * ours < 98 * exact) state.SkipWithError("less than 98 % of what can be");
  state.counters["proved"] = static_cast<double>(cases.size());
  state.counters["gangway"] = ours;
  state.counters["exact"] = exact;
  state.counters["exact_in_order"] = in_order;
  state.counters["percent_of_exact"] = Percent(ours, exact);
  state.counters["best_fit_decreasing"] = best_fit;
}
BENCHMARK(BM_PackSmall)->ArgNames({"nodes"})->Arg(3)->Arg(4)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gangway::bench
