// What a cluster gains that keeps Volcano and asks us: the same workload, by a scheduler that does as Volcano's,
// without us and with each mode. docs/extender.md has the table.
#include "tests/plugin/extender/beside/beside.h"

#include <algorithm>
#include <iostream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::beside {
namespace {

using extender::Mode;
using ::testing::Contains;
using ::testing::ElementsAre;
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

// Five drawn days together; each alone differs by what becomes of its last large gangs.
TEST(BesideTest, WhatItCosts) {
  double alone = 0, light = 0, steer = 0, plans = 0, steer_plans = 0, placed = 0, undone_alone = 0, undone_light = 0;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const Workload workload = Draw(seed, 80);
    const Outcome without = Of(workload, std::nullopt), lightly = Of(workload, Mode::kLight),
                  steered = Of(workload, Mode::kSteer);
    EXPECT_EQ(without.placed.size(), workload.jobs.size());
    EXPECT_EQ(lightly.placed.size(), workload.jobs.size());
    EXPECT_EQ(steered.placed.size(), workload.jobs.size());
    EXPECT_THAT(lightly.calls, Not(Contains(::testing::Key("onSessionOpen"))));
    EXPECT_EQ(steered.undone, 0) << "a pod is placed only where its whole gang is";
    alone += without.makespan;
    light += lightly.makespan;
    steer += steered.makespan;
    plans += static_cast<double>(lightly.plans);
    steer_plans += static_cast<double>(steered.plans);
    placed += static_cast<double>(lightly.placed.size());
    undone_alone += without.undone;
    undone_light += lightly.undone;
  }
  EXPECT_LE(light, 1.05 * alone) << light / alone;
  EXPECT_LE(steer, 1.6 * alone) << steer / alone;
  EXPECT_LE(plans, 3 * placed) << plans / placed << "; all other calls are look-ups";
  EXPECT_LE(steer_plans, 3 * placed) << steer_plans / placed << "; other sessions say what was planned";
  EXPECT_LT(undone_light, undone_alone);
  std::cout << "makespan: light " << light / alone << ", steer " << steer / alone << " of Volcano's alone; light plans "
            << plans / placed << " times a gang, steer " << steer_plans / placed << "; light takes back "
            << undone_light / undone_alone << " of its placements\n";
}

// Without us pods go here and there, each with its gang's work; by the plan those of as few gangs as make room.
TEST(BesideTest, UrgentGangsCostFewerOthersTheirWork) {
  double alone = 0, full = 0, evicted_alone = 0, evicted_full = 0, waits = 0, waits_alone = 0, waits_full = 0;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const Workload workload = Draw(seed, 80, 0, 8);
    Options options;
    options.preempts = true;
    const Outcome quiet = Of(workload, std::nullopt), without = beside::Run(workload, options);
    options.mode = Mode::kFull;
    const Outcome asked = beside::Run(workload, options);
    for (const Outcome* const one : {&without, &asked}) {
      EXPECT_THAT(one->broken, IsEmpty());
      EXPECT_EQ(one->placed.size(), workload.jobs.size());
    }
    EXPECT_EQ(quiet.evicted, 0);
    EXPECT_GT(asked.calls.at("preemptable"), 0u);
    alone += without.lost, full += asked.lost;
    evicted_alone += without.begun_anew, evicted_full += asked.begun_anew;
    for (const Job& job : workload.jobs) {
      if (job.priority == 0) continue;
      waits += quiet.placed.at(job.name).waited;
      waits_alone += without.placed.at(job.name).waited;
      waits_full += asked.placed.at(job.name).waited;
    }
  }
  EXPECT_LT(evicted_full, evicted_alone);
  EXPECT_LT(full, alone);
  EXPECT_LT(waits_full, waits);
  std::cout << "urgent gangs wait " << waits_full / waits << " of what they do without preempt, Volcano's alone "
            << waits_alone / waits << "; gangs that begin anew " << evicted_full << " and " << evicted_alone
            << ", work lost " << full / alone << " of Volcano's alone\n";
}

// The same seed, the same run: what the table says can be looked up.
TEST(BesideTest, ARunIsTheSameAgain) {
  const Workload workload = Draw(1, 30);
  EXPECT_EQ(TableOf({workload}, {{"steer", {Of(workload, Mode::kSteer)}}}),
            TableOf({workload}, {{"steer", {Of(workload, Mode::kSteer)}}}));
}

}  // namespace
}  // namespace gangway::beside
