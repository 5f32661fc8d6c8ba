// PaddleJobs before the embedded cluster, with the controller's own client between, in which things go wrong.
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/field_table.h"
#include "api/json_value.h"
#include "api/paddle/paddle_job.h"
#include "api/volcano/job.h"
#include "api/volcano/scheduling.h"
#include "assembly/components.h"
#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/client/status.h"
#include "sandbox/cluster/cluster.h"

namespace gangway::paddle_controller {
namespace {

using api::paddle::PaddleJob;
using sandbox::Component;
using sandbox::RequestFate;
using ::testing::HasSubstr;
using KubeflowJob = api::paddle::kubeflow::PaddleJob;
const api::Resource& kPaddle = api::paddle::kPaddleJobs;
const api::Resource& kKubeflow = api::paddle::kubeflow::kPaddleJobs;

constexpr absl::Duration kPatience = absl::Minutes(5);

RequestFate Answered(int code, absl::string_view reason, absl::string_view message) {
  RequestFate fate;
  fate.answer.emplace();
  fate.answer->code = code;
  fate.answer->content_type = "application/json";
  fate.answer->body = MakeBytes(kube::StatusBody(code, reason, message));
  return fate;
}

std::string PaddleText(absl::string_view name, absl::string_view more = "", int workers = 2) {
  return absl::StrCat(R"({"apiVersion":"batch.paddlepaddle.org/v1","kind":"PaddleJob","metadata":{"name":")", name,
                      R"("},"spec":{)", more, more.empty() ? "" : ",", R"("worker":{"replicas":)", workers,
                      R"(,"template":{"spec":{"containers":[{"name":"p","image":"i"}]}}}}})");
}
std::string KubeflowText(absl::string_view name) {
  return absl::StrCat(
      R"({"apiVersion":"kubeflow.org/v1","kind":"PaddleJob","metadata":{"name":")", name,
      R"("},"spec":{"paddleReplicaSpecs":{"Worker":{"replicas":1,"template":{"spec":{"containers":[{"name":"paddle","image":"i"}]}}}}}})");
}

class PaddleControllersTest : public ::testing::Test {
 protected:
  PaddleControllersTest() {
    sandbox::ClusterOptions options;
    options.kubelets.nodes = sandbox::MakeNodes({*sandbox::ParseNodeShape(sandbox::kDefaultNodeShape)}, 2);
    options.api_server.journal = [this](const sandbox::JournalRecord& record) {
      if (record.client == "paddle") ++writes_;
      if (on_status_ && record.resource == &kPaddle && record.after != nullptr) on_status_(*record.after);
    };
    cluster_ = std::make_unique<sandbox::Cluster>(loop_, std::move(options));
    for (const Component component : {Component::kKubelets, Component::kControllers, Component::kScheduler})
      cluster_->Start(component);
    user_ = cluster_->NewClient("user");
    sandbox::Faults faults;
    faults.request = [this](const kube::Request& request) { return fate_ ? fate_(request) : RequestFate{}; };
    client_ = std::make_unique<sandbox::InProcessClient>(loop_, cluster_->api_server(), "paddle", std::move(faults));
  }

  void Start(bool standby = false) {
    assembly::Options options;
    options.translate.target = convert::Target::kGangway;
    options.standby = standby;
    controllers_ = assembly::MakeComponents(loop_, *client_, {"paddle-controllers"}, options);
    controllers_->Start();
    loop_.RunFor(absl::Seconds(1));
  }
  // What the API server answers to a user's request, which must succeed.
  std::string Ask(const std::string& method, const api::Resource& resource, const std::string& name,
                  const std::string& body = "") {
    kube::Request request;
    request.method = method;
    request.path = api::PathOf(resource, resource.namespaced ? "default" : "", name);
    if (method == "PATCH") request.content_type = "application/merge-patch+json";
    request.body = body;
    std::string answer;
    bool done = false;
    user_->Send(std::move(request), owner_.token(), [&](absl::StatusOr<kube::Response> reply) {
      done = true;
      if (reply.ok() && (reply->ok() || method == "GET")) answer = *reply->body;
      if (reply.ok() && !reply->ok() && method != "GET") ADD_FAILURE() << *reply->body;
    });
    loop_.RunUntil([&] { return done; }, loop_.Now() + absl::Seconds(10));
    return answer;
  }
  template <class T>
  T Get(const api::Resource& resource, const std::string& name) {
    const auto object = api::Decode<T>(Ask("GET", resource, name));
    return object.ok() ? *object : T{};
  }
  // As the scheduler does it when the queue does not let the group in.
  void SayOf(const api::volcano::PodGroup& group, absl::string_view message) {
    Ask("POST", api::kEvents, "",
        absl::StrCat(
            R"({"apiVersion":"v1","kind":"Event","metadata":{"name":"refused"},"type":"Normal","reason":"Unschedulable","message":")",
            message,
            R"(","involvedObject":{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","namespace":"default","name":")",
            group.metadata.name, R"(","uid":")", group.metadata.uid, R"("}})"));
  }
  PaddleJob Job(const std::string& name) { return Get<PaddleJob>(kPaddle, name); }
  bool Comes(const std::function<bool()>& what) {
    const absl::Time give_up = loop_.Now() + kPatience;
    while (loop_.Now() < give_up) {
      if (what()) return true;
      loop_.RunFor(absl::Milliseconds(100));
    }
    return false;
  }
  bool Reaches(const std::string& name, const std::string& phase) {
    return Comes([&] { return Job(name).status.phase == phase; });
  }
  bool KubeflowReaches(const std::string& name, const std::string& state) {
    return Comes([&] {
      const auto conditions = Get<KubeflowJob>(kKubeflow, name).status.conditions;
      return !conditions.empty() && conditions.back().type == state;
    });
  }

  SimulatedLoop loop_{1};
  int writes_ = 0;                                     // of the controller
  std::function<void(const std::string&)> on_status_;  // every version of a PaddleJob
  std::function<RequestFate(const kube::Request&)> fate_;
  std::unique_ptr<sandbox::Cluster> cluster_;
  std::unique_ptr<kube::Client> user_, client_;
  std::unique_ptr<kube::Components> controllers_;
  Owner owner_;
};

TEST_F(PaddleControllersTest, AJobRunsAndThenNothingIsWritten) {
  Start();
  EXPECT_TRUE(controllers_->synced());
  EXPECT_EQ(controllers_->problem(), "");
  Ask("POST", kPaddle, "", PaddleText("wd"));
  ASSERT_TRUE(Reaches("wd", "Running"));
  EXPECT_EQ(Job("wd").status.worker->ready, "2/2");
  EXPECT_EQ(Get<api::volcano::Job>(api::kJobs, "wd").metadata.Controller()->uid, Job("wd").metadata.uid);
  const auto dump = api::ParseJson(controllers_->Dump());
  ASSERT_TRUE(dump.ok()) << controllers_->Dump();
  EXPECT_EQ(dump->at("caches").at("paddlejobs"), 1);
  for (const char* const cache :
       {"commands", "configmaps", "events?involvedObject.kind=PodGroup,reason=Unschedulable", "jobs", "namespaces",
        "paddlejobs.kubeflow.org", "podgroups", "pods?volcano.sh/job-name", "pods?paddle-res-name,!volcano.sh/job-name",
        "queues", "services"}) {
    EXPECT_TRUE(dump->at("caches").as_object().contains(cache)) << cache;
  }
  EXPECT_EQ(dump->at("controllers").at("paddlejob").at("plansUnderWay"), 0);
  EXPECT_EQ(dump->at("eventsWaiting").as_int64(), static_cast<std::int64_t>(controllers_->events_waiting()));
  loop_.RunFor(absl::Seconds(10));
  const int writes = writes_;
  loop_.RunFor(absl::Minutes(10));
  EXPECT_EQ(writes_, writes);
}

TEST_F(PaddleControllersTest, SidecarsThatTheNamespaceInjectsAreTurnedOff) {
  Ask("PATCH", api::kNamespaces, "default", R"({"metadata":{"labels":{"istio-injection":"enabled"}}})");
  Start();
  Ask("POST", kPaddle, "", PaddleText("wd"));
  ASSERT_TRUE(Comes([&] {
    return !Ask("GET", api::kJobs, "wd").empty() && !Get<api::volcano::Job>(api::kJobs, "wd").spec.tasks.empty();
  }));
  const auto job = Get<api::volcano::Job>(api::kJobs, "wd");
  EXPECT_THAT(job.spec.tasks[0].pod_template.json, HasSubstr(R"("sidecar.istio.io/inject":"false")"));
}

// Its CRD may come later; the other dialect does not wait for it.
TEST_F(PaddleControllersTest, ADialectThatIsNotServedStopsNobodyAndIsLookedForAgain) {
  fate_ = [](const kube::Request& request) {
    return absl::StartsWith(request.path, "/apis/kubeflow.org")
               ? Answered(404, "NotFound", "the server could not find the requested resource")
               : RequestFate{};
  };
  Start();
  EXPECT_TRUE(controllers_->synced());
  Ask("POST", kPaddle, "", PaddleText("wd"));
  Ask("POST", kKubeflow, "", KubeflowText("k"));
  ASSERT_TRUE(Reaches("wd", "Running"));
  EXPECT_TRUE(Get<KubeflowJob>(kKubeflow, "k").status.conditions.empty());
  fate_ = nullptr;
  EXPECT_TRUE(KubeflowReaches("k", "Running"));
}

TEST_F(PaddleControllersTest, AStandbyDecidesNothingUntilItLeads) {
  Ask("POST", kPaddle, "", PaddleText("wd"));
  Start(/*standby=*/true);
  EXPECT_TRUE(controllers_->synced());
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(writes_, 0);
  controllers_->Lead();
  EXPECT_TRUE(Reaches("wd", "Running"));
  controllers_->Stop();
  EXPECT_TRUE(Comes([&] { return controllers_->stopped(); }));
  Ask("POST", kPaddle, "", PaddleText("later"));
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Job("later").status.phase, "");
}

TEST_F(PaddleControllersTest, WhatIsRefusedIsToldUntilItGoesWell) {
  fate_ = [](const kube::Request& request) {
    const bool creates = request.method == "POST" && absl::StrContains(request.path, "/jobs");
    return creates ? Answered(403, "Forbidden", "exceeded quota: none") : RequestFate{};
  };
  Start();
  Ask("POST", kPaddle, "", PaddleText("wd"));
  ASSERT_TRUE(Comes([&] { return absl::StrContains(Job("wd").status.message, "exceeded quota: none"); }))
      << Job("wd").status.message;
  EXPECT_EQ(Job("wd").status.phase, "Pending");
  fate_ = nullptr;
  ASSERT_TRUE(Reaches("wd", "Running"));
  EXPECT_EQ(Job("wd").status.message, "");
}

// An edit is another job to the API server: what it said of the one before counts no more.
TEST_F(PaddleControllersTest, WhatIsCorrectedIsMadeAsIfItHadNeverBeenRefused) {
  fate_ = [](const kube::Request& request) {
    const bool refused =
        request.method == "POST" && absl::EndsWith(request.path, "/jobs") && !absl::StrContains(request.body, "ads");
    return refused ? Answered(403, "Forbidden", "a label team is missing") : RequestFate{};
  };
  Start();
  Ask("POST", kPaddle, "", PaddleText("wd"));
  ASSERT_TRUE(Comes([&] { return absl::StrContains(Job("wd").status.message, "a label team is missing"); }));
  Ask("PATCH", kPaddle, "wd", R"({"metadata":{"annotations":{"team":"ads"}}})");
  ASSERT_TRUE(Reaches("wd", "Running"));
  EXPECT_TRUE(Comes([&] { return absl::StrContains(Ask("GET", api::kEvents, ""), "made job.batch.volcano.sh wd"); }));
}

TEST_F(PaddleControllersTest, ANameThatSomebodyElseHasIsWaitedFor) {
  Start();
  Ask("POST", api::kServices, "",
      R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"wd"},"spec":{"ports":[{"port":80}]}})");
  loop_.RunFor(absl::Seconds(1));  // it is known before the job comes
  Ask("POST", kPaddle, "", PaddleText("wd"));
  ASSERT_TRUE(Comes([&] { return absl::StrContains(Job("wd").status.message, "service wd is not the job's"); }))
      << Job("wd").status.message;
  Ask("DELETE", api::kServices, "wd");
  EXPECT_TRUE(Reaches("wd", "Running"));
}

TEST_F(PaddleControllersTest, HasNotStoppedWhileAWriteIsUnderWay) {
  bool written = false;
  fate_ = [&](const kube::Request& request) {
    RequestFate fate;
    if (request.method == "POST" && absl::EndsWith(request.path, "/jobs")) {
      written = true;
      fate.reply_delay = absl::Seconds(5);
    }
    return fate;
  };
  Start();
  Ask("POST", kPaddle, "", PaddleText("wd"));
  ASSERT_TRUE(Comes([&] { return written; }));
  EXPECT_FALSE(controllers_->stopped()) << "nobody has asked it to";
  controllers_->Stop();
  EXPECT_FALSE(controllers_->stopped());
  const absl::Time asked = loop_.Now();
  ASSERT_TRUE(Comes([&] { return controllers_->stopped(); }));
  EXPECT_GT(loop_.Now(), asked + absl::Seconds(1));
}

TEST_F(PaddleControllersTest, WhatTheQueueSaysOfTheGroupIsTold) {
  Start();
  cluster_->Stop(Component::kScheduler);
  Ask("POST", kPaddle, "", PaddleText("wd"));
  api::volcano::PodGroup group;
  ASSERT_TRUE(Comes([&] {
    group = Get<api::volcano::PodGroup>(api::kPodGroups,
                                        absl::StrCat("wd-", Get<api::volcano::Job>(api::kJobs, "wd").metadata.uid));
    return !group.metadata.uid.empty();
  }));
  SayOf(group, "queue default has room for 1 of 2 pods");
  EXPECT_TRUE(Comes([&] { return Job("wd").status.message == "queue default has room for 1 of 2 pods"; }))
      << Job("wd").status.message;
}

// The Job's own is not there yet.
TEST_F(PaddleControllersTest, APodGroupOfThatNameThatAnotherHasSaysNothingOfTheJob) {
  Start();
  cluster_->Stop(Component::kControllers);
  cluster_->Stop(Component::kScheduler);
  Ask("POST", kPaddle, "", PaddleText("wd"));
  ASSERT_TRUE(Comes([&] { return !Get<api::volcano::Job>(api::kJobs, "wd").metadata.uid.empty(); }));
  Ask("POST", api::kConfigMaps, "", R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"other"}})");
  const std::string uid = Get<PaddleJob>(api::kConfigMaps, "other").metadata.uid;
  Ask("POST", api::kPodGroups, "",
      absl::StrCat(
          R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"wd","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap",
    "name":"other","controller":true,"uid":")",
          uid, R"("}]},"spec":{"minMember":1}})"));
  SayOf(Get<api::volcano::PodGroup>(api::kPodGroups, "wd"), "no room for the other");
  loop_.RunFor(absl::Seconds(30));
  EXPECT_EQ(Job("wd").status.message, "");
}

// The first is deleted while the answer is on its way, and made again under its name.
TEST_F(PaddleControllersTest, WhatWasRefusedForOneOfThatNameIsNotToldOfTheNext) {
  bool refused = false;
  fate_ = [&](const kube::Request& request) {
    if (request.method != "POST" || !absl::EndsWith(request.path, "/jobs") || std::exchange(refused, true))
      return RequestFate{};
    RequestFate fate = Answered(403, "Forbidden", "exceeded quota: none");
    fate.reply_delay = absl::Seconds(5);
    return fate;
  };
  Start();
  Ask("POST", kPaddle, "", PaddleText("wd"));
  ASSERT_TRUE(Comes([&] { return refused; }));
  Ask("DELETE", kPaddle, "wd");
  ASSERT_TRUE(Comes([&] { return Job("wd").metadata.uid.empty(); }));
  Ask("POST", kPaddle, "", PaddleText("wd"));
  bool told = false;
  on_status_ = [&](const std::string& object) { told = told || absl::StrContains(object, "exceeded quota"); };
  ASSERT_TRUE(Reaches("wd", "Running"));
  EXPECT_FALSE(told);
}

TEST_F(PaddleControllersTest, PodsThatAreRefusedAreTold) {
  Start();
  Ask("POST", kPaddle, "", PaddleText("wd", R"("schedulingPolicy":{"priorityClass":"nope"})"));
  ASSERT_TRUE(Comes([&] { return absl::StrContains(Job("wd").status.message, "nope"); }))
      << api::Encode(Job("wd").status);
  EXPECT_EQ(Job("wd").status.phase, "Pending");
  EXPECT_EQ(Job("wd").status.queue, "default");
  Ask("POST", api::kPriorityClasses, "",
      R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"nope"},"value":5})");
  ASSERT_TRUE(Reaches("wd", "Running"));
  EXPECT_EQ(Job("wd").status.message, "");
}

// One file: the job, then the PodGroup of its name. No pod runs yet.
TEST_F(PaddleControllersTest, AHandMadePodGroupThatComesSecondIsTakenOver) {
  Start();
  Ask("POST", api::kQueues, "",
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"ads"},"spec":{"weight":1}})");
  ASSERT_TRUE(Comes([&] { return Get<api::volcano::Queue>(api::kQueues, "ads").status.state == "Open"; }));
  cluster_->Stop(Component::kScheduler);
  Ask("POST", kPaddle, "", PaddleText("wd", "", 4));
  ASSERT_TRUE(Comes([&] { return Get<api::volcano::Job>(api::kJobs, "wd").spec.min_available == 4; }));
  Ask("POST", api::kPodGroups, "",
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"wd"},"spec":{"minMember":3,"queue":"ads"}})");
  ASSERT_TRUE(Comes([&] { return Get<api::volcano::Job>(api::kJobs, "wd").spec.min_available == 3; }));
  cluster_->Start(Component::kScheduler);
  ASSERT_TRUE(Reaches("wd", "Running"));
  EXPECT_EQ(Job("wd").status.queue, "ads");
  EXPECT_THAT(api::Encode(Job("wd").status), HasSubstr("W-PG-DROPPED"));
}

TEST_F(PaddleControllersTest, AQueueThatIsClosedIsWaitedForUntilItOpens) {
  Start();
  Ask("POST", api::kQueues, "",
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"ads"},"spec":{"weight":1}})");
  ASSERT_TRUE(Comes([&] { return Get<api::volcano::Queue>(api::kQueues, "ads").status.state == "Open"; }));
  const auto command = [&](absl::string_view action, absl::string_view state) {
    Ask("POST", api::kCommands, "",
        absl::StrCat(
            R"({"apiVersion":"bus.volcano.sh/v1alpha1","kind":"Command","metadata":{"generateName":"c-"},"action":")",
            action, R"(","target":{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","name":"ads"}})"));
    return Comes([&] { return Get<api::volcano::Queue>(api::kQueues, "ads").status.state == state; });
  };
  ASSERT_TRUE(command("CloseQueue", "Closed"));
  Ask("POST", kPaddle, "", PaddleText("wd", R"("schedulingPolicy":{"queue":"ads"})"));
  ASSERT_TRUE(Comes([&] { return absl::StrContains(Job("wd").status.message, "ads"); }));
  EXPECT_EQ(Job("wd").status.phase, "Pending");
  ASSERT_TRUE(command("OpenQueue", "Open"));
  EXPECT_TRUE(Reaches("wd", "Running"));
}

// Both want a Job of this name; the second waits until the first has gone.
TEST_F(PaddleControllersTest, TwoDialectsWithOneNameShareNoJob) {
  Start();
  Ask("POST", kPaddle, "", PaddleText("wd"));
  ASSERT_TRUE(Reaches("wd", "Running"));
  Ask("POST", kKubeflow, "", KubeflowText("wd"));
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(Get<api::volcano::Job>(api::kJobs, "wd").metadata.Controller()->api_version, kPaddle.ApiVersion());
  Ask("DELETE", kPaddle, "wd");
  EXPECT_TRUE(KubeflowReaches("wd", "Running"));
}

}  // namespace
}  // namespace gangway::paddle_controller
