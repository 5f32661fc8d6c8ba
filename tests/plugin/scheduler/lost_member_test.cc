// Gangs that lost a member, as it is written: who is completed, and who goes.
#include "plugin/scheduler/scheduler.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "api/resource.h"
#include "tests/plugin/scheduler/scheduler_fixture.h"
#include "tests/testing/fake_client.h"

namespace gangway::scheduler {
namespace {

using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// A gang of three on three nodes, which fills them; what took the place of its third member leaves it no room.
class LostMemberTest : public SchedulerTest {
 protected:
  void Runs() {
    AddNodes(3);
    AddGroup("g", 3);
    for (int i = 0; i < 3; ++i) AddPod(absl::StrCat("g-w-", i), "g", "16");
    loop_.RunFor(absl::Seconds(1));
    for (int i = 0; i < 3; ++i) SetPhase(absl::StrCat("g-w-", i), "Running");
    loop_.RunFor(absl::Seconds(1));
    ASSERT_EQ(Phase("g"), "Running");
  }
  void Grace(const std::string& grace) {
    const kube::Response reply =
        Ask("PATCH", api::PathOf(api::kQueues, "", "default"),
            absl::StrCat(R"({"metadata":{"annotations":{"gangway.io/lost-member-grace":")", grace, R"("}}})"),
            "application/merge-patch+json");
    ASSERT_TRUE(reply.ok()) << *reply.body;
  }
  void LosesItsNode() {
    Delete(api::kPods, "g-w-2");
    AddPod("other", "", "16");
    Bind("other", NodeWithout());
    AddPod("g-w-2", "g", "16");
  }
  std::string NodeWithout() {
    for (const char* const node : {"node-000", "node-001", "node-002"}) {
      if (NodeOf("g-w-0") != node && NodeOf("g-w-1") != node) return node;
    }
    return "";
  }
};

// Between the end of a pod and its successor there is room, and somebody who has waited for it.
TEST_F(LostMemberTest, ItsRoomWaitsForThePodThatIsMadeAnew) {
  StartScheduler();
  Runs();
  AddGroup("waits", 1);
  AddPod("waits", "waits", "16");
  loop_.RunFor(absl::Seconds(2));
  Delete(api::kPods, "g-w-2");
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(NodeOf("waits"), "");
  AddPod("g-w-2", "g", "16");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_NE(NodeOf("g-w-2"), "");
  EXPECT_EQ(NodeOf("waits"), "");
}

TEST_F(LostMemberTest, AfterFiveMinutesItsRoomIsAnybodys) {
  StartScheduler();
  Runs();
  AddGroup("waits", 1);
  AddPod("waits", "waits", "16");
  loop_.RunFor(absl::Seconds(2));
  Delete(api::kPods, "g-w-2");
  loop_.RunFor(absl::Minutes(5));
  EXPECT_EQ(NodeOf("waits"), "");
  loop_.RunFor(absl::Seconds(5));
  EXPECT_NE(NodeOf("waits"), "") << "and nobody else was needed to look again";
  EXPECT_FALSE(Leaves("g-w-0")) << "its queue says nothing";
}

TEST_F(LostMemberTest, AfterAGraceThatIsWrittenItGoes) {
  StartScheduler();
  Runs();
  Grace("2m");
  LosesItsNode();
  loop_.RunFor(absl::Seconds(118));
  EXPECT_EQ(Phase("g"), "Unknown");
  EXPECT_FALSE(Leaves("g-w-0"));
  loop_.RunFor(absl::Seconds(10));
  for (const char* const pod : {"g-w-0", "g-w-1"}) {
    EXPECT_TRUE(Leaves(pod)) << pod;
    EXPECT_THAT(Conditions(api::kPods, pod), Contains(HasSubstr("DisruptionTarget=True PreemptionByScheduler")));
  }
  EXPECT_THAT(Conditions(api::kPodGroups, "g"),
              Contains(ContainsRegex("GangReleased=True LostMember: evicted 2 of 3 tasks: it was whole, and has lacked "
                                     "members since 2[-0-9TZ:]*; it waits for 1 of 3 tasks: .*g-w-0/")));
  EXPECT_THAT(Events("g"), Contains(HasSubstr("Normal Evict evicted 2 of 3 tasks: it was whole")));
  EXPECT_NE(NodeOf("other"), "");
}

// Counted from when the PodGroup said so, whoever runs.
TEST_F(LostMemberTest, ARestartedSchedulerCountsOn) {
  StartScheduler();
  Runs();
  Grace("10m");
  LosesItsNode();
  loop_.RunFor(absl::Minutes(9));
  Crash();
  StartScheduler();
  loop_.RunFor(absl::Seconds(50));
  EXPECT_FALSE(Leaves("g-w-0"));
  loop_.RunFor(absl::Seconds(20));
  EXPECT_TRUE(Leaves("g-w-0") && Leaves("g-w-1"));
}

// At each write of it: the next goes on, and nobody stays behind.
TEST_F(LostMemberTest, ACrashInTheMiddleIsFinishedByTheNext) {
  StartScheduler();
  Runs();
  Grace("2m");
  for (int crash_after = 0; crash_after <= 6; ++crash_after) {
    SCOPED_TRACE(crash_after);
    LosesItsNode();
    loop_.RunFor(absl::Seconds(110));
    ASSERT_FALSE(Leaves("g-w-0"));
    int sent = 0;
    fate_ = [&](const kube::Request& request) {
      return request.method != "GET" && ++sent > crash_after ? Lose(sandbox::RequestFate::Loss::kRequest)
                                                             : sandbox::RequestFate{};
    };
    loop_.RunFor(absl::Seconds(20));
    Crash();
    fate_ = nullptr;
    StartScheduler();
    loop_.RunFor(absl::Seconds(20));
    EXPECT_TRUE(Leaves("g-w-0") && Leaves("g-w-1"));
    for (const char* const pod : {"g-w-0", "g-w-1", "g-w-2", "other"}) Delete(api::kPods, pod);
    for (int i = 0; i < 3; ++i) AddPod(absl::StrCat("g-w-", i), "g", "16");
    loop_.RunFor(absl::Seconds(2));
    for (int i = 0; i < 3; ++i) SetPhase(absl::StrCat("g-w-", i), "Running");
    loop_.RunFor(absl::Seconds(2));
    ASSERT_EQ(Phase("g"), "Running");
  }
}

}  // namespace
}  // namespace gangway::scheduler
