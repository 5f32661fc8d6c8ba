#include "plugin/scheduler/live_policy.h"

#include "gtest/gtest.h"

namespace gangway::scheduler {
namespace {

TEST(LivePolicyTest, WhoListensIsToldOfAnotherPolicyWhileHeIsThere) {
  gang::Policy other;
  other.preempt = !other.preempt;
  LivePolicy live((gang::Policy()));
  live.Set(other);  // nobody listens yet
  int told = 0;
  {
    const Owner listener;
    live.OnChange(listener.token(), [&told] { ++told; });
    live.Set(gang::Policy());
    EXPECT_EQ(told, 1);
    live.Set(gang::Policy());
    EXPECT_EQ(told, 1) << "it is the same";
  }
  live.Set(other);
  EXPECT_EQ(told, 1);
  EXPECT_EQ(live.policy(), other);
}

}  // namespace
}  // namespace gangway::scheduler
