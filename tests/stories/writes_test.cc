// What a Job costs the API server: the controllers' writes over its life.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/resource.h"
#include "base/check.h"
#include "base/simulated_loop.h"
#include "gtest/gtest.h"
#include "sandbox/cluster/cluster.h"

namespace gangway::sandbox {
namespace {

struct Writes {
  int created = 0, deleted = 0, others = 0;  // events are others
  std::map<std::string, int> by_what;        // of the others
};

struct Life {
  int pods, restarts;
};

class WritesTest : public ::testing::TestWithParam<Life> {
 protected:
  WritesTest() {
    ClusterOptions options;
    options.kubelets.nodes = MakeNodes({*ParseNodeShape("")}, 20);
    options.kubelets.behaviour = *Behaviour::Parse({"trainer=60s"}, Failures());
    options.api_server.journal = [this](const JournalRecord& record) { Tell(record); };
    cluster_ = std::make_unique<Cluster>(loop_, std::move(options));
    user_ = cluster_->NewClient("user");
    cluster_->Start();
    loop_.RunFor(absl::Seconds(1));
    writes_ = {};
  }

  static std::vector<std::string> Failures() {
    if (GetParam().restarts == 0) return {};
    return {absl::StrCat("trainer-1=30s:137x", GetParam().restarts)};
  }

  void Tell(const JournalRecord& record) {
    if (record.client != ClientName(Component::kControllers)) return;
    if (record.verb == "create" && record.resource != &api::kEvents) {
      ++writes_.created;
    } else if (record.verb == "delete") {
      ++writes_.deleted;
    } else {
      ++writes_.others;
      ++writes_.by_what[absl::StrCat(record.verb, " ", std::string(record.resource->plural), "/", record.subresource)];
    }
  }

  // Half of its pods are servers; a trainer that fails restarts it.
  void Apply(int pods) {
    const std::string pod =
        R"({"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}})";
    const std::string job = absl::StrCat(
        R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"ctr"},"spec":{"schedulerName":"volcano","minAvailable":)",
        pods,
        R"(,"policies":[{"event":"PodFailed","action":"RestartJob"}],"plugins":{"env":[],"svc":[]},"tasks":[{"name":"pserver","replicas":)",
        pods / 2, R"(,"template":)", pod, R"(},{"name":"trainer","replicas":)", pods - pods / 2,
        R"(,"policies":[{"event":"TaskCompleted","action":"CompleteJob"}],"template":)", pod, "}]}}");
    user_->Send({"POST", api::PathOf(api::kJobs, "default"), "", "application/json", "", job}, owner_.token(),
                [](const absl::StatusOr<kube::Response>& reply) { GW_CHECK(reply.ok() && reply->ok()); });
  }
  bool Is(absl::string_view phase) {
    const kube::Response reply =
        cluster_->api_server().Handle({"GET", api::PathOf(api::kJobs, "default", "ctr"), "", "", "", ""}, {"test"});
    return absl::StrContains(*reply.body, absl::StrCat(R"("phase":")", phase, "\""));
  }

  SimulatedLoop loop_{1};
  Writes writes_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<kube::Client> user_;
  Owner owner_;
};

// PodGroup, Service, ConfigMap, NetworkPolicy and the pods, made and removed; what status and events say on the way is
// bounded for each incarnation.
TEST_P(WritesTest, AreBoundedAndNoneWhenNothingHappens) {
  const int incarnations = GetParam().restarts + 1;
  Apply(GetParam().pods);
  ASSERT_TRUE(loop_.RunUntil([&] { return Is("Completed"); }, loop_.Now() + absl::Minutes(10)));
  loop_.RunFor(absl::Minutes(1));
  std::string others;
  for (const auto& [what, count] : writes_.by_what) absl::StrAppend(&others, what, " ", count, "\n");
  EXPECT_EQ(writes_.created, incarnations * (GetParam().pods + 1) + 3);
  EXPECT_LE(writes_.deleted, writes_.created);
  EXPECT_LE(writes_.others, incarnations * 12) << others;
  writes_ = {};
  loop_.RunFor(absl::Hours(2));
  EXPECT_EQ(writes_.created + writes_.deleted + writes_.others, 0);
}

INSTANTIATE_TEST_SUITE_P(Pods, WritesTest, ::testing::Values(Life{4, 0}, Life{4, 1}, Life{300, 0}));

}  // namespace
}  // namespace gangway::sandbox
