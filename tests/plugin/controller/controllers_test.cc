// The controllers against the sandbox's API server on a simulated loop; the test is the scheduler and the kubelets.
#include "plugin/controller/controllers.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/apiserver/api_server.h"
#include "sandbox/apiserver/in_process_client.h"
#include "tests/plugin/lifecycle/world.h"

namespace gangway::controller {
namespace {

namespace json = boost::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testutil::JobText;

const char kRestartOnLoss[] =
    R"("policies":[{"event":"PodEvicted","action":"RestartJob"},{"event":"PodFailed","action":"RestartJob"}])";

sandbox::ApiServerOptions ServerOptions(bool default_objects, sandbox::JournalSink journal) {
  sandbox::ApiServerOptions options;
  options.default_objects = default_objects;
  options.journal = std::move(journal);
  return options;
}

class ControllersTest : public ::testing::Test {
 protected:
  explicit ControllersTest(bool default_objects = true)
      : loop_(1), server_(loop_, ServerOptions(default_objects, [this](const sandbox::JournalRecord& record) { OnRecord(record); })) {}

  void Start(ControllersOptions options = {}) {
    sandbox::Faults faults;
    faults.request = [this](const kube::Request& request) { return fate_ ? fate_(request) : sandbox::RequestFate{}; };
    client_ = std::make_unique<sandbox::InProcessClient>(loop_, server_, "controllers", std::move(faults));
    controllers_ = std::make_unique<Controllers>(loop_, *client_, std::move(options));
    controllers_->Start();
    Run();
    EXPECT_TRUE(controllers_->synced());
  }
  void Crash() {
    controllers_.reset();
    client_.reset();
  }
  void Run(absl::Duration time = absl::Seconds(1)) { loop_.RunFor(time); }

  kube::Response Ask(const std::string& method, const std::string& path, const std::string& body = "") {
    kube::Request request;
    request.method = method;
    request.path = path;
    request.body = body;
    if (method == "PATCH") request.content_type = "application/merge-patch+json";
    return server_.Handle(request, {"test"});
  }
  void Create(const api::Resource& resource, const std::string& body) {
    const kube::Response reply = Ask("POST", api::PathOf(resource, resource.namespaced ? "default" : ""), body);
    ASSERT_TRUE(reply.ok()) << *reply.body;
    Run();
  }
  void Patch(const api::Resource& resource, const std::string& name, const std::string& body, absl::string_view subresource = "") {
    const kube::Response reply = Ask("PATCH", api::PathOf(resource, resource.namespaced ? "default" : "", name, subresource), body);
    ASSERT_TRUE(reply.ok()) << *reply.body;
  }
  void Delete(const api::Resource& resource, const std::string& name) {
    Ask("DELETE", api::PathOf(resource, "default", name), R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0})");
    Run();
  }
  json::value Get(const api::Resource& resource, const std::string& name) {
    const kube::Response reply = Ask("GET", api::PathOf(resource, resource.namespaced ? "default" : "", name));
    if (!reply.ok()) return nullptr;
    return *api::ParseJson(*reply.body);
  }
  std::vector<std::string> Names(const api::Resource& resource) {
    std::vector<std::string> names;
    const json::value list = *api::ParseJson(*Ask("GET", api::PathOf(resource, resource.namespaced ? "default" : "")).body);
    for (const json::value& item : list.at("items").as_array()) names.push_back(std::string(item.at("metadata").at("name").as_string()));
    return names;
  }
  std::vector<std::string> Events() {
    std::vector<std::string> events;
    const json::value list = *api::ParseJson(*Ask("GET", api::PathOf(api::kEvents, "default")).body);
    for (const json::value& item : list.at("items").as_array()) {
      events.push_back(absl::StrCat(std::string(item.at("reason").as_string()), ": ", std::string(item.at("message").as_string())));
    }
    return events;
  }
  api::volcano::Job Job(const std::string& name) {
    const kube::Response reply = Ask("GET", api::PathOf(api::kJobs, "default", name));
    return reply.ok() ? *api::Decode<api::volcano::Job>(*reply.body) : api::volcano::Job{};
  }
  std::string Phase(const std::string& job) { return Job(job).status.state.phase; }
  std::string GroupOf(const std::string& job) { return absl::StrCat(job, "-", Job(job).metadata.uid); }

  void LetIn(const std::string& job) {
    Patch(api::kPodGroups, GroupOf(job), R"({"status":{"phase":"Inqueue"}})");  // podgroups have no status subresource
    Run();
  }
  void SetPod(const std::string& pod, const std::string& phase, int exit_code = 0) {
    Patch(api::kPods, pod,
          absl::StrCat(R"({"status":{"phase":")", phase, R"(","containerStatuses":[{"name":"c","image":"i","imageID":"","ready":true,"restartCount":0,"state":{"terminated":{"exitCode":)",
                       exit_code, "}}}]}}"),
          "status");
    Run();
  }
  void RunPods(const std::string& job) {
    for (const std::string& pod : Names(api::kPods)) {
      if (!absl::StartsWith(pod, job + "-")) continue;
      if (Get(api::kPods, pod).at("status").at("phase").as_string() == "Pending") SetPod(pod, "Running");
    }
  }
  void StartJob(const std::string& name, const std::string& text) {
    Create(api::kJobs, text);
    LetIn(name);
    RunPods(name);
    ASSERT_EQ(Phase(name), "Running");
  }
  void Command(const std::string& name, const std::string& action, const std::string& job) {
    const std::string uid = Job(job).metadata.uid;
    Create(api::kCommands, absl::StrCat(R"({"apiVersion":"bus.volcano.sh/v1alpha1","kind":"Command","metadata":{"name":")", name,
                                        R"("},"action":")", action, R"(","target":{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":")", job,
                                        R"(","uid":")", uid.empty() ? "none" : uid, R"("}})"));
  }

  void OnRecord(const sandbox::JournalRecord& record) {
    if (record.client != "controllers") return;
    ++writes_;
    if (record.resource == &api::kJobs && record.after != nullptr) {
      const std::string phase = api::Decode<api::volcano::Job>(*record.after)->status.state.phase;
      if (phases_.empty() || phases_.back() != phase) phases_.push_back(phase);
    }
  }

  SimulatedLoop loop_;
  sandbox::ApiServer server_;
  std::unique_ptr<sandbox::InProcessClient> client_;
  std::unique_ptr<Controllers> controllers_;
  std::function<sandbox::RequestFate(const kube::Request&)> fate_;
  int writes_ = 0;
  std::vector<std::string> phases_;  // of the one job
};

std::string Seed() {
  return JobText("ctr", 4, {{"pserver", 2}, {"trainer", 2, R"("policies":[{"event":"TaskCompleted","action":"CompleteJob"}])"}}, kRestartOnLoss);
}

TEST_F(ControllersTest, TheSeedJobRunsToCompletedAndIsQuiet) {
  Start();
  Create(api::kJobs, Seed());
  EXPECT_EQ(Phase("ctr"), "Pending");
  EXPECT_THAT(Names(api::kPodGroups), ElementsAre(GroupOf("ctr")));
  EXPECT_THAT(Names(api::kPods), IsEmpty());
  LetIn("ctr");
  EXPECT_THAT(Names(api::kPods), ElementsAre("ctr-pserver-0", "ctr-pserver-1", "ctr-trainer-0", "ctr-trainer-1"));
  RunPods("ctr");
  SetPod("ctr-trainer-0", "Succeeded");
  SetPod("ctr-trainer-1", "Succeeded");
  Run(absl::Seconds(5));
  Delete(api::kPods, "ctr-pserver-0");
  Delete(api::kPods, "ctr-pserver-1");
  EXPECT_THAT(phases_, ElementsAre("Pending", "Running", "Completing", "Completed"));
  EXPECT_THAT(Names(api::kPods), ElementsAre("ctr-trainer-0", "ctr-trainer-1"));
  EXPECT_EQ(Job("ctr").status.succeeded, 2);
  EXPECT_THAT(Events(), Contains(HasSubstr("ExecuteAction: Start to execute action CompleteJob")));
  Run(absl::Seconds(10));
  const int writes = writes_;
  Run(absl::Hours(1));
  EXPECT_EQ(writes_, writes);
}

TEST_F(ControllersTest, AnEvictionDuringARestartOfOursIsNotForgotten) {
  Start();
  StartJob("ctr", Seed());
  Crash();
  Delete(api::kPods, "ctr-trainer-0");
  Start();
  EXPECT_THAT(phases_, ElementsAre("Pending", "Running", "Restarting", "Pending"));
  EXPECT_EQ(Job("ctr").status.retry_count, 1);
}

TEST_F(ControllersTest, ALostReplyMakesNothingTwice) {
  int lost = 0;
  fate_ = [&](const kube::Request& request) {
    sandbox::RequestFate fate;
    if (request.method != "GET" && ++lost % 2 == 0) fate.loss = sandbox::RequestFate::Loss::kReply;
    return fate;
  };
  Start();
  Create(api::kJobs, Seed());
  Run(absl::Seconds(10));
  LetIn("ctr");
  Run(absl::Seconds(10));
  RunPods("ctr");
  Run(absl::Seconds(10));
  SetPod("ctr-trainer-0", "Failed", 3);
  Run(absl::Seconds(10));
  EXPECT_EQ(Job("ctr").status.retry_count, 1);
  EXPECT_EQ(Job("ctr").status.version, 1);
}

TEST_F(ControllersTest, ACommandIsCarriedOutOnceThoughTheProcessDiesInBetween) {
  Start();
  StartJob("cmd", JobText("cmd", 1, {{"w", 1}}));
  // The status is written, the deletion of the command never arrives.
  fate_ = [](const kube::Request& request) {
    sandbox::RequestFate fate;
    if (request.method == "DELETE" && absl::StrContains(request.path, "/commands/")) fate.loss = sandbox::RequestFate::Loss::kRequest;
    return fate;
  };
  Command("restart", "RestartJob", "cmd");
  EXPECT_EQ(Job("cmd").status.version, 1);
  EXPECT_THAT(Names(api::kCommands), ElementsAre("restart"));
  Crash();
  fate_ = nullptr;
  Start();
  EXPECT_THAT(Names(api::kCommands), IsEmpty());
  EXPECT_EQ(Job("cmd").status.version, 1);
  EXPECT_EQ(Job("cmd").status.retry_count, 1);
}

TEST_F(ControllersTest, ACommandForNobodyIsRemovedAfterAWhile) {
  Start();
  Command("abort", "AbortJob", "nobody");
  Run(absl::Seconds(30));
  EXPECT_THAT(Names(api::kCommands), ElementsAre("abort"));
  Run(absl::Seconds(40));
  EXPECT_THAT(Names(api::kCommands), IsEmpty());
}

TEST_F(ControllersTest, WhatAPluginMadeIsMadeAgainWhenAUserRemovesIt) {
  Start();
  Create(api::kJobs, JobText("plug", 1, {{"w", 1}}, R"("plugins":{"env":[],"svc":[]})"));
  EXPECT_THAT(Names(api::kConfigMaps), Contains("plug-svc"));
  EXPECT_THAT(Names(api::kNetworkPolicies), ElementsAre("plug"));
  Delete(api::kConfigMaps, "plug-svc");
  EXPECT_THAT(Names(api::kConfigMaps), Contains("plug-svc"));
  Patch(api::kConfigMaps, "plug-svc", R"({"data":{"VC_W_NUM":"9"}})");
  Run();
  EXPECT_EQ(Get(api::kConfigMaps, "plug-svc").at("data").at("VC_W_NUM").as_string(), "1");
}

TEST_F(ControllersTest, AForeignServiceOfThatNameIsExplained) {
  Start();
  Create(api::kServices, R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"plug"},"spec":{"clusterIP":"None","selector":{"a":"b"}}})");
  Create(api::kJobs, JobText("plug", 1, {{"w", 1}}, R"("plugins":{"svc":[]})"));
  Run(absl::Seconds(5));
  EXPECT_THAT(Events(), Contains(HasSubstr("FailedCreate: Service plug")));
}

TEST_F(ControllersTest, AMissingClaimIsWaitedFor) {
  Start();
  Create(api::kJobs, JobText("vol", 1, {{"w", 1}}, R"("volumes":[{"mountPath":"/data","volumeClaimName":"data"}])"));
  EXPECT_THAT(Names(api::kPodGroups), IsEmpty());
  EXPECT_THAT(Events(), Contains(HasSubstr("PVCError")));
  Create(api::kPersistentVolumeClaims,
         R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteMany"],"resources":{"requests":{"storage":"1Gi"}}}})");
  EXPECT_THAT(Names(api::kPodGroups), ElementsAre(GroupOf("vol")));
}

// Y4, G4: the name that Volcano gave to groups before 1.5.
TEST_F(ControllersTest, AGroupWithTheOldNameIsUsedAndGoesWithTheKill) {
  Create(api::kJobs, JobText("old", 1, {{"w", 1}}));
  Create(api::kPodGroups, absl::StrCat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"old","ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"old","controller":true,"uid":")",
                                       Job("old").metadata.uid, R"("}]},"spec":{"minMember":7,"queue":"default"}})"));
  Start();
  EXPECT_THAT(Names(api::kPodGroups), ElementsAre("old"));
  EXPECT_EQ(Get(api::kPodGroups, "old").at("spec").at("minMember").as_int64(), 1) << "updated in place";
  Command("abort", "AbortJob", "old");
  EXPECT_EQ(Phase("old"), "Aborted");
  EXPECT_THAT(Names(api::kPodGroups), IsEmpty());
}

TEST_F(ControllersTest, ABarePodGetsAGroup) {
  Start();
  Create(api::kPods, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"bare"},"spec":{"schedulerName":"volcano","containers":[{"name":"c","image":"i"}]}})");
  const std::string group = absl::StrCat("podgroup-", std::string(Get(api::kPods, "bare").at("metadata").at("uid").as_string()));
  EXPECT_THAT(Names(api::kPodGroups), ElementsAre(group));
  EXPECT_EQ(Get(api::kPods, "bare").at("metadata").at("annotations").at("scheduling.k8s.io/group-name").as_string(), group);
  Create(api::kPods, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"other"},"spec":{"containers":[{"name":"c","image":"i"}]}})");
  EXPECT_THAT(Names(api::kPodGroups), ElementsAre(group));
}

TEST_F(ControllersTest, QueuesAreOpenAndCountTheirGroups) {
  Start();
  EXPECT_EQ(Get(api::kQueues, "default").at("status").at("state").as_string(), "Open");
  EXPECT_EQ(Get(api::kQueues, "root").at("status").at("state").as_string(), "Open");
  Create(api::kJobs, JobText("a", 1, {{"w", 1}}));
  Create(api::kJobs, JobText("b", 1, {{"w", 1}}));
  LetIn("b");
  EXPECT_EQ(Get(api::kQueues, "default").at("status").at("pending").as_int64(), 1);
  EXPECT_EQ(Get(api::kQueues, "default").at("status").at("inqueue").as_int64(), 1);
}

TEST_F(ControllersTest, AQueueIsClosedWhenItsLastGroupIsGone) {
  Start();
  Create(api::kQueues, R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"q"},"spec":{"weight":1}})");
  std::string text = JobText("a", 1, {{"w", 1}});
  text.replace(text.find(R"("queue":"default")"), 17, R"("queue":"q")");
  Create(api::kJobs, text);
  Create(api::kCommands, R"({"apiVersion":"bus.volcano.sh/v1alpha1","kind":"Command","metadata":{"name":"close"},"action":"CloseQueue","target":{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","name":"q","uid":"x"}})");
  EXPECT_EQ(Get(api::kQueues, "q").at("status").at("state").as_string(), "Closing");
  EXPECT_THAT(Names(api::kCommands), IsEmpty());
  Delete(api::kJobs, "a");
  Run(absl::Seconds(5));
  EXPECT_EQ(Get(api::kQueues, "q").at("status").at("state").as_string(), "Closed");
}

class EmptyClusterTest : public ControllersTest {
 protected:
  EmptyClusterTest() : ControllersTest(false) {}
};
TEST_F(EmptyClusterTest, TheQueuesEveryClusterHasAreMade) {
  Start();
  EXPECT_THAT(Names(api::kQueues), ElementsAre("default", "root"));
  EXPECT_EQ(Get(api::kQueues, "default").at("status").at("state").as_string(), "Open");
}

// One Job's look costs what its own pods cost: a thousand Jobs beside it change nothing but the caches' size.
TEST_F(ControllersTest, ManyJobsEachOnTheirOwn) {
  Start();
  for (int i = 0; i < 300; ++i) {
    const kube::Response reply = Ask("POST", api::PathOf(api::kJobs, "default"), JobText(absl::StrCat("j", i), 1, {{"w", 1}}));
    ASSERT_TRUE(reply.ok());
  }
  Run(absl::Seconds(30));
  EXPECT_EQ(Names(api::kPodGroups).size(), 300u);
  const int before = writes_;
  LetIn("j7");
  RunPods("j7");
  Run(absl::Seconds(5));
  EXPECT_EQ(Phase("j7"), "Running");
  EXPECT_LT(writes_ - before, 12);
}

TEST_F(ControllersTest, AStandbyWritesNothingUntilItLeads) {
  ControllersOptions options;
  options.standby = true;
  Start(options);
  Create(api::kJobs, JobText("ctr", 1, {{"w", 1}}));
  Run(absl::Minutes(1));
  EXPECT_THAT(Names(api::kPodGroups), IsEmpty());
  controllers_->Lead();
  Run();
  EXPECT_EQ(Names(api::kPodGroups).size(), 1u);
  controllers_->Stop();
  Create(api::kJobs, JobText("late", 1, {{"w", 1}}));
  Run(absl::Minutes(1));
  EXPECT_TRUE(controllers_->stopped());
  EXPECT_EQ(Names(api::kPodGroups).size(), 1u);
}

TEST_F(ControllersTest, OnlyThoseAskedForRun) {
  ControllersOptions options;
  options.jobs = options.queues = false;
  Start(options);
  Create(api::kJobs, JobText("ctr", 1, {{"w", 1}}));
  EXPECT_THAT(Names(api::kPodGroups), IsEmpty());
  Create(api::kPods, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"bare"},"spec":{"schedulerName":"volcano","containers":[{"name":"c","image":"i"}]}})");
  EXPECT_EQ(Names(api::kPodGroups).size(), 1u);
  EXPECT_EQ(Phase("ctr"), "");
}

TEST_F(ControllersTest, OtherNamespacesAreLeftAlone) {
  ControllersOptions options;
  options.namespaces = {"mine", "yours"};
  Start(options);
  Create(api::kJobs, JobText("ctr", 1, {{"w", 1}}));
  EXPECT_EQ(Phase("ctr"), "");
  EXPECT_THAT(Names(api::kPodGroups), IsEmpty());
  EXPECT_THAT(controllers_->Dump(), HasSubstr(R"("jobs":0)"));
}

}  // namespace
}  // namespace gangway::controller
