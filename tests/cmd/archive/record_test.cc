#include "cmd/archive/record.h"

#include <boost/json.hpp>

#include "api/paddle_resources.h"
#include "cmd/archive/credentials.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::cmd {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Kept JobIn(const std::string& status) {
  const absl::StatusOr<Kept> job = api::Decode<Kept>(
      R"({"metadata":{"name":"ctr","namespace":"ads","uid":"u-1","creationTimestamp":"2026-11-21T05:00:00Z"},
          "spec":{"queue":"ads","fieldOfTomorrow":7},"status":)" +
      status + "}");
  EXPECT_TRUE(job.ok()) << job.status();
  return job.ok() ? *job : Kept();
}

TEST(ArchiveRecordTest, ARecordIsOneLineThatSaysAllAndBeginsWithTheUid) {
  Remains remains;
  remains.resource = &api::kJobs;
  remains.job = std::make_shared<Kept>(
      JobIn(R"({"state":{"phase":"Completed","lastTransitionTime":"2026-11-21T06:00:00Z"},"note":"a\nb"})"));
  PodEnd pod;
  pod.name = "ctr-worker-0";
  pod.phase = "Failed";
  pod.exit_code = 137;
  pod.reason = "OOMKilled";
  remains.pods.push_back(pod);
  remains.pod_group = R"({"kind":"PodGroup"})";
  remains.events = R"([{"reason":"CompleteJob"}])";
  const std::string line = RecordLine(remains);
  EXPECT_THAT(line, Not(HasSubstr("\n")));
  EXPECT_EQ(UidOfLine(line), "u-1");
  const boost::json::value record = boost::json::parse(line);
  EXPECT_EQ(record.at("phase"), "Completed");
  EXPECT_EQ(record.at("ended"), "2026-11-21T06:00:00Z");
  EXPECT_EQ(record.at("created"), "2026-11-21T05:00:00Z");
  EXPECT_EQ(record.at_pointer("/job/kind"), "Job");
  EXPECT_EQ(record.at_pointer("/job/spec/fieldOfTomorrow"), 7) << "what we do not know is kept";
  EXPECT_EQ(record.at_pointer("/pods/0/exitCode"), 137);
  EXPECT_EQ(record.at_pointer("/pods/0/reason"), "OOMKilled");
  EXPECT_EQ(record.at_pointer("/podGroup/kind"), "PodGroup");
  EXPECT_EQ(record.at_pointer("/events/0/reason"), "CompleteJob");
  EXPECT_EQ(record.at("deleted"), false);
  EXPECT_EQ(RecordName(remains.job->metadata), "ads/ctr-u-1.json");
}

TEST(ArchiveRecordTest, AnAbortedJobMayBeResumedAndHasNotEnded) {
  const auto ended = [](const api::Resource& resource, const char* status) {
    return HasEnded(resource, JobIn(status));
  };
  EXPECT_TRUE(ended(api::kJobs, R"({"state":{"phase":"Terminated"}})"));
  EXPECT_FALSE(ended(api::kJobs, R"({"state":{"phase":"Aborted"}})"));
  EXPECT_FALSE(ended(api::kJobs, R"({"state":{"phase":"Running"}})"));
  EXPECT_FALSE(ended(api::kJobs, "null"));
  EXPECT_TRUE(ended(api::paddle::kPaddleJobs, R"({"phase":"Failed"})"));
  EXPECT_FALSE(ended(api::paddle::kPaddleJobs, R"({"phase":"Completing"})"));
  EXPECT_TRUE(ended(api::paddle::kubeflow::kPaddleJobs, R"({"conditions":[{"type":"Created"},{"type":"Succeeded"}]})"));
  EXPECT_FALSE(ended(api::paddle::kubeflow::kPaddleJobs, R"({"conditions":[]})"));
}

TEST(ArchiveRecordTest, APodsEndIsThatOfTheContainerThatFailed) {
  const absl::StatusOr<api::core::Pod> pod = api::Decode<api::core::Pod>(R"({
    "metadata":{"name":"p","uid":"x","annotations":{"volcano.sh/task-spec":"worker"}},"spec":{"nodeName":"n7"},
    "status":{"phase":"Failed","startTime":"2026-11-21T05:00:00Z","containerStatuses":[
      {"name":"log","restartCount":1,"state":{"terminated":{"exitCode":0,"reason":"Completed","finishedAt":"2026-11-21T05:09:00Z"}}},
      {"name":"train","restartCount":2,"state":{"terminated":{"exitCode":137,"reason":"OOMKilled","finishedAt":"2026-11-21T05:07:00Z"}}}]}})");
  ASSERT_TRUE(pod.ok()) << pod.status();
  const PodEnd end = EndOf(*pod);
  EXPECT_EQ(end.task, "worker");
  EXPECT_EQ(end.node, "n7");
  EXPECT_EQ(end.container, "train");
  EXPECT_EQ(end.exit_code, 137);
  EXPECT_EQ(end.reason, "OOMKilled");
  EXPECT_EQ(end.restarts, 3);
  EXPECT_EQ(absl::FormatTime(absl::RFC3339_sec, end.ended.at, absl::UTCTimeZone()), "2026-11-21T05:09:00+00:00");
}

TEST(ArchiveRecordTest, OtherLinesHaveNoUid) {
  EXPECT_EQ(UidOfLine(""), "");
  EXPECT_EQ(UidOfLine(R"({"uid":"cut of)"), "");
  EXPECT_EQ(UidOfLine("# my notes"), "");
}

TEST(ArchiveCredentialsTest, TheFileOfAwsOwnTools) {
  const absl::StatusOr<kube::AwsSigning> found = ParseAwsCredentials(
      "# mine\n[other]\naws_access_key_id = no\n[default]\naws_access_key_id = AKIA\naws_secret_access_key=s/e+c=\n\n"
      "aws_session_token = tok\nregion = eu\n",
      "default");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->key_id, "AKIA");
  EXPECT_EQ(found->secret, "s/e+c=");
  EXPECT_EQ(found->session_token, "tok");
}

TEST(ArchiveCredentialsTest, WhatIsWrongIsSaidWithoutTheSecret) {
  for (const char* text :
       {"[default]\naws_access_key_id = hush\n", "[default]\nhush\n", "[prod]\naws_access_key_id=hush"}) {
    const absl::Status wrong = ParseAwsCredentials(text, "default").status();
    EXPECT_TRUE(absl::IsInvalidArgument(wrong));
    EXPECT_THAT(std::string(wrong.message()), Not(HasSubstr("hush")));
  }
  const auto nothing = [](const std::string&) { return std::optional<std::string>(); };
  EXPECT_THAT(std::string(FindAwsSigning("", "", nothing).status().message()), HasSubstr("AWS_ACCESS_KEY_ID"));
  EXPECT_THAT(std::string(FindAwsSigning("/nowhere/x", "", nothing).status().message()),
              HasSubstr("--credentials-file /nowhere/x: "));
  const auto all = [](const std::string& name) {
    return name == "AWS_DEFAULT_REGION" ? std::nullopt : std::optional<std::string>(name);
  };
  const absl::StatusOr<kube::AwsSigning> found = FindAwsSigning("", "", all);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->region, "AWS_REGION");
  EXPECT_EQ(FindAwsSigning("", "here", all)->region, "here");
}

}  // namespace
}  // namespace gangway::cmd
