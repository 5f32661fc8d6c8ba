#include "plugin/extender/work/work_pool.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/loop_thread.h"

namespace gangway::extender {
namespace {

using ::testing::ElementsAre;
using testutil::Inbox;

// One thread, which is at work until it is let go, and four places more.
class WorkPoolTest : public ::testing::Test {
 protected:
  using Answer = WorkPool::Answer;
  WorkPoolTest() {
    EXPECT_EQ(pool_.Offer([this] {
      begun_.Put(true);
      go_.Take();
    }),
              Answer::kTaken);
    EXPECT_TRUE(begun_.Take().has_value());
  }
  Answer Offer(const std::string& name, const std::string& connection) {
    names_.push_back(std::make_unique<std::string>(name));
    const std::string* const of = names_.back().get();
    return pool_.Offer([this, of] { done_.push_back(*of); },
                       {of, connection, [this, of] { displaced_.push_back(*of); }});
  }
  const std::vector<std::string>& Done() {
    go_.Put(true);
    pool_.Close(std::chrono::steady_clock::now() + testutil::kPatience);
    return done_;
  }

  Inbox<bool> begun_, go_;
  std::vector<std::unique_ptr<std::string>> names_;
  std::vector<std::string> done_, displaced_;
  WorkPool pool_{1, 5};
};

TEST_F(WorkPoolTest, WorkIsDoneInTheOrderItCame) {
  for (const char* const name : {"a", "b", "c", "d"}) EXPECT_EQ(Offer(name, ""), Answer::kTaken);
  EXPECT_EQ(Offer("e", ""), Answer::kFull);
  EXPECT_THAT(Done(), ElementsAre("a", "b", "c", "d"));
}

TEST_F(WorkPoolTest, WhatIsTakenBackIsNotDoneAndLeavesItsPlace) {
  for (const char* const name : {"a", "b", "c", "d"}) Offer(name, "");
  EXPECT_TRUE(pool_.Withdraw(names_[1].get()));
  EXPECT_FALSE(pool_.Withdraw(names_[1].get()));
  EXPECT_EQ(Offer("e", ""), Answer::kTaken);
  EXPECT_THAT(Done(), ElementsAre("a", "c", "d", "e"));
  EXPECT_FALSE(pool_.Withdraw(names_[0].get()));
}

TEST_F(WorkPoolTest, OneConnectionCannotHaveAllPlaces) {
  for (const char* const name : {"a1", "a2", "b1", "a3"})
    EXPECT_EQ(Offer(name, name[0] == 'a' ? "A" : "B"), Answer::kTaken);
  EXPECT_EQ(Offer("a4", "A"), Answer::kFull);
  EXPECT_EQ(Offer("c1", "C"), Answer::kTaken);  // the last of A's three makes room
  EXPECT_THAT(displaced_, ElementsAre("a3"));
  EXPECT_EQ(Offer("c2", "C"), Answer::kFull);  // C would have as many as A
  EXPECT_EQ(Offer("d1", "D"), Answer::kTaken);
  EXPECT_EQ(Offer("e1", "E"), Answer::kFull);  // all have one
  EXPECT_THAT(displaced_, ElementsAre("a3", "a2"));
  EXPECT_THAT(Done(), ElementsAre("a1", "b1", "c1", "d1"));
}

}  // namespace
}  // namespace gangway::extender
