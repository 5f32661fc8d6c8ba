#include "tests/judge/verdict.h"

#include <gtest/gtest.h>

namespace gangway::testutil {
namespace {

TEST(VerdictTest, ADifferenceIsANodeThatOneTakes) {
  const Verdict theirs{{{"n1", "Taint: reasons"}, {"n2", ""}, {"n3", "Fit"}}, "", ""};
  EXPECT_FALSE(FirstDifference(theirs, {{{"n1", "cordon"}, {"n2", ""}, {"n3", "taints"}}, "", ""}).has_value())
      << "why is not compared";
  EXPECT_EQ(FirstDifference(theirs, {{{"n1", ""}, {"n2", ""}, {"n3", ""}}, "", ""})->kind, "Taint / nothing");
  EXPECT_EQ(FirstDifference(theirs, {{{"n1", "x"}, {"n2", "ports"}, {"n3", "y"}}, "", ""})->node, "n2");
  EXPECT_EQ(FirstDifference(theirs, {{{"n1", "x"}, {"n2", ""}}, "", ""}), std::nullopt)
      << "a node we do not know is refused";
}

TEST(VerdictTest, OursMayContradictItself) {
  const Verdict theirs{{{"n1", ""}}, "", ""};
  EXPECT_EQ(FirstDifference(theirs, {{{"n1", ""}}, "it is placed on n2", ""})->kind, "our constraints / our decision");
}

}  // namespace
}  // namespace gangway::testutil
