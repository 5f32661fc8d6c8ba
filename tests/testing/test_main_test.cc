// How test programs end, on a sample of them; and that every test is judged by how its program ended, not by what it
// said.
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "boost/json.hpp"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/process/process.h"
#include "tests/testing/files.h"

namespace gangway::testutil {
namespace {

using ::testing::HasSubstr;

class TestMainTest : public ::testing::Test {
 protected:
  // Of the sample's tests, with none of this run's settings.
  Outcome Run(const std::string& filter, std::vector<std::string> environment = {},
              const std::string& program = GW_SAMPLE) {
    std::vector<std::string> argv{"env", "-u",           "GW_REQUIRE_ALL",
                                  "-u",  "GW_TEST_LONG", absl::StrCat("GW_TESTS_RUN=", told())};
    argv.insert(argv.end(), environment.begin(), environment.end());
    argv.insert(argv.end(), {program, absl::StrCat("--gtest_filter=", filter)});
    return RunProgram(argv);
  }
  std::string told() const { return folder_.path() + "/run"; }

  TemporaryFolder folder_{"gangway-outcomes"};
};

TEST_F(TestMainTest, WhatWasRunDecides) {
  EXPECT_EQ(Run("Sample.Passes:Sample.IsSkipped:Sample.IsDeep").exit_code, 0);
  EXPECT_EQ(Run("Sample.Passes:Sample.Fails").exit_code, 1);
  EXPECT_EQ(Run("Sample.IsSkipped:Sample.Fails").exit_code, 1);
}

TEST_F(TestMainTest, WhereAllWereSkippedTheCodeSaysSo) {
  EXPECT_EQ(Run("Sample*.IsSkipped").exit_code, GW_ALL_SKIPPED);
  EXPECT_EQ(Run("Sample*.IsSkipped:Sample.IsDeep").exit_code, GW_ALL_SKIPPED);
  EXPECT_EQ(Run("Sample.DISABLED_IsDisabled").exit_code, GW_ALL_SKIPPED);
}

TEST_F(TestMainTest, WordsOfASkipAreNoSkip) { EXPECT_EQ(Run("Sample.SaysThatItIsSkippedAndFails").exit_code, 1); }

TEST_F(TestMainTest, NoTestAtAllIsAFailure) {
  const Outcome none = Run("Sample.IsMisspelt");
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("no test was run"));
}

TEST_F(TestMainTest, UnderANameOnlyWhatItsSourcesHold) {
  const std::string named = folder_.path() + "/named_sample";
  std::filesystem::create_symlink(GW_SAMPLE, named);
  EXPECT_EQ(Run("*", {}, named).exit_code, 0);
  EXPECT_EQ(ReadFile(told()), "ran\tnamed_sample\t2\n");
  for (const char* filter : {"Named.Passes", "*.Passes", "*-*Too", "-Named.PassesToo"}) {
    std::filesystem::remove(told());
    EXPECT_EQ(Run(filter, {}, named).exit_code, 0);
    EXPECT_EQ(ReadFile(told()), "ran\tnamed_sample\t1\n") << filter;
  }
  EXPECT_THAT(Run("Sample.Passes", {}, named).err, HasSubstr("no test was run"));
}

TEST_F(TestMainTest, DeepTestsAreLeftToALongRun) {
  EXPECT_EQ(Run("Sample.IsDeep", {"GW_REQUIRE_ALL=1"}).exit_code, 0);
  EXPECT_EQ(ReadFile(told()), "ran\toutcomes_sample\t0\nlong\toutcomes_sample\tSample.IsDeep\n");
  EXPECT_EQ(Run("Sample.IsDeep", {"GW_TEST_LONG=1"}).exit_code, 0);
  EXPECT_THAT(ReadFile(told()), HasSubstr("ran\toutcomes_sample\t1\n"));
}

TEST_F(TestMainTest, EachSkipIsToldWithItsReason) {
  Run("Sample*.*Passes:Sample*.Is*:Sample.DISABLED_*");
  EXPECT_EQ(ReadFile(told()),
            "ran\toutcomes_sample\t1\nlong\toutcomes_sample\tSample.IsDeep\n"
            "skipped\toutcomes_sample\tSample.IsSkipped\tthere is no kubectl on this machine\n"
            "skipped\toutcomes_sample\tSample.DISABLED_IsDisabled\tit is disabled\n"
            "skipped\toutcomes_sample\tSampleFixture.IsSkipped\tits fixture skips\n");
}

TEST_F(TestMainTest, WhereAllIsRequiredASkipFails) {
  for (const char* skip : {"Sample.IsSkipped", "SampleFixture.IsSkipped", "Sample.DISABLED_IsDisabled"}) {
    SCOPED_TRACE(skip);
    const Outcome outcome = Run(absl::StrCat("Sample.Passes:", skip), {"GW_REQUIRE_ALL=1"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr(absl::StrCat("skipped, and GW_REQUIRE_ALL is set: ", skip)));
  }
}

// As registered: what a program says decides nothing, and the code of a skip is known everywhere.
TEST(RegisteredTestsTest, AreJudgedByTheirExitCode) {
  const Outcome listed = RunProgram({GW_CTEST, "--test-dir", GW_BUILD, "--show-only=json-v1"});
  ASSERT_EQ(listed.exit_code, 0) << listed.err;
  const boost::json::value document = boost::json::parse(listed.out);
  const boost::json::array& tests = document.at("tests").as_array();
  EXPECT_GT(tests.size(), 100u);
  for (const boost::json::value& test : tests) {
    SCOPED_TRACE(std::string(test.at("name").as_string()));
    bool knows_skips = false;
    for (const boost::json::value& property : test.at("properties").as_array()) {
      const std::string name(property.at("name").as_string());
      EXPECT_FALSE(absl::EndsWith(name, "REGULAR_EXPRESSION") || name == "WILL_FAIL" || name == "DISABLED") << name;
      if (name == "SKIP_RETURN_CODE") knows_skips = property.at("value").to_number<int>() == GW_ALL_SKIPPED;
    }
    EXPECT_TRUE(knows_skips);
  }
}

}  // namespace
}  // namespace gangway::testutil
