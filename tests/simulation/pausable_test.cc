#include "tests/simulation/pausable.h"

#include <string>
#include <vector>

#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::testutil {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PausableLoopTest : public ::testing::Test {
 protected:
  void At(PausableLoop& loop, absl::Duration from_now, std::string what) {
    loop.PostAt(loop.Now() + from_now, owner_.token(), [this, what] { ran_.push_back(what); });
  }
  SimulatedLoop under_{1};
  std::vector<std::string> ran_;
  Owner owner_;
};

TEST_F(PausableLoopTest, WhatComesDueWhileItIsStoppedRunsWhenItGoesOn) {
  PausableLoop loop(under_);
  At(loop, absl::Seconds(2), "b");
  At(loop, absl::Seconds(1), "a");
  loop.Pause();
  under_.RunFor(absl::Seconds(5));
  EXPECT_THAT(ran_, IsEmpty());
  loop.Resume();
  under_.RunFor(absl::ZeroDuration());
  EXPECT_THAT(ran_, ElementsAre("a", "b"));
}

TEST_F(PausableLoopTest, AClockThatIsOffCountsTheSameTime) {
  PausableLoop loop(under_, absl::Minutes(-7));
  EXPECT_EQ(loop.Now(), under_.Now() - absl::Minutes(7));
  At(loop, absl::Seconds(2), "a");
  under_.RunFor(absl::Seconds(1));
  EXPECT_THAT(ran_, IsEmpty());
  under_.RunFor(absl::Seconds(1));
  EXPECT_THAT(ran_, ElementsAre("a"));
}

TEST_F(PausableLoopTest, WhatIsDueByTheTimeTheClockJumpsToRunsAtOnce) {
  PausableLoop loop(under_);
  At(loop, absl::Minutes(1), "a");
  At(loop, absl::Minutes(3), "b");
  const Loop::TimerId cancelled =
      loop.PostAt(loop.Now() + absl::Minutes(1), owner_.token(), [this] { ran_.push_back("never"); });
  loop.Jump(absl::Minutes(2));
  loop.Cancel(cancelled);
  under_.RunFor(absl::ZeroDuration());
  EXPECT_THAT(ran_, ElementsAre("a"));
  under_.RunFor(absl::Minutes(1));
  EXPECT_THAT(ran_, ElementsAre("a", "b"));
}

TEST_F(PausableLoopTest, ASuspendedMachineCountsNoTimeForIt) {
  PausableLoop loop(under_);
  At(loop, absl::Seconds(10), "a");
  At(loop, absl::Seconds(3), "b");
  loop.Pause();
  const absl::Time before = loop.Now();
  under_.RunFor(absl::Seconds(5));
  loop.Resume(absl::Seconds(5));
  EXPECT_EQ(loop.Now(), before);
  under_.RunFor(absl::Seconds(2));
  EXPECT_THAT(ran_, IsEmpty());
  under_.RunFor(absl::Seconds(1));
  EXPECT_THAT(ran_, ElementsAre("b"));
  under_.RunFor(absl::Seconds(7));
  EXPECT_THAT(ran_, ElementsAre("b", "a"));
}

TEST_F(PausableLoopTest, TimersOfOwnersThatAreGoneNeverRun) {
  PausableLoop loop(under_);
  for (int i = 0; i < 200; ++i) At(loop, absl::Seconds(i + 1), "a");
  owner_.Reset();
  for (int i = 0; i < 200; ++i) At(loop, absl::Seconds(i + 1), "b");
  loop.Jump(absl::Minutes(10));
  under_.RunFor(absl::ZeroDuration());
  EXPECT_THAT(ran_, ::testing::Each("b"));
  EXPECT_THAT(ran_, ::testing::SizeIs(200));
}

}  // namespace
}  // namespace gangway::testutil
