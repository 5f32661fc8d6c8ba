// How long calls took, for what is said of them in ratios: both sides of one are measured in one run, by turns.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <vector>

namespace gangway::bench {

using Watch = std::chrono::steady_clock;

class Times {
 public:
  template <class F>
  void Add(F call) {
    const Watch::time_point begin = Watch::now();
    call();
    seconds_.push_back(std::chrono::duration<double>(Watch::now() - begin).count());
  }
  // Of all but the slowest in a hundred, which are Percentile's to tell: one of them for which the machine had no time
  // would count as a thousand others.
  double Mean() const {
    std::vector<double> sorted = seconds_;
    const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() - sorted.size() / 100);
    std::nth_element(sorted.begin(), end - 1, sorted.end());
    return std::accumulate(sorted.begin(), end, 0.0) / static_cast<double>(end - sorted.begin());
  }
  double Percentile(double part) const {
    std::vector<double> sorted = seconds_;
    const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(static_cast<double>(sorted.size() - 1) * part);
    std::nth_element(sorted.begin(), at, sorted.end());
    return *at;
  }

 private:
  std::vector<double> seconds_;
};

}  // namespace gangway::bench
