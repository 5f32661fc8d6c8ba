// Jobs with ttlSecondsAfterFinished, on the sandbox's API server and its garbage collector (recorded:
// tests/golden/volcano/ttl).
#include "gmock/gmock.h"
#include "tests/plugin/controller/controllers_fixture.h"
#include "tests/plugin/lifecycle/job/world.h"

namespace gangway::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testutil::JobText;

class TtlControllerTest : public ControllersTest {
 protected:
  // A Job of one pod that has just succeeded.
  void Finish(const std::string& extra) {
    StartJob("j", JobText("j", 1, {{"w", 1}}, extra));
    SetPod("j-w-0", "Succeeded");
  }
  absl::Time Finished() { return Job("j").status.state.last_transition_time.at; }
};

TEST_F(TtlControllerTest, TheJobGoesWithItsPodsWhenItsTimeIsOver) {
  Start();
  Finish(R"("ttlSecondsAfterFinished":30)");
  EXPECT_EQ(Phase("j"), "Completed");
  const int writes = writes_;
  loop_.RunFor(Finished() + absl::Seconds(29) - loop_.Now());
  EXPECT_EQ(Phase("j"), "Completed");
  EXPECT_EQ(writes_, writes);
  Run(absl::Seconds(2));
  EXPECT_THAT(Names(api::kJobs), IsEmpty());
  EXPECT_THAT(Names(api::kPods), IsEmpty());
  EXPECT_THAT(Names(api::kPodGroups), IsEmpty());
}

TEST_F(TtlControllerTest, ZeroIsAtOnceAndNothingIsLeft) {
  Start();
  Finish(R"("ttlSecondsAfterFinished":0)");
  Run(absl::Seconds(2));
  EXPECT_THAT(Names(api::kJobs), IsEmpty());
  EXPECT_THAT(Names(api::kPods), IsEmpty());
}

TEST_F(TtlControllerTest, ItIsKeptOverARestartOfTheController) {
  Start();
  Finish(R"("ttlSecondsAfterFinished":30)");
  const absl::Time finished = Finished();
  Crash();
  Run(absl::Seconds(10));
  Start();
  loop_.RunFor(finished + absl::Seconds(29) - loop_.Now());
  EXPECT_THAT(Names(api::kJobs), ElementsAre("j"));
  Run(absl::Seconds(2));
  EXPECT_THAT(Names(api::kJobs), IsEmpty());
}

TEST_F(TtlControllerTest, WhatExpiredWhileNobodyWatchedGoesAtOnce) {
  Start();
  Finish(R"("ttlSecondsAfterFinished":30)");
  Crash();
  Run(absl::Hours(1));
  Start();
  Run(absl::Seconds(2));
  EXPECT_THAT(Names(api::kJobs), IsEmpty());
}

TEST_F(TtlControllerTest, ALostDeletionIsAskedForAgain) {
  Start();
  int deletions = 0;
  fate_ = [&](const kube::Request& request) {
    sandbox::RequestFate fate;
    if (request.method == "DELETE" && absl::StrContains(request.path, "/jobs/") && ++deletions < 3)
      fate.loss = sandbox::RequestFate::Loss::kRequest;
    return fate;
  };
  Finish(R"("ttlSecondsAfterFinished":1)");
  Run(absl::Seconds(10));
  EXPECT_EQ(deletions, 3);
  EXPECT_THAT(Names(api::kJobs), IsEmpty());
}

TEST_F(TtlControllerTest, AnAbortedJobStays) {
  Start();
  StartJob("j", JobText("j", 1, {{"w", 1}}, R"("ttlSecondsAfterFinished":1)"));
  Command("abort", "AbortJob", "j");
  Delete(api::kPods, "j-w-0");
  Run(absl::Minutes(1));
  EXPECT_EQ(Phase("j"), "Aborted");
}

TEST_F(TtlControllerTest, TheTtlOfAJobCannotBeChanged) {
  Start();
  StartJob("j", JobText("j", 1, {{"w", 1}}, R"("ttlSecondsAfterFinished":30)"));
  const kube::Response reply =
      Ask("PATCH", api::PathOf(api::kJobs, "default", "j"), R"({"spec":{"ttlSecondsAfterFinished":60}})");
  EXPECT_EQ(reply.code, 400);
  EXPECT_THAT(*reply.body, ::testing::HasSubstr("spec.ttlSecondsAfterFinished"));
}

}  // namespace
}  // namespace gangway::controller
