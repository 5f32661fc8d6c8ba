// The time of one iteration of a bench whose work is done by several threads, or beside what is not to be measured.
#pragma once

#include <ctime>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "benchmark/benchmark.h"

namespace gangway::bench {

// For benches with UseManualTime(): wall time becomes the iteration's, and the processor time of all threads the
// counter cpu_ms. (The bench's own column of CPU is that of its main thread, which may only wait.)
class ManualTime {
 public:
  explicit ManualTime(benchmark::State& state) : state_(state) {}
  void Begin() {
    wall_ = absl::Now();
    cpu_ = Cpu();
  }
  void End() {
    state_.SetIterationTime(absl::ToDoubleSeconds(absl::Now() - wall_));
    state_.counters["cpu_ms"].value += absl::ToDoubleMilliseconds(Cpu() - cpu_);
    state_.counters["cpu_ms"].flags = benchmark::Counter::kAvgIterations;
  }

 private:
  static absl::Duration Cpu() {
    std::timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return absl::DurationFromTimespec(now);
  }

  benchmark::State& state_;
  absl::Time wall_;
  absl::Duration cpu_;
};

}  // namespace gangway::bench
