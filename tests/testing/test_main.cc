// main() of every test program. What GoogleTest leaves to its caller: that nothing is green because nothing was run.
//   * A program whose every test was skipped ends with kAllSkipped, which ctest shows as skipped (SKIP_RETURN_CODE);
//   one that ran no test fails.
//   * $GW_TESTS_RUN names a file to which each program adds how many tests it ran, and each that it skipped with the
//   reason; scripts/skips reads it.
//   * A program of many tests runs, under a name that kTestNames has, what the sources behind that name hold.
//   * With GW_REQUIRE_ALL a test that is skipped, or disabled, fails its program. What only a long run has
//   (GW_LONG_TEST) is counted by itself.
#include <fnmatch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::testutil {

extern const char* const kTestNames;  // lines of a name and its sources

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
    if (result.GetTestPartResult(i).skipped())
      return absl::StrReplaceAll(result.GetTestPartResult(i).message(), {{"\n", " "}, {"\t", " "}});
  }
  return "no reason was given";
}

std::string FullName(const ::testing::TestInfo& test) { return absl::StrCat(test.test_suite_name(), ".", test.name()); }

void Count(const ::testing::TestInfo& test, Outcomes& outcomes) {
  const std::string name = FullName(test);
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

// As GoogleTest reads a filter: what is wanted, then, behind a minus, what is not, each with colons between patterns.
bool Matches(const std::string& filter, const std::string& name) {
  const auto any = [&](const std::string& patterns) {
    const std::vector<std::string> list = absl::StrSplit(patterns, ':', absl::SkipEmpty());
    return std::any_of(list.begin(), list.end(),
                       [&](const std::string& pattern) { return fnmatch(pattern.c_str(), name.c_str(), 0) == 0; });
  };
  const std::vector<std::string> sides = absl::StrSplit(filter, absl::MaxSplits('-', 1));
  return (sides[0].empty() || any(sides[0])) && !(sides.size() > 1 && any(sides[1]));
}

// The filter that leaves only what is asked for anyway and stands in one of `sources`.
std::string Narrowed(const std::string& filter, const std::vector<std::string>& sources) {
  std::vector<std::string> kept;
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *all.GetTestSuite(i);
    const std::size_t before = kept.size();
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const ::testing::TestInfo& test = *suite.GetTestInfo(j);
      const std::string path = test.file();
      const std::string source = path.substr(path.rfind('/') + 1);
      if (std::find(sources.begin(), sources.end(), source) != sources.end() && Matches(filter, FullName(test)))
        kept.push_back(FullName(test));
    }
    if (kept.size() == before + static_cast<std::size_t>(suite.total_test_count()) && kept.size() > before) {
      kept.resize(before);
      kept.push_back(absl::StrCat(suite.name(), ".*"));  // the filter is printed
    }
  }
  return kept.empty() ? "-*" : absl::StrJoin(kept, ":");
}

void KeepWhatIsCalled(const std::string& program) {
  const std::vector<std::string> lines = absl::StrSplit(kTestNames, '\n');
  for (const std::string& line : lines) {
    std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (words.front() != program) continue;
    words.erase(words.begin());
    GTEST_FLAG_SET(filter, Narrowed(GTEST_FLAG_GET(filter), words));
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
      std::fprintf(stderr, "skipped, and GW_REQUIRE_ALL is set: %s\n",
                   absl::StrReplaceAll(line, {{"\t", ": "}}).c_str());
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
  const std::string program = path.substr(path.rfind('/') + 1);
  ::testing::InitGoogleMock(&argc, argv);
  gangway::testutil::KeepWhatIsCalled(program);
  const int code = RUN_ALL_TESTS();
  if (GTEST_FLAG_GET(list_tests)) return code;
  const gangway::testutil::Outcomes outcomes = gangway::testutil::CountAll();
  gangway::testutil::Tell(program, outcomes);
  return gangway::testutil::Judge(outcomes, code);
}
