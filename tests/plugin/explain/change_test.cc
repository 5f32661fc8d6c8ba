#include "plugin/explain/change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/explain/facts_builder.h"

namespace gangway::explain {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using testutil::FactsBuilder;

TEST(ChangeTest, WordsReadBackAsWritten) {
  for (const char* const word : {"nodes=+2:n17", "nodes=+1", "queue=ads", "min=3", "priority=high", "priority=-7",
                                 "uncordon=n3", "without=ads/ctr", "nodes=+100000", "queue=a=b"}) {
    const absl::StatusOr<Change> change = ParseChange(word);
    ASSERT_TRUE(change.ok()) << change.status();
    EXPECT_EQ(WhatIfOf(*change), word);
  }
  EXPECT_EQ(WhatIfOf(*ParseChange("nodes=2")), "nodes=+2");
}

TEST(ChangeTest, WrongWordsSayWhatTheyCouldBe) {
  const auto message = [](absl::string_view word) { return std::string(ParseChange(word).status().message()); };
  EXPECT_EQ(message("min=few"), "--what-if min=few: write min=3");
  EXPECT_EQ(message("nodes=-1"), "--what-if nodes=-1: write nodes=+2, or nodes=+2:NODE for nodes like that one");
  EXPECT_EQ(message("without=ctr"), "--what-if without=ctr: write without=NAMESPACE/PODGROUP");
  EXPECT_THAT(
      message("gpu=8"),
      HasSubstr("write nodes=+2, queue=NAME, min=3, priority=CLASS, uncordon=NODE or without=NAMESPACE/PODGROUP"));
  for (const char* const word : {"", "queue=", "priority=", "uncordon=", "nodes=0", "nodes=100001", "min=-1"})
    EXPECT_FALSE(ParseChange(word).ok()) << word;
}

TEST(ChangeTest, WhatIsNotThereIsNamed) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("g", 1, 1, 1000);
  const FactIndex index(builder.facts);
  const auto message = [&](const Change& change) {
    return std::string(EventsOf(index, {"default", "g"}, {change}).status().message());
  };
  EXPECT_EQ(message(MoreNodes{1, "n9"}), "there is no node n9");
  EXPECT_EQ(message(Uncordon{{"n9"}}), "there is no node n9");
  EXPECT_EQ(message(Priority{"high", std::nullopt}), "there is no priority class high");
  EXPECT_EQ(message(GangEnds{{"ads", "x"}}), "there is no podgroup ads/x");
  EXPECT_EQ(std::string(EventsOf(index, {"default", "x"}, {Minimum{1}}).status().message()),
            "there is no podgroup default/x");
}

TEST(ChangeTest, CopiesOfANodeAreBounded) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("g", 1, 1, 1000);
  builder.NodeAt(0).labels = {{"large", std::string(100'000, 'x')}};
  const FactIndex index(builder.facts);
  const auto add = [&](int count) {
    return EventsOf(index, {"default", "g"}, {MoreNodes{count, "node-000"}}).status();
  };
  EXPECT_TRUE(add(500).ok());
  EXPECT_THAT(std::string(add(1000).message()), HasSubstr("1000 more nodes like node-000, which has 1"));
  EXPECT_FALSE(EventsOf(index, {"default", "g"}, {MoreNodes{500, "node-000"}, MoreNodes{500, "node-000"}}).ok());
}

// A Job's controller sums up its minimum: two pods of 3 cpu.
TEST(ChangeTest, ASmallerMinimumAsksForLess) {
  FactsBuilder builder;
  builder.AddGang("g", 4, 4, 3000);
  builder.facts.gangs[0].has_min_resources = true;
  builder.facts.gangs[0].min_resources = {{"cpu", 12000}};
  const FactIndex index(builder.facts);
  const Events events = *EventsOf(index, {"default", "g"}, {Minimum{2}, OtherQueue{"ads"}});
  ASSERT_THAT(events.gangs, SizeIs(1));
  EXPECT_EQ(events.gangs[0].min_member, 2);
  EXPECT_EQ(events.gangs[0].queue, "ads");
  EXPECT_EQ(events.gangs[0].min_resources, (model::NamedAmounts{{"cpu", 6000}, {"memory", 200'000'000}, {"pods", 2}}));
}

// Else it would be told of sums, as if its pods were there.
TEST(ChangeTest, AMinimumIsNoLargerThanTheGang) {
  FactsBuilder builder;
  builder.AddGang("g", 4, 4, 3000).AddGang("more", 9, 4, 3000).AddGang("none", 1, 0, 0);
  builder.facts.to_come.push_back(testutil::Pod("g", "w", 4, testutil::Cpu(3000)));
  const FactIndex index(builder.facts);
  const auto with = [&](const std::string& gang, int min) {
    return EventsOf(index, {"default", gang}, {Minimum{min}}).status();
  };
  EXPECT_TRUE(with("g", 5).ok());
  EXPECT_EQ(std::string(with("g", 99).message()),
            "a minimum of 99: podgroup default/g has 5 pods, and never starts with fewer pods than its minimum; try "
            "min=5 at most");
  EXPECT_TRUE(with("more", 6).ok()) << "of its pods some are not known: it waits for them";
  EXPECT_TRUE(with("none", 99).ok()) << "nobody knows how many it will have";
}

TEST(ChangeTest, NewNodesHaveNamesOfTheirOwn) {
  FactsBuilder builder;
  builder.Nodes(1);
  builder.NodeAt(0).unschedulable = true;
  const FactIndex index(builder.facts);
  const Events events = *EventsOf(index, {}, {MoreNodes{2, "node-000"}});
  ASSERT_THAT(events.nodes, SizeIs(2));
  EXPECT_EQ(events.nodes[1].name, "node-000+2");
  EXPECT_EQ(events.nodes[1].labels,
            (std::vector<std::pair<std::string, std::string>>{{"kubernetes.io/hostname", "node-000+2"}}));
  EXPECT_FALSE(events.nodes[1].unschedulable);
}

}  // namespace
}  // namespace gangway::explain
