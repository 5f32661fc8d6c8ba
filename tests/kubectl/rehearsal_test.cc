// A cluster's manifests rehearsed on a laptop: the real kubectl applies deploy/volcano to `gangway sandbox`. Skipped,
// and counted as skipped, where there is no kubectl.
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kubectl/sandbox_process.h"
#include "tests/testing/files.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

const std::string kDeploy = GW_SOURCE_DIR "/deploy/volcano/";

// A sandbox and kubectl's commands against it, which must succeed and have nothing to warn of.
class Rehearsal {
 public:
  // Standard output.
  std::string Kubectl(std::vector<std::string> args) {
    const Outcome outcome = sandbox_.Kubectl(args);
    EXPECT_EQ(outcome.exit_code, 0) << absl::StrJoin(args, " ") << "\n" << outcome.err;
    EXPECT_THAT(outcome.err, IsEmpty()) << absl::StrJoin(args, " ");
    return outcome.out;
  }
  std::vector<std::string> Lines(std::vector<std::string> args) {
    return absl::StrSplit(Kubectl(std::move(args)), '\n', absl::SkipEmpty());
  }
  int ExitCode(std::vector<std::string> args) { return sandbox_.Kubectl(std::move(args)).exit_code; }
  // A line of a shell, as a document shows it, in a folder.
  void Shell(const std::string& folder, const std::string& line) {
    const Outcome outcome =
        RunProgram({"bash", "-ec", absl::StrCat("cd '", folder, "'; ", line)}, {"KUBECONFIG=" + sandbox_.kubeconfig()});
    EXPECT_EQ(outcome.exit_code, 0) << line << "\n" << outcome.err;
  }

 private:
  SandboxProcess sandbox_{{"--start-delay", "10ms", "--stop-delay", "10ms"}};
};

class RehearsalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasKubectl()) GTEST_SKIP() << "there is no kubectl on this machine";
  }
};

void RehearseOverlay(const std::string& overlay) {
  SCOPED_TRACE(overlay);
  Rehearsal rehearsal;
  const std::string folder = kDeploy + overlay;
  if (overlay == "overlays/paddle-only") rehearsal.Kubectl({"apply", "-k", kDeploy + "paddle-namespace"});
  EXPECT_THAT(rehearsal.Lines({"apply", "-k", folder}), AllOf(Not(IsEmpty()), Each(EndsWith(" created"))));
  const auto versions = [&] {
    return rehearsal.Kubectl(
        {"get", "-k", folder, "-o",
         "jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.resourceVersion}{\"\\n\"}{end}"});
  };
  const std::string before = versions();
  // kubectl sends the selector of a budget and the rules of a webhook each time, and calls that configured; nothing is
  // written.
  EXPECT_THAT(
      rehearsal.Lines({"apply", "-k", folder}),
      Each(AnyOf(EndsWith(" unchanged"), ContainsRegex("^(poddisruptionbudget|[a-z]+webhookconf).* configured$"))));
  EXPECT_EQ(versions(), before);
  EXPECT_THAT(rehearsal.Kubectl({"diff", "-k", folder}), IsEmpty());
  rehearsal.Kubectl({"delete", "-k", folder, "--timeout=120s"});
  EXPECT_THAT(rehearsal.Lines({"apply", "-k", folder, "--server-side"}), Each(EndsWith(" serverside-applied")));
  EXPECT_THAT(rehearsal.Kubectl({"diff", "-k", folder, "--server-side"}), IsEmpty());
}

// Each in a sandbox of its own, all at once: a namespace takes five seconds to go.
TEST_F(RehearsalTest, EachOverlayIsAppliedTwiceComparedRemovedAndAppliedAgain) {
  std::vector<std::thread> threads;
  for (const char* const overlay :
       {"namespace", "paddle-namespace", "crds-kubeflow", "overlays/standalone", "overlays/beside-volcano",
        "overlays/beside-volcano-extender", "overlays/paddle-only", "overlays/standalone-webhook", "overlays/shadow"}) {
    threads.emplace_back(RehearseOverlay, overlay);
  }
  for (std::thread& thread : threads) thread.join();
}

// docs/extender.md, "Installing it, and the way back": what stands there is what is run.
TEST_F(RehearsalTest, FromTheExtenderThereIsAWayBack) {
  Rehearsal rehearsal;
  const TemporaryFolder folder("way-back");
  const std::string component = std::filesystem::relative(kDeploy + "components/volcano-extender/light",
                                                          std::filesystem::canonical(folder.path()));
  WriteFile(folder.path() + "/volcano.yaml", ReadFile(GW_SOURCE_DIR "/tests/deploy/volcano/stock/volcano.yaml"));
  WriteFile(folder.path() + "/kustomization.yaml",
            absl::StrCat("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: "
                         "[volcano.yaml]\ncomponents: [",
                         component, "]\n"));
  rehearsal.Kubectl({"create", "namespace", "volcano-system"});
  rehearsal.Kubectl({"apply", "-f", folder.path() + "/volcano.yaml"});
  const auto scheduler = [&] {
    return rehearsal.Kubectl({"-n", "volcano-system", "get", "deployment/volcano-scheduler",
                              "configmap/volcano-scheduler-configmap", "-o",
                              "jsonpath={range .items[*]}{.data}{.spec}{\"\\n\"}{end}"});
  };
  const std::string stock = scheduler();

  const std::string document = ReadFile(GW_SOURCE_DIR "/docs/extender.md");
  const std::size_t begin = document.find("```\n", document.find("3. The way back")) + 4;
  const std::vector<std::string> commands =
      absl::StrSplit(document.substr(begin, document.find("```", begin) - begin), '\n', absl::SkipEmpty());
  ASSERT_THAT(commands, SizeIs(2));
  rehearsal.Kubectl({"apply", "-k", folder.path()});
  EXPECT_THAT(scheduler(), AllOf(HasSubstr("gangway-extender"), HasSubstr("extender.urlPrefix")));
  for (const std::string& command : commands) rehearsal.Shell(folder.path(), command);
  EXPECT_EQ(scheduler(), stock);
  // The container alone, by whatever means it came there.
  rehearsal.Kubectl({"apply", "-k", folder.path()});
  rehearsal.Shell(folder.path(), commands[1]);
  EXPECT_THAT(scheduler(), AllOf(Not(HasSubstr("gangway-extender")), HasSubstr("extender.urlPrefix")));
}

// docs/planning.md, the last line of how it is installed. Both are in one namespace.
TEST_F(RehearsalTest, TheShadowGoesAndWhatIsBesideItStays) {
  Rehearsal rehearsal;
  for (const char* const overlay : {"overlays/standalone", "overlays/shadow"})
    rehearsal.Kubectl({"apply", "-k", kDeploy + overlay});
  const auto names = [&](std::vector<std::string> of) {
    of.insert(of.begin(), {"-n", "gangway-system", "get", "-o", "name"});
    return rehearsal.Lines(of);
  };
  const std::vector<std::string> of_shadow = {"clusterroles,clusterrolebindings,serviceaccounts,deployments", "-l",
                                              "app.kubernetes.io/component=shadow"};
  ASSERT_THAT(names(of_shadow), SizeIs(4));
  const std::string document = ReadFile(GW_SOURCE_DIR "/docs/planning.md");
  const std::size_t begin = document.find("kubectl delete -k");
  ASSERT_NE(begin, std::string::npos);
  rehearsal.Shell(GW_SOURCE_DIR, document.substr(begin, document.find('\n', begin) - begin));
  EXPECT_THAT(names(of_shadow), IsEmpty());
  EXPECT_THAT(names({"deployments"}),
              ElementsAre("deployment.apps/gangway-controller", "deployment.apps/gangway-scheduler"));
}

constexpr char kCronTabs[] = R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crontabs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: crontabs, singular: crontab, kind: CronTab, shortNames: [ct]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    additionalPrinterColumns: [{name: Wanted, type: integer, jsonPath: .spec.replicas}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              cron: {type: string, description: when it runs}
              replicas: {type: integer, minimum: 0, default: 1}
          status: {type: object, properties: {replicas: {type: integer}}}
---
apiVersion: example.com/v1
kind: CronTab
metadata: {name: a}
spec: {cron: "* * * * *"}
)";

// A kind that only its definition brings, from a file with both.
TEST_F(RehearsalTest, DeclaredKindsAreServed) {
  const TemporaryFolder folder("gangway-crontabs");
  const std::string file = folder.path() + "/crontabs.yaml";
  WriteFile(file, kCronTabs);
  SandboxProcess sandbox({"--apply", file});
  const auto kubectl = [&](std::vector<std::string> args) {
    const Outcome outcome = sandbox.Kubectl(args);
    EXPECT_EQ(outcome.exit_code, 0) << absl::StrJoin(args, " ") << "\n" << outcome.err;
    return outcome.out;
  };
  kubectl({"wait", "--for=create", "ct/a", "--timeout=120s"});
  EXPECT_THAT(kubectl({"get", "ct"}), ContainsRegex("NAME +WANTED\na +1"));
  EXPECT_THAT(kubectl({"explain", "crontab.spec.cron"}), HasSubstr("when it runs"));
  EXPECT_THAT(kubectl({"scale", "crontab", "a", "--replicas=3"}), HasSubstr("scaled"));
  EXPECT_EQ(kubectl({"get", "crontab", "a", "-o", "jsonpath={.spec.replicas}"}), "3");
  EXPECT_THAT(kubectl({"apply", "-f", file}), HasSubstr("crontab.example.com/a"));
  EXPECT_THAT(kubectl({"apply", "-f", file}), HasSubstr("crontab.example.com/a unchanged"));
  EXPECT_THAT(sandbox.Kubectl({"patch", "ct", "a", "--type=merge", "-p", R"({"spec":{"replicas":-1}})"}).err,
              HasSubstr("spec.replicas in body should be greater than or equal to 0"));
  kubectl({"delete", "crd", "crontabs.example.com"});
  EXPECT_NE(sandbox.Kubectl({"get", "crontabs"}).exit_code, 0);
}

TEST_F(RehearsalTest, DefinitionsAreEstablishedAndTakeTheirObjectsAlong) {
  Rehearsal rehearsal;
  for (const std::string folder : {"crds", "crds-paddle"}) {
    rehearsal.Kubectl({"apply", "-k", kDeploy + folder, "--server-side"});
    EXPECT_THAT(rehearsal.Kubectl({"diff", "-k", kDeploy + folder, "--server-side"}), IsEmpty());
  }
  EXPECT_THAT(rehearsal.Lines({"wait", "--for=condition=Established", "crd", "--all", "--timeout=120s"}),
              AllOf(SizeIs(9), Each(EndsWith(" condition met"))));
  EXPECT_THAT(rehearsal.Kubectl({"get", "crd", "jobs.batch.volcano.sh"}), HasSubstr("CREATED AT"));
  rehearsal.Kubectl({"apply", "-f", GW_SOURCE_DIR "/examples/too-large.yaml"});
  rehearsal.Kubectl({"delete", "-k", kDeploy + "crds", "--timeout=120s"});
  EXPECT_EQ(rehearsal.ExitCode({"get", "vcjob", "too-large"}), 1);
}

TEST_F(RehearsalTest, WhatOneMayDo) {
  Rehearsal rehearsal;
  EXPECT_EQ(rehearsal.Kubectl({"auth", "can-i", "create", "pods"}), "yes\n");
  EXPECT_EQ(rehearsal.Kubectl({"auth", "can-i", "delete", "vcjob", "-n", "kube-system"}), "yes\n");
  EXPECT_THAT(rehearsal.Kubectl({"auth", "can-i", "--list"}), HasSubstr("*.*"));
  EXPECT_THAT(rehearsal.Kubectl({"auth", "whoami"}), HasSubstr("system:masters"));
}

TEST_F(RehearsalTest, KubectlRun) {
  Rehearsal rehearsal;
  EXPECT_EQ(rehearsal.Kubectl({"run", "a", "--image=busybox", "--restart=Never",
                               "--overrides={\"spec\":{\"schedulerName\":\"volcano\"}}",
                               "--annotations=sandbox.gangway.io/finish=100ms", "--", "true"}),
            "pod/a created\n");
  rehearsal.Kubectl({"wait", "pod/a", "--for=jsonpath={.status.phase}=Succeeded", "--timeout=120s"});
  EXPECT_EQ(rehearsal.Kubectl({"run", "b", "--image=busybox"}), "pod/b created\n");
  const auto description = [&] { return rehearsal.Kubectl({"describe", "pod", "b"}); };
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(description(), "say schedulerName: volcano"); }))
      << description();
}

TEST_F(RehearsalTest, WhatKubectlMakesItself) {
  Rehearsal rehearsal;
  EXPECT_THAT(rehearsal.Kubectl({"create", "role", "r", "--verb=get,list", "--resource=pods"}), EndsWith(" created\n"));
  EXPECT_THAT(rehearsal.Kubectl({"create", "rolebinding", "rb", "--role=r", "--serviceaccount=default:default"}),
              EndsWith(" created\n"));
  EXPECT_THAT(rehearsal.Kubectl({"create", "clusterrole", "cr", "--verb=get", "--resource=nodes"}),
              EndsWith(" created\n"));
  EXPECT_THAT(rehearsal.Kubectl({"create", "clusterrolebinding", "crb", "--clusterrole=cr", "--user=u"}),
              EndsWith(" created\n"));
  EXPECT_THAT(rehearsal.Kubectl({"create", "deployment", "d", "--image=i"}), EndsWith(" created\n"));
  EXPECT_THAT(rehearsal.Kubectl({"create", "job", "j", "--image=i"}), EndsWith(" created\n"));
  EXPECT_THAT(rehearsal.Kubectl({"create", "cronjob", "cj", "--image=i", "--schedule=@daily"}), EndsWith(" created\n"));
  EXPECT_THAT(rehearsal.Kubectl({"create", "ingress", "in", "--rule=x.example.com/=s:80"}), EndsWith(" created\n"));
  EXPECT_THAT(rehearsal.Kubectl({"create", "serviceaccount", "sa"}), EndsWith(" created\n"));
  EXPECT_THAT(rehearsal.Kubectl({"get", "role,rolebinding,clusterrole,clusterrolebinding,job,cronjob,ingress,sc"}),
              AllOf(HasSubstr("role.rbac.authorization.k8s.io/r"), HasSubstr("job.batch/j"),
                    HasSubstr("cronjob.batch/cj"), HasSubstr("standard (default)")));
  for (const char* const what : {"role/r", "rolebinding/rb", "clusterrole/cr", "clusterrolebinding/crb", "job/j",
                                 "cronjob/cj", "ingress/in", "sc/standard"}) {
    EXPECT_THAT(rehearsal.Kubectl({"describe", what}), StartsWith("Name:")) << what;
  }
}

}  // namespace
}  // namespace gangway::testutil
