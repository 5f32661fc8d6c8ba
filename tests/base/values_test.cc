// Back-off, rate limits, random numbers, hashes and encoding: small values without a file of their own.
#include "base/backoff.h"
#include "base/counted.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/rate_limiter.h"
#include "base/strings.h"

#include <limits>

#include "gmock/gmock.h"

namespace gangway {
namespace {

TEST(BackoffTest, GrowsToItsMaximumAndJittersDownwards) {
  const Backoff backoff{absl::Milliseconds(100), absl::Seconds(10), 2.0, 0.5};
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(backoff.Next(0, 0), absl::Milliseconds(100));
  EXPECT_EQ(backoff.Next(3, 0), absl::Milliseconds(800));
  EXPECT_EQ(backoff.Next(50, 0), absl::Seconds(10));
  EXPECT_EQ(backoff.Next(1'000'000, 0), absl::Seconds(10));
  EXPECT_GE(backoff.Next(3, kMost), absl::Milliseconds(400));
  EXPECT_LT(backoff.Next(3, kMost), absl::Milliseconds(401));
}

TEST(RateLimiterTest, LetsABurstThroughAndThenOneAfterTheOther) {
  RateLimiter limiter(10, 3);
  absl::Time now = absl::FromUnixSeconds(1000);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limiter.TryTake(now));
  EXPECT_FALSE(limiter.TryTake(now));
  EXPECT_EQ(limiter.NextAt(), now + absl::Milliseconds(100));
  now += absl::Milliseconds(100);
  EXPECT_TRUE(limiter.TryTake(now));
  EXPECT_FALSE(limiter.TryTake(now));
  now += absl::Hours(1);  // an idle hour earns no more than the burst
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limiter.TryTake(now));
  EXPECT_FALSE(limiter.TryTake(now));
}

TEST(RateLimiterTest, ZeroIsNoLimit) {
  RateLimiter limiter(0, 0);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(limiter.TryTake(absl::UnixEpoch()));
}

TEST(RandomStreamTest, IsTheSameEverywhere) {
  RandomStream random(1234567);  // the reference output of SplitMix64
  EXPECT_EQ(random.Next(), 6457827717110365317u);
  EXPECT_EQ(random.Next(), 3203168211198807973u);
}

TEST(RandomStreamTest, BelowStaysBelow) {
  RandomStream random(5);
  int seen[3] = {0, 0, 0};
  for (int i = 0; i < 3000; ++i) ++seen[random.Below(3)];
  for (const int n : seen) EXPECT_GT(n, 800);
}

TEST(StableHashTest, IsTheSameInEveryBuildAndTellsPartsApart) {
  static_assert(StableHash("ctr") == StableHash("ctr"));
  EXPECT_EQ(StableHash("ctr"), 0x23205ba2399d4cb9u);
  EXPECT_NE(StableHash("c", StableHash("ab")), StableHash("bc", StableHash("a")));
}

TEST(CountedTest, OneHasNoPlural) {
  EXPECT_EQ(Counted(1, "pod"), "1 pod");
  EXPECT_EQ(Counted(2, "pod"), "2 pods");
  EXPECT_EQ(Counted(0, "pod"), "0 pods");
}

TEST(PercentEncodeTest, LeavesOnlyUnreservedCharacters) {
  EXPECT_EQ(PercentEncode("app in (a,b),x=1&y/z~é"), "app%20in%20%28a%2Cb%29%2Cx%3D1%26y%2Fz~%C3%A9");
  EXPECT_EQ(PercentEncode(""), "");
}

}  // namespace
}  // namespace gangway
