// `gangway submit` as a user of PaddleRec runs it, against a `gangway sandbox`: rows of
// tests/spec/paddle.rows, and the life of R-12.
#include "absl/strings/str_replace.h"
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

const std::string kExamples = std::string(GW_SOURCE_DIR) + "/examples/paddlerec/";

class SubmitProcessTest : public ::testing::Test {
 protected:
  void Start(std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {"--start-delay", "10ms", "--stop-delay", "10ms"});
    sandbox_ = std::make_unique<SandboxProcess>(flags);
  }
  Outcome Run(std::vector<std::string> args) const {
    args.insert(args.begin(), GW_GANGWAY);
    if (sandbox_ != nullptr) args.insert(args.end(), {"--kubeconfig", sandbox_->kubeconfig()});
    return RunProgram(args, {"KUBECONFIG=", "HOME=" + folder_.path()});
  }
  Outcome Submit(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"submit", "-m", kExamples + "config.yaml", "-b", kExamples + "backend.yaml"});
    return Run(more);
  }
  // The example's file, changed, under a name of its own.
  std::string Changed(const std::string& file, const std::string& what, const std::string& instead) const {
    const std::string path = folder_.path() + "/" + file;
    WriteFile(path, absl::StrReplaceAll(ReadFile(kExamples + file), {{what, instead}}));
    return path;
  }
  std::string Jobs() const { return Run({"job", "list"}).out; }

  const TemporaryFolder folder_{"gangway-submit"};
  std::unique_ptr<SandboxProcess> sandbox_;
};

TEST_F(SubmitProcessTest, TheJobRunsToItsEndAndTheConfigGoesWithIt) {
  Start({"--finish", "trainer=100ms"});
  const Outcome submitted = Submit({"-n", "default"});
  EXPECT_EQ(submitted.exit_code, 0) << submitted.err;
  EXPECT_THAT(submitted.err, IsEmpty());
  EXPECT_THAT(submitted.out,
              AllOf(HasSubstr("configmap default/k8s-ctr-dnn-modelconfig created\njob default/k8s-ctr-dnn created\n"),
                    HasSubstr("2 servers and 2 trainers start together, or none does; they wait in queue default."),
                    HasSubstr("  gangway logs -f k8s-ctr-dnn -n default\n"),
                    HasSubstr("/usr/paddlerec/config.yaml; the code it names must be in the image "
                              "hub.baidubce.com/ctr/paddlerec:alpha, or in a claim")));
  EXPECT_TRUE(Eventually([&] { return Jobs().find("Completed") != std::string::npos; })) << Jobs();
  EXPECT_EQ(Run({"job", "delete", "k8s-ctr-dnn", "--wait"}).exit_code, 0);
  // The config map had the Job for its owner, or a second submission would find it.
  EXPECT_TRUE(Eventually([&] { return Submit().exit_code == 0; }));
}

TEST_F(SubmitProcessTest, R11WhatTheServerRefusesIsAFailure) {
  const Outcome nowhere = Submit({"--master", "http://127.0.0.1:1"});
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("the API server at http://127.0.0.1:1 gave no answer"));
  Start();
  const Outcome refused = Submit({"--queue", "nobody"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("gangway submit: job default/k8s-ctr-dnn: "), HasSubstr("nobody")));
  EXPECT_THAT(refused.out, HasSubstr("configmap default/k8s-ctr-dnn-modelconfig deleted again\n")) << "all or nothing";
  EXPECT_EQ(Submit().exit_code, 0);
}

TEST_F(SubmitProcessTest, AJobThatIsThereIsReplacedOnlyWhenAsked) {
  Start();
  ASSERT_EQ(Submit().exit_code, 0);
  ASSERT_TRUE(Eventually([&] { return Jobs().find("Running") != std::string::npos; }));
  const Outcome again = Submit();
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_EQ(again.err,
            "gangway submit: job default/k8s-ctr-dnn is there already; --replace stops and deletes it first, another "
            "job_name leaves it alone\n");
  const Outcome replaced = Submit({"--replace"});
  EXPECT_EQ(replaced.exit_code, 0) << replaced.err;
  EXPECT_THAT(replaced.out, HasSubstr("job default/k8s-ctr-dnn deleted\nconfigmap default/k8s-ctr-dnn-modelconfig "
                                      "created\njob default/k8s-ctr-dnn created\n"));
}

TEST_F(SubmitProcessTest, R9TwoJobsRunSideBySide) {
  Start();
  ASSERT_EQ(Submit().exit_code, 0);
  const Outcome other = Run({"submit", "-m", kExamples + "config.yaml", "-b",
                             Changed("backend.yaml", "job_name: k8s-ctr-dnn", "job_name: other")});
  EXPECT_EQ(other.exit_code, 0) << other.err;
  EXPECT_TRUE(Eventually([&] {
    const std::string jobs = Jobs();
    return jobs.find("Running") != jobs.rfind("Running");
  })) << Jobs();
}

TEST_F(SubmitProcessTest, R12TrainersThatAlwaysFailEndTheJobAndItIsNotCompleted) {
  Start({"--fail", "trainer=20ms:1"});
  ASSERT_EQ(Submit().exit_code, 0);
  const auto ended = [&] {
    const std::string jobs = Jobs();
    return jobs.find("Terminated") != std::string::npos || jobs.find("Failed") != std::string::npos;
  };
  EXPECT_TRUE(Eventually(ended)) << Jobs();
  EXPECT_THAT(Jobs(), Not(HasSubstr("Completed")));
}

TEST_F(SubmitProcessTest, R13R14WhatCannotRunHereIsRefusedWithItsLine) {
  const std::string config = kExamples + "config.yaml", backend = kExamples + "backend.yaml";
  const Outcome hosted =
      Run({"submit", "-m", config, "-b", Changed("backend.yaml", "backend: k8s", "backend: PaddleCloud")});
  EXPECT_EQ(hosted.exit_code, 1);
  EXPECT_THAT(hosted.err, AllOf(HasSubstr("backend.yaml:6:3: engine.backend: Unsupported value: \"PaddleCloud\""),
                                HasSubstr("to run it here write backend: k8s")));
  const Outcome local =
      Run({"submit", "-m", Changed("config.yaml", "engine: cluster", "engine: single"), "-b", backend});
  EXPECT_EQ(local.exit_code, 1);
  EXPECT_THAT(local.err,
              HasSubstr("config.yaml:6:3: train.engine: Unsupported value: \"single\": there is nothing to submit"));
  const Outcome model = Run({"submit", "-m", "paddlerec.models.rank.dnn", "-b", backend});
  EXPECT_EQ(model.exit_code, 2);
  EXPECT_THAT(model.err, HasSubstr("give the path of its config.yaml"));
  EXPECT_EQ(Run({"submit", "-b", backend}).exit_code, 2);
  EXPECT_THAT(Submit({"--volume-claim", "data"}).err,
              HasSubstr("--volume-claim data: write the claim's name and a path"));
}

TEST_F(SubmitProcessTest, ADryRunPrintsWhatWouldBeCreated) {
  const Outcome dry = Submit({"--dry-run", "--volume-claim", "corpus:/data"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_THAT(dry.out, AllOf(HasSubstr("kind: ConfigMap"), HasSubstr("---\n"), HasSubstr("kind: Job"),
                             HasSubstr("volumeClaimName: corpus"), HasSubstr("# The CTR model of PaddleRec's guide")));
  WriteFile(folder_.path() + "/dry.yaml", dry.out);
  const Outcome valid = RunProgram({GW_GANGWAY, "validate", "-f", folder_.path() + "/dry.yaml"});
  EXPECT_EQ(valid.exit_code, 0) << valid.out;
}

}  // namespace
}  // namespace gangway::testutil
