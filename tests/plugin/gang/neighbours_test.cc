// Where pods go because of other pods: affinity, anti-affinity and spread, within a gang, between gangs, and beside
// pods that run.
#include <map>
#include <set>
#include <string>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "plugin/gang/constraint/asks.h"
#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using model::PodFacts;
using model::PodTermFacts;
using model::SpreadFacts;
using model::Wants;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;
using testutil::Cpu;
using testutil::Gang;
using testutil::Node;
using testutil::Pod;

constexpr char kHost[] = "kubernetes.io/hostname";

PodTermFacts Apps(const std::string& app, const std::string& key) {
  return {key, {{"default"}, {}, {{"app", model::Op::kIn, {app}}}}};
}

Wants Near(const PodTermFacts& term) {
  Wants wants = Cpu(1000);
  wants.pod_affinity = {term};
  return wants;
}
Wants Away(const PodTermFacts& term) {
  Wants wants = Cpu(1000);
  wants.pod_anti_affinity = {term};
  return wants;
}
Wants SpreadOver(SpreadFacts spread) {
  Wants wants = Cpu(1000);
  wants.spreads = {std::move(spread)};
  return wants;
}
Wants Preferring(int weight, const PodTermFacts& term) {
  Wants wants = Cpu(1000);
  wants.pod_preferences = {{weight, term}};
  return wants;
}

class NeighboursTest : public ::testing::Test {
 protected:
  void AddNode(const std::string& name, const std::string& zone, int cpu = 4) {
    model::NodeFacts node = Node(name, cpu);
    if (!zone.empty()) node.labels.emplace_back("zone", zone);
    w.cluster.SetNode(node);
    zone_of_[name] = zone;
  }
  // A gang whose pods are app=`name`.
  void Add(const std::string& name, int min_member, int tasks, const Wants& wants, const std::string& role = "w") {
    w.cluster.SetGang(Gang(name, min_member));
    for (int i = 0; i < tasks; ++i) {
      PodFacts pod = Pod(name, role, i, wants);
      pod.labels = {{"app", name}, {"index", absl::StrCat(i)}};
      w.cluster.SetPod(pod);
    }
  }
  PodFacts Stranger(const std::string& name, const std::string& node, const std::string& app, Wants wants = Cpu(0)) {
    PodFacts pod = Pod("", name, 0, std::move(wants));
    pod.ours = false;
    pod.node = node;
    pod.phase = model::PodPhase::kRunning;
    pod.labels = {{"app", app}};
    return pod;
  }
  // How many pods of a gang each zone, or node, gets.
  std::map<std::string, int> Zones(const std::string& gang = "") {
    return Count(gang, [&](const std::string& node) { return zone_of_.at(node); });
  }
  std::map<std::string, int> Nodes(const std::string& gang = "") {
    return Count(gang, [](const std::string& node) { return node; });
  }
  std::string ReasonOf(const std::string& gang) {
    const auto reason = w.Of(gang).reason;
    return reason.has_value() ? model::Render(*reason) : "";
  }
  testutil::World w;

 private:
  template <class F>
  std::map<std::string, int> Count(const std::string& gang, F where) {
    std::map<std::string, int> counts;
    for (const auto& [pod, node] : w.Placed()) counts[where(node)] += pod.starts_with(gang) ? 1 : 0;
    std::erase_if(counts, [](const auto& entry) { return entry.second == 0; });
    return counts;
  }
  std::map<std::string, std::string> zone_of_;
};

// ---- what placed pods wish

TEST_F(NeighboursTest, WhomAPlacedPodPrefersNearItGoesThere) {
  for (const char* const name : {"n1", "n2", "n3"}) AddNode(name, "a");
  Wants wishing = Preferring(10, Apps("g", kHost));
  wishing.requests = Cpu(0).requests;
  w.cluster.SetPod(Stranger("x", "n2", "x", wishing));
  Add("g", 1, 1, Cpu(1000));
  EXPECT_THAT(Nodes("g"), ElementsAre(Pair("n2", 1)));
  w.cluster.RemovePod("default", "-x-0");
  EXPECT_THAT(Nodes("g"), ElementsAre(Pair("n1", 1))) << "nobody wishes for it any more";
  Wants needing = Near(Apps("g", kHost));
  needing.requests = Cpu(0).requests;
  w.cluster.SetPod(Stranger("y", "n3", "y", needing));
  EXPECT_THAT(Nodes("g"), ElementsAre(Pair("n3", 1))) << "whom it had to have near it, too";
}

TEST_F(NeighboursTest, WhomAPlacedPodWouldRatherNotHaveNearItGoesElsewhere) {
  for (const char* const name : {"n1", "n2"}) AddNode(name, "a");
  Wants wishing = Preferring(-10, Apps("g", kHost));
  wishing.requests = Cpu(0).requests;
  w.cluster.SetPod(Stranger("x", "n1", "x", wishing));
  Add("g", 1, 1, Cpu(1000));
  EXPECT_THAT(Nodes("g"), ElementsAre(Pair("n2", 1)));
}

// Many that wish for it weigh as much as one; many that would rather not, each anew.
TEST_F(NeighboursTest, WishesOfPlacedPodsWeighAsOnesOwn) {
  for (const char* const name : {"n1", "n2"}) AddNode(name, "a");
  const auto wish = [&](const std::string& name, const std::string& node, int weight) {
    Wants wants = Preferring(weight, Apps("g", kHost));
    wants.requests = Cpu(0).requests;
    w.cluster.SetPod(Stranger(name, node, "x", wants));
  };
  for (const char* const name : {"x", "y", "z"}) wish(name, "n1", 10);
  wish("v", "n2", 11);
  Add("g", 1, 1, Cpu(1000));
  EXPECT_THAT(Nodes("g"), ElementsAre(Pair("n2", 1)));
  for (const char* const name : {"t", "u"}) wish(name, "n2", -1);
  EXPECT_THAT(Nodes("g"), ElementsAre(Pair("n1", 1)));
}

TEST_F(NeighboursTest, WhoIsPlacedInTheSameRoundWishesToo) {
  for (const char* const name : {"n1", "n2"}) AddNode(name, "a");
  w.cluster.SetPod(Stranger("x", "n2", "pin"));
  w.cluster.SetPod(Stranger("y", "n1", "y", Cpu(2000)));  // fuller than n2 will be
  Wants first = Near(Apps("pin", kHost));
  first.pod_preferences = {{10, Apps("h", kHost)}};
  Add("g", 1, 1, first);
  Add("h", 1, 1, Cpu(1000));
  EXPECT_THAT(Nodes("g"), ElementsAre(Pair("n2", 1)));
  EXPECT_THAT(Nodes("h"), ElementsAre(Pair("n2", 1)));
}

// ---- anti-affinity

TEST_F(NeighboursTest, AGangKeepsItsPodsApart) {
  for (const char* const name : {"n1", "n2", "n3"}) AddNode(name, "a");
  Add("g", 3, 3, Away(Apps("g", kHost)));
  EXPECT_THAT(Nodes(), ElementsAre(Pair("n1", 1), Pair("n2", 1), Pair("n3", 1)));
  Add("g", 4, 4, Away(Apps("g", kHost)));
  EXPECT_THAT(Nodes(), IsEmpty());
  EXPECT_EQ(ReasonOf("g"),
            "waits for 1 of 4 tasks: w needs cpu 1, memory 100M; with 3 placed, 3 nodes have a pod with app=g in their "
            "kubernetes.io/hostname, 0 fit");
}

TEST_F(NeighboursTest, OrApartByZones) {
  for (const char* const name : {"a1", "a2"}) AddNode(name, "a");
  AddNode("b1", "b");
  AddNode("c1", "");
  AddNode("c2", "");
  Add("g", 4, 4, Away(Apps("g", "zone")));
  EXPECT_THAT(Zones(), ElementsAre(Pair("", 2), Pair("a", 1), Pair("b", 1)))
      << "where the label is missing nothing is alike, so there may be any number";
}

TEST_F(NeighboursTest, WhereItLacksTheLabelOfOneTermTheOthersHold) {
  AddNode("n1", "");
  AddNode("n2", "");
  w.cluster.SetPod(Stranger("web", "n1", "web"));
  Wants wants = Away(Apps("db", "zone"));
  wants.pod_anti_affinity.push_back(Apps("web", kHost));
  Add("g", 2, 2, wants);
  EXPECT_THAT(Nodes(), ElementsAre(Pair("n2", 2)));
}

TEST_F(NeighboursTest, AGangStaysAwayFromPodsThatRun) {
  AddNode("n1", "a");
  AddNode("n2", "b");
  w.cluster.SetPod(Stranger("web", "n1", "web"));
  Add("g", 2, 2, Away(Apps("web", "zone")));
  EXPECT_THAT(Nodes(), ElementsAre(Pair("n2", 2)));
  w.cluster.SetPod(Stranger("db", "n2", "web"));
  EXPECT_EQ(ReasonOf("g"),
            "waits for 2 of 2 tasks: w needs cpu 1, memory 100M; 2 nodes have a pod with app=web in their zone, 0 fit");
}

TEST_F(NeighboursTest, WhatOneGangKeepsOffTheNextIsKeptOffInTheSameCall) {
  AddNode("n1", "a");
  AddNode("n2", "b");
  Add("first", 1, 1, Away(Apps("second", "zone")));
  Add("second", 1, 1, Cpu(1000));
  EXPECT_THAT(Nodes(), ElementsAre(Pair("n1", 1), Pair("n2", 1)));
  Add("second", 2, 2, Cpu(3000));
  EXPECT_EQ(ReasonOf("second"),
            "waits for 1 of 2 tasks: w needs cpu 3; with 1 placed, 1 node has 1 free, 1 is kept free by the "
            "podAntiAffinity of pods placed with it, 0 fit");
}

// A binding that is decided counts as if it were made, until it is forgotten.
TEST_F(NeighboursTest, AssumedPodsCount) {
  AddNode("n1", "a");
  Add("g", 1, 1, Away(Apps("h", "zone")));
  Add("h", 1, 1, Cpu(1000));
  const model::TaskId task = w.cluster.FindTask("default", "g-w-0");
  w.cluster.Assume(task, w.cluster.FindNode("n1"));
  EXPECT_THAT(Nodes("h"), IsEmpty());
  w.cluster.Forget(task);
  w.cluster.RemovePod("default", "g-w-0");
  EXPECT_THAT(Nodes("h"), ElementsAre(Pair("n1", 1)));
  EXPECT_THAT(w.cluster.Audit(), IsEmpty());
}

// ---- affinity

TEST_F(NeighboursTest, AGangGoesWhereThePodsAreThatItWantsToBeNear) {
  AddNode("a1", "a");
  AddNode("b1", "b");
  AddNode("b2", "b");
  Add("g", 5, 5, Near(Apps("web", "zone")));
  EXPECT_EQ(
      ReasonOf("g"),
      "waits for 5 of 5 tasks: w needs cpu 1, memory 100M; 3 nodes have no pod with app=web in their zone, 0 fit");
  w.cluster.SetPod(Stranger("web", "b2", "web"));
  EXPECT_THAT(Zones(), ElementsAre(Pair("b", 5)));
}

TEST_F(NeighboursTest, ANodeWithoutTheLabelIsNearNobody) {
  AddNode("n1", "");
  w.cluster.SetPod(Stranger("web", "n1", "web"));
  Add("g", 1, 1, Near(Apps("web", "zone")));
  EXPECT_THAT(Nodes(), IsEmpty());
  Add("h", 1, 1, Near(Apps("h", "zone")));
  EXPECT_THAT(Nodes(), IsEmpty()) << "nor may the first pod go there";
  EXPECT_EQ(ReasonOf("h"), "waits for 1 of 1 task: w needs cpu 1, memory 100M; 1 node has no label zone, 0 fit");
}

TEST_F(NeighboursTest, OfSeveralPlacesTheOneWithoutThePodIsNamed) {
  for (const auto& [name, zone, rack] :
       {std::tuple("n1", "a", "r"), {"n2", "a", "s"}, {"n3", "b", "r"}, {"n4", "", "s"}}) {
    model::NodeFacts node = Node(name, 4);
    node.labels = {{"rack", rack}};
    if (*zone != '\0') node.labels.emplace_back("zone", zone);
    w.cluster.SetNode(node);
  }
  w.cluster.SetPod(Stranger("web", "n1", "web", Cpu(4000)));
  Wants wants = Near(Apps("web", "rack"));
  wants.pod_affinity.push_back(Apps("web", "zone"));
  Add("g", 1, 1, wants);
  EXPECT_EQ(ReasonOf("g"),
            "waits for 1 of 1 task: w needs cpu 1; 1 node has 0 free, 1 has no pod with app=web in its rack, 1 has no "
            "label zone, 1 has no pod with app=web in its zone, 0 fit");
}

TEST_F(NeighboursTest, APodIsNearByAllThatItAsksFor) {
  for (const auto& [name, zone, rack] : {std::tuple("n1", "a", "r"), {"n2", "a", "s"}, {"n3", "b", "r"}}) {
    model::NodeFacts node = Node(name, 4);
    node.labels.emplace_back("zone", zone);
    node.labels.emplace_back("rack", rack);
    w.cluster.SetNode(node);
  }
  w.cluster.SetPod(Stranger("web", "n1", "web", Cpu(3500)));
  Wants wants = Near(Apps("web", "zone"));
  wants.pod_affinity.push_back(Apps("web", "rack"));
  Add("g", 1, 1, wants);
  EXPECT_THAT(Nodes(), IsEmpty()) << "n1 is full";
  w.cluster.SetPod(Stranger("web", "n1", "web", Cpu(3000)));
  EXPECT_THAT(Nodes(), ElementsAre(Pair("n1", 1)));
}

// The fullest node is in the zone that is too small for all.
TEST_F(NeighboursTest, TheFirstPodGoesWhereTheOthersCanFollow) {
  AddNode("a1", "a", 2);
  AddNode("b1", "b", 4);
  AddNode("b2", "b", 3);
  AddNode("c1", "c", 16);
  Add("g", 6, 6, Near(Apps("g", "zone")));
  EXPECT_THAT(Zones(), ElementsAre(Pair("b", 6))) << "the narrowest that holds them";
  Add("g", 17, 17, Near(Apps("g", "zone")));
  EXPECT_THAT(Zones(), IsEmpty());
  EXPECT_THAT(ReasonOf("g"), StartsWith("waits for "));
}

TEST_F(NeighboursTest, RolesThatWantToBeTogetherAre) {
  AddNode("a1", "a", 4);
  AddNode("b1", "b", 6);
  w.cluster.SetGang(Gang("g", 6));
  for (int i = 0; i < 6; ++i) {
    Wants wants = Near(Apps("g", "zone"));
    if (i < 2) wants.tolerations = {{"x", "", "", true}};  // a shape of its own
    PodFacts pod = Pod("g", i < 2 ? "ps" : "w", i, wants);
    pod.labels = {{"app", "g"}};
    w.cluster.SetPod(pod);
  }
  EXPECT_THAT(Zones(), ElementsAre(Pair("b", 6)));
}

TEST_F(NeighboursTest, AllTermsHoldForOnePod) {
  AddNode("a1", "a");
  AddNode("b1", "b");
  PodFacts both = Stranger("both", "b1", "web");
  both.labels.emplace_back("tier", "x");
  w.cluster.SetPod(Stranger("half", "a1", "web"));
  w.cluster.SetPod(both);
  Wants wants = Near(Apps("web", "zone"));
  wants.pod_affinity.push_back({kHost, {{"default"}, {}, {{"tier", model::Op::kExists, {}}}}});
  Add("g", 1, 1, wants);
  EXPECT_THAT(Nodes(), ElementsAre(Pair("b1", 1)));
}

// What a gang took for itself while it was tried is given back whole.
TEST_F(NeighboursTest, AGangThatDoesNotFitLeavesNoTrace) {
  AddNode("a1", "a", 2);
  AddNode("b1", "b", 2);
  Add("big", 5, 5, Near(Apps("big", "zone")));
  Add("small", 2, 2, Away(Apps("big", "zone")));
  EXPECT_THAT(Zones(), SizeIs(1));
  EXPECT_EQ(Nodes("big").size(), 0u);
  EXPECT_EQ(Nodes("small").begin()->second, 2);
}

TEST_F(NeighboursTest, WhatIsBeyondTheMinimumFollows) {
  AddNode("a1", "a", 2);
  AddNode("b1", "b", 3);
  Add("g", 1, 4, Near(Apps("g", "zone")));
  const auto zones = Zones();
  ASSERT_THAT(zones, SizeIs(1)) << "all in one";
}

// What others want beyond their minimum does not go where a gang that rests could not go for it any more.
TEST_F(NeighboursTest, WhatIsBeyondAMinimumKeepsNoGangOffNodes) {
  AddNode("a1", "a");
  Add("alone", 1, 1, Away(Apps("many", "zone")));
  w.cluster.SetHeldBack(w.cluster.FindGang("default", "alone"), "refused");
  Add("many", 0, 1, Cpu(1000));
  EXPECT_THAT(Nodes("many"), IsEmpty());
  EXPECT_THAT(ReasonOf("many"), ::testing::HasSubstr("room is kept for gangs that lack their minimum"));
  Add("more", 0, 1, Cpu(1000));
  EXPECT_THAT(Nodes("more"), SizeIs(1));
}

// ---- spread

TEST_F(NeighboursTest, AGangIsSpreadOverZones) {
  for (const char* const name : {"a1", "a2"}) AddNode(name, "a");
  for (const char* const name : {"b1", "b2"}) AddNode(name, "b");
  AddNode("none", "");
  Add("g", 6, 6, SpreadOver({Apps("g", "zone")}));
  EXPECT_THAT(Zones(), ElementsAre(Pair("a", 3), Pair("b", 3)));
}

TEST_F(NeighboursTest, AZoneThatIsFullEndsTheSpread) {
  AddNode("a1", "a", 8);
  AddNode("b1", "b", 1);
  Add("g", 4, 4, SpreadOver({Apps("g", "zone")}));
  EXPECT_EQ(ReasonOf("g"),
            "waits for 1 of 4 tasks: w needs cpu 1; with 3 placed, 1 node has 0 free, 1 is in a zone that has maxSkew "
            "1 more pods than another, 0 fit");
  Add("g", 4, 4, SpreadOver({Apps("g", "zone"), 2}));
  EXPECT_THAT(Zones(), ElementsAre(Pair("a", 3), Pair("b", 1)));
}

TEST_F(NeighboursTest, PodsThatRunCountUnlessTheyEnd) {
  AddNode("a1", "a");
  AddNode("b1", "b");
  PodFacts there = Stranger("there", "a1", "g");
  w.cluster.SetPod(there);
  Add("g", 1, 1, SpreadOver({Apps("g", "zone")}));
  EXPECT_THAT(Zones("g"), ElementsAre(Pair("b", 1)));
  w.cluster.SetPod(Stranger("more", "b1", "g"));
  w.cluster.SetPod(Stranger("third", "b1", "g"));
  EXPECT_THAT(Zones("g"), ElementsAre(Pair("a", 1)));
  there.terminating = true;
  w.cluster.SetPod(Stranger("fourth", "a1", "g"));
  w.cluster.SetPod(Stranger("fifth", "a1", "g"));
  EXPECT_THAT(Zones("g"), ElementsAre(Pair("b", 1)));
  w.cluster.SetPod(there);
  w.cluster.RemovePod("default", "-fourth-0");
  EXPECT_THAT(Zones("g"), ElementsAre(Pair("a", 1)));
}

TEST_F(NeighboursTest, WithFewerDomainsThanAskedForTheFewestAreNone) {
  AddNode("a1", "a");
  Add("g", 2, 2, SpreadOver({Apps("g", "zone"), 1, 2}));
  EXPECT_THAT(Zones(), IsEmpty());
  EXPECT_EQ(
      ReasonOf("g"),
      "waits for 1 of 2 tasks: w needs cpu 1, memory 100M; with 1 placed, 1 node is in a zone that may have maxSkew "
      "1 pods at most while there are 1 of minDomains 2, 0 fit");
  Add("g", 2, 2, SpreadOver({Apps("g", "zone"), 1, 1}));
  EXPECT_THAT(Zones(), ElementsAre(Pair("a", 2))) << "one domain alone is always even";
}

// What it does not count itself, either.
TEST_F(NeighboursTest, SoAreTheyForAPodThatSpreadsByOthers) {
  AddNode("a1", "a");
  for (const char* const name : {"x", "y"}) w.cluster.SetPod(Stranger(name, "a1", "web"));
  Add("g", 1, 1, SpreadOver({Apps("web", "zone"), 1, 2}));
  EXPECT_THAT(Zones(), IsEmpty());
  Add("g", 1, 1, SpreadOver({Apps("web", "zone"), 1, 1}));
  EXPECT_THAT(Zones(), ElementsAre(Pair("a", 1)));
}

TEST_F(NeighboursTest, NodesThatAPodMayNotUseCountByPolicy) {
  AddNode("a1", "a");
  AddNode("b1", "b");
  Wants wants = SpreadOver({Apps("g", "zone")});
  wants.selector = {{"zone", "a"}};
  Add("g", 3, 3, wants);
  EXPECT_THAT(Zones(), ElementsAre(Pair("a", 3)));
  wants.spreads.front().honors_affinity = false;
  Add("g", 3, 3, wants);
  EXPECT_THAT(Zones(), IsEmpty()) << "the other zone counts and has none";
}

TEST_F(NeighboursTest, TaintedNodesCountByPolicy) {
  AddNode("a1", "a");
  model::NodeFacts tainted = Node("b1", 4);
  tainted.labels.emplace_back("zone", "b");
  tainted.taints = {{"dedicated", "x", model::TaintEffect::kNoSchedule}};
  w.cluster.SetNode(tainted);
  SpreadFacts spread{Apps("g", "zone")};
  Add("g", 3, 3, SpreadOver(spread));
  EXPECT_THAT(Nodes(), IsEmpty());
  spread.honors_taints = true;
  Add("g", 3, 3, SpreadOver(spread));
  EXPECT_THAT(Nodes(), ElementsAre(Pair("a1", 3)));
}

TEST_F(NeighboursTest, ASpreadThatIsAWishKeepsNobodyFromANode) {
  AddNode("a1", "a", 8);
  AddNode("b1", "b", 1);
  SpreadFacts wish{Apps("g", "zone")};
  wish.required = false;
  Add("g", 2, 2, SpreadOver(wish));
  EXPECT_THAT(Zones(), ElementsAre(Pair("a", 1), Pair("b", 1)));
  Add("g", 6, 6, SpreadOver(wish));
  EXPECT_THAT(Zones(), ElementsAre(Pair("a", 5), Pair("b", 1)));
}

TEST_F(NeighboursTest, ASpreadThatIsAWishIsFollowedWhereThereIsRoom) {
  AddNode("a1", "a", 8);
  AddNode("b1", "b", 8);
  SpreadFacts wish{Apps("g", "zone")};
  wish.required = false;
  Add("g", 4, 4, SpreadOver(wish));
  EXPECT_THAT(Zones(), ElementsAre(Pair("a", 2), Pair("b", 2)));
}

// ---- preferences

TEST_F(NeighboursTest, PodsThatArePreferredDrawAndOthersRepel) {
  AddNode("a1", "a");
  AddNode("b1", "b");
  w.cluster.SetPod(Stranger("web", "b1", "web"));
  Add("g", 2, 2, Preferring(10, Apps("web", "zone")));
  EXPECT_THAT(Zones(), ElementsAre(Pair("b", 2)));
  Add("g", 2, 2, Preferring(-10, Apps("web", "zone")));
  EXPECT_THAT(Zones(), ElementsAre(Pair("a", 2)));
  Add("g", 4, 4, Preferring(-10, Apps("g", kHost)));
  EXPECT_THAT(Zones(), ElementsAre(Pair("a", 2), Pair("b", 2))) << "evenly";
}

// ---- nodes, labels and terms that change

TEST_F(NeighboursTest, ALabelThatMovesMovesTheDomain) {
  AddNode("n1", "a");
  AddNode("n2", "b");
  w.cluster.SetPod(Stranger("web", "n1", "web"));
  Add("g", 1, 1, Near(Apps("web", "zone")));
  EXPECT_THAT(Nodes(), ElementsAre(Pair("n1", 1)));
  w.cluster.SetPod(Stranger("full", "n1", "x", Cpu(4000)));
  EXPECT_THAT(Nodes(), IsEmpty());
  AddNode("n1", "b");
  EXPECT_THAT(Nodes(), ElementsAre(Pair("n2", 1)));
  EXPECT_THAT(w.cluster.Audit(), IsEmpty());
}

// An index that nobody asks for parts nothing: one shape for all pods.
TEST_F(NeighboursTest, LabelsThatNobodyAsksForMakeNoNewShapes) {
  AddNode("n1", "a");
  w.cluster.SetPod(Stranger("web", "n1", "web", Away(Apps("g", "zone"))));
  Add("g", 1, 1, Cpu(1000));
  const int shapes = w.cluster.shape_slots();
  Add("g", 100, 100, Cpu(1000));
  EXPECT_EQ(w.cluster.shape_slots(), shapes);
}

}  // namespace
}  // namespace gangway::gang
