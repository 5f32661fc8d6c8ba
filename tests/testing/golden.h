// Golden files: what a test expects, written down so that people see in review what changes.
#pragma once

#include <cstdlib>
#include <string>

#include "gtest/gtest.h"
#include "tests/testing/files.h"

namespace gangway::testutil {

// With GW_UPDATE_GOLDEN set the file is written anew, and the test fails: it compared nothing.
inline void ExpectGolden(const std::string& path, const std::string& actual) {
  if (std::getenv("GW_UPDATE_GOLDEN") == nullptr) {
    EXPECT_EQ(ReadFile(path), actual) << path << ": GW_UPDATE_GOLDEN=1 writes it anew";
    return;
  }
  WriteFile(path, actual);
  ADD_FAILURE() << path
                << " is written anew, nothing was compared: read the difference, then run without GW_UPDATE_GOLDEN";
}

}  // namespace gangway::testutil
