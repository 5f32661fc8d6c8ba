// The chart on a real API server, by the real Helm: it makes the objects of the kustomizations, and is installed,
// tested, upgraded, rolled back and uninstalled while a job is there that nobody touches.
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/json_path.h"
#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/control_plane.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {
namespace {

using boost::json::object;
using boost::json::value;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kChart = GW_SOURCE_DIR "/deploy/helm/gangway";
constexpr char kNamespace[] = "gangway-system";

// Beside the control plane's programs (scripts/e2e-tools).
std::string HelmProgram() {
  const char* const folder = std::getenv("GW_E2E_BIN");
  return absl::StrCat(folder != nullptr ? folder : GW_SOURCE_DIR "/build/e2e/bin", "/helm");
}
// With nothing of the user's.
Outcome Helm(std::vector<std::string> args, const std::string& kubeconfig = "/nonexistent") {
  args.insert(args.begin(), HelmProgram());
  args.insert(args.end(), {"--namespace", kNamespace});
  return RunProgram(args, {"KUBECONFIG=" + kubeconfig, "HOME=/nonexistent", "HELM_CACHE_HOME=/nonexistent",
                           "HELM_CONFIG_HOME=/nonexistent", "HELM_DATA_HOME=/nonexistent"});
}

// By "Deployment gangway-system/gangway-scheduler".
std::map<std::string, value> Objects(const std::string& yaml, const std::string& source) {
  std::map<std::string, value> out;
  const auto documents = api::ReadManifest(yaml, source);
  EXPECT_TRUE(documents.ok()) << documents.status();
  if (!documents.ok()) return out;
  for (const api::ManifestDocument& document : *documents) {
    const value read = *api::ParseJson(document.json);
    const std::string name =
        absl::StrCat(api::TextAt(read, {"kind"}), " ", api::TextAt(read, {"metadata", "namespace"}), "/",
                     api::TextAt(read, {"metadata", "name"}));
    EXPECT_TRUE(out.emplace(name, read).second) << name << " is there twice";
  }
  return out;
}

class HelmTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasKubectl()) GTEST_SKIP() << "there is no kubectl on this machine";
    if (!std::filesystem::exists(HelmProgram()))
      GTEST_SKIP() << "there is no control plane on this machine, and no helm";
  }
  std::map<std::string, value> Rendered(std::vector<std::string> settings) {
    std::vector<std::string> args{"template", "gangway", kChart, "--skip-tests"};
    for (std::string& setting : settings) args.insert(args.end(), {"--set", std::move(setting)});
    const Outcome outcome = Helm(std::move(args));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return Objects(outcome.out, "the chart");
  }
};

struct Same {
  std::string overlay;
  std::vector<std::string> settings;
};

TEST_F(HelmTest, TheChartMakesTheObjectsOfEachOverlay) {
  const std::vector<std::string> no_types{"createNamespace=true", "crds.volcano=false", "crds.paddle=false"};
  for (Same same :
       {Same{"standalone", {}}, Same{"standalone-webhook", {"webhook.enabled=true", "webhook.generate=false"}},
        Same{"paddle-only", {"mode=one-namespace"}}, Same{"beside-volcano", {"mode=beside-volcano"}},
        Same{"shadow", {"mode=shadow"}},
        Same{"beside-volcano-extender", {"mode=beside-volcano", "extender.enabled=true", "extender.generate=false"}}}) {
    SCOPED_TRACE(same.overlay);
    same.settings.insert(same.settings.end(), no_types.begin(), no_types.end());
    const Outcome kustomize =
        RunProgram({"kubectl", "kustomize", GW_SOURCE_DIR "/deploy/volcano/overlays/" + same.overlay});
    ASSERT_EQ(kustomize.exit_code, 0) << kustomize.err;
    std::map<std::string, value> ours = Rendered(same.settings);
    for (const auto& [name, object] : Objects(kustomize.out, same.overlay)) {
      EXPECT_TRUE(ours[name] == object) << name << "\nchart:     " << api::ToJson(ours[name])
                                        << "\nkustomize: " << api::ToJson(object);
      ours.erase(name);
    }
    for (const auto& [name, object] : ours) ADD_FAILURE() << name << " is in the chart alone";
  }
}

TEST_F(HelmTest, TheTypesAreThoseOfTheKustomizationsAndAreKept) {
  std::map<std::string, value> ours = Rendered({"crds.kubeflow=true"});
  int types = 0;
  for (const char* folder : {"crds", "crds-paddle", "crds-kubeflow"}) {
    const Outcome kustomize =
        RunProgram({"kubectl", "kustomize", absl::StrCat(GW_SOURCE_DIR "/deploy/volcano/", folder)});
    for (auto [name, type] : Objects(kustomize.out, folder)) {
      type.at("metadata").get_object()["annotations"] = object{{"helm.sh/resource-policy", "keep"}};
      EXPECT_TRUE(ours[name] == type) << name;
      ++types;
    }
  }
  EXPECT_EQ(types, 10);
  for (const char* const mode : {"mode=beside-volcano", "mode=shadow"}) {
    for (const auto& [name, type] : Rendered({mode}))
      EXPECT_FALSE(absl::StrContains(name, "volcano.sh") && absl::StartsWith(name, "CustomResource")) << name;
  }
}

// A shadow is watched where another release decides, in its namespace, too.
TEST_F(HelmTest, NoObjectIsOfAShadowAndOfAnotherRelease) {
  const std::map<std::string, value> shadow = Rendered({"mode=shadow"});
  EXPECT_THAT(shadow, Not(IsEmpty()));
  for (const char* const mode : {"mode=standalone", "mode=beside-volcano", "mode=one-namespace"}) {
    for (const auto& [name, object] : Rendered({mode})) EXPECT_FALSE(shadow.contains(name)) << mode << ": " << name;
  }
}

// A chart that renders to what of Volcano's own an extender is put beside.
TEST_F(HelmTest, VolcanosChartHasTheExtenderByThePostRenderer) {
  const TemporaryFolder chart("volcano-chart");
  std::filesystem::create_directory(chart.path() + "/templates");
  WriteFile(chart.path() + "/Chart.yaml", "apiVersion: v2\nname: volcano\nversion: 1.0.0\n");
  WriteFile(chart.path() + "/templates/volcano.yaml",
            ReadFile(GW_SOURCE_DIR "/tests/deploy/volcano/stock/volcano.yaml"));
  const std::string components = GW_SOURCE_DIR "/deploy/volcano/components/volcano-extender/";
  const std::string conf = "ConfigMap volcano-system/volcano-scheduler-configmap";
  const Outcome plain = Helm({"template", "volcano", chart.path()});
  std::map<std::string, value> stock = Objects(plain.out, "stock");
  for (const std::string mode : {"light", "steer", "full"}) {
    const Outcome beside = Helm({"template", "volcano", chart.path(), "--post-renderer", components + "post-renderer",
                                 "--post-renderer-args", mode});
    ASSERT_EQ(beside.exit_code, 0) << beside.err;
    std::map<std::string, value> made = Objects(beside.out, mode);
    EXPECT_EQ(made.size(), stock.size());
    EXPECT_EQ(api::TextAt(made.at(conf), {"data", "volcano-scheduler.conf"}),
              ReadFile(components + mode + "/volcano-scheduler.conf"));
    EXPECT_THAT(api::ToJson(made.at("Deployment volcano-system/volcano-scheduler")), HasSubstr("--mode=" + mode));
    EXPECT_TRUE(made.at("Deployment volcano-system/volcano-controllers") ==
                stock.at("Deployment volcano-system/volcano-controllers"));
  }
}

TEST_F(HelmTest, ValuesReachWhatTheyAreOf) {
  std::map<std::string, value> all = Rendered(
      {"image.registry=registry.example:5000/ml/", "image.digest=sha256:" + std::string(64, 'a'),
       "image.pullSecrets={mine}", "controller.replicas=3", "controller.extraArgs={--kube-api-qps=200}",
       "scheduler.resources.limits.memory=2Gi", "networkPolicy.apiServer={10.96.0.1/32}", "nodeSelector.role=control",
       "podAnnotations.a=b", "extender.enabled=true", "extender.generate=false", "extender.secretName=other"});
  const value& controller = all["Deployment gangway-system/gangway-controller"].at("spec");
  EXPECT_EQ(controller.at("replicas"), value(3));
  const value& pod = controller.at("template").at("spec");
  EXPECT_EQ(pod.at("containers").at(0).at("image"),
            value("registry.example:5000/ml/gangway@sha256:" + std::string(64, 'a')));
  EXPECT_EQ(pod.at("containers").at(0).at("args").get_array().back(), value("--kube-api-qps=200"));
  EXPECT_EQ(pod.at("imagePullSecrets").at(0).at("name"), value("mine"));
  EXPECT_EQ(pod.at("nodeSelector").at("role"), value("control"));
  EXPECT_EQ(controller.at("template").at("metadata").at("annotations").at("a"), value("b"));
  EXPECT_EQ(all["NetworkPolicy gangway-system/gangway-controller"]
                .at("spec")
                .at("egress")
                .at(0)
                .at("to")
                .at(0)
                .at("ipBlock")
                .at("cidr"),
            value("10.96.0.1/32"));
  EXPECT_EQ(all["Deployment gangway-system/gangway-scheduler"]
                .at("spec")
                .at("template")
                .at("spec")
                .at("containers")
                .at(0)
                .at("resources")
                .at("limits")
                .at("memory"),
            value("2Gi"));
  EXPECT_EQ(all["Deployment gangway-system/gangway-extender"]
                .at("spec")
                .at("template")
                .at("spec")
                .at("volumes")
                .at(0)
                .at("secret")
                .at("secretName"),
            value("other"));
  for (const auto& [name, document] : Rendered({"networkPolicy.enabled=false"}))
    EXPECT_FALSE(absl::StartsWith(name, "NetworkPolicy")) << name;
}

// Jobs of other namespaces belong to somebody else.
TEST_F(HelmTest, WhoServesOneNamespaceJudgesThatOneAlone) {
  int webhooks = 0;
  for (const auto& [name, object] :
       Rendered({"mode=one-namespace", "jobsNamespace=jobs", "webhook.enabled=true", "webhook.generate=false"})) {
    if (!absl::StrContains(name, "WebhookConfiguration ")) continue;
    for (const value& webhook : object.at("webhooks").get_array()) {
      EXPECT_EQ(api::TextAt(webhook, {"namespaceSelector", "matchLabels", "kubernetes.io/metadata.name"}), "jobs")
          << name;
      ++webhooks;
    }
  }
  EXPECT_GT(webhooks, 1);
}

TEST_F(HelmTest, NotificationsAreFlagsASecretAndAWayOut) {
  const std::string controller = "Deployment gangway-system/gangway-controller";
  const std::string policy = "NetworkPolicy gangway-system/gangway-controller";
  std::map<std::string, value> without = Rendered({});
  std::map<std::string, value> all =
      Rendered({"notifications.url=https://hooks.example/jobs", "notifications.secretName=hook",
                "notifications.events={failed,waiting}", "notifications.waiting=1h", "notifications.cluster=one",
                "notifications.egress={203.0.113.0/24}", "webhook.enabled=true", "webhook.generate=false"});
  const value& pod = all[controller].at("spec").at("template").at("spec");
  const std::string args = api::ToJson(pod.at("containers").at(0).at("args"));
  for (const char* flag : {"--notify-url=https://hooks.example/jobs", "--notify-token-file=/etc/gangway/notify/token",
                           "--notify-events=failed,waiting", "--notify-waiting=1h", "--notify-cluster=one"})
    EXPECT_THAT(args, HasSubstr(flag));
  EXPECT_THAT(api::ToJson(pod.at("volumes")), HasSubstr(R"("secretName":"hook")"));
  EXPECT_EQ(pod.at("volumes").as_array().size(), 2u) << "beside that of the webhook";
  EXPECT_THAT(api::ToJson(pod.at("containers").at(0).at("volumeMounts")), HasSubstr("/etc/gangway/notify"));
  EXPECT_THAT(api::ToJson(all[policy].at("spec").at("egress")), HasSubstr(R"("cidr":"203.0.113.0/24")"));
  const std::string scheduler = "Deployment gangway-system/gangway-scheduler";
  EXPECT_TRUE(all[scheduler] == without[scheduler]) << "which tells nobody anything";
}

// What is of all pods is of the one of `helm test`, too.
TEST_F(HelmTest, TheTestsPodIsAsTheOthers) {
  const Outcome outcome =
      Helm({"template", "gangway", kChart, "--show-only", "templates/tests/version.yaml", "--set",
            "podAnnotations.a=b,podAnnotations.c=all,tests.podAnnotations.c=test,priorityClassName=high,"
            "nodeSelector.role=control,affinity.podAffinity.x=y"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::map<std::string, value> all = Objects(outcome.out, "the chart");
  const value& pod = all["Pod gangway-system/gangway-test"];
  EXPECT_EQ(api::TextAt(pod, {"metadata", "annotations", "a"}), "b");
  EXPECT_EQ(api::TextAt(pod, {"metadata", "annotations", "c"}), "test");
  EXPECT_EQ(api::TextAt(pod, {"metadata", "annotations", "helm.sh/hook"}), "test");
  EXPECT_EQ(api::TextAt(pod, {"spec", "priorityClassName"}), "high");
  EXPECT_EQ(api::TextAt(pod, {"spec", "nodeSelector", "role"}), "control");
  EXPECT_EQ(api::TextAt(pod, {"spec", "affinity", "podAffinity", "x"}), "y");
}

TEST_F(HelmTest, WhatIsNoValueIsRefused) {
  for (const auto& [setting, said] :
       std::vector<std::pair<std::string, std::string>>{{"mode=besides", "mode"},
                                                        {"replica=3", "replica"},
                                                        {"controller.replicas=-1", "replicas"},
                                                        {"shadow.replicas=2", "replicas"},
                                                        {"image.registry=registry.example/gangway:0.1.0", "registry"},
                                                        {"image.digest=sha256:abc", "digest"},
                                                        {"controller.extraArgs={verbose}", "extraArgs"},
                                                        {"notifications.events={ended}", "events"},
                                                        {"notifications.egress={hooks.example}", "egress"}}) {
    const Outcome outcome = Helm({"template", "gangway", kChart, "--set", setting});
    EXPECT_NE(outcome.exit_code, 0) << setting;
    EXPECT_THAT(outcome.err, HasSubstr(said)) << setting;
  }
  const Outcome both = Helm({"template", "gangway", kChart, "--set", "mode=beside-volcano,webhook.enabled=true"});
  EXPECT_THAT(both.err, HasSubstr("Volcano has webhooks of its own"));
  const Outcome judges = Helm({"template", "gangway", kChart, "--set", "mode=shadow,webhook.enabled=true"});
  EXPECT_THAT(judges.err, HasSubstr("a shadow judges nobody's objects"));
  EXPECT_EQ(Helm({"lint", "--strict", kChart}).exit_code, 0);
}

TEST_F(HelmTest, ThePackedChartIsTheSame) {
  const TemporaryFolder folder("gangway-chart");
  for (const char* into : {"/a", "/b"})
    EXPECT_EQ(
        RunProgram({GW_SOURCE_DIR "/scripts/chart", "--into", folder.path() + into}, {"SOURCE_DATE_EPOCH=1700000000"})
            .exit_code,
        0);
  EXPECT_EQ(RunProgram({"diff", "-r", folder.path() + "/a", folder.path() + "/b"}).exit_code, 0);
  const Outcome packed = Helm({"template", "gangway", folder.path() + "/a/gangway-" GW_PROJECT_VERSION ".tgz"}),
                loose = Helm({"template", "gangway", kChart});
  EXPECT_EQ(packed.exit_code, 0) << packed.err;
  EXPECT_EQ(packed.out, loose.out);
}

// --- On an API server.

class HelmInstallTest : public HelmTest {
 protected:
  void SetUp() override {
    HelmTest::SetUp();
    if (IsSkipped()) return;
    if (!ControlPlane::ToolsPresent()) GTEST_SKIP() << "there is no control plane on this machine";
    auto started = ControlPlane::Start({.workloads = true, .kwok = true, .volcano_crds = false, .audit = false});
    ASSERT_TRUE(started.ok()) << started.status();
    plane_ = *std::move(started);
    ASSERT_TRUE(plane_->CreateNodes(2).ok());
  }
  std::string Run(std::vector<std::string> args) {
    const std::string what = args[0];
    const Outcome outcome = Helm(std::move(args), plane_->admin_kubeconfig());
    EXPECT_EQ(outcome.exit_code, 0) << what << ": " << outcome.out << outcome.err;
    return outcome.out;
  }
  std::string Kubectl(std::vector<std::string> args, const std::string& input = {}) {
    const Outcome outcome = plane_->Kubectl(std::move(args), input);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  }
  std::string Job() { return Kubectl({"get", "vcjob", "stays", "-o", "jsonpath={.metadata.uid} {.spec.queue}"}); }
  std::string ReplicasOf(const std::string& name) {
    return Kubectl({"get", "deployment", "-n", kNamespace, name, "-o", "jsonpath={.spec.replicas}"});
  }

  std::unique_ptr<ControlPlane> plane_;
};

constexpr char kJob[] =
    R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"stays","namespace":"default"},
  "spec":{"minAvailable":1,"queue":"q","schedulerName":"volcano","tasks":[{"name":"w","replicas":1,"template":{"spec":{"containers":[{"name":"w","image":"i"}]}}}]}})";

TEST_F(HelmInstallTest, InstalledUpgradedRolledBackAndUninstalledWhileAJobIsThere) {
  // A type that somebody else brought stays theirs.
  Kubectl({"apply", "--server-side", "-f", GW_SOURCE_DIR "/deploy/volcano/crds/hypernodes.topology.volcano.sh.yaml"});
  const std::string notes =
      Run({"install", "gangway", kChart, "--create-namespace", "--set", "webhook.enabled=true,extender.enabled=true",
           "--set-string", "tests.podAnnotations.test\\.kwok/finish=succeed"});
  EXPECT_THAT(
      notes, AllOf(HasSubstr("image.registry is not set"), HasSubstr("hypernodes.topology.volcano.sh was there before"),
                   Not(HasSubstr("jobs.batch.volcano.sh was there"))));
  // The types are established, and then in discovery, in the API server's own time.
  ASSERT_TRUE(
      Eventually([&] { return plane_->Kubectl({"get", "vcjob,queues.scheduling.volcano.sh"}).exit_code == 0; }));
  Kubectl({"create", "-f", "-"}, kJob);
  const std::string job = Job();

  // The test's pod, and what it does with the rights that it has.
  // There is no scheduler but ours, so somebody gives the pod a node.
  const std::string output = plane_->folder() + "/helm-test";
  ChildProcess test({HelmProgram(), "test", "gangway", "--timeout", "120s", "--namespace", kNamespace, "--kubeconfig",
                     plane_->admin_kubeconfig()},
                    output);
  ASSERT_TRUE(Eventually([&] {
    return plane_->Call("GET", "/api/v1/namespaces/gangway-system/pods/gangway-test").code == 200;
  })) << ReadFile(output);
  // What runs in it here is nothing; so the program does the same, as the pod's account, while its role is there.
  const std::vector<std::string> arguments =
      absl::StrSplit(Kubectl({"get", "pod", "gangway-test", "-n", kNamespace, "-o",
                              R"(jsonpath={range .spec.containers[0].args[*]}{@}{"\n"}{end})"}),
                     '\n', absl::SkipEmpty());
  EXPECT_THAT(arguments, ElementsAre("version", "--check", "--strict"));
  const auto kubeconfig = plane_->KubeconfigForServiceAccount(
      kNamespace,
      Kubectl({"get", "pod", "gangway-test", "-n", kNamespace, "-o", "jsonpath={.spec.serviceAccountName}"}));
  ASSERT_TRUE(kubeconfig.ok()) << kubeconfig.status();
  std::vector<std::string> as_the_pod{GW_GANGWAY};
  as_the_pod.insert(as_the_pod.end(), arguments.begin(), arguments.end());
  as_the_pod.insert(as_the_pod.end(), {"--kubeconfig", *kubeconfig});
  const Outcome of_the_pod = RunProgram(as_the_pod);
  EXPECT_EQ(of_the_pod.exit_code, 0) << of_the_pod.out << of_the_pod.err;
  EXPECT_THAT(of_the_pod.out, HasSubstr("9 types are those of this version"));
  EXPECT_EQ(
      plane_
          ->Call(
              "POST", "/api/v1/namespaces/gangway-system/pods/gangway-test/binding",
              R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"gangway-test"},"target":{"apiVersion":"v1","kind":"Node","name":"node-000"}})")
          .code,
      201);
  EXPECT_EQ(test.Wait(), 0) << ReadFile(output);
  EXPECT_THAT(ReadFile(output), HasSubstr("Succeeded"));
  const std::string certificate =
      Kubectl({"get", "secret", "-n", kNamespace, "gangway-webhook-tls", "-o", "jsonpath={.data.ca\\.crt}"});
  EXPECT_EQ(Kubectl({"get", "validatingwebhookconfiguration", "gangway", "-o",
                     "jsonpath={.webhooks[0].clientConfig.caBundle}"}),
            certificate);

  Kubectl({"delete", "crd", "hypernodes.topology.volcano.sh"});
  const std::vector<std::string> check{GW_GANGWAY, "version", "--check", "--kubeconfig", plane_->admin_kubeconfig()};
  Outcome checked;
  EXPECT_TRUE(Eventually([&] {  // discovery follows in its own time
    checked = RunProgram(check);
    return absl::StrContains(checked.out, "cluster: note: hypernodes.topology.volcano.sh is not there");
  })) << checked.out;
  EXPECT_EQ(RunProgram(check).exit_code, 0);
  std::vector<std::string> strict = check;
  strict.push_back("--strict");
  EXPECT_EQ(RunProgram(strict).exit_code, 1);

  // An upgrade brings the types up to date, and makes no other certificate.
  Kubectl(
      {"patch", "crd", "queues.scheduling.volcano.sh", "--type=json", "-p",
       R"([{"op":"remove","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/deserved"}])"});
  Run({"upgrade", "gangway", kChart, "--reuse-values", "--set", "controller.replicas=3"});
  EXPECT_EQ(ReplicasOf("gangway-controller"), "3");
  EXPECT_THAT(Kubectl({"get", "crd", "queues.scheduling.volcano.sh", "-o", "json"}), HasSubstr("\"deserved\""));
  EXPECT_EQ(Kubectl({"get", "secret", "-n", kNamespace, "gangway-webhook-tls", "-o", "jsonpath={.data.ca\\.crt}"}),
            certificate);
  EXPECT_EQ(Job(), job);

  Run({"rollback", "gangway", "1"});
  EXPECT_EQ(ReplicasOf("gangway-controller"), "2");
  EXPECT_EQ(Job(), job);

  Run({"uninstall", "gangway"});
  EXPECT_EQ(plane_->Call("GET", "/apis/apps/v1/namespaces/gangway-system/deployments/gangway-controller").code, 404);
  EXPECT_EQ(plane_->Call("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/gangway-controller").code, 404);
  EXPECT_EQ(Job(), job);
  Run({"install", "gangway", kChart});
  EXPECT_EQ(Job(), job);
}

}  // namespace
}  // namespace gangway::testutil
