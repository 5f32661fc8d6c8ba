#include "plugin/gang/constraint/taints.h"

#include <gtest/gtest.h>

#include "plugin/gang/constraint/asks.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::constraint {
namespace {

using model::Cluster;
using model::NodeFacts;
using model::TaintEffect;
using model::TaintFacts;
using model::TaskId;
using model::TolerationFacts;
using model::Wants;
using testutil::Cpu;
using testutil::Node;
using testutil::Pod;

struct TaintCase {
  std::string name;
  TaintFacts taint;
  std::vector<TolerationFacts> tolerations;
  absl::string_view expected;
};

class TaintTest : public ::testing::TestWithParam<TaintCase> {};

TEST_P(TaintTest, Obstacle) {
  Cluster cluster;
  NodeFacts node = Node("n1");
  node.taints = {GetParam().taint};
  cluster.SetNode(node);
  Wants wants = Cpu(1000);
  wants.tolerations = GetParam().tolerations;
  const TaskId task = cluster.SetPod(Pod("g", "w", 0, wants));
  EXPECT_EQ(Placed(cluster).AsksOf(cluster.task(task).shape).ObstacleAt(0), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, TaintTest,
    ::testing::Values(
        TaintCase{"NoSchedule", {"k", "v", TaintEffect::kNoSchedule}, {}, kTaints},
        TaintCase{"NoExecute", {"k", "v", TaintEffect::kNoExecute}, {}, kTaints},
        TaintCase{"PreferNoScheduleIsSoft", {"k", "v", TaintEffect::kPreferNoSchedule}, {}, ""},
        TaintCase{"Equal", {"k", "v", TaintEffect::kNoSchedule}, {{"k", "v", "NoSchedule", false}}, ""},
        TaintCase{"EqualOtherValue", {"k", "v", TaintEffect::kNoSchedule}, {{"k", "w", "NoSchedule", false}}, kTaints},
        TaintCase{"OtherEffect", {"k", "v", TaintEffect::kNoExecute}, {{"k", "v", "NoSchedule", false}}, kTaints},
        TaintCase{"EveryEffect", {"k", "v", TaintEffect::kNoExecute}, {{"k", "v", "", false}}, ""},
        TaintCase{"Exists", {"k", "v", TaintEffect::kNoSchedule}, {{"k", "", "", true}}, ""},
        TaintCase{"EveryKey", {"k", "v", TaintEffect::kNoSchedule}, {{"", "", "", true}}, ""},
        TaintCase{"UnknownEffect", {"k", "v", TaintEffect::kNoSchedule}, {{"k", "v", "Later", false}}, kTaints}),
    [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace gangway::constraint
