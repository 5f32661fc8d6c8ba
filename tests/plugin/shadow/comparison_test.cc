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
