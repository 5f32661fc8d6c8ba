// scripts/run-tests: what passed is run again as soon as anything that it may read has changed, and nothing else is
// believed.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/process/process.h"
#include "tests/testing/files.h"

namespace gangway::testutil {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

namespace fs = std::filesystem;

// A project with sources and a golden file, and its build folder: tests that are shell scripts, called "plain" (nothing
// but its program), "starts" (names the program gangway), "reads" (sources), "draws", and "look", which no program is.
class RunTestsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (RunProgram({"git", "--version"}).exit_code != 0) GTEST_SKIP() << "there is no git on this machine";
    ASSERT_EQ(RunProgram({"git", "init", "-q", path("source")}).exit_code, 0);
    Write("source/plugin/place.cc", "int a;\n");
    Write("source/tests/golden/a.yaml", "a: 1\n");
    Write("source/CHANGELOG.md", "nothing yet\n");
    Write("source/.gitignore", "/build/\n");
    Program("gangway", "");
    for (const char* name : {"plain", "reads", "draws"}) Program(name, "");
    Program("starts", absl::StrCat("# ", build("gangway")));
    Write("source/look", "#!/bin/sh\necho look >>" + path("log") + "\n");
    Executable("source/look");
    std::string table, entries;
    for (const char* name : {"plain", "starts", "reads", "draws"}) {
      const bool habit = name[0] == 'r' || name[0] == 'd';
      absl::StrAppend(&table, name, "\t", build(name), "\t", habit ? name : "", "\n");
      absl::StrAppend(&entries, Entry(name, build(name)));
    }
    Write("source/build/dev/gw_tests.table", table);
    Write("source/build/dev/CTestTestfile.cmake", entries + Entry("look", path("source/look")));
  }

  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string build(const std::string& name) const { return path("source/build/dev/" + name); }
  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    WriteFile(path(name), text);
  }
  void Executable(const std::string& name) const { fs::permissions(path(name), fs::perms::owner_all); }
  static std::string Entry(const std::string& name, const std::string& program) {
    return absl::StrCat("add_test(", name, " \"", program, "\")\nset_tests_properties(", name,
                        " PROPERTIES SKIP_RETURN_CODE ", GW_ALL_SKIPPED, ")\n");
  }
  // One that notes that it was run, tells of three tests as tests/testing/test_main.cc does, and does `more`.
  void Program(const std::string& name, const std::string& more) const {
    Write("source/build/dev/" + name,
          absl::StrCat("#!/bin/sh\necho ", name, " >>", path("log"), "\nprintf 'ran\\t", name, "\\t3\\nlong\\t", name,
                       "\\tA.Deep\\n' >>$GW_TESTS_RUN\n", more, "\n"));
    Executable("source/build/dev/" + name);
  }
  Outcome Script(const std::vector<std::string>& environment = {}, const std::string& option = "") {
    Write("log", "");
    Write("told", "");
    std::vector<std::string> all{"env", "-u", "GW_REQUIRE_ALL", "-u", "GW_UPDATE_GOLDEN", "-u", "FRESH", "JOBS=1"};
    all.insert(all.end(), {"GW_SOURCE=" + path("source"), "GW_TESTS_RUN=" + path("told")});
    all.insert(all.end(), environment.begin(), environment.end());
    all.insert(all.end(), {GW_SOURCE_DIR "/scripts/run-tests", path("source/build/dev")});
    if (!option.empty()) all.push_back(option);
    return RunProgram(all);
  }
  // What was run, in order of its name.
  std::vector<std::string> Ran(const std::vector<std::string>& environment = {}) {
    const Outcome outcome = Script(environment);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    return Log();
  }
  std::vector<std::string> Log() const {
    std::vector<std::string> names = absl::StrSplit(ReadFile(path("log")), '\n', absl::SkipEmpty());
    std::sort(names.begin(), names.end());
    return names;
  }
  static auto All() { return ElementsAre("draws", "look", "plain", "reads", "starts"); }

  TemporaryFolder folder_{"gangway-run-tests"};
};

TEST_F(RunTestsTest, WhatPassedIsCountedAndNotRunAgain) {
  EXPECT_THAT(Ran(), All());
  EXPECT_THAT(ReadFile(path("told")), Not(HasSubstr("unchanged")));
  const Outcome again = Script();
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(Log(), ElementsAre("draws")) << "which is another test each time";
  EXPECT_THAT(again.out, HasSubstr("4 of 5 tests of dev passed before, and nothing that they read has changed since"));
  const std::vector<std::string> told = absl::StrSplit(ReadFile(path("told")), '\n');
  EXPECT_THAT(told,
              IsSupersetOf({"unchanged\tplain\t3", "long\tplain\tA.Deep", "unchanged\tlook\t0", "ran\tdraws\t3"}));
  EXPECT_THAT(told, Not(IsSupersetOf({"ran\tplain\t3"})));
  EXPECT_THAT(Ran(), ElementsAre("draws"));
}

TEST_F(RunTestsTest, WhereAllIsRequiredAllIsRun) {
  for (const std::string setting : {"FRESH=1", "GW_REQUIRE_ALL=1", "GW_UPDATE_GOLDEN=1"}) {
    Ran({setting});
    EXPECT_THAT(Ran({setting}), All()) << setting;
  }
}

TEST_F(RunTestsTest, AChangedProgramIsRunAgainAndWhatLooksAtAllPrograms) {
  Ran();
  Program("plain", "# another");
  EXPECT_THAT(Ran(), ElementsAre("draws", "look", "plain"));
}

TEST_F(RunTestsTest, AChangeOfGangwayRunsWhatStartsIt) {
  Ran();
  Program("gangway", "# another");
  EXPECT_THAT(Ran(), ElementsAre("draws", "look", "starts"));
}

TEST_F(RunTestsTest, AChangedSourceRunsOnlyWhatReadsSources) {
  Ran();
  Write("source/plugin/place.cc", "int b;\n");
  EXPECT_THAT(Ran(), ElementsAre("draws", "look", "reads"));
  Write("source/CHANGELOG.md", "a line\n");
  EXPECT_THAT(Ran(), ElementsAre("draws", "look", "reads"));
}

TEST_F(RunTestsTest, AChangedGoldenFileRunsAll) {
  Ran();
  Write("source/tests/golden/a.yaml", "a: 2\n");
  EXPECT_THAT(Ran(), All());
  Write("source/tests/golden/new.yaml", "");
  EXPECT_THAT(Ran(), All());
  fs::remove(path("source/tests/golden/new.yaml"));
  EXPECT_THAT(Ran(), All());
  EXPECT_THAT(Ran(), ElementsAre("draws"));
}

TEST_F(RunTestsTest, WhatIsInstalledAndSetCounts) {
  Ran();
  EXPECT_THAT(Ran({"GW_SIMULATION_SEED=7"}), All());
  Write("bin/kubectl", "");
  const std::string with_kubectl = absl::StrCat("PATH=", path("bin"), ":", std::getenv("PATH"));
  EXPECT_THAT(Ran({with_kubectl}), All());
  EXPECT_THAT(Ran({with_kubectl}), ElementsAre("draws"));
  Write("bin/kubectl", "newer");
  EXPECT_THAT(Ran({with_kubectl}), All());
  Write("e2e/etcd", "");
  EXPECT_THAT(Ran({"GW_E2E_BIN=" + path("e2e")}), All());
  Write("e2e/etcd", "newer");
  EXPECT_THAT(Ran({"GW_E2E_BIN=" + path("e2e")}), All());
}

TEST_F(RunTestsTest, TheLocaleIsTheCallersAndCounts) {
  Program("plain", "[ \"$LC_ALL\" = C.UTF-8 ]");
  EXPECT_THAT(Ran({"LC_ALL=C.UTF-8"}), All());
  EXPECT_NE(Script({"LC_ALL=POSIX"}).exit_code, 0);
}

TEST_F(RunTestsTest, WhatFailsIsRunUntilItPasses) {
  Program("plain", "exit $(cat " + path("code") + ")");
  Write("code", "1");
  for (int i = 0; i < 2; ++i) {
    EXPECT_NE(Script().exit_code, 0);
    EXPECT_THAT(Log(), IsSupersetOf({"plain"}));
  }
  EXPECT_THAT(Log(), ElementsAre("draws", "plain")) << "the others passed";
  Write("code", "0");
  EXPECT_THAT(Ran(), ElementsAre("draws", "plain"));
  EXPECT_THAT(Ran(), ElementsAre("draws"));
}

TEST_F(RunTestsTest, WhatPassedOnceAndFailsIsForgotten) {
  Ran();
  const std::string good = ReadFile(build("plain"));
  Program("plain", "exit 1");
  EXPECT_NE(Script().exit_code, 0);
  Write("source/build/dev/plain", good);
  Executable("source/build/dev/plain");
  EXPECT_THAT(Ran(), IsSupersetOf({"plain"}));
}

// One that fails, and passes from its second run on.
TEST_F(RunTestsTest, WhatStartsProgramsMayFailBesideOthersIfItPassesAlone) {
  const auto starts_and_fails_once = [&](const std::string& name) {
    Program(name,
            absl::StrCat("# ", build("gangway"), "\n[ -e ", path(name), " ] || { : >", path(name), "; exit 1; }"));
  };
  starts_and_fails_once("starts");
  EXPECT_NE(Script().exit_code, 0) << "not asked for";
  starts_and_fails_once("starts");
  fs::remove(path("starts"));
  const Outcome outcome = Script({"GW_REQUIRE_ALL=1"}, "--alone");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(Log(), ElementsAre("draws", "look", "plain", "reads", "starts", "starts"));
  const std::vector<std::string> told = absl::StrSplit(ReadFile(path("told")), '\n');
  EXPECT_EQ(std::count(told.begin(), told.end(), "ran\tstarts\t3"), 1);
  EXPECT_EQ(std::count(told.begin(), told.end(), "flaky\tstarts"), 1);
  EXPECT_THAT(Ran(), IsSupersetOf({"starts"})) << "it did not pass as the others did";

  Program("starts", absl::StrCat("# ", build("gangway"), "\nexit 1"));
  EXPECT_NE(Script({}, "--alone").exit_code, 0) << "it fails alone, too";
  EXPECT_THAT(ReadFile(path("told")), Not(HasSubstr("flaky")));
  Program("starts", absl::StrCat("# ", build("gangway")));
  starts_and_fails_once("draws");
  EXPECT_NE(Script({}, "--alone").exit_code, 0) << "which is another test each time";
  Program("plain", absl::StrCat("[ -e ", path("plain"), " ] || { : >", path("plain"), "; exit 1; }"));
  EXPECT_NE(Script({}, "--alone").exit_code, 0) << "which starts nothing";
  for (const char* name : {"starts", "plain", "reads"}) {
    fs::remove(path(name));
    starts_and_fails_once(name);
  }
  EXPECT_NE(Script({}, "--alone").exit_code, 0) << "three are no accident";
}

TEST_F(RunTestsTest, WhatWasSkippedIsAlwaysRun) {
  Program("plain", absl::StrCat("exit ", GW_ALL_SKIPPED));
  Program("reads", "printf 'skipped\\treads\\tA.1\\tno kubectl\\n' >>$GW_TESTS_RUN");
  Ran();
  EXPECT_THAT(Ran(), ElementsAre("draws", "plain", "reads"));
  EXPECT_THAT(ReadFile(path("told")), HasSubstr("no kubectl"));
}

TEST_F(RunTestsTest, WhatTellsOfNothingIsNotBelieved) {
  Write("source/build/dev/plain", "#!/bin/sh\necho plain >>" + path("log") + "\n");
  Executable("source/build/dev/plain");
  Ran();
  EXPECT_THAT(Ran(), ElementsAre("draws", "plain"));
}

TEST_F(RunTestsTest, WhatReadSomethingElseIsNotBelieved) {
  Program("plain", "echo a: 2 >" + path("source/tests/golden/a.yaml"));
  Ran();
  Write("source/tests/golden/a.yaml", "a: 1\n");
  EXPECT_THAT(Ran(), All());
}

TEST_F(RunTestsTest, WhereNothingSaysWhatIsTheProjectsAllIsRun) {
  Ran();
  fs::remove_all(path("source/.git"));
  EXPECT_THAT(Ran(), All());
}

TEST_F(RunTestsTest, ATestThatIsNotThereFails) {
  Ran();
  fs::remove(build("plain"));
  EXPECT_NE(Script().exit_code, 0);
  Write("source/build/dev/CTestTestfile.cmake", "");
  EXPECT_NE(Script().exit_code, 0);
}

}  // namespace
}  // namespace gangway::testutil
