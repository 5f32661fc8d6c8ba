#include "plugin/scheduler/telling.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

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
  void Advance(int second) {
    telling_.Advance(rules_, At(second), [this] {
      ++asked_;
      return resting_;
    });
  }
  // Told at that second, and written.
  void Tell(int second) {
    Advance(second);
    telling_.NewsWritten();
  }

  TellingRules rules_{absl::Seconds(2), absl::Seconds(10), absl::Seconds(60)};
  Telling telling_;
  std::optional<model::Resting> resting_;
  int asked_ = 0;  // who rests
};

TEST_F(TellingTest, AReasonIsToldOnceItHasLasted) {
  EXPECT_EQ(Next(), absl::InfiniteFuture());
  EXPECT_TRUE(Decide(Reason::Kind::kNoRoom, 2, 0));
  EXPECT_EQ(Next(), At(2));
  Advance(1);
  EXPECT_FALSE(telling_.told());
  EXPECT_TRUE(Decide(Reason::Kind::kNoRoom, 3, 1)) << "its numbers change, it lasts";
  Advance(2);
  EXPECT_TRUE(telling_.told() && telling_.news() && telling_.short_of_minimum());
  EXPECT_EQ(telling_.text(), model::Render(Lacking(Reason::Kind::kNoRoom, 3)));
  EXPECT_EQ(Next(), absl::InfiniteFuture());
}

// Until it is written it is decided again and again.
TEST_F(TellingTest, AReasonIsLoggedOnceHoweverOftenItIsLookedAtUntilItIsWritten) {
  Decide(Reason::Kind::kNoRoom, 2, 0);
  Advance(1);
  EXPECT_FALSE(telling_.TakeUnlogged());
  Advance(2);
  EXPECT_TRUE(telling_.TakeUnlogged());
  Advance(3);
  EXPECT_TRUE(telling_.news());
  EXPECT_FALSE(telling_.TakeUnlogged());
  telling_.NewsWritten();
  Decide(Reason::Kind::kClaim, 2, 4);
  Advance(6);
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
  Advance(62);
  EXPECT_EQ(telling_.text(), model::Render(Lacking(Reason::Kind::kNoRoom, 3)));
  EXPECT_FALSE(telling_.news());
  Decide(Reason::Kind::kNoRoom, 3, 63, true, {"p1"});
  EXPECT_EQ(Next(), At(122)) << "which pod would fit is such a number";
  EXPECT_FALSE(telling_.WouldFit("p1"));
  Advance(122);
  EXPECT_TRUE(telling_.WouldFit("p1"));
}

TEST_F(TellingTest, AnotherKindOfReasonIsNews) {
  Decide(Reason::Kind::kNoRoom, 2, 0);
  Tell(2);
  EXPECT_FALSE(telling_.news());
  Decide(Reason::Kind::kQueueFull, 2, 5);
  EXPECT_EQ(Next(), At(4)) << "as soon as one may be told again";
  Advance(5);
  EXPECT_TRUE(telling_.news());
  EXPECT_EQ(telling_.kind(), Reason::Kind::kQueueFull);
}

TEST_F(TellingTest, TheFirstReasonIsNewsWhateverItIs) {
  for (const Reason::Kind kind : {Reason::Kind::kNoRoom, Reason::Kind::kQueueFull}) {
    for (const bool short_of_minimum : {false, true}) {
      telling_ = {};
      Decide(kind, 2, 0, short_of_minimum);
      Advance(2);
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
  Advance(5);
  EXPECT_TRUE(telling_.news());
  EXPECT_FALSE(telling_.short_of_minimum());
}

TEST_F(TellingTest, WhoCouldLeaveLaterIsToldWithIt) {
  resting_ = {2, At(300), "lab"};
  Decide(Reason::Kind::kNoRoom, 2, 0);
  Advance(1);
  EXPECT_EQ(asked_, 0) << "nothing is told yet";
  Tell(2);
  const std::string reason = model::Render(Lacking(Reason::Kind::kNoRoom, 2));
  EXPECT_EQ(telling_.text(),
            reason + "; 2 gangs of queue lab could leave for it, the first from 2026-09-21T14:18:20Z on");
  EXPECT_FALSE(Decide(Reason::Kind::kNoRoom, 2, 100));
  Advance(100);
  EXPECT_EQ(asked_, 1) << "nothing has changed, so nobody is looked for";
  EXPECT_EQ(Next(), At(302)) << "the first of them has had its time to go";
  resting_ = {1, At(400), "lab"};
  Advance(302);
  EXPECT_EQ(telling_.text(), reason + "; 1 gang of queue lab could leave for it from 2026-09-21T14:20:00Z on");
  EXPECT_FALSE(telling_.news());
  resting_ = std::nullopt;
  Advance(402);
  EXPECT_EQ(telling_.text(), reason);
  EXPECT_EQ(Next(), absl::InfiniteFuture());
}

// Each of many that rest has its own time.
TEST_F(TellingTest, WhoCouldLeaveLaterIsToldNoMoreOftenThanNumbersAre) {
  resting_ = {9, At(3), "lab"};
  Decide(Reason::Kind::kNoRoom, 2, 0);
  Tell(2);
  EXPECT_EQ(Next(), At(62));
}

TEST_F(TellingTest, NobodyCouldLeaveForWhatItHasNotForWantOfRoom) {
  resting_ = {2, At(300), "lab"};
  Decide(Reason::Kind::kQueueFull, 2, 0);
  Tell(2);
  Decide(Reason::Kind::kNoRoom, 2, 5, /*short_of_minimum=*/false);
  Tell(5);
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(telling_.text(), model::Render(Lacking(Reason::Kind::kNoRoom, 2)));
}

}  // namespace
}  // namespace gangway::scheduler
