// What a cluster gains that keeps Volcano and asks us: the same workload, by a scheduler that does as Volcano's,
// without us and with each mode. docs/extender.md has the tables; GW_UPDATE_GOLDEN=1 writes them anew.
#include "tests/plugin/extender/beside/beside.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/files.h"
#include "tests/testing/golden.h"

namespace gangway::beside {
namespace {

using extender::Mode;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr Mode kModes[] = {Mode::kLight, Mode::kSteer};

Outcome Of(const Workload& workload, std::optional<Mode> mode, Seconds until = 6 * 3600) {
  Options options;
  options.mode = mode;
  options.until = until;
  Outcome out = Run(workload, options);
  EXPECT_THAT(out.broken, IsEmpty());
  return out;
}

// Four nodes' worth of cpu is free by sums, and no node has room for one pod.
TEST(BesideTest, AGangThatCanNeverBePlacedIsHeldBackAndTakesNoRoomFromOthers) {
  Workload workload;
  workload.jobs = {{"never", 6, 17'000, 0, 60, false}, {"runs", 24, 14'000, 1, 60, false}};
  const Outcome alone = Of(workload, std::nullopt);
  EXPECT_THAT(alone.let_in_vain, ElementsAre("never"));
  for (const Mode mode : kModes) {
    const Outcome asked = Of(workload, mode);
    EXPECT_THAT(asked.let_in_vain, IsEmpty());
    EXPECT_THAT(asked.never, ElementsAre("never"));
    EXPECT_TRUE(asked.placed.contains("runs"));
  }
  // What was let in for nothing is promised cluster that others do not get: 6 x 17 and 24 x 14 are more than 120 %.
  workload.jobs[1].milli = 15'500;
  EXPECT_FALSE(Of(workload, std::nullopt).placed.contains("runs"));
  for (const Mode mode : kModes) EXPECT_TRUE(Of(workload, mode).placed.contains("runs"));
}

// Small jobs without end; a gang that needs twelve whole nodes at once.
Workload Stream() {
  Workload workload;
  for (int i = 0; i < 300; ++i) {
    workload.jobs.push_back({absl::StrCat("s", absl::Dec(i, absl::kZeroPad3)), 1, 8000, 1.5 * i, 60, false});
    if (i == 60) workload.jobs.push_back({"large", 12, 16'000, 1.5 * i, 60, false});
  }
  return workload;
}

TEST(BesideTest, ALargeGangNoLongerStarves) {
  const Workload workload = Stream();
  const double stream = workload.jobs.back().comes;
  const Outcome alone = Of(workload, std::nullopt);
  ASSERT_TRUE(alone.placed.contains("large"));
  EXPECT_GT(alone.placed.at("large").waited, stream / 2) << "only once the small ones end";
  for (const Mode mode : kModes) {
    const Outcome asked = Of(workload, mode);
    ASSERT_TRUE(asked.placed.contains("large"));
    EXPECT_LT(asked.placed.at("large").waited, stream / 4) << static_cast<int>(mode);
    EXPECT_EQ(asked.placed.size(), workload.jobs.size());
  }
}

TEST(BesideTest, WholeGangsLieInOneRack) {
  const Workload workload = Draw(3, 80, 2);
  const auto scattered = [&](const Outcome& outcome) {
    int out = 0;
    for (const Job& job : workload.jobs) {
      const auto placed = outcome.placed.find(job.name);
      out += job.close && placed != outcome.placed.end() && placed->second.racks > 1 ? 1 : 0;
    }
    return out;
  };
  EXPECT_GT(scattered(Of(workload, std::nullopt)), 0);
  const Outcome steered = Of(workload, Mode::kSteer);
  EXPECT_EQ(scattered(steered), 0);
  EXPECT_EQ(steered.placed.size(), workload.jobs.size());
}

// The days that docs/extender.md tells of, run once.
class DocumentedTest : public ::testing::Test {
 protected:
  static const Documented& Runs() {
    static const Documented documented = RunDocumented();
    return documented;
  }
  static double Sum(const std::vector<Outcome>& outcomes, double (*of)(const Outcome&)) {
    double sum = 0;
    for (const Outcome& one : outcomes) sum += of(one);
    return sum;
  }
  static double Makespan(const Outcome& outcome) { return outcome.makespan; }
  static double Plans(const Outcome& outcome) { return static_cast<double>(outcome.plans); }
  static double PlacedGangs(const Outcome& outcome) { return static_cast<double>(outcome.placed.size()); }
  static double Undone(const Outcome& outcome) { return outcome.undone; }
  static double Lost(const Outcome& outcome) { return outcome.lost; }
  static double BegunAnew(const Outcome& outcome) { return outcome.begun_anew; }
  // Of those that go before others.
  static double Waits(const Told& told) {
    double sum = 0;
    for (std::size_t day = 0; day < told.outcomes.size(); ++day) {
      for (const Job& job : Runs().urgent_days[day].jobs) {
        if (job.priority > 0) sum += told.outcomes[day].placed.at(job.name).waited;
      }
    }
    return sum;
  }
};

// All five together; each alone differs by what becomes of its last large gangs.
TEST_F(DocumentedTest, WhatItCosts) {
  for (const Told& one : Runs().told) {
    for (const Outcome& outcome : one.outcomes) {
      EXPECT_THAT(outcome.broken, IsEmpty()) << one.name;
      EXPECT_THAT(outcome.never, ElementsAre("never")) << one.name;
    }
  }
  const std::vector<Outcome>&alone = Runs().told[0].outcomes, &light = Runs().told[1].outcomes,
        &steer = Runs().told[2].outcomes;
  for (const Outcome& lightly : light) EXPECT_THAT(lightly.calls, Not(Contains(::testing::Key("onSessionOpen"))));
  EXPECT_EQ(Sum(steer, Undone), 0) << "a pod is placed only where its whole gang is";
  EXPECT_LE(Sum(light, Makespan), 1.05 * Sum(alone, Makespan));
  EXPECT_LE(Sum(steer, Makespan), 1.6 * Sum(alone, Makespan));
  EXPECT_LE(Sum(light, Plans), 3 * Sum(light, PlacedGangs)) << "all other calls are look-ups";
  EXPECT_LE(Sum(steer, Plans), 3 * Sum(steer, PlacedGangs)) << "other sessions say what was planned";
  EXPECT_LT(Sum(light, Undone), Sum(alone, Undone));
}

// Without us pods go here and there, each with its gang's work; by the plan those of as few gangs as make room.
TEST_F(DocumentedTest, UrgentGangsCostFewerOthersTheirWork) {
  const Told &quiet = Runs().urgent_told[0], &alone = Runs().urgent_told[1], &full = Runs().urgent_told[2];
  for (const Told* const one : {&alone, &full}) {
    for (std::size_t day = 0; day < one->outcomes.size(); ++day) {
      EXPECT_THAT(one->outcomes[day].broken, IsEmpty());
      EXPECT_EQ(one->outcomes[day].placed.size(), Runs().urgent_days[day].jobs.size());
    }
  }
  for (const Outcome& one : quiet.outcomes) EXPECT_EQ(one.evicted, 0);
  for (const Outcome& one : full.outcomes) EXPECT_GT(one.calls.at("preemptable"), 0u);
  EXPECT_LT(Sum(full.outcomes, BegunAnew), Sum(alone.outcomes, BegunAnew));
  EXPECT_LT(Sum(full.outcomes, Lost), Sum(alone.outcomes, Lost));
  EXPECT_LT(Waits(full), Waits(quiet));
}

// The table of a document that begins with the line, instead of the one that is there.
std::string WithTable(const std::string& document, const std::string& table) {
  const std::string head = table.substr(0, table.find('\n') + 1);
  const std::size_t begin = document.find(head);
  EXPECT_NE(begin, std::string::npos) << head;
  if (begin == std::string::npos) return document;
  std::size_t end = begin;
  while (end < document.size() && document[end] == '|') end = document.find('\n', end) + 1;
  return absl::StrCat(document.substr(0, begin), table, document.substr(end));
}

TEST_F(DocumentedTest, ItsTablesAreWhatARunGives) {
  const std::string path = GW_SOURCE_DIR "/docs/extender.md";
  const std::string document = testutil::ReadFile(path);
  testutil::ExpectGolden(path, WithTable(WithTable(document, Runs().Table()), Runs().UrgentTable()));
}

// What is said of them in words, wherever its lines break.
TEST_F(DocumentedTest, ItsSentencesAreWhatARunGives) {
  const std::string document =
      absl::StrReplaceAll(testutil::ReadFile(GW_SOURCE_DIR "/docs/extender.md"), {{"\n", " "}});
  const std::vector<Told>&told = Runs().told, &urgent = Runs().urgent_told;
  const double alone = Sum(told[0].outcomes, Makespan);
  EXPECT_THAT(document, HasSubstr(absl::StrFormat("`light` takes %.2f of Volcano's and `steer` %.2f.",
                                                  Sum(told[1].outcomes, Makespan) / alone,
                                                  Sum(told[2].outcomes, Makespan) / alone)));
  EXPECT_THAT(
      document,
      HasSubstr(absl::StrFormat(
          "Urgent gangs wait %.2f of what they do without `preempt`, by Volcano alone %.2f, and %.0f gangs begin "
          "anew instead of %.0f, with %.2f of the work lost",
          Waits(urgent[2]) / Waits(urgent[0]), Waits(urgent[1]) / Waits(urgent[0]), Sum(urgent[2].outcomes, BegunAnew),
          Sum(urgent[1].outcomes, BegunAnew), Sum(urgent[2].outcomes, Lost) / Sum(urgent[1].outcomes, Lost))));
}

// One queue has all of the cluster; a gang of the other gets room when as few gangs as make it go.
TEST(BesideTest, AQueueThatHasNothingIsGivenItsShare) {
  Workload workload;
  for (int i = 0; i < 16; ++i)
    workload.jobs.push_back({absl::StrCat("first-", i), 6, 4000, 0.1 * i, 600, false, 0, "first"});
  workload.jobs.push_back({"second", 4, 8000, 100, 60, false, 0, "second"});
  const Outcome quiet = Of(workload, Mode::kFull);
  EXPECT_EQ(quiet.evicted, 0);
  EXPECT_GT(quiet.placed.at("second").waited, 300) << "until those of the first queue end";
  Options options;
  options.mode = Mode::kFull;
  options.reclaims = true;
  const Outcome full = beside::Run(workload, options);
  EXPECT_THAT(full.broken, IsEmpty());
  EXPECT_EQ(full.placed.size(), workload.jobs.size());
  EXPECT_LT(full.placed.at("second").waited, 10);
  EXPECT_EQ(full.begun_anew, 2) << "32 cpu of gangs of 24";
  EXPECT_GT(full.calls.at("reclaimable"), 0u);
}

// The same seed, the same run: what the table says can be looked up.
TEST(BesideTest, ARunIsTheSameAgain) {
  const Workload workload = Draw(1, 30);
  EXPECT_EQ(TableOf({workload}, {{"steer", {Of(workload, Mode::kSteer)}}}),
            TableOf({workload}, {{"steer", {Of(workload, Mode::kSteer)}}}));
}

}  // namespace
}  // namespace gangway::beside
