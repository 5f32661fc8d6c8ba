#include "plugin/extender/http/unseen_gangs.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::extender {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testutil::At;
using Answer = UnseenGangs::Answer;

TEST(UnseenGangsTest, AGangIsTooNewForAWhileAndThenUnseen) {
  UnseenGangs gangs;
  EXPECT_EQ(gangs.Ask("a/g", At(0)), Answer::kTooNew);
  EXPECT_EQ(gangs.Ask("a/g", At(9)), Answer::kTooNew);
  EXPECT_THAT(gangs.Unseen(At(9)), IsEmpty());
  EXPECT_EQ(gangs.Ask("a/g", At(10)), Answer::kFirstUnseen);
  EXPECT_EQ(gangs.Ask("a/g", At(11)), Answer::kUnseen);
  EXPECT_EQ(gangs.Ask("a/new", At(11)), Answer::kTooNew);
  EXPECT_THAT(gangs.Unseen(At(12)), ElementsAre("a/g"));
}

// In between it was seen, or gone.
TEST(UnseenGangsTest, WhoIsNotAskedAboutForAWhileCountsAnew) {
  UnseenGangs gangs;
  gangs.Ask("a/g", At(0));
  gangs.Ask("a/g", At(10));
  EXPECT_THAT(gangs.Unseen(At(21)), IsEmpty());
  EXPECT_EQ(gangs.Ask("a/g", At(21)), Answer::kTooNew);
  EXPECT_THAT(gangs.Unseen(At(21)), IsEmpty());
}

TEST(UnseenGangsTest, OneTooManyAndAllCountAnew) {
  UnseenGangs gangs;
  for (std::size_t i = 0; i < UnseenGangs::kMaxKept; ++i) gangs.Ask(absl::StrCat("a/", i), At(0));
  EXPECT_EQ(gangs.Ask("a/0", At(10)), Answer::kFirstUnseen);
  EXPECT_EQ(gangs.Ask("a/more", At(10)), Answer::kTooNew);
  EXPECT_EQ(gangs.Ask("a/1", At(10)), Answer::kTooNew);
}

}  // namespace
}  // namespace gangway::extender
