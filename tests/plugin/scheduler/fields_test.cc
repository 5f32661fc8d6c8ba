// What objects ask for is asked of nodes, or waited for with a reason: as an API server shows them and sees the answer.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/json_value.h"
#include "base/simulated_loop.h"
#include "tests/plugin/scheduler/running_scheduler.h"
#include "tests/testing/fake_client.h"

namespace gangway::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace json = boost::json;

// An API server that shows what is in `items`, and notes what is asked of it.
class FieldsTest : public ::testing::Test {
 protected:
  FieldsTest() : loop_(1), client_(loop_) {
    Add("queues", R"({"metadata":{"name":"root","uid":"q1","resourceVersion":"1"}})");
    Add("queues", R"({"metadata":{"name":"default","uid":"q2","resourceVersion":"1"},"spec":{"parent":"root"}})");
  }

  void Add(const std::string& plural, const std::string& object) {
    std::string& items = items_[plural];
    absl::StrAppend(&items, items.empty() ? "" : ",", object);
  }
  void AddNode(const std::string& name, const std::string& zone,
               const std::string& allocatable = R"("cpu":"16","pods":"110")") {
    Add("nodes", absl::StrCat(R"({"metadata":{"name":")", name, R"(","uid":"u-)", name,
                              R"(","resourceVersion":"1","labels":{"kubernetes.io/hostname":")", name, R"(","zone":")",
                              zone, R"("}},"status":{"allocatable":{)", allocatable, "}}}"));
  }
  void AddGroup(const std::string& spec, const std::string& status = R"("phase":"Inqueue")") {
    Add("podgroups",
        absl::StrCat(R"({"metadata":{"namespace":"ns","name":"g","uid":"u-g","resourceVersion":"1"},"spec":{)", spec,
                     R"(},"status":{)", status, "}}"));
  }
  void AddPod(const std::string& name, const std::string& spec = "", const std::string& labels = R"("app":"train")",
              const std::string& cpu = R"("cpu":"1")", const std::string& phase = "Pending",
              const std::string& role = "w") {
    Add("pods", absl::StrCat(R"({"metadata":{"namespace":"ns","name":")", name, R"(","uid":"u-)", name,
                             R"(","resourceVersion":"1","labels":{)", labels,
                             R"(},"annotations":{"scheduling.k8s.io/group-name":"g","volcano.sh/task-spec":")", role,
                             R"("}},"spec":{"schedulerName":"volcano",)", spec, spec.empty() ? "" : ",",
                             R"("containers":[{"name":"c","resources":{"requests":{)", cpu,
                             R"(}}}]},"status":{"phase":")", phase, R"("}})"));
  }
  // One that runs on a node, of nobody we know.
  void AddStranger(const std::string& name, const std::string& node, const std::string& spec,
                   const std::string& ns = "ns", const std::string& phase = "Running") {
    Add("pods", absl::StrCat(R"({"metadata":{"namespace":")", ns, R"(","name":")", name, R"(","uid":"u-)", name,
                             R"(","resourceVersion":"1","labels":{"app":"web"}},"spec":{"nodeName":")", node, R"(",)",
                             spec, R"(,"containers":[]},"status":{"phase":")", phase, R"("}})"));
  }
  void AddClaim(const std::string& name, const std::string& spec, const std::string& phase,
                const std::string& metadata = "") {
    Add("persistentvolumeclaims", absl::StrCat(R"({"metadata":{"namespace":"ns","name":")", name, R"(","uid":"u-)",
                                               name, R"(","resourceVersion":"1")", metadata, R"(},"spec":{)", spec,
                                               R"(},"status":{"phase":")", phase, R"("}})"));
  }
  void AddVolume(const std::string& name, const std::string& spec, const std::string& labels = "") {
    Add("persistentvolumes",
        absl::StrCat(R"({"metadata":{"name":")", name, R"(","uid":"u-)", name, R"(","resourceVersion":"1","labels":{)",
                     labels, R"(}},"spec":{)", spec, R"(},"status":{"phase":"Bound"}})"));
  }

  // Lets it work for a while; what was bound stands in bound_, what is told of the gang in reason_.
  void Run(Options options = {}, std::vector<std::string> namespaces = {}) {
    client_.SetHandler([this](const kube::Request& request) { return Answer(request); });
    scheduler_.emplace(loop_, client_, std::move(options), false, std::move(namespaces));
    scheduler_->Start();
    loop_.RunFor(absl::Seconds(5));
  }
  // Over the watch of that resource.
  void Push(const std::string& plural, const std::string& object) {
    for (std::size_t i = 0; i < client_.watches(); ++i) {
      if (absl::EndsWith(client_.watch_request(i).path, "/" + plural))
        return client_.Push(i, kube::FrameType::kModified, object);
    }
    ADD_FAILURE() << "nobody watches " << plural;
  }
  std::optional<absl::StatusOr<kube::Response>> Answer(const kube::Request& request) {
    const std::vector<std::string> parts = absl::StrSplit(request.path, '/');
    if (request.method == "GET" && forbidden_.contains(parts.back()))
      return testutil::Refusal(403, "Forbidden", parts.back());
    if (request.method == "GET" && parts.back() == "podgroups" && !absl::StrContains(request.path, "volcano")) {
      const auto served = items_.find(absl::StrCat("podgroups.", parts[2]));
      if (served == items_.end()) return testutil::Refusal(404, "NotFound", parts.back());
      return testutil::Reply(200,
                             absl::StrCat(R"({"metadata":{"resourceVersion":"9"},"items":[)", served->second, "]}"));
    }
    if (request.method == "GET") {
      return testutil::Reply(
          200, absl::StrCat(R"({"metadata":{"resourceVersion":"9"},"items":[)", items_[parts.back()], "]}"));
    }
    if (parts.back() == "binding") {
      const json::value body = *api::ParseJson(request.body);
      bound_[parts[parts.size() - 2]] = std::string(body.at("target").at("name").get_string());
    }
    if (request.method == "PATCH" && parts.size() > 1 &&
        absl::StartsWith(parts[parts.size() - 2], "persistentvolume")) {
      if (unpatchable_.contains(parts[parts.size() - 2])) return testutil::Refusal(403, "Forbidden", parts.back());
      patched_[parts.back()] = request.body;
      ++patches_;
    }
    if (request.method == "PATCH" && absl::EndsWith(request.path, "/podgroups/g")) {
      const json::value body = *api::ParseJson(request.body);
      boost::system::error_code none;
      if (const json::value* const text = body.find_pointer("/status/conditions/0/message", none))
        reason_ = std::string(text->get_string());
      if (const json::value* const phase = body.find_pointer("/status/phase", none))
        phase_ = std::string(phase->get_string());
    }
    if (request.method == "PATCH" && parts.back() == "status" && !absl::StrContains(request.path, "/queues/"))
      statuses_[absl::StrCat(parts[2], "/", parts[parts.size() - 2])] = request.body;
    return testutil::Reply(request.method == "POST" ? 201 : 200, "{}");
  }

  SimulatedLoop loop_;
  testutil::FakeClient client_;
  std::map<std::string, std::string> items_;  // by plural
  std::set<std::string> forbidden_;           // plurals
  std::optional<RunningScheduler> scheduler_;
  std::map<std::string, std::string> bound_;
  std::map<std::string, std::string> patched_;  // claims and volumes
  int patches_ = 0;                             // of them
  std::set<std::string> unpatchable_;           // plurals
  std::string reason_, phase_;
  std::map<std::string, std::string>
      statuses_;  // as patched, by API group (of core objects the version's word) and name
};

constexpr char kClaim[] = R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"data"}}])";

// ---- sub-groups and queues

// Two partitions of two, no topology.
TEST_F(FieldsTest, PartitionsWithoutTopologyAreAPlainGang) {
  AddNode("n1", "a");
  AddGroup(
      R"("minMember":4,"minTaskMember":{"w":4},"queue":"default","subGroupPolicy":[{"name":"w","subGroupSize":2,"minSubGroups":0,
    "labelSelector":{"matchLabels":{"volcano.sh/task-spec":"w"}},"matchLabelKeys":["volcano.sh/partition-id"]}])");
  for (int i = 0; i < 4; ++i)
    AddPod(absl::StrCat("p", i), "",
           absl::StrCat(R"("volcano.sh/task-spec":"w","volcano.sh/partition-id":")", i / 2, "\""));
  Run();
  EXPECT_EQ(bound_.size(), 4u) << reason_;
}

// Rows of tests/spec/volcano-scheduler.rows: what prefers one topology has to fit nonetheless, and amounts of 0
// deserved are no limit.
class SoftTopologyTest : public FieldsTest {
 protected:
  SoftTopologyTest() {
    for (const auto& [name, zone] :
         {std::pair("s0-n1", "s0"), std::pair("s0-n2", "s0"), std::pair("s1-n1", "s1"), std::pair("s1-n2", "s1")}) {
      AddNode(name, zone, R"("cpu":"2","memory":"4Gi","pods":"10")");
    }
  }
  void AddSoft(int min_member) {
    AddGroup(absl::StrCat(R"("minMember":)", min_member,
                          R"(,"queue":"default","networkTopology":{"mode":"soft","highestTierAllowed":1})"));
  }
  void AddOne(const std::string& name, const std::string& spec = "", const std::string& phase = "Pending",
              const std::string& role = "w") {
    AddPod(name, spec, "", R"("cpu":"2","memory":"4G")", phase, role);
  }
};

TEST_F(SoftTopologyTest, H1AllOfItBeyondOneDomain) {
  AddSoft(3);
  for (const char* pod : {"p0", "p1", "p2"}) AddOne(pod);
  Run();
  EXPECT_EQ(bound_.size(), 3u) << reason_;
}

TEST_F(SoftTopologyTest, H2TwoRoles) {
  AddSoft(1);
  AddOne("p0", "", "Pending", "master");
  AddOne("p1", "", "Pending", "worker");
  Run();
  EXPECT_EQ(bound_.size(), 2u) << reason_;
}

TEST_F(SoftTopologyTest, H3ASelectorDecides) {
  AddSoft(1);
  AddOne("p0", R"("nodeSelector":{"kubernetes.io/hostname":"s1-n2"})");
  Run();
  EXPECT_THAT(bound_, ElementsAre(std::pair<const std::string, std::string>("p0", "s1-n2")));
}

class SoftTopologyMinimumTest : public SoftTopologyTest, public ::testing::WithParamInterface<int> {};

TEST_P(SoftTopologyMinimumTest, H4TheThirdOfThree) {
  AddSoft(GetParam());
  AddOne("p0", R"("nodeName":"s0-n1")", "Running");
  AddOne("p1", R"("nodeName":"s0-n2")", "Running");
  AddOne("p2");
  Run();
  ASSERT_EQ(bound_.size(), 1u) << reason_;
  EXPECT_TRUE(bound_.contains("p2"));
}

INSTANTIATE_TEST_SUITE_P(Minimum, SoftTopologyMinimumTest, ::testing::Values(2, 3));

// Volcano says nothing about a gang whose queue is not there.
TEST_F(FieldsTest, E4AGangWithoutItsQueueIsNotLetInAndIsToldWhy) {
  AddNode("n1", "a");
  AddGroup(R"("minMember":0,"queue":"missing")", R"("phase":"Pending")");
  Run();
  EXPECT_EQ(reason_, "waits for 0 of 0 tasks: there is no queue missing");
  EXPECT_EQ(phase_, "") << "it stays Pending";
}

TEST_F(FieldsTest, T10NothingDeservedOfAResourceIsNoLimit) {
  AddNode("n1", "a", R"("cpu":"4","pods":"110","nvidia.com/gpu":"8")");
  items_["queues"] =
      R"({"metadata":{"name":"default","uid":"q2","resourceVersion":"1"},"spec":{"deserved":{"cpu":"4","nvidia.com/gpu":"8","hugepages-1Gi":"0"}}})";
  AddGroup(R"("minMember":1,"queue":"default")");
  AddPod("p0", "", "", R"("cpu":"2","nvidia.com/gpu":"1")");
  Run();
  EXPECT_EQ(bound_.size(), 1u) << reason_;
}

TEST_F(FieldsTest, AQueueWithoutDevicesGetsNone) {
  AddNode("n1", "a", R"("cpu":"16","pods":"110","nvidia.com/gpu":"8")");
  items_["queues"] =
      R"({"metadata":{"name":"default","uid":"q2","resourceVersion":"1"},"spec":{"capability":{"nvidia.com/gpu":"0"}}})";
  AddGroup(R"("minMember":1,"queue":"default")");
  AddPod("p0", "", R"("a":"b")", R"("nvidia.com/gpu":"1")");
  Run();
  EXPECT_THAT(bound_, IsEmpty());
  EXPECT_EQ(reason_, "waits for 1 of 1 task: needs nvidia.com/gpu 1, queue default uses 0 of 0, 1 too many");
}

TEST_F(FieldsTest, AGuaranteeIsKeptOnceInATree) {
  AddNode("n1", "a");
  Add("queues",
      R"({"metadata":{"name":"lab","uid":"q3","resourceVersion":"1"},"spec":{"parent":"root","guarantee":{"resource":{"cpu":"8"}}}})");
  Add("queues",
      R"({"metadata":{"name":"team","uid":"q4","resourceVersion":"1"},"spec":{"parent":"lab","guarantee":{"resource":{"cpu":"8"}}}})");
  AddGroup(R"("minMember":1,"queue":"default","minResources":{"cpu":"8"})", R"("phase":"Pending")");
  Run();
  EXPECT_EQ(phase_, "Inqueue") << reason_;
}

// ---- gangs by other names

class OtherGroupsTest : public FieldsTest {
 protected:
  OtherGroupsTest() { AddNode("n1", "a", R"("cpu":"4","pods":"110")"); }
  static std::string Meta(const std::string& name, const std::string& more = "", int version = 1) {
    return absl::StrCat(R"("metadata":{"namespace":"ns","name":")", name, R"(","uid":"u-)", name,
                        R"(","resourceVersion":")", version, "\"", more, "}");
  }
  void AddKubernetes(const std::string& policy, const std::string& status = "") {
    Add("podgroups.scheduling.k8s.io",
        absl::StrCat("{", Meta("g", R"(,"generation":3)"), R"(,"spec":{"schedulingPolicy":)", policy, R"(},"status":{)",
                     status, "}}"));
  }
  void AddCoscheduling(const std::string& spec, const std::string& status = "") {
    Add("podgroups.scheduling.x-k8s.io",
        absl::StrCat("{", Meta("g"), R"(,"spec":{)", spec, R"(},"status":{)", status, "}}"));
  }
  static std::string APod(const std::string& name, const std::string& metadata, const std::string& spec,
                          const std::string& node = "", int version = 1) {
    return absl::StrCat("{", Meta(name, metadata, version), R"(,"spec":{)",
                        node.empty() ? "" : absl::StrCat(R"("nodeName":")", node, "\","), R"("schedulerName":")",
                        scheduler_name_, "\",", spec,
                        R"("containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]},"status":{"phase":")",
                        node.empty() ? "Pending" : "Running", R"("}})");
  }
  void AddPods(int count, const std::string& metadata, const std::string& spec = "") {
    for (int i = 0; i < count; ++i) Add("pods", APod(absl::StrCat("p", i), metadata, spec));
  }
  static inline std::string scheduler_name_;
  void SetUp() override { scheduler_name_ = "volcano"; }
  static constexpr char kNamesKubernetes[] = R"("schedulingGroup":{"podGroupName":"g"},)";
  static constexpr char kNamesCoscheduling[] = R"(,"labels":{"scheduling.x-k8s.io/pod-group":"g"})";
  static constexpr char kNamesVolcano[] = R"(,"annotations":{"scheduling.k8s.io/group-name":"g"})";
  static constexpr char kGangOfTwo[] = R"({"gang":{"minCount":2}})";
};

TEST_F(OtherGroupsTest, KubernetesOwnIsPlacedWholeAndSaysSo) {
  AddKubernetes(kGangOfTwo);
  AddPods(2, "", kNamesKubernetes);
  Run();
  EXPECT_EQ(bound_.size(), 2u);
  EXPECT_THAT(statuses_, IsEmpty()) << "not before the bindings are there";
  for (const char* const pod : {"p0", "p1"}) Push("pods", APod(pod, "", kNamesKubernetes, "n1", 20));
  loop_.RunFor(absl::Seconds(5));
  EXPECT_THAT(
      statuses_["scheduling.k8s.io/g"],
      HasSubstr(R"("status":{"conditions":[{"type":"PodGroupScheduled","status":"True","observedGeneration":3,)"));
  EXPECT_THAT(statuses_["scheduling.k8s.io/g"], HasSubstr(R"("reason":"Scheduled","message":""}]})"));
}

TEST_F(OtherGroupsTest, KubernetesOwnWithoutRoomWaitsAndSaysWhy) {
  AddKubernetes(
      R"({"gang":{"minCount":3}})",
      R"("conditions":[{"type":"Other","status":"True","reason":"r","message":"m","lastTransitionTime":"2026-01-01T00:00:00Z"}])");
  AddPods(3, "", kNamesKubernetes);
  Run();
  EXPECT_THAT(bound_, IsEmpty());
  const std::string why = "waits for 1 of 3 tasks: a task needs cpu 2; with 2 placed, 1 node has 0 free, 0 fit";
  EXPECT_THAT(
      statuses_["scheduling.k8s.io/g"],
      HasSubstr(
          R"([{"type":"Other","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z","reason":"r","message":"m"},)"));
  EXPECT_THAT(statuses_["scheduling.k8s.io/g"],
              HasSubstr(absl::StrCat(R"("reason":"Unschedulable","message":")", why, "\"}]")));
  EXPECT_THAT(statuses_["v1/p0"], HasSubstr(why));
}

TEST_F(OtherGroupsTest, ABasicOneIsLetGoPodByPod) {
  AddKubernetes(R"({"basic":{}})");
  AddPods(3, "", kNamesKubernetes);
  Run();
  EXPECT_EQ(bound_.size(), 2u);
}

TEST_F(OtherGroupsTest, ConstraintsThatAreNotKnownAreNotPassedOver) {
  Add("podgroups.scheduling.k8s.io",
      absl::StrCat(
          "{", Meta("g"),
          R"(,"spec":{"schedulingPolicy":{"gang":{"minCount":1}},"schedulingConstraints":{"topology":[{"key":"zone"}]}}})"));
  AddPods(1, "", kNamesKubernetes);
  Run();
  EXPECT_THAT(bound_, IsEmpty());
  EXPECT_THAT(statuses_["scheduling.k8s.io/g"],
              HasSubstr("spec.schedulingConstraints.topology asks for something this scheduler does not know"));
}

TEST_F(OtherGroupsTest, CoschedulingsIsPlacedWhole) {
  AddCoscheduling(R"("minMember":2,"minResources":{"cpu":"4"},"scheduleTimeoutSeconds":10)");
  AddPods(2, kNamesCoscheduling);
  Run();
  EXPECT_EQ(bound_.size(), 2u);
  EXPECT_THAT(statuses_["scheduling.x-k8s.io/g"],
              HasSubstr(R"("status":{"phase":"Scheduling","running":0,"succeeded":0,"failed":0})"));
  for (const char* const pod : {"p0", "p1"}) Push("pods", APod(pod, kNamesCoscheduling, "", "n1", 20));
  loop_.RunFor(absl::Seconds(5));
  EXPECT_THAT(statuses_["scheduling.x-k8s.io/g"], HasSubstr(R"("status":{"phase":"Running","running":2,)"));
}

TEST_F(OtherGroupsTest, CoschedulingsWithoutRoomWaits) {
  AddCoscheduling(R"("minMember":3)");
  AddPods(3, kNamesCoscheduling);
  Run();
  EXPECT_THAT(bound_, IsEmpty());
  EXPECT_THAT(statuses_["v1/p0"], HasSubstr("waits for 1 of 3 tasks: a task needs cpu 2"));
  int told = 0;
  for (const kube::Request& request : client_.requests()) {
    told += request.method == "POST" && absl::EndsWith(request.path, "/events") &&
                    absl::StrContains(request.body, R"("apiVersion":"scheduling.x-k8s.io/v1alpha1")")
                ? 1
                : 0;
  }
  EXPECT_EQ(told, 1) << "it has no conditions, so an event says it, once";
}

// What the cluster cannot let in as a sum is not placed in part either.
TEST_F(OtherGroupsTest, CoschedulingsMinResourcesAreHeld) {
  AddCoscheduling(R"("minMember":1,"minResources":{"cpu":"40"})");
  AddPods(1, kNamesCoscheduling);
  Run();
  EXPECT_THAT(bound_, IsEmpty());
  EXPECT_THAT(statuses_["v1/p0"], HasSubstr("needs cpu 40, the cluster uses 0 of 4"));
}

TEST_F(OtherGroupsTest, APodOfTwoGangsIsToldByWhichFields) {
  AddGroup(R"("minMember":1,"queue":"default")");
  AddKubernetes(kGangOfTwo);
  AddPods(1, kNamesVolcano, kNamesKubernetes);
  Run();
  EXPECT_THAT(bound_, IsEmpty());
  EXPECT_EQ(reason_,
            "waits for 1 of 1 task: metadata.annotations[scheduling.k8s.io/group-name] and spec.schedulingGroup name "
            "two gangs");
}

TEST_F(OtherGroupsTest, ALabelCountsWhereTheClusterHasTheKind) {
  const std::string both =
      R"(,"annotations":{"scheduling.k8s.io/group-name":"g"},"labels":{"scheduling.x-k8s.io/pod-group":"h"})";
  AddGroup(R"("minMember":1,"queue":"default")");
  AddPods(1, both);
  items_["podgroups.scheduling.x-k8s.io"] = "";
  Run();
  EXPECT_THAT(bound_, IsEmpty());
  EXPECT_EQ(reason_,
            "waits for 1 of 1 task: metadata.annotations[scheduling.k8s.io/group-name] and "
            "metadata.labels[scheduling.x-k8s.io/pod-group] name two gangs");
}

TEST_F(OtherGroupsTest, ALabelBesideAnotherNameIsALabelWhereItDoesNot) {
  AddGroup(R"("minMember":1,"queue":"default")");
  AddPods(1, R"(,"annotations":{"scheduling.k8s.io/group-name":"g"},"labels":{"scheduling.x-k8s.io/pod-group":"h"})");
  Run();
  EXPECT_EQ(bound_.size(), 1u) << reason_;
}

TEST_F(OtherGroupsTest, PodsWithoutTheirPodGroupAreTold) {
  items_["podgroups.scheduling.k8s.io"] = "";
  AddPods(1, "", kNamesKubernetes);
  Add("pods", APod("q", kNamesCoscheduling, ""));
  Add("pods", APod("r", kNamesVolcano, ""));
  Run();
  EXPECT_THAT(bound_, IsEmpty());
  EXPECT_THAT(statuses_["v1/p0"],
              HasSubstr(R"-("message":"waits for its PodGroup g, which is not there (podgroups.scheduling.k8s.io)")-"));
  EXPECT_THAT(
      statuses_["v1/r"],
      HasSubstr(R"-("message":"waits for its PodGroup g, which is not there (podgroups.scheduling.volcano.sh)")-"));
  EXPECT_THAT(statuses_["v1/q"], HasSubstr("waits for its PodGroup g: the cluster has no "
                                           "podgroups.scheduling.x-k8s.io, or the scheduler may not list them"));
}

// The kinds do not say whose they are: without a pod of ours they are another scheduler's.
TEST_F(OtherGroupsTest, AnotherSchedulersAreLeftAlone) {
  AddKubernetes(R"({"gang":{"minCount":9}})");
  AddCoscheduling(R"("minMember":9)");
  scheduler_name_ = "default-scheduler";
  AddPods(2, "", kNamesKubernetes);
  Add("pods", APod("q", kNamesCoscheduling, ""));
  Run();
  EXPECT_THAT(bound_, IsEmpty());
  EXPECT_THAT(statuses_, IsEmpty());
  EXPECT_THAT(scheduler_->Dump(), HasSubstr(R"("waitingGangs":0)"));
}

// ---- claims

TEST_F(FieldsTest, AMissingClaimIsWaitedFor) {
  AddNode("n1", "a");
  AddGroup(R"("minMember":1,"queue":"default")");
  AddPod("p0", kClaim);
  Run();
  EXPECT_THAT(bound_, IsEmpty());
  EXPECT_EQ(reason_, "waits for 1 of 1 task: there is no claim data");
}

// ---- claims of classes that wait for a pod

class OpenClaimTest : public FieldsTest {
 protected:
  OpenClaimTest() {
    AddNode("n1", "a");
    AddGroup(R"("minMember":2,"queue":"default")");
    AddPod("p0", kClaim);
    AddPod("p1");
    AddClaim("data", kSpec, "Pending");
  }
  static constexpr char kSpec[] =
      R"("storageClassName":"disk","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}})";
  void AddClass(const std::string& provisioner) {
    Add("storageclasses",
        absl::StrCat(R"({"metadata":{"name":"disk","uid":"s1","resourceVersion":"1"},"provisioner":")", provisioner,
                     R"(","volumeBindingMode":"WaitForFirstConsumer"})"));
  }
  void AddFree(const std::string& name) {
    Add("persistentvolumes",
        absl::StrCat(R"({"metadata":{"name":")", name, R"(","uid":"u-)", name,
                     R"(","resourceVersion":"7"},"spec":{"storageClassName":"disk","capacity":{"storage":"2Gi"},)",
                     R"("accessModes":["ReadWriteOnce"]},"status":{"phase":"Available"}})"));
  }
  void PushClaim(const std::string& annotations, const std::string& volume = "", const std::string& phase = "Pending") {
    Push("persistentvolumeclaims",
         absl::StrCat(R"({"metadata":{"namespace":"ns","name":"data","uid":"u-data","resourceVersion":")", ++version_,
                      R"(","annotations":{)", annotations, R"(}},"spec":{)", kSpec,
                      volume.empty() ? "" : absl::StrCat(R"(,"volumeName":")", volume, "\""),
                      R"(},"status":{"phase":")", phase, R"("}})"));
  }
  void Wait(absl::Duration time = absl::Seconds(5)) { loop_.RunFor(time); }
  int version_ = 20;
};

// The node is written first, and nothing is bound before the volume is there: neither is the pod that needs none.
TEST_F(OpenClaimTest, VolumesComeBeforePods) {
  AddClass("x");
  Run();
  EXPECT_THAT(patched_["data"], HasSubstr(R"("volume.kubernetes.io/selected-node":"n1")"));
  EXPECT_THAT(patched_["data"], HasSubstr(R"("uid":"u-data")"));
  EXPECT_THAT(bound_, IsEmpty());
  EXPECT_THAT(statuses_["v1/p0"], HasSubstr("has room on node n1; is bound when claim data has its volume"));
  EXPECT_THAT(statuses_["v1/p1"], HasSubstr("has room on node n1; is bound when the volumes of its gang are there"));
  const int patches = patches_;
  PushClaim(R"("volume.kubernetes.io/selected-node":"n1")");
  Wait();
  EXPECT_EQ(patches_, patches) << "once";
  PushClaim(R"("volume.kubernetes.io/selected-node":"n1")", "pv1");
  Wait();
  EXPECT_EQ(reason_, "") << "the volume is named before the claim is bound";
  Push("persistentvolumes", R"({"metadata":{"name":"pv1","uid":"v","resourceVersion":"20"},"spec":{}})");
  PushClaim(R"("volume.kubernetes.io/selected-node":"n1")", "pv1", "Bound");
  Wait();
  EXPECT_EQ(bound_.size(), 2u) << reason_;
}

TEST_F(OpenClaimTest, AVolumeThatIsThereIsKeptForTheClaim) {
  AddClass("kubernetes.io/no-provisioner");
  AddFree("pv1");
  Run();
  EXPECT_THAT(
      patched_["pv1"],
      HasSubstr(
          R"("claimRef":{"apiVersion":"v1","kind":"PersistentVolumeClaim","namespace":"ns","name":"data","uid":"u-data"})"));
  EXPECT_THAT(patched_["pv1"], HasSubstr(R"("resourceVersion":"7")")) << "another may have taken it";
  EXPECT_THAT(bound_, IsEmpty());
  Push(
      "persistentvolumes",
      R"({"metadata":{"name":"pv1","uid":"u-pv1","resourceVersion":"20"},"spec":{"storageClassName":"disk","claimRef":{"namespace":"ns","name":"data"}},"status":{"phase":"Bound"}})");
  PushClaim("", "pv1", "Bound");
  Wait();
  EXPECT_EQ(bound_.size(), 2u) << reason_;
}

// Whatever is written to its PodGroup meanwhile: another that comes before it in order has no room.
TEST_F(OpenClaimTest, WhileItsVolumesAreMadeItKeepsItsNodes) {
  AddClass("x");
  Run();
  PushClaim(R"("volume.kubernetes.io/selected-node":"n1")");
  Push("podgroups", R"({"metadata":{"namespace":"ns","name":"a","uid":"u-a","resourceVersion":"30"},)"
                    R"("spec":{"minMember":1,"queue":"default"},"status":{"phase":"Inqueue"}})");
  Push("pods", R"({"metadata":{"namespace":"ns","name":"rival","uid":"u-rival","resourceVersion":"31",)"
               R"("annotations":{"scheduling.k8s.io/group-name":"a"}},"spec":{"schedulerName":"volcano",)"
               R"("containers":[{"name":"c","resources":{"requests":{"cpu":"15"}}}]},"status":{"phase":"Pending"}})");
  Wait();
  Push("podgroups",
       R"({"metadata":{"namespace":"ns","name":"g","uid":"u-g","resourceVersion":"32","labels":{"new":""}},)"
       R"("spec":{"minMember":2,"queue":"default"},"status":{"phase":"Inqueue"}})");
  Wait();
  EXPECT_THAT(bound_, IsEmpty());
  Push("persistentvolumes", R"({"metadata":{"name":"pv1","uid":"v","resourceVersion":"33"},"spec":{}})");
  Wait(absl::Seconds(1));
  version_ = 33;
  PushClaim(R"("volume.kubernetes.io/selected-node":"n1")", "pv1", "Bound");
  Wait();
  EXPECT_EQ(bound_, (std::map<std::string, std::string>{{"p0", "n1"}, {"p1", "n1"}})) << reason_;
}

// The provisioner takes the annotation away: what was kept is free again, and the gang is tried anew.
TEST_F(OpenClaimTest, ANodeThatIsGivenBackIsTriedAnew) {
  AddClass("x");
  Run();
  PushClaim(R"("volume.kubernetes.io/selected-node":"n1")");
  Wait();
  patched_.clear();
  PushClaim("");
  Wait(absl::Seconds(2));
  EXPECT_EQ(reason_, "waits for 2 of 2 tasks: claim data of p0 on n1 got no volume: who makes them gave the node back");
  EXPECT_TRUE(patched_.empty());
  Wait(absl::Seconds(10));
  EXPECT_THAT(patched_["data"], HasSubstr(R"("volume.kubernetes.io/selected-node":"n1")"));
  EXPECT_THAT(bound_, IsEmpty());
}

TEST_F(OpenClaimTest, VolumesThatNeverComeGiveTheNodesBack) {
  AddClass("x");
  Options options;
  options.policy.volumes_take = absl::Minutes(1);
  Run(options);
  PushClaim(R"("volume.kubernetes.io/selected-node":"n1")");
  Wait(absl::Seconds(50));
  EXPECT_EQ(reason_, "");
  Wait(absl::Seconds(8));
  EXPECT_EQ(reason_, "waits for 2 of 2 tasks: no volume came within 1m for claim data on node n1");
  EXPECT_THAT(bound_, IsEmpty());
}

TEST_F(OpenClaimTest, AClaimThatIsDeletedGivesTheNodesBack) {
  AddClass("x");
  Run();
  Push(
      "persistentvolumeclaims",
      absl::StrCat(
          R"({"metadata":{"namespace":"ns","name":"data","uid":"u-data","resourceVersion":"30","deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{)",
          kSpec, R"(},"status":{"phase":"Pending"}})"));
  Wait(absl::Seconds(2));
  EXPECT_EQ(reason_, "waits for 2 of 2 tasks: claim data of p0 on n1 cannot be used any more");
  EXPECT_THAT(bound_, IsEmpty());
}

TEST_F(OpenClaimTest, AGroupThatGoesHoldsNoNodesForPodsThatNobodyBinds) {
  AddClass("x");
  Run();
  const auto binding = [&] {
    int count = 0;
    for (const char* const pod : {"p0", "p1"}) {
      const model::Cluster& cluster = scheduler_->cluster();
      count += cluster.task(cluster.FindTask("ns", pod)).status == model::TaskStatus::kBinding ? 1 : 0;
    }
    return count;
  };
  ASSERT_EQ(binding(), 2);
  for (std::size_t i = 0; i < client_.watches(); ++i) {
    if (!absl::EndsWith(client_.watch_request(i).path, "scheduling.volcano.sh/v1beta1/podgroups")) continue;
    client_.Push(i, kube::FrameType::kDeleted,
                 R"({"metadata":{"namespace":"ns","name":"g","uid":"u-g","resourceVersion":"40"}})");
  }
  Wait(absl::Seconds(1));
  EXPECT_EQ(binding(), 0);
}

TEST_F(OpenClaimTest, WithoutTheRightToWriteItIsSaid) {
  AddClass("x");
  unpatchable_.insert("persistentvolumeclaims");
  Run();
  EXPECT_THAT(reason_, HasSubstr("waits for 2 of 2 tasks: the scheduler may not patch persistentvolumeclaims"));
  EXPECT_THAT(bound_, IsEmpty());
}

TEST_F(OpenClaimTest, AVolumeElsewhereThanItsPodGivesTheNodesBack) {
  AddClass("x");
  AddNode("n2", "b");
  Run();
  const std::string node = absl::StrContains(patched_["data"], "n1") ? "a" : "b", other = node == "a" ? "b" : "a";
  Push(
      "persistentvolumes",
      absl::StrCat(
          R"({"metadata":{"name":"pv1","uid":"v","resourceVersion":"20"},"spec":{"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"In","values":[")",
          other, R"("]}]}]}}}})"));
  PushClaim("", "pv1", "Bound");
  Wait(absl::Seconds(15));
  EXPECT_EQ(bound_["p0"], other == "a" ? "n1" : "n2");
}

TEST_F(FieldsTest, AClaimThatIsNotBoundYetIsWaitedFor) {
  AddNode("n1", "a");
  AddGroup(R"("minMember":1,"queue":"default")");
  AddPod("p0", kClaim);
  AddClaim("data", R"("storageClassName":"fast")", "Pending");
  Add("storageclasses",
      R"({"metadata":{"name":"fast","uid":"s1","resourceVersion":"1"},"provisioner":"x","volumeBindingMode":"Immediate"})");
  Run();
  EXPECT_THAT(bound_, IsEmpty());
  EXPECT_EQ(reason_, "waits for 1 of 1 task: claim data is not bound yet (storage class fast)");
}

// Of three nodes the volume is on one, and the pods follow it.
TEST_F(FieldsTest, ABoundVolumeKeepsPodsWhereItCanBeReached) {
  AddNode("n1", "a");
  AddNode("n2", "b");
  AddNode("n3", "c");
  AddGroup(R"("minMember":2,"queue":"default")");
  for (const char* const pod : {"p0", "p1"}) AddPod(pod, kClaim);
  AddClaim("data", R"("volumeName":"pv1")", "Bound");
  AddVolume(
      "pv1",
      R"("nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"In","values":["b"]}]}]}})");
  Run();
  EXPECT_THAT(bound_, ElementsAre(testing::Pair("p0", "n2"), testing::Pair("p1", "n2")));
}

TEST_F(FieldsTest, AClaimThatIsBoundLaterLetsItsPodGo) {
  AddNode("n1", "a");
  AddGroup(R"("minMember":1,"queue":"default")");
  AddPod("p0", kClaim);
  AddClaim("data", "", "Pending");
  Run();
  EXPECT_THAT(bound_, IsEmpty());
  Push("persistentvolumes", R"({"metadata":{"name":"pv1","uid":"v","resourceVersion":"20"},"spec":{}})");
  Push(
      "persistentvolumeclaims",
      R"({"metadata":{"namespace":"ns","name":"data","uid":"u-data","resourceVersion":"21"},"spec":{"volumeName":"pv1"},"status":{"phase":"Bound"}})");
  loop_.RunFor(absl::Seconds(5));
  EXPECT_THAT(bound_, ElementsAre(testing::Pair("p0", "n1")));
}

TEST_F(FieldsTest, WithoutTheRightOnClaimsOnlyPodsWithClaimsWait) {
  for (const char* const plural : {"persistentvolumeclaims", "persistentvolumes", "storageclasses", "namespaces",
                                   "csinodes", "csidrivers", "csistoragecapacities", "volumeattachments"})
    forbidden_.insert(plural);
  AddNode("n1", "a");
  AddGroup(R"("minMember":1,"queue":"default")");
  AddPod("p0", kClaim);
  AddPod("p1");
  Run();
  EXPECT_THAT(bound_, ElementsAre(testing::Pair("p1", "n1")));
  EXPECT_THAT(scheduler_->Dump(),
              HasSubstr("claim data cannot be read: the scheduler may not list persistentvolumeclaims"));
  EXPECT_EQ(scheduler_->problem(), "");
}

// ---- what CSI drivers say

class CsiTest : public FieldsTest {
 protected:
  CsiTest() {
    AddNode("n1", "a");
    AddNode("n2", "b");
    AddGroup(R"("minMember":1,"queue":"default")");
    AddPod("p0", kClaim);
  }
  // Everything as Kubernetes has it: a driver that attaches one volume to each node.
  void AddLimits() {
    AddClaim("data", R"("volumeName":"pv1")", "Bound");
    AddVolume("pv1", R"("csi":{"driver":"d.example.com","volumeHandle":"h1"})");
    for (const char* const node : {"n1", "n2"}) AddCsiNode(node, 1);
  }
  static std::string CsiNode(const std::string& node, int count, int version = 1) {
    return absl::StrCat(R"({"metadata":{"name":")", node, R"(","uid":"c-)", node, R"(","resourceVersion":")", version,
                        R"("},"spec":{"drivers":[{"name":"d.example.com","nodeID":"x","allocatable":{"count":)", count,
                        "}}]}}");
  }
  void AddCsiNode(const std::string& node, int count) { Add("csinodes", CsiNode(node, count)); }
  static std::string Attachment(const std::string& node) {
    return absl::StrCat(R"({"metadata":{"name":"va-)", node, R"(","uid":"va-)", node,
                        R"(","resourceVersion":"9"},"spec":{"attacher":"d.example.com","nodeName":")", node,
                        R"(","source":{"persistentVolumeName":"pv2"}}})");
  }
};

TEST_F(CsiTest, ANodeThatHasItsVolumesTakesNoMore) {
  AddLimits();
  AddStranger("web", "n1", R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"other"}}])");
  AddClaim("other", R"("volumeName":"pv2")", "Bound");
  AddVolume("pv2", R"("csi":{"driver":"d.example.com","volumeHandle":"h2"})");
  Run();
  EXPECT_THAT(bound_, ElementsAre(testing::Pair("p0", "n2")));
}

TEST_F(CsiTest, WhatIsStillAttachedIsWaitedFor) {
  AddLimits();
  AddVolume("pv2", R"("csi":{"driver":"d.example.com","volumeHandle":"h2"})");
  for (const char* const node : {"n1", "n2"}) Add("volumeattachments", Attachment(node));
  Run();
  EXPECT_THAT(bound_, IsEmpty());
  EXPECT_EQ(reason_,
            "waits for 1 of 1 task: w needs cpu 1; 2 nodes can attach no more volumes of d.example.com (1 at most), "
            "0 fit");
  Push("csinodes", CsiNode("n2", 2, 40));
  loop_.RunFor(absl::Seconds(5));
  EXPECT_THAT(bound_, ElementsAre(testing::Pair("p0", "n2")));
}

TEST_F(CsiTest, AVolumeIsMadeWhereItsDriverHasRoom) {
  AddClaim("data", R"("storageClassName":"disk","resources":{"requests":{"storage":"1Gi"}})", "Pending");
  Add("storageclasses",
      R"({"metadata":{"name":"disk","uid":"s1","resourceVersion":"1"},"provisioner":"d.example.com","volumeBindingMode":"WaitForFirstConsumer"})");
  Add("csidrivers",
      R"({"metadata":{"name":"d.example.com","uid":"d","resourceVersion":"1"},"spec":{"storageCapacity":true}})");
  Run();
  EXPECT_EQ(reason_,
            "waits for 1 of 1 task: w needs cpu 1; 2 nodes have no storage left for claim data (storage class disk), "
            "0 fit");
  EXPECT_EQ(patched_.count("data"), 0u);
  Push(
      "csistoragecapacities",
      R"({"metadata":{"namespace":"kube-system","name":"k","uid":"k","resourceVersion":"9"},"storageClassName":"disk","nodeTopology":{"matchLabels":{"zone":"b"}},"capacity":"1Gi"})");
  loop_.RunFor(absl::Seconds(5));
  EXPECT_THAT(patched_["data"], HasSubstr(R"("volume.kubernetes.io/selected-node":"n2")"));
}

// A limit of less than nothing is none that has room, and room of less than nothing is none.
TEST_F(CsiTest, NumbersThatAreNoneLetNobodyIn) {
  AddLimits();
  Run();
  EXPECT_EQ(bound_.size(), 1u);
  bound_.clear();
  Push("csinodes", CsiNode("n1", -5, 40));
  Push("csinodes", CsiNode("n2", -1, 41));
  Push(
      "pods",
      R"({"metadata":{"namespace":"ns","name":"p1","uid":"u-p1","resourceVersion":"30","annotations":{"scheduling.k8s.io/group-name":"g"}},"spec":{"schedulerName":"volcano","containers":[{"name":"c"}],"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"more"}}]},"status":{"phase":"Pending"}})");
  Push(
      "persistentvolumes",
      R"({"metadata":{"name":"pv9","uid":"v9","resourceVersion":"31"},"spec":{"csi":{"driver":"d.example.com","volumeHandle":"h9"}}})");
  Push(
      "persistentvolumeclaims",
      R"({"metadata":{"namespace":"ns","name":"more","uid":"u-more","resourceVersion":"32"},"spec":{"volumeName":"pv9"},"status":{"phase":"Bound"}})");
  loop_.RunFor(absl::Seconds(5));
  EXPECT_THAT(bound_, IsEmpty());
}

// ---- amounts and lists of any size

TEST_F(FieldsTest, AmountsOfAnySizeOvercommitNothing) {
  AddNode("n1", "a", R"("cpu":"4","memory":"9223372036854775807","pods":"110")");
  AddNode("n2", "a", R"("cpu":"-8","pods":"110")");
  AddGroup(R"("minMember":1,"queue":"default")");
  AddPod("huge", "", R"("app":"x")", R"("cpu":"9223372036854775807")");
  AddPod("more", "", R"("app":"x")", R"("cpu":"5")");
  AddPod("less", "", R"("app":"x")", R"("cpu":"-3")");
  AddPod("none", "", R"("app":"x")", R"("cpu":"0")");
  AddPod("fits", "", R"("app":"x")", R"("cpu":"4")");
  Run();
  EXPECT_EQ(bound_["fits"], "n1");
  EXPECT_EQ(bound_.count("huge") + bound_.count("more"), 0u);
  EXPECT_EQ(bound_.count("less") + bound_.count("none"), 2u) << "they take no room";
}

TEST_F(FieldsTest, TenThousandLabelsAreLabels) {
  std::string labels;
  for (int i = 0; i < 10'000; ++i) absl::StrAppend(&labels, R"("example.com/l)", i, R"(":"v",)");
  Add("nodes", absl::StrCat(R"({"metadata":{"name":"n1","uid":"u-n1","resourceVersion":"1","labels":{)", labels,
                            R"("zone":"a"}},"status":{"allocatable":{"cpu":"16","pods":"110"}}})"));
  AddNode("n2", "a");
  AddGroup(R"("minMember":1,"queue":"default")");
  labels.pop_back();
  AddPod("p0", absl::StrCat(R"("nodeSelector":{)", labels, "}"), labels);
  Run();
  EXPECT_THAT(bound_, ElementsAre(testing::Pair("p0", "n1")));
}

// ---- anti-affinity of pods that run

constexpr char kKeepsOff[] = R"("affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
  {"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"train"}}}]}})";

TEST_F(FieldsTest, PodsThatRunKeepOthersAway) {
  AddNode("n1", "a");
  AddNode("n2", "a");
  AddNode("n3", "b");
  AddStranger("web", "n1", kKeepsOff);
  AddGroup(R"("minMember":1,"queue":"default")");
  AddPod("p0");
  Run();
  EXPECT_THAT(bound_, ElementsAre(testing::Pair("p0", "n3")));
}

TEST_F(FieldsTest, NamespacesAreMatchedByTheirLabels) {
  AddNode("n1", "a");
  AddNode("n2", "b");
  AddStranger("web", "n1", R"("affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
      {"topologyKey":"zone","labelSelector":{},"namespaceSelector":{"matchLabels":{"team":"blue"}}}]}})",
              "elsewhere");
  AddGroup(R"("minMember":1,"queue":"default")");
  AddPod("p0", R"("nodeSelector":{"zone":"a"})");
  Add("namespaces", R"({"metadata":{"name":"ns","uid":"ns","resourceVersion":"1","labels":{"team":"blue"}}})");
  Run();
  EXPECT_EQ(reason_,
            "waits for 1 of 1 task: w needs nodes with zone=a; 1 node does not match, 1 is kept free by the "
            "podAntiAffinity of pod elsewhere/web, 0 fit");
  Push("namespaces", R"({"metadata":{"name":"ns","uid":"ns","resourceVersion":"20","labels":{"team":"red"}}})");
  loop_.RunFor(absl::Seconds(5));
  EXPECT_THAT(bound_, ElementsAre(testing::Pair("p0", "n1")));
}

TEST_F(FieldsTest, OnlyTheNamespacesItServesAreRead) {
  Run({}, {"ns"});
  std::vector<std::string> asked;
  for (const kube::Request& request : client_.requests()) {
    if (absl::EndsWith(request.path, "/namespaces")) asked.push_back(request.query);
    if (absl::EndsWith(request.path, "/persistentvolumeclaims")) asked.push_back(request.path);
  }
  EXPECT_THAT(asked, testing::UnorderedElementsAre(HasSubstr("fieldSelector=metadata.name"),
                                                   "/api/v1/namespaces/ns/persistentvolumeclaims"));
}

}  // namespace
}  // namespace gangway::scheduler
