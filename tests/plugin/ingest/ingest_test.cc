#include "plugin/ingest/ingest.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "api/field_table.h"
#include "plugin/ingest/requests.h"

namespace gangway::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

template <class T>
T Decoded(const std::string& text) {
  auto object = api::Decode<T>(text);
  EXPECT_TRUE(object.ok()) << object.status();
  return object.ok() ? *object : T();
}

model::PodFacts PodOf(const std::string& spec, const std::string& metadata = "", const std::string& status = "{}") {
  return PodFactsOf(Decoded<api::core::Pod>(absl::StrCat(R"({"metadata":{"namespace":"ns","name":"j-w-3","uid":"u")", metadata,
                                                         R"(},"spec":{)", spec, R"(},"status":)", status, "}")),
                    "volcano");
}

struct RequestCase {
  std::string name, spec;
  model::NamedAmounts expected;
};
class RequestTest : public ::testing::TestWithParam<RequestCase> {};

TEST_P(RequestTest, SumsAsKubernetesDoes) {
  EXPECT_EQ(PodRequests(Decoded<api::core::PodSpec>(GetParam().spec)), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, RequestTest,
    ::testing::Values(
        RequestCase{"Empty", R"({"containers":[{"name":"a"}]})", {{"pods", 1}}},
        RequestCase{"ContainersAddUp",
                    R"({"containers":[{"resources":{"requests":{"cpu":"500m","memory":"1Gi"}}},{"resources":{"requests":{"cpu":"1"}}}]})",
                    {{"cpu", 1500}, {"memory", 1 << 30}, {"pods", 1}}},
        RequestCase{"LimitIsTheRequestWhereThereIsNone",
                    R"({"containers":[{"resources":{"limits":{"cpu":"2","nvidia.com/gpu":"4"},"requests":{"cpu":"1"}}}]})",
                    {{"cpu", 1000}, {"nvidia.com/gpu", 4}, {"pods", 1}}},
        RequestCase{"TheLargestInitContainerCounts",
                    R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],
                        "initContainers":[{"resources":{"requests":{"cpu":"3"}}},{"resources":{"requests":{"cpu":"2"}}}]})",
                    {{"cpu", 3000}, {"pods", 1}}},
        RequestCase{"SidecarsRunBesideContainersAndLaterInits",
                    R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],
                        "initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}},
                                          {"resources":{"requests":{"cpu":"4"}}}]})",
                    {{"cpu", 6000}, {"pods", 1}}},
        RequestCase{"ASidecarAfterTheInitDoesNotRunBesideIt",
                    R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],
                        "initContainers":[{"resources":{"requests":{"cpu":"4"}}},
                                          {"restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}}]})",
                    {{"cpu", 4000}, {"pods", 1}}},
        RequestCase{"OverheadComesOnTop",
                    R"({"overhead":{"cpu":"250m"},"containers":[{"resources":{"requests":{"cpu":"1"}}}]})",
                    {{"cpu", 1250}, {"pods", 1}}},
        RequestCase{"PodLevelTakesThePlaceOfTheSum",
                    R"({"resources":{"requests":{"cpu":"5"}},"containers":[{"resources":{"requests":{"cpu":"1","memory":"1k"}}}]})",
                    {{"cpu", 5000}, {"memory", 1000}, {"pods", 1}}},
        RequestCase{"BeyondAllNodesIsCut",
                    R"({"containers":[{"resources":{"requests":{"memory":"9E"}}}]})",
                    {{"memory", model::kMaxAmount}, {"pods", 1}}}),
    [](const auto& c) { return c.param.name; });

TEST(IngestTest, APodSaysWhoItIs) {
  const model::PodFacts pod = PodOf(
      R"("schedulerName":"volcano","priority":7,"containers":[],"schedulingGates":[{"name":"x"}])",
      R"(,"annotations":{"scheduling.k8s.io/group-name":"pg","volcano.sh/task-spec":"w"},
          "ownerReferences":[{"apiVersion":"v1","kind":"Job","name":"j","uid":"o","controller":true}])");
  EXPECT_EQ(pod.gang, "pg");
  EXPECT_EQ(pod.role, "w");
  EXPECT_EQ(pod.index, 3);
  EXPECT_EQ(pod.priority, 7);
  EXPECT_TRUE(pod.ours && pod.gated && pod.controlled);
}

TEST(IngestTest, TheTaskPriorityAnnotationWins) {
  EXPECT_EQ(PodOf(R"("priority":7,"containers":[])", R"(,"annotations":{"volcano.sh/task-priority":"9"})").priority, 9);
}

TEST(IngestTest, OthersPodsAreNotOurs) { EXPECT_FALSE(PodOf(R"("schedulerName":"default-scheduler","containers":[])").ours); }

TEST(IngestTest, OfABoundPodOnlyWhatItTakesIsTold) {
  const model::PodFacts pod = PodOf(R"("nodeName":"n1","nodeSelector":{"a":"b"},"resourceClaims":[{"name":"x"}],
      "containers":[{"ports":[{"containerPort":80,"hostPort":8080}]}])");
  EXPECT_THAT(pod.wants.selector, IsEmpty());
  EXPECT_EQ(pod.wants.not_modelled, "");
  ASSERT_EQ(pod.wants.host_ports.size(), 1u);
  EXPECT_EQ(pod.wants.host_ports[0].port, 8080);
}

TEST(IngestTest, OnTheHostNetworkEveryPortIsTheNodes) {
  const model::PodFacts pod = PodOf(R"("hostNetwork":true,"containers":[{"ports":[{"containerPort":6379}]}])");
  ASSERT_EQ(pod.wants.host_ports.size(), 1u);
  EXPECT_EQ(pod.wants.host_ports[0].port, 6379);
}

struct FieldCase {
  std::string name, spec, field;  // "" = placed
};
class NotModelledTest : public ::testing::TestWithParam<FieldCase> {};

TEST_P(NotModelledTest, NamesTheField) {
  EXPECT_EQ(PodOf(absl::StrCat(R"("containers":[],)", GetParam().spec)).wants.not_modelled, GetParam().field);
}

INSTANTIATE_TEST_SUITE_P(
    All, NotModelledTest,
    ::testing::Values(
        FieldCase{"ResourceClaims", R"("resourceClaims":[{"name":"x"}])", "spec.resourceClaims"},
        FieldCase{"NoResourceClaims", R"("resourceClaims":[])", ""},
        FieldCase{"Spread", R"("topologySpreadConstraints":[{"maxSkew":1,"whenUnsatisfiable":"DoNotSchedule"}])",
                  "spec.topologySpreadConstraints"},
        FieldCase{"SpreadIfPossible", R"("topologySpreadConstraints":[{"whenUnsatisfiable":"ScheduleAnyway"}])", ""},
        FieldCase{"PodAffinity", R"("affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{}]}})",
                  "spec.affinity.podAffinity"},
        FieldCase{"PodAntiAffinity", R"("affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{}]}})",
                  "spec.affinity.podAntiAffinity"},
        FieldCase{"PreferredPodAffinity",
                  R"("affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{}]}})", ""},
        FieldCase{"NodeAffinityOperator",
                  R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
                     {"matchExpressions":[{"key":"a","operator":"Near"}]}]}}})", "spec.affinity.nodeAffinity"},
        FieldCase{"NodeAffinityField",
                  R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
                     {"matchFields":[{"key":"metadata.uid","operator":"In","values":["x"]}]}]}}})", "spec.affinity.nodeAffinity"},
        FieldCase{"KnownVolumes",
                  R"("volumes":[{"name":"a","hostPath":{"path":"/"}},{"name":"b","emptyDir":{}},{"name":"c","configMap":{"name":"x"}},
                     {"name":"d","secret":{}},{"name":"e","persistentVolumeClaim":{"claimName":"x"}},{"name":"f","projected":{}},
                     {"name":"g","downwardAPI":{}}])", ""},
        FieldCase{"UnknownVolume", R"("volumes":[{"name":"a","emptyDir":{}},{"name":"b","csi":{"driver":"x"}}])",
                  "spec.volumes[b]"}),
    [](const auto& c) { return c.param.name; });

TEST(IngestTest, NodeAffinityBecomesTerms) {
  const model::PodFacts pod = PodOf(R"("containers":[],"affinity":{"nodeAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
        {"matchExpressions":[{"key":"zone","operator":"NotIn","values":["a","b"]}],
         "matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}]},
      "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":5,"preference":{"matchExpressions":[{"key":"ssd","operator":"Exists"}]}}]}})");
  ASSERT_TRUE(pod.wants.has_affinity);
  EXPECT_THAT(pod.wants.affinity, ElementsAre(model::TermFacts{{"zone", model::Op::kNotIn, {"a", "b"}}, {"", model::Op::kIn, {"n1"}}}));
  ASSERT_EQ(pod.wants.preferences.size(), 1u);
  EXPECT_EQ(pod.wants.preferences[0].weight, 5);
}

TEST(IngestTest, ANodeWithoutAllocatableHasItsCapacity) {
  const auto node = NodeFactsOf(Decoded<api::core::Node>(
      R"({"metadata":{"name":"n","labels":{"a":"b"}},"spec":{"unschedulable":true,"taints":[{"key":"k","effect":"NoExecute"}]},
          "status":{"capacity":{"cpu":"8","memory":"9E"}}})"));
  EXPECT_THAT(node.allocatable, ElementsAre(Pair("cpu", 8000), Pair("memory", model::kMaxAmount - 1)));
  EXPECT_TRUE(node.unschedulable);
  ASSERT_EQ(node.taints.size(), 1u);
  EXPECT_EQ(node.taints[0].effect, model::TaintEffect::kNoExecute);
}

// fixtures/volcano-golden/seed-ctr-volcano: the quota names beside the resources ask for nothing more.
TEST(IngestTest, MinResourcesWithoutQuotaNames) {
  const auto gang = GangFactsOf(Decoded<api::volcano::PodGroup>(
      R"({"metadata":{"name":"g","namespace":"ns"},"spec":{"minMember":4,"minTaskMember":{"a":2},"minResources":{"count/pods":"4","cpu":"4",
          "ephemeral-storage":"22Gi","limits.cpu":"40","memory":"400M","pods":"4","requests.cpu":"4"}},"status":{"phase":"Inqueue"}})"));
  EXPECT_EQ(gang.queue, "default");
  EXPECT_EQ(gang.phase, model::GangPhase::kInqueue);
  EXPECT_THAT(gang.min_resources, ElementsAre(Pair("cpu", 4000), Pair("ephemeral-storage", std::int64_t{22} << 30),
                                              Pair("memory", 400'000'000), Pair("pods", 4)));
  EXPECT_EQ(gang.not_modelled, "");
}

TEST(IngestTest, TopologyAndSubGroupsAreNamed) {
  EXPECT_EQ(GangFactsOf(Decoded<api::volcano::PodGroup>(R"({"spec":{"networkTopology":{"mode":"hard"}}})")).not_modelled,
            "spec.networkTopology");
  EXPECT_EQ(GangFactsOf(Decoded<api::volcano::PodGroup>(R"({"spec":{"networkTopology":{"mode":"soft"}}})")).not_modelled, "");
  EXPECT_EQ(GangFactsOf(Decoded<api::volcano::PodGroup>(R"({"spec":{"subGroupPolicy":[{"name":"x"}]}})")).not_modelled,
            "spec.subGroupPolicy");
}

TEST(IngestTest, AQueueIsOpenUnlessItWasClosed) {
  for (const auto& [state, open] : {std::pair("", true), std::pair("Open", true), std::pair("Closing", false), std::pair("Closed", false)}) {
    EXPECT_EQ(QueueFactsOf(Decoded<api::volcano::Queue>(absl::StrCat(R"({"status":{"state":")", state, R"("}})"))).open, open) << state;
  }
}

}  // namespace
}  // namespace gangway::ingest
