// What `gangway translate --target=kubernetes` makes of a PaddleJob, on a real API server with its own Job controller:
// the objects are taken, the pods have the host names that the lists name, and all of them get a node or none does.
#include <memory>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "api/scheduling_resources.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/installed_gangway.h"
#include "tests/process/process.h"
#include "tests/testing/files.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TranslatedJobsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!ControlPlane::ToolsPresent()) GTEST_SKIP() << "there is no control plane on this machine";
    InstalledGangwayOptions options;
    options.nodes = 2;  // of 16 cpu
    options.workloads = true;
    if (ControlPlane::Minor() < 36) GTEST_SKIP() << "Kubernetes has no gangs of its own before 1.36";
    options.api_server_flags = ControlPlane::GangFlags();
    auto gangway = InstalledGangway::Start(std::move(options));
    ASSERT_TRUE(gangway.ok()) << gangway.status();
    gangway_ = *std::move(gangway);
  }
  ControlPlane& plane() { return gangway_->plane(); }
  // A job with two servers and two workers that ask for `cpu` each; `worker`: of the workers' metadata.
  void Apply(const std::string& name, int cpu, const std::string& worker) {
    const std::string file = absl::StrCat(plane().folder(), "/", name, ".yaml");
    const std::string container = absl::StrCat(
        "containers: [{name: paddle, image: \"example.test/p:v1\", command: [python, "
        "train.py], resources: {requests: {cpu: ",
        cpu, "}}}]");
    WriteFile(file, absl::StrCat("apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\nmetadata: {name: ", name,
                                 "}\nspec:\n  ps: {replicas: 2, template: {spec: {", container,
                                 "}}}\n  worker: {replicas: 2, template: {metadata: {annotations: {", worker,
                                 "}}, spec: {", container, "}}}\n"));
    const Outcome translated =
        RunProgram({GW_GANGWAY, "translate", "-f", file, "--target=kubernetes", "--scheduler-name=volcano"}, {});
    ASSERT_EQ(translated.exit_code, 0) << translated.err;
    const absl::Status created = plane().Create(translated.out, "default");
    ASSERT_TRUE(created.ok()) << created << "\n" << translated.out;
  }
  json::array Pods(const std::string& job) {
    json::array of;
    const auto list = api::ParseJson(*plane().Call("GET", api::PathOf(api::kPods, "default")).body);
    for (const json::value& pod : list->at("items").as_array()) {
      const json::value* const label =
          pod.at("metadata").at("labels").as_object().if_contains("paddle.gangway.io/job-name");
      if (label != nullptr && label->as_string() == job.c_str()) of.push_back(pod);
    }
    return of;
  }
  int Bound(const std::string& job) {
    int bound = 0;
    for (const json::value& pod : Pods(job)) bound += pod.at("spec").as_object().contains("nodeName") ? 1 : 0;
    return bound;
  }
  std::string Status(const api::Resource& resource, const std::string& name) {
    const auto object = api::ParseJson(*plane().Call("GET", api::PathOf(resource, "default", name)).body);
    const json::value* const status = object->as_object().if_contains("status");
    return status == nullptr ? "" : json::serialize(*status);
  }

  std::unique_ptr<InstalledGangway> gangway_;
};

TEST_F(TranslatedJobsTest, AJobRunsAsAGangAndItsWorkersEnd) {
  Apply("wd", 4, "test.kwok/finish: succeed");
  ASSERT_TRUE(Eventually([&] { return Bound("wd") == 4; }, std::chrono::seconds(60))) << gangway_->Logs();
  EXPECT_TRUE(Eventually([&] {
    return absl::StrContains(Status(api::kKubernetesPodGroups, "wd"),
                             R"("type":"PodGroupScheduled","status":"True")") ||
           absl::StrContains(Status(api::kKubernetesPodGroups, "wd"), R"("reason":"Scheduled")");
  })) << Status(api::kKubernetesPodGroups, "wd");
  // What the lists call them: host names below the job's Service.
  std::set<std::string> hosts;
  for (const json::value& pod : Pods("wd")) {
    const json::object& spec = pod.at("spec").as_object();
    hosts.insert(
        absl::StrCat(std::string(spec.at("hostname").as_string()), ".", std::string(spec.at("subdomain").as_string())));
    const std::string text = json::serialize(spec);
    EXPECT_THAT(text, HasSubstr("wd-ps-0.wd:36000,wd-ps-1.wd:36000"));
    EXPECT_THAT(text, HasSubstr(R"("schedulingGroup":{"podGroupName":"wd"})"));
  }
  EXPECT_THAT(hosts, ElementsAre("wd-ps-0.wd", "wd-ps-1.wd", "wd-worker-0.wd", "wd-worker-1.wd"));
  // The workers' Job is complete; the servers' does not know, as the translation says.
  EXPECT_TRUE(Eventually(
      [&] { return absl::StrContains(Status(api::kBatchJobs, "wd-worker"), R"("type":"Complete","status":"True")"); },
      std::chrono::seconds(60)))
      << Status(api::kBatchJobs, "wd-worker");
  EXPECT_THAT(Status(api::kBatchJobs, "wd-ps"), HasSubstr(R"("active":2)"));
}

// Two of the four would fit.
TEST_F(TranslatedJobsTest, AGangThatDoesNotFitGetsNoNode) {
  Apply("big", 10, "");
  ASSERT_TRUE(Eventually(
      [&] {
        return Pods("big").size() == 4 &&
               absl::StrContains(Status(api::kKubernetesPodGroups, "big"), "waits for 2 of 4 tasks");
      },
      std::chrono::seconds(60)))
      << Status(api::kKubernetesPodGroups, "big") << gangway_->Logs();
  EXPECT_EQ(Bound("big"), 0);
}

}  // namespace
}  // namespace gangway::testutil
