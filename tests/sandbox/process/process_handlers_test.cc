// Probes, hooks and users of containers that are processes of this machine.
#include <unistd.h>

#include <filesystem>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/certificates/identity.h"
#include "tests/sandbox/process/process_cluster.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testutil::Eventually;

constexpr char kPython3[] = "/usr/bin/python3";

class ProcessHandlersTest : public ProcessCluster {
 protected:
  json::value ContainerOf(const std::string& name) {
    const json::value pod = PodOf(name);
    const json::value* const statuses =
        pod.as_object().contains("status") ? pod.at("status").as_object().if_contains("containerStatuses") : nullptr;
    return statuses == nullptr ? json::value(json::object()) : statuses->at(0);
  }
  bool Ready(const std::string& name) {
    const json::value container = ContainerOf(name);
    const json::value* const ready = container.as_object().if_contains("ready");
    return ready != nullptr && ready->as_bool();
  }
  std::string Events() { return *Ask("GET", "/api/v1/namespaces/default/events").body; }
};

#define BEGIN_OR_SKIP() \
  if (!Start()) GTEST_SKIP() << why_
#define ROOT_OR_SKIP() \
  if (geteuid() != 0) GTEST_SKIP() << "only root runs containers as others"

TEST_F(ProcessHandlersTest, AServerIsReadyByEachWayToAsk) {
  if (!std::filesystem::exists(kPython3)) GTEST_SKIP() << kPython3 << " is not there";
  BEGIN_OR_SKIP();
  const std::string server = "cd /tmp; echo fine > up; exec /usr/bin/python3 -m http.server 8080";
  const auto run = [&](const std::string& name, const std::string& handler) {
    RunShell(name, server,
             absl::StrCat(R"(,"ports":[{"name":"web","containerPort":8080}],"readinessProbe":{"periodSeconds":1,)",
                          R"("timeoutSeconds":30,)", handler, "}"));
  };
  run("http", R"("httpGet":{"port":"web","path":"/up"})");
  run("tcp", R"("tcpSocket":{"port":8080})");
  run("exec", R"("exec":{"command":["grep","fine","/tmp/up"]})");
  run("missing", R"("httpGet":{"port":"web","path":"/missing"})");
  for (const char* const name : {"http", "tcp", "exec"})
    EXPECT_TRUE(Eventually([&] { return Ready(name); })) << name << "\n" << Events();
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(Events(), "HTTP probe failed with statuscode: 404"); }))
      << Events();
  EXPECT_FALSE(Ready("missing"));
}

// Its frames: settings, header fields with :status 200, a message with SERVING, grpc-status 0.
constexpr char kHealthyServer[] =
    "import socket\n"
    "s = socket.create_server(('', 50051))\n"
    "while True:\n"
    "  c = s.accept()[0]\n"
    "  c.recv(9999)\n"
    "  c.sendall(bytes.fromhex('000000040000000000' '00000101040000000188' '00000700000000000100000000020801'"
    " '00000f010500000001000b677270632d7374617475730130'))\n"
    "  c.recv(9999)\n";

TEST_F(ProcessHandlersTest, AServerIsReadyByGrpcAndByHttpsWithACertificateOfNobody) {
  if (!std::filesystem::exists(kPython3)) GTEST_SKIP() << kPython3 << " is not there";
  BEGIN_OR_SKIP();
  const testutil::Identity identity({.common_name = "nobody"}, nullptr);
  std::filesystem::create_directory(temporary_.path() + "/shared");
  testutil::WriteFile(temporary_.path() + "/shared/tls.pem", identity.CertificatePem() + identity.KeyPem());
  testutil::WriteFile(temporary_.path() + "/shared/healthy.py", kHealthyServer);
  testutil::WriteFile(temporary_.path() + "/shared/https.py",
                      "import http.server, ssl\n"
                      "server = http.server.HTTPServer(('', 8443), http.server.SimpleHTTPRequestHandler)\n"
                      "context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)\n"
                      "context.load_cert_chain('/v/tls.pem')\n"
                      "server.socket = context.wrap_socket(server.socket, server_side=True)\n"
                      "server.serve_forever()\n");
  const auto run = [&](const std::string& name, const std::string& script, const std::string& handler) {
    RunShell(name, absl::StrCat("cd /tmp; echo fine > up; exec /usr/bin/python3 /v/", script),
             absl::StrCat(R"(,"volumeMounts":[{"name":"v","mountPath":"/v"}],"readinessProbe":{"periodSeconds":1,)",
                          R"("timeoutSeconds":30,)", handler, "}"),
             absl::StrCat(R"(,"volumes":[{"name":"v","hostPath":{"path":")", temporary_.path(), R"(/shared"}}])"));
  };
  run("grpc", "healthy.py", R"("grpc":{"port":50051,"service":"trainer"})");
  run("https", "https.py", R"("httpGet":{"scheme":"HTTPS","port":8443,"path":"/up"})");
  run("nothing", "https.py", R"("grpc":{"port":50051})");
  for (const char* const name : {"grpc", "https"})
    EXPECT_TRUE(Eventually([&] { return Ready(name); })) << name << "\n" << Events();
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(Events(), "failed to connect service at"); })) << Events();
  EXPECT_FALSE(Ready("nothing"));
}

TEST_F(ProcessHandlersTest, AContainerWhosePostStartFailsSaysWhy) {
  BEGIN_OR_SKIP();
  // The second run's hook does not end.
  MakePod("unhooked",
          absl::StrCat(R"(,"volumes":[{"name":"v","emptyDir":{}}],"containers":[)",
                       Shell("trap 'exit 1' TERM; while :; do sleep 0.05; done",
                             R"(,"volumeMounts":[{"name":"v","mountPath":"/v"}],"lifecycle":{"postStart":{"exec":{
                                "command":["sh","-c","test -f /v/once && exec sleep 60; touch /v/once; echo no; exit 3"]}}})"),
                       "]"),
          "OnFailure");
  const auto waiting = [&](absl::string_view key) {
    const json::value container = ContainerOf("unhooked");
    const json::value* const state = container.as_object().if_contains("state");
    const json::value* const text =
        state == nullptr || !state->as_object().contains("waiting")
            ? nullptr
            : state->at("waiting").as_object().if_contains(std::string_view(key.data(), key.size()));
    return text == nullptr ? std::string() : json::value_to<std::string>(*text);
  };
  EXPECT_TRUE(Eventually([&] { return waiting("reason") == "PostStartHookError"; })) << Events();
  EXPECT_THAT(waiting("message"), AllOf(HasSubstr("Exec lifecycle hook ([sh -c test -f /v/once"),
                                        HasSubstr("exit 3' exited with 3: , message: \"no")));
  EXPECT_THAT(Events(), AllOf(HasSubstr("FailedPostStartHook"), HasSubstr("PostStartHook failed")));
}

TEST_F(ProcessHandlersTest, AContainerThatIsNotAliveIsKilledAndRunsAgain) {
  BEGIN_OR_SKIP();
  // The second run finds what the first left behind.
  MakePod("sick",
          absl::StrCat(R"(,"volumes":[{"name":"v","emptyDir":{}}],"containers":[)",
                       Shell("test -f /v/once && touch /v/well; touch /v/once; trap 'echo bye; exit 0' TERM; "
                             "while :; do sleep 0.05; done",
                             R"(,"volumeMounts":[{"name":"v","mountPath":"/v"}],"livenessProbe":{"periodSeconds":1,
                                "timeoutSeconds":30,"failureThreshold":1,"exec":{"command":["test","-f","/v/well"]}})"),
                       "]"),
          "OnFailure");
  ASSERT_TRUE(Eventually([&] {
    const json::value container = ContainerOf("sick");
    return container.as_object().contains("restartCount") && container.at("restartCount").as_int64() >= 1 &&
           Ready("sick");
  })) << Events();
  EXPECT_THAT(Events(), AllOf(HasSubstr("Liveness probe failed: "),
                              HasSubstr("Container main failed liveness probe, will be restarted")));
}

TEST_F(ProcessHandlersTest, HooksRunInTheirContainer) {
  BEGIN_OR_SKIP();
  std::filesystem::create_directory(temporary_.path() + "/shared");
  MakePod("hooked", absl::StrCat(R"(,"volumes":[{"name":"v","hostPath":{"path":")", temporary_.path(),
                                 R"(/shared"}}],"containers":[)",
                                 Shell("trap 'cat /v/before > /v/last; exit 0' TERM; while :; do sleep 0.05; done",
                                       R"(,"volumeMounts":[{"name":"v","mountPath":"/v"}],"lifecycle":{
                                "postStart":{"exec":{"command":["touch","/v/after"]}},
                                "preStop":{"exec":{"command":["sh","-c","hostname > /v/before"]}}})"),
                                 "]"));
  ASSERT_TRUE(Eventually([&] { return Ready("hooked"); })) << Events();
  EXPECT_TRUE(std::filesystem::exists(temporary_.path() + "/shared/after"));
  Ask("DELETE", api::PathOf(api::kPods, "default", "hooked"), "", "gracePeriodSeconds=60");
  ASSERT_TRUE(Eventually([&] { return !Ask("GET", api::PathOf(api::kPods, "default", "hooked")).ok(); })) << Events();
  EXPECT_EQ(testutil::ReadFile(temporary_.path() + "/shared/last"), "hooked\n") << "the hook came first";
}

TEST_F(ProcessHandlersTest, AContainerRunsAsWhomItAsksFor) {
  ROOT_OR_SKIP();
  BEGIN_OR_SKIP();
  RunShell("other",
           "id -u; id -g; id -G; stat -c '%g %a' /v; echo x > /v/f; stat -c '%u %g' /v/f; touch /etc/x; echo out > "
           "/dev/stdout; exec sleep 60",
           R"(,"volumeMounts":[{"name":"v","mountPath":"/v"},{"name":"m","mountPath":"/m"}],
              "readinessProbe":{"timeoutSeconds":30,"exec":{"command":["sh","-c","test $(id -u) = 4321 && test $(stat -c %g /m) = 2345"]}})",
           R"(,"volumes":[{"name":"v","emptyDir":{}},{"name":"m","emptyDir":{"medium":"Memory"}}],
              "securityContext":{"runAsUser":4321,"runAsGroup":1234,"fsGroup":2345,"supplementalGroups":[3456],"runAsNonRoot":true})");
  ASSERT_TRUE(Eventually([&] { return Ready("other") && absl::StrContains(Log("other"), "out\n"); }))
      << Events() << Log("other");
  EXPECT_THAT(Log("other"), AllOf(HasSubstr("4321\n1234\n1234 2345 3456\n2345 2777\n4321 2345\n"),
                                  HasSubstr("Permission denied"), HasSubstr("out\n")));
}

}  // namespace
}  // namespace gangway::sandbox
