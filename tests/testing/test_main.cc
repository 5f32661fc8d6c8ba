// main() of every test program. What GoogleTest leaves to its caller: that nothing is green because nothing was run.
//   * A program whose every test was skipped ends with kAllSkipped, which ctest shows as skipped (SKIP_RETURN_CODE); one that ran no test fails.
//   * $GW_TESTS_RUN names a file to which each program adds how many tests it ran, and each that it skipped with the reason; scripts/skips reads it.
//   * With GW_REQUIRE_ALL a test that is skipped, or disabled, fails its program. What only a long run has (GW_LONG_TEST) is counted by itself.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::testutil {
namespace {

constexpr int kAllSkipped = GW_ALL_SKIPPED;

struct Outcomes {
  int run = 0;
  std::vector<std::string> deep;     // names
  std::vector<std::string> skipped;  // names and reasons, a tab between them
};

bool IsDisabled(const ::testing::TestInfo& test) {
  return absl::StrContains(test.name(), "DISABLED_") || absl::StrContains(test.test_suite_name(), "DISABLED_");
}

bool IsDeep(const ::testing::TestResult& result) {
  for (int i = 0; i < result.test_property_count(); ++i) {
    if (std::string(result.GetTestProperty(i).key()) == "long") return true;
  }
  return false;
}

std::string Reason(const ::testing::TestResult& result) {
  for (int i = 0; i < result.total_part_count(); ++i) {
    if (result.GetTestPartResult(i).skipped()) return absl::StrReplaceAll(result.GetTestPartResult(i).message(), {{"\n", " "}, {"\t", " "}});
  }
  return "no reason was given";
}

void Count(const ::testing::TestInfo& test, Outcomes& outcomes) {
  const std::string name = absl::StrCat(test.test_suite_name(), ".", test.name());
  if (!test.should_run()) {
    if (test.is_reportable() && IsDisabled(test)) outcomes.skipped.push_back(absl::StrCat(name, "\tit is disabled"));
  } else if (!test.result()->Skipped()) {
    ++outcomes.run;
  } else if (IsDeep(*test.result())) {
    outcomes.deep.push_back(name);
  } else {
    outcomes.skipped.push_back(absl::StrCat(name, "\t", Reason(*test.result())));
  }
}

Outcomes CountAll() {
  Outcomes outcomes;
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) Count(*suite.GetTestInfo(j), outcomes);
  }
  return outcomes;
}

// In one write, since other programs add their lines at the same time.
void Tell(const std::string& program, const Outcomes& outcomes) {
  const char* const file = std::getenv("GW_TESTS_RUN");
  if (file == nullptr) return;
  std::string lines = absl::StrCat("ran\t", program, "\t", outcomes.run, "\n");
  for (const std::string& name : outcomes.deep) absl::StrAppend(&lines, "long\t", program, "\t", name, "\n");
  for (const std::string& line : outcomes.skipped) absl::StrAppend(&lines, "skipped\t", program, "\t", line, "\n");
  std::ofstream(file, std::ios::app) << lines;
}

int Judge(const Outcomes& outcomes, int code) {
  if (code != 0) return code;
  if (!outcomes.skipped.empty() && std::getenv("GW_REQUIRE_ALL") != nullptr) {
    for (const std::string& line : outcomes.skipped) {
      std::fprintf(stderr, "skipped, and GW_REQUIRE_ALL is set: %s\n", absl::StrReplaceAll(line, {{"\t", ": "}}).c_str());
    }
    return 1;
  }
  if (outcomes.run > 0) return 0;
  if (!outcomes.skipped.empty()) return kAllSkipped;
  if (!outcomes.deep.empty()) return 0;
  std::fprintf(stderr, "no test was run: the filter matches none, or the program has none\n");
  return 1;
}

}  // namespace
}  // namespace gangway::testutil

int main(int argc, char** argv) {
  const std::string path = argv[0];
  ::testing::InitGoogleMock(&argc, argv);
  const int code = RUN_ALL_TESTS();
  if (GTEST_FLAG_GET(list_tests)) return code;
  const gangway::testutil::Outcomes outcomes = gangway::testutil::CountAll();
  gangway::testutil::Tell(path.substr(path.rfind('/') + 1), outcomes);
  return gangway::testutil::Judge(outcomes, code);
}
