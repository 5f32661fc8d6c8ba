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
  return PodFactsOf(
      Decoded<api::core::Pod>(absl::StrCat(R"({"metadata":{"namespace":"ns","name":"j-w-3","uid":"u")", metadata,
                                           R"(},"spec":{)", spec, R"(},"status":)", status, "}")),
      "volcano");
}

struct RequestCase {
  std::string name, spec;
  model::NamedAmounts expected;
  std::string status = "{}";
};
class RequestTest : public ::testing::TestWithParam<RequestCase> {};

TEST_P(RequestTest, SumsAsKubernetesDoes) {
  EXPECT_EQ(PodRequests(Decoded<api::core::PodSpec>(GetParam().spec), Decoded<api::core::PodStatus>(GetParam().status)),
            GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, RequestTest,
    ::testing::Values(
        RequestCase{"Empty", R"({"containers":[{"name":"a"}]})", {{"pods", 1}}},
        RequestCase{
            "ContainersAddUp",
            R"({"containers":[{"resources":{"requests":{"cpu":"500m","memory":"1Gi"}}},{"resources":{"requests":{"cpu":"1"}}}]})",
            {{"cpu", 1500}, {"memory", 1 << 30}, {"pods", 1}}},
        RequestCase{
            "LimitIsTheRequestWhereThereIsNone",
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
        RequestCase{
            "PodLevelTakesThePlaceOfTheSum",
            R"({"resources":{"requests":{"cpu":"5"}},"containers":[{"resources":{"requests":{"cpu":"1","memory":"1k"}}}]})",
            {{"cpu", 5000}, {"memory", 1000}, {"pods", 1}}},
        RequestCase{
            "WhileItIsResizedTheMostCounts",
            R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"2","memory":"1k"}}},{"name":"b","resources":{"requests":{"cpu":"1"}}}]})",
            {{"cpu", 5000}, {"memory", 3000}, {"pods", 1}},
            R"({"containerStatuses":[{"name":"a","resources":{"requests":{"cpu":"3","memory":"2k"}},"allocatedResources":{"cpu":"4","memory":"3k"}}]})"},
        RequestCase{
            "WhatItsNodeCannotGiveItDoesNotCount",
            R"({"resources":{"requests":{"cpu":"9"}},"containers":[{"name":"a","resources":{"requests":{"memory":"9k"}}}]})",
            {{"cpu", 4000}, {"memory", 2000}, {"pods", 1}},
            R"({"resources":{"requests":{"cpu":"3"}},"allocatedResources":{"cpu":"4"},"containerStatuses":[{"name":"a","resources":{"requests":{"memory":"2k"}}}],
                        "conditions":[{"type":"PodResizePending","reason":"Infeasible"}]})"},
        RequestCase{
            "OfInitContainersOnlySidecarsAreResized",
            R"({"containers":[],"initContainers":[{"name":"a","resources":{"requests":{"cpu":"1"}}},{"name":"b","restartPolicy":"Always"}]})",
            {{"cpu", 2000}, {"pods", 1}},
            R"({"initContainerStatuses":[{"name":"a","resources":{"requests":{"cpu":"5"}}},{"name":"b","resources":{"requests":{"cpu":"2"}}}]})"},
        RequestCase{"BeyondAllNodesIsCut",
                    R"({"containers":[{"resources":{"requests":{"memory":"9E"}}}]})",
                    {{"memory", model::kMaxAmount}, {"pods", 1}}}),
    [](const auto& c) { return c.param.name; });

TEST(IngestTest, APodSaysWhoItIs) {
  const model::PodFacts pod =
      PodOf(R"("schedulerName":"volcano","priority":7,"containers":[],"schedulingGates":[{"name":"x"}])",
            R"(,"annotations":{"scheduling.k8s.io/group-name":"pg","volcano.sh/task-spec":"w"},
          "ownerReferences":[{"apiVersion":"v1","kind":"Job","name":"j","uid":"o","controller":true}])");
  EXPECT_EQ(pod.gang, "pg");
  EXPECT_EQ(pod.role, "w");
  EXPECT_EQ(pod.index, 3);
  EXPECT_EQ(pod.priority, 7);
  EXPECT_TRUE(pod.ours && pod.gated && pod.controlled);
}

// volcano: api/job_info.go; plugins/conformance, plugins/cdp
TEST(IngestTest, APodSaysWhetherAndWhenItMayBeEvicted) {
  const auto evictable = [](const std::string& metadata, const std::string& spec = R"("containers":[])") {
    return PodOf(spec, metadata).evictable;
  };
  EXPECT_TRUE(evictable(""));
  EXPECT_FALSE(evictable(R"(,"labels":{"volcano.sh/preemptable":"false"})"));
  EXPECT_TRUE(
      evictable(R"(,"labels":{"volcano.sh/preemptable":"false"},"annotations":{"volcano.sh/preemptable":"true"})"));
  EXPECT_TRUE(evictable(R"(,"annotations":{"volcano.sh/preemptable":"maybe"})"));
  EXPECT_FALSE(evictable("", R"("priorityClassName":"system-node-critical","containers":[])"));
  EXPECT_TRUE(PodOf(R"("containers":[])").preempts);
  EXPECT_FALSE(PodOf(R"("preemptionPolicy":"Never","containers":[])").preempts);
  const auto bound = [](const std::string& cooldown) {
    return PodOf(R"("nodeName":"n","containers":[])",
                 absl::StrCat(R"(,"deletionTimestamp":"2026-11-23T10:00:30Z","labels":{"volcano.sh/cooldown-time":")",
                              cooldown, R"("})"),
                 R"({"phase":"Running","nominatedNodeName":"n","startTime":"2026-11-23T10:00:09Z","conditions":[
                 {"type":"PodScheduled","status":"True","lastTransitionTime":"2026-11-23T10:00:00Z"},
                 {"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"}]})");
  };
  const absl::Time ten = absl::FromCivil(absl::CivilHour(2026, 11, 23, 10), absl::UTCTimeZone());
  EXPECT_EQ(bound("600s").cooldown, absl::Minutes(10));
  EXPECT_EQ(bound("600abcde").cooldown, absl::ZeroDuration());
  EXPECT_EQ(bound("1s").started, ten);
  EXPECT_EQ(bound("1s").grace_ends, ten + absl::Seconds(30));
  EXPECT_TRUE(bound("1s").leaving);
  EXPECT_EQ(bound("1s").nominated, "") << "it has a node";
  EXPECT_EQ(PodOf(R"("containers":[])", "", R"({"nominatedNodeName":"n"})").nominated, "n");
}

// On a node it says what it would ask for on another, if it may be moved and somebody makes it again.
TEST(IngestTest, APodThatMayBeMovedSaysWhatItWouldAskForAgain) {
  const auto pod = [](const std::string& annotation, bool controlled, const std::string& node) {
    return PodOf(absl::StrCat(R"("schedulerName":"volcano","nodeSelector":{"disk":"ssd"},"containers":[])", node),
                 absl::StrCat(controlled ? R"(,"ownerReferences":[{"apiVersion":"v1","kind":"Job","name":"j","uid":"o",
                              "controller":true}])"
                                         : "",
                              R"(,"annotations":{"gangway.io/movable":")", annotation, R"("})"));
  };
  const std::string on_node = R"(,"nodeName":"n")";
  EXPECT_TRUE(pod("true", true, on_node).movable);
  EXPECT_THAT(pod("true", true, on_node).wants.selector, ::testing::SizeIs(1));
  EXPECT_FALSE(pod("false", true, on_node).movable);
  EXPECT_THAT(pod("false", true, on_node).wants.selector, IsEmpty());
  EXPECT_FALSE(pod("true", false, on_node).movable);
  EXPECT_TRUE(pod("true", true, "").movable) << "once it has a node";
  const auto group = [](const std::string& reason) {
    return GangFactsOf(Decoded<api::volcano::PodGroup>(absl::StrCat(
        R"({"metadata":{"name":"g"},"spec":{"minMember":1},"status":{"conditions":[{"type":"GangReleased",)",
        R"("status":"True","lastTransitionTime":"2026-11-23T10:00:00Z","reason":")", reason, R"("}]}})")));
  };
  EXPECT_EQ(group("Moved").moved, absl::FromCivil(absl::CivilHour(2026, 11, 23, 10), absl::UTCTimeZone()));
  EXPECT_EQ(group("Preempted").moved, absl::InfinitePast());
}

// Of a Job's PodGroup: of other pods their own status tells.
TEST(IngestTest, AGangSaysWhichPodsLeaveIt) {
  const auto leaving = [](const std::string& api_version, const std::string& reason) {
    return GangFactsOf(Decoded<api::volcano::PodGroup>(
                           absl::StrCat(R"({"metadata":{"name":"g","ownerReferences":[{"apiVersion":")", api_version,
                                        R"(","kind":"Job","name":"j","controller":true}]},"spec":{"minMember":1},)",
                                        R"("status":{"conditions":[{"type":"GangReleased","status":"True","reason":")",
                                        reason, R"(","message":"evicted 2 of 2 tasks [a/1 b/2/n1]"}]}})")))
        .leaving_pods;
  };
  const std::string volcanos = "batch.volcano.sh/v1alpha1";
  for (const char* reason : {"Preempted", "Reclaimed"})
    EXPECT_THAT(leaving(volcanos, reason), ElementsAre("1", "2")) << reason;
  for (const char* reason : {"Moved", "LostMember", "NotWhole"}) EXPECT_THAT(leaving(volcanos, reason), IsEmpty());
  EXPECT_THAT(leaving("batch/v1", "Preempted"), IsEmpty());
  const auto of_job = [](const std::string& api_version) {
    return PodOf(R"("containers":[])", absl::StrCat(R"(,"ownerReferences":[{"apiVersion":")", api_version,
                                                    R"(","kind":"Job","name":"j","controller":true}])"))
        .of_job;
  };
  EXPECT_TRUE(of_job(volcanos));
  EXPECT_FALSE(of_job("batch/v1"));
}

// As its last release says, of whichever kind that was.
TEST(IngestTest, AGangSaysHowOftenItWasEvictedAndForWhom) {
  const auto evictions = [](const std::string& reason, const std::string& message) {
    const std::string status = absl::StrCat(
        R"("status":{"conditions":[{"type":"GangReleased","status":"True","lastTransitionTime":"2026-11-23T10:00:00Z",)",
        R"("reason":")", reason, R"(","message":")", message, R"("}]}})");
    const std::string spec = R"({"metadata":{"name":"g"},"spec":{"minMember":1},)";
    const model::GangFacts facts = GangFactsOf(Decoded<api::volcano::PodGroup>(spec + status));
    const absl::Time then = absl::FromCivil(absl::CivilHour(2026, 11, 23, 10), absl::UTCTimeZone());
    EXPECT_EQ(facts.last_evicted, facts.evictions > 0 ? then : absl::InfinitePast()) << message;
    const model::GangFacts kubernetes = GangFactsOf(
        Decoded<api::core::KubernetesPodGroup>(absl::StrCat(R"({"metadata":{"name":"g"},"spec":{},)", status)));
    EXPECT_EQ(kubernetes.evictions, facts.evictions) << message;
    EXPECT_EQ(kubernetes.evicted_for, facts.evicted_for) << message;
    return std::pair(facts.evictions, facts.evicted_for);
  };
  EXPECT_THAT(evictions("Preempted", "evicted 2 of 2 tasks for default/high: its priority is 9 [a/1 b/2]"),
              Pair(1, "default/high"));
  EXPECT_THAT(evictions("Reclaimed", "evicted 2 of 2 tasks for default/x: ...; evicted 3 times of late [a/1 b/2]"),
              Pair(3, "default/x"));
  EXPECT_THAT(evictions("Preempted", "evicted 1 of 2 tasks: others of the gang were evicted before, for b/x [a/1]"),
              Pair(1, "b/x"));
  EXPECT_THAT(evictions("Preempted", "evicted 1 of 2 tasks: others of the gang were evicted before [a/1]"),
              Pair(1, ""));
  EXPECT_THAT(evictions("Moved", "evicted 1 of 1 task for default/x: ...; evicted 1 time of late [a/1/n1]"),
              Pair(1, ""));
  EXPECT_THAT(evictions("Moved", "evicted 1 of 1 task for default/x: ... [a/1/n1]"), Pair(0, ""));
  EXPECT_THAT(evictions("NotWhole", "released 2 of 4 tasks: ..."), Pair(0, ""));
}

// Of a gang that began anew the phase is another, however long it waited; and what it lacked before it was whole counts
// no more.
TEST(IngestTest, AGangThatWasWholeSaysSinceWhenItIsShort) {
  const auto since = [](const std::string& phase, const std::string& unschedulable) {
    return GangFactsOf(Decoded<api::volcano::PodGroup>(absl::StrCat(
                           R"({"metadata":{"name":"g"},"spec":{"minMember":1},"status":{"phase":")", phase,
                           R"(","conditions":[{"type":"Scheduled","status":"True","lastTransitionTime":)",
                           R"("2026-11-23T10:00:00Z"},{"type":"Unschedulable","status":"True","lastTransitionTime":")",
                           unschedulable, R"("}]}})")))
        .short_since;
  };
  EXPECT_EQ(since("Unknown", "2026-11-23T11:00:00Z"),
            absl::FromCivil(absl::CivilHour(2026, 11, 23, 11), absl::UTCTimeZone()));
  EXPECT_EQ(since("Unknown", "2026-11-23T09:00:00Z"), absl::InfiniteFuture());
  EXPECT_EQ(since("Running", "2026-11-23T11:00:00Z"), absl::InfiniteFuture());
  EXPECT_EQ(since("Pending", "2026-11-23T11:00:00Z"), absl::InfiniteFuture());
}

TEST(IngestTest, OthersSayWhoMayBeEvicted) {
  const auto group = Decoded<api::volcano::PodGroup>(
      R"({"metadata":{"name":"g","annotations":{"volcano.sh/preemptable":"false"}},"spec":{"minMember":1}})");
  EXPECT_FALSE(GangFactsOf(group).evictable);
  const auto queue = Decoded<api::volcano::Queue>(
      R"({"metadata":{"name":"q","annotations":{"gangway.io/min-runtime":"10m","gangway.io/lost-member-grace":"90s"}},"spec":{"reclaimable":false}})");
  EXPECT_FALSE(QueueFactsOf(queue).reclaimable);
  EXPECT_EQ(QueueFactsOf(queue).min_runtime, absl::Minutes(10));
  EXPECT_EQ(QueueFactsOf(queue).lost_member_grace, absl::Seconds(90));
  const model::QueueFacts plain = QueueFactsOf(Decoded<api::volcano::Queue>(R"({"metadata":{"name":"q"}})"));
  EXPECT_TRUE(plain.reclaimable);
  EXPECT_FALSE(plain.min_runtime.has_value());
  EXPECT_FALSE(PriorityClassFactsOf(Decoded<api::core::PriorityClass>(
                                        R"({"metadata":{"name":"c"},"value":1,"preemptionPolicy":"Never"})"))
                   .preempts);
  const model::BudgetFacts budget = BudgetFactsOf(Decoded<api::core::PodDisruptionBudget>(
      R"({"metadata":{"namespace":"ns","name":"b"},"spec":{"selector":{"matchLabels":{"app":"web"}}},
      "status":{"disruptionsAllowed":2}})"));
  EXPECT_EQ(budget.allowed, 2);
  EXPECT_EQ(budget.pods, (std::vector<model::RequirementFacts>{{"app", model::Op::kIn, {"web"}}}));
  EXPECT_EQ(BudgetFactsOf(Decoded<api::core::PodDisruptionBudget>(R"({"metadata":{"name":"b"},"spec":{}})")).allowed,
            0);
}

TEST(IngestTest, APodNamesItsGangInOneOfThreeWays) {
  const auto gang = [](const std::string& spec, const std::string& metadata = "") {
    const model::PodFacts pod = PodOf(absl::StrCat(R"("containers":[])", spec), metadata);
    return std::pair(pod.gang, pod.gang_kind);
  };
  EXPECT_EQ(gang("", R"(,"annotations":{"scheduling.k8s.io/group-name":"a"})"),
            std::pair(std::string("a"), model::GangKind::kVolcano));
  EXPECT_EQ(gang(R"(,"schedulingGroup":{"podGroupName":"b"})"),
            std::pair(std::string("b"), model::GangKind::kKubernetes));
  EXPECT_EQ(gang("", R"(,"labels":{"scheduling.x-k8s.io/pod-group":"c"})"),
            std::pair(std::string("c"), model::GangKind::kCoscheduling));
  EXPECT_EQ(gang("").first, "");
}

TEST(IngestTest, OfTwoGangsBothFieldsAreNamed) {
  const auto pod = Decoded<api::core::Pod>(
      R"({"metadata":{"labels":{"scheduling.x-k8s.io/pod-group":"c"}},"spec":{"containers":[],"schedulingGroup":{"podGroupName":"b"}}})");
  EXPECT_EQ(PodFactsOf(pod, "volcano", true).wants.not_modelled,
            "spec.schedulingGroup and metadata.labels[scheduling.x-k8s.io/pod-group] name two gangs");
  EXPECT_EQ(PodFactsOf(pod, "volcano", false).wants.not_modelled, "") << "the cluster has no such PodGroups";
}

TEST(IngestTest, PodGroupsOfOtherKinds) {
  const model::GangFacts gang = GangFactsOf(Decoded<api::core::KubernetesPodGroup>(
      R"({"metadata":{"namespace":"ns","name":"g"},"spec":{"schedulingPolicy":{"gang":{"minCount":4}},"priorityClassName":"high"}})"));
  EXPECT_EQ(gang.kind, model::GangKind::kKubernetes);
  EXPECT_EQ(gang.min_member, 4);
  EXPECT_EQ(gang.queue, "default");
  EXPECT_EQ(gang.priority_class, "high");
  EXPECT_FALSE(gang.was_whole);
  const model::GangFacts ran = GangFactsOf(Decoded<api::core::KubernetesPodGroup>(
      R"({"spec":{"schedulingPolicy":{"basic":{}},"resourceClaims":[{"name":"x"}]},"status":{"conditions":[{"type":"PodGroupScheduled","status":"True"}]}})"));
  EXPECT_EQ(ran.min_member, 1);
  EXPECT_EQ(ran.not_modelled, "spec.resourceClaims");
  EXPECT_TRUE(ran.was_whole);
  EXPECT_EQ(ran.phase, model::GangPhase::kRunning);
  const model::GangFacts other = GangFactsOf(Decoded<api::core::CoschedulingPodGroup>(
      R"({"spec":{"minMember":3,"minResources":{"cpu":"6"}},"status":{"phase":"Scheduling"}})"));
  EXPECT_EQ(other.kind, model::GangKind::kCoscheduling);
  EXPECT_EQ(other.min_member, 3);
  EXPECT_TRUE(other.has_min_resources);
  EXPECT_EQ(other.phase, model::GangPhase::kNone) << "its controller says so of every group that has its pods";
}

TEST(IngestTest, TheTaskPriorityAnnotationWins) {
  EXPECT_EQ(PodOf(R"("priority":7,"containers":[])", R"(,"annotations":{"volcano.sh/task-priority":"9"})").priority, 9);
}

TEST(IngestTest, OthersPodsAreNotOurs) {
  EXPECT_FALSE(PodOf(R"("schedulerName":"default-scheduler","containers":[])").ours);
}

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
        FieldCase{"ResourceClaims", R"("resourceClaims":[{"name":"x"},{"name":"y"}])", "spec.resourceClaims[x]"},
        FieldCase{"ResourceClaimsThatAreNone", R"("resourceClaims":{"name":"x"})", "spec.resourceClaims"},
        FieldCase{"NoResourceClaims", R"("resourceClaims":[])", ""},
        FieldCase{"SpreadThatIsNone", R"("topologySpreadConstraints":[{"maxSkew":"x"}])",
                  "spec.topologySpreadConstraints"},
        FieldCase{"PodAffinityThatIsNone",
                  R"("affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[7]}})",
                  "spec.affinity.podAffinity"},
        FieldCase{"PodAntiAffinityThatIsNone",
                  R"("affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":7}})",
                  "spec.affinity.podAntiAffinity"},
        FieldCase{"PodAffinitySelectorThatDoesNotRead",
                  R"("affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
                     {"topologyKey":"zone","labelSelector":{}},
                     {"topologyKey":"zone","labelSelector":{"matchExpressions":[{"key":"a","operator":"Near"}]}}]}})",
                  "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].labelSelector"},
        FieldCase{"PodAntiAffinitySelectorThatDoesNotRead",
                  R"("affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
                     {"topologyKey":"zone","labelSelector":{"matchLabels":{"a b":"c"}}}]}})",
                  "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector"},
        FieldCase{"NamespaceSelectorThatDoesNotRead",
                  R"("affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
                     {"topologyKey":"zone","labelSelector":{},
                      "namespaceSelector":{"matchExpressions":[{"key":"a","operator":"In"}]}}]}})",
                  "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespaceSelector"},
        FieldCase{"AWishThatDoesNotRead",
                  R"("affinity":{"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,
                     "podAffinityTerm":{"topologyKey":"zone","labelSelector":{"matchExpressions":[{"key":"a","operator":"Near"}]}}}]}},
                     "topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway",
                       "labelSelector":{"matchExpressions":[{"key":"a","operator":"Near"}]}}])",
                  ""},
        FieldCase{"SpreadSelectorThatDoesNotRead",
                  R"("topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule",
                     "labelSelector":{"matchExpressions":[{"key":"a","operator":"Near"}]}}])",
                  "spec.topologySpreadConstraints[0].labelSelector"},
        FieldCase{
            "AbsentSelectors",
            R"("affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone"}]}},
                     "topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}])",
            ""},
        FieldCase{"NodeAffinityOperator",
                  R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
                     {"matchExpressions":[{"key":"a","operator":"Near"}]}]}}})",
                  "spec.affinity.nodeAffinity"},
        FieldCase{"NodeAffinityField",
                  R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
                     {"matchFields":[{"key":"metadata.uid","operator":"In","values":["x"]}]}]}}})",
                  "spec.affinity.nodeAffinity"},
        FieldCase{
            "KnownVolumes",
            R"("volumes":[{"name":"a","hostPath":{"path":"/"}},{"name":"b","emptyDir":{}},{"name":"c","configMap":{"name":"x"}},
                     {"name":"d","secret":{}},{"name":"e","persistentVolumeClaim":{"claimName":"x"}},{"name":"f","projected":{}},
                     {"name":"g","downwardAPI":{}}])",
            ""},
        FieldCase{"ClaimMadeWithThePod", R"("volumes":[{"name":"a","ephemeral":{"volumeClaimTemplate":{"spec":{}}}}])",
                  ""},
        FieldCase{"SchedulingGroup", R"("schedulingGroup":{"podGroupName":"g"})", ""},
        FieldCase{"SchedulingGroupOfAnotherKind", R"("schedulingGroup":{"templateRef":"g"})", "spec.schedulingGroup"},
        FieldCase{"WorkloadRef", R"("workloadRef":{"name":"w","podGroup":"g"})", "spec.workloadRef"},
        FieldCase{"UnknownVolume", R"("volumes":[{"name":"a","emptyDir":{}},{"name":"b","cephfs":{"monitors":["x"]}}])",
                  "spec.volumes[b]"}),
    [](const auto& c) { return c.param.name; });

TEST(IngestTest, PartsOfCardsAreNamedWhereTheyAreAskedFor) {
  const auto field = [](const std::string& resource, const std::string& amount, const std::string& list = "limits",
                        const std::string& containers = "containers") {
    const std::string more = containers == "containers" ? "" : R"("containers":[],)";
    return PodOf(absl::StrCat(more, "\"", containers, R"(":[{"name":"c","resources":{")", list, R"(":{")", resource,
                              R"(":")", amount, R"("}}}])"))
        .wants.not_modelled;
  };
  EXPECT_EQ(field("volcano.sh/vgpu-number", "1"), "spec.containers[c].resources.limits[volcano.sh/vgpu-number]");
  EXPECT_EQ(field("volcano.sh/vgpu-memory", "1000"), "spec.containers[c].resources.limits[volcano.sh/vgpu-memory]");
  EXPECT_EQ(field("volcano.sh/gpu-memory", "1", "requests"),
            "spec.containers[c].resources.requests[volcano.sh/gpu-memory]");
  EXPECT_EQ(field("volcano.sh/gpu-number", "1", "limits", "initContainers"),
            "spec.initContainers[c].resources.limits[volcano.sh/gpu-number]");
  EXPECT_EQ(field("huawei.com/npu-core", "4"), "spec.containers[c].resources.limits[huawei.com/npu-core]");
  for (const char* whole : {"nvidia.com/gpu", "nvidia.com/mig-1g.5gb", "huawei.com/Ascend910", "volcano.sh/other"})
    EXPECT_EQ(field(whole, "1"), "") << whole;
  EXPECT_EQ(field("volcano.sh/vgpu-number", "0"), "") << "none is asked for";
}

TEST(IngestTest, AStrictNumaPolicyIsNamed) {
  const auto field = [](const std::string& policy) {
    return PodOf(R"("containers":[])",
                 absl::StrCat(R"(,"annotations":{"volcano.sh/numa-topology-policy":")", policy, "\"}"))
        .wants.not_modelled;
  };
  EXPECT_EQ(field("single-numa-node"), "metadata.annotations[volcano.sh/numa-topology-policy]");
  EXPECT_EQ(field("restricted"), "metadata.annotations[volcano.sh/numa-topology-policy]");
  EXPECT_EQ(field("best-effort"), "");
}

TEST(IngestTest, APodSaysItsClaimsWhereverItIs) {
  const std::string volumes =
      R"("volumes":[{"name":"b","persistentVolumeClaim":{"claimName":"x"}},{"name":"a","ephemeral":{}},
      {"name":"c","persistentVolumeClaim":{"claimName":"x"}},{"name":"d","emptyDir":{}}],"containers":[])";
  EXPECT_THAT(PodOf(volumes).wants.claims, ElementsAre("ns/j-w-3-a", "ns/x"));
  EXPECT_THAT(PodOf(R"("nodeName":"n1",)" + volumes).wants.claims, ElementsAre("ns/j-w-3-a", "ns/x"));
}

constexpr char kAntiAffinity[] =
    R"("containers":[],"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
    {"topologyKey":"zone","labelSelector":{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"c","operator":"NotIn","values":["e","d"]}]}},
    {"topologyKey":"host","labelSelector":{},"namespaces":["x"],"namespaceSelector":{"matchExpressions":[{"key":"t","operator":"Exists"}]}},
    {"topologyKey":"host","labelSelector":{},"namespaceSelector":{}},
    {"topologyKey":"host"}]}})";

TEST(IngestTest, APodSaysWhomItKeepsAwayWhereverItIs) {
  const auto keeps_away = PodOf(absl::StrCat(R"("nodeName":"n1",)", kAntiAffinity)).wants.pod_anti_affinity;
  ASSERT_EQ(keeps_away.size(), 3u) << "a term without a selector matches no pod";
  EXPECT_EQ(keeps_away[0].topology_key, "zone");
  EXPECT_THAT(keeps_away[0].selector.namespaces, ElementsAre("ns"));
  EXPECT_FALSE(keeps_away[0].selector.namespace_selector.has_value());
  EXPECT_THAT(keeps_away[0].selector.pods, ElementsAre(model::RequirementFacts{"a", model::Op::kIn, {"b"}},
                                                       model::RequirementFacts{"c", model::Op::kNotIn, {"d", "e"}}));
  EXPECT_THAT(keeps_away[1].selector.namespaces, ElementsAre("x"));
  EXPECT_THAT(*keeps_away[1].selector.namespace_selector,
              ElementsAre(model::RequirementFacts{"t", model::Op::kExists, {}}));
  EXPECT_THAT(keeps_away[1].selector.pods, IsEmpty()) << "every pod";
  EXPECT_THAT(keeps_away[2].selector.namespaces, IsEmpty());
  EXPECT_THAT(*keeps_away[2].selector.namespace_selector, IsEmpty()) << "every namespace";
  EXPECT_EQ(PodOf(kAntiAffinity).wants.pod_anti_affinity, keeps_away);
  EXPECT_EQ(PodOf(kAntiAffinity).wants.not_modelled, "");
}

TEST(IngestTest, APodSaysWhomItWouldBeNear) {
  const model::Wants wants = PodOf(R"("containers":[],"affinity":{"podAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone","labelSelector":{"matchLabels":{"a":"b"}},"matchLabelKeys":["gen","none"],
        "mismatchLabelKeys":["team"]}, {"topologyKey":"rack"}],
      "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":7,"podAffinityTerm":{"topologyKey":"host","labelSelector":{}}}]},
    "podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":9,"podAffinityTerm":{"topologyKey":"host","labelSelector":{}}}]}})",
                                   R"(,"labels":{"a":"b","gen":"4","team":"x"})")
                                 .wants;
  ASSERT_EQ(wants.pod_affinity.size(), 2u);
  EXPECT_EQ(wants.pod_affinity[0].topology_key, "zone");
  EXPECT_THAT(wants.pod_affinity[0].selector.namespaces, ElementsAre("ns"));
  EXPECT_THAT(wants.pod_affinity[0].selector.pods,
              ElementsAre(model::RequirementFacts{"a", model::Op::kIn, {"b"}},
                          model::RequirementFacts{"gen", model::Op::kIn, {"4"}},
                          model::RequirementFacts{"team", model::Op::kNotIn, {"x"}}));
  EXPECT_THAT(wants.pod_affinity[1].selector.pods, ElementsAre(model::kNoPod))
      << "a selector that is absent selects no pod";
  ASSERT_EQ(wants.pod_preferences.size(), 2u);
  EXPECT_EQ(wants.pod_preferences[0].weight, 7);
  EXPECT_EQ(wants.pod_preferences[1].weight, -9);
  EXPECT_EQ(wants.not_modelled, "");
}

// What it had to have near it, as little as can be.
TEST(IngestTest, OfABoundPodIsToldWhatItWishesNearIt) {
  const std::string term = R"({"topologyKey":"host","labelSelector":{}})";
  const model::Wants wants =
      PodOf(
          absl::StrCat(
              R"("nodeName":"n","containers":[],"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[)",
              term, R"(],"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":7,"podAffinityTerm":)", term,
              R"(}]},"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[)", term,
              R"(],"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":9,"podAffinityTerm":)", term, "}]}}"))
          .wants;
  std::vector<int> weights;
  for (const model::PodPreferenceFacts& preference : wants.pod_preferences) weights.push_back(preference.weight);
  EXPECT_THAT(weights, ElementsAre(7, 1, -9));
  EXPECT_THAT(wants.pod_affinity, IsEmpty());
  EXPECT_EQ(wants.pod_anti_affinity.size(), 1u) << "whom it keeps away is held";
}

TEST(IngestTest, APodSaysHowItIsSpread) {
  const model::Wants wants = PodOf(R"("containers":[],"topologySpreadConstraints":[
      {"maxSkew":2,"minDomains":3,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"a":"b"}},"matchLabelKeys":["gen"],
       "nodeAffinityPolicy":"Ignore","nodeTaintsPolicy":"Honor"},
      {"maxSkew":1,"topologyKey":"host","whenUnsatisfiable":"ScheduleAnyway"},
      {"maxSkew":1,"topologyKey":"host","whenUnsatisfiable":"DoNotSchedule","labelSelector":{}}])",
                                   R"(,"labels":{"gen":"4"})")
                                 .wants;
  ASSERT_EQ(wants.spreads.size(), 3u);
  const model::SpreadFacts first{
      {"zone", {{"ns"}, {}, {{"a", model::Op::kIn, {"b"}}, {"gen", model::Op::kIn, {"4"}}}}}, 2, 3, true, false, true};
  EXPECT_EQ(wants.spreads[0], first);
  const model::SpreadFacts second{{"host", {{"ns"}, {}, {model::kNoPod}}}, 1, 1, false, true, false};
  EXPECT_EQ(wants.spreads[1], second);
  EXPECT_THAT(wants.spreads[2].term.selector.pods, ElementsAre(model::kNoPod))
      << "an empty selector counts no pods in Kubernetes, either";
  EXPECT_EQ(wants.not_modelled, "");
}

TEST(IngestTest, LabelsAreOfPodsThatHaveNotEnded) {
  const std::string labels = R"(,"labels":{"a":"b"})";
  EXPECT_THAT(PodOf(R"("schedulerName":"other","containers":[])", labels).labels, ElementsAre(Pair("a", "b")));
  EXPECT_THAT(PodOf(R"("schedulerName":"volcano","nodeName":"n1","containers":[])", labels).labels,
              ElementsAre(Pair("a", "b")));
  EXPECT_THAT(PodOf(R"("nodeName":"n1","containers":[])", labels, R"({"phase":"Failed"})").labels, IsEmpty());
}

TEST(IngestTest, AClaimIsBoundWhenItsPhaseSaysSo) {
  const auto claim = ClaimFactsOf(Decoded<api::core::PersistentVolumeClaim>(
      R"({"metadata":{"namespace":"ns","name":"c"},"spec":{"volumeName":"pv","storageClassName":"s","accessModes":["ReadWriteOncePod"]},"status":{"phase":"Bound"}})"));
  EXPECT_EQ(claim.phase, model::ClaimPhase::kBound);
  EXPECT_EQ(claim.volume, "pv");
  EXPECT_EQ(claim.storage_class, "s");
  EXPECT_TRUE(claim.one_pod);
  EXPECT_FALSE(claim.ending);
  EXPECT_EQ(ClaimFactsOf(
                Decoded<api::core::PersistentVolumeClaim>(R"({"spec":{"volumeName":"pv"},"status":{"phase":"Lost"}})"))
                .phase,
            model::ClaimPhase::kLost);
  const auto ending = ClaimFactsOf(Decoded<api::core::PersistentVolumeClaim>(
      R"({"metadata":{"deletionTimestamp":"2026-11-22T10:00:00Z"},"spec":{"volumeName":"pv","accessModes":["ReadWriteMany"]}})"));
  EXPECT_TRUE(ending.ending);
  EXPECT_FALSE(ending.one_pod);
  EXPECT_EQ(ending.phase, model::ClaimPhase::kPending);
}

TEST(IngestTest, AVolumesAffinityIsASelector) {
  const auto of = [](const std::string& requirement) {
    return VolumeFactsOf(Decoded<api::core::PersistentVolume>(absl::StrCat(
        R"({"metadata":{"name":"pv"},"spec":{"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[)",
        requirement, "]}]}}}}")));
  };
  const auto local = of(R"({"key":"kubernetes.io/hostname","operator":"In","values":["n1"]})");
  EXPECT_THAT(local.selectors,
              ElementsAre(std::vector<model::TermFacts>{{{"kubernetes.io/hostname", model::Op::kIn, {"n1"}}}}));
  EXPECT_EQ(local.not_modelled, "");
  EXPECT_EQ(of(R"({"key":"a","operator":"Near"})").not_modelled, "spec.nodeAffinity");
  const auto named = VolumeFactsOf(Decoded<api::core::PersistentVolume>(
      R"({"metadata":{"name":"pv"},"spec":{"nodeAffinity":{"required":{"nodeSelectorTerms":[
      {"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]},{}]}}}})"));
  EXPECT_THAT(named.selectors, ElementsAre(std::vector<model::TermFacts>{{{"", model::Op::kExists, {}}}, {}}))
      << "Kubernetes does not look at its nodes' names";
  EXPECT_THAT(
      VolumeFactsOf(Decoded<api::core::PersistentVolume>(R"({"metadata":{"name":"pv"},"spec":{"nfs":{"server":"s"}}})"))
          .selectors,
      IsEmpty());
}

// kubernetes: plugins/volumezone
TEST(IngestTest, AVolumesZoneIsASelectorToo) {
  const auto volume = VolumeFactsOf(Decoded<api::core::PersistentVolume>(
      R"({"metadata":{"name":"pv","labels":{"topology.kubernetes.io/zone":"a__b","failure-domain.beta.kubernetes.io/region":"r","app":"x"}}})"));
  ASSERT_EQ(volume.selectors.size(), 2u);
  const model::TermFacts nowhere{{"topology.kubernetes.io/zone", model::Op::kDoesNotExist, {}},
                                 {"topology.kubernetes.io/region", model::Op::kDoesNotExist, {}},
                                 {"failure-domain.beta.kubernetes.io/zone", model::Op::kDoesNotExist, {}},
                                 {"failure-domain.beta.kubernetes.io/region", model::Op::kDoesNotExist, {}}};
  EXPECT_THAT(volume.selectors[0],
              ElementsAre(model::TermFacts{{"failure-domain.beta.kubernetes.io/region", model::Op::kIn, {"r"}}},
                          model::TermFacts{{"failure-domain.beta.kubernetes.io/region", model::Op::kDoesNotExist, {}},
                                           {"topology.kubernetes.io/region", model::Op::kIn, {"r"}}},
                          nowhere));
  EXPECT_THAT(volume.selectors[1],
              ElementsAre(model::TermFacts{{"topology.kubernetes.io/zone", model::Op::kIn, {"a", "b"}}}, nowhere));
}

TEST(IngestTest, NodeAffinityBecomesTerms) {
  const model::PodFacts pod = PodOf(R"("containers":[],"affinity":{"nodeAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
        {"matchExpressions":[{"key":"zone","operator":"NotIn","values":["a","b"]}],
         "matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}]},
      "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":5,"preference":{"matchExpressions":[{"key":"ssd","operator":"Exists"}]}}]}})");
  ASSERT_TRUE(pod.wants.has_affinity);
  EXPECT_THAT(pod.wants.affinity,
              ElementsAre(model::TermFacts{{"zone", model::Op::kNotIn, {"a", "b"}}, {"", model::Op::kIn, {"n1"}}}));
  ASSERT_EQ(pod.wants.preferences.size(), 1u);
  EXPECT_EQ(pod.wants.preferences[0].weight, 5);
}

TEST(IngestTest, EachOperatorOfATermIsItsOwn) {
  const model::PodFacts pod = PodOf(
      R"("containers":[],"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[
      {"key":"a","operator":"In","values":["1"]},{"key":"b","operator":"NotIn","values":["2"]},{"key":"c","operator":"Exists"},{"key":"d","operator":"DoesNotExist"},
      {"key":"e","operator":"Gt","values":["3"]},{"key":"f","operator":"Lt","values":["4"]}]}]}}})");
  using model::Op;
  EXPECT_THAT(pod.wants.affinity, ElementsAre(model::TermFacts{{"a", Op::kIn, {"1"}},
                                                               {"b", Op::kNotIn, {"2"}},
                                                               {"c", Op::kExists, {}},
                                                               {"d", Op::kDoesNotExist, {}},
                                                               {"e", Op::kGt, {"3"}},
                                                               {"f", Op::kLt, {"4"}}}));
  EXPECT_EQ(pod.wants.not_modelled, "");
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

// tests/golden/volcano/seed-ctr-volcano: the quota names beside the resources ask for nothing more.
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

TEST(IngestTest, AGangSaysWhereItLies) {
  const auto of = [](const std::string& topology) {
    return GangFactsOf(Decoded<api::volcano::PodGroup>(absl::StrCat(R"({"spec":{"networkTopology":)", topology, "}}")))
        .topology;
  };
  EXPECT_EQ(of(R"({"mode":"hard","highestTierAllowed":2})"), (model::TopologyFacts{true, 2, ""}));
  EXPECT_EQ(of(R"({"highestTierName":"rack"})"), (model::TopologyFacts{true, std::nullopt, "rack"}));
  EXPECT_EQ(of(R"({"mode":"soft","highestTierAllowed":2})"), (model::TopologyFacts{false, 2, ""}));
  EXPECT_EQ(of(R"({"mode":"hard"})"), (model::TopologyFacts{false, std::nullopt, ""})) << "without a tier any will do";
  EXPECT_FALSE(GangFactsOf(Decoded<api::volcano::PodGroup>("{}")).topology.has_value());
}

TEST(IngestTest, AHyperNodeSaysItsMembers) {
  const model::HyperNodeFacts facts =
      HyperNodeFactsOf(Decoded<api::volcano::HyperNode>(R"({"metadata":{"name":"s0","labels":{"hall":"a"}},
      "spec":{"tier":1,"tierName":"rack","members":[{"type":"Node","selector":{"exactMatch":{"name":"n1"}}},{"type":"HyperNode","selector":{"regexMatch":{"pattern":"^s"}}},
        {"type":"Node","selector":{"labelMatch":{"matchLabels":{"rack":"7"}}}}]}})"));
  EXPECT_EQ(facts.name, "s0");
  EXPECT_EQ(facts.tier, 1);
  EXPECT_EQ(facts.tier_name, "rack");
  EXPECT_THAT(facts.labels, ElementsAre(Pair("hall", "a")));
  using By = model::HyperNodeFacts::By;
  EXPECT_THAT(facts.members,
              ElementsAre(model::HyperNodeFacts::Member{true, By::kName, "n1", {}},
                          model::HyperNodeFacts::Member{false, By::kPattern, "^s", {}},
                          model::HyperNodeFacts::Member{true, By::kLabels, "", {{"rack", model::Op::kIn, {"7"}}}}));
}

// As the controller writes them for a Job with partitionPolicy.
constexpr char kOfTask[] =
    R"("labelSelector":{"matchLabels":{"volcano.sh/task-spec":"w"}},"matchLabelKeys":["volcano.sh/partition-id"])";

model::GangFacts GangWithSubGroups(const std::string& policies) {
  return GangFactsOf(
      Decoded<api::volcano::PodGroup>(absl::StrCat(R"({"spec":{"minMember":4,"subGroupPolicy":[)", policies, "]}}")));
}

TEST(IngestTest, SubGroupsChoosePodsByLabels) {
  const auto gang = GangWithSubGroups(absl::StrCat(R"({"name":"w","subGroupSize":2,"minSubGroups":1,)", kOfTask, "}"));
  EXPECT_EQ(gang.not_modelled, "");
  EXPECT_THAT(gang.sub_groups,
              ElementsAre(model::SubGroupFacts{
                  "w", {{"volcano.sh/task-spec", model::Op::kIn, {"w"}}}, {"volcano.sh/partition-id"}, 2, 1}));
  EXPECT_THAT(GangWithSubGroups(
                  R"({"name":"x","subGroupSize":2,"matchLabelKeys":["c","d"],
              "labelSelector":{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"e","operator":"DoesNotExist"}]},
              "networkTopology":{"mode":"hard","highestTierAllowed":1}},{"minSubGroups":1})")
                  .sub_groups,
              ElementsAre(model::SubGroupFacts{"x",
                                               {{"a", model::Op::kIn, {"b"}}, {"e", model::Op::kDoesNotExist, {}}},
                                               {"c", "d"},
                                               2,
                                               0,
                                               model::TopologyFacts{true, 1, ""}},
                          model::SubGroupFacts{"subGroupPolicy[1]", {}, {}, 1, 1}));
}

TEST(IngestTest, PoliciesThatAskForNothingAreKeptWhereTheyTakePodsFromOthers) {
  EXPECT_THAT(GangWithSubGroups(R"({"name":"x"})").sub_groups, IsEmpty());
  const auto gang = GangWithSubGroups(R"({"name":"x"},{"name":"y","subGroupSize":2},{"name":"z"})");
  ASSERT_EQ(gang.sub_groups.size(), 2u);
  EXPECT_EQ(gang.sub_groups[1].name, "y");
}

TEST(IngestTest, ASelectorThatDoesNotReadIsNamed) {
  EXPECT_EQ(GangWithSubGroups(
                R"({"name":"x","labelSelector":{"matchExpressions":[{"key":"e","operator":"Near","values":["a"]}]}})")
                .not_modelled,
            "spec.subGroupPolicy[x].labelSelector");
}

TEST(IngestTest, OfAPodThatEndedTheLabelsAreToldWhereItHasAGang) {
  const auto labels = [](absl::string_view annotations) {
    return PodFactsOf(Decoded<api::core::Pod>(absl::StrCat(R"({"metadata":{"name":"p","labels":{"a":"b"})", annotations,
                                                           R"(},"status":{"phase":"Succeeded"}})")),
                      "volcano")
        .labels;
  };
  EXPECT_THAT(labels(""), IsEmpty());
  EXPECT_THAT(labels(R"(,"annotations":{"scheduling.k8s.io/group-name":"g"})"), ElementsAre(Pair("a", "b")));
}

TEST(IngestTest, AQueueThatIsBoundToNodeGroupsIsNamed) {
  const auto field = [](const std::string& affinity) {
    return QueueFactsOf(Decoded<api::volcano::Queue>(
                            absl::StrCat(R"({"metadata":{"name":"q"},"spec":{"affinity":)", affinity, "}}")))
        .not_modelled;
  };
  EXPECT_EQ(field(R"({"nodeGroupAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":["a"]}})"),
            "spec.affinity");
  EXPECT_EQ(field(R"({"nodeGroupAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":["a"]}})"),
            "spec.affinity");
  EXPECT_EQ(field(R"({"nodeGroupAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":["a"]}})"), "");
  EXPECT_EQ(field("{}"), "");
}

TEST(IngestTest, AQueuesGuaranteeIsWhatItsResourceSays) {
  const auto guarantee = [](const std::string& spec) {
    return QueueFactsOf(Decoded<api::volcano::Queue>(absl::StrCat(R"({"metadata":{"name":"q"},"spec":{)", spec, "}}")))
        .guarantee;
  };
  EXPECT_THAT(guarantee(R"("guarantee":{"resource":{"cpu":"2","memory":"1G"}})"),
              ElementsAre(Pair("cpu", 2000), Pair("memory", 1'000'000'000)));
  EXPECT_THAT(guarantee(R"("weight":1)"), IsEmpty());
}

TEST(IngestTest, AQueueDeservesWhatItSays) {
  const auto facts = QueueFactsOf(
      Decoded<api::volcano::Queue>(R"({"metadata":{"name":"q"},"spec":{"deserved":{"cpu":"2","nvidia.com/gpu":4}}})"));
  EXPECT_THAT(facts.deserved, ElementsAre(Pair("cpu", 2000), Pair("nvidia.com/gpu", 4)));
}

TEST(IngestTest, APodSaysHowLongItLasts) {
  const auto of = [](const std::string& spec, const std::string& status) {
    return PodFactsOf(Decoded<api::core::Pod>(absl::StrCat(R"({"metadata":{"namespace":"ns","name":"p"},"spec":{)",
                                                           spec, R"("containers":[]},"status":{)", status, "}}")),
                      "volcano", false);
  };
  const std::string started = R"("startTime":"2026-01-01T00:00:00Z")";
  EXPECT_EQ(of("", started).lasts, absl::InfiniteDuration());
  EXPECT_EQ(of("", started).ends, absl::InfiniteFuture());
  EXPECT_EQ(of(R"("activeDeadlineSeconds":600,)", "").lasts, absl::Minutes(10));
  EXPECT_EQ(of(R"("activeDeadlineSeconds":600,)", "").ends, absl::InfiniteFuture());
  EXPECT_EQ(of(R"("activeDeadlineSeconds":600,)", started).ends, absl::FromUnixSeconds(1767226200));
}

TEST(IngestTest, AnOwnerSaysHowLongAPodLasts) {
  const auto of = [](const std::string& expected, const std::string& spec) {
    return PodFactsOf(
        Decoded<api::core::Pod>(absl::StrCat(
            R"({"metadata":{"namespace":"ns","name":"p","annotations":{"gangway.io/expected-runtime":")", expected,
            R"("}},"spec":{)", spec, R"("containers":[]},"status":{"startTime":"2026-01-01T00:00:00Z"}})")),
        "volcano", false);
  };
  EXPECT_EQ(of("10m", "").lasts, absl::Minutes(10));
  EXPECT_EQ(of("10m", "").ends, absl::FromUnixSeconds(1767226200));
  EXPECT_EQ(of("2h", R"("activeDeadlineSeconds":600,)").lasts, absl::Minutes(10)) << "then it is ended";
  EXPECT_EQ(of("10m", R"("activeDeadlineSeconds":6000,)").lasts, absl::Minutes(10));
  for (const char* wrong : {"", "soon", "0s", "-1h"}) EXPECT_EQ(of(wrong, "").lasts, absl::InfiniteDuration()) << wrong;
}

// What follows the last dash of a name of three parts at least.
TEST(IngestTest, ThePodsNumberIsTheEndOfItsName) {
  const auto index = [](const std::string& name) {
    return PodFactsOf(Decoded<api::core::Pod>(absl::StrCat(R"({"metadata":{"namespace":"ns","name":")", name,
                                                           R"("},"spec":{"containers":[]}})")),
                      "volcano")
        .index;
  };
  EXPECT_EQ(index("job-task-0"), 0);
  EXPECT_EQ(index("my-job-task-17"), 17);
  EXPECT_EQ(index("task-3"), -1);
  EXPECT_EQ(index("job-task-x"), -1);
  EXPECT_EQ(index("job-task--1"), 1);
}

TEST(IngestTest, AQueueWithoutAParentIsBelowRoot) {
  const auto parent = [](const std::string& queue) { return QueueFactsOf(Decoded<api::volcano::Queue>(queue)).parent; };
  EXPECT_EQ(parent(R"({"metadata":{"name":"q"}})"), "root");
  EXPECT_EQ(parent(R"({"metadata":{"name":"q"},"spec":{"parent":"lab"}})"), "lab");
  EXPECT_EQ(parent(R"({"metadata":{"name":"root"}})"), "");
}

TEST(IngestTest, AQueueIsOpenUnlessItWasClosed) {
  for (const auto& [state, open] :
       {std::pair("", true), std::pair("Open", true), std::pair("Closing", false), std::pair("Closed", false)}) {
    EXPECT_EQ(QueueFactsOf(Decoded<api::volcano::Queue>(absl::StrCat(R"({"status":{"state":")", state, R"("}})"))).open,
              open)
        << state;
  }
}

TEST(GangFactsTest, HowLongItMayWait) {
  const auto wait = [](const std::string& annotations) {
    return GangFactsOf(
               Decoded<api::volcano::PodGroup>(absl::StrCat(R"({"metadata":{"annotations":{)", annotations, "}}}")))
        .waiting_time;
  };
  EXPECT_EQ(wait(""), std::nullopt);
  EXPECT_EQ(wait(R"("sla-waiting-time":"1h30m")"), absl::Minutes(90));
  EXPECT_EQ(wait(R"("sla-waiting-time":"1h","volcano.sh/sla-waiting-time":"2h")"), absl::Hours(2));
  for (const char* none : {"soon", "0s", "-1h", "60"})
    EXPECT_EQ(wait(absl::StrCat(R"("volcano.sh/sla-waiting-time":")", none, "\"")), std::nullopt) << none;
}

TEST(IngestTest, AGangWasWholeWhenItsPhaseOrItsConditionSaysSo) {
  const auto was_whole = [](const std::string& status) {
    return GangFactsOf(Decoded<api::volcano::PodGroup>(absl::StrCat(R"({"status":{)", status, "}}"))).was_whole;
  };
  for (const char* phase : {"Running", "Unknown", "Completed"})
    EXPECT_TRUE(was_whole(absl::StrCat(R"("phase":")", phase, "\""))) << phase;
  for (const char* phase : {"", "Pending", "Inqueue"})
    EXPECT_FALSE(was_whole(absl::StrCat(R"("phase":")", phase, "\""))) << phase;
  EXPECT_TRUE(was_whole(
      R"("phase":"Pending","conditions":[{"type":"Unschedulable","status":"True"},{"type":"Scheduled","status":"True"}])"));
  EXPECT_FALSE(was_whole(
      R"("phase":"Inqueue","conditions":[{"type":"Unschedulable","status":"True"},{"type":"Scheduled","status":"False"}])"));
}

}  // namespace
}  // namespace gangway::ingest
