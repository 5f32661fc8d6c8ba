#include "plugin/extender/watch/live_cluster.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "api/resource.h"
#include "base/simulated_loop.h"
#include "gtest/gtest.h"
#include "kube/runtime/components.h"
#include "sandbox/apiserver/api_server.h"
#include "sandbox/apiserver/in_process_client.h"

namespace gangway::extender {
namespace {

class LiveClusterTest : public ::testing::Test {
 protected:
  LiveClusterTest() : loop_(1), server_(loop_, {}) {
    for (int i = 0; i < 4; ++i) {
      Create(api::kNodes, absl::StrCat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"node-)", i,
                                       R"("},"status":{"allocatable":{"cpu":"16","memory":"64Gi","pods":"110"}}})"));
    }
    client_ = std::make_unique<sandbox::InProcessClient>(loop_, server_, "extender");
    components_ = std::make_unique<kube::Components>(loop_, *client_);
    auto live = std::make_unique<LiveCluster>(components_->informers(), LiveClusterOptions());
    live_ = live.get();
    components_->Add(std::move(live));
  }
  void Create(const api::Resource& resource, const std::string& body) {
    kube::Request request;
    request.method = "POST";
    request.path = api::PathOf(resource, resource.namespaced ? "default" : "");
    request.body = body;
    const kube::Response reply = server_.Handle(request, {"test"});
    ASSERT_TRUE(reply.ok()) << *reply.body;
  }
  // Three members of 9 cpu each, of one task.
  void AddGroup(const std::string& name) {
    Create(api::kPodGroups,
           absl::StrCat(
               R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":")", name,
               R"("},"spec":{"minMember":3,"minTaskMember":{"w":3},"queue":"default","minResources":{"cpu":"27"}}})"));
  }
  void Settle() { loop_.RunFor(absl::Seconds(1)); }

  SimulatedLoop loop_;
  sandbox::ApiServer server_;
  std::unique_ptr<sandbox::InProcessClient> client_;
  std::unique_ptr<kube::Components> components_;
  LiveCluster* live_ = nullptr;
};

TEST_F(LiveClusterTest, ThereIsNoPlanBeforeAllIsListed) {
  EXPECT_EQ(live_->Plan(), nullptr);
  EXPECT_FALSE(live_->up_to_date());
  components_->Start();
  Settle();
  EXPECT_TRUE(live_->up_to_date());
  ASSERT_NE(live_->Plan(), nullptr);
  EXPECT_EQ(live_->Plan()->nodes(), 4);
}

TEST_F(LiveClusterTest, WhatTheWatchShowsIsInTheNextPlan) {
  components_->Start();
  Settle();
  EXPECT_EQ(live_->Plan()->Find("default/ga"), nullptr);
  AddGroup("ga");
  AddGroup("gb");  // by sums there is room for both, and a node takes one member
  Settle();
  const auto plan = live_->Plan();
  EXPECT_EQ(plan->JobEnqueueable("default/ga"), Vote::kAbstain);
  EXPECT_EQ(plan->JobEnqueueable("default/gb"), Vote::kReject);
  EXPECT_EQ(live_->Plan(), plan);  // nothing happened since
  EXPECT_TRUE(live_->cluster().Audit().empty());
}

}  // namespace
}  // namespace gangway::extender
