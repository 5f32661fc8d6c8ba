#include "plugin/extender/wire/arrivals.h"

#include "gtest/gtest.h"

namespace gangway::extender {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'795'000'000);
const ArrivalLimits kLimits{.at_once = 3, .per_second = 10, .wary = absl::Seconds(1), .per_second_wary = 2};

// Of those that come all the time from `begin` on, for so long.
int LetIn(Arrivals& arrivals, absl::Time begin, absl::Duration time) {
  int count = 0;
  for (absl::Duration at; at < time; at += absl::Milliseconds(1)) count += arrivals.TryTake(begin + at) ? 1 : 0;
  return count;
}

TEST(ArrivalsTest, SomeComeAtOnceAndTheOthersAtAPace) {
  Arrivals arrivals(kLimits);
  EXPECT_EQ(LetIn(arrivals, kNow, absl::Milliseconds(1)), 1);
  EXPECT_TRUE(arrivals.TryTake(kNow));
  EXPECT_TRUE(arrivals.TryTake(kNow));
  EXPECT_FALSE(arrivals.TryTake(kNow));
  EXPECT_EQ(arrivals.NextAt(kNow), kNow + absl::Milliseconds(100));
  EXPECT_EQ(LetIn(arrivals, kNow + absl::Milliseconds(1), absl::Seconds(2)), 20);
}

TEST(ArrivalsTest, FewComeForAWhileAfterSomebodyWasCutOff) {
  Arrivals arrivals(kLimits);
  arrivals.SomebodyWasCutOff(kNow);
  EXPECT_TRUE(arrivals.TryTake(kNow));
  EXPECT_FALSE(arrivals.TryTake(kNow));
  EXPECT_EQ(arrivals.NextAt(kNow), kNow + absl::Milliseconds(500));
  const absl::Time again = kNow + absl::Milliseconds(900);
  EXPECT_EQ(LetIn(arrivals, kNow + absl::Milliseconds(1), absl::Milliseconds(899)), 1);
  arrivals.SomebodyWasCutOff(again);
  EXPECT_EQ(LetIn(arrivals, again, absl::Seconds(1)), 2);
  EXPECT_EQ(LetIn(arrivals, again + absl::Seconds(1), absl::Milliseconds(10)), 3) << "as before";
}

}  // namespace
}  // namespace gangway::extender
