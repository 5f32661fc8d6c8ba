// Who must leave, on a real API server, by the real program with the roles it ships with: by priority, by share, and to
// bring free room together. Afterwards the checkers of the simulation read the audit log, and find what is made to be
// wrong in it.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/json_value.h"
#include "api/volcano/release.h"
#include "api/volcano/scheduling.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/audit_journal.h"
#include "tests/e2e/audit_rules.h"
#include "tests/e2e/installed_gangway.h"
#include "tests/simulation/checkers.h"

namespace gangway::testutil {
namespace {

using sandbox::JournalRecord;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kMergePatch[] = "application/merge-patch+json";

struct JobIs {
  std::string name;
  int pods = 1, cpu = 1;
  std::string queue = "default", priority = {}, annotations = {};
};

class EvictionsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!ControlPlane::ToolsPresent()) return;
    auto gangway = InstalledGangway::Start({.nodes = 3});  // of 16 cpu
    ASSERT_TRUE(gangway.ok()) << gangway.status();
    gangway_ = gangway->release();
    ASSERT_TRUE(plane()
                    .Create(R"(
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: low}
value: 10
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 100
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: ads}
spec: {weight: 1}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: lab}
spec: {weight: 1}
)")
                    .ok());
  }
  static void TearDownTestSuite() {
    delete gangway_;
    gangway_ = nullptr;
  }
  void SetUp() override {
    if (!ControlPlane::ToolsPresent()) GTEST_SKIP() << "there is no control plane on this machine";
    ASSERT_NE(gangway_, nullptr);
    ns_ = absl::AsciiStrToLower(absl::StrCat("e-", ::testing::UnitTest::GetInstance()->current_test_info()->name()))
              .substr(0, 60);
    ASSERT_EQ(plane().Call("POST", "/api/v1/namespaces", absl::StrCat(R"({"metadata":{"name":")", ns_, R"("}})")).code,
              201);
  }
  // The next story has the cluster to itself.
  void TearDown() override {
    if (gangway_ == nullptr) return;
    plane().Call("DELETE", api::PathOf(api::kJobs, ns_));
    EXPECT_TRUE(Eventually([&] { return ItemsOf(api::kPods).empty(); }));
  }

  static ControlPlane& plane() { return gangway_->plane(); }
  // A gang as a whole. It has one retry, and a policy by which an eviction would spend it.
  void Submit(const JobIs& job) {
    const absl::Status status = plane().Create(
        absl::StrCat(R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":")", job.name,
                     R"(","annotations":{)", job.annotations, R"(}},"spec":{"maxRetry":1,"minAvailable":)", job.pods,
                     R"(,"queue":")", job.queue, R"(",)",
                     job.priority.empty() ? "" : absl::StrCat(R"("priorityClassName":")", job.priority, R"(",)"),
                     R"("policies":[{"event":"PodEvicted","action":"RestartJob"}],"tasks":[{"name":"w","replicas":)",
                     job.pods, R"(,"policies":[{"event":"TaskCompleted","action":"CompleteJob"}],)",
                     R"("template":{"spec":{"terminationGracePeriodSeconds":1,"restartPolicy":"Never","containers":[)",
                     R"({"name":"main","image":"example.test/app:v1","resources":{"requests":{"cpu":)", job.cpu,
                     "}}}]}}}]}}"),
        ns_);
    ASSERT_TRUE(status.ok()) << status;
  }
  boost::json::value Get(const std::string& path) const {
    auto value = api::ParseJson(*plane().Call("GET", path).body);
    return value.ok() ? *std::move(value) : boost::json::value(nullptr);
  }
  boost::json::array ItemsOf(const api::Resource& resource) const {
    return Get(api::PathOf(resource, ns_)).at("items").as_array();
  }
  std::string Field(const std::string& job, const std::string& pointer) const {
    boost::system::error_code error;
    const boost::json::value object = Get(api::PathOf(api::kJobs, ns_, job));
    const auto* const found = object.find_pointer(pointer, error);
    return found == nullptr     ? ""
           : found->is_string() ? std::string(found->as_string())
                                : boost::json::serialize(*found);
  }
  [[nodiscard]] bool Runs(const JobIs& job) const {
    const bool runs = Eventually([&] { return Field(job.name, "/status/running") == absl::StrCat(job.pods); });
    if (!runs)
      ADD_FAILURE() << job.name
                    << " does not run: " << boost::json::serialize(Get(api::PathOf(api::kJobs, ns_, job.name))) << "\n"
                    << gangway_->Logs();
    return runs;
  }
  // Its pods have succeeded, and the Job is Completed.
  void Finish(const JobIs& job) {
    for (int i = 0; i < job.pods; ++i) {
      plane().Call("PATCH", api::PathOf(api::kPods, ns_, absl::StrCat(job.name, "-w-", i)),
                   R"({"metadata":{"annotations":{"test.kwok/finish":"succeed"}}})", kMergePatch);
    }
    EXPECT_TRUE(Eventually([&] { return Field(job.name, "/status/state/phase") == "Completed"; }));
  }
  // "Preempted: evicted 3 of 3 tasks for ..."; of the job's PodGroup.
  std::string ToldOf(const std::string& job) const {
    for (const boost::json::value& group : ItemsOf(api::kPodGroups)) {
      if (!absl::StartsWith(api::AbslView(group.at("metadata").at("name").as_string()), job + "-")) continue;
      const auto decoded = api::Decode<api::volcano::PodGroup>(boost::json::serialize(group));
      EXPECT_TRUE(decoded.ok()) << decoded.status();
      const auto* const told = decoded.ok() ? api::volcano::LatestRelease(decoded->status) : nullptr;
      if (told != nullptr) return absl::StrCat(told->reason, ": ", told->message);
    }
    return "";
  }
  // Kinds of objects on which an event Evict stands.
  std::set<std::string> KindsWithEvent() const {
    std::set<std::string> kinds;
    for (const boost::json::value& event : ItemsOf(api::kEvents)) {
      if (event.at("reason") == "Evict") kinds.emplace(event.at("involvedObject").at("kind").as_string());
    }
    return kinds;
  }
  // What the victim is told on pod, PodGroup and Job, and that it spends nothing.
  void ExpectEvicted(const JobIs& job, const std::string& reason, const std::string& for_whom) {
    EXPECT_THAT(ToldOf(job.name),
                AllOf(HasSubstr(reason + ": evicted "), HasSubstr(absl::StrCat(" for ", ns_, "/", for_whom))));
    EXPECT_TRUE(Eventually([&] { return KindsWithEvent() == std::set<std::string>{"Pod", "PodGroup", "Job"}; }))
        << ::testing::PrintToString(KindsWithEvent());
    EXPECT_THAT(Field(job.name, "/status/retryCount"), ::testing::AnyOf("", "0"));
    EXPECT_THAT(EvictedByScheduler(), Contains(absl::StrCat(ns_, "/", job.name, "-w-0")));
  }

  static std::vector<JournalRecord> Journal() {
    auto records = ReadAuditLog(plane().AuditLog());
    EXPECT_TRUE(records.ok()) << records.status();
    return records.ok() ? *std::move(records) : std::vector<JournalRecord>();
  }
  // Pods of which their PodGroup says that they had to go.
  static std::set<std::string> EvictedByScheduler() {
    std::set<std::string> pods;
    for (const JournalRecord& record : Journal()) {
      if (record.resource != &api::kPodGroups || record.after == nullptr) continue;
      const auto group = api::Decode<api::volcano::PodGroup>(*record.after);
      const auto* const release = group.ok() ? api::volcano::LatestRelease(group->status) : nullptr;
      if (release == nullptr || release->reason == "NotWhole") continue;
      for (const api::volcano::ReleasedPod& pod : api::volcano::ReleasedPods(*release))
        pods.insert(absl::StrCat(record.key.ns, "/", pod.name));
    }
    return pods;
  }
  // Rules that are broken in the records, each as `change` makes it.
  static std::set<Rule> BrokenIn(const std::vector<JournalRecord>& records,
                                 const std::function<void(JournalRecord&)>& change,
                                 std::vector<std::string>& violations) {
    Checker::Rules rules = RulesOfAuditLog();
    rules.must_finish = false;
    Checker checker(rules);
    for (JournalRecord record : records) {
      change(record);
      checker.OnRecord(record);
    }
    checker.AtEnd(records.back().time + absl::Minutes(5));
    violations = checker.violations();
    return checker.broken();
  }

  static InstalledGangway* gangway_;
  std::string ns_;
};
InstalledGangway* EvictionsTest::gangway_ = nullptr;

// On each node a gang of 6 that may be moved, beside what was there first and has ended; a pod of 16 has a node when
// one of them is.
TEST_F(EvictionsTest, AGangThatMayBeMovedMakesRoomInOnePiece) {
  std::vector<JobIs> first, moves;
  for (int i = 0; i < 3; ++i) {
    first.push_back({.name = absl::StrCat("first-", i), .cpu = 10});
    moves.push_back({.name = absl::StrCat("moves-", i), .cpu = 6, .annotations = R"("gangway.io/movable":"true")"});
  }
  for (const std::vector<JobIs>& jobs : {first, moves}) {
    for (const JobIs& job : jobs) Submit(job);
    for (const JobIs& job : jobs) ASSERT_TRUE(Runs(job));
  }
  for (const JobIs& job : first) Finish(job);
  const JobIs whole{.name = "whole", .cpu = 16};
  Submit(whole);
  ASSERT_TRUE(Runs(whole));
  int moved = 0;
  for (const JobIs& job : moves) {
    ASSERT_TRUE(Runs(job));
    if (ToldOf(job.name).empty()) continue;
    ++moved;
    ExpectEvicted(job, "Moved", "whole");
  }
  EXPECT_EQ(moved, 1);
}

// Of three gangs of 16 cpu, all there is, one goes: its queue keeps what it deserves.
TEST_F(EvictionsTest, AQueueGivesBackWhatAnotherDeserves) {
  std::vector<JobIs> all;
  for (int i = 0; i < 3; ++i) all.push_back({.name = absl::StrCat("ads-", i), .pods = 2, .cpu = 8, .queue = "ads"});
  for (const JobIs& job : all) Submit(job);
  for (const JobIs& job : all) ASSERT_TRUE(Runs(job));
  const JobIs lab{.name = "lab", .pods = 2, .cpu = 8, .queue = "lab"};
  Submit(lab);
  ASSERT_TRUE(Runs(lab));
  int gone = 0;
  for (const JobIs& job : all) {
    if (ToldOf(job.name).empty()) continue;
    ++gone;
    ExpectEvicted(job, "Reclaimed", "lab");
  }
  EXPECT_EQ(gone, 1);
}

TEST_F(EvictionsTest, APriorityTakesWhatALowerOneHolds) {
  const JobIs low{.name = "low", .pods = 3, .cpu = 12, .priority = "low"},
      high{.name = "high", .pods = 3, .cpu = 12, .priority = "high"};
  Submit(low);
  ASSERT_TRUE(Runs(low));
  Submit(high);
  ASSERT_TRUE(Runs(high));
  ExpectEvicted(low, "Preempted", "high");
  Finish(high);
  ASSERT_TRUE(Runs(low));
  EXPECT_THAT(Field("low", "/status/retryCount"), ::testing::AnyOf("", "0"));
}

// Runs last: reads what all the others left in the log.
TEST_F(EvictionsTest, ZzTheCheckersFindNothingInTheAuditLogButWhatIsMadeWrong) {
  const std::vector<JournalRecord> records = Journal();
  ASSERT_FALSE(records.empty());
  std::map<std::string, int> told;
  for (const JournalRecord& record : records) {
    if (record.resource != &api::kPodGroups || record.client != "gangway-scheduler" || record.after == nullptr)
      continue;
    for (const char* const reason : {"Preempted", "Reclaimed", "Moved"})
      told[reason] += absl::StrContains(*record.after, absl::StrCat(R"("reason":")", reason, "\"")) ? 1 : 0;
  }
  for (const auto& [reason, times] : told) EXPECT_GT(times, 0) << reason;

  std::vector<std::string> violations;
  const auto as_it_is = [](JournalRecord&) {};
  BrokenIn(records, as_it_is, violations);
  EXPECT_THAT(violations, IsEmpty());

  // For whom somebody went never gets a node.
  const auto bound = std::find_if(records.begin(), records.end(), [](const JournalRecord& record) {
    return record.subresource == "binding" && absl::StartsWith(record.key.name, "high-w-");
  });
  ASSERT_NE(bound, records.end());
  EXPECT_THAT(BrokenIn({records.begin(), bound}, as_it_is, violations), Contains(Rule::kEvictedWithoutGain));
  // One who did not say that he may be moved.
  const auto said_nothing = [](JournalRecord& record) {
    const auto forget = [](Bytes& bytes) {
      if (bytes != nullptr)
        bytes = MakeBytes(absl::StrReplaceAll(*bytes, {{"gangway.io/movable", "gangway.io/other"}}));
    };
    if (record.resource != &api::kPods) return;
    forget(record.before);
    forget(record.after);
  };
  EXPECT_THAT(BrokenIn(records, said_nothing, violations), Contains(Rule::kMovedUndeclared));
  // Both had the same priority.
  const auto all_equal = [](JournalRecord& record) {
    if (record.resource == &api::kPriorityClasses && record.after != nullptr)
      record.after = MakeBytes(absl::StrReplaceAll(*record.after, {{R"("value":100)", R"("value":10)"}}));
  };
  EXPECT_THAT(BrokenIn(records, all_equal, violations), Contains(Rule::kEvictedHigher));
}

}  // namespace
}  // namespace gangway::testutil
