// How many start together: the rows of table E of tests/spec/paddle.rows that are about it (docs/paddlejob.md).
#include "translator/convert/gang.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::convert {
namespace {

// "3 of 2/1", the gang and its tasks, then what is said: "; W-PARTIAL-GANG spec.schedulingPolicy.minAvailable"; of a
// job with errors only these.
std::string Told(const Gang& gang) {
  std::string out;
  if (!HasErrors(gang.findings)) {
    out = absl::StrCat(gang.min_available, " of ", absl::StrJoin(gang.task_minimums, "/"));
    if (gang.bounds.has_value()) absl::StrAppend(&out, ", ", gang.bounds->min, ":", gang.bounds->max);
  }
  for (const Finding& finding : gang.findings) {
    absl::StrAppend(&out, out.empty() ? "" : "; ", View(EntryOf(finding.code).name), " ", finding.error.field);
  }
  return out;
}

std::string Counted(const std::vector<GangTask>& tasks, const GangWish& wish = {}) {
  return Told(CountGang(tasks, false, wish));
}

std::string Elastic(std::int32_t replicas, const WantedBounds& bounds, const GangWish& wish = {}) {
  return Told(CountGang({{{"worker", replicas}, bounds}}, true, wish));
}

const std::vector<GangTask> kTwoAndTwo{{{"ps", 2}}, {{"worker", 2}}};

TEST(GangTest, AllUnlessLessIsAskedFor) {
  EXPECT_EQ(Counted(kTwoAndTwo), "4 of 2/2");
  EXPECT_EQ(Counted(kTwoAndTwo, {.min_available = 4}), "4 of 2/2");
  EXPECT_EQ(Counted({{{"worker", 1}}}), "1 of 1");
}

TEST(GangTest, ASmallerGangDoesWithoutWorkers) {
  EXPECT_EQ(Counted(kTwoAndTwo, {.min_available = 3}), "3 of 2/1; W-PARTIAL-GANG spec.schedulingPolicy.minAvailable");
  EXPECT_EQ(Counted(kTwoAndTwo, {.min_available = 2}), "2 of 2/0; W-PARTIAL-GANG spec.schedulingPolicy.minAvailable");
  EXPECT_EQ(Counted({{{"ps", 1}}, {{"worker", 4}}, {{"heter", 2}}}, {.min_available = 5}),
            "5 of 1/2/2; W-PARTIAL-GANG spec.schedulingPolicy.minAvailable");
  EXPECT_EQ(Counted({{{"ps", 3}}}, {.min_available = 2}), "2 of 3; W-PARTIAL-GANG spec.schedulingPolicy.minAvailable");
}

TEST(GangTest, E6MoreThanThereAre) {
  EXPECT_EQ(Counted(kTwoAndTwo, {.min_available = 5}), "E-MIN-AVAILABLE spec.schedulingPolicy.minAvailable");
  EXPECT_EQ(CountGang(kTwoAndTwo, false, {.min_available = 5}).findings[0].error.Message(),
            "Invalid value: 5: the job has 4 pods and would wait forever (leave it out to start all pods together)");
}

TEST(GangTest, E7None) {
  EXPECT_EQ(Counted(kTwoAndTwo, {.min_available = 0}), "1 of 2/2; W-MIN-AVAILABLE spec.schedulingPolicy.minAvailable");
  EXPECT_EQ(Counted({{{"worker", 2}}}, {.min_available = -3}),
            "1 of 1; W-MIN-AVAILABLE spec.schedulingPolicy.minAvailable");
}

TEST(GangTest, E8FewerThanTheServers) {
  EXPECT_EQ(Counted(kTwoAndTwo, {.min_available = 1}), "1 of 2/2; W-PARTIAL-GANG spec.schedulingPolicy.minAvailable");
}

TEST(GangTest, E9MinResourcesAreNotUsed) {
  EXPECT_EQ(Counted(kTwoAndTwo, {.min_resources = true}),
            "4 of 2/2; W-MIN-RESOURCES spec.schedulingPolicy.minResources");
}

TEST(GangTest, PriorityClassIsTheirPodsToo) {
  EXPECT_EQ(Counted(kTwoAndTwo, {.priority_class = "high"}),
            "4 of 2/2; I-PRIORITY spec.schedulingPolicy.priorityClass");
}

TEST(GangTest, E15ThreeRoles) { EXPECT_EQ(Counted({{{"ps", 3}}, {{"worker", 2}}, {{"heter", 1}}}), "6 of 3/2/1"); }

TEST(GangTest, E16ScaledFromTwoWorkersToFour) { EXPECT_EQ(Counted({{{"ps", 2}}, {{"worker", 4}}}), "6 of 2/4"); }

TEST(GangTest, E17ElasticStartsWithItsFewest) {
  EXPECT_EQ(Elastic(3, {.requests = 2, .limits = 4}), "2 of 2, 2:4");
  EXPECT_EQ(Elastic(3, {.requests = 2}), "2 of 2, 2:3");
  EXPECT_EQ(Elastic(3, {.limits = 4}), "3 of 3, 3:4");
  EXPECT_EQ(Elastic(3, {.requests = 1, .limits = 4}, {.min_available = 2}), "2 of 2, 1:4")
      << "a gang larger than the fewest is no part of one";
  EXPECT_EQ(Elastic(3, {.requests = 2}, {.min_available = 1}),
            "1 of 1, 2:3; W-PARTIAL-GANG spec.schedulingPolicy.minAvailable");
}

TEST(GangTest, ElasticWithoutBoundsStartsWholeAndTakesAnyNumber) {
  EXPECT_EQ(Elastic(3, {}), "3 of 3, 1:1000");
  EXPECT_EQ(Elastic(2000, {}), "2000 of 2000, 1:2000");
  EXPECT_EQ(Elastic(3, {}, {.min_available = 4}), "E-MIN-AVAILABLE spec.schedulingPolicy.minAvailable");
}

TEST(GangTest, ElasticBoundsHoldTheReplicas) {
  EXPECT_EQ(Elastic(3, {.requests = 4}), "E-ELASTIC spec.worker.requests");
  EXPECT_EQ(Elastic(3, {.requests = 0, .limits = 2}), "E-ELASTIC spec.worker.limits; E-ELASTIC spec.worker.requests");
}

TEST(GangTest, BoundsOfWhatIsNotElasticAreUnused) {
  EXPECT_EQ(Counted({{{"ps", 2}, {.requests = 1}}, {{"worker", 2}, {.requests = 9, .limits = -1}}}),
            "4 of 2/2; W-UNUSED spec.ps.requests; W-UNUSED spec.worker.limits; W-UNUSED spec.worker.requests");
}

// Every small job: the gang is possible, and Volcano either counts by task exactly what the gang has or does not look
// at the tasks.
TEST(GangTest, TasksAddUpToTheGangOrAreWhole) {
  for (int n = 0; n < 4 * 5 * 3 * 11; ++n) {
    const int ps = n % 4, worker = n / 4 % 5, heter = n / 20 % 3, wanted = n / 60 - 1;
    std::vector<GangTask> tasks;
    if (ps > 0) tasks.push_back({{"ps", ps}});
    if (worker > 0) tasks.push_back({{"worker", worker}});
    if (heter > 0) tasks.push_back({{"heter", heter}});
    const std::int32_t all = ps + worker + heter;
    if (all == 0) continue;
    const Gang gang = CountGang(tasks, false, {.min_available = wanted});
    ASSERT_EQ(HasErrors(gang.findings), wanted > all) << n;
    if (wanted > all) continue;
    EXPECT_EQ(gang.min_available, std::max(wanted, 1)) << n;
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      EXPECT_GE(gang.task_minimums[i], 0) << n;
      EXPECT_LE(gang.task_minimums[i], tasks[i].size.replicas) << n;
      sum += gang.task_minimums[i];
    }
    EXPECT_TRUE(sum == gang.min_available || sum == all) << n;
  }
}

TEST(TakeOverTest, E18GroupBesideTheJob) {
  const HandMadeGroup group{.name = "wd", .min_member = 4, .queue = "ads", .priority_class = "high"};
  GangWish wish;
  EXPECT_EQ(TakeOver(group, wish).ToString(),
            "W-PG-DROPPED metadata.name: \"wd\": the Job gets a PodGroup of its own; what this one asks for is taken "
            "over where the job says nothing "
            "(remove the PodGroup)");
  EXPECT_EQ(wish.queue, "ads");
  EXPECT_EQ(wish.priority_class, "high");
  EXPECT_EQ(Counted(kTwoAndTwo, wish), "4 of 2/2; I-PRIORITY spec.schedulingPolicy.priorityClass");
}

TEST(TakeOverTest, WhatTheJobSaysStays) {
  GangWish wish{.min_available = 3, .queue = "search"};
  TakeOver({.name = "wd", .min_member = 4, .queue = "ads", .min_resources = true}, wish);
  EXPECT_EQ(wish.min_available, 3);
  EXPECT_EQ(wish.queue, "search");
  EXPECT_TRUE(wish.min_resources) << "so that it is said that they are not used";
}

}  // namespace
}  // namespace gangway::convert
