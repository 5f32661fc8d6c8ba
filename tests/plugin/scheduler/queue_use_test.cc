#include "plugin/scheduler/queue_use.h"

#include <map>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/cluster_resources.h"
#include "api/volcano/queue_notes.h"
#include "plugin/ingest/use_text.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::scheduler {
namespace {

using testutil::At;

constexpr absl::Duration kHour = absl::Hours(1);

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
  queue_.metadata.annotations[std::string(api::volcano::kUsageAnnotation)] = ingest::FormatUse({At(0), {{"cpu", 4}}});
  Show();
  Hold();
  Advance(3600);
  EXPECT_NEAR(UsedCpu(), 6000, 1e-6) << "what is held now was held all the while";
  queue_.metadata.annotations[std::string(api::volcano::kUsageAnnotation)] =
      ingest::FormatUse({At(3600), {{"cpu", 100}}});
  Show();
  Advance(3600);
  EXPECT_NEAR(UsedCpu(), 6000, 1e-6) << "this one knows better";
  use_.Forget();
  Advance(3600);
  EXPECT_NEAR(UsedCpu(), 100'000, 1e-6);
  queue_.metadata.annotations[std::string(api::volcano::kUsageAnnotation)] =
      ingest::FormatUse({At(999'999), {{"cpu", 1}}});
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
  queue_.metadata.annotations[std::string(api::volcano::kUsageAnnotation)] = "2026-09-21T15:13:20Z";
  Show();
  Advance(7200);
  EXPECT_EQ(Written(), "") << "who reads it later finds the same held";
  cluster_.RemovePod("default", "g-w-0");
  Advance(7201);
  EXPECT_THAT(Written(), ::testing::HasSubstr("2026-09-21T16:13:21Z cpu=4.001 memory="));
  queue_.metadata.annotations[std::string(api::volcano::kUsageAnnotation)] =
      ingest::FormatUse({At(7201), {{"cpu", 4}}});
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
  queue_.metadata.annotations[std::string(api::volcano::kUsageAnnotation)] =
      ingest::FormatUse({At(999'999), {{"cpu", 1}}});
  Show();
  EXPECT_NE(Written(), "") << "a time to come keeps nobody from writing";
  queue_.metadata.annotations.clear();
  use_.Seen("default", nullptr);
  EXPECT_EQ(Written(), "");
}

}  // namespace
}  // namespace gangway::scheduler
