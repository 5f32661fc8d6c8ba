// Long lives of small clusters: whatever came and went, the table is what it would be had it seen the last event about
// each object alone.
#include "plugin/model/cluster.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plugin/gang/constraint/asks.h"
#include "tests/plugin/model/cluster_builder.h"

namespace gangway::model {
namespace {

using testutil::Cpu;
using testutil::Node;
using testutil::Pod;

// The last event about each object that is there.
struct World {
  std::map<std::string, NodeFacts> nodes;
  std::map<std::string, PodFacts> pods;
  std::map<std::string, GangFacts> gangs;
  std::map<std::string, QueueFacts> queues;
  std::map<std::string, ClaimFacts> claims;
  std::map<std::string, VolumeFacts> volumes;
  std::map<std::string, StorageClassFacts> classes;
  std::map<std::string, NamespaceFacts> namespaces;
  std::map<std::string, HyperNodeFacts> hyper_nodes;
  std::map<std::string, CsiNodeFacts> csi_nodes;
  std::map<std::string, CsiDriverFacts> csi_drivers;
  std::map<std::string, StorageCapacityFacts> capacities;
  std::map<std::string, VolumeAttachmentFacts> attachments;

  void Tell(Cluster& cluster) const {
    for (const auto& [name, node] : nodes) cluster.SetNode(node);
    for (const auto& [name, pod] : pods) cluster.SetPod(pod);
    for (const auto& [name, gang] : gangs) cluster.SetGang(gang);
    for (const auto& [name, queue] : queues) cluster.SetQueue(queue);
    for (const auto& [name, claim] : claims) cluster.SetClaim(claim);
    for (const auto& [name, volume] : volumes) cluster.SetVolume(volume);
    for (const auto& [name, each] : classes) cluster.SetStorageClass(each);
    for (const auto& [name, ns] : namespaces) cluster.SetNamespace(ns);
    for (const auto& [name, each] : hyper_nodes) cluster.SetHyperNode(each);
    for (const auto& [name, each] : csi_nodes) cluster.SetCsiNode(each);
    for (const auto& [name, each] : csi_drivers) cluster.SetCsiDriver(each);
    for (const auto& [name, each] : capacities) cluster.SetStorageCapacity(each);
    for (const auto& [name, each] : attachments) cluster.SetVolumeAttachment(each);
  }
};

class Life {
 public:
  explicit Life(unsigned seed) : random_(seed) {}

  // One thing that happens: an object comes or is as it is said now, or goes; a pod is assumed on a node, or that is
  // given up.
  void Step() {
    switch (Below(14)) {
      case 0:
      case 1:
        return Change(
            world_.nodes, absl::StrCat("n", Below(4)),
            [&](const std::string& name) { cluster.SetNode(world_.nodes[name] = ANode(name)); },
            [&](const std::string& name) { cluster.RemoveNode(name); });
      case 2:
      case 3:
      case 4:
      case 5:
        return Change(
            world_.pods, absl::StrCat("p", Below(8)),
            [&](const std::string& name) { cluster.SetPod(world_.pods[name] = APod(name)); },
            [&](const std::string& name) { cluster.RemovePod("default", name); });
      case 6:
        return Change(
            world_.gangs, absl::StrCat("g", Below(3)),
            [&](const std::string& name) { cluster.SetGang(world_.gangs[name] = AGang(name)); },
            [&](const std::string& name) { cluster.RemoveGang("default", name); });
      case 7:
        return Change(
            world_.queues, absl::StrCat("q", Below(3)),
            [&](const std::string& name) { cluster.SetQueue(world_.queues[name] = AQueue(name)); },
            [&](const std::string& name) { cluster.RemoveQueue(name); });
      case 8:
        return Change(
            world_.claims, absl::StrCat("c", Below(3)),
            [&](const std::string& name) { cluster.SetClaim(world_.claims[name] = AClaim(name)); },
            [&](const std::string& name) { cluster.RemoveClaim("default", name); });
      case 9:
        return Change(
            world_.volumes, absl::StrCat("v", Below(3)),
            [&](const std::string& name) { cluster.SetVolume(world_.volumes[name] = AVolume(name)); },
            [&](const std::string& name) { cluster.RemoveVolume(name); });
      case 10:
        if (Below(2) == 0) {
          return Change(
              world_.classes, absl::StrCat("s", Below(2)),
              [&](const std::string& name) { cluster.SetStorageClass(world_.classes[name] = AClass(name)); },
              [&](const std::string& name) { cluster.RemoveStorageClass(name); });
        }
        if (Below(2) == 0) {
          return Change(
              world_.hyper_nodes, absl::StrCat("h", Below(3)),
              [&](const std::string& name) { cluster.SetHyperNode(world_.hyper_nodes[name] = AHyperNode(name)); },
              [&](const std::string& name) { cluster.RemoveHyperNode(name); });
        }
        return Change(
            world_.namespaces, "default",
            [&](const std::string& name) {
              cluster.SetNamespace(world_.namespaces[name] = {name, {{"team", Of({"red", "blue"})}}});
            },
            [&](const std::string& name) { cluster.RemoveNamespace(name); });
      case 11:
        return Change(
            world_.csi_nodes, absl::StrCat("n", Below(5)),
            [&](const std::string& name) {
              cluster.SetCsiNode(world_.csi_nodes[name] = {name, {{Of({"d0", "d1"}), Below(3)}}});
            },
            [&](const std::string& name) { cluster.RemoveCsiNode(name); });
      case 12:
        return Storage();
      default:
        return AssumeOrForget();
    }
  }

  void Storage() {
    switch (Below(3)) {
      case 0: {
        const std::string node = absl::StrCat("n", Below(5)), volume = absl::StrCat("v", Below(3)),
                          driver = Of({"d0", "d1"});
        return Change(
            world_.attachments, absl::StrCat(node, volume, driver),
            [&](const std::string& name) {
              cluster.SetVolumeAttachment(world_.attachments[name] = {name, node, driver, volume});
            },
            [&](const std::string& name) { cluster.RemoveVolumeAttachment(name); });
      }
      case 1:
        return Change(
            world_.csi_drivers, Of({"d0", "d1"}),
            [&](const std::string& name) { cluster.SetCsiDriver(world_.csi_drivers[name] = {name, Below(3) > 0}); },
            [&](const std::string& name) { cluster.RemoveCsiDriver(name); });
      default:
        return Change(
            world_.capacities, absl::StrCat("k", Below(3)),
            [&](const std::string& name) { cluster.SetStorageCapacity(world_.capacities[name] = ACapacity(name)); },
            [&](const std::string& name) { cluster.RemoveStorageCapacity("default", name); });
    }
  }

  void ForgetAll() {
    for (const auto& [name, pod] : world_.pods) cluster.Forget(cluster.FindTask("default", name));
  }
  const World& world() const { return world_; }

  Cluster cluster;

 private:
  int Below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  std::string Of(std::vector<std::string> words) {
    return words[static_cast<std::size_t>(Below(static_cast<int>(words.size())))];
  }

  template <class T, class Set, class Remove>
  void Change(std::map<std::string, T>& there, const std::string& name, Set set, Remove remove) {
    if (there.contains(name) && Below(3) == 0) {
      there.erase(name);
      remove(name);
    } else {
      set(name);
    }
  }

  void AssumeOrForget() {
    const TaskId id = cluster.FindTask("default", absl::StrCat("p", Below(8)));
    const Row row = cluster.FindNode(absl::StrCat("n", Below(4)));
    if (id == kNone) return;
    if (cluster.task(id).status == TaskStatus::kBinding) {
      cluster.Forget(id);
    } else if (cluster.task(id).status == TaskStatus::kPending && row != kNone && cluster.present(row)) {
      cluster.Assume(id, row);
    }
  }

  NodeFacts ANode(const std::string& name) {
    NodeFacts node = Node(name, 4 * (1 + Below(2)));
    if (Below(2) == 0) node.allocatable.emplace_back(Of({"a.com/gpu", "b.com/nic"}), 8);
    if (Below(3) > 0) node.labels.emplace_back("zone", Of({"a", "b"}));
    if (Below(3) == 0) node.labels.emplace_back("rack", Of({"a", "b"}));
    if (Below(4) == 0)
      node.taints = {
          {"dedicated", Of({"x", "y"}), Below(2) == 0 ? TaintEffect::kNoSchedule : TaintEffect::kPreferNoSchedule}};
    node.unschedulable = Below(6) == 0;
    return node;
  }

  PodFacts APod(const std::string& name) {
    PodFacts pod = Pod(Of({"g0", "g1", "g2", ""}), Of({"ps", "worker"}), Below(2), Cpu(1000 * (1 + Below(2))));
    pod.name = name;
    pod.uid = absl::StrCat(name, "-", Below(3));
    if (Below(5) == 0) testutil::SetPartition(pod, Of({"0", "1"}));
    pod.gated = Below(6) == 0;
    if (Below(3) == 0) pod.wants.requests.emplace_back(Of({"a.com/gpu", "b.com/nic"}), 1);
    if (Below(3) == 0) pod.wants.claims = {absl::StrCat("default/c", Below(3))};
    if (Below(4) == 0) pod.wants.selector = {{"zone", Of({"a", "b"})}};
    if (Below(4) == 0) pod.wants.host_ports = {{"TCP", Of({"", "10.0.0.1"}), 8080}};
    if (Below(4) == 0) pod.wants.tolerations = {{"dedicated", "x", "", false}};
    pod.terminating = Below(5) == 0;
    pod.phase = static_cast<PodPhase>(Below(3) > 0 ? 0 : 1 + Below(4));
    if (pod.phase != PodPhase::kPending || Below(3) == 0) pod.node = absl::StrCat("n", Below(5));  // n4 is never shown
    if (pod.phase != PodPhase::kSucceeded && pod.phase != PodPhase::kFailed) {
      pod.labels = {{"app", Of({"train", "web"})}};
      if (Below(3) == 0) pod.labels.emplace_back("gen", Of({"1", "2"}));
    }
    if (!pod.node.empty() && Below(3) > 0) pod.started = testutil::At(Below(9));
    pod.wants.pod_anti_affinity = terms_.try_emplace(pod.uid, Terms()).first->second;
    if (pod.node.empty() && Below(3) == 0) pod.wants.pod_affinity = Terms();
    if (Below(4) == 0) pod.wants.pod_preferences = {{Below(2) == 0 ? 5 : -5, ATerm()}};
    if (pod.node.empty() && Below(3) == 0)
      pod.wants.spreads = {{ATerm(), 1 + Below(2), 1 + Below(3), Below(3) > 0, Below(2) == 0, Below(2) == 0}};
    return pod;
  }

  std::vector<PodTermFacts> Terms() {
    std::vector<PodTermFacts> terms;
    while (Below(2) == 0) terms.push_back(ATerm());
    return terms;
  }
  PodTermFacts ATerm() {
    PodTermFacts term;
    term.topology_key = Of({"zone", "rack", "kubernetes.io/hostname"});
    if (Below(2) == 0) {
      term.selector.namespaces = {"default"};
    } else {
      term.selector.namespace_selector = {{"team", Op::kIn, {Of({"red", "blue"})}}};
    }
    if (Below(3) > 0) term.selector.pods = {{Of({"app", "app", "gen"}), Op::kIn, {Of({"train", "web", "1"})}}};
    return term;
  }

  GangFacts AGang(const std::string& name) {
    GangFacts gang = testutil::Gang(name, Below(4));
    gang.uid = absl::StrCat(name, Below(2));
    gang.queue = Of({"", "q0", "q1", "q2", "missing"});
    gang.phase = static_cast<GangPhase>(Below(6));
    gang.has_min_resources = Below(2) == 0;
    if (gang.has_min_resources) gang.min_resources = {{"cpu", 2000}, {"a.com/gpu", 1}};
    gang.min_task_member = {{"worker", Below(2)}, {"ps", Below(2)}};
    return gang;
  }

  QueueFacts AQueue(const std::string& name) {
    QueueFacts queue = testutil::Queue(name);
    queue.parent = Of({"", "q0", "q1", "q2", "above"});
    if (Below(2) == 0) queue.capability = {{Of({"cpu", "a.com/gpu"}), 1000 * Below(3)}};
    return queue;
  }

  ClaimFacts AClaim(const std::string& name) {
    ClaimFacts claim;
    claim.ns = "default";
    claim.name = name;
    claim.phase = static_cast<ClaimPhase>(Below(3));
    if (claim.phase != ClaimPhase::kPending) claim.volume = absl::StrCat("v", Below(3));
    claim.storage_class = Of({"", "s0", "s1"});
    claim.ending = Below(6) == 0;
    claim.one_pod = Below(4) == 0;
    claim.uid = absl::StrCat(name, Below(2));
    claim.bytes = Below(3);
    if (Below(3) == 0) claim.access_modes = {"ReadWriteOnce"};
    if (Below(4) == 0) claim.selector = {{"tier", Op::kIn, {"x"}}};
    if (Below(4) == 0) claim.selected_node = absl::StrCat("n", Below(4));
    return claim;
  }

  StorageClassFacts AClass(const std::string& name) {
    StorageClassFacts made{name, Below(3) > 0, Below(2) == 0, {}};
    if (Below(3) == 0) made.topologies = {{{"zone", Op::kIn, {"a"}}}};
    made.provisioner = made.driver = Of({"d0", "d1", ""});
    return made;
  }

  StorageCapacityFacts ACapacity(const std::string& name) {
    StorageCapacityFacts made{"default", name, Of({"s0", "s1"}), {}, std::nullopt, std::nullopt};
    made.topology = {{Of({"zone", "rack", ""}), Below(4) > 0 ? Op::kIn : Op::kExists, {Of({"a", "b"})}}};
    if (Below(4) > 0) made.bytes = Below(4);
    if (Below(4) == 0) made.a_volumes = Below(3);
    return made;
  }

  HyperNodeFacts AHyperNode(const std::string& name) {
    using By = HyperNodeFacts::By;
    HyperNodeFacts made;
    made.name = name;
    made.tier = Below(3);
    while (Below(3) > 0) {
      made.members.push_back(
          {Below(2) == 0, static_cast<By>(Below(3)), Of({"n0", "n[12]", "h1", "h."}), {{"zone", Op::kIn, {"a"}}}});
    }
    return made;
  }

  VolumeFacts AVolume(const std::string& name) {
    VolumeFacts volume;
    volume.name = name;
    if (Below(8) == 0) volume.not_modelled = "spec.x";
    volume.available = Below(3) > 0;
    volume.storage_class = Of({"", "s0", "s1"});
    volume.bytes = Below(3);
    volume.access_modes = {"ReadWriteOnce"};
    volume.driver = Of({"d0", "d1", ""});
    volume.handle = Of({"h0", "h1", name});
    volume.in_tree = Below(5) == 0;
    if (Below(3) == 0) volume.labels = {{"tier", Of({"x", "y"})}};
    if (Below(4) == 0) volume.claim = absl::StrCat("default/c", Below(3));
    while (Below(2) == 0) volume.selectors.push_back({{{Of({"zone", "rack"}), Op::kIn, {Of({"a", "b"})}}}});
    return volume;
  }

  std::mt19937 random_;
  World world_;
  std::map<std::string, std::vector<PodTermFacts>> terms_;  // by UID: a pod's affinity never changes
};

// What a reader concludes from the table: room and ports, too.
std::string ObstacleAt(const Cluster& cluster, Row row, ShapeId shape) {
  return cluster.present(row) ? std::string(constraint::Placed(cluster).AsksOf(shape).ObstacleAt(row)) : "absent";
}

std::string NodeOf(const Cluster& cluster, const Task& task) {
  return task.row == kNone ? "" : std::string(cluster.node_name(task.row));
}

std::multiset<std::tuple<std::string, int, int>> PortsOf(const Cluster& cluster, Row row) {
  std::multiset<std::tuple<std::string, int, int>> ports;
  for (const HostPort& port : cluster.ports(row)) {
    ports.emplace(cluster.names().Text(port.protocol), port.ip == -1 ? 0 : 1, port.port);
  }
  return ports;
}

// HyperNodes with the names of their nodes.
std::map<std::string, std::set<std::string>> DomainsOf(const Cluster& cluster) {
  std::map<std::string, std::set<std::string>> domains;
  for (const HyperDomain& domain : cluster.hyper_nodes().Resolve()) {
    for (const Row row : domain.rows) domains[domain.name].insert(std::string(cluster.node_name(row)));
  }
  return domains;
}

void ExpectSameNodes(const Cluster& lived, const Cluster& fresh, const World& world) {
  EXPECT_EQ(lived.present_nodes(), fresh.present_nodes());
  for (const char* const dim : {"cpu", "memory", "pods", "a.com/gpu", "b.com/nic"}) {
    const Dim a = lived.dims().Find(dim), b = fresh.dims().Find(dim);
    EXPECT_EQ(a == -1 ? 0 : lived.total()[a], b == -1 ? 0 : fresh.total()[b]) << dim;
    EXPECT_EQ(a == -1 ? 0 : lived.used()[a], b == -1 ? 0 : fresh.used()[b]) << dim;
    for (const auto& [name, node] : world.nodes) {
      const Row row = lived.FindNode(name), other = fresh.FindNode(name);
      EXPECT_EQ(a == -1 ? 0 : lived.free(row, a), b == -1 ? 0 : fresh.free(other, b)) << name << " " << dim;
      EXPECT_EQ(a == -1 ? 0 : lived.allocatable(row, a), b == -1 ? 0 : fresh.allocatable(other, b))
          << name << " " << dim;
    }
  }
  for (const auto& [name, node] : world.nodes) {
    const Row row = lived.FindNode(name), other = fresh.FindNode(name);
    EXPECT_EQ(lived.unschedulable(row), fresh.unschedulable(other)) << name;
    EXPECT_EQ(lived.taints(row).size(), fresh.taints(other).size()) << name;
    EXPECT_EQ(PortsOf(lived, row), PortsOf(fresh, other)) << name;
  }
}

void ExpectSamePods(const Cluster& lived, const Cluster& fresh, const World& world) {
  for (const auto& [name, pod] : world.pods) {
    SCOPED_TRACE(name);
    const Task& a = lived.task(lived.FindTask("default", name));
    const Task& b = fresh.task(fresh.FindTask("default", name));
    EXPECT_EQ(std::tie(a.uid, a.status, a.gated, a.index), std::tie(b.uid, b.status, b.gated, b.index));
    EXPECT_EQ(lived.names().Text(a.role), fresh.names().Text(b.role));
    EXPECT_EQ(NodeOf(lived, a), NodeOf(fresh, b));
    EXPECT_EQ(lived.shape(a.shape).not_modelled, fresh.shape(b.shape).not_modelled);
    EXPECT_EQ(lived.volumes().ProblemOf(lived.shape(a.shape)).trouble,
              fresh.volumes().ProblemOf(fresh.shape(b.shape)).trouble);
    if (a.status != TaskStatus::kPending) continue;
    for (const auto& [node, facts] : world.nodes) {
      EXPECT_EQ(ObstacleAt(lived, lived.FindNode(node), a.shape), ObstacleAt(fresh, fresh.FindNode(node), b.shape))
          << node;
    }
  }
}

void ExpectSameGangs(const Cluster& lived, const Cluster& fresh, const World& world) {
  const auto of = [](const Cluster& cluster, const std::set<std::string>& names, const absl::btree_set<GangId>& ids) {
    std::set<std::string> found;
    for (const GangId id : ids) found.insert(cluster.gang(id).name);
    EXPECT_EQ(found.size(), ids.size());
    EXPECT_TRUE(std::includes(names.begin(), names.end(), found.begin(), found.end()));
    return found;
  };
  std::set<std::string> names;
  for (const auto& [name, facts] : world.gangs) {
    SCOPED_TRACE(name);
    names.insert(name);
    const Gang& a = lived.gang(lived.FindGang("default", name));
    const Gang& b = fresh.gang(fresh.FindGang("default", name));
    EXPECT_EQ(a.count, b.count);
    EXPECT_EQ(a.binding_releasing, b.binding_releasing);
    EXPECT_EQ(a.tasks.size(), b.tasks.size());
    EXPECT_EQ(a.held[kCpu], b.held[kCpu]);
    EXPECT_EQ(a.mean_start(), b.mean_start());
    EXPECT_EQ(a.admitted, b.admitted);
    EXPECT_EQ(a.min_task_member.size(), b.min_task_member.size());
    const Queue& x = lived.queue(a.queue);
    const Queue& y = fresh.queue(b.queue);
    EXPECT_EQ(std::tie(x.name, x.known, x.gangs, x.children), std::tie(y.name, y.known, y.gangs, y.children));
    EXPECT_EQ(x.held[kCpu], y.held[kCpu]);
    EXPECT_EQ(x.Limit(kCpu), y.Limit(kCpu));
    EXPECT_EQ(x.parent == kNone ? "" : lived.queue(x.parent).name, y.parent == kNone ? "" : fresh.queue(y.parent).name);
  }
  EXPECT_EQ(of(lived, names, lived.waiting()), of(fresh, names, fresh.waiting()));
  EXPECT_EQ(of(lived, names, lived.awaiting_pods()), of(fresh, names, fresh.awaiting_pods()));
}

TEST(ClusterLifeTest, WhatCameAndWentLeavesNoTrace) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Life life(seed);
    for (int i = 0; i < 200; ++i) {
      life.Step();
      ASSERT_EQ(life.cluster.Audit(), std::vector<std::string>()) << "step " << i;
    }
    life.ForgetAll();
    Cluster fresh;
    life.world().Tell(fresh);
    ExpectSameNodes(life.cluster, fresh, life.world());
    ExpectSamePods(life.cluster, fresh, life.world());
    ExpectSameGangs(life.cluster, fresh, life.world());
    EXPECT_EQ(DomainsOf(life.cluster), DomainsOf(fresh));
    EXPECT_EQ(life.cluster.volumes().claim_slots(), fresh.volumes().claim_slots());
    EXPECT_EQ(life.cluster.volumes().volume_slots(), fresh.volumes().volume_slots());
    EXPECT_EQ(life.cluster.volumes().selector_slots(), fresh.volumes().selector_slots());
    EXPECT_EQ(life.cluster.volumes().capacity_slots(), fresh.volumes().capacity_slots());
    EXPECT_EQ(life.cluster.volumes().attachments().slots(), fresh.volumes().attachments().slots());
    EXPECT_LE(life.cluster.rows(), 5) << "a row for each node that there ever was at a time";
    EXPECT_LE(life.cluster.queue_slots(), 6);
    EXPECT_LE(life.cluster.gang_slots(), 3);
    if (::testing::Test::HasFailure()) return;
  }
}

// What a reader keeps of a shape and a row stays true until the shape's version changes, or the row is among the
// changes.
TEST(ClusterLifeTest, WhatIsKeptOfShapesAndRowsIsTrueUntilItsChangeIsTold) {
  struct Kept {
    std::uint64_t version = 0;
    std::map<Row, std::string> copies;
  };
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Life life(seed);
    std::map<ShapeId, Kept> kept;
    std::uint64_t position = 0;
    for (int i = 0; i < 200; ++i) {
      const std::uint64_t before = life.cluster.version();
      life.Step();
      const Cluster& cluster = life.cluster;
      ASSERT_EQ(cluster.changes_begin(), 0u);
      for (; position < cluster.changes_end(); ++position) {
        for (auto& [shape, of_shape] : kept) of_shape.copies.erase(cluster.change(position));
      }
      bool another = false;
      for (const auto& [name, pod] : life.world().pods) {
        const Task& task = cluster.task(cluster.FindTask("default", name));
        if (task.status != TaskStatus::kPending) continue;
        Kept& of_shape = kept[task.shape];
        if (std::exchange(of_shape.version, cluster.shape_version(task.shape)) != cluster.shape_version(task.shape))
          of_shape.copies.clear();
        for (Row row = 0; row < cluster.rows(); ++row) {
          const std::string now = absl::StrCat(constraint::Placed(cluster).AsksOf(task.shape).CopiesOnRow(row));
          const auto [known, fresh] = of_shape.copies.emplace(row, now);
          ASSERT_EQ(known->second, now) << name << " on " << cluster.node_name(row) << ", step " << i;
          another = another || fresh;
        }
      }
      ASSERT_TRUE(!another || cluster.version() != before) << "step " << i;
    }
  }
}

// An event that says what is known wants no round.
TEST(ClusterLifeTest, AnEventThatRepeatsWhatIsKnownChangesNothing) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    Life life(seed);
    for (int i = 0; i < 100; ++i) life.Step();
    const World& world = life.world();
    const std::uint64_t version = life.cluster.version();
    for (const auto& [name, node] : world.nodes) life.cluster.SetNode(node);
    for (const auto& [name, pod] : world.pods) life.cluster.SetPod(pod);
    for (const auto& [name, claim] : world.claims) life.cluster.SetClaim(claim);
    for (const auto& [name, volume] : world.volumes) life.cluster.SetVolume(volume);
    for (const auto& [name, each] : world.classes) life.cluster.SetStorageClass(each);
    for (const auto& [name, ns] : world.namespaces) life.cluster.SetNamespace(ns);
    EXPECT_EQ(life.cluster.version(), version);
  }
}

}  // namespace
}  // namespace gangway::model
