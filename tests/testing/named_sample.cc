// What the program outcomes_sample runs under the name named_sample.
#include "gtest/gtest.h"

namespace gangway::testutil {
namespace {

TEST(Named, Passes) {}
TEST(Named, PassesToo) {}

}  // namespace
}  // namespace gangway::testutil
