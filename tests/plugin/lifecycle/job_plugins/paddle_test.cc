// The job plugin paddle: the env of spec paddle 6.5 in the pods of a hand-written Job, rows of its table 8 F by their
// number.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/lifecycle/job/pod.h"
#include "plugin/lifecycle/job_plugins/job_plugin.h"
#include "plugin/lifecycle/job_plugins/task_hosts.h"
#include "tests/plugin/lifecycle/job/world.h"
#include "tests/testing/status_matchers.h"

namespace gangway::lifecycle {
namespace {

namespace json = boost::json;
using api::volcano::Job;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using testutil::JobText;
using testutil::World;

constexpr char kContainer[] = R"({"name":"main"})";
const std::vector<std::string> kPublished = {"--publish-not-ready-addresses=true"};

Job MakeJob(const std::vector<std::pair<std::string, int>>& tasks, std::vector<std::string> flags = {},
            const std::string& spec = absl::StrCat(R"("containers":[)", kContainer, "]")) {
  Job job;
  job.metadata.name = "wd";
  job.metadata.ns = "default";
  job.metadata.uid = "uid-1";
  for (const auto& [task, replicas] : tasks) {
    job.spec.tasks.emplace_back().name = task;
    job.spec.tasks.back().replicas = replicas;
    job.spec.tasks.back().pod_template.json = absl::StrCat(R"({"spec":{)", spec, "}}");
  }
  job.spec.plugins = {{"paddle", std::move(flags)}, {"svc", kPublished}};
  return job;
}
Job ParameterServers(std::vector<std::string> flags = {}) {
  return MakeJob({{"ps", 2}, {"worker", 2}}, std::move(flags));
}

absl::StatusOr<json::value> TryPod(const Job& job, const std::string& task, int index) {
  const absl::StatusOr<PluginEffects> plugins = EffectsOfPlugins(job);
  if (!plugins.ok()) return plugins.status();
  const auto document = PodDocument::Make(job, *FindTask(job, task), *plugins, {});
  if (!document.ok()) return document.status();
  return *api::ParseJson(document->ForIndex(index));
}
json::value Pod(const Job& job, const std::string& task, int index = 0) {
  auto pod = TryPod(job, task, index);
  GW_EXPECT_OK(pod);
  return *std::move(pod);
}
// "NAME=value", "NAME<-field" for what is taken from the pod.
std::vector<std::string> Env(const json::value& pod, std::size_t container = 0) {
  std::vector<std::string> out;
  for (const json::value& one : pod.at("spec").at("containers").at(container).at("env").as_array()) {
    const std::string name(one.at("name").as_string());
    if (absl::StartsWith(name, "VC_")) continue;  // svc's
    if (const json::value* value = one.as_object().if_contains("value")) {
      out.push_back(absl::StrCat(name, "=", std::string(value->as_string())));
    } else {
      out.push_back(
          absl::StrCat(name, "<-", std::string(one.at("valueFrom").at("fieldRef").at("fieldPath").as_string())));
    }
  }
  return out;
}
std::string Ports(const json::value& pod) {
  const json::object& container = pod.at("spec").at("containers").at(0).as_object();
  return container.contains("ports") ? api::ToJson(container.at("ports")) : "";
}
std::string Refusal(const Job& job) { return std::string(EffectsOfPlugins(job).status().message()); }

TEST(PaddlePluginTest, F1F2F5F6F7ParameterServers) {
  const std::string servers = "wd-ps-0.wd:36000,wd-ps-1.wd:36000",
                    workers = "wd-worker-0.wd:36000,wd-worker-1.wd:36000";
  EXPECT_THAT(Env(Pod(ParameterServers(), "worker", 1)),
              ElementsAre("PADDLE_POD_NAME<-metadata.name", "POD_IP=$(PADDLE_POD_NAME).wd",
                          "PADDLE_TRAINER_ID<-metadata.labels['volcano.sh/task-index']", "TRAINING_ROLE=TRAINER",
                          "PADDLE_TRAINING_ROLE=TRAINER", "TRAINER_PORTS_NUM=20", "PADDLE_PORT=36000",
                          "PADDLE_PSERVERS_IP_PORT_LIST=" + servers, "PADDLE_TRAINER_ENDPOINTS=" + workers,
                          "PADDLE_TRAINERS=wd-worker-0.wd,wd-worker-1.wd", "PADDLE_TRAINERS_NUM=2",
                          "PADDLE_SERVERS_ENDPOINTS=" + servers, "PADDLE_TRAINERS_ENDPOINTS=" + workers));
  EXPECT_THAT(Env(Pod(ParameterServers(), "ps")), Contains("TRAINING_ROLE=PSERVER"));
  EXPECT_EQ(Ports(Pod(ParameterServers(), "ps")), R"([{"containerPort":36000}])");
  EXPECT_EQ(Pod(ParameterServers(), "worker", 1).at("metadata").at("labels").at("volcano.sh/task-index").as_string(),
            "1");
}

TEST(PaddlePluginTest, F3Gloo) {
  const json::value server = Pod(ParameterServers({"--with-gloo"}), "ps");
  EXPECT_THAT(Env(server), ::testing::IsSupersetOf({"PADDLE_WITH_GLOO=1", "PADDLE_GLOO_RENDEZVOUS=3",
                                                    "PADDLE_GLOO_HTTP_ENDPOINT=wd-ps-0.wd:36018"}));
  EXPECT_EQ(Ports(server), R"([{"containerPort":36000},{"containerPort":36018}])");
}

TEST(PaddlePluginTest, NamedTasksAndAPortOfTheUsers) {
  Job job =
      MakeJob({{"pserver", 1}, {"trainer", 2}, {"board", 1}}, {"--server=pserver", "--worker=trainer", "--port=30236"});
  EXPECT_THAT(Env(Pod(job, "trainer")), Contains("PADDLE_PSERVERS_IP_PORT_LIST=wd-pserver-0.wd:30236"));
  EXPECT_FALSE(absl::StrContains(api::ToJson(Pod(job, "board")), "PADDLE")) << "a task without a role is left alone";
}

TEST(PaddlePluginTest, F12F13CollectiveAndSingle) {
  const Job job =
      MakeJob({{"worker", 1}}, {}, R"("containers":[{"name":"main","resources":{"limits":{"nvidia.com/gpu":1}}}])");
  const std::vector<std::string> env = Env(Pod(job, "worker"));
  EXPECT_THAT(env, ::testing::IsSupersetOf(
                       {"PADDLE_TRAINER_ENDPOINTS=wd-worker-0.wd:36000", "PADDLE_CURRENT_ENDPOINT=$(POD_IP):36000"}));
  EXPECT_THAT(env, Not(Contains(StartsWith("PADDLE_PSERVERS"))));
  EXPECT_THAT(env, Not(Contains(StartsWith("PADDLE_DISTRI_BACKEND"))));
  EXPECT_THAT(Env(Pod(MakeJob({{"worker", 1}}), "worker")), Contains("PADDLE_DISTRI_BACKEND=gloo"));
}

TEST(PaddlePluginTest, ATaskOfNoPodsMakesNoMode) {  // A-5
  const std::vector<std::string> env = Env(Pod(MakeJob({{"ps", 0}, {"worker", 2}}), "worker"));
  EXPECT_THAT(env, Not(Contains(StartsWith("PADDLE_PSERVERS"))));
  EXPECT_THAT(env, Contains(StartsWith("PADDLE_CURRENT_ENDPOINT")));
}

TEST(PaddlePluginTest, F31Heter) {
  Job job = MakeJob({{"ps", 1}, {"worker", 1}, {"heter", 1}});
  job.spec.tasks[2].pod_template.json =
      R"({"spec":{"containers":[{"name":"main","resources":{"requests":{"nvidia.com/gpu":"1"}}}]}})";
  EXPECT_THAT(Env(Pod(job, "heter")),
              ::testing::IsSupersetOf({"TRAINING_ROLE=HETER_TRAINER", "STAGE_ID=2", "HETER_DEVICE_TYPE=gpu"}));
  EXPECT_THAT(Env(Pod(job, "worker")),
              ::testing::IsSupersetOf({"STAGE_ID=1", "HETER_DEVICE_TYPE=cpu", "PADDLE_HETER_TRAINER_DEVICE=gpu"}));
}

TEST(PaddlePluginTest, F8F9F10HostNetwork) {
  const char spec[] =
      R"("hostNetwork":true,"containers":[{"name":"main","resources":{"limits":{"nvidia.com/gpu":"3"}}}])";
  const Job servers = MakeJob({{"ps", 2}, {"worker", 2}}, {"--with-gloo"}, spec);
  EXPECT_EQ(Ports(Pod(servers, "ps")),
            R"([{"containerPort":21800,"hostPort":21800},{"containerPort":21818,"hostPort":21818}])");
  EXPECT_EQ(Ports(Pod(servers, "worker")), R"([{"containerPort":21820,"hostPort":21820}])");
  EXPECT_THAT(Env(Pod(servers, "worker")), Contains("PADDLE_PSERVERS_IP_PORT_LIST=wd-ps-0.wd:21800,wd-ps-1.wd:21800"));
  EXPECT_EQ(
      Ports(Pod(MakeJob({{"worker", 2}}, {}, spec), "worker")),
      R"([{"containerPort":21820,"hostPort":21820},{"containerPort":21821,"hostPort":21821},{"containerPort":21822,"hostPort":21822}])");
  EXPECT_THAT(Env(Pod(MakeJob({{"worker", 2}}, {"--port=25000"}, spec), "worker")),
              ::testing::IsSupersetOf({"PADDLE_PORT=25020", "PORT_RANGE=25020:25039"}));
}

TEST(PaddlePluginTest, F23F24WhatTheUserSaysOfOthersStandsWhatHeSaysOfThePodGoes) {
  const char spec[] =
      R"x("containers":[{"name":"main","args":["$(PADDLE_TRAINER_ID)"],"env":[{"name":"PADDLE_TRAINERS_NUM","value":"9"},)x"
      R"x({"name":"POD_IP","valueFrom":{"fieldRef":{"fieldPath":"status.podIP"}}},{"name":"MINE","value":"$(POD_IP)"}]}])x";
  const std::vector<std::string> env = Env(Pod(MakeJob({{"ps", 1}, {"worker", 1}}, {}, spec), "worker"));
  EXPECT_EQ(
      std::count_if(env.begin(), env.end(), [](const std::string& one) { return absl::StartsWith(one, "POD_IP"); }), 1);
  EXPECT_EQ(env[1], "POD_IP=$(PADDLE_POD_NAME).wd");
  EXPECT_THAT(env, Not(Contains("PADDLE_TRAINERS_NUM=1")));
  EXPECT_EQ(env[env.size() - 2], "PADDLE_TRAINERS_NUM=9");
  EXPECT_EQ(env.back(), "MINE=$(POD_IP)") << "the user's own may refer to ours, so it comes after it";
}

TEST(PaddlePluginTest, F25EveryContainerButThePortOnceAndNoInitContainer) {
  const json::value pod =
      Pod(MakeJob({{"worker", 1}}, {}, R"("containers":[{"name":"a"},{"name":"b"}],"initContainers":[{"name":"i"}])"),
          "worker");
  EXPECT_EQ(Env(pod, 0), Env(pod, 1));
  EXPECT_FALSE(pod.at("spec").at("containers").at(1).as_object().contains("ports"));
  EXPECT_FALSE(absl::StrContains(api::ToJson(pod.at("spec").at("initContainers")), "PADDLE"));
}

TEST(PaddlePluginTest, F27LongListsComeFromAConfigMap) {
  Job job = MakeJob({{"worker", 400}});
  job.metadata.name = "a-name-of-just-thirty-letters";
  const auto effects = EffectsOfPlugins(job);
  GW_ASSERT_OK(effects);
  ASSERT_EQ(effects->objects[0].name, job.metadata.name + "-paddle-env");
  EXPECT_THAT(effects->objects[0].data,
              ElementsAre(::testing::Key("PADDLE_TRAINERS"), ::testing::Key("PADDLE_TRAINER_ENDPOINTS")));
  const json::value pod = Pod(job, "worker", 7);
  EXPECT_EQ(api::ToJson(pod.at("spec").at("containers").at(0).at("envFrom")),
            absl::StrCat(R"([{"configMapRef":{"name":")", job.metadata.name, R"(-paddle-env"}}])"));
  EXPECT_THAT(Env(pod), Not(Contains(StartsWith("PADDLE_TRAINER_ENDPOINTS"))));
  EXPECT_THAT(Env(pod), Contains("PADDLE_TRAINERS_NUM=400"));
}

TEST(PaddlePluginTest, F28TooManyForOneVariable) {
  Job job = MakeJob({{"worker", 4000}});
  job.metadata.name = "a-name-of-just-thirty-letters";
  EXPECT_THAT(Refusal(job), HasSubstr("PADDLE_TRAINER_ENDPOINTS would have"));
}

TEST(PaddlePluginTest, WhatCannotWorkIsRefusedWithTheFix) {
  Job job = ParameterServers({"--server=pserver"});
  EXPECT_EQ(Refusal(job), "--server=pserver: there is no such task; the tasks are ps, worker");
  job = ParameterServers({"--port=70000"});
  EXPECT_THAT(Refusal(job), HasSubstr("--port=70000: must be from 1 to 65535"));
  job = ParameterServers();
  job.spec.plugins.erase("svc");
  EXPECT_THAT(Refusal(job), HasSubstr("add svc: [\"--publish-not-ready-addresses=true\"]"));
  EXPECT_THAT(Refusal(MakeJob({{"worker", 2}}, {}, R"("hostname":"h","containers":[])")),
              HasSubstr("remove the hostname"));
  EXPECT_THAT(
      std::string(TryPod(MakeJob({{"worker", 1}}, {},
                                 R"("containers":[{"name":"main","env":[{"name":"PADDLE_PORT","value":"30236"}]}])"),
                         "worker", 0)
                      .status()
                      .message()),
      HasSubstr("container main sets PADDLE_PORT to 30236, and its peers expect 36000"));
}

// On the host network the last role ends 59 above the port, of servers with Gloo only its own is 18 above.
TEST(PaddlePluginTest, WhatIsCountedFromThePortMustBeAPortToo) {
  const auto servers = [](int port, bool gloo, bool host) {
    std::vector<std::string> flags = {absl::StrCat("--port=", port)};
    if (gloo) flags.push_back("--with-gloo");
    return Refusal(MakeJob({{"ps", 1}, {"worker", 1}}, std::move(flags),
                           absl::StrCat(host ? R"("hostNetwork":true,)" : "", R"("containers":[])")));
  };
  EXPECT_EQ(servers(65535, false, false), "");
  EXPECT_EQ(servers(65517, true, false), "");
  EXPECT_EQ(servers(65518, true, false), "--port=65518: must be from 1 to 65517");
  EXPECT_EQ(servers(65476, false, true), "");
  EXPECT_EQ(servers(65477, false, true), "--port=65477: must be from 1 to 65476");
}

TEST(PaddlePluginTest, WhatMayFailIsSaid) {
  Job job = ParameterServers();
  EXPECT_THAT(EffectsOfPlugins(job)->complaints, IsEmpty());
  job.spec.plugins["svc"].clear();
  EXPECT_THAT(EffectsOfPlugins(job)->complaints,
              ElementsAre(HasSubstr("add --publish-not-ready-addresses=true to svc")));
  job = MakeJob({{"worker", 2}}, {"--prot=1"}, R"("subdomain":"elsewhere","containers":[])");
  EXPECT_THAT(EffectsOfPlugins(job)->complaints,
              ElementsAre(HasSubstr("--prot=1 is not known"), HasSubstr("remove the subdomain")));
}

TEST(PaddlePluginTest, WhatIsLeftOutIsSaid) {
  const Job job = MakeJob(
      {{"worker", 1}}, {},
      R"("containers":[{"name":"main","env":[{"name":"TRAINING_ROLE","value":"TRAINER"},{"name":"POD_IP","value":"1"},{"name":"X"}]}])");
  EXPECT_THAT(EffectsOfPlugins(job)->complaints,
              ElementsAre(HasSubstr("task worker: its own POD_IP, TRAINING_ROLE are left out")));
}

// Pods that are there keep the env they were made with.
TEST(PaddlePluginTest, APodMadeLaterKnowsTheSizeOfThen) {
  World world(JobText("wd", 1, {{"worker", 1}}, R"("plugins":{"paddle":[],"svc":["--publish-not-ready-addresses"]})"));
  ASSERT_TRUE(world.Start());
  api::volcano::Job job = world.job();
  job.spec.tasks[0].replicas = 2;
  world.PatchJob(absl::StrCat(R"({"spec":{"tasks":[)", api::Encode(job.spec.tasks[0]), "]}}"));
  ASSERT_TRUE(world.Settle());
  EXPECT_THAT(Env(world.Object("pods", "wd-worker-0")), Contains("PADDLE_TRAINERS_NUM=1"));
  EXPECT_THAT(Env(world.Object("pods", "wd-worker-1")),
              ::testing::IsSupersetOf({"PADDLE_TRAINERS_NUM=2", "PADDLE_TRAINERS=wd-worker-0.wd,wd-worker-1.wd"}));
}

TEST(PaddlePluginTest, AJobWithAWrongFlagWaitsAndSaysWhy) {
  World world(JobText("wd", 1, {{"trainer", 1}}, R"("plugins":{"paddle":["--worker=worker"],"svc":[]})"));
  ASSERT_TRUE(world.Settle());
  EXPECT_EQ(world.phase(), "Pending");
  EXPECT_TRUE(world.HasEvent("PluginError", "--worker=worker: there is no such task; the tasks are trainer"));
}

}  // namespace
}  // namespace gangway::lifecycle
