// Invariants over many random clusters. A failure names the seed.
#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "plugin/gang/alike_minimum.h"
#include "plugin/gang/place.h"
#include "plugin/gang/schedule.h"
#include "tests/plugin/gang/carried_out.h"
#include "tests/plugin/gang/dice.h"
#include "tests/plugin/gang/judge.h"
#include "tests/plugin/gang/random_root.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::gang {
namespace {

using model::Cluster;
using model::Decision;
using model::Decisions;
using model::Dim;
using model::Row;
using model::TaskStatus;
using testutil::Cpu;
using testutil::Events;
using testutil::Gang;
using testutil::Node;
using testutil::Pod;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int Below(int limit) { return static_cast<int>(engine_() % static_cast<unsigned>(limit)); }
  bool Chance(int percent) { return Below(100) < percent; }
  std::mt19937& engine() { return engine_; }

 private:
  std::mt19937 engine_;
};

model::NodeFacts RandomNode(Random& random, int number) {
  model::NodeFacts node = Node(absl::StrCat("n", number), 1 + random.Below(16));
  node.labels.emplace_back("zone", random.Chance(50) ? "a" : "b");
  if (random.Chance(15)) node.taints = {{"dedicated", "x", model::TaintEffect::kNoSchedule}};
  if (random.Chance(10)) node.unschedulable = true;
  if (random.Chance(20)) node.allocatable.emplace_back("nvidia.com/gpu", random.Below(9));
  return node;
}

// Pods of the namespace, or of a team's.
model::PodTermFacts RandomPodTerm(Random& random) {
  model::PodTermFacts term;
  term.topology_key = random.Chance(50) ? "zone" : "kubernetes.io/hostname";
  if (random.Chance(50)) term.selector.namespaces = {"default"};
  if (term.selector.namespaces.empty()) term.selector.namespace_selector = {{"team", model::Op::kIn, {"blue"}}};
  if (random.Chance(80)) term.selector.pods = {{"app", model::Op::kIn, {random.Chance(50) ? "r0" : "r1"}}};
  return term;
}

void AddTermsAboutPods(Random& random, model::Wants& wants) {
  if (random.Chance(8)) wants.pod_affinity = {RandomPodTerm(random)};
  if (random.Chance(2)) wants.pod_affinity.push_back(RandomPodTerm(random));
  if (random.Chance(8)) wants.pod_anti_affinity = {RandomPodTerm(random)};
  if (random.Chance(8)) wants.pod_preferences = {{random.Chance(50) ? 10 : -10, RandomPodTerm(random)}};
  if (!random.Chance(10)) return;
  model::SpreadFacts spread;
  spread.term = RandomPodTerm(random);
  spread.term.selector.namespaces = {"default"};
  spread.term.selector.namespace_selector.reset();
  spread.max_skew = 1 + random.Below(2);
  spread.min_domains = 1 + random.Below(3);
  spread.required = random.Chance(80);
  spread.honors_affinity = random.Chance(70);
  spread.honors_taints = random.Chance(30);
  wants.spreads = {spread};
}

model::Wants RandomWants(Random& random) {
  model::Wants wants = Cpu(500 * (1 + random.Below(12)));
  if (random.Chance(20)) wants.selector = {{"zone", random.Chance(50) ? "a" : "b"}};
  if (random.Chance(15)) {
    const model::Op op = random.Chance(50) ? model::Op::kIn : model::Op::kNotIn;
    wants.has_affinity = true;
    wants.affinity = {{{"zone", op, {random.Chance(50) ? "a" : "b"}}}, {{"", model::Op::kIn, {"n0"}}}};
  }
  if (random.Chance(15)) wants.tolerations = {{"dedicated", "", "", true}};
  if (random.Chance(10)) wants.requests.emplace_back("nvidia.com/gpu", 1 + random.Below(4));
  if (random.Chance(8)) wants.host_ports = {{"TCP", "", 8080 + random.Below(2)}};
  if (random.Chance(35)) wants.claims = {absl::StrCat("default/c", random.Below(3))};
  AddTermsAboutPods(random, wants);
  return wants;
}

model::ClaimFacts RandomClaim(Random& random) {
  model::ClaimFacts claim;
  claim.ns = "default";
  claim.name = absl::StrCat("c", random.Below(3));
  claim.phase = random.Chance(70) ? model::ClaimPhase::kBound : model::ClaimPhase::kPending;
  if (claim.phase == model::ClaimPhase::kBound || random.Chance(20)) claim.volume = absl::StrCat("v", random.Below(3));
  claim.storage_class = random.Chance(50) ? "disk" : "net";
  claim.bytes = random.Below(3);
  claim.ending = random.Chance(5);
  claim.one_pod = random.Chance(25);
  return claim;
}

model::VolumeFacts RandomVolume(Random& random) {
  model::VolumeFacts volume;
  volume.name = absl::StrCat("v", random.Below(3));
  if (random.Chance(70)) volume.selectors = {{{{"zone", model::Op::kIn, {random.Chance(50) ? "a" : "b"}}}}};
  volume.available = random.Chance(80);
  volume.storage_class = random.Chance(70) ? "disk" : "net";
  volume.bytes = random.Below(3);
  return volume;
}

// "disk" waits for a pod, "net" does not.
model::StorageClassFacts RandomClass(Random& random, const std::string& name) {
  model::StorageClassFacts made{name, name == "disk", random.Chance(30), {}};
  if (random.Chance(50)) made.topologies = {{{"zone", model::Op::kIn, {"a"}}}};
  return made;
}

// On a node, and keeping others away from it or from its zone.
model::PodFacts RandomStranger(Random& random, int nodes) {
  model::PodFacts pod = Pod("", "x", random.Below(3), Cpu(0));
  pod.ours = false;
  pod.node = absl::StrCat("n", random.Below(nodes));
  pod.phase = model::PodPhase::kRunning;
  pod.wants.pod_anti_affinity = {RandomPodTerm(random)};
  pod.labels = {{"app", random.Chance(50) ? "r0" : "r1"}};
  return pod;
}

// Of those with one key the first.
template <class T, class F>
void AddUnlessThere(std::vector<T>& list, T item, F key) {
  if (std::none_of(list.begin(), list.end(), [&](const T& other) { return key(other) == key(item); }))
    list.push_back(std::move(item));
}

// Two racks, by pattern and by label, and what is over them.
std::vector<model::HyperNodeFacts> RandomHyperNodes(Random& random) {
  using By = model::HyperNodeFacts::By;
  model::HyperNodeFacts left, right, spine;
  left.name = "left";
  left.tier = 1;
  left.members = {{true, By::kPattern, random.Chance(50) ? "^n[0-2]$" : "[0-4]", {}}};
  right.name = "right";
  right.tier = random.Chance(80) ? 1 : 2;
  right.members = {{true, By::kLabels, "", {{"zone", model::Op::kIn, {"b"}}}}, {true, By::kName, "n5", {}}};
  spine.name = "spine";
  spine.tier = 2;
  spine.tier_name = "top";
  spine.members = {{false, By::kPattern, "t$", {}}, {false, By::kName, "spine", {}}};
  std::vector<model::HyperNodeFacts> hyper_nodes;
  for (const auto& each : {left, right, spine}) {
    if (random.Chance(85)) hyper_nodes.push_back(each);
  }
  return hyper_nodes;
}

model::TopologyFacts RandomTopology(Random& random) {
  model::TopologyFacts topology{random.Chance(80), std::nullopt, ""};
  if (random.Chance(80)) topology.tier = 1 + random.Below(2);
  if (!topology.tier.has_value()) topology.tier_name = "top";
  return topology;
}

// As Jobs have them, and others behind them or alone.
std::vector<model::SubGroupFacts> RandomPolicies(Random& random) {
  std::vector<model::SubGroupFacts> policies;
  if (random.Chance(60)) policies.push_back(testutil::SubGroupsOfTask("r0", 1 + random.Below(3), random.Below(3)));
  if (!policies.empty() && random.Chance(60)) return policies;
  model::SubGroupFacts& other = policies.emplace_back();
  other.name = "other";
  if (random.Chance(50)) other.selector = {{"app", model::Op::kExists, {}}};
  if (random.Chance(70)) other.keys.emplace_back("volcano.sh/partition-id");
  if (random.Chance(30)) other.keys.emplace_back("app");
  other.size = 1 + random.Below(3);
  other.min_groups = random.Below(3);
  return policies;
}

Events RandomEvents(Random& random) {
  Events events;
  const int nodes = 1 + random.Below(8);
  for (int i = 0; i < nodes; ++i) events.nodes.push_back(RandomNode(random, i));
  const std::string top = testutil::RandomRoot(random, events.queues);
  for (const char* name : {"default", "other", "above"}) {
    model::QueueFacts queue = testutil::Queue(name);
    queue.parent = random.Chance(90) ? top : "";
    if (name != std::string("above") && random.Chance(30)) queue.parent = "above";
    queue.weight = 1 + random.Below(3);
    if (random.Chance(20)) queue.guarantee = {{"cpu", 1000 * random.Below(10)}};
    if (random.Chance(20)) queue.capability = {{"cpu", 1000 * (1 + random.Below(40))}};
    events.queues.push_back(queue);
  }
  const int gangs = 1 + random.Below(5);
  for (int g = 0; g < gangs; ++g) {
    const std::string name = absl::StrCat("g", g);
    const int tasks = 1 + random.Below(8);
    model::GangFacts gang = Gang(name, random.Below(tasks + 2));
    gang.created = testutil::At(random.Below(3));
    gang.queue = random.Chance(70) ? "default" : "other";
    if (random.Chance(30)) gang.phase = model::GangPhase::kPending;
    if (random.Chance(50)) {
      gang.has_min_resources = true;
      gang.min_resources = {{"cpu", 1000 * random.Below(30)}};
    }
    std::vector<model::Wants> shapes = {RandomWants(random), RandomWants(random)};
    if (random.Chance(30)) gang.min_task_member = {{"r0", random.Below(3)}, {"r1", random.Below(3)}};
    if (random.Chance(30)) gang.sub_groups = RandomPolicies(random);
    if (random.Chance(20)) gang.topology = RandomTopology(random);
    for (model::SubGroupFacts& policy : gang.sub_groups) {
      if (random.Chance(60)) policy.topology = RandomTopology(random);
    }
    for (int i = 0; i < tasks; ++i) {
      const int role = random.Below(2);
      model::PodFacts pod = Pod(name, absl::StrCat("r", role), i, shapes[static_cast<std::size_t>(role)]);
      if (random.Chance(90)) pod.labels = {{"app", pod.role}};
      if (!gang.sub_groups.empty() && random.Chance(90)) testutil::SetPartition(pod, absl::StrCat(random.Below(3)));
      if (random.Chance(15)) {
        pod.node = absl::StrCat("n", random.Below(nodes));
        pod.phase = random.Chance(30) ? model::PodPhase::kSucceeded : model::PodPhase::kRunning;
        pod.terminating = random.Chance(20);
      }
      pod.gated = pod.node.empty() && random.Chance(5);
      events.pods.push_back(pod);
    }
    events.gangs.push_back(gang);
  }
  const auto by_name = [](const auto& facts) { return facts.name; };
  for (int i = 0; i < 3; ++i) {
    if (random.Chance(40)) AddUnlessThere(events.pods, RandomStranger(random, nodes), by_name);
    AddUnlessThere(events.claims, RandomClaim(random), by_name);
    AddUnlessThere(events.volumes, RandomVolume(random), by_name);
  }
  if (random.Chance(50)) events.namespaces.push_back({"default", {{"team", random.Chance(50) ? "blue" : "red"}}});
  events.hyper_nodes = RandomHyperNodes(random);
  for (const char* const name : {"disk", "net"}) events.classes.push_back(RandomClass(random, name));
  return events;
}

void Feed(Cluster& cluster, const Events& events, Random* shuffle) {
  std::vector<std::function<void()>> calls;
  for (const auto& node : events.nodes) calls.push_back([&] { cluster.SetNode(node); });
  for (const auto& gang : events.gangs) calls.push_back([&] { cluster.SetGang(gang); });
  for (const auto& pod : events.pods) calls.push_back([&] { cluster.SetPod(pod); });
  for (const auto& queue : events.queues) calls.push_back([&] { cluster.SetQueue(queue); });
  for (const auto& claim : events.claims) calls.push_back([&] { cluster.SetClaim(claim); });
  for (const auto& volume : events.volumes) calls.push_back([&] { cluster.SetVolume(volume); });
  for (const auto& each : events.classes) calls.push_back([&] { cluster.SetStorageClass(each); });
  for (const auto& each : events.hyper_nodes) calls.push_back([&] { cluster.SetHyperNode(each); });
  for (const auto& ns : events.namespaces) calls.push_back([&] { cluster.SetNamespace(ns); });
  if (shuffle != nullptr) std::shuffle(calls.begin(), calls.end(), shuffle->engine());
  for (const auto& call : calls) call();
}

Decisions Decide(const Cluster& cluster) {
  Scratch scratch;
  return Schedule(cluster, Policy(), testutil::At(100), scratch);
}

void Apply(Cluster& cluster, const Decisions& decisions) {
  for (const Decision& decision : decisions) {
    if (decision.admit) cluster.SetAdmitted(decision.gang, true);
    for (const model::Placement& p : decision.placements) cluster.Assume(p.task, p.row);
  }
}

// In words that do not depend on ids.
std::vector<std::string> Told(const Cluster& cluster, const Decisions& decisions) {
  std::vector<std::string> told;
  for (const Decision& decision : decisions) {
    std::string line = absl::StrCat(cluster.gang(decision.gang).name, decision.admit ? " admitted" : "");
    for (const model::Placement& p : decision.placements) {
      absl::StrAppend(&line, " ", cluster.task(p.task).name.view(), "->", cluster.node_name(p.row));
    }
    if (decision.reason.has_value()) absl::StrAppend(&line, " ", model::Render(*decision.reason));
    told.push_back(line);
  }
  return told;
}

// What is wrong with what is decided of `seen`, judged by what is true.
std::vector<std::string> WrongWith(const Events& seen, const Events& is) {
  Cluster cluster;
  Feed(cluster, seen, nullptr);
  const Decisions decisions = Decide(cluster);
  testutil::Placed placed;
  std::vector<std::string> let_in;
  for (const Decision& decision : decisions) {
    if (decision.admit) let_in.push_back(cluster.gang(decision.gang).name);
    for (const model::Placement& p : decision.placements)
      placed.emplace_back(cluster.task(p.task).name, cluster.node_name(p.row));
  }
  return testutil::Judge(is, placed, let_in);
}

TEST(ScheduleProperty, NothingIsPlacedWhereItMayNotBe) {
  std::size_t placed = 0;
  for (unsigned seed = 0; seed < 10'000; ++seed) {
    Random random(seed);
    const Events events = RandomEvents(random);
    ASSERT_THAT(WrongWith(events, events), ::testing::IsEmpty()) << "seed " << seed;
    Cluster cluster;
    Feed(cluster, events, nullptr);
    for (const Decision& decision : Decide(cluster)) placed += decision.placements.size();
  }
  EXPECT_GT(placed, 3000u);
}

// One thing that the scheduler does not see, and what the judge calls it.
struct Blindness {
  const char* rule;
  void (*hide)(Events&);
};
class BlindnessTest : public ::testing::TestWithParam<Blindness> {};

TEST_P(BlindnessTest, IsNamed) {
  constexpr int kEnough = 6;
  int named = 0;
  for (unsigned seed = 0; seed < 1000 && named < kEnough; ++seed) {
    Random random(seed);
    const Events is = RandomEvents(random);
    Events seen = is;
    GetParam().hide(seen);
    for (const std::string& wrong : WrongWith(seen, is))
      named += wrong.starts_with(std::string(GetParam().rule) + ":") ? 1 : 0;
  }
  EXPECT_GE(named, kEnough);
}

template <class F>
void EachOf(Events& events, F change) {
  for (model::PodFacts& pod : events.pods) change(pod);
}

INSTANTIATE_TEST_SUITE_P(
    All, BlindnessTest,
    ::testing::Values(
        Blindness{"cordoned",
                  [](Events& e) {
                    for (auto& node : e.nodes) node.unschedulable = false;
                  }},
        Blindness{"selector", [](Events& e) { EachOf(e, [](auto& pod) { pod.wants.selector.clear(); }); }},
        Blindness{"affinity",
                  [](Events& e) {
                    EachOf(e, [](auto& pod) {
                      pod.wants.has_affinity = false;
                      pod.wants.affinity.clear();
                    });
                  }},
        Blindness{"taint",
                  [](Events& e) {
                    for (auto& node : e.nodes) node.taints.clear();
                  }},
        Blindness{"port", [](Events& e) { EachOf(e, [](auto& pod) { pod.wants.host_ports.clear(); }); }},
        Blindness{"kept away",
                  [](Events& e) {
                    EachOf(e, [](auto& pod) {
                      if (!pod.node.empty()) pod.wants.pod_anti_affinity.clear();
                    });
                  }},
        Blindness{"not near", [](Events& e) { EachOf(e, [](auto& pod) { pod.wants.pod_affinity.clear(); }); }},
        Blindness{"not away",
                  [](Events& e) {
                    EachOf(e, [](auto& pod) {
                      if (pod.node.empty()) pod.wants.pod_anti_affinity.clear();
                    });
                  }},
        Blindness{"spread", [](Events& e) { EachOf(e, [](auto& pod) { pod.wants.spreads.clear(); }); }},
        Blindness{"room",
                  [](Events& e) {
                    for (auto& node : e.nodes) node.allocatable = Node("", 64).allocatable;
                  }},
        Blindness{"claim", [](Events& e) { EachOf(e, [](auto& pod) { pod.wants.claims.clear(); }); }},
        Blindness{"volume",
                  [](Events& e) {
                    for (auto& volume : e.volumes) volume.selectors.clear();
                  }},
        Blindness{"no volume",
                  [](Events& e) {
                    for (auto& each : e.classes) each.makes_volumes = true;
                  }},
        Blindness{"claim for one pod",
                  [](Events& e) {
                    for (auto& claim : e.claims) claim.one_pod = false;
                  }},
        Blindness{"topology",
                  [](Events& e) {
                    for (auto& gang : e.gangs) gang.topology.reset();
                  }},
        Blindness{"sub-group's topology",
                  [](Events& e) {
                    for (auto& gang : e.gangs) {
                      for (auto& policy : gang.sub_groups) policy.topology.reset();
                    }
                  }},
        Blindness{"not waiting", [](Events& e) { EachOf(e, [](auto& pod) { pod.gated = false; }); }},
        Blindness{"not let in",
                  [](Events& e) {
                    for (auto& gang : e.gangs) gang.phase = model::GangPhase::kInqueue;
                  }},
        Blindness{"minimum",
                  [](Events& e) {
                    for (auto& gang : e.gangs) gang.min_member = 1;
                  }},
        Blindness{"role's minimum",
                  [](Events& e) {
                    for (auto& gang : e.gangs) gang.min_task_member.clear();
                  }},
        Blindness{"sub-groups",
                  [](Events& e) {
                    for (auto& gang : e.gangs) gang.sub_groups.clear();
                  }},
        Blindness{"part of a sub-group",
                  [](Events& e) {
                    for (auto& gang : e.gangs) gang.sub_groups.clear();
                  }},
        Blindness{"capability",
                  [](Events& e) {
                    for (auto& queue : e.queues) queue.capability.clear();
                  }}),
    [](const auto& c) {
      std::string name;
      for (const char letter : std::string(c.param.rule))
        name += std::isalpha(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
      return name;
    });

// Who is placed has a reason no more, and who is not has one.
TEST(ScheduleProperty, WhoWaitsIsToldWhy) {
  for (unsigned seed = 0; seed < 10'000; ++seed) {
    Random random(seed);
    Cluster cluster;
    Feed(cluster, RandomEvents(random), nullptr);
    const Decisions decisions = Decide(cluster);
    Apply(cluster, decisions);
    for (const Decision& decision : decisions) {
      const model::Gang& gang = cluster.gang(decision.gang);
      ASSERT_TRUE(decision.short_of_minimum ? decision.placements.empty() : true) << "seed " << seed;
      ASSERT_TRUE(gang.ready() >= gang.min_member || decision.reason.has_value() || decision.admit) << "seed " << seed;
    }
  }
}

TEST(ScheduleProperty, TheOrderOfEventsDecidesNothing) {
  for (unsigned seed = 0; seed < 10'000; ++seed) {
    Random random(seed);
    const Events events = RandomEvents(random);
    Cluster plain, shuffled;
    Feed(plain, events, nullptr);
    Feed(shuffled, events, &random);
    ASSERT_EQ(Told(plain, Decide(plain)), Told(shuffled, Decide(shuffled))) << "seed " << seed;
  }
}

// What is said at a glance (alike_minimum.h) is what trying it says.
TEST(ScheduleProperty, WhoLacksRoomAtAGlanceFindsNoneWhenTried) {
  int seen = 0;
  for (unsigned seed = 0; seed < 10'000; ++seed) {
    Random random(seed);
    Events events = RandomEvents(random);
    for (model::QueueFacts& queue : events.queues) {
      queue.capability.clear();
      queue.guarantee.clear();
    }
    std::map<std::string, model::Wants> wants;  // mostly one for all pods of a gang
    for (model::GangFacts& gang : events.gangs) {
      if (random.Chance(10)) continue;
      gang.min_task_member.clear();
      gang.sub_groups.clear();
      gang.topology.reset();
    }
    for (model::PodFacts& pod : events.pods) {
      if (!random.Chance(5)) pod.wants = wants.emplace(pod.gang, pod.wants).first->second;
    }
    Cluster cluster;
    Feed(cluster, events, nullptr);
    for (const model::GangId id : cluster.waiting()) {
      const Policy policy;
      Scratch scratch;
      scratch.Begin(cluster);
      Overlay overlay(cluster);
      const std::optional<AlikeMinimum> needs = FindAlikeMinimum(overlay, cluster.gang(id));
      if (!needs.has_value() || scratch.Fit(overlay, needs->shape).copies() >= needs->count) continue;
      ++seen;
      const NoRoom told = WhyNoRoomForAlike(overlay, scratch, cluster.gang(id), *needs);
      GangPlacement placement(overlay, scratch, policy, id);
      ASSERT_FALSE(placement.PlaceMinimum()) << "seed " << seed;
      ASSERT_EQ(placement.lacking(), Lacking::kRoom) << "seed " << seed;
      const std::optional<Wanted> wanted = placement.wanted();
      ASSERT_TRUE(wanted.has_value()) << "seed " << seed;
      ASSERT_EQ(wanted->by_shape, (std::vector<std::pair<model::ShapeId, int>>{{needs->shape, needs->count}}))
          << "seed " << seed;
      Decision decision;
      placement.Finish(decision);
      ASSERT_EQ(decision.reason, told.reason) << "seed " << seed;
      ASSERT_EQ(decision.would_fit, told.would_fit) << "seed " << seed;
      ASSERT_TRUE(decision.short_of_minimum && decision.placements.empty()) << "seed " << seed;
    }
  }
  EXPECT_GT(seen, 100);
}

TEST(ScheduleProperty, ScratchIsOnlyACache) {
  for (unsigned seed = 0; seed < 10'000; ++seed) {
    Random random(seed);
    Events events = RandomEvents(random);
    Cluster cluster;
    Feed(cluster, events, nullptr);
    Scratch kept(seed % 3 == 0 ? 1 : 64);
    for (int round = 0; round < 8; ++round) {
      const Decisions with = Schedule(cluster, Policy(), testutil::At(100), kept);
      ASSERT_EQ(with, Decide(cluster)) << "seed " << seed << " round " << round;
      if (random.Chance(70)) Apply(cluster, with);
      switch (random.Below(13)) {
        case 0:
          cluster.SetNode(RandomNode(random, random.Below(30)));
          break;
        case 1:
          cluster.RemoveNode(absl::StrCat("n", random.Below(2) == 0 ? random.Below(9) : random.Below(30)));
          break;
        case 2: {
          const model::PodFacts& pod =
              events.pods[static_cast<std::size_t>(random.Below(static_cast<int>(events.pods.size())))];
          cluster.RemovePod(pod.ns, pod.name);
          break;
        }
        case 5:
          cluster.SetClaim(RandomClaim(random));
          break;
        case 6:
          cluster.SetVolume(RandomVolume(random));
          break;
        case 7:
          cluster.SetPod(RandomStranger(random, 9));
          break;
        case 10:
          for (const model::HyperNodeFacts& each : RandomHyperNodes(random)) cluster.SetHyperNode(each);
          break;
        case 11:
          cluster.RemoveHyperNode("right");
          break;
        case 9:
          cluster.SetStorageClass(RandomClass(random, "disk"));
          break;
        case 8:
          cluster.SetNamespace({"default", {{"team", random.Chance(50) ? "blue" : "red"}}});
          break;
        case 3: {
          model::PodFacts pod =
              events.pods[static_cast<std::size_t>(random.Below(static_cast<int>(events.pods.size())))];
          pod.uid += absl::StrCat("-", round);
          pod.wants = RandomWants(random);
          cluster.SetPod(pod);
          break;
        }
        case 4: {
          const auto& pod = events.pods.front();
          const model::TaskId task = cluster.FindTask(pod.ns, pod.name);
          if (task != model::kNone) cluster.Forget(task);
          break;
        }
        default:
          testutil::AddGang(cluster, absl::StrCat("extra", round), 2, 3, 1000);
      }
    }
  }
}

// Whoever is left to wait without being tried would have waited, of the same kind of reason.
TEST(ScheduleProperty, WhoIsNotTriedAgainWouldHaveWaited) {
  int left = 0, left_after_an_event = 0;
  for (unsigned seed = 0; seed < testutil::Worlds(3000); ++seed) {
    Random random(seed);
    const Events events = RandomEvents(random);
    Cluster cluster;
    Feed(cluster, events, nullptr);
    Scratch kept;
    testutil::Told told;
    for (int round = 0; round < 10; ++round) {
      const absl::Time now = testutil::At(100) + round * absl::Milliseconds(150);
      if (StandsStill(cluster, Policy(), now, kept)) {
        ++left;
        left_after_an_event += told.version != cluster.version() ? 1 : 0;
        Scratch empty;
        ASSERT_EQ(testutil::WhatIsNew(told, Schedule(cluster, Policy(), now, empty)), "")
            << "seed " << seed << " round " << round;
      } else {
        told = testutil::CarryOut(cluster, Schedule(cluster, Policy(), now, kept));
      }
      switch (random.Below(9)) {
        case 0:
          cluster.SetNode(RandomNode(random, random.Below(12)));
          break;
        case 1:
          cluster.RemoveNode(absl::StrCat("n", random.Below(9)));
          break;
        case 2:
        case 3:
          cluster.SetPod(RandomStranger(random, 9));
          break;
        case 4:
        case 5: {
          model::PodFacts pod =
              events.pods[static_cast<std::size_t>(random.Below(static_cast<int>(events.pods.size())))];
          if (const model::TaskId task = cluster.FindTask(pod.ns, pod.name);
              task != model::kNone && cluster.task(task).row != model::kNone)
            pod.node = std::string(cluster.node_name(cluster.task(task).row));
          if (!pod.node.empty())
            pod.phase = random.Chance(50) ? model::PodPhase::kSucceeded : model::PodPhase::kRunning;
          cluster.SetPod(pod);
          break;
        }
        case 6:
          cluster.SetClaim(RandomClaim(random));
          break;
        case 7: {
          const auto& pod = events.pods[static_cast<std::size_t>(random.Below(static_cast<int>(events.pods.size())))];
          cluster.RemovePod(pod.ns, pod.name);
          break;
        }
        default:
          if (random.Chance(30)) testutil::AddGang(cluster, absl::StrCat("extra", round), 2, 3, 1000);
      }
    }
  }
  EXPECT_GT(left, 5'000);
  EXPECT_GT(left_after_an_event, 500);
}

// Of several gangs one may wait for it: by a node more another may begin that takes what it had. Unless the places that
// it had are not allowed beside the node: one that has none of its pods lets a spread have fewer on the others.
TEST(ScheduleProperty, AFreeNodeMoreNeverMakesALoneGangWait) {
  int placed_before = 0, not_allowed = 0;
  for (unsigned seed = 0; seed < 10'000; ++seed) {
    Random random(seed);
    Events events = RandomEvents(random);
    events.gangs.resize(1);
    events.gangs[0].phase = model::GangPhase::kInqueue;
    std::erase_if(events.pods, [](const model::PodFacts& pod) { return pod.gang != "g0" && !pod.gang.empty(); });
    for (model::QueueFacts& queue : events.queues) queue.capability.clear();
    Cluster cluster;
    Feed(cluster, events, nullptr);
    const Decisions before = Decide(cluster);
    if (before.size() != 1 || before[0].short_of_minimum) continue;
    ++placed_before;
    Events more = events;
    more.nodes.push_back(RandomNode(random, 99));
    cluster.SetNode(more.nodes.back());
    const Decisions after = Decide(cluster);
    ASSERT_EQ(after.size(), 1u);
    if (!after[0].short_of_minimum) continue;
    ++not_allowed;
    EXPECT_THAT(WrongWith(events, more), ::testing::Not(::testing::IsEmpty())) << "seed " << seed;
  }
  EXPECT_GT(placed_before, 500);
  EXPECT_GT(not_allowed, 0);
  EXPECT_LT(not_allowed, placed_before / 100);
}

// A gang that is let in and has no pods yet, beside others that want more than their minimum: once its pods come it
// begins, if it would have begun had nothing been placed beyond minima. Before any gang has waited long enough to have
// nodes kept.
TEST(ScheduleProperty, SurplusCostsNoGangItsBeginning) {
  int began = 0, kept = 0;
  for (unsigned seed = 0; seed < 10'000; ++seed) {
    Random random(seed);
    Events events = RandomEvents(random);
    model::GangFacts late = Gang("late", 1 + random.Below(6));
    late.queue = random.Chance(70) ? "default" : "other";
    const std::int64_t milli = 500 * (1 + random.Below(8));
    late.has_min_resources = true;
    const model::Wants wants = Cpu(milli);
    for (const auto& [name, amount] : wants.requests) late.min_resources.emplace_back(name, amount * late.min_member);
    for (model::GangFacts& gang : events.gangs) {
      gang.min_member = std::min(gang.min_member, 1);
      gang.has_min_resources = false;  // nothing is known of their pods that are missing
    }
    std::erase_if(events.gangs, [](const model::GangFacts& gang) { return gang.phase != model::GangPhase::kInqueue; });
    std::erase_if(events.nodes, [](const model::NodeFacts& node) {
      return !node.taints.empty();
    });  // for which the pods to come need no room
    std::erase_if(events.pods, [](const model::PodFacts& pod) {
      return pod.gang.empty();
    });  // that keep nodes from the pods to come
    for (model::PodFacts& pod : events.pods) {
      pod.wants.pod_anti_affinity.clear();
      pod.wants.pod_affinity.clear();  // by which pods beyond a minimum let other gangs begin
      pod.wants.spreads.clear();
    }
    const auto placed_late = [&](bool surplus) {
      Cluster cluster;
      Feed(cluster, events, nullptr);
      cluster.SetGang(late);
      Policy policy;
      policy.place_surplus = surplus;
      Scratch scratch;
      const Decisions first = Schedule(cluster, policy, testutil::At(30), scratch);
      for (const Decision& decision : first)
        kept += decision.reason.has_value() && decision.reason->kind == model::Reason::Kind::kKeptForMinimum ? 1 : 0;
      Apply(cluster, first);
      for (int i = 0; i < late.min_member; ++i) cluster.SetPod(Pod("late", "r", i, wants));
      for (const Decision& decision : Schedule(cluster, policy, testutil::At(31), scratch)) {
        if (cluster.gang(decision.gang).name == "late") return !decision.placements.empty();
      }
      return false;
    };
    if (!placed_late(false)) continue;
    ++began;
    ASSERT_TRUE(placed_late(true)) << "seed " << seed;
  }
  EXPECT_GT(began, 500);
  EXPECT_GT(kept, 100);
}

// Who would not fit though no pod beyond a minimum ran keeps nothing from anybody.
TEST(ScheduleProperty, AGangThatNeverFitsChangesNothingForOthers) {
  for (unsigned seed = 0; seed < 10'000; ++seed) {
    Random random(seed);
    Events events = RandomEvents(random);
    for (model::GangFacts& gang : events.gangs) gang.queue = "default";  // in its queue's share it counts
    Cluster without, with;
    Feed(without, events, nullptr);
    Feed(with, events, nullptr);
    model::GangFacts never = Gang("never", 2);
    never.created = testutil::At(50);
    with.SetGang(never);
    for (int i = 0; i < 2; ++i) with.SetPod(Pod("never", "r", i, Cpu(random.Chance(50) ? 17'000 : 1'000'000)));
    std::vector<std::string> told = Told(with, Decide(with));
    std::erase_if(told, [](const std::string& line) { return line.starts_with("never "); });
    std::vector<std::string> before = Told(without, Decide(without));
    std::sort(told.begin(), told.end());
    std::sort(before.begin(), before.end());
    ASSERT_EQ(told, before) << "seed " << seed;
  }
}

// While pods beyond minima end one by one, and more of them wait, a gang that would fit without any of them begins at
// last.
TEST(ScheduleProperty, SurplusStarvesNoMinimumForEver) {
  int began = 0;
  for (unsigned seed = 0; seed < testutil::Worlds(150); ++seed) {
    Random random(seed);
    Cluster cluster;
    cluster.SetQueue(testutil::Queue("default"));
    const int nodes = 1 + random.Below(4);
    for (int i = 0; i < nodes; ++i) cluster.SetNode(Node(absl::StrCat("n", i), 2 + random.Below(8)));
    const int minimum = random.Below(3);
    cluster.SetGang(Gang("elastic", minimum));
    int next = 0;
    for (; next < 60; ++next) cluster.SetPod(Pod("elastic", "w", next, Cpu(1000)));
    Apply(cluster, Decide(cluster));
    const int size = 1 + random.Below(4);
    testutil::AddGang(cluster, "late", size, size, 1000 * (1 + random.Below(3)));
    const auto started = [&] { return cluster.gang(cluster.FindGang("default", "late")).ready() >= size; };
    // As long as there is one beyond the minimum that runs, some such pod ends; each that ends has a successor that
    // waits.
    for (int step = 0; step < 2000 && !started(); ++step) {
      const model::Gang& elastic = cluster.gang(cluster.FindGang("default", "elastic"));
      std::vector<model::TaskId> running;
      for (const model::TaskId id : elastic.tasks) {
        if (cluster.task(id).row != model::kNone) running.push_back(id);
      }
      if (static_cast<int>(running.size()) <= minimum) break;
      std::sort(running.begin(), running.end(),
                [&](int a, int b) { return cluster.task(a).index < cluster.task(b).index; });
      const std::size_t victim =
          static_cast<std::size_t>(minimum + random.Below(static_cast<int>(running.size()) - minimum));
      const std::string name = cluster.task(running[victim]).name;
      cluster.RemovePod("default", name);
      cluster.SetPod(Pod("elastic", "w", next++, Cpu(1000)));
      Apply(cluster, Decide(cluster));
    }
    // Whether it fits beside the minimum alone.
    Cluster alone;
    alone.SetQueue(testutil::Queue("default"));
    for (int i = 0; i < nodes; ++i)
      alone.SetNode(
          Node(absl::StrCat("n", i),
               static_cast<int>(cluster.allocatable(cluster.FindNode(absl::StrCat("n", i)), model::kCpu) / 1000)));
    alone.SetGang(Gang("elastic", minimum));
    const model::Gang& elastic = cluster.gang(cluster.FindGang("default", "elastic"));
    std::vector<model::TaskId> tasks = elastic.tasks;
    std::erase_if(tasks, [&](int id) { return cluster.task(id).row == model::kNone; });
    std::sort(tasks.begin(), tasks.end(), [&](int a, int b) { return cluster.task(a).index < cluster.task(b).index; });
    for (std::size_t i = 0; i < std::min(tasks.size(), static_cast<std::size_t>(minimum)); ++i) {
      model::PodFacts pod = Pod("elastic", "w", cluster.task(tasks[i]).index, Cpu(1000));
      pod.node = std::string(cluster.node_name(cluster.task(tasks[i]).row));
      pod.phase = model::PodPhase::kRunning;
      alone.SetPod(pod);
    }
    const model::Gang& late = cluster.gang(cluster.FindGang("default", "late"));
    const std::int64_t milli = cluster.shape(cluster.task(late.tasks.front()).shape).request[model::kCpu];
    testutil::AddGang(alone, "late", size, size, milli);
    bool fits = false;
    for (const Decision& decision : Decide(alone))
      fits = fits || (alone.gang(decision.gang).name == "late" && !decision.placements.empty());
    if (!fits) continue;
    ++began;
    ASSERT_TRUE(started()) << "seed " << seed;
  }
  EXPECT_GT(began, 60);
}

// The rest of a decision applied, nothing is left to decide: rounds do not go on for ever.
TEST(ScheduleProperty, DecisionsSettle) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    Random random(seed);
    Cluster cluster;
    Feed(cluster, RandomEvents(random), nullptr);
    for (int round = 0; round < 4; ++round) {
      Apply(cluster, Decide(cluster));
      ASSERT_THAT(cluster.Audit(), ::testing::IsEmpty()) << "seed " << seed;
    }
    for (const Decision& decision : Decide(cluster)) {
      ASSERT_TRUE(decision.placements.empty() && !decision.admit) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace gangway::gang
