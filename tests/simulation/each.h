// Histories and lives side by side.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "gtest/gtest.h"

namespace gangway::testutil {

// `work` for 0..count-1, on two threads at once; what it says is wrong is a failure. After a few failures no more is
// begun.
inline void Each(std::size_t count, const std::function<std::string(std::size_t)>& work) {
  constexpr int kFailures = 5;
  std::atomic<std::size_t> next{0};
  std::atomic<int> failures{0};
  std::mutex mu;
  const auto run = [&] {
    for (std::size_t i = next++; i < count && failures < kFailures; i = next++) {
      const std::string wrong = work(i);
      if (wrong.empty()) continue;
      ++failures;
      const std::lock_guard lock(mu);
      ADD_FAILURE() << wrong;
    }
  };
  std::thread other(run);
  run();
  other.join();
}

}  // namespace gangway::testutil
