// The real kubectl against `gangway sandbox`, its validation on. Skipped, and counted as skipped, where there is no
// kubectl.
//
// GW_UPDATE_GOLDEN=1 writes the golden texts in tests/golden/kubectl anew, and the tests that did so fail; their
// difference is read in review.
#include <fstream>
#include <iterator>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kubectl/sandbox_process.h"
#include "tests/process/process.h"
#include "tests/testing/golden.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kExamples = std::string(GW_SOURCE_DIR) + "/examples/";

class KubectlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasKubectl()) GTEST_SKIP() << "there is no kubectl on this machine";
  }

  void Start(std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {"--start-delay", "10ms", "--stop-delay", "10ms"});
    sandbox_ = std::make_unique<SandboxProcess>(flags);
  }
  // Standard output of a command that must succeed.
  std::string Kubectl(std::vector<std::string> args, const std::string& input = {}) {
    const Outcome outcome = sandbox_->Kubectl(args, input);
    EXPECT_EQ(outcome.exit_code, 0) << Line(args) << "\n" << outcome.err;
    return outcome.out;
  }
  // Standard error of a command that must fail.
  std::string Refused(std::vector<std::string> args, const std::string& input = {}) {
    const Outcome outcome = sandbox_->Kubectl(args, input);
    EXPECT_NE(outcome.exit_code, 0) << Line(args) << "\n" << outcome.out;
    return outcome.err;
  }
  void WaitForJob(const std::string& name, const std::string& phase) {
    Kubectl({"wait", "vcjob/" + name, "--for=jsonpath={.status.state.phase}=" + phase, "--timeout=120s"});
  }
  // kubectl wait does not wait for what is not there yet.
  bool AreThere(const std::string& what) {
    return Eventually([&] {
      const Outcome outcome = sandbox_->Kubectl({"get", what, "-o", "name"});
      return outcome.exit_code == 0 && !outcome.out.empty();
    });
  }
  static std::string Line(const std::vector<std::string>& args) {
    std::string line = "kubectl";
    for (const std::string& arg : args) line += " " + arg;
    return line;
  }

  std::unique_ptr<SandboxProcess> sandbox_;
};

void ExpectGoldenText(const std::string& name, const std::string& text) {
  ExpectGolden(std::string(GW_SOURCE_DIR) + "/tests/golden/kubectl/" + name + ".txt", Normalize(text));
}

TEST_F(KubectlTest, TheSeedJobFromApplyToCompleted) {
  Start();
  EXPECT_EQ(Kubectl({"apply", "-f", kExamples + "ctr-volcano.yaml"}), "job.batch.volcano.sh/ctr-volcano created\n");
  WaitForJob("ctr-volcano", "Running");
  Kubectl({"wait", "podgroup", "--all", "--for=jsonpath={.status.running}=4", "--timeout=120s"});
  ExpectGoldenText("get-vcjob-running", Kubectl({"get", "vcjob"}));
  ExpectGoldenText("get-vcjob-wide-running", Kubectl({"get", "vcjob", "-o", "wide"}));
  ExpectGoldenText("get-podgroup-running", Kubectl({"get", "podgroup"}));
  ExpectGoldenText("get-podgroup-wide-running", Kubectl({"get", "podgroup", "-o", "wide"}));
  ExpectGoldenText("describe-podgroup-running", Kubectl({"describe", "podgroup", "ctr-volcano"}));
  ExpectGoldenText("get-pods-running", Kubectl({"get", "pods"}));
  EXPECT_EQ(Kubectl({"get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}"}),
            "node-000 node-000 node-000 node-000");
  Kubectl({"annotate", "pods", "-l", "volcano.sh/task-spec=trainer", "sandbox.gangway.io/finish=0s"});
  WaitForJob("ctr-volcano", "Completed");
  ExpectGoldenText("get-vcjob-completed", Kubectl({"get", "vcjob"}));
  EXPECT_EQ(Kubectl({"get", "vcjob", "ctr-volcano", "-o", "jsonpath={.status.succeeded}"}), "2");
  Kubectl({"wait", "pods", "-l", "volcano.sh/task-spec=pserver", "--for=delete", "--timeout=120s"});
  ExpectGoldenText("get-pods-completed", Kubectl({"get", "pods"}));
  EXPECT_THAT(Kubectl({"get", "podgroup"}), IsEmpty());
  const std::string described = Kubectl({"describe", "vcjob", "ctr-volcano"});
  EXPECT_THAT(described, AllOf(HasSubstr("Succeeded:"), HasSubstr("Completing"), HasSubstr("ExecuteAction")));
}

TEST_F(KubectlTest, AJobThatCannotFitSaysWhyInNumbers) {
  Start();
  Kubectl({"apply", "-f", kExamples + "too-large.yaml"});
  ASSERT_TRUE(AreThere("podgroup"));
  Kubectl({"wait", "podgroup", "--all", "--for=jsonpath={.status.conditions[0].type}=Unschedulable", "--timeout=120s"});
  EXPECT_EQ(Kubectl({"get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}"}), "");
  ExpectGoldenText("describe-podgroup-too-large", Kubectl({"describe", "podgroup", "too-large"}));
  const std::string message = Kubectl({"get", "podgroup", "-o", "jsonpath={.items[0].status.conditions[0].message}"});
  EXPECT_THAT(message, StartsWith("waits for "));
  EXPECT_THAT(Kubectl({"get", "events"}), HasSubstr(message));
}

TEST_F(KubectlTest, GetInEveryFormat) {
  Start({"--apply", kExamples + "ctr-volcano.yaml"});
  WaitForJob("ctr-volcano", "Running");
  EXPECT_THAT(Kubectl({"get", "vcjob", "ctr-volcano", "-o", "yaml"}),
              AllOf(HasSubstr("kind: Job"), HasSubstr("minAvailable: 4")));
  EXPECT_THAT(Kubectl({"get", "vj", "-o", "json"}), HasSubstr("\"kind\": \"List\""));
  EXPECT_EQ(Kubectl({"get", "vcjob", "-o", "name"}), "job.batch.volcano.sh/ctr-volcano\n");
  EXPECT_EQ(Kubectl({"get", "pods", "-l", "volcano.sh/task-spec=trainer", "-o", "jsonpath={.items[*].metadata.name}"}),
            "ctr-volcano-trainer-0 ctr-volcano-trainer-1");
  EXPECT_EQ(Kubectl({"get", "pods", "--field-selector", "metadata.name=ctr-volcano-pserver-1", "-o", "name"}),
            "pod/ctr-volcano-pserver-1\n");
  EXPECT_THAT(Kubectl({"get", "pods", "--field-selector", "spec.nodeName=node-005"}), IsEmpty());
  EXPECT_THAT(Kubectl({"get", "pods", "-A"}), HasSubstr("default     ctr-volcano-trainer-0"));
  EXPECT_THAT(Kubectl({"get", "nodes"}), HasSubstr("node-005   Ready"));
  EXPECT_THAT(Kubectl({"get", "queue"}), AllOf(HasSubstr("default"), HasSubstr("root")));
  EXPECT_THAT(Kubectl({"get", "all"}), HasSubstr("pod/ctr-volcano-trainer-0"));
  EXPECT_THAT(Refused({"get", "pods", "nope"}), HasSubstr("pods \"nope\" not found"));
}

TEST_F(KubectlTest, WatchPrintsChangesAsTheyHappen) {
  Start({"--apply", kExamples + "ctr-volcano.yaml"});
  WaitForJob("ctr-volcano", "Running");
  const std::string output = sandbox_->folder() + "/watched";
  const ChildProcess watch(
      {"kubectl", "get", "vcjob", "ctr-volcano", "-w"}, output,
      {"KUBECONFIG=" + sandbox_->kubeconfig(), "HOME=" + sandbox_->folder(), "KUBECTL_KUBERC=false"});
  const auto printed = [&](const std::string& text) {
    return Eventually([&] { return absl::StrContains(ReadFile(output), text); });
  };
  EXPECT_TRUE(printed("NAME") && printed("Running")) << ReadFile(output);
  EXPECT_THAT(ReadFile(output), Not(HasSubstr("Completed")));
  Kubectl({"annotate", "pods", "-l", "volcano.sh/task-spec=trainer", "sandbox.gangway.io/finish=0s"});
  EXPECT_TRUE(printed("Completed")) << ReadFile(output);
}

TEST_F(KubectlTest, LogsOfASimulatedContainer) {
  Start({"--finish", "trainer=100ms", "--apply", kExamples + "ctr-volcano.yaml"});
  WaitForJob("ctr-volcano", "Completed");
  EXPECT_THAT(Kubectl({"logs", "ctr-volcano-trainer-0"}),
              AllOf(HasSubstr("simulated container started on node-000"), HasSubstr("exit code 0")));
  EXPECT_THAT(Kubectl({"logs", "ctr-volcano-trainer-0", "--tail=1", "--timestamps"}),
              MatchesRegex("[0-9T:.Z-]+ [^\n]*exit code 0\n"));
  EXPECT_THAT(Refused({"logs", "ctr-volcano-trainer-0", "-c", "nope"}), HasSubstr("nope"));
  EXPECT_THAT(Refused({"logs", "ctr-volcano-trainer-0", "--previous"}), HasSubstr("previous terminated container"));
}

TEST_F(KubectlTest, LogsAreFollowedToTheContainersEnd) {
  Start({"--finish", "trainer=2s", "--log", "trainer=300ms:loss", "--apply", kExamples + "ctr-volcano.yaml"});
  ASSERT_TRUE(AreThere("pod/ctr-volcano-trainer-0"));
  Kubectl({"wait", "pod/ctr-volcano-trainer-0", "--for=jsonpath={.status.podIP}",
           "--timeout=120s"});  // it runs, or has run
  EXPECT_THAT(
      Kubectl({"logs", "-f", "ctr-volcano-trainer-0"}),
      AllOf(HasSubstr("started on node-000"), HasSubstr("loss 1\n"), HasSubstr("loss 6\n"), HasSubstr("exit code 0")));
}

TEST_F(KubectlTest, DeleteInEveryPropagation) {
  Start({"--apply", kExamples + "ctr-volcano.yaml"});
  WaitForJob("ctr-volcano", "Running");
  EXPECT_THAT(Kubectl({"delete", "vcjob", "ctr-volcano"}), HasSubstr("deleted"));
  Kubectl({"wait", "pods", "--all", "--for=delete", "--timeout=120s"});
  EXPECT_THAT(Kubectl({"get", "podgroup"}), IsEmpty());

  Kubectl({"create", "-f", kExamples + "ctr-volcano.yaml"});
  WaitForJob("ctr-volcano", "Running");
  Kubectl({"delete", "vcjob", "ctr-volcano", "--cascade=foreground"});
  EXPECT_THAT(Kubectl({"get", "pods"}), IsEmpty()) << "foreground: the job goes last";

  Kubectl({"create", "-f", kExamples + "ctr-volcano.yaml"});
  WaitForJob("ctr-volcano", "Running");
  Kubectl({"delete", "vcjob", "ctr-volcano", "--cascade=orphan"});
  EXPECT_THAT(Kubectl({"get", "pods", "-o", "name"}), HasSubstr("pod/ctr-volcano-trainer-0"));
  EXPECT_EQ(Kubectl({"get", "pod", "ctr-volcano-trainer-0", "-o", "jsonpath={.metadata.ownerReferences}"}), "");
}

TEST_F(KubectlTest, PatchLabelAnnotateAndApplyAgain) {
  Start({"--apply", kExamples + "ctr-volcano.yaml"});
  WaitForJob("ctr-volcano", "Running");
  EXPECT_THAT(
      Kubectl({"patch", "node", "node-001", "-p", R"({"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}})"}),
      HasSubstr("patched"));
  EXPECT_EQ(Kubectl({"get", "node", "node-001", "-o", "jsonpath={.spec.taints[0].key}"}), "a");
  Kubectl({"patch", "vcjob", "ctr-volcano", "--type=merge", "-p", R"({"metadata":{"labels":{"team":"ads"}}})"});
  EXPECT_EQ(Kubectl({"get", "vcjob", "-l", "team=ads", "-o", "name"}), "job.batch.volcano.sh/ctr-volcano\n");
  Kubectl({"patch", "vcjob", "ctr-volcano", "--type=json", "-p",
           R"([{"op":"replace","path":"/metadata/labels/team","value":"rec"}])"});
  EXPECT_EQ(Kubectl({"get", "vcjob", "ctr-volcano", "-o", "jsonpath={.metadata.labels.team}"}), "rec");
  EXPECT_THAT(Refused({"patch", "vcjob", "ctr-volcano", "--type=strategic", "-p", "{}"}),
              HasSubstr("application/strategic-merge-patch+json is not supported"));
  Kubectl({"label", "node", "node-002", "zone=a"});
  Kubectl({"annotate", "node", "node-002", "note=hello"});
  EXPECT_EQ(Kubectl({"get", "node", "node-002", "-o", "jsonpath={.metadata.labels.zone}{.metadata.annotations.note}"}),
            "ahello");
  Kubectl({"label", "node", "node-002", "zone-"});
  EXPECT_EQ(Kubectl({"get", "nodes", "-l", "zone", "-o", "name"}), "");
  Kubectl({"create", "configmap", "settings", "--from-literal=a=1"});
  Kubectl({"apply", "-f", "-"}, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\ndata: {a: '1', b: '2'}\n");
  Kubectl({"apply", "-f", "-"}, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\ndata: {a: '3'}\n");
  EXPECT_EQ(Kubectl({"get", "configmap", "other", "-o", "jsonpath={.data}"}), R"({"a":"3"})");
}

TEST_F(KubectlTest, AFileIsAppliedAgainAndAListIsAFile) {
  Start();
  Kubectl({"apply", "-f", kExamples + "ctr-volcano.yaml"});
  Kubectl({"apply", "-f", kExamples + "ctr-volcano.yaml"});
  Outcome replaced;
  EXPECT_TRUE(Eventually([&] {  // a status that is written while it is replaced is a conflict
    replaced = sandbox_->Kubectl({"replace", "-f", kExamples + "ctr-volcano.yaml"});
    return replaced.exit_code == 0;
  })) << replaced.err;
  EXPECT_EQ(Kubectl({"get", "vcjob", "ctr-volcano", "-o", "jsonpath={.metadata.generation}"}), "1")
      << "the spec did not change";
  const std::string list =
      "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n";
  EXPECT_EQ(Kubectl({"apply", "-f", "-"}, list), "configmap/a created\n");
}

TEST_F(KubectlTest, ACordonedNodeTakesNoPods) {
  Start({"--nodes", "2"});
  EXPECT_EQ(Kubectl({"cordon", "node-000"}), "node/node-000 cordoned\n");
  EXPECT_THAT(Kubectl({"get", "nodes"}), HasSubstr("SchedulingDisabled"));
  Kubectl({"apply", "-f", kExamples + "ctr-volcano.yaml"});
  WaitForJob("ctr-volcano", "Running");
  EXPECT_EQ(Kubectl({"get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}"}),
            "node-001 node-001 node-001 node-001");
  EXPECT_EQ(Kubectl({"uncordon", "node-000"}), "node/node-000 uncordoned\n");
}

// What kubectl sends as protobuf: its own typed objects.
TEST_F(KubectlTest, TypedCommands) {
  Start();
  EXPECT_EQ(Kubectl({"create", "namespace", "ads"}), "namespace/ads created\n");
  EXPECT_EQ(Kubectl({"create", "configmap", "settings", "-n", "ads", "--from-literal=a=1"}),
            "configmap/settings created\n");
  EXPECT_EQ(Kubectl({"get", "configmap", "settings", "-n", "ads", "-o", "jsonpath={.data}"}), R"({"a":"1"})");
  EXPECT_EQ(Kubectl({"create", "secret", "generic", "login", "--from-literal=password=pw"}), "secret/login created\n");
  EXPECT_EQ(Kubectl({"get", "secret", "login", "-o", "jsonpath={.type} {.data.password}"}), "Opaque cHc=");
  EXPECT_EQ(Kubectl({"create", "serviceaccount", "trainer"}), "serviceaccount/trainer created\n");
  EXPECT_EQ(Kubectl({"create", "priorityclass", "low", "--value=0"}), "priorityclass.scheduling.k8s.io/low created\n");
  EXPECT_EQ(Kubectl({"get", "priorityclass", "low", "-o", "jsonpath={.value}"}), "0");
  EXPECT_EQ(Kubectl({"create", "quota", "room", "--hard=pods=10,requests.cpu=1500m"}), "resourcequota/room created\n");
  EXPECT_EQ(Kubectl({"get", "quota", "room", "-o", R"(jsonpath={.spec.hard.pods} {.spec.hard.requests\.cpu})"}),
            "10 1500m");
  EXPECT_EQ(Kubectl({"create", "pdb", "half", "--selector=app=ps", "--min-available=50%"}),
            "poddisruptionbudget.policy/half created\n");
  EXPECT_EQ(Kubectl({"get", "pdb", "half", "-o", "jsonpath={.spec.minAvailable} {.spec.selector.matchLabels.app}"}),
            "50% ps");
  EXPECT_EQ(Kubectl({"create", "service", "clusterip", "front", "--tcp=80:8080"}), "service/front created\n");
  EXPECT_EQ(Kubectl({"get", "service", "front", "-o", "jsonpath={.spec.ports[0].port} {.spec.ports[0].targetPort}"}),
            "80 8080");
  EXPECT_EQ(Kubectl({"create", "deployment", "web", "--image=nginx", "--replicas=0"}), "deployment.apps/web created\n");
  EXPECT_EQ(Kubectl({"get", "deployment", "web", "-o",
                     "jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image}"}),
            "0 nginx");
  EXPECT_THAT(Refused({"create", "configmap", "settings", "-n", "ads"}),
              HasSubstr("configmaps \"settings\" already exists"));
  EXPECT_THAT(Refused({"create", "configmap", "settings", "-n", "nope"}), HasSubstr("namespaces \"nope\" not found"));
}

// Evictions are protobuf too; the seed job's policy for an evicted pod restarts the job, on another node.
TEST_F(KubectlTest, ADrainedNodeRestartsTheJobElsewhere) {
  Start();
  Kubectl({"apply", "-f", kExamples + "ctr-volcano.yaml"});
  WaitForJob("ctr-volcano", "Running");
  Kubectl({"wait", "podgroup", "--all", "--for=jsonpath={.status.phase}=Running", "--timeout=120s"});
  const std::string node = Kubectl({"get", "pod", "ctr-volcano-trainer-0", "-o", "jsonpath={.spec.nodeName}"});
  EXPECT_THAT(Kubectl({"drain", node, "--ignore-daemonsets", "--force", "--delete-emptydir-data", "--timeout=120s"}),
              AllOf(HasSubstr("pod/ctr-volcano-trainer-0 evicted"), HasSubstr("node/" + node + " drained")));
  Kubectl({"wait", "vcjob/ctr-volcano", "--for=jsonpath={.status.retryCount}=1", "--timeout=120s"});
  WaitForJob("ctr-volcano", "Running");
  EXPECT_THAT(Kubectl({"get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}"}),
              AllOf(Not(HasSubstr(node)), HasSubstr("node-")));
  // Without evictions, drain deletes, with typed options.
  const std::string other = Kubectl({"get", "pod", "ctr-volcano-trainer-0", "-o", "jsonpath={.spec.nodeName}"});
  EXPECT_THAT(Kubectl({"drain", other, "--disable-eviction", "--force", "--timeout=120s"}),
              HasSubstr("node/" + other + " drained"));
}

TEST_F(KubectlTest, ATypoIsRefusedWithItsPath) {
  Start();
  std::ifstream file(kExamples + "ctr-volcano.yaml");
  std::string job{std::istreambuf_iterator<char>(file), {}};
  job.replace(job.find("minAvailable:"), 13, "minAvailabel:");
  EXPECT_THAT(Refused({"apply", "-f", "-"}, job), HasSubstr("unknown field \"spec.minAvailabel\""));
  EXPECT_THAT(Refused({"create", "-f", "-"}, job), HasSubstr("unknown field \"spec.minAvailabel\""));
  EXPECT_THAT(Kubectl({"get", "vcjob"}), IsEmpty());
  const Outcome warned = sandbox_->Kubectl({"create", "--validate=warn", "-f", "-"}, job);
  EXPECT_EQ(warned.exit_code, 0) << warned.err;
  EXPECT_THAT(warned.err, HasSubstr("unknown field \"spec.minAvailabel\""));
  Kubectl({"delete", "vcjob", "ctr-volcano"});
  const Outcome ignored = sandbox_->Kubectl({"create", "--validate=ignore", "-f", "-"}, job);
  EXPECT_EQ(ignored.exit_code, 0) << ignored.err;
  EXPECT_THAT(ignored.err, Not(HasSubstr("unknown field")));
}

TEST_F(KubectlTest, AdmissionRefusesWhatVolcanoRefuses) {
  Start();
  std::ifstream file(kExamples + "ctr-volcano.yaml");
  std::string job{std::istreambuf_iterator<char>(file), {}};
  job.replace(job.find("minAvailable: 4"), 15, "minAvailable: 5");
  EXPECT_THAT(Refused({"apply", "-f", "-"}, job), AllOf(HasSubstr("minAvailable"), HasSubstr("5"), HasSubstr("4")));
}

TEST_F(KubectlTest, DryRunChangesNothing) {
  Start();
  EXPECT_THAT(Kubectl({"apply", "--dry-run=server", "-f", kExamples + "ctr-volcano.yaml"}),
              HasSubstr("created (server dry run)"));
  EXPECT_THAT(Kubectl({"get", "vcjob"}), IsEmpty());
  EXPECT_THAT(Kubectl({"create", "--dry-run=server", "-o", "yaml", "-f", kExamples + "ctr-volcano.yaml"}),
              HasSubstr("queue: default"));
}

TEST_F(KubectlTest, DiscoveryVersionAndExplain) {
  Start();
  EXPECT_THAT(Kubectl({"api-resources"}), AllOf(HasSubstr("vcjob,vj"), HasSubstr("podgroups"), HasSubstr("pods")));
  EXPECT_THAT(Kubectl({"api-resources", "--api-group=batch.volcano.sh", "-o", "name"}),
              HasSubstr("jobs.batch.volcano.sh"));
  EXPECT_THAT(Kubectl({"version"}), HasSubstr("Server Version: v1.36"));
  EXPECT_THAT(Kubectl({"explain", "vcjob.spec.minAvailable"}), HasSubstr("members of the gang"));
}

TEST_F(KubectlTest, ACronJobStartsWhatItMissed) {
  Start();
  EXPECT_EQ(Kubectl({"apply", "-f", kExamples + "cron-volcano.yaml"}), "cronjob.batch.volcano.sh/nightly created\n");
  EXPECT_THAT(Kubectl({"get", "cronvcjob"}),
              AllOf(HasSubstr("SCHEDULE     TIMEZONE        SUSPEND   LAST SCHEDULE   AGE"),
                    HasSubstr("30 2 * * *   Asia/Shanghai   false")));
  // As if it had been made and suspended long ago; now it is to start whatever it missed.
  Kubectl({"patch", "cronvj", "nightly", "--subresource=status", "--type=merge", "-p",
           R"({"status":{"lastScheduleTime":"2026-01-01T00:00:00Z"}})"});
  Kubectl({"patch", "cronvj", "nightly", "--type=merge", "-p", R"({"spec":{"startingDeadlineSeconds":null}})"});
  Kubectl({"wait", "cronvj/nightly", "--for=jsonpath={.status.active[0].uid}", "--timeout=120s"});
  const std::string job = Kubectl({"get", "cronvj", "nightly", "-o", "jsonpath={.status.active[0].name}"});
  EXPECT_THAT(job, StartsWith("nightly-2"));
  WaitForJob(job, "Running");
  Kubectl({"delete", "cronvj", "nightly"});
  Kubectl({"wait", "vcjob/" + job, "--for=delete", "--timeout=120s"});
}

TEST_F(KubectlTest, ServerSideApply) {
  Start();
  const auto config = [](const std::string& value) {
    return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: \"" + value + "\"}\n";
  };
  Kubectl({"apply", "-f", "-"}, config("1"));
  EXPECT_THAT(Kubectl({"apply", "--server-side", "-f", "-"}, config("2")), HasSubstr("configmap/a serverside-applied"));
  EXPECT_THAT(Refused({"apply", "--server-side", "--field-manager=other", "-f", "-"}, config("3")),
              HasSubstr("Apply failed with 1 conflict: conflict with \"kubectl\": .data.k"));
  Kubectl({"apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f", "-"}, config("3"));
  EXPECT_EQ(Kubectl({"get", "configmap", "a", "-o", "jsonpath={.data.k}"}), "3");
  EXPECT_THAT(Kubectl({"get", "configmap", "a", "-o", "yaml", "--show-managed-fields"}), HasSubstr("manager: other"));
  EXPECT_THAT(Kubectl({"apply", "--server-side", "-f", kExamples + "ctr-volcano.yaml"}),
              HasSubstr("serverside-applied"));
  WaitForJob("ctr-volcano", "Running");
  EXPECT_THAT(Kubectl({"apply", "--server-side", "-f", kExamples + "ctr-volcano.yaml"}),
              HasSubstr("serverside-applied"));
}

TEST_F(KubectlTest, WhatIsNotThereAnswersClearly) {
  Start({"--apply", kExamples + "ctr-volcano.yaml"});
  WaitForJob("ctr-volcano", "Running");
  EXPECT_THAT(Refused({"exec", "ctr-volcano-trainer-0", "--", "ls"}),
              HasSubstr("the containers of pod ctr-volcano-trainer-0 are simulated: nothing runs in them"));
  EXPECT_THAT(Refused({"get", "flowschemas"}), HasSubstr("the server doesn't have a resource type \"flowschemas\""));
  EXPECT_THAT(Refused({"get", "--raw", "/apis/nope/v1/things"}), HasSubstr("NotFound"));
}

TEST_F(KubectlTest, EventsTellTheStory) {
  Start({"--finish", "trainer=100ms", "--apply", kExamples + "ctr-volcano.yaml"});
  WaitForJob("ctr-volcano", "Completed");
  const std::string events = Kubectl({"get", "events"});
  EXPECT_THAT(events, AllOf(HasSubstr("Scheduled"), HasSubstr("Started"), HasSubstr("ExecuteAction"),
                            HasSubstr("CompleteJob")));
  EXPECT_THAT(events, Not(HasSubstr("Unschedulable"))) << "a gang that is being placed is no reason for a warning";
  EXPECT_THAT(Kubectl({"events", "--for", "vcjob/ctr-volcano"}), HasSubstr("CompleteJob"));
}

}  // namespace
}  // namespace gangway::testutil
