#include "plugin/scheduler/telling.h"

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace gangway::scheduler {
namespace {

using model::Reason;

class TellingTest : public ::testing::Test {
 protected:
  static absl::Time At(int second) { return absl::FromUnixSeconds(1'790'000'000 + second); }
  static Reason Lacking(Reason::Kind kind, int missing) {
    Reason reason;
    reason.kind = kind;
    reason.min_member = 8;
    reason.missing = missing;
    return reason;
  }
  bool Decide(Reason::Kind kind, int missing, int second, bool short_of_minimum = true,
              std::vector<std::string> would_fit = {}) {
    return telling_.Decide(Lacking(kind, missing), short_of_minimum, std::move(would_fit), At(second));
  }
  absl::Time Next() const { return telling_.NextChange(rules_); }
  // Told at that second, and written.
  void Tell(int second) {
    telling_.Advance(rules_, At(second));
    telling_.NewsWritten();
  }

  TellingRules rules_{absl::Seconds(2), absl::Seconds(10), absl::Seconds(60)};
  Telling telling_;
};

TEST_F(TellingTest, AReasonIsToldOnceItHasLasted) {
  EXPECT_EQ(Next(), absl::InfiniteFuture());
  EXPECT_TRUE(Decide(Reason::Kind::kNoRoom, 2, 0));
  EXPECT_EQ(Next(), At(2));
  telling_.Advance(rules_, At(1));
  EXPECT_FALSE(telling_.told());
  EXPECT_TRUE(Decide(Reason::Kind::kNoRoom, 3, 1)) << "its numbers change, it lasts";
  telling_.Advance(rules_, At(2));
  EXPECT_TRUE(telling_.told() && telling_.news() && telling_.short_of_minimum());
  EXPECT_EQ(telling_.text(), model::Render(Lacking(Reason::Kind::kNoRoom, 3)));
  EXPECT_EQ(Next(), absl::InfiniteFuture());
}

// Until it is written it is decided again and again.
TEST_F(TellingTest, AReasonIsLoggedOnceHoweverOftenItIsLookedAtUntilItIsWritten) {
  Decide(Reason::Kind::kNoRoom, 2, 0);
  telling_.Advance(rules_, At(1));
  EXPECT_FALSE(telling_.TakeUnlogged());
  telling_.Advance(rules_, At(2));
  EXPECT_TRUE(telling_.TakeUnlogged());
  telling_.Advance(rules_, At(3));
  EXPECT_TRUE(telling_.news());
  EXPECT_FALSE(telling_.TakeUnlogged());
  telling_.NewsWritten();
  Decide(Reason::Kind::kClaim, 2, 4);
  telling_.Advance(rules_, At(6));
  EXPECT_TRUE(telling_.TakeUnlogged()) << "another kind";
}

TEST_F(TellingTest, WhatMayBeOnItsWayHasMoreTime) {
  for (const Reason::Kind kind : {Reason::Kind::kTooFewTasks, Reason::Kind::kClaim}) {
    telling_ = {};
    Decide(kind, 2, 0);
    EXPECT_EQ(Next(), At(10));
  }
}

TEST_F(TellingTest, PodsThatAreBeingMadeAreNoReason) {
  Decide(Reason::Kind::kTooFewTasks, 5, 0);
  Decide(Reason::Kind::kTooFewTasks, 4, 8);
  EXPECT_EQ(Next(), At(18)) << "one more is there";
  EXPECT_FALSE(Decide(Reason::Kind::kTooFewTasks, 4, 9));
  EXPECT_EQ(Next(), At(18));
  Tell(18);
  Decide(Reason::Kind::kTooFewTasks, 3, 20);
  EXPECT_EQ(Next(), At(18 + 60)) << "it was told: from here on it is one that changes";
}

TEST_F(TellingTest, NumbersAreBroughtUpToDateNowAndThen) {
  Decide(Reason::Kind::kNoRoom, 2, 0);
  Tell(2);
  Decide(Reason::Kind::kNoRoom, 3, 5);
  EXPECT_EQ(Next(), At(62));
  telling_.Advance(rules_, At(62));
  EXPECT_EQ(telling_.text(), model::Render(Lacking(Reason::Kind::kNoRoom, 3)));
  EXPECT_FALSE(telling_.news());
  Decide(Reason::Kind::kNoRoom, 3, 63, true, {"p1"});
  EXPECT_EQ(Next(), At(122)) << "which pod would fit is such a number";
  EXPECT_FALSE(telling_.WouldFit("p1"));
  telling_.Advance(rules_, At(122));
  EXPECT_TRUE(telling_.WouldFit("p1"));
}

TEST_F(TellingTest, AnotherKindOfReasonIsNews) {
  Decide(Reason::Kind::kNoRoom, 2, 0);
  Tell(2);
  EXPECT_FALSE(telling_.news());
  Decide(Reason::Kind::kQueueFull, 2, 5);
  EXPECT_EQ(Next(), At(4)) << "as soon as one may be told again";
  telling_.Advance(rules_, At(5));
  EXPECT_TRUE(telling_.news());
  EXPECT_EQ(telling_.kind(), Reason::Kind::kQueueFull);
}

TEST_F(TellingTest, TheFirstReasonIsNewsWhateverItIs) {
  for (const Reason::Kind kind : {Reason::Kind::kNoRoom, Reason::Kind::kQueueFull}) {
    for (const bool short_of_minimum : {false, true}) {
      telling_ = {};
      Decide(kind, 2, 0, short_of_minimum);
      telling_.Advance(rules_, At(2));
      EXPECT_TRUE(telling_.news());
    }
  }
}

TEST_F(TellingTest, ThatItWaitsForMoreThanItsMinimumNowIsNews) {
  Decide(Reason::Kind::kNoRoom, 2, 0);
  EXPECT_FALSE(telling_.waits_for_rest());
  Tell(2);
  EXPECT_TRUE(Decide(Reason::Kind::kNoRoom, 2, 5, false));
  EXPECT_TRUE(telling_.waits_for_rest());
  EXPECT_EQ(Next(), At(4));
  EXPECT_TRUE(telling_.short_of_minimum()) << "until that is told";
  telling_.Advance(rules_, At(5));
  EXPECT_TRUE(telling_.news());
  EXPECT_FALSE(telling_.short_of_minimum());
}

}  // namespace
}  // namespace gangway::scheduler
