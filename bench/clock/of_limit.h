// How many times as long as the least that anybody could take, measured in the same run, so that the figure says the
// same on another machine.
#pragma once

#include <algorithm>
#include <limits>

#include "absl/time/time.h"
#include "base/thread_time.h"
#include "benchmark/benchmark.h"

namespace gangway::bench {

inline double ThreadSeconds() { return absl::ToDoubleSeconds(ThreadTime()); }

// Of `work`, the least of up to twenty times; each time so often that the clock's own cost is lost in it.
template <class F>
double LeastSeconds(F work) {
  constexpr double kLongEnough = 200e-6, kMost = 0.5;
  double least = std::numeric_limits<double>::infinity(), sum = 0;
  int often = 1;
  for (int times = 0; times < 20 && sum < kMost;) {
    const double begin = ThreadSeconds();
    for (int i = 0; i < often; ++i) work();
    const double took = ThreadSeconds() - begin;
    if (took < kLongEnough) {
      often *= 2;
      continue;
    }
    least = std::min(least, took / often);
    sum += took;
    ++times;
  }
  return least;
}

// Stands around the loop of a bench: what is done between Begin and End, per iteration, becomes the counter `of_limit`.
class OfLimit {
 public:
  OfLimit(benchmark::State& state, double limit_seconds) : state_(state), limit_(limit_seconds) {}
  ~OfLimit() {
    if (state_.iterations() > 0)
      state_.counters["of_limit"] = seconds_ / static_cast<double>(state_.iterations()) / limit_;
  }
  OfLimit(const OfLimit&) = delete;
  OfLimit& operator=(const OfLimit&) = delete;

  void Begin() { begin_ = ThreadSeconds(); }
  // Returns what was measured since.
  double End() {
    const double took = ThreadSeconds() - begin_;
    seconds_ += took;
    return took;
  }

 private:
  benchmark::State& state_;
  const double limit_;
  double begin_ = 0, seconds_ = 0;
};

}  // namespace gangway::bench
