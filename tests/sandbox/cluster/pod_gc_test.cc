// What becomes of the pods of a node that the kubelets' cache misses: gone with the node, kept when only the cache does
// not know it.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/simulated_loop.h"
#include "gtest/gtest.h"
#include "sandbox/cluster/cluster.h"

namespace gangway::sandbox {
namespace {

constexpr absl::string_view kPod =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"nodeName":"node-000","containers":[{"name":"main","image":"i"}]}})";

class PodGcTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    log::Options options;
    options.level = log::Level::kOff;
    log::Configure(std::move(options));
  }
  PodGcTest() {
    ClusterOptions options;
    options.kubelets.nodes = MakeNodes({*ParseNodeShape("cpu=4")}, 1);
    options.faults = [this](Component) {
      Faults faults;
      faults.frames = [this](const kube::Request& watch, const std::vector<kube::Frame>&) {
        WatchFate fate;
        if (!misses_nodes_ || watch.path != "/api/v1/nodes") return fate;
        fate.place = WatchFate::Place::kNever;
        fate.found_out_after = absl::Minutes(1);
        return fate;
      };
      // Else the answer to the creation would tell.
      faults.request = [this](const kube::Request& request) {
        RequestFate fate;
        if (misses_nodes_ && request.method == "POST" && request.path == "/api/v1/nodes")
          fate.loss = RequestFate::Loss::kReply, fate.reply_delay = absl::Minutes(1);
        return fate;
      };
      return faults;
    };
    cluster_ = std::make_unique<Cluster>(loop_, std::move(options));
    user_ = cluster_->NewClient("user");
  }
  void Start() {
    cluster_->Start(Component::kKubelets);
    loop_.RunFor(absl::Seconds(1));
    Send("POST", "/api/v1/namespaces/default/pods", kPod);
    loop_.RunFor(absl::Seconds(30));
  }
  void Send(std::string method, std::string path, absl::string_view body = "") {
    user_->Send({std::move(method), std::move(path), "", "application/json", "", std::string(body)}, owner_.token(),
                [](absl::StatusOr<kube::Response> reply) { EXPECT_TRUE(reply.ok() && reply->ok()); });
  }
  bool There() const { return cluster_->api_server().store().Find(api::kPods, {"default", "a"}) != nullptr; }

  bool misses_nodes_ = false;
  SimulatedLoop loop_{1};
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<kube::Client> user_;
  Owner owner_;
};

TEST_F(PodGcTest, PodsGoWithTheirNode) {
  Start();
  EXPECT_TRUE(There());
  Send("DELETE", "/api/v1/nodes/node-000");
  loop_.RunFor(absl::Seconds(10));
  EXPECT_FALSE(There());
}

TEST_F(PodGcTest, PodsOfANodeThatOnlyTheCacheMissesStay) {
  misses_nodes_ = true;
  Start();
  EXPECT_TRUE(There());
  Send("DELETE", "/api/v1/nodes/node-000");
  loop_.RunFor(absl::Seconds(20));
  EXPECT_FALSE(There()) << "it is asked for again";
}

}  // namespace
}  // namespace gangway::sandbox
