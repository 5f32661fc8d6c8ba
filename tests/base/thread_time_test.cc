#include "base/thread_time.h"

#include "gtest/gtest.h"

namespace gangway {
namespace {

TEST(ThreadTimeTest, ItGoesOnWhileTheThreadWorks) {
  const absl::Duration begin = ThreadTime();
  EXPECT_GE(begin, absl::ZeroDuration());
  while (ThreadTime() < begin + absl::Milliseconds(1)) {
  }
}

}  // namespace
}  // namespace gangway
