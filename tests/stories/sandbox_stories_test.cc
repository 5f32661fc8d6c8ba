// Every story in the embedded cluster, with simulated time: it goes the way that a real cluster with Volcano was
// recorded to go, but for the differences that the story names.
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "base/check.h"
#include "base/simulated_loop.h"
#include "gtest/gtest.h"
#include "sandbox/cluster/cluster.h"
#include "tests/stories/story.h"

namespace gangway::testutil {
namespace {

class SimulatedWorld final : public World {
 public:
  SimulatedWorld() {
    sandbox::ClusterOptions options;
    options.kubelets.nodes = sandbox::MakeNodes({*sandbox::ParseNodeShape("")}, 6);
    options.kubelets.times.start = absl::Milliseconds(400);
    options.kubelets.times.stop = absl::Seconds(1);
    options.api_server.journal = [this](const sandbox::JournalRecord& record) { phases_.Tell(record); };
    cluster_ = std::make_unique<sandbox::Cluster>(loop_, std::move(options));
    user_ = cluster_->NewClient("user");
    cluster_->Start();
    loop_.RunFor(absl::Seconds(1));
    // Where the stories were recorded nobody looked at claims; here the pods wait until theirs are bound.
    Call("POST", "/apis/storage.k8s.io/v1/storageclasses",
         R"({"metadata":{"name":"manual"},"provisioner":"sandbox.gangway.io/volumes"})", "application/json");
  }

  kube::Response Call(const std::string& method, const std::string& path, const std::string& body,
                      const std::string& content_type) override {
    std::optional<kube::Response> answer;
    user_->Send({method, path, "", content_type, "", body}, owner_.token(), [&](absl::StatusOr<kube::Response> reply) {
      GW_CHECK(reply.ok());
      answer = *std::move(reply);
    });
    GW_CHECK(loop_.RunUntil([&] { return answer.has_value(); }, loop_.Now() + absl::Seconds(10)));
    return *std::move(answer);
  }
  bool Eventually(const std::function<bool()>& condition) override {
    const absl::Time until = loop_.Now() + absl::Minutes(1);
    while (!condition()) {
      if (loop_.Now() > until) return false;
      loop_.RunFor(absl::Milliseconds(100));
    }
    return true;
  }
  void EndPod(const std::string& ns, const std::string& pod, int exit_code) override {
    const auto seen = api::ParseJson(*Call("GET", api::PathOf(api::kPods, ns, pod), "", "").body);
    GW_CHECK(seen.ok());
    if (!seen->as_object().contains("spec")) {
      ADD_FAILURE() << api::ToJson(*seen);
      return;
    }
    boost::json::array statuses;
    for (const auto& container : seen->at("spec").at("containers").as_array()) {
      statuses.push_back({{"name", container.at("name")},
                          {"ready", false},
                          {"restartCount", 0},
                          {"image", "i"},
                          {"imageID", "i"},
                          {"state", {{"terminated", {{"exitCode", exit_code}}}}}});
    }
    const boost::json::value body = {
        {"status", {{"phase", exit_code == 0 ? "Succeeded" : "Failed"}, {"containerStatuses", statuses}}}};
    const kube::Response reply =
        Call("PATCH", api::PathOf(api::kPods, ns, pod, "status"), api::ToJson(body), "application/merge-patch+json");
    EXPECT_TRUE(reply.ok()) << *reply.body;
  }
  // These kubelets know of no annotation for it: they start later.
  void Hold() override { cluster_->Stop(sandbox::Component::kKubelets); }
  void Release(const std::string&, const std::string&) override {
    if (!cluster_->running(sandbox::Component::kKubelets)) cluster_->Start(sandbox::Component::kKubelets);
  }
  void AddNodes(int count) override {
    for (int i = 0; i < count; ++i) {
      const sandbox::SimulatedNode node{absl::StrCat("more-", i), *sandbox::ParseNodeShape("")};
      EXPECT_EQ(
          Call("POST", api::PathOf(api::kNodes, ""), sandbox::NodeBody(node, loop_.Now()), "application/json").code,
          201);
    }
  }
  bool prompt() const override { return true; }
  Phases PhasesOf(const std::string&) override { return phases_; }

 private:
  // The order of what happens at the same time comes from the seed.
  static std::uint64_t Seed() {
    const char* const given = std::getenv("GW_SIMULATION_SEED");
    std::uint64_t seed = 1;
    if (given != nullptr) GW_CHECK(absl::SimpleAtoi(given, &seed));
    return seed;
  }

  SimulatedLoop loop_{Seed()};
  Phases phases_;
  std::unique_ptr<sandbox::Cluster> cluster_;
  std::unique_ptr<kube::Client> user_;
  Owner owner_;
};

class SandboxStoriesTest : public ::testing::TestWithParam<std::size_t> {};

TEST_P(SandboxStoriesTest, Goes) {
  SimulatedWorld world;
  const Story& story = AllStories()[GetParam()];
  EXPECT_EQ(Play(story, world, "s-" + story.name), "");
}

INSTANTIATE_TEST_SUITE_P(Sandbox, SandboxStoriesTest, ::testing::Range(std::size_t{0}, AllStories().size()),
                         [](const auto& each) { return TestNameOf(AllStories()[each.param]); });

}  // namespace
}  // namespace gangway::testutil
