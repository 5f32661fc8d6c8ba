// What docs/differences.md says of controllers that stop and start, and of names that are used again.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/controller/controllers_fixture.h"
#include "tests/plugin/lifecycle/job/world.h"

namespace gangway::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testutil::JobText;

class ControllersDifferencesTest : public ControllersTest {
 protected:
  // Somebody asks for the pod's deletion; it has its grace, as on a node.
  void AskToDelete(const std::string& pod) { Ask("DELETE", api::PathOf(api::kPods, "default", pod)); }
  std::string Uid(const api::Resource& resource, const std::string& name) {
    return std::string(Get(resource, name).at("metadata").at("uid").as_string());
  }
  // As if a node had it: from now on its deletion waits for the kubelet.
  void Bind(const std::string& pod) {
    const kube::Response reply = Ask("POST", api::PathOf(api::kPods, "default", pod, "binding"),
                                     absl::StrCat(R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":")", pod,
                                                  R"("},"target":{"kind":"Node","name":"n"}})"));
    ASSERT_TRUE(reply.ok()) << *reply.body;
  }
};

TEST_F(ControllersDifferencesTest, ADelayedActionHoldsOverARestartOfTheController) {
  Start();
  StartJob("j",
           JobText("j", 2, {{"w", 2}}, R"("policies":[{"event":"PodFailed","action":"TerminateJob","timeout":"5m"}])"));
  SetPod("j-w-0", "Failed", 1);
  Run(absl::Minutes(2));
  Crash();
  Run(absl::Minutes(2));
  Start();
  EXPECT_EQ(Phase("j"), "Running");
  Run(absl::Seconds(50));
  EXPECT_EQ(Phase("j"), "Running");
  Run(absl::Seconds(20));
  EXPECT_EQ(Phase("j"), "Terminated") << "five minutes after the failure, not after the restart";
}

TEST_F(ControllersDifferencesTest, ADelayedActionIsDueWhileNoControllerRuns) {
  Start();
  StartJob("j",
           JobText("j", 2, {{"w", 2}}, R"("policies":[{"event":"PodFailed","action":"TerminateJob","timeout":"5m"}])"));
  SetPod("j-w-0", "Failed", 1);
  Crash();
  Run(absl::Minutes(10));
  Start();
  EXPECT_EQ(Phase("j"), "Terminated");
}

// volcano-sh/volcano#5973, #3770, #2044.
TEST_F(ControllersDifferencesTest, AJobThatReusesANameGetsAllItsPodsAndTheOldOnesAreNoEvictions) {
  const std::string text =
      JobText("j", 2, {{"w", 2}}, R"("policies":[{"event":"PodEvicted","action":"TerminateJob"}])");
  Start();
  for (int round = 0; round < 5; ++round) {
    StartJob("j", text);
    const std::string old_job = Uid(api::kJobs, "j"), old_pod = Uid(api::kPods, "j-w-0");
    for (const char* pod : {"j-w-0", "j-w-1"}) {
      Bind(pod);
      AskToDelete(pod);
    }
    Ask("DELETE", api::PathOf(api::kJobs, "default", "j"));  // its pods still have their grace
    Create(api::kJobs, text);
    ASSERT_NE(Uid(api::kJobs, "j"), old_job);
    LetIn("j");
    EXPECT_EQ(Uid(api::kPods, "j-w-0"), old_pod) << "the name is still taken";
    Delete(api::kPods, "j-w-0");
    Delete(api::kPods, "j-w-1");
    Run(absl::Seconds(5));
    EXPECT_THAT(Names(api::kPods), ElementsAre("j-w-0", "j-w-1"));
    RunPods("j");
    EXPECT_EQ(Phase("j"), "Running");
    EXPECT_EQ(Job("j").status.retry_count, 0);
    EXPECT_EQ(Job("j").status.version, 0);
    Delete(api::kJobs, "j");
    for (const std::string& pod : Names(api::kPods)) Delete(api::kPods, pod);
    Run(absl::Seconds(5));
    ASSERT_THAT(Names(api::kPods), IsEmpty());
  }
}

// Pods come and go while the replies to their creation are lost: each loss is answered once, none is forgotten.
TEST_F(ControllersDifferencesTest, ALossDuringTheCreationOfPodsIsNotLost) {
  int posts = 0;
  fate_ = [&](const kube::Request& request) {
    sandbox::RequestFate fate;
    if (request.method == "POST" && absl::EndsWith(request.path, "/pods") && ++posts % 2 == 1)
      fate.loss = sandbox::RequestFate::Loss::kReply;
    return fate;
  };
  Start();
  Create(api::kJobs,
         JobText("j", 2, {{"w", 2}}, R"("maxRetry":9,"policies":[{"event":"PodEvicted","action":"RestartJob"}])"));
  LetIn("j");
  for (int round = 0; round <= 3; ++round) {
    EXPECT_THAT(Names(api::kPods), ElementsAre("j-w-0", "j-w-1"));
    EXPECT_EQ(Job("j").status.retry_count, round);
    EXPECT_EQ(Job("j").status.version, round);
    Delete(api::kPods, round % 2 == 0 ? "j-w-0" : "j-w-1");  // some replies are still awaited
    LetIn("j");
  }
  Run(absl::Minutes(1));
  RunPods("j");
  EXPECT_EQ(Phase("j"), "Running");
}

}  // namespace
}  // namespace gangway::controller
