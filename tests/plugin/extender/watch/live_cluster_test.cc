#include "plugin/extender/watch/live_cluster.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "api/resource.h"
#include "api/volcano/hyper_node.h"
#include "base/simulated_loop.h"
#include "gtest/gtest.h"
#include "kube/runtime/components.h"
#include "plugin/extender/watch/hyper_node_watch.h"
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
    LiveClusterOptions options;
    options.plan.policy.admit_by_quotas = true;
    auto live = std::make_unique<LiveCluster>(components_->informers(), std::move(options));
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
  void AddQuota(int cpu) {
    Create(
        api::kResourceQuotas,
        absl::StrCat(R"({"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"team"},"spec":{"hard":{"cpu":")",
                     cpu, R"("}}})"));
    kube::Request request;
    request.method = "PATCH";
    request.path = api::PathOf(api::kResourceQuotas, "default", "team", "status");
    request.content_type = "application/merge-patch+json";
    request.body = absl::StrCat(R"({"status":{"hard":{"cpu":")", cpu, R"("},"used":{"cpu":"0"}}})");
    ASSERT_TRUE(server_.Handle(request, {"test"}).ok());
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

TEST_F(LiveClusterTest, NewsOfAMomentAgoMakeNoPlan) {
  components_->Start();
  Settle();
  const auto plan = live_->Plan();
  AddGroup("ga");
  loop_.RunFor(absl::Milliseconds(50));
  EXPECT_EQ(live_->Plan(), plan);
  loop_.RunFor(absl::Milliseconds(100));
  EXPECT_NE(live_->Plan()->Find("default/ga"), nullptr);
}

// What PodGroups ask of quotas is wanted from their namespace's first quota on, whichever came first.
TEST_F(LiveClusterTest, AQuotaThatIsFullKeepsGangsOut) {
  AddGroup("before");
  components_->Start();
  Settle();
  EXPECT_EQ(live_->Plan()->JobEnqueueable("default/before"), Vote::kAbstain);
  AddQuota(20);
  Settle();
  EXPECT_EQ(live_->Plan()->JobEnqueueable("default/before"), Vote::kReject) << "27 cpu are more than 20";
}
TEST_F(LiveClusterTest, AQuotaThatWasThereKeepsGangsOut) {
  AddQuota(20);
  AddGroup("after");
  components_->Start();
  Settle();
  EXPECT_EQ(live_->Plan()->JobEnqueueable("default/after"), Vote::kReject);
}

TEST_F(LiveClusterTest, HyperNodesAreFollowedForThoseWhoSendSessions) {
  auto watch = std::make_unique<HyperNodeWatch>(components_->informers());
  const HyperNodeWatch& seen = *watch;
  components_->Add(std::move(watch));
  components_->Start();
  Settle();
  EXPECT_TRUE(seen.HyperNodes().empty());
  for (const char* name : {"rack-b", "rack-a"}) {
    Create(api::volcano::kHyperNodes,
           absl::StrCat(
               R"({"apiVersion":"topology.volcano.sh/v1alpha1","kind":"HyperNode","metadata":{"name":")", name,
               R"("},"spec":{"tier":1,"members":[{"type":"Node","selector":{"exactMatch":{"name":"node-0"}}}]}})"));
  }
  Settle();
  const std::vector<model::HyperNodeFacts> known = seen.HyperNodes();
  ASSERT_EQ(known.size(), 2u);
  EXPECT_EQ(known[0].name, "rack-a");
  EXPECT_EQ(known[0].members.size(), 1u);
  kube::Request request;
  request.method = "DELETE";
  request.path = api::PathOf(api::volcano::kHyperNodes, "", "rack-a");
  ASSERT_TRUE(server_.Handle(request, {"test"}).ok());
  Settle();
  ASSERT_EQ(seen.HyperNodes().size(), 1u);
  EXPECT_EQ(seen.HyperNodes()[0].name, "rack-b");
}

}  // namespace
}  // namespace gangway::extender
