#include "plugin/extender/calls/place_gang.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/plugin/extender/requests.h"
#include "tests/testing/status_matchers.h"

namespace gangway::extender {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;
using testutil::AddTask;
using testutil::SeedRequest;
using testutil::StatusIs;

absl::Status Always() { return absl::OkStatus(); }
absl::StatusOr<v1::PlaceGangResponse> Place(const v1::PlaceGangRequest& request) {
  return PlaceGang(request, {}, &Always);
}

// "trainer-0 node-1"
std::vector<std::string> Placements(const v1::PlaceGangResponse& reply) {
  std::vector<std::string> out;
  for (const v1::Placement& p : reply.placements())
    out.push_back(absl::StrCat(p.task(), "-", p.index(), " ", p.node()));
  return out;
}

TEST(PlaceGangTest, TheSeedJobGoesWhereTheSchedulerPutsIt) {
  const auto reply = Place(SeedRequest());
  GW_ASSERT_OK(reply);
  EXPECT_TRUE(reply->placed());
  EXPECT_FALSE(reply->has_reason());
  EXPECT_THAT(Placements(*reply),
              ElementsAre("pserver-0 node-0", "pserver-1 node-0", "trainer-0 node-0", "trainer-1 node-0"));
}

// The same two nodes, and the policy says which is the fuller one.
TEST(PlaceGangTest, ThePolicyDecidesWhere) {
  v1::PlaceGangRequest request;
  for (const auto& [name, cpu, memory] : {std::tuple("a", "4", "64Gi"), std::tuple("b", "64", "4Gi")}) {
    v1::Node* const node = request.mutable_cluster()->add_nodes();
    node->set_name(name);
    (*node->mutable_allocatable())["cpu"] = cpu;
    (*node->mutable_allocatable())["memory"] = memory;
    (*node->mutable_allocatable())["pods"] = "10";
  }
  request.mutable_gang()->set_name("g");
  AddTask(*request.mutable_gang(), "w", 1, "2");
  (*request.mutable_gang()->mutable_tasks(0)->mutable_requests())["memory"] = "2Gi";
  gang::Policy by_cpu, by_memory;
  by_cpu.packing.weights = {{"cpu", 1}, {"memory", 0}};
  by_memory.packing.weights = {{"cpu", 0}, {"memory", 1}};
  EXPECT_THAT(Placements(*PlaceGang(request, by_cpu, &Always)), ElementsAre("w-0 a"));
  EXPECT_THAT(Placements(*PlaceGang(request, by_memory, &Always)), ElementsAre("w-0 b"));
}

// tests/golden/volcano/gang-unschedulable: 8 x 9 cpu on six nodes of 16.
TEST(PlaceGangTest, AGangThatIsTooLargeIsNotPlacedAtAllAndTheReasonCounts) {
  v1::PlaceGangRequest request = SeedRequest();
  request.mutable_gang()->clear_tasks();
  request.mutable_gang()->clear_min_member();
  AddTask(*request.mutable_gang(), "w", 8, "9");
  const auto reply = Place(request);
  GW_ASSERT_OK(reply);
  EXPECT_FALSE(reply->placed());
  EXPECT_THAT(reply->placements(), IsEmpty());
  EXPECT_EQ(reply->reason().kind(), "no_room");
  EXPECT_EQ(reply->reason().missing(), 2);
  EXPECT_EQ(reply->reason().min_member(), 8);
  EXPECT_THAT(reply->reason().text(), StartsWith("waits for 2 of 8 tasks: w needs cpu 9"));
  EXPECT_EQ(reply->reason().existing(), 6) << "would find a node";
  ASSERT_THAT(reply->reason().tasks(), SizeIs(1));
  const v1::TaskReason& task = reply->reason().tasks(0);
  EXPECT_EQ(task.task(), "w");
  EXPECT_EQ(task.missing(), 2);
  EXPECT_EQ(task.nodes(), 6);
  EXPECT_EQ(task.fit(), 0);
  ASSERT_THAT(task.lacks(), SizeIs(1));
  EXPECT_EQ(task.lacks(0).resource(), "cpu");
  EXPECT_EQ(task.lacks(0).needed(), "9");
  EXPECT_EQ(task.lacks(0).best_free(), "7");
  EXPECT_EQ(task.lacks(0).nodes(), 6);
}

TEST(PlaceGangTest, MembersBeyondTheMinimumMayWait) {
  v1::PlaceGangRequest request = SeedRequest(1);
  request.mutable_gang()->clear_tasks();
  request.mutable_gang()->set_min_member(2);
  AddTask(*request.mutable_gang(), "w", 4, "6");
  const auto reply = Place(request);
  GW_ASSERT_OK(reply);
  EXPECT_TRUE(reply->placed());
  EXPECT_THAT(Placements(*reply), ElementsAre("w-0 node-0", "w-1 node-0"));
  EXPECT_EQ(reply->reason().kind(), "no_room");
}

TEST(PlaceGangTest, MinTaskMemberIsHeldForEachTask) {
  v1::PlaceGangRequest request = SeedRequest(1);
  request.mutable_gang()->clear_tasks();
  request.mutable_gang()->set_min_member(3);
  AddTask(*request.mutable_gang(), "a", 3, "5").set_priority(10);
  AddTask(*request.mutable_gang(), "b", 1, "5");
  // By priority alone the three a's would take the node.
  (*request.mutable_gang()->mutable_min_task_member())["b"] = 1;
  const auto reply = Place(request);
  GW_ASSERT_OK(reply);
  EXPECT_TRUE(reply->placed());
  EXPECT_THAT(Placements(*reply), ElementsAre("a-0 node-0", "a-1 node-0", "b-0 node-0"));
}

TEST(PlaceGangTest, WhatNodesAndMembersSayOfEachOtherIsHeld) {
  v1::PlaceGangRequest request = SeedRequest(5);
  v1::Cluster& cluster = *request.mutable_cluster();
  (*cluster.mutable_nodes(0)->mutable_labels())["disk"] = "hdd";
  for (const int i : {1, 2, 3, 4}) (*cluster.mutable_nodes(i)->mutable_labels())["disk"] = "ssd";
  (*cluster.mutable_nodes(1)->mutable_labels())["gen"] = "3";
  for (const int i : {2, 3, 4}) (*cluster.mutable_nodes(i)->mutable_labels())["gen"] = "5";
  cluster.mutable_nodes(2)->set_unschedulable(true);
  v1::Taint& taint = *cluster.mutable_nodes(3)->add_taints();
  taint.set_key("dedicated");
  taint.set_value("ml");
  taint.set_effect("NoSchedule");
  v1::Pod& pod = *cluster.add_pods();
  pod.set_name("web");
  pod.set_node("node-4");
  pod.add_host_ports()->set_port(8080);
  for (v1::Task& task : *request.mutable_gang()->mutable_tasks()) {
    (*task.mutable_node_selector())["disk"] = "ssd";
    v1::Requirement& gen = *task.mutable_node_affinity()->mutable_required()->add_terms()->add_match_expressions();
    gen.set_key("gen");
    gen.set_operator_("Gt");
    gen.add_values("4");
    task.add_host_ports()->set_port(8080);
  }
  auto reply = Place(request);
  GW_ASSERT_OK(reply);
  EXPECT_FALSE(reply->placed());
  ASSERT_THAT(reply->reason().tasks(), SizeIs(1)) << "both tasks ask for the same";
  EXPECT_EQ(reply->reason().tasks(0).selector(), 2);
  EXPECT_EQ(reply->reason().tasks(0).cordoned(), 1);
  EXPECT_EQ(reply->reason().tasks(0).tainted(), 1);
  EXPECT_EQ(reply->reason().tasks(0).ports(), 1);

  request.mutable_gang()->clear_min_member();
  request.mutable_gang()->mutable_tasks()->RemoveLast();
  v1::Task& task = *request.mutable_gang()->mutable_tasks(0);
  task.set_replicas(1);
  v1::Toleration& toleration = *task.add_tolerations();
  toleration.set_key("dedicated");
  toleration.set_value("ml");
  reply = Place(request);
  GW_ASSERT_OK(reply);
  EXPECT_THAT(Placements(*reply), ElementsAre("pserver-0 node-3"));
}

TEST(PlaceGangTest, EachTaintOfANodeMustBeTolerated) {
  v1::PlaceGangRequest request = SeedRequest(1);
  for (const char* const key : {"a", "b"}) {
    v1::Taint& taint = *request.mutable_cluster()->mutable_nodes(0)->add_taints();
    taint.set_key(key);
    taint.set_value("x");
    taint.set_effect("NoSchedule");
  }
  const auto tolerated = [&](const std::vector<std::string>& keys) {
    for (v1::Task& task : *request.mutable_gang()->mutable_tasks()) {
      task.clear_tolerations();
      for (const std::string& key : keys) {
        v1::Toleration& toleration = *task.add_tolerations();
        toleration.set_operator_("Exists");
        toleration.set_key(key);
      }
    }
    const auto reply = Place(request);
    GW_EXPECT_OK(reply);
    return reply.ok() && reply->placed();
  };
  EXPECT_FALSE(tolerated({}));
  EXPECT_FALSE(tolerated({"a"}));
  EXPECT_FALSE(tolerated({"b"}));
  EXPECT_TRUE(tolerated({"a", "b"}));
  EXPECT_TRUE(tolerated({""})) << "every key";
}

TEST(PlaceGangTest, APortIsTakenForItsProtocol) {
  v1::PlaceGangRequest request = SeedRequest(1);
  v1::Pod& pod = *request.mutable_cluster()->add_pods();
  pod.set_name("dns");
  pod.set_node("node-0");
  pod.add_host_ports()->set_port(53);
  pod.mutable_host_ports(0)->set_protocol("UDP");
  request.mutable_gang()->clear_min_member();
  request.mutable_gang()->mutable_tasks()->RemoveLast();
  v1::Task& task = *request.mutable_gang()->mutable_tasks(0);
  task.set_replicas(1);
  task.add_host_ports()->set_port(53);
  for (const auto& [protocol, placed] :
       {std::pair("UDP", false), std::pair("SCTP", true), std::pair("TCP", true), std::pair("", true)}) {
    task.mutable_host_ports(0)->set_protocol(protocol);
    const auto reply = Place(request);
    GW_ASSERT_OK(reply);
    EXPECT_EQ(reply->placed(), placed) << protocol;
  }
}

TEST(PlaceGangTest, PreferencesOrderTheNodesThatFit) {
  v1::PlaceGangRequest request = SeedRequest(3);
  for (v1::Task& task : *request.mutable_gang()->mutable_tasks()) {
    v1::PreferredTerm& preferred = *task.mutable_node_affinity()->add_preferred();
    preferred.set_weight(10);
    v1::Requirement& name = *preferred.mutable_term()->add_match_fields();
    name.set_key("metadata.name");
    name.set_operator_("In");
    name.add_values("node-2");
  }
  const auto reply = Place(request);
  GW_ASSERT_OK(reply);
  std::set<std::string> nodes;
  for (const v1::Placement& p : reply->placements()) nodes.insert(p.node());
  EXPECT_THAT(nodes, ElementsAre("node-2"));
}

TEST(PlaceGangTest, PodsTakeRoomAndMembersThatAreThereCount) {
  v1::PlaceGangRequest request = SeedRequest(1);
  v1::Cluster& cluster = *request.mutable_cluster();
  v1::Pod& other = *cluster.add_pods();
  other.set_name("other");
  other.set_node("node-0");
  (*other.mutable_requests())["cpu"] = "13500m";
  request.mutable_gang()->mutable_tasks(1)->set_replicas(0);
  request.mutable_gang()->mutable_tasks(1)->set_replicas(1);
  request.mutable_gang()->set_min_member(3);
  auto reply = Place(request);  // 3 x 1 cpu, 2.5 free
  GW_ASSERT_OK(reply);
  EXPECT_FALSE(reply->placed());

  v1::Pod& member = *cluster.add_pods();
  member.set_name("ctr-volcano-trainer-1");
  member.set_node("elsewhere");  // a node that is not listed
  member.set_task("trainer");
  request.mutable_gang()->mutable_tasks(1)->set_replicas(0);
  reply = Place(request);
  GW_ASSERT_OK(reply);
  EXPECT_TRUE(reply->placed());
  EXPECT_THAT(Placements(*reply), ElementsAre("pserver-0 node-0", "pserver-1 node-0"));
}

TEST(PlaceGangTest, TheQueueMustBeThereOpenAndWide) {
  v1::PlaceGangRequest request = SeedRequest();
  request.mutable_gang()->set_queue("ads");
  v1::Queue& queue = *request.mutable_cluster()->add_queues();
  queue.set_name("default");
  EXPECT_EQ(Place(request)->reason().kind(), "queue_missing");
  queue.set_name("ads");
  queue.set_closed(true);
  EXPECT_EQ(Place(request)->reason().kind(), "queue_closed");
  queue.set_closed(false);
  (*queue.mutable_capability())["cpu"] = "8";
  EXPECT_TRUE(Place(request)->placed());
  v1::Pod& pod = *request.mutable_cluster()->add_pods();
  pod.set_name("other");
  pod.set_node("node-5");
  pod.set_queue("ads");
  (*pod.mutable_requests())["cpu"] = "5";
  const auto reply = Place(request);
  GW_ASSERT_OK(reply);
  EXPECT_FALSE(reply->placed());
  EXPECT_EQ(reply->reason().kind(), "queue_full");
  EXPECT_EQ(reply->reason().subject(), "ads");
  ASSERT_THAT(reply->reason().sums(), SizeIs(1));
  EXPECT_EQ(reply->reason().sums(0).limit(), "8");
  EXPECT_EQ(reply->reason().sums(0).in_use(), "5");
}

TEST(PlaceGangTest, TheSameRequestGivesTheSameBytes) {
  const v1::PlaceGangRequest request = SeedRequest();
  EXPECT_EQ(Place(request)->SerializeAsString(), Place(request)->SerializeAsString());
}

TEST(PlaceGangTest, WorkEndsWhenNobodyWaits) {
  int asked = 0;
  const auto gone = [&] { return ++asked > 3 ? absl::CancelledError("gone") : absl::OkStatus(); };
  EXPECT_THAT(PlaceGang(SeedRequest(10'000), {}, gone), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_EQ(asked, 4) << "the rest of the nodes is not looked at";
}

struct WrongCase {
  std::string name;
  std::function<void(v1::PlaceGangRequest&)> change;
  std::string message;
};
class PlaceGangWrongTest : public ::testing::TestWithParam<WrongCase> {};

TEST_P(PlaceGangWrongTest, IsRefusedByItsPath) {
  v1::PlaceGangRequest request = SeedRequest();
  GetParam().change(request);
  EXPECT_THAT(Place(request), StatusIs(absl::StatusCode::kInvalidArgument, StartsWith(GetParam().message)));
}

v1::Task& Second(v1::PlaceGangRequest& r) { return *r.mutable_gang()->mutable_tasks(1); }
v1::Requirement& Required(v1::PlaceGangRequest& r) {
  v1::Requirement& requirement =
      *Second(r).mutable_node_affinity()->mutable_required()->add_terms()->add_match_expressions();
  requirement.set_key("zone");
  return requirement;
}
v1::Pod& NewPod(v1::PlaceGangRequest& r) {
  v1::Pod& pod = *r.mutable_cluster()->add_pods();
  pod.set_name("p");
  pod.set_node("node-0");
  return pod;
}

INSTANTIATE_TEST_SUITE_P(
    All, PlaceGangWrongTest,
    ::testing::Values(
        WrongCase{"NoGang", [](auto& r) { r.clear_gang(); }, "gang: is missing"},
        WrongCase{"NoName", [](auto& r) { r.mutable_gang()->clear_name(); }, "gang.name: must not be empty"},
        WrongCase{"LongName", [](auto& r) { r.mutable_gang()->set_name(std::string(513, 'n')); },
                  "gang.name: is longer than 512 bytes"},
        WrongCase{"NoTasks", [](auto& r) { r.mutable_gang()->clear_tasks(); }, "gang.tasks: must not be empty"},
        WrongCase{"TaskName", [](auto& r) { Second(r).set_name("Trainer"); },
                  R"(gang.tasks[1].name: "Trainer": a lowercase RFC 1123 label)"},
        WrongCase{"TaskTwice", [](auto& r) { Second(r).set_name("pserver"); },
                  R"(gang.tasks[1].name: "pserver" is there twice)"},
        WrongCase{"Replicas", [](auto& r) { Second(r).set_replicas(-1); },
                  "gang.tasks[1].replicas: -1 must not be negative"},
        WrongCase{"TooMany", [](auto& r) { Second(r).set_replicas(2'000'000'000); },
                  "gang.tasks[1].replicas: 2000000002 members are more"},
        WrongCase{"Quantity", [](auto& r) { (*Second(r).mutable_requests())["cpu"] = "4 cores"; },
                  R"(gang.tasks[1].requests["cpu"]: "4 cores" is no quantity; write 500m, 2 or 1.5Gi)"},
        WrongCase{"Negative", [](auto& r) { (*Second(r).mutable_requests())["cpu"] = "-1"; },
                  R"(gang.tasks[1].requests["cpu"]: "-1" must not)"},
        WrongCase{"NoResource", [](auto& r) { (*Second(r).mutable_requests())[""] = "1"; },
                  "gang.tasks[1].requests: a resource has no name"},
        WrongCase{"MinMember", [](auto& r) { r.mutable_gang()->set_min_member(5); },
                  "gang.min_member: 5 exceeds the gang's 4 members"},
        WrongCase{"MinMemberNegative", [](auto& r) { r.mutable_gang()->set_min_member(-5); },
                  "gang.min_member: -5 must not be negative"},
        WrongCase{"MinTaskMember", [](auto& r) { (*r.mutable_gang()->mutable_min_task_member())["trainer"] = 3; },
                  R"(gang.min_task_member["trainer"]: 3 exceeds the task's 2)"},
        WrongCase{"MinTaskMemberOfNone", [](auto& r) { (*r.mutable_gang()->mutable_min_task_member())["x"] = 1; },
                  R"(gang.min_task_member["x"]: the gang has no such task)"},
        WrongCase{
            "Operator", [](auto& r) { Required(r).set_operator_("in"); },
            R"(gang.tasks[1].node_affinity.required.terms[0].match_expressions[0].operator: "in" is no operator)"},
        WrongCase{"Values", [](auto& r) { Required(r).set_operator_("In"); },
                  "gang.tasks[1].node_affinity.required.terms[0].match_expressions[0].values: In needs at least one"},
        WrongCase{"Weight", [](auto& r) { Second(r).mutable_node_affinity()->add_preferred()->set_weight(101); },
                  "gang.tasks[1].node_affinity.preferred[0].weight: 101 must be 1 to 100"},
        WrongCase{"Toleration", [](auto& r) { Second(r).add_tolerations()->set_operator_("Exist"); },
                  R"(gang.tasks[1].tolerations[0].operator: "Exist")"},
        WrongCase{"TolerationWithoutKey", [](auto& r) { Second(r).add_tolerations()->set_value("x"); },
                  "gang.tasks[1].tolerations[0].key: must not be empty without Exists"},
        WrongCase{"TolerationOfAValue",
                  [](auto& r) {
                    Second(r).add_tolerations()->set_operator_("Exists"),
                        Second(r).mutable_tolerations(0)->set_value("x");
                  },
                  "gang.tasks[1].tolerations[0].value: must be empty with Exists"},
        WrongCase{"TolerationEffect",
                  [](auto& r) {
                    Second(r).add_tolerations()->set_key("k"), Second(r).mutable_tolerations(0)->set_effect("Never");
                  },
                  R"(gang.tasks[1].tolerations[0].effect: "Never" is no effect)"},
        WrongCase{"Port", [](auto& r) { Second(r).add_host_ports()->set_port(70000); },
                  "gang.tasks[1].host_ports[0].port: 70000 must be 1 to 65535"},
        WrongCase{
            "Ip",
            [](auto& r) { Second(r).add_host_ports()->set_port(1), Second(r).mutable_host_ports(0)->set_ip("ten"); },
            R"(gang.tasks[1].host_ports[0].ip: "ten" is no IP address)"},
        WrongCase{"NodeName", [](auto& r) { r.mutable_cluster()->mutable_nodes(3)->clear_name(); },
                  "cluster.nodes[3].name: must not be empty"},
        WrongCase{"NodeTwice", [](auto& r) { r.mutable_cluster()->mutable_nodes(3)->set_name("node-1"); },
                  R"(cluster.nodes[3].name: "node-1" is there twice)"},
        WrongCase{"Allocatable",
                  [](auto& r) { (*r.mutable_cluster()->mutable_nodes(3)->mutable_allocatable())["memory"] = "64GiB"; },
                  R"(cluster.nodes[3].allocatable["memory"]: "64GiB" is no quantity)"},
        WrongCase{"Taint", [](auto& r) { r.mutable_cluster()->mutable_nodes(3)->add_taints()->set_key("k"); },
                  R"(cluster.nodes[3].taints[0].effect: "" is no effect)"},
        WrongCase{"PodNode", [](auto& r) { NewPod(r).clear_node(); }, "cluster.pods[0].node: must not be empty"},
        WrongCase{"PodTwice", [](auto& r) { NewPod(r), NewPod(r); }, R"(cluster.pods[1].name: "p" is there twice)"},
        WrongCase{"PodTask", [](auto& r) { NewPod(r).set_task("x"); },
                  R"(cluster.pods[0].task: the gang has no task "x")"},
        WrongCase{"PodQueue",
                  [](auto& r) { NewPod(r).set_task("trainer"), r.mutable_cluster()->mutable_pods(0)->set_queue("q"); },
                  "cluster.pods[0].queue: must be empty"},
        WrongCase{"QueueTwice",
                  [](auto& r) {
                    r.mutable_cluster()->add_queues()->set_name("q"), r.mutable_cluster()->add_queues()->set_name("q");
                  },
                  R"(cluster.queues[1].name: "q" is there twice)"},
        WrongCase{"LargeTaskOfMany",
                  [](auto& r) {
                    Second(r).set_replicas(9000);
                    (*Second(r).mutable_node_selector())["k"] = std::string(10'000, 'v');
                  },
                  "gang.tasks[1]: takes 10"},
        WrongCase{"NodesThatOnlyPodsName",
                  [](auto& r) {
                    for (int i = 0; i < 10'000; ++i) {
                      v1::Pod& pod = NewPod(r);
                      pod.set_name(absl::StrCat("p", i));
                      pod.set_node(absl::StrCat("n", i));
                    }
                    for (int i = 0; i < 1000; ++i)
                      (*r.mutable_cluster()->mutable_pods(0)->mutable_requests())[absl::StrCat("r", i)] = "1";
                  },
                  "cluster.nodes: 10006 nodes and 100"},
        WrongCase{"TooManyKinds",
                  [](auto& r) {
                    for (int i = 0; i < 1000; ++i) AddTask(*r.mutable_gang(), absl::StrCat("t", i), 0, "1");
                    *r.mutable_cluster() = testutil::ClusterOf(1000);
                  },
                  "gang.tasks: 1002 tasks on 1000 nodes are more than one call takes"}),
    [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace gangway::extender
