// The environment equals the one that real Paddle programs were run with (tests/golden/paddle), and adds to it only
// what the runs showed to be needed besides.
#include "api/paddle/runtime_env.h"

#include <algorithm>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::api::paddle {
namespace {

using ::testing::ElementsAre;

// What a container of the pod sees.
std::vector<std::string> Seen(const RuntimeCluster& cluster, Role role, const std::string& name, int index) {
  std::vector<std::string> lines;
  std::string pod_ip;
  for (const RuntimeVariable& variable : RuntimeEnv(cluster, {role, "$(PADDLE_POD_NAME).wd"})) {
    std::string value = variable.value;
    if (variable.from_field) value = value == "metadata.name" ? name : absl::StrCat(index);
    value = absl::StrReplaceAll(value, {{"$(PADDLE_POD_NAME)", name},
                                        {"$(POD_IP)", pod_ip},
                                        {"$(PADDLE_PORT)", absl::StrCat(cluster.ports.Of(role))}});
    if (variable.name == "POD_IP") pod_ip = value;
    lines.push_back(absl::StrCat(variable.name, "=", value));
  }
  return lines;
}
std::vector<std::string> Recorded(const std::string& name) {
  std::ifstream in(absl::StrCat(GW_SOURCE_DIR, "/tests/golden/paddle/", name, ".env"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  EXPECT_FALSE(lines.empty()) << name;
  return lines;
}
std::vector<std::string> Without(std::vector<std::string> lines, const std::vector<std::string>& names) {
  std::erase_if(lines, [&](const std::string& line) {
    return std::find(names.begin(), names.end(), line.substr(0, line.find('='))) != names.end();
  });
  return lines;
}

RuntimeCluster ParameterServers() {
  return {.servers = {"wd-ps-0.wd", "wd-ps-1.wd"}, .trainers = {"wd-worker-0.wd", "wd-worker-1.wd"}, .with_gloo = true};
}

TEST(RuntimeEnvTest, ParameterServerModeIsAsRecorded) {
  const std::vector<std::string> launcher = {"PADDLE_SERVERS_ENDPOINTS", "PADDLE_TRAINERS_ENDPOINTS"};
  for (const int i : {0, 1}) {
    const std::string server = absl::StrCat("ps-", i), trainer = absl::StrCat("worker-", i);
    EXPECT_EQ(Without(Seen(ParameterServers(), Role::kServer, "wd-" + server, i), launcher), Recorded(server));
    EXPECT_EQ(Without(Seen(ParameterServers(), Role::kTrainer, "wd-" + trainer, i), launcher), Recorded(trainer));
  }
  EXPECT_THAT(Seen(ParameterServers(), Role::kServer, "wd-ps-0", 0),
              ::testing::IsSupersetOf({"PADDLE_SERVERS_ENDPOINTS=wd-ps-0.wd:36000,wd-ps-1.wd:36000",
                                       "PADDLE_TRAINERS_ENDPOINTS=wd-worker-0.wd:36000,wd-worker-1.wd:36000"}));
}

TEST(RuntimeEnvTest, CollectiveModeIsAsRecorded) {
  const RuntimeCluster cluster{.servers = {}, .trainers = {"wd-worker-0.wd", "wd-worker-1.wd"}};
  const std::vector<std::string> plain_python = {"PADDLE_CURRENT_ENDPOINT", "PADDLE_DISTRI_BACKEND"};
  for (const int i : {0, 1}) {
    const std::vector<std::string> seen = Seen(cluster, Role::kTrainer, absl::StrCat("wd-worker-", i), i);
    EXPECT_EQ(Without(seen, plain_python), Recorded(absl::StrCat("coll-worker-", i)));
    EXPECT_THAT(seen, ::testing::IsSupersetOf({absl::StrCat("PADDLE_CURRENT_ENDPOINT=wd-worker-", i, ".wd:36000"),
                                               std::string("PADDLE_DISTRI_BACKEND=gloo")}));
  }
}

TEST(RuntimeEnvTest, GlooOnlyWithServersAndABackendOnlyWithoutAccelerator) {
  const auto names = [](const RuntimeCluster& cluster, bool accelerator) {
    std::vector<std::string> out;
    for (const RuntimeVariable& one : RuntimeEnv(cluster, {Role::kTrainer, "h.d", accelerator})) {
      if (!one.identity) out.push_back(one.name);
    }
    return out;
  };
  EXPECT_THAT(names({.servers = {}, .trainers = {"a.b"}, .with_gloo = true}, true),
              ElementsAre("TRAINER_PORTS_NUM", "PADDLE_PORT", "PADDLE_TRAINER_ENDPOINTS", "PADDLE_TRAINERS",
                          "PADDLE_TRAINERS_NUM", "PADDLE_CURRENT_ENDPOINT"));
  EXPECT_THAT(
      names({.servers = {"s.b"}, .trainers = {"a.b"}}, false),
      ElementsAre("TRAINER_PORTS_NUM", "PADDLE_PORT", "PADDLE_PSERVERS_IP_PORT_LIST", "PADDLE_TRAINER_ENDPOINTS",
                  "PADDLE_TRAINERS", "PADDLE_TRAINERS_NUM", "PADDLE_SERVERS_ENDPOINTS", "PADDLE_TRAINERS_ENDPOINTS"));
}

// --- Rows F of tests/spec/paddle.rows that are about env.

std::string ValueOf(const RuntimeCluster& cluster, Role role, const std::string& name, bool accelerator = false) {
  for (const RuntimeVariable& one : RuntimeEnv(cluster, {role, "h.d", accelerator})) {
    if (one.name == name) return one.value;
  }
  return "(absent)";
}

TEST(RuntimeEnvTest, F8F9HostPortsPerRole) {
  RuntimeCluster cluster = ParameterServers();
  cluster.host_network = true;
  cluster.ports = HostPorts(HostPortBase("default", "wd"));
  EXPECT_EQ(ValueOf(cluster, Role::kServer, "PADDLE_PORT"), "21800");
  EXPECT_EQ(ValueOf(cluster, Role::kTrainer, "PADDLE_PORT"), "21820");
  EXPECT_EQ(ValueOf(cluster, Role::kTrainer, "PADDLE_PSERVERS_IP_PORT_LIST"), "wd-ps-0.wd:21800,wd-ps-1.wd:21800");
  EXPECT_EQ(ValueOf(cluster, Role::kServer, "PADDLE_TRAINER_ENDPOINTS"), "wd-worker-0.wd:21820,wd-worker-1.wd:21820");
  EXPECT_EQ(ValueOf(cluster, Role::kServer, "PADDLE_GLOO_HTTP_ENDPOINT"), "wd-ps-0.wd:21818");
  EXPECT_EQ(ValueOf(cluster, Role::kServer, "PORT_RANGE"), "(absent)");
}

TEST(RuntimeEnvTest, HostPortBasesAreThoseOfTheSpecification) {
  EXPECT_EQ(HostPortBase("default", "wd"), 21800);
  EXPECT_EQ(HostPortBase("default", "resnet"), 23120);
  EXPECT_EQ(HostPortBase("paddle-system", "wide-ande-deep"), 28340);
}

TEST(RuntimeEnvTest, F10TheLauncherStaysInsideItsHostPorts) {
  const RuntimeCluster cluster{.servers = {}, .trainers = {"a.b"}, .ports = HostPorts(21800), .host_network = true};
  EXPECT_EQ(ValueOf(cluster, Role::kTrainer, "PORT_RANGE"), "21820:21839");
}

TEST(RuntimeEnvTest, F12F13CollectiveNamesNoServersAndNoMaster) {
  const RuntimeCluster one{.servers = {}, .trainers = {"wd-worker-0.wd"}};
  EXPECT_EQ(ValueOf(one, Role::kTrainer, "PADDLE_TRAINER_ENDPOINTS"), "wd-worker-0.wd:36000");
  for (const char* const name :
       {"PADDLE_PSERVERS_IP_PORT_LIST", "PADDLE_MASTER", "PADDLE_SERVERS_ENDPOINTS", "PADDLE_TRAINERS_ENDPOINTS"}) {
    EXPECT_EQ(ValueOf(one, Role::kTrainer, name, true), "(absent)") << name;
  }
}

TEST(RuntimeEnvTest, F29Elastic) {
  RuntimeCluster cluster{.servers = {}, .trainers = {"a.b", "c.b", "d.b"}};
  cluster.elastic = Elastic{"etcd.infra:2379", 2, 4, "default-wd"};
  std::vector<std::string> lines;
  for (const RuntimeVariable& one : RuntimeEnv(cluster, {Role::kTrainer, "h.d"}))
    lines.push_back(absl::StrCat(one.name, "=", one.value));
  EXPECT_THAT(lines, ElementsAre("PADDLE_POD_NAME=metadata.name", "POD_IP=status.podIP", "TRAINING_ROLE=TRAINER",
                                 "PADDLE_TRAINING_ROLE=TRAINER", "TRAINER_PORTS_NUM=20", "PADDLE_PORT=36000",
                                 "PADDLE_MASTER=etcd://Etcd.infra:2379", "PADDLE_NNODES=2:4",
                                 "PADDLE_JOB_ID=default-wd", "PADDLE_ELASTIC_LEVEL=1", "PADDLE_ELASTIC_TIMEOUT=60"));
  cluster.elastic->max = 2;
  EXPECT_EQ(ValueOf(cluster, Role::kTrainer, "PADDLE_NNODES"), "2");
}

// Paddle 2.6's strip("etcd://") leaves ".infra:2379" of "etcd://etcd.infra:2379".
TEST(RuntimeEnvTest, AnElasticMasterKeepsItsNameInPaddles2Launcher) {
  RuntimeCluster cluster{.servers = {}, .trainers = {"a.b"}};
  cluster.elastic.emplace();
  for (const auto& [etcd, master] :
       {std::pair("cluster-etcd:2379", "etcd://Cluster-etcd:2379"), std::pair("kv:2379", "etcd://kv:2379"),
        std::pair("10.0.0.7:2379", "etcd://10.0.0.7:2379")}) {
    cluster.elastic->etcd = etcd;
    EXPECT_EQ(ValueOf(cluster, Role::kTrainer, "PADDLE_MASTER"), master);
  }
}

TEST(RuntimeEnvTest, WhatSaysWhoThePodIs) {
  RuntimeCluster cluster = ParameterServers();
  for (const bool elastic : {false, true}) {
    if (elastic) cluster.elastic.emplace();
    for (const RuntimeVariable& one : RuntimeEnv(cluster, {Role::kTrainer, "h.d"}))
      EXPECT_EQ(one.identity, IsIdentity(one.name)) << one.name;
  }
}

TEST(RuntimeEnvTest, F31Heter) {
  RuntimeCluster cluster = ParameterServers();
  cluster.heters = {"wd-heter-0.wd", "wd-heter-1.wd"};
  cluster.heter_accelerator = true;
  const std::string heters = "wd-heter-0.wd:36000,wd-heter-1.wd:36000",
                    trainers = "wd-worker-0.wd:36000,wd-worker-1.wd:36000";
  EXPECT_EQ(ValueOf(cluster, Role::kHeter, "TRAINING_ROLE"), "HETER_TRAINER");
  for (const Role role : {Role::kServer, Role::kTrainer, Role::kHeter}) {
    EXPECT_EQ(ValueOf(cluster, role, "PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST"), heters);
    EXPECT_EQ(ValueOf(cluster, role, "PADDLE_HETER_TRAINER_IP_PORT_LIST"), heters);
    EXPECT_EQ(ValueOf(cluster, role, "STAGE_NUM"), "2");
    EXPECT_EQ(ValueOf(cluster, role, "PADDLE_STAGE_TRAINERS_NUM"), "[2, 2]");
    EXPECT_EQ(ValueOf(cluster, role, "PADDLE_HETER_TRAINER_DEVICE"), "gpu");
  }
  EXPECT_EQ(ValueOf(cluster, Role::kTrainer, "PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST"), heters);
  EXPECT_EQ(ValueOf(cluster, Role::kTrainer, "PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST"), "");
  EXPECT_EQ(ValueOf(cluster, Role::kTrainer, "STAGE_ID"), "1");
  EXPECT_EQ(ValueOf(cluster, Role::kTrainer, "HETER_DEVICE_TYPE"), "cpu");
  EXPECT_EQ(ValueOf(cluster, Role::kHeter, "PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST"), "");
  EXPECT_EQ(ValueOf(cluster, Role::kHeter, "PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST"), trainers);
  EXPECT_EQ(ValueOf(cluster, Role::kHeter, "STAGE_ID"), "2");
  EXPECT_EQ(ValueOf(cluster, Role::kHeter, "HETER_DEVICE_TYPE", true), "gpu");
}

RuntimeCluster Workers(int count, std::size_t name_bytes) {
  RuntimeCluster cluster;
  for (int i = 0; i < count; ++i) cluster.trainers.push_back(std::string(name_bytes, 'n'));
  return cluster;
}

TEST(FitEnvTest, WithoutSharedListsNothingElseIsMissing) {
  RuntimeCluster cluster = ParameterServers();
  cluster.heters = {"wd-heter-0.wd"};
  for (const Role role : {Role::kServer, Role::kTrainer, Role::kHeter}) {
    std::vector<RuntimeVariable> all = RuntimeEnv(cluster, {role, "h"});
    std::erase_if(all, [](const RuntimeVariable& one) {
      return one.list && one.name.find("_NEXT_") == std::string::npos &&
             one.name.find("_PREVIOUS_") == std::string::npos;
    });
    EXPECT_EQ(RuntimeEnv(cluster, {role, "h"}, EnvLists::kOwn), all);
  }
}

TEST(FitEnvTest, F27LongListsMoveIntoAConfigMap) {
  const auto few = FitEnv(RuntimeEnv(Workers(10, 70), {Role::kTrainer, "h.d"}));
  ASSERT_TRUE(few.ok());
  EXPECT_TRUE(few->config_map.empty());
  const auto many = FitEnv(RuntimeEnv(Workers(400, 70), {Role::kTrainer, "h.d"}));
  ASSERT_TRUE(many.ok());
  EXPECT_THAT(many->config_map,
              ElementsAre(::testing::Key("PADDLE_TRAINERS"), ::testing::Key("PADDLE_TRAINER_ENDPOINTS")));
  for (const RuntimeVariable& one : many->env) EXPECT_FALSE(one.list) << one.name;
}

TEST(FitEnvTest, F28WhatLinuxDoesNotPassIsAnError) {
  const auto fitted = FitEnv(RuntimeEnv(Workers(4000, 73), {Role::kTrainer, "h.d"}));
  EXPECT_EQ(fitted.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(fitted.status().message()),
              ::testing::HasSubstr("PADDLE_TRAINER_ENDPOINTS would have 320025 bytes"));
}

}  // namespace
}  // namespace gangway::api::paddle
