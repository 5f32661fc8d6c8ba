#include "plugin/scheduler/queue_use.h"

#include <map>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/cluster_resources.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::scheduler {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using testutil::At;

constexpr absl::Duration kHour = absl::Hours(1);

TEST(UseAtTest, WhatWasHeldAHalfLifeAgoCountsHalf) {
  const Use begun{At(0), {}};
  const Use held = UseAt(begun, {{"cpu", 8}}, kHour, At(3600));
  EXPECT_THAT(held.held, ElementsAre(Pair("cpu", DoubleNear(4, 1e-9))));
  EXPECT_EQ(held.as_of, At(3600));
  EXPECT_THAT(UseAt(held, {}, kHour, At(3 * 3600)).held, ElementsAre(Pair("cpu", DoubleNear(1, 1e-9))));
  EXPECT_THAT(UseAt(held, {{"cpu", 4}}, kHour, At(100'000)).held, ElementsAre(Pair("cpu", DoubleNear(4, 1e-9))));
  EXPECT_THAT(UseAt(begun, {{"cpu", 8}}, kHour, At(1'000'000)).held, ElementsAre(Pair("cpu", DoubleNear(8, 1e-9))));
}

TEST(UseAtTest, ManyLooksAreAsOne) {
  Use use{At(0), {{"cpu", 2}}};
  const std::map<std::string, double> held = {{"cpu", 5}, {"nvidia.com/gpu", 8}};
  const Use once = UseAt(use, held, kHour, At(7200));
  for (int second = 100; second <= 7200; second += 100) use = UseAt(use, held, kHour, At(second));
  for (const auto& [name, amount] : once.held) EXPECT_NEAR(use.held.at(name), amount, 1e-9) << name;
}

TEST(UseAtTest, TimeThatGoesBackChangesNothing) {
  const Use use{At(100), {{"cpu", 2}}};
  EXPECT_EQ(UseAt(use, {{"cpu", 2}}, kHour, At(0)), use);
}

TEST(UseTextTest, WhatIsWrittenReads) {
  const Use use{At(5), {{"cpu", 12.5}, {"memory", 1.25e12}, {"nvidia.com/gpu", 37.25}}};
  EXPECT_EQ(FormatUse(use), "2026-09-21T14:13:25Z cpu=12.5 memory=1250000000000 nvidia.com/gpu=37.25");
  EXPECT_EQ(ParseUse(FormatUse(use)), use);
  for (const char* wrong : {"", "cpu=1", "yesterday cpu=1", "2026-09-21T14:13:25Z cpu", "2026-09-21T14:13:25Z cpu=x",
                            "2026-09-21T14:13:25Z cpu=-1", "2026-09-21T14:13:25Z cpu=inf", "2026-09-21T14:13:25Z =1"})
    EXPECT_EQ(ParseUse(wrong), std::nullopt) << wrong;
}

class QueueUseTest : public ::testing::Test {
 protected:
  QueueUseTest() {
    queue_.metadata.name = "default";
    queue_.metadata.uid = "u1";
    testutil::AddNodes(cluster_, 1);
    cluster_.SetQueue(testutil::Queue("default"));
    cluster_.SetGang(testutil::Gang("g", 1));
    Show();
  }
  void Show() { use_.Seen("default", &queue_); }
  void Hold() { cluster_.Assume(cluster_.SetPod(testutil::Pod("g", "w", 0, testutil::Cpu(8000))), 0); }
  void Advance(int second) { use_.Advance(cluster_, kHour, At(second)); }
  double UsedCpu() const {
    const auto& used = cluster_.queue(0).used;
    return used.empty() ? -1 : used[model::kCpu];
  }
  std::string Written() const {
    const kube::Plan plan = use_.PlanFor("default", queue_);
    return plan.empty() ? "" : plan.stages[0].at(0).body;
  }
  model::Cluster cluster_;
  api::volcano::Queue queue_;
  QueueUse use_;
};

TEST_F(QueueUseTest, WhatIsHeldBetweenTwoLooksCounts) {
  Advance(0);
  Hold();
  Advance(60);  // nothing was held until now
  EXPECT_EQ(UsedCpu(), 0);
  Advance(60 + 3600);
  EXPECT_NEAR(UsedCpu(), 4000, 1e-6);
  use_.Advance(cluster_, std::nullopt, At(5000));
  EXPECT_EQ(UsedCpu(), -1) << "it does not count any more";
  Advance(6000);
  EXPECT_EQ(UsedCpu(), 0) << "nor what was held meanwhile";
}

TEST_F(QueueUseTest, TheNextSchedulerGoesOnFromWhatIsWritten) {
  queue_.metadata.annotations[std::string(kUsageAnnotation)] = FormatUse({At(0), {{"cpu", 4}}});
  Show();
  Hold();
  Advance(3600);
  EXPECT_NEAR(UsedCpu(), 6000, 1e-6) << "what is held now was held all the while";
  queue_.metadata.annotations[std::string(kUsageAnnotation)] = FormatUse({At(3600), {{"cpu", 100}}});
  Show();
  Advance(3600);
  EXPECT_NEAR(UsedCpu(), 6000, 1e-6) << "this one knows better";
  use_.Forget();
  Advance(3600);
  EXPECT_NEAR(UsedCpu(), 100'000, 1e-6);
  queue_.metadata.annotations[std::string(kUsageAnnotation)] = FormatUse({At(999'999), {{"cpu", 1}}});
  Show();
  use_.Forget();
  Advance(3600);
  Advance(7200);
  EXPECT_NEAR(UsedCpu(), 500 + 4000, 1e-6) << "a time to come is now";
}

TEST_F(QueueUseTest, ItIsWrittenWhenWhatIsHeldChangedAMinuteAgoOrLonger) {
  EXPECT_EQ(Written(), "");
  Advance(0);
  EXPECT_EQ(Written(), "") << "it holds nothing, and never did";
  Hold();
  Advance(3600);
  EXPECT_EQ(Written(), R"({"metadata":{"annotations":{"gangway.io/usage":"2026-09-21T15:13:20Z"}}})");
  queue_.metadata.annotations[std::string(kUsageAnnotation)] = "2026-09-21T15:13:20Z";
  Show();
  Advance(7200);
  EXPECT_EQ(Written(), "") << "who reads it later finds the same held";
  cluster_.RemovePod("default", "g-w-0");
  Advance(7201);
  EXPECT_THAT(Written(), ::testing::HasSubstr("2026-09-21T16:13:21Z cpu=4.001 memory="));
  queue_.metadata.annotations[std::string(kUsageAnnotation)] = FormatUse({At(7201), {{"cpu", 4}}});
  Show();
  Hold();
  Advance(7230);
  EXPECT_EQ(Written(), "") << "half a minute later";
  Advance(7260);
  EXPECT_EQ(Written(), "");
  Advance(7261);
  EXPECT_NE(Written(), "") << "a minute later";
  Advance(7300);
  EXPECT_NE(Written(), "");
  queue_.metadata.annotations[std::string(kUsageAnnotation)] = FormatUse({At(999'999), {{"cpu", 1}}});
  Show();
  EXPECT_NE(Written(), "") << "a time to come keeps nobody from writing";
  queue_.metadata.annotations.clear();
  use_.Seen("default", nullptr);
  EXPECT_EQ(Written(), "");
}

}  // namespace
}  // namespace gangway::scheduler
