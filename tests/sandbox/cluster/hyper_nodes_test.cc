// Labels of nodes make HyperNodes, and a gang that must stay within one does, on the whole embedded cluster.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "api/volcano/hyper_node.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sandbox/cluster/cluster_fixture.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class HyperNodesOfLabelsTest : public ClusterTest {
 protected:
  // Four nodes of 16 cpu in two racks.
  void StartRacks(bool labels_make_hyper_nodes) {
    ClusterOptions options;
    options.kubelets.nodes = MakeNodes({*ParseNodeShape("cpu=16,memory=64Gi")}, 4);
    if (labels_make_hyper_nodes) options.label_source = lifecycle::LabelSource{true, {{"rdma", {"rack"}}}};
    StartWith(std::move(options));
    for (int i = 0; i < 4; ++i) Label(i, absl::StrCat("r", i / 2));
    loop_.RunFor(absl::Seconds(1));
  }
  void Label(int node, const std::string& rack) {
    const kube::Response reply = Ask("PATCH", api::PathOf(api::kNodes, "", absl::StrCat("node-00", node)),
                                     absl::StrCat(R"({"metadata":{"labels":{"rack":")", rack, R"("}}})"));
    ASSERT_TRUE(reply.ok()) << *reply.body;
  }
  // `pods` that need a node each.
  void Apply(const std::string& name, int pods, const std::string& more) {
    Make(api::PathOf(api::kJobs, "default"),
         absl::StrCat(R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":")", name,
                      R"("},"spec":{)", more, R"("schedulerName":"volcano","minAvailable":)", pods,
                      R"(,"tasks":[{"name":"w","replicas":)", pods,
                      R"(,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i",)",
                      R"("resources":{"requests":{"cpu":"15"}}}]}}}]}})"));
  }
  std::vector<std::string> NodesOf(const std::string& job) {
    std::vector<std::string> nodes;
    for (int i = 0;; ++i) {
      const kube::Response pod = Ask("GET", api::PathOf(api::kPods, "default", absl::StrCat(job, "-w-", i)));
      if (!pod.ok()) break;
      const json::value object = *api::ParseJson(*pod.body);
      const json::value* const node = object.at("spec").as_object().if_contains("nodeName");
      if (node != nullptr) nodes.emplace_back(node->as_string());
    }
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  }
};

constexpr char kWithinARack[] = R"("networkTopology":{"mode":"hard","highestTierAllowed":1},)";

TEST_F(HyperNodesOfLabelsTest, AGangStaysWithinARack) {
  StartRacks(true);
  Apply("one", 1, "");
  loop_.RunFor(absl::Seconds(10));
  const std::vector<std::string> taken = NodesOf("one");
  ASSERT_THAT(taken, ElementsAre("node-000"));
  Apply("gang", 2, kWithinARack);
  loop_.RunFor(absl::Seconds(20));
  EXPECT_THAT(NodesOf("gang"), ElementsAre("node-002", "node-003")) << "of the other rack one node is taken";
  const std::string list = *Ask("GET", api::PathOf(api::volcano::kHyperNodes, "")).body;
  EXPECT_THAT(list, HasSubstr(R"("tierName":"rack")"));
  EXPECT_THAT(list, HasSubstr(R"("nodeCount":2)"));
}

// A node that moves into the rack makes room there.
TEST_F(HyperNodesOfLabelsTest, AGangWaitsUntilALabelMakesRoom) {
  StartRacks(true);
  Apply("gang", 3, kWithinARack);
  loop_.RunFor(absl::Seconds(10));
  EXPECT_THAT(NodesOf("gang"), IsEmpty());
  Label(2, "r0");
  loop_.RunFor(absl::Minutes(1));
  EXPECT_THAT(NodesOf("gang"), ElementsAre("node-000", "node-001", "node-002"));
}

TEST_F(HyperNodesOfLabelsTest, WithoutTheFileLabelsMakeNone) {
  StartRacks(false);
  Apply("gang", 2, kWithinARack);
  loop_.RunFor(absl::Seconds(20));
  EXPECT_THAT(NodesOf("gang"), IsEmpty());
  EXPECT_THAT(*Ask("GET", api::PathOf(api::volcano::kHyperNodes, "")).body, HasSubstr(R"("items":[])"));
}

}  // namespace
}  // namespace gangway::sandbox
