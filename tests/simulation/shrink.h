// A failing history with a few incidents says more than one with forty: leaves out what the failure does not need.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "tests/simulation/history.h"

namespace gangway::testutil {

// Of the numbers 0..n-1, in order, few with which `fails` holds still; none of them alone can be left out unless
// `tries` are used up. Zeller's delta debugging: chunks are left out, and halved when none can be.
std::vector<std::size_t> Shrink(std::size_t n, absl::FunctionRef<bool(const std::vector<std::size_t>&)> fails,
                                int tries);

// What is broken, without who, when and how much: violations of the same rule have the same.
std::string RuleOf(absl::string_view violation);

struct ShrunkHistory {
  std::vector<std::size_t> keep;  // HistoryOptions::keep
  HistoryResult result;           // of the history with these alone
};

// `result` is of `options`, and has a violation. The shrunk history breaks the rule that was broken first.
ShrunkHistory ShrinkHistory(HistoryOptions options, const HistoryResult& result, int tries = 200);

// The violations, the jobs and incidents that are enough for the first, and how to replay it.
std::string Report(const HistoryOptions& options, const HistoryResult& result);

// Sets `keep` from GW_SIMULATION_KEEP: "3,8", or "" for none.
void KeepFromEnvironment(HistoryOptions& options);

}  // namespace gangway::testutil
