#include "kube/client/kubeconfig.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/files.h"
#include "tests/testing/status_matchers.h"

namespace gangway::kube {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testutil::IsOkAndHolds;
using testutil::StatusIs;

// What kubeadm, kind and friends write.
constexpr char kUsual[] = R"(apiVersion: v1
kind: Config
preferences: {}
current-context: dev
clusters:
- name: kind-dev
  cluster:
    certificate-authority-data: Q0EgUEVN
    server: https://127.0.0.1:6443
- name: prod
  cluster:
    certificate-authority: pki/ca.crt
    server: https://api.example.com/k8s/
    tls-server-name: kubernetes
    proxy-url: socks5://localhost:1080
contexts:
- context: {cluster: kind-dev, user: kind-user}
  name: dev
- context:
    cluster: prod
    user: robot
    namespace: training
  name: prod
- context: {cluster: prod, user: nobody}
  name: lost
- context: {cluster: nowhere}
  name: nowhere
users:
- name: kind-user
  user:
    client-certificate-data: Q0VSVA==
    client-key-data: S0VZ
- name: robot
  user:
    client-certificate: /etc/robot.crt
    client-key: robot.key
    tokenFile: token
    token: older
)";

TEST(ParseKubeconfigTest, CurrentContextWithInlineData) {
  Connection expected;
  expected.server = "https://127.0.0.1:6443";
  expected.ca.data = "CA PEM";
  expected.client_certificate.data = "CERT";
  expected.client_key.data = "KEY";
  expected.context = "dev";
  EXPECT_THAT(ParseKubeconfig(kUsual, "/home/u/.kube/config"), IsOkAndHolds(expected));
}

TEST(ParseKubeconfigTest, AnotherContextWithFilesBesideTheKubeconfig) {
  Connection expected;
  expected.server = "https://api.example.com/k8s/";
  expected.ca.file = "/home/u/.kube/pki/ca.crt";
  expected.tls_server_name = "kubernetes";
  expected.proxy_url = "socks5://localhost:1080";
  expected.client_certificate.file = "/etc/robot.crt";
  expected.client_key.file = "/home/u/.kube/robot.key";
  expected.token.file = "/home/u/.kube/token";
  expected.default_namespace = "training";
  expected.context = "prod";
  EXPECT_THAT(ParseKubeconfig(kUsual, "/home/u/.kube/config", "prod"), IsOkAndHolds(expected));
}

TEST(ParseKubeconfigTest, JsonIsYaml) {
  const char* text = R"({"clusters":[{"name":"c","cluster":{"server":"http://h:1","insecure-skip-tls-verify":true}}],
    "contexts":[{"name":"x","context":{"cluster":"c","user":"u"}}],"users":[{"name":"u","user":{"token":"t"}}],"current-context":"x"})";
  const absl::StatusOr<Connection> connection = ParseKubeconfig(text, "c.json");
  GW_ASSERT_OK(connection);
  EXPECT_EQ(connection->server, "http://h:1");
  EXPECT_EQ(connection->token.data, "t");
  EXPECT_TRUE(connection->insecure_skip_tls_verify);
}

struct Wrong {
  const char* name;
  const char* replace;
  const char* by;
  const char* message;
};
class WrongKubeconfigTest : public ::testing::TestWithParam<Wrong> {};
TEST_P(WrongKubeconfigTest, NamesFilePathAndFix) {
  const std::string text = absl::StrReplaceAll(kUsual, {{GetParam().replace, GetParam().by}});
  ASSERT_NE(text, kUsual);
  EXPECT_THAT(ParseKubeconfig(text, "k.yaml"), StatusIs(absl::StatusCode::kInvalidArgument,
                                                        AllOf(StartsWith("k.yaml: "), HasSubstr(GetParam().message))));
}
INSTANTIATE_TEST_SUITE_P(
    All, WrongKubeconfigTest,
    ::testing::Values(
        Wrong{"NoCurrentContext", "current-context: dev\n", "",
              "current-context is not set; set it or name one of: dev, prod, lost, nowhere"},
        Wrong{"UnknownContext", "current-context: dev", "current-context: devel",
              "context \"devel\" is not in contexts; there are: dev, prod"},
        Wrong{"UnknownUser", "current-context: dev", "current-context: lost",
              "contexts[lost].context.user \"nobody\" is not in users; there are: kind-user, robot"},
        Wrong{"UnknownCluster", "current-context: dev", "current-context: nowhere",
              "contexts[nowhere].context.cluster \"nowhere\" is not in clusters"},
        Wrong{"NoServer", "    server: https://127.0.0.1:6443\n", "", "clusters[kind-dev].cluster.server is not set"},
        Wrong{"NotBase64", "S0VZ", "-----BEGIN",
              "users[kind-user].user.client-key-data: is not base64; to name a file use client-key"},
        Wrong{"KeyMissing", "    client-key-data: S0VZ\n", "", "users[kind-user].user.client-key is not set"},
        Wrong{"ExecVersion", "client-key-data: S0VZ",
              "client-key-data: S0VZ\n    exec: {command: aws, apiVersion: client.authentication.k8s.io/v1alpha1}",
              "users[kind-user].user.exec.apiVersion: \"client.authentication.k8s.io/v1alpha1\" must be"},
        Wrong{"ExecCommand", "client-key-data: S0VZ",
              "client-key-data: S0VZ\n    exec: {apiVersion: client.authentication.k8s.io/v1}",
              "users[kind-user].user.exec.command is not set"},
        Wrong{"ExecMode", "client-key-data: S0VZ",
              "client-key-data: S0VZ\n    exec: {apiVersion: client.authentication.k8s.io/v1, command: aws}",
              "users[kind-user].user.exec.interactiveMode: \"\" must be Never, IfAvailable or Always"},
        Wrong{"ExecTerminal", "client-key-data: S0VZ",
              "client-key-data: S0VZ\n    exec: {apiVersion: client.authentication.k8s.io/v1, command: aws, "
              "interactiveMode: Always}",
              "users[kind-user].user.exec.interactiveMode: Always needs somebody at a terminal"},
        Wrong{"GroupsOfNobody", "client-key-data: S0VZ", "client-key-data: S0VZ\n    as-groups: [ops]",
              "users[kind-user].user.as is not set"},
        Wrong{"CaAndInsecure", "certificate-authority-data: Q0EgUEVN",
              "certificate-authority-data: Q0EgUEVN\n    insecure-skip-tls-verify: true",
              "clusters[kind-dev].cluster.insecure-skip-tls-verify"},
        Wrong{"WrongType", "server: https://127.0.0.1:6443", "server: [1]", "clusters[0].cluster.server"},
        Wrong{"OtherKind", "kind: Config", "kind: Pod", "its kind is Pod"},
        Wrong{"BrokenYaml", "clusters:", "clusters: [", "line "},
        Wrong{"TwoDocuments", "users:", "---\nusers:", "one YAML document"}),
    [](const auto& c) { return c.param.name; });

TEST(ParseKubeconfigTest, AQuoteThatIsNotClosedTellsNoSecret) {
  EXPECT_THAT(ParseKubeconfig("{\"kind\": \"Config\nusers:\n- name: a\n  user:\n    token: hunter2\n\"}", "k.yaml"),
              StatusIs(absl::StatusCode::kInvalidArgument, "k.yaml: is no kubeconfig: its kind is not Config"));
}

TEST(ParseKubeconfigTest, NorDoesALineThatCannotBeRead) {
  EXPECT_THAT(ParseKubeconfig("users:\n- name: a\n  user:\n    as: b\n    token hunter2\n", "k.yaml"),
              StatusIs(absl::StatusCode::kInvalidArgument, "k.yaml: line 5, column 5: expected ':' in this line"));
  EXPECT_THAT(ParseKubeconfig("users:\n- name: a\n  user:\n    token: !!int hunter2\n", "k.yaml"),
              StatusIs(absl::StatusCode::kInvalidArgument, Not(HasSubstr("hunter2"))));
}

TEST(ParseKubeconfigTest, RandomDamageIsAnAnswerNotACrash) {
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    std::string text = kUsual;
    for (unsigned n = 0; n < 1 + random() % 5; ++n) text[random() % text.size()] = static_cast<char>(random() % 256);
    ParseKubeconfig(text, "k").status().IgnoreError();
  }
}

TEST(RenderKubeconfigTest, PeopleHaveContextsOfTheirOwn) {
  KubeconfigEntry entry;
  entry.server = "https://127.0.0.1:6443";
  entry.ca_data = "CA";
  entry.token = "admin's";
  entry.users = {{"jane", "CERT", "KEY"}};
  const std::string text = RenderKubeconfig(entry);
  const auto admin = ParseKubeconfig(text, "k"), jane = ParseKubeconfig(text, "k", "jane");
  GW_ASSERT_OK(admin);
  GW_ASSERT_OK(jane);
  EXPECT_EQ(admin->token.data, "admin's");
  EXPECT_FALSE(admin->client_certificate.set());
  EXPECT_EQ(jane->server, admin->server);
  EXPECT_EQ(jane->ca.data, "CA");
  EXPECT_EQ(jane->client_certificate.data, "CERT");
  EXPECT_EQ(jane->client_key.data, "KEY");
  EXPECT_FALSE(jane->token.set());
}

class KubeconfigFileTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) { testutil::WriteFile(folder_ + "/" + name, text); }
  const testutil::TemporaryFolder temporary_{"gangway-kubeconfig"};
  const std::string folder_ = temporary_.path();
};

TEST(ParseKubeconfigTest, ProgramsAndWhomToActAs) {
  const std::string text =
      absl::StrReplaceAll(kUsual, {{"    client-key-data: S0VZ\n", R"(    client-key-data: S0VZ
    as: jane
    as-uid: "7"
    as-groups: [dev, ops]
    as-user-extra: {team: [a]}
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: bin/login
      args: [--cluster, dev]
      env: [{name: REGION, value: here}]
      installHint: ask us
      provideClusterInfo: true
)"},
                                   {"    server: https://127.0.0.1:6443\n", R"(    server: https://127.0.0.1:6443
    disable-compression: true
    extensions:
    - name: client.authentication.k8s.io/exec
      extension: {audience: x}
)"}});
  const auto connection = ParseKubeconfig(text, "/etc/k/config");
  GW_ASSERT_OK(connection);
  EXPECT_TRUE(connection->disable_compression);
  EXPECT_EQ(connection->impersonate, (Impersonation{"jane", "7", {"dev", "ops"}, {{"team", {"a"}}}}));
  const CredentialProgram expected{"client.authentication.k8s.io/v1beta1",
                                   "/etc/k/bin/login",
                                   {"--cluster", "dev"},
                                   {{"REGION", "here"}},
                                   "ask us",
                                   true,
                                   R"({"audience":"x"})"};
  ASSERT_TRUE(connection->program.has_value());
  EXPECT_EQ(*connection->program, expected);
}

// kubectl: "the first file to set a particular value or map key wins", whole entries, missing files left out.
TEST_F(KubeconfigFileTest, SeveralAreMergedAsKubectlDoes) {
  std::filesystem::create_directories(folder_ + "/a");
  std::filesystem::create_directories(folder_ + "/b");
  Write("a/config",
        "clusters: [{name: c, cluster: {server: https://first}}]\nusers: [{name: u, user: {token: mine}}]\n");
  Write("b/config",
        "current-context: x\nclusters: [{name: c, cluster: {server: https://second, certificate-authority: ca.crt}},"
        " {name: d, cluster: {server: https://third, certificate-authority: ca.crt}}]\n"
        "contexts: [{name: x, context: {cluster: c, user: u}}, {name: w, context: {cluster: d, user: u}}]\n");
  Write("empty", "");
  const std::string paths =
      absl::StrCat(folder_, "/none:", folder_, "/empty:", folder_, "/a/config:", folder_, "/b/config");
  auto connection = LoadKubeconfigs(paths);
  GW_ASSERT_OK(connection);
  EXPECT_EQ(connection->server, "https://first");
  EXPECT_FALSE(connection->ca.set());
  EXPECT_EQ(connection->token.data, "mine");
  connection = LoadKubeconfigs(paths, "w");
  GW_ASSERT_OK(connection);
  EXPECT_EQ(connection->server, "https://third");
  EXPECT_EQ(connection->ca.file, folder_ + "/b/ca.crt");
  EXPECT_THAT(LoadKubeconfigs(paths, "z"), StatusIs(absl::StatusCode::kInvalidArgument,
                                                    HasSubstr("context \"z\" is not in contexts; there are: x, w")));
  EXPECT_THAT(LoadKubeconfigs(folder_ + "/none:" + folder_ + "/gone"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/none:")));
  Write("empty", "clusters: [");
  EXPECT_THAT(LoadKubeconfigs(paths), StatusIs(absl::StatusCode::kInvalidArgument, StartsWith(folder_ + "/empty: ")));
}

TEST_F(KubeconfigFileTest, AMissingFileIsNotFound) {
  EXPECT_THAT(LoadKubeconfig(folder_),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(folder_ + ": is a folder; name a file")));
  EXPECT_THAT(LoadKubeconfig(folder_ + "/none"),
              StatusIs(absl::StatusCode::kNotFound, AllOf(HasSubstr(folder_ + "/none"), HasSubstr("--kubeconfig"))));
}

TEST_F(KubeconfigFileTest, WhatIsWrittenIsReadAgain) {
  KubeconfigEntry entry;
  entry.server = "http://127.0.0.1:40311";
  entry.ca_data = "-----BEGIN CERTIFICATE-----\nx\n";
  entry.token = "12345";  // a number to YAML, unless quoted
  entry.context = "gangway: \"true\"";
  const std::string path = folder_ + "/deep/er/config";
  GW_ASSERT_OK(WriteKubeconfig(path, entry));
  Connection expected;
  expected.server = entry.server;
  expected.ca.data = entry.ca_data;
  expected.token.data = "12345";
  expected.context = entry.context;
  EXPECT_THAT(LoadKubeconfig(path), IsOkAndHolds(expected));
  struct stat info{};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  entry.token = "";
  entry.ca_data = "";
  GW_ASSERT_OK(WriteKubeconfig(path, entry));  // over the old one
  expected.token.data = expected.ca.data = "";
  EXPECT_THAT(LoadKubeconfig(path), IsOkAndHolds(expected));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ + "/deep/er"), {}), 1);  // nothing left behind
}

TEST_F(KubeconfigFileTest, WhereItCannotBeWritten) {
  Write("file", "");
  EXPECT_THAT(WriteKubeconfig(folder_ + "/file/config", {}),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr(folder_ + "/file")));
}

TEST_F(KubeconfigFileTest, InsideAPod) {
  InClusterSource source;
  source.folder = folder_;
  EXPECT_THAT(InClusterConnection(source), StatusIs(absl::StatusCode::kNotFound, HasSubstr("KUBERNETES_SERVICE_HOST")));
  source.host = "fd00::1";
  source.port = "443";
  EXPECT_THAT(InClusterConnection(source), StatusIs(absl::StatusCode::kNotFound, HasSubstr(folder_ + "/token")));
  Write("token", "t");
  Write("ca.crt", "ca");
  Write("namespace", "training\n");
  Connection expected;
  expected.server = "https://[fd00::1]:443";
  expected.token.file = folder_ + "/token";
  expected.ca.file = folder_ + "/ca.crt";
  expected.default_namespace = "training";
  expected.context = "in-cluster";
  EXPECT_THAT(InClusterConnection(source), IsOkAndHolds(expected));
}

TEST_F(KubeconfigFileTest, FoundAsKubectlFindsIt) {
  KubeconfigEntry entry;
  const auto write = [&](const std::string& name) {
    entry.server = "http://" + name;
    GW_EXPECT_OK(WriteKubeconfig(absl::StrCat(folder_, "/", name), entry));
  };
  write("given");
  write("named");
  write(".kube/config");
  unsetenv("KUBERNETES_SERVICE_HOST");
  setenv("HOME", folder_.c_str(), 1);
  setenv("KUBECONFIG", (folder_ + "/named").c_str(), 1);
  EXPECT_EQ(FindConnection(folder_ + "/given")->server, "http://given");
  EXPECT_EQ(FindConnection("")->server, "http://named");
  unsetenv("KUBECONFIG");
  EXPECT_EQ(FindConnection("")->server, "http://.kube/config");
}

}  // namespace
}  // namespace gangway::kube
