#include "cmd/dashboard/page/pace.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::dashboard {
namespace {

using ::testing::ElementsAre;

// When what changes without end is shown, in milliseconds since `since`.
std::vector<std::int64_t> Shown(Pace& pace, absl::Time since, int times) {
  std::vector<std::int64_t> at;
  for (absl::Time now = since; static_cast<int>(at.size()) < times;) {
    now = pace.Next(now);
    pace.Showed(now);
    at.push_back(absl::ToInt64Milliseconds(now - since));
  }
  return at;
}

TEST(PaceTest, AChangeAfterRestIsShownAtOnceWithThoseBehindItAndMoreFourTimesASecond) {
  const absl::Time start = absl::FromUnixSeconds(1'795'503'600);
  Pace pace;
  EXPECT_THAT(Shown(pace, start, 8), ElementsAre(30, 60, 90, 120, 280, 530, 780, 1030));
  // After a second of rest again.
  EXPECT_THAT(Shown(pace, start + absl::Milliseconds(2030), 5), ElementsAre(30, 60, 90, 120, 280));
}

TEST(PaceTest, WhoNeverRestsHasNothingSavedUp) {
  const absl::Time start = absl::FromUnixSeconds(1'795'503'600);
  Pace pace;
  Shown(pace, start, 20);
  const absl::Time later =
      start + absl::Milliseconds(30 + 19 * 250 - 750 + 100);  // as the last one was shown, and a bit
  EXPECT_EQ(pace.Next(later), start + absl::Milliseconds(30 + 20 * 250 - 750));
}

}  // namespace
}  // namespace gangway::dashboard
