// Where pods come to lie, on a real API server whose own controller binds claims, by the real program: near and apart
// from others, spread, with a volume that is there, in a rack. Afterwards the checkers of the simulation read the audit
// log, and find what is made to be wrong in it.
#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/audit_journal.h"
#include "tests/e2e/audit_rules.h"
#include "tests/e2e/installed_gangway.h"
#include "tests/simulation/checkers.h"

namespace gangway::testutil {
namespace {

using sandbox::JournalRecord;
using ::testing::Contains;
using ::testing::IsEmpty;

constexpr char kNs[] = "places";

// Racks r0 of nodes 0 to 2 and r1 of nodes 3 to 5, in one hall; a disk that only node 4 reaches.
constexpr char kCluster[] = R"(
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: r0}
spec: {tier: 1, members: [{type: Node, selector: {regexMatch: {pattern: "^node-00[012]$"}}}]}
---
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: r1}
spec: {tier: 1, members: [{type: Node, selector: {regexMatch: {pattern: "^node-00[345]$"}}}]}
---
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: hall}
spec: {tier: 2, members: [{type: HyperNode, selector: {regexMatch: {pattern: "^r[01]$"}}}]}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec:
  capacity: {storage: 10Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: local
  local: {path: /disk}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [node-004]}]}]}}
)";

// Pods of one task w, with the label app.
std::string JobOf(const std::string& name, int pods, int cpu, const std::string& pod_spec,
                  const std::string& job_spec = "") {
  return absl::StrCat("apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: ", name, "}\nspec:\n  ",
                      job_spec, "\n  minAvailable: ", pods, "\n  tasks:\n  - name: w\n    replicas: ", pods,
                      "\n    template:\n      metadata: {labels: {app: ", name, "}}\n      spec:\n        ", pod_spec,
                      "\n        containers: [{name: main, image: example.test/app:v1, resources: {requests: {cpu: ",
                      cpu, "}}}]\n---\n");
}

class PlacesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!ControlPlane::ToolsPresent()) GTEST_SKIP() << "there is no control plane on this machine";
    auto gangway = InstalledGangway::Start({.nodes = 6});  // of 16 cpu
    ASSERT_TRUE(gangway.ok()) << gangway.status();
    gangway_ = *std::move(gangway);
    ASSERT_EQ(plane().Call("POST", "/api/v1/namespaces", absl::StrCat(R"({"metadata":{"name":")", kNs, R"("}})")).code,
              201);
    for (int i = 0; i < 6; ++i) {
      const std::string zone = i < 3 ? "a" : "b";
      ASSERT_EQ(plane()
                    .Call("PATCH", api::PathOf(api::kNodes, "", absl::StrCat("node-00", i)),
                          absl::StrCat(R"({"metadata":{"labels":{"kubernetes.io/hostname":"node-00)", i,
                                       R"(","zone":")", zone, R"("}}})"),
                          "application/merge-patch+json")
                    .code,
                200);
    }
    const absl::Status status = plane().Create(kCluster);
    ASSERT_TRUE(status.ok()) << status;
  }

  ControlPlane& plane() { return gangway_->plane(); }
  void Apply(const std::string& manifest) {
    const absl::Status status = plane().Create(manifest, kNs);
    ASSERT_TRUE(status.ok()) << status;
  }
  boost::json::value Get(const std::string& path) { return *api::ParseJson(*plane().Call("GET", path).body); }
  std::string NodeOf(const std::string& pod) {
    const boost::json::value object = Get(api::PathOf(api::kPods, kNs, pod));
    boost::system::error_code error;
    const auto* const node = object.find_pointer("/spec/nodeName", error);
    return node == nullptr ? "" : std::string(node->as_string());
  }
  std::vector<std::string> NodesOf(const std::string& job, int pods) {
    std::vector<std::string> nodes;
    const bool bound = Eventually([&] {
      nodes.clear();
      for (int i = 0; i < pods; ++i) nodes.push_back(NodeOf(absl::StrCat(job, "-w-", i)));
      return std::count(nodes.begin(), nodes.end(), "") == 0;
    });
    EXPECT_TRUE(bound) << job << ": " << *plane().Call("GET", api::PathOf(api::kPodGroups, kNs)).body << "\n"
                       << gangway_->Logs();
    return nodes;
  }
  static bool InFirstRack(const std::string& node) { return node < "node-003"; }

  // Rules that are broken in the records, each as `change` makes it; false: it leaves it out.
  static std::set<Rule> BrokenIn(const std::vector<JournalRecord>& records,
                                 const std::function<bool(JournalRecord&)>& change,
                                 std::vector<std::string>* violations = nullptr) {
    Checker::Rules rules = RulesOfAuditLog();
    rules.must_finish = false;
    rules.node_known = absl::ZeroDuration();  // nodes stood still before the first job came
    Checker checker(rules);
    for (JournalRecord record : records) {
      if (change(record)) checker.OnRecord(record);
    }
    checker.AtEnd(records.back().time + absl::Minutes(5));
    if (violations != nullptr) *violations = checker.violations();
    return checker.broken();
  }
  // The pod is on another node than it was.
  static std::function<bool(JournalRecord&)> Moved(const std::string& pod, const std::string& from,
                                                   const std::string& to) {
    return [=](JournalRecord& record) {
      if (record.resource != &api::kPods || record.key.name != pod) return true;
      for (Bytes* const bytes : {&record.before, &record.after}) {
        if (*bytes != nullptr) *bytes = MakeBytes(absl::StrReplaceAll(**bytes, {{from, to}}));
      }
      return true;
    };
  }

  std::unique_ptr<InstalledGangway> gangway_;
};

TEST_F(PlacesTest, PodsLieWhereTheyAskToAndTheCheckersSeeIt) {
  Apply(JobOf("apart", 4, 1,
              "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
              "kubernetes.io/hostname, labelSelector: {matchLabels: {app: apart}}}]}}"));
  const std::vector<std::string> apart = NodesOf("apart", 4);
  EXPECT_EQ(std::set<std::string>(apart.begin(), apart.end()).size(), 4u);

  Apply(JobOf("near", 2, 1,
              "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
              "kubernetes.io/hostname, labelSelector: {matchLabels: {app: apart}}}]}}"));
  const std::vector<std::string> near = NodesOf("near", 2);
  for (const std::string& node : near) EXPECT_THAT(apart, Contains(node));

  Apply(JobOf("spread", 4, 1,
              "topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, "
              "labelSelector: {matchLabels: {app: spread}}}]"));
  const std::vector<std::string> spread = NodesOf("spread", 4);
  EXPECT_EQ(std::count_if(spread.begin(), spread.end(), InFirstRack), 2);

  Apply(JobOf("rack", 3, 8, "", "networkTopology: {mode: hard, highestTierAllowed: 1}"));
  const std::vector<std::string> rack = NodesOf("rack", 3);
  const auto in_first = std::count_if(rack.begin(), rack.end(), InFirstRack);
  EXPECT_TRUE(in_first == 0 || in_first == 3) << ::testing::PrintToString(rack);

  Apply(
      absl::StrCat("apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {accessModes: "
                   "[ReadWriteOnce], storageClassName: local, resources: {requests: {storage: 1Gi}}}\n---\n",
                   JobOf("disk", 1, 1, "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]")));
  EXPECT_THAT(NodesOf("disk", 1), ::testing::ElementsAre("node-004"));
  EXPECT_EQ(Get(api::PathOf(api::kPersistentVolumeClaims, kNs, "data")).at("status").at("phase"), "Bound");

  std::vector<JournalRecord> records;
  ASSERT_TRUE(Eventually([&] {  // what is done is told a moment later
    auto read = ReadAuditLog(plane().AuditLog());
    EXPECT_TRUE(read.ok()) << read.status();
    if (read.ok()) records = *std::move(read);
    std::set<std::string> with_node;
    for (const JournalRecord& record : records) {
      if (record.resource == &api::kPods && record.after != nullptr &&
          absl::StrContains(*record.after, R"("nodeName":)"))
        with_node.insert(record.key.name);
    }
    return with_node.size() == 4 + 2 + 4 + 3 + 1;
  }));
  std::vector<std::string> violations;
  BrokenIn(records, [](JournalRecord&) { return true; }, &violations);
  EXPECT_THAT(violations, IsEmpty());

  EXPECT_THAT(BrokenIn(records, Moved("apart-w-1", apart[1], apart[0])), Contains(Rule::kAntiAffinity));
  std::string elsewhere;
  for (int i = 0; i < 6; ++i) {
    const std::string node = absl::StrCat("node-00", i);
    if (std::count(apart.begin(), apart.end(), node) == 0) elsewhere = node;
  }
  EXPECT_THAT(BrokenIn(records, Moved("near-w-0", near[0], elsewhere)), Contains(Rule::kAffinity));
  const auto other_zone = [](const std::string& node) { return InFirstRack(node) ? "node-005" : "node-000"; };
  EXPECT_THAT(BrokenIn(records, Moved("spread-w-0", spread[0], other_zone(spread[0]))), Contains(Rule::kSpread));
  EXPECT_THAT(BrokenIn(records, Moved("rack-w-0", rack[0], other_zone(rack[0]))), Contains(Rule::kTopology));
  EXPECT_THAT(BrokenIn(records, Moved("disk-w-0", "node-004", "node-001")), Contains(Rule::kVolumeReach));
  const auto never_bound = [](JournalRecord& record) {
    return record.resource != &api::kPersistentVolumeClaims || record.after == nullptr ||
           !absl::StrContains(*record.after, R"("phase":"Bound")");
  };
  EXPECT_THAT(BrokenIn(records, never_bound), Contains(Rule::kVolumeBound));
}

}  // namespace
}  // namespace gangway::testutil
