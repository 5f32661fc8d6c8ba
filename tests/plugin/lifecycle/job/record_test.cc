#include "plugin/lifecycle/job/record.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::lifecycle {
namespace {

Indices Of(std::initializer_list<int> numbers) {
  Indices indices;
  for (const int n : numbers) indices.Append(n);
  return indices;
}

TEST(IndicesTest, AreRanges) {
  const Indices indices = Of({0, 1, 2, 5, 7, 8});
  EXPECT_EQ(indices.ToString(), "0-2,5,7-8");
  EXPECT_EQ(Indices::Parse("0-2,5,7-8"), indices);
  for (const int in : {0, 1, 2, 5, 7, 8}) EXPECT_TRUE(indices.Contains(in)) << in;
  for (const int out : {-1, 3, 4, 6, 9}) EXPECT_FALSE(indices.Contains(out)) << out;
}

TEST(IndicesTest, WhatDoesNotReadIsLeftOut) {
  EXPECT_EQ(Indices::Parse("x,1,-3,5-2,4-6,2").ToString(), "1,4-6");
  EXPECT_TRUE(Indices::Parse("").empty());
}

TEST(RecordTest, ComesBackAsItWasWritten) {
  Record record;
  record.version = 3;
  record.created["trainer"] = Of({0, 1, 3});
  record.created["pserver"] = Of({0});
  record.restarting["trainer"] = Of({2});
  record.keep_from = 2;
  record.killed_pod_group = "group-uid";
  record.last_command = "command-uid";
  record.unknown_answered = "other-uid";
  record.delayed[{"PodFailed", "ctr-trainer-1", "AbortJob"}] = absl::FromUnixMicros(1'767'225'600'123'456);
  record.delayed[{"TaskCompleted", "trainer", "CompleteJob"}] = absl::FromUnixSeconds(1'767'225'601);
  ControlledResources resources{{"plugin-svc", "svc"}};
  WriteRecord(record, resources);
  EXPECT_EQ(resources.at("gangway.io/created"), "3 pserver:0 trainer:0-1,3");
  EXPECT_EQ(resources.at("plugin-svc"), "svc");
  EXPECT_EQ(ReadRecord(resources), record);
  WriteRecord(Record{}, resources);
  EXPECT_EQ(resources, (ControlledResources{{"plugin-svc", "svc"}}));
}

TEST(RecordTest, AThousandPodsAreAFewBytes) {
  Record record;
  for (int i = 0; i < 1000; ++i) record.created["worker"].Append(i);
  ControlledResources resources;
  WriteRecord(record, resources);
  EXPECT_EQ(resources.at("gangway.io/created"), "0 worker:0-999");
}

TEST(RecordTest, AHostileRecordSaysNothing) {
  const Record record = ReadRecord(
      {{"gangway.io/created", "x y:z"}, {"gangway.io/keep-from", "many"}, {"gangway.io/delayed", "a=b c/d/e=f"}});
  EXPECT_EQ(record, Record{});
}

}  // namespace
}  // namespace gangway::lifecycle
