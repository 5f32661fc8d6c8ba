#include "tests/cmd/gangway/light_story.h"

#include <tuple>
#include <utility>

#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "api/resource.h"
#include "api/volcano/hyper_node.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cmd/gangway/extender_process.h"
#include "tests/plugin/extender/http/volcano_client.h"
#include "tests/plugin/extender/http/volcano_session.h"
#include "tests/plugin/extender/session/recordings.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr AskedVerbs kLightVerbs{.session = false, .predicate = false, .prioritize = false, .events = false};

json::value Parse(absl::string_view text) { return json::parse({text.data(), text.size()}); }

void Must(const kube::Response& response) { ASSERT_TRUE(response.ok()) << response.code << " " << *response.body; }

// An object of a session as an API server takes it from who made it: without what it was given there, and without
// owners, who are not here.
void Create(const CallApi& call, const api::Resource& resource, json::object object) {
  json::object& meta = object.at("metadata").as_object();
  for (const char* const given :
       {"uid", "resourceVersion", "generation", "creationTimestamp", "ownerReferences", "managedFields"})
    meta.erase(given);
  object["apiVersion"] = resource.ApiVersion();
  object["kind"] = std::string(resource.kind);
  const json::value* const ns = meta.if_contains("namespace");
  const std::string path = api::PathOf(resource, ns == nullptr ? "" : std::string(ns->as_string()));
  kube::Response response;
  // 403: a namespace's service account is made a moment after it.
  EXPECT_TRUE(Eventually([&] { return (response = call("POST", path, json::serialize(object), "")).code != 403; }));
  Must(response);
}

class LightStory {
 public:
  LightStory(const CallApi& call, const std::string& kubeconfig)
      : call_(call),
        // Before anybody has pods, and after they have them.
        pending_(Recorded("onSessionOpen-5").body),
        with_pods_(Parse(Recorded("onSessionOpen-6").body)),
        extender_({"--http-listen", "127.0.0.1:0", "--http-budget", kAmpleBudget, "--mode", "light", "--kubeconfig",
                   kubeconfig}),
        client_({.port = extender_.http_port()}) {
    const json::value document = Parse(pending_);  // which the loop goes through
    for (const auto& [name, job] : document.at("Jobs").as_object())
      (absl::StrContains(std::string(name), "/ga-") ? first_ : second_) = std::string(name);
  }

  void Tell() {
    Must(call_("POST", "/api/v1/namespaces", R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"x-cont"}})",
               ""));
    ASSERT_TRUE(Eventually([&] { return extender_.PageCode("/readyz") == 200; })) << extender_.output();
    CreateGroups();
    TheFirstIsLetIn();
    TheFirstIsBoundWhole();
    TheSecondFollows();
    EXPECT_EQ(Enqueueable("x-cont/never"), -1);
    EXPECT_THAT(extender_.Page("/metrics"),
                testing::AllOf(testing::HasSubstr(R"(budget_exceeded_total{verb="jobEnqueueable"} 0)"),
                               testing::HasSubstr(R"(verbs_total{result="ready",verb="jobReady"} 1)")));
    EXPECT_THAT(extender_.output(), testing::HasSubstr("gang judged"));
  }

 private:
  int Enqueueable(const std::string& job) { return client_.JobEnqueueable(absl::StrCat("{\"UID\":\"", job, "\"}")); }
  static json::object& PodGroupIn(json::value& document, const std::string& job) {
    return document.at("Jobs").at(job).at("PodGroup").as_object();
  }
  static std::string PathOf(const std::string& job) {
    return api::PathOf(api::kPodGroups, "x-cont", job.substr(job.find('/') + 1));
  }

  void CreateGroups() {
    json::value document = Parse(pending_);
    for (const std::string& job : {first_, second_}) Create(call_, api::kPodGroups, PodGroupIn(document, job));
    // Four of 20 cpu, where a node has 16: by sums there is room.
    json::object never = PodGroupIn(document, second_);
    never.at("metadata").as_object()["name"] = "never";
    never.at("spec").as_object()["minResources"] = {{"cpu", "80"}};
    Create(call_, api::kPodGroups, std::move(never));
  }

  void TheFirstIsLetIn() {
    ASSERT_TRUE(Eventually([&] { return Enqueueable(first_) == 0; })) << extender_.Page("/debug/sessions");
    EXPECT_EQ(Enqueueable(second_), -1);
    EXPECT_EQ(Enqueueable("x-cont/never"), -1);
    const SessionOutcome outcome = RunSession(client_, pending_, kLightVerbs);
    EXPECT_THAT(outcome.let_in, ElementsAre(first_));
    EXPECT_THAT(outcome.bound, IsEmpty());
  }

  // The scheduler writes what it has let in, the controller makes the pods, and they are bound in the next session.
  void TheFirstIsBoundWhole() {
    Must(call_("PATCH", PathOf(first_), R"({"status":{"phase":"Inqueue"}})", kMergePatch));
    json::value session = Parse(pending_);
    json::value& job = session.at("Jobs").at(first_);
    job = with_pods_.at("Jobs").at(first_);
    for (const auto& [uid, task] : job.at("Tasks").as_object()) Create(call_, api::kPods, task.at("Pod").as_object());
    ASSERT_TRUE(Eventually([&] {
      Enqueueable(second_);  // a plan is made when somebody asks
      return absl::StrContains(extender_.Page("/debug/sessions"), R"("tasks":4,"placed":4)");
    })) << extender_.Page("/debug/sessions");
    const std::string body = json::serialize(session);
    const SessionOutcome outcome = RunSession(client_, body, kLightVerbs);
    EXPECT_THAT(outcome.let_in, IsEmpty());
    EXPECT_THAT(outcome.bound, SizeIs(4));
    EXPECT_THAT(BrokenPromises(body, outcome), IsEmpty());
  }

  void TheSecondFollows() {
    const json::value& job = with_pods_.at("Jobs").at(first_);
    for (const auto& [uid, task] : job.at("Tasks").as_object()) {
      Must(call_("DELETE", api::PathOf(api::kPods, "x-cont", std::string(task.at("Name").as_string())),
                 R"({"gracePeriodSeconds":0})", ""));
    }
    Must(call_("DELETE", PathOf(first_), "", ""));
    EXPECT_TRUE(Eventually([&] { return Enqueueable(second_) == 0; })) << extender_.Page("/debug/sessions");
  }

  const CallApi& call_;
  const std::string pending_;
  const json::value with_pods_;
  ExtenderProcess extender_;
  VolcanoClient client_;
  std::string first_, second_;  // "namespace/podgroup"
};

}  // namespace

void CreateNodes(const CallApi& call, absl::string_view body) {
  const json::value document = Parse(body);
  for (const auto& [name, node] : document.at("Nodes").as_object())
    Create(call, api::kNodes, node.at("Node").as_object());
}

void CreateRacks(const CallApi& call, int first, int nodes) {
  for (const auto& [name, from, to] : {std::tuple("rack-0", 0, first), std::tuple("rack-1", first, nodes)}) {
    json::array members;
    for (int node = from; node < to; ++node) {
      members.push_back(
          {{"type", "Node"},
           {"selector", {{"exactMatch", {{"name", absl::StrCat("node-", absl::Dec(node, absl::kZeroPad3))}}}}}});
    }
    Create(call, api::volcano::kHyperNodes,
           {{"metadata", {{"name", name}}}, {"spec", {{"tier", 1}, {"members", std::move(members)}}}});
  }
}

void TellOfLight(const CallApi& call, const std::string& kubeconfig) { LightStory(call, kubeconfig).Tell(); }

}  // namespace gangway::testutil
