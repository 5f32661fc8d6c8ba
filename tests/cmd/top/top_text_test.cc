// What `gangway top` prints of a view.
#include "cmd/top/top_text.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::cmd {
namespace {

const absl::Time kTopNow = absl::FromUnixSeconds(1'795'503'600);

dashboard::View ViewToPrint() {
  dashboard::View view;
  dashboard::QueueRow queue;
  queue.name = "ads";
  queue.share_permille = 666;
  queue.waiting = 1;
  queue.held = {{"cpu", 4000}, {"memory", std::int64_t{8} << 30}};
  view.queues.push_back(queue);
  dashboard::GangRow gang;
  gang.ns = "ads";
  gang.owner = "ctr";
  gang.queue = "ads";
  gang.min_member = 4;
  gang.placed = 1;
  gang.since = kTopNow - absl::Minutes(3);
  gang.reason = "waits for 3 of 4\x1b[31m";
  view.gangs.push_back(gang);
  gang.state = dashboard::GangState::kPlaced;
  gang.owner = "placed";
  view.gangs.push_back(gang);
  dashboard::NodeRow node;
  node.name = "n1";
  node.leading = "nvidia.com/gpu";
  node.allocatable = 8;
  node.held = 3;
  node.holders = {{"ads", "bert", 1, 1}, {"ads", "ctr", 2, 2}};
  view.nodes.push_back(node);
  return view;
}

TEST(TopTextTest, QueuesWhoWaitsAndNodes) {
  EXPECT_EQ(TopText(ViewToPrint(), kTopNow),
            "QUEUE  SHARE  WAITING  RUNNING  HELD              DESERVED\n"
            "ads    66.6%  1        0        cpu=4,memory=8Gi  -\n"
            "\n"
            "WAITS    QUEUE  PLACED  SINCE  REASON\n"
            "ads/ctr  ads    1/4     3m     waits for 3 of 4\\u001b[31m\n"
            "\n"
            "NODE  HELD  OF              BY\n"
            "n1    3/8   nvidia.com/gpu  ads/bert=1 ads/ctr=2\n");
}

TEST(TopTextTest, WhatMayNotBeReadStandsFirst) {
  dashboard::View view;
  view.not_seen = {"may not list nodes"};
  EXPECT_THAT(TopText(view, kTopNow), ::testing::StartsWith("not seen: may not list nodes\nQUEUE"));
}

}  // namespace
}  // namespace gangway::cmd
