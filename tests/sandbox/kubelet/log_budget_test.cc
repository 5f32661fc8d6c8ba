#include "sandbox/kubelet/log_budget.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::sandbox {
namespace {

using ::testing::ElementsAre;

const absl::Time kStart = absl::FromUnixSeconds(1'800'000'000);

// Lines of a hundred bytes in all.
std::shared_ptr<WrittenLog> LogOfLines(int lines) {
  auto log = std::make_shared<WrittenLog>();
  for (int i = 0; i < lines; ++i) log->Append(kStart, std::string(100 - WrittenLog::kLineCost, 'x') + "\n");
  return log;
}

// In the order in which they are to go.
class LogBudgetTest : public ::testing::Test {
 protected:
  LogBudgetTest() {
    logs_ = {{LogOfLines(10), false, kStart},                    // a run that another followed
             {LogOfLines(10), true, kStart},                     // ended
             {LogOfLines(10), true, kStart + absl::Seconds(1)},  // ended later
             {LogOfLines(20), true},                             // runs
             {LogOfLines(10), true}};
  }
  std::vector<std::size_t> Kept(std::size_t max_bytes, std::size_t least = 0) {
    const std::vector<KeptLog> otherwise = {logs_[4], logs_[2], logs_[0], logs_[3], logs_[1]};
    KeepWithin(otherwise, max_bytes, least);
    std::vector<std::size_t> out;
    for (const KeptLog& each : logs_) out.push_back(each.log->bytes() / 100);
    return out;
  }
  std::vector<KeptLog> logs_;
};

TEST_F(LogBudgetTest, WhatFitsStays) { EXPECT_THAT(Kept(6000), ElementsAre(10, 10, 10, 20, 10)); }

TEST_F(LogBudgetTest, RunsThatOthersFollowedGoFirst) {
  EXPECT_THAT(Kept(5500), ElementsAre(5, 10, 10, 20, 10));
  EXPECT_EQ(logs_[0].log->first_kept(), 5) << "the oldest lines";
}

TEST_F(LogBudgetTest, ThenThoseThatEndedLongAgo) {
  EXPECT_THAT(Kept(4500), ElementsAre(1, 4, 10, 20, 10)) << "a last line stays";
  EXPECT_THAT(Kept(3500), ElementsAre(1, 1, 3, 20, 10));
}

TEST_F(LogBudgetTest, ThenTheLongestOfThoseThatRun) { EXPECT_THAT(Kept(2000), ElementsAre(1, 1, 1, 7, 10)); }

TEST_F(LogBudgetTest, OfEachALittleStays) { EXPECT_THAT(Kept(100, 500), ElementsAre(5, 5, 5, 5, 5)); }

}  // namespace
}  // namespace gangway::sandbox
