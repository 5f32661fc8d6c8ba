#include "base/live.h"

#include <gtest/gtest.h>

namespace gangway {
namespace {

TEST(LiveTest, WhoListensIsToldOfAnotherValueWhileHeIsThere) {
  Live<int> live(1);
  live.Set(2);  // nobody listens yet
  int told = 0;
  {
    const Owner listener;
    live.OnChange(listener.token(), [&told] { ++told; });
    live.Set(3);
    EXPECT_EQ(told, 1);
    live.Set(3);
    EXPECT_EQ(told, 1) << "it is the same";
  }
  live.Set(4);
  EXPECT_EQ(told, 1);
  EXPECT_EQ(live.value(), 4);
}

}  // namespace
}  // namespace gangway
