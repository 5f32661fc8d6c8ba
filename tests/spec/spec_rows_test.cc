// scripts/spec-rows, on programs that only say which tests they have.
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/process/process.h"
#include "tests/testing/files.h"

namespace gangway {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class SpecRowsTest : public ::testing::Test {
 protected:
  SpecRowsTest() : folder_("spec-rows") {
    std::filesystem::create_directories(folder_.path() + "/rows");
    Differences("# Different\n\n## Counts stay\n");
  }
  void Rows(const std::string& text) { testutil::WriteFile(folder_.path() + "/rows/doc.rows", text); }
  void Differences(const std::string& text) { testutil::WriteFile(folder_.path() + "/differences.md", text); }
  // A program of a build that lists these tests.
  void Program(const std::string& folder, const std::string& listing, const std::string& build = "build") {
    const std::string path = absl::StrCat(folder_.path(), "/", build, "/", folder);
    std::filesystem::create_directories(path);
    const std::string program = path + "/x_test";
    testutil::WriteFile(program, absl::StrCat("#!/bin/sh\ncat <<'END'\n", listing, "END\n"));
    ASSERT_EQ(chmod(program.c_str(), 0700), 0);
    absl::StrAppend(&programs_[build], program, "\n");
    testutil::WriteFile(absl::StrCat(folder_.path(), "/", build, "/gw_tests.list"), programs_[build]);
  }
  testutil::Outcome Run() {
    std::vector<std::string> arguments = {GW_SOURCE_DIR "/scripts/spec-rows"};
    for (const auto& [build, programs] : programs_) arguments.push_back(absl::StrCat(folder_.path(), "/", build));
    return testutil::RunProgram(
        arguments,
        {"GW_SPEC_ROWS=" + folder_.path() + "/rows", "GW_DIFFERENCES=" + folder_.path() + "/differences.md",
         "GW_THREAT_MODEL=" + folder_.path() + "/threat-model.md", "GW_SUPPORT=" + folder_.path() + "/support.md"});
  }

  testutil::TemporaryFolder folder_;
  std::map<std::string, std::string> programs_;  // of each build, a line each
};

TEST_F(SpecRowsTest, FindsRowsInNamesOfTestsAndOfTableEntries) {
  Rows("in tests/a\nrows P1-3 X9\n");
  Program("tests/a/deep",
          "Spec/ResolveTest.\n  GivesTheAction/P1  # GetParam() = P1\n  GivesTheAction/P2WithATail  # GetParam() = "
          "x\nPodTest.\n  P3X9Names\n");
  const testutil::Outcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("doc.rows: 4 of 4 rows are carried by 3 tests"));
}

TEST_F(SpecRowsTest, SaysWhichRowsNoTestCarries) {
  Rows("in tests/a\nrows P1-12\n");
  Program("tests/a", "T.\n  P1One\n  P3rdPartOfAWord\n  DISABLED_P4\n  AboutP5\n  P6Six/0  # GetParam() = 7\n");
  Program("tests/b", "T.\n  P2InAnotherFolder\n");
  const testutil::Outcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("doc.rows: no test carries P2 P3 P4 P5 P7 P8 P9 P10 P11 P12\n"));
}

TEST_F(SpecRowsTest, EachBuildHasItsTests) {
  Rows("in tests/a\nrows P1-3\n");
  Program("tests/a", "T.\n  P1One\n  P2Two\n");
  Program("tests/a", "T.\n  P2Two\nU.\n  P3Three\n", "sanitized");
  const testutil::Outcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("doc.rows: 3 of 3 rows are carried by 3 tests"));
}

TEST_F(SpecRowsTest, ProgramsOfAnotherDocumentAreLeftOut) {
  Rows("in tests/a tests/b/x_test\nnot tests/a/paddle/x_test\nrows P1-2\n");
  Program("tests/a", "T.\n  P1One\n");
  Program("tests/a/paddle", "T.\n  P1P99OfAnother\n");
  Program("tests/b", "T.\n  P2Two\n");
  const testutil::Outcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("2 of 2 rows are carried by 2 tests"));
}

TEST_F(SpecRowsTest, ARowThatDoesNotExistIsATypingError) {
  Rows("in tests/a\nrows P1\n");
  Program("tests/a", "T.\n  P1P26One\n");
  const testutil::Outcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("there is no row P26 (T.P1P26One"));
}

TEST_F(SpecRowsTest, RowsThatComeLaterOrNeverAreCounted) {
  Rows("in tests/a\nrows P1-9\nlater eviction: P2-4 P6\nlater volumes: P7\nnever nobody votes: P8 P9\n");
  Program("tests/a", "T.\n  P1P5Both\n");
  const testutil::Outcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("doc.rows: 2 of 9 rows are carried by 1 tests; 5 not yet; 2 never\n"));
}

TEST_F(SpecRowsTest, ARowThatIsCarriedIsLateNoMore) {
  Rows("in tests/a\nrows P1-4\nlater eviction: P1-2\nnever nobody votes: P2 P3 P7\nlater : P4\n");
  Program("tests/a", "T.\n  P1One\n");
  const testutil::Outcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("later or never, and yet a test carries P1\n"),
                                 HasSubstr("later or never names P7, which is no row"),
                                 HasSubstr("later and never name P2 twice"), HasSubstr("say what or why")));
}

TEST_F(SpecRowsTest, DifferencesHaveTheirHeadingsAndTests) {
  Rows("in tests/a\nrows P1-2\nours Counts stay: P1\n");
  Program("tests/a", "T.\n  P1P2\nAll/JobTest.\n  Ends/P2  # x\n");
  Differences("# Different\n\n## Counts stay\n\nShown by `JobTest.Ends`.\n");
  EXPECT_EQ(Run().exit_code, 0);
  Rows("in tests/a\nrows P1-2\nours Counts go: P1\n");
  Differences("## Counts stay\n\nShown by `JobTest.Begins`.\n");
  const testutil::Outcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("no heading 'Counts go'"), HasSubstr("there is no test JobTest.Begins"),
                                 Not(HasSubstr("carries"))));
}

TEST_F(SpecRowsTest, TheListOfAttacksIsHeldAgainstTheTestsToo) {
  Rows("in tests/a\nrows P1\n");
  Program("tests/a", "JobTest.\n  P1Ends\n");
  testutil::WriteFile(folder_.path() + "/threat-model.md",
                      "| a flood | a wall | `JobTest.P1Ends`, `JobTest.Holds` |\n");
  const testutil::Outcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("threat-model.md: there is no test JobTest.Holds"), Not(HasSubstr("JobTest.P1Ends"))));
}

TEST_F(SpecRowsTest, WhatIsSupportedIsHeldAgainstTheTestsToo) {
  Rows("in tests/a\nrows P1\n");
  Program("tests/a", "JobTest.\n  P1Ends\n");
  testutil::WriteFile(folder_.path() + "/support.md", "| Helm | 3.21.3 | `JobTest.P1Ends`, `HelmTest.Installs` |\n");
  const testutil::Outcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("support.md: there is no test HelmTest.Installs"), Not(HasSubstr("JobTest.P1Ends"))));
}

}  // namespace
}  // namespace gangway
