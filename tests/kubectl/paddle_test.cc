// PaddleJobs as their users handle them: the real kubectl, its validation on, against `gangway sandbox`. Skipped, and
// counted as skipped, where there is no kubectl.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kubectl/sandbox_process.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kExamples = GW_SOURCE_DIR "/examples/paddle/";
const std::string kGuide = GW_SOURCE_DIR "/tests/golden/paddle/guide/";

class PaddleKubectlTest : public ::testing::Test {
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
    EXPECT_EQ(outcome.exit_code, 0) << args[0] << " " << args[1] << "\n" << outcome.err;
    return outcome.out;
  }
  void WaitFor(const std::string& what, const std::string& path, const std::string& value) {
    Kubectl({"wait", what, absl::StrCat("--for=jsonpath={", path, "}=", value), "--timeout=120s"});
  }

  std::unique_ptr<SandboxProcess> sandbox_;
};

TEST_F(PaddleKubectlTest, AJobWithServersFromApplyToCompleted) {
  Start();
  // Its servers would be given ten seconds to end by themselves.
  const std::string job = absl::StrReplaceAll(
      ReadFile(kExamples + "ps.yaml"),
      {{"  name: wide-and-deep\n", "  name: wide-and-deep\n  annotations: {paddle.gangway.io/server-grace: 0s}\n"}});
  EXPECT_EQ(Kubectl({"apply", "--validate=strict", "-f", "-"}, job),
            "paddlejob.batch.paddlepaddle.org/wide-and-deep created\n");
  WaitFor("pdj/wide-and-deep", ".status.phase", "Running");
  EXPECT_THAT(Kubectl({"get", "pdj"}),
              ContainsRegex("NAME +STATUS +MODE +PS +WORKER +AGE\nwide-and-deep +Running +PS +2/2 +2/2 +[0-9]+s\n"));
  EXPECT_THAT(Kubectl({"get", "pdj", "-o", "wide"}), ContainsRegex("HETER +RESTARTS +QUEUE +MESSAGE\n.* default "));
  EXPECT_EQ(Kubectl({"get", "vcjob", "wide-and-deep", "-o", "jsonpath={.metadata.ownerReferences[0].kind}"}),
            "PaddleJob");
  Kubectl({"annotate", "pods", "-l", "volcano.sh/task-spec=worker", "sandbox.gangway.io/finish=0s"});
  WaitFor("pdj/wide-and-deep", ".status.phase", "Completed");
  EXPECT_THAT(Kubectl({"describe", "pdj", "wide-and-deep"}),
              AllOf(HasSubstr("Kind:         PaddleJob"), HasSubstr("Translated"), HasSubstr("JobCreated"),
                    ContainsRegex("Phase: +Completed")));
  Kubectl({"delete", "pdj", "wide-and-deep"});
  for (const char* const what : {"vcjob", "pods"}) Kubectl({"wait", what, "--all", "--for=delete", "--timeout=120s"});
  EXPECT_THAT(Kubectl({"get", "pods"}), IsEmpty());
}

TEST_F(PaddleKubectlTest, AJobThatWaitsSaysWhatItsQueueSays) {
  Start({"--nodes", "1"});
  Kubectl({"apply", "-f", "-"}, R"(
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: large}
spec: {worker: {replicas: 2, template: {spec: {containers: [{name: p, image: i, resources: {requests: {cpu: 500}}}]}}}}
)");
  WaitFor("pdj/large", ".status.conditions[?(@.type==\"Scheduled\")].status", "False");
  const std::string message = Kubectl({"get", "pdj", "large", "-o", "jsonpath={.status.message}"});
  EXPECT_THAT(message, HasSubstr("cpu"));
  EXPECT_THAT(Kubectl({"describe", "pdj", "large"}),
              AllOf(HasSubstr("Scheduled"), HasSubstr("made job.batch.volcano.sh large in queue default")));
  EXPECT_THAT(Kubectl({"get", "pdj", "large", "-o", "wide"}), HasSubstr(message));
}

// What stands in the guides is accepted as it stands, misspelt cleanPolicy and all.
TEST_F(PaddleKubectlTest, TheGuidesExamplesAreAcceptedVerbatim) {
  Start();
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kGuide)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  ASSERT_FALSE(files.empty());
  for (const char* ns : {"paddle-system", "kubeflow"}) Kubectl({"create", "namespace", ns});
  for (const std::string& file : files) {
    EXPECT_THAT(Kubectl({"apply", "--validate=strict", "-f", file}), HasSubstr("created")) << file;
    Kubectl({"delete", "-f", file});
  }
}

// The guide's recipe: a PodGroup of the same name behind the job.
TEST_F(PaddleKubectlTest, AJobWithTheGuidesPodGroupRuns) {
  Start({"--node-shape", "cpu=16,memory=64Gi,nvidia.com/gpu=2"});
  Kubectl({"apply", "-f", kGuide + "volcano-podgroup.yaml"});
  WaitFor("pdj/resnet", ".status.phase", "Running");
  // It may come after the pods.
  Kubectl({"wait", "vcjob/resnet", "--for=jsonpath={.metadata.annotations.paddle\\.gangway\\.io/pod-group}",
           "--timeout=120s"});
  EXPECT_THAT(
      Kubectl({"get", "pdj", "resnet", "-o", "jsonpath={.status.conditions[?(@.type==\"Translated\")].message}"}),
      HasSubstr("W-PG-DROPPED"));
  EXPECT_THAT(Kubectl({"describe", "pdj", "resnet"}), HasSubstr("W-PG-DROPPED"));
}

// In another queue, with fewer pods, as long as none of them runs.
TEST_F(PaddleKubectlTest, WhatThePodGroupBehindTheJobAsksForIsTakenOver) {
  Start({"--nodes", "2"});
  Kubectl({"create", "-f", "-"},
          "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: ads}\nspec: {weight: 1}\n");
  WaitFor("queue/ads", ".status.state", "Open");
  Kubectl({"cordon", "-l", "kubernetes.io/hostname"});
  Kubectl({"apply", "-f", "-"}, R"(
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: wd}
spec: {worker: {replicas: 4, template: {spec: {containers: [{name: p, image: i}]}}}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: wd}
spec: {minMember: 3, queue: ads}
)");
  WaitFor("pdj/wd", ".status.queue", "ads");
  WaitFor("vcjob/wd", ".spec.minAvailable", "3");
  Kubectl({"uncordon", "-l", "kubernetes.io/hostname"});
  WaitFor("pdj/wd", ".status.phase", "Running");
  EXPECT_EQ(Kubectl({"get", "vcjob", "wd", "-o", "jsonpath={.spec.queue}"}), "ads");
  EXPECT_THAT(Kubectl({"describe", "pdj", "wd"}), HasSubstr("W-PG-DROPPED"));
}

TEST_F(PaddleKubectlTest, FieldsThatDoNotExistAreToldWithTheirPath) {
  Start();
  const std::string job =
      "apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\nmetadata: {name: a}\nspec: {cleanPodPolice: Never, "
      "worker: {replicas: 1}}\n";
  const Outcome strict = sandbox_->Kubectl({"create", "--validate=strict", "-f", "-"}, job);
  EXPECT_NE(strict.exit_code, 0);
  EXPECT_THAT(strict.err, HasSubstr("unknown field \"spec.cleanPodPolice\""));
  const Outcome warned = sandbox_->Kubectl({"create", "--validate=warn", "-f", "-"}, job);
  EXPECT_EQ(warned.exit_code, 0);
  EXPECT_THAT(warned.err, HasSubstr("Warning: unknown field \"spec.cleanPodPolice\""));
}

TEST_F(PaddleKubectlTest, KubeflowsJobIsScaledAndTrains) {
  Start();
  EXPECT_EQ(Kubectl({"apply", "--validate=strict", "-f", kExamples + "kubeflow.yaml"}),
            "paddlejob.kubeflow.org/paddle-simple-cpu created\n");
  const std::string job = "paddlejobs.kubeflow.org/paddle-simple-cpu";
  WaitFor(job, ".status.replicaStatuses.Worker.active", "2");
  WaitFor(job, ".status.conditions[-1:].type", "Running");
  EXPECT_THAT(Kubectl({"get", "paddlejobs.kubeflow.org"}),
              ContainsRegex("NAME +STATE +AGE\npaddle-simple-cpu +Running +"));
  EXPECT_EQ(Kubectl({"scale", job, "--replicas=3"}), "paddlejob.kubeflow.org/paddle-simple-cpu scaled\n");
  WaitFor(job, ".status.replicaStatuses.Worker.active", "3");
  Kubectl({"annotate", "pods", "--all", "sandbox.gangway.io/finish=0s"});
  WaitFor(job, ".status.conditions[-1:].type", "Succeeded");
}

}  // namespace
}  // namespace gangway::testutil
