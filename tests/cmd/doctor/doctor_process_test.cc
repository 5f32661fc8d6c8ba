// `gangway doctor` as a user runs it, against a `gangway sandbox`. What it finds of objects that are old is in
// checks_test.cc.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kubectl/sandbox_process.h"
#include "tests/testing/files.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kHealthy[] = R"(apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: runs, namespace: default}
spec:
  minAvailable: 2
  tasks:
  - name: w
    replicas: 2
    template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: wd, namespace: default}
spec:
  worker: {replicas: 1, template: {spec: {containers: [{name: paddle, image: i, resources: {requests: {cpu: "1"}}}]}}}
)";

constexpr char kAiling[] = R"(apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: claims, namespace: default}
spec:
  minAvailable: 1
  tasks:
  - name: w
    replicas: 1
    template:
      spec:
        containers: [{name: c, image: i}]
        volumes: [{name: d, persistentVolumeClaim: {claimName: corpus}}]
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: elastic, namespace: default}
spec:
  elastic: 1
  worker: {replicas: 1, template: {spec: {containers: [{name: paddle, image: i}]}}}
)";

class DoctorProcessTest : public ::testing::Test {
 protected:
  void Start(std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {"--start-delay", "10ms", "--stop-delay", "10ms"});
    sandbox_ = std::make_unique<SandboxProcess>(flags);
  }
  Outcome Doctor() const {
    return RunProgram({GW_GANGWAY, "doctor", "--kubeconfig", sandbox_->kubeconfig()},
                      {"KUBECONFIG=", "HOME=" + sandbox_->folder()});
  }
  bool Shows(const std::vector<std::string>& what, const std::string& text) const {
    return Eventually([&] { return sandbox_->Kubectl(what).out.find(text) != std::string::npos; });
  }

  std::unique_ptr<SandboxProcess> sandbox_;
};

TEST_F(DoctorProcessTest, InAHealthySandboxNothingIsFound) {
  Start();
  ASSERT_EQ(sandbox_->Kubectl({"apply", "-f", "-"}, kHealthy).exit_code, 0);
  ASSERT_TRUE(Shows({"get", "pdj", "wd"}, "Running"));
  ASSERT_TRUE(Shows({"get", "vcjob", "runs"}, "Running"));
  const Outcome doctor = Doctor();
  EXPECT_EQ(doctor.out, "nothing was found\n");
  EXPECT_EQ(doctor.err, "");
  EXPECT_EQ(doctor.exit_code, 0);
}

TEST_F(DoctorProcessTest, WhatKeepsJobsFromRunningIsFoundWithWhatToDo) {
  Start();
  ASSERT_EQ(sandbox_->Kubectl({"apply", "-f", "-"}, kAiling).exit_code, 0);
  ASSERT_TRUE(Shows({"get", "pdj", "elastic", "-o", "yaml"}, "E-ELASTIC"));
  ASSERT_EQ(
      RunProgram({GW_GANGWAY, "queue", "operate", "default", "-a", "close", "--kubeconfig", sandbox_->kubeconfig()})
          .exit_code,
      0);
  ASSERT_TRUE(Shows({"get", "queue", "default", "-o", "yaml"}, "state: Clos"));
  const Outcome doctor = Doctor();
  EXPECT_EQ(doctor.exit_code, 1);
  EXPECT_THAT(
      doctor.out,
      AllOf(HasSubstr("D-QUEUE-CLOSED queue default: is Clos"),
            HasSubstr("\n    gangway queue operate default --action open\n"),
            HasSubstr("D-CLAIM persistentvolumeclaim default/corpus: is not there: pods of job default/claims that "
                      "mount it (spec.tasks[0].template.spec.volumes[0]) do not start\n"),
            HasSubstr("D-NOT-TRANSLATED paddlejob default/elastic: cannot become a job as it stands: E-ELASTIC"),
            HasSubstr("--elastic-etcd HOST:PORT")));
  EXPECT_THAT(doctor.err, IsEmpty());
}

constexpr char kBesideVolcano[] = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: volcano-scheduler-configmap, namespace: default}
data:
  volcano-scheduler.conf: |
    actions: allocate
    tiers:
    - plugins:
      - name: gang
      - name: extender
        arguments: {extender.urlPrefix: "http://127.0.0.1:9444", extender.jobReadyVerbs: jobReady}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: volcano-scheduler, namespace: default}
spec:
  selector: {matchLabels: {app: s}}
  template:
    metadata: {labels: {app: s}}
    spec:
      containers: [{name: s, image: volcanosh/vc-scheduler}, {name: e, image: gangway, args: [extender, --http-listen=127.0.0.1:9444]}]
      volumes: [{name: c, configMap: {name: volcano-scheduler-configmap}}]
)";

TEST_F(DoctorProcessTest, TheConfigurationOfVolcanosSchedulerIsReadFromTheCluster) {
  Start();
  ASSERT_EQ(sandbox_->Kubectl({"apply", "-f", "-"}, kBesideVolcano).exit_code, 0);
  const Outcome doctor = Doctor();
  EXPECT_EQ(doctor.exit_code, 1);
  EXPECT_THAT(doctor.out, AllOf(HasSubstr("D-EXTENDER-ARGUMENT configmap default/volcano-scheduler-configmap: "
                                          "volcano-scheduler.conf:6: nobody reads the argument extender.jobReadyVerbs"),
                                HasSubstr("D-EXTENDER-VERB"),
                                HasSubstr("kubectl edit configmap volcano-scheduler-configmap -n default")));
  EXPECT_THAT(doctor.err, IsEmpty());
}

TEST_F(DoctorProcessTest, AConfigurationThatIsNotThereIsAWrongFlag) {
  const Outcome doctor = RunProgram({GW_GANGWAY, "doctor", "--scheduler-conf", "/nonexistent.conf"});
  EXPECT_EQ(doctor.exit_code, 2);
  EXPECT_THAT(doctor.err, HasSubstr("/nonexistent.conf: No such file"));
}

}  // namespace
}  // namespace gangway::testutil
