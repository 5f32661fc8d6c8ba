#include <set>
#include <string>

#include "gtest/gtest.h"
#include "sandbox/kubelet/node_shape.h"
#include "sandbox/kubelet/node_sync.h"
#include "tests/testing/status_matchers.h"

namespace gangway::sandbox {
namespace {

using ::testing::HasSubstr;

TEST(NodeShapeTest, NamedResourcesReplaceTheDefaults) {
  const auto shape = ParseNodeShape("cpu=32,nvidia.com/gpu=8,label:zone=a,taint:dedicated=ml:NoSchedule,count=3");
  GW_ASSERT_OK(shape);
  EXPECT_EQ(shape->resources.at("cpu").ToString(), "32");
  EXPECT_EQ(shape->resources.at("memory").ToString(), "64Gi");
  EXPECT_EQ(shape->resources.at("nvidia.com/gpu").ToString(), "8");
  EXPECT_EQ(shape->labels.at("zone"), "a");
  ASSERT_EQ(shape->taints.size(), 1u);
  EXPECT_EQ(shape->taints[0].key, "dedicated");
  EXPECT_EQ(shape->taints[0].value, "ml");
  EXPECT_EQ(shape->taints[0].effect, "NoSchedule");
  const auto nodes = MakeNodes({*shape, *ParseNodeShape("")}, 6);
  ASSERT_EQ(nodes.size(), 9u);
  EXPECT_EQ(nodes.front().name, "node-000");
  EXPECT_EQ(nodes.back().name, "node-008");
  EXPECT_TRUE(nodes.back().shape.taints.empty());
}

TEST(NodeShapeTest, NoTwoNodesHaveOneAddress) {
  std::set<std::string> addresses;
  for (const SimulatedNode& node : MakeNodes({*ParseNodeShape("")}, 5000)) addresses.insert(HostIp(node.name));
  EXPECT_EQ(addresses.size(), 5000u);
  EXPECT_EQ(HostIp("node-000"), "10.0.0.1");
  EXPECT_EQ(HostIp("node-254"), "10.0.1.1");
  // Names that others have given are somewhere else, also those that only look like ours.
  for (const char* const name : {"worker", "node-1", "node-0001", "node-", "node-99999999"})
    EXPECT_THAT(HostIp(name), ::testing::MatchesRegex("10\\.(1[2-9]|2[0-5])[0-9]\\.[0-9]+\\.[0-9]+")) << name;
}

TEST(NodeShapeTest, WrongShapesSayWhatIsWrong) {
  for (const auto& [text, part] :
       {std::pair("cpu", "RESOURCE=QUANTITY"), std::pair("cpu=lots", "cpu=lots"), std::pair("cpu=-1", "negative"),
        std::pair("count=0", "from 1"), std::pair("taint:a=b:Never", "NoSchedule")}) {
    EXPECT_THAT(ParseNodeShape(text), testutil::StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(part))) << text;
  }
}

TEST(NodeShapeTest, TheBodyIsANodeThatIsReady) {
  const auto nodes = MakeNodes({*ParseNodeShape("")}, 1);
  const auto node = api::Decode<api::core::Node>(NodeBody(nodes[0], absl::FromUnixSeconds(1'800'000'000)));
  GW_ASSERT_OK(node);
  EXPECT_EQ(node->status.allocatable.at("pods").ToString(), "110");
  ASSERT_EQ(node->status.conditions.size(), 1u);
  EXPECT_EQ(node->status.conditions[0].status, "True");
}

class NodeSyncTest : public ::testing::Test {
 protected:
  NodeSyncTest() {
    node_.metadata.name = "node-000";
    node_.status.conditions = {{"Ready", "True", "KubeletReady", ""}};
  }
  void Lose() { node_.metadata.annotations["sandbox.gangway.io/lost"] = "true"; }
  api::core::Node node_;
  NodeTimes times_;
  NodeMemory memory_;
  const absl::Time start_ = absl::FromUnixSeconds(1'800'000'000);
};

TEST_F(NodeSyncTest, AHealthyNodeIsNotWritten) { EXPECT_TRUE(SyncNode(node_, times_, memory_, start_).empty()); }

TEST_F(NodeSyncTest, ALostNodeTurnsUnknownAfterItsGraceThenUnreachable) {
  Lose();
  kube::Plan plan = SyncNode(node_, times_, memory_, start_);
  EXPECT_TRUE(plan.empty());
  EXPECT_EQ(plan.look_again, start_ + times_.grace);
  plan = SyncNode(node_, times_, memory_, start_ + times_.grace);
  ASSERT_EQ(plan.stages.size(), 1u);
  EXPECT_EQ(plan.stages[0][0].subresource, "status");
  EXPECT_THAT(plan.stages[0][0].body, HasSubstr("Unknown"));
  node_.status.conditions[0].status = "Unknown";
  plan = SyncNode(node_, times_, memory_, start_ + times_.grace);
  ASSERT_EQ(plan.stages.size(), 1u);
  EXPECT_THAT(plan.stages[0][0].body, HasSubstr("node.kubernetes.io/unreachable"));
  node_.spec.taints = {{"node.kubernetes.io/unreachable", "", "NoSchedule"},
                       {"node.kubernetes.io/unreachable", "", "NoExecute"}};
  EXPECT_TRUE(SyncNode(node_, times_, memory_, start_ + absl::Hours(1)).empty());
  // Back again: the condition first, then the taints.
  node_.metadata.annotations.clear();
  plan = SyncNode(node_, times_, memory_, start_ + absl::Hours(1));
  EXPECT_THAT(plan.stages.at(0).at(0).body, HasSubstr("KubeletReady"));
  node_.status.conditions[0].status = "True";
  plan = SyncNode(node_, times_, memory_, start_ + absl::Hours(1));
  EXPECT_THAT(plan.stages.at(0).at(0).body, HasSubstr("\"taints\":[]"));
}

TEST_F(NodeSyncTest, TolerationsDecideWhenPodsAreEvicted) {
  HostedPod pod;
  EXPECT_EQ(EvictionTime(pod, start_, times_), start_ + absl::Seconds(300));
  pod.spec.tolerations = {{"node.kubernetes.io/unreachable", "Exists", "", "NoExecute", 10}};
  EXPECT_EQ(EvictionTime(pod, start_, times_), start_ + absl::Seconds(10));
  pod.spec.tolerations[0].toleration_seconds = 3600;
  EXPECT_EQ(EvictionTime(pod, start_, times_), start_ + absl::Seconds(3600));
  pod.spec.tolerations.push_back({"", "Exists", "", "", 20});
  EXPECT_EQ(EvictionTime(pod, start_, times_), start_ + absl::Seconds(20)) << "the shortest";
  pod.spec.tolerations[0].toleration_seconds.reset();
  EXPECT_EQ(EvictionTime(pod, start_, times_), absl::InfiniteFuture());
}

}  // namespace
}  // namespace gangway::sandbox
