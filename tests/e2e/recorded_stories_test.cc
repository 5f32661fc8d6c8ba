// Every story on a real API server, by the real program with the roles it ships with: it goes the way that a real
// cluster with Volcano was recorded to go, but for the differences that the story names. Those that need the cluster
// for themselves come first, the others go on side by side. Afterwards the checkers of the simulation read the audit
// log.
#include <future>
#include <map>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/audit_journal.h"
#include "tests/e2e/audit_rules.h"
#include "tests/e2e/installed_gangway.h"
#include "tests/simulation/checkers.h"
#include "tests/stories/story.h"

namespace gangway::testutil {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class RealWorld final : public World {
 public:
  RealWorld(InstalledGangway& gangway, std::string ns) : plane_(gangway.plane()), ns_(std::move(ns)) {}
  ~RealWorld() override {
    for (const std::string& node : nodes_) plane_.Call("DELETE", api::PathOf(api::kNodes, "", node));
  }

  kube::Response Call(const std::string& method, const std::string& path, const std::string& body,
                      const std::string& content_type) override {
    kube::Response answer = plane_.Call(method, path, body, content_type);
    if (path == "/api/v1/namespaces" && answer.code == 201) {
      const absl::Status given = GiveSshRights(plane_, ns_);  // some stories have the plugin ssh
      EXPECT_TRUE(given.ok()) << given;
      const absl::Status known = AwaitSshRights(plane_, ns_);
      EXPECT_TRUE(known.ok()) << known;
    }
    return answer;
  }
  bool Eventually(const std::function<bool()>& condition) override {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::sleep_for(
          std::chrono::milliseconds(100));  // many look at one API server, at states without notification
    }
    return true;
  }
  // As the annotations tell kwok.
  void EndPod(const std::string& ns, const std::string& pod, int exit_code) override {
    Annotate(ns, pod,
             absl::StrCat(R"({"test.kwok/finish":")", exit_code == 0 ? "succeed" : "fail",
                          R"(","test.kwok/exit-code":")", exit_code, "\"}"));
  }
  void Hold() override {}
  void Release(const std::string& ns, const std::string& pod) override {
    Annotate(ns, pod, R"({"test.kwok/hold":null})");
  }
  void AddNodes(int count) override {
    const auto node = api::ParseJson(*plane_.Call("GET", api::PathOf(api::kNodes, "", "node-000")).body);
    for (int i = 0; i < count; ++i) {
      nodes_.push_back(absl::StrCat("more-", i));
      const boost::json::value more = {
          {"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", {{"name", nodes_.back()}, {"labels", {{"kubernetes.io/hostname", nodes_.back()}}}}},
          {"status",
           {{"capacity", node->at("status").at("capacity")},
            {"allocatable", node->at("status").at("allocatable")},
            {"conditions", node->at("status").at("conditions")}}}};
      EXPECT_EQ(plane_.Call("POST", api::PathOf(api::kNodes, ""), api::ToJson(more)).code, 201);
    }
  }
  bool prompt() const override { return false; }
  Phases PhasesOf(const std::string& ns) override {
    std::string lines;
    const std::string log = plane_.AuditLog();
    for (const absl::string_view line : absl::StrSplit(log, '\n')) {
      if (absl::StrContains(line, ns) || absl::StrContains(line, R"("resource":"queues")"))
        absl::StrAppend(&lines, line, "\n");
    }
    Phases phases;
    const auto records = ReadAuditLog(lines);
    EXPECT_TRUE(records.ok()) << records.status();
    if (!records.ok()) return phases;
    for (const sandbox::JournalRecord& record : *records) {
      if (record.key.ns == ns || record.resource == &api::kQueues) phases.Tell(record);
    }
    return phases;
  }

 private:
  void Annotate(const std::string& ns, const std::string& pod, const std::string& annotations) {
    const kube::Response reply =
        plane_.Call("PATCH", api::PathOf(api::kPods, ns, pod),
                    absl::StrCat(R"({"metadata":{"annotations":)", annotations, "}}"), "application/merge-patch+json");
    EXPECT_TRUE(reply.ok()) << *reply.body;
  }

  ControlPlane& plane_;
  const std::string ns_;
  std::vector<std::string> nodes_;
};

class RecordedStoriesTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  static void SetUpTestSuite() {
    if (!ControlPlane::ToolsPresent()) return;
    auto gangway = InstalledGangway::Start({.nodes = 6, .webhook = true});
    ASSERT_TRUE(gangway.ok()) << gangway.status();
    gangway_ = gangway->release();
    // As where they were recorded: volumes for the claims of the story about volumes.
    for (int i = 0; i < 4; ++i) {
      const kube::Response made = gangway_->plane().Call(
          "POST", api::PathOf(api::kPersistentVolumes, ""),
          absl::StrCat(
              R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"manual-)", i,
              R"("},"spec":{"storageClassName":"manual",)",
              R"("capacity":{"storage":"5Gi"},"accessModes":["ReadWriteMany"],"hostPath":{"path":"/nowhere"}}})"));
      ASSERT_EQ(made.code, 201) << *made.body;
    }
    Begin();
  }
  static void TearDownTestSuite() {
    if (gangway_ == nullptr) return;
    teller_.join();
    AskTheCheckers();
    delete gangway_;
    gangway_ = nullptr;
  }
  void SetUp() override {
    if (!ControlPlane::ToolsPresent()) GTEST_SKIP() << "there is no control plane on this machine";
    ASSERT_NE(gangway_, nullptr);
  }

  static bool Selected(const Story& story) {
    const ::testing::TestSuite& suite = *::testing::UnitTest::GetInstance()->current_test_suite();
    for (int i = 0; i < suite.total_test_count(); ++i) {
      const ::testing::TestInfo& test = *suite.GetTestInfo(i);
      if (test.should_run() && test.name() == "Goes/" + TestNameOf(story)) return true;
    }
    return false;
  }
  static std::string Tell(const Story& story) {
    const std::string ns = "s-" + story.name;
    RealWorld world(*gangway_, ns);
    std::string wrong = Play(story, world, ns);
    if (story.alone) Clear(ns, world);
    return wrong;
  }
  // The next one finds the cluster empty, and its nodes as they were.
  static void Clear(const std::string& ns, RealWorld& world) {
    gangway_->plane().Call("DELETE", api::PathOf(api::kJobs, ns));
    for (const char* const node : {"node-000", "node-001", "node-002", "node-003", "node-004", "node-005"}) {
      gangway_->plane().Call("PATCH", api::PathOf(api::kNodes, "", node),
                             R"({"spec":{"taints":null,"unschedulable":null}})", "application/merge-patch+json");
    }
    EXPECT_TRUE(world.Eventually([&] {
      return api::ParseJson(*gangway_->plane().Call("GET", api::PathOf(api::kPods, ns)).body)
          ->at("items")
          .as_array()
          .empty();
    }));
  }
  static void Begin() {
    for (const Story& story : AllStories()) {
      if (Selected(story)) futures_[story.name] = outcomes_[story.name].get_future();
    }
    teller_ = std::thread([] {
      std::vector<std::thread> beside;
      for (const Story& story : AllStories()) {
        if (!outcomes_.contains(story.name)) continue;
        if (story.alone) {
          outcomes_[story.name].set_value(Tell(story));
        } else {
          beside.emplace_back([&story, &outcome = outcomes_[story.name]] { outcome.set_value(Tell(story)); });
        }
      }
      for (std::thread& thread : beside) thread.join();
    });
  }

  // All stories together.
  static void AskTheCheckers() {
    const std::string log = gangway_->plane().AuditLog();
    EXPECT_THAT(log, Not(HasSubstr(R"("authorization.k8s.io/decision":"forbid")")))
        << "the shipped roles lack something";
    const auto records = ReadAuditLog(log);
    ASSERT_TRUE(records.ok()) << records.status();
    Checker::Rules rules = RulesOfAuditLog();
    rules.must_finish = false;
    Checker checker(rules);
    for (const sandbox::JournalRecord& record : *records) checker.OnRecord(record);
    checker.AtEnd(records->back().time);
    EXPECT_THAT(checker.violations(), IsEmpty());
  }

  static InstalledGangway* gangway_;
  static std::thread teller_;
  static std::map<std::string, std::promise<std::string>> outcomes_;
  static std::map<std::string, std::future<std::string>> futures_;
};
InstalledGangway* RecordedStoriesTest::gangway_ = nullptr;
std::thread RecordedStoriesTest::teller_;
std::map<std::string, std::promise<std::string>> RecordedStoriesTest::outcomes_;
std::map<std::string, std::future<std::string>> RecordedStoriesTest::futures_;

TEST_P(RecordedStoriesTest, Goes) {
  const std::string wrong = futures_.at(AllStories()[GetParam()].name).get();
  EXPECT_EQ(wrong, "") << (wrong.empty() ? "" : gangway_->Logs());
}

INSTANTIATE_TEST_SUITE_P(Real, RecordedStoriesTest, ::testing::Range(std::size_t{0}, AllStories().size()),
                         [](const auto& each) { return TestNameOf(AllStories()[each.param]); });

}  // namespace
}  // namespace gangway::testutil
