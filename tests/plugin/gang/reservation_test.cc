#include "plugin/gang/reservation.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "plugin/model/reason.h"
#include "tests/plugin/gang/dice.h"
#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using model::Decision;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using testutil::AddNodes;
using testutil::At;
using testutil::Cpu;

// Nodes of 8 cpu; each call is a round of a scheduler that keeps what was decided about nodes.
struct Rounds {
  Rounds() {
    w.policy.keeps_after = absl::ZeroDuration();
    w.policy.keeps_same = absl::ZeroDuration();
  }
  // `pods` of so much cpu; those that have a node run there.
  void Add(const std::string& name, int pods, std::int64_t milli, const std::vector<std::string>& nodes = {},
           int lasts_minutes = 0, const std::string& priority = "") {
    model::GangFacts gang = testutil::Gang(name, pods);
    gang.created = At(created_++);
    gang.priority_class = priority;
    gang.was_whole = !nodes.empty();
    w.cluster.SetGang(gang);
    gangs_[name] = gang;
    for (int i = 0; i < pods; ++i) {
      model::PodFacts pod = testutil::Pod(name, "w", i, Cpu(milli));
      if (lasts_minutes > 0) pod.lasts = absl::Minutes(lasts_minutes);
      if (static_cast<std::size_t>(i) < nodes.size()) {
        pod.node = nodes[static_cast<std::size_t>(i)];
        pod.phase = model::PodPhase::kRunning;
        if (lasts_minutes > 0) pod.ends = now_ + pod.lasts;
      }
      w.cluster.SetPod(pod);
      pods_[pod.name] = pod;
    }
  }
  // Three before it took at most so long; where it runs, it began just now.
  void Took(const std::string& name, int minutes) {
    model::GangFacts& gang = gangs_.at(name);
    gang.past_runs = {3, absl::Minutes(minutes)};
    w.cluster.SetGang(gang);
    for (auto& [pod, facts] : pods_) {
      if (facts.gang != name || facts.node.empty()) continue;
      facts.started = now_;
      w.cluster.SetPod(facts);
    }
  }
  // Of all addresses, each of its pods.
  void AskForPort(const std::string& name, int port) {
    for (auto& [pod, facts] : pods_) {
      if (facts.gang != name) continue;
      facts.wants.host_ports = {{"TCP", "", port}};
      w.cluster.SetPod(facts);
    }
  }
  // It begins to run where it was placed.
  void Run(const std::string& pod, const std::string& node) {
    model::PodFacts& facts = pods_.at(pod);
    facts.node = node;
    if (gangs_.at(facts.gang).past_runs.runs > 0) facts.started = now_;
    facts.phase = model::PodPhase::kRunning;
    if (facts.lasts != absl::InfiniteDuration()) facts.ends = now_ + facts.lasts;
    w.cluster.SetPod(facts);
  }
  static std::string N(int node) { return absl::StrCat("node-", absl::Dec(node, absl::kZeroPad3)); }
  void End(const std::string& gang, int pod = 0) { w.cluster.RemovePod("default", absl::StrCat(gang, "-w-", pod)); }

  std::map<std::string, std::string> Round() {
    std::map<std::string, std::string> placed;
    std::optional<model::Reservation> reservation;
    Scratch scratch;
    decisions_ = Schedule(w.cluster, w.policy, now_, scratch);
    reasons_.clear();
    for (const Decision& decision : decisions_) {
      const model::Gang& gang = w.cluster.gang(decision.gang);
      for (const model::Placement& p : decision.placements) {
        placed[w.cluster.task(p.task).name] = std::string(w.cluster.node_name(p.row));
        w.cluster.Assume(p.task, p.row);
      }
      if (decision.kept.has_value()) {
        EXPECT_FALSE(reservation.has_value()) << "one at a time";
        reservation = {decision.gang, gang.uid, *decision.kept};
      }
      w.cluster.Claim(decision.gang, decision.claim);
      if (decision.passed_over_until != absl::InfinitePast())
        w.cluster.PassOver(decision.gang, decision.passed_over_until);
      if (decision.reason.has_value()) reasons_[gang.name] = model::Render(*decision.reason);
    }
    w.cluster.SetReservation(reservation);
    return placed;
  }
  // "big: node-000 node-001 after 2"
  std::string Kept() {
    const std::optional<model::Reservation>& has = w.cluster.reservation();
    if (!has.has_value()) return "";
    std::string text = absl::StrCat(w.cluster.gang(has->gang).name, ":");
    for (const auto& spot : has->nodes.spots) absl::StrAppend(&text, " ", std::string(w.cluster.node_name(spot.row)));
    return absl::StrCat(text, " after ", has->nodes.ends);
  }

  testutil::World w;
  absl::Time now_ = At(100);
  model::Decisions decisions_;
  std::map<std::string, std::string> reasons_;
  std::map<std::string, model::GangFacts> gangs_;
  std::map<std::string, model::PodFacts> pods_;
  int created_ = 0;
};
struct ReservationTest : Rounds, ::testing::Test {};

// Before, whatever became free went to the small ones, for ever.
TEST_F(ReservationTest, SmallGangsDoNotPassALargeOneForEver) {
  AddNodes(w.cluster, 2, 8);
  Add("r0", 1, 8000, {N(0)});
  Add("r1", 1, 8000, {N(1)});
  Add("big", 2, 8000);
  Add("small", 1, 4000);
  EXPECT_THAT(Round(), IsEmpty());
  EXPECT_EQ(Kept(), "big: node-000 node-001 after 2");
  End("r0");
  EXPECT_THAT(Round(), IsEmpty());
  EXPECT_EQ(Kept(), "big: node-000 node-001 after 1");
  EXPECT_EQ(reasons_["small"],
            "waits for 1 of 1 task: w needs cpu 4; 2 nodes have 0 free, 0 fit; on 2 nodes room is kept for default/big "
            "until 1 pod ends");
  EXPECT_EQ(reasons_["big"],
            "waits for 1 of 2 tasks: w needs cpu 8; with 1 placed, 2 nodes have 0 free, 0 fit; on 2 nodes room is kept "
            "for it until 1 pod ends");
  End("r1");
  EXPECT_THAT(Round(), ElementsAre(Pair("big-w-0", N(0)), Pair("big-w-1", N(1))));
  EXPECT_EQ(Kept(), "small: node-000 after 1");
}

// `r0` should have ended long ago. Who lasts a minute may not use what waits for it, which nobody knows the start of.
TEST_F(ReservationTest, WhoIsThereBeyondItsTimeMayStayForEver) {
  AddNodes(w.cluster, 2, 8);
  now_ = At(0);
  Add("r0", 1, 8000, {N(0)}, /*lasts_minutes=*/10);
  Add("big", 2, 8000);
  Add("short", 1, 8000, {}, /*lasts_minutes=*/1);
  now_ = At(60);
  EXPECT_THAT(Round(), ElementsAre(Pair("short-w-0", N(1)))) << "it ends before r0 does";
  End("short");
  now_ = At(10 * 60 + 61);
  Add("other", 1, 8000, {}, /*lasts_minutes=*/1);
  EXPECT_THAT(Round(), IsEmpty());
  EXPECT_EQ(Kept(), "big: node-000 node-001 after 1");
  EXPECT_EQ(w.cluster.reservation()->nodes.start, absl::InfiniteFuture());
}

// One pod runs on node-000 and on node-002, two on each of the others; in a HyperNode three must end, anywhere two.
TEST_F(ReservationTest, ASubGroupHasNodesOfOneHyperNode) {
  AddNodes(w.cluster, 4, 8);
  for (int s = 0; s < 2; ++s) {
    model::HyperNodeFacts hyper_node;
    hyper_node.name = absl::StrCat("s", s);
    hyper_node.tier = 1;
    for (int i = 0; i < 2; ++i)
      hyper_node.members.push_back({true, model::HyperNodeFacts::By::kName, N(2 * s + i), {}});
    w.cluster.SetHyperNode(hyper_node);
  }
  Add("r0", 1, 8000, {N(0)});
  Add("r1", 2, 4000, {N(1), N(1)});
  Add("r2", 1, 8000, {N(2)});
  Add("r3", 2, 4000, {N(3), N(3)});
  Add("big", 2, 8000);
  EXPECT_THAT(Round(), IsEmpty());
  EXPECT_EQ(Kept(), "big: node-000 node-002 after 2");
  model::GangFacts gang = testutil::Gang("big", 2);
  gang.created = At(50);
  gang.sub_groups = {testutil::SubGroupsOfTask("w", 2, 1, model::TopologyFacts{true, 1, ""})};
  w.cluster.SetGang(gang);
  for (int i = 0; i < 2; ++i) {
    model::PodFacts pod = testutil::Pod("big", "w", i, Cpu(8000));
    testutil::SetPartition(pod, "0");
    w.cluster.SetPod(pod);
  }
  w.cluster.SetReservation(std::nullopt);
  EXPECT_THAT(Round(), IsEmpty());
  EXPECT_EQ(Kept(), "big: node-000 node-001 after 3");
  End("r3");
  Add("small", 1, 4000);
  EXPECT_THAT(Round(), IsEmpty());
  EXPECT_EQ(Kept(), "big: node-002 node-003 after 2") << "fewer in the other HyperNode now";
  End("r2");
  End("r3", 1);
  EXPECT_THAT(Round(), ElementsAre(Pair("big-w-0", N(2)), Pair("big-w-1", N(3))));
}

TEST_F(ReservationTest, OthersGoWhereItIsNotNeeded) {
  AddNodes(w.cluster, 3, 8);
  Add("r0", 1, 5000, {N(0)});
  Add("r1", 1, 5000, {N(1)});
  Add("r2", 2, 3000, {N(2), N(2)});
  Add("big", 1, 6000);
  for (const char* name : {"s1", "s2", "s3", "s4"}) Add(name, 1, 2000);
  // Of node-000 the gang will need 6 of 8.
  EXPECT_THAT(Round(), UnorderedElementsAre(Pair("s1-w-0", N(2)), Pair("s2-w-0", N(1))));
  EXPECT_EQ(Kept(), "big: node-000 after 1");
  End("r0");
  EXPECT_THAT(Round(), UnorderedElementsAre(Pair("big-w-0", N(0)), Pair("s3-w-0", N(0))));
}

TEST_F(ReservationTest, WhatIsMoreThanItNeedsIsAnybodys) {
  AddNodes(w.cluster, 2, 8);
  Add("r1", 1, 8000, {N(1)});
  Add("big", 2, 6000);
  for (const char* name : {"s1", "s2"}) Add(name, 1, 2000);
  EXPECT_THAT(Round(), ElementsAre(Pair("s1-w-0", N(0))));
  EXPECT_EQ(Kept(), "big: node-000 node-001 after 1");
}

TEST_F(ReservationTest, TheNodesWhereFewestPodsMustEnd) {
  AddNodes(w.cluster, 3, 8);
  Add("many", 4, 2000, {N(0), N(0), N(0), N(0)});
  Add("few", 2, 4000, {N(1), N(1)});
  Add("both", 3, 2000, {N(2), N(2), N(2)});
  Add("big", 1, 7000);
  EXPECT_THAT(Round(), IsEmpty());
  EXPECT_EQ(Kept(), "big: node-001 after 2");
  End("both", 0);
  End("both", 1);
  Round();
  EXPECT_EQ(Kept(), "big: node-002 after 1");
}

// Either gives as much of what is lacking, in sum; but r alone is enough.
TEST_F(ReservationTest, OfEqualsWhoRunsEndsBeforeWhoIsPlacedInThisCall) {
  model::NodeFacts node = testutil::Node(N(0), 6);
  node.allocatable[1].second = 3'000'000'000;
  w.cluster.SetNode(node);
  Add("r", 1, 2000, {N(0)});
  Add("first", 1, 4000);
  Add("big", 1, 2000);
  for (const auto& [pod, bytes] : {std::pair("r-w-0", 2'000'000'000), {"first-w-0", 0}, {"big-w-0", 2'000'000'000}}) {
    pods_.at(pod).wants.requests[1].second = bytes;
    w.cluster.SetPod(pods_.at(pod));
  }
  EXPECT_THAT(Round(), ElementsAre(Pair("first-w-0", N(0))));
  EXPECT_EQ(Kept(), "big: node-000 after 1");
}

TEST_F(ReservationTest, WhoEndsInTimeMayUseIt) {
  AddNodes(w.cluster, 2, 8);
  Add("r0", 1, 8000, {N(0)}, 60);
  Add("big", 2, 8000);
  Add("long", 1, 4000, {}, 60);
  Add("unknown", 1, 1000);
  Add("short", 1, 4000, {}, 30);
  EXPECT_THAT(Round(), ElementsAre(Pair("short-w-0", N(1))));
  EXPECT_EQ(Kept(), "big: node-000 node-001 after 1");
  EXPECT_EQ(w.cluster.reservation()->nodes.start, now_ + absl::Minutes(60));
}

// short could lie on the third node, and x, whose end nobody knows, on what is kept then.
TEST_F(ReservationTest, NobodyWhoMayUseItMakesWayThereForOneWhoMayNot) {
  AddNodes(w.cluster, 3, 8);
  Add("r0", 1, 8000, {N(0)}, 60);
  Add("r1", 1, 3000, {N(1)}, 60);
  Add("r2", 1, 2000, {N(2)});
  Add("big", 2, 8000);
  Add("short", 1, 4000, {}, 30);
  Add("x", 1, 4000);
  pods_.at("x-w-0").wants.selector = {{"kubernetes.io/hostname", N(1)}};
  w.cluster.SetPod(pods_.at("x-w-0"));
  EXPECT_THAT(Round(), ElementsAre(Pair("short-w-0", N(1))));
  EXPECT_EQ(Kept(), "big: node-000 node-001 after 2");
}

// near, which ends in time, lies where a is: a stays there from then on. Else there would be room for d.
TEST_F(ReservationTest, WhoEndsInTimeHoldsThoseItLooksAt) {
  AddNodes(w.cluster, 2, 8);
  for (const int milli : {4100, 5100}) {
    model::NodeFacts node = testutil::Node(absl::StrCat("small-", milli));
    node.allocatable[0].second = milli;
    w.cluster.SetNode(node);
  }
  Add("r0", 1, 8000, {N(0)}, 60);
  Add("big", 2, 8000);
  Add("a", 1, 3000);
  Add("near", 1, 100, {}, 30);
  for (const char* const name : {"b", "c", "d"}) Add(name, 1, 2000);
  model::PodFacts& a = pods_.at("a-w-0");
  a.labels = {{"app", "a"}};
  w.cluster.SetPod(a);
  std::map<std::string, std::string> placed = w.Placed();
  ASSERT_EQ(placed.count("d-w-0"), 1u) << "nobody looks at a";
  EXPECT_EQ(placed.at("d-w-0"), placed.at("a-w-0"));
  model::PodFacts& near = pods_.at("near-w-0");
  near.wants.pod_affinity = {{"kubernetes.io/hostname", {{"default"}, {}, {{"app", model::Op::kIn, {"a"}}}}}};
  w.cluster.SetPod(near);
  placed = w.Placed();
  EXPECT_EQ(placed["near-w-0"], placed["a-w-0"]);
  EXPECT_EQ(placed.count("d-w-0"), 0u);
}

TEST_F(ReservationTest, WhereNoEndIsKnownNobodyIsInTime) {
  AddNodes(w.cluster, 2, 8);
  Add("r0", 1, 8000, {N(0)});
  Add("big", 2, 8000);
  Add("short", 1, 4000, {}, 1);
  EXPECT_THAT(Round(), IsEmpty());
}

// But for that they would be those of the first name.
TEST_F(ReservationTest, OfEqualNodesThoseThatAreExpectedToBeFreeFirst) {
  AddNodes(w.cluster, 4, 8);
  Add("r0", 1, 8000, {N(0)});
  Add("r1", 1, 8000, {N(1)});
  Add("r2", 1, 8000, {N(2)}, /*lasts_minutes=*/50);
  Add("r3", 2, 4000, {N(3), N(3)});
  Took("r1", 60);
  Took("r3", 5);  // but there two must end
  Add("big", 1, 8000);
  EXPECT_THAT(Round(), IsEmpty());
  EXPECT_EQ(Kept(), "big: node-002 after 1") << "as it says itself";
  w.cluster.SetReservation(std::nullopt);
  Took("r1", 20);
  EXPECT_THAT(Round(), IsEmpty());
  EXPECT_EQ(Kept(), "big: node-001 after 1");
  EXPECT_EQ(w.cluster.reservation()->nodes.expected, now_ + absl::Minutes(20));
  EXPECT_EQ(w.cluster.reservation()->nodes.start, absl::InfiniteFuture()) << "nobody said so";
}

// Runs before are no promise: neither for who is there, nor for who would come.
TEST_F(ReservationTest, HowLongRunsBeforeTookLetsNobodyIn) {
  AddNodes(w.cluster, 2, 8);
  Add("r0", 1, 8000, {N(0)});
  Took("r0", 60);
  Add("big", 2, 8000);
  Add("says", 1, 4000, {}, /*lasts_minutes=*/1);
  Add("took", 1, 4000);
  Took("took", 1);
  EXPECT_THAT(Round(), IsEmpty());
  EXPECT_EQ(Kept(), "big: node-000 node-001 after 1");
  Add("r0", 1, 8000, {N(0)}, /*lasts_minutes=*/60);  // now it says so, too
  EXPECT_THAT(Round(), ElementsAre(Pair("says-w-0", N(1))));
}

// It may take a day, and took at most 20 minutes before.
TEST_F(ReservationTest, WhoWouldEndAfterItIsExpectedToStartWaits) {
  AddNodes(w.cluster, 2, 8);
  Add("r0", 1, 8000, {N(0)}, /*lasts_minutes=*/24 * 60);
  Took("r0", 20);
  Add("big", 2, 8000);
  Add("hour", 1, 4000, {}, /*lasts_minutes=*/60);
  Add("short", 1, 4000, {}, /*lasts_minutes=*/10);
  EXPECT_THAT(Round(), ElementsAre(Pair("short-w-0", N(1))));
  EXPECT_EQ(w.cluster.reservation()->nodes.start, now_ + absl::Hours(24));
  EXPECT_EQ(w.cluster.reservation()->nodes.expected, now_ + absl::Minutes(20));
  now_ += absl::Minutes(21);
  EXPECT_THAT(Round(), IsEmpty()) << "from the end of a pod to the news of it";
  now_ += absl::Seconds(1);
  EXPECT_THAT(Round(), ElementsAre(Pair("hour-w-0", N(1)))) << "it takes longer than any before: what it says counts";
}

// node-000 has more cpu than it needs there; but the port is one.
TEST_F(ReservationTest, PortsAreKeptToo) {
  AddNodes(w.cluster, 2, 8);
  Add("r0", 1, 3000, {N(0)});
  Add("r1", 1, 8000, {N(1)});
  Add("big", 2, 4000);
  AskForPort("big", 80);
  Add("same", 1, 1000);
  AskForPort("same", 80);
  Add("other", 1, 1000);
  AskForPort("other", 81);
  EXPECT_THAT(Round(), ElementsAre(Pair("other-w-0", N(0))));
  EXPECT_EQ(Kept(), "big: node-000 node-001 after 1");
  Rounds::Run("other-w-0", N(0));
  EXPECT_THAT(Round(), IsEmpty());
  End("r1");
  EXPECT_THAT(Round(), UnorderedElementsAre(Pair("big-w-0", N(0)), Pair("big-w-1", N(1))));
}

TEST_F(ReservationTest, SurplusLeavesThePortsToo) {
  AddNodes(w.cluster, 3, 8);
  Add("r0", 1, 3000, {N(0)});
  Add("r1", 1, 8000, {N(1)});
  Add("r2", 1, 7000, {N(2)});
  Add("big", 2, 4000);
  AskForPort("big", 80);
  Add("elastic", 2, 1000, {N(2)});
  AskForPort("elastic", 80);
  model::GangFacts elastic = testutil::Gang("elastic", 1);
  elastic.created = At(50);
  elastic.was_whole = true;
  w.cluster.SetGang(elastic);
  EXPECT_THAT(Round(), IsEmpty());
  EXPECT_EQ(Kept(), "big: node-000 node-001 after 1");
  AskForPort("elastic", 81);
  EXPECT_THAT(Round(), ElementsAre(Pair("elastic-w-1", N(0))));
}

// `short` ends in time, and has the port; were it not waited for, the nodes would be given up for others.
TEST_F(ReservationTest, WhoHasThePortMeanwhileMustEndToo) {
  AddNodes(w.cluster, 2, 8);
  Add("r0", 1, 6000, {N(0)}, 60);
  Add("r1", 2, 4000, {N(1), N(1)}, 90);
  Add("big", 1, 7000);
  AskForPort("big", 80);
  Add("short", 1, 1000, {}, 30);
  AskForPort("short", 80);
  EXPECT_THAT(Round(), ElementsAre(Pair("short-w-0", N(0))));
  Rounds::Run("short-w-0", N(0));
  EXPECT_EQ(Kept(), "big: node-000 after 1");
  Round();
  EXPECT_EQ(Kept(), "big: node-000 after 2");
  EXPECT_EQ(w.cluster.reservation()->nodes.start, now_ + absl::Minutes(60));
  End("r0");
  EXPECT_THAT(Round(), IsEmpty());
  EXPECT_EQ(Kept(), "big: node-000 after 1");
  End("short");
  EXPECT_THAT(Round(), ElementsAre(Pair("big-w-0", N(0))));
}

// A pod of no gang came by it: nobody knows that it ever ends.
TEST_F(ReservationTest, WhereThePortIsTakenForGoodOthersAreKept) {
  AddNodes(w.cluster, 2, 8);
  Add("r0", 1, 6000, {N(0)});
  Add("r1", 2, 4000, {N(1), N(1)});
  Add("big", 1, 6000);
  AskForPort("big", 80);
  Round();
  ASSERT_EQ(Kept(), "big: node-000 after 1");
  model::PodFacts stranger = testutil::Pod("", "x", 0, Cpu(100));
  stranger.wants.host_ports = {{"TCP", "", 80}};
  stranger.node = N(0);
  stranger.phase = model::PodPhase::kRunning;
  stranger.ours = false;
  w.cluster.SetPod(stranger);
  Round();
  EXPECT_EQ(Kept(), "big: node-001 after 2");
}

// Once for each pod: both would fit on one node.
TEST_F(ReservationTest, TwoPodsThatAskForOnePortHaveTwoNodes) {
  AddNodes(w.cluster, 2, 8);
  Add("r0", 1, 8000, {N(0)});
  Add("r1", 1, 8000, {N(1)});
  Add("big", 2, 2000);
  AskForPort("big", 80);
  Round();
  EXPECT_EQ(Kept(), "big: node-000 node-001 after 2");
}

// Room was made for it elsewhere, and it comes before others.
TEST_F(ReservationTest, WhoAwaitsRoomElsewhereLeavesItAlone) {
  AddNodes(w.cluster, 3, 8);
  Add("r0", 1, 4000, {N(0)});
  Add("r2", 1, 8000, {N(2)});
  Add("big", 2, 8000);
  EXPECT_THAT(Round(), IsEmpty());
  ASSERT_EQ(Kept(), "big: node-000 node-001 after 1");
  Add("small", 1, 4000);
  const model::TaskId small = w.cluster.FindTask("default", "small-w-0");
  w.cluster.Nominate(small, w.cluster.FindNode(N(2)));
  EXPECT_THAT(Round(), IsEmpty());
  EXPECT_EQ(Kept(), "big: node-000 node-001 after 1");
  w.cluster.Nominate(small, w.cluster.FindNode(N(2)));
  End("r0");
  EXPECT_THAT(Round(), UnorderedElementsAre(Pair("big-w-0", N(0)), Pair("big-w-1", N(1))));
}

TEST_F(ReservationTest, WhoPrecedesMayUseItWhileItAwaitsRoomElsewhere) {
  AddNodes(w.cluster, 3, 8);
  w.cluster.SetPriorityClass({"high", 100});
  Add("r0", 1, 4000, {N(0)});
  Add("r2", 1, 8000, {N(2)});
  Add("big", 2, 8000);
  EXPECT_THAT(Round(), IsEmpty());
  Add("urgent", 1, 4000, {}, 0, "high");
  w.cluster.Nominate(w.cluster.FindTask("default", "urgent-w-0"), w.cluster.FindNode(N(2)));
  EXPECT_THAT(Round(), ElementsAre(Pair("urgent-w-0", N(0))));
}

TEST_F(ReservationTest, NothingIsKeptForAGangThatNeverFits) {
  AddNodes(w.cluster, 2, 8);
  Add("r0", 1, 8000, {N(0)});
  model::PodFacts stranger = testutil::Pod("", "x", 0, Cpu(1000));
  stranger.node = N(1);
  stranger.phase = model::PodPhase::kRunning;
  stranger.ours = false;
  w.cluster.SetPod(stranger);
  Add("big", 2, 8000);  // the stranger stays
  Add("next", 2, 6000);
  Add("small", 1, 4000);
  EXPECT_THAT(Round(), IsEmpty());
  EXPECT_EQ(Kept(), "next: node-000 node-001 after 1") << "the first that would fit";
}

TEST_F(ReservationTest, AYoungGangHasNone) {
  AddNodes(w.cluster, 2, 8);
  w.policy.keeps_after = absl::Minutes(1);
  Add("r0", 1, 8000, {N(0)});
  Add("big", 2, 8000);
  Add("small", 1, 4000);
  now_ = At(30);
  EXPECT_THAT(Round(), ElementsAre(Pair("small-w-0", N(1))));
  EXPECT_EQ(Kept(), "");
}

TEST_F(ReservationTest, WhoHasItKeepsItButForAHigherPriority) {
  AddNodes(w.cluster, 2, 8);
  w.cluster.SetQueue(testutil::Queue("other"));
  Add("r0", 1, 8000, {N(0)});
  Add("big", 2, 8000);
  Round();
  model::GangFacts gang = testutil::Gang("elsewhere", 1);
  gang.queue = "other";  // holds nothing, so it would go first
  gang.created = At(90);
  w.cluster.SetGang(gang);
  w.cluster.SetPod(testutil::Pod("elsewhere", "w", 0, Cpu(8000)));
  Add("holds", 1, 100, {N(0)});
  EXPECT_THAT(Round(), IsEmpty());
  EXPECT_EQ(Kept().substr(0, 4), "big:");
  w.cluster.SetPriorityClass({"high", 10, false});
  Add("urgent", 1, 8000, {}, 0, "high");
  EXPECT_THAT(Round(), ElementsAre(Pair("urgent-w-0", N(1))));
  Add("another", 2, 7000, {}, 0, "high");
  Round();
  EXPECT_EQ(Kept().substr(0, 8), "another:");
}

TEST_F(ReservationTest, WhereOneOfItsNodesHasLeftTheOthersAreStillKept) {
  AddNodes(w.cluster, 2, 8);
  w.policy.keeps_same = absl::Minutes(1);
  Add("r1", 1, 4000, {N(1)});
  Add("big", 2, 8000);
  Add("small", 1, 4000);
  EXPECT_THAT(Round(), IsEmpty());
  ASSERT_EQ(Kept(), "big: node-000 node-001 after 1");
  w.cluster.RemoveNode(N(0));
  EXPECT_THAT(Round(), IsEmpty());
  now_ += w.policy.keeps_same;
  EXPECT_THAT(Round(), ElementsAre(Pair("small-w-0", N(1)))) << "looked for anew, there are none";
}

// Where a node of them is gone, others become its own within a second, whatever else happens.
TEST_F(ReservationTest, NodesThatAreKeptAreLookedForAgainWithinASecond) {
  w.policy.keeps_same = absl::Seconds(1);
  AddNodes(w.cluster, 3, 8);
  for (int i = 0; i < 3; ++i) Add(absl::StrCat("r", i), 1, 8000, {N(i)});
  Add("big", 1, 8000);
  Round();
  EXPECT_EQ(Kept(), "big: node-000 after 1");
  w.cluster.RemoveNode(N(0));
  now_ += absl::Milliseconds(300);
  Round();
  const auto big = std::find_if(decisions_.begin(), decisions_.end(),
                                [&](const Decision& decision) { return w.cluster.gang(decision.gang).name == "big"; });
  ASSERT_NE(big, decisions_.end());
  EXPECT_EQ(big->look_again, At(101));
  now_ = At(101);
  Round();
  EXPECT_EQ(Kept(), "big: node-001 after 1");
}

TEST_F(ReservationTest, ItIsGivenUpWhenNothingEnds) {
  AddNodes(w.cluster, 2, 8);
  Add("r0", 2, 4000, {N(0), N(0)});
  Add("big", 2, 8000);
  Add("small", 1, 8000);
  EXPECT_THAT(Round(), IsEmpty());
  now_ += absl::Minutes(59);
  End("r0", 0);  // something has
  EXPECT_THAT(Round(), IsEmpty());
  now_ += absl::Minutes(59);
  EXPECT_THAT(Round(), IsEmpty());
  EXPECT_EQ(Kept(), "big: node-000 node-001 after 1");
  now_ += absl::Minutes(1);
  EXPECT_THAT(Round(), ElementsAre(Pair("small-w-0", N(1))));
  EXPECT_EQ(Kept(), "");
  now_ += absl::Minutes(59);
  Round();
  EXPECT_EQ(Kept(), "") << "for as long others have their turn";
  now_ += absl::Minutes(1);
  Round();
  EXPECT_EQ(Kept(), "big: node-000 node-001 after 2");
}

TEST_F(ReservationTest, WhatIsEndingIsWaitedFor) {
  AddNodes(w.cluster, 2, 8);
  Add("r0", 1, 8000, {N(0)});
  model::PodFacts ending = testutil::Pod("r0", "w", 0, Cpu(8000));
  ending.node = N(0);
  ending.phase = model::PodPhase::kRunning;
  ending.terminating = true;
  w.cluster.SetPod(ending);
  Add("big", 2, 8000);
  Add("small", 1, 4000);
  EXPECT_THAT(Round(), IsEmpty());
  EXPECT_EQ(Kept(), "big: node-000 node-001 after 0");
}

TEST_F(ReservationTest, OneHyperNodeForAGangThatMustLieInOne) {
  AddNodes(w.cluster, 4, 8);
  for (int rack = 0; rack < 2; ++rack) {
    model::HyperNodeFacts facts;
    facts.name = absl::StrCat("rack", rack);
    facts.tier = 1;
    for (int node = 0; node < 2; ++node)
      facts.members.push_back({true, model::HyperNodeFacts::By::kName, N(2 * rack + node), {}});
    w.cluster.SetHyperNode(facts);
  }
  Add("r0", 3, 8000, {N(0), N(1), N(3)});
  Add("big", 2, 8000);
  model::GangFacts big = testutil::Gang("big", 2);
  big.topology = {true, 1, ""};
  w.cluster.SetGang(big);
  Add("small", 1, 4000);
  EXPECT_THAT(Round(), IsEmpty());
  EXPECT_EQ(Kept(), "big: node-002 node-003 after 1");
}

TEST_F(ReservationTest, SurplusKeepsOffItToo) {
  AddNodes(w.cluster, 2, 8);
  Add("r0", 1, 8000, {N(0)});
  Add("big", 2, 8000);
  Add("elastic", 8, 1000, {N(0)});
  model::GangFacts elastic = testutil::Gang("elastic", 1);
  elastic.created = At(50);
  elastic.was_whole = true;
  w.cluster.SetGang(elastic);
  EXPECT_THAT(Round(), IsEmpty());
}

// What the gang waits for becomes never more, and is never known to come later than it was; when nothing is left to
// wait for the gang is placed.
TEST(ReservationProperty, NobodyDelaysIt) {
  int gathered = 0, backfilled = 0;
  for (unsigned seed = 0; seed < testutil::Worlds(1000); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    std::mt19937 random(seed);
    const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
    Rounds r;
    r.w.policy.keeps_for = absl::Hours(1000);
    const int nodes = 2 + below(4);
    AddNodes(r.w.cluster, nodes, 8);
    r.w.cluster.SetQueue(testutil::Queue("other"));
    int gangs = 0;
    for (int node = 0; node < nodes; ++node) {
      for (int left = 8; left > 0;) {
        const int cpu = 1 + below(left);
        const std::string name = absl::StrCat("g", gangs++);
        r.Add(name, 1, 1000 * cpu, {Rounds::N(node)}, below(2) * (1 + below(60)));
        if (below(2) == 0) r.Took(name, 1 + below(60));
        left -= cpu + below(3);
      }
    }
    r.Add("big", 1 + below(nodes), 1000 * (4 + below(5)));
    int ends = 1000;
    absl::Time start = absl::InfiniteFuture();
    for (int round = 0; round < 40; ++round) {
      if (round > 0 && below(3) > 0) {
        const std::string name = absl::StrCat("g", gangs++);
        r.Add(name, 1 + below(2), 1000 * (1 + below(6)), {}, below(2) * (1 + below(40)));
        if (below(2) == 0) r.Took(name, 1 + below(40));
      }
      const auto placed = r.Round();
      for (const auto& [pod, node] : placed) r.Run(pod, node);
      if (placed.contains("big-w-0")) {
        ++gathered;
        break;
      }
      const std::optional<model::Reservation>& has = r.w.cluster.reservation();
      ASSERT_TRUE(has.has_value());
      ASSERT_EQ(r.w.cluster.gang(has->gang).name, "big");
      EXPECT_LE(has->nodes.start, start);
      EXPECT_LE(has->nodes.expected, has->nodes.start);
      // Who uses the nodes in the meantime must end, too.
      if (has->nodes.start == absl::InfiniteFuture()) {
        EXPECT_LE(has->nodes.ends, ends);
      }
      EXPECT_GT(has->nodes.ends, 0);
      ends = has->nodes.ends;
      start = has->nodes.start;
      backfilled += static_cast<int>(placed.size());
      // Time goes on to the next known end, or somebody ends.
      std::vector<std::string> running;
      std::string next;
      for (const auto& [name, pod] : r.pods_) {
        if (pod.node.empty()) continue;
        running.push_back(name);
        if (pod.ends != absl::InfiniteFuture() && (next.empty() || pod.ends < r.pods_.at(next).ends)) next = name;
      }
      if (running.empty()) break;
      std::string ended = running[static_cast<std::size_t>(below(static_cast<int>(running.size())))];
      if (!next.empty() && (below(2) == 0 || r.pods_.at(ended).ends != absl::InfiniteFuture())) ended = next;
      if (r.pods_.at(ended).ends != absl::InfiniteFuture()) r.now_ = std::max(r.now_, r.pods_.at(ended).ends);
      r.w.cluster.RemovePod("default", ended);
      r.pods_.erase(ended);
    }
  }
  EXPECT_GT(gathered, 200);
  EXPECT_GT(backfilled, 200);
}

}  // namespace
}  // namespace gangway::gang
