// `gangway job` as a user runs it, against a `gangway sandbox`.
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
using ::testing::Not;
using ::testing::StartsWith;

const std::string kExamples = std::string(GW_SOURCE_DIR) + "/examples/";

class JobProcessTest : public ::testing::Test {
 protected:
  void Start(std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"--start-delay", "10ms", "--stop-delay", "10ms"});
    sandbox_ = std::make_unique<SandboxProcess>(flags);
  }
  Outcome Run(std::vector<std::string> args) const {
    args.insert(args.begin(), GW_GANGWAY);
    args.insert(args.end(), {"--kubeconfig", sandbox_->kubeconfig()});
    return RunProgram(args, {"KUBECONFIG=", "HOME=" + sandbox_->folder()});
  }
  bool ListShows(const std::string& text) const {
    return Eventually([&] { return Run({"job", "list"}).out.find(text) != std::string::npos; });
  }

  std::unique_ptr<SandboxProcess> sandbox_;
};

TEST_F(JobProcessTest, ListSuspendResumeDelete) {
  Start({"--apply", kExamples + "ctr-volcano.yaml"});
  ASSERT_TRUE(ListShows("Running"));
  const Outcome list = Run({"job", "list", "--all-namespaces", "--queue", "default", "-S", "volcano"});
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_THAT(list.out, AllOf(StartsWith("Namespace   Name          Creation       Phase"),
                              HasSubstr("\ndefault     ctr-volcano   ")));
  EXPECT_EQ(Run({"job", "list", "--queue", "ads"}).out, "No resources found\n");

  const Outcome suspend = Run({"job", "suspend", "-N", "ctr-volcano", "-n", "default", "--wait"});
  EXPECT_EQ(suspend.exit_code, 0) << suspend.err;
  EXPECT_THAT(suspend.out, IsEmpty());
  EXPECT_THAT(suspend.err, HasSubstr("job default/ctr-volcano: Aborted"));
  EXPECT_THAT(Run({"job", "list"}).out, HasSubstr("Aborted"));

  const Outcome resume = Run({"job", "resume", "ctr-volcano", "--wait"});
  EXPECT_EQ(resume.exit_code, 0) << resume.err;
  EXPECT_THAT(resume.err, HasSubstr("job default/ctr-volcano: Running: 4 running"));
  EXPECT_THAT(Run({"job", "view", "ctr-volcano"}).out, HasSubstr("\nRestarts:\t0 of 2 (maxRetry 3), 2 left\n"))
      << "a rest is no restart";

  const Outcome deleted = Run({"job", "delete", "ctr-volcano", "--wait"});
  EXPECT_EQ(deleted.exit_code, 0) << deleted.err;
  EXPECT_EQ(deleted.out, "delete job ctr-volcano successfully\n");
  EXPECT_EQ(Run({"job", "list"}).out, "No resources found\n");
}

TEST_F(JobProcessTest, ViewSaysWhatAJobWaitsFor) {
  Start({"--apply", kExamples + "too-large.yaml"});
  EXPECT_TRUE(Eventually([&] {
    return Run({"job", "view", "too-large"}).out.find("\nWaits:\twaits for 1 of 7 tasks: worker needs cpu 12") !=
           std::string::npos;
  })) << Run({"job", "view", "too-large"}).out;
  Outcome resume;
  EXPECT_TRUE(Eventually([&] {  // a busy machine may need longer to know how it is
    resume = Run({"job", "resume", "too-large", "--wait", "--timeout", "50ms"});
    EXPECT_EQ(resume.exit_code, 3);
    return resume.err.find("gangway job resume: job default/too-large: resume not done within 50ms: it is ") !=
           std::string::npos;
  })) << resume.err;
  EXPECT_THAT(resume.err, HasSubstr("gangway job view"));
}

TEST_F(JobProcessTest, ViewSaysWhyAJobRestartedAndFailed) {
  const TemporaryFolder folder("gangway-view");
  WriteFile(folder.path() + "/job.yaml", R"(
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: a}
spec:
  schedulerName: volcano
  minAvailable: 2
  maxRetry: 2
  policies: [{event: PodEvicted, action: RestartJob}, {event: PodFailed, action: RestartJob}]
  tasks:
  - name: w
    replicas: 2
    template:
      metadata:
        annotations: {sandbox.gangway.io/termination-message: "step 7\nloss is nan", sandbox.gangway.io/log: "100ms:step"}
      spec: {restartPolicy: Never, containers: [{name: c, image: i}]}
)");
  Start({"--fail", "w-1=300ms:9x1", "--apply", folder.path() + "/job.yaml"});
  const auto view = [&] { return Run({"job", "view", "a"}).out; };
  // The pod is gone: the record speaks.
  ASSERT_TRUE(Eventually([&] {
    return view().find("\nRestarts:\t1 of 1 (maxRetry 2), none left\n") != std::string::npos && ListShows("Running");
  })) << view();
  const std::string restarted = view();
  EXPECT_THAT(restarted, HasSubstr("Start to execute action RestartJob: pod a-w-1 failed with exit code 9: loss is "
                                   "nan; restart 1 of 1 (maxRetry 2)"));
  EXPECT_THAT(restarted, HasSubstr("\nFailure:\tpod a-w-1: container c ended with exit code 9"));
  EXPECT_THAT(
      restarted,
      HasSubstr(
          "\nAnswer:\tRestartJob, by spec.policies[1] for PodFailed\nLast lines:\n\t| step 7\n\t| loss is nan\n"));
  EXPECT_THAT(restarted, Not(HasSubstr("gangway.io/last-failure")));
}

TEST_F(JobProcessTest, ViewReadsTheLogOfAFailedPodThatIsKept) {
  const TemporaryFolder folder("gangway-view");
  WriteFile(folder.path() + "/job.yaml", R"(
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: a}
spec:
  schedulerName: volcano
  minAvailable: 1
  policies: [{event: PodFailed, action: TerminateJob}]
  tasks:
  - {name: w, replicas: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
)");
  Start({"--fail", "w=200ms:9", "--log", "w=50ms:loss", "--apply", folder.path() + "/job.yaml"});
  ASSERT_TRUE(ListShows("Terminated"));
  EXPECT_THAT(Run({"job", "view", "a"}).out,
              AllOf(HasSubstr("\nAnswer:\tTerminateJob, by spec.policies[0] for PodFailed\nLast lines:\n"),
                    HasSubstr("\t| a-w-0/c: loss 3\n\t| a-w-0/c: ended with exit code 9\n")));
}

TEST_F(JobProcessTest, ErrorsNameTheJobAndTheFix) {
  Start({});
  const Outcome unknown = Run({"job", "suspend", "nobody"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_EQ(unknown.err,
            "gangway job suspend: job default/nobody: jobs.batch.volcano.sh \"nobody\" not found; gangway job list -n "
            "default shows what is there\n");
  const Outcome nameless = Run({"job", "delete"});
  EXPECT_EQ(nameless.exit_code, 2);
  EXPECT_EQ(nameless.err,
            "gangway job delete: job name is mandatory to delete a particular job: gangway job delete NAME\n");
  const Outcome hasty = Run({"job", "resume", "a", "--wait", "--timeout", "soon"});
  EXPECT_EQ(hasty.exit_code, 2);
  EXPECT_THAT(hasty.err, HasSubstr("--timeout soon: write a number and a unit"));
  const Outcome nowhere = Run({"job", "list", "--master", "http://127.0.0.1:1"});
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("the API server at http://127.0.0.1:1 gave no answer"));
  EXPECT_EQ(Run({"job", "frobnicate"}).exit_code, 2);
}

}  // namespace
}  // namespace gangway::testutil
