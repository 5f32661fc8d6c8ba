// How long does a key pair of the job plugin ssh take, and how long is the controller's loop held up while many are
// made?
#include <algorithm>
#include <functional>

#include "absl/time/clock.h"
#include "base/asio_loop.h"
#include "benchmark/benchmark.h"
#include "plugin/controller/ssh_keys.h"

namespace gangway::controller {
namespace {

void BM_MakeSshKeyPair(benchmark::State& state) {
  for (auto _ : state) {
    auto pair = MakeSshKeyPair();
    benchmark::DoNotOptimize(pair);
  }
}
BENCHMARK(BM_MakeSshKeyPair)->Unit(benchmark::kMillisecond);

// As many Jobs at once, from the first question to the last pair. `longest_wait_ms`: of a task of the loop that is
// posted meanwhile, and posts itself again.
void BM_PairsForABurstOfJobs(benchmark::State& state) {
  absl::Duration longest;
  for (auto _ : state) {
    AsioLoop loop(1);
    Owner owner;
    ThreadedSshKeys keys(loop);
    int left = static_cast<int>(state.range(0));
    absl::Time beat = absl::Now();
    std::function<void()> heart = [&] {
      const absl::Time now = absl::Now();
      longest = std::max(longest, now - beat);
      beat = now;
      loop.PostAt(loop.Now() + absl::Milliseconds(1), owner.token(), heart);
    };
    loop.Post(owner.token(), [&] {
      for (int i = 0; i < state.range(0); ++i) {
        keys.Take(owner.token(), [&](const absl::StatusOr<lifecycle::SshKeyPair>& pair) {
          if (!pair.ok()) state.SkipWithError("a pair was not made");
          if (--left == 0) loop.Stop();
        });
      }
      beat = absl::Now();
      heart();
    });
    loop.Run();
  }
  state.counters["longest_wait_ms"] = absl::ToDoubleMilliseconds(longest);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_PairsForABurstOfJobs)
    ->ArgName("jobs")
    ->Arg(1)
    ->Arg(20)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

}  // namespace
}  // namespace gangway::controller
