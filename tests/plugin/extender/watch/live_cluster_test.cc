#include "plugin/extender/watch/live_cluster.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
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
  explicit LiveClusterTest(LiveClusterOptions options = {}) : loop_(1), server_(loop_, {}) {
    for (int i = 0; i < 4; ++i) {
      Create(api::kNodes, absl::StrCat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"node-)", i,
                                       R"("},"status":{"allocatable":{"cpu":"16","memory":"64Gi","pods":"110"}}})"));
    }
    client_ = std::make_unique<sandbox::InProcessClient>(loop_, server_, "extender");
    components_ = std::make_unique<kube::Components>(loop_, *client_);
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
  void Settle() { loop_.RunFor(absl::Seconds(1)); }
  // What is answered at once, or in the same moment.
  std::shared_ptr<const SessionPlan> Plan() {
    std::shared_ptr<const SessionPlan> got;
    live_->Ask([&](std::shared_ptr<const SessionPlan> plan, bool late) {
      EXPECT_FALSE(late);
      got = std::move(plan);
    });
    loop_.RunFor(absl::ZeroDuration());
    return got;
  }

  SimulatedLoop loop_;
  sandbox::ApiServer server_;
  std::unique_ptr<sandbox::InProcessClient> client_;
  std::unique_ptr<kube::Components> components_;
  LiveCluster* live_ = nullptr;
};

TEST_F(LiveClusterTest, ThereIsNoPlanBeforeAllIsListed) {
  EXPECT_EQ(Plan(), nullptr);
  EXPECT_FALSE(live_->up_to_date());
  components_->Start();
  Settle();
  EXPECT_TRUE(live_->up_to_date());
  ASSERT_NE(Plan(), nullptr);
  EXPECT_EQ(Plan()->nodes(), 4);
}

TEST_F(LiveClusterTest, WhatTheWatchShowsIsInTheNextPlan) {
  components_->Start();
  Settle();
  EXPECT_EQ(Plan()->Find("default/ga"), nullptr);
  AddGroup("ga");
  AddGroup("gb");  // by sums there is room for both, and a node takes one member
  Settle();
  const auto plan = Plan();
  EXPECT_EQ(plan->JobEnqueueable("default/ga"), Vote::kAbstain);
  EXPECT_EQ(plan->JobEnqueueable("default/gb"), Vote::kReject);
  EXPECT_EQ(Plan(), plan);  // nothing happened since
  EXPECT_TRUE(live_->cluster().Audit().empty());
}

TEST_F(LiveClusterTest, NewsOfAMomentAgoMakeNoPlan) {
  components_->Start();
  Settle();
  const auto plan = Plan();
  AddGroup("ga");
  loop_.RunFor(absl::Milliseconds(50));
  EXPECT_EQ(Plan(), plan);
  loop_.RunFor(absl::Milliseconds(100));
  EXPECT_NE(Plan()->Find("default/ga"), nullptr);
}

using Work = absl::AnyInvocable<void()>;
struct HeldWork {
  std::vector<Work> work_;
};

// The plan is made when the test says so.
class HeldPlanTest : protected HeldWork, public LiveClusterTest {
 protected:
  HeldPlanTest() : LiveClusterTest(Held(work_)) {
    components_->Start();
    Settle();
  }
  static LiveClusterOptions Held(std::vector<Work>& work) {
    LiveClusterOptions options;
    options.run = [&work](Work plan) { work.push_back(std::move(plan)); };
    return options;
  }
  struct Told {
    int times = 0;
    bool late = false;
    std::shared_ptr<const SessionPlan> plan;
  };
  std::shared_ptr<Told> Ask() {
    auto told = std::make_shared<Told>();
    live_->Ask([told](std::shared_ptr<const SessionPlan> plan, bool late) {
      *told = {told->times + 1, late, std::move(plan)};
    });
    return told;
  }
  void MakeThePlan() {
    ASSERT_EQ(work_.size(), 1u);
    std::exchange(work_, {})[0]();
    loop_.RunFor(absl::ZeroDuration());
  }
};

TEST_F(HeldPlanTest, WhoAsksWaitsForThePlanThatIsBeingMade) {
  const auto first = Ask();
  loop_.RunFor(absl::Milliseconds(600));
  const auto second = Ask();
  EXPECT_EQ(first->times + second->times, 0);
  MakeThePlan();
  EXPECT_EQ(first->times, 1);
  EXPECT_EQ(second->times, 1);
  EXPECT_FALSE(first->late);
  ASSERT_NE(first->plan, nullptr);
  EXPECT_EQ(first->plan, second->plan);
  loop_.RunFor(absl::Seconds(5));
  EXPECT_EQ(first->times, 1) << "the budget is over, and was not needed";
}

// The first plan of all has none before it; a later one has, until that is too old.
TEST_F(HeldPlanTest, ThePlanOfBeforeAnswersOnceTheBudgetIsOver) {
  const auto first = Ask();
  loop_.RunFor(absl::Milliseconds(701));
  EXPECT_EQ(first->times, 1);
  EXPECT_TRUE(first->late);
  EXPECT_EQ(first->plan, nullptr);
  const auto meanwhile = Ask();
  EXPECT_EQ(meanwhile->times, 1) << "who comes then does not wait for as long again";
  EXPECT_TRUE(meanwhile->late);
  MakeThePlan();
  const std::shared_ptr<const SessionPlan> made = live_->last();
  ASSERT_NE(made, nullptr);

  AddGroup("ga");
  Settle();
  const auto again = Ask();
  EXPECT_EQ(again->times, 0);
  loop_.RunFor(absl::Milliseconds(701));
  EXPECT_TRUE(again->late);
  EXPECT_EQ(again->plan, made);
  loop_.RunFor(LiveCluster::kLastFor);
  const auto old = Ask();
  EXPECT_TRUE(old->late);
  EXPECT_EQ(old->plan, nullptr);
  MakeThePlan();
  const auto after = Ask();
  EXPECT_EQ(after->times, 1);
  EXPECT_FALSE(after->late);
  EXPECT_NE(after->plan->Find("default/ga"), nullptr);
}

// Whoever makes the plan has the cluster: what the watch shows is taken in afterwards, and makes the next plan.
TEST_F(HeldPlanTest, WhatIsShownMeanwhileIsInTheNextPlan) {
  const auto first = Ask();
  const std::uint64_t version = live_->cluster().version();
  AddGroup("ga");
  AddGroup("gb");
  Settle();
  EXPECT_EQ(live_->cluster().version(), version);
  MakeThePlan();
  EXPECT_EQ(live_->last()->Find("default/ga"), nullptr);
  const auto second = Ask();
  MakeThePlan();
  EXPECT_EQ(second->plan->JobEnqueueable("default/ga"), Vote::kAbstain);
  EXPECT_EQ(second->plan->JobEnqueueable("default/gb"), Vote::kReject);
  EXPECT_TRUE(live_->cluster().Audit().empty());
}

TEST_F(HeldPlanTest, AClusterThatEndsMeanwhileIsNotTold) {
  const auto asked = Ask();
  std::exchange(work_, {})[0]();  // as a pool does that ends
  components_.reset();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(asked->times, 0);
}

class LiveQuotaTest : public LiveClusterTest {
 protected:
  LiveQuotaTest() : LiveClusterTest(ByQuotas()) {}
  static LiveClusterOptions ByQuotas() {
    LiveClusterOptions options;
    options.plan.policy.admit_by_quotas = true;
    options.plan.whole_gangs = false;  // members that are thought to be there ask for nothing more
    return options;
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
};
// What PodGroups ask of quotas is wanted from their namespace's first quota on, whichever came first.
TEST_F(LiveQuotaTest, OneThatComesLaterKeepsGangsOut) {
  AddGroup("before");
  components_->Start();
  Settle();
  EXPECT_EQ(Plan()->JobEnqueueable("default/before"), Vote::kAbstain);
  AddQuota(20);
  Settle();
  EXPECT_EQ(Plan()->JobEnqueueable("default/before"), Vote::kReject) << "27 cpu are more than 20";
}
TEST_F(LiveQuotaTest, OneThatWasThereKeepsGangsOut) {
  AddQuota(20);
  AddGroup("after");
  components_->Start();
  Settle();
  EXPECT_EQ(Plan()->JobEnqueueable("default/after"), Vote::kReject);
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
