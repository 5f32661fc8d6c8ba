#include "sandbox/kubelet/behaviour.h"

#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::sandbox {
namespace {

using ::testing::HasSubstr;
using testutil::StatusIs;

HostedPod TaskPod(const char* task, const char* index, const char* version = "0") {
  HostedPod pod;
  pod.metadata.name = std::string("ctr-") + task + "-" + index;
  pod.metadata.annotations = {
      {"volcano.sh/task-spec", task}, {"volcano.sh/task-index", index}, {"volcano.sh/job-version", version}};
  return pod;
}

Behaviour Rules(std::vector<std::string> finish, std::vector<std::string> fail = {}) {
  auto behaviour = Behaviour::Parse(finish, fail);
  EXPECT_THAT(behaviour, testutil::IsOk());
  return *std::move(behaviour);
}

TEST(BehaviourTest, ATaskRuleFitsEveryPodOfTheTask) {
  const Behaviour behaviour = Rules({"trainer=5s"});
  for (const char* index : {"0", "1"}) {
    const auto outcome = behaviour.For(TaskPod("trainer", index));
    ASSERT_TRUE(outcome.has_value());
    EXPECT_EQ(outcome->after, absl::Seconds(5));
    EXPECT_EQ(outcome->exit_code, 0);
  }
  EXPECT_FALSE(behaviour.For(TaskPod("pserver", "0")).has_value());
}

TEST(BehaviourTest, AnIndexRuleFitsOnePodAndFailuresComeFirst) {
  const Behaviour behaviour = Rules({"worker=1m"}, {"worker-1=3s:137"});
  EXPECT_EQ(behaviour.For(TaskPod("worker", "0"))->exit_code, 0);
  EXPECT_EQ(behaviour.For(TaskPod("worker", "1"))->exit_code, 137);
  EXPECT_EQ(behaviour.For(TaskPod("worker", "1"))->after, absl::Seconds(3));
}

TEST(BehaviourTest, TimesLimitARuleToTheFirstIncarnations) {
  const Behaviour behaviour = Rules({"worker=1m"}, {"worker-1=3s:2x1"});
  EXPECT_EQ(behaviour.For(TaskPod("worker", "1", "0"))->exit_code, 2);
  EXPECT_EQ(behaviour.For(TaskPod("worker", "1", "1"))->exit_code, 0);
}

TEST(BehaviourTest, WhatIsWritten) {
  const Behaviour behaviour = *Behaviour::Parse({}, {}, {"worker-1=500ms:loss is", "worker=0s"});
  EXPECT_EQ(behaviour.LogLinesOf(TaskPod("worker", "1")), (LogLines{absl::Milliseconds(500), "loss is"}));
  EXPECT_EQ(behaviour.LogLinesOf(TaskPod("worker", "0")), (LogLines{absl::ZeroDuration(), "step"}));
  EXPECT_EQ(behaviour.LogLinesOf(TaskPod("server", "0")), (LogLines{absl::Seconds(1), "step"}));
  HostedPod pod = TaskPod("worker", "1");
  pod.metadata.annotations["sandbox.gangway.io/log"] = "2s";
  EXPECT_EQ(behaviour.LogLinesOf(pod), (LogLines{absl::Seconds(2), "step"}));
  pod.metadata.annotations["sandbox.gangway.io/log"] = "often";
  EXPECT_EQ(behaviour.LogLinesOf(pod).every, absl::Milliseconds(500));
  EXPECT_THAT(Behaviour::CheckAnnotations(pod),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("sandbox.gangway.io/log")));
  for (const char* wrong : {"worker", "=1s", "worker=1", "worker=1us"})
    EXPECT_FALSE(Behaviour::Parse({}, {}, {wrong}).ok()) << wrong;
}

TEST(BehaviourTest, AnnotationsComeBeforeRules) {
  HostedPod pod = TaskPod("worker", "0");
  pod.metadata.annotations["sandbox.gangway.io/fail"] = "1s:9";
  EXPECT_EQ(Rules({"worker=1m"}).For(pod)->exit_code, 9);
  GW_EXPECT_OK(Behaviour::CheckAnnotations(pod));
}

TEST(BehaviourTest, AnAnnotationThatDoesNotParseIsReportedAndIgnored) {
  HostedPod pod = TaskPod("worker", "0");
  pod.metadata.annotations["sandbox.gangway.io/finish"] = "soon";
  EXPECT_EQ(Rules({"worker=1m"}).For(pod)->after, absl::Minutes(1));
  EXPECT_THAT(Behaviour::CheckAnnotations(pod),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("sandbox.gangway.io/finish")));
}

TEST(BehaviourTest, WrongRulesSayWhatIsWrong) {
  const auto message = [](std::vector<std::string> finish, std::vector<std::string> fail) {
    return std::string(Behaviour::Parse(finish, fail).status().message());
  };
  EXPECT_THAT(message({"trainer"}, {}), HasSubstr("NAME=DURATION"));
  EXPECT_THAT(message({"trainer=5"}, {}), HasSubstr("5"));
  EXPECT_THAT(message({"trainer=5s:3"}, {}), HasSubstr("--fail"));
  EXPECT_THAT(message({}, {"trainer=5s:0"}), HasSubstr("from 1 to 255"));
  EXPECT_THAT(message({}, {"trainer=5s:300"}), HasSubstr("from 1 to 255"));
  EXPECT_THAT(message({}, {"trainer=5s:1x0"}), HasSubstr("how many times"));
  EXPECT_THAT(message({"trainer=-5s"}, {}), HasSubstr("negative"));
}

}  // namespace
}  // namespace gangway::sandbox
