#include "tests/simulation/shrink.h"

#include <algorithm>
#include <cstdio>

#include "base/log.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/simulation/broken.h"

namespace gangway::testutil {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using Numbers = std::vector<std::size_t>;

bool Has(const Numbers& numbers, std::size_t each) {
  return std::find(numbers.begin(), numbers.end(), each) != numbers.end();
}

TEST(ShrinkTest, LeavesWhatTheFailureNeeds) {
  EXPECT_THAT(Shrink(40, [](const Numbers& n) { return Has(n, 7); }, 1000), ElementsAre(7));
  EXPECT_THAT(
      Shrink(40, [](const Numbers& n) { return Has(n, 3) && Has(n, 20) && Has(n, 39); }, 1000), ElementsAre(3, 20, 39));
  EXPECT_THAT(Shrink(40, [](const Numbers&) { return true; }, 1000), IsEmpty());
  EXPECT_THAT(Shrink(5, [](const Numbers& n) { return n.size() == 5; }, 1000), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(Shrink(0, [](const Numbers&) { return true; }, 1000), IsEmpty());
}

// 8 can be left out only once 9 is.
TEST(ShrinkTest, NothingThatIsLeftCanBeLeftOut) {
  EXPECT_THAT(
      Shrink(10, [](const Numbers& n) { return Has(n, 1) && (!Has(n, 9) || Has(n, 8)); }, 1000), ElementsAre(1));
}

TEST(ShrinkTest, TriesNoMoreThanItMay) {
  int tries = 0;
  const Numbers kept = Shrink(1000, [&](const Numbers& n) { return ++tries, Has(n, 1) && Has(n, 999); }, 20);
  EXPECT_EQ(tries, 20);
  EXPECT_TRUE(Has(kept, 1) && Has(kept, 999));
}

TEST(RuleOfTest, IsTheSameWhoeverAndWheneverItIs) {
  EXPECT_EQ(RuleOf("gang default/job-0-1 was part-bound from 2026-01-01 for 2m1s; minMember 4"),
            RuleOf("gang default/job-1-2 was part-bound from 2026-01-02 for 3m; minMember 2"));
  EXPECT_NE(RuleOf("gang default/job-0 was part-bound from 2026"), RuleOf("pod default/a bound twice: to n1"));
}

class ShrinkHistoryTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    log::Options options;
    options.level = log::Level::kOff;
    log::Configure(std::move(options));
  }
};

// A history with faults, chaos and a scheduler that binds to full nodes: jobs are all it needs.
TEST_F(ShrinkHistoryTest, AFailingHistoryBecomesAFewEvents) {
  int shrunk = 0;
  for (std::uint64_t seed = 1; seed <= 30 && shrunk < 3; ++seed) {
    HistoryOptions options;
    options.seed = seed;
    options.limit = absl::Minutes(20);
    WrongComponentCalled("IgnoresRoom").take_part(options);
    const HistoryResult result = RunHistory(options);
    if (result.drawn.size() < 20 || result.violations.empty()) continue;
    ++shrunk;
    const ShrunkHistory small = ShrinkHistory(options, result);
    ASSERT_THAT(small.result.violations, Not(IsEmpty()));
    EXPECT_LE(small.keep.size(), 3u) << Report(options, result);
    options.keep = small.keep;
    const HistoryResult again = RunHistory(options);
    EXPECT_EQ(again.journal_hash, small.result.journal_hash) << "the replay is another history";
    EXPECT_EQ(again.violations, small.result.violations);
    if (shrunk == 1) {
      options.keep.reset();
      const std::string report = Report(options, result);
      EXPECT_THAT(report, HasSubstr("user: job-"));
      EXPECT_THAT(report, HasSubstr("replay: GW_SIMULATION_SEED="));
      std::printf("%s\n", report.c_str());
    }
  }
  EXPECT_EQ(shrunk, 3);
}

TEST_F(ShrinkHistoryTest, AFailingContendedHistoryBecomesAFewJobs) {
  HistoryOptions options;
  options.contended = true;
  options.chaos = false;
  options.limit = absl::Minutes(15);
  const WrongComponent component = WrongComponentCalled("IgnoresHostPorts");
  component.take_part(options);
  options.stop_when = component.named_by;
  HistoryResult result;
  for (options.seed = 1; options.seed <= 10 && result.violations.empty(); ++options.seed) result = RunHistory(options);
  --options.seed;
  ASSERT_GT(result.drawn.size(), 20u);
  ASSERT_THAT(result.violations, Not(IsEmpty()));
  const ShrunkHistory small = ShrinkHistory(options, result, 60);
  EXPECT_LE(small.keep.size(), 3u) << Report(options, result);
  EXPECT_THAT(small.result.broken, ElementsAre(Rule::kPorts));
}

TEST_F(ShrinkHistoryTest, WhatIsLeftOutNeverHappens) {
  HistoryOptions options;
  options.seed = 7;
  options.keep = Numbers{};
  const HistoryResult result = RunHistory(options);
  EXPECT_THAT(result.incidents, IsEmpty());
  EXPECT_THAT(result.violations, IsEmpty());
  EXPECT_THAT(result.drawn, Not(SizeIs(0)));
  options.keep.reset();
  EXPECT_EQ(RunHistory(options).drawn, result.drawn) << "what is drawn does not depend on what is kept";
}

}  // namespace
}  // namespace gangway::testutil
