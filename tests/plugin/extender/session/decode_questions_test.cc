#include "plugin/extender/session/decode_questions.h"

#include <string>

#include <limits>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/extender/session/recordings.h"
#include "tests/testing/status_matchers.h"

namespace gangway::extender {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testutil::Recorded;

TEST(DecodeQuestionsTest, WhatTheSchedulerAsksIsRead) {
  const auto predicate = DecodePredicate(Recorded("predicate-5").body);
  GW_ASSERT_OK(predicate);
  EXPECT_EQ(predicate->task.name, "ga-w-0");
  EXPECT_EQ(predicate->node, "node-000");
  EXPECT_THAT(predicate->task.job, HasSubstr("x-cont/ga-"));

  const auto prioritize = DecodePrioritize(Recorded("prioritize-6").body);
  GW_ASSERT_OK(prioritize);
  EXPECT_THAT(prioritize->nodes,
              ::testing::UnorderedElementsAre("node-000", "node-001", "node-002", "node-003", "node-004", "node-005"));
  const auto without_nodes = DecodePrioritize(Recorded("prioritize-5").body);
  GW_ASSERT_OK(without_nodes);
  EXPECT_THAT(without_nodes->nodes, IsEmpty());

  const std::string body = Recorded("preemptable-3").body;
  const auto victims = DecodeVictims(body);
  GW_ASSERT_OK(victims);
  EXPECT_EQ(victims->evictor.name, "high-w-0");
  ASSERT_EQ(victims->uids.size(), 1u);
  EXPECT_EQ(absl::StrCat("{\"evictor\":", body.substr(11, body.find(",\"evictees\":[") - 11), ",\"evictees\":[",
                         victims->bodies[0], "]}"),
            body);

  EXPECT_THAT(*DecodeQueueName(Recorded("queueOverused-4").body), "q1");
  const auto event = DecodeEvent(Recorded("allocateFunc-9").body);
  GW_ASSERT_OK(event);
  EXPECT_EQ(event->node, "node-000");
  EXPECT_EQ(event->status, WireStatus::kPipelined);
}

JobCounts Counts(std::int64_t min_available, std::initializer_list<std::pair<const char*, WireStatus>> tasks) {
  JobCounts counts;
  counts.min_available = min_available;
  for (const auto& [role, status] : tasks)
    counts.tasks.push_back({absl::StrCat("u", counts.tasks.size()), role, status, false});
  return counts;
}

TEST(JobCountsTest, WhoHasRoomCounts) {
  for (const WireStatus status :
       {WireStatus::kAllocated, WireStatus::kBinding, WireStatus::kBound, WireStatus::kRunning, WireStatus::kSucceeded})
    EXPECT_TRUE(HasItsMinimum(Counts(1, {{"w", status}}))) << static_cast<int>(status);
  for (const WireStatus status : {WireStatus::kPending, WireStatus::kPipelined, WireStatus::kReleasing,
                                  WireStatus::kFailed, WireStatus::kUnknown})
    EXPECT_FALSE(HasItsMinimum(Counts(1, {{"w", status}}))) << static_cast<int>(status);
}

TEST(JobCountsTest, APodThatAsksForNothingCountsWhileItWaits) {
  JobCounts counts = Counts(1, {{"w", WireStatus::kPending}});
  counts.tasks[0].best_effort = true;
  EXPECT_TRUE(HasItsMinimum(counts));
}

TEST(JobCountsTest, EachRoleHasItsMinimumUnlessTheJobsIsSmallerThanTheirSum) {
  JobCounts counts = Counts(2, {{"a", WireStatus::kRunning}, {"a", WireStatus::kRunning}});
  counts.min_by_role = {{"a", 1}, {"b", 1}};
  EXPECT_FALSE(HasItsMinimum(counts));
  counts.min_by_role["b"] = 2;
  EXPECT_TRUE(HasItsMinimum(counts));
}

// Sums of what anybody sends are numbers all the same.
TEST(JobCountsTest, MinimaMayBeAnyNumber) {
  JobCounts counts = Counts(1, {{"a", WireStatus::kRunning}});
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  counts.min_by_role = {{"a", kMost}, {"b", kMost}, {"c", 1}};
  EXPECT_TRUE(HasItsMinimum(counts)) << "the job's is smaller than their sum";
  counts.min_by_role = {{"a", -kMost - 1}, {"b", -kMost - 1}};
  EXPECT_TRUE(HasItsMinimum(counts));
}

TEST(JobCountsTest, SoManySubJobsMustBeReady) {
  JobCounts counts = Counts(1, {{"w", WireStatus::kRunning}, {"w", WireStatus::kRunning}, {"w", WireStatus::kPending}});
  counts.sub_jobs = {{"s0", {"g", 2}}, {"s1", {"g", 1}}};
  counts.sub_job_of_task = {{"u0", "s0"}, {"u1", "s0"}, {"u2", "s1"}};
  counts.min_sub_jobs = {{"g", 1}};
  EXPECT_TRUE(HasItsMinimum(counts));
  counts.min_sub_jobs["g"] = 2;
  EXPECT_FALSE(HasItsMinimum(counts));
}

TEST(DecodeQuestionsTest, CountsAreOfTheTasksAndNotOfTheirCopies) {
  const auto counts = DecodeJobCounts(Recorded("jobReady-1").body);
  GW_ASSERT_OK(counts);
  EXPECT_EQ(counts->tasks.size(), 4u);
  EXPECT_EQ(counts->min_available, 4);
  EXPECT_THAT(counts->min_by_role, ElementsAre(std::pair("pserver", 2), std::pair("trainer", 2)));
  EXPECT_EQ(counts->sub_jobs.size(), 1u);
  EXPECT_EQ(counts->sub_job_of_task.size(), 4u);
}

// In whatever order members stand, and of an object that is cut off behind them.
TEST(DecodeQuestionsTest, WhatStandsBehindTheLastWantedMemberIsSteppedOver) {
  const auto prioritize = DecodePrioritize(
      R"({"nodes":[{"Name":"a","Node":{"x":["}"]},"Idle":{}} , {"Node":{},"Name":"b"},{"Name":"c"}],"task":{"UID":"u"}})");
  GW_ASSERT_OK(prioritize);
  EXPECT_THAT(prioritize->nodes, ElementsAre("a", "b", "c"));
  const auto event = DecodeEvent(
      R"({"task":{"Status":2,"NodeName":"n","Name":"p","Job":"j","UID":"u","Pod":{"a":"\"}"},"Priority":1},"more":1})");
  GW_ASSERT_OK(event);
  EXPECT_EQ(event->uid, "u");
  EXPECT_EQ(event->node, "n");
  const auto counts = DecodeJobCounts(
      R"({"job":{"UID":"j","SubJobs":{"s":{"GID":"g","MinAvailable":2,"Tasks":{"t":[]}}},"Tasks":{"t":{"BestEffort":true,)"
      R"("Status":32,"TaskRole":"r","UID":"t","Pod":{"x":{}}},"v":{"UID":"v"}},"MinAvailable":1}})");
  GW_ASSERT_OK(counts);
  EXPECT_EQ(counts->min_available, 1);
  EXPECT_EQ(counts->sub_jobs.at("s").min_available, 2);
  ASSERT_EQ(counts->tasks.size(), 2u);
  EXPECT_EQ(counts->tasks[0].role, "r");
  EXPECT_EQ(counts->tasks[0].status, WireStatus::kRunning);
  EXPECT_EQ(DecodeJobName(R"({"job":{"UID":"j","Tasks":{"t":{})").status().message(),
            "job: is cut off, too deep, or not JSON");
  EXPECT_EQ(DecodeJobName(R"({"job":{"UID":"j","Tasks":{}}} x)").status().message(),
            "the body: something follows after the value");
}

TEST(DecodeQuestionsTest, WhatIsWrongIsNamed) {
  EXPECT_EQ(DecodeJobName("{}").status().message(), "job.UID: is missing");
  EXPECT_EQ(DecodeJobName("null").status().message(), "job.UID: is missing");
  EXPECT_EQ(DecodeJobName(R"({"job":{"UID":7}})").status().message(), "job.UID: must be a string");
  EXPECT_EQ(DecodeJobName(R"({"job":{"UID":)").status().message(), "job.UID: is cut off");
  EXPECT_EQ(DecodePredicate(R"({"task":{"UID":"u"}})").status().message(), "node.Name: is missing");
  EXPECT_EQ(DecodePrioritize(R"({"task":{"UID":"u"},"nodes":[{"Name":"a"},{}]})").status().message(),
            "nodes[1]: Name is missing");
  EXPECT_EQ(DecodeVictims(R"({"evictor":{"UID":"u"},"evictees":[{}]})").status().message(),
            "evictees[0].UID: is missing");
  EXPECT_EQ(DecodeVictims(R"({"evictor":{"UID":"u"},"evictees":[{"Status":3}]})").status().message(),
            "evictees[0].Status: 3 is no task status; one of 1, 2, 4 up to 512");
  EXPECT_EQ(DecodeEvent(R"({"task":{"UID":"u")").status().message(), "task: is cut off");
  EXPECT_EQ(DecodeQueueName("[]").status().message(), "the body: must be an object");
}

}  // namespace
}  // namespace gangway::extender
