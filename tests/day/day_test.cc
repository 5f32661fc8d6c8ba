// That the day itself is right: of every scheduler nothing is overcommitted, gangs are whole, work is conserved and all
// of it is done; what a scheduler does wrong is seen; the same seed gives the same tables.
#include "tests/day/day.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/day/gangway_day.h"
#include "tests/day/peers.h"
#include "tests/day/table.h"

namespace gangway::day {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Plan SmallPlan(unsigned seed) {
  Plan plan;
  plan.seed = seed;
  plan.nodes = 20;
  plan.pods = 400;
  plan.largest = 16;
  return plan;
}

using Make = std::function<std::unique_ptr<Scheduler>(const Workload&)>;

std::map<std::string, Make> All() {
  GangwayOptions calm;
  calm.policy.preempt = calm.policy.reclaim = false;
  return {
      {"Gangway", [](const Workload& work) { return std::make_unique<GangwayDay>(work, GangwayOptions()); }},
      {"Calm", [calm](const Workload& work) { return std::make_unique<GangwayDay>(work, calm); }},
      {"Volcano", [](const Workload& work) { return VolcanoSessions(work, true); }},
      {"VolcanoChart", [](const Workload& work) { return VolcanoSessions(work, false); }},
      {"FirstCome", [](const Workload& work) { return FirstComeFirstServed(work, false); }},
      {"FirstFit", [](const Workload& work) { return FirstComeFirstServed(work, true); }},
      {"PodByPod", [](const Workload& work) { return TaskByTask(work, 600); }},
  };
}

// A cluster of two nodes of four GPUs and two queues of the same weight.
Workload TwoNodes(std::vector<Job> jobs) {
  Workload work;
  work.plan.nodes = 2;
  work.plan.gpus_per_node = 4;
  work.plan.length = 1000;
  work.queues = {{"a", 1, 1}, {"b", 1, 1}};
  for (Job& job : jobs) {
    job.id = static_cast<int>(work.jobs.size());
    work.jobs.push_back(job);
  }
  return work;
}

TEST(Day, UnderEachSchedulerEveryJobIsDoneWholeAndNothingIsOvercommittedOrLost) {
  int evictions = 0;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const Workload work = Draw(SmallPlan(seed));
    for (const auto& [name, make] : All()) {
      SCOPED_TRACE(absl::StrCat(name, ", seed ", seed));
      const std::unique_ptr<Scheduler> scheduler = make(work);
      const Outcome outcome = Live(work, *scheduler);
      EXPECT_THAT(outcome.wrong, IsEmpty());
      EXPECT_THAT(outcome.stuck, IsEmpty());
      EXPECT_EQ(outcome.waits.size(), work.jobs.size());
      EXPECT_TRUE(
          std::all_of(outcome.waits.begin(), outcome.waits.end(), [](const Wait& wait) { return wait.waited >= 0; }));
      EXPECT_GT(outcome.used_in_day, 0.2);
      EXPECT_LT(outcome.used_in_day, 0.9);
      EXPECT_EQ(outcome.evictions > 0, outcome.lost_gpu_hours > 0);
      if (name != "Gangway") EXPECT_EQ(outcome.evictions, 0);
      if (name != "PodByPod" && name != "Gangway") EXPECT_EQ(outcome.held_in_vain, 0);
      evictions += outcome.evictions;
      if (const auto* const ours = dynamic_cast<const GangwayDay*>(scheduler.get()))
        EXPECT_THAT(ours->cluster().Audit(), IsEmpty());
    }
  }
  EXPECT_GT(evictions, 0);
}

TEST(Day, TheSameSeedGivesTheSameTables) {
  for (const auto& [name, make] : All()) {
    std::set<std::string> tables;
    for (const unsigned seed : {7u, 7u, 8u}) {
      const Workload work = Draw(SmallPlan(seed));
      const std::vector<Told> told = {{name, Live(work, *make(work))}};
      tables.insert(Describe(work) + TableOf(told) + WaitsOf(work, told));
    }
    EXPECT_EQ(tables.size(), 2) << name;
  }
}

TEST(Day, TheWorkloadIsAsLargeAsItsPlan) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const Workload work = Draw(SmallPlan(seed));
    int pods = 0;
    double gpu_time = 0;
    for (const Job& job : work.jobs) {
      pods += job.pods;
      gpu_time += static_cast<double>(job.all_gpus()) * job.runs;
      EXPECT_LE(job.pods, 16);
      EXPECT_LE(job.gpus, 8);
      EXPECT_LT(job.comes, work.plan.length);
    }
    EXPECT_EQ(pods, 400);
    EXPECT_NEAR(gpu_time / (160.0 * work.plan.length), 0.9, 0.01);
  }
}

// What a scheduler may do wrong.
class Does : public Scheduler {
 public:
  using What = std::function<void(Seconds, Hands&)>;
  explicit Does(What what, bool in_part = false) : what_(std::move(what)), in_part_(in_part) {}
  void Come(const Job&, Seconds) override {}
  void Gone(const Job&, Seconds) override {}
  void Decide(Seconds now, Hands& hands) override { what_(now, hands); }
  bool binds_in_part() const override { return in_part_; }

 private:
  What what_;
  bool in_part_;
};

std::vector<std::string> WrongOf(const Workload& work, Does::What what) {
  Does scheduler(std::move(what));
  return Live(work, scheduler).wrong;
}

TEST(Day, WhatASchedulerDoesWrongIsSeen) {
  const Workload work = TwoNodes({{0, 0, 2, 3, 0, 100}});
  EXPECT_THAT(WrongOf(work,
                      [](Seconds now, Hands& hands) {
                        if (now > 0) return;
                        hands.Bind(0, 0);
                        hands.Bind(0, 0);
                      }),
              Contains(HasSubstr("node 0 is overcommitted")));
  EXPECT_THAT(WrongOf(work,
                      [](Seconds now, Hands& hands) {
                        if (now == 0) hands.Bind(0, 0);
                      }),
              ElementsAre("at 0 job 0 of 2 pods: only 1 have nodes"));
  EXPECT_THAT(WrongOf(work,
                      [](Seconds now, Hands& hands) {
                        if (now > 0) return;
                        for (const int node : {0, 1, 1}) hands.Bind(0, node);
                      }),
              Contains(HasSubstr("a pod is bound that does not wait")));
  EXPECT_THAT(WrongOf(work, [](Seconds, Hands& hands) { hands.Evict(0); }), Contains(HasSubstr("does not run")));
  EXPECT_THAT(WrongOf(work,
                      [](Seconds now, Hands& hands) {
                        if (now > 0) return;
                        for (const int node : {0, 1}) hands.Bind(0, node);
                        hands.GiveBack(0);
                      }),
              Contains(HasSubstr("gives back what it does not hold in part")));
}

TEST(Day, AJobThatIsEvictedLosesWhatItDidAndBeginsAnewAfterItsGrace) {
  const Workload work = TwoNodes({{0, 0, 2, 4, 0, 100}, {1, 1, 1, 1, 40, 10}});
  Does scheduler([](Seconds now, Hands& hands) {
    if (now == 0 || now == 70) {
      for (const int node : {0, 1}) hands.Bind(0, node);
    }
    if (now == 40) hands.Evict(0);
    if (now == 170) hands.Bind(1, 0);
  });
  const Outcome outcome = Live(work, scheduler);
  EXPECT_THAT(outcome.wrong, IsEmpty());
  EXPECT_EQ(outcome.evictions, 1);
  EXPECT_EQ(outcome.most_of_one, 1);
  EXPECT_NEAR(outcome.lost_gpu_hours, 8 * 40 / 3600.0, 1e-9);
  EXPECT_NEAR(outcome.lost_pod_hours, 2 * 40 / 3600.0, 1e-9);
  EXPECT_NEAR(outcome.held_in_vain, 8 * 30 / 3600.0, 1e-9);
  EXPECT_NEAR(outcome.used_in_day, (8 * 100 + 10) / (8.0 * 1000), 1e-9);
  ASSERT_EQ(outcome.waits.size(), 2);
  EXPECT_EQ(outcome.waits[0].waited, 70);
  EXPECT_EQ(outcome.waits[1].waited, 130);
  EXPECT_EQ(outcome.ends, 180);
}

TEST(Day, SharesArePouredByWeightUntilEachHasWhatItAsksFor) {
  const std::vector<QueueOf> queues = {{"ads", 3, 1}, {"maps", 1, 1}, {"lab", 1, 1}};
  EXPECT_THAT(Deserved(64, queues, {64, 8, 64}),
              ElementsAre(::testing::DoubleEq(42), ::testing::DoubleEq(8), ::testing::DoubleEq(14)));
  EXPECT_THAT(Deserved(64, queues, {10, 8, 0}), ElementsAre(10, 8, 0));
  // Half of the day a queue that deserves half has nothing.
  const Workload work = TwoNodes({{0, 0, 2, 4, 0, 500}, {1, 1, 2, 4, 0, 500}});
  const std::unique_ptr<Scheduler> scheduler = FirstComeFirstServed(work, false);
  EXPECT_NEAR(Live(work, *scheduler).short_of_share, 0.25, 1e-9);
}

TEST(Day, RoomFindsTheFullestNode) {
  Room room(3, 8);
  room.Add(0, -6);
  room.Add(1, -5);
  EXPECT_EQ(room.BestFit(2), 0);
  EXPECT_EQ(room.BestFit(3), 1);
  EXPECT_EQ(room.BestFit(4), 2);
  EXPECT_EQ(room.BestFit(9), -1);
  EXPECT_TRUE(room.Fits(6, 2));
  EXPECT_FALSE(room.Fits(7, 2));
  EXPECT_EQ(room.all_free(), 13);
  EXPECT_THAT((std::set<int>{room.AnyFit(3, 0), room.AnyFit(3, 1), room.AnyFit(3, 2)}), ElementsAre(1, 2));
  room.Add(0, 6);
  EXPECT_EQ(room.BestFit(4), room.BestFit(8));
}

// Two gangs hold half of what each needs, and neither begins: with a time after which they give it back they do.
TEST(Day, PodByPodGangsHoldEachOtherUpForEver) {
  const Workload work = TwoNodes({{0, 0, 1, 4, 0, 10}, {1, 0, 1, 2, 0, 20}, {2, 0, 2, 4, 1, 50}, {3, 0, 4, 2, 2, 50}});
  const std::unique_ptr<Scheduler> holding = TaskByTask(work, std::nullopt);
  const Outcome held = Live(work, *holding);
  EXPECT_THAT(held.wrong, IsEmpty());
  EXPECT_THAT(held.stuck, ElementsAre(2, 3));
  const std::unique_ptr<Scheduler> giving = TaskByTask(work, 100);
  const Outcome given = Live(work, *giving);
  EXPECT_THAT(given.wrong, IsEmpty());
  EXPECT_THAT(given.stuck, IsEmpty());
  EXPECT_GT(given.held_in_vain, 0);
}

TEST(Day, WhoComesFirstIsServedFirstUnlessOthersMayPass) {
  const Workload work = TwoNodes({{0, 0, 1, 4, 0, 100}, {1, 0, 2, 4, 1, 10}, {2, 0, 1, 4, 2, 10}});
  const auto waited = [&](bool passing) {
    const std::unique_ptr<Scheduler> scheduler = FirstComeFirstServed(work, passing);
    std::map<int, Seconds> waits;
    for (const Wait& wait : Live(work, *scheduler).waits) waits[wait.job] = wait.waited;
    return waits;
  };
  EXPECT_THAT(waited(false), ElementsAre(std::pair(0, 0), std::pair(1, 99), std::pair(2, 108)));
  EXPECT_THAT(waited(true), ElementsAre(std::pair(0, 0), std::pair(1, 99), std::pair(2, 0)));
}

std::map<int, Seconds> WaitsUnderVolcano(const Workload& work) {
  const std::unique_ptr<Scheduler> scheduler = VolcanoSessions(work, true);
  const Outcome outcome = Live(work, *scheduler);
  EXPECT_THAT(outcome.wrong, IsEmpty());
  std::map<int, Seconds> waits;
  for (const Wait& wait : outcome.waits) waits[wait.job] = wait.waited;
  return waits;
}

TEST(Day, InAVolcanoSessionAQueueTakesNoMoreThanItDeserves) {
  // Each deserves half. Of the first queue the second gang would pass it, of the second one it fits.
  EXPECT_THAT(WaitsUnderVolcano(
                  TwoNodes({{0, 0, 3, 1, 0, 100}, {1, 0, 2, 1, 0, 100}, {2, 1, 3, 1, 0, 100}, {3, 1, 1, 1, 0, 100}})),
              ElementsAre(std::pair(0, 1), std::pair(1, 101), std::pair(2, 1), std::pair(3, 1)));
}

TEST(Day, InAVolcanoSessionWhatPasses120PercentIsNotLetInAndDeservesNothing) {
  EXPECT_THAT(WaitsUnderVolcano(
                  TwoNodes({{0, 0, 1, 4, 0, 100}, {1, 0, 1, 4, 1, 100}, {2, 1, 1, 4, 1, 50}, {3, 1, 2, 4, 1, 50}})),
              ElementsAre(std::pair(0, 1), std::pair(1, 1), std::pair(2, 101), std::pair(3, 152)));
}

}  // namespace
}  // namespace gangway::day
