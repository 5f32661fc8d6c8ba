#include "plugin/scheduler/feed.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::scheduler {
namespace {

using api::core::Node;
using api::core::Pod;

class FeedTest : public ::testing::Test {
 protected:
  FeedTest() {
    node_.metadata.name = "n1";
    node_.status.allocatable["cpu"] = *api::Quantity::Parse("4");
    pod_.metadata.ns = "team";
    pod_.metadata.name = "p";
    pod_.metadata.uid = "u1";
    pod_.spec.scheduler_name = "volcano";
  }
  bool Ours() { return cluster_.task(cluster_.FindTask("team", "p")).ours; }

  model::Cluster cluster_;
  int changes_ = 0;
  std::vector<std::string> namespaces_;
  Feed feed_{cluster_, "volcano", namespaces_, [this] { ++changes_; }};
  Node node_;
  Pod pod_;
};

TEST_F(FeedTest, WhatChangesTheClusterIsToldOnce) {
  feed_.On({"", "n1"}, &node_);
  EXPECT_EQ(changes_, 1);
  EXPECT_EQ(cluster_.present_nodes(), 1);
  feed_.On({"", "n1"}, &node_);
  EXPECT_EQ(changes_, 1) << "the same again";
  feed_.On({"", "n1"}, static_cast<const Node*>(nullptr));
  EXPECT_EQ(changes_, 2);
  EXPECT_EQ(cluster_.present_nodes(), 0);
}

TEST_F(FeedTest, AChangeOfAnotherKindIsToldToo) {
  const model::GangId gang = cluster_.SetGang(testutil::Gang("g", 1));
  feed_.Apply([&] { cluster_.SetHeldBack(gang, "refused"); });
  EXPECT_EQ(changes_, 1);
  feed_.Apply([] {});
  EXPECT_EQ(changes_, 1);
}

TEST_F(FeedTest, PodsOfOtherNamespacesTakeRoomAndAreNotOurs) {
  feed_.On({"team", "p"}, &pod_, false);
  EXPECT_TRUE(Ours());
  namespaces_ = {"other"};
  feed_.On({"team", "p"}, &pod_, false);
  EXPECT_FALSE(Ours());
  namespaces_ = {"other", "team"};
  feed_.On({"team", "p"}, &pod_, false);
  EXPECT_TRUE(Ours());
  pod_.spec.scheduler_name = "default-scheduler";
  feed_.On({"team", "p"}, &pod_, false);
  EXPECT_FALSE(Ours());
  feed_.On({"team", "p"}, nullptr, false);
  EXPECT_EQ(cluster_.FindTask("team", "p"), model::kNone);
}

TEST_F(FeedTest, ALabelBesideAnotherNameCountsWhereThereAreSuchGangs) {
  pod_.metadata.annotations["scheduling.k8s.io/group-name"] = "v";
  pod_.metadata.labels["scheduling.x-k8s.io/pod-group"] = "g";
  const auto not_modelled = [&] {
    return cluster_.shape(cluster_.task(cluster_.FindTask("team", "p")).shape).not_modelled;
  };
  feed_.On({"team", "p"}, &pod_, false);
  EXPECT_EQ(not_modelled(), "");
  feed_.On({"team", "p"}, &pod_, true);
  EXPECT_THAT(not_modelled(), ::testing::EndsWith(model::kNameTwoGangs));
}

TEST_F(FeedTest, PodGroupsOfOneNameAreGangsOfTheirKinds) {
  api::volcano::PodGroup volcano;
  api::core::KubernetesPodGroup kubernetes;
  api::core::CoschedulingPodGroup coscheduling;
  for (api::ObjectMeta* const metadata : {&volcano.metadata, &kubernetes.metadata, &coscheduling.metadata}) {
    metadata->ns = "team";
    metadata->name = "g";
  }
  feed_.On({"team", "g"}, &volcano);
  feed_.On({"team", "g"}, &kubernetes);
  feed_.On({"team", "g"}, &coscheduling);
  feed_.On({"team", "g"}, static_cast<const api::core::KubernetesPodGroup*>(nullptr));
  EXPECT_NE(cluster_.FindGang("team", "g"), model::kNone);
  EXPECT_EQ(cluster_.FindGang("team", "g", model::GangKind::kKubernetes), model::kNone);
  EXPECT_NE(cluster_.FindGang("team", "g", model::GangKind::kCoscheduling), model::kNone);
}

}  // namespace
}  // namespace gangway::scheduler
