// Tests that end in every way; test_main_test runs them by their names.
#include <cstdio>

#include "gtest/gtest.h"
#include "tests/testing/long_test.h"

namespace gangway::testutil {
namespace {

TEST(Sample, Passes) {}
TEST(Sample, Fails) { FAIL() << "on purpose"; }
TEST(Sample, IsSkipped) { GTEST_SKIP() << "there is no kubectl\non this machine"; }
TEST(Sample, IsDeep) { GW_LONG_TEST(); }
TEST(Sample, SaysThatItIsSkippedAndFails) {
  std::puts("there is no kubectl on this machine");
  FAIL() << "there is no control plane on this machine";
}
TEST(Sample, DISABLED_IsDisabled) {}

class SampleFixture : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_SKIP() << "its fixture skips"; }
};
TEST_F(SampleFixture, IsSkipped) { FAIL(); }

}  // namespace
}  // namespace gangway::testutil
