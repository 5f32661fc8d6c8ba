// What random tests draw from; the same seed, the same draws.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <random>

namespace gangway::testutil {

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  int Below(int limit) { return static_cast<int>(engine_() % static_cast<unsigned>(limit)); }
  bool Chance(int percent) { return Below(100) < percent; }
  std::mt19937& engine() { return engine_; }

 private:
  std::mt19937 engine_;
};

// How many random worlds a property is tried on; in the long tests 10,000 at least.
inline unsigned Worlds(unsigned usually) {
  return std::getenv("GW_TEST_LONG") != nullptr ? std::max(usually, 10'000u) : usually;
}

}  // namespace gangway::testutil
