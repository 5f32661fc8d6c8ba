// PaddleRec's files as a Job: table R of tests/spec/paddle.rows (docs/paddlerec.md).
#include "translator/convert/paddle_rec.h"

#include <map>
#include <random>
#include <set>

#include <boost/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "api/json_value.h"
#include "api/manifest/manifest.h"
#include "api/paddle/paddle_rec.h"
#include "api/volcano/admission.h"
#include "base/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/files.h"

namespace gangway::convert {
namespace {

namespace json = boost::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kExamples = std::string(GW_SOURCE_DIR) + "/examples/paddlerec/";

std::string Json(const std::string& yaml) {
  const auto documents = api::ReadDocuments(yaml, "backend.yaml");
  GW_CHECK(documents.ok());
  return documents->empty() ? "{}" : documents->front().json;
}

// The guide's two files, changed.
RecSource Source(const std::vector<std::pair<std::string, std::string>>& changes = {}) {
  RecSource out;
  out.config_text = absl::StrReplaceAll(testutil::ReadFile(kExamples + "config.yaml"), changes);
  out.backend_json = Json(absl::StrReplaceAll(testutil::ReadFile(kExamples + "backend.yaml"), changes));
  out.config_json = Json(out.config_text);
  out.ns = "ads";
  return out;
}

RecTranslation Translated(const std::vector<std::pair<std::string, std::string>>& changes = {},
                          const TranslateOptions& options = {}) {
  return TranslateRec(Source(changes), options);
}

std::vector<std::string> Told(const api::FieldErrors& errors) {
  std::vector<std::string> out;
  for (const api::FieldError& error : errors) out.push_back(error.ToString());
  return out;
}

json::value TemplateOf(const RecTranslation& translation, std::size_t task) {
  return *api::ParseJson(translation.job.spec.tasks.at(task).pod_template.json);
}

// By name; `field:...` for those that come from one.
std::map<std::string, std::string> EnvOf(const RecTranslation& translation, std::size_t task) {
  std::map<std::string, std::string> out;
  const json::value pod_template = TemplateOf(translation, task);
  for (const json::value& one : pod_template.at("spec").at("containers").at(0).at("env").as_array()) {
    const json::value* const value = one.as_object().if_contains("value");
    const std::string name = json::value_to<std::string>(one.at("name"));
    EXPECT_FALSE(out.contains(name)) << name << " stands twice";
    out[name] =
        value != nullptr
            ? json::value_to<std::string>(*value)
            : absl::StrCat("field:", json::value_to<std::string>(one.at("valueFrom").at("fieldRef").at("fieldPath")));
  }
  return out;
}

std::string Resources(const RecTranslation& translation) {
  return api::ToJson(TemplateOf(translation, 1).at("spec").at("containers").at(0).at("resources"));
}

std::string RefusalOf(const RecTranslation& translation) {
  json::value object = *api::ParseJson(api::Encode(translation.job));
  api::volcano::AdmissionRequest request;
  request.resource = &api::kJobs;
  request.ns = translation.job.metadata.ns;
  request.name = translation.job.metadata.name;
  return api::volcano::Admit(request, &object, {}).message;
}

TEST(PaddleRecJobTest, R1TheGuidesFiles) {
  const RecTranslation made = Translated();
  ASSERT_THAT(Told(made.backend_errors), IsEmpty());
  ASSERT_THAT(Told(made.config_errors), IsEmpty());
  ASSERT_TRUE(made.ok());
  const api::volcano::Job& job = made.job;
  EXPECT_EQ(job.metadata.name, "k8s-ctr-dnn");
  EXPECT_EQ(job.metadata.ns, "ads");
  EXPECT_EQ(job.spec.min_available, 4);
  EXPECT_EQ(job.spec.scheduler_name, "volcano");
  EXPECT_EQ(job.spec.queue, "default");
  EXPECT_EQ(job.spec.max_retry, 3);
  ASSERT_EQ(job.spec.tasks.size(), 2u);
  EXPECT_EQ(job.spec.tasks[0].name, "pserver");
  EXPECT_EQ(job.spec.tasks[0].replicas, 2);
  EXPECT_EQ(job.spec.tasks[1].name, "trainer");
  EXPECT_EQ(job.spec.tasks[1].replicas, 2);
  EXPECT_EQ(
      Resources(made),
      R"({"limits":{"cpu":"2","memory":"4Gi","ephemeral-storage":"10Gi"},"requests":{"cpu":"1","memory":"1Gi","ephemeral-storage":"1Gi"}})");

  const json::value pod_template = TemplateOf(made, 0);
  EXPECT_EQ(pod_template.at("metadata").at("labels").at("paddle-job-pserver"), "k8s-ctr-dnn");
  EXPECT_EQ(TemplateOf(made, 1).at("metadata").at("labels").at("paddle-job"), "k8s-ctr-dnn");
  EXPECT_EQ(pod_template.at("spec").at("restartPolicy"), "OnFailure");
  EXPECT_EQ(pod_template.at("spec").at("imagePullSecrets").at(0).at("name"), "default-secret");
  const json::value& container = pod_template.at("spec").at("containers").at(0);
  EXPECT_EQ(container.at("image"), "hub.baidubce.com/ctr/paddlerec:alpha");
  EXPECT_EQ(container.at("imagePullPolicy"), "Always");
  EXPECT_EQ(api::ToJson(container.at("volumeMounts")), R"([{"name":"modelconfig","mountPath":"/usr/paddlerec"}])");
  EXPECT_EQ(api::ToJson(pod_template.at("spec").at("volumes")),
            R"([{"name":"modelconfig","configMap":{"name":"k8s-ctr-dnn-modelconfig","defaultMode":511}}])");

  std::map<std::string, std::string> env = EnvOf(made, 0);
  EXPECT_EQ(env["GLOG_v"], "0");
  EXPECT_EQ(env["GLOG_logtostderr"], "1");
  EXPECT_EQ(env["CPU_NUM"], "2");
  EXPECT_EQ(env["TRAINING_ROLE"], "PSERVER");
  EXPECT_EQ(env["PADDLE_TRAINING_ROLE"], "PSERVER");
  EXPECT_EQ(EnvOf(made, 1)["TRAINING_ROLE"], "TRAINER");
  EXPECT_EQ(env["PADDLE_JOB_NAME"], "k8s-ctr-dnn");
  EXPECT_EQ(env["ENTRY"], "python -m paddlerec.run -m /usr/paddlerec/config.yaml -r WORKER");
  EXPECT_EQ(env["TRAINER_PACKAGE"], "/root/paddlejob");
  EXPECT_EQ(env["NAMESPACE"], "field:metadata.namespace");
  EXPECT_EQ(RefusalOf(made), "");
}

TEST(PaddleRecJobTest, R1TheConfigReachesThePodsAsItStands) {
  const RecTranslation made = Translated();
  ASSERT_EQ(made.before.size(), 1u);
  EXPECT_EQ(made.before[0].resource, &api::kConfigMaps);
  EXPECT_EQ(made.before[0].name, "k8s-ctr-dnn-modelconfig");
  const json::value map = *api::ParseJson(made.before[0].json);
  EXPECT_EQ(map.at("metadata").at("namespace"), "ads");
  EXPECT_EQ(json::value_to<std::string>(map.at("data").at("config.yaml")),
            testutil::ReadFile(kExamples + "config.yaml"));
}

TEST(PaddleRecJobTest, R2NamesInThePlaceOfAddresses) {
  std::map<std::string, std::string> env = EnvOf(Translated(), 1);
  EXPECT_EQ(env["PADDLE_PSERVERS_IP_PORT_LIST"],
            "k8s-ctr-dnn-pserver-0.k8s-ctr-dnn:30240,k8s-ctr-dnn-pserver-1.k8s-ctr-dnn:30240");
  EXPECT_EQ(env["PADDLE_TRAINER_IPS"], "k8s-ctr-dnn-trainer-0.k8s-ctr-dnn,k8s-ctr-dnn-trainer-1.k8s-ctr-dnn");
  EXPECT_EQ(env["PADDLE_PORT"], "30240");
  EXPECT_EQ(env["POD_IP"], "$(PADDLE_POD_NAME).k8s-ctr-dnn") << "a server looks for this text in the list";
  EXPECT_EQ(env["PADDLE_CURRENT_IP"], "$(POD_IP)");
  EXPECT_EQ(env["PADDLE_TRAINERS_NUM"], "2");
  EXPECT_EQ(env["PADDLE_PSERVERS_NUM"], "2");
  const RecTranslation made = Translated();
  EXPECT_THAT(made.job.spec.plugins.at("svc"),
              ElementsAre("--publish-not-ready-addresses=true", "--disable-network-policy=true"));
  EXPECT_THAT(api::ToJson(TemplateOf(made, 1).at("spec").at("initContainers")),
              HasSubstr("k8s-ctr-dnn-pserver-1.k8s-ctr-dnn"))
      << "names must resolve first";
}

TEST(PaddleRecJobTest, R3TheSpellingOfTheBackend) {
  EXPECT_TRUE(Translated({{"backend: k8s", "backend: K8S"}}).ok());
  EXPECT_TRUE(Translated({{"backend: k8s", "backend: KUBERNETES"}}).ok());
}

TEST(PaddleRecJobTest, R4R5NothingComesOutOfAFileThatLacksAKey) {
  for (const auto& [key, written] : {std::pair{"trainer_num", "worker_num"}, std::pair{"memory", "mermory"}}) {
    const RecTranslation made = Translated({{absl::StrCat(key, ":"), absl::StrCat(written, ":")}});
    EXPECT_THAT(
        Told(made.backend_errors),
        ElementsAre(AllOf(HasSubstr(absl::StrCat("engine.submit.", key, ": Required value")), HasSubstr(written))));
    EXPECT_THAT(made.before, IsEmpty());
    EXPECT_THAT(made.job.spec.tasks, IsEmpty());
  }
}

TEST(PaddleRecJobTest, R6RequestsAreNeverMoreThanLimits) {
  EXPECT_THAT(Resources(Translated({{"memory: 4Gi", "memory: 512Mi"}, {"storage: 10Gi", "storage: 1G"}})),
              AllOf(HasSubstr(R"("requests":{"cpu":"1","memory":"512Mi","ephemeral-storage":"1G"})"),
                    HasSubstr(R"("memory":"512Mi")")));
}

TEST(PaddleRecJobTest, R7ThreadsAreCores) {
  const RecTranslation made = Translated({{"    threads: 2 ", "    # "}});
  EXPECT_EQ(EnvOf(made, 1)["CPU_NUM"], "2");
  const RecTranslation more = Translated({{"threads: 2", "threads: 16"}});
  EXPECT_EQ(EnvOf(more, 1)["CPU_NUM"], "16");
  EXPECT_THAT(Resources(more), HasSubstr(R"("cpu":"16")"));
}

TEST(PaddleRecJobTest, R8TheTenthTrainerHasTheNumberTen) {
  // Volcano labels a pod with its index; nothing is sorted as text.
  std::map<std::string, std::string> env = EnvOf(Translated({{"trainer_num: 2", "trainer_num: 12"}}), 1);
  EXPECT_EQ(env["PADDLE_TRAINER_ID"], "field:metadata.labels['volcano.sh/task-index']");
  EXPECT_EQ(env["PADDLE_PSERVER_ID"], "field:metadata.labels['volcano.sh/task-index']");
  EXPECT_THAT(env["PADDLE_TRAINER_IPS"], HasSubstr("trainer-9.k8s-ctr-dnn,k8s-ctr-dnn-trainer-10.k8s-ctr-dnn"));
}

TEST(PaddleRecJobTest, R9TwoJobsOfANamespaceShareNothing) {
  const RecTranslation one = Translated(), other = Translated({{"k8s-ctr-dnn", "other"}});
  EXPECT_THAT(api::Encode(other.job), Not(HasSubstr("k8s-ctr-dnn")));
  EXPECT_THAT(api::Encode(other.job), Not(HasSubstr("paddle-rec\"")));
  EXPECT_NE(one.before[0].name, other.before[0].name);
}

TEST(PaddleRecJobTest, R10ValuesAreNoPartOfATemplate) {
  const std::string odd = "registry/ctr:a&b#c?d=\"e\"";
  const RecTranslation made = Translated({{"hub.baidubce.com/ctr/paddlerec:alpha", absl::StrCat("'", odd, "'")}});
  EXPECT_EQ(json::value_to<std::string>(TemplateOf(made, 0).at("spec").at("containers").at(0).at("image")), odd);
}

TEST(PaddleRecJobTest, R12TrainersThatFailEndTheJobAsFailed) {
  for (const Target target : {Target::kVolcano, Target::kGangway}) {
    const RecTranslation made = Translated({}, {.target = target});
    const api::volcano::TaskSpec& trainer = made.job.spec.tasks[1];
    ASSERT_EQ(trainer.policies.size(), 3u);
    EXPECT_EQ(trainer.policies[0].event, "PodFailed");
    EXPECT_EQ(trainer.policies[0].action, "RestartJob");
    EXPECT_EQ(trainer.policies[1].event, "TaskFailed");
    EXPECT_EQ(trainer.policies[1].action, "TerminateJob");
    EXPECT_EQ(trainer.policies[2].event, "TaskCompleted");
    EXPECT_EQ(trainer.policies[2].action, "CompleteJob");
    EXPECT_EQ(trainer.policies[2].timeout, target == Target::kGangway ? "10s" : "");
    EXPECT_EQ(trainer.max_retry, 6);
    EXPECT_THAT(made.findings, IsEmpty());
  }
}

TEST(PaddleRecJobTest, R13R14WhatCannotRunHereIsRefused) {
  EXPECT_THAT(Told(Translated({{"backend: k8s", "backend: PaddleCloud"}}).backend_errors),
              ElementsAre(HasSubstr("PaddleCloud is a hosted service")));
  RecSource both = Source();
  both.config_text = "mode: t\nrunner: [{name: t, class: cluster_train, device: gpu, fleet_mode: ps}]\n";
  both.config_json = Json(both.config_text);
  EXPECT_THAT(Told(TranslateRec(both, {}).config_errors),
              ElementsAre(HasSubstr("parameter servers and gpu exclude each other")))
      << "the same reason that PaddleRec gave";
  EXPECT_THAT(Told(Translated({{"engine: cluster", "engine: single"}}).config_errors),
              ElementsAre(HasSubstr("there is nothing to submit")));
}

TEST(PaddleRecJobTest, NamesThatDoNotFitAreRefusedWhereTheyStand) {
  EXPECT_THAT(
      Told(Translated({{"k8s-ctr-dnn", "K8s_ctr"}}).backend_errors),
      ElementsAre(AllOf(HasSubstr("engine.job_name: Invalid value: \"K8s_ctr\""), HasSubstr("for example k8s-ctr"))));
  EXPECT_THAT(Told(Translated({{"k8s-ctr-dnn", std::string(56, 'a')}}).backend_errors),
              ElementsAre(AllOf(HasSubstr("engine.job_name: Too long"), HasSubstr("at most 53"))));
}

TEST(PaddleRecJobTest, ManyPodsTakeTheirListsFromAConfigMap) {
  const RecTranslation made = Translated({{"trainer_num: 2", "trainer_num: 600"}});
  ASSERT_TRUE(made.ok());
  ASSERT_EQ(made.before.size(), 2u);
  EXPECT_EQ(made.before[1].name, "k8s-ctr-dnn-paddle-env");
  EXPECT_EQ(TemplateOf(made, 1).at("spec").at("containers").at(0).at("envFrom").at(0).at("configMapRef").at("name"),
            "k8s-ctr-dnn-paddle-env");
  EXPECT_THAT(made.before[1].json, HasSubstr("PADDLE_PSERVERS_IP_PORT_LIST"));
  EXPECT_THAT(Told(Translated({{"trainer_num: 2", "trainer_num: 10000"}}).backend_errors),
              ElementsAre(HasSubstr("Linux passes at most")));
}

TEST(PaddleRecJobTest, TheLaterConfigIsToldByItsEnvironmentThatItIsAWorker) {
  RecSource source = Source();
  source.config_text = "mode: t\nrunner: [{name: t, class: cluster_train}]\nphase: [{thread_num: 5}]\n";
  source.config_json = Json(source.config_text);
  std::map<std::string, std::string> env = EnvOf(TranslateRec(source, {}), 1);
  EXPECT_EQ(env["ENTRY"], "python -m paddlerec.run -m /usr/paddlerec/config.yaml");
  EXPECT_EQ(env["PADDLE_PADDLEREC_ROLE"], "WORKER");
  EXPECT_EQ(env["CPU_NUM"], "5");
}

TEST(PaddleRecJobTest, ClaimsAndAQueue) {
  RecSource source = Source();
  source.volumes.push_back({"/data", "corpus", {}});
  const RecTranslation made = TranslateRec(source, {.namespace_queue = "ads"});
  EXPECT_EQ(made.job.spec.queue, "ads");
  ASSERT_EQ(made.job.spec.volumes.size(), 1u);
  EXPECT_EQ(made.job.spec.volumes[0].volume_claim_name, "corpus");
  EXPECT_EQ(RefusalOf(made), "");
}

// Backend files made by chance from good and bad pieces: an answer, always the same, and what comes out is admitted.
TEST(PaddleRecJobTest, AnyBackendIsAnsweredAndWhatComesOutIsAdmitted) {
  std::mt19937 chance(7);
  const auto pick = [&](const std::vector<std::string>& from) { return from[chance() % from.size()]; };
  const RecSource guide = Source();
  int made = 0, refused = 0;
  for (int i = 0; i < 6000; ++i) {
    std::vector<std::string> submit;
    for (const auto& [key, values] : std::vector<std::pair<std::string, std::vector<std::string>>>{
             {"server_num", {"1", "2", "\"3\"", "17", "0", "-1", "1.5", "[]", "null"}},
             {"trainer_num", {"1", "2", "40", "99999999999", "true"}},
             {"docker_image", {"\"i\"", "\"a b\"", "\"r/i:t@x\"", "3", "{}"}},
             {"memory", {"\"4Gi\"", "\"512Mi\"", "1e9", "\"1m\"", "\"9223372036854775807\"", "\"Gi\"", "\"-1\""}},
             {"storage", {"\"10Gi\"", "\"1\"", "0", "\"1E\""}},
             {"log_level", {"0", "3", "\"4\"", "-1"}},
             {"worker_num", {"2"}},
             {"a\\u0000b", {"\"\\ud83d\\ude00\""}}}) {
      if (chance() % 12 != 0) submit.push_back(absl::StrCat("\"", key, "\":", pick(values)));
    }
    const std::string name = pick(
        {"\"ctr\"", "\"a-b-c\"", "\"1ctr\"", "\"Ctr\"", "\"\"", "7", absl::StrCat("\"", std::string(80, 'x'), "\"")});
    const std::string body =
        absl::StrCat("\"backend\":", pick({"\"k8s\"", "\"K8S\"", "\"KUBERNETES\"", "\"mpi\"", "null", "1"}),
                     ",\"job_name\":", name, ",\"submit\":{", absl::StrJoin(submit, ","), "}");
    RecSource source = guide;
    source.backend_json = chance() % 2 == 0 ? absl::StrCat("{", body, "}") : absl::StrCat("{\"engine\":{", body, "}}");
    const TranslateOptions options{.target = chance() % 2 == 0 ? Target::kVolcano : Target::kGangway};
    const RecTranslation first = TranslateRec(source, options), second = TranslateRec(source, options);
    EXPECT_EQ(api::Encode(first.job), api::Encode(second.job)) << source.backend_json;
    EXPECT_EQ(first.backend_errors, second.backend_errors);
    if (!first.ok()) {
      ++refused;
      EXPECT_FALSE(first.backend_errors.empty()) << source.backend_json;
      continue;
    }
    ++made;
    EXPECT_EQ(RefusalOf(first), "") << source.backend_json;
    const auto again = api::Decode<api::volcano::Job>(api::Encode(first.job));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(api::Encode(*again), api::Encode(first.job));
  }
  EXPECT_GT(made, 20);
  EXPECT_GT(refused, 3000);
}

// The guide's files with bytes that chance changed.
TEST(PaddleRecJobTest, DamagedFilesAreAnswered) {
  std::mt19937 chance(11);
  const std::string backend = testutil::ReadFile(kExamples + "backend.yaml"),
                    config = testutil::ReadFile(kExamples + "config.yaml");
  const auto damage = [&](std::string text) {
    for (std::size_t n = chance() % 3; n > 0; --n) {
      const std::size_t from = chance() % text.size();
      text.replace(chance() % text.size(), chance() % 8, text.substr(from, chance() % 8));
    }
    return text;
  };
  int made = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto first = api::ReadDocuments(damage(backend), "backend.yaml"),
               second = api::ReadDocuments(damage(config), "config.yaml");
    if (!first.ok() || !second.ok() || first->empty() || second->empty()) continue;
    const RecSource source{first->front().json, second->front().json, config, "ads", {}};
    const RecTranslation translation = TranslateRec(source, {});
    EXPECT_EQ(api::Encode(translation.job), api::Encode(TranslateRec(source, {}).job));
    for (const api::FieldError& error : translation.backend_errors) EXPECT_GT(first->front().Find(error.field).line, 0);
    if (!translation.ok()) continue;
    ++made;
    EXPECT_EQ(RefusalOf(translation), "") << source.backend_json;
  }
  EXPECT_GT(made, 100);
}

}  // namespace
}  // namespace gangway::convert
