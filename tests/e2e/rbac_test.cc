// Each rule of the shipped roles is needed: without it the API server refuses something, and the program says what and
// how to mend it. Takes minutes; the other tests here run with all of the rules, and with no others.
// GW_RBAC_ONLY=secrets: only rules that hold this text.
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "api/volcano/hyper_node.h"
#include "base/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/installed_gangway.h"
#include "tests/testing/long_test.h"

namespace gangway::testutil {
namespace {

namespace json = boost::json;

// Uses every permission: what job plugins make, claims, one of them of a volume that is there, commands, a CronJob that
// is due, a bare pod, a gang of Kubernetes' own, a gang that waits, and (half) one that was bound in part.
constexpr char kWorkload[] = R"(
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: plugins}
spec:
  minAvailable: 1
  plugins: {ssh: [], svc: []}
  volumes: [{mountPath: /data, volumeClaim: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]
  policies: [{event: PodFailed, action: RestartJob}]
  tasks: [{name: a, replicas: 1, template: {spec: {containers: [{name: main, image: example.test/app:v1}]}}}]
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: half}
spec:
  minAvailable: 2
  tasks:
  - name: fits  # and does not begin to run: what runs is not released
    replicas: 1
    template: {metadata: {annotations: {test.kwok/hold: "1"}}, spec: {containers: [{name: main, image: example.test/app:v1}]}}
  - {name: never, replicas: 1, template: {spec: {nodeSelector: {nowhere: found}, containers: [{name: main, image: example.test/app:v1}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: bare}
spec: {schedulerName: volcano, containers: [{name: main, image: example.test/app:v1}]}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: disk}
spec: {accessModes: [ReadWriteOnce], storageClassName: local, resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: on-disk}
spec:
  schedulerName: volcano
  containers: [{name: main, image: example.test/app:v1}]
  volumes: [{name: disk, persistentVolumeClaim: {claimName: disk}}]
---
apiVersion: scheduling.k8s.io/v1alpha2
kind: PodGroup
metadata: {name: own}
spec: {schedulingPolicy: {gang: {minCount: 1}}}
---
apiVersion: v1
kind: Pod
metadata: {name: own}
spec: {schedulerName: volcano, schedulingGroup: {podGroupName: own}, containers: [{name: main, image: example.test/app:v1}]}
---
apiVersion: flow.volcano.sh/v1alpha1
kind: JobTemplate
metadata: {name: step}
spec: {tasks: [{name: a, replicas: 1, template: {spec: {containers: [{name: main, image: example.test/app:v1}]}}}]}
---
apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {name: flow}
spec: {flows: [{name: step}]}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: CronJob
metadata: {name: yearly}
spec:
  schedule: "@yearly"
  jobTemplate: {spec: {tasks: [{name: a, replicas: 1, template: {spec: {containers: [{name: main, image: example.test/app:v1}]}}}]}}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: paddle}
spec: {worker: {replicas: 1, template: {spec: {containers: [{name: main, image: example.test/app:v1}]}}}}
---
apiVersion: bus.volcano.sh/v1alpha1
kind: Command
metadata: {name: restart}
action: RestartJob
target: {apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: plugins, uid: "", controller: true}
)";

struct Rule {
  std::string role_path;  // of the API
  std::size_t index = 0;
  std::string account;  // "gangway-scheduler"
  std::string text;     // for messages
  std::string ns;       // of a Role; "" of a ClusterRole
};

class RbacTest : public ::testing::Test {
 protected:
  json::value Get(const std::string& path) { return *api::ParseJson(*gangway_->plane().Call("GET", path).body); }

  std::vector<Rule> Rules() {
    std::vector<Rule> rules;
    for (const char* const kind : {"clusterroles", "roles"}) {
      const json::value list = Get(absl::StrCat("/apis/rbac.authorization.k8s.io/v1/", kind));
      for (const json::value& role : list.at("items").as_array()) {
        const json::object& metadata = role.at("metadata").as_object();
        const std::string name(metadata.at("name").as_string());
        if (!absl::StartsWith(name, "gangway-")) continue;
        const std::string ns = metadata.contains("namespace") ? std::string(metadata.at("namespace").as_string()) : "";
        const json::array& all = role.at("rules").as_array();
        for (std::size_t i = 0; i < all.size(); ++i) {
          Rule& rule = rules.emplace_back();
          rule.role_path = ns.empty()
                               ? absl::StrCat("/apis/rbac.authorization.k8s.io/v1/clusterroles/", name)
                               : absl::StrCat("/apis/rbac.authorization.k8s.io/v1/namespaces/", ns, "/roles/", name);
          rule.index = i;
          rule.account = absl::StartsWith(name, "gangway-scheduler") ? "gangway-scheduler" : "gangway-controller";
          rule.text = absl::StrCat(name, ": ", json::serialize(all[i]));
          rule.ns = ns;
        }
      }
    }
    return rules;
  }

  void Put(const std::string& path, json::value role) {
    role.at("metadata").as_object().erase("resourceVersion");
    const kube::Response reply = gangway_->plane().Call("PUT", path, json::serialize(role));
    ASSERT_TRUE(reply.ok()) << *reply.body;
  }

  // Whether the audit log tells since `offset` that this account lacked a right, or
  // OwnerReferencesPermissionEnforcement that it did. (A 403 alone may be a namespace that is going.)
  bool Refused(std::size_t offset, const std::string& account) {
    const std::string log = gangway_->plane().AuditLog(offset);
    for (const absl::string_view line : absl::StrSplit(log, '\n')) {
      if (!absl::StrContains(line, absl::StrCat("system:serviceaccount:gangway-system:", account))) continue;
      if (absl::StrContains(line, R"("authorization.k8s.io/decision":"forbid")") ||
          absl::StrContains(line, "cannot set blockOwnerDeletion"))
        return true;
    }
    return false;
  }

  void RunWorkload(const std::string& ns) {
    ControlPlane& plane = gangway_->plane();
    ASSERT_EQ(plane.Call("POST", "/api/v1/namespaces", absl::StrCat(R"({"metadata":{"name":")", ns, R"("}})")).code,
              201);
    const absl::Status given = GiveSshRights(plane, ns);
    ASSERT_TRUE(given.ok()) << given;
    // Each run has a volume of its own.
    const absl::Status volume =
        plane.Create(absl::StrCat("apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: ", ns,
                                  "}\nspec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: "
                                  "local, hostPath: {path: /disk}}\n"));
    ASSERT_TRUE(volume.ok()) << volume;
    const absl::Status status = plane.Create(kWorkload, ns);
    ASSERT_TRUE(status.ok()) << status;
    // The last new year was missed, so its job is due.
    ASSERT_EQ(plane
                  .Call("PATCH", api::PathOf(api::kCronJobs, ns, "yearly", "status"),
                        R"({"status":{"lastScheduleTime":"2020-01-01T00:00:00Z"}})", "application/merge-patch+json")
                  .code,
              200);
    // Half of a gang is bound by a stranger.
    Eventually([&] {
      const kube::Response reply = plane.Call(
          "POST", api::PathOf(api::kPods, ns, "half-fits-0", "binding"),
          R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"half-fits-0"},"target":{"kind":"Node","name":"node-000"}})");
      return reply.ok() || waited_ > 40 || (++waited_, false);
    });
  }

  std::unique_ptr<InstalledGangway> gangway_;
  int waited_ = 0;
};

// As beside Volcano's own controllers, which do not make them.
TEST_F(RbacTest, ASchedulerAloneMakesTheQueues) {
  if (!ControlPlane::ToolsPresent()) GTEST_SKIP() << "there is no control plane on this machine";
  InstalledGangwayOptions options;
  options.nodes = 1;
  options.start = false;
  auto gangway = InstalledGangway::Start(std::move(options));
  ASSERT_TRUE(gangway.ok()) << gangway.status();
  gangway_ = *std::move(gangway);
  for (const char* const queue : {"default", "root"})
    ASSERT_EQ(gangway_->plane().Call("GET", api::PathOf(api::kQueues, "", queue)).code, 404);
  const std::unique_ptr<GangwayProcess> scheduler = gangway_->StartProcess("scheduler");
  for (const char* const queue : {"default", "root"}) {
    EXPECT_TRUE(Eventually([&] { return gangway_->plane().Call("GET", api::PathOf(api::kQueues, "", queue)).ok(); }))
        << queue << "\n"
        << scheduler->Log();
  }
  EXPECT_FALSE(absl::StrContains(scheduler->Log(), "forbidden")) << scheduler->Log();
}

TEST_F(RbacTest, WithoutAnyOneRuleSomethingIsRefused) {
  if (!ControlPlane::ToolsPresent()) GTEST_SKIP() << "there is no control plane on this machine";
  GW_LONG_TEST();
  InstalledGangwayOptions options;
  options.nodes = 2;
  options.start = false;
  if (ControlPlane::Minor() < 36) GTEST_SKIP() << "Kubernetes has no gangs of its own before 1.36";
  options.api_server_flags = ControlPlane::GangFlags();
  options.api_server_flags.push_back("--enable-admission-plugins=OwnerReferencesPermissionEnforcement");
  const TemporaryFolder folder("gangway-rbac");
  const std::string conf = folder.path() + "/volcano-controller.conf";
  WriteFile(
      conf,
      "networkTopologyDiscovery: [{source: label, enabled: true, config: {networkTopologyTypes: {all: [{nodeLabel: "
      "rack}, {nodeLabel: kubernetes.io/hostname}]}}}]\n");
  options.controller_flags = {"--controller-conf", conf};
  auto gangway = InstalledGangway::Start(std::move(options));
  ASSERT_TRUE(gangway.ok()) << gangway.status();
  gangway_ = *std::move(gangway);
  ControlPlane& plane = gangway_->plane();

  ASSERT_TRUE(plane
                  .Call("PATCH", api::PathOf(api::kNodes, "", "node-000"), R"({"metadata":{"labels":{"rack":"r"}}})",
                        "application/merge-patch+json")
                  .ok());

  const std::vector<Rule> rules = Rules();
  ASSERT_GE(rules.size(), 20u);
  const char* const only = std::getenv("GW_RBAC_ONLY");
  int number = 0;
  for (const Rule& rule : rules) {
    if (only != nullptr && !absl::StrContains(rule.text, only)) continue;
    SCOPED_TRACE(rule.text);
    const json::value role = Get(rule.role_path);
    json::value without = role;
    json::array& list = without.at("rules").as_array();
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(rule.index));
    Put(rule.role_path, without);
    // Made anew each time.
    plane.Call("DELETE", api::PathOf(api::volcano::kHyperNodes, ""));
    for (const char* const queue : {"default", "root"}) plane.Call("DELETE", api::PathOf(api::kQueues, "", queue));
    for (const char* const lease : {"gangway-controller", "gangway-scheduler"})
      plane.Call("DELETE", api::PathOf(api::kLeases, "gangway-system", lease));
    const std::size_t offset = plane.AuditLog().size();
    waited_ = 0;
    gangway_->StartBoth();
    RunWorkload(absl::StrCat("rbac-", ++number));
    EXPECT_TRUE(Eventually([&] { return Refused(offset, rule.account); }, std::chrono::seconds(60)))
        << gangway_->Logs();
    const auto told = [&] {
      const std::string logs = gangway_->Logs();
      return absl::StrContains(logs, "forbidden: User") || absl::StrContains(logs, "cannot set blockOwnerDeletion");
    };
    EXPECT_TRUE(Eventually(told)) << gangway_->Logs();
    gangway_->KillBoth();
    plane.Call("DELETE", absl::StrCat("/api/v1/namespaces/rbac-", number));
    Put(rule.role_path, role);
  }
}

}  // namespace
}  // namespace gangway::testutil
