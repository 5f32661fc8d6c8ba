#include "api/volcano/restarts.h"

#include "gtest/gtest.h"

namespace gangway::api::volcano {
namespace {

// maxRetry 4 is four runs: three restarts, after which the fourth retry that is counted is the end.
TEST(RestartsTest, MaxRetryCountsRuns) {
  EXPECT_EQ(MostRestarts(4), 3);
  EXPECT_EQ(RetryText(1, 4), "restart 1 of 3 (maxRetry 4)");
  EXPECT_EQ(RetryText(3, 4), "restart 3 of 3 (maxRetry 4)");
  EXPECT_EQ(RetryText(4, 4), "no restart left of maxRetry 4");
  EXPECT_EQ(RestartsOf(3, 4), 3);
  EXPECT_EQ(RestartsOf(4, 4), 3) << "the last one counted was no restart";
}

TEST(RestartsTest, JobsThatAreNeverRestarted) {
  EXPECT_EQ(MostRestarts(1), 0);
  EXPECT_EQ(MostRestarts(0), 0);
  EXPECT_EQ(RetryText(1, 1), "no restart left of maxRetry 1");
  EXPECT_EQ(RestartsOf(1, 1), 0);
  EXPECT_EQ(RestartsOf(-1, 3), 0);
}

}  // namespace
}  // namespace gangway::api::volcano
