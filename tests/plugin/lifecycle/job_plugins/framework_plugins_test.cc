// Job plugins of distributed frameworks: rows L1 to L10 of tests/spec/volcano-job.rows, and the flags of its
// table 6.5.
#include "plugin/lifecycle/job_plugins/plugins.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/json_value.h"
#include "api/volcano/job_plugins.h"
#include "base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plugin/lifecycle/job/pod.h"
#include "plugin/lifecycle/job_plugins/flags.h"
#include "plugin/lifecycle/job_plugins/task_hosts.h"
#include "tests/testing/files.h"
#include "tests/testing/status_matchers.h"

namespace gangway::lifecycle {
namespace {

namespace json = boost::json;
using api::volcano::Job;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Job MakeJob(const std::string& name, const std::vector<std::pair<std::string, int>>& tasks) {
  Job job;
  job.metadata.name = name;
  job.metadata.ns = "default";
  job.metadata.uid = "uid-1";
  for (const auto& [task, replicas] : tasks) {
    job.spec.tasks.emplace_back().name = task;
    job.spec.tasks.back().replicas = replicas;
    job.spec.tasks.back().pod_template.json =
        absl::StrCat(R"({"spec":{"containers":[{"name":")", task, R"("}],"initContainers":[{"name":"i"}]}})");
  }
  return job;
}
json::value Build(const Job& job, const std::string& task, int index) {
  const absl::StatusOr<PluginEffects> plugins = EffectsOfPlugins(job);
  GW_EXPECT_OK(plugins);
  const auto document = PodDocument::Make(job, *FindTask(job, task), *plugins, {});
  GW_EXPECT_OK(document);
  return *api::ParseJson(document->ForIndex(index));
}
const json::object& Container(const json::value& pod) { return pod.at("spec").at("containers").at(0).as_object(); }
const json::object& InitContainer(const json::value& pod) {
  return pod.at("spec").at("initContainers").at(0).as_object();
}
// "NAME=value", in their order.
std::vector<std::string> Env(const json::object& container) {
  std::vector<std::string> out;
  if (!container.contains("env")) return out;
  for (const json::value& one : container.at("env").as_array()) {
    out.push_back(
        absl::StrCat(std::string(one.at("name").as_string()), "=",
                     one.as_object().contains("value") ? std::string(one.at("value").as_string()) : "(absent)"));
  }
  return out;
}
std::string Json(const json::object& object, const char* key) {
  return object.contains(key) ? api::ToJson(object.at(key)) : "(absent)";
}

TEST(TensorflowPluginTest, L1ClusterAndTask) {
  Job job = MakeJob("train-123", {{"ps", 2}, {"worker", 2}, {"chief", 1}});
  job.spec.plugins = {{"tensorflow", {"--port=5000"}}};
  const json::value pod = Build(job, "ps", 0);
  EXPECT_THAT(
      Env(Container(pod)),
      ElementsAre(R"(TF_CONFIG={"cluster":{"ps":["train-123-ps-0.train-123:5000","train-123-ps-1.train-123:5000"],)"
                  R"("worker":["train-123-worker-0.train-123:5000","train-123-worker-1.train-123:5000"],)"
                  R"("chief":["train-123-chief-0.train-123:5000"]},"task":{"type":"ps","index":0}})"));
  EXPECT_THAT(Env(InitContainer(pod)), IsEmpty());
}

TEST(TensorflowPluginTest, TaskNamesByFlagAndTypesOfOtherTasks) {
  Job job = MakeJob("j", {{"server", 1}, {"other", 2}, {"worker", 0}});
  job.spec.tasks[0].pod_template.json = R"({"spec":{"hostname":"h","subdomain":"d","containers":[{"name":"c"}]}})";
  job.spec.tasks[0].replicas = 2;
  job.spec.plugins = {{"tensorflow", {"--ps", "server"}}};
  EXPECT_THAT(Env(Container(Build(job, "server", 1))),
              ElementsAre(R"(TF_CONFIG={"cluster":{"ps":["h.d:2222","h.d:2222"]},"task":{"type":"ps","index":1}})"));
  EXPECT_THAT(Env(Container(Build(job, "other", 1))), ElementsAre(HasSubstr(R"("task":{"type":"other","index":1}})")));
}

TEST(TensorflowPluginTest, NothingForAJobOfOnePod) {
  Job job = MakeJob("j", {{"worker", 1}});
  job.spec.plugins = {{"tensorflow", {}}};
  EXPECT_THAT(Env(Container(Build(job, "worker", 0))), IsEmpty());
  job.spec.tasks[0].replicas = 2;
  EXPECT_THAT(
      Env(Container(Build(job, "worker", 1))),
      ElementsAre(
          R"(TF_CONFIG={"cluster":{"worker":["j-worker-0.j:2222","j-worker-1.j:2222"]},"task":{"type":"worker","index":1}})"));
}

TEST(MpiPluginTest, L2Ports) {
  Job job = MakeJob("j", {{"master", 1}, {"worker", 1}});
  for (const auto& [flags, port] : std::vector<std::pair<PluginFlags, int>>{{{}, 22}, {{"--port=5000"}, 5000}}) {
    job.spec.plugins = {{"mpi", flags}};
    for (const char* task : {"master", "worker"}) {
      const json::value pod = Build(job, task, 0);
      const std::string ports = absl::StrCat(R"([{"containerPort":)", port, R"(,"name":"mpijob-port"}])");
      EXPECT_EQ(Json(Container(pod), "ports"), ports);
      EXPECT_EQ(Json(InitContainer(pod), "ports"), ports);
    }
  }
  job.spec.tasks[0].pod_template.json =
      R"({"spec":{"containers":[{"name":"c","ports":[{"containerPort":5000,"name":"mine"}]}]}})";
  EXPECT_EQ(Json(Container(Build(job, "master", 0)), "ports"), R"([{"containerPort":5000,"name":"mine"}])");
}

TEST(MpiPluginTest, L3TheMasterKnowsTheWorkers) {
  Job job = MakeJob("test-mpi-valid-worker", {{"master", 1}, {"worker", 2}});
  job.spec.plugins = {{"mpi", {}}};
  const std::string host =
      "MPI_HOST=test-mpi-valid-worker-worker-0.test-mpi-valid-worker,test-mpi-valid-worker-worker-1.test-mpi-valid-"
      "worker";
  EXPECT_THAT(Env(Container(Build(job, "master", 0))), ElementsAre(host));
  EXPECT_THAT(Env(InitContainer(Build(job, "master", 0))), ElementsAre(host));
}

TEST(MpiPluginTest, L4NoWorkersAndNoMaster) {
  Job job = MakeJob("j", {{"master", 1}});
  job.spec.plugins = {{"mpi", {}}};
  EXPECT_THAT(Env(Container(Build(job, "master", 0))), IsEmpty());
  EXPECT_EQ(Json(Container(Build(job, "master", 0)), "ports"), "(absent)") << "nothing at all";
  job = MakeJob("j", {{"master", 1}, {"worker", 0}});
  job.spec.plugins = {{"mpi", {}}};
  EXPECT_THAT(Env(Container(Build(job, "master", 0))), ElementsAre("MPI_HOST="));
  EXPECT_THAT(Env(Container(Build(job, "worker", 0))), IsEmpty());
}

TEST(PytorchPluginTest, L5NoMasterTask) {
  Job job = MakeJob("test-pytorch", {{"worker", 2}});
  job.spec.plugins = {{"pytorch", {"--wait-master-enabled"}}};
  const json::value pod = Build(job, "worker", 0);
  EXPECT_THAT(Env(Container(pod)), IsEmpty());
  EXPECT_EQ(Json(Container(pod), "ports"), "(absent)");
  EXPECT_EQ(pod.at("spec").at("initContainers").as_array().size(), 1u);
}

TEST(PytorchPluginTest, L6RanksAndSize) {
  Job job = MakeJob("test-pytorch", {{"master", 1}, {"worker", 2}, {"extra", 2}});
  job.spec.plugins = {{"pytorch", {}}};
  const auto env = [&](const char* task, int index) { return Env(Container(Build(job, task, index))); };
  const std::string address = "MASTER_ADDR=test-pytorch-master-0.test-pytorch", port = "MASTER_PORT=23456",
                    size = "WORLD_SIZE=3";
  EXPECT_THAT(env("master", 0), ElementsAre(address, port, size, "RANK=0"));
  EXPECT_THAT(env("worker", 0), ElementsAre(address, port, size, "RANK=1"));
  EXPECT_THAT(env("worker", 1), ElementsAre(address, port, size, "RANK=2"));
  EXPECT_THAT(env("extra", 1), ElementsAre(address, port, size));
  const json::value pod = Build(job, "worker", 0);
  EXPECT_EQ(Json(Container(pod), "ports"), R"([{"containerPort":23456,"name":"pytorchjob-port"}])");
  EXPECT_THAT(Env(InitContainer(pod)), IsEmpty());
}

TEST(PytorchPluginTest, L7WaitForMaster) {
  Job job = MakeJob("j", {{"master", 1}, {"worker", 1}});
  job.spec.plugins = {
      {"pytorch",
       {"--wait-master-enabled=true", "--wait-master-timeout=60", "--wait-master-image=busybox:x", "--port=5000"}}};
  const json::value worker = Build(job, "worker", 0);
  const json::array& init = worker.at("spec").at("initContainers").as_array();
  ASSERT_EQ(init.size(), 2u);
  EXPECT_EQ(init[1].at("name"), "wait-for-master");
  EXPECT_EQ(init[1].at("image"), "busybox:x");
  EXPECT_THAT(std::string(init[1].at("command").at(2).as_string()),
              AllOf(HasSubstr("nc -z j-master-0.j 5000"), HasSubstr("+ 60 ")));
  EXPECT_EQ(Build(job, "master", 0).at("spec").at("initContainers").as_array().size(), 1u);
  job.spec.tasks[1].pod_template.json =
      R"({"spec":{"containers":[{"name":"c"}],"initContainers":[{"name":"wait-for-master"}]}})";
  EXPECT_EQ(Build(job, "worker", 0).at("spec").at("initContainers").as_array().size(), 1u);
}

TEST(RayPluginTest, L8Head) {
  Job job = MakeJob("r", {{"test-head", 1}, {"worker", 1}});
  job.spec.tasks[0].pod_template.json =
      R"({"spec":{"containers":[{"name":"head","command":["mine"]},{"name":"beside"}]}})";
  job.spec.plugins = {{"ray", {"--port=1234", "--dashboardPort=3456", "--clientPort=4567", "--head=test-head"}}};
  const json::value pod = Build(job, "test-head", 0);
  EXPECT_EQ(Json(Container(pod), "command"),
            R"(["sh","-c","ray start --head --block --dashboard-host=0.0.0.0 --port=1234 --dashboard-port=3456 )"
            R"(--ray-client-server-port=4567"])");
  EXPECT_EQ(Json(Container(pod), "ports"),
            R"([{"containerPort":1234,"name":"gcs"},{"containerPort":3456,"name":"dashboard"},)"
            R"({"containerPort":4567,"name":"client-server"}])");
  EXPECT_EQ(Json(pod.at("spec").at("containers").at(1).as_object(), "command"), "(absent)");
  const auto effects = EffectsOfPlugins(job);
  ASSERT_EQ(effects->objects.size(), 1u);
  EXPECT_EQ(effects->objects[0].name, "r-head-svc");
  EXPECT_EQ(
      Json(api::ParseJson(effects->objects[0].body)->as_object(), "spec"),
      R"({"selector":{"volcano.sh/job-name":"r","volcano.sh/job-namespace":"default","volcano.sh/task-spec":"test-head"},"ports":[)"
      R"({"name":"gcs","protocol":"TCP","port":1234,"targetPort":"gcs"},{"name":"dashboard","protocol":"TCP","port":3456,"targetPort":"dashboard"},)"
      R"({"name":"client-server","protocol":"TCP","port":4567,"targetPort":"client-server"}]})");
}

TEST(RayPluginTest, L9Worker) {
  Job job = MakeJob("ray-cluster-worker", {{"head", 1}, {"worker", 2}});
  job.spec.plugins = {{"ray", {}}};
  EXPECT_EQ(Json(Container(Build(job, "worker", 1)), "command"),
            R"(["sh","-c","ray start --block --address=ray-cluster-worker-head-0.ray-cluster-worker:6379"])");
}

TEST(RayPluginTest, AJobWithoutTheHeadTaskIsRefused) {
  Job job = MakeJob("r", {{"worker", 1}});
  job.spec.plugins = {{"ray", {}}};
  EXPECT_THAT(EffectsOfPlugins(job).status(),
              testutil::StatusIs(absl::StatusCode::kInvalidArgument, "job r doesn't have head task head"));
}

TEST(HcclrankPluginTest, L10Ranks) {
  Job job = MakeJob("h", {{"master", 2}, {"worker", 2}, {"other", 1}});
  job.spec.plugins = {{"hcclrank", {}}};
  const auto rank = [&](const char* task, int index) {
    return Json(Build(job, task, index).at("metadata").at("annotations").as_object(), "hccl/rankIndex");
  };
  EXPECT_EQ(rank("master", 2), "\"2\"");
  EXPECT_EQ(rank("worker", 1), "\"3\"");
  EXPECT_EQ(rank("other", 0), "(absent)");
  job.spec.tasks[0].pod_template.json =
      R"({"spec":{"containers":[{"name":"a"},{"name":"b","env":[{"name":"RANK","value":"5"}]}]}})";
  EXPECT_EQ(rank("master", 0), "\"5\"");
  job.spec.tasks[0].pod_template.json =
      R"({"metadata":{"annotations":{"hccl/rankIndex":"1"}},"spec":{"containers":[]}})";
  EXPECT_EQ(rank("master", 0), "\"1\"");
}

TEST(PluginFlagsTest, AsGoReadsThem) {
  std::string text = "t";
  std::int64_t number = 1;
  bool yes = false;
  const auto read = [&](const std::vector<std::string>& texts) {
    return ReadFlags(texts, {{"text", &text}, {"number", &number}, {"yes", &yes}});
  };
  EXPECT_EQ(read({"-text", "-x", "--number=0x10", "-yes"}), "");
  EXPECT_EQ(text, "-x");
  EXPECT_EQ(number, 16);
  EXPECT_TRUE(yes);
  EXPECT_EQ(read({"--number", "010", "--yes=F", "--text="}), "");
  EXPECT_EQ(text, "");
  EXPECT_EQ(number, 8);
  EXPECT_FALSE(yes);
  EXPECT_EQ(read({"end", "--yes"}), "");
  EXPECT_EQ(read({"--", "--yes"}), "");
  EXPECT_FALSE(yes) << "what comes after the first text that is no flag is not read";
}

TEST(PluginFlagsTest, WhatDoesNotReadIsSaid) {
  std::int64_t number = 1;
  bool yes = false;
  for (const char* bad : {"--number=12x", "--number=", "--nubmer=3", "---number=3", "-=3", "--number", "--yes=maybe"}) {
    EXPECT_THAT(ReadFlags({bad}, {{"number", &number}, {"yes", &yes}}), HasSubstr(absl::StrCat("flag ", bad, " ")))
        << bad;
    EXPECT_EQ(number, 1) << bad;
  }
  Job job = MakeJob("j", {{"master", 1}});
  job.spec.plugins = {{"pytorch", {"--port=7", "--prot=8", "--master=x"}}};
  EXPECT_THAT(EffectsOfPlugins(job)->complaints,
              ElementsAre(HasSubstr("job plugin pytorch: flag --prot=8 is not known")));
  EXPECT_THAT(Env(Container(Build(job, "master", 0))), ::testing::Contains("MASTER_PORT=7"))
      << "what was read before it stays";
}

// "master,worker" -> "(the flags are --master, --worker)"
std::string FlagsOf(const api::volcano::JobPlugin& plugin) {
  const std::vector<std::string> names = absl::StrSplit(View(plugin.flags), ',', absl::SkipEmpty());
  return absl::StrCat(
      "(the flags are ",
      absl::StrJoin(names, ", ", [](std::string* out, const std::string& name) { absl::StrAppend(out, "--", name); }),
      ")");
}

TEST(JobPluginTableTest, EachPluginReadsTheFlagsOfItsRow) {
  const SshKeyPair key{"private", "public"};
  for (const api::volcano::JobPlugin& plugin : api::volcano::kJobPlugins) {
    Job job = MakeJob("j", {{"master", 1}, {"worker", 1}, {"ps", 1}, {"head", 1}});
    job.spec.plugins["svc"] = {"--publish-not-ready-addresses=true"};
    job.spec.plugins[std::string(plugin.name)] = {"--nonsense=1"};
    const absl::StatusOr<PluginEffects> effects = EffectsOfPlugins(job, &key);
    GW_ASSERT_OK(effects);
    const std::string said = absl::StrJoin(effects->complaints, "; ");
    if (plugin.flags.empty()) {
      EXPECT_THAT(said, IsEmpty()) << plugin.name;
    } else {
      EXPECT_THAT(said, HasSubstr(absl::StrCat("job plugin ", View(plugin.name), ": flag --nonsense"))) << plugin.name;
      EXPECT_THAT(said, HasSubstr(FlagsOf(plugin))) << plugin.name;
    }
  }
}

TEST(JobPluginTableTest, TheDocsDescribeEachFlag) {
  const std::string docs = testutil::ReadFile(GW_SOURCE_DIR "/docs/job-plugins.md");
  for (const api::volcano::JobPlugin& plugin : api::volcano::kJobPlugins) {
    const std::size_t row = docs.find(absl::StrCat("\n| `", View(plugin.name), "` |"));
    ASSERT_NE(row, std::string::npos) << plugin.name;
    const std::string line = docs.substr(row + 1, docs.find('\n', row + 1) - row - 1);
    for (const absl::string_view flag : absl::StrSplit(View(plugin.flags), ',', absl::SkipEmpty()))
      EXPECT_THAT(line, HasSubstr(absl::StrCat("`--", flag, "`")));
  }
}

}  // namespace
}  // namespace gangway::lifecycle
