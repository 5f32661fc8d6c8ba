// PlaceGang of clusters that are told of by objects: all that the engine knows of pods, gangs, queues and volumes.
#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/extender/calls/place_gang.h"
#include "tests/plugin/extender/objects.h"
#include "tests/plugin/extender/requests.h"
#include "tests/testing/status_matchers.h"

namespace gangway::extender {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;
using testutil::AddObjects;
using testutil::NodeJson;
using testutil::ObjectRequest;
using testutil::PodGroupJson;
using testutil::PodJson;
using testutil::QueueJson;
using testutil::SeedRequest;
using testutil::StatusIs;

absl::StatusOr<v1::PlaceGangResponse> PlaceObjects(const v1::PlaceGangRequest& request) {
  return PlaceGang(request, {}, [] { return absl::OkStatus(); });
}

// "g-0 n1"; members of messages as "w-0 n1".
std::vector<std::string> Spots(const absl::StatusOr<v1::PlaceGangResponse>& reply) {
  std::vector<std::string> out;
  if (!reply.ok()) return {std::string(reply.status().message())};
  for (const v1::Placement& p : reply->placements())
    out.push_back(absl::StrCat(p.pod().empty() ? absl::StrCat(p.task(), "-", p.index()) : p.pod(), " ", p.node()));
  return out;
}

std::string KindOf(const absl::StatusOr<v1::PlaceGangResponse>& reply) {
  return reply.ok() ? reply->reason().kind() : std::string(reply.status().message());
}

// Pod terms: {"labelSelector":{"matchLabels":{app:web}},"topologyKey":key}
std::string TermJson(const std::string& app, const std::string& key) {
  return absl::StrCat(R"({"labelSelector":{"matchLabels":{"app":")", app, R"("}},"topologyKey":")", key, R"("})");
}
std::string AffinityJson(const std::string& of, const std::string& term) {
  return absl::StrCat(R"(,"affinity":{")", of, R"(":{"requiredDuringSchedulingIgnoredDuringExecution":[)", term, "]}}");
}
const char kApp[] = R"(,"labels":{"app":"web"})";
const char kOnB[] = R"(,"nodeName":"b")";
const char kRuns[] = R"("phase":"Running")";

TEST(PlaceObjectsTest, AGangOfObjectsIsPlacedByItsPods) {
  const auto reply =
      PlaceObjects(ObjectRequest(NodeJson("a"), NodeJson("b"), PodGroupJson("g", 2), QueueJson("default"),
                                 PodJson("g-0", "g", "9"), PodJson("g-1", "g", "9")));
  EXPECT_THAT(Spots(reply), ElementsAre("g-0 a", "g-1 b"));
  EXPECT_TRUE(reply->placed());
  EXPECT_EQ(reply->placements(0).namespace_(), "default");
  EXPECT_EQ(reply->placements(0).task(), "w");
}

TEST(PlaceObjectsTest, PodsOfOneNamePlacedBeforeCountAndTakeRoom) {
  const auto reply = PlaceObjects(ObjectRequest(NodeJson("b"), PodGroupJson("g", 2, "", "Running"),
                                                PodJson("g-0", "g", "9", kOnB, "", kRuns), PodJson("g-1", "g", "9")));
  EXPECT_EQ(KindOf(reply), "no_room");
  EXPECT_EQ(reply->reason().existing(), 1);
}

TEST(PlaceObjectsTest, PodAffinityAndAntiAffinityAreHeld) {
  const std::string web = PodJson("web", "", "1", kOnB, kApp, kRuns);
  const std::string host_b = R"("host":"b")", host_a = R"("host":"a")";
  const auto place = [&](const std::string& spec) {
    return PlaceObjects(ObjectRequest(NodeJson("a", 16, host_a), NodeJson("b", 16, host_b), web, PodGroupJson("g", 1),
                                      PodJson("g-0", "g", "1", spec)));
  };
  EXPECT_THAT(Spots(place(AffinityJson("podAffinity", TermJson("web", "host")))), ElementsAre("g-0 b"));
  EXPECT_THAT(Spots(place(AffinityJson("podAntiAffinity", TermJson("web", "host")))), ElementsAre("g-0 a"));
  const auto none = place(AffinityJson("podAffinity", TermJson("nobody", "host")));
  EXPECT_EQ(KindOf(none), "no_room");
  ASSERT_THAT(none->reason().tasks(), SizeIs(1));
  ASSERT_THAT(none->reason().tasks(0).hindrances(), SizeIs(1));
  EXPECT_EQ(none->reason().tasks(0).hindrances(0).constraint(), "pod-affinity");
  EXPECT_EQ(none->reason().tasks(0).hindrances(0).nodes(), 2);
}

TEST(PlaceObjectsTest, LabelsOfPodsInMessagesAreSeenByTerms) {
  v1::PlaceGangRequest request =
      ObjectRequest(NodeJson("a", 16, R"("host":"a")"), NodeJson("b", 16, R"("host":"b")"), PodGroupJson("g", 1),
                    PodJson("g-0", "g", "1", AffinityJson("podAffinity", TermJson("web", "host"))));
  v1::Pod& web = *request.mutable_cluster()->add_pods();
  web.set_name("web");
  web.set_node("b");
  EXPECT_EQ(KindOf(PlaceObjects(request)), "no_room");
  (*web.mutable_labels())["app"] = "web";
  EXPECT_THAT(Spots(PlaceObjects(request)), ElementsAre("g-0 b"));
  web.set_namespace_("other");
  EXPECT_EQ(KindOf(PlaceObjects(request)), "no_room") << "a term is about its pod's namespace";
}

TEST(PlaceObjectsTest, SpreadIsHeld) {
  const std::string spread =
      R"(,"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule",)"
      R"("labelSelector":{"matchLabels":{"app":"web"}}}])";
  const auto reply = PlaceObjects(ObjectRequest(NodeJson("a", 16, R"("zone":"1")"), NodeJson("b", 16, R"("zone":"2")"),
                                                PodGroupJson("g", 2), PodJson("g-0", "g", "1", spread, kApp),
                                                PodJson("g-1", "g", "1", spread, kApp)));
  EXPECT_THAT(Spots(reply), ElementsAre("g-0 a", "g-1 b"));
}

// A claim's volume is where its node affinity says; one that is not there is a reason.
TEST(PlaceObjectsTest, ClaimsAndVolumesAreHeld) {
  const std::string uses = R"(,"volumes":[{"name":"d","persistentVolumeClaim":{"claimName":"data"}}])";
  const std::string claim =
      R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data","namespace":"default"},)"
      R"("spec":{"volumeName":"pv","accessModes":["ReadWriteMany"]},"status":{"phase":"Bound"}})";
  const std::string volume =
      R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"pv"},"spec":{"nodeAffinity":{"required":)"
      R"({"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"In","values":["2"]}]}]}},)"
      R"("claimRef":{"namespace":"default","name":"data"}},"status":{"phase":"Bound"}})";
  const auto place = [&](const std::vector<std::string>& more) {
    v1::PlaceGangRequest request = ObjectRequest(NodeJson("a", 16, R"("zone":"1")"), NodeJson("b", 16, R"("zone":"2")"),
                                                 PodGroupJson("g", 1), PodJson("g-0", "g", "1", uses));
    for (const std::string& json : more) AddObjects(*request.mutable_cluster(), json);
    return PlaceObjects(request);
  };
  EXPECT_THAT(Spots(place({claim, volume})), ElementsAre("g-0 b"));
  const auto none = place({});
  EXPECT_EQ(KindOf(none), "claim");
  EXPECT_EQ(none->reason().subject(), "data");
  EXPECT_EQ(none->reason().trouble(), "missing");
  EXPECT_EQ(place({claim})->reason().trouble(), "volume_missing");
}

std::string HyperNodeJson(const std::string& name, int tier, const std::string& type, const std::string& members) {
  std::string list;
  for (const char member : members)
    absl::StrAppend(&list, list.empty() ? "" : ",", R"({"type":")", type, R"(","selector":{"exactMatch":{"name":")",
                    std::string(1, member), "\"}}}");
  return absl::StrCat(R"({"apiVersion":"topology.volcano.sh/v1alpha1","kind":"HyperNode","metadata":{"name":")", name,
                      R"("},"spec":{"tier":)", tier, R"(,"members":[)", list, "]}}");
}

TEST(PlaceObjectsTest, AGangLiesInOneHyperNode) {
  const std::string hard = R"(,"networkTopology":{"mode":"hard","highestTierAllowed":1})";
  const auto place = [&](int cpu_of_a) {
    return PlaceObjects(ObjectRequest(NodeJson("a", cpu_of_a), NodeJson("b", 16), NodeJson("c", 16), NodeJson("d", 16),
                                      HyperNodeJson("s0", 1, "Node", "ab"), HyperNodeJson("s1", 1, "Node", "cd"),
                                      PodGroupJson("g", 2, hard), PodJson("g-0", "g", "9"), PodJson("g-1", "g", "9")));
  };
  EXPECT_THAT(Spots(place(4)), ElementsAre("g-0 c", "g-1 d"));
  v1::PlaceGangRequest request = ObjectRequest(
      NodeJson("a", 16), NodeJson("c", 16), HyperNodeJson("s0", 1, "Node", "a"), HyperNodeJson("s1", 1, "Node", "c"),
      PodGroupJson("g", 2, hard), PodJson("g-0", "g", "9"), PodJson("g-1", "g", "9"));
  const auto none = PlaceObjects(request);
  EXPECT_EQ(KindOf(none), "no_room");
  EXPECT_THAT(none->reason().within(), HasSubstr("tier 1"));
}

TEST(PlaceObjectsTest, QueuesHaveParentsGuaranteesAndRoom) {
  const std::string gang = PodGroupJson("g", 1, R"(,"queue":"ads")");
  const auto place = [&](const std::string& root, const std::string& other) {
    return PlaceObjects(ObjectRequest(NodeJson("a", 16), QueueJson("all", root), QueueJson("ads", R"("parent":"all")"),
                                      QueueJson("lab", other), gang, PodJson("g-0", "g", "9")));
  };
  EXPECT_THAT(Spots(place("", "")), ElementsAre("g-0 a"));
  const auto above = place(R"("capability":{"cpu":"8"})", "");
  EXPECT_EQ(KindOf(above), "queue_full");
  EXPECT_EQ(above->reason().subject(), "all");
  const auto guaranteed = place("", R"("guarantee":{"resource":{"cpu":"8"}})");
  EXPECT_EQ(KindOf(guaranteed), "queue_full") << "8 of 16 are another queue's";
  EXPECT_EQ(KindOf(PlaceObjects(ObjectRequest(NodeJson("a"), QueueJson("default"), gang, PodJson("g-0", "g", "1")))),
            "queue_missing");
}

// The gang of the higher priority in the same queue is served first, and may have the other's pods evicted.
TEST(PlaceObjectsTest, PriorityEvictsAndIsTold) {
  const std::string high =
      R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},"value":100})";
  const auto reply = PlaceObjects(ObjectRequest(
      NodeJson("b", 16), high, PodGroupJson("low", 1, "", "Running"), PodJson("low-0", "low", "12", kOnB, "", kRuns),
      PodGroupJson("g", 1, R"(,"priorityClassName":"high")"), PodJson("g-0", "g", "12")));
  GW_ASSERT_OK(reply);
  EXPECT_FALSE(reply->placed());
  EXPECT_EQ(KindOf(reply), "room_awaited");
  ASSERT_THAT(reply->evictions(), SizeIs(1));
  EXPECT_EQ(reply->evictions(0).pod(), "low-0");
  EXPECT_EQ(reply->evictions(0).node(), "b");
  EXPECT_EQ(reply->evictions(0).why(), "priority");
  ASSERT_THAT(reply->nominations(), SizeIs(1));
  EXPECT_EQ(reply->nominations(0).node(), "b");
}

TEST(PlaceObjectsTest, AnotherGangThatWaitsIsServedInItsTurn) {
  const std::string high =
      R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},"value":100})";
  v1::PlaceGangRequest request =
      ObjectRequest(NodeJson("b", 16), high, PodGroupJson("first", 1, R"(,"priorityClassName":"high")"),
                    PodJson("first-0", "first", "12"), PodGroupJson("g", 1), PodJson("g-0", "g", "12"));
  EXPECT_EQ(KindOf(PlaceObjects(request)), "no_room");
  request.mutable_gang()->set_name("first");
  EXPECT_THAT(Spots(PlaceObjects(request)), ElementsAre("first-0 b"));
}

TEST(PlaceObjectsTest, GatesAndWhatIsNotModelledAreReasons) {
  const auto place = [](const std::string& spec) {
    return PlaceObjects(ObjectRequest(NodeJson("a"), PodGroupJson("g", 1), PodJson("g-0", "g", "1", spec)));
  };
  EXPECT_EQ(KindOf(place(R"(,"schedulingGates":[{"name":"wait"}])")), "gated");
  const auto claims = place(R"(,"resourceClaims":[{"name":"gpu","resourceClaimName":"x"}])");
  EXPECT_EQ(KindOf(claims), "not_modelled");
  EXPECT_EQ(claims->reason().subject(), "spec.resourceClaims[gpu]");
  EXPECT_EQ(KindOf(place(R"(,"volumes":[{"name":"v","newKind":{}}])")), "not_modelled");
  const auto queue = PlaceObjects(ObjectRequest(
      NodeJson("a"), PodGroupJson("g", 1), PodJson("g-0", "g", "1"),
      QueueJson("default",
                R"("affinity":{"nodeGroupAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":["x"]}})")));
  EXPECT_EQ(KindOf(queue), "not_modelled");
  EXPECT_THAT(queue->reason().subject(), HasSubstr("spec.affinity"));
}

TEST(PlaceObjectsTest, RoomIsKeptWhereAPodIsNominated) {
  // It awaits the end of who is on b, and nobody else gets that room.
  const std::string leaving = R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")";
  v1::PlaceGangRequest request =
      ObjectRequest(NodeJson("b", 16), PodJson("old", "", "12", kOnB, leaving, kRuns), PodGroupJson("n", 1),
                    PodJson("n-0", "n", "12", "", "", R"("phase":"Pending","nominatedNodeName":"b")"),
                    PodGroupJson("g", 1), PodJson("g-0", "g", "4"));
  EXPECT_THAT(Spots(PlaceObjects(request)), ElementsAre("g-0 b")) << "4 of 16 are free";
  request.mutable_gang()->set_name("n");
  EXPECT_FALSE(PlaceObjects(request)->placed());
}

TEST(PlaceObjectsTest, ATemplateSaysAllThatAPodMayAskFor) {
  v1::PlaceGangRequest request = SeedRequest(0);
  AddObjects(*request.mutable_cluster(), NodeJson("a", 16, R"("zone":"1")"), NodeJson("b", 16, R"("zone":"2")"));
  v1::Gang& gang = *request.mutable_gang();
  gang.clear_tasks();
  gang.set_min_member(2);
  v1::Task& task = *gang.add_tasks();
  task.set_name("w");
  task.set_replicas(2);
  task.set_template_(
      R"({"metadata":{"labels":{"app":"w"}},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}],)"
      R"("affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[)" +
      TermJson("w", "zone") + "]}}}}");
  EXPECT_THAT(Spots(PlaceObjects(request)), ElementsAre("w-0 a", "w-1 b"));
  task.set_replicas(3);
  gang.set_min_member(3);
  const auto reply = PlaceObjects(request);
  EXPECT_EQ(KindOf(reply), "no_room");
  EXPECT_EQ(reply->reason().missing(), 1);
}

// Each member has a claim of its own, by the name that its pod will have.
TEST(PlaceObjectsTest, ClaimsThatAreMadeWithAPodAreEachMembers) {
  v1::PlaceGangRequest request = SeedRequest(1);
  v1::Gang& gang = *request.mutable_gang();
  gang.clear_tasks();
  gang.clear_min_member();
  v1::Task& task = *gang.add_tasks();
  task.set_name("w");
  task.set_replicas(2);
  task.set_template_(R"({"spec":{"volumes":[{"name":"s","ephemeral":{"volumeClaimTemplate":{"spec":{}}}}]}})");
  const auto reply = PlaceObjects(request);
  EXPECT_EQ(KindOf(reply), "claim");
  EXPECT_EQ(reply->reason().subject(), "ctr-volcano-w-0-s");
}

TEST(PlaceObjectsTest, SubGroupsArePlacedWhole) {
  const std::string sub_groups =
      R"(,"subGroupPolicy":[{"name":"w","subGroupSize":2,"minSubGroups":1,"matchLabelKeys":["volcano.sh/partition-id"],)"
      R"("labelSelector":{"matchLabels":{"volcano.sh/task-spec":"w"}},)"
      R"("networkTopology":{"mode":"hard","highestTierAllowed":1}}])";
  v1::PlaceGangRequest request = SeedRequest(0);
  AddObjects(*request.mutable_cluster(), NodeJson("a", 16), NodeJson("b", 16), NodeJson("c", 16), NodeJson("d", 16),
             HyperNodeJson("s0", 1, "Node", "ab"), HyperNodeJson("s1", 1, "Node", "cd"));
  v1::Gang& gang = *request.mutable_gang();
  gang.clear_tasks();
  gang.clear_min_member();
  gang.set_name("g");
  gang.set_pod_group(PodGroupJson("g", 4, sub_groups));
  v1::Task& task = testutil::AddTask(gang, "w", 4, "9");
  task.set_partition_size(2);
  EXPECT_THAT(Spots(PlaceObjects(request)), ElementsAre("w-0 a", "w-1 b", "w-2 c", "w-3 d"));
  task.set_partition_size(4);
  EXPECT_FALSE(PlaceObjects(request)->placed()) << "a sub-group of four has no HyperNode of two nodes";
}

TEST(PlaceObjectsTest, AGangThatIsNotLetInSaysWhichSumItExceeds) {
  v1::PlaceGangRequest request = ObjectRequest(
      NodeJson("a", 8), PodGroupJson("g", 1, R"(,"minResources":{"cpu":"20"})", ""), PodJson("g-0", "g", "1"));
  const auto reply = PlaceObjects(request);
  EXPECT_EQ(KindOf(reply), "cluster_full");
  EXPECT_EQ(reply->reason().overcommit_percent(), 120);
  ASSERT_THAT(reply->reason().sums(), SizeIs(1));
  EXPECT_EQ(reply->reason().sums(0).capacity(), "8");
}

TEST(PlaceObjectsTest, AGangWithoutPodsWaitsForThem) {
  const auto reply = PlaceObjects(ObjectRequest(NodeJson("a"), PodGroupJson("g", 2)));
  GW_ASSERT_OK(reply);
  EXPECT_FALSE(reply->placed());
  EXPECT_EQ(KindOf(reply), "too_few_tasks");
  EXPECT_THAT(reply->placements(), IsEmpty());
}

struct WrongObject {
  std::string name;
  std::function<void(v1::PlaceGangRequest&)> change;
  std::string message;
};
class WrongObjectTest : public ::testing::TestWithParam<WrongObject> {};

TEST_P(WrongObjectTest, IsRefusedByItsPath) {
  v1::PlaceGangRequest request = ObjectRequest(NodeJson("a"), PodGroupJson("g", 1), PodJson("g-0", "g", "1"));
  GetParam().change(request);
  EXPECT_THAT(PlaceObjects(request), StatusIs(absl::StatusCode::kInvalidArgument, StartsWith(GetParam().message)));
}

void Put(v1::PlaceGangRequest& request, const std::string& json) { request.mutable_cluster()->set_objects(0, json); }

INSTANTIATE_TEST_SUITE_P(
    All, WrongObjectTest,
    ::testing::Values(
        WrongObject{"NoJson", [](auto& r) { Put(r, "{"); }, "cluster.objects[0]: \"line 1 column 2"},
        WrongObject{"TwoKeys", [](auto& r) { Put(r, R"({"kind":"Node","kind":"Pod"})"); },
                    "cluster.objects[0].kind: is there twice"},
        WrongObject{"TooDeep", [](auto& r) { Put(r, std::string(200, '[') + std::string(200, ']')); },
                    "cluster.objects[0]: "},
        WrongObject{"NoKind", [](auto& r) { Put(r, "{}"); }, "cluster.objects[0]: needs apiVersion and kind"},
        WrongObject{"OtherKind", [](auto& r) { Put(r, R"({"apiVersion":"v1","kind":"Secret"})"); },
                    R"(cluster.objects[0]: kind "Secret" of "v1" says nothing about placement)"},
        WrongObject{"OtherVersion", [](auto& r) { Put(r, R"({"apiVersion":"v2","kind":"Node"})"); },
                    R"(cluster.objects[0]: kind "Node" of "v2" says nothing)"},
        WrongObject{"NoName", [](auto& r) { Put(r, R"({"apiVersion":"v1","kind":"Node","metadata":{}})"); },
                    R"(cluster.objects[0].metadata.name: "": )"},
        WrongObject{
            "WrongType",
            [](auto& r) { Put(r, R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a"},"spec":{"taints":5}})"); },
            "cluster.objects[0].spec.taints: must be"},
        WrongObject{"UnknownField", [](auto& r) { Put(r, PodGroupJson("x", 1, R"(,"minMembers":3)")); },
                    "cluster.objects[0].spec.minMembers: is no field that is known"},
        WrongObject{"Twice", [](auto& r) { r.mutable_cluster()->add_objects(NodeJson("a")); },
                    R"(cluster.objects[3]: "Node /a" is there twice)"},
        WrongObject{"TwiceAsMessage", [](auto& r) { r.mutable_cluster()->add_nodes()->set_name("a"); },
                    R"(cluster.objects[0]: "Node /a" is there twice)"},
        WrongObject{"Quota",
                    [](auto& r) {
                      Put(r, R"({"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"q"},)"
                             R"("spec":{"scopes":["BestEffort"]}})");
                    },
                    "cluster.objects[0].spec.scopes: a quota about some"},
        WrongObject{"NoSuchGang", [](auto& r) { r.mutable_gang()->set_name("h"); },
                    R"(gang.name: has no tasks, and there is no PodGroup "default/h")"},
        WrongObject{"OtherScheduler", [](auto& r) { r.mutable_cluster()->set_scheduler_name("mine"); },
                    R"(cluster.scheduler_name: pod "g-0" of the gang names another scheduler)"},
        WrongObject{"TasksToo", [](auto& r) { testutil::AddTask(*r.mutable_gang(), "w", 1, "1"); },
                    R"(cluster.objects[1]: "PodGroup.scheduling.volcano.sh default/g" is there twice)"},
        WrongObject{"MoreThanANameOfAnObject", [](auto& r) { r.mutable_gang()->set_min_member(1); },
                    "gang.tasks: must not be empty where more is said of the gang"},
        WrongObject{"Time", [](auto& r) { r.mutable_now()->set_nanos(-1); }, "now: is no time"}),
    [](const auto& c) { return c.param.name; });

class WrongTemplateTest : public WrongObjectTest {};
TEST_P(WrongTemplateTest, IsRefusedByItsPath) {
  v1::PlaceGangRequest request = SeedRequest(1);
  GetParam().change(request);
  EXPECT_THAT(PlaceObjects(request), StatusIs(absl::StatusCode::kInvalidArgument, StartsWith(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongTemplateTest,
    ::testing::Values(
        WrongObject{"Both", [](auto& r) { r.mutable_gang()->mutable_tasks(0)->set_template_("{}"); },
                    "gang.tasks[0].requests: must be empty beside template"},
        WrongObject{"NoJson",
                    [](auto& r) {
                      r.mutable_gang()->mutable_tasks(0)->clear_requests();
                      r.mutable_gang()->mutable_tasks(0)->set_template_("x");
                    },
                    "gang.tasks[0].template: \"line 1"},
        WrongObject{"Node",
                    [](auto& r) {
                      r.mutable_gang()->mutable_tasks(0)->clear_requests();
                      r.mutable_gang()->mutable_tasks(0)->set_template_(R"({"spec":{"nodeName":"a"}})");
                    },
                    "gang.tasks[0].template.spec.nodeName: must be empty"},
        WrongObject{"Partition", [](auto& r) { r.mutable_gang()->mutable_tasks(1)->set_partition_size(-1); },
                    "gang.tasks[1].partition_size: -1 must not be negative"},
        WrongObject{"GroupToo", [](auto& r) { r.mutable_gang()->set_pod_group("{}"); },
                    "gang.min_member: must be empty beside pod_group"},
        WrongObject{"GroupKind",
                    [](auto& r) {
                      r.mutable_gang()->clear_min_member();
                      r.mutable_gang()->set_pod_group(
                          R"({"apiVersion":"scheduling.k8s.io/v1alpha2","kind":"PodGroup"})");
                    },
                    R"(gang.pod_group: is "PodGroup" of "scheduling.k8s.io/v1alpha2", not PodGroup)"},
        WrongObject{"GroupName",
                    [](auto& r) {
                      r.mutable_gang()->clear_min_member();
                      r.mutable_gang()->set_pod_group(PodGroupJson("other", 1));
                    },
                    R"(gang.pod_group.metadata.name: "other" is not the gang's name)"},
        WrongObject{"Class", [](auto& r) { r.mutable_gang()->set_priority_class("high"); },
                    "gang.priority_class: is none of the PriorityClasses"},
        WrongObject{"Slash", [](auto& r) { r.mutable_gang()->set_name("a/b"); },
                    R"(gang.name: "a/b" must not contain a slash)"},
        WrongObject{"OtherGang",
                    [](auto& r) {
                      v1::Pod& pod = *r.mutable_cluster()->add_pods();
                      pod.set_name("p"), pod.set_node("node-0"), pod.set_task("trainer"), pod.set_gang("other");
                    },
                    R"(cluster.pods[0].gang: there is no gang "other" of tasks in its namespace)"},
        WrongObject{"Weight",
                    [](auto& r) {
                      r.mutable_cluster()->add_queues()->set_name("q");
                      r.mutable_cluster()->mutable_queues(0)->set_weight(0);
                    },
                    "cluster.queues[0].weight: 0 must be at least 1"},
        WrongObject{"Parent",
                    [](auto& r) {
                      r.mutable_cluster()->add_queues()->set_name("q");
                      r.mutable_cluster()->mutable_queues(0)->set_parent("p");
                    },
                    R"(cluster.queues[0].parent: "p" is not among the queues)"},
        WrongObject{"ManyResources",
                    [](auto& r) {
                      *r.mutable_cluster() = testutil::ClusterOf(5000);
                      for (int i = 0; i < 5000; ++i) {
                        (*r.mutable_cluster()->mutable_nodes(i)->mutable_allocatable())[absl::StrCat("r", i)] = "1";
                      }
                    },
                    "cluster.nodes: 5000 nodes and 5003 names of resources are more than one call takes"}),
    [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace gangway::extender
