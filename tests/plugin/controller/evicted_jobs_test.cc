// Jobs whose pods the scheduler deletes for another gang: they begin anew, and not before all who go have been told to.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/controller/controllers_fixture.h"
#include "tests/plugin/lifecycle/job/world.h"
#include "tests/testing/fake_client.h"

namespace gangway::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testutil::JobText;

class EvictedJobsTest : public ControllersTest {
 protected:
  EvictedJobsTest() {
    Start();
    for (const char* const job : {"one", "two"}) StartJob(job, JobText(job, 1, {{"w", 1}}));
    Run(absl::Seconds(5));
    for (const char* const job : {"one", "two"}) Name(job);
    writes_ = 0;
  }
  std::string UidOf(const std::string& pod) {
    return std::string(Get(api::kPods, pod).at("metadata").at("uid").as_string());
  }
  // As the scheduler does it, in this order.
  void Name(const std::string& job, const std::string& why = "for another") {
    const std::string pod = absl::StrCat(job, "-w-0");
    Patch(
        api::kPodGroups, GroupOf(job),
        absl::StrCat(
            R"({"status":{"conditions":[{"type":"GangReleased","status":"True","reason":"Reclaimed","message":"evicted 1 of 1 task )",
            why, " [", pod, "/", UidOf(pod), R"(]"}]}})"));
  }
  void Mark(const std::string& job) {
    Patch(api::kPods, absl::StrCat(job, "-w-0"),
          R"({"status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"}]}})",
          "status");
  }
  void Delete(const std::string& job) {
    Ask("DELETE", api::PathOf(api::kPods, "default", absl::StrCat(job, "-w-0")),
        R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0})");
  }
};

TEST_F(EvictedJobsTest, NothingIsWrittenOfThemUntilTheLastIsToldToGo) {
  Mark("one");
  Delete("one");
  Run(absl::Seconds(1));
  EXPECT_EQ(writes_, 0);
  EXPECT_THAT(Names(api::kPods), ElementsAre("two-w-0"));
  Mark("two");
  Run(absl::Milliseconds(100));
  EXPECT_EQ(writes_, 0);
  Delete("two");
  Run(absl::Milliseconds(400));
  EXPECT_EQ(writes_, 0) << "others may be named next";
  Run(absl::Milliseconds(200));
  EXPECT_THAT(Names(api::kPods), ElementsAre("one-w-0", "two-w-0"));
  Run(absl::Seconds(3));
  for (const char* const job : {"one", "two"}) {
    EXPECT_EQ(Job(job).status.retry_count, 0) << job;
    EXPECT_EQ(Phase(job), "Pending") << job;
  }
}

TEST_F(EvictedJobsTest, OneThatIsNeverToldHoldsTheOthersUpForFiveSeconds) {
  Mark("one");
  Delete("one");
  Run(absl::Milliseconds(4900));
  EXPECT_THAT(Names(api::kPods), ElementsAre("two-w-0"));
  Run(absl::Milliseconds(200));
  EXPECT_THAT(Names(api::kPods), ElementsAre("one-w-0", "two-w-0"));
}

// Others are named all the time.
TEST_F(EvictedJobsTest, NobodyIsPutOffForMoreThanHalfAMinute) {
  Mark("one");
  Delete("one");
  for (int second = 0; second < 29; ++second) {
    Patch(api::kPodGroups, GroupOf("two"),
          absl::StrCat(R"({"status":{"conditions":[{"type":"GangReleased","status":"True","message":"evicted )", second,
                       " [two-w-0/", UidOf("two-w-0"), R"(]"}]}})"));
    Run(absl::Seconds(1));
  }
  EXPECT_THAT(Names(api::kPods), ElementsAre("two-w-0"));
  Run(absl::Seconds(2));
  EXPECT_THAT(Names(api::kPods), ElementsAre("one-w-0", "two-w-0"));
}

TEST_F(EvictedJobsTest, ACommandIsCarriedOutAtOnce) {
  Command("stop", "AbortJob", "one");
  EXPECT_THAT(Names(api::kCommands), IsEmpty());
  EXPECT_EQ(Phase("one"), "Aborted");
}

TEST_F(EvictedJobsTest, WhoIsNotEvictedIsNotPutOff) {
  Create(api::kJobs, JobText("three", 1, {{"w", 1}}));
  LetIn("three");
  EXPECT_THAT(Names(api::kPods), ElementsAre("one-w-0", "three-w-0", "two-w-0"));
  RunPods("three");
  Run(absl::Seconds(5));
  ASSERT_EQ(Phase("three"), "Running");
  Name("one", "for a third");
  Run(absl::Milliseconds(100));
  SetPod("three-w-0", "Succeeded");
  EXPECT_EQ(Phase("three"), "Completed");
}

// The API server's time is for the deletions.
TEST_F(EvictedJobsTest, WhatIsOnlyToldOfOthersWaitsUntilTheLastIsToldToGo) {
  Create(api::kJobs, JobText("three", 1, {{"w", 1}}));
  LetIn("three");
  SetPod("three-w-0", "Running");
  EXPECT_EQ(Phase("three"), "Pending");
  for (const char* const job : {"one", "two"}) Delete(job);
  Run(absl::Milliseconds(400));
  EXPECT_EQ(Phase("three"), "Pending") << "others may be named next";
  Run(absl::Milliseconds(200));
  EXPECT_EQ(Phase("three"), "Running");
}

// A Job that would be restarted for the loss of a pod, of which nothing but the PodGroup says that it is evicted.
class ToldByPodGroupTest : public ControllersTest {
 protected:
  ToldByPodGroupTest() {
    Start();
    StartJob("one", JobText("one", 1, {{"w", 1}}, R"("policies":[{"event":"PodEvicted","action":"RestartJob"}])"));
    Run(absl::Seconds(5));
    fate_ = [this](const kube::Request& request) {
      sandbox::RequestFate fate;
      if (request.method != "GET" || !absl::StrContains(request.path, "/podgroups/")) return fate;
      ++questions_;
      fate.request_delay = answers_take_;
      if (refused_ > 0 && refused_-- > 0) fate.answer = testutil::Refusal(500, "InternalError");
      return fate;
    };
  }
  // From now on the controller hears nothing of PodGroups.
  void PodGroupsLag() {
    watch_fate_ = [](const kube::Request& watch) {
      sandbox::WatchFate fate;
      if (absl::StrContains(watch.path, "/podgroups")) fate.delay = absl::Minutes(10);
      return fate;
    };
  }
  void Name() {
    const std::string uid(Get(api::kPods, "one-w-0").at("metadata").at("uid").as_string());
    Patch(
        api::kPodGroups, GroupOf("one"),
        absl::StrCat(
            R"({"status":{"conditions":[{"type":"GangReleased","status":"True","reason":"Reclaimed","message":"evicted 1 of 1 task [one-w-0/)",
            uid, R"(]"}]}})"));
  }
  void Evict() {
    Name();
    Delete(api::kPods, "one-w-0");
  }
  void ExpectBegunAnew(int version) {
    EXPECT_EQ(Job("one").status.version, version);
    EXPECT_EQ(Job("one").status.retry_count, version);
    EXPECT_THAT(Names(api::kPods), ElementsAre("one-w-0"));
  }
  absl::Duration answers_take_ = absl::ZeroDuration();
  int questions_ = 0, refused_ = 0;
};

TEST_F(ToldByPodGroupTest, ItIsNoLoss) {
  Evict();
  Run(absl::Seconds(5));
  ExpectBegunAnew(0);
  EXPECT_EQ(questions_, 0);
}

TEST_F(ToldByPodGroupTest, ItIsNoLossThoughThePodGroupGoesBeforeThePod) {
  Name();
  Run(absl::Seconds(1));
  Delete(api::kPodGroups, GroupOf("one"));
  Delete(api::kPods, "one-w-0");
  Run(absl::Seconds(5));
  EXPECT_EQ(Job("one").status.version, 0);
}

TEST_F(ToldByPodGroupTest, ItIsNoLossThoughThePodsEndIsHeardOfFirst) {
  PodGroupsLag();
  Evict();
  Run(absl::Seconds(5));
  ExpectBegunAnew(0);
  EXPECT_EQ(questions_, 1);
}

TEST_F(ToldByPodGroupTest, WhetherItIsIsAskedUntilThereIsAnAnswer) {
  PodGroupsLag();
  refused_ = 3;
  Evict();
  EXPECT_EQ(Job("one").status.version, 0);
  Run(absl::Seconds(5));
  ExpectBegunAnew(0);
  EXPECT_EQ(questions_, 4);
}

TEST_F(ToldByPodGroupTest, ALossOfWhichNobodySaysWhyIsOne) {
  PodGroupsLag();
  Delete(api::kPods, "one-w-0");
  Run(absl::Seconds(5));
  EXPECT_EQ(Job("one").status.version, 1);
}

TEST_F(ToldByPodGroupTest, LossesOneAfterTheOtherPutOffTheRestartForTwoSeconds) {
  StartJob("many", JobText("many", 30, {{"w", 30}}, R"("policies":[{"event":"PodEvicted","action":"RestartJob"}])"));
  Run(absl::Seconds(5));
  PodGroupsLag();
  answers_take_ = absl::Milliseconds(150);
  const auto lose = [this](int i) {
    Ask("DELETE", api::PathOf(api::kPods, "default", absl::StrCat("many-w-", i)),
        R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0})");
    Run(absl::Milliseconds(100));
  };
  for (int i = 0; i < 20; ++i) lose(i);
  EXPECT_EQ(Job("many").status.version, 0);
  for (int i = 20; i < 25; ++i) lose(i);
  EXPECT_EQ(Job("many").status.version, 1);
}

}  // namespace
}  // namespace gangway::controller
