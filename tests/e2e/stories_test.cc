// Jobs on a real API server, by the real program with the roles it ships with: what no recording of the real Volcano
// shows. Afterwards the checkers of the simulation read the audit log.
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/core/pod.h"
#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/audit_journal.h"
#include "tests/e2e/audit_rules.h"
#include "tests/e2e/installed_gangway.h"
#include "tests/simulation/checkers.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class StoriesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!ControlPlane::ToolsPresent()) return;
    auto gangway = InstalledGangway::Start({.nodes = 6, .node_lifecycle = true});
    ASSERT_TRUE(gangway.ok()) << gangway.status();
    gangway_ = gangway->release();
  }
  static void TearDownTestSuite() {
    delete gangway_;
    gangway_ = nullptr;
  }
  // What has not ended is removed, so that the next story has the cluster to itself.
  void TearDown() override {
    if (gangway_ == nullptr) return;
    for (const char* const job : {"ctr-volcano", "too-large"}) {
      const std::string phase = Field(JobPath(job), "/status/state/phase");
      if (phase.empty() || phase == "Completed" || phase == "Failed") continue;
      EXPECT_EQ(plane().Call("DELETE", JobPath(job)).code, 200);
      EXPECT_TRUE(Eventually([&] { return Get(api::PathOf(api::kPods, ns_)).at("items").as_array().empty(); }));
    }
  }
  void SetUp() override {
    if (!ControlPlane::ToolsPresent()) GTEST_SKIP() << "there is no control plane on this machine";
    ASSERT_NE(gangway_, nullptr);
    ns_ = absl::AsciiStrToLower(absl::StrCat("s-", ::testing::UnitTest::GetInstance()->current_test_info()->name()))
              .substr(0, 60);
    ASSERT_EQ(plane().Call("POST", "/api/v1/namespaces", absl::StrCat(R"({"metadata":{"name":")", ns_, R"("}})")).code,
              201);
  }

  static ControlPlane& plane() { return gangway_->plane(); }
  void Apply(const std::string& example) {
    const absl::Status status = plane().Create(ReadFile(absl::StrCat(GW_SOURCE_DIR "/examples/", example)), ns_);
    ASSERT_TRUE(status.ok()) << status;
  }
  boost::json::value Get(const std::string& path) const {
    const kube::Response reply = plane().Call("GET", path);
    auto value = api::ParseJson(*reply.body);
    return value.ok() ? *std::move(value) : boost::json::value(nullptr);
  }
  // A field of an object as text; "" when it is not there.
  std::string Field(const std::string& path, const std::string& pointer) const {
    boost::system::error_code error;
    const boost::json::value object = Get(path);
    const auto* const found = object.find_pointer(pointer, error);
    return found == nullptr     ? ""
           : found->is_string() ? std::string(found->as_string())
                                : boost::json::serialize(*found);
  }
  std::string JobPath(const std::string& name = "ctr-volcano") const { return api::PathOf(api::kJobs, ns_, name); }
  std::string PodPath(const std::string& name, const std::string& subresource = {}) const {
    return api::PathOf(api::kPods, ns_, "ctr-volcano-" + name, subresource);
  }
  [[nodiscard]] bool JobReaches(const std::string& phase, int retries, const std::string& name = "ctr-volcano") const {
    const bool reached = Eventually([&] {
      return Field(JobPath(name), "/status/state/phase") == phase &&
             (retries == 0 || Field(JobPath(name), "/status/retryCount") == absl::StrCat(retries));
    });
    if (!reached)
      ADD_FAILURE() << phase << " not reached: " << boost::json::serialize(Get(JobPath(name))) << "\n"
                    << gangway_->Logs();
    return reached;
  }
  [[nodiscard]] bool AllRun(int count = 4) const {
    return Eventually([&] { return Field(JobPath(), "/status/running") == absl::StrCat(count); });
  }
  // The states of pods that the audit log tells of in this namespace, "Pending bound" for one with a node.
  std::set<std::pair<std::string, std::string>> PodStates() const {
    std::set<std::pair<std::string, std::string>> states;
    const auto records = ReadAuditLog(plane().AuditLog());
    EXPECT_TRUE(records.ok()) << records.status();
    if (!records.ok()) return states;
    for (const sandbox::JournalRecord& record : *records) {
      if (record.key.ns != ns_ || record.resource != &api::kPods || record.after == nullptr) continue;
      const auto pod = api::Decode<api::core::Pod>(*record.after);
      EXPECT_TRUE(pod.ok()) << pod.status();
      states.emplace(record.key.name, absl::StrCat(pod->status.phase, pod->bound() ? " bound" : ""));
    }
    return states;
  }

  static InstalledGangway* gangway_;
  std::string ns_;
};
InstalledGangway* StoriesTest::gangway_ = nullptr;

TEST_F(StoriesTest, ALostNodeRestartsTheJobOnOthers) {
  Apply("ctr-volcano.yaml");
  ASSERT_TRUE(AllRun());
  const std::string node = Field(PodPath("trainer-0"), "/spec/nodeName");
  const auto taint = [&](const std::string& taints) {
    EXPECT_EQ(plane()
                  .Call("PATCH", api::PathOf(api::kNodes, "", node),
                        absl::StrCat(R"({"spec":{"taints":)", taints, "}}"), "application/merge-patch+json")
                  .code,
              200);
  };
  // What a cluster does about a node that is gone: it taints it, and its pods are deleted.
  taint(R"([{"key":"node.kubernetes.io/out-of-service","value":"nodeshutdown","effect":"NoExecute"}])");
  ASSERT_TRUE(JobReaches("Running", 1));
  ASSERT_TRUE(AllRun());
  for (const char* const pod : {"pserver-0", "pserver-1", "trainer-0", "trainer-1"})
    EXPECT_NE(Field(PodPath(pod), "/spec/nodeName"), node) << pod;
  EXPECT_EQ(Field(JobPath(), "/status/version"), "1");
  taint("null");
}

TEST_F(StoriesTest, AGangThatCannotFitHoldsNothingAndSaysWhyInNumbers) {
  Apply("too-large.yaml");
  std::string message;
  EXPECT_TRUE(Eventually([&] {  // at first it may wait for pods
    const boost::json::value groups = Get(api::PathOf(api::kPodGroups, ns_));
    boost::system::error_code error;
    const auto* const found = groups.find_pointer("/items/0/status/conditions/0/message", error);
    if (found != nullptr) message = std::string(found->as_string());
    return absl::StrContains(message, "waits for 1 of 7 tasks");
  }));
  EXPECT_THAT(message, AllOf(HasSubstr("waits for 1 of 7 tasks"), HasSubstr("worker needs cpu 12"),
                             HasSubstr("6 nodes have at most 4 free")));
  EXPECT_TRUE(Eventually(
      [&] { return absl::StrContains(*plane().Call("GET", api::PathOf(api::kEvents, ns_)).body, message); }));
  const auto states = PodStates();
  for (const auto& [pod, state] : states) EXPECT_EQ(state, "Pending") << pod;
  EXPECT_EQ(states.size(), 7u);
  EXPECT_EQ(Field(JobPath("too-large"), "/status/state/phase"), "Pending");
}

TEST_F(StoriesTest, AJobThatNoWebhookFilledInIsAGangAllTheSame) {
  ASSERT_TRUE(plane()
                  .Create(R"(
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: ctr-volcano}
spec:
  tasks:
  - replicas: 3
    template: {spec: {containers: [{name: main, image: example.test/app:v1, resources: {requests: {cpu: 1}}}]}}
)",
                          ns_)
                  .ok());
  ASSERT_TRUE(AllRun(3));
  EXPECT_EQ(Field(api::PathOf(api::kPodGroups, ns_), "/items/0/spec/minMember"), "3");
  EXPECT_EQ(Field(api::PathOf(api::kPodGroups, ns_), "/items/0/spec/queue"), "default");
  EXPECT_EQ(Field(PodPath("default0-2"), "/spec/schedulerName"), "volcano");
}

// Runs last: reads what all the others left in the log.
TEST_F(StoriesTest, ZzTheCheckersFindNothingInTheAuditLog) {
  const std::string log = plane().AuditLog();
  EXPECT_THAT(log, Not(HasSubstr(R"("authorization.k8s.io/decision":"forbid")"))) << "the shipped roles lack something";
  const auto records = ReadAuditLog(log);
  ASSERT_TRUE(records.ok()) << records.status();
  Checker checker(RulesOfAuditLog());
  std::map<std::string, int> by_client;
  for (const sandbox::JournalRecord& record : *records) {
    checker.OnRecord(record);
    ++by_client[record.client];
  }
  checker.AtEnd(records->back().time);
  EXPECT_THAT(checker.violations(), IsEmpty());
  EXPECT_GT(by_client["gangway-scheduler"], 0);
  EXPECT_GT(by_client["gangway-controller"], 0);
  EXPECT_GT(by_client["kwok"], 0);
}

}  // namespace
}  // namespace gangway::testutil
