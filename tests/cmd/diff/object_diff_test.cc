// What would change, as people read it.
#include "cmd/diff/object_diff.h"

#include <random>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cmd/diff/line_diff.h"
#include "gtest/gtest.h"

namespace gangway::cmd {
namespace {

TEST(UnifiedDiffTest, ReadsLikeThatOfDiff) {
  EXPECT_EQ(UnifiedDiff("a\nb\n", "a\nb\n", "x", "y"), "");
  EXPECT_EQ(UnifiedDiff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\nten\n", "live", "new"),
            "--- live\n+++ new\n@@ -2,8 +2,9 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n+ten\n");
  EXPECT_EQ(UnifiedDiff("", "a\nb\n", "live", "new"), "--- live\n+++ new\n@@ -0,0 +1,2 @@\n+a\n+b\n");
  EXPECT_EQ(UnifiedDiff("a\n", "", "live", "new"), "--- live\n+++ new\n@@ -1 +0,0 @@\n-a\n");
  std::string far = "x\n";
  for (int i = 0; i < 20; ++i) absl::StrAppend(&far, i, "\n");
  EXPECT_EQ(UnifiedDiff(far + "x\n", "y\n" + far.substr(2) + "y\n", "a", "b"),
            "--- a\n+++ b\n@@ -1,4 +1,4 @@\n-x\n+y\n 0\n 1\n 2\n@@ -19,4 +19,4 @@\n 17\n 18\n 19\n-x\n+y\n");
}

// Carries out what a diff says; "broken" when it does not fit.
std::string Patched(const std::string& before, const std::string& diff) {
  const std::vector<std::string> old = absl::StrSplit(before, '\n');
  std::string out;
  std::size_t at = 0;
  for (const absl::string_view line : absl::StrSplit(diff, '\n')) {
    if (line.empty() || absl::StartsWith(line, "--- ") || absl::StartsWith(line, "+++ ")) continue;
    if (absl::StartsWith(line, "@@ -")) {
      const std::string range(line.substr(4, line.find(' ', 4) - 4));
      const std::vector<std::string> numbers = absl::StrSplit(range, ',');
      std::size_t first = 0;
      if (!absl::SimpleAtoi(numbers[0], &first)) return "broken";
      if (numbers.size() == 2 && numbers[1] == "0") ++first;
      for (; at + 1 < first; ++at) absl::StrAppend(&out, old[at], "\n");
    } else if (line[0] == '+') {
      absl::StrAppend(&out, line.substr(1), "\n");
    } else {
      if (at >= old.size() || old[at] != line.substr(1)) return "broken";
      if (line[0] == ' ') absl::StrAppend(&out, old[at], "\n");
      ++at;
    }
  }
  for (; at + 1 < old.size(); ++at) absl::StrAppend(&out, old[at], "\n");
  return out;
}

TEST(UnifiedDiffTest, CarriedOutItGivesTheOtherText) {
  std::mt19937 random(3);
  for (int round = 0; round < 2'000; ++round) {
    std::string before, after;
    for (std::size_t n = random() % 40; n > 0; --n) {
      const std::string line = absl::StrCat("l", random() % 6, "\n");
      if (random() % 5 != 0) before += line;
      if (random() % 5 != 0) after += line;
    }
    const std::string diff = UnifiedDiff(before, after, "a", "b");
    ASSERT_EQ(Patched(before, diff), after) << "before:\n" << before << diff;
  }
}

TEST(ObjectDiffTest, WhatTheServerAndOthersWroteStays) {
  const boost::json::value live = boost::json::parse(
      R"({"metadata":{"name":"wd","uid":"1","labels":{"theirs":"1"},"ownerReferences":[{"uid":"2"}]},"spec":{"queue":"a","gone":1},"status":{"x":1}})");
  const boost::json::value ours =
      boost::json::parse(R"({"metadata":{"name":"wd","labels":{"ours":"2"}},"spec":{"queue":"b"}})");
  EXPECT_EQ(
      boost::json::serialize(Replaced(live, ours)),
      R"({"metadata":{"name":"wd","uid":"1","labels":{"theirs":"1","ours":"2"},"ownerReferences":[{"uid":"2"}]},"spec":{"queue":"b"},"status":{"x":1}})");
  EXPECT_EQ(ShownAs(live),
            "metadata:\n  labels:\n    theirs: \"1\"\n  name: wd\n  ownerReferences:\n    - uid: \"2\"\nspec:\n  gone: "
            "1\n  queue: a\n");
  EXPECT_EQ(ShownAs(nullptr), "");
}

}  // namespace
}  // namespace gangway::cmd
