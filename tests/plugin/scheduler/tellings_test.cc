#include "plugin/scheduler/tellings.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/scheduler/gang_keys.h"
#include "plugin/scheduler/gang_plan.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::scheduler {
namespace {

using model::Reason;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testutil::At;

class TellingsTest : public ::testing::Test {
 protected:
  TellingsTest() {
    for (const char* const name : {"a", "b"}) cluster_.SetGang(testutil::Gang(name, 2));
  }
  model::Decision Decision(const std::string& gang) const {
    model::Decision decision;
    decision.gang = cluster_.FindGang("default", gang);
    return decision;
  }
  model::Decision Waits(const std::string& gang, bool short_of_minimum = true) const {
    model::Decision decision = Decision(gang);
    decision.reason = Reason();
    decision.reason->missing = decision.reason->min_member = 2;
    decision.short_of_minimum = short_of_minimum;
    return decision;
  }
  bool Decide(const model::Decision& decision, int second) {
    return tellings_.Decide(decision, KeyOfGang(cluster_.gang(decision.gang)), At(second));
  }
  std::string Dumped(std::size_t max_gangs = 10) const {
    std::string out;
    api::JsonWriter json(out);
    json.BeginObject();
    tellings_.Dump(json, max_gangs);
    json.EndObject();
    return out;
  }
  const api::NamespacedName a_{"default", "a"}, b_{"default", "b"};
  model::Cluster cluster_;
  Tellings tellings_{cluster_, {absl::Seconds(2), absl::Seconds(10), absl::Seconds(60)}, [](model::GangId, absl::Time) {
                       return std::nullopt;
                     }};
};

TEST_F(TellingsTest, AReasonIsNewsAndToldWhenItHasLasted) {
  EXPECT_TRUE(Decide(Waits("a"), 0));
  EXPECT_THAT(tellings_.EndRound(), IsEmpty());
  EXPECT_EQ(tellings_.waiting(), 1u);
  EXPECT_FALSE(tellings_.Look(a_, At(1)).told());
  EXPECT_EQ(tellings_.NextChange(a_), At(2));
  EXPECT_TRUE(tellings_.Look(a_, At(2)).told());
  EXPECT_EQ(tellings_.NextChange(b_), absl::InfiniteFuture());
}

TEST_F(TellingsTest, NumbersOfWhoWaitsWithHundredsAreBroughtUpToDateLessOften) {
  Decide(Waits("a"), 0);
  for (int i = 0; i < 1199; ++i) {
    const std::string name = absl::StrCat("other-", i);
    cluster_.SetGang(testutil::Gang(name, 2));
    Decide(Waits(name), 0);
  }
  EXPECT_TRUE(tellings_.Look(a_, At(2)).told());
  model::Decision less = Waits("a");
  less.reason->missing = 1;
  Decide(less, 3);
  EXPECT_EQ(tellings_.NextChange(a_), At(2 + 120));
  tellings_.EndRound();
  Decide(less, 4);
  tellings_.EndRound();
  EXPECT_EQ(tellings_.NextChange(a_), At(2 + 60)) << "alone";
}

TEST_F(TellingsTest, WhoWaitsNoMoreIsLookedAt) {
  for (const char* const gang : {"a", "b"}) Decide(Waits(gang), 0);
  EXPECT_THAT(tellings_.EndRound(), IsEmpty());
  Decide(Waits("b"), 1);
  EXPECT_THAT(tellings_.EndRound(), ElementsAre(a_));
  EXPECT_EQ(tellings_.waiting(), 1u);
  EXPECT_THAT(tellings_.EndRound(), ElementsAre(b_)) << "no round decides on those that wait for nothing";
  EXPECT_THAT(tellings_.EndRound(), IsEmpty());
}

TEST_F(TellingsTest, WhoWaitsForNothingHasNothingToTell) {
  EXPECT_FALSE(Decide(Decision("a"), 0));
  EXPECT_FALSE(tellings_.Look(a_, At(0)).reason().has_value());
  Decide(Waits("a"), 1);
  EXPECT_TRUE(tellings_.Look(a_, At(4)).told());
  EXPECT_TRUE(Decide(Decision("a"), 5));
  EXPECT_FALSE(tellings_.Look(a_, At(6)).told());
  EXPECT_FALSE(Decide(Decision("a"), 7));
  Decide(Waits("a"), 8);
  EXPECT_FALSE(tellings_.Look(a_, At(9)).told()) << "it lasts anew";
  EXPECT_FALSE(tellings_.Look(b_, At(9)).told());
}

TEST_F(TellingsTest, WhomARoundOfFewDoesNotDecideOnWaitsOn) {
  for (const char* const gang : {"a", "b"}) Decide(Waits(gang), 0);
  tellings_.EndRound();
  Decide(Decision("a"), 1);
  tellings_.EndRoundOfFew();
  EXPECT_EQ(tellings_.waiting(), 1u);
  Decide(Waits("a"), 2);
  tellings_.EndRoundOfFew();
  EXPECT_EQ(tellings_.waiting(), 2u);
  EXPECT_THAT(tellings_.EndRound(), ElementsAre(a_, b_));
}

TEST_F(TellingsTest, WhatIsLeftUndecidedGoesOnWaiting) {
  Decide(Waits("a", /*short_of_minimum=*/false), 0);
  tellings_.EndRound();
  model::Decision undecided = Decision("a");
  undecided.rest_undecided = true;
  EXPECT_FALSE(Decide(undecided, 1));
  EXPECT_THAT(tellings_.EndRound(), IsEmpty());
  EXPECT_EQ(tellings_.waiting(), 1u);
  EXPECT_TRUE(tellings_.Look(a_, At(2)).told()) << "since it waited first";
}

TEST_F(TellingsTest, WhatIsDecidedOfWhoWaitedForMoreIsNews) {
  Decide(Waits("a", /*short_of_minimum=*/false), 0);
  tellings_.EndRound();
  EXPECT_TRUE(Decide(Waits("a"), 1)) << "it lost members";
  model::Decision undecided = Waits("a");
  undecided.reason->missing = 1;
  undecided.rest_undecided = true;
  EXPECT_TRUE(Decide(undecided, 2)) << "the minimum is looked at all the same";
  EXPECT_TRUE(Decide(Waits("a", /*short_of_minimum=*/false), 3));
  EXPECT_TRUE(Decide(Decision("a"), 4)) << "it has all";
  EXPECT_THAT(tellings_.EndRound(), IsEmpty());
}

TEST_F(TellingsTest, WhoIsForgottenWaitsNoMoreAndBeginsAnew) {
  Decide(Waits("a"), 0);
  tellings_.EndRound();
  tellings_.Forget(a_);
  EXPECT_EQ(tellings_.waiting(), 0u);
  EXPECT_FALSE(tellings_.Look(a_, At(5)).told());
}

TEST_F(TellingsTest, WhatPodsSayIsRememberedWhileTheyWait) {
  const model::Task& task = cluster_.task(cluster_.SetPod(testutil::Pod("a", "w", 0, testutil::Cpu(1000))));
  api::core::Pod pod;
  pod.metadata.uid = task.uid;
  pod.status.conditions.resize(2);
  pod.status.conditions[0].type = "Ready";
  pod.status.conditions[0].status = "False";
  pod.status.conditions[1].type = "PodScheduled";
  pod.status.conditions[1].status = "False";
  pod.status.conditions[1].reason = "Unschedulable";
  pod.status.conditions[1].message = "waits";
  tellings_.Seen(pod);
  EXPECT_EQ(tellings_.WrittenOf(task), ConditionText("Unschedulable", "waits"));
  pod.status.conditions[1].status = "True";
  tellings_.Seen(pod);
  EXPECT_EQ(tellings_.WrittenOf(task), "");
  pod.status.conditions[1].status = "False";
  tellings_.Seen(pod);
  pod.spec.node_name = "n1";
  tellings_.Seen(pod);
  EXPECT_EQ(tellings_.WrittenOf(task), "");
  pod.spec.node_name = "";
  tellings_.Seen(pod);
  tellings_.ForgetPod(task.uid);
  EXPECT_EQ(tellings_.WrittenOf(task), "");
}

TEST_F(TellingsTest, TheDumpNamesTheFirstThatWait) {
  for (const char* const gang : {"a", "b"}) Decide(Waits(gang), 0);
  tellings_.EndRound();
  EXPECT_THAT(Dumped(), HasSubstr(R"("waitingGangs":2,"gangs":[{"gang":"default/a","admitted":true,"minMember":2)"));
  EXPECT_THAT(Dumped(), HasSubstr("default/b"));
  EXPECT_THAT(Dumped(1), ::testing::Not(HasSubstr("default/b")));
}

// Until the next round it is among those that wait.
TEST_F(TellingsTest, AGangThatIsGoneHidesNobodyInTheDump) {
  for (const char* const gang : {"a", "b"}) Decide(Waits(gang), 0);
  tellings_.EndRound();
  cluster_.RemoveGang("default", "a");
  EXPECT_THAT(Dumped(), HasSubstr("default/b"));
  EXPECT_THAT(Dumped(), ::testing::Not(HasSubstr("default/a")));
}

}  // namespace
}  // namespace gangway::scheduler
