// Our CRDs beside Volcano's (Volcano: config/crd/volcano; recorded objects in tests/golden/volcano).
#include "api/crd/crd.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/manifest/manifest.h"
#include "api/paddle/paddle_job.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/process/process.h"

namespace gangway::api {
namespace {

using boost::json::object;
using boost::json::value;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<KindRow> AllTypes() {
  std::vector<KindRow> all;
  for (const KindRow& kind : Kinds()) {
    if (kind.custom() && !kind.on_request) all.push_back(kind);  // what is not ours to install has no definition here
  }
  return all;
}

const value& CrdOf(const Resource& resource) {
  static auto& made = *new std::map<const Resource*, value>;
  const auto [at, fresh] = made.try_emplace(&resource);
  if (fresh) {
    for (const KindRow& type : AllTypes()) {
      if (type.resource == &resource) at->second = *ParseJson(CrdJson(type));
    }
  }
  return at->second;
}
const value& VersionOf(const Resource& resource) { return CrdOf(resource).at("spec").at("versions").at(0); }
const value& SchemaOf(const Resource& resource) { return VersionOf(resource).at("schema").at("openAPIV3Schema"); }

// The part of a schema at "spec.tasks[].template".
const value* At(const value& schema, absl::string_view path) {
  const value* at = &schema;
  for (absl::string_view step : absl::StrSplit(path, '.')) {
    const bool list = absl::ConsumeSuffix(&step, "[]");
    at = at->at("properties").get_object().if_contains({step.data(), step.size()});
    if (at == nullptr) return nullptr;
    if (list) at = &at->at("items");
  }
  return at;
}
std::string TextAt(const Resource& resource, absl::string_view path) {
  const value* at = At(SchemaOf(resource), path);
  if (at == nullptr) return "nothing";
  value copy = *at;
  object& members = copy.get_object();
  if (const auto doc = members.find("description"); doc != members.end()) EraseMember(members, doc);
  return ToJson(copy);
}

TEST(CrdTest, NamesScopesAndSubresourcesAreTheOriginals) {
  struct Case {
    const Resource* resource;
    std::string name, names, scope, subresources;
  };
  for (
      const Case& c : {
          Case{&kJobs, "jobs.batch.volcano.sh",
               R"({"kind":"Job","listKind":"JobList","plural":"jobs","singular":"job","shortNames":["vcjob","vj"]})",
               "Namespaced", R"({"status":{}})"},
          Case{
              &kPodGroups, "podgroups.scheduling.volcano.sh",
              R"({"kind":"PodGroup","listKind":"PodGroupList","plural":"podgroups","singular":"podgroup","shortNames":["pg","podgroup-v1beta1"]})",
              "Namespaced", "none"},
          Case{
              &kQueues, "queues.scheduling.volcano.sh",
              R"({"kind":"Queue","listKind":"QueueList","plural":"queues","singular":"queue","shortNames":["q","queue-v1beta1"]})",
              "Cluster", R"({"status":{}})"},
          Case{&kCommands, "commands.bus.volcano.sh",
               R"({"kind":"Command","listKind":"CommandList","plural":"commands","singular":"command"})", "Namespaced",
               "none"},
          Case{
              &kJobFlows, "jobflows.flow.volcano.sh",
              R"({"kind":"JobFlow","listKind":"JobFlowList","plural":"jobflows","singular":"jobflow","shortNames":["jf"]})",
              "Namespaced", R"({"status":{}})"},
          Case{
              &kJobTemplates, "jobtemplates.flow.volcano.sh",
              R"({"kind":"JobTemplate","listKind":"JobTemplateList","plural":"jobtemplates","singular":"jobtemplate","shortNames":["jt"]})",
              "Namespaced", R"({"status":{}})"},
          Case{
              &kCronJobs, "cronjobs.batch.volcano.sh",
              R"({"kind":"CronJob","listKind":"CronJobList","plural":"cronjobs","singular":"cronjob","shortNames":["cronvcjob","cronvj"]})",
              "Namespaced", R"({"status":{}})"},
          Case{
              &paddle::kPaddleJobs, "paddlejobs.batch.paddlepaddle.org",
              R"({"kind":"PaddleJob","listKind":"PaddleJobList","plural":"paddlejobs","singular":"paddlejob","shortNames":["pdj"]})",
              "Namespaced", R"({"status":{}})"},
          Case{
              &paddle::kubeflow::kPaddleJobs, "paddlejobs.kubeflow.org",
              R"({"kind":"PaddleJob","listKind":"PaddleJobList","plural":"paddlejobs","singular":"paddlejob"})",
              "Namespaced",
              R"({"status":{},"scale":{"labelSelectorPath":".status.replicaStatuses.Worker.selector",)"
              R"("specReplicasPath":".spec.paddleReplicaSpecs.Worker.replicas","statusReplicasPath":".status.replicaStatuses.Worker.active"}})"},
      }) {
    const value& crd = CrdOf(*c.resource);
    EXPECT_EQ(crd.at("metadata").at("name"), value(c.name));
    EXPECT_EQ(ToJson(crd.at("spec").at("names")), c.names);
    EXPECT_EQ(crd.at("spec").at("scope"), value(c.scope));
    EXPECT_EQ(crd.at("spec").at("group"), value(std::string(c.resource->group)));
    const value& version = VersionOf(*c.resource);
    EXPECT_EQ(version.at("name"), value(std::string(c.resource->version)));
    EXPECT_EQ(version.at("served"), value(true));
    EXPECT_EQ(version.at("storage"), value(true));
    const value* subresources = version.get_object().if_contains("subresources");
    EXPECT_EQ(subresources == nullptr ? "none" : ToJson(*subresources), c.subresources);
  }
}

std::vector<std::string> ColumnsShown(const Resource& resource) {
  std::vector<std::string> out;
  for (const value& column : VersionOf(resource).at("additionalPrinterColumns").get_array()) {
    const value* priority = column.get_object().if_contains("priority");
    out.push_back(absl::StrCat(std::string(column.at("name").get_string()), " ",
                               std::string(column.at("type").get_string()), " ",
                               std::string(column.at("jsonPath").get_string()), priority == nullptr ? "" : " wide"));
  }
  return out;
}

TEST(CrdTest, ColumnsAreTheOriginals) {
  EXPECT_THAT(ColumnsShown(kJobs),
              ElementsAre("STATUS string .status.state.phase", "minAvailable integer .status.minAvailable",
                          "RUNNINGS integer .status.running", "AGE date .metadata.creationTimestamp",
                          "QUEUE string .spec.queue wide"));
  EXPECT_THAT(ColumnsShown(kPodGroups),
              ElementsAre("STATUS string .status.phase", "minMember integer .spec.minMember",
                          "RUNNINGS integer .status.running", "AGE date .metadata.creationTimestamp",
                          "QUEUE string .spec.queue wide"));
}

TEST(CrdTest, AFlowsPatchIsKeptAsItWasWritten) {
  EXPECT_EQ(TextAt(kJobFlows, "spec.flows[].patch.jobSpec"), R"({"x-kubernetes-preserve-unknown-fields":true})");
  EXPECT_EQ(TextAt(kJobFlows, "spec.jobRetainPolicy"), R"({"type":"string","enum":["retain","delete"]})");
  EXPECT_EQ(TextAt(kJobTemplates, "spec.queue"), TextAt(kJobs, "spec.queue"));
}

TEST(CrdTest, ACronJobsRulesAndDefaults) {
  EXPECT_EQ(TextAt(kCronJobs, "spec.schedule"), R"({"type":"string"})");
  EXPECT_EQ(TextAt(kCronJobs, "spec.timeZone"), R"({"type":"string"})");
  EXPECT_EQ(TextAt(kCronJobs, "spec.startingDeadlineSeconds"), R"({"type":"integer","format":"int64","minimum":0})");
  EXPECT_EQ(TextAt(kCronJobs, "spec.concurrencyPolicy"),
            R"({"type":"string","enum":["Allow","Forbid","Replace"],"default":"Allow"})");
  EXPECT_EQ(TextAt(kCronJobs, "spec.suspend"), R"({"type":"boolean","default":false})");
  EXPECT_EQ(TextAt(kCronJobs, "spec.successfulJobsHistoryLimit"),
            R"({"type":"integer","format":"int32","minimum":0,"default":3})");
  EXPECT_EQ(TextAt(kCronJobs, "spec.failedJobsHistoryLimit"),
            R"({"type":"integer","format":"int32","minimum":0,"default":1})");
  EXPECT_EQ(ToJson(At(SchemaOf(kCronJobs), "spec")->at("required")), R"(["schedule","jobTemplate"])");
  EXPECT_EQ(TextAt(kCronJobs, "spec.jobTemplate.spec.maxRetry"), TextAt(kJobs, "spec.maxRetry"));
  EXPECT_EQ(TextAt(kCronJobs, "spec.jobTemplate.spec.tasks[].template"), TextAt(kJobs, "spec.tasks[].template"));
  EXPECT_EQ(TextAt(kCronJobs, "status.lastScheduleTime"), R"({"type":"string","format":"date-time"})");
}

TEST(CrdTest, RulesAreThoseOfTheTables) {
  EXPECT_EQ(TextAt(kJobs, "spec.maxRetry"), R"({"type":"integer","format":"int32","minimum":0,"default":3})");
  EXPECT_EQ(TextAt(kJobs, "spec.minSuccess"), R"({"type":"integer","format":"int32","minimum":1})");
  EXPECT_EQ(TextAt(kJobs, "spec.volumes[].mountPath"), R"({"type":"string","pattern":"^[^:]+$","minLength":1})");
  EXPECT_EQ(ToJson(At(SchemaOf(kJobs), "spec.volumes[]")->at("required")), R"(["mountPath"])");
  EXPECT_EQ(TextAt(kJobs, "spec.tasks[].topologyPolicy"),
            R"({"type":"string","enum":["none","best-effort","restricted","single-numa-node"]})");
  EXPECT_EQ(At(SchemaOf(kJobs), "spec.tasks")->at("minItems"), value(1));
  EXPECT_EQ(TextAt(kQueues, "spec.weight"),
            R"({"type":"integer","format":"int32","minimum":1,"maximum":65535,"default":1})");
  EXPECT_EQ(TextAt(kQueues, "spec.dequeueStrategy"), R"({"type":"string","enum":["fifo","traverse"]})");
}

TEST(CrdTest, APodTemplateIsStructuralAndOfAnyValue) {
  EXPECT_EQ(ToJson(At(SchemaOf(kJobs), "spec.tasks[].template.spec")->at("required")), R"(["containers"])");
  EXPECT_EQ(TextAt(kJobs, "spec.tasks[].template.spec.restartPolicy"), R"({"type":"string"})");
  EXPECT_EQ(TextAt(kJobs, "spec.tasks[].template.spec.containers[].livenessProbe.httpGet.port"),
            R"({"anyOf":[{"type":"integer"},{"type":"string"}],"x-kubernetes-int-or-string":true})");
  EXPECT_EQ(TextAt(kJobs, "spec.tasks[].template.spec.containers[].ports[].protocol"),
            R"({"type":"string","default":"TCP"})");
  EXPECT_EQ(TextAt(kJobs, "spec.tasks[].template.metadata.labels"),
            R"({"type":"object","additionalProperties":{"type":"string"}})");
  EXPECT_EQ(TextAt(kJobs, "metadata"), R"({"type":"object"})");
}

// What apiextensions demands of a schema; visit gets every schema in it and its path.
void Walk(const value& schema, const std::string& path,
          const std::function<void(const object&, const std::string&)>& visit) {
  const object& members = schema.get_object();
  visit(members, path);
  if (const value* properties = members.if_contains("properties")) {
    for (const auto& property : properties->get_object()) {
      Walk(property.value(), absl::StrCat(path, ".", std::string(property.key())), visit);
    }
  }
  if (const value* items = members.if_contains("items")) Walk(*items, path + "[]", visit);
  if (const value* values = members.if_contains("additionalProperties")) Walk(*values, path + ".*", visit);
}

void ExpectStructural(const object& schema, const std::string& path) {
  EXPECT_TRUE(schema.contains("type") || schema.contains("x-kubernetes-int-or-string") ||
              schema.contains("x-kubernetes-preserve-unknown-fields"))
      << path;
  EXPECT_FALSE(schema.contains("properties") && schema.contains("additionalProperties")) << path;
  for (const auto& member : schema) {
    static const std::set<std::string> kKnown{"type",
                                              "format",
                                              "description",
                                              "properties",
                                              "items",
                                              "additionalProperties",
                                              "required",
                                              "enum",
                                              "minimum",
                                              "maximum",
                                              "default",
                                              "pattern",
                                              "maxLength",
                                              "minLength",
                                              "minItems",
                                              "anyOf",
                                              "nullable",
                                              "x-kubernetes-int-or-string",
                                              "x-kubernetes-list-type",
                                              "x-kubernetes-list-map-keys",
                                              "x-kubernetes-map-type",
                                              "x-kubernetes-preserve-unknown-fields"};
    EXPECT_TRUE(kKnown.contains(std::string(member.key()))) << path << " " << std::string(member.key());
  }
  const value* keys = schema.if_contains("x-kubernetes-list-map-keys");
  if (keys == nullptr) return;
  const object& element = schema.at("items").get_object();
  for (const value& key : keys->get_array()) {
    const value* required = element.if_contains("required");
    const bool demanded =
        required != nullptr && std::count(required->get_array().begin(), required->get_array().end(), key) == 1;
    EXPECT_TRUE(demanded || element.at("properties").at(key.get_string()).get_object().contains("default"))
        << path << ": the key " << ToJson(key) << " is neither required nor has a default";
  }
}

// paddle-operator's schema has no rule but these, the guide's `cleanPolicy` is a field, and a template is one of
// Kubernetes.
TEST(CrdTest, PaddleJobsAreAsOpenAsTheOriginals) {
  EXPECT_EQ(TextAt(paddle::kPaddleJobs, "spec.cleanPodPolicy"), R"({"type":"string"})");
  EXPECT_EQ(TextAt(paddle::kPaddleJobs, "spec.cleanPolicy"), R"({"type":"string"})");
  EXPECT_EQ(TextAt(paddle::kPaddleJobs, "spec.intranet"), R"({"type":"string"})");
  EXPECT_EQ(TextAt(paddle::kPaddleJobs, "spec.worker.replicas"), R"({"type":"integer","format":"int32"})");
  EXPECT_EQ(ToJson(At(SchemaOf(paddle::kPaddleJobs), "spec.worker")->at("required")), R"(["replicas"])");
  for (const char* role : {"spec.ps.template.spec", "spec.worker.template.spec", "spec.heter.template.spec"}) {
    EXPECT_EQ(ToJson(At(SchemaOf(paddle::kPaddleJobs), role)->at("required")), R"(["containers"])");
  }
  EXPECT_EQ(ToJson(At(SchemaOf(paddle::kubeflow::kPaddleJobs), "spec")->at("required")), R"(["paddleReplicaSpecs"])");
  EXPECT_EQ(TextAt(paddle::kubeflow::kPaddleJobs, "spec.runPolicy.cleanPodPolicy"), R"({"type":"string"})");
  EXPECT_EQ(TextAt(paddle::kubeflow::kPaddleJobs, "spec.elasticPolicy.metrics[]"),
            R"({"x-kubernetes-preserve-unknown-fields":true})");
}

// kubectl apply keeps the object in an annotation, which may have 256 KiB.
TEST(CrdTest, EveryDefinitionCanBeApplied) {
  for (const KindRow& type : AllTypes()) EXPECT_LT(CrdJson(type).size(), 250'000u) << CrdName(*type.resource);
}

TEST(CrdTest, EverySchemaIsStructural) {
  for (const KindRow& type : AllTypes()) {
    Walk(SchemaOf(*type.resource), CrdName(*type.resource), ExpectStructural);
  }
}

// Paths of `document` that the schema does not have: an API server would drop them.
void FindUnknown(const value& document, const value& schema, const std::string& path,
                 std::vector<std::string>& unknown) {
  if (document.is_array()) {
    for (const value& element : document.get_array()) FindUnknown(element, schema.at("items"), path + "[]", unknown);
  }
  if (!document.is_object() || schema.get_object().contains("x-kubernetes-preserve-unknown-fields")) return;
  const value* properties = schema.get_object().if_contains("properties");
  const value* values = schema.get_object().if_contains("additionalProperties");
  for (const auto& member : document.get_object()) {
    const std::string below = absl::StrCat(path, ".", std::string(member.key()));
    const value* known = values != nullptr       ? values
                         : properties == nullptr ? nullptr
                                                 : properties->get_object().if_contains(member.key());
    if (known == nullptr) {
      unknown.push_back(below);
    } else {
      FindUnknown(member.value(), *known, below, unknown);
    }
  }
}

TEST(CrdTest, EveryFieldThatWasRecordedIsKnown) {
  int objects = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(GW_SOURCE_DIR "/tests/golden/volcano")) {
    const std::string file = entry.path().string();
    if (!absl::EndsWith(file, ".json") || absl::EndsWith(file, "admission.json")) continue;
    const value recorded = *ParseJson(testutil::ReadFile(file));
    for (const Resource* resource : {&kJobs, &kPodGroups, &kQueues, &kCommands}) {
      const value* list = recorded.get_object().if_contains({resource->kind.data(), resource->kind.size()});
      if (list == nullptr) continue;
      for (value document : list->get_array()) {
        document.get_object().erase("metadata");
        std::vector<std::string> unknown;
        FindUnknown(document, SchemaOf(*resource), std::string(resource->kind), unknown);
        EXPECT_THAT(unknown, IsEmpty()) << file;
        ++objects;
      }
    }
  }
  EXPECT_GT(objects, 10);
}

TEST(CrdTest, YamlReadsBackAsTheSame) {
  for (const KindRow& type : AllTypes()) {
    const auto documents = ReadManifest(CrdYaml(type), "crd.yaml");
    ASSERT_TRUE(documents.ok()) << documents.status();
    ASSERT_EQ(documents->size(), 1u);
    EXPECT_EQ(*ParseJson(documents->front().json), CrdOf(*type.resource));
  }
}

TEST(CrdTest, WhatIsCheckedInIsWhatTheTablesSay) {
  for (const KindRow& type : AllTypes()) {
    const absl::string_view folder = type.resource == &paddle::kPaddleJobs             ? "crds-paddle"
                                     : type.resource == &paddle::kubeflow::kPaddleJobs ? "crds-kubeflow"
                                                                                       : "crds";
    const std::string file = absl::StrCat("/deploy/volcano/", folder, "/", CrdName(*type.resource), ".yaml");
    EXPECT_EQ(testutil::ReadFile(GW_SOURCE_DIR + file), CrdYaml(type)) << file << ": run scripts/manifests";
  }
}

}  // namespace
}  // namespace gangway::api
