// JobFlows through the controllers; the test is the Jobs' controller.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/controller/controllers_fixture.h"

namespace gangway::controller {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class JobFlowsTest : public ControllersTest {
 protected:
  static Options FlowsOnly() {
    Options options;
    options.only = {"jobflow"};
    return options;
  }
  void AddTemplate(const std::string& name) {
    Create(
        api::kJobTemplates,
        absl::StrCat(
            R"({"apiVersion":"flow.volcano.sh/v1alpha1","kind":"JobTemplate","metadata":{"name":")", name,
            R"("},"spec":{"tasks":[{"replicas":1,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}})"));
  }
  void AddFlow(const std::string& name, const std::string& flows, const std::string& policy = "retain") {
    Create(api::kJobFlows,
           absl::StrCat(R"({"apiVersion":"flow.volcano.sh/v1alpha1","kind":"JobFlow","metadata":{"name":")", name,
                        R"("},"spec":{"jobRetainPolicy":")", policy, R"(","flows":)", flows, "}}"));
  }
  void SetJob(const std::string& name, const std::string& phase) {
    Patch(api::kJobs, name, absl::StrCat(R"({"status":{"state":{"phase":")", phase, R"("}}})"), "status");
    Run();
  }
  std::string Flow(const std::string& name, const char* pointer = "/status/state/phase") {
    const json::value object = Get(api::kJobFlows, name);
    boost::system::error_code error;
    const json::value* at = object.find_pointer(pointer, error);
    return at == nullptr ? "" : at->is_string() ? std::string(at->as_string()) : api::ToJson(*at);
  }
};

constexpr char kChain[] = R"([{"name":"a"},{"name":"b","dependsOn":{"targets":["a"]}}])";

TEST_F(JobFlowsTest, F1OneAfterTheOtherToSucceed) {
  Start(FlowsOnly());
  AddTemplate("a");
  AddFlow("f", kChain);
  EXPECT_THAT(Names(api::kJobs), ElementsAre("f-a"));
  EXPECT_EQ(Flow("f"), "Pending");
  SetJob("f-a", "Running");
  EXPECT_EQ(Flow("f"), "Running");
  SetJob("f-a", "Completed");
  EXPECT_THAT(Names(api::kJobs), ElementsAre("f-a"));
  EXPECT_THAT(Events(), Contains("JobTemplateMissing: flow b waits: there is no JobTemplate b"));
  AddTemplate("b");
  EXPECT_THAT(Names(api::kJobs), ElementsAre("f-a", "f-b")) << "a template that comes late is seen";
  SetJob("f-b", "Completed");
  EXPECT_EQ(Flow("f"), "Succeed");
  EXPECT_EQ(Flow("f", "/status/completedJobs"), R"(["f-a","f-b"])");
  Run(absl::Seconds(5));
  const int writes = writes_;
  Run(absl::Hours(1));
  EXPECT_EQ(writes_, writes) << "nothing is written when nothing changed";
}

TEST_F(JobFlowsTest, AJobThatIsCompletedAndGoneAtOnceIsNotMadeAgain) {
  Start(FlowsOnly());
  AddTemplate("a");
  AddTemplate("b");
  AddFlow("f", kChain);
  Patch(api::kJobs, "f-a", R"({"status":{"state":{"phase":"Completed"}}})", "status");
  Ask("DELETE", api::PathOf(api::kJobs, "default", "f-a"));  // as a TTL of 0 does, before anybody looked
  Run();
  EXPECT_THAT(Names(api::kJobs), ElementsAre("f-b"));
  EXPECT_EQ(Flow("f", "/status/completedJobs"), R"(["f-a"])");
}

TEST_F(JobFlowsTest, TwoFlowsThatCallTheirJobsAlikeWaitForEachOther) {
  Start(FlowsOnly());
  AddTemplate("c");
  AddTemplate("b-c");
  AddFlow("a", R"([{"name":"b-c"}])", "delete");
  AddFlow("a-b", R"([{"name":"c"}])");
  EXPECT_THAT(Events(), Contains("JobExists: flow c waits: there is a job a-b-c that it did not make"));
  SetJob("a-b-c", "Completed");
  Run(absl::Seconds(5));
  EXPECT_EQ(Flow("a"), "Succeed");
  ASSERT_NE(Get(api::kJobs, "a-b-c"), nullptr) << "the first one's is gone, so the second has its own";
  SetJob("a-b-c", "Completed");
  EXPECT_EQ(Flow("a-b"), "Succeed");
}

TEST_F(JobFlowsTest, WhatTheApiServerRefusesIsTold) {
  Start(FlowsOnly());
  Create(
      api::kJobTemplates,
      R"({"apiVersion":"flow.volcano.sh/v1alpha1","kind":"JobTemplate","metadata":{"name":"a"},"spec":{"minAvailable":9,"tasks":[{"replicas":1,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}})");
  AddFlow("f", R"([{"name":"a"}])");
  EXPECT_THAT(Names(api::kJobs), IsEmpty());
  EXPECT_THAT(Events(), Contains(HasSubstr("FailedCreate: Job f-a: ")));
}

// A leader that gave up its lease before its last write has come through could write over its successor's.
TEST_F(JobFlowsTest, ItHasStoppedWhenEveryWriteIsAnswered) {
  Start(FlowsOnly());
  AddTemplate("a");
  AddFlow("f", R"([{"name":"a"}])");
  ASSERT_THAT(Names(api::kJobs), ElementsAre("f-a"));
  fate_ = [](const kube::Request& request) {
    sandbox::RequestFate fate;
    if (request.method == "PATCH")
      fate.reply_delay = absl::Seconds(absl::StrContains(request.path, "/jobtemplates/") ? 3 : 9);
    return fate;
  };
  SetJob("f-a", "Running");
  Create(
      api::kJobs,
      R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"mine","annotations":{"volcano.sh/createdByJobTemplate":"default.a"}},
      "spec":{"tasks":[{"replicas":1,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}})");
  controllers_->Stop();
  EXPECT_FALSE(controllers_->stopped()) << "the flow's and the template's are under way";
  Run(absl::Seconds(4));
  EXPECT_FALSE(controllers_->stopped()) << "the flow's is";
  Run(absl::Seconds(4));
  EXPECT_TRUE(controllers_->stopped());
}

// Stopped before, or after without hearing of it, at the n-th write, and nothing comes through after that: the end is
// the same, and no job is made twice.
TEST_F(JobFlowsTest, StoppedAtAnyWriteItEndsTheSame) {
  AddTemplate("a");
  AddTemplate("b");
  bool all_came_through = false;
  int stop = 0;
  for (; !all_came_through && stop < 60; ++stop) {
    const std::string flow = absl::StrCat("f", stop);
    int seen = 0;
    fate_ = [&](const kube::Request& request) {
      sandbox::RequestFate fate;
      if (request.method == "GET" || absl::StrContains(request.path, "/events") || ++seen <= stop / 2) return fate;
      fate.loss = seen == stop / 2 + 1 && stop % 2 == 1 ? sandbox::RequestFate::Loss::kReply
                                                        : sandbox::RequestFate::Loss::kRequest;
      return fate;
    };
    AddFlow(flow, kChain, "delete");
    Start(FlowsOnly());
    // Until something was lost.
    for (const char* job : {"-a", "-b"}) {
      if (Get(api::kJobs, flow + job) != nullptr) SetJob(flow + job, "Completed");
    }
    Run(absl::Seconds(2));
    all_came_through = seen <= stop / 2;
    Crash();
    fate_ = nullptr;
    Start(FlowsOnly());
    for (const char* job : {"-a", "-b"}) {
      if (Flow(flow) == "Succeed") break;
      ASSERT_NE(Get(api::kJobs, flow + job), nullptr) << stop << job;
      SetJob(flow + job, "Completed");
    }
    Run(absl::Seconds(5));
    EXPECT_EQ(Flow(flow), "Succeed") << stop;
    EXPECT_EQ(Flow(flow, "/status/completedJobs"), absl::StrCat(R"([")", flow, R"(-a",")", flow, R"(-b"])"));
    EXPECT_THAT(Names(api::kJobs), IsEmpty()) << stop;
    Crash();
    Ask("DELETE", api::PathOf(api::kJobFlows, "default", flow));
    Run();
  }
  EXPECT_GT(stop, 10);
  EXPECT_TRUE(all_came_through);
}

}  // namespace
}  // namespace gangway::controller
