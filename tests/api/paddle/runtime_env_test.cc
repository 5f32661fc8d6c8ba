// The environment equals the one that real Paddle programs were run with (tests/golden/paddle), and adds to it only what the runs
// showed to be needed besides.
#include "api/paddle/runtime_env.h"

#include <fstream>
#include <algorithm>

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
    value = absl::StrReplaceAll(value, {{"$(PADDLE_POD_NAME)", name}, {"$(POD_IP)", pod_ip}, {"$(PADDLE_PORT)", absl::StrCat(cluster.port)}});
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
    EXPECT_THAT(seen, ::testing::IsSupersetOf({absl::StrCat("PADDLE_CURRENT_ENDPOINT=wd-worker-", i, ".wd:36000"), std::string("PADDLE_DISTRI_BACKEND=gloo")}));
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
              ElementsAre("TRAINER_PORTS_NUM", "PADDLE_PORT", "PADDLE_TRAINER_ENDPOINTS", "PADDLE_TRAINERS", "PADDLE_TRAINERS_NUM", "PADDLE_CURRENT_ENDPOINT"));
  EXPECT_THAT(names({.servers = {"s.b"}, .trainers = {"a.b"}}, false),
              ElementsAre("TRAINER_PORTS_NUM", "PADDLE_PORT", "PADDLE_PSERVERS_IP_PORT_LIST", "PADDLE_TRAINER_ENDPOINTS", "PADDLE_TRAINERS",
                          "PADDLE_TRAINERS_NUM", "PADDLE_SERVERS_ENDPOINTS", "PADDLE_TRAINERS_ENDPOINTS"));
}

}  // namespace
}  // namespace gangway::api::paddle
