#include "translator/convert/policy_check.h"

#include "absl/strings/str_cat.h"
#include "api/field_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/files.h"
#include "tests/translator/convert/translated.h"

namespace gangway::convert {
namespace {

using ::testing::IsEmpty;

api::volcano::Job Elastic() {
  const Translation done = Translate(
      testutil::PaddleJobOf(testutil::ReadFile(GW_SOURCE_DIR "/examples/paddle/elastic.yaml")), testutil::ForGangway());
  EXPECT_TRUE(done.ok());
  return done.job;
}
api::volcano::LifecyclePolicy Policy(const std::string& event, const std::string& action) {
  api::volcano::LifecyclePolicy out;
  out.event = event;
  out.action = action;
  return out;
}

TEST(PolicyCheckTest, H4APolicyThatRestartsAnElasticJobWhenOneWorkerGoes) {
  api::volcano::Job job = Elastic();
  EXPECT_THAT(CheckPolicies(job), IsEmpty()) << "as it is translated there is none";
  job.spec.policies = {Policy("PodFailed", "RestartPod"), Policy("PodEvicted", "RestartJob")};
  EXPECT_EQ(testutil::Told(CheckPolicies(job)), "W-POLICY spec.policies[1]");
  job.spec.policies = {Policy("PodEvicted", "RestartPod"), Policy("PodEvicted", "SyncJob"), Policy("*", "RestartTask")};
  EXPECT_THAT(CheckPolicies(job), IsEmpty()) << "the others run on";
  job.spec.policies.clear();
  job.spec.tasks[0].policies.push_back(Policy("*", "AbortJob"));
  EXPECT_EQ(testutil::Told(CheckPolicies(job)),
            absl::StrCat("W-POLICY spec.tasks[0].policies[", job.spec.tasks[0].policies.size() - 1, "]"));
}

TEST(PolicyCheckTest, OtherJobsMayRestart) {
  api::volcano::Job job = Translate(testutil::PaddleJobWith(testutil::kTwoAndTwo), testutil::ForGangway()).job;
  ASSERT_FALSE(job.spec.policies.empty());
  EXPECT_THAT(CheckPolicies(job), IsEmpty());
  for (const char* const odd : {"", "[]", "{\"spec\":{\"containers\":[{\"env\":[3]}]}}", "{"}) {
    job.spec.tasks[0].pod_template.json = odd;
    EXPECT_THAT(CheckPolicies(job), IsEmpty()) << odd;
  }
}

}  // namespace
}  // namespace gangway::convert
