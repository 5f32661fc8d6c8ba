// Two schedulers of different names over the same objects: each touches its own.
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/plugin/scheduler/scheduler_fixture.h"

namespace gangway::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SideBySideTest : public SchedulerTest {
 protected:
  ~SideBySideTest() override {
    other_.reset();
    other_client_.reset();
  }
  void StartBoth() {
    fate_ = [this](const kube::Request& request) { return Noted(request, touched_); };
    StartScheduler();
    sandbox::Faults faults;
    faults.request = [this](const kube::Request& request) { return Noted(request, touched_by_other_); };
    other_client_ = std::make_unique<sandbox::InProcessClient>(loop_, server_, "other-scheduler", std::move(faults));
    Options options;
    options.name = "other";
    other_ = std::make_unique<RunningScheduler>(loop_, *other_client_, std::move(options));
    other_->Start();
  }
  // Which of the groups a to c, or their pods, somebody writes, or tells something of.
  static sandbox::RequestFate Noted(const kube::Request& request, std::set<std::string>& touched) {
    for (const char* const name : {"a", "b", "c"}) {
      const bool written = absl::StrContains(request.path, absl::StrCat("/podgroups/", name)) ||
                           absl::StrContains(request.path, absl::StrCat("/pods/", name, "-"));
      const bool told = absl::StrContains(request.path, "/events") &&
                        (absl::StrContains(request.body, absl::StrCat("\"name\":\"", name, "\"")) ||
                         absl::StrContains(request.body, absl::StrCat("\"name\":\"", name, "-")));
      if (request.method != "GET" && (written || told)) touched.insert(name);
    }
    return {};
  }
  // `scheduler`: "", or what the controller that made it says.
  void AddGroupOf(const std::string& scheduler, const std::string& name, int min_member) {
    const std::string note =
        scheduler.empty() ? "" : absl::StrCat(R"(,"annotations":{"gangway.io/scheduler-name":")", scheduler, R"("})");
    Create(api::kPodGroups,
           absl::StrCat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":")", name,
                        R"(")", note, R"(},"spec":{"minMember":)", min_member, R"(,"queue":"default"}})"));
  }
  void AddPodOf(const std::string& scheduler, const std::string& name, const std::string& group) {
    Create(
        api::kPods,
        absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name, R"(",)", owner_,
                     R"("annotations":{"scheduling.k8s.io/group-name":")", group, R"("}},"spec":{"schedulerName":")",
                     scheduler, R"(","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}})"));
  }
  std::unique_ptr<sandbox::InProcessClient> other_client_;
  std::unique_ptr<RunningScheduler> other_;
  std::set<std::string> touched_, touched_by_other_;
};

// Groups that nobody notes a scheduler on: their pods say it.
TEST_F(SideBySideTest, APodGroupIsWhosePodsItHas) {
  AddNodes(1, 2);
  for (const char* const name : {"a", "b"}) {
    const std::string scheduler = name == std::string("a") ? "volcano" : "other";
    AddGroupOf("", name, 2);
    AddPodOf(scheduler, absl::StrCat(name, "-0"), name);
  }
  StartBoth();
  loop_.RunFor(absl::Seconds(10));
  EXPECT_THAT(Conditions(api::kPodGroups, "b"), ElementsAre(HasSubstr("1 pod exists")));
  AddPodOf("volcano", "a-1", "a");
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(NodeOf("a-0"), "node-000");
  AddPodOf("other", "b-1", "b");
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(NodeOf("b-0"), "") << "the node is full";
  EXPECT_THAT(Conditions(api::kPodGroups, "b"), ElementsAre(HasSubstr("waits for 2 of 2 tasks: a task needs cpu 1")));
  EXPECT_THAT(touched_, ElementsAre("a"));
  EXPECT_THAT(touched_by_other_, ElementsAre("b"));
}

TEST_F(SideBySideTest, BeforeItHasPodsItsControllerSaysWhoseItIs) {
  AddNodes(1);
  AddGroupOf("volcano", "a", 1);
  AddGroupOf("other", "b", 1);
  StartBoth();
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(Phase("a"), "Inqueue");
  EXPECT_EQ(Phase("b"), "Inqueue");
  EXPECT_THAT(touched_, ElementsAre("a"));
  EXPECT_THAT(touched_by_other_, ElementsAre("b"));
  AddPodOf("other", "b-0", "b");
  AddPodOf("volcano", "a-0", "a");
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(Phase("a"), "Running");
  EXPECT_EQ(Phase("b"), "Running");
  EXPECT_THAT(touched_, ElementsAre("a"));
  EXPECT_THAT(touched_by_other_, ElementsAre("b"));
}

// Volcano's own controller notes nothing, and makes the pods once somebody has let the group in.
TEST_F(SideBySideTest, AGroupOfNobodyKnownIsLetIn) {
  AddNodes(1);
  AddGroupOf("", "c", 1);
  StartBoth();
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(Phase("c"), "Inqueue");
  AddPodOf("other", "c-0", "c");
  touched_.clear();
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(Phase("c"), "Running");
  EXPECT_EQ(NodeOf("c-0"), "node-000");
  EXPECT_THAT(touched_, IsEmpty());
}

// What both say of queues is the same, whoever's pods hold it.
TEST_F(SideBySideTest, BothCountAllPodsOfAQueue) {
  AddNodes(1);
  AddGroupOf("", "a", 1);
  AddGroupOf("", "b", 1);
  AddPodOf("volcano", "a-0", "a");
  AddPodOf("other", "b-0", "b");
  StartBoth();
  loop_.RunFor(absl::Seconds(10));
  const auto version = [this] { return Text(Get(api::kQueues, "default"), "/metadata/resourceVersion"); };
  EXPECT_EQ(Text(Get(api::kQueues, "default"), "/status/allocated/cpu"), "2");
  const std::string before = version();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(version(), before) << "neither writes what the other takes back";
}

}  // namespace
}  // namespace gangway::scheduler
