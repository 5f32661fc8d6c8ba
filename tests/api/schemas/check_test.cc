// What the API server finds wrong with an object, drops from it and fills into it.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/paddle_resources.h"
#include "api/schemas/schemas.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::schemas {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using Type = api::FieldError::Type;

boost::json::value Parse(absl::string_view json) { return api::ParseJson(json).value(); }

Findings CheckAs(const api::Resource& resource, absl::string_view json) {
  return Check(Parse(json), *Schemas::Shared().For(resource));
}

std::string Pruned(const api::Resource& resource, absl::string_view json) {
  boost::json::value value = Parse(json);
  Prune(value, *Schemas::Shared().For(resource));
  return api::ToJson(value);
}

boost::json::value Defaulted(const api::Resource& resource, absl::string_view json) {
  boost::json::value value = Parse(json);
  ApplyDefaults(value, *Schemas::Shared().For(resource));
  return value;
}

constexpr absl::string_view kPod = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"default"},
  "spec":{"containers":[{"name":"c","image":"i:1"}]}})";

std::string PodWith(absl::string_view spec_members) {
  return absl::StrCat(R"({"spec":{"containers":[{"name":"c","image":"i:1"}],)", spec_members, "}}");
}
std::string PodWithContainer(absl::string_view members) {
  return absl::StrCat(R"({"spec":{"containers":[{"name":"c","image":"i:1",)", members, "}]}}");
}

TEST(SchemasTest, KnowsEveryResource) {
  for (const api::KindRow& kind : api::Kinds()) {
    const api::Resource* const resource = kind.resource;
    const Schema* schema = Schemas::Shared().For(*resource);
    ASSERT_NE(schema, nullptr) << resource->kind;
    EXPECT_EQ(schema->kind, resource->kind);
  }
}

TEST(SchemasTest, KnowsKindsThatAreNotStored) {
  for (const auto& [version, kind] : {std::pair("v1", "Binding"),
                                      {"policy/v1", "Eviction"},
                                      {"autoscaling/v1", "Scale"},
                                      {"v1", "DeleteOptions"},
                                      {"authorization.k8s.io/v1", "SelfSubjectAccessReview"}}) {
    EXPECT_NE(Schemas::Shared().ForKind(version, kind), nullptr) << kind;
  }
  EXPECT_EQ(Schemas::Shared().ForKind("v1", "Nope"), nullptr);
  EXPECT_EQ(Schemas::Shared().ForKind("v2", "Pod"), nullptr);
}

TEST(CheckTest, AcceptsAPod) { EXPECT_TRUE(CheckAs(api::kPods, kPod).ok()); }

TEST(CheckTest, PaddleJobsKnowTheirTemplatesAndTheMisspeltCleanPolicy) {
  const Findings findings =
      CheckAs(api::paddle::kPaddleJobs,
              R"({"apiVersion":"batch.paddlepaddle.org/v1","kind":"PaddleJob","metadata":{"name":"wd"},
      "spec":{"cleanPolicy":"Never","cleanPodPolice":"Never","worker":{"replicas":2,"template":{"spec":{"containers":[{"name":"p","imagee":"i"}]}}},"ps":{}}})");
  EXPECT_THAT(findings.unknown,
              UnorderedElementsAre("spec.cleanPodPolice", "spec.worker.template.spec.containers[0].imagee"));
  EXPECT_THAT(findings.errors, IsEmpty())
      << "that a role needs replicas is judged with the rules, where bodies are read";
  EXPECT_TRUE(
      CheckAs(
          api::paddle::kubeflow::kPaddleJobs,
          R"({"metadata":{"name":"k"},"spec":{"paddleReplicaSpecs":{"Worker":{"template":{"spec":{"containers":[{"name":"paddle"}]}}}}}})")
          .ok());
}

TEST(CheckTest, NamesUnknownFieldsByPath) {
  const Findings findings = CheckAs(api::kPods, R"({"speck":{},"spec":{"containers":[{"name":"c","image":"i",
      "resources":{"limits":{"cpu":"1"},"limit":{}}}],"initContainers":[{"name":"i","image":"i","command":["x"],"cmd":1}]}})");
  EXPECT_THAT(findings.unknown,
              ElementsAre("speck", "spec.containers[0].resources.limit", "spec.initContainers[0].cmd"));
  EXPECT_THAT(findings.errors, IsEmpty());
  EXPECT_EQ(UnknownFieldsMessage({"spec.foo", "spec.bar"}),
            R"(strict decoding error: unknown field "spec.foo", unknown field "spec.bar")");
}

TEST(CheckTest, MapsHaveNoUnknownKeys) {
  EXPECT_TRUE(CheckAs(api::kConfigMaps, R"({"metadata":{"labels":{"anything":"x"}},"data":{"a.b":"c"}})").ok());
}

TEST(CheckTest, ManagedFieldsAreFree) {
  EXPECT_TRUE(
      CheckAs(api::kConfigMaps, R"({"metadata":{"managedFields":[{"manager":"m","fieldsV1":{"f:data":{}}}]}})").ok());
}

TEST(CheckTest, NamesUnknownFieldsOfVolcanosTypesAndTheirTemplates) {
  const Findings findings = CheckAs(api::kJobs, R"({"spec":{"tasks":[{"name":"a","replicass":2,
      "template":{"spec":{"containers":[],"nodeSelectr":{}}}}],"minAvailabel":1}})");
  EXPECT_THAT(findings.unknown,
              ElementsAre("spec.tasks[0].replicass", "spec.tasks[0].template.spec.nodeSelectr", "spec.minAvailabel"));
}

TEST(CheckTest, ACoreObjectWithAWrongTypeIsUnreadable) {
  EXPECT_EQ(CheckAs(api::kPods, R"({"spec":{"containers":[{"name":"c","image":7}]}})").unreadable,
            "spec.containers[0].image: must be a string, not 7");
  EXPECT_EQ(CheckAs(api::kPods, R"({"spec":{"containers":{}}})").unreadable,
            "spec.containers: must be a list, not an object");
  EXPECT_EQ(CheckAs(api::kPods, PodWith(R"("priority":3000000000)")).unreadable,
            "spec.priority: must be a 32-bit integer, not 3000000000");
  EXPECT_EQ(CheckAs(api::kPods, PodWith(R"("hostNetwork":"yes")")).unreadable,
            "spec.hostNetwork: must be a boolean, not \"yes\"");
  EXPECT_EQ(CheckAs(api::kPods, PodWith(R"("nodeSelector":{"a":true})")).unreadable,
            "spec.nodeSelector.a: must be a string, not true");
  EXPECT_EQ(CheckAs(api::kPods, "[]").unreadable, "must be an object, not a list");
  EXPECT_THAT(CheckAs(api::kPods, PodWithContainer(R"("resources":{"limits":{"cpu":"1x"}})")).unreadable,
              HasSubstr("spec.containers[0].resources.limits.cpu: must be a quantity"));
  EXPECT_THAT(CheckAs(api::kPods, R"({"metadata":{"creationTimestamp":"yesterday"}})").unreadable,
              HasSubstr("metadata.creationTimestamp: must be a time"));
  EXPECT_THAT(CheckAs(api::kSecrets, R"({"data":{"a":"not base64!"}})").unreadable,
              HasSubstr("data.a: must be a string in base64"));
}

TEST(CheckTest, ReadsWhatKubernetesReads) {
  EXPECT_TRUE(
      CheckAs(api::kPods, PodWithContainer(R"("resources":{"limits":{"cpu":1,"memory":"1.5Gi","x/y":"1e3"}})")).ok());
  EXPECT_TRUE(
      CheckAs(api::kPods, R"({"metadata":{"creationTimestamp":null,"deletionTimestamp":"2026-11-21T05:11:53+01:00"},
      "spec":{"nodeName":null,"containers":[{"name":"c","image":"i"}]},"status":{}})")
          .ok());
  EXPECT_TRUE(
      CheckAs(api::kServices, R"({"spec":{"ports":[{"port":80,"targetPort":"http"},{"port":81,"targetPort":8081}]}})")
          .ok());
  EXPECT_TRUE(CheckAs(api::kSecrets, R"({"data":{"a":"aGVsbG8=","b":""}})").ok());
  EXPECT_TRUE(CheckAs(api::kLeases, R"({"spec":{"renewTime":"2026-11-21T05:11:53.123456Z"}})").ok());
}

TEST(CheckTest, TimesAreOnTheCalendar) {
  for (const absl::string_view time :
       {"2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:61:00Z"}) {
    EXPECT_THAT(CheckAs(api::kPods, absl::StrCat(R"({"metadata":{"creationTimestamp":")", time, "\"}}")).unreadable,
                HasSubstr("must be a time"))
        << time;
  }
  EXPECT_TRUE(CheckAs(api::kConfigMaps, R"({"metadata":{"creationTimestamp":"2024-02-29T23:59:59Z"}})").ok());
}

TEST(CheckTest, RequiredAndEnumeratedFieldsOfCoreTypes) {
  EXPECT_THAT(
      CheckAs(api::kServices, R"({"spec":{"type":"Cluster","ports":[{"name":"a"}]}})").errors,
      ElementsAre(
          AllOf(Field(&api::FieldError::field, "spec.type"), Field(&api::FieldError::type, Type::kNotSupported)),
          AllOf(Field(&api::FieldError::field, "spec.ports[0].port"), Field(&api::FieldError::type, Type::kRequired))));
  EXPECT_THAT(CheckAs(api::kNodes, R"({"spec":{"taints":[{"key":"","effect":"No"}]}})").errors,
              ElementsAre(Field(&api::FieldError::field, "spec.taints[0].effect"),
                          Field(&api::FieldError::field, "spec.taints[0].key")));
  const Findings findings = CheckAs(api::kServices, R"({"spec":{"type":"Cluster"}})");
  EXPECT_EQ(
      findings.errors[0].Message(),
      R"(Unsupported value: "Cluster": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort")");
}

TEST(CheckTest, AnEmptyTextIsNoEnumeratedValueAtAll) {
  EXPECT_TRUE(CheckAs(api::kServices, R"({"spec":{"type":""}})").ok());
}

TEST(CheckTest, PodSpecsAreJudgedAsPods) {
  EXPECT_THAT(CheckAs(api::kPods, R"({"spec":{}})").errors,
              Contains(Field(&api::FieldError::field, "spec.containers")));
  EXPECT_THAT(CheckAs(api::kDeployments,
                      R"({"spec":{"selector":{},"template":{"spec":{"containers":[{"name":"A_B","image":"i"}]}}}})")
                  .errors,
              Contains(Field(&api::FieldError::field, "spec.template.spec.containers[0].name")));
}

TEST(CheckTest, InStatusOnlyTypesCount) {
  EXPECT_TRUE(
      CheckAs(api::kPods, PodWith(R"("nodeName":"n"},"status":{"phase":"Odd","containerStatuses":[{"name":"c"}])"))
          .ok());
  EXPECT_EQ(CheckAs(api::kPods, PodWith(R"("nodeName":"n"},"status":{"phase":1)")).unreadable,
            "status.phase: must be a string, not 1");
}

TEST(CheckTest, AWrongTypeInACustomObjectIsACause) {
  const Findings findings = CheckAs(api::kJobs, R"({"spec":{"minAvailable":"two","tasks":[{"name":1,
      "template":{"spec":{"containers":[{"name":"c","image":false}]}}}]}})");
  EXPECT_EQ(findings.unreadable, "");
  EXPECT_THAT(findings.errors,
              ElementsAre(Field(&api::FieldError::field, "spec.minAvailable"),
                          Field(&api::FieldError::field, "spec.tasks[0].name"),
                          Field(&api::FieldError::field, "spec.tasks[0].template.spec.containers[0].image")));
  EXPECT_EQ(findings.errors[0].Reason(), "FieldValueTypeInvalid");
  EXPECT_EQ(findings.errors[0].Message(), "Invalid value: \"two\": must be a 32-bit integer");
}

TEST(CheckTest, FindingsAreBounded) {
  std::string json = "{\"spec\":{";
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&json, i == 0 ? "" : ",", "\"x", i, "\":1");
  EXPECT_LE(CheckAs(api::kPods, json + "}}").unknown.size(), 100u);
}

TEST(PruneTest, DropsUnknownFieldsAndNullsOnly) {
  EXPECT_EQ(Pruned(api::kPods, R"({"foo":1,"metadata":{"creationTimestamp":null,"labels":{"a":"b","c":null}},
      "spec":{"containers":[{"name":"c","x":{}}],"affinity":{}}})"),
            R"({"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c"}],"affinity":{}}})");
  EXPECT_EQ(
      Pruned(api::kJobs, R"({"spec":{"tasks":[{"replicas":1,"foo":2,"template":{"spec":{"foo":1,"nodeName":"n"}}}]}})"),
      R"({"spec":{"tasks":[{"replicas":1,"template":{"spec":{"nodeName":"n"}}}]}})");
}

// Quadratic work would take minutes here.
TEST(PruneTest, ManyUnknownFieldsTakeLinearTime) {
  boost::json::object pod{{"kind", "Pod"}};
  for (int i = 0; i < 200'000; ++i) pod[absl::StrCat("x", i)] = i;
  boost::json::value value = std::move(pod);
  Prune(value, *Schemas::Shared().For(api::kPods));
  EXPECT_EQ(api::ToJson(value), R"({"kind":"Pod"})");
}

TEST(PruneTest, LeavesFreeFormAlone) {
  const std::string json = R"({"metadata":{"managedFields":[{"fieldsV1":{"f:spec":null}}]}})";
  EXPECT_EQ(Pruned(api::kQueues, json), json);
}

TEST(PruneTest, KnowsThePartsOfAQueueThatGangwayOnlyStores) {
  EXPECT_EQ(Pruned(api::kQueues, R"({"spec":{"extendClusters":[{"name":"east","anything":1}],
      "affinity":{"nodeGroupAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":["a"],"other":[]}}}})"),
            R"({"spec":{"extendClusters":[{"name":"east"}],)"
            R"("affinity":{"nodeGroupAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":["a"]}}}})");
}

TEST(ApplyDefaultsTest, APodGetsWhatKubernetesFillsIn) {
  const boost::json::value pod = Defaulted(api::kPods, R"({"spec":{"containers":[{"name":"c","image":"repo:5000/app",
      "ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"1000m","memory":"1Gi"},"requests":{"cpu":"0.5"}}},
      {"name":"d","image":"app:v1"}]}})");
  EXPECT_EQ(api::ToJson(pod.at("spec").at("restartPolicy")), "\"Always\"");
  EXPECT_EQ(api::ToJson(pod.at("spec").at("terminationGracePeriodSeconds")), "30");
  const boost::json::value& c = pod.at("spec").at("containers").at(0);
  EXPECT_EQ(api::ToJson(c.at("ports")), R"([{"containerPort":80,"protocol":"TCP"}])");
  EXPECT_EQ(api::ToJson(c.at("imagePullPolicy")), "\"Always\"");
  EXPECT_EQ(api::ToJson(c.at("resources")),
            R"({"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"500m","memory":"1Gi"}})");
  EXPECT_EQ(api::ToJson(pod.at("spec").at("containers").at(1).at("imagePullPolicy")), "\"IfNotPresent\"");
}

TEST(ApplyDefaultsTest, WhatIsThereStays) {
  const boost::json::value pod =
      Defaulted(api::kPods, R"({"spec":{"restartPolicy":"Never","dnsPolicy":null,"containers":[]}})");
  EXPECT_EQ(api::ToJson(pod.at("spec").at("restartPolicy")), "\"Never\"");
  EXPECT_EQ(api::ToJson(pod.at("spec").at("dnsPolicy")), "\"ClusterFirst\"");
}

// kubernetes: pkg/apis/core/v1, SetDefaults_Probe
TEST(ApplyDefaultsTest, AZeroInAProbeIsNoneSaid) {
  const boost::json::value pod = Defaulted(api::kPods, R"({"spec":{"containers":[{"name":"c","image":"i",
    "livenessProbe":{"timeoutSeconds":0,"periodSeconds":0,"successThreshold":0,"failureThreshold":0,
                     "initialDelaySeconds":0,"terminationGracePeriodSeconds":0},
    "startupProbe":{"periodSeconds":2}}]}})");
  const boost::json::value& container = pod.at("spec").at("containers").at(0);
  EXPECT_EQ(container.at("livenessProbe"),
            *api::ParseJson(R"({"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3,
    "initialDelaySeconds":0,"terminationGracePeriodSeconds":0})"));
  EXPECT_EQ(container.at("startupProbe").at("periodSeconds"), 2);
}

TEST(ApplyDefaultsTest, TwiceIsOnce) {
  const boost::json::value once =
      Defaulted(api::kPods, R"({"spec":{"hostNetwork":true,"containers":[{"name":"c","image":"i",
      "ports":[{"containerPort":80}],"resources":{"limits":{"cpu":2}}}]}})");
  EXPECT_EQ(api::ToJson(once.at("spec").at("containers").at(0).at("ports").at(0).at("hostPort")), "80");
  EXPECT_EQ(api::ToJson(Defaulted(api::kPods, api::ToJson(once))), api::ToJson(once));
}

// The template of a Job stays as it was written but for the protocol, which is a list key.
TEST(ApplyDefaultsTest, TemplatesOfJobsGetNoPodDefaults) {
  const boost::json::value job =
      Defaulted(api::kJobs, R"({"spec":{"tasks":[{"name":"a","template":{"spec":{"containers":[{"name":"c",
      "ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"1000m"}}}]}}}]}})");
  EXPECT_EQ(api::ToJson(job.at("spec").at("tasks").at(0).at("template")),
            R"({"spec":{"containers":[{"name":"c","ports":[{"containerPort":80,"protocol":"TCP"}],)"
            R"("resources":{"limits":{"cpu":"1000m"}}}]}})");
  EXPECT_EQ(api::ToJson(job.at("spec").at("queue")), "\"default\"");
  EXPECT_EQ(api::ToJson(job.at("spec").at("maxRetry")), "3");
}

TEST(FieldsAtTest, AreThoseOfTheObjectAtThePath) {
  const Schema& job = *Schemas::Shared().For(api::kJobs);
  EXPECT_THAT(FieldsAt(job, ""), ElementsAre("apiVersion", "kind", "metadata", "spec", "status"));
  EXPECT_THAT(FieldsAt(job, "spec.tasks[1].template.spec.containers[0].resources"),
              ElementsAre("claims", "limits", "requests"));
  EXPECT_THAT(FieldsAt(job, "spec.plugins"), IsEmpty()) << "its keys are anybody's";
  EXPECT_THAT(FieldsAt(job, "spec.nope.name"), IsEmpty());
}

TEST(ListKeysAtTest, AreThoseOfKubernetes) {
  const Schema& pod = *Schemas::Shared().For(api::kPods);
  EXPECT_EQ(ListKeysAt(pod, "spec.containers").merge_key, "name");
  EXPECT_EQ(ListKeysAt(pod, "spec.containers.ports").merge_key, "containerPort");
  EXPECT_THAT(ListKeysAt(pod, "spec.containers.ports").map_keys, ElementsAre("containerPort", "protocol"));
  EXPECT_TRUE(ListKeysAt(pod, "metadata.finalizers").set);
  EXPECT_TRUE(ListKeysAt(pod, "metadata.finalizers").merges);
  EXPECT_FALSE(ListKeysAt(pod, "spec.tolerations").merges);
  EXPECT_EQ(ListKeysAt(*Schemas::Shared().For(api::kNodes), "status.conditions").merge_key, "type");
  EXPECT_THAT(ListKeysAt(pod, "spec.nope").map_keys, IsEmpty());
}

}  // namespace
}  // namespace gangway::schemas
