// In the whole embedded cluster: the pods of a ReplicaSet run as a gang, and examples/jobflow-volcano.yaml runs to
// Succeed, whoever is stopped at whatever moment.
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/manifest/manifest.h"
#include "api/resource.h"
#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/cluster/cluster.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WorkloadsTest : public ::testing::Test {
 protected:
  explicit WorkloadsTest(std::uint64_t seed = 1) : loop_(seed) {
    ClusterOptions options;
    options.kubelets.nodes = MakeNodes({*ParseNodeShape("")}, 2);
    options.budgets = true;
    cluster_ = std::make_unique<Cluster>(loop_, std::move(options));
    cluster_->Start();
    Run();
  }
  void Run(absl::Duration time = absl::Seconds(2)) { loop_.RunFor(time); }
  kube::Response Ask(const std::string& method, const std::string& path, const std::string& body = "") {
    kube::Request request;
    request.method = method;
    request.path = path;
    request.body = body;
    return cluster_->api_server().Handle(request, {"test"});
  }
  void Create(const api::Resource& resource, const std::string& body) {
    const kube::Response reply = Ask("POST", api::PathOf(resource, "default"), body);
    ASSERT_TRUE(reply.ok()) << *reply.body;
  }
  std::string At(const api::Resource& resource, const std::string& name, const char* pointer) {
    const kube::Response reply = Ask("GET", api::PathOf(resource, "default", name));
    if (!reply.ok()) return "absent";
    const json::value object = *api::ParseJson(*reply.body);
    boost::system::error_code error;
    const json::value* at = object.find_pointer(pointer, error);
    return at == nullptr ? "" : at->is_string() ? std::string(at->as_string()) : api::ToJson(*at);
  }
  std::vector<std::string> Names(const api::Resource& resource) {
    std::vector<std::string> names;
    const json::value list = *api::ParseJson(*Ask("GET", api::PathOf(resource, "default")).body);
    for (const json::value& item : list.at("items").as_array())
      names.push_back(std::string(item.at("metadata").at("name").as_string()));
    return names;
  }
  int Placed() {
    int placed = 0;
    for (const std::string& pod : Names(api::kPods)) placed += At(api::kPods, pod, "/spec/nodeName").empty() ? 0 : 1;
    return placed;
  }
  void ApplyFile(const std::string& path) {
    std::ifstream in(absl::StrCat(GW_SOURCE_DIR, "/", path), std::ios::binary);
    const auto documents = api::ReadManifest(std::string(std::istreambuf_iterator<char>(in), {}), path);
    ASSERT_TRUE(documents.ok()) << documents.status();
    for (const api::ManifestDocument& document : *documents)
      Create(*api::FindKind(document.api_version, document.kind), document.json);
  }
  bool Until(const std::function<bool()>& done, absl::Duration time = absl::Minutes(2)) {
    return loop_.RunUntil(done, loop_.Now() + time);
  }

  SimulatedLoop loop_;
  std::unique_ptr<Cluster> cluster_;
};

TEST_F(WorkloadsTest, TheFirstThreePodsOfADeploymentStartTogether) {
  // As the Deployment's controller would make it: annotations come along.
  Create(
      api::kReplicaSets,
      R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"servers","annotations":{"scheduling.volcano.sh/group-min-member":"3"}},
    "spec":{"replicas":4,"selector":{"matchLabels":{"app":"s"}},"template":{"metadata":{"labels":{"app":"s"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  const std::string uid = At(api::kReplicaSets, "servers", "/metadata/uid");
  const auto add = [&](const std::string& name) {
    Create(
        api::kPods,
        absl::StrCat(
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name,
            R"(","labels":{"app":"s"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"servers","controller":true,"uid":")",
            uid,
            R"("}]},"spec":{"schedulerName":"volcano","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"6"}}}]}})"));
  };
  add("servers-a");
  add("servers-b");
  Run(absl::Seconds(10));
  EXPECT_EQ(Placed(), 0) << "two of three: none starts";
  add("servers-c");
  Run(absl::Seconds(10));
  EXPECT_EQ(Placed(), 3);
  EXPECT_EQ(At(api::kPodGroups, absl::StrCat("podgroup-", uid), "/status/phase"), "Running");
  const json::value queue = *api::ParseJson(*Ask("GET", api::PathOf(api::kQueues, "", "default")).body);
  EXPECT_EQ(queue.at("status").at("allocated").at("cpu").as_string(), "18");
}

// Of a gang of three that run two must stay: the scheduler evicts nobody of it for a higher priority, and all when the
// budget is gone.
TEST_F(WorkloadsTest, ABudgetIsCountedAndTheSchedulerHoldsIt) {
  for (const auto& [name, value] : {std::pair("low", 10), std::pair("high", 100)}) {
    Ask("POST", api::PathOf(api::kPriorityClasses, ""),
        absl::StrCat(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":")", name,
                     R"("},"value":)", value, "}"));
  }
  const auto add = [&](const std::string& name, int members, int cpu) {
    Create(
        api::kJobs,
        absl::StrCat(
            R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":")", name,
            R"("},"spec":{"minAvailable":)", members, R"(,"schedulerName":"volcano","priorityClassName":")", name,
            R"(","tasks":[{"name":"w","replicas":)", members, R"(,"template":{"metadata":{"labels":{"app":")", name,
            R"("}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":")",
            cpu, R"("}}}]}}}]}})"));
  };
  add("low", 3, 8);
  ASSERT_TRUE(Until([&] { return At(api::kJobs, "low", "/status/running") == "3"; }));
  Create(
      api::kPodDisruptionBudgets,
      R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b"},"spec":{"minAvailable":2,"selector":{"matchLabels":{"app":"low"}}}})");
  Run();
  const auto said = [&](const char* what) {
    return At(api::kPodDisruptionBudgets, "b", absl::StrCat("/status/", what).c_str());
  };
  EXPECT_EQ(said("expectedPods"), "3");
  EXPECT_EQ(said("currentHealthy"), "3");
  EXPECT_EQ(said("desiredHealthy"), "2");
  EXPECT_EQ(said("disruptionsAllowed"), "1");
  EXPECT_EQ(said("conditions/0/reason"), "SufficientPods");
  add("high", 2, 16);
  Run(absl::Minutes(2));
  EXPECT_EQ(At(api::kJobs, "low", "/status/running"), "3") << "one pod may go, and the gang has three";
  Ask("DELETE", api::PathOf(api::kPodDisruptionBudgets, "default", "b"));
  EXPECT_TRUE(Until([&] { return At(api::kJobs, "high", "/status/running") == "2"; }));
}

void ExpectSucceeded(const json::value& flow) {
  const json::value& status = flow.at("status");
  EXPECT_EQ(status.at("state").at("phase").as_string(), "Succeed");
  EXPECT_EQ(api::ToJson(status.at("completedJobs")),
            R"(["pipeline-prepare","pipeline-train-small","pipeline-train-large","pipeline-choose"])");
}

TEST_F(WorkloadsTest, TheExampleOfAJobFlowRunsToSucceed) {
  ApplyFile("examples/jobflow-volcano.yaml");
  Run(absl::Seconds(1));
  EXPECT_THAT(Names(api::kJobs), ElementsAre("pipeline-prepare"));
  EXPECT_EQ(At(api::kJobFlows, "pipeline", "/status/state/phase"), "Running");
  ASSERT_TRUE(Until([&] { return Names(api::kJobs).size() == 3; }));
  EXPECT_EQ(At(api::kJobs, "pipeline-prepare", "/status/state/phase"), "Completed");
  EXPECT_EQ(At(api::kJobs, "pipeline-train-large", "/spec/tasks/0/replicas"), "4") << "patched";
  EXPECT_EQ(At(api::kJobs, "pipeline-train-large", "/spec/maxRetry"), "5");
  ASSERT_TRUE(Until([&] { return At(api::kJobFlows, "pipeline", "/status/state/phase") == "Succeed"; }));
  ExpectSucceeded(*api::ParseJson(*Ask("GET", api::PathOf(api::kJobFlows, "default", "pipeline")).body));
  EXPECT_THAT(Names(api::kJobs),
              ElementsAre("pipeline-choose", "pipeline-prepare", "pipeline-train-large", "pipeline-train-small"));
  EXPECT_EQ(At(api::kJobTemplates, "choose", "/status/jobDependsOnList"), R"(["pipeline-choose"])");
  Run(absl::Seconds(10));
  const std::string version = At(api::kJobFlows, "pipeline", "/metadata/resourceVersion");
  Run(absl::Minutes(10));
  EXPECT_EQ(At(api::kJobFlows, "pipeline", "/metadata/resourceVersion"), version);
}

TEST_F(WorkloadsTest, DeletingAFlowTakesItsJobsAlong) {
  ApplyFile("examples/jobflow-volcano.yaml");
  Run(absl::Seconds(1));
  Ask("DELETE", api::PathOf(api::kJobFlows, "default", "pipeline"));
  Run(absl::Seconds(30));
  EXPECT_THAT(Names(api::kJobs), IsEmpty());
}

// The controllers crash every so often, at other moments with each seed.
class CrashingTest : public WorkloadsTest, public ::testing::WithParamInterface<int> {
 protected:
  CrashingTest() : WorkloadsTest(static_cast<std::uint64_t>(GetParam())) {}
};
TEST_P(CrashingTest, TheFlowSucceedsAndEachJobWasMadeOnce) {
  ApplyFile("examples/jobflow-volcano.yaml");
  const absl::Duration step = absl::Milliseconds(7 + 11 * GetParam());
  for (int i = 0; i < 400 && At(api::kJobFlows, "pipeline", "/status/state/phase") != "Succeed"; ++i) {
    Run(step);
    cluster_->Stop(Component::kControllers);
    Run(step / 7);
    cluster_->Start(Component::kControllers);
    Run(step);
  }
  ASSERT_TRUE(Until([&] { return At(api::kJobFlows, "pipeline", "/status/state/phase") == "Succeed"; }));
  ExpectSucceeded(*api::ParseJson(*Ask("GET", api::PathOf(api::kJobFlows, "default", "pipeline")).body));
  for (const std::string& job : Names(api::kJobs))
    EXPECT_EQ(At(api::kJobs, job, "/status/state/phase"), "Completed") << job;
  EXPECT_EQ(Names(api::kJobs).size(), 4u);
}
INSTANTIATE_TEST_SUITE_P(Seeds, CrashingTest, ::testing::Range(1, 9));

}  // namespace
}  // namespace gangway::sandbox
