// `gangway snapshot` as a user runs it, and what becomes of its file.
#include <sys/stat.h>

#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kubectl/sandbox_process.h"
#include "tests/testing/loop_thread.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class SnapshotProcessTest : public ::testing::Test {
 protected:
  Outcome Run(std::vector<std::string> args) const {
    args.insert(args.begin(), GW_GANGWAY);
    if (args[1] != "sandbox" && args[1] != "simulate") args.insert(args.end(), {"--kubeconfig", sandbox_.kubeconfig()});
    return RunProgram(args, {"KUBECONFIG=", "HOME=" + sandbox_.folder()});
  }
  // Its pods are there.
  bool Runs() const { return absl::StrContains(Run({"job", "list", "-A"}).out, "Running"); }

  const SandboxProcess sandbox_{{"--apply", std::string(GW_SOURCE_DIR) + "/examples/ctr-volcano.yaml"}};
};

TEST_F(SnapshotProcessTest, AnotherSandboxRunsWhatIsInIt) {
  ASSERT_TRUE(Eventually([&] { return Runs(); }));
  const std::string file = sandbox_.folder() + "/cluster.json";
  const Outcome taken = Run({"snapshot", "-o", file});
  EXPECT_EQ(taken.exit_code, 0) << taken.err;
  EXPECT_THAT(taken.err, AllOf(StartsWith(file + ": "), HasSubstr(" objects\n")));
  struct stat about = {};
  ASSERT_EQ(stat(file.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  EXPECT_THAT(ReadFile(file), AllOf(HasSubstr("\"ctr-volcano\""), HasSubstr("\"kind\":\"Node\""),
                                    Not(HasSubstr("\"kind\":\"Secret\"")), Not(HasSubstr("\"kind\":\"Event\""))));
  const Outcome played = Run({"sandbox", "--nodes", "0", "--apply", file, "--until", "job/ctr-volcano=Running",
                              "--timeout", "60s", "--kubeconfig", sandbox_.folder() + "/second"});
  EXPECT_EQ(played.exit_code, 0) << played.out << played.err;
  const Outcome simulated = Run({"simulate", file});
  EXPECT_EQ(simulated.exit_code, 0) << simulated.err;
  EXPECT_THAT(simulated.out, AllOf(HasSubstr("6 nodes, 1 gang\n"), HasSubstr("\ndefault/ctr-volcano  default  4 ")));
}

TEST_F(SnapshotProcessTest, UnderPseudonymsItIsAsGood) {
  ASSERT_TRUE(Eventually([&] { return Runs(); }));
  const Outcome taken = Run({"snapshot", "--anonymise"});
  EXPECT_EQ(taken.exit_code, 0) << taken.err;
  EXPECT_THAT(taken.out, AllOf(Not(HasSubstr("ctr")), Not(HasSubstr("pserver"))));
  const std::string file = sandbox_.folder() + "/anonymised.json";
  std::ofstream(file) << taken.out;
  const std::string kind = R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":")";
  const std::size_t at = taken.out.find(kind);
  ASSERT_NE(at, std::string::npos) << taken.out;
  const std::size_t name = at + kind.size();
  const std::string job = taken.out.substr(name, taken.out.find('"', name) - name);
  const Outcome played =
      Run({"sandbox", "--nodes", "0", "--apply", file, "--until", absl::StrCat("job/", job, "=Running"), "--timeout",
           "60s", "--kubeconfig", sandbox_.folder() + "/second"});
  EXPECT_EQ(played.exit_code, 0) << played.out << played.err;
  EXPECT_THAT(Run({"simulate", file}).out, HasSubstr(absl::StrCat("\ndefault/", job, " ")));
}

TEST_F(SnapshotProcessTest, SaysWhereItCannotWrite) {
  const Outcome wrong = Run({"snapshot", "-o", sandbox_.folder() + "/none/cluster.json"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_EQ(wrong.err, absl::StrCat("gangway snapshot: -o ", sandbox_.folder(),
                                    "/none/cluster.json: No such file or directory\n"));
}

}  // namespace
}  // namespace gangway::testutil
