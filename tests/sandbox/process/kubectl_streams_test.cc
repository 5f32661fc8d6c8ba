// exec, cp and port-forward as users have them: the real kubectl against pods whose containers are processes.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/serve/certificates.h"
#include "kube/serve/http_front.h"
#include "sandbox/cluster/api_server_handler.h"
#include "tests/process/process.h"
#include "tests/sandbox/process/process_cluster.h"
#include "tests/testing/files.h"
#include "tests/testing/raw_socket.h"

namespace gangway::sandbox {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testutil::Eventually;
using testutil::Outcome;

class KubectlStreamsTest : public ProcessCluster {
 protected:
  void TearDown() override {
    thread_.Run([&] { front_.reset(); });
    ProcessCluster::TearDown();
  }
  bool Serve(bool shared_network = false) {
    if (!testutil::HasKubectl()) {
      why_ = "there is no kubectl on this machine";
      return false;
    }
    if (!Start(shared_network, images_)) return false;
    thread_.Run([&] {
      handler_ = std::make_unique<ApiServerHandler>(cluster_->api_server(), &cluster_->pod_streams());
      kube::HttpFrontOptions options;
      if (tls_) {
        const kube::Certificate authority = *kube::MakeAuthority("authority", absl::Now(), absl::Hours(1));
        const kube::Certificate tls =
            *kube::MakeCertificate(authority, {"server", {}, "IP:127.0.0.1"}, absl::Now(), absl::Hours(1));
        testutil::WriteFile(certificate(), authority.certificate);
        testutil::WriteFile(options.tls_certificate_file = temporary_.path() + "/server.crt", tls.certificate);
        testutil::WriteFile(options.tls_key_file = temporary_.path() + "/server.key", tls.key);
      }
      front_ = *kube::HttpFront::Start(thread_.loop(), *handler_, options);
    });
    return true;
  }
  std::vector<std::string> Command(std::vector<std::string> args) const {
    // In TLS kubectl asks for a user's name where it is given no credentials.
    if (tls_) args.insert(args.begin(), {"--certificate-authority", certificate(), "--token=any"});
    args.insert(args.begin(), {"kubectl", "--server", front_->url()});
    return args;
  }
  Outcome Kubectl(std::vector<std::string> args, const std::string& input = {}) {
    return testutil::RunProgram(Command(std::move(args)),
                                {"KUBECONFIG=/dev/null", "HOME=" + temporary_.path(), "KUBECTL_KUBERC=false"}, input);
  }
  void RunAndWait(const std::string& name, const std::string& script) {
    RunShell(name, script);
    ASSERT_TRUE(Becomes(name, "Running"));
  }
  std::string certificate() const { return temporary_.path() + "/ca.crt"; }
  void CopyBothWays();

  bool tls_ = false;
  std::vector<ImageFolder> images_;  // of Serve()
  std::unique_ptr<ApiServerHandler> handler_;
  std::unique_ptr<kube::HttpFront> front_;
};

#define SERVE_OR_SKIP(...) \
  if (!Serve(__VA_ARGS__)) GTEST_SKIP() << why_

TEST_F(KubectlStreamsTest, ACommandIsInItsContainer) {
  SERVE_OR_SKIP();
  RunAndWait("box", "echo kept > /tmp/f; export X=no; echo up; while :; do sleep 1; done");
  ASSERT_TRUE(Eventually([&] { return Log("box") == "up\n"; }));
  const Outcome seen = Kubectl({"exec", "box", "--", "sh", "-c",
                                "cat /tmp/f; hostname; tr '\\0' ' ' < /proc/1/cmdline | cut -c1-5; echo to-err >&2; "
                                "echo x$X; pwd; tty; ls -d /gangway-machine"});
  EXPECT_THAT(seen.out, AllOf(HasSubstr("kept\nbox\nsh -c\nx\n/\nnot a tty\n"), Not(HasSubstr("gangway-machine"))));
  EXPECT_THAT(seen.err, HasSubstr("to-err\n"));
  EXPECT_EQ(Kubectl({"exec", "box", "--", "sh", "-c", "exit 7"}).exit_code, 7);
  EXPECT_EQ(Kubectl({"exec", "box", "--", "sh", "-c", "kill -9 $$"}).exit_code, 137);
  EXPECT_EQ(Kubectl({"exec", "-i", "box", "--", "sort"}, "b\na\n").out, "a\nb\n");
  EXPECT_EQ(Kubectl({"exec", "box", "--", "cat"}, "is not asked for").out, "");
  const Outcome missing = Kubectl({"exec", "box", "--", "no-such-program"});
  EXPECT_NE(missing.exit_code, 0);
  EXPECT_THAT(missing.err, HasSubstr("exec: \"no-such-program\": executable file not found in $PATH"));
}

TEST_F(KubectlStreamsTest, ATerminalIsOne) {
  SERVE_OR_SKIP();
  RunAndWait("box", "while :; do sleep 1; done");
  // script(1) is the user's terminal.
  if (testutil::RunProgram({"script", "--version"}).exit_code != 0) GTEST_SKIP() << "there is no script(1)";
  std::string command;
  for (const std::string& word : Command({"exec", "-it", "box", "--", "sh"})) absl::StrAppend(&command, word, " ");
  const Outcome seen = testutil::RunProgram(
      {"script", "-qec", absl::StrCat("stty rows 33 cols 101; KUBECONFIG=/dev/null ", command), "/dev/null"},
      {"KUBECTL_KUBERC=false"},
      "tty; until stty size | grep -q 33; do sleep 0.01; done; stty size; echo $TERM; exit 5\n");
  EXPECT_THAT(seen.out, AllOf(HasSubstr("/dev/pts/0"), HasSubstr("33 101"), HasSubstr("xterm")));
  EXPECT_EQ(seen.exit_code, 5);
}

void KubectlStreamsTest::CopyBothWays() {
  RunAndWait("box", "while :; do sleep 1; done");
  const std::string there = temporary_.path() + "/there", back = temporary_.path() + "/back";
  std::string bytes(5 << 20, '\0');
  std::uint32_t state = 12345;
  for (char& byte : bytes) byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  testutil::WriteFile(there, bytes);
  EXPECT_EQ(Kubectl({"cp", there, "box:/tmp/model"}).exit_code, 0);
  EXPECT_EQ(Kubectl({"exec", "box", "--", "sh", "-c", "wc -c < /tmp/model"}).out, absl::StrCat(bytes.size(), "\n"));
  const Outcome copied = Kubectl({"cp", "box:tmp/model", back});
  EXPECT_EQ(copied.exit_code, 0) << copied.err;
  EXPECT_EQ(testutil::ReadFile(back), bytes);
}

TEST_F(KubectlStreamsTest, FilesAreCopiedBothWays) {
  SERVE_OR_SKIP();
  CopyBothWays();
}

TEST_F(KubectlStreamsTest, FilesAreCopiedBothWaysInTls) {
  tls_ = true;
  SERVE_OR_SKIP();
  CopyBothWays();
  EXPECT_EQ(Kubectl({"exec", "-i", "box", "--", "sort"}, "b\na\n").out, "a\nb\n");
}

TEST_F(KubectlStreamsTest, WhatCannotBeHadIsToldPlainly) {
  SERVE_OR_SKIP();
  RunShell("over", "true");
  ASSERT_EQ(End("over"), "Succeeded");
  const auto exec = [&](const std::string& pod) {
    return *Ask("POST", api::PathOf(api::kPods, "default", pod) + "/exec", "", "command=ls&stdout=true").body;
  };
  EXPECT_THAT(exec("over"), HasSubstr("container main of pod over does not run"));
  EXPECT_THAT(Kubectl({"exec", "nobody", "--", "ls"}).err, HasSubstr("pods \"nobody\" not found"));
  RunAndWait("box", "while :; do sleep 1; done");
  EXPECT_THAT(Kubectl({"exec", "box", "-c", "other", "--", "ls"}).err, HasSubstr("other"));
  EXPECT_THAT(exec("box"), HasSubstr("kubectl 1.31"));
}

// The port that kubectl listens on, from what it prints.
int PortOf(const std::string& file) {
  const std::string before = "Forwarding from 127.0.0.1:";
  const std::string text = testutil::ReadFile(file);
  const std::size_t at = text.find(before);
  if (at == std::string::npos) return 0;
  const std::string rest = text.substr(at + before.size());
  int port = 0;
  return rest.find(' ') != std::string::npos && absl::SimpleAtoi(rest.substr(0, rest.find(' ')), &port) ? port : 0;
}

TEST_F(KubectlStreamsTest, APortIsForwardedForManyConnections) {
  constexpr char kServer[] = "/usr/bin/python3";
  if (!std::filesystem::exists(kServer)) GTEST_SKIP() << kServer << " is not there";
  SERVE_OR_SKIP();
  MakePod("web", absl::StrCat(R"(,"containers":[{"name":"main","image":"x","command":[")", kServer,
                              R"(","-um","http.server","8000","--directory","/etc"]}])"));
  ASSERT_TRUE(Eventually([&] { return Phase("web") == "Running"; }));
  ASSERT_TRUE(Eventually(
      [&] { return Kubectl({"exec", "web", "--", "sh", "-c", "grep -c ':1F40 ' /proc/net/tcp"}).exit_code == 0; }));
  const std::string output = temporary_.path() + "/forward";
  testutil::ChildProcess forward(Command({"port-forward", "pod/web", ":8000", ":8001"}), output,
                                 {"KUBECONFIG=/dev/null", "KUBECTL_KUBERC=false"});
  ASSERT_TRUE(Eventually([&] { return PortOf(output) > 0; })) << testutil::ReadFile(output);
  const auto port = static_cast<std::uint16_t>(PortOf(output));
  for (int i = 0; i < 20; ++i) {
    testutil::RawSocket client(port);
    ASSERT_TRUE(client.Send("GET /hostname HTTP/1.0\r\n\r\n"));
    EXPECT_THAT(client.ReadToEnd(), HasSubstr("200 OK")) << i;
  }
  // Nobody listens on the other: kubectl says so and goes.
  ASSERT_TRUE(Eventually([&] { return absl::StrContains(testutil::ReadFile(output), " -> 8001\n"); }));
  const std::string text = testutil::ReadFile(output);
  int other = 0;
  for (std::size_t at = 0; (at = text.find("127.0.0.1:", at)) != std::string::npos; ++at) {
    const int found = std::atoi(text.c_str() + at + 10);
    if (found != port) other = found;
  }
  ASSERT_GT(other, 0) << text;
  testutil::RawSocket client(static_cast<std::uint16_t>(other));
  client.Send("x");
  client.ReadToEnd();
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(testutil::ReadFile(output), "Connection refused"); }))
      << testutil::ReadFile(output);
}

// What the head of examples/ctr-volcano-pvc.yaml says, on a claim that a training left behind.
TEST_F(KubectlStreamsTest, TheModelOfTheExampleIsFetchedAsItsHeadSays) {
  constexpr char kPython[] = "/usr/bin/python3";
  if (!std::filesystem::exists(kPython)) GTEST_SKIP() << kPython << " is not there";
  const std::string image = temporary_.path() + "/image", claim = temporary_.path() + "/claims/default/ctr-model";
  std::filesystem::create_directories(image + "/bin");
  std::filesystem::create_symlink(kPython, image + "/bin/python");
  images_ = {{"python", image, true}};
  SERVE_OR_SKIP();
  const std::vector<std::string> files = {"steps", "model-400/dense.npz", "model-400/0/part-000", "model-400/1/meta"};
  for (const std::string& file : files) {
    std::filesystem::create_directories(std::filesystem::path(claim + "/" + file).parent_path());
    testutil::WriteFile(claim + "/" + file, absl::StrCat("of ", file, std::string("\0\r\n\xff", 4)));
  }
  const std::string example = testutil::ReadFile(GW_SOURCE_DIR "/examples/ctr-volcano-pvc.yaml");
  for (const absl::string_view document : absl::StrSplit(example, "\n---\n")) {
    for (const absl::string_view kind : {"PersistentVolumeClaim", "Deployment", "Service"})
      if (absl::StrContains(document, absl::StrCat("\nkind: ", kind, "\n"))) Apply(std::string(document));
  }
  EXPECT_EQ(Kubectl({"rollout", "status", "deployment/ctr-model", "--timeout=60s"}).exit_code, 0);

  EXPECT_THAT(example, HasSubstr("kubectl port-forward deployment/ctr-model 8080 &"));
  EXPECT_THAT(example, HasSubstr("curl http://127.0.0.1:8080/model-400/"));
  const std::string pod =
      Kubectl({"get", "pods", "-l", "app=ctr-model", "-o", "jsonpath={.items[*].metadata.name}"}).out;
  ASSERT_TRUE(
      Eventually([&] { return Kubectl({"exec", pod, "--", "grep", "-q", ":1F90 ", "/proc/net/tcp"}).exit_code == 0; }));
  const std::string output = temporary_.path() + "/forward";
  testutil::ChildProcess forward(Command({"port-forward", "deployment/ctr-model", ":8080"}), output,
                                 {"KUBECONFIG=/dev/null", "KUBECTL_KUBERC=false"});
  ASSERT_TRUE(Eventually([&] { return PortOf(output) > 0; })) << testutil::ReadFile(output);
  const auto get = [&](const std::string& path) {
    testutil::RawSocket client(static_cast<std::uint16_t>(PortOf(output)));
    EXPECT_TRUE(client.Send(absl::StrCat("GET /", path, " HTTP/1.0\r\n\r\n")));
    const std::string reply = client.ReadToEnd();
    return reply.substr(std::min(reply.find("\r\n\r\n") + 4, reply.size()));
  };
  EXPECT_THAT(get("model-400/"), AllOf(HasSubstr("dense.npz"), HasSubstr("0/")));
  for (const std::string& file : files) EXPECT_EQ(get(file), testutil::ReadFile(claim + "/" + file)) << file;

  EXPECT_THAT(example, HasSubstr("kubectl cp POD:/model ./model"));
  const std::string copy = temporary_.path() + "/model";
  const Outcome copied = Kubectl({"cp", pod + ":/model", copy});
  EXPECT_EQ(copied.exit_code, 0) << copied.err;
  const Outcome compared = testutil::RunProgram({"diff", "-r", claim, copy});
  EXPECT_EQ(compared.exit_code, 0) << compared.out << compared.err;
}

TEST_F(KubectlStreamsTest, APodOfTheSharedNetworkIsReachedAtItsAddress) {
  constexpr char kServer[] = "/usr/bin/python3";
  if (!std::filesystem::exists(kServer)) GTEST_SKIP() << kServer << " is not there";
  SERVE_OR_SKIP(true);
  MakePod("web", absl::StrCat(R"(,"containers":[{"name":"main","image":"x","command":[")", kServer,
                              R"(","-um","http.server","8000","--bind","127.1.0.1","--directory","/etc"]}])"));
  ASSERT_TRUE(Eventually([&] { return Phase("web") == "Running"; }));
  // 127.1.0.1:8000. Before it listens kubectl would be refused, and go.
  ASSERT_TRUE(Eventually(
      [&] { return Kubectl({"exec", "web", "--", "grep", "-q", "0100017F:1F40 ", "/proc/net/tcp"}).exit_code == 0; }));
  const std::string output = temporary_.path() + "/forward";
  testutil::ChildProcess forward(Command({"port-forward", "pod/web", ":8000"}), output,
                                 {"KUBECONFIG=/dev/null", "KUBECTL_KUBERC=false"});
  ASSERT_TRUE(Eventually([&] { return PortOf(output) > 0; })) << testutil::ReadFile(output);
  ASSERT_TRUE(Eventually([&] {
    testutil::RawSocket client(static_cast<std::uint16_t>(PortOf(output)));
    return client.Send("GET /hostname HTTP/1.0\r\n\r\n") && absl::StrContains(client.ReadToEnd(), "200 OK");
  }));
}

TEST_F(KubectlStreamsTest, ACommandEndsWithItsPodAndWithItsUser) {
  SERVE_OR_SKIP();
  RunAndWait("box", "while :; do sleep 1; done");
  const auto commands = [&] {
    return Kubectl({"exec", "box", "--", "sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -o 'sleep 98[7]'"})
        .out;
  };
  {
    testutil::ChildProcess user(Command({"exec", "box", "--", "sleep", "987"}), temporary_.path() + "/a",
                                {"KUBECONFIG=/dev/null", "KUBECTL_KUBERC=false"});
    ASSERT_TRUE(Eventually([&] { return commands() == "sleep 987\n"; }));
  }
  EXPECT_TRUE(Eventually([&] { return commands().empty(); })) << "its user is gone";
  testutil::ChildProcess user(Command({"exec", "box", "--", "sleep", "987"}), temporary_.path() + "/b",
                              {"KUBECONFIG=/dev/null", "KUBECTL_KUBERC=false"});
  ASSERT_TRUE(Eventually([&] { return commands() == "sleep 987\n"; }));
  Ask("DELETE", api::PathOf(api::kPods, "default", "box"));
  EXPECT_EQ(user.Wait(), 137);
}

TEST_F(KubectlStreamsTest, LogsAreFollowedToTheEndOfTheirContainer) {
  SERVE_OR_SKIP();
  RunShell("talks", "echo one; until [ -e /d/go ]; do sleep 0.01; done; echo two",
           R"(,"volumeMounts":[{"name":"d","mountPath":"/d"}])",
           absl::StrCat(R"(,"volumes":[{"name":"d","hostPath":{"path":")", temporary_.path(), R"("}}])"));
  ASSERT_TRUE(Becomes("talks", "Running"));
  const std::string output = temporary_.path() + "/followed";
  testutil::ChildProcess follow(Command({"logs", "-f", "talks"}), output,
                                {"KUBECONFIG=/dev/null", "KUBECTL_KUBERC=false"});
  ASSERT_TRUE(Eventually([&] { return testutil::ReadFile(output) == "one\n"; })) << testutil::ReadFile(output);
  EXPECT_FALSE(follow.Ended().has_value()) << "its container runs";
  testutil::WriteFile(temporary_.path() + "/go", "");
  ASSERT_TRUE(Eventually([&] { return follow.Ended().has_value(); })) << testutil::ReadFile(output);
  EXPECT_EQ(follow.Wait(), 0);
  EXPECT_EQ(testutil::ReadFile(output), "one\ntwo\n");
}

TEST_F(KubectlStreamsTest, ThePreviousLogIsThatOfTheRunBefore) {
  SERVE_OR_SKIP();
  MakePod("again",
          absl::StrCat(R"(,"containers":[)",
                       Shell("if [ -e /d/ran ]; then echo second; sleep 1000; fi; > /d/ran; echo first; exit 1",
                             R"(,"volumeMounts":[{"name":"d","mountPath":"/d"}])"),
                       R"(],"volumes":[{"name":"d","emptyDir":{}}])"),
          "OnFailure");
  ASSERT_TRUE(Eventually([&] { return Kubectl({"logs", "again"}).out == "second\n"; }));
  const Outcome previous = Kubectl({"logs", "again", "--previous"});
  EXPECT_EQ(previous.exit_code, 0) << previous.err;
  EXPECT_EQ(previous.out, "first\n");
}

TEST_F(KubectlStreamsTest, OutputWithoutEndWaitsForItsReader) {
  SERVE_OR_SKIP();
  RunAndWait("box", "while :; do sleep 1; done");
  EXPECT_EQ(Kubectl({"exec", "box", "--", "sh", "-c", "head -c 50000000 /dev/zero"}).out.size(), 50'000'000u);
}

}  // namespace
}  // namespace gangway::sandbox
