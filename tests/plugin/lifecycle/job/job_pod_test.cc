#include "plugin/lifecycle/job/job_pod.h"

#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::lifecycle {
namespace {

JobPod Facts(const std::string& json) {
  const auto pod = api::Decode<api::core::Pod>(json);
  GW_EXPECT_OK(pod);
  return JobPodOf(*pod);
}

TEST(JobPodTest, BelongsToTheJobThatControlsIt) {
  const auto job_of = [](const std::string& api_version, const std::string& kind, const std::string& controller) {
    return JobOf(*api::Decode<api::core::Pod>(R"({"metadata":{"ownerReferences":[{"apiVersion":")" + api_version +
                                              R"(","kind":")" + kind + R"(","name":"ctr","uid":"u","controller":)" +
                                              controller + "}]}}"));
  };
  EXPECT_EQ(job_of("batch.volcano.sh/v1alpha1", "Job", "true"), "ctr");
  EXPECT_EQ(job_of("batch.volcano.sh/v1alpha1", "Job", "false"), "");
  EXPECT_EQ(job_of("batch/v1", "Job", "true"), "");
}

TEST(JobPodTest, ExitCodeIsTheFirstContainers) {
  const JobPod facts = Facts(
      R"({"status":{"phase":"Failed","containerStatuses":[{"restartCount":2,"state":{"terminated":{"exitCode":7}}},{"restartCount":1,"state":{"terminated":{"exitCode":9}}}],"initContainerStatuses":[{"restartCount":4}]}})");
  EXPECT_EQ(facts.exit_code, 7);
  EXPECT_EQ(facts.restarts, 7);
  EXPECT_TRUE(facts.failed_first);
}

TEST(JobPodTest, APodThatFailsBecauseItIsDeletedHasNotFailedFirst) {
  EXPECT_FALSE(
      Facts(
          R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":30},"status":{"phase":"Failed"}})")
          .failed_first);
  EXPECT_TRUE(
      Facts(
          R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":0},"status":{"phase":"Failed"}})")
          .failed_first);
}

TEST(JobPodTest, VersionThatDoesNotReadIsNone) {
  EXPECT_EQ(Facts(R"({"metadata":{"annotations":{"volcano.sh/job-version":"2"}}})").version, 2);
  for (const char* bad : {"", "x", "-3", "99999999999"}) {
    EXPECT_EQ(Facts(std::string(R"({"metadata":{"annotations":{"volcano.sh/job-version":")") + bad + R"("}}})").version,
              -1)
        << bad;
  }
}

TEST(JobPodTest, ReleasedIsWhatTheSchedulerSaysInItsConditionAndNobodyElse) {
  const auto released = [](const std::string& type, const std::string& status, const std::string& reason) {
    return Facts(R"({"status":{"phase":"Pending","conditions":[{"type":"Ready","status":"False"},{"type":")" + type +
                 R"(","status":")" + status + R"(","reason":")" + reason + R"("}]}})")
        .released;
  };
  EXPECT_TRUE(released("DisruptionTarget", "True", "GangReleased"));
  EXPECT_FALSE(released("DisruptionTarget", "False", "GangReleased"));
  EXPECT_FALSE(released("DisruptionTarget", "True", "EvictionByEvictionAPI"));
  EXPECT_FALSE(released("PodScheduled", "True", "GangReleased"));
}

TEST(JobPodTest, ReadyIsAllContainers) {
  EXPECT_FALSE(Facts(R"({"status":{"phase":"Running"}})").ready);
  EXPECT_TRUE(Facts(R"({"status":{"phase":"Running","containerStatuses":[{"ready":true}]}})").ready);
  EXPECT_FALSE(Facts(R"({"status":{"phase":"Running","containerStatuses":[{"ready":true},{"ready":false}]}})").ready);
}

}  // namespace
}  // namespace gangway::lifecycle
