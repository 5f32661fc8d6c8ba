// What deploy/volcano renders to: nobody gets more rights than listed, every selector finds its pods, every pod is a
// restricted one, every flag is one that the program takes, and what is checked in is what is generated.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "api/volcano/admission.h"
#include "api/volcano/kinds.h"
#include "base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/deploy/volcano/manifests.h"
#include "tests/process/process.h"

namespace gangway::testutil {
namespace {

using boost::json::object;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;
using ::testing::UnorderedElementsAreArray;

// To Secrets, for one namespace: docs/job-plugins.md.
const std::string kGivenByHand = "gangway-controller-ssh";

class OverlayTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!HasKubectl()) GTEST_SKIP() << "there is no kubectl on this machine";
    all_ = Read(Rendered("overlays/" + GetParam()), GetParam());
    ASSERT_FALSE(all_.empty());
  }
  std::vector<value> Of(const std::set<std::string>& kinds) const {
    std::vector<value> out;
    std::copy_if(all_.begin(), all_.end(), std::back_inserter(out),
                 [&](const value& d) { return kinds.contains(TextAt(d, "/kind")); });
    return out;
  }
  bool Has(const std::string& name) const {
    return std::any_of(all_.begin(), all_.end(), [&](const value& d) { return NameOf(d) == name; });
  }
  // The Deployments of a namespace that a selector finds.
  int Found(const Labels& selector, const std::string& ns) const {
    int found = 0;
    for (const value& d : Of({"Deployment"})) {
      found +=
          TextAt(d, "/metadata/namespace") == ns && Selects(selector, LabelsAt(d, "/spec/template/metadata/labels"));
    }
    return found;
  }

  std::vector<value> all_;
};
INSTANTIATE_TEST_SUITE_P(All, OverlayTest,
                         ::testing::Values("standalone", "standalone-webhook", "paddle-only", "beside-volcano",
                                           "beside-volcano-extender", "shadow"),
                         [](const auto& overlay) {
                           std::string name = overlay.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(OverlayTest, HoldsTheKindsThatBelongThereAndNoTypesOrObjectsOfThem) {
  for (const value& document : all_) {
    EXPECT_THAT(TextAt(document, "/kind"),
                AnyOf("Namespace", "ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding",
                      "Service", "Deployment", "PodDisruptionBudget", "NetworkPolicy", "MutatingWebhookConfiguration",
                      "ValidatingWebhookConfiguration"));
    EXPECT_THAT(TextAt(document, "/apiVersion"), Not(HasSubstr("volcano.sh")));
  }
  EXPECT_TRUE(Has("Namespace gangway-system"));
}

TEST_P(OverlayTest, NobodyMayDoMoreThanIsListed) {
  for (const value& role : Of({"Role", "ClusterRole"})) {
    SCOPED_TRACE(NameOf(role));
    EXPECT_TRUE(At(role, "/aggregationRule").is_null());
    EXPECT_FALSE(ListAt(role, "/rules").empty());
    for (const value& rule : ListAt(role, "/rules")) {
      for (const char* part : {"/apiGroups", "/resources", "/verbs"}) {
        EXPECT_THAT(TextsAt(rule, part), Not(IsEmpty())) << api::ToJson(rule);
        EXPECT_THAT(TextsAt(rule, part), Not(Contains(HasSubstr("*")))) << api::ToJson(rule);
      }
      // Of secrets only those that one can name, and only by a role that is nobody's until somebody gives it, for the
      // job plugin ssh.
      if (::testing::Matches(Contains(StartsWith("secrets")))(TextsAt(rule, "/resources"))) {
        EXPECT_EQ(TextAt(role, "/metadata/name"), kGivenByHand);
        EXPECT_EQ(ListAt(role, "/rules").size(), 1u);
        EXPECT_THAT(TextsAt(rule, "/verbs"), Not(Contains(AnyOf("list", "watch"))));
      }
      EXPECT_THAT(TextsAt(rule, "/verbs"),
                  ::testing::Each(AnyOf("get", "list", "watch", "create", "update", "patch", "delete")));
    }
  }
}

TEST_P(OverlayTest, EveryBindingJoinsWhatIsThere) {
  for (const value& binding : Of({"RoleBinding", "ClusterRoleBinding"})) {
    SCOPED_TRACE(NameOf(binding));
    const std::string kind = TextAt(binding, "/roleRef/kind"), ns = TextAt(binding, "/metadata/namespace");
    EXPECT_NE(TextAt(binding, "/roleRef/name"), kGivenByHand);
    EXPECT_EQ(kind, ns.empty() ? "ClusterRole" : "Role");
    EXPECT_TRUE(Has(absl::StrCat(kind, " ", ns, ns.empty() ? "" : "/", TextAt(binding, "/roleRef/name"))));
    for (const value& subject : ListAt(binding, "/subjects")) {
      EXPECT_TRUE(Has(absl::StrCat("ServiceAccount ", TextAt(subject, "/namespace"), "/", TextAt(subject, "/name"))));
    }
  }
  for (const value& role : Of({"Role", "ClusterRole"})) {  // a role that nobody has is a mistake
    if (TextAt(role, "/metadata/name") == kGivenByHand) continue;
    EXPECT_TRUE(
        Has(absl::StrCat(TextAt(role, "/kind"), "Binding ", NameOf(role).substr(TextAt(role, "/kind").size() + 1))))
        << NameOf(role);
  }
}

TEST_P(OverlayTest, EverySelectorFindsItsPods) {
  int selectors = 0;
  for (const value& document : all_) {
    SCOPED_TRACE(NameOf(document));
    const std::string kind = TextAt(document, "/kind"), ns = TextAt(document, "/metadata/namespace");
    const char* pointer = kind == "Service"                                       ? "/spec/selector"
                          : kind == "NetworkPolicy"                               ? "/spec/podSelector/matchLabels"
                          : kind == "Deployment" || kind == "PodDisruptionBudget" ? "/spec/selector/matchLabels"
                                                                                  : nullptr;
    if (pointer == nullptr) continue;
    EXPECT_EQ(Found(LabelsAt(document, pointer), ns), 1) << api::ToJson(At(document, pointer));
    ++selectors;
    for (const value& spread : ListAt(document, "/spec/template/spec/topologySpreadConstraints")) {
      EXPECT_EQ(Found(LabelsAt(spread, "/labelSelector/matchLabels"), ns), 1);
      ++selectors;
    }
  }
  EXPECT_GE(selectors, GetParam() == "shadow" ? 3 : 6);
}

TEST_P(OverlayTest, EveryPortThatIsNamedIsThere) {
  for (const value& deployment : Of({"Deployment"})) {
    SCOPED_TRACE(NameOf(deployment));
    const value& container = At(deployment, "/spec/template/spec/containers/0");
    std::map<std::string, std::int64_t> ports;
    for (const value& port : ListAt(container, "/ports"))
      ports[TextAt(port, "/name")] = At(port, "/containerPort").get_int64();
    for (const char* probe : {"/livenessProbe", "/readinessProbe"}) {
      const std::string http = TextAt(At(container, probe), "/httpGet/port"),
                        tcp = TextAt(At(container, probe), "/tcpSocket/port");
      EXPECT_TRUE(ports.contains(http.empty() ? tcp : http)) << probe;
    }
    const Labels labels = LabelsAt(deployment, "/spec/template/metadata/labels");
    for (const value& service : Of({"Service"})) {
      if (!Selects(LabelsAt(service, "/spec/selector"), labels)) continue;
      for (const value& port : ListAt(service, "/spec/ports"))
        EXPECT_EQ(ports[TextAt(port, "/targetPort")], At(port, "/port").get_int64());
    }
    for (const value& policy : Of({"NetworkPolicy"})) {
      if (!Selects(LabelsAt(policy, "/spec/podSelector/matchLabels"), labels)) continue;
      EXPECT_THAT(TextsAt(policy, "/spec/policyTypes"), UnorderedElementsAre("Ingress", "Egress"));
      EXPECT_THAT(api::ToJson(At(policy, "/spec/ingress")), HasSubstr(absl::StrCat("\"port\":", ports["metrics"])));
      for (const value& rule : ListAt(policy, "/spec/egress")) {
        EXPECT_FALSE(ListAt(rule, "/to").empty()) << "to wherever: " << api::ToJson(rule);
        EXPECT_FALSE(ListAt(rule, "/ports").empty()) << api::ToJson(rule);
        for (const value& peer : ListAt(rule, "/to"))
          EXPECT_THAT(TextAt(peer, "/ipBlock/cidr"), Not(AnyOf("0.0.0.0/0", "::/0")));
      }
    }
  }
}

// https://kubernetes.io/docs/concepts/security/pod-security-standards, "restricted", and what this house adds.
TEST_P(OverlayTest, EveryPodIsARestrictedOne) {
  for (const value& deployment : Of({"Deployment"})) {
    SCOPED_TRACE(NameOf(deployment));
    const value& spec = At(deployment, "/spec/template/spec");
    EXPECT_EQ(At(spec, "/securityContext/runAsNonRoot"), value(true));
    EXPECT_GT(At(spec, "/securityContext/runAsUser").get_int64(), 0);
    EXPECT_EQ(TextAt(spec, "/securityContext/seccompProfile/type"), "RuntimeDefault");
    const bool shadow = GetParam() == "shadow";  // it may push nobody aside, and has no second to lead in its place
    EXPECT_EQ(TextAt(spec, "/priorityClassName"), shadow ? "" : "system-cluster-critical");
    for (const char* host : {"/hostNetwork", "/hostPID", "/hostIPC"}) EXPECT_TRUE(At(spec, host).is_null()) << host;
    ASSERT_EQ(ListAt(spec, "/containers").size(), 1u);
    const value& container = At(spec, "/containers/0");
    EXPECT_EQ(At(container, "/securityContext/allowPrivilegeEscalation"), value(false));
    EXPECT_EQ(At(container, "/securityContext/readOnlyRootFilesystem"), value(true));
    EXPECT_THAT(TextsAt(container, "/securityContext/capabilities/drop"), UnorderedElementsAre("ALL"));
    EXPECT_TRUE(At(container, "/securityContext/privileged").is_null());
    EXPECT_FALSE(TextAt(container, "/resources/limits/memory").empty());
    EXPECT_FALSE(TextAt(container, "/resources/requests/cpu").empty());
    EXPECT_EQ(At(deployment, "/spec/replicas"), value(shadow ? 1 : 2));
    EXPECT_TRUE(Has(absl::StrCat("ServiceAccount gangway-system/", TextAt(spec, "/serviceAccountName"))));
  }
  for (const value& ns : Of({"Namespace"})) {
    EXPECT_EQ(LabelsAt(ns, "/metadata/labels")["pod-security.kubernetes.io/enforce"], "restricted");
  }
}

// A pod is ready within a second of when it could be; an API server that is away for some seconds makes none unready.
TEST_P(OverlayTest, EveryPodIsAskedEachSecondWhetherItIsReady) {
  for (const value& deployment : Of({"Deployment"})) {
    SCOPED_TRACE(NameOf(deployment));
    const value& probe = At(deployment, "/spec/template/spec/containers/0/readinessProbe");
    EXPECT_EQ(At(probe, "/periodSeconds"), value(1));
    EXPECT_EQ(At(probe, "/failureThreshold"), value(15)) << "a short silence is none";
    EXPECT_TRUE(At(probe, "/initialDelaySeconds").is_null());
  }
}

TEST_P(OverlayTest, ThoseWhoWriteAreElectedAndMayHaveTheirLeaseAlone) {
  for (const value& deployment : Of({"Deployment"})) {
    SCOPED_TRACE(NameOf(deployment));
    const std::string name = TextAt(deployment, "/metadata/name");
    const std::vector<std::string> args = TextsAt(deployment, "/spec/template/spec/containers/0/args");
    const bool has_token = At(deployment, "/spec/template/spec/automountServiceAccountToken") == value(true) &&
                           std::count(args.begin(), args.end(), "--shadow") == 0;
    EXPECT_EQ(has_token, std::count(args.begin(), args.end(), "--leader-elect") == 1);
    EXPECT_EQ(has_token, Has(absl::StrCat("Role gangway-system/", name, "-lease")));
    for (const value& role : Of({"Role"})) {
      if (TextAt(role, "/metadata/name") != name + "-lease") continue;
      for (const value& rule : ListAt(role, "/rules")) {
        const bool create = TextsAt(rule, "/verbs") == std::vector<std::string>{"create"};
        EXPECT_EQ(TextsAt(rule, "/resourceNames"),
                  create ? std::vector<std::string>{} : std::vector<std::string>{name});
      }
    }
  }
}

TEST_P(OverlayTest, TheImageIsTheOneOfThisVersion) {
  const std::vector<std::string> words =
      absl::StrSplit(RunProgram({GW_GANGWAY, "version"}).out, ' ');  // "gangway 0.1.0 ..."
  ASSERT_GE(words.size(), 2u);
  for (const value& deployment : Of({"Deployment"})) {
    EXPECT_EQ(TextAt(deployment, "/spec/template/spec/containers/0/image"),
              absl::StrCat("gangway:", absl::StripSuffix(words[1], "\n")));
  }
}

// Flags and their values are read first: what is missed is the file that is missing here, and nothing else.
TEST_P(OverlayTest, TheProgramTakesEveryFlag) {
  for (const value& deployment : Of({"Deployment"})) {
    std::vector<std::string> argv = TextsAt(deployment, "/spec/template/spec/containers/0/args");
    for (std::string& arg : argv) {
      const std::size_t value_at = arg.find("=0.0.0.0:");
      if (value_at != std::string::npos) arg = arg.substr(0, value_at) + "=127.0.0.1:0";
    }
    argv.insert(argv.begin(), GW_GANGWAY);
    std::string missing = "/etc/gangway/tls/";
    if (argv[1] != "extender") {
      missing = "/nonexistent/kubeconfig";
      argv.push_back("--kubeconfig=" + missing);
    }
    const Outcome outcome = RunProgram(argv);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr(missing));
    EXPECT_THAT(outcome.err, Not(HasSubstr("--help")));
  }
}

TEST_P(OverlayTest, WhoIsAskedBeforeAWriteStandsInNobodysWay) {
  const std::vector<value> configurations = Of({"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"});
  EXPECT_EQ(configurations.size(), GetParam() == "standalone-webhook" ? 2u : 0u);
  for (const value& configuration : configurations) {
    SCOPED_TRACE(NameOf(configuration));
    for (const value& webhook : ListAt(configuration, "/webhooks")) {
      EXPECT_EQ(TextAt(webhook, "/failurePolicy"), "Ignore") << "the cluster works without it";
      EXPECT_EQ(TextAt(webhook, "/sideEffects"), "None");
      EXPECT_TRUE(Has("Service gangway-system/" + TextAt(webhook, "/clientConfig/service/name")));
      EXPECT_EQ(At(webhook, "/clientConfig/service/port"), value(9443));
    }
  }
}

TEST(ShadowTest, NobodyMayWriteAnything) {
  if (!HasKubectl()) GTEST_SKIP() << "there is no kubectl on this machine";
  int rules = 0;
  for (const value& document : Read(Rendered("overlays/shadow"), "shadow")) {
    const std::string kind = TextAt(document, "/kind");
    EXPECT_THAT(kind, AnyOf("Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Deployment", "Service",
                            "NetworkPolicy"));
    if (kind == "Deployment") {
      EXPECT_THAT(TextsAt(document, "/spec/template/spec/containers/0/args"), Contains("--shadow"));
    }
    for (const value& rule : ListAt(document, "/rules")) {
      EXPECT_THAT(TextsAt(rule, "/verbs"), UnorderedElementsAre("list", "watch")) << api::ToJson(rule);
      ++rules;
    }
  }
  EXPECT_GT(rules, 0);
}

TEST(PaddleOnlyTest, WhatHasANamespaceIsAllowedThereAlone) {
  if (!HasKubectl()) GTEST_SKIP() << "there is no kubectl on this machine";
  const std::set<std::string> cluster_scoped{
      "nodes",      "persistentvolumes", "queues",     "queues/status", "priorityclasses",  "storageclasses",
      "hypernodes", "hypernodes/status", "csidrivers", "csinodes",      "volumeattachments"};
  std::set<std::string> elsewhere;
  for (const value& document : Read(Rendered("overlays/paddle-only"), "paddle-only")) {
    if (TextAt(document, "/kind") == "Deployment") {
      EXPECT_THAT(TextsAt(document, "/spec/template/spec/containers/0/args"), Contains("--namespaces=paddle-system"));
    }
    if (TextAt(document, "/kind") != "ClusterRole") continue;
    for (const value& rule : ListAt(document, "/rules")) {
      if (TextsAt(rule, "/resourceNames") == std::vector<std::string>{"paddle-system"})
        continue;  // the namespace itself
      for (const std::string& resource : TextsAt(rule, "/resources")) {
        if (!cluster_scoped.contains(resource))
          elsewhere.insert(absl::StrCat(resource, " ", api::ToJson(At(rule, "/verbs"))));
      }
    }
  }
  // The scheduler sees all pods: each takes room on its node. Drivers tell of room in namespaces of their own.
  EXPECT_THAT(elsewhere, UnorderedElementsAre(R"(pods ["list","watch"])", R"(csistoragecapacities ["list","watch"])",
                                              R"(secrets ["get","create","patch","delete"])"))
      << "the latter is nobody's";
}

TEST(GeneratedTest, WhatIsCheckedInIsWhatIsGenerated) {
  if (!HasKubectl()) GTEST_SKIP() << "there is no kubectl on this machine";
  const TemporaryFolder folder("gangway-manifests");
  const Outcome outcome = RunProgram({GW_SOURCE_DIR "/scripts/manifests", "--into", folder.path(), GW_GANGWAY});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* file : {"crds.yaml", "gangway.yaml", "crds/kustomization.yaml"}) {
    EXPECT_EQ(ReadFile(kDeploy + "/" + file), ReadFile(folder.path() + "/" + file))
        << file << ": run scripts/manifests";
  }
}

TEST(GeneratedTest, TheFlatTypesAreTypesOnly) {
  std::vector<std::string> names;
  for (const value& document : Read(ReadFile(kDeploy + "/crds.yaml"), "crds.yaml")) names.push_back(NameOf(document));
  std::vector<std::string> types;
  for (const api::KindRow& kind : api::volcano::Kinds()) {
    types.push_back(
        absl::StrCat("CustomResourceDefinition ", View(kind.resource->plural), ".", View(kind.resource->group)));
  }
  EXPECT_THAT(names, UnorderedElementsAreArray(types));
}

// "CREATE scheduling.volcano.sh/v1beta1 queues", of the webhooks of one configuration.
std::set<std::string> RulesOf(const value& configuration) {
  std::set<std::string> rules;
  for (const value& webhook : ListAt(configuration, "/webhooks")) {
    for (const value& rule : ListAt(webhook, "/rules")) {
      for (const std::string& operation : TextsAt(rule, "/operations")) {
        for (const std::string& resource : TextsAt(rule, "/resources")) {
          rules.insert(absl::StrCat(operation, " ", TextAt(rule, "/apiGroups/0"), "/", TextAt(rule, "/apiVersions/0"),
                                    " ", resource));
        }
      }
    }
  }
  return rules;
}

TEST(WebhookTest, AsksAboutTheKindsOfTheCatalogue) {
  std::set<std::string> mutating, validating;
  for (const api::KindRow& kind : api::volcano::Kinds()) {
    const auto add = [&](const char* operation, std::set<std::string>& to) {
      to.insert(absl::StrCat(operation, " ", kind.resource->ApiVersion(), " ", View(kind.resource->plural)));
    };
    if (kind.admission == nullptr) continue;
    if (kind.admission->mutating_webhook) add("CREATE", mutating);
    if (!kind.admission->validating_webhook) continue;
    add("CREATE", validating), add("UPDATE", validating);
    if (kind.admission->deletions) add("DELETE", validating);
  }
  std::map<std::string, std::set<std::string>> seen;
  for (const value& document : Read(ReadFile(kDeploy + "/components/webhook/webhook.yaml"), "webhook.yaml"))
    seen[TextAt(document, "/kind")] = RulesOf(document);
  EXPECT_EQ(seen["MutatingWebhookConfiguration"], mutating);
  EXPECT_EQ(seen["ValidatingWebhookConfiguration"], validating);
}

TEST(GeneratedTest, PaddleJobsStandApart) {
  if (!HasKubectl()) GTEST_SKIP() << "there is no kubectl on this machine";
  for (const auto& [folder, name] : {std::pair("crds-paddle", "paddlejobs.batch.paddlepaddle.org"),
                                     std::pair("crds-kubeflow", "paddlejobs.kubeflow.org")}) {
    std::vector<std::string> names;
    for (const value& document : Read(Rendered(folder), folder)) names.push_back(NameOf(document));
    EXPECT_THAT(names, UnorderedElementsAre(absl::StrCat("CustomResourceDefinition ", name)));
  }
}

TEST(CrdsCommandTest, PrintsAllOrThoseThatAreNamed) {
  const Outcome all = RunProgram({GW_GANGWAY, "crds"});
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_EQ(Read(all.out, "crds").size(), api::volcano::Kinds().size());
  const Outcome one = RunProgram({GW_GANGWAY, "crds", "queues.scheduling.volcano.sh"});
  EXPECT_EQ(one.out, ReadFile(kDeploy + "/crds/queues.scheduling.volcano.sh.yaml"));
  const Outcome paddle = RunProgram({GW_GANGWAY, "crds", "paddlejobs.kubeflow.org"});
  EXPECT_EQ(paddle.out, ReadFile(kDeploy + "/crds-kubeflow/paddlejobs.kubeflow.org.yaml"));
  const Outcome none = RunProgram({GW_GANGWAY, "crds", "jobs"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.out, IsEmpty());
  EXPECT_THAT(none.err, HasSubstr("there is no jobs; known: jobs.batch.volcano.sh, podgroups.scheduling.volcano.sh,"));
}

TEST(OperationsTest, EveryFileAndMetricThatItNamesIsThere) {
  const std::string text = ReadFile(GW_SOURCE_DIR "/docs/operations.md");
  std::set<std::string> files;
  for (const char* folder : {"deploy/volcano/", "docs/", "examples/"}) {
    for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at + 1)) {
      std::string path = text.substr(at, text.find_first_of(" `|)\n", at) - at);
      while (absl::EndsWith(path, ".") || absl::EndsWith(path, ";") || absl::EndsWith(path, ",")) path.pop_back();
      if (!absl::StrContains(path, "...")) files.insert(path);
    }
  }
  EXPECT_GE(files.size(), 10u);
  for (const std::string& file : files)
    EXPECT_TRUE(std::filesystem::exists(absl::StrCat(GW_SOURCE_DIR, "/", file))) << file;

  std::string sources;
  for (const char* folder : {"kube", "plugin"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(absl::StrCat(GW_SOURCE_DIR, "/", folder))) {
      if (entry.path().extension() == ".cc") sources += ReadFile(entry.path().string());
    }
  }
  for (std::size_t at = text.find("`gangway_"); at != std::string::npos; at = text.find("`gangway_", at + 1)) {
    const std::string metric = text.substr(at + 1, text.find_first_of("`{", at + 1) - at - 1);
    EXPECT_THAT(sources, HasSubstr("\"" + metric + "\""));
  }
}

TEST(PaddleNamespaceTest, IsAllThereIs) {
  if (!HasKubectl()) GTEST_SKIP() << "there is no kubectl on this machine";
  const std::vector<value> all = Read(Rendered("paddle-namespace"), "paddle-namespace");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(NameOf(all.front()), "Namespace paddle-system");
}

}  // namespace
}  // namespace gangway::testutil
