#include "plugin/scheduler/use_metrics.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::scheduler {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class UseMetricsTest : public ::testing::Test {
 protected:
  UseMetricsTest() {
    model::NodeFacts node = testutil::Node("node-000", 12);
    node.allocatable.emplace_back("nvidia.com/gpu", 8);
    cluster_.SetNode(node);
    cluster_.SetQueue(testutil::Queue("default"));
    use_.CountIn(metrics_);
  }
  void AddGang(const std::string& ns, const std::string& name) {
    model::GangFacts gang = testutil::Gang(name, 1);
    gang.ns = ns;
    cluster_.SetGang(gang);
  }
  void AddPod(const std::string& ns, const std::string& gang, int index, const std::string& node) {
    model::PodFacts pod = testutil::Pod(gang, "w", index, testutil::Cpu(1500));
    pod.ns = ns;
    pod.wants.requests.emplace_back("nvidia.com/gpu", 2);
    pod.node = node;
    cluster_.SetPod(pod);
  }
  std::string Page() {
    use_.Set(cluster_);
    return metrics_.Expose();
  }

  model::Cluster cluster_;
  Metrics metrics_;
  UseMetrics use_;
};

TEST_F(UseMetricsTest, WhatNamespacesHoldAndWaitForAndWhatIsIdle) {
  AddGang("ads", "runs");
  AddPod("ads", "runs", 0, "node-000");
  AddGang("maps", "waits");
  AddPod("maps", "waits", 0, "");
  AddPod("maps", "waits", 1, "");
  EXPECT_THAT(
      Page(),
      AllOf(HasSubstr("gangway_namespace_held_resources{namespace=\"ads\",resource=\"cpu\"} 1.5\n"),
            HasSubstr("gangway_namespace_held_resources{namespace=\"ads\",resource=\"nvidia.com/gpu\"} 2\n"),
            HasSubstr("gangway_namespace_waiting_resources{namespace=\"maps\",resource=\"nvidia.com/gpu\"} 4\n"),
            HasSubstr("gangway_idle_resources{resource=\"nvidia.com/gpu\"} 6\n"),
            HasSubstr("gangway_idle_resources{resource=\"cpu\"} 10.5\n"),
            Not(HasSubstr("gangway_namespace_waiting_resources{namespace=\"ads\""))));
  cluster_.RemovePod("ads", "runs-w-0");
  EXPECT_THAT(Page(), AllOf(HasSubstr("{namespace=\"ads\",resource=\"nvidia.com/gpu\"} 0\n"),
                            HasSubstr("gangway_idle_resources{resource=\"nvidia.com/gpu\"} 8\n")));
}

TEST_F(UseMetricsTest, AGangThatIsNotLetInWaitsForItsMinimum) {
  model::GangFacts gang = testutil::Gang("new", 2);
  gang.ns = "ads";
  gang.has_min_resources = true;
  gang.min_resources = {{"nvidia.com/gpu", 16}};
  cluster_.SetGang(gang);
  EXPECT_THAT(Page(),
              HasSubstr("gangway_namespace_waiting_resources{namespace=\"ads\",resource=\"nvidia.com/gpu\"} 16\n"));
}

TEST_F(UseMetricsTest, WhatNoNodeHasIsNotIdleAndHidesNothing) {
  AddGang("ads", "waits");
  model::PodFacts pod = testutil::Pod("waits", "w", 0, testutil::Cpu(1000));
  pod.ns = "ads";
  pod.wants.requests.emplace_back("acme.com/none", 1);
  cluster_.SetPod(pod);
  model::NodeFacts node = testutil::Node("node-001", 12);
  node.allocatable.emplace_back("acme.com/npu", 4);
  cluster_.SetNode(node);
  EXPECT_THAT(Page(), AllOf(HasSubstr("gangway_idle_resources{resource=\"acme.com/npu\"} 4\n"),
                            Not(HasSubstr("gangway_idle_resources{resource=\"acme.com/none\"}"))));
}

TEST_F(UseMetricsTest, ManyNamespacesShareALabel) {
  for (int i = 0; i < 300; ++i) {
    const std::string ns = absl::StrCat("ns-", i);
    AddGang(ns, "g");
    AddPod(ns, "g", 0, "");
  }
  const std::string page = Page();
  std::size_t series = 0;
  for (const absl::string_view line : absl::StrSplit(page, '\n'))
    series +=
        line.find("gangway_namespace_waiting_resources{") == 0 && line.find("nvidia.com/gpu") != line.npos ? 1 : 0;
  EXPECT_EQ(series, UseMetrics::kMostNamespaces + 1);
  EXPECT_THAT(page, HasSubstr("{namespace=\"_others_\",resource=\"nvidia.com/gpu\"} 200\n")) << "100 of two each";
}

}  // namespace
}  // namespace gangway::scheduler
