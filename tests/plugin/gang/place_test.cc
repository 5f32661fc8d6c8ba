// Which tasks get which nodes, and what is said of those that get none.
#include "plugin/gang/place.h"

#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugin/phrases/phrases.h"
#include "tests/plugin/gang/world.h"

namespace gangway::gang {
namespace {

using model::Decision;
using model::PodFacts;
using model::PodPhase;
using model::Reason;
using model::Wants;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using testutil::AddGang;
using testutil::AddNodes;
using testutil::Cpu;
using testutil::CpuOn;
using testutil::Gang;
using testutil::Node;
using testutil::Pod;
using testutil::World;

PodFacts Running(PodFacts pod, const std::string& node) {
  pod.node = node;
  pod.phase = PodPhase::kRunning;
  return pod;
}
Wants Unknown(const std::string& field) {
  Wants wants = Cpu(1000);
  wants.not_modelled = field;
  return wants;
}
std::string ReasonOf(World& w, const std::string& gang) {
  const Decision decision = w.Of(gang);
  return decision.reason.has_value() ? model::Render(*decision.reason) : "";
}

// ---- what keeps it off nodes

TEST(PlaceTest, AFieldOfTheGangThatWeDoNotKnowKeepsItWaiting) {
  World w;
  AddNodes(w.cluster, 1);
  model::GangFacts gang = Gang("g", 3);
  gang.not_modelled = "spec.subGroupPolicy[w]";
  w.cluster.SetGang(gang);
  w.cluster.SetPod(Running(Pod("g", "w", 0, Cpu(1000)), "node-000"));
  for (int i = 1; i < 3; ++i) w.cluster.SetPod(Pod("g", "w", i, Cpu(1000)));
  EXPECT_THAT(w.Placed(), IsEmpty());
  EXPECT_EQ(ReasonOf(w, "g"),
            "waits for 2 of 3 tasks: spec.subGroupPolicy[w] asks for something this scheduler does not know");
}

TEST(PlaceTest, OfFieldsThatWeDoNotKnowTheFirstByNameIsSaid) {
  World w;
  AddNodes(w.cluster, 1);
  w.cluster.SetGang(Gang("g", 3));
  w.cluster.SetPod(Pod("g", "w", 0, Unknown("spec.b")));
  w.cluster.SetPod(Pod("g", "w", 1, Unknown("spec.a")));
  w.cluster.SetPod(Pod("g", "w", 2, Unknown("spec.c")));
  EXPECT_EQ(ReasonOf(w, "g"), "waits for 3 of 3 tasks: spec.a asks for something this scheduler does not know");
}

TEST(PlaceTest, TheFirstGatedPodByNameIsSaid) {
  World w;
  AddNodes(w.cluster, 1);
  w.cluster.SetGang(Gang("g", 3));
  for (const int i : {1, 0, 2}) {
    PodFacts gated = Pod("g", "w", i, Cpu(1000));
    gated.gated = true;
    gated.index = 2 - i;
    w.cluster.SetPod(gated);
  }
  EXPECT_EQ(ReasonOf(w, "g"), "waits for 3 of 3 tasks: pods are held by scheduling gates, the first is g-w-0");
}

TEST(PlaceTest, WhatHasANodeIsNotSaidToKeepTheGangWaiting) {
  World w;
  AddNodes(w.cluster, 1);
  w.cluster.SetGang(Gang("g", 2));
  w.cluster.SetPod(Running(Pod("g", "w", 0, Unknown("spec.a")), "node-000"));
  PodFacts gated = Pod("g", "w", 1, Cpu(1000));
  gated.gated = true;
  w.cluster.SetPod(gated);
  EXPECT_EQ(ReasonOf(w, "g"), "waits for 1 of 2 tasks: pods are held by scheduling gates, the first is g-w-1");
}

TEST(PlaceTest, AFieldWeDoNotKnowIsSaidBeforeAClaim) {
  World w;
  AddNodes(w.cluster, 1);
  w.cluster.SetGang(Gang("g", 2));
  w.cluster.SetPod(Pod("g", "w", 0, Unknown("spec.a")));
  PodFacts claims = Pod("g", "w", 1, Cpu(1000));
  claims.wants.claims = {"default/missing"};
  w.cluster.SetPod(claims);
  EXPECT_EQ(ReasonOf(w, "g"), "waits for 2 of 2 tasks: spec.a asks for something this scheduler does not know");
}

TEST(PlaceTest, TaintsAreCountedAndTheOneThatIsMostOftenThereIsSaid) {
  World w;
  for (const char* name : {"a", "b", "c"}) {
    model::NodeFacts node = Node(name);
    node.taints = {{name == std::string("a") ? "rare" : "often", "", model::TaintEffect::kNoSchedule}};
    w.cluster.SetNode(node);
  }
  AddGang(w.cluster, "g", 1, 1, 1000);
  const Decision decision = w.Of("g");
  ASSERT_EQ(decision.reason->roles.size(), 1u);
  EXPECT_THAT(
      decision.reason->roles[0].hindrances,
      ElementsAre(model::Hindrance{"taints", 3, phrases::kTainted(3), {phrases::kWith, std::string("often")}, {}}));
}

TEST(PlaceTest, APortThatIsTakenIsCounted) {
  World w;
  AddNodes(w.cluster, 1);
  Wants wants = Cpu(1000);
  wants.host_ports = {{"TCP", "", 8080}};
  w.cluster.SetPod(Running(Pod("", "web", 0, wants), "node-000"));
  w.cluster.SetGang(Gang("g", 1));
  w.cluster.SetPod(Pod("g", "w", 0, wants));
  EXPECT_THAT(w.Placed(), IsEmpty());
  EXPECT_EQ(w.Of("g").reason->roles.at(0).HinderedBy("ports"), 1);
}

// kubernetes: HostPortInfo: only 0.0.0.0 and none are every address.
TEST(PlaceTest, APortOfOneAddressTakesNoOther) {
  World w;
  AddNodes(w.cluster, 1);
  Wants wants = Cpu(1000);
  wants.host_ports = {{"TCP", "127.0.0.1", 8080}};
  w.cluster.SetPod(Running(Pod("", "web", 0, wants), "node-000"));
  w.cluster.SetGang(Gang("g", 1));
  for (const auto& [ip, placed] : {std::pair("::", 1u), std::pair("10.0.0.1", 1u), std::pair("127.0.0.1", 0u),
                                   std::pair("0.0.0.0", 0u), std::pair("", 0u)}) {
    wants.host_ports[0].ip = ip;
    w.cluster.SetPod(Pod("g", "w", 0, wants));
    EXPECT_EQ(w.Placed().size(), placed) << ip;
  }
}

TEST(PlaceTest, TheResourceThatIsLackingIsSaid) {
  World w;
  AddNodes(w.cluster, 1);
  w.cluster.SetGang(Gang("g", 3));
  for (int i = 0; i < 3; ++i) {
    Wants wants = Cpu(1000);
    wants.requests[1].second = 30 * testutil::kGi;
    w.cluster.SetPod(Pod("g", "w", i, wants));
  }
  const model::RoleReason role = w.Of("g").reason->roles.at(0);
  EXPECT_THAT(role.lacks, ElementsAre(model::Lack{"memory", 30 * testutil::kGi, 4 * testutil::kGi, 1}));
  w.cluster.SetGang(Gang("halves", 2));  // 16 cpu are enough for both, 64Gi are not
  for (int i = 0; i < 2; ++i) {
    Wants wants = Cpu(8000);
    wants.requests[1].second = 40 * testutil::kGi;
    w.cluster.SetPod(Pod("halves", "w", i, wants));
  }
  EXPECT_THAT(w.Of("halves").reason->roles.at(0).lacks,
              ElementsAre(model::Lack{"memory", 40 * testutil::kGi, 24 * testutil::kGi, 1}));
  AddGang(w.cluster, "huge", 1, 1, 99'000);
  EXPECT_THAT(w.Of("huge").reason->roles.at(0).lacks, ElementsAre(model::Lack{"cpu", 99'000, 16'000, 1}));
}

TEST(PlaceTest, RolesThatLackNodesAreSaidByName) {
  World w;
  AddNodes(w.cluster, 1);
  w.cluster.SetGang(Gang("g", 2));
  w.cluster.SetPod(Pod("g", "b", 0, Cpu(98'000)));
  w.cluster.SetPod(Pod("g", "a", 1, Cpu(99'000)));
  const Decision decision = w.Of("g");
  ASSERT_EQ(decision.reason->roles.size(), 2u);
  EXPECT_EQ(decision.reason->roles[0].role, "a");
}

TEST(PlaceTest, AGatedPodWithAFieldWeDoNotKnowIsGated) {
  World w;
  AddNodes(w.cluster, 1);
  w.cluster.SetGang(Gang("g", 1));
  PodFacts pod = Pod("g", "w", 0, Unknown("spec.a"));
  pod.gated = true;
  w.cluster.SetPod(pod);
  EXPECT_EQ(w.Of("g").reason->kind, Reason::Kind::kGated);
}

TEST(PlaceTest, AGangWhoseBindingWasRefusedRests) {
  World w;
  AddNodes(w.cluster, 1);
  AddGang(w.cluster, "g", 1, 1, 1000);
  w.cluster.SetHeldBack(w.cluster.FindGang("default", "g"), "no");
  EXPECT_THAT(w.Placed(), IsEmpty());
  EXPECT_EQ(w.Of("g").reason->kind, Reason::Kind::kBindFailed);
}

TEST(PlaceTest, ARoleThatHasTooFewPodsKeepsTheGangWaiting) {
  World w;
  AddNodes(w.cluster, 1);
  model::GangFacts gang = Gang("g", 2);
  gang.min_task_member = {{"ps", 1}, {"worker", 1}};
  w.cluster.SetGang(gang);
  for (int i = 0; i < 2; ++i) w.cluster.SetPod(Pod("g", "ps", i, Cpu(1000)));
  EXPECT_THAT(w.Placed(), IsEmpty());
  const Decision decision = w.Of("g");
  EXPECT_EQ(decision.reason->kind, Reason::Kind::kTooFewOfRole);
  EXPECT_EQ(decision.reason->subject.English(), "worker");
  EXPECT_EQ(decision.reason->missing, 1);
  EXPECT_EQ(decision.reason->existing, 0);
}

// As many pods as the minimum run, but not those that the roles need.
TEST(PlaceTest, AGangThatLacksARoleIsShortOfItsMinimum) {
  for (const bool whole : {false, true}) {
    World w;
    AddNodes(w.cluster, 1);
    model::GangFacts gang = Gang("g", 2);
    gang.min_task_member = {{"ps", 1}, {"worker", 1}};
    w.cluster.SetGang(gang);
    w.cluster.SetPod(Running(Pod("g", "ps", 0, Cpu(1000)), "node-000"));
    w.cluster.SetPod(Running(Pod("g", whole ? "worker" : "ps", 1, Cpu(1000)), "node-000"));
    w.cluster.SetPod(Pod("g", "worker", 2, Cpu(99'000)));
    EXPECT_EQ(w.Of("g").short_of_minimum, !whole);
  }
}

// ---- which of them

// Each would fit alone.
TEST(PlaceTest, OfShapesThatDoNotFitTogetherThoseThatDoAreCounted) {
  World w;
  AddNodes(w.cluster, 1);
  w.cluster.SetGang(Gang("g", 4));
  w.cluster.SetPod(Pod("g", "x", 0, Cpu(10'000)));
  for (int i = 1; i < 4; ++i) w.cluster.SetPod(Pod("g", "y", i, Cpu(3000)));
  const Decision decision = w.Of("g");
  EXPECT_EQ(decision.would_fit.size(), 3u);
  EXPECT_EQ(decision.reason->missing, 1);
  EXPECT_EQ(decision.reason->existing, 3);
  ASSERT_EQ(decision.reason->roles.size(), 1u);
  EXPECT_EQ(decision.reason->roles[0].role, "y");
}

// Without the search: whoever has fewer places goes first, whatever else he asks for.
TEST(PlaceTest, TheHardestShapeIsPlacedFirst) {
  for (const auto& [easy, hard] : {std::pair(2000, 3000), std::pair(2500, 2000)}) {
    World w;
    w.policy.search_budget = 0;
    model::NodeFacts small = Node("small", 4);
    small.labels = {{"disk", "ssd"}};
    w.cluster.SetNode(small);
    w.cluster.SetNode(Node("large", 8));
    w.cluster.SetGang(Gang("g", 2));
    w.cluster.SetPod(Pod("g", "a", 0, Cpu(easy)));  // the small one would be fuller with it
    w.cluster.SetPod(Pod("g", "b", 0, CpuOn(hard, "disk", "ssd")));
    EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-a-0", "large"), Pair("g-b-0", "small"))) << hard;
  }
}

TEST(PlaceTest, WhenTheFirstDoNotFitOthersMakeTheMinimum) {
  World w;
  AddNodes(w.cluster, 1);
  w.cluster.SetGang(Gang("g", 2));
  w.cluster.SetPod(Running(Pod("g", "w", 0, Cpu(1000)), "node-000"));
  w.cluster.SetPod(Pod("g", "w", 1, Cpu(99'000)));
  w.cluster.SetPod(Pod("g", "w", 2, Cpu(1000)));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-2", "node-000")));
}

// Disk and pod slots would outvote what a node is bought for.
TEST(PlaceTest, TheNodeThatIsFullestByCpuAndMemoryIsFilledFirst) {
  World w;
  model::NodeFacts disk = Node("disk"), cpu = Node("few-cpus", 8);
  disk.allocatable[2].second = 10 * testutil::kGi;
  w.cluster.SetNode(disk);
  w.cluster.SetNode(cpu);
  w.cluster.SetGang(Gang("g", 1));
  Wants wants = Cpu(1000);
  wants.requests.emplace_back("ephemeral-storage", 5 * testutil::kGi);
  w.cluster.SetPod(Pod("g", "w", 0, wants));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "few-cpus")));
}

// What it does not ask for counts, too: GPUs are left to those that do.
TEST(PlaceTest, APodWithoutGpusGoesWhereNoneAreLeft) {
  World w;
  for (const char* const name : {"free", "used"}) {
    model::NodeFacts node = Node(name);
    node.allocatable.emplace_back("nvidia.com/gpu", 8);
    w.cluster.SetNode(node);
  }
  Wants gpus = Cpu(1000);
  gpus.requests.emplace_back("nvidia.com/gpu", 8);
  w.cluster.SetPod(Running(Pod("a", "w", 0, gpus), "used"));
  w.cluster.SetPod(Running(Pod("b", "w", 0, Cpu(3000)), "free"));  // by cpu and memory the fuller
  w.cluster.SetGang(Gang("g", 1));
  w.cluster.SetPod(Pod("g", "w", 0, Cpu(1000)));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "used")));
  w.cluster.SetNode(Node("without", 64));
  w.cluster.SetPod(Pod("g", "w", 0, Cpu(14'000)));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "used")));
  w.cluster.RemovePod("default", "a-w-0");
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-0", "without")));
}

TEST(PlaceTest, SubGroupsOfOneTaskAreNoneOfAnother) {
  World w;
  AddNodes(w.cluster, 1);
  model::GangFacts gang = Gang("g", 2);
  gang.sub_groups = {testutil::SubGroupsOfTask("a", 1, 1), testutil::SubGroupsOfTask("b", 1, 1)};
  w.cluster.SetGang(gang);
  for (int i = 0; i < 2; ++i) {
    PodFacts pod = Pod("g", "a", i, Cpu(1000));
    testutil::SetPartition(pod, std::to_string(i));
    w.cluster.SetPod(i == 0 ? Running(pod, "node-000") : pod);
  }
  EXPECT_THAT(w.Placed(), IsEmpty());
  EXPECT_EQ(w.Of("g").reason->kind, Reason::Kind::kTooFewSubGroups);
  EXPECT_EQ(w.Of("g").reason->subject.English(), "b");
}

TEST(PlaceTest, APodOfNoSubGroupIsPlacedAlone) {
  World w;
  AddNodes(w.cluster, 1);
  model::GangFacts gang = Gang("g", 1);
  gang.sub_groups = {testutil::SubGroupsOfTask("w", 2, 0)};
  w.cluster.SetGang(gang);
  w.cluster.SetPod(Pod("g", "w", 0, Cpu(1000)));
  EXPECT_EQ(w.Placed().size(), 1u);
}

TEST(PlaceTest, WhatAHalfSubGroupGivesBackIsTakenByTheNext) {
  World w;
  AddNodes(w.cluster, 1, 3);
  model::GangFacts gang = Gang("g", 0);
  gang.sub_groups = {testutil::SubGroupsOfTask("w", 2, 0)};
  w.cluster.SetGang(gang);
  for (int i = 0; i < 3; ++i) {
    PodFacts pod = Pod("g", "w", i, Cpu(2000));
    if (i < 2) testutil::SetPartition(pod, "0");
    w.cluster.SetPod(pod);
  }
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-w-2", "node-000")));
}

TEST(PlaceTest, AClaimThatAGangDidNotGetIsFreeForTheNext) {
  World w;
  AddNodes(w.cluster, 1);
  model::ClaimFacts claim;
  claim.ns = "default";
  claim.name = "data";
  claim.phase = model::ClaimPhase::kBound;
  claim.volume = "pv";
  claim.one_pod = true;
  w.cluster.SetClaim(claim);
  model::VolumeFacts volume;
  volume.name = "pv";
  w.cluster.SetVolume(volume);
  for (const char* name : {"a", "b"}) {
    w.cluster.SetGang(Gang(name, 1));
    PodFacts pod = Pod(name, "w", 0, Cpu(1000));
    pod.wants.claims = {"default/data"};
    w.cluster.SetPod(pod);
  }
  w.cluster.SetGang(Gang("a", 2));
  w.cluster.SetPod(Pod("a", "x", 0, Cpu(16'000)));  // with the other it does not fit
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("b-w-0", "node-000")));
}

TEST(PlaceTest, WhatAGangDidNotGetOfItsQueueIsThereForTheNext) {
  World w;
  AddNodes(w.cluster, 1);
  model::QueueFacts queue = testutil::Queue("default");
  queue.capability = {{"cpu", 20'000}};
  w.cluster.SetQueue(queue);
  w.cluster.SetGang(Gang("a", 2));
  w.cluster.SetPod(Pod("a", "x", 0, Cpu(10'000)));
  w.cluster.SetPod(Pod("a", "y", 1, Cpu(9000)));
  AddGang(w.cluster, "b", 1, 1, 11'000);
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("b-w-0", "node-000")));
}

// ---- the search

// A few nodes and tasks, some of which can stand on some of the nodes only.
struct Puzzle {
  explicit Puzzle(unsigned seed) : engine(seed) {
    const int nodes = 2 + Below(4);
    for (int i = 0; i < nodes; ++i) {
      const bool as_before = i > 0 && Below(2) == 0;
      cpus.push_back(as_before ? cpus.back() : 1 + Below(6));
      labels.push_back(as_before ? labels.back() : Below(2));
    }
    const int shapes = 2 + Below(2);
    for (int s = 0; s < shapes; ++s) {
      const int cpu = 1 + Below(4), label = Below(3) == 0 ? Below(2) : -1;
      const bool port = Below(6) == 0;
      const int count = 1 + Below(3);
      for (int i = 0; i < count; ++i) tasks.push_back({s, cpu, label, port});
    }
  }
  int Below(int limit) { return static_cast<int>(engine() % static_cast<unsigned>(limit)); }

  bool Solvable(std::size_t from, std::vector<int> left, std::vector<std::set<int>> ports) const {
    if (from == tasks.size()) return true;
    const Task& task = tasks[from];
    for (std::size_t n = 0; n < left.size(); ++n) {
      if (left[n] < task.cpu || (task.label >= 0 && labels[n] != task.label) ||
          (task.port && ports[n].contains(task.shape)))
        continue;
      std::vector<int> then = left;
      then[n] -= task.cpu;
      std::vector<std::set<int>> taken = ports;
      if (task.port) taken[n].insert(task.shape);
      if (Solvable(from + 1, std::move(then), std::move(taken))) return true;
    }
    return false;
  }
  void Fill(World& w) const {
    for (std::size_t n = 0; n < cpus.size(); ++n) {
      model::NodeFacts node = Node("n" + std::to_string(n), cpus[n]);
      node.labels = {{"label", std::to_string(labels[n])}};
      w.cluster.SetNode(node);
    }
    w.cluster.SetGang(Gang("g", static_cast<int>(tasks.size())));
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      Wants wants = Cpu(1000 * tasks[i].cpu);
      if (tasks[i].label >= 0) wants.selector = {{"label", std::to_string(tasks[i].label)}};
      if (tasks[i].port) wants.host_ports = {{"TCP", "", 8000 + tasks[i].shape}};
      w.cluster.SetPod(Pod("g", "s" + std::to_string(tasks[i].shape), static_cast<int>(i), wants));
    }
  }

  struct Task {
    int shape, cpu, label;
    bool port;
  };
  std::mt19937 engine;
  std::vector<int> cpus, labels;
  std::vector<Task> tasks;
};

TEST(PlaceTest, AGangIsPlacedExactlyWhenThereIsAWay) {
  int solved = 0, unsolved = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    const Puzzle puzzle(seed);
    const bool solvable = puzzle.Solvable(0, puzzle.cpus, std::vector<std::set<int>>(puzzle.cpus.size()));
    World w;
    puzzle.Fill(w);
    const std::size_t placed = w.Placed().size();
    ASSERT_EQ(placed, solvable ? puzzle.tasks.size() : 0) << "seed " << seed;
    ++(solvable ? solved : unsolved);
  }
  EXPECT_GT(solved, 500);
  EXPECT_GT(unsolved, 500);
}

TEST(PlaceTest, ASearchThatFindsNothingEndsWithItsBudget) {
  World w;
  for (int i = 0; i < 20; ++i) w.cluster.SetNode(Node("n" + std::to_string(i), 100 + i));
  w.cluster.SetGang(Gang("g", 60));
  for (int i = 0; i < 60; ++i) w.cluster.SetPod(Pod("g", i < 30 ? "x" : "y", i, Cpu(i < 30 ? 50'000 : 26'000)));
  w.policy.search_budget = 2000;
  EXPECT_THAT(w.Placed(), IsEmpty());
}

// Five pods of a go to any five of nine nodes, but b needs the first of them. The eight others are alike: which of them
// a takes is not tried.
TEST(PlaceTest, NodesThatAreAlikeAreTriedOnce) {
  World w;
  model::NodeFacts special = Node("a-special", 4);
  special.labels.emplace_back("disk", "ssd");
  w.cluster.SetNode(special);
  AddNodes(w.cluster, 8, 4);
  w.cluster.SetGang(Gang("g", 6));
  for (int i = 0; i < 5; ++i) w.cluster.SetPod(Pod("g", "a", i, Cpu(3000)));
  w.cluster.SetPod(Pod("g", "b", 0, CpuOn(2000, "disk", "ssd")));
  w.policy.search_budget = 100;
  EXPECT_EQ(w.Placed().size(), 6u);
}

// Each of the two takes one pod of a, yet only the first has the memory that b needs.
TEST(PlaceTest, NodesThatTakeAsManyAreNotAlikeForThat) {
  World w;
  model::NodeFacts first = Node("n1", 6), second = Node("n2", 6);
  second.allocatable[1].second = 20 * testutil::kGi;
  w.cluster.SetNode(first);
  w.cluster.SetNode(second);
  w.cluster.SetGang(Gang("g", 2));
  w.cluster.SetPod(Pod("g", "a", 0, Cpu(5000)));
  Wants wants = Cpu(2000);
  wants.requests[1].second = 21 * testutil::kGi;
  w.cluster.SetPod(Pod("g", "b", 0, wants));
  EXPECT_THAT(w.Placed(), ElementsAre(Pair("g-a-0", "n2"), Pair("g-b-0", "n1")));
}

// ---- what a scratch keeps

TEST(PlaceTest, AScratchIsOfOneCluster) {
  World large, small;
  AddNodes(large.cluster, 1);
  AddNodes(small.cluster, 1, 1);
  for (World* w : {&large, &small}) AddGang(w->cluster, "g", 1, 1, 2000);
  Scratch scratch;
  const auto placed = [&](const World& w) {
    return Schedule(w.cluster, w.policy, testutil::At(10), scratch).at(0).placements.size();
  };
  EXPECT_EQ(placed(large), 1u);
  EXPECT_EQ(placed(small), 0u);
  EXPECT_EQ(placed(large), 1u);
}

TEST(PlaceTest, AScratchFollowsManyChanges) {
  World w;
  AddGang(w.cluster, "g", 1, 1, 2000);
  Scratch scratch;
  for (int i = 0; i < 9000; ++i) {
    w.cluster.SetNode(Node("n", i % 2 == 0 ? 1 : 4));
    if (i % 3 != 0) continue;
    ASSERT_EQ(Schedule(w.cluster, w.policy, testutil::At(10), scratch).at(0).placements.size(), i % 2 == 0 ? 0u : 1u)
        << i;
  }
}

// ---- gangs of any size

// A node each; with one node less none of them has one.
TEST(PlaceTest, TenThousandPodsAreOneGang) {
  constexpr int kPods = 10'000;
  World w;
  for (int i = 0; i < kPods - 1; ++i) w.cluster.SetNode(Node(absl::StrCat("n", i), 1));
  AddGang(w.cluster, "large", kPods, kPods, 1000);
  const Decision waits = w.Of("large");
  EXPECT_THAT(waits.placements, IsEmpty());
  EXPECT_EQ(waits.reason->kind, Reason::Kind::kNoRoom);
  EXPECT_EQ(waits.reason->missing, 1);
  w.cluster.SetNode(Node("last", 1));
  const Decision placed = w.Of("large");
  ASSERT_EQ(placed.placements.size(), static_cast<std::size_t>(kPods));
  std::set<model::Row> rows;
  for (const model::Placement& each : placed.placements) rows.insert(each.row);
  EXPECT_EQ(rows.size(), static_cast<std::size_t>(kPods));
}

}  // namespace
}  // namespace gangway::gang
