// Jobs with plugins, run by the whole embedded cluster.
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "api/resource.h"
#include "base/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sandbox/cluster/cluster_fixture.h"
#include "tests/testing/files.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;
using ::testing::IsEmpty;

class JobPluginsTest : public ClusterTest {
 protected:
  // `finish`: "trainer=5s", as gangway sandbox --finish takes it.
  void Start(const std::string& finish) {
    ClusterOptions options;
    options.kubelets.nodes = MakeNodes({*ParseNodeShape("")}, 6);
    options.kubelets.behaviour = *Behaviour::Parse({finish}, {});
    StartWith(std::move(options));
  }
  void Apply(const std::string& yaml) {
    const auto documents = api::ReadManifest(yaml, "test");
    GW_CHECK(documents.ok());
    const kube::Response reply = Ask("POST", api::PathOf(api::kJobs, "default"), documents->front().json);
    ASSERT_TRUE(reply.ok()) << *reply.body;
  }
  json::value Get(const api::Resource& resource, const std::string& name) {
    return *api::ParseJson(*Ask("GET", api::PathOf(resource, "default", name)).body);
  }
  std::string Phase(const std::string& job) {
    const json::value found = Get(api::kJobs, job);
    return json::value_to<std::string>(found.at("status").at("state").at("phase"));
  }
  // What a container of the pod sees, as the kubelet resolves it.
  std::map<std::string, std::string> EnvOf(const std::string& name) {
    const json::value pod = Get(api::kPods, name);
    std::map<std::string, std::string> env;
    for (const json::value& one : pod.at("spec").at("containers").at(0).at("env").as_array()) {
      std::string value;
      if (const json::value* const text = one.as_object().if_contains("value")) {
        value = json::value_to<std::string>(*text);
        for (const auto& [earlier, its] : env)
          value = absl::StrReplaceAll(value, {{absl::StrCat("$(", earlier, ")"), its}});
      } else if (const json::value* const field = one.at("valueFrom").as_object().if_contains("fieldRef")) {
        const std::string path = json::value_to<std::string>(field->at("fieldPath"));
        value = path == "metadata.name"
                    ? name
                    : json::value_to<std::string>(pod.at("metadata").at("labels").at("volcano.sh/task-index"));
      }
      env[json::value_to<std::string>(one.at("name"))] = value;
    }
    return env;
  }
};

// Its environment is the one that real Paddle was run with (tests/golden/paddle/ctr-*.env, port 30236).
TEST_F(JobPluginsTest, TheCtrExampleOfThePaddlePluginIsToldWhatPaddleReadsAndCompletes) {
  Start("trainer=5s");
  Apply(absl::StrReplaceAll(testutil::ReadFile(GW_SOURCE_DIR "/examples/ctr-paddle-plugin.yaml"),
                            {{"name: ctr-paddle-plugin", "name: ctr-volcano"}}));
  loop_.RunFor(absl::Seconds(4));
  EXPECT_EQ(Phase("ctr-volcano"), "Running");
  for (const char* const pod : {"pserver-0", "pserver-1", "trainer-0", "trainer-1"}) {
    const std::map<std::string, std::string> env = EnvOf(absl::StrCat("ctr-volcano-", pod));
    std::vector<std::string> missing;
    int compared = 0;
    for (const absl::string_view line :
         absl::StrSplit(testutil::ReadFile(absl::StrCat(GW_SOURCE_DIR "/tests/golden/paddle/ctr-", pod, ".env")), '\n',
                        absl::SkipEmpty())) {
      const std::pair<std::string, std::string> recorded = absl::StrSplit(line, absl::MaxSplits('=', 1));
      // The name of the old launcher for the job, and a count that nothing in Paddle reads.
      if (recorded.first == "PADDLE_JOB_NAME" || recorded.first == "PADDLE_PSERVERS_NUM") continue;
      ++compared;
      const auto found = env.find(recorded.first);
      if (found == env.end() || found->second != recorded.second) missing.emplace_back(line);
    }
    EXPECT_THAT(missing, IsEmpty()) << pod;
    EXPECT_GE(compared, 8) << pod;
  }
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Phase("ctr-volcano"), "Completed");
}

TEST_F(JobPluginsTest, MpiRunsWithKeysOfItsOwnAndLeavesNone) {
  Start("master=5s");
  Apply(R"(
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: mpi}
spec:
  plugins: {mpi: ["--master=master", "--worker=worker"]}
  tasks:
  - {name: master, replicas: 1, policies: [{event: TaskCompleted, action: CompleteJob}], template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
  - {name: worker, replicas: 2, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
)");
  loop_.RunFor(absl::Seconds(4));
  EXPECT_EQ(Phase("mpi"), "Running");
  EXPECT_EQ(EnvOf("mpi-master-0").at("MPI_HOST"), "mpi-worker-0.mpi,mpi-worker-1.mpi");
  EXPECT_EQ(Get(api::kSecrets, "mpi-ssh").at("data").as_object().size(), 4u);
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Phase("mpi"), "Completed");
  EXPECT_EQ(Ask("GET", api::PathOf(api::kSecrets, "default", "mpi-ssh")).code, 404);
}

}  // namespace
}  // namespace gangway::sandbox
