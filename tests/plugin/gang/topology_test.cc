// Gangs that lie in one HyperNode: rows of section 9.3 of the contract (H5 to H12), and what they leave open.
#include <map>
#include <optional>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using model::GangFacts;
using model::HyperNodeFacts;
using model::PodFacts;
using model::TopologyFacts;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;
using testutil::Cpu;
using testutil::Gang;
using testutil::Node;
using testutil::Pod;
using By = HyperNodeFacts::By;

HyperNodeFacts Hyper(const std::string& name, int tier, const std::vector<std::string>& members, bool nodes) {
  HyperNodeFacts facts;
  facts.name = name;
  facts.tier = tier;
  facts.tier_name = tier == 1 ? "rack" : "spine";
  for (const std::string& member : members) facts.members.push_back({nodes, By::kName, member, {}});
  return facts;
}

// Two racks of two nodes with two cpus each, and one spine over both.
class TopologyTest : public ::testing::Test {
 protected:
  TopologyTest() {
    for (const char* const name : {"n1", "n2", "n3", "n4"}) w.cluster.SetNode(Node(name, 2));
    w.cluster.SetHyperNode(Hyper("s0", 1, {"n1", "n2"}, true));
    w.cluster.SetHyperNode(Hyper("s1", 1, {"n3", "n4"}, true));
    w.cluster.SetHyperNode(Hyper("s2", 2, {"s0", "s1"}, false));
  }
  static TopologyFacts Hard(int tier) { return {true, tier, ""}; }
  static TopologyFacts Soft() { return {false, std::nullopt, ""}; }
  // As many running, on n1 and n2, as `running` says.
  void Add(int min_member, int pods, const TopologyFacts& topology, int running = 0, const std::string& name = "g",
           std::int64_t milli = 2000) {
    GangFacts gang = Gang(name, min_member);
    gang.topology = topology;
    w.cluster.SetGang(gang);
    for (int i = 0; i < pods; ++i) {
      PodFacts pod = Pod(name, "w", i, Cpu(milli));
      if (i < running) {
        pod.node = absl::StrCat("n", i + 1);
        pod.phase = model::PodPhase::kRunning;
      }
      w.cluster.SetPod(pod);
    }
  }
  std::set<std::string> Nodes() {
    std::set<std::string> nodes;
    for (const auto& [pod, node] : w.Placed()) nodes.insert(node);
    return nodes;
  }
  std::string ReasonOf(const std::string& gang = "g") {
    const auto reason = w.Of(gang).reason;
    return reason.has_value() ? model::Render(*reason) : "";
  }
  testutil::World w;
};

// A pattern that is none selects nothing; who waits for that is told whose it is.
TEST_F(TopologyTest, AHyperNodeThatSelectsNothingAsItIsWrittenIsNamed) {
  for (const char* const name : {"s0", "s1"}) w.cluster.RemoveHyperNode(name);
  HyperNodeFacts broken = Hyper("s9", 1, {}, true);
  broken.members.push_back({true, By::kPattern, "n[1-", {}});
  w.cluster.SetHyperNode(broken);
  Add(2, 2, Hard(1));
  EXPECT_EQ(ReasonOf(),
            "waits for 2 of 2 tasks: no HyperNode of tier 1 or less has nodes; HyperNode s9 selects nothing by the "
            "pattern n[1-, which does not compile: missing ]: [1-");
  broken.members = {{true, By::kLabels, "", {model::kNoPod}}};
  w.cluster.SetHyperNode(broken);
  EXPECT_EQ(ReasonOf(),
            "waits for 2 of 2 tasks: no HyperNode of tier 1 or less has nodes; HyperNode s9 selects nothing by its "
            "labelMatch, which does not read");
  broken.tier = 2;
  w.cluster.SetHyperNode(broken);
  EXPECT_EQ(ReasonOf(), "waits for 2 of 2 tasks: no HyperNode of tier 1 or less has nodes") << "it would be too wide";
}

TEST_F(TopologyTest, H5MoreThanARackHoldsWaits) {
  Add(3, 3, Hard(1));
  EXPECT_THAT(Nodes(), IsEmpty());
  EXPECT_EQ(
      ReasonOf(),
      "waits for 1 of 3 tasks: in HyperNode s0, tier 1, w needs cpu 2; with 2 placed, 2 nodes have 0 free, 0 fit");
}

TEST_F(TopologyTest, H6UnlessTheSpineWillDo) {
  Add(3, 3, Hard(2));
  EXPECT_THAT(Nodes(), SizeIs(3));
}

TEST_F(TopologyTest, H7ARackHoldsTwo) {
  Add(2, 2, Hard(1));
  EXPECT_THAT(Nodes(), ElementsAre("n1", "n2"));
}

TEST_F(TopologyTest, H8WhatIsBeyondTheMinimumFollows) {
  Add(1, 2, Hard(1));
  EXPECT_THAT(Nodes(), ElementsAre("n1", "n2"));
}

class TopologyRunningTest : public TopologyTest, public ::testing::WithParamInterface<int> {};

TEST_P(TopologyRunningTest, H9TheThirdOfThreeDoesNotLeaveItsRack) {
  Add(GetParam(), 3, Hard(1), 2);
  EXPECT_THAT(Nodes(), IsEmpty());
  EXPECT_THAT(ReasonOf(), StartsWith("waits for 1 of 3 tasks: in HyperNode s0, tier 1, w needs cpu 2; "));
}

TEST_P(TopologyRunningTest, H10ButGoesToTheOtherOfItsSpine) {
  Add(GetParam(), 3, Hard(2), 2);
  EXPECT_THAT(Nodes(), SizeIs(1));
}

INSTANTIATE_TEST_SUITE_P(Minimum, TopologyRunningTest, ::testing::Values(2, 3));

TEST_F(TopologyTest, H11ATierIsKnownByItsName) {
  Add(3, 3, {true, std::nullopt, "rack"});
  EXPECT_THAT(Nodes(), IsEmpty());
  Add(3, 3, {true, std::nullopt, "spine"});
  EXPECT_THAT(Nodes(), SizeIs(3));
}

TEST_F(TopologyTest, H12WhatIsOnlyPreferredGoesAnywhere) {
  w.cluster.SetNode(Node("n5", 2));
  Add(5, 5, Soft());
  EXPECT_THAT(Nodes(), SizeIs(5));
  Add(2, 2, Soft());
  w.cluster.RemovePod("default", "g-w-2");
  w.cluster.RemovePod("default", "g-w-3");
  w.cluster.RemovePod("default", "g-w-4");
  EXPECT_THAT(Nodes(), ElementsAre("n1", "n2")) << "but in one rack where that can be";
}

TEST_F(TopologyTest, TheNarrowestThatHoldsItAndOfThoseTheFullest) {
  w.cluster.SetNode(Node("n1", 8));
  Add(2, 2, Hard(2));
  EXPECT_THAT(Nodes(), ElementsAre("n3", "n4")) << "n1 has room for larger ones";
  w.cluster.SetNode(Node("n4", 1));
  EXPECT_THAT(Nodes(), Each(::testing::AnyOf("n1", "n2")));
}

TEST_F(TopologyTest, NobodyKnowsSuchATier) {
  Add(1, 1, Hard(0));
  EXPECT_EQ(ReasonOf(), "waits for 1 of 1 task: no HyperNode of tier 0 or less has nodes");
  Add(1, 1, {true, std::nullopt, "pod"});
  EXPECT_EQ(ReasonOf(), "waits for 1 of 1 task: no HyperNode of tier pod has nodes");
  w.cluster.SetHyperNode(Hyper("p", 0, {"n9"}, true));
  Add(1, 1, Hard(0));
  EXPECT_EQ(ReasonOf(), "waits for 1 of 1 task: no HyperNode of tier 0 or less has nodes")
      << "a node that is not there is none";
}

TEST_F(TopologyTest, PodsInTwoRacksHaveNoneOfTheirOwn) {
  Add(3, 3, Hard(1), 1);
  PodFacts other = Pod("g", "w", 1, Cpu(2000));
  other.node = "n3";
  other.phase = model::PodPhase::kRunning;
  w.cluster.SetPod(other);
  EXPECT_EQ(ReasonOf(), "waits for 1 of 3 tasks: no HyperNode of tier 1 or less has all nodes where its pods are");
}

TEST_F(TopologyTest, TwoGangsShareWhatThereIs) {
  Add(2, 2, Hard(1));
  Add(2, 2, Hard(1), 0, "h");
  std::map<std::string, std::set<std::string>> racks;
  for (const auto& [pod, node] : w.Placed()) racks[pod.substr(0, 1)].insert(node == "n1" || node == "n2" ? "s0" : "s1");
  EXPECT_THAT(racks, ElementsAre(Pair("g", SizeIs(1)), Pair("h", SizeIs(1))));
  EXPECT_NE(racks["g"], racks["h"]);
}

// What a rack took while it was tried is given back whole.
// In the rack that is tried first the first pod leaves no room for others; in the next the others fit without it.
TEST_F(TopologyTest, WhatFindsNothingInOneRackIsLookedForInTheNext) {
  w.cluster.SetNode(Node("n1", 4));
  w.cluster.SetNode(Node("n2", 0));
  w.cluster.SetNode(Node("n3", 3));
  GangFacts gang = Gang("g", 2);
  gang.topology = Hard(1);
  w.cluster.SetGang(gang);
  for (int i = 0; i < 3; ++i) w.cluster.SetPod(Pod("g", "w", i, Cpu(4000 - 1000 * i)));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-1", "n3"), Pair("g-w-2", "n4")));
}

TEST_F(TopologyTest, ARackThatIsTriedInVainLeavesNoTrace) {
  Add(3, 3, Hard(1));
  Add(4, 4, Soft(), 0, "h");
  const auto placed = w.Placed();
  EXPECT_THAT(placed, SizeIs(4));
  EXPECT_THAT(placed, Each(Pair(StartsWith("h-"), ::testing::_)));
}

// ---- sub-groups

class PartTopologyTest : public TopologyTest {
 protected:
  // Partitions of two.
  void AddParts(int parts, const TopologyFacts& of_part, std::optional<TopologyFacts> of_gang = std::nullopt,
                int min_member = -1) {
    GangFacts gang = Gang("g", min_member < 0 ? 2 * parts : min_member);
    gang.topology = std::move(of_gang);
    gang.sub_groups = {{"w", 2, 0, of_part}};
    w.cluster.SetGang(gang);
    for (int i = 0; i < 2 * parts; ++i) {
      PodFacts pod = Pod("g", "w", i, Cpu(2000));
      pod.partition = absl::StrCat(i / 2);
      w.cluster.SetPod(pod);
    }
  }
  // By partition.
  std::map<int, std::set<std::string>> Racks() {
    std::map<int, std::set<std::string>> racks;
    for (const auto& [pod, node] : w.Placed())
      racks[(pod.back() - '0') / 2].insert(node == "n1" || node == "n2" ? "s0" : "s1");
    return racks;
  }
};

TEST_F(PartTopologyTest, EachLiesInARackOfItsOwn) {
  AddParts(2, Hard(1));
  const auto racks = Racks();
  EXPECT_THAT(racks, ElementsAre(Pair(0, SizeIs(1)), Pair(1, SizeIs(1))));
  EXPECT_NE(racks.at(0), racks.at(1));
}

TEST_F(PartTopologyTest, OneThatFitsNoRackIsTold) {
  w.cluster.SetNode(Node("n4", 1));
  AddParts(2, Hard(1));
  EXPECT_THAT(Racks(), IsEmpty());
  EXPECT_EQ(ReasonOf(),
            "waits for 1 of 4 tasks: in HyperNode s1, tier 1, w needs cpu 2; with 3 placed, 2 nodes have at most 1 "
            "free, 0 fit");
  AddParts(2, Soft());
  EXPECT_THAT(Racks(), IsEmpty());
  w.cluster.SetNode(Node("n5", 2));
  EXPECT_THAT(w.Placed(), SizeIs(4)) << "a rack is only preferred";
}

TEST_F(PartTopologyTest, WithinWhatTheGangMayUse) {
  AddParts(2, Hard(1), Hard(2));
  EXPECT_THAT(Racks(), SizeIs(2));
  AddParts(2, Hard(1), Hard(1));
  EXPECT_THAT(Racks(), IsEmpty()) << "one rack holds one of them";
  EXPECT_THAT(ReasonOf(), StartsWith("waits for 2 of 4 tasks: in HyperNode s0, tier 1, w needs cpu 2; "));
}

TEST_F(PartTopologyTest, H12ASubGroupThatPrefersOneIsHeldToItsGangs) {
  AddParts(2, Soft(), Hard(2));
  EXPECT_THAT(Racks(), ElementsAre(Pair(0, SizeIs(1)), Pair(1, SizeIs(1))));
}

TEST_F(PartTopologyTest, WhatIsBeyondTheMinimumLiesTogetherToo) {
  AddParts(2, Hard(1), std::nullopt, 2);
  EXPECT_THAT(Racks(), ElementsAre(Pair(0, SizeIs(1)), Pair(1, SizeIs(1))));
  w.cluster.SetNode(Node("n4", 1));
  EXPECT_THAT(Racks(), SizeIs(1));
}

// Beside the racks there is room for it: what it lacks is told of a rack.
TEST_F(PartTopologyTest, WhatIsBeyondTheMinimumAndFitsNoRackIsTold) {
  AddParts(2, Hard(1), std::nullopt, 2);
  w.cluster.SetNode(Node("n4", 1));
  for (const char* const name : {"x1", "x2"}) w.cluster.SetNode(Node(name, 2));
  EXPECT_THAT(Racks(), SizeIs(1));
  EXPECT_THAT(ReasonOf(), StartsWith("waits for 2 of 4 tasks: in HyperNode s1, tier 1, w needs cpu 2; "));
}

TEST_F(PartTopologyTest, APodThatIsMissingGoesWhereItsSubGroupIs) {
  AddParts(2, Hard(1));
  for (const auto& [index, node] : {std::pair(0, "n3"), std::pair(2, "n1"), std::pair(3, "n2")}) {
    PodFacts pod = Pod("g", "w", index, Cpu(2000));
    pod.partition = absl::StrCat(index / 2);
    pod.node = node;
    pod.phase = model::PodPhase::kRunning;
    w.cluster.SetPod(pod);
  }
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-1", "n4")));
}

// ---- members

TEST_F(TopologyTest, MembersArePatternsAndLabels) {
  w.cluster.RemoveHyperNode("s0");
  w.cluster.RemoveHyperNode("s1");
  HyperNodeFacts byte = Hyper("by-pattern", 1, {}, true);
  byte.members.push_back({true, By::kPattern, "[12]$", {}});
  w.cluster.SetHyperNode(byte);
  Add(2, 2, Hard(1));
  EXPECT_THAT(Nodes(), ElementsAre("n1", "n2"));
  w.cluster.RemoveHyperNode("by-pattern");
  EXPECT_THAT(Nodes(), IsEmpty());
  HyperNodeFacts by_label = Hyper("by-label", 1, {}, true);
  by_label.members.push_back({true, By::kLabels, "", {{"rack", model::Op::kIn, {"7"}}}});
  w.cluster.SetHyperNode(by_label);
  EXPECT_THAT(Nodes(), IsEmpty());
  for (const char* const name : {"n2", "n3"}) {
    model::NodeFacts node = Node(name, 2);
    node.labels.emplace_back("rack", "7");
    w.cluster.SetNode(node);
  }
  EXPECT_THAT(Nodes(), ElementsAre("n2", "n3"));
  w.cluster.RemoveNode("n3");
  EXPECT_THAT(Nodes(), IsEmpty());
}

TEST_F(TopologyTest, HyperNodesAreMembersByPatternAndLabelsToo) {
  HyperNodeFacts labelled = Hyper("s0", 1, {"n1", "n2"}, true);
  labelled.labels = {{"hall", "a"}};
  w.cluster.SetHyperNode(labelled);
  HyperNodeFacts hall = Hyper("hall", 3, {}, false);
  hall.members.push_back({false, By::kLabels, "", {{"hall", model::Op::kIn, {"a"}}}});
  hall.members.push_back({false, By::kPattern, "^s1$", {}});
  w.cluster.SetHyperNode(hall);
  w.cluster.RemoveHyperNode("s2");
  Add(4, 4, Hard(3));
  EXPECT_THAT(Nodes(), SizeIs(4));
}

TEST_F(TopologyTest, ACircleAndAPatternThatIsNoneAreNoHarm) {
  w.cluster.SetHyperNode(Hyper("s2", 2, {"s0", "s1", "s3"}, false));
  w.cluster.SetHyperNode(Hyper("s3", 3, {"s2", "s3"}, false));
  HyperNodeFacts broken = Hyper("broken", 1, {}, true);
  for (const std::string& pattern :
       {std::string("["), std::string("(((((a{1000}){1000}){1000}"), std::string(10'000, 'n'), std::string("(a*)*$")}) {
    broken.members.push_back({true, By::kPattern, pattern, {}});
  }
  w.cluster.SetHyperNode(broken);
  Add(4, 4, Hard(3));
  EXPECT_THAT(Nodes(), SizeIs(4));
  for (const model::HyperDomain& domain : w.cluster.hyper_nodes().Resolve())
    EXPECT_LE(domain.rows.size(), 4u) << domain.name;
}

TEST_F(TopologyTest, TheOrderOfEventsDoesNotMatter) {
  model::Cluster other;
  other.SetQueue(testutil::Queue("default"));
  other.SetHyperNode(Hyper("s2", 2, {"s0", "s1"}, false));
  other.SetHyperNode(Hyper("s1", 1, {"n3", "n4"}, true));
  for (const char* const name : {"n4", "n2", "n3", "n1"}) other.SetNode(Node(name, 2));
  other.SetHyperNode(Hyper("s0", 1, {"n1", "n2"}, true));
  const auto names = [](const model::Cluster& cluster) {
    std::map<std::string, std::set<std::string>> domains;
    for (const model::HyperDomain& domain : cluster.hyper_nodes().Resolve()) {
      for (const model::Row row : domain.rows) domains[domain.name].insert(std::string(cluster.node_name(row)));
    }
    return domains;
  };
  EXPECT_EQ(names(other), names(w.cluster));
  EXPECT_THAT(names(other), SizeIs(3));
}

}  // namespace
}  // namespace gangway::gang
