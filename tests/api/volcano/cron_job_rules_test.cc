// What admission says of a CronJob (Volcano: pkg/controllers/cronjob; the rows are those of Volcano's webhook).
#include "api/volcano/admission.h"

#include <ostream>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/manifest/manifest.h"
#include "api/volcano/defaults.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/files.h"

namespace gangway::api::volcano {
namespace {

using ::testing::HasSubstr;

constexpr char kTemplate[] =
    R"("jobTemplate":{"spec":{"tasks":[{"name":"t","replicas":1,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}})";

boost::json::value CronJobWith(const std::string& spec, const std::string& name = "nightly") {
  return *ParseJson(absl::StrCat(R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"CronJob","metadata":{"name":")",
                                 name, R"("},"spec":{)", spec, "}}"));
}
Verdict Create(boost::json::value& object) {
  return Admit(
      {.resource = &kCronJobs, .operation = Operation::kCreate, .ns = "default", .name = "", .old_object = nullptr},
      &object, nullptr);
}

struct Row {
  std::string name, spec, says;  // "": allowed
  int code = 400;
  std::string object_name = "nightly";
  friend void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }
};
class CronJobRulesTest : public ::testing::TestWithParam<Row> {};
TEST_P(CronJobRulesTest, Verdict) {
  const Row& row = GetParam();
  boost::json::value object = CronJobWith(row.spec, row.object_name);
  const Verdict verdict = Create(object);
  EXPECT_EQ(verdict.code, row.says.empty() ? 0 : row.code) << verdict.message;
  EXPECT_THAT(verdict.message, HasSubstr(row.says));
  if (verdict.code != 400) return;
  // An update is judged like a creation.
  const boost::json::value before = CronJobWith(absl::StrCat(R"("schedule":"0 0 1 1 *",)", kTemplate), row.object_name);
  boost::json::value after = CronJobWith(row.spec, row.object_name);
  EXPECT_EQ(Admit({.resource = &kCronJobs,
                   .operation = Operation::kUpdate,
                   .ns = "default",
                   .name = "nightly",
                   .old_object = &before},
                  &after, nullptr)
                .code,
            400);
}
const std::string kRest = absl::StrCat(",", kTemplate);
INSTANTIATE_TEST_SUITE_P(
    All, CronJobRulesTest,
    ::testing::Values(
        Row{"Valid", R"("schedule":"* * * * *")" + kRest, ""}, Row{"Every", R"("schedule":"@every 1m")" + kRest, ""},
        Row{"Zone", R"("schedule":"*/5 * * * *","timeZone":"Pacific/Honolulu")" + kRest, ""},
        Row{"ZoneInTheSchedule", R"("schedule":"TZ=UTC 0 20 * * *")" + kRest,
            "cronjob default/nightly is refused: spec.schedule: Invalid value: \"TZ=UTC 0 20 * * *\""},
        Row{"WrongSchedule", R"("schedule":"error schedule")" + kRest, "must have 5 fields"},
        Row{"EmptySchedule", R"("schedule":"")" + kRest, "spec.schedule: Invalid value: \"\": must not be empty"},
        Row{"UnknownZone", R"("schedule":"@daily","timeZone":"Amerrica/New_York")" + kRest,
            "spec.timeZone: Invalid value: \"Amerrica/New_York\""},
        Row{"NoZone", R"("schedule":"@daily","timeZone":"New York")" + kRest,
            "is no name of the IANA time zone database"},
        Row{"LocalZone", R"("schedule":"@daily","timeZone":"local")" + kRest, "every machine has its own"},
        Row{"EmptyZone", R"("schedule":"@daily","timeZone":"")" + kRest, "must not be empty"},
        Row{"LongName", R"("schedule":"@daily")" + kRest, "must be no more than 52 characters", 400,
            std::string(53, 'a')},
        Row{"LongestName", R"("schedule":"@daily")" + kRest, "", 400, std::string(52, 'a')},
        Row{"ImpossibleName", R"("schedule":"@daily")" + kRest, "metadata.name", 422, "-UPPERCASE"},
        Row{"NoSchedule", kTemplate, "spec.schedule: Required value", 422},
        Row{"NoTemplate", R"("schedule":"@daily")", "spec.jobTemplate: Required value", 422},
        Row{"NegativeDeadline", R"("schedule":"@daily","startingDeadlineSeconds":-1)" + kRest,
            "spec.startingDeadlineSeconds", 422},
        Row{"UnknownPolicy", R"("schedule":"@daily","concurrencyPolicy":"Queue")" + kRest,
            R"(supported values: "Allow", "Forbid", "Replace")", 422},
        Row{"NegativeHistory", R"("schedule":"@daily","failedJobsHistoryLimit":-1)" + kRest,
            "spec.failedJobsHistoryLimit", 422},
        Row{"NegativeReplicas", R"("schedule":"@daily","jobTemplate":{"spec":{"tasks":[{"replicas":-1}]}})",
            "spec.jobTemplate.spec.tasks[0].replicas", 422},
        Row{"NoContainers", R"("schedule":"@daily","jobTemplate":{"spec":{"tasks":[{"template":{"spec":{}}}]}})",
            "spec.jobTemplate.spec.tasks[0].template.spec.containers: Required value", 422},
        Row{"WrongType", R"("schedule":5)" + kRest, "spec.schedule", 422},
        // Volcano judges the job itself when it is made.
        Row{"AJobThatWouldBeRefused",
            R"("schedule":"@daily","jobTemplate":{"spec":{"minAvailable":5,"tasks":[{"name":"t","replicas":1}]}})",
            ""}),
    [](const auto& tested) { return tested.param.name; });

TEST(CronJobDefaultsTest, AreThoseOfTheSchema) {
  boost::json::value object = CronJobWith(absl::StrCat(R"("schedule":"@daily",)", kTemplate));
  ASSERT_TRUE(Create(object).allowed());
  const boost::json::object& spec = object.at("spec").as_object();
  EXPECT_EQ(spec.at("concurrencyPolicy"), boost::json::value("Allow"));
  EXPECT_EQ(spec.at("suspend"), boost::json::value(false));
  EXPECT_EQ(spec.at("successfulJobsHistoryLimit"), boost::json::value(3));
  EXPECT_EQ(spec.at("failedJobsHistoryLimit"), boost::json::value(1));
  EXPECT_EQ(spec.at("jobTemplate").at("spec").at("queue"), boost::json::value("default"));
  EXPECT_EQ(spec.at("jobTemplate").at("spec").at("maxRetry"), boost::json::value(3));
  CronJob cron;
  ApplyDefaults(cron);
  EXPECT_EQ(cron.spec.concurrency_policy, "Allow");
  EXPECT_EQ(cron.spec.suspend, false);
  EXPECT_EQ(cron.spec.successful_jobs_history_limit, 3);
  EXPECT_EQ(cron.spec.failed_jobs_history_limit, 1);
}

TEST(CronJobExampleTest, IsAValidCronJob) {
  const auto documents =
      ReadManifest(testutil::ReadFile(GW_SOURCE_DIR "/examples/cron-volcano.yaml"), "cron-volcano.yaml");
  ASSERT_TRUE(documents.ok()) << documents.status();
  ASSERT_EQ(documents->size(), 1u);
  EXPECT_EQ(FindKind((*documents)[0].api_version, (*documents)[0].kind), &kCronJobs);
  boost::json::value object = *ParseJson((*documents)[0].json);
  EXPECT_TRUE(Create(object).allowed()) << Create(object).message;
  // Its jobs would be taken, too.
  boost::json::value job = object.at("spec").at("jobTemplate");
  job.at("metadata").as_object()["name"] = "nightly-29920950";
  EXPECT_TRUE(
      Admit({.resource = &kJobs, .operation = Operation::kCreate, .ns = "default", .name = "", .old_object = nullptr},
            &job, nullptr)
          .allowed());
}

TEST(CronJobUpdateTest, WhatIsWrongAlreadyKeepsNobodyFromChangingItsLabels) {
  const boost::json::value before = CronJobWith(absl::StrCat(R"("schedule":"nonsense",)", kTemplate));
  boost::json::value after = before;
  after.at("metadata").as_object()["labels"] = boost::json::object{{"a", "b"}};
  EXPECT_TRUE(Admit({.resource = &kCronJobs,
                     .operation = Operation::kUpdate,
                     .ns = "default",
                     .name = "nightly",
                     .old_object = &before},
                    &after, nullptr)
                  .allowed());
}

}  // namespace
}  // namespace gangway::api::volcano
