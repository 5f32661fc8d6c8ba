// The seed job in the embedded cluster goes the way that a real cluster with Volcano was recorded to go: Job, PodGroup and pod
// phases without repetitions, and the pods that are left. Counters in between, versions in final phases and times are not compared.
#include <string>

#include "absl/strings/str_cat.h"
#include "api/manifest/manifest.h"
#include "api/resource.h"
#include "base/check.h"
#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/cluster/cluster.h"
#include "tests/stories/story.h"
#include "tests/testing/files.h"

namespace gangway::sandbox {
namespace {

using ::testing::ElementsAre;

class RecordingsTest : public ::testing::Test {
 protected:
  RecordingsTest() {
    ClusterOptions options;
    options.kubelets.nodes = MakeNodes({*ParseNodeShape("")}, 6);
    options.kubelets.times.stop = absl::Seconds(1);
    options.api_server.journal = [this](const JournalRecord& record) { testutil::Tell(story_, record); };
    cluster_ = std::make_unique<Cluster>(loop_, std::move(options));
    user_ = cluster_->NewClient("user");
    cluster_->Start();
    Run(1);
    const auto documents = api::ReadManifest(testutil::ReadFile(GW_SOURCE_DIR "/examples/ctr-volcano.yaml"), "ctr-volcano.yaml");
    GW_CHECK(documents.ok());
    Send("POST", api::PathOf(api::kJobs, "default"), documents->front().json);
    Run(5);
  }

  void Run(int seconds) { loop_.RunFor(absl::Seconds(seconds)); }
  void Send(std::string method, std::string path, std::string body) {
    kube::Request request;
    request.content_type = method == "PATCH" ? "application/merge-patch+json" : "application/json";
    request.method = std::move(method);
    request.path = std::move(path);
    request.body = std::move(body);
    user_->Send(std::move(request), owner_.token(), [](absl::StatusOr<kube::Response> reply) {
      GW_CHECK(reply.ok());
      EXPECT_TRUE(reply->ok()) << *reply->body;
    });
  }
  std::string PodPath(const std::string& name, absl::string_view subresource = "") { return api::PathOf(api::kPods, "default", "ctr-volcano-" + name, subresource); }
  void EndPod(const std::string& name, const std::string& phase, int exit_code) {
    Send("PATCH", PodPath(name, "status"),
         absl::StrCat(R"({"status":{"phase":")", phase, R"(","containerStatuses":[{"name":"trainer","ready":false,"restartCount":0,"image":"i","imageID":"i","state":{"terminated":{"exitCode":)",
                      exit_code, "}}}]}}"));
  }

  SimulatedLoop loop_{1};
  testutil::Story story_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<kube::Client> user_;
  Owner owner_;
};

TEST_F(RecordingsTest, TheSeedJobToCompleted) {
  EndPod("trainer-0", "Succeeded", 0);
  Run(1);
  EndPod("trainer-1", "Succeeded", 0);
  Run(5);
  const testutil::Story recorded = testutil::ReadRecording("seed-ctr-volcano", 20.6);
  EXPECT_EQ(story_.job, recorded.job);
  EXPECT_EQ(story_.pod_group, recorded.pod_group);
  EXPECT_EQ(story_.pods, recorded.pods);
  EXPECT_EQ(story_.final_pods, recorded.final_pods);
  EXPECT_THAT(recorded.job, ElementsAre("Pending v0 r0", "Running v0 r0", "Completing", "Completed"));
}

TEST_F(RecordingsTest, AnEvictionADeletionAndAFailureRestartUntilTheThirdFails) {
  Send("DELETE", PodPath("trainer-0"), "");
  Run(10);
  Send("POST", PodPath("pserver-1", "eviction"), R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"ctr-volcano-pserver-1","namespace":"default"}})");
  Run(10);
  EndPod("trainer-1", "Failed", 7);
  Run(10);
  const testutil::Story recorded = testutil::ReadRecording("seed-evict", 17.2);
  EXPECT_EQ(story_.job, recorded.job);
  EXPECT_EQ(story_.final_pods, recorded.final_pods);
  EXPECT_EQ(recorded.job.back(), "Failed");
  EXPECT_THAT(recorded.final_pods, ElementsAre(std::pair<const std::string, std::string>("ctr-volcano-trainer-1", "Failed")));
}

}  // namespace
}  // namespace gangway::sandbox
