#include "plugin/model/cluster.h"

#include <algorithm>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "tests/plugin/model/cluster_builder.h"

namespace gangway::model {
namespace {

using testutil::AddGang;
using testutil::At;
using testutil::Cpu;
using testutil::Node;
using testutil::Pod;

PodFacts Bound(PodFacts pod, const std::string& node, PodPhase phase = PodPhase::kRunning) {
  pod.node = node;
  pod.phase = phase;
  return pod;
}

TEST(ClusterTest, BoundPodsTakeRoomUntilTheyEnd) {
  Cluster cluster;
  cluster.SetNode(Node("n1"));
  const Row row = cluster.FindNode("n1");
  cluster.SetPod(Bound(Pod("a", "w", 0, Cpu(4000)), "n1"));
  EXPECT_EQ(cluster.free(row, kCpu), 12'000);
  EXPECT_EQ(cluster.used()[kCpu], 4000);
  PodFacts ending = Bound(Pod("a", "w", 0, Cpu(4000)), "n1");
  ending.terminating = true;
  cluster.SetPod(ending);
  EXPECT_EQ(cluster.free(row, kCpu), 12'000) << "a pod that is ending holds its room";
  cluster.SetPod(Bound(Pod("a", "w", 0, Cpu(4000)), "n1", PodPhase::kSucceeded));
  EXPECT_EQ(cluster.free(row, kCpu), 16'000);
  EXPECT_EQ(cluster.used()[kCpu], 0);
}

TEST(ClusterTest, PodsMayComeBeforeTheirNodeAndOutliveIt) {
  Cluster cluster;
  cluster.SetPod(Bound(Pod("a", "w", 0, Cpu(4000)), "n1"));
  EXPECT_EQ(cluster.present_nodes(), 0);
  EXPECT_EQ(cluster.used()[kCpu], 0);
  cluster.SetNode(Node("n1"));
  const Row row = cluster.FindNode("n1");
  EXPECT_EQ(cluster.free(row, kCpu), 12'000);
  EXPECT_EQ(cluster.used()[kCpu], 4000);
  cluster.RemoveNode("n1");
  EXPECT_EQ(cluster.total()[kCpu], 0);
  EXPECT_EQ(cluster.used()[kCpu], 0);
  cluster.SetNode(Node("n1"));
  EXPECT_EQ(cluster.free(cluster.FindNode("n1"), kCpu), 12'000);
}

TEST(ClusterTest, WhoMayBeMovedCountsOnceItHasANode) {
  Cluster cluster;
  cluster.SetNode(Node("n1"));
  PodFacts pod = Pod("a", "w", 0, Cpu(4000));
  pod.movable = true;
  const TaskId task = cluster.SetPod(pod);
  const GangId gang = cluster.task(task).gang;
  EXPECT_EQ(cluster.gang(gang).movable, 0);
  cluster.Assume(task, cluster.FindNode("n1"));
  EXPECT_EQ(cluster.gang(gang).movable, 0) << "its binding may fail";
  cluster.SetPod(Bound(pod, "n1"));
  EXPECT_EQ(cluster.gang(gang).movable, 1);
  EXPECT_TRUE(cluster.task(task).movable);
}

TEST(ClusterTest, AssumedTaskHoldsRoomUntilConfirmedOrForgotten) {
  Cluster cluster;
  cluster.SetNode(Node("n1"));
  cluster.SetNode(Node("n2"));
  AddGang(cluster, "g", 1, 1, 4000);
  const TaskId task = cluster.FindTask("default", "g-w-0");
  const Row n1 = cluster.FindNode("n1");
  cluster.Assume(task, n1);
  EXPECT_EQ(cluster.free(n1, kCpu), 12'000);
  EXPECT_EQ(cluster.task(task).status, TaskStatus::kBinding);

  cluster.SetPod(Pod("g", "w", 0, Cpu(4000)));  // an event from before the binding
  EXPECT_EQ(cluster.task(task).status, TaskStatus::kBinding);
  EXPECT_EQ(cluster.free(n1, kCpu), 12'000);

  cluster.SetPod(Bound(Pod("g", "w", 0, Cpu(4000)), "n2", PodPhase::kPending));  // somebody else was faster
  EXPECT_EQ(cluster.free(n1, kCpu), 16'000);
  EXPECT_EQ(cluster.free(cluster.FindNode("n2"), kCpu), 12'000);
  EXPECT_EQ(cluster.task(task).status, TaskStatus::kBound);
}

TEST(ClusterTest, ForgottenTaskIsPendingAgain) {
  Cluster cluster;
  cluster.SetNode(Node("n1"));
  AddGang(cluster, "g", 1, 1, 4000);
  const TaskId task = cluster.FindTask("default", "g-w-0");
  cluster.Assume(task, cluster.FindNode("n1"));
  EXPECT_TRUE(cluster.waiting().empty());
  cluster.Forget(task);
  EXPECT_EQ(cluster.free(cluster.FindNode("n1"), kCpu), 16'000);
  EXPECT_EQ(cluster.waiting().size(), 1u);
}

TEST(ClusterTest, ANodeThatIsGoneKeepsNoRowForAPodThatWasAssumedOnIt) {
  Cluster cluster;
  cluster.SetNode(Node("n1"));
  AddGang(cluster, "g", 1, 1, 4000);
  const TaskId task = cluster.FindTask("default", "g-w-0");
  cluster.Assume(task, cluster.FindNode("n1"));
  cluster.RemoveNode("n1");
  cluster.Forget(task);
  cluster.SetNode(Node("n2"));
  EXPECT_EQ(cluster.rows(), 1);
}

TEST(ClusterTest, ThatClaimsCannotBeReadIsAChangeForThoseWhoWantOne) {
  Cluster cluster;
  const std::uint64_t before = cluster.version();
  cluster.SetClaimsReadable(false);
  EXPECT_EQ(cluster.version(), before) << "nobody wants one";
  cluster.SetClaimsReadable(true);
  Wants wants = Cpu(1000);
  wants.claims = {"default/data"};
  cluster.SetPod(Pod("g", "w", 0, wants));
  const std::uint64_t wanted = cluster.version();
  cluster.SetClaimsReadable(false);
  EXPECT_NE(cluster.version(), wanted) << "another reason is to be told";
}

TEST(ClusterTest, AnAssumedPodThatIsDeletedUnboundGivesItsRoomBack) {
  Cluster cluster;
  cluster.SetNode(Node("n1"));
  AddGang(cluster, "g", 1, 1, 4000);
  cluster.Assume(cluster.FindTask("default", "g-w-0"), cluster.FindNode("n1"));
  PodFacts pod = Pod("g", "w", 0, Cpu(4000));
  pod.terminating = true;
  cluster.SetPod(pod);
  EXPECT_EQ(cluster.free(cluster.FindNode("n1"), kCpu), 16'000);
  cluster.RemovePod("default", "g-w-0");
  EXPECT_EQ(cluster.FindTask("default", "g-w-0"), kNone);
}

TEST(ClusterTest, APodOfTheSameNameWithAnotherUidIsAnotherPod) {
  Cluster cluster;
  cluster.SetNode(Node("n1"));
  AddGang(cluster, "g", 1, 1, 4000);
  cluster.Assume(cluster.FindTask("default", "g-w-0"), cluster.FindNode("n1"));
  PodFacts other = Pod("g", "w", 0, Cpu(4000));
  other.uid = "another";
  cluster.SetPod(other);
  EXPECT_EQ(cluster.task(cluster.FindTask("default", "g-w-0")).status, TaskStatus::kPending);
  EXPECT_EQ(cluster.free(cluster.FindNode("n1"), kCpu), 16'000);
}

TEST(ClusterTest, WhateverAnEventSaysAnewOfAPodIsSeen) {
  const model::PodTermFacts near{"zone", {{"default"}, std::nullopt, {{"app", Op::kIn, {"x"}}}}};
  const std::vector<std::function<void(PodFacts&)>> changes = {
      [](PodFacts& pod) { pod.uid = "another"; },
      [](PodFacts& pod) { pod.gang = "another"; },
      [](PodFacts& pod) { pod.gang.clear(); },
      [](PodFacts& pod) { pod.gang_kind = GangKind::kKubernetes; },
      [](PodFacts& pod) { pod.role = "ps"; },
      [](PodFacts& pod) { pod.priority = 7; },
      [](PodFacts& pod) { pod.index = 7; },
      [](PodFacts& pod) { pod.ours = false; },
      [](PodFacts& pod) { pod.gated = true; },
      [](PodFacts& pod) { pod.controlled = false; },
      [](PodFacts& pod) { pod.of_job = true; },
      [](PodFacts& pod) { pod.created = At(7); },
      [](PodFacts& pod) { pod.evictable = false; },
      [](PodFacts& pod) { pod.preempts = false; },
      [](PodFacts& pod) { pod.wants.requests.front().second = 7; },
      [](PodFacts& pod) { pod.wants.selector = {{"disk", "ssd"}}; },
      [](PodFacts& pod) { pod.wants.has_affinity = true; },
      [](PodFacts& pod) { pod.wants.affinity = {{{"disk", Op::kExists, {}}}}; },
      [](PodFacts& pod) { pod.wants.preferences = {{10, {{"disk", Op::kExists, {}}}}}; },
      [](PodFacts& pod) { pod.wants.tolerations = {{"disk", "", "", true}}; },
      [](PodFacts& pod) { pod.wants.host_ports = {{"TCP", "", 1}}; },
      [](PodFacts& pod) { pod.wants.claims = {"default/data"}; },
      [&](PodFacts& pod) { pod.wants.pod_affinity = {near}; },
      [&](PodFacts& pod) { pod.wants.pod_anti_affinity = {near}; },
      [&](PodFacts& pod) { pod.wants.pod_preferences = {{10, near}}; },
      [&](PodFacts& pod) { pod.wants.spreads = {{near}}; },
      [](PodFacts& pod) { pod.wants.not_modelled = "spec.x"; },
      [](PodFacts& pod) { pod.labels = {{"app", "x"}}; },
      [](PodFacts& pod) { pod.leaving = true; },
      [](PodFacts& pod) { pod.nominated = "n2"; },
      [](PodFacts& pod) { pod.node = "n2"; },
      [](PodFacts& pod) { pod.phase = PodPhase::kFailed; },
      [](PodFacts& pod) { pod.lasts = absl::Minutes(7); },
      [](PodFacts& pod) { pod.started = At(7); },
      [](PodFacts& pod) { pod.terminating = true; }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Cluster cluster;
    for (const char* const name : {"n1", "n2"}) cluster.SetNode(Node(name));
    PodFacts pod = Pod("g", "w", 0, Cpu(1000));
    cluster.SetPod(pod);
    std::uint64_t version = cluster.version();
    cluster.SetPod(pod);
    EXPECT_EQ(cluster.version(), version) << "change " << i;
    changes[i](pod);
    cluster.SetPod(pod);
    EXPECT_NE(cluster.version(), version) << "change " << i;
    version = cluster.version();
    cluster.SetPod(pod);
    EXPECT_EQ(cluster.version(), version) << "change " << i << " is known then";
    EXPECT_TRUE(cluster.Audit().empty()) << "change " << i;
  }
}

TEST(ClusterTest, WhoLeavesSaysSoItselfOrItsGangDoes) {
  model::GangFacts gang = testutil::Gang("g", 2);
  gang.leaving_pods = {"uid-g-w-0"};
  PodFacts pod = Pod("g", "w", 0, Cpu(1000));
  pod.node = "n1";
  pod.of_job = true;
  const auto leaves = [](const Cluster& cluster) {
    const auto& of = cluster.gang(cluster.FindGang("default", "g"));
    EXPECT_TRUE(cluster.Audit().empty());
    const bool leaves = cluster.task(cluster.FindTask("default", "g-w-0")).leaving;
    EXPECT_EQ(of.leaving, leaves ? 1 : 0);
    return leaves;
  };
  for (const bool pod_first : {false, true}) {
    Cluster cluster;
    cluster.SetNode(Node("n1"));
    if (pod_first) cluster.SetPod(pod);
    cluster.SetGang(gang);
    if (!pod_first) cluster.SetPod(pod);
    EXPECT_TRUE(leaves(cluster)) << pod_first;
    EXPECT_FALSE(cluster.task(cluster.FindTask("default", "g-w-0")).marked);
    PodFacts changed = pod;
    changed.phase = PodPhase::kRunning;
    cluster.SetPod(changed);
    EXPECT_TRUE(leaves(cluster)) << "whatever else becomes of it";
    changed.priority = 7;
    cluster.SetPod(changed);
    EXPECT_TRUE(leaves(cluster));
    cluster.SetGang(testutil::Gang("g", 2));
    EXPECT_FALSE(leaves(cluster)) << "it says so no more";
    changed.leaving = true;
    cluster.SetPod(changed);
    EXPECT_TRUE(leaves(cluster)) << "it says so itself";
    changed.leaving = false;
    changed.uid = "another";
    cluster.SetGang(gang);
    cluster.SetPod(changed);
    EXPECT_FALSE(leaves(cluster)) << "it is another one of the name";
    cluster.SetPod(pod);
    EXPECT_TRUE(leaves(cluster));
    cluster.RemoveGang("default", "g", GangKind::kVolcano);
    EXPECT_FALSE(leaves(cluster)) << "there is no such PodGroup any more";
  }
  Cluster cluster;
  cluster.SetGang(gang);
  pod.of_job = false;
  cluster.SetPod(pod);
  EXPECT_FALSE(leaves(cluster)) << "whoever made it reads the pod";
}

// Three kinds of PodGroup, one name.
TEST(ClusterTest, GangsOfOtherKindsAreOthers) {
  Cluster cluster;
  std::vector<GangId> gangs;
  for (const GangKind kind : {GangKind::kVolcano, GangKind::kKubernetes, GangKind::kCoscheduling}) {
    GangFacts gang = testutil::Gang("g", 1);
    gang.kind = kind;
    gangs.push_back(cluster.SetGang(gang));
    PodFacts pod = testutil::Pod("g", "w", static_cast<int>(kind), testutil::Cpu(1000));
    pod.gang_kind = kind;
    pod.ours = kind != GangKind::kCoscheduling;
    cluster.SetPod(pod);
    EXPECT_EQ(cluster.FindGang("default", "g", kind), gangs.back());
    EXPECT_EQ(cluster.gang(gangs.back()).tasks.size(), 1u);
  }
  EXPECT_THAT(cluster.waiting(), ::testing::ElementsAre(gangs[0], gangs[1]))
      << "a third has no pod of ours, and its kind is not ours";
  PodFacts pod = testutil::Pod("g", "w", 1, testutil::Cpu(1000));
  cluster.SetPod(pod);
  EXPECT_EQ(cluster.gang(gangs[0]).tasks.size(), 2u);
  EXPECT_THAT(cluster.waiting(), ::testing::ElementsAre(gangs[0])) << "its last pod of ours has another gang now";
  cluster.RemoveGang("default", "g", GangKind::kCoscheduling);
  EXPECT_TRUE(cluster.gang(gangs[0]).known);
  EXPECT_THAT(cluster.Audit(), ::testing::IsEmpty());
}

TEST(ClusterTest, WhoNamesNoPriorityHasTheHighestOfThoseThatAreForAll) {
  Cluster cluster;
  const GangId id = cluster.SetGang(testutil::Gang("g", 1));
  EXPECT_EQ(cluster.PriorityOf(cluster.gang(id)), 0);
  for (const PriorityClassFacts& facts :
       {PriorityClassFacts{"b", 20, true, false}, {"a", 10, true}, {"c", 15, true}, {"named", 30}})
    cluster.SetPriorityClass(facts);
  EXPECT_EQ(cluster.PriorityOf(cluster.gang(id)), 20);
  EXPECT_FALSE(cluster.Preempts(cluster.gang(id)));
  for (const auto& [name, priority] : {std::pair("named", 30), {"unknown", 20}}) {
    GangFacts gang = testutil::Gang("g", 1);
    gang.priority_class = name;
    cluster.SetGang(gang);
    EXPECT_EQ(cluster.PriorityOf(cluster.gang(id)), priority) << name;
  }
}

// Pods that wait for a node are kept apart for whoever asks about pods next.
TEST(ClusterTest, APodThatGotItsNodeIsNoneOfThoseThatWait) {
  Cluster cluster;
  cluster.SetNode(Node("n1"));
  PodFacts asks = Pod("a", "w", 0, Cpu(1000));
  asks.wants.pod_anti_affinity = {{"kubernetes.io/hostname", {{"default"}, {}, {{"app", Op::kIn, {"b"}}}}}};
  cluster.SetPod(asks);
  PodFacts asked = Pod("b", "w", 0, Cpu(1000));
  asked.labels = {{"app", "b"}};
  cluster.SetPod(asked);
  EXPECT_TRUE(cluster.Audit().empty());
  cluster.SetPod(Bound(asked, "n1"));
  EXPECT_TRUE(cluster.Audit().empty());
  cluster.SetPod(asked);
  EXPECT_TRUE(cluster.Audit().empty());
}

TEST(ClusterTest, APodMayNameItsGangLaterAndBeforeTheGangIsKnown) {
  Cluster cluster;
  PodFacts pod = Pod("", "w", 0, Cpu(4000));
  cluster.SetPod(pod);
  pod.gang = "g";
  cluster.SetPod(pod);
  cluster.SetGang(testutil::Gang("g", 1));
  EXPECT_EQ(cluster.gang(cluster.FindGang("default", "g")).tasks.size(), 1u);
}

TEST(ClusterTest, PodsThatAskForTheSameShareAShape) {
  Cluster cluster;
  AddGang(cluster, "a", 4, 4, 1000);
  AddGang(cluster, "b", 4, 4, 1000);
  EXPECT_EQ(cluster.shape_slots(), 1);
  for (int i = 0; i < 4; ++i) {
    cluster.RemovePod("default", absl::StrCat("a-w-", i));
    cluster.RemovePod("default", absl::StrCat("b-w-", i));
  }
  AddGang(cluster, "c", 1, 1, 2000);
  EXPECT_EQ(cluster.shape_slots(), 1) << "a shape nobody uses makes room for another";
}

TEST(ClusterTest, InWhichOrderAPodAsksDoesNotMatter) {
  Cluster cluster;
  Wants wants = Cpu(1000);
  wants.selector = {{"disk", "ssd"}, {"zone", "a"}};
  wants.tolerations = {{"a", "", "", true}, {"b", "", "", true}};
  wants.host_ports = {{"TCP", "", 1}, {"TCP", "", 2}};
  wants.has_affinity = true;
  wants.affinity = {{{"rack", Op::kIn, {"1", "2"}}, {"gen", Op::kExists, {}}}};
  cluster.SetPod(Pod("g", "w", 0, wants));
  const auto turn = [](auto& list) { std::reverse(list.begin(), list.end()); };
  turn(wants.requests);
  turn(wants.selector);
  turn(wants.tolerations);
  turn(wants.host_ports);
  turn(wants.affinity[0]);
  turn(wants.affinity[0][1].values);
  cluster.SetPod(Pod("g", "w", 1, wants));
  EXPECT_EQ(cluster.shape_slots(), 1);
}

TEST(ClusterTest, PodsThatAskForAnythingElseHaveAShapeOfTheirOwn) {
  const TermFacts term{{"disk", Op::kIn, {"ssd"}}};
  Wants plain = Cpu(1000);
  plain.preferences = {{10, term}};
  std::vector<Wants> others(9, plain);
  others[0].requests[0].second = 2000;
  others[1].preferences[0].weight = 11;
  others[2].preferences[0].term[0].values = {"nvme"};
  others[3].selector = {{"disk", "ssd"}};
  others[4].has_affinity = true;
  others[5].tolerations = {{"disk", "", "", true}};
  others[6].host_ports = {{"TCP", "", 1}};
  others[7].claims = {"default/data"};
  others[8].not_modelled = "spec.x";
  Cluster cluster;
  cluster.SetPod(Pod("g", "w", 0, plain));
  for (int i = 0; i < 9; ++i) {
    cluster.SetPod(Pod("g", "w", i + 1, others[static_cast<std::size_t>(i)]));
    EXPECT_EQ(cluster.shape_slots(), i + 2);
  }
}

TEST(ClusterTest, AdmissionOutlivesStaleEventsButNotThePhase) {
  Cluster cluster;
  GangFacts facts = testutil::Gang("g", 1);
  facts.phase = GangPhase::kPending;
  const GangId gang = cluster.SetGang(facts);
  cluster.SetAdmitted(gang, true);
  cluster.SetGang(facts);
  EXPECT_TRUE(cluster.gang(gang).admitted);
  facts.phase = GangPhase::kRunning;
  cluster.SetGang(facts);
  facts.phase = GangPhase::kPending;
  cluster.SetGang(facts);
  EXPECT_FALSE(cluster.gang(gang).admitted);
}

// Whatever the order of events about different objects, and however often they come, the table is the same.
TEST(ClusterProperty, EventsCommuteAndRepeat) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    std::vector<NodeFacts> nodes;
    std::vector<PodFacts> pods;
    for (int i = 0; i < 4; ++i) nodes.push_back(Node(absl::StrCat("n", i)));
    for (int i = 0; i < 12; ++i) {
      PodFacts pod = Pod(i % 2 == 0 ? "a" : "b", "w", i, Cpu(1000 * (1 + i % 3)));
      if (i % 4 != 0)
        pod = Bound(pod, absl::StrCat("n", random() % 5), i % 3 == 0 ? PodPhase::kSucceeded : PodPhase::kRunning);
      pods.push_back(pod);
    }
    const auto build = [&](Cluster& cluster, bool shuffled) {
      std::vector<std::function<void()>> events;
      for (const NodeFacts& node : nodes) events.push_back([&] { cluster.SetNode(node); });
      for (const PodFacts& pod : pods) events.push_back([&] { cluster.SetPod(pod); });
      events.push_back([&] { cluster.SetGang(testutil::Gang("a", 3)); });
      events.push_back([&] { cluster.SetGang(testutil::Gang("b", 3)); });
      events.push_back([&] { cluster.SetQueue(testutil::Queue("default")); });
      if (shuffled) {
        const std::vector<std::function<void()>> again = events;
        events.insert(events.end(), again.begin(), again.end());
        std::shuffle(events.begin(), events.end(), random);
      }
      for (const auto& event : events) event();
    };
    Cluster plain, shuffled;
    build(plain, false);
    build(shuffled, true);
    for (const NodeFacts& node : nodes) {
      const Row a = plain.FindNode(node.name), b = shuffled.FindNode(node.name);
      for (Dim dim = 0; dim < kKnownDims; ++dim) ASSERT_EQ(plain.free(a, dim), shuffled.free(b, dim)) << seed;
    }
    ASSERT_EQ(plain.used(), shuffled.used()) << seed;
    for (const char* name : {"a", "b"}) {
      const Gang& x = plain.gang(plain.FindGang("default", name));
      const Gang& y = shuffled.gang(shuffled.FindGang("default", name));
      ASSERT_EQ(x.count, y.count) << seed;
      ASSERT_EQ(x.held, y.held) << seed;
      ASSERT_EQ(plain.queue(x.queue).held, shuffled.queue(y.queue).held) << seed;
    }
  }
}

// After everything is gone nothing is left.
TEST(ClusterProperty, RemovingAllGivesAllBack) {
  Cluster cluster;
  for (int round = 0; round < 3; ++round) {
    testutil::AddNodes(cluster, 3);
    cluster.SetQueue(testutil::Queue("default"));
    AddGang(cluster, "g", 3, 5, 3000);
    cluster.Assume(cluster.FindTask("default", "g-w-0"), cluster.FindNode("node-000"));
    cluster.SetPod(Bound(Pod("g", "w", 1, Cpu(3000)), "node-001"));
    cluster.RemoveNode("node-001");
    for (int i = 0; i < 5; ++i) cluster.RemovePod("default", absl::StrCat("g-w-", i));
    EXPECT_EQ(cluster.free(cluster.FindNode("node-000"), kCpu), 16'000);
    cluster.RemoveGang("default", "g");
    cluster.RemoveQueue("default");
    EXPECT_EQ(cluster.FindGang("default", "g"), kNone);
    EXPECT_TRUE(cluster.waiting().empty());
    EXPECT_TRUE(cluster.awaiting_pods().empty());
    EXPECT_EQ(cluster.rows(), 3);
    EXPECT_EQ(cluster.shape_slots(), 1);
    EXPECT_EQ(cluster.queue_slots(), 1);
  }
}

}  // namespace
}  // namespace gangway::model
