// The scheduler against the sandbox's API server, on the simulated loop.
#include "plugin/scheduler/scheduler.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "api/volcano/release.h"
#include "base/simulated_loop.h"
#include "sandbox/apiserver/api_server.h"
#include "sandbox/apiserver/in_process_client.h"
#include "tests/plugin/scheduler/running_scheduler.h"
#include "tests/testing/fake_client.h"

namespace gangway::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace json = boost::json;

class SchedulerTest : public ::testing::Test {
 protected:
  SchedulerTest() : loop_(1), server_(loop_, {}) {
    // Stands for the Job; pods whose owner does not exist would be collected.
    Create(api::kConfigMaps, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"job"}})");
    owner_ = absl::StrCat(
        R"("ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"job","controller":true,"uid":")",
        Text(Get(api::kConfigMaps, "job"), "/metadata/uid"), R"("}],)");
  }

  void StartScheduler(Options options = {}, bool standby = false, std::vector<std::string> namespaces = {}) {
    sandbox::Faults faults;
    faults.frames = [this](const kube::Request&, const std::vector<kube::Frame>&) {
      sandbox::WatchFate fate;
      fate.delay = watch_delay_;
      return fate;
    };
    faults.request = [this](const kube::Request& request) {
      sandbox::RequestFate fate;
      if (fate_) fate = fate_(request);
      return fate;
    };
    client_ = std::make_unique<sandbox::InProcessClient>(loop_, server_, "scheduler", std::move(faults));
    scheduler_ =
        std::make_unique<RunningScheduler>(loop_, *client_, std::move(options), standby, std::move(namespaces));
    scheduler_->Start();
  }
  void Crash() {
    scheduler_.reset();
    client_.reset();
  }

  kube::Response Ask(const std::string& method, const std::string& path, const std::string& body = "",
                     const std::string& type = "") {
    kube::Request request;
    request.method = method;
    request.path = path;
    request.body = body;
    request.content_type = type;
    return server_.Handle(request, {"test"});
  }
  void Create(const api::Resource& resource, const std::string& body) {
    const kube::Response reply = Ask("POST", api::PathOf(resource, resource.namespaced ? "default" : ""), body);
    ASSERT_TRUE(reply.ok()) << *reply.body;
  }
  void AddNodes(int count, int cpu = 16) {
    for (int i = 0; i < count; ++i) {
      Create(api::kNodes,
             absl::StrCat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"node-00)", nodes_++,
                          R"("},"status":{"allocatable":{"cpu":")", cpu, R"(","memory":"64Gi","pods":"110"}}})"));
    }
  }
  void AddGroup(const std::string& name, int min_member, const std::string& more = "") {
    Create(api::kPodGroups,
           absl::StrCat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":")", name,
                        R"("},"spec":{"minMember":)", min_member, R"(,"queue":"default")", more, "}}"));
  }
  void AddQueue(const std::string& name, const std::string& spec) {
    Create(api::kQueues,
           absl::StrCat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":")", name,
                        R"("},"spec":{)", spec, "}}"));
    const kube::Response opened = Ask("PATCH", api::PathOf(api::kQueues, "", name, "status"),
                                      R"({"status":{"state":"Open"}})", "application/merge-patch+json");
    ASSERT_TRUE(opened.ok()) << *opened.body;
  }
  void AddGroupIn(const std::string& queue, const std::string& name, int min_member, const std::string& phase,
                  const std::string& more = "") {
    Create(api::kPodGroups,
           absl::StrCat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":")", name,
                        R"("},"spec":{"minMember":)", min_member, R"(,"queue":")", queue, R"(")", more,
                        R"(},"status":{"phase":")", phase, R"("}})"));
  }
  void AddPod(const std::string& name, const std::string& group, const std::string& cpu,
              const std::string& more_spec = "", bool controlled = true) {
    Create(
        api::kPods,
        absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name, R"(",)", controlled ? owner_ : "",
                     R"("annotations":{"scheduling.k8s.io/group-name":")", group,
                     R"(","volcano.sh/task-spec":"w"}},"spec":{"schedulerName":"volcano",)", more_spec,
                     R"("containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":")", cpu, R"("}}}]}})"));
  }
  void Bind(const std::string& pod, const std::string& node) {
    const kube::Response reply = Ask("POST", api::PathOf(api::kPods, "default", pod, "binding"),
                                     absl::StrCat(R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":")", pod,
                                                  R"("},"target":{"kind":"Node","name":")", node, R"("}})"));
    ASSERT_TRUE(reply.ok()) << *reply.body;
  }
  void SetPhase(const std::string& pod, const std::string& phase) {
    const kube::Response reply =
        Ask("PATCH", api::PathOf(api::kPods, "default", pod, "status"),
            absl::StrCat(R"({"status":{"phase":")", phase, R"("}})"), "application/merge-patch+json");
    ASSERT_TRUE(reply.ok()) << *reply.body;
  }
  void Delete(const api::Resource& resource, const std::string& name) {
    Ask("DELETE", api::PathOf(resource, "default", name),
        R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0})");
  }

  json::value Get(const api::Resource& resource, const std::string& name) {
    const kube::Response reply = Ask("GET", api::PathOf(resource, resource.namespaced ? "default" : "", name));
    if (!reply.ok()) return nullptr;
    return *api::ParseJson(*reply.body);
  }
  static std::string Text(const json::value& value, absl::string_view pointer) {
    boost::system::error_code error;
    const json::value* found = value.find_pointer({pointer.data(), pointer.size()}, error);
    return found != nullptr && found->is_string() ? std::string(found->get_string().c_str()) : std::string();
  }
  // It is gone, or somebody asked for that.
  bool Leaves(const std::string& pod) {
    const json::value object = Get(api::kPods, pod);
    return object.is_null() || !Text(object, "/metadata/deletionTimestamp").empty();
  }
  std::string NodeOf(const std::string& pod) { return Text(Get(api::kPods, pod), "/spec/nodeName"); }
  std::string Phase(const std::string& group) { return Text(Get(api::kPodGroups, group), "/status/phase"); }
  std::int64_t Running(const std::string& group) {
    const json::value object = Get(api::kPodGroups, group);
    boost::system::error_code error;
    const json::value* found = object.find_pointer("/status/running", error);
    return found == nullptr ? 0 : found->to_number<std::int64_t>();
  }
  // "Type=Status reason: message"
  std::vector<std::string> Conditions(const api::Resource& resource, const std::string& name) {
    std::vector<std::string> lines;
    const json::value object = Get(resource, name);
    boost::system::error_code error;
    const json::value* list = object.find_pointer("/status/conditions", error);
    if (list == nullptr) return lines;
    for (const json::value& condition : list->get_array()) {
      lines.push_back(absl::StrCat(Text(condition, "/type"), "=", Text(condition, "/status"), " ",
                                   Text(condition, "/reason"), ": ", Text(condition, "/message")));
    }
    return lines;
  }
  // "Type Reason message" of events about an object.
  std::vector<std::string> Events(const std::string& name) {
    std::vector<std::string> lines;
    const json::value list = *api::ParseJson(*Ask("GET", api::PathOf(api::kEvents, "default")).body);
    for (const json::value& event : list.at("items").as_array()) {
      if (Text(event, "/involvedObject/name") != name) continue;
      lines.push_back(absl::StrCat(Text(event, "/type"), " ", Text(event, "/reason"), " ", Text(event, "/message")));
      EXPECT_EQ(Text(event, "/source/component"), "volcano");
    }
    return lines;
  }
  int Bound() {
    int bound = 0;
    const json::value list = *api::ParseJson(*Ask("GET", api::PathOf(api::kPods, "default")).body);
    for (const json::value& pod : list.at("items").as_array()) bound += Text(pod, "/spec/nodeName").empty() ? 0 : 1;
    return bound;
  }

  SimulatedLoop loop_;
  sandbox::ApiServer server_;
  std::unique_ptr<sandbox::InProcessClient> client_;
  std::unique_ptr<RunningScheduler> scheduler_;
  std::function<sandbox::RequestFate(const kube::Request&)> fate_;
  absl::Duration watch_delay_ = absl::ZeroDuration();
  std::string owner_;
  int nodes_ = 0;
};

bool IsBinding(const kube::Request& request) { return absl::EndsWith(request.path, "/binding"); }
sandbox::RequestFate Lose(sandbox::RequestFate::Loss loss) {
  sandbox::RequestFate fate;
  fate.loss = loss;
  return fate;
}

// tests/golden/volcano/seed-ctr-volcano, the scheduler's part.
TEST_F(SchedulerTest, TheSeedGangFromPendingToCompleted) {
  AddNodes(6);
  StartScheduler();
  AddGroup("ctr", 4, R"(,"minResources":{"cpu":"4","count/pods":"4","pods":"4","requests.cpu":"4","limits.cpu":"40"})");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Phase("ctr"), "Inqueue");
  EXPECT_THAT(Conditions(api::kPodGroups, "ctr"), IsEmpty());
  EXPECT_THAT(Events("ctr"), IsEmpty()) << "a gang that is being admitted is nothing to warn about";

  for (int i = 0; i < 4; ++i) AddPod(absl::StrCat("ctr-w-", i), "ctr", "1");
  loop_.RunFor(absl::Seconds(3));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(NodeOf(absl::StrCat("ctr-w-", i)), "node-000");
  EXPECT_EQ(Phase("ctr"), "Running");
  EXPECT_THAT(Conditions(api::kPodGroups, "ctr"),
              ElementsAre("Scheduled=True tasks in gang are ready to be scheduled: "));
  EXPECT_THAT(Events("ctr-w-0"), ElementsAre("Normal Scheduled Successfully assigned default/ctr-w-0 to node-000"));
  EXPECT_THAT(Events("ctr"), ElementsAre("Normal Scheduled 4 of 4 tasks are placed: node-000 (4)"));

  for (int i = 0; i < 4; ++i) SetPhase(absl::StrCat("ctr-w-", i), "Running");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Running("ctr"), 4);
  for (int i = 0; i < 4; ++i) SetPhase(absl::StrCat("ctr-w-", i), "Succeeded");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Phase("ctr"), "Completed");
  EXPECT_EQ(Running("ctr"), 0);

  for (int i = 0; i < 4; ++i) Delete(api::kPods, absl::StrCat("ctr-w-", i));
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Phase("ctr"), "Completed") << "volcano-sh/volcano#2208: it would be let in again and hold room for ever";
}

// tests/golden/volcano/gang-unschedulable
TEST_F(SchedulerTest, AGangThatDoesNotFitIsExplainedOnceAndBoundWhenNodesCome) {
  AddNodes(6);
  StartScheduler();
  AddGroup("tight", 8);
  for (int i = 0; i < 8; ++i) AddPod(absl::StrCat("tight-w-", i), "tight", "9");
  loop_.RunFor(absl::Seconds(60));
  EXPECT_EQ(Bound(), 0);
  const std::string sentence =
      "waits for 2 of 8 tasks: w needs cpu 9; with 6 placed, 6 nodes have at most 7 free, 0 fit";
  EXPECT_EQ(Phase("tight"), "Inqueue");
  EXPECT_THAT(Conditions(api::kPodGroups, "tight"), ElementsAre("Unschedulable=True NotEnoughResources: " + sentence));
  EXPECT_THAT(Events("tight"), ElementsAre("Warning Unschedulable " + sentence));
  EXPECT_THAT(Conditions(api::kPods, "tight-w-7"), ElementsAre("PodScheduled=False Unschedulable: " + sentence));
  EXPECT_THAT(Conditions(api::kPods, "tight-w-0"),
              ElementsAre("PodScheduled=False Schedulable: fits a node; its gang " + sentence));
  EXPECT_THAT(Events("tight-w-7"), ElementsAre("Warning FailedScheduling " + sentence));

  AddNodes(2);
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Bound(), 8);
  EXPECT_EQ(Phase("tight"), "Running");
  EXPECT_THAT(Conditions(api::kPodGroups, "tight"),
              ElementsAre("Unschedulable=True NotEnoughResources: " + sentence,
                          "Scheduled=True tasks in gang are ready to be scheduled: "));
}

TEST_F(SchedulerTest, NothingIsWrittenOnceAllIsSaid) {
  AddNodes(1);
  StartScheduler();
  AddGroup("tight", 2);
  for (int i = 0; i < 2; ++i) AddPod(absl::StrCat("tight-w-", i), "tight", "9");
  loop_.RunFor(absl::Minutes(1));
  int writes = 0;
  fate_ = [&](const kube::Request& request) {
    if (request.method != "GET") ++writes;
    return sandbox::RequestFate{};
  };
  loop_.RunFor(absl::Minutes(10));
  EXPECT_EQ(writes, 0);
}

// tests/golden/volcano/gang-not-enqueueable
TEST_F(SchedulerTest, AGangTooLargeForTheClusterStaysPendingWithAReason) {
  AddNodes(6);
  StartScheduler();
  AddGroup("big", 12, R"(,"minResources":{"cpu":"144"})");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Phase("big"), "Pending");
  EXPECT_THAT(Events("big"), ElementsAre(HasSubstr("Normal Unschedulable waits for 12 of 12 tasks: needs cpu 144")));
  AddNodes(4);
  AddNodes(2);
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Phase("big"), "Inqueue");
}

// tests/golden/volcano/minavailable-lt-replicas
// What was decided by another policy is decided anew, without any event.
TEST_F(SchedulerTest, APolicyThatChangesLetsInWhoWaits) {
  AddNodes(1);
  Options options;
  options.live_policy = std::make_shared<LivePolicy>(gang::Policy());
  const std::shared_ptr<LivePolicy> live = options.live_policy;
  StartScheduler(std::move(options));
  AddGroup("large", 1, R"(,"minResources":{"cpu":"20"})");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Phase("large"), "Pending");
  gang::Policy policy;
  policy.overcommit_percent.reset();
  policy.admit_by_queues = false;
  live->Set(policy);
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Phase("large"), "Inqueue");
  Crash();
  live->Set(gang::Policy());  // nobody is told any more
}

// Ranks that were kept from the last round are forgotten.
TEST_F(SchedulerTest, APolicyThatChangesRanksNodesAnew) {
  AddNodes(2);
  gang::Policy by_memory;
  by_memory.packing.weights = {{"memory", 1}};
  Options options;
  options.live_policy = std::make_shared<LivePolicy>(by_memory);
  const std::shared_ptr<LivePolicy> live = options.live_policy;
  StartScheduler(std::move(options));
  AddGroup("first", 1);
  AddPod("first-w-0", "first", "1");
  Bind("first-w-0", "node-001");
  AddGroup("never", 2);  // its small pod leaves ranks behind
  AddPod("never-w-0", "never", "1");
  AddPod("never-w-1", "never", "100");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(NodeOf("never-w-0"), "");
  live->Set(gang::Policy());
  AddGroup("second", 1);
  AddPod("second-w-0", "second", "1");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(NodeOf("second-w-0"), "node-001") << "it is fuller";
}

TEST_F(SchedulerTest, TheElasticRestFollowsWhenThereIsRoom) {
  AddNodes(6);
  StartScheduler();
  AddGroup("elastic", 4);
  for (int i = 0; i < 8; ++i) AddPod(absl::StrCat("elastic-w-", i), "elastic", "9");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Bound(), 6);
  for (int i = 0; i < 6; ++i) SetPhase(absl::StrCat("elastic-w-", i), "Running");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Phase("elastic"), "Running");
  EXPECT_EQ(Running("elastic"), 6);
  EXPECT_THAT(Conditions(api::kPodGroups, "elastic"),
              ElementsAre("Scheduled=True tasks in gang are ready to be scheduled: "));
  EXPECT_THAT(Conditions(api::kPods, "elastic-w-7"),
              ElementsAre(HasSubstr("PodScheduled=False Unschedulable: waits for 2 of 8")));
  for (int i = 0; i < 6; ++i) SetPhase(absl::StrCat("elastic-w-", i), "Succeeded");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Bound(), 8);
  EXPECT_EQ(Phase("elastic"), "Running");
}

// ---- the pause after a PodGroup came, before anything beyond minima is placed

class SurplusPauseTest : public SchedulerTest {
 protected:
  // A gang of one with three pods more.
  void AddElastic() {
    AddGroup("elastic", 1);
    for (int i = 0; i < 4; ++i) AddPod(absl::StrCat("elastic-w-", i), "elastic", "1");
  }
};

TEST_F(SurplusPauseTest, WhatIsBeyondTheMinimumWaitsForGangsMadeTogetherWithIt) {
  AddNodes(1);
  StartScheduler();
  loop_.RunFor(absl::Seconds(1));
  AddElastic();
  loop_.RunFor(absl::Milliseconds(450));
  EXPECT_EQ(Bound(), 1);
  loop_.RunFor(absl::Milliseconds(100));
  EXPECT_EQ(Bound(), 4);
  AddPod("elastic-w-4", "elastic", "1");
  loop_.RunFor(absl::Milliseconds(50));
  EXPECT_EQ(Bound(), 5) << "no gang came";
}

TEST_F(SurplusPauseTest, GangsThatGoOnComingProlongItToFourTimesAsLong) {
  AddNodes(1);
  StartScheduler();
  loop_.RunFor(absl::Seconds(1));
  AddElastic();
  for (int i = 0; i < 4; ++i) {
    loop_.RunFor(absl::Milliseconds(450));
    EXPECT_EQ(Bound(), 1) << i;
    AddGroup(absl::StrCat("other", i), 1);
  }
  loop_.RunFor(absl::Milliseconds(150));
  EXPECT_EQ(Bound(), 1);
  loop_.RunFor(absl::Milliseconds(100));
  EXPECT_EQ(Bound(), 4) << "two seconds after the first, though the last came just now";
}

// Nothing was decided about the rest meanwhile, so it goes on waiting for what it waited for.
TEST_F(SurplusPauseTest, WhatWaitsBeyondItsMinimumIsNotForgottenMeanwhile) {
  AddNodes(1, 2);
  AddElastic();
  StartScheduler();
  loop_.RunFor(absl::Seconds(3));
  ASSERT_EQ(Bound(), 2);
  const auto told = [this] { return Text(Get(api::kPods, "elastic-w-3"), "/metadata/resourceVersion"); };
  const std::string before = told();
  AddGroup("other", 1);
  loop_.RunFor(absl::Milliseconds(250));
  EXPECT_THAT(scheduler_->Dump(), HasSubstr("waits for 2 of 4 tasks"));
  loop_.RunFor(absl::Seconds(20));
  EXPECT_THAT(scheduler_->Dump(), HasSubstr("waits for 2 of 4 tasks"));
  EXPECT_EQ(told(), before) << "nothing new is said";
}

TEST_F(SurplusPauseTest, WhatWasThereBeforeTheSchedulerWaitsForNobody) {
  AddNodes(1);
  AddElastic();
  StartScheduler();
  loop_.RunFor(absl::Milliseconds(100));
  EXPECT_EQ(Bound(), 4);
}

// ---- what was written is known from the reply, before the watch tells of it

TEST_F(SchedulerTest, NothingIsWrittenTwiceWhileTheWatchLags) {
  AddNodes(1);
  std::map<std::string, int> written;
  fate_ = [&](const kube::Request& request) {
    if (IsBinding(request)) watch_delay_ = absl::Seconds(20);
    const bool writes = request.method != "GET" && !absl::StrContains(request.path, "/events");
    if (writes && watch_delay_ > absl::ZeroDuration()) ++written[absl::StrCat(request.method, " ", request.path)];
    return sandbox::RequestFate{};
  };
  StartScheduler();
  AddGroup("g", 2);
  for (int i = 0; i < 2; ++i) AddPod(absl::StrCat("g-w-", i), "g", "1");
  loop_.RunFor(absl::Seconds(15));
  EXPECT_EQ(Bound(), 2);
  for (const auto& [what, times] : written) EXPECT_EQ(times, 1) << what;
  EXPECT_GE(written.size(), 3u) << "both bindings, and what queues have allocated";
}

// ---- what goes is gone for whoever wants it next

TEST_F(SchedulerTest, WhatGoesIsNotReckonedWith) {
  AddNodes(1);
  for (const char* const name : {"kept", "lost"}) {
    Create(
        api::kPersistentVolumes,
        absl::StrCat(
            R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"pv-)", name,
            R"("},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/x"}}})"));
    Create(api::kPersistentVolumeClaims,
           absl::StrCat(R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":")", name,
                        R"("},"spec":{"accessModes":["ReadWriteOnce"],"volumeName":"pv-)", name,
                        R"(","resources":{"requests":{"storage":"1Gi"}}}})"));
    ASSERT_TRUE(Ask("PATCH", api::PathOf(api::kPersistentVolumeClaims, "default", name, "status"),
                    R"({"status":{"phase":"Bound"}})", "application/merge-patch+json")
                    .ok());
  }
  StartScheduler();
  const auto with_claim = [this](const std::string& name, const std::string& claim) {
    AddGroup(name, 1);
    AddPod(name, name, "1",
           absl::StrCat(R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":")", claim, R"("}}],)"));
  };
  const auto why = [this](const std::string& name) {
    loop_.RunFor(absl::Seconds(15));
    const std::vector<std::string> conditions = Conditions(api::kPodGroups, name);
    return conditions.empty() ? "" : conditions[0];
  };
  with_claim("before", "kept");
  EXPECT_THAT(why("before"), HasSubstr("Scheduled=True"));
  const auto gone = [this](const api::Resource& resource, const std::string& name) {
    ASSERT_TRUE(Ask("DELETE", api::PathOf(resource, resource.namespaced ? "default" : "", name)).ok());
  };
  gone(api::kPersistentVolumes, "pv-lost");
  with_claim("without-volume", "lost");
  EXPECT_THAT(why("without-volume"), HasSubstr("volume pv-lost of claim lost is not known"));
  gone(api::kPersistentVolumeClaims, "lost");
  EXPECT_THAT(why("without-volume"), HasSubstr("there is no claim lost"));
  gone(api::kNodes, "node-000");
  loop_.RunFor(absl::Seconds(1));
  with_claim("without-node", "kept");
  EXPECT_THAT(why("without-node"), HasSubstr("the cluster has no nodes"));
}

TEST_F(SchedulerTest, APriorityClassThatIsGoneGivesNobodyPrecedence) {
  Create(api::kPriorityClasses,
         R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},"value":100})");
  StartScheduler();
  AddGroup("a-first", 1);
  AddPod("a-first", "a-first", "16");
  AddGroup("b-high", 1, R"(,"priorityClassName":"high")");
  AddPod("b-high", "b-high", "16");
  loop_.RunFor(absl::Seconds(1));
  ASSERT_TRUE(Ask("DELETE", api::PathOf(api::kPriorityClasses, "", "high")).ok());
  loop_.RunFor(absl::Seconds(1));
  AddNodes(1);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(NodeOf("a-first"), "node-000");
  EXPECT_EQ(NodeOf("b-high"), "");
}

// tests/golden/volcano/raw-podgroup
TEST_F(SchedulerTest, ARawPodGroupThatLosesAPod) {
  AddNodes(6);
  StartScheduler();
  AddGroup("pg1", 3, R"(,"minResources":{"cpu":"3"})");
  AddPod("p0", "pg1", "1");
  AddPod("p1", "pg1", "1");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Phase("pg1"), "Inqueue");
  EXPECT_EQ(Bound(), 0);
  EXPECT_THAT(Conditions(api::kPodGroups, "pg1"),
              ElementsAre("Unschedulable=True NotEnoughResources: waits for 1 of 3 tasks: 2 pods exist"));
  AddPod("p2", "pg1", "1");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Bound(), 3);
  for (const char* pod : {"p0", "p1", "p2"}) SetPhase(pod, "Running");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Phase("pg1"), "Running");
  Delete(api::kPods, "p1");
  loop_.RunFor(absl::Seconds(90));
  EXPECT_EQ(Phase("pg1"), "Unknown");
  EXPECT_EQ(Bound(), 2) << "a gang that ran is not torn down because of one pod";
  SetPhase("p0", "Succeeded");
  SetPhase("p2", "Succeeded");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Phase("pg1"), "Inqueue");
}

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

// Two nodes that a gang of low priority fills, and one of high priority that comes.
class EvictionTest : public SchedulerTest {
 protected:
  EvictionTest() {
    for (const auto& [name, value] : {std::pair("low", 10), std::pair("high", 100)}) {
      Create(api::kPriorityClasses,
             absl::StrCat(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":")", name,
                          R"("},"value":)", value, "}"));
    }
    AddNodes(2, 4);
    options_.policy.preempt = options_.policy.reclaim = true;
  }
  void LowRuns() {
    AddGroup("low", 2, R"(,"priorityClassName":"low")");
    for (int i = 0; i < 2; ++i) AddPod(absl::StrCat("low-w-", i), "low", "4");
    loop_.RunFor(absl::Seconds(1));
    for (int i = 0; i < 2; ++i) SetPhase(absl::StrCat("low-w-", i), "Running");
    loop_.RunFor(absl::Seconds(1));
    ASSERT_EQ(Phase("low"), "Running");
  }
  void HighComes() {
    AddGroup("high", 2, R"(,"priorityClassName":"high")");
    for (int i = 0; i < 2; ++i) AddPod(absl::StrCat("high-w-", i), "high", "4");
  }
  // As a kubelet does when the grace is over.
  void End(const std::string& pod) { Delete(api::kPods, pod); }
  std::string NominatedTo(const std::string& pod) { return Text(Get(api::kPods, pod), "/status/nominatedNodeName"); }
  Options options_;
};

TEST_F(EvictionTest, AHighPriorityDoesNotWaitBehindALowOneThatRuns) {
  StartScheduler(options_);
  LowRuns();
  HighComes();
  loop_.RunFor(absl::Seconds(1));
  const std::string why = "evicted 2 of 2 tasks for default/high: its priority is 100, that of this gang 10";
  for (const char* pod : {"low-w-0", "low-w-1"}) {
    EXPECT_TRUE(Leaves(pod));
    EXPECT_THAT(Conditions(api::kPods, pod),
                ::testing::Contains(absl::StrCat("DisruptionTarget=True PreemptionByScheduler: ", why)));
    EXPECT_THAT(Events(pod), ::testing::Contains(absl::StrCat("Warning Evict Pod is evicted; its gang: ", why)));
  }
  EXPECT_THAT(Conditions(api::kPodGroups, "low"),
              ::testing::Contains(HasSubstr(absl::StrCat("GangReleased=True Preempted: ", why, " [low-w-0/"))));
  EXPECT_THAT(Events("low"), ::testing::Contains(absl::StrCat("Normal Evict ", why)));
  // While they end, the room is kept, and the gang says so.
  EXPECT_THAT(Conditions(api::kPodGroups, "high"),
              ElementsAre("Unschedulable=True NotEnoughResources: waits for 2 of 2 tasks: room is kept for it until 2 "
                          "pods of default/low have ended"));
  EXPECT_EQ(NominatedTo("high-w-0"), "node-000");
  EXPECT_EQ(NominatedTo("high-w-1"), "node-001");
  AddGroup("other", 1, R"(,"priorityClassName":"high")");
  AddPod("other", "other", "4");
  End("low-w-0");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(Bound(), 1) << "neither half of the one, nor the other on the room of the one";
  End("low-w-1");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(Phase("high"), "Running");
  EXPECT_EQ(NodeOf("other"), "");
}

TEST_F(EvictionTest, WhoIsNotAskedToEvictsNobody) {
  StartScheduler();
  options_.policy.preempt = false;
  Crash();
  StartScheduler(options_);
  LowRuns();
  HighComes();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_FALSE(Leaves("low-w-0"));
}

// At each write of an eviction: its next life evicts the same, all of it, and nobody else.
TEST_F(EvictionTest, ACrashInTheMiddleIsFinishedByTheNext) {
  AddNodes(2, 4);
  AddGroup("young", 2, R"(,"priorityClassName":"low")");
  for (int crash_after = 0; crash_after <= 8; ++crash_after) {
    SCOPED_TRACE(crash_after);
    StartScheduler(options_);
    LowRuns();
    for (int i = 0; i < 2; ++i) AddPod(absl::StrCat("young-w-", i), "young", "4");
    loop_.RunFor(absl::Seconds(1));
    ASSERT_EQ(Bound(), 4);
    for (int i = 0; i < 2; ++i) SetPhase(absl::StrCat("young-w-", i), "Running");
    loop_.RunFor(absl::Seconds(1));
    int sent = 0;
    fate_ = [&](const kube::Request& request) {
      return request.method != "GET" && ++sent > crash_after ? Lose(sandbox::RequestFate::Loss::kRequest)
                                                             : sandbox::RequestFate{};
    };
    HighComes();
    loop_.RunFor(absl::Milliseconds(20));
    Crash();
    fate_ = nullptr;
    loop_.RunFor(absl::Seconds(1));
    StartScheduler(options_);
    loop_.RunFor(absl::Seconds(5));
    std::vector<std::string> gone;
    for (const char* pod : {"low-w-0", "low-w-1", "young-w-0", "young-w-1"}) {
      if (Leaves(pod)) gone.push_back(pod);
    }
    EXPECT_THAT(gone, ::testing::SizeIs(2));
    EXPECT_EQ(gone.front().substr(0, 3), gone.back().substr(0, 3)) << "one gang, whole";
    for (const std::string& pod : gone) End(pod);
    loop_.RunFor(absl::Seconds(2));
    EXPECT_EQ(Phase("high"), "Running");
    Crash();
    for (const char* gang : {"low", "high"}) Delete(api::kPodGroups, gang);
    for (const char* gang : {"low", "high", "young"}) {
      for (int i = 0; i < 2; ++i) End(absl::StrCat(gang, "-w-", i));
    }
  }
}

// Of two nodes half is free on each.
class ConsolidationTest : public EvictionTest {
 protected:
  ConsolidationTest() {
    for (const char* name : {"a", "b"}) {
      AddGroup(name, 1);
      AddMovable(name);
    }
    Bind("a-w-0", "node-000");
    Bind("b-w-0", "node-001");
    StartScheduler(options_);
    loop_.RunFor(absl::Seconds(1));
    for (const char* pod : {"a-w-0", "b-w-0"}) SetPhase(pod, "Running");
    loop_.RunFor(absl::Seconds(1));
    AddGroup("big", 1);
    AddPod("big-w-0", "big", "4");
    loop_.RunFor(absl::Seconds(1));
  }
  void AddMovable(const std::string& gang) { AddPod(gang + "-w-0", gang + R"(","gangway.io/movable":"true)", "2"); }
};

TEST_F(ConsolidationTest, AGangThatMayBeMovedMakesRoomAndHasItsOwnElsewhere) {
  const std::string why = "evicted 1 of 1 task for default/big: moved so that it finds room, and placed again at once";
  ASSERT_TRUE(Leaves("a-w-0"));
  EXPECT_FALSE(Leaves("b-w-0"));
  EXPECT_THAT(Conditions(api::kPods, "a-w-0"),
              ::testing::Contains(absl::StrCat("DisruptionTarget=True PreemptionByScheduler: ", why)));
  EXPECT_THAT(Conditions(api::kPodGroups, "a"),
              ::testing::Contains(HasSubstr(absl::StrCat("GangReleased=True Moved: ", why, " [a-w-0/"))));
  EXPECT_THAT(Events("a"), ::testing::Contains(absl::StrCat("Normal Evict ", why)));
  EXPECT_EQ(NominatedTo("big-w-0"), "node-000");
  AddGroup("other", 1);
  AddPod("other", "other", "2");
  End("a-w-0");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(NodeOf("big-w-0"), "node-000");
  EXPECT_EQ(NodeOf("other"), "") << "the room is kept for the one that is moved";
  AddMovable("a");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(NodeOf("a-w-0"), "node-001");
  EXPECT_EQ(Phase("a"), "Running");
}

// Its room is anybody's some time after its pods are gone.
TEST_F(ConsolidationTest, WhoDoesNotComeBackHasNoRoomForEver) {
  ASSERT_TRUE(Leaves("a-w-0"));
  End("a-w-0");
  AddGroup("other", 1);
  AddPod("other", "other", "2");
  loop_.RunFor(absl::Minutes(4));
  EXPECT_EQ(NodeOf("other"), "");
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(NodeOf("other"), "node-001");
}

TEST_F(ConsolidationTest, WithItsPodGroupItsRoomGoes) {
  ASSERT_TRUE(Leaves("a-w-0"));
  End("a-w-0");
  Delete(api::kPodGroups, "a");
  AddGroup("other", 1);
  AddPod("other", "other", "2");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(NodeOf("other"), "node-001");
}

TEST_F(EvictionTest, RoomIsGivenBackWhenTheGangGoes) {
  StartScheduler(options_);
  LowRuns();
  HighComes();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_TRUE(Leaves("low-w-0"));
  for (int i = 0; i < 2; ++i) End(absl::StrCat("high-w-", i));
  Delete(api::kPodGroups, "high");
  AddGroup("other", 1, R"(,"priorityClassName":"low")");
  AddPod("other", "other", "4");
  for (int i = 0; i < 2; ++i) End(absl::StrCat("low-w-", i));
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(NodeOf("other"), "node-000");
}

TEST_F(EvictionTest, WhoIsNotTerminatingYetStaysWhenTheGangGoes) {
  StartScheduler(options_);
  LowRuns();
  fate_ = [&](const kube::Request& request) {
    sandbox::RequestFate fate;
    if (request.method == "DELETE") fate.answer = testutil::Refusal(500, "InternalError");
    return fate;
  };
  HighComes();
  loop_.RunFor(absl::Seconds(1));
  ASSERT_FALSE(NominatedTo("high-w-0").empty());
  Delete(api::kPodGroups, "high");
  for (int i = 0; i < 2; ++i) End(absl::StrCat("high-w-", i));
  loop_.RunFor(absl::Milliseconds(100));
  fate_ = nullptr;
  loop_.RunFor(absl::Minutes(2));
  for (const char* pod : {"low-w-0", "low-w-1"}) EXPECT_FALSE(Leaves(pod));
  EXPECT_EQ(Phase("low"), "Running");
}

TEST_F(EvictionTest, APodMadeAgainIsNominatedThoughItsGangWaitsForTheSame) {
  StartScheduler(options_);
  LowRuns();
  HighComes();
  loop_.RunFor(absl::Seconds(1));
  ASSERT_EQ(NominatedTo("high-w-1"), "node-001");
  End("high-w-1");
  AddPod("high-w-1", "high", "4");
  ASSERT_EQ(NominatedTo("high-w-1"), "");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(NominatedTo("high-w-1"), "node-001");
}

TEST_F(EvictionTest, WhoMayNotBeDeletedStaysAndIsNotAskedForAgainAtOnce) {
  StartScheduler(options_);
  LowRuns();
  int refused = 0;
  fate_ = [&](const kube::Request& request) {
    sandbox::RequestFate fate;
    if (request.method != "DELETE") return fate;
    ++refused;
    fate.answer = testutil::Refusal(403, "Forbidden");
    return fate;
  };
  HighComes();
  loop_.RunFor(absl::Seconds(14));
  EXPECT_FALSE(Leaves("low-w-0"));
  EXPECT_GT(refused, 2);
  EXPECT_LT(refused, 10);
}

TEST_F(SchedulerTest, LeftoversThatCannotBeCompletedAreReleased) {
  AddNodes(2);
  AddGroup("g", 2);
  for (int i = 0; i < 2; ++i) AddPod(absl::StrCat("g-w-", i), "g", "16");
  // Half a gang, as a crash leaves it; and the other node is taken meanwhile.
  Bind("g-w-0", "node-000");
  AddPod("other", "", "16");
  Bind("other", "node-001");
  const std::string uid = Text(Get(api::kPods, "g-w-0"), "/metadata/uid");
  StartScheduler();
  loop_.RunFor(absl::Seconds(25));
  EXPECT_EQ(NodeOf("g-w-0"), "node-000") << "not before the deadline";
  loop_.RunFor(absl::Seconds(10));
  const json::value pod = Get(api::kPods, "g-w-0");
  EXPECT_TRUE(Leaves("g-w-0"));
  EXPECT_THAT(Conditions(api::kPodGroups, "g"),
              ::testing::Contains(HasSubstr("GangReleased=True NotWhole: released 1 of 2 tasks")));
  EXPECT_THAT(Conditions(api::kPodGroups, "g"), ::testing::Contains(HasSubstr(absl::StrCat("[g-w-0/", uid, "]"))));
  if (!pod.is_null()) {
    EXPECT_THAT(Conditions(api::kPods, "g-w-0"), ::testing::Contains(HasSubstr("DisruptionTarget=True GangReleased")));
  }
  EXPECT_EQ(NodeOf("other"), "node-001");
}

// Each try takes its room for a moment, and is no reason to count anew.
TEST_F(SchedulerTest, LeftoversWhoseRestIsRefusedAgainAndAgainAreReleased) {
  AddNodes(2);
  int refused = 0;
  fate_ = [&](const kube::Request& request) {
    sandbox::RequestFate fate;
    if (IsBinding(request) && absl::StrContains(request.path, "g-w-1") && ++refused > 0)
      fate.answer = testutil::Refusal(403, "Forbidden");
    return fate;
  };
  StartScheduler();
  AddGroup("g", 2);
  for (int i = 0; i < 2; ++i) AddPod(absl::StrCat("g-w-", i), "g", "16");
  loop_.RunFor(absl::Seconds(25));
  ASSERT_FALSE(NodeOf("g-w-0").empty());
  EXPECT_FALSE(Leaves("g-w-0")) << "not before the deadline";
  EXPECT_GE(refused, 4) << "it is tried every five seconds";
  loop_.RunFor(absl::Seconds(10));
  EXPECT_TRUE(Leaves("g-w-0"));
  EXPECT_THAT(Conditions(api::kPodGroups, "g"),
              ::testing::Contains(HasSubstr("GangReleased=True NotWhole: released 1 of 2 tasks")));
}

// The node that the other half was to get is taken; those that are bound pull their images.
TEST_F(SchedulerTest, ARestartedSchedulerCountsFromWhenItSawTheHalf) {
  AddNodes(2);
  AddGroup("g", 2);
  for (int i = 0; i < 2; ++i) AddPod(absl::StrCat("g-w-", i), "g", "16");
  Bind("g-w-0", "node-000");
  AddPod("other", "", "16");
  Bind("other", "node-001");
  loop_.RunFor(absl::Minutes(10));
  StartScheduler();
  loop_.RunFor(absl::Seconds(25));
  EXPECT_FALSE(Leaves("g-w-0")) << "nobody has tried to make it whole for so long";
  loop_.RunFor(absl::Seconds(10));
  EXPECT_TRUE(Leaves("g-w-0"));
}

TEST_F(SchedulerTest, ARunningPodIsNeverReleased) {
  AddNodes(3);
  AddGroup("g", 3);
  for (int i = 0; i < 3; ++i) AddPod(absl::StrCat("g-w-", i), "g", "16");
  Bind("g-w-0", "node-000");
  Bind("g-w-1", "node-001");
  SetPhase("g-w-0", "Running");
  AddPod("other", "", "16");
  Bind("other", "node-002");
  StartScheduler();
  loop_.RunFor(absl::Minutes(2));
  EXPECT_FALSE(Leaves("g-w-0"));
  EXPECT_TRUE(Leaves("g-w-1")) << "it holds room that others could start with";
  EXPECT_THAT(Conditions(api::kPodGroups, "g"),
              ::testing::Contains(HasSubstr(
                  "GangReleased=True NotWhole: released 1 of 3 tasks: the gang did not become whole within 30s, it "
                  "waits for 1 of 3 tasks: w needs cpu 16; with 2 placed, 3 nodes have 0 free, 0 fit; 1 task runs and "
                  "stays [g-w-1/")));
}

// Its first pods are made anew one by one while the others still pull their images.
TEST_F(SchedulerTest, AGangThatWasWholeIsNeverReleased) {
  AddNodes(3);
  AddGroup("g", 3);
  for (int i = 0; i < 3; ++i) AddPod(absl::StrCat("g-w-", i), "g", "16");
  StartScheduler();
  loop_.RunFor(absl::Seconds(34));
  ASSERT_EQ(Bound(), 3);
  Delete(api::kPods, "g-w-2");
  AddPod("other", "", "16");
  Bind("other", "node-002");
  AddPod("g-w-2", "g", "16");
  loop_.RunFor(absl::Minutes(5));
  EXPECT_FALSE(Leaves("g-w-0") || Leaves("g-w-1"));
  EXPECT_THAT(Events("g"), ::testing::Not(::testing::Contains(HasSubstr("eleased"))));
  Crash();
  StartScheduler();
  loop_.RunFor(absl::Minutes(5));
  EXPECT_FALSE(Leaves("g-w-0") || Leaves("g-w-1")) << "the next scheduler knows it too";
  Delete(api::kPods, "other");
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(NodeOf("g-w-2"), "node-002");
  EXPECT_EQ(Phase("g"), "Running");
}

TEST_F(SchedulerTest, AGangThatWasWholeForAMomentIsRemembered) {
  AddNodes(2);
  // Its status does not get through before it loses a pod.
  fate_ = [](const kube::Request& request) {
    return request.method == "PATCH" && absl::EndsWith(request.path, "/podgroups/g")
               ? Lose(sandbox::RequestFate::Loss::kRequest)
               : sandbox::RequestFate{};
  };
  AddGroup("g", 2, R"(},"status":{"phase":"Inqueue")");
  for (int i = 0; i < 2; ++i) AddPod(absl::StrCat("g-w-", i), "g", "16");
  StartScheduler();
  loop_.RunFor(absl::Seconds(1));
  ASSERT_EQ(Bound(), 2);
  Delete(api::kPods, "g-w-1");
  loop_.RunFor(absl::Seconds(3));
  fate_ = nullptr;
  loop_.RunFor(absl::Minutes(5));
  EXPECT_FALSE(Leaves("g-w-0"));
}

TEST_F(SchedulerTest, AnUncontrolledLeftoverStaysAndIsTold) {
  AddNodes(1);
  AddGroup("g", 2);
  AddPod("g-w-0", "g", "16", "", false);
  AddPod("g-w-1", "g", "16", "", false);
  Bind("g-w-0", "node-000");
  StartScheduler();
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(NodeOf("g-w-0"), "node-000");
  EXPECT_THAT(
      Conditions(api::kPodGroups, "g"),
      ::testing::Contains(HasSubstr("GangPartBound=True PodsStay: the gang did not become whole within 30s, it waits "
                                    "for 1 of 2 tasks: w needs cpu 16; with 1 "
                                    "placed, 1 node has 0 free, 0 fit; 1 pod without a controller stays: g-w-0")));
  EXPECT_THAT(Events("g"), ::testing::Contains(HasSubstr("Warning GangPartBound the gang did not become whole")));
  EXPECT_THAT(Events("g"), ::testing::Not(::testing::Contains(HasSubstr("GangReleased")))) << "nothing was released";
}

TEST_F(SchedulerTest, AFieldTheSchedulerDoesNotKnowKeepsThePodPending) {
  AddNodes(1);
  StartScheduler();
  AddGroup("g", 1);
  AddPod("g-w-0", "g", "1", R"("resourceClaims":[{"name":"gpu","resourceClaimName":"x"}],)");
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Bound(), 0);
  EXPECT_THAT(
      Conditions(api::kPods, "g-w-0"),
      ElementsAre(HasSubstr("spec.resourceClaims[gpu] asks for something this scheduler does not know: it allocates no "
                            "devices of resource.k8s.io; ask for")));
}

TEST_F(SchedulerTest, MissingQueuesAreMade) {
  sandbox::ApiServerOptions bare;
  bare.default_objects = false;
  sandbox::ApiServer server(loop_, std::move(bare));
  sandbox::InProcessClient client(loop_, server, "scheduler");
  RunningScheduler scheduler(loop_, client, {});
  scheduler.Start();
  loop_.RunFor(absl::Seconds(2));
  for (const char* name : {"root", "default"}) {
    kube::Request request;
    request.method = "GET";
    request.path = api::PathOf(api::kQueues, "", name);
    EXPECT_TRUE(server.Handle(request, {"test"}).ok()) << name;
  }
}

TEST_F(SchedulerTest, AStandbyFillsItsCachesAndDecidesNothingUntilItLeads) {
  AddNodes(1);
  StartScheduler({}, true);
  AddGroup("g", 1);
  AddPod("p", "g", "1");
  loop_.RunFor(absl::Minutes(1));
  EXPECT_TRUE(scheduler_->synced());
  EXPECT_EQ(Text(Get(api::kPods, "p"), "/spec/nodeName"), "");
  EXPECT_EQ(Text(Get(api::kPodGroups, "g"), "/status/phase"), "");
  scheduler_->Lead();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(Text(Get(api::kPods, "p"), "/spec/nodeName"), "node-000");
}

TEST_F(SchedulerTest, StoppedItWritesWhatItDecidedAndDecidesNoMore) {
  AddNodes(1);
  StartScheduler();
  AddGroup("g", 1);
  AddPod("p", "g", "1");
  loop_.RunFor(absl::Seconds(1));
  scheduler_->Stop();
  AddGroup("late", 1);
  AddPod("q", "late", "1");
  loop_.RunFor(absl::Minutes(1));
  EXPECT_TRUE(scheduler_->stopped());
  EXPECT_EQ(Text(Get(api::kPods, "p"), "/spec/nodeName"), "node-000");
  EXPECT_EQ(Text(Get(api::kPods, "q"), "/spec/nodeName"), "");
}

TEST_F(SchedulerTest, OtherNamespacesAreLeftAloneAndTakeRoom) {
  AddNodes(1, 4);
  Ask("POST", "/api/v1/namespaces", R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"mine"}})");
  AddGroup("g", 1);
  AddPod("p", "g", "3");
  AddPod("taken", "other", "3");
  Bind("taken", "node-000");
  Ask("POST", "/apis/scheduling.volcano.sh/v1beta1/namespaces/mine/podgroups",
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":"m"},"spec":{"minMember":1,"queue":"default"}})");
  Ask("POST", "/api/v1/namespaces/mine/pods",
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"m","annotations":{"scheduling.k8s.io/group-name":"m"}},"spec":{"schedulerName":"volcano","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"2"}}}]}})");
  StartScheduler({}, false, {"mine"});
  loop_.RunFor(absl::Seconds(5));
  EXPECT_EQ(Text(Get(api::kPodGroups, "g"), "/status/phase"), "") << "not ours to write";
  const std::string mine(*Ask("GET", "/apis/scheduling.volcano.sh/v1beta1/namespaces/mine/podgroups/m").body);
  EXPECT_THAT(mine, HasSubstr("cpu 2")) << "the pod of another namespace takes room";
  Delete(api::kPods, "taken");
  loop_.RunFor(absl::Seconds(5));
  EXPECT_THAT(std::string(*Ask("GET", "/api/v1/namespaces/mine/pods/m").body), HasSubstr(R"("nodeName":"node-000")"));
  EXPECT_EQ(Text(Get(api::kPods, "p"), "/spec/nodeName"), "");
}

TEST_F(SchedulerTest, TheDumpSaysWhoWaitsAndWhy) {
  AddNodes(1, 1);
  StartScheduler();
  AddGroup("g", 1);
  AddPod("p", "g", "3");
  loop_.RunFor(absl::Seconds(5));
  const auto dump = api::ParseJson(scheduler_->Dump());
  ASSERT_TRUE(dump.ok()) << dump.status();
  EXPECT_EQ(dump->at("caches").at("nodes").as_int64(), 1);
  EXPECT_EQ(Text(*dump, "/gangs/0/gang"), "default/g");
  EXPECT_THAT(Text(*dump, "/gangs/0/reason"), HasSubstr("needs cpu 3"));
  for (const char* number : {"queuedKeys", "plansUnderWay"})
    EXPECT_EQ(dump->at("controllers").at("podgroup").at(number).as_int64(), 0) << number;
  EXPECT_EQ(dump->at("eventsWaiting").as_int64(), 0);
  EXPECT_EQ(dump->at("waitingGangs").as_int64(), 1);
  EXPECT_EQ(dump->at("gangs").at(0).at("minMember").as_int64(), 1);
  EXPECT_EQ(dump->at("gangs").at(0).at("tasks").as_int64(), 1);
  for (const char* cache : {"pods", "podgroups"}) EXPECT_EQ(dump->at("caches").at(cache).as_int64(), 1) << cache;
  for (const char* cache : {"persistentvolumeclaims", "persistentvolumes"})
    EXPECT_EQ(dump->at("caches").at(cache).as_int64(), 0) << cache;
  for (const char* cache : {"storageclasses", "priorityclasses", "queues"})
    EXPECT_GE(dump->at("caches").at(cache).as_int64(), 1) << cache << ": those that are always there";
  Crash();
  Options none;
  none.max_dumped_gangs = 0;
  StartScheduler(none);
  loop_.RunFor(absl::Seconds(5));
  EXPECT_THAT(scheduler_->Dump(), HasSubstr(R"("waitingGangs":1,"gangs":[])"));
}

// Small gangs come all the time; without nodes kept for it the large one waits as long as they do.
TEST_F(SchedulerTest, ALargeGangIsNotPassedForEver) {
  AddNodes(2, 8);
  StartScheduler();
  AddGroup("r0", 2);
  for (const char* pod : {"r0-w-0", "r0-w-1"}) AddPod(pod, "r0", "8");
  loop_.RunFor(absl::Seconds(5));
  ASSERT_EQ(Bound(), 2);
  AddGroup("large", 2);
  for (const char* pod : {"large-w-0", "large-w-1"}) AddPod(pod, "large", "8");
  loop_.RunFor(absl::Minutes(2));
  Delete(api::kPods, "r0-w-0");
  AddGroup("small", 1);
  AddPod("small-w-0", "small", "4");
  loop_.RunFor(absl::Seconds(15));
  EXPECT_EQ(NodeOf("small-w-0"), "");
  EXPECT_THAT(Conditions(api::kPodGroups, "small"),
              ElementsAre(HasSubstr("on 2 nodes room is kept for default/large until 1 pod ends")));
  // Nothing ends for an hour: others have their turn, though nothing happens.
  loop_.RunFor(absl::Minutes(61));
  EXPECT_NE(NodeOf("small-w-0"), "");
  EXPECT_EQ(NodeOf("large-w-0"), "");
}

// Recording queue-states: a queue without pods has {cpu: 0, memory: 0}; root has what all have.
TEST_F(SchedulerTest, QueuesSayWhatTheirPodsHold) {
  AddNodes(1);
  StartScheduler();
  AddGroup("g", 1);
  AddPod("p", "g", "3");
  loop_.RunFor(absl::Seconds(5));
  const auto allocated = [this](const std::string& queue) {
    return api::ToJson(Get(api::kQueues, queue).at("status").at("allocated"));
  };
  EXPECT_EQ(allocated("default"), R"({"cpu":"3","memory":"0","pods":"1"})");
  EXPECT_EQ(allocated("root"), R"({"cpu":"3","memory":"0","pods":"1"})");
  const std::string version = Text(Get(api::kQueues, "root"), "/metadata/resourceVersion");
  loop_.RunFor(absl::Minutes(5));
  EXPECT_EQ(Text(Get(api::kQueues, "root"), "/metadata/resourceVersion"), version);
  Delete(api::kPods, "p");
  loop_.RunFor(absl::Seconds(5));
  EXPECT_EQ(allocated("root"), R"({"cpu":"0","memory":"0"})");
}

// ---- what was used of late

// `ads` had all 16 nodes for three hours; then both want all of them.
class UseTest : public SchedulerTest {
 protected:
  UseTest() {
    options_.policy.preempt = options_.policy.reclaim = false;
    options_.policy.use_half_life = absl::Hours(1);
    AddNodes(4, 4);
    for (const char* queue : {"ads", "lab"}) AddQueue(queue, R"("weight":1)");
  }
  void Come(const std::string& queue, const std::string& name) {
    for (int i = 0; i < 16; ++i) {
      const std::string gang = absl::StrCat(name, i);
      AddGroupIn(queue, gang, 1, "Inqueue");
      AddPod(gang, gang, "1");
    }
  }
  void UseAll() {
    StartScheduler(options_);
    Come("ads", "first");
    loop_.RunFor(absl::Hours(3));
    ASSERT_EQ(Bound(), 16);
  }
  void End() {
    for (int i = 0; i < 16; ++i) Delete(api::kPods, absl::StrCat("first", i));
  }
  int BoundOf(const std::string& name) {
    int bound = 0;
    for (int i = 0; i < 16; ++i)
      bound += Text(Get(api::kPods, absl::StrCat(name, i)), "/spec/nodeName").empty() ? 0 : 1;
    return bound;
  }
  void BothWantAll() {
    Come("ads", "ads");
    Come("lab", "lab");
    loop_.RunFor(absl::Seconds(5));
  }
  Options options_;
};

TEST_F(UseTest, WhoUsedMuchOfLateGetsLess) {
  UseAll();
  BothWantAll();
  End();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(BoundOf("lab"), 12);  // of the 12.8 and 3.2 that they deserve
  EXPECT_EQ(BoundOf("ads"), 4);
}

TEST_F(UseTest, WithoutAHalfLifeItCountsForNothing) {
  options_.policy.use_half_life.reset();
  UseAll();
  BothWantAll();
  End();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(BoundOf("lab"), 8);
  EXPECT_THAT(json::serialize(Get(api::kQueues, "ads")), ::testing::Not(HasSubstr("gangway.io/usage")));
}

TEST_F(UseTest, TheNextSchedulerKnowsIt) {
  UseAll();
  End();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_THAT(Text(Get(api::kQueues, "ads"), "/metadata/annotations/gangway.io~1usage"), HasSubstr("Z cpu=13.9"));
  Crash();
  BothWantAll();
  StartScheduler(options_);
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(BoundOf("lab"), 12);
  EXPECT_EQ(BoundOf("ads"), 4);
}

TEST_F(UseTest, ItEvensOut) {
  options_.policy.reclaim = true;
  UseAll();
  BothWantAll();
  End();
  loop_.RunFor(absl::Hours(24));
  for (int hours = 0; hours < 48; ++hours) {  // who is evicted ends
    loop_.RunFor(absl::Hours(1));
    for (const char* name : {"ads", "lab"}) {
      for (int i = 0; i < 16; ++i) {
        const std::string pod = absl::StrCat(name, i);
        if (Text(Get(api::kPods, pod), "/metadata/deletionTimestamp").empty()) continue;
        Delete(api::kPods, pod);
        AddPod(pod, pod, "1");
      }
    }
  }
  EXPECT_GE(BoundOf("ads"), 6);
  EXPECT_GE(BoundOf("lab"), 6);
}

// ---- rows of section 9 of the contract of Volcano's scheduler, those that objects show

TEST_F(SchedulerTest, E1E3AGangStaysWhatItIs) {
  AddQueue("c1", R"("capability":{"cpu":"4","memory":"4G"})");
  AddGroupIn("c1", "waits", 2, "Inqueue");
  for (const char* pod : {"w0", "w1"}) AddPod(pod, "waits", "1");
  AddGroupIn("c1", "runs", 2, "Running");
  for (const char* pod : {"r0", "r1"}) {
    AddPod(pod, "runs", "1");
    Bind(pod, "nowhere");
    SetPhase(pod, "Running");
  }
  StartScheduler();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Phase("waits"), "Inqueue");
  EXPECT_EQ(Phase("runs"), "Running");
  EXPECT_EQ(Running("runs"), 2);
}

TEST_F(SchedulerTest, E2WhatAsksForNothingIsLetInThoughThereAreNoNodes) {
  for (const char* queue : {"c1", "c2"}) AddQueue(queue, R"("capability":{"cpu":"4","memory":"4G"})");
  AddGroupIn("c1", "pg1", 1, "Pending");
  AddGroupIn("c2", "pg2", 1, "Pending");
  AddPod("p1", "pg1", "3");
  AddPod("p2", "pg2", "1");
  StartScheduler();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Phase("pg1"), "Inqueue");
  EXPECT_EQ(Phase("pg2"), "Inqueue");
}

TEST_F(SchedulerTest, E5MoreThanTheQueuesCapabilityIsNotLetIn) {
  AddNodes(6);
  AddQueue("c1", R"("capability":{"cpu":"1","memory":"1G"})");
  AddGroupIn("c1", "pg", 1, "Pending", R"(,"minResources":{"cpu":"8","memory":"8G"})");
  StartScheduler();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Phase("pg"), "Pending");
  EXPECT_THAT(Conditions(api::kPodGroups, "pg"), ElementsAre(HasSubstr("queue c1 uses 0 of 1")));
}

// A gang of which some pods are ending. Nobody ends them: there is no kubelet, and a finalizer keeps those that have no
// node.
class EndingTest : public SchedulerTest {
 protected:
  EndingTest() { AddNodes(1, 2); }
  void AddRunning(const std::string& pod) {
    AddPod(pod, "g", "1");
    Bind(pod, "node-000");
    SetPhase(pod, "Running");
  }
  void End(const std::string& pod) {
    const kube::Response kept = Ask("PATCH", api::PathOf(api::kPods, "default", pod),
                                    R"({"metadata":{"finalizers":["test/keep"]}})", "application/merge-patch+json");
    ASSERT_TRUE(kept.ok()) << *kept.body;
    Delete(api::kPods, pod);
    ASSERT_NE(Text(Get(api::kPods, pod), "/metadata/deletionTimestamp"), "");
  }
  std::vector<std::string> ConditionsLater() {
    StartScheduler();
    loop_.RunFor(absl::Minutes(1));
    return Conditions(api::kPodGroups, "g");
  }
};

TEST_F(EndingTest, G3AGangThatOnlyWaitsForEndingPodsIsNotUnschedulable) {
  AddGroupIn("default", "g", 2, "Running");
  AddRunning("p0");
  AddRunning("p1");
  End("p1");
  EXPECT_THAT(ConditionsLater(), IsEmpty());
}

TEST_F(EndingTest, G4ItIsWithAReplacementThatFindsNoRoom) {
  AddGroupIn("default", "g", 2, "Running");
  AddRunning("p0");
  AddRunning("p1");
  End("p1");
  AddPod("p2", "g", "1");
  EXPECT_THAT(ConditionsLater(), ElementsAre(HasSubstr("Unschedulable=True NotEnoughResources: ")));
  EXPECT_EQ(NodeOf("p2"), "");
}

TEST_F(EndingTest, G5ItIsWhenWhatEndsNeverHadANode) {
  AddGroupIn("default", "g", 1, "Inqueue");
  AddPod("p0", "g", "9");
  End("p0");
  EXPECT_THAT(ConditionsLater(), ElementsAre(HasSubstr("Unschedulable=True NotEnoughResources: ")));
}

TEST_F(EndingTest, G6ItIsWhenMoreIsMissingThanWhatEnds) {
  AddGroupIn("default", "g", 3, "Running");
  AddRunning("p0");
  AddRunning("p1");
  End("p1");
  EXPECT_THAT(ConditionsLater(), ElementsAre(HasSubstr("Unschedulable=True NotEnoughResources: ")));
}

// Three nodes, of which one may have no second pod and two have no more room.
TEST_F(SchedulerTest, G7G8AGangThatDoesNotFitIsOneSentence) {
  const auto add_node = [this](const std::string& name, const std::string& cpu, const std::string& pods) {
    Create(api::kNodes, absl::StrCat(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")", name,
                                     R"("},"status":{"allocatable":{"cpu":")", cpu, R"(","memory":"64Gi","pods":")",
                                     pods, R"("}}})"));
  };
  add_node("node1", "16", "1");
  add_node("node2", "1", "10");
  add_node("node3", "1", "10");
  AddGroup("g", 6);
  for (int i = 1; i <= 6; ++i) AddPod(absl::StrCat("task-", i), "g", "1");
  StartScheduler();
  loop_.RunFor(absl::Minutes(1));
  const std::string sentence =
      "waits for 3 of 6 tasks: w needs cpu 1 and pods 1; with 3 placed, 2 nodes have cpu 0 free, 1 node has pods 0 "
      "free, 0 fit";
  EXPECT_THAT(Conditions(api::kPodGroups, "g"), ElementsAre("Unschedulable=True NotEnoughResources: " + sentence));
  EXPECT_THAT(Conditions(api::kPods, "task-6"), ElementsAre("PodScheduled=False Unschedulable: " + sentence));
  EXPECT_THAT(Conditions(api::kPods, "task-3"),
              ElementsAre("PodScheduled=False Schedulable: fits a node; its gang " + sentence));
}

TEST_F(SchedulerTest, G9AMinimumOfNothingIsCompleteAtOnce) {
  AddGroup("pg", 0);
  StartScheduler();
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(Phase("pg"), "Completed");
}

TEST_F(SchedulerTest, WhoWaitsIsToldThatHisQueueIsGone) {
  AddNodes(1);
  const std::string queue =
      R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"lab"},"spec":{"weight":1}})";
  Create(api::kQueues, queue);
  const std::string path = api::PathOf(api::kQueues, "", "lab");
  ASSERT_TRUE(Ask("PATCH", path + "/status", R"({"status":{"state":"Open"}})", "application/merge-patch+json").ok());
  StartScheduler();
  AddGroup("g", 1, R"(,"queue":"lab")");
  AddPod("p", "g", "99");
  loop_.RunFor(absl::Seconds(5));
  EXPECT_THAT(Conditions(api::kPodGroups, "g"), ElementsAre(HasSubstr("needs cpu 99")));
  ASSERT_TRUE(Ask("PATCH", path + "/status", R"({"status":{"state":"Closed"}})", "application/merge-patch+json").ok());
  ASSERT_TRUE(Ask("DELETE", path).ok());
  loop_.RunFor(absl::Seconds(70));
  EXPECT_THAT(Conditions(api::kPodGroups, "g"), ElementsAre(HasSubstr("there is no queue lab")));
}

TEST_F(SchedulerTest, TheNextSchedulerWritesNothingThatIsWritten) {
  AddNodes(1);
  StartScheduler();
  AddGroup("tight", 2);
  for (int i = 0; i < 2; ++i) AddPod(absl::StrCat("tight-w-", i), "tight", "9");
  loop_.RunFor(absl::Minutes(1));
  Crash();
  std::vector<std::string> writes;
  fate_ = [&](const kube::Request& request) {
    if (request.method != "GET" && !absl::StrContains(request.path, "/events")) writes.push_back(request.path);
    return sandbox::RequestFate{};
  };
  StartScheduler();
  loop_.RunFor(absl::Minutes(2));
  EXPECT_THAT(writes, IsEmpty());
}

TEST_F(SchedulerTest, TheNextSchedulerWritesNothingOfAGangThatRunsAndOfItsQueue) {
  AddNodes(1);
  StartScheduler();
  AddGroup("g", 1);
  AddPod("p", "g", "3");
  loop_.RunFor(absl::Seconds(5));
  SetPhase("p", "Running");
  loop_.RunFor(absl::Seconds(5));
  Crash();
  std::vector<std::string> writes;
  fate_ = [&](const kube::Request& request) {
    if (request.method != "GET") writes.push_back(absl::StrCat(request.path, " ", request.body));
    return sandbox::RequestFate{};
  };
  StartScheduler();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_THAT(writes, IsEmpty());
}

TEST_F(SchedulerTest, WhatAQueueIsSaidToHoldIsPutRightAtTheStart) {
  AddNodes(1);
  AddQueue("lab", R"("weight":1)");
  AddGroupIn("lab", "g", 1, "Pending");
  AddPod("p", "g", "3");
  StartScheduler();
  loop_.RunFor(absl::Seconds(5));
  Crash();
  ASSERT_TRUE(Ask("PATCH", api::PathOf(api::kQueues, "", "lab", "status"), R"({"status":{"allocated":{"cpu":"99"}}})",
                  "application/merge-patch+json")
                  .ok());
  StartScheduler();
  loop_.RunFor(absl::Seconds(5));
  EXPECT_EQ(api::ToJson(Get(api::kQueues, "lab").at("status").at("allocated")),
            R"({"cpu":"3","memory":"0","pods":"1"})");
}

// What a scheduler does not know it must not decide without.
TEST(SchedulerObjectsTest, NothingIsDecidedBeforeAllIsRead) {
  for (const std::string plural :
       {"pods", "nodes", "podgroups", "queues", "priorityclasses", "persistentvolumeclaims", "persistentvolumes",
        "storageclasses", "namespaces", "csinodes", "csidrivers", "csistoragecapacities", "volumeattachments"}) {
    SCOPED_TRACE(plural);
    SimulatedLoop loop(1);
    testutil::FakeClient client(loop);
    bool broken = true;
    client.SetHandler([&](const kube::Request& request) -> std::optional<absl::StatusOr<kube::Response>> {
      if (request.method != "GET") return testutil::Reply(request.method == "POST" ? 201 : 200, "{}");
      if (broken && absl::EndsWith(request.path, "/" + plural)) return testutil::Refusal(500, "InternalError");
      if (!absl::EndsWith(request.path, "/podgroups"))
        return testutil::Reply(200, R"({"metadata":{"resourceVersion":"9"},"items":[]})");
      return testutil::Reply(200, R"({"metadata":{"resourceVersion":"9"},"items":[
        {"metadata":{"name":"g","namespace":"ns","uid":"u","resourceVersion":"2"},"spec":{"minMember":1,"queue":"default"}}]})");
    });
    RunningScheduler scheduler(loop, client, {});
    scheduler.Start();
    loop.RunFor(absl::Seconds(5));
    const auto writes = [&] {
      return std::count_if(client.requests().begin(), client.requests().end(),
                           [](const kube::Request& request) { return request.method != "GET"; });
    };
    EXPECT_FALSE(scheduler.synced());
    EXPECT_THAT(scheduler.problem(), HasSubstr(plural));
    EXPECT_EQ(writes(), 0);
    broken = false;
    loop.RunFor(absl::Minutes(1));
    EXPECT_TRUE(scheduler.synced());
    EXPECT_EQ(scheduler.problem(), "");
    EXPECT_GT(writes(), 0);
  }
}

TEST(SchedulerObjectsTest, OfEachResourceWhatDoesNotDecodeIsTold) {
  const std::map<std::string, std::string> bad = {{"pods", R"("spec":[])"},
                                                  {"nodes", R"("spec":[])"},
                                                  {"queues", R"("spec":[])"},
                                                  {"priorityclasses", R"("value":"x")"},
                                                  {"persistentvolumeclaims", R"("spec":[])"},
                                                  {"persistentvolumes", R"("spec":[])"},
                                                  {"storageclasses", R"("volumeBindingMode":[])"},
                                                  {"csinodes", R"("spec":[])"},
                                                  {"csidrivers", R"("spec":[])"},
                                                  {"csistoragecapacities", R"("capacity":[])"},
                                                  {"volumeattachments", R"("spec":[])"}};
  for (const auto& [resource, spec] : bad) {
    SCOPED_TRACE(resource);
    SimulatedLoop loop(1);
    testutil::FakeClient client(loop);
    client.SetHandler([&, plural = resource,
                       member = spec](const kube::Request& request) -> std::optional<absl::StatusOr<kube::Response>> {
      if (request.method != "GET") return testutil::Reply(request.method == "POST" ? 201 : 200, "{}");
      const std::string item =
          absl::StrCat(R"({"metadata":{"name":"bad","uid":"u1","resourceVersion":"1"},)", member, "}");
      return testutil::Reply(200, absl::StrCat(R"({"metadata":{"resourceVersion":"9"},"items":[)",
                                               absl::EndsWith(request.path, "/" + plural) ? item : "", "]}"));
    });
    RunningScheduler scheduler(loop, client, {});
    scheduler.Start();
    loop.RunFor(absl::Seconds(5));
    EXPECT_TRUE(std::any_of(client.requests().begin(), client.requests().end(), [](const kube::Request& request) {
      return absl::EndsWith(request.path, "/events") && absl::StrContains(request.body, "InvalidObject");
    }));
  }
}

// An object that cannot be read gets an event that says so, and the others are scheduled.
TEST(SchedulerObjectsTest, OneThatDoesNotDecodeStopsNobodyElse) {
  SimulatedLoop loop(1);
  testutil::FakeClient client(loop);
  client.SetHandler([](const kube::Request& request) -> std::optional<absl::StatusOr<kube::Response>> {
    if (request.method != "GET") return testutil::Reply(request.method == "POST" ? 201 : 200, "{}");
    if (!absl::EndsWith(request.path, "/podgroups"))
      return testutil::Reply(200, R"({"metadata":{"resourceVersion":"9"},"items":[]})");
    return testutil::Reply(200, R"({"metadata":{"resourceVersion":"9"},"items":[
      {"metadata":{"name":"bad","namespace":"ns","uid":"u1","resourceVersion":"1"},"spec":{"minMember":"many"}},
      {"metadata":{"name":"good","namespace":"ns","uid":"u2","resourceVersion":"2"},"spec":{"minMember":1,"queue":"default"}}]})");
  });
  RunningScheduler scheduler(loop, client, {});
  scheduler.Start();
  loop.RunFor(absl::Seconds(5));
  std::vector<std::string> events;
  bool good_written = false;
  for (const kube::Request& request : client.requests()) {
    if (absl::EndsWith(request.path, "/events") && absl::StrContains(request.body, "InvalidObject"))
      events.push_back(request.body);
    if (request.method == "PATCH" && absl::EndsWith(request.path, "/podgroups/good")) good_written = true;
  }
  ASSERT_EQ(events.size(), 1u);
  EXPECT_THAT(events[0], ::testing::AllOf(HasSubstr(R"("name":"bad")"), HasSubstr("spec.minMember"),
                                          HasSubstr("cannot be read and is ignored")));
  EXPECT_TRUE(good_written);
}

}  // namespace
}  // namespace gangway::scheduler
