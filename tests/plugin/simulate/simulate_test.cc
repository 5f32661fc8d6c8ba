#include "plugin/simulate/simulate.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::simulate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

const absl::Time kBegin = absl::FromUnixSeconds(1'795'503'600);

absl::Time At(absl::Duration after) { return kBegin + after; }

model::NodeFacts NodeOf(const std::string& name, int gpus) {
  model::NodeFacts node;
  node.name = name;
  node.allocatable = {{"nvidia.com/gpu", gpus}, {"cpu", 64'000}, {"memory", std::int64_t{512} << 30}, {"pods", 110}};
  node.labels = {{"kubernetes.io/hostname", name}};
  return node;
}

explain::ClusterFacts ClusterOf(int nodes) {
  explain::ClusterFacts facts;
  for (int i = 0; i < nodes; ++i) facts.nodes.push_back(NodeOf(absl::StrCat("n", i), 8));
  model::QueueFacts queue;
  queue.name = "default";
  facts.queues.push_back(queue);
  return facts;
}

model::PodFacts PodOf(const std::string& gang, int index, int gpus, absl::Duration runs) {
  model::PodFacts pod;
  pod.ns = "ns";
  pod.name = absl::StrCat(gang, "-w-", index);
  pod.uid = pod.name;
  pod.gang = gang;
  pod.role = "w";
  pod.index = index;
  pod.controlled = true;
  pod.lasts = runs;
  pod.wants.requests = {{"nvidia.com/gpu", gpus}, {"cpu", 1000}, {"pods", 1}};
  return pod;
}

model::GangFacts GangOf(const std::string& name, int pods, int gpus) {
  model::GangFacts gang;
  gang.ns = "ns";
  gang.name = name;
  gang.uid = name;
  gang.min_member = pods;
  gang.has_min_resources = true;
  gang.min_resources = {{"nvidia.com/gpu", pods * gpus}, {"cpu", 1000 * pods}, {"pods", pods}};
  return gang;
}

Arrival ArrivalOf(const std::string& name, absl::Duration comes, int pods, int gpus, absl::Duration runs) {
  Arrival arrival{At(comes), GangOf(name, pods, gpus), {}};
  for (int i = 0; i < pods; ++i) arrival.pods.push_back(PodOf(name, i, gpus, runs));
  return arrival;
}

Course Of(const explain::ClusterFacts& facts, std::vector<Arrival> arrivals, const Options& options = {}) {
  const absl::StatusOr<Course> course = Simulate(facts, kBegin, std::move(arrivals), options);
  EXPECT_TRUE(course.ok()) << course.status();
  return course.ok() ? *course : Course();
}

TEST(SimulateTest, RunsWhenThereIsRoomAndThenTheNext) {
  const Course course = Of(ClusterOf(2), {ArrivalOf("a", absl::ZeroDuration(), 2, 8, absl::Hours(2)),
                                          ArrivalOf("b", absl::Hours(1), 2, 8, absl::Hours(3))});
  ASSERT_EQ(course.gangs.size(), 2u);
  EXPECT_THAT(course.gangs[0].started, Optional(kBegin));
  EXPECT_THAT(course.gangs[0].ran, ElementsAre(Stretch{kBegin, At(absl::Hours(2))}));
  EXPECT_THAT(course.gangs[0].waits, IsEmpty());
  EXPECT_EQ(course.gangs[1].came, At(absl::Hours(1)));
  EXPECT_THAT(course.gangs[1].ran, ElementsAre(Stretch{At(absl::Hours(2)), At(absl::Hours(5))}));
  // For a minute the sums keep it out, then it stands in line.
  ASSERT_EQ(course.gangs[1].waits.size(), 2u);
  EXPECT_EQ(course.gangs[1].waits[0].kind, model::Reason::Kind::kNoRoom);
  EXPECT_EQ(course.gangs[1].waits[0].lasted, absl::Minutes(59));
  EXPECT_EQ(course.gangs[1].waits[1].lasted, absl::Minutes(1));
  EXPECT_EQ(course.to, At(absl::Hours(5)));
  // 16 of 16 GPUs for five hours.
  ASSERT_EQ(course.queues.size(), 1u);
  const std::map<std::string, double> held(course.queues[0].held.begin(), course.queues[0].held.end());
  EXPECT_NEAR(held.at("nvidia.com/gpu"), 1, 1e-9);
  EXPECT_EQ(held.count("pods"), 0u);
  EXPECT_EQ(course.queues[0].ended, 2);
}

TEST(SimulateTest, WhoNeverFitsWaitsForEverAndIsToldWhy) {
  const Course course = Of(ClusterOf(2), {ArrivalOf("large", absl::ZeroDuration(), 3, 8, absl::Hours(1)),
                                          ArrivalOf("small", absl::Minutes(10), 1, 1, absl::Hours(1))});
  ASSERT_EQ(course.gangs.size(), 2u);
  EXPECT_EQ(course.gangs[0].started, std::nullopt);
  EXPECT_EQ(course.gangs[0].ended, std::nullopt);
  ASSERT_FALSE(course.gangs[0].waits.empty());
  EXPECT_FALSE(course.gangs[0].waits[0].reason.empty());
  EXPECT_GE(course.gangs[0].waits[0].lasted, absl::Minutes(70));
  EXPECT_THAT(course.gangs[1].ended, Optional(At(absl::Minutes(70))));
  EXPECT_EQ(course.to, At(absl::Minutes(70))) << "nothing happens any more";
}

TEST(SimulateTest, OfOneGpuTheWholeIsTold) {
  explain::ClusterFacts facts = ClusterOf(0);
  facts.nodes.push_back(NodeOf("n0", 1));
  const Course course = Of(facts, {ArrivalOf("a", absl::ZeroDuration(), 1, 1, absl::Hours(1))});
  const std::map<std::string, double> held(course.queues.at(0).held.begin(), course.queues.at(0).held.end());
  EXPECT_NEAR(held.at("nvidia.com/gpu"), 1, 1e-9);
}

TEST(SimulateTest, AQueueThatNeverHeldAnythingHeldNothing) {
  explain::ClusterFacts facts = ClusterOf(1);
  facts.queues.push_back(facts.queues[0]);
  facts.queues.back().name = "runs";
  Arrival runs = ArrivalOf("runs", absl::ZeroDuration(), 1, 8, absl::Hours(1));
  runs.gang.queue = "runs";
  const Course course = Of(facts, {runs, ArrivalOf("large", absl::ZeroDuration(), 2, 8, absl::Hours(1))});
  ASSERT_EQ(course.queues.size(), 2u);
  EXPECT_THAT(course.queues[0].held, IsEmpty());
  EXPECT_FALSE(course.queues[1].held.empty());
}

TEST(SimulateTest, InNoTimeNobodyHeldAnything) {
  Options options;
  options.runs = absl::InfiniteDuration();
  const Course course =
      Of(ClusterOf(1), {ArrivalOf("ever", absl::ZeroDuration(), 1, 8, absl::InfiniteDuration())}, options);
  ASSERT_EQ(course.gangs.size(), 1u);
  EXPECT_THAT(course.gangs[0].started, Optional(kBegin));
  EXPECT_EQ(course.to, kBegin);
  EXPECT_THAT(course.queues.at(0).held, IsEmpty());
}

// Nodes are kept for `big`, which begins when `runs` ends: who ends before that goes first, and nobody else.
TEST(SimulateTest, WhoEndsInTimeGoesBeforeWhomNodesAreKeptFor) {
  const Course course = Of(ClusterOf(2), {ArrivalOf("runs", absl::ZeroDuration(), 1, 8, absl::Minutes(50)),
                                          ArrivalOf("big", absl::Minutes(10), 2, 8, absl::Hours(1)),
                                          ArrivalOf("short", absl::Minutes(20), 1, 8, absl::Minutes(20)),
                                          ArrivalOf("late", absl::Minutes(42), 1, 8, absl::Minutes(20))});
  ASSERT_EQ(course.gangs.size(), 4u);
  EXPECT_THAT(course.gangs[1].started, Optional(At(absl::Minutes(50))));
  EXPECT_THAT(course.gangs[2].started, Optional(At(absl::Minutes(20))));
  EXPECT_THAT(course.gangs[3].started, Optional(At(absl::Minutes(110))));
}

// 16 GPUs, of which 19.2 may be let in: 12 and 8 are too many until it has waited for a minute; no node has 8 free.
TEST(SimulateTest, EachThingThatItWaitsForIsToldInFullOnce) {
  Options options;
  options.policy.admit_by_queues = false;
  const Course course = Of(ClusterOf(2),
                           {ArrivalOf("five", absl::ZeroDuration(), 1, 5, absl::Hours(3)),
                            ArrivalOf("six", absl::ZeroDuration(), 1, 6, absl::Hours(3)),
                            ArrivalOf("one", absl::Minutes(1), 1, 1, absl::Minutes(59)),
                            ArrivalOf("waits", absl::Minutes(10), 1, 8, absl::Hours(1)),
                            ArrivalOf("moves-time-on", absl::Minutes(20), 1, 1, absl::Minutes(5))},
                           options);
  const auto waits =
      std::find_if(course.gangs.begin(), course.gangs.end(), [](const Story& s) { return s.name == "waits"; });
  ASSERT_NE(waits, course.gangs.end());
  EXPECT_THAT(waits->started, Optional(At(absl::Hours(3))));
  ASSERT_EQ(waits->waits.size(), 2u);
  EXPECT_EQ(waits->waits[0].kind, model::Reason::Kind::kNoRoom);
  EXPECT_EQ(waits->waits[0].lasted, absl::Minutes(169));
  EXPECT_THAT(waits->waits[0].reason, HasSubstr("needs nvidia.com/gpu 8; 2 nodes have at most 3 free"));
  EXPECT_EQ(waits->waits[1].kind, model::Reason::Kind::kClusterFull);
  EXPECT_EQ(waits->waits[1].lasted, absl::Minutes(1));
  EXPECT_THAT(waits->waits[1].reason, HasSubstr("needs nvidia.com/gpu 8, the cluster uses 12 of 16"));
}

TEST(SimulateTest, WhatRunsGoesOnUntilItsTime) {
  explain::ClusterFacts facts = ClusterOf(1);
  model::GangFacts gang = GangOf("there", 1, 8);
  gang.phase = model::GangPhase::kRunning;
  gang.was_whole = true;
  gang.created = At(-absl::Hours(3));
  facts.gangs.push_back(gang);
  model::PodFacts pod = PodOf("there", 0, 8, absl::Hours(4));
  pod.node = "n0";
  pod.phase = model::PodPhase::kRunning;
  pod.started = At(-absl::Hours(2));
  pod.ends = At(absl::Hours(2));
  facts.pods.push_back(pod);
  const Course course = Of(facts, {ArrivalOf("next", absl::ZeroDuration(), 1, 8, absl::Hours(1))});
  ASSERT_EQ(course.gangs.size(), 2u);
  EXPECT_EQ(course.gangs[0].name, "there");
  EXPECT_THAT(course.gangs[0].ran, ElementsAre(Stretch{At(-absl::Hours(2)), At(absl::Hours(2))}));
  EXPECT_THAT(course.gangs[1].started, Optional(At(absl::Hours(2))));
  // One that is past its time ends within a moment.
  facts.pods[0].ends = At(-absl::Hours(1));
  EXPECT_THAT(Of(facts, {}).gangs[0].ended, Optional(At(absl::Minutes(1))));
}

TEST(SimulateTest, AGangWithoutPodsIsThereAndGetsThem) {
  explain::ClusterFacts facts = ClusterOf(1);
  model::GangFacts gang = GangOf("pending", 2, 4);
  gang.phase = model::GangPhase::kPending;
  gang.created = At(-absl::Hours(1));
  facts.gangs.push_back(gang);
  for (int i = 0; i < 2; ++i) facts.to_come.push_back(PodOf("pending", i, 4, absl::InfiniteDuration()));
  Options options;
  options.runs = absl::Minutes(30);  // nobody says how long
  const Course course = Of(facts, {}, options);
  ASSERT_EQ(course.gangs.size(), 1u);
  EXPECT_EQ(course.gangs[0].came, At(-absl::Hours(1)));
  EXPECT_THAT(course.gangs[0].ran, ElementsAre(Stretch{kBegin, At(absl::Minutes(30))}));
}

TEST(SimulateTest, AGangThatDoesNotSayRunsAsOthersLikeItTook) {
  Arrival knows = ArrivalOf("knows", {}, 1, 4, absl::InfiniteDuration());
  knows.gang.past_runs = {3, absl::Minutes(25)};
  Arrival says = ArrivalOf("says", {}, 1, 4, absl::Minutes(40));
  says.gang.past_runs = {3, absl::Minutes(25)};
  const Course course = Of(ClusterOf(1), {knows, says});
  ASSERT_EQ(course.gangs.size(), 2u);
  EXPECT_THAT(course.gangs[0].ended, Optional(At(absl::Minutes(25))));
  EXPECT_THAT(course.gangs[1].ended, Optional(At(absl::Minutes(40))));
}

TEST(SimulateTest, WhoIsEvictedBeginsAnew) {
  explain::ClusterFacts facts = ClusterOf(1);
  facts.priority_classes.push_back({"high", 1000});
  facts.priority_classes.push_back({"low", 1});
  Arrival low = ArrivalOf("low", absl::ZeroDuration(), 1, 8, absl::Hours(2));
  low.gang.priority_class = "low";
  Arrival high = ArrivalOf("high", absl::Hours(1), 1, 8, absl::Hours(1));
  high.gang.priority_class = "high";
  high.pods[0].priority = 1000;
  Options options;
  options.policy.overcommit_percent.reset();  // or it is not let in while the node is full
  const Course course = Of(facts, {low, high}, options);
  ASSERT_EQ(course.gangs.size(), 2u);
  EXPECT_EQ(course.gangs[0].evicted, 1) << (course.gangs[1].waits.empty() ? "" : course.gangs[1].waits[0].reason);
  ASSERT_EQ(course.gangs[0].ran.size(), 2u);
  EXPECT_EQ(course.gangs[0].ran[0], (Stretch{kBegin, At(absl::Hours(1))}));
  EXPECT_EQ(course.gangs[0].ran[1].to - course.gangs[0].ran[1].from, absl::Hours(2)) << "what it did is lost";
  EXPECT_THAT(course.gangs[1].started, Optional(At(absl::Hours(1) + absl::Seconds(30)))) << "after the grace";
  EXPECT_EQ(course.gangs[0].ran[1].from, *course.gangs[1].ended);
  Options calm = options;
  calm.policy.preempt = false;
  EXPECT_EQ(Of(facts, {low, high}, calm).gangs[0].evicted, 0);
}

// 16 GPUs, of which 19.2 may be let in, and a pod of no gang holds 8: what the gang says that it needs, not what it
// does, is too much until it has waited for a minute.
TEST(SimulateTest, WhoWaitsForTimeToPassBeginsThoughNothingEndsAndNothingComes) {
  explain::ClusterFacts facts = ClusterOf(2);
  model::PodFacts stays = PodOf("", 0, 8, absl::InfiniteDuration());
  stays.node = "n0";
  stays.phase = model::PodPhase::kRunning;
  facts.pods.push_back(stays);
  Arrival arrival = ArrivalOf("says-more", absl::ZeroDuration(), 1, 8, absl::Hours(1));
  arrival.gang.min_resources = {{"nvidia.com/gpu", 16}};
  Options options;
  options.policy.admit_by_queues = false;
  const Course course = Of(facts, {arrival}, options);
  ASSERT_EQ(course.gangs.size(), 1u);
  EXPECT_THAT(course.gangs[0].started, Optional(At(absl::Minutes(1))));
}

// Whose controller makes pods at once, and not when the gang is let in.
TEST(SimulateTest, GangsOfOtherKindsBeginAnewToo) {
  for (const model::GangKind kind : {model::GangKind::kKubernetes, model::GangKind::kCoscheduling}) {
    explain::ClusterFacts facts = ClusterOf(1);
    facts.priority_classes.push_back({"high", 1000});
    model::GangFacts gang = GangOf("there", 1, 8);
    gang.kind = kind;
    gang.phase = model::GangPhase::kRunning;
    gang.was_whole = true;
    gang.created = At(-absl::Hours(1));
    facts.gangs.push_back(gang);
    model::PodFacts pod = PodOf("there", 0, 8, absl::Hours(3));
    pod.gang_kind = kind;
    pod.node = "n0";
    pod.phase = model::PodPhase::kRunning;
    pod.started = At(-absl::Hours(1));
    pod.ends = At(absl::Hours(2));
    facts.pods.push_back(pod);
    Arrival high = ArrivalOf("high", absl::Hours(1), 1, 8, absl::Hours(1));
    high.gang.priority_class = "high";
    high.pods[0].priority = 1000;
    Options options;
    options.policy.overcommit_percent.reset();
    const Course course = Of(facts, {high}, options);
    ASSERT_EQ(course.gangs.size(), 2u);
    const Story &there = course.gangs[0], &comes = course.gangs[1];
    EXPECT_EQ(there.evicted, 1);
    EXPECT_THAT(comes.started, Optional(At(absl::Hours(1) + absl::Seconds(30)))) << "after the grace";
    EXPECT_THAT(there.ran, ElementsAre(Stretch{At(-absl::Hours(1)), At(absl::Hours(1))},
                                       Stretch{*comes.ended, *comes.ended + absl::Hours(3)}));
    EXPECT_THAT(there.ended, Optional(*comes.ended + absl::Hours(3)));
  }
}

// `short` leaves 6 of 8 GPUs of the node where `moves` has the other 2, and `stays` leaves 2 of the other node.
std::vector<Arrival> InPieces() {
  std::vector<Arrival> arrivals = {ArrivalOf("short", absl::ZeroDuration(), 1, 6, absl::Minutes(10)),
                                   ArrivalOf("moves", absl::Minutes(1), 1, 2, absl::Hours(2)),
                                   ArrivalOf("stays", absl::Minutes(2), 1, 6, absl::Hours(3)),
                                   ArrivalOf("waits", absl::Minutes(20), 1, 8, absl::Hours(1))};
  arrivals[1].pods[0].movable = true;
  return arrivals;
}

TEST(SimulateTest, WhoMayBeMovedIsAndGoesOnWhereItWas) {
  const Course course = Of(ClusterOf(2), InPieces());
  ASSERT_EQ(course.gangs.size(), 4u);
  const Story &moves = course.gangs[1], &waits = course.gangs[3];
  EXPECT_EQ(moves.moved, 1);
  EXPECT_EQ(moves.evicted, 0);
  ASSERT_EQ(moves.ran.size(), 2u);
  EXPECT_EQ(moves.ran[0].to, At(absl::Minutes(20)));
  EXPECT_EQ(moves.ran[1].from, At(absl::Minutes(20) + absl::Seconds(30))) << "after the grace";
  EXPECT_THAT(moves.ended, Optional(At(absl::Minutes(121) + absl::Seconds(30)))) << "what it did is not lost";
  EXPECT_THAT(waits.started, Optional(At(absl::Minutes(20) + absl::Seconds(30))));
  Options calm;
  calm.policy.consolidate = false;
  const Course without = Of(ClusterOf(2), InPieces(), calm);
  EXPECT_EQ(without.gangs[1].moved, 0);
  EXPECT_THAT(without.gangs[3].started, Optional(*without.gangs[1].ended));
}

TEST(SimulateTest, WhoWasMovedStaysForTenMinutes) {
  std::vector<Arrival> arrivals = InPieces();
  arrivals[2].pods[0].lasts = absl::Minutes(23);  // ends at +25m
  arrivals[3].pods[0].lasts = absl::Minutes(4);   // ends before that
  arrivals.push_back(ArrivalOf("fills", absl::Minutes(24) + absl::Seconds(40), 1, 6, absl::Hours(3)));
  arrivals.push_back(ArrivalOf("second", absl::Minutes(26), 1, 8, absl::Hours(1)));
  const Course course = Of(ClusterOf(2), arrivals);
  ASSERT_EQ(course.gangs.size(), 6u);
  EXPECT_EQ(course.gangs[1].moved, 2);
  ASSERT_EQ(course.gangs[1].ran.size(), 3u);
  EXPECT_GE(course.gangs[1].ran[1].to, At(absl::Minutes(30)));
  EXPECT_LE(course.gangs[1].ran[1].to, At(absl::Minutes(30) + absl::Seconds(15))) << "rounds that may evict";
  EXPECT_THAT(course.gangs[5].started, Optional(course.gangs[1].ran[1].to + absl::Seconds(30)));
}

TEST(SimulateTest, TheSameGivesTheSame) {
  std::vector<Arrival> arrivals;
  for (int i = 0; i < 40; ++i)
    arrivals.push_back(
        ArrivalOf(absl::StrCat("g", i), absl::Minutes(7 * i), 1 + i % 5, 1 + i % 8, absl::Minutes(20 + 11 * i % 90)));
  const Course first = Of(ClusterOf(4), arrivals), second = Of(ClusterOf(4), arrivals);
  ASSERT_EQ(first.gangs.size(), 40u);
  for (std::size_t i = 0; i < first.gangs.size(); ++i) {
    EXPECT_EQ(first.gangs[i].name, second.gangs[i].name);
    EXPECT_EQ(first.gangs[i].ran, second.gangs[i].ran);
    EXPECT_EQ(first.gangs[i].waits, second.gangs[i].waits);
  }
}

TEST(SimulateTest, OfTwoOfOneNameNothing) {
  const auto twice = Simulate(ClusterOf(1), kBegin,
                              {ArrivalOf("a", {}, 1, 1, absl::Hours(1)), ArrivalOf("a", {}, 1, 1, absl::Hours(1))}, {});
  EXPECT_EQ(twice.status().message(), "gang ns/a: is there twice");
}

}  // namespace
}  // namespace gangway::simulate
