#include "plugin/ingest/foresight.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "api/field_table.h"

namespace gangway::ingest {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

template <class T>
std::vector<Foresight> Of(const std::string& spec) {
  const auto object = api::Decode<T>(absl::StrCat(R"({"metadata":{"name":"x"},"spec":{)", spec, "}}"));
  EXPECT_TRUE(object.ok()) << object.status();
  return object.ok() ? Foresee(*object) : std::vector<Foresight>();
}
std::vector<Foresight> OfJob(const std::string& spec) { return Of<api::volcano::Job>(spec); }
std::string Task(const std::string& pod_spec, const std::string& more = "") {
  return absl::StrCat(R"("tasks":[{"name":"w","replicas":2,"template":{"spec":{"containers":[])",
                      pod_spec.empty() ? "" : ",", pod_spec, "}}", more, "}]");
}

constexpr char kUnknown[] = R"("schedulingGroup":{})";

TEST(ForeseeTest, FieldsOfTemplatesAreNamedWithTheirTask) {
  EXPECT_THAT(
      OfJob(Task(absl::StrCat(
          kUnknown, R"(,"volumes":[{"name":"a","cephfs":{"monitors":["x"]}}],"resourceClaims":[{"name":"x"}])"))),
      ElementsAre(Foresight{"spec.tasks[0].template.spec.resourceClaims[x]",
                            "gangway's scheduler does not know it: pods of task w would wait for ever; it allocates no "
                            "devices of resource.k8s.io; ask for devices as resources of a device plugin "
                            "(resources.limits), or give the pods to a scheduler that allocates them (schedulerName: "
                            "default-scheduler)"},
                  Foresight{"spec.tasks[0].template.spec.schedulingGroup",
                            "gangway's scheduler does not know it: pods of task w would wait for ever"},
                  Foresight{"spec.tasks[0].template.spec.volumes[a]",
                            "gangway's scheduler does not know it: pods of task w would wait for ever"}));
  EXPECT_THAT(OfJob(Task("")), IsEmpty());
}

TEST(ForeseeTest, AJobIsAGangAlready) {
  EXPECT_THAT(OfJob(Task(R"("schedulingGroup":{"podGroupName":"g"})")),
              ElementsAre(Foresight{"spec.tasks[0].template.spec.schedulingGroup",
                                    "names the gang g beside the job's own: pods of task w would wait for ever"}));
}

TEST(ForeseeTest, AnotherSchedulersJobsAreItsOwn) {
  EXPECT_THAT(OfJob(absl::StrCat(R"("schedulerName":"default-scheduler",)", Task(kUnknown))), IsEmpty());
  EXPECT_THAT(OfJob(absl::StrCat(R"("schedulerName":"volcano",)", Task(kUnknown))), SizeIs(1));
}

TEST(ForeseeTest, OfTopologiesOnlyThoseWithinANodeAreUnknown) {
  const std::string hard = R"("networkTopology":{"mode":"hard","highestTierAllowed":1})";
  EXPECT_THAT(OfJob(absl::StrCat(
                  hard, ",",
                  Task("", absl::StrCat(R"(,"partitionPolicy":{"totalPartitions":1,"partitionSize":2,)", hard, "}")))),
              IsEmpty());
  EXPECT_THAT(OfJob(Task("", R"(,"topologyPolicy":"single-numa-node")")),
              ElementsAre(Foresight{
                  "spec.tasks[0].topologyPolicy",
                  "gangway's scheduler does not know it: pods of task w would wait for ever; it does not know what is "
                  "free in a NUMA zone; without this policy the topology manager of the nodes' kubelets still decides "
                  "and refuses pods that do not fit (TopologyAffinityError); or let Volcano's own scheduler place the "
                  "pods"}));
  EXPECT_THAT(OfJob(Task("", R"(,"topologyPolicy":"best-effort")")), IsEmpty());
}

TEST(ForeseeTest, AClaimForOnePodOfSeveral) {
  const auto with = [](const std::string& mode) {
    return OfJob(
        absl::StrCat(R"("volumes":[{"mountPath":"/d","volumeClaim":{"accessModes":[")", mode, R"("]}}],)", Task("")));
  };
  EXPECT_THAT(with("ReadWriteOncePod"),
              ElementsAre(Foresight{
                  "spec.volumes[0].volumeClaim.accessModes",
                  "ReadWriteOncePod lets one pod at a time use the claim, and the job has 2; ReadWriteMany lets all"}));
  EXPECT_THAT(with("ReadWriteMany"), IsEmpty());
  EXPECT_THAT(
      OfJob(
          R"("volumes":[{"mountPath":"/d","volumeClaim":{"accessModes":["ReadWriteOncePod"]}}],"tasks":[{"name":"w","replicas":1,"template":{}}])"),
      IsEmpty())
      << "one pod has it for itself";
}

TEST(ForeseeTest, GroupsAndQueues) {
  EXPECT_EQ(
      Of<api::volcano::PodGroup>(
          R"("minMember":1,"subGroupPolicy":[{"name":"w","labelSelector":{"matchExpressions":[{"key":"a","operator":"Near"}]}}])")
          .at(0)
          .ToString(),
      "spec.subGroupPolicy[w].labelSelector: gangway's scheduler does not know it: no pod of the group would be "
      "placed");
  EXPECT_THAT(Of<api::volcano::PodGroup>(R"("minMember":1)"), IsEmpty());
  EXPECT_EQ(Of<api::volcano::Queue>(
                R"("affinity":{"nodeGroupAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":["a"]}})")
                .at(0)
                .ToString(),
            "spec.affinity: gangway's scheduler does not know it: no pod of the queue would be placed");
  EXPECT_THAT(Of<api::volcano::Queue>(R"("weight":1)"), IsEmpty());
}

TEST(ForeseeTest, TimesOfQueuesThatAreNone) {
  const auto of = [](const std::string& annotations) {
    const auto queue = api::Decode<api::volcano::Queue>(
        absl::StrCat(R"({"metadata":{"name":"x","annotations":{)", annotations, "}}}"));
    EXPECT_TRUE(queue.ok()) << queue.status();
    return Foresee(*queue);
  };
  EXPECT_THAT(of(R"("gangway.io/min-runtime":"10m","gangway.io/lost-member-grace":"0s")"), IsEmpty());
  EXPECT_THAT(
      of(R"("gangway.io/min-runtime":"-1m","gangway.io/lost-member-grace":"ten")"),
      ElementsAre(Foresight{"metadata.annotations[gangway.io/min-runtime]",
                            "\"-1m\" is no time: the queue is taken as one that says nothing; write it as 10m"},
                  Foresight{"metadata.annotations[gangway.io/lost-member-grace]",
                            "\"ten\" is no time: the queue is taken as one that says nothing; write it as 10m"}));
}

TEST(ForeseeTest, WhatMakesJobs) {
  EXPECT_THAT(Of<api::volcano::JobTemplate>(Task(kUnknown)),
              ElementsAre(Foresight{"spec.tasks[0].template.spec.schedulingGroup",
                                    "gangway's scheduler does not know it: pods of task w would wait for ever"}));
  EXPECT_EQ(Of<api::volcano::CronJob>(absl::StrCat(R"("jobTemplate":{"spec":{)", Task(kUnknown), "}}")).at(0).field,
            "spec.jobTemplate.spec.tasks[0].template.spec.schedulingGroup");
}

TEST(ForeseeTest, PodsAndWhatMakesThemWhereTheyAreOurs) {
  const auto in = [](const api::Resource& resource, absl::string_view scheduler, absl::string_view before,
                     absl::string_view after) {
    return ForeseeIn(resource, absl::StrCat(before, R"({"schedulerName":")", scheduler, R"(",)", kUnknown, "}", after));
  };
  EXPECT_THAT(in(api::kPods, "volcano", R"({"spec":)", "}"),
              ElementsAre(Foresight{"spec.schedulingGroup",
                                    "gangway's scheduler does not know it: the pod would wait for ever"}));
  EXPECT_THAT(in(api::kPods, "default-scheduler", R"({"spec":)", "}"), IsEmpty());
  for (const api::Resource* resource :
       {&api::kDeployments, &api::kReplicaSets, &api::kStatefulSets, &api::kDaemonSets, &api::kBatchJobs}) {
    EXPECT_THAT(in(*resource, "volcano", R"({"spec":{"template":{"spec":)", "}}}"),
                ElementsAre(Foresight{"spec.template.spec.schedulingGroup",
                                      "gangway's scheduler does not know it: its pods would wait for ever"}));
    EXPECT_THAT(in(*resource, "", R"({"spec":{"template":{"spec":)", "}}}"), IsEmpty());
  }
}

TEST(ForeseeTest, PodsThatNameTwoGangs) {
  const auto pod = [](const char* annotations) {
    return ForeseeIn(api::kPods,
                     absl::StrCat(R"({"metadata":{"name":"p","annotations":{)", annotations,
                                  R"(}},"spec":{"schedulerName":"volcano","schedulingGroup":{"podGroupName":"k"}}})"));
  };
  EXPECT_THAT(pod(R"("scheduling.k8s.io/group-name":"v")"),
              ElementsAre(Foresight{"spec.schedulingGroup",
                                    "names the gang k beside v of metadata.annotations[scheduling.k8s.io/group-name]: "
                                    "the pod would wait for ever; name one"}));
  EXPECT_THAT(pod(""), IsEmpty());
  EXPECT_THAT(
      ForeseeIn(api::kStatefulSets,
                R"({"spec":{"template":{"metadata":{"annotations":{"scheduling.k8s.io/group-name":"v"}},
                    "spec":{"schedulerName":"volcano","schedulingGroup":{"podGroupName":"k"}}}}})"),
      ElementsAre(Foresight{"spec.template.spec.schedulingGroup",
                            "names the gang k beside v of metadata.annotations[scheduling.k8s.io/group-name]: its pods "
                            "would wait for ever; name one"}));
}

TEST(ForeseeTest, GangsOfKubernetesOwn) {
  const auto group = [](const char* more) {
    return ForeseeIn(
        api::kKubernetesPodGroups,
        absl::StrCat(R"({"metadata":{"name":"g"},"spec":{"schedulingPolicy":{"gang":{"minCount":2}})", more, "}}"));
  };
  EXPECT_THAT(group(R"(,"schedulingConstraints":{"topology":[{"key":"rack"}]})"),
              ElementsAre(Foresight{"spec.schedulingConstraints.topology",
                                    "gangway's scheduler does not know it: none of the group's pods that name it "
                                    "(schedulerName: volcano) would be placed"}));
  EXPECT_EQ(group(R"(,"resourceClaims":[{"name":"gpu"}])").at(0).field, "spec.resourceClaims");
  EXPECT_THAT(group(""), IsEmpty());
}

TEST(ForeseeTest, HyperNodesThatSelectNothingAsTheyAreWritten) {
  const auto member = [](const char* selector, const char* type = "Node") {
    return ForeseeIn(api::volcano::kHyperNodes,
                     absl::StrCat(R"({"metadata":{"name":"s0"},"spec":{"tier":1,"members":[{"type":")", type,
                                  R"(","selector":)", selector, "}]}}"));
  };
  EXPECT_THAT(member(R"({"regexMatch":{"pattern":"n[1-"}})"),
              ElementsAre(Foresight{"spec.members[0].selector.regexMatch.pattern",
                                    "selects nothing, since it does not compile: missing ]: [1-"}));
  EXPECT_THAT(member(R"({"regexMatch":{"pattern":"(((a{100}){100}){100}){100}"}})"), SizeIs(1)) << "it explodes";
  EXPECT_EQ(member(R"({"labelMatch":{"matchExpressions":[{"key":"a","operator":"Near"}]}})").at(0).field,
            "spec.members[0].selector.labelMatch");
  EXPECT_THAT(member(R"({"exactMatch":{"name":"s0"}})", "HyperNode"),
              ElementsAre(Foresight{"spec.members[0].selector.exactMatch.name",
                                    "is the HyperNode itself, which adds no node; leave it out"}));
  EXPECT_THAT(member(R"({"exactMatch":{"name":"s0"}})"), IsEmpty()) << "a node may have its name";
  EXPECT_THAT(member(R"({"regexMatch":{"pattern":"^n[0-9]+$"}})"), IsEmpty());
  EXPECT_THAT(member(R"({"labelMatch":{"matchLabels":{"rack":"1"}}})"), IsEmpty());
}

TEST(ForeseeTest, HyperNodesThatAreMembersOfEachOther) {
  const auto hyper_node = [](const std::string& name, const std::string& selector) {
    return *api::Decode<api::volcano::HyperNode>(
        absl::StrCat(R"({"metadata":{"name":")", name,
                     R"("},"spec":{"tier":1,"members":[{"type":"HyperNode","selector":)", selector, "}]}}"));
  };
  const auto a = hyper_node("a", R"({"exactMatch":{"name":"b"}})"),
             b = hyper_node("b", R"({"regexMatch":{"pattern":"^c"}})"),
             c = hyper_node("c", R"({"exactMatch":{"name":"a"}})"),
             d = hyper_node("d", R"({"exactMatch":{"name":"a"}})"),
             itself = hyper_node("itself", R"({"exactMatch":{"name":"itself"}})");
  const auto cycles = ForeseeCycles({a, b, c, d, itself});
  ASSERT_THAT(cycles, SizeIs(1)) << "who is outside and has them as members is in none";
  EXPECT_EQ(cycles[0].first, "a");
  EXPECT_EQ(
      cycles[0].second.ToString(),
      "spec.members: it is its own member (a > b > c > a): all of these have the same nodes, whatever their tiers; "
      "take the one of the higher tier out of the other");
  EXPECT_THAT(ForeseeCycles({a, b, d}), IsEmpty());
  EXPECT_THAT(ForeseeCycles({a, b, c, hyper_node("x", R"({"exactMatch":{"name":"y"}})"),
                             hyper_node("y", R"({"exactMatch":{"name":"x"}})")}),
              SizeIs(2));
}

TEST(ForeseeTest, ManyAreCut) {
  std::string tasks;
  for (int i = 0; i < 1000; ++i)
    absl::StrAppend(&tasks, i == 0 ? "" : ",", R"({"name":"t","replicas":1,"template":{"spec":{)", kUnknown, "}}}");
  EXPECT_THAT(OfJob(absl::StrCat(R"("tasks":[)", tasks, "]")), SizeIs(kMaxForesights));
}

}  // namespace
}  // namespace gangway::ingest
