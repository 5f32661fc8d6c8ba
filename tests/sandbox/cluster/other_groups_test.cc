// Gangs by the three names there are, on the whole embedded cluster in simulated time: Volcano's PodGroup, Kubernetes'
// own, coscheduling's.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/resource.h"
#include "api/scheduling_resources.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sandbox/cluster/cluster_fixture.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;
using ::testing::Not;

class OtherGroupsTest : public ClusterTest {
 protected:
  // Two nodes of 16 cpu.
  void SetUp() override {
    ClusterOptions options;
    options.kubelets.nodes = MakeNodes({*ParseNodeShape("cpu=16,memory=64Gi")}, 2);
    options.api_server.alpha_versions = {"scheduling.k8s.io/v1alpha2", "scheduling.x-k8s.io/v1alpha1"};
    StartWith(std::move(options));
  }
  void MakeGroup(const api::Resource& resource, const std::string& name, const std::string& spec) {
    Make(PathOf(resource, ""),
         absl::StrCat(R"({"apiVersion":")", resource.ApiVersion(), R"(","kind":"PodGroup","metadata":{"name":")", name,
                      R"("},"spec":)", spec, "}"));
  }
  void MakePods(const std::string& name, int count, const std::string& metadata, const std::string& spec = "") {
    for (int i = 0; i < count; ++i) {
      Make(PathOf(api::kPods, ""),
           absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name, "-", i, "\"", metadata,
                        R"(},"spec":{"schedulerName":"volcano",)", spec,
                        R"("containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"4"}}}]}})"));
    }
  }
  static std::string PathOf(const api::Resource& resource, const std::string& name) {
    return api::PathOf(resource, "default", name);
  }
  std::string Status(const api::Resource& resource, const std::string& name) {
    const json::value object = *api::ParseJson(*Ask("GET", PathOf(resource, name)).body);
    const json::value* const status = object.as_object().if_contains("status");
    return status == nullptr ? "" : json::serialize(*status);
  }
  int Bound(const std::string& name) {
    int bound = 0;
    const json::value pods = *api::ParseJson(*Ask("GET", PathOf(api::kPods, "")).body);
    for (const json::value& pod : pods.at("items").as_array()) {
      const std::string of = json::value_to<std::string>(pod.at("metadata").at("name"));
      bound += absl::StartsWith(of, name + "-") && pod.at("spec").as_object().contains("nodeName") ? 1 : 0;
    }
    return bound;
  }
};

constexpr char kVolcanos[] = R"(,"annotations":{"scheduling.k8s.io/group-name":"g"})";
constexpr char kKubernetes[] = R"("schedulingGroup":{"podGroupName":"g"},)";
constexpr char kCoschedulings[] = R"(,"labels":{"scheduling.x-k8s.io/pod-group":"g"})";

// 3 + 3 + 2 pods of 4 cpu on 32: all have the same name, and each says so in its own words.
TEST_F(OtherGroupsTest, EachIsPlacedWhole) {
  MakeGroup(api::kPodGroups, "g", R"({"minMember":3})");
  MakeGroup(api::kKubernetesPodGroups, "g", R"({"schedulingPolicy":{"gang":{"minCount":3}}})");
  MakeGroup(api::kCoschedulingPodGroups, "g", R"({"minMember":2})");
  MakePods("v", 3, kVolcanos);
  MakePods("k", 3, "", kKubernetes);
  MakePods("c", 2, kCoschedulings);
  loop_.RunFor(absl::Seconds(20));
  EXPECT_EQ(Bound("v"), 3);
  EXPECT_EQ(Bound("k"), 3);
  EXPECT_EQ(Bound("c"), 2);
  EXPECT_THAT(Status(api::kPodGroups, "g"), HasSubstr(R"("phase":"Running")"));
  EXPECT_THAT(Status(api::kKubernetesPodGroups, "g"), HasSubstr(R"("type":"PodGroupScheduled","status":"True")"));
  EXPECT_THAT(Status(api::kCoschedulingPodGroups, "g"), HasSubstr(R"("phase":"Running","running":2)"));
  EXPECT_THAT(*Ask("GET", PathOf(api::kPodGroups, "")).body, Not(HasSubstr("podgroup-")))
      << "nobody made another group for their pods";
}

// 5 of 4 cpu fit neither beside the other nor alone with 8 free: what there is room for comes, and the rest waits
// whole.
TEST_F(OtherGroupsTest, OneThatLacksRoomWaitsWithItsReason) {
  MakeGroup(api::kPodGroups, "big", R"({"minMember":6})");
  MakePods("big", 6, R"(,"annotations":{"scheduling.k8s.io/group-name":"big"})");
  loop_.RunFor(absl::Seconds(5));
  ASSERT_EQ(Bound("big"), 6);
  MakeGroup(api::kKubernetesPodGroups, "g", R"({"schedulingPolicy":{"gang":{"minCount":3}}})");
  MakeGroup(api::kCoschedulingPodGroups, "g", R"({"minMember":4})");
  MakePods("k", 3, "", kKubernetes);
  MakePods("c", 4, kCoschedulings);
  loop_.RunFor(absl::Seconds(20));
  EXPECT_EQ(Bound("k"), 0);
  EXPECT_EQ(Bound("c"), 0);
  EXPECT_THAT(Status(api::kKubernetesPodGroups, "g"), HasSubstr(R"("type":"PodGroupScheduled","status":"False")"));
  EXPECT_THAT(Status(api::kKubernetesPodGroups, "g"), HasSubstr("waits for 1 of 3 tasks: a task needs cpu 4; "));
  EXPECT_THAT(Status(api::kPods, "k-0"), HasSubstr("waits for 1 of 3 tasks: a task needs cpu 4; "));
  EXPECT_THAT(Status(api::kCoschedulingPodGroups, "g"), HasSubstr(R"("phase":"Scheduling")"));
  EXPECT_THAT(Status(api::kPods, "c-0"), HasSubstr("waits for 2 of 4 tasks: a task needs cpu 4; "));
  EXPECT_THAT(*Ask("GET", PathOf(api::kEvents, "")).body,
              HasSubstr(R"("kind":"PodGroup","namespace":"default","name":"g")"));
  for (int i = 0; i < 6; ++i) Ask("DELETE", PathOf(api::kPods, absl::StrCat("big-", i)));
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(Bound("k"), 3);
  EXPECT_EQ(Bound("c"), 4);
  EXPECT_THAT(Status(api::kKubernetesPodGroups, "g"), HasSubstr(R"("type":"PodGroupScheduled","status":"True")"));
}

}  // namespace
}  // namespace gangway::sandbox
