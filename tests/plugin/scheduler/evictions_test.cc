// Who goes of a gang, and what its pods say of room that is kept, of values alone; evicting_test.cc has it written.
#include "plugin/scheduler/evictions.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "base/metrics.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::scheduler {
namespace {

using api::NamespacedName;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class EvictionsTest : public ::testing::Test {
 protected:
  EvictionsTest() {
    cluster_.SetNode(testutil::Node("n1"));
    cluster_.SetGang(testutil::Gang("g", 3));
  }
  model::PodFacts Running(int index) const {
    model::PodFacts pod = testutil::Pod("g", "w", index, testutil::Cpu(1000));
    pod.node = "n1";
    pod.phase = model::PodPhase::kRunning;
    return pod;
  }
  model::GangId Gang(const std::string& name = "g") const { return cluster_.FindGang("default", name); }
  model::TaskId Task(const std::string& name) const { return cluster_.FindTask("default", name); }
  std::vector<std::string> Going(const std::string& name = "g") const {
    std::vector<std::string> names;
    const std::optional<Removal> removal = evictions_.RemovalOf({"default", name}, Gang(name));
    if (removal.has_value()) {
      for (const model::TaskId task : removal->tasks) names.push_back(cluster_.task(task).name);
    }
    return names;
  }
  // Of `g`, for the gang `high`.
  void Evict(const std::vector<std::string>& pods, int second = 0) {
    cluster_.SetGang(testutil::Gang("high", 1));
    model::Decision decision;
    decision.gang = Gang("high");
    decision.evict_for = model::EvictFor::kPriority;
    for (const std::string& pod : pods) {
      decision.evicted.push_back(Task(pod));
      cluster_.SetEvicted(Task(pod), true);
    }
    EXPECT_THAT(evictions_.CarryOut(decision, {"default", "high"}, testutil::At(second)),
                ElementsAre(NamespacedName{"default", "g"}));
  }
  std::vector<std::pair<std::string, std::string>> Nominations() const {
    std::vector<std::pair<std::string, std::string>> nominations;
    for (const Evictions::Nomination& nomination : evictions_.NominationsOf(Gang()))
      nominations.emplace_back(cluster_.task(nomination.task).name, nomination.node);
    return nominations;
  }

  model::Cluster cluster_;
  Evictions evictions_{cluster_};
};

TEST_F(EvictionsTest, WhoIsChosenIsUntoldUntilHeIsToldToGo) {
  for (int i = 0; i < 3; ++i) cluster_.SetPod(Running(i));
  const auto uid = [&](const std::string& pod) { return cluster_.task(Task(pod)).uid.text(); };
  const std::string first = cluster_.task(cluster_.gang(Gang()).tasks[0]).name,
                    second = cluster_.task(cluster_.gang(Gang()).tasks[1]).name;
  EXPECT_EQ(evictions_.untold(), 0u);
  Evict({first, second});
  EXPECT_EQ(evictions_.untold(), 2u);
  api::core::Pod pod;
  pod.metadata.uid = uid(first);
  evictions_.Seen(pod);
  EXPECT_EQ(evictions_.untold(), 2u);
  pod.metadata.deletion_timestamp.at = testutil::At(1);
  evictions_.Seen(pod);
  EXPECT_EQ(evictions_.untold(), 1u) << "one is not told yet";
  evictions_.ForgetPod(uid(second));
  EXPECT_EQ(evictions_.untold(), 0u) << "it is gone";
  Evict({first});
  evictions_.OnForbidden({"default", "g"});
  EXPECT_EQ(evictions_.untold(), 0u) << "it stays";
  Evict({first});
  evictions_.Forget({"default", "high"});
  EXPECT_EQ(evictions_.untold(), 0u) << "for nobody";
  Evict({first});
  evictions_.Forget({"default", "g"});
  EXPECT_EQ(evictions_.untold(), 0u) << "nobody knows it any more";
}

// The record of the next takes the place of the one before, which nobody may have read.
TEST_F(EvictionsTest, WhoWentAMomentAgoIsNamedOnceMore) {
  const auto told = [&] {
    std::vector<std::string> names;
    const std::optional<Removal> removal = evictions_.RemovalOf({"default", "g"}, Gang());
    for (const api::volcano::ReleasedPod& pod : removal->told) names.push_back(pod.name);
    return names;
  };
  for (int i = 0; i < 3; ++i) cluster_.SetPod(Running(i));
  Evict({"g-w-0"});
  cluster_.RemovePod("default", "g-w-0");
  Evict({"g-w-1"}, 59);
  EXPECT_THAT(told(), ElementsAre("g-w-0", "g-w-1"));
  cluster_.RemovePod("default", "g-w-1");
  Evict({"g-w-2"}, 59 + 60);
  EXPECT_THAT(told(), ElementsAre("g-w-2"));
}

using EvictionsDeathTest = EvictionsTest;

TEST_F(EvictionsDeathTest, NobodyGoesWhoIsOfNoGang) {
  model::PodFacts pod = testutil::Pod("", "alone", 0, testutil::Cpu(1000));
  pod.node = "n1";
  model::Decision decision;
  decision.gang = Gang();
  decision.evicted = {cluster_.SetPod(pod)};
  EXPECT_DEATH(evictions_.CarryOut(decision, {"default", "g"}, testutil::At(0)), "kNone");
}

TEST_F(EvictionsTest, WhoWasToldByAnotherProcessGoesWhereTheGangIsNotWholeAnyMore) {
  model::PodFacts first = Running(0), second = Running(1);
  first.leaving = second.leaving = first.terminating = true;
  cluster_.SetPod(first);
  cluster_.SetPod(second);
  cluster_.SetPod(Running(2));
  EXPECT_THAT(Going(), ElementsAre("g-w-1"));
  const std::optional<Removal> removal = evictions_.RemovalOf({"default", "g"}, Gang());
  ASSERT_TRUE(removal.has_value());
  EXPECT_EQ(removal->sentence, "evicted 1 of 3 tasks: others of the gang were evicted before");
  EXPECT_EQ(removal->reason, "Preempted");
  model::GangFacts told = testutil::Gang("g", 3);
  told.evictions = 2;
  told.evicted_for = "default/high";
  cluster_.SetGang(told);
  const Removal again = evictions_.RemovalOf({"default", "g"}, Gang()).value_or(Removal());
  EXPECT_EQ(api::volcano::GangEvictedFor(again.reason, again.sentence), "default/high") << again.sentence;
  EXPECT_EQ(api::volcano::EvictionsBy(again.reason, again.sentence), 2) << again.sentence;
  cluster_.SetGang(testutil::Gang("g", 2));
  EXPECT_THAT(Going(), IsEmpty()) << "it was beyond the minimum that one went";
  first.terminating = false;
  cluster_.SetGang(testutil::Gang("g", 3));
  cluster_.SetPod(first);
  EXPECT_THAT(Going(), IsEmpty()) << "none has gone";
}

// So that a scheduler that starts anew knows it, too (ingest).
TEST_F(EvictionsTest, HowOftenItWasEvictedOfLateIsTold) {
  const auto told = [&](int before, absl::Time when) {
    Evictions fresh(cluster_);
    model::GangFacts gang = testutil::Gang("g", 3);
    gang.evictions = before;
    gang.last_evicted = when;
    cluster_.SetGang(gang);
    cluster_.SetGang(testutil::Gang("high", 1));
    for (int i = 0; i < 3; ++i) cluster_.SetPod(Running(i));
    model::Decision decision;
    decision.gang = Gang("high");
    decision.evict_for = model::EvictFor::kPriority;
    for (const char* pod : {"g-w-0", "g-w-1"}) {  // in two decisions, which are one eviction
      decision.evicted = {Task(pod)};
      cluster_.SetEvicted(Task(pod), true);
      fresh.CarryOut(decision, {"default", "high"}, testutil::At(0));
    }
    return fresh.RemovalOf({"default", "g"}, Gang())->sentence;
  };
  EXPECT_THAT(told(0, absl::InfinitePast()), ::testing::Not(HasSubstr("of late")));
  EXPECT_THAT(told(1, testutil::At(-3600)), ::testing::EndsWith("; evicted 2 times of late"));
  EXPECT_THAT(told(4, testutil::At(-3600)), ::testing::EndsWith("; evicted 5 times of late"));
  EXPECT_THAT(told(4, testutil::At(-24 * 3600)), ::testing::Not(HasSubstr("of late")));
}

// Who was marked by another process and goes with those of this one is no failure of its Job either.
TEST_F(EvictionsTest, WhoeverGoesIsToldOf) {
  model::PodFacts first = Running(0), second = Running(1);
  first.leaving = second.leaving = first.terminating = true;
  cluster_.SetPod(first);
  cluster_.SetPod(second);
  cluster_.SetPod(Running(2));
  Evict({"g-w-2"});
  const std::optional<Removal> removal = evictions_.RemovalOf({"default", "g"}, Gang());
  ASSERT_TRUE(removal.has_value());
  std::vector<std::string> told;
  for (const api::volcano::ReleasedPod& pod : removal->told) told.push_back(pod.name);
  EXPECT_THAT(Going(), ElementsAre("g-w-1", "g-w-2"));
  EXPECT_THAT(told, UnorderedElementsAre("g-w-0", "g-w-1", "g-w-2"));
  EXPECT_THAT(removal->sentence, HasSubstr("for default/high"));
}

TEST_F(EvictionsTest, WhoIsNotTerminatingStaysWhenTheGangIsGoneForWhichItGoes) {
  for (int i = 0; i < 3; ++i) cluster_.SetPod(Running(i));
  Evict({"g-w-0", "g-w-1"});
  EXPECT_THAT(Going(), ElementsAre("g-w-0", "g-w-1"));
  model::PodFacts terminating = Running(0);
  terminating.terminating = true;
  cluster_.SetPod(terminating);
  EXPECT_THAT(Going(), ElementsAre("g-w-1"));
  evictions_.Forget({"default", "another"});
  EXPECT_THAT(Going(), ElementsAre("g-w-1"));
  evictions_.Forget({"default", "high"});
  EXPECT_THAT(Going(), IsEmpty());
}

TEST_F(EvictionsTest, TheyGoInTheOrderOfTheirNames) {
  for (const int i : {2, 0, 1}) cluster_.SetPod(Running(i));
  Evict({"g-w-0", "g-w-1", "g-w-2"});
  EXPECT_THAT(Going(), ElementsAre("g-w-0", "g-w-1", "g-w-2"));
}

TEST_F(EvictionsTest, EachIsCountedAsWhatItIsFor) {
  Metrics metrics;
  evictions_.CountIn(metrics);
  cluster_.SetGang(testutil::Gang("high", 1));
  for (int i = 0; i < 2; ++i) cluster_.SetPod(Running(i));
  const auto evict = [&](model::EvictFor what_for, int times) {
    model::Decision decision;
    decision.gang = Gang("high");
    decision.evict_for = what_for;
    decision.evicted = {Task("g-w-0"), Task("g-w-1")};
    for (; times > 0; --times) evictions_.CarryOut(decision, {"default", "high"}, testutil::At(0));
  };
  evict(model::EvictFor::kPriority, 1);
  evict(model::EvictFor::kShare, 2);
  evict(model::EvictFor::kRoom, 3);
  evict(model::EvictFor::kLost, 4);
  const std::string told = metrics.Expose();
  for (const char* const line : {"volcano_eviction_transactions_total{action=\"preempt\"} 1", "action=\"reclaim\"} 2",
                                 "action=\"consolidation\"} 3", "action=\"lost-member\"} 4",
                                 "volcano_total_preemption_attempts 6", "volcano_pod_preemption_victims 2"})
    EXPECT_THAT(told, HasSubstr(absl::StrCat(line, "\n")));
}

TEST_F(EvictionsTest, WhoMayNotBeDeletedStays) {
  for (int i = 0; i < 3; ++i) cluster_.SetPod(Running(i));
  Evict({"g-w-2"});
  evictions_.OnForbidden({"default", "high"});
  EXPECT_THAT(Going(), ElementsAre("g-w-2"));
  evictions_.OnForbidden({"default", "g"});
  EXPECT_THAT(Going(), IsEmpty());
}

// It was told of before it was refused.
TEST_F(EvictionsTest, WhatWasRefusedCountsOnce) {
  model::GangFacts gang = testutil::Gang("g", 3);
  for (int i = 0; i < 3; ++i) cluster_.SetPod(Running(i));
  const auto evict = [&] {
    Evict({"g-w-0", "g-w-1", "g-w-2"});
    gang.evictions = 1;
    gang.last_evicted = testutil::At(0);
    cluster_.SetGang(gang);
    return evictions_.RemovalOf({"default", "g"}, Gang())->sentence;
  };
  evict();
  evictions_.OnForbidden({"default", "g"});
  EXPECT_THAT(evict(), ::testing::Not(HasSubstr("of late")));
  for (int i = 0; i < 3; ++i) {
    cluster_.RemovePod("default", absl::StrCat("g-w-", i));
    model::PodFacts again = Running(i);
    again.uid = absl::StrCat("again-", i);
    cluster_.SetPod(again);
  }
  EXPECT_THAT(evict(), ::testing::EndsWith("; evicted 2 times of late"));
}

// Whoever evicts again tells of those that are there still, and of none of the same name.
TEST_F(EvictionsTest, OfAnEarlierTimeWhoIsStillThereIsTold) {
  for (int i = 0; i < 3; ++i) cluster_.SetPod(Running(i));
  Evict({"g-w-0", "g-w-1"});
  cluster_.RemovePod("default", "g-w-1");
  model::PodFacts again = Running(1);
  again.uid = "another";
  cluster_.SetPod(again);
  Evict({"g-w-2"});
  std::vector<std::string> told;
  const Removal removal = evictions_.RemovalOf({"default", "g"}, Gang()).value_or(Removal());
  for (const api::volcano::ReleasedPod& pod : removal.told) told.push_back(pod.name + "/" + pod.uid);
  EXPECT_THAT(told, ElementsAre("g-w-0/uid-g-w-0", "g-w-2/uid-g-w-2"));
}

TEST_F(EvictionsTest, PodsSayWhereRoomIsKeptForThemUntilItIsNot) {
  for (int i = 0; i < 2; ++i) cluster_.SetPod(testutil::Pod("g", "w", i, testutil::Cpu(1000)));
  EXPECT_THAT(Nominations(), IsEmpty());
  cluster_.Nominate(Task("g-w-1"), cluster_.FindNode("n1"));
  EXPECT_THAT(Nominations(), ElementsAre(Pair("g-w-1", "n1")));
  api::core::Pod shown;
  shown.metadata.uid = "uid-g-w-1";
  shown.status.nominated_node_name = "n1";
  evictions_.Seen(shown);
  EXPECT_THAT(Nominations(), IsEmpty());
  cluster_.Nominate(Task("g-w-1"), model::kNone);
  EXPECT_THAT(Nominations(), ElementsAre(Pair("g-w-1", "")));
  evictions_.ForgetPod("uid-g-w-1");
  EXPECT_THAT(Nominations(), IsEmpty());
}

}  // namespace
}  // namespace gangway::scheduler
