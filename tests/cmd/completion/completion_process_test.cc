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
#include "tests/testing/scripted_server.h"

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
  std::vector<std::string> Environment() const {
    return {absl::StrCat("PATH=", sandbox_.folder(), ":", std::getenv("PATH")), "KUBECONFIG=" + sandbox_.kubeconfig(),
            "HOME=" + sandbox_.folder()};
  }
  // As bash has it, of a line that ends where one types: "gangway job view fi", and "--namespace = ku" of
  // "--namespace=ku", since that is how bash splits it.
  std::string Offered(const std::string& line) {
    const std::string script = absl::StrCat(
        "source <(gangway completion bash); COMP_WORDS=(", line, "); [ '", line.back() == ' ' ? "" : "x",
        "' ] || COMP_WORDS+=('')\n", "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _gangway; echo \"${COMPREPLY[*]}\"");
    const Outcome outcome = RunProgram({"bash", "-c", script}, Environment());
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  }
  // Names are offered where the cluster answers within the time that somebody who types has.
  bool Offers(const std::string& line, const std::string& offered) {
    return Eventually([&] { return Offered(line) == offered; });
  }
  static bool Has(const std::string& shell) { return RunProgram({shell, "--version"}).exit_code == 0; }
  // What stands in the line of a zsh that somebody types into, after so many tabs.
  std::string InZsh(const std::string& line, int tabs = 1) {
    const std::string seen = sandbox_.folder() + "/seen";
    std::filesystem::remove(seen);
    // Ctrl-X writes the line to a file; a terminal of its own, so that zsh edits lines.
    const std::string script = absl::StrCat(
        R"(zmodload zsh/zpty
zpty -b z zsh -f -i
zpty -w z 'PS1=; autoload -Uz compinit; compinit -u -D; setopt menucomplete; source <(gangway completion zsh)
tell() { print -r -- "$BUFFER" > )",
        seen, R"(; zle kill-whole-line }; zle -N tell; bindkey "^X" tell'
zpty -w -n z "$1"
for (( i = 0; i < 1500; i++ )) { [[ ! -s )",
        seen, " ]] || break; zpty -rt z ignored; sleep 0.02 }\nzpty -d z");
    const Outcome outcome = RunProgram({"zsh", "-f", "-c", script, "zsh",
                                        absl::StrCat(line, std::string(static_cast<std::size_t>(tabs), '\t'), "\x18")},
                                       Environment());
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return std::filesystem::exists(seen) ? ReadFile(seen) : "nothing";
  }
  // What fish offers, each with what it says of it.
  std::string InFish(const std::string& line) {
    const Outcome outcome = RunProgram(
        {"fish", "--no-config", "-c", "gangway completion fish | source; complete -C $argv[1]", line}, Environment());
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  }
  SandboxProcess sandbox_;
};

TEST_F(CompletionProcessTest, ZshOffersCommandsFlagsAndNamesOfTheCluster) {
  if (!Has("zsh")) GTEST_SKIP() << "there is no zsh on this machine";
  EXPECT_EQ(InZsh("gangway job vi"), "gangway job view \n");
  EXPECT_EQ(InZsh("gangway logs --fol"), "gangway logs --follow \n");
  EXPECT_TRUE(Eventually([&] { return InZsh("gangway explain job o") == "gangway explain job other \n"; }));
  // One after the other.
  EXPECT_TRUE(Eventually([&] { return absl::StartsWith(InZsh("gangway job view fi"), "gangway job view fifth"); }));
  EXPECT_TRUE(Eventually([&] { return absl::StartsWith(InZsh("gangway job view fi", 2), "gangway job view first"); }));
  EXPECT_TRUE(Eventually([&] {
    return absl::StartsWith(InZsh("gangway job view --namespace=kube-sy"), "gangway job view --namespace=kube-system");
  }));
  EXPECT_EQ(InZsh("gangway job view -n none fi"), "gangway job view -n none fi\n");
}

TEST_F(CompletionProcessTest, FishOffersCommandsFlagsAndNamesOfTheCluster) {
  if (!Has("fish")) GTEST_SKIP() << "there is no fish on this machine";
  EXPECT_EQ(InFish("gangway job vi"), "view\ta job, its events, why it restarted and what it waits for\n");
  EXPECT_THAT(InFish("gangway logs --fol"), ::testing::StartsWith("--follow\t"));
  EXPECT_TRUE(Eventually([&] { return InFish("gangway explain job o") == "other\n"; }));
  EXPECT_TRUE(Eventually([&] { return InFish("gangway job view fi") == "fifth\nfirst\n"; }));
  EXPECT_TRUE(
      Eventually([&] { return InFish("gangway job view --namespace=kube-sy") == "--namespace=kube-system\n"; }));
  EXPECT_EQ(InFish("gangway job view -n none fi"), "");
  EXPECT_THAT(InFish("gangway "), AllOf(HasSubstr("sandbox\t"), Not(HasSubstr("__complete"))));
}

TEST_F(CompletionProcessTest, BashOffersCommandsFlagsAndNamesOfTheCluster) {
  EXPECT_EQ(Offered("gangway job vi"), "view\n");
  EXPECT_TRUE(Offers("gangway job view fi", "fifth first\n"));
  EXPECT_TRUE(Offers("gangway job view ", "fifth first other\n"));
  EXPECT_EQ(Offered("gangway job view -n none "), "\n");
  EXPECT_TRUE(Offers("gangway queue get d", "default\n"));
  EXPECT_TRUE(Offers("gangway explain job o", "other\n"));
  EXPECT_EQ(Offered("gangway logs --fol"), "--follow\n");
  EXPECT_TRUE(Offers("gangway job view --namespace = default fi", "fifth first\n"));
  EXPECT_TRUE(
      Eventually([&] { return absl::StrContains(Offered("gangway job view --namespace = ku"), "kube-system"); }));
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(Offered("gangway job view --namespace ="), "kube-system"); }));
  EXPECT_EQ(Offered("gangway job view --master http : //127.0.0.1 : 1 fi"), "\n") << "an address is one word";
  EXPECT_TRUE(Offers("'~/gangway' job view fi", "fifth first\n"));
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(Offered("gangway job view -n ku"), "kube-system"); }));
  EXPECT_THAT(Offered("gangway "), AllOf(HasSubstr("sandbox"), HasSubstr("completion"), Not(HasSubstr("__complete"))));
}

TEST_F(CompletionProcessTest, KubectlFindsThePluginAndItsWords) {
  const std::vector<std::string> environment = Environment();
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

// A shell puts them into the line that one runs.
TEST(CompletionOfNamesTest, WhatIsNoNameIsNotOffered) {
  const ScriptedServer server([](const std::string&) -> ScriptedAnswer {
    return {.body = R"({"items":[{"metadata":{"name":"x\n evil"}},{"metadata":{"name":"$(evil)x"}},
      {"metadata":{"name":"good"}}]})"};
  });
  const std::vector<std::string> asks{GW_GANGWAY, "__complete", "job", "view", "--master", server.url(), ""};
  EXPECT_TRUE(Eventually([&] { return RunProgram(asks).out == "good\n:4\n"; })) << RunProgram(asks).out;
}

}  // namespace
}  // namespace gangway::testutil
