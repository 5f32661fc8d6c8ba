// A hash for names that must be the same in every run and on every machine; absl::Hash is not.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace gangway {

// FNV-1a, its bits mixed at the end. `seed` chains: StableHash(b, StableHash(a)) tells ("ab","c") from ("a","bc").
constexpr std::uint64_t StableHash(absl::string_view text, std::uint64_t seed = 0) {
  std::uint64_t h = 0xcbf29ce484222325u ^ (seed * 0x9e3779b97f4a7c15u);
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93u;
  return h ^ (h >> 32);
}

}  // namespace gangway
