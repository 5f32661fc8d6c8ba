// `gangway sandbox --rbac` as a user has it: the real kubectl, its --as, its tokens and its questions.
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cmd/gangway/extender_process.h"
#include "tests/cmd/gangway/gangway_process.h"
#include "tests/kubectl/sandbox_process.h"
#include "tests/testing/files.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class KubectlRbacTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasKubectl()) GTEST_SKIP() << "there is no kubectl on this machine";
  }
  std::string Kubectl(SandboxProcess& sandbox, std::vector<std::string> args) {
    const Outcome outcome = sandbox.Kubectl(args);
    EXPECT_EQ(outcome.exit_code, 0) << absl::StrJoin(args, " ") << "\n" << outcome.err;
    return outcome.out;
  }
};

TEST_F(KubectlRbacTest, WhoOneIsAndWhatOneMayDo) {
  SandboxProcess sandbox({"--rbac"});
  const auto kubectl = [&](std::vector<std::string> args) { return Kubectl(sandbox, std::move(args)); };
  EXPECT_THAT(kubectl({"auth", "whoami"}), AllOf(HasSubstr("kubernetes-admin"), HasSubstr("system:masters")));
  EXPECT_EQ(kubectl({"auth", "can-i", "create", "jobs.batch.volcano.sh"}), "yes\n");
  EXPECT_THAT(sandbox.Kubectl({"auth", "can-i", "create", "jobs.batch.volcano.sh", "--as", "jane"}),
              ::testing::Field(&Outcome::out, "no\n"));
  EXPECT_THAT(sandbox.Kubectl({"get", "vcjob", "--as", "jane"}).err,
              HasSubstr(R"(jobs.batch.volcano.sh is forbidden: User "jane" cannot list resource "jobs" in API group )"
                        R"("batch.volcano.sh" in the namespace "default")"));
  kubectl({"create", "role", "jobs", "--verb=get,list,create", "--resource=jobs.batch.volcano.sh"});
  kubectl({"create", "rolebinding", "jane", "--role=jobs", "--user=jane"});
  EXPECT_EQ(kubectl({"auth", "can-i", "create", "jobs.batch.volcano.sh", "--as", "jane"}), "yes\n");
  EXPECT_THAT(kubectl({"auth", "can-i", "--list", "--as", "jane"}),
              ContainsRegex(R"(jobs\.batch\.volcano\.sh +\[\] +\[\] +\[get list create\])"));
  kubectl({"create", "-f", GW_SOURCE_DIR "/examples/ctr-volcano.yaml", "--as", "jane"});
  EXPECT_THAT(sandbox.Kubectl({"delete", "vcjob", "ctr-volcano", "--as", "jane"}).err, HasSubstr("cannot delete"));
  EXPECT_NE(sandbox.Kubectl({"get", "pods", "--token", "none"}).exit_code, 0);
  EXPECT_THAT(
      sandbox
          .Kubectl({"create", "clusterrolebinding", "x", "--clusterrole=cluster-admin", "--user=jane", "--as", "jane"})
          .err,
      HasSubstr("forbidden"));
}

// docs/extender.md: mode light reads with the account of Volcano's scheduler.
TEST_F(KubectlRbacTest, TheRightsOfVolcanosSchedulerAreEnoughForAnExtenderOfModeLight) {
  SandboxProcess sandbox({"--rbac"});
  Kubectl(sandbox, {"create", "namespace", "volcano-system"});
  Kubectl(sandbox, {"apply", "-f", GW_SOURCE_DIR "/tests/deploy/volcano/stock/volcano.yaml"});
  const std::string kubeconfig = sandbox.KubeconfigOf("volcano-system", "volcano-scheduler");
  const ExtenderProcess extender({"--http-listen", "127.0.0.1:0", "--mode", "light", "--kubeconfig", kubeconfig});
  EXPECT_TRUE(Eventually([&] { return extender.PageCode("/readyz") == 200; })) << extender.output();
  EXPECT_THAT(extender.output(), Not(HasSubstr("forbidden"))) << "nothing that it would read is kept from it";
}

TEST_F(KubectlRbacTest, APersonHasACertificateAndAContext) {
  SandboxProcess sandbox({"--rbac", "--user", "jane=team-a,team-b", "--user", "joe"});
  const auto kubectl = [&](std::vector<std::string> args) { return Kubectl(sandbox, std::move(args)); };
  EXPECT_THAT(kubectl({"auth", "whoami", "--context", "jane"}),
              AllOf(ContainsRegex("Username +jane\n"),
                    ContainsRegex("Groups +\\[team-a team-b system:authenticated\\]"), HasSubstr("X509SHA256=")));
  EXPECT_THAT(kubectl({"auth", "whoami", "--context", "joe"}), ContainsRegex("Username +joe\n"));
  EXPECT_THAT(kubectl({"auth", "whoami"}), HasSubstr("kubernetes-admin"));
  EXPECT_THAT(sandbox.Kubectl({"get", "vcjob", "--context", "jane"}).err, HasSubstr(R"(User "jane" cannot list)"));
  kubectl({"create", "rolebinding", "team", "--clusterrole=view", "--group=team-b"});
  kubectl({"get", "configmaps", "--context", "jane"});
  EXPECT_THAT(sandbox.Kubectl({"get", "configmaps", "--context", "joe"}).err, HasSubstr(R"(User "joe" cannot list)"));
}

// The sandbox's own page shows all; with roles in force it is there for who asks for it.
TEST_F(KubectlRbacTest, NobodyIsShownMoreThanHeMaySeeUnasked) {
  {
    SandboxProcess sandbox({"--rbac", "--user", "jane"});
    EXPECT_THAT(sandbox.welcome(), AllOf(HasSubstr("API server at"), Not(HasSubstr("dashboard"))));
    // With one's own rights.
    const std::string output = sandbox.folder() + "/dashboard";
    ChildProcess dashboard(
        {GW_GANGWAY, "dashboard", "--listen", "127.0.0.1:0", "--kubeconfig", sandbox.kubeconfig(), "--context", "jane"},
        output);
    ASSERT_TRUE(Eventually([&] { return absl::StrContains(ReadFile(output), "/\n"); }));
    std::string url(absl::StripAsciiWhitespace(ReadFile(output)));
    url = url.substr(url.find("http"));
    url.pop_back();
    EXPECT_TRUE(Eventually([&] {
      return absl::StrContains(*Get(url, "/").body, R"(User &quot;jane&quot; cannot list)");
    })) << *Get(url, "/").body;
  }
  SandboxProcess sandbox({"--rbac", "--dashboard", "127.0.0.1:0"});
  EXPECT_THAT(sandbox.welcome(), AllOf(HasSubstr("dashboard at http://127.0.0.1:"), HasSubstr("sees all")));
}

TEST_F(KubectlRbacTest, AServiceAccountsToken) {
  SandboxProcess sandbox({"--rbac"});
  const auto kubectl = [&](std::vector<std::string> args) { return Kubectl(sandbox, std::move(args)); };
  kubectl({"create", "serviceaccount", "robot"});
  const std::string token(absl::StripAsciiWhitespace(kubectl({"create", "token", "robot", "--duration=1h"})));
  EXPECT_THAT(kubectl({"auth", "whoami", "--token", token}), HasSubstr("system:serviceaccount:default:robot"));
  EXPECT_THAT(sandbox.Kubectl({"get", "pods", "--token", token}).err, HasSubstr("cannot list"));
  kubectl({"create", "rolebinding", "robot", "--clusterrole=view", "--serviceaccount=default:robot"});
  EXPECT_EQ(kubectl({"get", "configmaps", "-o", "name", "--token", token}), "");
  EXPECT_THAT(sandbox.Kubectl({"get", "secrets", "--token", token}).err, HasSubstr("cannot list"));
  kubectl({"delete", "serviceaccount", "robot"});
  EXPECT_THAT(sandbox.Kubectl({"get", "configmaps", "--token", token}).err, HasSubstr("Unauthorized"));
}

// The programs as deploy/ starts them, each with its account's token: they need what the roles say, and no more.
TEST_F(KubectlRbacTest, GangwaysProgramsRunWithTheirAccountsTokens) {
  SandboxProcess sandbox({"--rbac", "--components=kubelets", "--finish", "trainer=1s"});
  const auto kubectl = [&](std::vector<std::string> args) { return Kubectl(sandbox, std::move(args)); };
  EXPECT_EQ(kubectl({"get", "clusterrole", "gangway-controller", "--ignore-not-found"}), "");
  kubectl({"apply", "-k", GW_SOURCE_DIR "/deploy/volcano/overlays/standalone"});
  const auto start = [&](const std::string& command) {
    return std::make_unique<GangwayProcess>(
        sandbox.folder(), command,
        std::vector<std::string>{command, "--kubeconfig",
                                 sandbox.KubeconfigOf("gangway-system", absl::StrCat("gangway-", command)),
                                 "--leader-elect", "--metrics-addr=127.0.0.1:0"});
  };
  const auto controller = start("controller"), scheduler = start("scheduler");
  kubectl({"apply", "-f", GW_SOURCE_DIR "/examples/ctr-volcano.yaml"});
  kubectl({"wait", "--for=jsonpath={.status.state.phase}=Completed", "vcjob/ctr-volcano", "--timeout=120s"});
  EXPECT_THAT(controller->log(), Not(HasSubstr("forbidden")));
  EXPECT_THAT(scheduler->log(), Not(HasSubstr("forbidden")));
}

}  // namespace
}  // namespace gangway::testutil
