#include "plugin/shadow/shadow_scheduler.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/runtime/components.h"
#include "sandbox/apiserver/api_server.h"
#include "sandbox/apiserver/in_process_client.h"

namespace gangway::shadow {
namespace {

using ::testing::HasSubstr;

// Whoever writes through it fails the test.
class ReadOnly final : public kube::Client {
 public:
  explicit ReadOnly(kube::Client& client) : client_(client) {}
  void Send(kube::Request request, Token owner, Done done) override {
    EXPECT_EQ(request.method, "GET") << request.path << " " << request.body;
    client_.Send(std::move(request), std::move(owner), std::move(done));
  }
  std::unique_ptr<kube::Watch> StartWatch(kube::Request request, Token owner, OnFrames on_frames,
                                          OnEnd on_end) override {
    return client_.StartWatch(std::move(request), std::move(owner), std::move(on_frames), std::move(on_end));
  }

 private:
  kube::Client& client_;
};

class ShadowSchedulerTest : public ::testing::Test {
 protected:
  explicit ShadowSchedulerTest(ShadowOptions options = {})
      : loop_(1), server_(loop_, {}), client_(loop_, server_, "shadow"), read_only_(client_) {
    for (int i = 0; i < 2; ++i) AddNode(absl::StrCat("node-", i), 16);
    components_ = std::make_unique<kube::Components>(loop_, read_only_);
    auto shadow =
        std::make_unique<ShadowScheduler>(components_->informers(), kube::ComponentOptions(), std::move(options));
    shadow_ = shadow.get();
    components_->Add(std::move(shadow));
    components_->Start();
    Pass(2);
  }

  void Post(const api::Resource& resource, const std::string& subresource, const std::string& body,
            const std::string& name = "") {
    Send("POST", resource, subresource, body, name);
  }
  void Send(const std::string& method, const api::Resource& resource, const std::string& subresource,
            const std::string& body, const std::string& name) {
    kube::Request request;
    request.method = method;
    if (method == "PATCH") request.content_type = "application/merge-patch+json";
    request.path = api::PathOf(resource, resource.namespaced ? "default" : "", name, subresource);
    request.body = body;
    const kube::Response reply = server_.Handle(request, {"test"});
    ASSERT_TRUE(reply.ok()) << *reply.body;
  }
  void AddNode(const std::string& name, int cpu) {
    Post(api::kNodes, "",
         absl::StrCat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")", name,
                      R"("},"status":{"allocatable":{"cpu":")", cpu, R"(","memory":"64Gi","pods":"110"}}})"));
  }
  // A gang of two pods of so many cpu each, whose pods are there.
  void AddGang(const std::string& name, int cpu, const std::string& queue = "default") {
    Post(api::kPodGroups, "",
         absl::StrCat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":")", name,
                      R"("},"spec":{"minMember":2,"queue":")", queue, R"(","minResources":{"cpu":")", 2 * cpu,
                      R"("}}})"));
    for (int i = 0; i < 2; ++i) {
      Post(
          api::kPods, "",
          absl::StrCat(
              R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name, "-", i,
              R"(","annotations":{"scheduling.k8s.io/group-name":")", name,
              R"("}},"spec":{"schedulerName":"volcano","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":")",
              cpu, R"("}}}]}})"));
    }
  }
  // As the other scheduler does.
  void Bind(const std::string& gang, const std::string& first, const std::string& second) {
    int i = 0;
    for (const std::string& node : {first, second}) {
      const std::string pod = absl::StrCat(gang, "-", i++);
      Post(api::kPods, "binding",
           absl::StrCat(R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":")", pod,
                        R"("},"target":{"kind":"Node","name":")", node, R"("}})"),
           pod);
    }
  }
  void Pass(int seconds) { loop_.RunFor(absl::Seconds(seconds)); }
  // Of the gangs called so, how many it would have placed.
  int Wished(const std::string& name, int gangs) const {
    int wished = 0;
    for (int i = 0; i < gangs; ++i) {
      const model::Cluster& cluster = shadow_->cluster();
      const model::TaskId task = cluster.FindTask("default", absl::StrCat(name, i, "-0"));
      wished += cluster.task(task).holds_room() ? 1 : 0;
    }
    return wished;
  }
  const Counts& counts() const { return shadow_->comparison().counts(); }

  SimulatedLoop loop_;
  sandbox::ApiServer server_;
  sandbox::InProcessClient client_;
  ReadOnly read_only_;
  std::unique_ptr<kube::Components> components_;
  ShadowScheduler* shadow_ = nullptr;
};

TEST_F(ShadowSchedulerTest, SaysWhatItWouldHavePlacedEarlierAndWritesNothing) {
  AddGang("a", 4);
  Pass(60);
  EXPECT_EQ(shadow_->comparison().ahead(), 1u);
  EXPECT_EQ(counts().compared, 0);
  Bind("a", "node-0", "node-1");
  Pass(5);
  EXPECT_EQ(counts().compared, 1);
  EXPECT_EQ(counts().earlier, 1);
  EXPECT_GE(counts().gained, absl::Seconds(57));
  EXPECT_EQ(counts().nodes_theirs, 2);
  EXPECT_EQ(counts().nodes_ours, 1) << "eight cpu find room on one";
  EXPECT_TRUE(shadow_->cluster().Audit().empty());
  EXPECT_THAT(components_->Dump(), HasSubstr(R"("shadow":{"since":)"));
}

TEST_F(ShadowSchedulerTest, WhatItWouldNotHavePlacedItTellsWithItsReason) {
  AddGang("large", 20);  // no node has so many, and the other does not mind
  Pass(60);
  EXPECT_EQ(shadow_->comparison().ahead(), 0u);
  Bind("large", "node-0", "node-1");
  Pass(5);
  EXPECT_EQ(counts().not_yet, 1);
  ASSERT_EQ(shadow_->comparison().disagreements().size(), 1u);
  EXPECT_THAT(shadow_->comparison().disagreements()[0].reason, HasSubstr("cpu"));
  EXPECT_EQ(shadow_->comparison().disagreements()[0].queue, "default");
}

TEST_F(ShadowSchedulerTest, TheSameAtTheSameTimeIsNoDisagreement) {
  AddGang("a", 4);
  Pass(2);
  Bind("a", "node-0", "node-0");
  Pass(2);
  EXPECT_EQ(counts().same, 1);
  EXPECT_TRUE(shadow_->comparison().disagreements().empty());
}

TEST_F(ShadowSchedulerTest, WhoIsPlacedBeforeItLooksIsPlacedAtTheSameTime) {
  AddGang("a", 4);
  loop_.RunFor(absl::Milliseconds(10));
  Bind("a", "node-0", "node-0");
  Pass(5);
  EXPECT_EQ(counts().compared, 1);
  EXPECT_EQ(counts().same, 1);
}

// What it wished for holds room, so that it does not wish for the same twice, but not for ever.
TEST_F(ShadowSchedulerTest, AWishHoldsRoomForAWhile) {
  AddGang("a", 12);
  Pass(2);
  AddGang("b", 12);
  Pass(60);
  EXPECT_EQ(shadow_->comparison().ahead(), 1u) << "a lies on both nodes, as far as we know";
  Bind("b", "node-0", "node-1");
  Pass(5);
  EXPECT_EQ(counts().not_yet, 1);
  EXPECT_TRUE(shadow_->cluster().Audit().empty());
}

// It keeps nodes for who waits, as a scheduler does, and gives them up when nobody there has ended for an hour: 4 cpu
// of each node are free.
TEST_F(ShadowSchedulerTest, NodesAreKeptForWhoWaits) {
  AddGang("runs", 12);
  Bind("runs", "node-0", "node-1");
  AddGang("big", 14);
  Pass(120);
  AddGang("small", 4);
  Pass(60);
  EXPECT_EQ(shadow_->comparison().ahead(), 0u);
  Pass(3600);
  EXPECT_EQ(shadow_->comparison().ahead(), 1u);
}

// `ads` had the whole cluster for three hours; then both want all of it.
class ShadowUseTest : public ShadowSchedulerTest {
 protected:
  explicit ShadowUseTest(absl::Duration half_life = absl::Hours(1)) : ShadowSchedulerTest(Counting(half_life)) {
    for (const char* queue : {"ads", "lab"}) {
      Post(api::kQueues, "",
           absl::StrCat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":")", queue,
                        R"("},"spec":{"weight":1}})"));
      Send("PATCH", api::kQueues, "status", R"({"status":{"state":"Open"}})", queue);
    }
    AddGang("first", 16, "ads");
    Bind("first", "node-0", "node-1");
    Pass(3 * 3600);
    for (int i = 0; i < 4; ++i) {
      for (const char* queue : {"ads", "lab"}) AddGang(absl::StrCat(queue, i), 4, queue);
    }
    Pass(5);
    Send("DELETE", api::kPodGroups, "", "", "first");
    for (const char* pod : {"first-0", "first-1"}) Send("DELETE", api::kPods, "", R"({"gracePeriodSeconds":0})", pod);
    Pass(5);
  }
  static ShadowOptions Counting(absl::Duration half_life) {
    ShadowOptions options;
    options.policy.preempt = options.policy.reclaim = false;
    if (half_life > absl::ZeroDuration()) options.policy.use_half_life = half_life;
    return options;
  }
};
TEST_F(ShadowUseTest, WhoUsedMuchOfLateGetsLess) {
  EXPECT_GE(Wished("lab", 4), 3) << "24 of the 25.6 cpu that it deserves; what is left is more than the others do";
}

class ShadowWithoutUseTest : public ShadowUseTest {
 protected:
  ShadowWithoutUseTest() : ShadowUseTest(absl::ZeroDuration()) {}
};
TEST_F(ShadowWithoutUseTest, BothGetHalf) {
  EXPECT_EQ(Wished("lab", 4), 2);
  EXPECT_EQ(Wished("ads", 4), 2);
}

}  // namespace
}  // namespace gangway::shadow
