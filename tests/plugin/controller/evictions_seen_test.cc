#include "plugin/controller/evictions_seen.h"

#include "gtest/gtest.h"

namespace gangway::controller {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'700'000'000);
absl::Time At(int seconds) { return kStart + absl::Seconds(seconds); }

TEST(EvictionsSeenTest, TheyAreOverAMomentAfterTheLastWasTold) {
  EvictionsSeen evictions;
  EXPECT_EQ(evictions.Until(At(0)), absl::InfinitePast());
  evictions.Named("a", At(0));
  evictions.Named("b", At(0));
  EXPECT_EQ(evictions.Until(At(1)), At(5));
  EXPECT_FALSE(evictions.Settled("a", At(1)));
  EXPECT_FALSE(evictions.Settled("stranger", At(1)));
  EXPECT_EQ(evictions.Until(At(1)), At(5)) << "one is not told yet";
  EXPECT_TRUE(evictions.Settled("b", At(2)));
  EXPECT_FALSE(evictions.Settled("b", At(3))) << "once";
  EXPECT_EQ(evictions.Until(At(2)), At(2) + absl::Milliseconds(500));
  EXPECT_EQ(evictions.Until(At(2) + absl::Milliseconds(500)), absl::InfinitePast());
}

TEST(EvictionsSeenTest, WhomNobodyDeletesIsNotAwaitedForEver) {
  EvictionsSeen evictions;
  evictions.Named("a", At(0));
  EXPECT_EQ(evictions.Until(At(4)), At(5));
  EXPECT_EQ(evictions.Until(At(5)), absl::InfinitePast());
  EXPECT_FALSE(evictions.IsNamed("a"));
  evictions.Named("a", At(6));
  EXPECT_EQ(evictions.Until(At(10)), At(11)) << "it is named anew";
  evictions.Named("a", At(10));
  EXPECT_EQ(evictions.Until(At(11)), At(15)) << "and once more";
}

// The order in which they are named is kept also where one was settled, and named again.
TEST(EvictionsSeenTest, WhoIsNamedAgainCountsFromThen) {
  EvictionsSeen evictions;
  evictions.Named("a", At(0));
  evictions.Named("b", At(1));
  evictions.Settled("a", At(2));
  evictions.Named("a", At(3));
  EXPECT_EQ(evictions.Until(At(5)), At(6));
  EXPECT_EQ(evictions.Until(At(7)), At(8));
  EXPECT_FALSE(evictions.IsNamed("b"));
  EXPECT_EQ(evictions.Until(At(8)), absl::InfinitePast());
}

class IsEvictedTest : public ::testing::Test {
 protected:
  IsEvictedTest() {
    view_.pods = &pods_;
    view_.released_leaving = &leaving_;
  }
  void Put(const std::string& name, bool released) {
    pods_[name].uid = name;
    pods_[name].released = released;
  }
  bool Evicted() const { return IsEvicted(view_, evictions_); }

  EvictionsSeen evictions_;
  lifecycle::PodTable pods_;
  absl::flat_hash_set<std::string> leaving_;
  lifecycle::JobView view_;
};

TEST_F(IsEvictedTest, AllOfItsPodsGoOrAreGone) {
  EXPECT_FALSE(Evicted()) << "it has none yet";
  Put("a", true);
  Put("b", false);
  EXPECT_FALSE(Evicted()) << "the other runs on";
  evictions_.Named("b", At(0));
  EXPECT_TRUE(Evicted()) << "its PodGroup says so first";
  evictions_.Settled("b", At(1));
  pods_["b"].deleting = true;
  EXPECT_FALSE(Evicted()) << "somebody else deletes it";
  pods_["b"].named = true;
  EXPECT_TRUE(Evicted()) << "its PodGroup said so";
  pods_["b"].deleting = false;
  EXPECT_FALSE(Evicted()) << "that is long ago, and it stays";
  pods_.clear();
  EXPECT_FALSE(Evicted()) << "somebody else deleted them";
  leaving_.insert("a");
  EXPECT_TRUE(Evicted());
}

TEST_F(IsEvictedTest, WhatSomebodyCommandsIsNotPutOff) {
  Put("a", true);
  const api::volcano::Command command;
  view_.commands = {&command};
  EXPECT_FALSE(Evicted());
}

}  // namespace
}  // namespace gangway::controller
