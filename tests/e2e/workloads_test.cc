// On a real API server with Kubernetes' own controllers: Deployments, StatefulSets and batch Jobs that name our
// scheduler run as gangs, and a JobFlow to Succeed. With the roles of deploy/volcano/gangway.yaml and no others.
#include <memory>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/installed_gangway.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

class WorkloadsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!ControlPlane::ToolsPresent()) GTEST_SKIP() << "there is no control plane on this machine";
    InstalledGangwayOptions options;
    options.nodes = 2;
    options.workloads = true;
    auto gangway = InstalledGangway::Start(std::move(options));
    ASSERT_TRUE(gangway.ok()) << gangway.status();
    gangway_ = *std::move(gangway);
  }
  ControlPlane& plane() { return gangway_->plane(); }
  void Apply(const std::string& yaml) {
    const absl::Status status = plane().Create(yaml, "default");
    ASSERT_TRUE(status.ok()) << status;
  }
  std::string At(const std::string& path, const char* pointer) {
    const auto object = api::ParseJson(*plane().Call("GET", path).body);
    boost::system::error_code error;
    const json::value* at = object.ok() ? object->find_pointer(pointer, error) : nullptr;
    return at == nullptr ? "" : at->is_string() ? std::string(at->as_string()) : json::serialize(*at);
  }
  // Pods whose name begins so, and how many of them have a node.
  std::pair<int, int> Pods(const std::string& prefix) {
    std::pair<int, int> all_and_bound;
    const auto list = api::ParseJson(*plane().Call("GET", api::PathOf(api::kPods, "default")).body);
    for (const json::value& pod : list->at("items").as_array()) {
      if (!absl::StartsWith(std::string(pod.at("metadata").at("name").as_string()), prefix)) continue;
      ++all_and_bound.first;
      if (pod.at("spec").as_object().contains("nodeName")) ++all_and_bound.second;
    }
    return all_and_bound;
  }
  // The groups that the pods name.
  std::set<std::string> Groups(const std::string& prefix) {
    std::set<std::string> groups;
    const auto list = api::ParseJson(*plane().Call("GET", api::PathOf(api::kPods, "default")).body);
    for (const json::value& pod : list->at("items").as_array()) {
      const json::object& metadata = pod.at("metadata").as_object();
      if (!absl::StartsWith(std::string(metadata.at("name").as_string()), prefix) || !metadata.contains("annotations"))
        continue;
      if (const json::value* group = metadata.at("annotations").as_object().if_contains("scheduling.k8s.io/group-name"))
        groups.insert(std::string(group->as_string()));
    }
    return groups;
  }

  std::unique_ptr<InstalledGangway> gangway_;
};

// Nodes: 2 of 16 cpu.
constexpr char kWorkloads[] = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: servers, annotations: {scheduling.volcano.sh/group-min-member: "3"}}
spec:
  replicas: 3
  selector: {matchLabels: {app: servers}}
  template:
    metadata: {labels: {app: servers}}
    spec: {schedulerName: volcano, containers: [{name: c, image: "example.test/a:v1", resources: {requests: {cpu: 2}}}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: stateful, annotations: {scheduling.volcano.sh/group-min-member: "2"}}
spec:
  replicas: 2
  serviceName: stateful
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: stateful}}
  template:
    metadata: {labels: {app: stateful}}
    spec: {schedulerName: volcano, containers: [{name: c, image: "example.test/a:v1", resources: {requests: {cpu: 1}}}]}
)";
constexpr char kTooLarge[] = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: toolarge, annotations: {scheduling.volcano.sh/group-min-member: "4"}}
spec:
  replicas: 4
  selector: {matchLabels: {app: toolarge}}
  template:
    metadata: {labels: {app: toolarge}}
    spec: {schedulerName: volcano, containers: [{name: c, image: "example.test/a:v1", resources: {requests: {cpu: 7}}}]}
)";
constexpr char kBatchJob[] =
    R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"batch","annotations":{"scheduling.volcano.sh/group-min-member":"2"}},
  "spec":{"parallelism":2,"completions":2,"template":{"spec":{"schedulerName":"volcano","restartPolicy":"Never","containers":[{"name":"c","image":"example.test/a:v1","resources":{"requests":{"cpu":"1"}}}]}}}})";
constexpr char kFlow[] = R"(
apiVersion: flow.volcano.sh/v1alpha1
kind: JobTemplate
metadata: {name: step}
spec: {tasks: [{name: w, replicas: 2, template: {metadata: {annotations: {test.kwok/finish: succeed}}, spec: {restartPolicy: Never, containers: [{name: c, image: "example.test/a:v1"}]}}}]}
---
apiVersion: flow.volcano.sh/v1alpha1
kind: JobTemplate
metadata: {name: next}
spec: {tasks: [{name: w, replicas: 1, template: {metadata: {annotations: {test.kwok/finish: succeed}}, spec: {restartPolicy: Never, containers: [{name: c, image: "example.test/a:v1"}]}}}]}
---
apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {name: flow}
spec: {flows: [{name: step}, {name: next, dependsOn: {targets: [step]}}]}
)";

TEST_F(WorkloadsTest, WorkloadsRunAsGangsAndAFlowSucceeds) {
  Apply(kWorkloads);
  Apply(kFlow);
  ASSERT_EQ(plane().Call("POST", api::PathOf(api::kBatchJobs, "default"), kBatchJob).code, 201);
  const auto whole = [](int pods) { return std::pair(pods, pods); };
  EXPECT_TRUE(Eventually([&] {
    return Pods("servers-") == whole(3) && Pods("stateful-") == whole(2) && Pods("batch-") == whole(2);
  })) << gangway_->Logs();
  Apply(kTooLarge);  // now that the others have their nodes: in an empty cluster it would fit
  for (const auto& [prefix, members] : {std::pair("servers-", "3"), {"stateful-", "2"}, {"batch-", "2"}}) {
    const std::set<std::string> groups = Groups(prefix);
    ASSERT_EQ(groups.size(), 1u) << prefix;
    EXPECT_EQ(At(api::PathOf(api::kPodGroups, "default", *groups.begin()), "/spec/minMember"), members);
  }
  EXPECT_TRUE(Eventually([&] { return Pods("toolarge-").first == 4 && Groups("toolarge-").size() == 1; }));
  EXPECT_TRUE(Eventually([&] {
    return At(api::PathOf(api::kJobFlows, "default", "flow"), "/status/state/phase") == "Succeed";
  })) << *plane().Call("GET", api::PathOf(api::kJobFlows, "default", "flow")).body;
  EXPECT_EQ(At(api::PathOf(api::kJobTemplates, "default", "next"), "/status/jobDependsOnList"), R"(["flow-next"])");
  EXPECT_EQ(Pods("toolarge-"), std::pair(4, 0)) << "a gang of four of which three would fit: none has a node";
  EXPECT_TRUE(Eventually([&] { return At(api::PathOf(api::kQueues, "", "default"), "/status/allocated/cpu") == "10"; }))
      << *plane().Call("GET", api::PathOf(api::kQueues, "", "default")).body;

  const std::string group = *Groups("servers-").begin();
  const kube::Response scaled = plane().Call("PATCH", api::PathOf(api::kDeployments, "default", "servers"),
                                             R"({"spec":{"replicas":0}})", "application/merge-patch+json");
  ASSERT_EQ(scaled.code, 200) << *scaled.body;
  EXPECT_TRUE(Eventually([&] {
    return plane().Call("GET", api::PathOf(api::kPodGroups, "default", group)).code == 404;
  })) << "scaled to nothing";
}

}  // namespace
}  // namespace gangway::testutil
