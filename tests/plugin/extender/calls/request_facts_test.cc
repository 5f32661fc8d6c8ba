#include "plugin/extender/calls/request_facts.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/model/cluster_builder.h"
#include "tests/testing/status_matchers.h"

namespace gangway::extender {
namespace {

using testutil::Cpu;
using testutil::Pod;

// Two kinds of pods, of which one comes twice.
TEST(CheckSizesTest, KindsOfPodsTimesNodesAreBounded) {
  explain::ClusterFacts facts;
  facts.pods = {Pod("g", "w", 0, Cpu(1000)), Pod("g", "w", 1, Cpu(1000)), Pod("g", "x", 0, Cpu(2000))};
  GW_EXPECT_OK(CheckSizes(facts, kMaxFits / 2));
  EXPECT_THAT(
      CheckSizes(facts, kMaxFits / 2 + 1),
      testutil::StatusIs(absl::StatusCode::kInvalidArgument,
                         ::testing::StartsWith("gang: 2 kinds of pods on 500001 nodes are more than one call")));
}

}  // namespace
}  // namespace gangway::extender
