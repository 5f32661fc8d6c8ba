// PaddleJobs on a real API server, handled with kubectl as the guides say, by the real program with the roles and the
// webhook it ships with.
#include <algorithm>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/audit_journal.h"
#include "tests/e2e/audit_rules.h"
#include "tests/e2e/installed_gangway.h"
#include "tests/simulation/checkers.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kGuide = GW_SOURCE_DIR "/tests/golden/paddle/guide/";
const std::string kExamples = GW_SOURCE_DIR "/examples/paddle/";

std::vector<std::string> YamlFiles(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class PaddleTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!ControlPlane::ToolsPresent() || !HasKubectl()) return;
    auto gangway = InstalledGangway::Start({.nodes = 6, .webhook = true});
    ASSERT_TRUE(gangway.ok()) << gangway.status();
    gangway_ = gangway->release();
    for (const char* ns : {"paddle-system", "kubeflow"}) {
      ASSERT_EQ(gangway_->plane()
                    .Call("POST", "/api/v1/namespaces", absl::StrCat(R"({"metadata":{"name":")", ns, R"("}})"))
                    .code,
                201);
    }
  }
  static void TearDownTestSuite() {
    delete gangway_;
    gangway_ = nullptr;
  }
  void SetUp() override {
    if (!ControlPlane::ToolsPresent() || !HasKubectl()) GTEST_SKIP() << "there is no control plane on this machine";
    ASSERT_NE(gangway_, nullptr);
    ns_ = absl::AsciiStrToLower(absl::StrCat("p-", ::testing::UnitTest::GetInstance()->current_test_info()->name()))
              .substr(0, 60);
    ASSERT_EQ(plane().Call("POST", "/api/v1/namespaces", absl::StrCat(R"({"metadata":{"name":")", ns_, R"("}})")).code,
              201);
  }
  static ControlPlane& plane() { return gangway_->plane(); }
  // Standard output of a command that must succeed.
  std::string Kubectl(std::vector<std::string> args, const std::string& input = {}) {
    args.insert(args.begin(), {"-n", ns_});
    const Outcome outcome = plane().Kubectl(args, input);
    EXPECT_EQ(outcome.exit_code, 0) << args[2] << " " << args[3] << "\n" << outcome.err << gangway_->Logs();
    return outcome.out;
  }
  void WaitFor(const std::string& what, const std::string& path, const std::string& value) {
    Kubectl({"wait", what, absl::StrCat("--for=jsonpath={", path, "}=", value), "--timeout=120s"});
  }

  static InstalledGangway* gangway_;
  std::string ns_;
};
InstalledGangway* PaddleTest::gangway_ = nullptr;

TEST_F(PaddleTest, TheGuidesJobFromApplyToCompletedToGone) {
  EXPECT_THAT(Kubectl({"apply", "--validate=strict", "-f", kGuide + "wide-and-deep.yaml"}),
              HasSubstr("paddlejob.batch.paddlepaddle.org/wide-ande-deep created"));
  const std::string job = "pdj/wide-ande-deep";
  WaitFor(job, ".status.phase", "Running");
  EXPECT_THAT(Kubectl({"get", "pdj"}),
              ContainsRegex("NAME +STATUS +MODE +PS +WORKER +AGE\nwide-ande-deep +Running +PS +2/2 +2/2 +"));
  Kubectl({"annotate", "pods", "--all", "test.kwok/finish=succeed"});
  WaitFor(job, ".status.phase", "Completed");
  EXPECT_THAT(Kubectl({"describe", job}),
              AllOf(HasSubstr("JobCreated"), HasSubstr("made job.batch.volcano.sh wide-ande-deep"),
                    ContainsRegex("Phase: +Completed")));
  // Cleaned on completion.
  Kubectl({"wait", "pods", "--all", "--for=delete", "--timeout=120s"});
  Kubectl({"delete", job, "--cascade=foreground"});
  EXPECT_THAT(Kubectl({"get", "vcjob,services,configmaps,podgroups", "-o", "name", "--field-selector",
                       "metadata.name!=kube-root-ca.crt"}),
              IsEmpty());
}

// New endpoints for all: the Job is made again.
TEST_F(PaddleTest, AnEditMakesTheJobAnew) {
  Kubectl({"apply", "-f", kExamples + "ps.yaml"});
  WaitFor("pdj/wide-and-deep", ".status.phase", "Running");
  const std::string before = Kubectl({"get", "vcjob", "wide-and-deep", "-o", "jsonpath={.metadata.uid}"});
  Kubectl({"patch", "pdj", "wide-and-deep", "--type=merge", "-p", R"({"spec":{"worker":{"replicas":3}}})"});
  WaitFor("pdj/wide-and-deep", ".status.worker.ready", "3/3");
  WaitFor("pdj/wide-and-deep", ".status.phase", "Running");
  EXPECT_NE(Kubectl({"get", "vcjob", "wide-and-deep", "-o", "jsonpath={.metadata.uid}"}), before);
  Kubectl({"delete", "pdj", "wide-and-deep", "--cascade=foreground"});
}

// Kueue's part is played by hand: it suspends what comes for one of its queues, and lets it in with the nodes of the
// flavor that it chose.
TEST_F(PaddleTest, AJobThatKueueHoldsHasNoGangUntilItIsLetIn) {
  const std::string text = absl::StrReplaceAll(
      ReadFile(kExamples + "kubeflow.yaml"),
      {{"name: paddle-simple-cpu\n", "name: queued\n  labels: {kueue.x-k8s.io/queue-name: team-a}\n"},
       {"  runPolicy:\n", "  runPolicy:\n    suspend: true\n"}});
  Kubectl({"apply", "--validate=strict", "-f", "-"}, text);
  const std::string job = "paddlejobs.kubeflow.org/queued";
  WaitFor(job, ".status.conditions[-1:].type", "Suspended");
  EXPECT_THAT(Kubectl({"get", "vcjob,podgroups,pods", "-o", "name"}), IsEmpty());
  Kubectl({"patch", job, "--type=merge", "-p",
           R"({"spec":{"runPolicy":{"suspend":false},"paddleReplicaSpecs":{"Worker":{"template":{"spec":{
             "nodeSelector":{"kubernetes.io/hostname":"node-001"}}}}}}})"});
  WaitFor(job, ".status.replicaStatuses.Worker.active", "2");
  EXPECT_EQ(Kubectl({"get", "podgroups", "-o", "jsonpath={.items[*].spec.minMember}"}), "2");
  EXPECT_EQ(Kubectl({"get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}"}), "node-001 node-001");
  EXPECT_THAT(Kubectl({"get", "pods", "-l", "kueue.x-k8s.io/queue-name", "-o", "name"}), IsEmpty())
      << "Kueue would hold them once more";
  // And pushed aside for another of its jobs.
  Kubectl({"patch", job, "--type=merge", "-p", R"({"spec":{"runPolicy":{"suspend":true}}})"});
  WaitFor(job, ".status.conditions[-1:].type", "Suspended");
  Kubectl({"wait", "pods", "--all", "--for=delete", "--timeout=120s"});
  EXPECT_THAT(Kubectl({"get", "podgroups", "-o", "name"}), IsEmpty());
  Kubectl({"delete", job, "--cascade=foreground"});
}

// The guide's recipe: a PodGroup of the job's name in the same file, behind it. No pod runs before it is there.
TEST_F(PaddleTest, AJobWithTheGuidesPodGroupRuns) {
  Kubectl({"apply", "-f", "-"},
          "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: ads}\nspec: {weight: 1}\n");
  WaitFor("queue/ads", ".status.state", "Open");
  const std::string text =
      absl::StrReplaceAll(ReadFile(kGuide + "volcano-podgroup.yaml"), {{"nvidia.com/gpu: 1", "cpu: 1"},
                                                                       {"replicas: 2", "replicas: 4"},
                                                                       {"minMember: 2", "minMember: 3\n  queue: ads"}});
  Kubectl({"cordon", "-l", "kubernetes.io/hostname"});
  Kubectl({"apply", "--validate=strict", "-f", "-"}, text);
  WaitFor("pdj/resnet", ".status.queue", "ads");
  WaitFor("vcjob/resnet", ".spec.minAvailable", "3");
  Kubectl({"uncordon", "-l", "kubernetes.io/hostname"});
  WaitFor("pdj/resnet", ".status.phase", "Running");
  EXPECT_EQ(Kubectl({"get", "vcjob", "resnet", "-o", "jsonpath={.spec.queue}"}), "ads");
  EXPECT_THAT(
      Kubectl({"get", "pdj", "resnet", "-o", "jsonpath={.status.conditions[?(@.type==\"Translated\")].message}"}),
      HasSubstr("W-PG-DROPPED"));
  Kubectl({"delete", "-f", "-"}, text);
}

TEST_F(PaddleTest, KubeflowsJobIsScaledSuspendedAndTrains) {
  Kubectl({"apply", "--validate=strict", "-f", kExamples + "kubeflow.yaml"});
  const std::string job = "paddlejobs.kubeflow.org/paddle-simple-cpu";
  WaitFor(job, ".status.replicaStatuses.Worker.active", "2");
  EXPECT_THAT(Kubectl({"get", "paddlejobs.kubeflow.org"}),
              ContainsRegex("NAME +STATE +AGE\npaddle-simple-cpu +Running +"));
  Kubectl({"scale", job, "--replicas=3"});
  WaitFor(job, ".status.replicaStatuses.Worker.active", "3");
  Kubectl({"patch", job, "--type=merge", "-p", R"({"spec":{"runPolicy":{"suspend":true}}})"});
  WaitFor(job, ".status.conditions[-1:].type", "Suspended");
  Kubectl({"wait", "pods", "--all", "--for=delete", "--timeout=120s"});
  Kubectl({"patch", job, "--type=merge", "-p", R"({"spec":{"runPolicy":{"suspend":false}}})"});
  WaitFor(job, ".status.replicaStatuses.Worker.active", "3");
  Kubectl({"annotate", "pods", "--all", "test.kwok/finish=succeed"});
  WaitFor(job, ".status.conditions[-1:].type", "Succeeded");
}

TEST_F(PaddleTest, TheGuidesExamplesAreTakenAsTheyStand) {
  for (const std::string& file : YamlFiles(kGuide)) {
    const Outcome outcome = plane().Kubectl({"apply", "--dry-run=server", "--validate=strict", "-f", file});
    EXPECT_EQ(outcome.exit_code, 0) << file << "\n" << outcome.err;
  }
}

// Runs last: reads what all the others left in the log.
TEST_F(PaddleTest, ZzTheCheckersFindNothingInTheAuditLog) {
  const std::string log = plane().AuditLog();
  EXPECT_THAT(log, Not(HasSubstr(R"("authorization.k8s.io/decision":"forbid")"))) << "the shipped roles lack something";
  const auto records = ReadAuditLog(log);
  ASSERT_TRUE(records.ok()) << records.status();
  Checker checker(RulesOfAuditLog());
  for (const sandbox::JournalRecord& record : *records) checker.OnRecord(record);
  checker.AtEnd(records->back().time);
  EXPECT_THAT(checker.violations(), IsEmpty());
}

// A controller of PaddleJobs alone, with the arguments and exactly the roles of the overlay beside-volcano, under a
// name of its own. Those who stand in for Volcano are another process, with other roles.
class BesideVolcanoTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!ControlPlane::ToolsPresent() || !HasKubectl()) GTEST_SKIP() << "there is no control plane on this machine";
    auto gangway = InstalledGangway::Start({.nodes = 4, .start = false});
    ASSERT_TRUE(gangway.ok()) << gangway.status();
    gangway_ = *std::move(gangway);
    volcano_ = gangway_->StartProcess("controller", {"--only=job,podgroup,queue"});
    scheduler_ = gangway_->StartProcess("scheduler");
    const Outcome overlay =
        RunProgram({"kubectl", "kustomize", GW_SOURCE_DIR "/deploy/volcano/overlays/beside-volcano"});
    ASSERT_EQ(overlay.exit_code, 0) << overlay.err;
    const std::string text = absl::StrReplaceAll(
        overlay.out, {{"gangway-controller", "gangway-paddle"}, {"gangway-system", "gangway-beside"}});
    ASSERT_TRUE(plane().Create(text).ok());
    const absl::Status known = AwaitRights(plane(), text);
    ASSERT_TRUE(known.ok()) << known;
    const auto kubeconfig = plane().KubeconfigForServiceAccount("gangway-beside", "gangway-paddle");
    ASSERT_TRUE(kubeconfig.ok()) << kubeconfig.status();
    ASSERT_TRUE(absl::StrContains(text, "--only=paddlejob"));
    paddle_ = std::make_unique<GangwayProcess>(
        plane().folder(), "paddle", "controller", *kubeconfig,
        std::vector<std::string>{"--leader-elect", "--only=paddlejob", "--leader-elect-resource-name=gangway-paddle",
                                 "--leader-elect-resource-namespace=gangway-beside"});
    ASSERT_TRUE(volcano_->WaitReady() && scheduler_->WaitReady()) << volcano_->Log();
    ASSERT_TRUE(paddle_->WaitReady()) << paddle_->Log();
  }
  ControlPlane& plane() { return gangway_->plane(); }
  std::string Kubectl(std::vector<std::string> args, const std::string& input = {}) {
    const Outcome outcome = plane().Kubectl(args, input);
    EXPECT_EQ(outcome.exit_code, 0) << args[0] << " " << args[1] << "\n" << outcome.err << paddle_->Log();
    return outcome.out;
  }
  void WaitFor(const std::string& what, const std::string& path, const std::string& value) {
    Kubectl({"wait", what, absl::StrCat("--for=jsonpath={", path, "}=", value), "--timeout=120s"});
  }

  std::unique_ptr<InstalledGangway> gangway_;
  std::unique_ptr<GangwayProcess> volcano_, scheduler_, paddle_;
};

TEST_F(BesideVolcanoTest, ItsRolesAreEnoughForTheLivesOfPaddleJobs) {
  // Needs a config map of its name, and its pods go at the end.
  const std::string servers = R"(
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: wd}
spec:
  cleanPodPolicy: Always
  ps: {replicas: 1, template: {spec: {containers: [{name: p, image: i, envFrom: [{configMapRef: {name: wd}}]}]}}}
  worker: {replicas: 2, template: {spec: {containers: [{name: p, image: i}]}}}
)";
  Kubectl({"apply", "-f", "-"}, servers);
  WaitFor("pdj/wd", ".status.phase", "Running");
  EXPECT_THAT(Kubectl({"get", "vcjob", "wd", "-o", "yaml"}), Not(HasSubstr("timeout:")))
      << "Volcano forgets delayed actions";
  Kubectl({"patch", "pdj", "wd", "--type=merge", "-p", R"({"spec":{"worker":{"replicas":3}}})"});
  WaitFor("pdj/wd", ".status.worker.ready", "3/3");
  Kubectl({"annotate", "pods", "-l", "volcano.sh/task-spec=worker", "test.kwok/finish=succeed"});
  WaitFor("pdj/wd", ".status.phase", "Completed");
  Kubectl({"wait", "pods", "--all", "--for=delete", "--timeout=120s"});

  Kubectl({"apply", "-f", kExamples + "kubeflow.yaml"});
  const std::string job = "paddlejobs.kubeflow.org/paddle-simple-cpu";
  WaitFor(job, ".status.replicaStatuses.Worker.active", "2");
  Kubectl({"patch", job, "--type=merge", "-p", R"({"spec":{"runPolicy":{"suspend":true}}})"});
  WaitFor(job, ".status.conditions[-1:].type", "Suspended");
  Kubectl({"wait", "pods", "--all", "--for=delete", "--timeout=120s"});
  Kubectl(
      {"patch", job, "--type=merge", "-p", R"({"spec":{"runPolicy":{"suspend":false,"ttlSecondsAfterFinished":1}}})"});
  WaitFor(job, ".status.conditions[-1:].type", "Running");
  WaitFor(job, ".status.replicaStatuses.Worker.active", "2");
  Kubectl({"annotate", "pods", "--all", "test.kwok/finish=succeed"});
  Kubectl({"wait", job, "--for=delete", "--timeout=120s"});

  // Volcano would take a PodGroup of the job's name for its own, also one that comes later.
  Kubectl({"cordon", "-l", "kubernetes.io/hostname"});
  Kubectl({"apply", "-f", "-"}, R"(
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: late}
spec: {worker: {replicas: 2, template: {spec: {containers: [{name: p, image: i}]}}}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: late}
spec: {minMember: 1}
)");
  const std::string translated = ".status.conditions[?(@.type==\"Translated\")].status";
  WaitFor("pdj/late", translated, "False");
  EXPECT_THAT(Kubectl({"describe", "pdj", "late"}),
              AllOf(ContainsRegex("Message: +E-PG-CLASH"), ContainsRegex("Phase: +Pending")));
  Kubectl({"delete", "podgroup", "late"});
  Kubectl({"uncordon", "-l", "kubernetes.io/hostname"});
  WaitFor("pdj/late", ".status.phase", "Running");
  WaitFor("pdj/late", translated, "True");

  // paddle-operator's finalizer holds nobody back.
  Kubectl(
      {"patch", "pdj", "wd", "--type=merge", "-p", R"({"metadata":{"finalizers":["finalizers.paddlepaddle.org"]}})"});
  Kubectl({"delete", "pdj", "wd", "--timeout=120s"});
  EXPECT_THAT(plane().AuditLog(), Not(HasSubstr(R"("authorization.k8s.io/decision":"forbid")")))
      << "the overlay's roles lack something";
}

}  // namespace
}  // namespace gangway::testutil
