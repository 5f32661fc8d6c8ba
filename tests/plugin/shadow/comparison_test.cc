#include "plugin/shadow/comparison.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::shadow {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const absl::Time kFrom = absl::FromUnixSeconds(1'795'503'600);
absl::Time After(int seconds) { return kFrom + absl::Seconds(seconds); }

TEST(ComparisonTest, WhatTheOtherDoesAMomentLaterIsTheSame) {
  Comparison comparison(kFrom);
  comparison.Waits("ns/a", "ads", After(0));
  comparison.Places(Who::kWe, "ns/a", 2, After(1));
  comparison.Places(Who::kThey, "ns/a", 3, After(6));
  comparison.Waits("ns/b", "ads", After(10));
  comparison.Places(Who::kThey, "ns/b", 1, After(11));  // before anybody else could
  EXPECT_EQ(comparison.counts().compared, 2);
  EXPECT_EQ(comparison.counts().same, 2);
  EXPECT_EQ(comparison.counts().nodes_ours, 2);
  EXPECT_EQ(comparison.counts().nodes_theirs, 3) << "only of gangs that both have placed";
  EXPECT_THAT(comparison.disagreements(), IsEmpty());
}

TEST(ComparisonTest, EarlierIsCountedWithTheOthersReason) {
  Comparison comparison(kFrom);
  comparison.Waits("ns/a", "ads", After(0));
  comparison.Places(Who::kWe, "ns/a", 2, After(10));
  comparison.Places(Who::kWe, "ns/a", 9, After(20));  // the first time counts
  comparison.Refuses(Who::kThey, "ns/a", "3/2 tasks in gang unschedulable");
  EXPECT_EQ(comparison.ahead(), 1u);
  comparison.Places(Who::kThey, "ns/a", 2, After(310));
  EXPECT_EQ(comparison.counts().earlier, 1);
  EXPECT_EQ(comparison.counts().gained, absl::Seconds(300));
  ASSERT_EQ(comparison.disagreements().size(), 1u);
  EXPECT_EQ(comparison.disagreements()[0].what, "we would have placed it 5m0s earlier");
  EXPECT_EQ(comparison.disagreements()[0].reason, "3/2 tasks in gang unschedulable");
  EXPECT_EQ(comparison.disagreements()[0].queue, "ads");
  EXPECT_EQ(comparison.ahead(), 0u);
}

TEST(ComparisonTest, NotYetIsCountedWithOurReason) {
  Comparison comparison(kFrom);
  comparison.Waits("ns/a", "ads", After(0));
  comparison.Refuses(Who::kWe, "ns/a", "waits for 2 of 2 tasks");
  comparison.WouldEvictFor("ns/a");
  comparison.WouldEvictFor("ns/a");
  comparison.Places(Who::kThey, "ns/a", 2, After(60));
  EXPECT_EQ(comparison.counts().not_yet, 1);
  EXPECT_EQ(comparison.counts().would_evict, 1);
  ASSERT_EQ(comparison.disagreements().size(), 1u);
  EXPECT_EQ(comparison.disagreements()[0].what, "the other placed it, we would not have yet");
  EXPECT_EQ(comparison.disagreements()[0].reason, "waits for 2 of 2 tasks");
}

TEST(ComparisonTest, WhatWasNotSeenWaitingIsNotCompared) {
  Comparison comparison(kFrom);
  comparison.Places(Who::kThey, "ns/runs", 2, After(0));
  comparison.Places(Who::kWe, "ns/runs", 2, After(0));
  comparison.Refuses(Who::kWe, "ns/runs", "nothing");
  comparison.Gone("ns/runs", After(1));
  EXPECT_EQ(comparison.counts().compared, 0);
  EXPECT_FALSE(comparison.knows("ns/runs"));
}

TEST(ComparisonTest, WhatWentWithoutTheOtherIsOursAlone) {
  Comparison comparison(kFrom);
  comparison.Waits("ns/a", "ads", After(0));
  comparison.Places(Who::kWe, "ns/a", 2, After(10));
  comparison.Gone("ns/a", After(70));
  comparison.Waits("ns/b", "ads", After(0));
  comparison.Gone("ns/b", After(70));
  EXPECT_EQ(comparison.counts().only_ours, 1);
  ASSERT_EQ(comparison.disagreements().size(), 1u);
  EXPECT_EQ(comparison.disagreements()[0].what, "it went, and we would have placed it 1m0s before");
}

// To the letter: it is what somebody decides by.
TEST(ComparisonTest, ADayIsReported) {
  Comparison comparison(kFrom);
  EXPECT_EQ(comparison.Report(After(60)),
            "From 2026-11-24T07:00:00Z to 2026-11-24T07:01:00Z (1m0s) the other scheduler placed 0 gangs that we saw "
            "waiting:\n"
            "  0 at the same time, within 5s\n  0 we would have placed earlier\n  0 we would not have placed yet\n"
            "Gone, placed by us alone: 0. Still waiting: 0, of which we would have placed 0.\n");
  for (const std::string name : {"a", "b"}) {
    comparison.Waits("ns/" + name, "ads", After(0));
    comparison.Places(Who::kWe, "ns/" + name, 2, After(1));
    comparison.Refuses(Who::kThey, "ns/" + name, name == "a" ? "3/2 tasks unschedulable" : "1/16 tasks unschedulable");
    comparison.Places(Who::kThey, "ns/" + name, 3, After(name == "a" ? 301 : 101));
  }
  comparison.Waits("ns/c", "research", After(0));
  comparison.Refuses(Who::kWe, "ns/c", "waits for 2 of 2 tasks");
  comparison.WouldEvictFor("ns/c");
  comparison.Places(Who::kThey, "ns/c", 2, After(600));
  comparison.Waits("ns/d", "research", After(700));
  comparison.Places(Who::kWe, "ns/d", 1, After(701));
  EXPECT_EQ(comparison.Report(kFrom + absl::Hours(24)),
            "From 2026-11-24T07:00:00Z to 2026-11-25T07:00:00Z (24h0m0s) the other scheduler placed 3 gangs that we "
            "saw waiting:\n"
            "  0 at the same time, within 5s\n"
            "  2 we would have placed earlier, by 3m20s on average and 6m40s in all\n"
            "  1 we would not have placed yet\n"
            "Gone, placed by us alone: 0. Still waiting: 1, of which we would have placed 1.\n"
            "For 1 gang we would have evicted pods.\n"
            "Fragments: the gangs that both have placed lie on 6 nodes, ours on 4; fewer leave more nodes whole for "
            "those who come.\n"
            "\nOf the last 3 disagreements, by queue:\n  2  ads\n  1  research\n"
            "\nWhy the one who waited did, without numbers:\n  2  #/# tasks unschedulable\n  1  waits for # of # "
            "tasks\n"
            "\nThe last ones:\n"
            "  2026-11-24T07:05:01Z  ns/a  we would have placed it 5m0s earlier: 3/2 tasks unschedulable\n"
            "  2026-11-24T07:01:41Z  ns/b  we would have placed it 1m40s earlier: 1/16 tasks unschedulable\n"
            "  2026-11-24T07:10:00Z  ns/c  the other placed it, we would not have yet: waits for 2 of 2 tasks\n");
}

TEST(ComparisonTest, OnlyTheLastDisagreementsAreKept) {
  Comparison comparison(kFrom);
  for (std::size_t i = 0; i < kMaxDisagreements + 10; ++i) {
    const std::string gang = absl::StrCat("ns/", i);
    comparison.Waits(gang, "ads", After(0));
    comparison.Places(Who::kThey, gang, 1, After(60));
  }
  EXPECT_EQ(comparison.disagreements().size(), kMaxDisagreements);
  EXPECT_EQ(comparison.disagreements().front().gang, "ns/10");
  std::string text;
  api::JsonWriter json(text);
  comparison.Dump(json, After(60));
  EXPECT_THAT(text, HasSubstr(R"("compared":1010,"same":0,"earlier":0,"gainedSeconds":0,"notYet":1010,)"));
  EXPECT_THAT(comparison.Summary(), HasSubstr("1010 gangs compared: 0 at the same time"));
}

}  // namespace
}  // namespace gangway::shadow
