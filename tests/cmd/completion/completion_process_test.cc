// What bash offers, of the program itself and of a cluster; and kubectl, which asks its plugins the same way.
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kubectl/sandbox_process.h"
#include "tests/testing/files.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kJob[] =
    R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"NAME","namespace":"default"},
  "spec":{"minAvailable":1,"tasks":[{"name":"w","replicas":1,"template":{"spec":{"containers":[{"name":"w","image":"i"}]}}}]}})";

class CompletionProcessTest : public ::testing::Test {
 protected:
  CompletionProcessTest() {
    for (const std::string name : {"first", "fifth", "other"}) {
      std::string job = kJob;
      job.replace(job.find("NAME"), 4, name);
      EXPECT_EQ(sandbox_.Kubectl({"create", "-f", "-"}, job).exit_code, 0);
    }
    std::filesystem::create_symlink(GW_GANGWAY, sandbox_.folder() + "/gangway");
    std::filesystem::create_symlink(GW_GANGWAY, sandbox_.folder() + "/kubectl-gangway");
    std::filesystem::create_symlink(GW_SOURCE_DIR "/deploy/krew/kubectl_complete-gangway",
                                    sandbox_.folder() + "/kubectl_complete-gangway");
  }
  // As bash has it, of a line that ends where one types: "gangway job view fi".
  std::string Offered(const std::string& line) {
    const std::string script = absl::StrCat(
        "source <(gangway completion bash); COMP_WORDS=(", line, "); [ '", line.back() == ' ' ? "" : "x",
        "' ] || COMP_WORDS+=('')\n", "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _gangway; echo \"${COMPREPLY[*]}\"");
    const Outcome outcome = RunProgram(
        {"bash", "-c", script},
        {absl::StrCat("PATH=", sandbox_.folder(), ":", std::getenv("PATH")), "KUBECONFIG=" + sandbox_.kubeconfig()});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  }
  // Names are offered where the cluster answers within the time that somebody who types has.
  bool Offers(const std::string& line, const std::string& offered) {
    return Eventually([&] { return Offered(line) == offered; });
  }
  SandboxProcess sandbox_;
};

TEST_F(CompletionProcessTest, BashOffersCommandsFlagsAndNamesOfTheCluster) {
  EXPECT_EQ(Offered("gangway job vi"), "view\n");
  EXPECT_TRUE(Offers("gangway job view fi", "fifth first\n"));
  EXPECT_TRUE(Offers("gangway job view ", "fifth first other\n"));
  EXPECT_EQ(Offered("gangway job view -n none "), "\n");
  EXPECT_TRUE(Offers("gangway queue get d", "default\n"));
  EXPECT_TRUE(Offers("gangway explain job o", "other\n"));
  EXPECT_EQ(Offered("gangway logs --fol"), "--follow\n");
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(Offered("gangway job view -n ku"), "kube-system"); }));
  EXPECT_THAT(Offered("gangway "), AllOf(HasSubstr("sandbox"), HasSubstr("completion"), Not(HasSubstr("__complete"))));
}

TEST_F(CompletionProcessTest, KubectlFindsThePluginAndItsWords) {
  const std::vector<std::string> environment{absl::StrCat("PATH=", sandbox_.folder(), ":", std::getenv("PATH")),
                                             "KUBECONFIG=" + sandbox_.kubeconfig()};
  const Outcome listed = RunProgram({"kubectl", "gangway", "job", "list"}, environment);
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  EXPECT_THAT(listed.out, HasSubstr("fifth"));
  EXPECT_TRUE(Eventually([&] {
    return RunProgram({"kubectl_complete-gangway", "job", "view", "fi"}, environment).out == "fifth\nfirst\n:4\n";
  }));
}

TEST_F(CompletionProcessTest, WhereNobodyAnswersNothingIsOffered) {
  const Outcome outcome = RunProgram({GW_GANGWAY, "__complete", "job", "view", "--master", "http://127.0.0.1:1", ""});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, ":4\n");
  EXPECT_EQ(RunProgram({GW_GANGWAY, "completion", "csh"}).exit_code, 2);
}

}  // namespace
}  // namespace gangway::testutil
