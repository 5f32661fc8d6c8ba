// Jobs that start their program through paddle_k8s: rows S-7 and S-8 of tests/spec/paddle.rows (docs/paddlerec.md).
#include "translator/convert/run_entry.h"

#include <map>
#include <random>

#include <boost/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "api/json_path.h"
#include "api/json_value.h"
#include "api/manifest/manifest.h"
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
using ::testing::SizeIs;

// The example that Volcano's users know, changed.
json::value Ctr(const std::vector<std::pair<std::string, std::string>>& changes = {}) {
  const std::string yaml = absl::StrReplaceAll(testutil::ReadFile(GW_SOURCE_DIR "/examples/ctr-volcano.yaml"), changes);
  const auto documents = api::ReadManifest(yaml, "ctr-volcano.yaml");
  GW_CHECK(documents.ok());
  return *api::ParseJson(documents->front().json);
}

std::vector<std::string> Told(const Findings& findings) {
  std::vector<std::string> out;
  for (const Finding& finding : findings) out.push_back(finding.ToString());
  return out;
}

json::value Rewritten(const json::value& job, const TranslateOptions& options = {}) {
  const EntryRewrite made = RewriteRunEntry(job, {}, options);
  EXPECT_THAT(Told(made.findings), IsEmpty());
  return *api::ParseJson(made.json);
}

json::value& ContainerOf(json::value& job, std::size_t task) {
  return job.at("spec").at("tasks").at(task).at("template").at("spec").at("containers").at(0);
}

// What a pod of the task sees, as a kubelet resolves it.
std::map<std::string, std::string> EnvOf(json::value& job, std::size_t task, const std::string& pod, int index) {
  std::map<std::string, std::string> env;
  for (const json::value& one : ContainerOf(job, task).at("env").as_array()) {
    std::string value;
    if (const json::value* const text = one.as_object().if_contains("value")) {
      value = json::value_to<std::string>(*text);
      for (const auto& [earlier, its] : env)
        value = absl::StrReplaceAll(value, {{absl::StrCat("$(", earlier, ")"), its}});
    } else if (const json::value* const from = one.as_object().if_contains("valueFrom")) {
      const std::string path = json::value_to<std::string>(from->at("fieldRef").at("fieldPath"));
      value = path == "metadata.name"                              ? pod
              : path == "metadata.labels['volcano.sh/task-index']" ? absl::StrCat(index)
                                                                   : path;
    }
    const std::string name = json::value_to<std::string>(one.at("name"));
    EXPECT_FALSE(env.contains(name)) << name << " stands twice";
    env[name] = value;
  }
  return env;
}

TEST(RunEntryTest, S7ThePodsThatListPodsAndTheRightTheyLack) {
  const json::value job = Ctr();
  const std::vector<PodLister> listers = PodListersOf(job, "default");
  EXPECT_THAT(listers,
              ElementsAre(PodLister{"default", "default", "spec.tasks[0].template.spec.containers[0]", "pserver"},
                          PodLister{"default", "default", "spec.tasks[1].template.spec.containers[0]", "trainer"}));
  EXPECT_THAT(AdviceFor(listers[1], "ctr-volcano"),
              AllOf(HasSubstr("pods of task trainer run paddle_k8s, which lists pods"),
                    HasSubstr("kubectl create role pod-reader --verb=get,list --resource=pods -n default"),
                    HasSubstr("kubectl create rolebinding ctr-volcano-pod-reader --role=pod-reader "
                              "--serviceaccount=default:default -n default"),
                    HasSubstr("paddle.gangway.io/run-entry")));
}

TEST(RunEntryTest, S7AJobWhoseScriptIsReplacedNeedsNoRight) {
  EXPECT_THAT(
      PodListersOf(
          Ctr({{"  name: ctr-volcano", "  name: ctr-volcano\n  annotations: {paddle.gangway.io/run-entry: \"on\"}"}}),
          "default"),
      IsEmpty());
  EXPECT_THAT(PodListersOf(Ctr({{"[paddle_k8s, start_fluid]", "[python, train.py]"}}), "default"), IsEmpty());
  EXPECT_THAT(
      PodListersOf(Ctr({{"[paddle_k8s, start_fluid]", "[bash, -c, \"cd /x && /root/paddle_k8s start_trainer v2\"]"}}),
                   "default"),
      SizeIs(2));
  EXPECT_THAT(PodListersOf(json::value(7), "default"), IsEmpty());
  EXPECT_THAT(PodListersOf(Rewritten(Ctr()), "default"), IsEmpty());
}

// The env is the one that real Paddle was run with (tests/golden/paddle/ctr-*.env).
TEST(RunEntryTest, S8TheCommandIsEntryAndThePodsAreToldWhatTheScriptFound) {
  json::value job = Rewritten(Ctr());
  for (const auto& [task, pod, index] : {std::tuple{0, "pserver-0", 0}, std::tuple{0, "pserver-1", 1},
                                         std::tuple{1, "trainer-0", 0}, std::tuple{1, "trainer-1", 1}}) {
    const auto at = static_cast<std::size_t>(task);
    EXPECT_EQ(api::ToJson(ContainerOf(job, at).at("command")), R"(["sh","-c","exec sh -c \"$ENTRY\""])");
    EXPECT_FALSE(ContainerOf(job, at).as_object().contains("args"));
    std::map<std::string, std::string> env = EnvOf(job, at, absl::StrCat("ctr-volcano-", pod), index);
    for (const absl::string_view line :
         absl::StrSplit(testutil::ReadFile(absl::StrCat(GW_SOURCE_DIR "/tests/golden/paddle/ctr-", pod, ".env")), '\n',
                        absl::SkipEmpty())) {
      const std::pair<std::string, std::string> recorded = absl::StrSplit(line, absl::MaxSplits('=', 1));
      if (recorded.first == "PADDLE_JOB_NAME") continue;  // the example calls it otherwise
      EXPECT_EQ(env[recorded.first], recorded.second) << pod << " " << recorded.first;
    }
    EXPECT_EQ(env["PADDLE_PORT"], "30236");
    EXPECT_EQ(env["PADDLE_CURRENT_IP"], env["POD_IP"]) << "a server looks for it in the list";
    EXPECT_EQ(env["PADDLE_INIT_PORT"], "30236") << "the script's other branch";
    EXPECT_EQ(env["PADDLE_PSERVERS"], "2");
    EXPECT_EQ(env["ENTRY"], "cd /workspace/ctr && python train.py --is_local 0 --cloud_train 1");
    EXPECT_EQ(env["PADDLE_JOB_NAME"], "fluid-ctr");
  }
  EXPECT_EQ(EnvOf(job, 1, "p", 0)["CPU_NUM"], "2") << "what the script does not know is kept";
  EXPECT_EQ(api::ToJson(job.at("spec").at("plugins").at("svc")),
            R"(["--publish-not-ready-addresses=true","--disable-network-policy=true"])");
  EXPECT_EQ(api::ToJson(job.at("spec").at("policies")), api::ToJson(Ctr().at("spec").at("policies")));
  EXPECT_EQ(job.at("spec").at("tasks").at(0).at("template").at("spec").at("restartPolicy"), "OnFailure");

  api::volcano::AdmissionRequest request;
  request.resource = &api::kJobs;
  request.ns = "default";
  EXPECT_EQ(api::volcano::Admit(request, &job, {}).message, "");
}

TEST(RunEntryTest, S8CountsAreThoseOfTheReplicas) {
  const EntryRewrite made =
      RewriteRunEntry(Ctr({{"- name: trainer\n      replicas: 2", "- name: trainer\n      replicas: 3"}}), {}, {});
  EXPECT_THAT(Told(made.findings),
              ElementsAre(AllOf(HasSubstr("W-ENV-RESERVED spec.tasks[0].template.spec.containers[0].env"),
                                HasSubstr("PADDLE_TRAINERS_NUM is 2, and the job has 3: 3 is taken")),
                          HasSubstr("W-ENV-RESERVED spec.tasks[1].template.spec.containers[0].env")));
  json::value job = *api::ParseJson(made.json);
  EXPECT_EQ(EnvOf(job, 1, "p", 0)["PADDLE_TRAINERS_NUM"], "3");
  EXPECT_EQ(EnvOf(job, 0, "p", 0)["PADDLE_TRAINERS_NUM"], "3");
}

TEST(RunEntryTest, WhatCannotBeRewrittenIsSaid) {
  const auto told = [](const std::vector<std::pair<std::string, std::string>>& changes) {
    const EntryRewrite made = RewriteRunEntry(Ctr(changes), {}, {});
    EXPECT_EQ(made.json, "");
    return Told(made.findings);
  };
  EXPECT_THAT(told({{"{name: ENTRY,", "{name: ENTRIES,"}}),
              ElementsAre(HasSubstr("there is no ENTRY"), HasSubstr("there is no ENTRY")));
  EXPECT_THAT(told({{"TRAINING_ROLE, value: TRAINER", "TRAINING_ROLE, value: PSERVER"}}),
              ElementsAre(HasSubstr("task pserver has the same role")));
  for (const char* const port : {"\"70000\"", "\"65536\"", "\"0\"", "\"http\""}) {
    EXPECT_THAT(told({{"\"30236\"", port}}),
                ElementsAre(HasSubstr("PADDLE_PORT is no port"), HasSubstr("PADDLE_PORT is no port")))
        << port;
  }
  EXPECT_THAT(told({{"name: ctr-volcano", "name: ctr.volcano"}}), ElementsAre(HasSubstr("E-NAME metadata.name")));
  EXPECT_THAT(told({{"- name: trainer\n      replicas: 2", "- name: trainer\n      replicas: 2000000000"}}),
              ElementsAre(HasSubstr("E-ENV-TOO-LARGE spec.tasks[1].replicas")));
}

TEST(RunEntryTest, WithoutTheScriptThereIsNothingToDo) {
  for (const char* const command : {"[python]", "[paddle_k8s, start_trainer, v2]"}) {
    const json::value job = Ctr({{"[paddle_k8s, start_fluid]", command}});
    const EntryRewrite made = RewriteRunEntry(job, {}, {});
    EXPECT_THAT(Told(made.findings),
                ElementsAre(AllOf(HasSubstr("W-UNUSED metadata.annotations[paddle.gangway.io/run-entry]"),
                                  HasSubstr("no container of the job runs paddle_k8s start_fluid"))));
    EXPECT_FALSE(made.changed);
    EXPECT_EQ(*api::ParseJson(made.json), job);
  }
}

TEST(RunEntryTest, DoneOnceTheWishIsGone) {
  const json::value job =
      Ctr({{"  name: ctr-volcano", "  name: ctr-volcano\n  annotations: {paddle.gangway.io/run-entry: \"on\"}"}});
  EXPECT_FALSE(Rewritten(job).at("metadata").as_object().contains("annotations"));
}

// Jobs that were damaged by chance: an answer, the same each time.
TEST(RunEntryTest, DamagedJobsAreAnswered) {
  std::mt19937 chance(3);
  const std::string good = api::ToJson(Ctr());
  int read = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string damaged = good;
    for (std::size_t n = chance() % 4 + 1; n > 0; --n) {
      const std::size_t at = chance() % damaged.size();
      const std::size_t from = chance() % good.size();
      damaged.replace(at, chance() % 12, good.substr(from, chance() % 12));
    }
    const auto job = api::ParseJson(damaged);
    if (!job.ok() || !api::Decode<api::volcano::Job>(damaged).ok()) continue;
    ++read;
    PodListersOf(*job, "default");
    const json::value* const tasks = job->is_object() ? api::ValueAt(*job, {"spec", "tasks"}) : nullptr;
    if (tasks == nullptr || !job->at("spec").is_object() || !job->as_object().contains("metadata") ||
        !job->at("metadata").is_object())
      continue;
    EXPECT_EQ(RewriteRunEntry(*job, {}, {}).json, RewriteRunEntry(*job, {}, {}).json);
  }
  EXPECT_GT(read, 50);
}

TEST(RunEntryTest, TheRoleIsAlsoTheTasksName) {
  json::value job = Rewritten(Ctr({{"{name: PADDLE_TRAINING_ROLE, value: PSERVER}", "{name: A, value: b}"},
                                   {"{name: TRAINING_ROLE, value: PSERVER}", "{name: C, value: d}"}}));
  EXPECT_EQ(EnvOf(job, 0, "p", 0)["TRAINING_ROLE"], "PSERVER");
}

TEST(RunEntryTest, PluginsThatAreThereKeepTheirFlags) {
  json::value job = Ctr();
  job.at("spec").as_object()["plugins"] =
      json::value{{"svc", json::array{"--disable-network-policy=false"}}, {"env", json::array{}}};
  EXPECT_EQ(api::ToJson(Rewritten(job).at("spec").at("plugins")),
            R"({"svc":["--publish-not-ready-addresses=true","--disable-network-policy=false"],"env":[]})");
}

TEST(RunEntryTest, InATemplateOfAPaddleJobOnlyTheCommandChanges) {
  json::value pod_template = *api::ParseJson(
      R"({"spec":{"containers":[{"name":"log","command":["tail"]},{"name":"c","command":["paddle_k8s"],"args":["start_fluid"],"env":[{"name":"ENTRY","value":"x"}]}]}})");
  Findings findings;
  EXPECT_TRUE(ReplacePaddleK8s(pod_template, "spec.ps.template", findings));
  EXPECT_THAT(findings, IsEmpty());
  EXPECT_EQ(
      api::ToJson(pod_template),
      R"({"spec":{"containers":[{"name":"log","command":["tail"]},{"name":"c","command":["sh","-c","exec sh -c \"$ENTRY\""],"env":[{"name":"ENTRY","value":"x"}]}]}})");
  EXPECT_FALSE(ReplacePaddleK8s(pod_template, "spec.ps.template", findings));
}

}  // namespace
}  // namespace gangway::convert
