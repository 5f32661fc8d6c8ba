#include "plugin/lifecycle/status.h"

#include "gtest/gtest.h"

namespace gangway::lifecycle {
namespace {

TEST(StatusTest, TheLongerAPhaseLastsTheLongerItsCountsMayWait) {
  const absl::Time entered = absl::FromUnixSeconds(1'790'000'000);
  api::volcano::JobStatus status;
  status.state.last_transition_time = api::Time{entered};
  const auto patience = [&](absl::Duration after) { return PatienceWithCounts(status, entered + after); };
  EXPECT_EQ(patience(absl::ZeroDuration()), absl::Seconds(1));
  EXPECT_EQ(patience(absl::Seconds(4)), absl::Seconds(1));
  EXPECT_EQ(patience(absl::Seconds(20)), absl::Seconds(5));
  EXPECT_EQ(patience(absl::Seconds(40)), absl::Seconds(10));
  EXPECT_EQ(patience(absl::Hours(1)), absl::Seconds(10));
}

}  // namespace
}  // namespace gangway::lifecycle
