// The README's way from paddle-operator and back, run as it is written: its commands by a shell, the real kubectl, the
// sandbox as the cluster.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kubectl/sandbox_process.h"
#include "tests/testing/files.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kJob[] = "wide-ande-deep-volcano";

// The blocks of commands under a heading.
std::vector<std::string> BlocksUnder(const std::string& heading) {
  const std::string text = ReadFile(GW_SOURCE_DIR "/README.md");
  const std::size_t from = text.find("\n## " + heading + "\n");
  std::vector<std::string> blocks;
  if (from == std::string::npos) return blocks;
  const std::size_t to = text.find("\n## ", from + 1);
  const std::string open = "```sh\n", close = "```";
  for (std::size_t at = text.find(open, from); at < to; at = text.find(open, at)) {
    at += open.size();
    const std::size_t end = text.find(close, at);
    blocks.push_back(text.substr(at, end - at));
    at = end;
  }
  return blocks;
}

class MovingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasKubectl()) GTEST_SKIP() << "there is no kubectl on this machine";
    sandbox_ =
        std::make_unique<SandboxProcess>(std::vector<std::string>{"--start-delay", "10ms", "--stop-delay", "10ms"});
    std::filesystem::create_symlink(GW_GANGWAY, sandbox_->folder() + "/gangway");
  }
  std::string Kubectl(std::vector<std::string> args, const std::string& input = {}) {
    const Outcome outcome = sandbox_->Kubectl(args, input);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  }
  // A shell's, which stops at the first command that fails.
  std::string Run(const std::string& commands) {
    const Outcome outcome = RunProgram(
        {"bash", "-ec",
         absl::StrCat("set -o pipefail; cd " GW_SOURCE_DIR "; PATH=", sandbox_->folder(), ":$PATH\n", commands)},
        {"KUBECONFIG=" + sandbox_->kubeconfig()});
    EXPECT_EQ(outcome.exit_code, 0) << commands << "\n" << outcome.out << outcome.err;
    return outcome.out;
  }
  // What paddle-operator has made of its guide's example.
  void LetTheOperatorWork() {
    Kubectl({"create", "namespace", "paddle-system"});
    Kubectl(
        {"apply", "-n", "paddle-system", "-f", "-"},
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"paddle-controller-manager"},"spec":{"replicas":1,
      "selector":{"matchLabels":{"app":"o"}},"template":{"metadata":{"labels":{"app":"o"}},"spec":{"containers":[{"name":"manager","image":"paddleflow/paddle-operator:v0.3.5"}]}}}})");
    const std::string example = ReadFile(GW_SOURCE_DIR "/tests/golden/paddle/guide/volcano.yaml");
    // Ours sees it only when its pods are there.
    Kubectl(
        {"apply", "-f", "-"},
        absl::StrReplaceAll(
            example, {{"metadata:\n", "metadata:\n  annotations: {paddle.gangway.io/managed-by: paddle-operator}\n"}}));
    const std::string uid = Kubectl({"get", "pdj", kJob, "-o", "jsonpath={.metadata.uid}"});
    for (const std::string role : {"ps", "worker"}) {
      for (const char* const index : {"-0", "-1"}) {
        const std::string name = absl::StrCat(kJob, "-", role, index);
        Kubectl(
            {"apply", "-f", "-"},
            absl::StrCat(
                R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name, R"(","labels":{"paddle-res-name":")",
                name, R"(","paddle-res-type":")", role, R"("},"annotations":{"paddle-resource":")", role,
                R"("},"ownerReferences":[{"apiVersion":"batch.paddlepaddle.org/v1","kind":"PaddleJob","name":")", kJob,
                R"(","uid":")", uid,
                R"(","controller":true}]},"spec":{"nodeName":"node-000","containers":[{"name":"paddle","image":"p"}]}})"));
      }
    }
    Kubectl({"wait", "pod", "--all", "--for=jsonpath={.status.phase}=Running", "--timeout=30s"});
    Kubectl({"annotate", "pdj", kJob, "paddle.gangway.io/managed-by-"});
  }

  std::unique_ptr<SandboxProcess> sandbox_;
};

TEST_F(MovingTest, FromPaddleOperatorAndBack) {
  const std::vector<std::string> blocks = BlocksUnder("Moving from paddle-operator, and back");
  ASSERT_THAT(blocks, SizeIs(3));
  LetTheOperatorWork();

  // The sandbox has the controller already, and no registry is asked.
  const std::size_t install = blocks[0].find("make image");
  ASSERT_NE(install, std::string::npos);
  const std::size_t render = blocks[0].find("scripts/render "), pipe = blocks[0].find(" | kubectl apply -f -", render);
  ASSERT_NE(pipe, std::string::npos);
  const std::string rendered = Run(blocks[0].substr(render, pipe - render));
  EXPECT_THAT(rendered, HasSubstr("image: registry.example/ml/gangway:0.1.0"));
  Kubectl({"create", "namespace", "gangway-system"});  // a dry run makes none
  EXPECT_THAT(Kubectl({"apply", "--dry-run=server", "-f", "-"}, rendered),
              HasSubstr("deployment.apps/gangway-controller"));
  EXPECT_THAT(Run(blocks[0].substr(0, install)),
              AllOf(HasSubstr(kJob), HasSubstr("spec.schedulingPolicy.minAvailable")));
  EXPECT_EQ(Kubectl({"get", "vcjob", "-o", "name"}), "") << "what the operator has pods for is left alone";

  EXPECT_THAT(Run(blocks[1]), AllOf(HasSubstr("runs under paddle-operator"),
                                    HasSubstr("done; what was is kept in config map"), HasSubstr("STATUS")));
  Kubectl({"wait", "pdj", kJob, "--for=jsonpath={.status.phase}=Running", "--timeout=30s"});
  EXPECT_EQ(Kubectl({"get", "pods", "-o", "jsonpath={.items[*].metadata.ownerReferences[0].kind}"}), "Job Job Job Job");

  EXPECT_THAT(Run(blocks[2]), HasSubstr("is paddle-operator's again"));
  EXPECT_EQ(Kubectl({"get", "vcjob", "-o", "name"}), "");
  EXPECT_EQ(Kubectl({"get", "deployment", "-n", "paddle-system", "-o", "jsonpath={.items[*].spec.replicas}"}), "1");
}

}  // namespace
}  // namespace gangway::testutil
