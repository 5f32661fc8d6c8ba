#include "plugin/explain/suggest.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/gang/minimum.h"
#include "tests/plugin/explain/facts_builder.h"

namespace gangway::explain {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using testutil::At;
using testutil::Explained;
using testutil::FactsBuilder;
using testutil::Queue;

std::vector<std::string> Texts(const FactsBuilder& builder, const std::string& gang) {
  std::vector<std::string> out;
  for (const Suggestion& suggestion : Explained(builder).Of(gang).suggestions) out.push_back(suggestion.text.English());
  return out;
}

// Eight pods of 9 cpu on six nodes of 16: two nodes more take two pods more, or six are enough, or 8 cpu each fit twice
// on a node: 7 are free beside 9.
TEST(SuggestTest, OfEachSortTheSmallestThatIsEnough) {
  FactsBuilder builder;
  builder.Nodes(6).AddGang("tight", 8, 8, 9000);
  const Explanation tight = Explained(builder).Of("tight");
  std::vector<std::string> texts, words;
  for (const Suggestion& suggestion : tight.suggestions) {
    texts.push_back(suggestion.text.English());
    words.push_back(suggestion.what_if);
  }
  EXPECT_THAT(texts, ElementsAre("2 more nodes like node-000 (cpu 16, memory 64Gi)", "a minimum of 6 pods",
                                 "pods of w that ask for cpu 7 (instead of 9)"));
  EXPECT_THAT(words, ElementsAre("nodes=+2:node-000", "min=6", ""));
  EXPECT_THAT(tight.suggestions[0].spots, IsSupersetOf({Spot{"node-000+1", "w", 1}, Spot{"node-000+2", "w", 1}}));
  EXPECT_THAT(tight.suggestions[1].spots, ::testing::SizeIs(6));
}

// Whoever comes before takes the first of the new nodes: three gangs of two pods, a pod a node, are before it.
TEST(SuggestTest, NodesAreEnoughForThoseBeforeIt) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("a", 2, 2, 9000).AddGang("b", 2, 2, 9000).AddGang("c", 2, 2, 9000).AddGang("d", 1, 1, 12000);
  for (const char* const name : {"a", "b", "c"}) builder.GangOf(name).created = At(-1);
  builder.AddGang("holds", 1, 1, 9000, 1);
  EXPECT_THAT(Texts(builder, "d"), Contains("7 more nodes like node-000 (cpu 16, memory 64Gi)"));
}

// No node of 16 takes 17 cpu, however many there are.
TEST(SuggestTest, NodesThatAreTooSmallAreNotSuggested) {
  FactsBuilder builder;
  builder.Nodes(3).AddGang("large", 1, 1, 17000);
  EXPECT_THAT(Texts(builder, "large"), ElementsAre("pods of w that ask for cpu 16 (instead of 17)"));
  builder.facts.nodes.push_back(testutil::Node("large-0", 32));
  builder.facts.nodes.back().unschedulable = true;
  EXPECT_THAT(Texts(builder, "large"),
              ElementsAre("1 more node like large-0 (cpu 32, memory 64Gi)", "node large-0 uncordoned",
                          "pods of w that ask for cpu 16 (instead of 17)"));
}

// One node has 16 cpu, which is not enough for both.
TEST(SuggestTest, SoMuchLessThatAllFit) {
  FactsBuilder builder;
  builder.Nodes(2).AddGang("large", 2, 2, 17000).AddGang("holds", 1, 1, 6000, 1);
  EXPECT_THAT(Texts(builder, "large"), Contains("pods of w that ask for cpu 8 (instead of 17)"));
}

TEST(SuggestTest, OthersThatEnd) {
  FactsBuilder builder;
  builder.Nodes(2).AddGang("half", 2, 2, 6000, 2).AddGang("small", 1, 1, 1000, 1).AddGang("wants", 2, 2, 11000);
  EXPECT_THAT(Texts(builder, "wants"), Contains("the end of podgroup default/half (it holds cpu 12, memory 200M)"));
  EXPECT_THAT(Texts(builder, "wants"), Not(Contains(::testing::HasSubstr("default/small"))))
      << "both nodes would have 10 free, since 6 are half's";
}

// Either is enough: the one that is missed least comes first.
TEST(SuggestTest, OfOthersThatEndTheSmallestFirst) {
  FactsBuilder builder;
  builder.Nodes(1)
      .AddGang("large", 1, 1, 9000, 1)
      .AddGang("small", 1, 1, 5000, 1)
      .AddGang("tiny", 1, 1, 1000, 1)
      .AddGang("wants", 1, 1, 6000);
  const std::vector<std::string> texts = Texts(builder, "wants");
  std::vector<std::string> ends;
  for (const std::string& text : texts) {
    if (text.rfind("the end of", 0) == 0) ends.push_back(text.substr(0, text.find(" (")));
  }
  EXPECT_THAT(ends, ElementsAre("the end of podgroup default/small", "the end of podgroup default/large"));
}

TEST(SuggestTest, QueuesWithOthersBelowThemTakeNoJobs) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("wants", 1, 1, 5000);
  builder.facts.queues.push_back(Queue("teams"));
  builder.facts.queues.push_back(Queue("teams-a"));
  builder.facts.queues.back().parent = "teams";
  builder.GangOf("wants").queue = "none";
  EXPECT_THAT(Texts(builder, "wants"), ElementsAre("queue none made and open", "queue default", "queue teams-a"));
}

// The queue's 4 cpu are not enough for 5; `other` has no limit.
TEST(SuggestTest, AQueueThatIsFull) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("wants", 1, 1, 5000);
  builder.facts.queues.push_back(Queue("ads"));
  builder.facts.queues.back().capability = {{"cpu", 4000}};
  builder.facts.queues.push_back(Queue("closed"));
  builder.facts.queues.back().open = false;
  builder.GangOf("wants").queue = "ads";
  EXPECT_THAT(Texts(builder, "wants"), ElementsAre("a capability of cpu 5 for queue ads", "queue default"));
}

TEST(SuggestTest, AQueueThatIsClosedOrNotThere) {
  FactsBuilder builder;
  builder.facts.queues.push_back(Queue("root"));  // takes no jobs either
  builder.Nodes(1).AddGang("wants", 1, 1, 5000);
  builder.GangOf("wants").queue = "ads";
  EXPECT_THAT(Texts(builder, "wants"), ElementsAre("queue ads made and open", "queue default"));
}

// One node that is enough alone, of the first sixteen; else the first few.
TEST(SuggestTest, CordonedNodes) {
  FactsBuilder builder;
  builder.Nodes(15, 4).AddGang("wants", 1, 1, 9000);
  builder.facts.nodes.push_back(testutil::Node("node-015", 16));
  for (model::NodeFacts& node : builder.facts.nodes) node.unschedulable = true;
  const auto uncordoned = [&] {
    std::vector<std::string> words;
    Explained explained(builder);
    for (const Suggestion& suggestion : explained.Of("wants").suggestions) {
      if (suggestion.what_if.rfind("uncordon=", 0) == 0) words.push_back(suggestion.what_if);
    }
    return words;
  };
  EXPECT_THAT(uncordoned(), ElementsAre("uncordon=node-015"));
  builder.facts.nodes.back().name = "node-016";
  builder.facts.nodes.push_back(testutil::Node("node-015", 4));
  builder.facts.nodes.back().unschedulable = true;
  EXPECT_THAT(uncordoned(), IsEmpty()) << "no word says all seventeen";
  EXPECT_THAT(Texts(builder, "wants"), Contains(::testing::HasSubstr("node-014, node-015, node-016 uncordoned")));
}

TEST(SuggestTest, WhoGoesFirst) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("first", 1, 1, 9000).AddGang("late", 1, 1, 9000);
  builder.GangOf("late").created = At(5);
  EXPECT_THAT(Texts(builder, "late"), Contains("priority 1 (no class has it)"));
  builder.facts.priority_classes = {{"low", -1, false}, {"high", 100, false}, {"higher", 200, false}};
  EXPECT_THAT(Texts(builder, "late"), Contains("priority class high"));
}

TEST(SuggestTest, TaintsLabelsAndGates) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("wants", 1, 1, 1000);
  builder.NodeAt(0).taints = {{"dedicated", "x", model::TaintEffect::kNoSchedule}};
  EXPECT_THAT(Texts(builder, "wants"), ElementsAre("pods that tolerate dedicated=x"));
  builder.NodeAt(0).taints.clear();
  builder.facts.pods[0].wants.selector = {{"zone", "a"}};
  EXPECT_THAT(Texts(builder, "wants"), ElementsAre("pods without nodeSelector and required node affinity"));
  builder.facts.pods[0].wants.selector.clear();
  builder.facts.pods[0].gated = true;
  EXPECT_THAT(Texts(builder, "wants"), ElementsAre("pods without their scheduling gates"));
}

// It has its minimum: what helps gives each pod a node.
TEST(SuggestTest, AGangThatRunsPartlyWantsAll) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("elastic", 1, 3, 9000, 1);
  EXPECT_THAT(Texts(builder, "elastic"), ElementsAre("2 more nodes like node-000 (cpu 16, memory 64Gi)"));
}

// Not let in, and nobody knows of pods to come: let in is all that can be promised.
TEST(SuggestTest, AGangWithoutPodsIsLetIn) {
  FactsBuilder builder;
  builder.Nodes(1).AddGang("queued", 4, 0, 0);
  builder.GangOf("queued").phase = model::GangPhase::kPending;
  builder.GangOf("queued").has_min_resources = true;
  builder.GangOf("queued").min_resources = {{"cpu", 40000}};
  EXPECT_THAT(Texts(builder, "queued"), ElementsAre("2 more nodes like node-000 (nothing)")) << "1.2 x 16 x 3 is 57.6";
}

TEST(SuggestTest, NothingForWhoNeedsNoHelp) {
  FactsBuilder builder;
  builder.Nodes(2).AddGang("runs", 1, 1, 1000, 1).AddGang("starts", 1, 1, 1000);
  EXPECT_THAT(Texts(builder, "runs"), IsEmpty());
  EXPECT_THAT(Texts(builder, "starts"), IsEmpty());
}

TEST(SuggestTest, TheNodeToCopyIsOneThatTakesAPod) {
  FactsBuilder builder;
  builder.Nodes(3, 2).AddGang("wants", 2, 2, 9000);
  builder.facts.nodes.push_back(testutil::Node("large-0", 16));
  Explained explained(builder);
  EXPECT_EQ(NodeToCopy(explained.trial, {"default", "wants"}), "large-0");
  FactsBuilder none;
  none.Nodes(3, 2).AddGang("wants", 2, 2, 9000);
  Explained without(none);
  EXPECT_EQ(NodeToCopy(without.trial, {"default", "wants"}), "");
}

// A trial leaves nothing behind: what is said after each change is undone is what was said before, and a change tried
// on a cluster that has seen others is decided as on a fresh one.
TEST(TrialTest, ChangesAreUndone) {
  const unsigned seed = std::random_device()();
  std::mt19937 random(seed);
  const auto draw = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  for (int round = 0; round < 60; ++round) {
    FactsBuilder builder;
    builder.Nodes(draw(1, 4));
    builder.facts.queues.push_back(Queue("ads"));
    builder.facts.queues.back().capability = {{"cpu", draw(1, 40) * 1000}};
    builder.facts.priority_classes = {{"high", 100, false}};
    if (draw(0, 1) == 0) builder.NodeAt(0).unschedulable = true;
    if (draw(0, 2) == 0) builder.facts.nodes.back().taints = {{"t", "x", model::TaintEffect::kNoSchedule}};
    const int gangs = draw(1, 4);
    for (int g = 0; g < gangs; ++g) {
      const std::string name = absl::StrCat("g", g);
      const int tasks = draw(1, 5);
      builder.AddGang(name, draw(1, tasks), tasks, draw(1, 9) * 1000);
      if (draw(0, 1) == 0) builder.GangOf(name).queue = "ads";
      if (draw(0, 3) == 0) builder.GangOf(name).phase = model::GangPhase::kPending;
      builder.GangOf(name).has_min_resources = true;
      builder.GangOf(name).min_resources = {{"cpu", draw(1, 30) * 1000}};
      const model::PodTermFacts own{"kubernetes.io/hostname",
                                    {{"default"}, std::nullopt, {{"app", model::Op::kIn, {name}}}}};
      const int near = draw(0, 3);
      for (model::PodFacts& pod : builder.facts.pods) {
        if (pod.gang != name) continue;
        pod.labels = {{"app", name}};
        if (near == 0) pod.wants.pod_anti_affinity = {own};
        if (near == 1) pod.wants.pod_affinity = {own};
      }
    }
    const std::vector<std::vector<Change>> trials{
        {MoreNodes{2, "node-000"}},
        {OtherQueue{"ads"}},
        {OtherQueue{"none"}},
        {Minimum{1}},
        {Priority{"high", std::nullopt}},
        {Priority{"", 7}},
        {Capability{"ads", {{"cpu", 99000}}}},
        {QueueOpen{"new"}},
        {Uncordon{{"node-000"}}},
        {GangEnds{{"default", "g0"}}},
        {Request{"w", "cpu", 500}},
        {Tolerate{{"t", "x", model::TaintEffect::kNoSchedule}}},
        {AnyNode{}},
        {Minimum{1}, OtherQueue{"new"}, QueueOpen{"new"}, MoreNodes{1, "node-000"}}};
    const GangKey gang{"default", absl::StrCat("g", gangs - 1)};
    Explained used(builder);
    const std::string before = used.trial.Explain(gang)->sentence.English();
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if (gangs == 1 && i == 9) continue;  // it would be about itself
      Explained fresh(builder);
      const Outcome of_used = *used.trial.Try(gang, trials[i]), of_fresh = *fresh.trial.Try(gang, trials[i]);
      ASSERT_EQ(of_used.sentence.English(), of_fresh.sentence.English())
          << "seed " << seed << " round " << round << " trial " << i;
      ASSERT_EQ(of_used.spots, of_fresh.spots) << "seed " << seed << " round " << round << " trial " << i;
      ASSERT_EQ(used.trial.Explain(gang)->sentence.English(), before)
          << "seed " << seed << " round " << round << " trial " << i;
    }
  }
}

}  // namespace
}  // namespace gangway::explain
