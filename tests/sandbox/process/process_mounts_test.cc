// Where the mounts of containers lead on this machine, and where they must not.
#include <unistd.h>

#include <filesystem>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/process/process.h"
#include "tests/sandbox/process/process_cluster.h"
#include "tests/testing/files.h"

namespace gangway::sandbox {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ProcessMountsTest : public ProcessCluster {
 protected:
  std::string WhyNotStarted(const std::string& name) {
    return json::value_to<std::string>(Terminated(name).at("message"));
  }
};

constexpr char kEmptyDir[] = R"(,"volumes":[{"name":"v","emptyDir":{}}])";

TEST_F(ProcessMountsTest, ALinkInAVolumeLeadsNowhereElse) {
  if (!Start()) GTEST_SKIP() << why_;
  const std::string victim = temporary_.path() + "/victim";
  fs::create_directory(victim);
  const auto links_to = [&](const std::string& name, const std::string& target) {
    RunShell(name, "echo x > /d/file", R"(,"volumeMounts":[{"name":"v","mountPath":"/d","subPath":"link"}])",
             absl::StrCat(R"(,"initContainers":[{"name":"init","image":"x","command":["sh","-c","mkdir /v/v3; ln -s )",
                          target, R"( /v/link"],"volumeMounts":[{"name":"v","mountPath":"/v"}]}])", kEmptyDir));
  };
  links_to("absolute", victim);
  links_to("machine", "/.gangway-machine" + victim);
  links_to("parent", "../../../../../.." + victim);
  links_to("within", "v3");
  for (const char* const name : {"absolute", "machine", "parent"}) {
    ASSERT_EQ(End(name), "Failed") << name;
    EXPECT_EQ(WhyNotStarted(name), "mount /d: subPath link leaves the volume") << name;
  }
  EXPECT_TRUE(fs::is_empty(victim));
  EXPECT_EQ(End("within"), "Succeeded");
}

TEST_F(ProcessMountsTest, ASubPathIsMadeWithTheModeOfItsVolumeAlsoForReading) {
  if (!Start()) GTEST_SKIP() << why_;
  RunShell("reads", "stat -c %a /d; echo x > /d/file || echo refused",
           R"(,"volumeMounts":[{"name":"v","mountPath":"/d","subPath":"a/b","readOnly":true}])", kEmptyDir);
  ASSERT_EQ(End("reads"), "Succeeded") << WhyNotStarted("reads");
  EXPECT_THAT(Log("reads"), AllOf(HasSubstr("777\n"), HasSubstr("refused\n")));
}

TEST_F(ProcessMountsTest, AHostPathMayBeALinkOnTheMachine) {
  if (!Start()) GTEST_SKIP() << why_;
  const std::string data = temporary_.path() + "/data", link = temporary_.path() + "/link";
  fs::create_directory(data);
  testutil::WriteFile(data + "/file", "of the machine\n");
  fs::create_symlink(data, link);
  RunShell("reads", "cat /d/file", R"(,"volumeMounts":[{"name":"v","mountPath":"/d"}])",
           absl::StrCat(R"(,"volumes":[{"name":"v","hostPath":{"path":")", link, R"("}}])"));
  ASSERT_EQ(End("reads"), "Succeeded") << WhyNotStarted("reads");
  EXPECT_EQ(Log("reads"), "of the machine\n");
}

TEST_F(ProcessMountsTest, NoTargetIsOnTheMachine) {
  if (!Start()) GTEST_SKIP() << why_;
  const std::string planted = temporary_.path() + "/planted";
  RunShell("plants", "true", absl::StrCat(R"(,"terminationMessagePath":"/.gangway-machine)", planted, "/file\""));
  EXPECT_EQ(End("plants"), "Succeeded");
  EXPECT_FALSE(fs::exists(planted));
  RunShell("descriptor", "true", R"(,"terminationMessagePath":"/proc/self/fd/3/file")");
  ASSERT_EQ(End("descriptor"), "Failed");
  EXPECT_THAT(WhyNotStarted("descriptor"), HasSubstr("inside /proc"));
}

// Whoever started the sandbox, and whatever flags the machine has mounted its data with.
class ReadOnlyTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ReadOnlyTest, NothingIsWrittenThere) {
  if (geteuid() != 0) GTEST_SKIP() << "only root mounts data for another user";
  if (testutil::RunProgram({"setpriv", "--version"}).exit_code != 0) GTEST_SKIP() << "setpriv is not there";
  const testutil::TemporaryFolder temporary("read-only");
  const std::string program = temporary.path() + "/gangway", manifest = temporary.path() + "/pod.yaml",
                    own = temporary.path() + "/own", data = temporary.path() + "/data";
  for (const std::string& folder : {own, data}) fs::create_directory(folder);
  fs::permissions(own, fs::perms::all);
  fs::permissions(temporary.path(), fs::perms::others_exec | fs::perms::others_read, fs::perm_options::add);
  fs::copy_file(GW_GANGWAY, program);  // where others may run it
  testutil::WriteFile(manifest, absl::StrCat(R"(
apiVersion: v1
kind: Pod
metadata: {name: removes}
spec:
  schedulerName: volcano
  restartPolicy: Never
  containers:
    - name: main
      image: x
      command: [sh, -c, "cat /data/precious; rm -f /data/precious; echo x > /data/below/file; echo tried"]
      volumeMounts: [{name: data, mountPath: /data, readOnly: true}]
  volumes: [{name: data, hostPath: {path: )",
                                             data, "}}]\n"));
  const std::string script =
      absl::StrCat("mount -t tmpfs -o nosuid,nodev,mode=777 data ", data, " && mkdir ", data, "/below && ",
                   "mount -t tmpfs -o nosuid,nodev,noexec,mode=777 below ", data, "/below && echo kept > ", data,
                   "/precious && chmod 666 ", data, "/precious && ", GetParam(), " env TMPDIR=", own, " HOME=", own,
                   " ", program, " sandbox --run=process --apply ", manifest,
                   " '--show=*' --until=pod/removes=Succeeded --timeout=60s; echo left: $(cat ", data,
                   "/precious) $(ls ", data, "/below)");
  const testutil::Outcome outcome = testutil::RunProgram({"unshare", "--mount", "sh", "-c", script});
  if (absl::StrContains(outcome.err, "--run=process: ")) GTEST_SKIP() << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr(" kept\n"), HasSubstr(" tried\n"), HasSubstr("left: kept\n")))
      << outcome.err;
}
INSTANTIATE_TEST_SUITE_P(Users, ReadOnlyTest,
                         ::testing::Values("", "setpriv --reuid=65534 --regid=65534 --clear-groups"),
                         [](const auto& user) { return std::string(*user.param == '\0' ? "Root" : "Another"); });

// As a daemon or an agent may start it.
TEST(IgnoredSignalsTest, TheEndsOfContainersAreSeen) {
  const testutil::TemporaryFolder temporary("ignored-signals");
  const std::string manifest = temporary.path() + "/pod.yaml";
  testutil::WriteFile(manifest, R"(
apiVersion: v1
kind: Pod
metadata: {name: one}
spec:
  schedulerName: volcano
  restartPolicy: Never
  containers: [{name: main, image: x, command: [sh, -c, echo hello]}]
)");
  const testutil::Outcome outcome =
      testutil::RunProgram({"env", "--ignore-signal=CHLD", "TMPDIR=" + temporary.path(), GW_GANGWAY, "sandbox",
                            "--run=process", "--apply", manifest, "--until=pod/one=Succeeded", "--timeout=30s"});
  if (absl::StrContains(outcome.err, "--run=process: ")) GTEST_SKIP() << outcome.err;
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

}  // namespace
}  // namespace gangway::sandbox
