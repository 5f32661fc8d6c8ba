// What the fuzz targets share. A target is a source with LLVMFuzzerTestOneInput: it takes any bytes and ends the
// process when a property does not hold. driver.cc runs it as a test, libFuzzer as a program (docs/testing.md).
//
// The same bytes do the same, whatever came before. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "absl/strings/string_view.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace gangway::testutil {

// What gw_fuzz says of a target, for the driver: where its corpus is, and how often to damage it.
extern const char* const kFuzzCorpus;
extern const std::uint64_t kFuzzRounds;

// Objects that came out of inputs, for the driver: a run in which everything is refused shows little.
inline std::uint64_t came_out = 0;

// Ends the process with the property in words, and what it does not hold of.
inline void Require(bool holds, const char* property, absl::string_view shown) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n%.*s\n", property,
               static_cast<int>(std::min<std::size_t>(shown.size(), 20'000)), shown.data());
  std::abort();
}

inline absl::string_view TextOf(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// The parts of an input that lines "%%" divide; one when there is no such line.
inline std::vector<absl::string_view> PartsOf(absl::string_view text) {
  constexpr absl::string_view kLine = "\n%%\n";
  std::vector<absl::string_view> out;
  for (std::size_t end; (end = text.find(kLine)) != absl::string_view::npos; text.remove_prefix(end + kLine.size()))
    out.push_back(text.substr(0, end));
  out.push_back(text);
  return out;
}

}  // namespace gangway::testutil
