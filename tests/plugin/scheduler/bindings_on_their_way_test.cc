// Bindings that are lost, refused, late or made by others; and a scheduler that dies between them.
#include "plugin/scheduler/scheduler.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/resource.h"
#include "tests/plugin/scheduler/scheduler_fixture.h"
#include "tests/testing/fake_client.h"

namespace gangway::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace json = boost::json;

TEST_F(SchedulerTest, LostRepliesToBindingsBindNobodyTwice) {
  AddNodes(2);
  int lost = 0;
  fate_ = [&](const kube::Request& request) {
    if (!IsBinding(request) || lost >= 3) return sandbox::RequestFate{};
    ++lost;
    return Lose(sandbox::RequestFate::Loss::kReply);
  };
  StartScheduler();
  AddGroup("g", 4);
  for (int i = 0; i < 4; ++i) AddPod(absl::StrCat("g-w-", i), "g", "8");
  loop_.RunFor(absl::Seconds(20));
  EXPECT_EQ(Bound(), 4);
  EXPECT_EQ(Phase("g"), "Running");
  EXPECT_EQ(scheduler_->cluster().free(scheduler_->cluster().FindNode("node-000"), model::kCpu), 0);
  EXPECT_EQ(scheduler_->cluster().free(scheduler_->cluster().FindNode("node-001"), model::kCpu), 0);
}

TEST_F(SchedulerTest, LostBindingsAreSentAgain) {
  AddNodes(2);
  int lost = 0;
  fate_ = [&](const kube::Request& request) {
    return IsBinding(request) && ++lost <= 5 ? Lose(sandbox::RequestFate::Loss::kRequest) : sandbox::RequestFate{};
  };
  StartScheduler();
  AddGroup("g", 4);
  for (int i = 0; i < 4; ++i) AddPod(absl::StrCat("g-w-", i), "g", "8");
  loop_.RunFor(absl::Seconds(20));
  EXPECT_EQ(Bound(), 4);
  EXPECT_EQ(Phase("g"), "Running");
}

TEST_F(SchedulerTest, ARefusedBindingFreesItsRoomAndTheGangIsDecidedAnew) {
  AddNodes(2);
  fate_ = [](const kube::Request& request) {
    sandbox::RequestFate fate;
    if (IsBinding(request) && absl::StrContains(request.body, "node-000"))
      fate.answer = testutil::Refusal(403, "Forbidden");
    return fate;
  };
  StartScheduler();
  AddGroup("g", 1);
  AddPod("p", "g", "8");
  loop_.RunFor(absl::Seconds(2));
  const model::Cluster& cluster = scheduler_->cluster();
  EXPECT_EQ(cluster.free(cluster.FindNode("node-000"), model::kCpu), 16000) << "it rests and holds nothing";
  EXPECT_THAT(scheduler_->Dump(), HasSubstr("was refused: Forbidden"));
  EXPECT_EQ(Phase("g"), "Inqueue");
  EXPECT_EQ(Text(Get(api::kPods, "p"), "/status/nominatedNodeName"), "") << "nothing is awaited there";
  ASSERT_TRUE(
      Ask("PATCH", "/api/v1/nodes/node-000", R"({"spec":{"unschedulable":true}})", "application/merge-patch+json")
          .ok());
  loop_.RunFor(absl::Seconds(2));
  EXPECT_EQ(NodeOf("p"), "") << "it rests";
  loop_.RunFor(absl::Seconds(2));
  EXPECT_EQ(NodeOf("p"), "node-001");
  EXPECT_EQ(Phase("g"), "Running");
}

// The pod is made anew under its name while its binding, or the reply to it, is on its way: as with every RestartJob.
class LateBindingTest : public SchedulerTest {
 protected:
  // Pod p of a gang of one; its binding is delayed.
  void PlaceLate(absl::Duration sandbox::RequestFate::* delay) {
    AddNodes(1);
    StartScheduler();
    fate_ = [delay, delayed = false](const kube::Request& request) mutable {
      sandbox::RequestFate fate;
      if (IsBinding(request) && !std::exchange(delayed, true)) fate.*delay = absl::Seconds(5);
      return fate;
    };
    AddGroup("g", 1);
    AddPod("p", "g", "8");
    loop_.RunFor(absl::Seconds(1));
  }
};

TEST_F(LateBindingTest, ALateAcceptanceIsNotTheSuccessors) {
  ASSERT_NO_FATAL_FAILURE(PlaceLate(&sandbox::RequestFate::reply_delay));
  ASSERT_EQ(NodeOf("p"), "node-000");
  Delete(api::kPods, "p");
  AddPod("p", "g", "8");
  loop_.RunFor(absl::Seconds(3));
  ASSERT_EQ(NodeOf("p"), "") << "its gang's plan is still under way";
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(NodeOf("p"), "node-000");
}

TEST_F(LateBindingTest, ALateRefusalIsNotTheSuccessors) {
  ASSERT_NO_FATAL_FAILURE(PlaceLate(&sandbox::RequestFate::request_delay));
  Delete(api::kPods, "p");
  AddPod("p", "g", "8");
  loop_.RunFor(absl::Seconds(3));
  ASSERT_EQ(NodeOf("p"), "");
  loop_.RunFor(absl::Seconds(3));  // the binding of the pod that is gone is refused: it was for another UID
  EXPECT_EQ(NodeOf("p"), "node-000") << "its gang does not rest for a refusal of another pod";
}

TEST_F(LateBindingTest, ALateRefusalMeetsASuccessorThatHasNoNode) {
  ASSERT_NO_FATAL_FAILURE(PlaceLate(&sandbox::RequestFate::request_delay));
  std::vector<std::string> asked;
  fate_ = [&](const kube::Request& request) {
    if (request.method == "GET" && absl::EndsWith(request.path, "/pods/p")) asked.push_back(request.path);
    return sandbox::RequestFate{};
  };
  Delete(api::kPods, "p");
  AddPod("p", "g", "99");
  loop_.RunFor(absl::Seconds(10));
  EXPECT_THAT(asked, IsEmpty()) << "whoever was refused is gone";
  EXPECT_THAT(Conditions(api::kPodGroups, "g"), ElementsAre(HasSubstr("needs cpu 99")));
}

// Somebody else binds one of the pods first, to the node that the gang's other pod was to get.
TEST_F(SchedulerTest, APodBoundByOthersMeanwhileIsAccountedWhereItIs) {
  AddNodes(2);
  StartScheduler();
  bool raced = false;
  fate_ = [&](const kube::Request& request) {
    if (IsBinding(request) && !std::exchange(raced, true)) Bind("g-w-0", "node-001");
    return sandbox::RequestFate{};
  };
  AddGroup("g", 2);
  for (int i = 0; i < 2; ++i) AddPod(absl::StrCat("g-w-", i), "g", "8");
  loop_.RunFor(absl::Seconds(20));
  EXPECT_EQ(NodeOf("g-w-0"), "node-001");
  EXPECT_EQ(NodeOf("g-w-1"), "node-000");
  const model::Cluster& cluster = scheduler_->cluster();
  EXPECT_EQ(cluster.free(cluster.FindNode("node-000"), model::kCpu), 8000);
  EXPECT_EQ(cluster.free(cluster.FindNode("node-001"), model::kCpu), 8000);
  EXPECT_EQ(Phase("g"), "Running");
}

TEST_F(SchedulerTest, AGangOfWhichOthersBoundAPodDoesNotRest) {
  AddNodes(2);
  StartScheduler();
  bool raced = false;
  fate_ = [&](const kube::Request& request) {
    if (IsBinding(request) && !std::exchange(raced, true)) Bind("g-w-0", "node-001");
    return sandbox::RequestFate{};
  };
  AddGroup("g", 1);
  AddPod("g-w-0", "g", "8");
  loop_.RunFor(absl::Seconds(1));
  ASSERT_EQ(NodeOf("g-w-0"), "node-001");
  AddPod("g-w-1", "g", "8");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_NE(NodeOf("g-w-1"), "") << "nothing went wrong with it";
}

TEST_F(SchedulerTest, ACrashBetweenBindingsIsFinishedByTheNext) {
  for (int crash_after = 0; crash_after <= 4; ++crash_after) {
    SCOPED_TRACE(crash_after);
    const std::string gang = absl::StrCat("g", crash_after);
    AddNodes(1, 4);
    int sent = 0;
    fate_ = [&](const kube::Request& request) {
      return IsBinding(request) && ++sent > crash_after ? Lose(sandbox::RequestFate::Loss::kRequest)
                                                        : sandbox::RequestFate{};
    };
    StartScheduler();
    AddGroup(gang, 4);
    for (int i = 0; i < 4; ++i) AddPod(absl::StrCat(gang, "-w-", i), gang, "1");
    loop_.RunFor(absl::Milliseconds(20));
    Crash();
    fate_ = nullptr;
    loop_.RunFor(absl::Seconds(1));
    StartScheduler();
    loop_.RunFor(absl::Seconds(5));
    EXPECT_EQ(Bound(), 4 * (crash_after + 1));
    EXPECT_EQ(Phase(gang), "Running");
    Crash();
  }
}

}  // namespace
}  // namespace gangway::scheduler
