// CronJobs and the TTL of their Jobs on a real API server and its garbage collector, by the real program with the roles
// it ships with.
#include "api/volcano/cron_job.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/core/objects.h"
#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/installed_gangway.h"

namespace gangway::testutil {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kCronJob[] = R"(
apiVersion: batch.volcano.sh/v1alpha1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "30 2 * * *"
  timeZone: Asia/Shanghai
  jobTemplate:
    metadata: {labels: {team: ads}}
    spec:
      ttlSecondsAfterFinished: 2
      tasks:
      - name: w
        replicas: 1
        template:
          metadata: {annotations: {test.kwok/finish: succeed}}
          spec: {restartPolicy: Never, containers: [{name: main, image: example.test/app:v1}]}
)";

class CronJobE2eTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!ControlPlane::ToolsPresent()) GTEST_SKIP() << "there is no control plane on this machine";
    auto gangway = InstalledGangway::Start({.nodes = 1});
    ASSERT_TRUE(gangway.ok()) << gangway.status();
    gangway_ = *std::move(gangway);
  }
  ControlPlane& plane() { return gangway_->plane(); }
  std::string Path() const { return api::PathOf(api::kCronJobs, "default", "nightly"); }
  api::volcano::CronJob Cron() { return *api::Decode<api::volcano::CronJob>(*plane().Call("GET", Path()).body); }
  boost::json::array Items(const api::Resource& resource) {
    return api::ParseJson(*plane().Call("GET", api::PathOf(resource, "default")).body)->at("items").as_array();
  }

  std::unique_ptr<InstalledGangway> gangway_;
};

TEST_F(CronJobE2eTest, AMissedStartMakesOneJobThatRunsAndGoesWhenItsTimeIsOver) {
  ASSERT_TRUE(plane().Create(kCronJob, "default").ok());
  EXPECT_EQ(Cron().spec.concurrency_policy, "Allow");
  EXPECT_EQ(Cron().spec.failed_jobs_history_limit, 1);
  // It ran two days ago, so the last start is due.
  ASSERT_EQ(plane()
                .Call("PATCH", Path() + "/status",
                      absl::StrCat(R"({"status":{"lastScheduleTime":")", api::FormatTime(absl::Now() - absl::Hours(48)),
                                   R"("}})"),
                      "application/merge-patch+json")
                .code,
            200);
  ASSERT_TRUE(Eventually([&] { return !Items(api::kJobs).empty() || Cron().status.last_successful_time.set(); }))
      << gangway_->Logs();
  ASSERT_TRUE(Eventually([&] { return Cron().status.last_successful_time.set(); })) << gangway_->Logs();
  const std::string log = plane().AuditLog();
  EXPECT_THAT(log, HasSubstr("T02:30:00+08:00"));
  // Completed, it goes two seconds later; its pod first.
  ASSERT_TRUE(Eventually([&] { return Items(api::kJobs).empty(); })) << gangway_->Logs();
  EXPECT_TRUE(Eventually([&] { return Items(api::kPods).empty(); }));
  EXPECT_THAT(Cron().status.active, ::testing::IsEmpty());
  EXPECT_GT(Cron().status.last_schedule_time.at, absl::Now() - absl::Hours(25));
  int made = 0;
  for (const boost::json::value& event : Items(api::kEvents)) {
    if (event.at("reason") == boost::json::value("SuccessfulCreate"))
      made += static_cast<int>(event.at("count").as_int64());
  }
  EXPECT_EQ(made, 1);
  EXPECT_THAT(plane().AuditLog(), HasSubstr(R"("propagationPolicy":"Foreground")"));
  EXPECT_THAT(plane().AuditLog(), Not(HasSubstr(R"("authorization.k8s.io/decision":"forbid")")))
      << "the shipped roles lack something";
}

}  // namespace
}  // namespace gangway::testutil
