// examples/ctr-volcano.yaml: the rows of table S of tests/spec/paddle.rows that are about Volcano's own behaviour
// (tests/spec/paddle.rows).
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/files.h"
#include "tests/translator/examples/embedded_cluster.h"

namespace gangway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CtrVolcanoTest : public ::testing::Test {
 protected:
  // `finish` and `fail`: rules of behaviour.
  void Start(const std::vector<std::string>& finish, const std::vector<std::string>& fail = {}) {
    cluster_ = std::make_unique<testutil::EmbeddedCluster>("", finish, fail);
    ASSERT_EQ(cluster_->Create(testutil::ReadFile(GW_SOURCE_DIR "/examples/ctr-volcano.yaml")), "");
  }
  std::string Job(const char* pointer) { return cluster_->At(api::kJobs, "ctr-volcano", pointer); }
  std::string Phase() { return Job("/status/state/phase"); }
  bool UntilPhase(const std::string& phase) {
    return cluster_->Until([&] { return Phase() == phase; });
  }
  void Delete(const std::string& pod) {
    ASSERT_TRUE(cluster_->Ask("DELETE", api::PathOf(api::kPods, "default", pod)).ok());
  }

  std::unique_ptr<testutil::EmbeddedCluster> cluster_;
};

TEST_F(CtrVolcanoTest, S1ItsGroupCountsWhatItRequests) {
  Start({});
  ASSERT_TRUE(cluster_->Until([&] { return Phase() == "Pending" && !cluster_->Names(api::kPodGroups).empty(); }));
  const std::string group = absl::StrCat("ctr-volcano-", Job("/metadata/uid"));
  EXPECT_THAT(cluster_->Names(api::kPodGroups), ElementsAre(group));
  EXPECT_EQ(cluster_->At(api::kPodGroups, group, "/spec/minMember"), "4");
  EXPECT_EQ(cluster_->At(api::kPodGroups, group, "/spec/minTaskMember"), R"({"pserver":2,"trainer":2})");
  const boost::json::value least = cluster_->Get(api::kPodGroups, group).at("spec").at("minResources");
  const boost::json::value wanted = boost::json::parse(
      R"({"cpu":"4","memory":"400M","ephemeral-storage":"22Gi","requests.cpu":"4","requests.memory":"400M",
    "requests.ephemeral-storage":"22Gi","limits.cpu":"40","limits.memory":"120Gi","limits.ephemeral-storage":"40Gi","pods":"4","count/pods":"4"})");
  EXPECT_EQ(least, wanted);
}

TEST_F(CtrVolcanoTest, S2OneTrainerOfTwo) {
  Start({"trainer-0=5s"});
  ASSERT_TRUE(cluster_->Until(
      [&] { return cluster_->At(api::kPods, "ctr-volcano-trainer-0", "/status/phase") == "Succeeded"; }));
  cluster_->Run(absl::Seconds(5));
  EXPECT_EQ(Phase(), "Running");
}

TEST_F(CtrVolcanoTest, S3BothTrainers) {
  Start({"trainer=5s"});
  ASSERT_TRUE(UntilPhase("Completing"));
  ASSERT_TRUE(UntilPhase("Completed"));
  EXPECT_THAT(cluster_->Names(api::kPods), ElementsAre("ctr-volcano-trainer-0", "ctr-volcano-trainer-1"));
  EXPECT_THAT(cluster_->Names(api::kPodGroups), IsEmpty());
}

TEST_F(CtrVolcanoTest, S4AContainerThatFailsIsRestartedInPlace) {
  Start({}, {"trainer-0=3s:1"});
  const auto restarts = [&] {
    return cluster_->At(api::kPods, "ctr-volcano-trainer-0", "/status/containerStatuses/0/restartCount");
  };
  ASSERT_TRUE(cluster_->Until([&] { return restarts() == "1"; }));
  EXPECT_EQ(Phase(), "Running");
  EXPECT_EQ(Job("/status/version"), "");
}

TEST_F(CtrVolcanoTest, S5AServerThatIsDeletedRestartsTheJob) {
  Start({});
  ASSERT_TRUE(UntilPhase("Running"));
  const std::string before = cluster_->At(api::kPods, "ctr-volcano-trainer-0", "/metadata/uid");
  Delete("ctr-volcano-pserver-1");
  ASSERT_TRUE(UntilPhase("Restarting"));
  ASSERT_TRUE(UntilPhase("Running"));
  EXPECT_EQ(Job("/status/retryCount"), "1");
  EXPECT_EQ(Job("/status/version"), "1");
  EXPECT_EQ(cluster_->Names(api::kPods).size(), 4u);
  EXPECT_NE(cluster_->At(api::kPods, "ctr-volcano-trainer-0", "/metadata/uid"), before) << "all of them are new";
}

TEST_F(CtrVolcanoTest, S6TheThirdDeletionIsTheLast) {
  Start({});
  for (const char* const retries : {"1", "2"}) {
    ASSERT_TRUE(UntilPhase("Running"));
    Delete("ctr-volcano-pserver-1");
    ASSERT_TRUE(cluster_->Until([&] { return Job("/status/retryCount") == retries && Phase() == "Running"; }));
  }
  Delete("ctr-volcano-pserver-1");
  EXPECT_TRUE(UntilPhase("Failed"));
}

}  // namespace
}  // namespace gangway
