// Files as users have them, and what comes out of them.
#include "translator/files/manifest.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "api/json_value.h"
#include "base/strings.h"
#include "cmd/translate/object_check.h"
#include "cmd/translate/translation_text.h"
#include "cmd/validate/validate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/status_matchers.h"

namespace gangway::convert {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<api::MixedDocument> Read(absl::string_view text, absl::string_view source = "f.yaml") {
  const auto documents = api::ReadMixedManifest(text, source);
  EXPECT_THAT(documents, testutil::IsOk());
  return documents.ok() ? *documents : std::vector<api::MixedDocument>();
}

ManifestTranslation Of(absl::string_view text, const TranslateOptions& options = {}) {
  static const TypeCheck check = cmd::CheckTypes;
  return TranslateManifest(Read(text), options, check);
}

// A PaddleJob in eleven lines, its name in the fourth.
std::string Job(absl::string_view name = "wd", absl::string_view more = "", absl::string_view worker = "replicas: 2") {
  return absl::StrCat("apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\nmetadata:\n  name: ", name, "\nspec:\n",
                      more, "  worker:\n    ", worker,
                      "\n    template:\n      spec:\n        containers:\n          - {name: paddle, image: paddle, "
                      "command: [python, train.py]}\n");
}
std::string Group(absl::string_view name, absl::string_view spec) {
  return absl::StrCat("apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: ", name,
                      "}\nspec: ", spec, "\n");
}
constexpr char kSeparator[] = "---\n";

// "Job wd, ConfigMap x"
std::string Objects(const ManifestTranslation& translation) {
  return absl::StrJoin(translation.objects, ", ", [](std::string* out, const ManifestObject& object) {
    const boost::json::value json = *api::ParseJson(object.json);
    absl::StrAppend(out, std::string(json.at("kind").as_string()), " ",
                    std::string(json.at("metadata").at("name").as_string()));
  });
}
// "E-REPLICAS 8: spec.worker.replicas"; infos and what is said of nearly every job are left out.
std::vector<std::string> Places(const ManifestTranslation& translation) {
  std::vector<std::string> out;
  for (const PlacedFinding& placed : translation.findings) {
    const Code code = placed.finding.code;
    if (placed.finding.level() == Level::kInfo || code == Code::kClean) continue;
    out.push_back(absl::StrCat(View(EntryOf(code).name), " ", placed.at.line, ": ", placed.finding.error.field));
  }
  return out;
}
std::string JobText(const ManifestTranslation& translation) {
  return translation.objects.empty() ? "" : translation.objects.back().json;
}

TEST(TranslateManifestTest, E18_APodGroupOfTheJobsNameIsTakenOver) {
  const ManifestTranslation translation =
      Of(Job() + kSeparator + Group("wd", "{minMember: 1, queue: ads, priorityClassName: high}"));
  EXPECT_EQ(Objects(translation), "Job wd");
  EXPECT_THAT(Places(translation),
              ElementsAre("W-PARTIAL-GANG 5: spec.schedulingPolicy.minAvailable", "W-PG-DROPPED 15: metadata.name"));
  EXPECT_THAT(JobText(translation), AllOf(HasSubstr(R"("minAvailable":1,)"), HasSubstr(R"("queue":"ads")"),
                                          HasSubstr(R"("priorityClassName":"high")")));
  EXPECT_EQ(translation.refused, 0u);
}

TEST(TranslateManifestTest, ThePodGroupMayStandBeforeTheJobOrInAnotherFile) {
  std::vector<api::MixedDocument> documents = Read(Group("wd", "{minMember: 2}"), "group.yaml");
  for (api::MixedDocument& document : Read(Job(), "job.yaml")) documents.push_back(std::move(document));
  const ManifestTranslation translation = TranslateManifest(documents, {}, cmd::CheckTypes);
  EXPECT_EQ(Objects(translation), "Job wd");
  EXPECT_THAT(cmd::TranslationFindings(translation),
              HasSubstr("group.yaml:3:12: W-PG-DROPPED metadata.name: \"wd\": "));
}

TEST(TranslateManifestTest, PodGroupsOfOtherNamesOrNamespacesStay) {
  const std::string elsewhere =
      "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: wd, namespace: ads}\nspec: {}\n";
  EXPECT_EQ(Objects(Of(Group("other", "{}") + kSeparator + Job() + kSeparator + elsewhere)),
            "PodGroup other, Job wd, PodGroup wd");
}

TEST(TranslateManifestTest, PodGroupsThatContradictEachOtherAreAnError) {
  const ManifestTranslation twice =
      Of(Job() + kSeparator + Group("wd", "{minMember: 2}") + kSeparator + Group("wd", "{minMember: 2}"));
  EXPECT_EQ(Objects(twice), "Job wd") << "the same twice is no contradiction";
  const ManifestTranslation translation =
      Of(Job() + kSeparator + Group("wd", "{minMember: 2}") + kSeparator + Group("wd", "{minMember: 1}"));
  EXPECT_EQ(Objects(translation), "");
  EXPECT_THAT(cmd::TranslationFindings(translation),
              AllOf(HasSubstr("f.yaml:4:3: E-PG-CLASH metadata.name: "),
                    HasSubstr("f.yaml:20:12: E-PG-CLASH metadata.name: Duplicate value: \"wd\": asks for something "
                              "else than the one at f.yaml:13:1")));
}

TEST(TranslateManifestTest, OtherObjectsPassThroughUntouchedInTheirPlace) {
  const std::string map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {z: '1', a: \"yes\"}\n";
  const std::string own = "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: own}\nspec: {}\n";
  const ManifestTranslation translation = Of(map + kSeparator + Job() + kSeparator + own);
  EXPECT_EQ(Objects(translation), "ConfigMap b, Job wd, Job own");
  EXPECT_EQ(translation.objects[0].json,
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"},"data":{"z":"1","a":"yes"}})");
  EXPECT_THAT(translation.objects[0].comments, IsEmpty());
  EXPECT_EQ(translation.jobs, 1u);
}

TEST(TranslateManifestTest, WhatAJobNeedsComesBeforeIt) {
  const ManifestTranslation translation = Of(Job("wd", "", "replicas: 900"));
  EXPECT_EQ(Objects(translation), "ConfigMap wd-paddle-env, Job wd");
  EXPECT_THAT(cmd::TranslationYaml(translation), StartsWith("# "));
}

TEST(TranslateManifestTest, ADocumentWithAnErrorComesOutNotAtAllAndTheOthersDo) {
  const ManifestTranslation translation =
      Of(Job("a") + kSeparator + Job("b", "", "replicas: -1") + kSeparator + Job("c"));
  EXPECT_EQ(Objects(translation), "Job a, Job c");
  EXPECT_THAT(Places(translation), ElementsAre("E-REPLICAS 19: spec.worker.replicas"));
  EXPECT_EQ(translation.jobs, 3u);
  EXPECT_EQ(translation.refused, 1u);
}

TEST(TranslateManifestTest, ADocumentThatCannotBeReadIsToldInItsPlaceAndTheOthersComeOut) {
  const ManifestTranslation translation = Of(Job("a") + "---\nx: 1\nx: 2\n---\n" + Job("b") + "---\ntext\n");
  EXPECT_EQ(Objects(translation), "Job a, Job b");
  EXPECT_THAT(Places(translation), ElementsAre("E-YAML 14: ", "E-YAML 28: "));
  EXPECT_THAT(
      cmd::TranslationFindings(translation),
      HasSubstr(
          "f.yaml:14:1: E-YAML Forbidden: the key \"x\" stands twice in one map, first in line 13; remove one\n"));
  EXPECT_EQ(translation.refused, 2u);
}

TEST(TranslateManifestTest, FieldsThatNobodyKnowsAreLeftOutAlsoInTemplates) {
  const std::string text =
      R"({apiVersion: batch.paddlepaddle.org/v1, kind: PaddleJob, metadata: {name: wd}, spec: {worker: {replicas: 1, template: {metadata: {lables: {a: b}},
    spec: {containers: [{name: p, image: i, resourcess: {}, env: [{name: A, vale: b}]}], volumes: [{name: v, emptyDirr: {}}]}}}}})";
  const ManifestTranslation translation = Of(text);
  EXPECT_THAT(Places(translation), ElementsAre("W-UNKNOWN-FIELD 1: spec.worker.template.metadata.lables",
                                               "W-UNKNOWN-FIELD 2: spec.worker.template.spec.containers[0].resourcess",
                                               "W-UNKNOWN-FIELD 2: spec.worker.template.spec.containers[0].env[0].vale",
                                               "W-UNKNOWN-FIELD 2: spec.worker.template.spec.volumes[0].emptyDirr"));
  EXPECT_THAT(cmd::TranslationFindings(translation),
              HasSubstr("resourcess: there is no such field: it is left out (did you mean resources?)"));
  ASSERT_EQ(Objects(translation), "Job wd");
  for (const char* unknown : {"lables", "resourcess", "vale", "emptyDirr"})
    EXPECT_THAT(JobText(translation), Not(HasSubstr(absl::StrCat("\"", unknown, "\"")))) << unknown;
  const cmd::Validation verdict = cmd::Validate(Read(JobText(translation), "out.json"));
  EXPECT_EQ(verdict.refused, 0u) << cmd::ValidationText(verdict);
  const std::string entry =
      R"({apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: ctr, annotations: {paddle.gangway.io/run-entry: "on"}}, spec: {minAvailable: 1, tasks: [
    {name: trainer, replicas: 1, template: {spec: {containers: [{name: p, image: i, imge: x, command: [paddle_k8s, start_fluid], env: [{name: ENTRY, value: python train.py},
    {name: TRAINING_ROLE, value: TRAINER}]}]}}}]}})";
  EXPECT_EQ(Objects(Of(entry)), "Job ctr");
  EXPECT_THAT(JobText(Of(entry)), AllOf(HasSubstr("exec sh -c"), Not(HasSubstr("\"imge\""))));
}

TEST(TranslateManifestTest, ANamespaceThatCannotBeIsAnError) {
  const std::string text =
      "apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\nmetadata:\n  name: wd\n  namespace: Bad_NS\n"
      "spec: {worker: {replicas: 1, template: {spec: {containers: [{name: p, image: i}]}}}}\n";
  EXPECT_THAT(Places(Of(text)), ElementsAre("E-NAME 5: metadata.namespace"));
  EXPECT_EQ(Objects(Of(text)), "");
  const cmd::Validation volcano =
      cmd::Validate(Read("{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j, namespace: Bad_NS}, "
                         "spec: {minAvailable: 1, tasks: [{name: w, replicas: 1, template: {spec: {containers: [{name: "
                         "c, image: i}]}}}]}}\n"));
  EXPECT_THAT(cmd::ValidationText(volcano), HasSubstr("metadata.namespace: Invalid value: \"Bad_NS\""));
}

TEST(TranslateManifestTest, TwoJobsOfOneNameAreAnError) {
  const ManifestTranslation translation = Of(Job() + kSeparator + Job());
  EXPECT_EQ(Objects(translation), "Job wd");
  EXPECT_THAT(cmd::TranslationFindings(translation),
              HasSubstr("f.yaml:16:3: E-DUPLICATE metadata.name: Duplicate value: \"wd\": PaddleJob wd at f.yaml:1:1 "
                        "becomes the same Job"));
  const std::string own =
      "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: wd, namespace: default}\nspec: {}\n";
  EXPECT_THAT(Places(Of(own + kSeparator + Job())), ElementsAre("E-DUPLICATE 9: metadata.name"));
  EXPECT_THAT(Places(Of(Job() + kSeparator + own)), ElementsAre("E-DUPLICATE 15: metadata.name"));
  EXPECT_EQ(Objects(Of(Job() + kSeparator + own)), "Job wd") << "the first one alone";
  EXPECT_THAT(Places(Of(own + kSeparator + own)), IsEmpty()) << "not ours to judge";
}

TEST(TranslateManifestTest, UnknownFieldsAreWarnedOfWithTheNearestKnownName) {
  const std::string broken = absl::StrCat(Job("wd", "  cleanPodPolcy: Never\n"), "        restartPolcy: Never\n");
  const ManifestTranslation translation = Of(broken);
  EXPECT_EQ(Objects(translation), "Job wd");
  EXPECT_THAT(cmd::TranslationFindings(translation),
              AllOf(HasSubstr("f.yaml:6:3: W-UNKNOWN-FIELD spec.cleanPodPolcy: there is no such field: it is left out "
                              "(did you mean cleanPodPolicy?)"),
                    HasSubstr("f.yaml:13:9: W-UNKNOWN-FIELD spec.worker.template.spec.restartPolcy: there is no such "
                              "field: it is left out (did you mean restartPolicy?)")));
  const ManifestTranslation strict = Of(broken, {.strict = true});
  EXPECT_EQ(Objects(strict), "");
  EXPECT_THAT(cmd::TranslationFindings(strict), HasSubstr("f.yaml:6:3: E-UNKNOWN-FIELD spec.cleanPodPolcy: "));
}

TEST(TranslateManifestTest, H4AUsersPolicyThatRestartsAnElasticJobIsWarnedOfWhereItStands) {
  const std::string elastic =
      R"({apiVersion: batch.paddlepaddle.org/v1, kind: PaddleJob, metadata: {name: wd, annotations: {paddle.gangway.io/elastic-etcd: "etcd:2379"}},
    spec: {elastic: 1, worker: {replicas: 4, requests: 2, limits: 4, template: {spec: {containers: [{name: p, image: i, command: [python, train.py]}]}}}}})";
  const std::string made = JobText(Of(elastic));
  EXPECT_THAT(Places(Of(made)), IsEmpty()) << "as it is translated";
  boost::json::value job = *api::ParseJson(made);
  job.at("spec").as_object()["policies"] = boost::json::array{{{"event", "PodEvicted"}, {"action", "RestartJob"}}};
  const ManifestTranslation translation = Of(api::ToJson(job));
  EXPECT_THAT(Places(translation), ElementsAre("W-POLICY 1: spec.policies[0]"));
  EXPECT_EQ(Objects(translation), "Job wd") << "it is the user's to say";
}

TEST(TranslateManifestTest, WrongTypesAreAllToldWithTheirLines) {
  const ManifestTranslation translation = Of(Job("wd", "  withGloo: yes\n  intranet: 5\n", "replicas: many"));
  EXPECT_EQ(Objects(translation), "");
  EXPECT_THAT(Places(translation),
              ElementsAre("E-TYPE 6: spec.withGloo", "E-TYPE 7: spec.intranet", "E-TYPE 9: spec.worker.replicas"));
}

TEST(TranslateManifestTest, WhatVolcanoOrKubernetesWouldRefuseIsSaidOfTheUsersOwnFields) {
  const std::string text =
      "apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\nmetadata: {name: wd}\nspec:\n  ps:\n    replicas: 1\n   "
      " template:\n      spec:\n"
      "        containers:\n          - name: paddle\n            image: i\n            ports: [{containerPort: "
      "70000}]\n"
      "  worker: {replicas: 1, template: {spec: {containers: [{name: paddle, image: i}]}}}\n";
  const ManifestTranslation refused = Of(text);
  EXPECT_EQ(Objects(refused), "");
  EXPECT_THAT(Places(refused), ElementsAre("E-REFUSED 12: spec.ps.template.spec.containers[0].ports[0].containerPort"));
}

TEST(TranslateManifestTest, KindsThatCannotBeTranslatedAreNamed) {
  const ManifestTranslation translation =
      Of("{apiVersion: batch.paddlepaddle.org/v1beta1, kind: PaddleJob, metadata: {name: a}}\n---\n{apiVersion: "
         "paddlepaddle.org/v1, kind: TrainingJob, metadata: {name: b}}\n---\n"
         "{apiVersion: kubeflow.org/v2, kind: PaddleJob, metadata: {name: c}}\n---\n{apiVersion: "
         "batch.paddlepaddle.org/v1alpha1, kind: SampleSet, metadata: {name: d}}\n---\n"
         "{apiVersion: batch.paddlepaddle.org/v1, kind: Cluster, metadata: {name: e}}\n---\n{some: "
         "thing}\n---\n{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: f}}\n");
  EXPECT_EQ(Objects(translation), "SampleSet d, PyTorchJob f");
  EXPECT_THAT(Places(translation), ElementsAre("E-KIND 1: apiVersion", "E-KIND 3: kind", "E-KIND 5: apiVersion",
                                               "W-SAMPLESET 7: kind", "E-KIND 9: kind", "E-KIND 11: "));
  EXPECT_THAT(cmd::TranslationFindings(translation),
              AllOf(HasSubstr("(write batch.paddlepaddle.org/v1)"), HasSubstr("(write kubeflow.org/v1)"),
                    HasSubstr("paddle-on-k8s-operator")));
}

TEST(TranslateManifestTest, TheQueueOfTheNamespaceIsTheDefault) {
  const std::string ns =
      "{apiVersion: v1, kind: Namespace, metadata: {name: default, annotations: {scheduling.volcano.sh/queue-name: "
      "ads}}}\n";
  EXPECT_THAT(JobText(Of(ns + kSeparator + Job())), HasSubstr(R"("queue":"ads")"));
  EXPECT_THAT(JobText(Of(Job(), {.namespace_queue = "given"})), HasSubstr(R"("queue":"given")"));
  EXPECT_THAT(JobText(Of(Job())), HasSubstr(R"("queue":"default")"));
}

TEST(TranslateManifestTest, SidecarsThatTheNamespaceInjectsAreTurnedOff) {
  const auto of = [](const std::string& labels) {
    return Of("{apiVersion: v1, kind: Namespace, metadata: {name: default, labels: {" + labels + "}}}\n" + kSeparator +
              Job());
  };
  for (const char* const labels : {"istio-injection: enabled", "istio.io/rev: canary"}) {
    EXPECT_THAT(JobText(of(labels)), HasSubstr(R"("sidecar.istio.io/inject":"false")")) << labels;
    EXPECT_THAT(cmd::TranslationFindings(of(labels)), HasSubstr("W-ISTIO"));
  }
  EXPECT_THAT(JobText(of("\"istio-injection\": disabled, istio.io/rev: canary")), Not(HasSubstr("sidecar.istio.io")));
}

TEST(TranslateManifestTest, AConfigMapInTheJobsPlaceIsAnError) {
  const auto named = [](absl::string_view name) {
    return absl::StrCat("{apiVersion: v1, kind: ConfigMap, metadata: {name: ", name, "}}\n");
  };
  EXPECT_THAT(Places(Of(named("wd-svc") + kSeparator + Job())), ElementsAre("E-SVC-CLASH 6: metadata.name"))
      << "Volcano makes one of this name";
  EXPECT_THAT(Places(Of(named("wd") + kSeparator + Job())), IsEmpty());
}

TEST(TranslateManifestTest, AServiceInTheJobsPlaceIsAnErrorAndOneThatSelectsByALostLabelAWarning) {
  const std::string taken = "{apiVersion: v1, kind: Service, metadata: {name: wd}, spec: {ports: [{port: 80}]}}\n";
  EXPECT_THAT(Places(Of(taken + kSeparator + Job())), ElementsAre("E-SVC-CLASH 6: metadata.name"));
  const std::string lost =
      "{apiVersion: v1, kind: Service, metadata: {name: board}, spec: {selector: {paddle-res-name: wd-worker-0}}}\n";
  const ManifestTranslation translation = Of(lost + kSeparator + Job());
  EXPECT_EQ(Objects(translation), "Service board, Job wd");
  EXPECT_THAT(Places(translation), ElementsAre("W-LABEL 1: spec.selector.paddle-res-name"));
}

TEST(TranslateManifestTest, JobsOfAnotherControllerAreLeftAsTheyAre) {
  const std::string text =
      "apiVersion: kubeflow.org/v1\nkind: PaddleJob\nmetadata: {name: kf}\nspec:\n  runPolicy: {managedBy: "
      "kueue.x-k8s.io/multikueue}\n"
      "  paddleReplicaSpecs: {Worker: {replicas: 1, template: {spec: {containers: [{name: paddle, image: i}]}}}}\n";
  const ManifestTranslation translation = Of(text);
  EXPECT_EQ(Objects(translation), "PaddleJob kf");
  EXPECT_THAT(Places(translation), ElementsAre("W-UNUSED 5: spec.runPolicy.managedBy"));
}

TEST(TranslateManifestTest, K10ASuspendedJobOfKubeflowIsTranslatedAndToldToStart) {
  const ManifestTranslation translation =
      Of("apiVersion: kubeflow.org/v1\nkind: PaddleJob\nmetadata: {name: kf}\nspec:\n  runPolicy: {suspend: true}\n"
         "  paddleReplicaSpecs: {Worker: {template: {spec: {containers: [{name: paddle, image: i}]}}}}\n");
  EXPECT_THAT(Places(translation), ElementsAre("W-UNUSED 5: spec.runPolicy.suspend"));
  EXPECT_EQ(Objects(translation), "Job kf");
}

constexpr char kBackend[] =
    "engine:\n  backend: k8s\n  job_name: rec\n  submit: {server_num: 1, trainer_num: 2, docker_image: i, memory: 1Gi, "
    "storage: 1Gi, log_level: 0}\n";
constexpr char kConfig[] = "# mine\ntrain: {engine: cluster, trainer: {threads: 2}}\n";

TEST(TranslateManifestTest, PaddleRecsTwoFilesBecomeOneJob) {
  std::vector<api::MixedDocument> documents = Read(kConfig, "config.yaml");
  for (api::MixedDocument& document : Read(kBackend, "backend.yaml")) documents.push_back(std::move(document));
  const ManifestTranslation translation = TranslateManifest(documents, {}, cmd::CheckTypes);
  EXPECT_EQ(Objects(translation), "ConfigMap rec-modelconfig, Job rec") << cmd::TranslationFindings(translation);
  EXPECT_THAT(translation.objects[0].json, HasSubstr("# mine")) << "the pods get the file as it is";
  EXPECT_THAT(Places(Of(kBackend)), ElementsAre("E-KIND 1: "));
  EXPECT_THAT(Places(Of(kConfig)), ElementsAre("E-KIND 2: "));
  const std::string other = absl::StrReplaceAll(kBackend, {{"job_name: rec", "job_name: other"}});
  EXPECT_EQ(Objects(Of(absl::StrCat(kBackend, kSeparator, other, kSeparator, kConfig))),
            "ConfigMap rec-modelconfig, Job rec, ConfigMap other-modelconfig, Job other")
      << "one config for all";
  const ManifestTranslation twice = Of(absl::StrCat(kBackend, kSeparator, kBackend, kSeparator, kConfig));
  EXPECT_EQ(Objects(twice), "ConfigMap rec-modelconfig, Job rec");
  EXPECT_THAT(Places(twice), ElementsAre("E-DUPLICATE 6: "));
  const ManifestTranslation late = Of(absl::StrCat(kBackend, kSeparator, "train: {engine: single}\n"), {});
  EXPECT_EQ(Objects(late), "");
  EXPECT_THAT(Places(late), ElementsAre("E-REFUSED 6: train.engine"));
}

TEST(TranslateManifestTest, TheSameInputGivesTheSameBytes) {
  const std::string text = absl::StrCat(
      Job("a"), kSeparator,
      Job("b", "  withGloo: 1\n  ps: {replicas: 1, template: {spec: {containers: [{name: p, image: i}]}}}\n"),
      kSeparator, Group("b", "{}"));
  const ManifestTranslation translation = Of(text);
  EXPECT_EQ(cmd::TranslationYaml(translation), cmd::TranslationYaml(Of(text)));
  EXPECT_EQ(cmd::TranslationFindings(translation), cmd::TranslationFindings(Of(text)));
}

TEST(TranslateManifestTest, WhatComesOutPassesValidation) {
  const std::string yaml = cmd::TranslationYaml(
      Of(Job("wd", "  ps: {replicas: 1, template: {spec: {containers: [{name: p, image: i}]}}}\n")));
  EXPECT_THAT(cmd::ValidationText(cmd::Validate(Read(yaml))), HasSubstr("1 object checked, 0 refused\n")) << yaml;
}

TEST(TranslateManifestTest, JsonIsOneListThatKubectlTakes) {
  const ManifestTranslation translation = Of(Job("a") + kSeparator + Job("b"));
  const auto list = api::ParseJson(cmd::TranslationJson(translation));
  ASSERT_THAT(list, testutil::IsOk());
  EXPECT_EQ(list->at("kind"), "List");
  EXPECT_EQ(list->at("items").as_array().size(), 2u);
  EXPECT_EQ(cmd::TranslationJson({}), "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[]}\n");
}

TEST(TranslateManifestTest, StoriesAreToldWhenAskedFor) {
  EXPECT_THAT(Of(Job()).stories, IsEmpty());
  const std::string table = cmd::TranslationStories(Of(Job(), {.explain = true}));
  EXPECT_THAT(table, StartsWith("PaddleJob wd (f.yaml:1:1)\n  FIELD "));
  EXPECT_THAT(table, HasSubstr("spec.worker.replicas "));
}

TEST(TranslateManifestTest, CommentsSayWhy) {
  const std::string told =
      cmd::TranslationYaml(Of(Job("wd", "  cleanPodPolicy: Never\n  schedulingPolicy: {priorityClass: high}\n")));
  EXPECT_THAT(told, AllOf(StartsWith("# Made of PaddleJob wd: worker 2.\n# W-CLEAN spec.cleanPodPolicy"),
                          Not(HasSubstr("I-PRIORITY"))));
  const std::string once = cmd::TranslationYaml(Of(Job("wd\n  annotations: {paddle.gangway.io/max-restarts: \"1\"}")));
  EXPECT_THAT(once, HasSubstr("# Volcano counts runs: this is the first and 1 restart\n"));
  const std::string yaml = cmd::TranslationYaml(Of(Job()));
  EXPECT_THAT(yaml,
              AllOf(StartsWith("# Made of PaddleJob wd: worker 2.\n"),
                    HasSubstr("  # all 2 pods start together, or none does\n  minAvailable: 2\n"),
                    HasSubstr("# wait-dns: until the names of the peers resolve; a program looks once, and gives up\n"),
                    HasSubstr("# the first one that fits counts, before those of the job\n"),
                    HasSubstr("# Volcano counts runs: this is the first and 3 restarts\n  maxRetry: 4\n"),
                    Not(HasSubstr("I-RESTART"))));
}

}  // namespace
}  // namespace gangway::convert
