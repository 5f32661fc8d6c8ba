// The seed job's stories on a real API server, by the real program with the roles it ships with: each equals the recording of the real
// Volcano in phases and final pods, or, where there is none, what the spec says. Afterwards the checkers of the simulation read the
// audit log.
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/client/http_client.h"
#include "tests/e2e/audit_journal.h"
#include "tests/e2e/installed_gangway.h"
#include "tests/simulation/checkers.h"
#include "tests/stories/story.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
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
    ns_ = absl::AsciiStrToLower(absl::StrCat("s-", ::testing::UnitTest::GetInstance()->current_test_info()->name())).substr(0, 60);
    ASSERT_EQ(plane().Call("POST", "/api/v1/namespaces", absl::StrCat(R"({"metadata":{"name":")", ns_, R"("}})")).code, 201);
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
    return found == nullptr ? "" : found->is_string() ? std::string(found->as_string()) : boost::json::serialize(*found);
  }
  std::string JobPath(const std::string& name = "ctr-volcano") const { return api::PathOf(api::kJobs, ns_, name); }
  std::string PodPath(const std::string& name, const std::string& subresource = {}) const {
    return api::PathOf(api::kPods, ns_, "ctr-volcano-" + name, subresource);
  }
  [[nodiscard]] bool JobReaches(const std::string& phase, int retries, const std::string& name = "ctr-volcano") const {
    const bool reached = Eventually([&] {
      return Field(JobPath(name), "/status/state/phase") == phase && (retries == 0 || Field(JobPath(name), "/status/retryCount") == absl::StrCat(retries));
    });
    if (!reached) ADD_FAILURE() << phase << " not reached: " << boost::json::serialize(Get(JobPath(name))) << "\n" << gangway_->Logs();
    return reached;
  }
  [[nodiscard]] bool AllRun(int count = 4) const {
    return Eventually([&] { return Field(JobPath(), "/status/running") == absl::StrCat(count); });
  }
  // As the annotation tells kwok.
  void End(const std::string& pod, const std::string& how, int exit_code = 0) const {
    EXPECT_EQ(plane().Call("PATCH", PodPath(pod),
                           absl::StrCat(R"({"metadata":{"annotations":{"test.kwok/finish":")", how, R"(","test.kwok/exit-code":")", exit_code, "\"}}}"),
                           "application/merge-patch+json").code, 200);
  }
  // Pods that are being removed are gone.
  [[nodiscard]] bool Settles(const std::string& job = "ctr-volcano") const {
    return Eventually([&] {
      const boost::json::value pods = Get(api::PathOf(api::kPods, ns_));
      for (const auto& pod : pods.at("items").as_array()) {
        if (pod.at("metadata").as_object().contains("deletionTimestamp")) return false;
      }
      return Field(JobPath(job), "/status/terminating").empty() || Field(JobPath(job), "/status/terminating") == "0";
    });
  }
  void Command(const std::string& action) const {
    const std::string uid = Field(JobPath(), "/metadata/uid");
    const std::string target = absl::StrCat(R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"ctr-volcano","uid":")", uid,
                                            R"(","controller":true,"blockOwnerDeletion":true})");
    EXPECT_EQ(plane().Call("POST", api::PathOf(api::kCommands, ns_),
                           absl::StrCat(R"({"apiVersion":"bus.volcano.sh/v1alpha1","kind":"Command","metadata":{"generateName":"ctr-volcano-","ownerReferences":[)",
                                        target, R"(]},"action":")", action, R"(","target":)", target, "}")).code, 201);
  }
  // What the audit log tells of this namespace.
  Story Told() const {
    Story story;
    const auto records = ReadAuditLog(ReadFile(plane().audit_log()));
    EXPECT_TRUE(records.ok()) << records.status();
    if (!records.ok()) return story;
    for (const sandbox::JournalRecord& record : *records) {
      if (record.key.ns == ns_) Tell(story, record);
    }
    return story;
  }

  static InstalledGangway* gangway_;
  std::string ns_;
};
InstalledGangway* StoriesTest::gangway_ = nullptr;

TEST_F(StoriesTest, TheSeedJobToCompleted) {
  Apply("ctr-volcano.yaml");
  ASSERT_TRUE(AllRun());
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(*plane().Call("GET", api::PathOf(api::kPodGroups, ns_)).body, R"("phase":"Running")"); }));
  End("trainer-0", "succeed");
  EXPECT_TRUE(Eventually([&] { return Field(JobPath(), "/status/succeeded") == "1"; }));
  End("trainer-1", "succeed");
  ASSERT_TRUE(JobReaches("Completed", 0));
  ASSERT_TRUE(Settles());
  const Story told = Told(), recorded = ReadRecording("seed-ctr-volcano", 20.6);
  EXPECT_EQ(told.job, recorded.job);
  EXPECT_EQ(told.pod_group, recorded.pod_group);
  EXPECT_EQ(told.pods, recorded.pods);
  EXPECT_EQ(told.final_pods, recorded.final_pods);
}

TEST_F(StoriesTest, ADeletionAnEvictionAndAFailureRestartUntilTheThirdFails) {
  Apply("ctr-volcano.yaml");
  ASSERT_TRUE(AllRun());
  EXPECT_EQ(plane().Call("DELETE", PodPath("trainer-0")).code, 200);
  ASSERT_TRUE(JobReaches("Running", 1));
  ASSERT_TRUE(AllRun());
  EXPECT_EQ(plane().Call("POST", PodPath("pserver-1", "eviction"),
                         absl::StrCat(R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"ctr-volcano-pserver-1","namespace":")", ns_, "\"}}")).code, 201);
  ASSERT_TRUE(JobReaches("Running", 2));
  ASSERT_TRUE(AllRun());
  End("trainer-1", "fail", 7);
  ASSERT_TRUE(JobReaches("Failed", 3));
  ASSERT_TRUE(Settles());
  const Story told = Told(), recorded = ReadRecording("seed-evict", 17.2);
  EXPECT_EQ(told.job, recorded.job);
  EXPECT_EQ(told.final_pods, recorded.final_pods);
}

TEST_F(StoriesTest, ALostNodeRestartsTheJobOnOthers) {
  Apply("ctr-volcano.yaml");
  ASSERT_TRUE(AllRun());
  const std::string node = Field(PodPath("trainer-0"), "/spec/nodeName");
  const auto taint = [&](const std::string& taints) {
    EXPECT_EQ(plane().Call("PATCH", api::PathOf(api::kNodes, "", node), absl::StrCat(R"({"spec":{"taints":)", taints, "}}"), "application/merge-patch+json").code, 200);
  };
  // What a cluster does about a node that is gone: it taints it, and its pods are deleted.
  taint(R"([{"key":"node.kubernetes.io/out-of-service","value":"nodeshutdown","effect":"NoExecute"}])");
  ASSERT_TRUE(JobReaches("Running", 1));
  ASSERT_TRUE(AllRun());
  for (const char* const pod : {"pserver-0", "pserver-1", "trainer-0", "trainer-1"}) EXPECT_NE(Field(PodPath(pod), "/spec/nodeName"), node) << pod;
  EXPECT_EQ(Field(JobPath(), "/status/version"), "1");
  taint("null");
}

TEST_F(StoriesTest, AbortAndResume) {
  Apply("ctr-volcano.yaml");
  ASSERT_TRUE(AllRun());
  Command("AbortJob");
  ASSERT_TRUE(JobReaches("Aborted", 0));
  ASSERT_TRUE(Settles());
  EXPECT_EQ(Get(api::PathOf(api::kPods, ns_)).at("items").as_array().size(), 0u);
  EXPECT_TRUE(Eventually([&] { return Get(api::PathOf(api::kCommands, ns_)).at("items").as_array().empty(); }));
  Command("ResumeJob");
  ASSERT_TRUE(JobReaches("Running", 1));
  ASSERT_TRUE(AllRun());
  // spec/volcano-job: a resumed job goes through Restarting. The version while Aborting is not exact.
  std::vector<std::string> phases;
  for (const std::string& state : Told().job) phases.push_back(state.substr(0, state.find(' ')));
  phases.erase(std::unique(phases.begin(), phases.end()), phases.end());
  EXPECT_THAT(phases, ElementsAre("Pending", "Running", "Aborting", "Aborted", "Restarting", "Pending", "Running"));
}

TEST_F(StoriesTest, AGangThatCannotFitHoldsNothingAndSaysWhyInNumbers) {
  Apply("too-large.yaml");
  std::string message;
  const bool told = Eventually([&] {
    const boost::json::value groups = Get(api::PathOf(api::kPodGroups, ns_));
    boost::system::error_code error;
    const auto* const found = groups.find_pointer("/items/0/status/conditions/0/message", error);
    if (found != nullptr) message = std::string(found->as_string());
    return found != nullptr;
  });
  EXPECT_TRUE(told);
  EXPECT_THAT(message, AllOf(HasSubstr("waits for 1 of 7 tasks"), HasSubstr("worker needs cpu 12"), HasSubstr("6 nodes have at most 4 free")));
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(*plane().Call("GET", api::PathOf(api::kEvents, ns_)).body, message); }));
  const Story story = Told();
  for (const auto& [pod, states] : story.pods) EXPECT_THAT(states, ElementsAre("Pending")) << pod;
  EXPECT_EQ(story.pods.size(), 7u);
  EXPECT_THAT(story.job, ElementsAre("Pending v0 r0"));
}

TEST_F(StoriesTest, AJobThatNoWebhookFilledInIsAGangAllTheSame) {
  ASSERT_TRUE(plane().Create(R"(
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: ctr-volcano}
spec:
  tasks:
  - replicas: 3
    template: {spec: {containers: [{name: main, image: example.test/app:v1, resources: {requests: {cpu: 1}}}]}}
)", ns_).ok());
  ASSERT_TRUE(AllRun(3));
  EXPECT_EQ(Field(api::PathOf(api::kPodGroups, ns_), "/items/0/spec/minMember"), "3");
  EXPECT_EQ(Field(api::PathOf(api::kPodGroups, ns_), "/items/0/spec/queue"), "default");
  EXPECT_EQ(Field(PodPath("default0-2"), "/spec/schedulerName"), "volcano");
}

// Runs last: reads what all the others left in the log.
TEST_F(StoriesTest, ZzTheCheckersFindNothingInTheAuditLog) {
  const std::string log = ReadFile(plane().audit_log());
  EXPECT_THAT(log, Not(HasSubstr(R"("authorization.k8s.io/decision":"forbid")"))) << "the shipped roles lack something";
  const auto records = ReadAuditLog(log);
  ASSERT_TRUE(records.ok()) << records.status();
  Checker::Rules rules;
  rules.quiet = absl::ZeroDuration();  // kubelets and kubectl go on
  Checker checker(rules);
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
