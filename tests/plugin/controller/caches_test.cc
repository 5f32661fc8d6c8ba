// What the controllers see of an API server: lists that come in any order, objects that nobody can read, what they
// wrote themselves, and what admission is told of it.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "plugin/controller/namespace_queues.h"
#include "tests/plugin/controller/controllers_fixture.h"
#include "tests/plugin/lifecycle/job/world.h"

namespace gangway::controller {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testutil::JobText;

const std::vector<const api::Resource*>& Watched() {
  static const auto& all = *new std::vector<const api::Resource*>{&api::kJobs,
                                                                  &api::kCronJobs,
                                                                  &api::kJobFlows,
                                                                  &api::kJobTemplates,
                                                                  &api::kPodGroups,
                                                                  &api::kCommands,
                                                                  &api::kQueues,
                                                                  &api::kPriorityClasses,
                                                                  &api::kPods,
                                                                  &api::kConfigMaps,
                                                                  &api::kServices,
                                                                  &api::kNetworkPolicies,
                                                                  &api::kPersistentVolumeClaims,
                                                                  &api::kReplicaSets,
                                                                  &api::kStatefulSets,
                                                                  &api::kDaemonSets,
                                                                  &api::kBatchJobs,
                                                                  &api::kNamespaces};
  return all;
}

class CachesTest : public ControllersTest {
 protected:
  static std::string NameOf(const api::Resource& resource) {
    return absl::StrCat(std::string(resource.plural), "-of-",
                        resource.group.empty() ? "core" : std::string(resource.group));
  }
  static bool Lists(const kube::Request& request, const api::Resource& resource) {
    return request.method == "GET" && request.path == api::PathOf(resource, "") &&
           !sandbox::ApiServer::IsWatch(request);
  }
};

TEST_F(CachesTest, WhicheverListComesLastTheControllersBegin) {
  Start();  // whose queues are open from now on
  Crash();
  for (const api::Resource* resource : Watched()) {
    const std::string job = NameOf(*resource);
    SCOPED_TRACE(job);
    Create(api::kJobs, JobText(job, 1, {{"w", 1}}));
    bool listed = false;
    fate_ = [&](const kube::Request& request) {
      sandbox::RequestFate fate;
      if (Lists(request, *resource)) fate.request_delay = absl::Milliseconds(600), listed = true;
      return fate;
    };
    Start();
    EXPECT_TRUE(listed);
    Run(absl::Seconds(2));
    EXPECT_EQ(Phase(job), "Pending");
    Crash();
  }
}

// A user who is told nothing would wait for an object that is ignored.
TEST_F(CachesTest, AnObjectOfAnyKindThatCannotBeReadIsToldToItsUser) {
  for (const api::Resource* resource : Watched()) {
    const std::string uid = NameOf(*resource);
    SCOPED_TRACE(uid);
    fate_ = [&](const kube::Request& request) {
      sandbox::RequestFate fate;
      if (!Lists(request, *resource)) return fate;
      json::value list = *api::ParseJson(*Ask("GET", request.path).body);
      const char* const ns = resource->namespaced ? "default" : "";
      list.at("items").as_array().push_back(json::object{
          {"metadata", {{"name", "odd"}, {"namespace", ns}, {"uid", uid}, {"resourceVersion", "1"}, {"labels", 5}}}});
      fate.answer.emplace();
      fate.answer->code = 200;
      fate.answer->content_type = "application/json";
      fate.answer->body = MakeBytes(api::ToJson(list));
      return fate;
    };
    Start();
    Crash();
    std::vector<std::string> about;
    const json::value events = *api::ParseJson(*Ask("GET", api::PathOf(api::kEvents, "default")).body);
    for (const json::value& event : events.at("items").as_array()) {
      if (event.at("reason") != json::value("InvalidObject")) continue;
      EXPECT_THAT(std::string(event.at("message").as_string()), HasSubstr("metadata.labels"));
      about.push_back(std::string(event.at("involvedObject").at("uid").as_string()));
    }
    EXPECT_THAT(about, Contains(uid));
  }
}

// A second look that went by what was before the first's write would be refused as a conflict.
TEST_F(CachesTest, WhatWasWrittenIsKnownBeforeTheWatchTells) {
  Options options;
  options.only = {"jobflow"};
  Start(options);
  Create(api::kJobTemplates,
         R"({"apiVersion":"flow.volcano.sh/v1alpha1","kind":"JobTemplate","metadata":{"name":"t"},"spec":{"tasks":[
      {"replicas":1,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}})");
  watch_fate_ = [](const kube::Request& watch) {
    sandbox::WatchFate fate;
    if (absl::StrContains(watch.path, "/jobtemplates")) fate.delay = absl::Minutes(1);
    return fate;
  };
  int patches = 0;
  fate_ = [&](const kube::Request& request) {
    if (request.method == "PATCH" && absl::StrContains(request.path, "/jobtemplates/")) ++patches;
    return sandbox::RequestFate{};
  };
  for (const char* flow : {"f", "g", "h"}) {
    Create(api::kJobFlows,
           absl::StrCat(R"({"apiVersion":"flow.volcano.sh/v1alpha1","kind":"JobFlow","metadata":{"name":")", flow,
                        R"("},"spec":{"flows":[{"name":"t"}]}})"));
    Run(absl::Seconds(2));
  }
  EXPECT_EQ(api::ToJson(Get(api::kJobTemplates, "t").at("status").at("jobDependsOnList")), R"(["f-t","g-t","h-t"])");
  EXPECT_EQ(patches, 3);
}

// PaddleJobs are translated otherwise where somebody puts containers into their pods.
TEST_F(CachesTest, ANamespaceThatInjectsSidecarsIsKnownAsLongAsItDoes) {
  sandbox::InProcessClient client(loop_, server_, "namespaces");
  kube::Informers informers(loop_, client);
  const NamespaceQueues namespaces(
      informers.Of<api::core::PartialObject>(api::kNamespaces, NamespaceQueues::Selected()));
  informers.Start();
  const auto label = [&](const char* value) {
    Patch(api::kNamespaces, "default", absl::StrCat(R"({"metadata":{"labels":{"istio-injection":)", value, "}}}"));
    Run();
    return namespaces.InjectsSidecars("default");
  };
  Run();
  EXPECT_FALSE(namespaces.InjectsSidecars("default"));
  EXPECT_TRUE(label(R"("enabled")"));
  EXPECT_FALSE(label(R"("disabled")"));
  EXPECT_TRUE(label(R"("enabled")"));
  EXPECT_FALSE(label("null"));
  EXPECT_FALSE(namespaces.InjectsSidecars("kube-system"));
}

// --- Admission asks these.

TEST_F(CachesTest, AdmissionIsToldOfQueuesAndNamespacesThoughNoControllerRuns) {
  const auto facts = std::make_shared<AdmissionFacts>();
  Options options;
  options.only = {"none"};
  options.admission_facts = facts;
  Patch(api::kNamespaces, "default", R"({"metadata":{"annotations":{"scheduling.volcano.sh/queue-name":"team"}}})");
  Create(api::kQueues,
         R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"team"},"spec":{}})");
  Start(options);
  EXPECT_TRUE(facts->complete());
  EXPECT_TRUE(facts->Queue("team").has_value());
  EXPECT_EQ(facts->NamespaceQueue("default"), "team");
  Patch(api::kQueues, "team", R"({"status":{"state":"Closed"}})", "status");
  Patch(api::kNamespaces, "default", R"({"metadata":{"annotations":{"scheduling.volcano.sh/queue-name":null}}})");
  Run();
  EXPECT_EQ(facts->Queue("team")->state, "Closed");
  EXPECT_EQ(facts->NamespaceQueue("default"), "");
  EXPECT_EQ(writes_, 0);
}

// Half of the facts would refuse what is right.
TEST_F(CachesTest, AdmissionWaitsUntilQueuesAndNamespacesAreListed) {
  for (const api::Resource* resource : {&api::kQueues, &api::kNamespaces}) {
    const auto facts = std::make_shared<AdmissionFacts>();
    Options options;
    options.admission_facts = facts;
    Owner owner;
    fate_ = [&](const kube::Request& request) {
      sandbox::RequestFate fate;
      if (Lists(request, *resource)) {
        EXPECT_FALSE(facts->complete());
        fate.request_delay = absl::Milliseconds(600);
        loop_.PostAt(loop_.Now() + absl::Milliseconds(500), owner.token(),
                     [&] { EXPECT_FALSE(facts->complete()) << resource->plural; });
      }
      return fate;
    };
    Start(options);
    EXPECT_TRUE(facts->complete());
    Crash();
  }
}

}  // namespace
}  // namespace gangway::controller
