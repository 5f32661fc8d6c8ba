// What `gangway` says of a command line that it does not understand.
#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/process/process.h"
#include "tests/testing/files.h"

namespace gangway::testutil {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Refused(std::vector<std::string> args) {
  args.insert(args.begin(), GW_GANGWAY);
  const Outcome outcome = RunProgram(args);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.out, IsEmpty());
  return outcome.err;
}

TEST(CommandLineTest, CommandsThatWereMeant) {
  EXPECT_EQ(Refused({"sandbx"}), "gangway: there is no command \"sandbx\"; did you mean sandbox? See gangway --help\n");
  EXPECT_EQ(Refused({"job", "vew", "ctr"}),
            "gangway job: there is no command \"vew\"; did you mean view? See gangway job --help\n");
  EXPECT_EQ(Refused({"queue", "operat", "ads"}),
            "gangway queue: there is no command \"operat\"; did you mean operate? See gangway queue --help\n");
  EXPECT_EQ(Refused({"xyzzyx"}), "gangway: there is no command \"xyzzyx\"; see gangway --help\n");
}

TEST(CommandLineTest, FlagsThatWereMeant) {
  EXPECT_EQ(Refused({"sandbox", "--node", "3"}),
            "gangway sandbox: there is no flag --node; did you mean --nodes? See gangway sandbox --help\n");
  EXPECT_EQ(Refused({"translate", "-f", "-", "--elastic-ectd=a:1"}),
            "gangway translate: there is no flag --elastic-ectd; did you mean --elastic-etcd? See gangway translate "
            "--help\n");
  EXPECT_EQ(Refused({"job", "view", "--namespce", "a", "ctr"}),
            "gangway job view: there is no flag --namespce; did you mean --namespace? See gangway job view --help\n");
  EXPECT_EQ(
      Refused({"scheduler", "--leader-elct"}),
      "gangway scheduler: there is no flag --leader-elct; did you mean --leader-elect? See gangway scheduler --help\n");
  EXPECT_EQ(Refused({"validate", "--filname", "a.yaml"}),
            "gangway validate: there is no flag --filname; did you mean --filename? See gangway validate --help\n")
      << "it is that, and not one that is missing";
  EXPECT_EQ(Refused({"explain", "job", "ctr", "--whatif", "min=1"}),
            "gangway explain: there is no flag --whatif; did you mean --what-if? See gangway explain --help\n");
  EXPECT_EQ(Refused({"doctor", "--quux"}), "gangway doctor: there is no flag --quux; see gangway doctor --help\n");
  EXPECT_EQ(Refused({"doctor", "-z"}), "gangway doctor: there is no flag -z; see gangway doctor --help\n");
  EXPECT_EQ(Refused({"--versoin"}),
            "gangway: there is no flag --versoin; did you mean --version? See gangway --help\n");
}

TEST(CommandLineTest, WordsWithoutAFlag) {
  EXPECT_EQ(
      Refused({"validate", "job.yaml"}),
      "gangway validate: \"job.yaml\" belongs to no flag; did you mean -f job.yaml? See gangway validate --help\n");
  EXPECT_EQ(Refused({"doctor", "ctr"}), "gangway doctor: \"ctr\" belongs to no flag; see gangway doctor --help\n");
}

TEST(CommandLineTest, TypesAndValuesThatWereMeant) {
  EXPECT_THAT(Refused({"crds", "jobs.batch.volcno.sh"}),
              HasSubstr("there is no jobs.batch.volcno.sh; did you mean jobs.batch.volcano.sh? Known: "));
  EXPECT_THAT(Refused({"sandbox", "--nodes", "-1"}),
              AllOf(HasSubstr("gangway sandbox: --nodes: "), HasSubstr("; see gangway sandbox --help\n")));
}

TEST(CommandLineTest, AFolderInAFilesPlaceIsNamed) {
  const TemporaryFolder folder("gangway-folder");
  EXPECT_THAT(Refused({"scheduler", "--config", folder.path()}),
              HasSubstr(folder.path() + ": is a folder; name a file"));
  EXPECT_THAT(Refused({"top", "--kubeconfig", folder.path()}), HasSubstr(folder.path() + ": is a folder; name a file"));
}

TEST(CommandLineTest, FlagsOfTheOtherKindOfContainers) {
  for (const char* const flag : {"--image=x=/", "--network=shared", "--volumes=/tmp", "--show=*"}) {
    EXPECT_EQ(Refused({"sandbox", flag}),
              "gangway sandbox: --image, --network, --volumes and --show are for --run=process\n");
  }
  for (const char* const flag : {"--finish=a=1s", "--start-delay=1s", "--stop-delay=1s"})
    EXPECT_THAT(Refused({"sandbox", "--run=process", flag}), HasSubstr("are for simulated containers"));
}

TEST(CommandLineTest, PeopleHaveNamesOfTheirOwnAndRolesInForce) {
  EXPECT_EQ(Refused({"sandbox", "--user=jane"}),
            "gangway sandbox: --user is for --rbac: without, everybody may do everything\n");
  EXPECT_EQ(Refused({"sandbox", "--rbac", "--user=jane", "--user=jane=ops"}),
            "gangway sandbox: --user jane=ops: there is somebody of that name already\n");
  EXPECT_EQ(Refused({"sandbox", "--rbac", "--user=gangway"}),
            "gangway sandbox: --user gangway: that context is the administrator's; take another name\n");
  EXPECT_THAT(Refused({"sandbox", "--rbac", "--user==ops"}), HasSubstr("a name has 1 to 64 bytes there"));
}

// gangway-extender is a program of its own, which who builds gangway alone does not have.
TEST(CommandLineTest, WithoutItsProgramTheExtenderSaysHowToBuildIt) {
  const TemporaryFolder folder("gangway-alone");
  const std::string alone = folder.path() + "/gangway";
  std::filesystem::copy_file(GW_GANGWAY, alone);
  for (const char* const flag : {"--help", "--listen=127.0.0.1:0"}) {
    const Outcome outcome = RunProgram({alone, "extender", flag});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(
        outcome.err,
        AllOf(HasSubstr("gangway extender: " + folder.path() + "/gangway-extender: No such file or directory"),
              HasSubstr("cmake --build --preset release --target gangway-extender\n"), HasSubstr("docs/extender.md")));
  }
}

// A rule that fits nothing is most likely misspelt.
TEST(CommandLineTest, RulesOfTheSandboxThatFitNoPodAreTold) {
  const Outcome outcome =
      RunProgram({GW_GANGWAY, "sandbox", "--apply", std::string(GW_SOURCE_DIR) + "/examples/ctr-volcano.yaml",
                  "--finish", "trainer=10ms", "--fail", "traner-1=1s:137x1", "--start-delay", "10ms", "--stop-delay",
                  "10ms", "--until", "job/ctr-volcano=Completed", "--timeout", "60s"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err,
            "gangway sandbox: --fail traner-1=1s:137x1: no pod has been of that name or task; did you mean trainer?\n");
}

}  // namespace
}  // namespace gangway::testutil
