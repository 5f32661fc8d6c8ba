// `gangway version --check` against an API server.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kubectl/sandbox_process.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// No file of the user's or of the machine's that names a cluster.
Outcome Version(const std::vector<std::string>& flags) {
  std::vector<std::string> argv{
      "env", "-u", "KUBECONFIG", "-u", "KUBERNETES_SERVICE_HOST", "HOME=/nonexistent", GW_GANGWAY, "version"};
  argv.insert(argv.end(), flags.begin(), flags.end());
  return RunProgram(argv);
}

TEST(VersionTest, WithoutAClusterItSaysSo) {
  const Outcome outcome = Version({"--check"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("gangway 0"), HasSubstr("files: there are no sums"),
                                 HasSubstr("cluster: none is named")));
}

TEST(VersionTest, TheEmbeddedClusterHasTheTypesWithoutDefinitions) {
  SandboxProcess sandbox;
  const std::vector<std::string> check{"--check", "--strict", "--kubeconfig", sandbox.kubeconfig()};
  EXPECT_EQ(Version(check).exit_code, 0) << Version(check).out;
  EXPECT_THAT(Version(check).out, HasSubstr("types are those of this version"));
}

TEST(VersionTest, AServerThatDoesNotAnswerIsNoAnswer) {
  EXPECT_EQ(Version({"--check", "--master", "http://127.0.0.1:1"}).exit_code, 2);
}

}  // namespace
}  // namespace gangway::testutil
