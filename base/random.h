// A small generator whose numbers are the same on every machine, which the standard distributions do not promise.
// SplitMix64: every 64-bit seed is a good one.
#pragma once

#include <cstdint>

namespace gangway {

class RandomStream {
 public:
  explicit constexpr RandomStream(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // In [0, bound); bound > 0. The bias is below bound / 2^64.
  constexpr std::uint64_t Below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(Next()) * bound) >> 64);
  }

 private:
  std::uint64_t state_;
};

// A random word as a fraction in [0, 1).
constexpr double UnitInterval(std::uint64_t random) { return static_cast<double>(random >> 11) * 0x1.0p-53; }

}  // namespace gangway
