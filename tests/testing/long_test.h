// Tests too deep for every run.
#pragma once

#include <cstdlib>

#include "gtest/gtest.h"

namespace gangway::testutil {

// `make test-long`, `make e2e`.
inline bool LongRun() { return std::getenv("GW_TEST_LONG") != nullptr; }

}  // namespace gangway::testutil

// First in a test that only a long run has. Elsewhere it counts as left to the long run, not as skipped.
#define GW_LONG_TEST()                            \
  do {                                            \
    if (!::gangway::testutil::LongRun()) {        \
      RecordProperty("long", 1);                  \
      GTEST_SKIP() << "make test-long runs this"; \
    }                                             \
  } while (false)
