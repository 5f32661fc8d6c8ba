// Our HTTP client on the real API server: requests that share a connection, watches that do not, credentials that
// change, run out or are made by a program, a server that restarts, history that is compacted, refusals with
// Retry-After, ten thousand objects in pages, a proxy, the inside of a pod.
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "api/core/objects.h"
#include "api/json.h"
#include "api/json_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/client/http_client.h"
#include "kube/client/kubeconfig.h"
#include "kube/client/status.h"
#include "kube/runtime/informer.h"
#include "tests/e2e/control_plane.h"
#include "tests/testing/loop_thread.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/tcp_proxy.h"

namespace gangway::kube {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using testutil::ControlPlane;
using testutil::Eventually;
using testutil::Identity;
using testutil::Inbox;
using testutil::LoopThread;
using testutil::StatusIs;

constexpr char kCannotAskWho[] = "Kubernetes answers selfsubjectreviews of authentication.k8s.io/v1 since 1.28";
constexpr char kWhoAmI[] = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";

// A client on a loop of its own.
class Remote {
 public:
  explicit Remote(Connection connection, HttpClientOptions options = {}) {
    auto made = HttpClient::Make(thread_.loop(), std::move(connection), std::move(options));
    GW_EXPECT_OK(made);
    if (made.ok()) client_ = *std::move(made);
  }
  ~Remote() {
    client_.reset();
    thread_.Join();
  }

  using Answer = absl::StatusOr<Response>;
  std::unique_ptr<Inbox<Answer>> Begin(Request request) {
    auto inbox = std::make_unique<Inbox<Answer>>();
    client_->Send(std::move(request), owner_.token(),
                  [box = inbox.get()](Answer answer) { box->Put(std::move(answer)); });
    return inbox;
  }
  Answer Send(Request request) {
    auto answer = Begin(std::move(request))->Take();
    return answer.has_value() ? *std::move(answer) : Answer(absl::InternalError("no answer"));
  }
  Answer Get(const std::string& path, const std::string& query = "") { return Send({"GET", path, query, "", "", ""}); }
  // "jane", or what went wrong.
  std::string WhoAmI() {
    const Answer answer =
        Send({"POST", kWhoAmI, "", "", "", R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})"});
    if (!answer.ok()) return answer.status().ToString();
    if (!answer->ok()) return absl::StrCat(answer->code);
    return std::string(api::ParseJson(*answer->body)->at("status").at("userInfo").at("username").as_string());
  }

  struct Seen {
    Inbox<std::string> names;
    Inbox<absl::Status> end;
  };
  std::unique_ptr<Watch> StartWatch(const std::string& path, const std::string& version, Seen& seen) {
    return client_->StartWatch(
        {"GET", path, absl::StrCat("watch=true&resourceVersion=", version), "", "", ""}, owner_.token(),
        [&seen](std::vector<Frame> frames) {
          for (const Frame& frame : frames) {
            if (frame.type == FrameType::kError) seen.end.Put(StatusFromObject(*frame.object));
            if (frame.type == FrameType::kAdded) seen.names.Put(NameIn(*frame.object));
          }
        },
        [&seen](absl::Status status) { seen.end.Put(std::move(status)); });
  }
  HttpClient& client() { return *client_; }
  LoopThread& thread() { return thread_; }

  static std::string NameIn(const std::string& object) {
    return std::string(api::ParseJson(object)->at("metadata").at("name").as_string());
  }
  static std::string VersionIn(const std::string& object) {
    return std::string(api::ParseJson(object)->at("metadata").at("resourceVersion").as_string());
  }

 private:
  LoopThread thread_;
  Owner owner_;
  std::unique_ptr<HttpClient> client_;
};

// User and system, in hundredths of a second.
absl::Duration CpuTimeOf(pid_t pid) {
  const std::string stat = testutil::ReadFile(absl::StrCat("/proc/", pid, "/stat"));
  const std::vector<std::string> fields = absl::StrSplit(stat.substr(stat.rfind(')') + 2), ' ');
  std::int64_t user = 0, system = 0;
  if (!absl::SimpleAtoi(fields.at(11), &user) || !absl::SimpleAtoi(fields.at(12), &system)) return absl::ZeroDuration();
  return absl::Milliseconds(1000 * (user + system) / sysconf(_SC_CLK_TCK));
}

int PortOf(const std::string& url) { return std::atoi(url.substr(url.rfind(':') + 1).c_str()); }

std::string MapNamed(const std::string& name, const std::string& more = "") {
  return absl::StrCat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")", name, R"("})", more, "}");
}

// A proxy that carries bytes after CONNECT.
class Proxy {
 public:
  Proxy() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    listen(listener_, 16);
    socklen_t size = sizeof(address);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] {
      for (int fd = 0; (fd = accept(listener_, nullptr, nullptr)) >= 0;)
        carriers_.emplace_back([this, fd] { Carry(fd); });
    });
  }
  ~Proxy() {
    shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    for (std::thread& carrier : carriers_) carrier.join();
    close(listener_);
  }
  std::string url() const { return absl::StrCat("http://127.0.0.1:", port_); }
  int carried() const { return carried_; }

 private:
  void Carry(int client) {
    std::string head;
    char buffer[65536];
    while (!absl::StrContains(head, "\r\n\r\n")) {
      const ssize_t count = recv(client, buffer, sizeof(buffer), 0);
      if (count <= 0) break;
      head.append(buffer, static_cast<std::size_t>(count));
    }
    int server = -1;
    if (absl::StartsWith(head, "CONNECT 127.0.0.1:")) {
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(head.c_str() + 18)));
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (connect(server, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) {
        constexpr absl::string_view kHere = "HTTP/1.1 200 here\r\n\r\n";
        send(client, kHere.data(), kHere.size(), MSG_NOSIGNAL);
        ++carried_;
        pollfd ends[2] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
        for (bool open = true; open && poll(ends, 2, 60'000) > 0;) {
          for (int i = 0; i < 2 && open; ++i) {
            if (ends[i].revents == 0) continue;
            const ssize_t count = recv(ends[i].fd, buffer, sizeof(buffer), 0);
            open = count > 0 && send(ends[1 - i].fd, buffer, static_cast<std::size_t>(count), MSG_NOSIGNAL) == count;
          }
        }
      }
    }
    if (server >= 0) close(server);
    close(client);
  }

  const int listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int port_ = 0;
  std::atomic<int> carried_ = 0;
  std::list<std::thread> carriers_;
  std::thread acceptor_;
};

class ClientTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!ControlPlane::ToolsPresent()) return;
    auto started = ControlPlane::Start(
        {.controller_manager = false,
         .volcano_crds = false,
         .audit = false,
         .api_server_flags = {"--enable-priority-and-fairness=false", "--max-requests-inflight=4"}});
    ASSERT_THAT(started, testutil::IsOk());
    plane_ = std::move(started)->release();
    MakeAccount("robot");
  }
  static void TearDownTestSuite() {
    delete plane_;
    plane_ = nullptr;
  }
  void SetUp() override {
    if (!ControlPlane::ToolsPresent()) GTEST_SKIP() << "there is no control plane on this machine";
    ASSERT_NE(plane_, nullptr);
  }
  static ControlPlane& plane() { return *plane_; }
  static bool CanAskWho() { return ControlPlane::Minor() >= 28; }
  static void MakeAccount(const std::string& name) {
    plane().Call("POST", "/api/v1/namespaces/default/serviceaccounts",
                 absl::StrCat(R"({"metadata":{"name":")", name, "\"}}"));
  }
  static std::string Token(const std::string& account) {
    const auto token = plane().ServiceAccountToken("default", account);
    GW_EXPECT_OK(token);
    return token.value_or("");
  }
  // Who it is, without anything to show for it.
  static Connection Nobody() {
    Connection connection;
    connection.server = plane().url();
    connection.ca.file = plane().ca_file();
    return connection;
  }
  static std::string Path(const std::string& name) { return absl::StrCat(plane().folder(), "/", name); }
  static std::string Write(const std::string& name, const std::string& text) {
    const std::string path = Path(name);
    std::ofstream(path + ".new") << text;
    EXPECT_EQ(rename((path + ".new").c_str(), path.c_str()), 0);
    return path;
  }

 private:
  static ControlPlane* plane_;
};
ControlPlane* ClientTest::plane_ = nullptr;

TEST_F(ClientTest, FiftyRequestsShareAConnectionAndEachWatchHasItsOwn) {
  testutil::TcpProxy proxy({PortOf(plane().url())});
  Connection connection = plane().admin_connection();
  connection.server = proxy.url("https");
  Remote remote(connection);
  const std::string version = Remote::VersionIn(*remote.Get(kMaps)->body);
  std::list<Remote::Seen> seen(40);
  std::vector<std::unique_ptr<Watch>> watches;
  for (Remote::Seen& one : seen) watches.push_back(remote.StartWatch(kMaps, version, one));
  std::vector<std::unique_ptr<Inbox<Remote::Answer>>> answers;
  for (int i = 0; i < 50; ++i) answers.push_back(remote.Begin({"GET", kMaps, "limit=1", "", "", ""}));
  for (const auto& answer : answers) GW_EXPECT_OK(*answer->Take());
  ASSERT_EQ(remote.Send({"POST", kMaps, "", "", "", MapNamed("watched")})->code, 201);
  for (Remote::Seen& one : seen) EXPECT_EQ(one.names.Take().value_or("nothing came"), "watched");
  EXPECT_GE(proxy.accepted(), 40 + 1);
  EXPECT_LE(proxy.accepted(), 40 + 10) << "one is usual; libcurl was seen to open three more";
}

// The requests' connection over HTTP/2 is too old by then, and the one that stands, over HTTP/1.1, is a watch's.
TEST_F(ClientTest, ARequestAfterARestIsNotPutOntoAWatchsConnection) {
  HttpClientOptions options;
  options.max_connection_rest = absl::ZeroDuration();  // libcurl counts whole seconds
  options.request_timeout = absl::Seconds(10);
  Remote remote(plane().admin_connection(), options);
  Remote::Seen seen;
  const auto watch = remote.StartWatch(kMaps, Remote::VersionIn(*remote.Get(kMaps)->body), seen);
  ASSERT_EQ(remote.Send({"POST", kMaps, "", "", "", MapNamed("before-the-rest")})->code, 201);
  EXPECT_EQ(seen.names.Take().value_or("nothing came"), "before-the-rest");
  Inbox<bool> rested;
  Owner owner;
  remote.thread().Run([&] {
    Loop& loop = remote.thread().loop();
    loop.PostAt(loop.Now() + absl::Seconds(2), owner.token(), [&] { rested.Put(true); });
  });
  ASSERT_TRUE(rested.Take().has_value());
  const auto answer = remote.Send({"POST", kMaps, "", "", "", MapNamed("after-the-rest")});
  GW_ASSERT_OK(answer);
  EXPECT_EQ(answer->code, 201);
  EXPECT_EQ(seen.names.Take().value_or("nothing came"), "after-the-rest");
}

// A server that is about to send a connection away ends it soon after it fell silent, so that it owes nothing for long.
TEST_F(ClientTest, AWatchThatHangsIsFoundThoughTheRequestsConnectionEnded) {
  testutil::TcpProxy proxy({PortOf(plane().url())});
  Connection connection = plane().admin_connection();
  connection.server = proxy.url("https");
  HttpClientOptions options;
  options.silence_timeout = absl::Seconds(5);  // for which a busy machine's server does not stand still
  Remote remote(connection, options);
  Remote::Seen hangs, speaks;
  const std::string version = Remote::VersionIn(*remote.Get(kMaps)->body);
  ASSERT_EQ(proxy.accepted(), 1);
  const auto one = remote.StartWatch(kMaps, version, hangs);
  ASSERT_TRUE(Eventually([&] { return proxy.accepted() == 2; }));
  const auto other = remote.StartWatch(kMaps, version, speaks);
  ASSERT_EQ(remote.Send({"POST", kMaps, "", "", "", MapNamed("before-it-hangs")})->code, 201);
  for (Remote::Seen* seen : {&hangs, &speaks})
    EXPECT_EQ(seen->names.Take().value_or("nothing came"), "before-it-hangs");
  proxy.StallOnly(1);
  proxy.DropOnly(0);
  ASSERT_EQ(remote.Send({"POST", kMaps, "", "", "", MapNamed("while-it-hangs")})->code, 201);
  EXPECT_EQ(speaks.names.Take().value_or("nothing came"), "while-it-hangs");
  EXPECT_THAT(hangs.end.Take().value_or(absl::OkStatus()), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(proxy.accepted(), 4) << "the requests', anew";
}

TEST_F(ClientTest, AServiceAccountsTokenIsRotatedUnderTheClient) {
  if (!CanAskWho()) GTEST_SKIP() << kCannotAskWho;
  MakeAccount("rotated");
  Connection connection = Nobody();
  connection.token.file = Write("token", Token("rotated"));
  Remote remote(connection);
  EXPECT_EQ(remote.WhoAmI(), "system:serviceaccount:default:rotated");
  Write("token", Token("robot"));
  EXPECT_EQ(remote.WhoAmI(), "system:serviceaccount:default:robot");
  Write("token", "no token of anybody");
  EXPECT_EQ(remote.Get(kMaps)->code, 401);  // not a POST: see http_client.h
  Write("token", Token("rotated"));
  EXPECT_EQ(remote.WhoAmI(), "system:serviceaccount:default:rotated");
}

TEST_F(ClientTest, ACredentialProgramIsRunAgainWhenItsTokenIsRefused) {
  if (!CanAskWho()) GTEST_SKIP() << kCannotAskWho;
  MakeAccount("passing");
  Write("answer",
        absl::StrCat(R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":")",
                     Token("passing"), "\"}}"));
  const std::string program = Write("login", absl::StrCat("#!/bin/sh\necho \"$KUBERNETES_EXEC_INFO\" > ", Path("info"),
                                                          "\ncat ", Path("answer"), "\n"));
  chmod(program.c_str(), 0700);
  Write("exec.kubeconfig", absl::StrFormat(R"(
current-context: e
clusters: [{name: e, cluster: {server: "%s", certificate-authority: ca.crt}}]
contexts: [{name: e, context: {cluster: e, user: e}}]
users: [{name: e, user: {exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: IfAvailable, command: ./login, provideClusterInfo: true}}}]
)",
                                           plane().url()));
  const auto connection = LoadKubeconfig(Path("exec.kubeconfig"));
  GW_ASSERT_OK(connection);
  Remote remote(*connection);
  EXPECT_EQ(remote.WhoAmI(), "system:serviceaccount:default:passing");
  EXPECT_THAT(testutil::ReadFile(Path("info")), HasSubstr(absl::StrCat(R"("server":")", plane().url())));
  // The account is made anew: what was given before is nobody's any more.
  plane().Call("DELETE", "/api/v1/namespaces/default/serviceaccounts/passing");
  MakeAccount("passing");
  Write("answer",
        absl::StrCat(R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":")",
                     Token("passing"), "\"}}"));
  EXPECT_TRUE(Eventually([&] { return remote.WhoAmI() == "system:serviceaccount:default:passing"; }));
}

TEST_F(ClientTest, ACredentialProgramMayGiveACertificate) {
  if (!CanAskWho()) GTEST_SKIP() << kCannotAskWho;
  const Identity jane({.common_name = "jane"}, &plane().ca());
  std::string answer =
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","status":{"clientCertificateData":)";
  api::AppendJsonString(jane.CertificatePem(), answer);
  answer += R"(,"clientKeyData":)";
  api::AppendJsonString(jane.KeyPem(), answer);
  Connection connection = Nobody();
  connection.program = CredentialProgram();
  connection.program->api_version = "client.authentication.k8s.io/v1beta1";
  connection.program->command = "cat";
  connection.program->args = {Write("certificate.json", answer + "}}")};
  Remote remote(connection);
  EXPECT_EQ(remote.WhoAmI(), "jane");
}

// The server looks at the certificate's dates with each request, also on a connection that stands.
TEST_F(ClientTest, ACertificateThatRunsOutIsReplacedUnderTheClient) {
  if (!CanAskWho()) GTEST_SKIP() << kCannotAskWho;
  Connection connection = Nobody();
  std::optional<Remote> remote;
  // On a busy machine three seconds may be over before it is shown; then another one is made.
  EXPECT_TRUE(Eventually([&] {
    const Identity brief({.common_name = "brief", .valid_for = absl::Seconds(3)}, &plane().ca());
    connection.client_certificate.file = Write("brief.crt", brief.CertificatePem());
    connection.client_key.file = Write("brief.key", brief.KeyPem());
    return remote.emplace(connection).WhoAmI() == "brief";
  }));
  EXPECT_TRUE(Eventually([&] { return remote->Get(kMaps)->code == 401; }));
  const Identity lasting({.common_name = "lasting"}, &plane().ca());
  Write("brief.crt", lasting.CertificatePem());
  Write("brief.key", lasting.KeyPem());
  EXPECT_EQ(remote->WhoAmI(), "lasting");
}

TEST_F(ClientTest, ActsAsSomebodyElse) {
  if (!CanAskWho()) GTEST_SKIP() << kCannotAskWho;
  Connection connection = plane().admin_connection();
  connection.impersonate = {"jane", "7", {"dev", "ops"}, {{"example.com/Team", {"a"}}}};
  Remote remote(connection);
  const auto answer = remote.Send(
      {"POST", kWhoAmI, "", "", "", R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})"});
  GW_ASSERT_OK(answer);
  EXPECT_THAT(
      *answer->body,
      HasSubstr(
          R"("userInfo":{"username":"jane","uid":"7","groups":["dev","ops","system:authenticated"],"extra":{"example.com/team":["a"]}})"));
  EXPECT_EQ(remote.Get(kMaps)->code, 403);
}

TEST_F(ClientTest, TheInsideOfAPod) {
  if (!CanAskWho()) GTEST_SKIP() << kCannotAskWho;
  InClusterSource pod;
  pod.host = "127.0.0.1";
  pod.port = absl::StrCat(PortOf(plane().url()));
  pod.folder = Path("serviceaccount");
  mkdir(pod.folder.c_str(), 0700);
  Write("serviceaccount/token", Token("robot"));
  Write("serviceaccount/ca.crt", plane().ca().CertificatePem());
  Write("serviceaccount/namespace", "default");
  const auto connection = InClusterConnection(pod);
  GW_ASSERT_OK(connection);
  EXPECT_EQ(connection->default_namespace, "default");
  EXPECT_EQ(Remote(*connection).WhoAmI(), "system:serviceaccount:default:robot");
}

TEST_F(ClientTest, ThroughAProxyAndByAnotherName) {
  if (!CanAskWho()) GTEST_SKIP() << kCannotAskWho;
  const Proxy proxy;
  {
    Connection connection = plane().admin_connection();
    connection.proxy_url = proxy.url();
    Remote remote(connection);
    EXPECT_EQ(remote.WhoAmI(), "admin");
    Remote::Seen seen;
    const auto watch = remote.StartWatch(kMaps, Remote::VersionIn(*remote.Get(kMaps)->body), seen);
    ASSERT_EQ(remote.Send({"POST", kMaps, "", "", "", MapNamed("by-proxy")})->code, 201);
    EXPECT_EQ(seen.names.Take().value_or("nothing came"), "by-proxy");
  }
  EXPECT_EQ(proxy.carried(), 2);  // requests, and the watch
  Connection connection = plane().admin_connection();
  connection.tls_server_name = "kubernetes.default.svc";
  EXPECT_EQ(Remote(connection).WhoAmI(), "admin");
  connection.tls_server_name = "kubernetes.other.svc";
  EXPECT_THAT(Remote(connection).WhoAmI(), StartsWith("UNAVAILABLE"));
}

TEST_F(ClientTest, ARefusalForNowSaysWhenToComeBack) {
  const auto connection = LoadKubeconfig(plane().KubeconfigForUser("hurried", "nobody"));
  GW_ASSERT_OK(connection);
  Remote remote(*connection);
  int refused = 0;
  EXPECT_TRUE(Eventually([&] {
    std::vector<std::unique_ptr<Inbox<Remote::Answer>>> answers;
    for (int i = 0; i < 200; ++i) answers.push_back(remote.Begin({"GET", "/openapi/v2", "", "", "", ""}));
    for (const auto& answer : answers) {
      const Remote::Answer taken = *answer->Take();
      if (!taken.ok() || taken->code != 429) continue;
      ++refused;
      EXPECT_EQ(taken->retry_after, absl::Seconds(1));
      EXPECT_THAT(StatusFromResponse(*taken), StatusIs(absl::StatusCode::kResourceExhausted));
    }
    return refused > 0;
  }));
}

// Last: it leaves ten thousand objects behind, and a server that has forgotten its history.
TEST_F(ClientTest, TenThousandObjectsARestartAndACompaction) {
  Remote remote(plane().admin_connection());
  constexpr int kObjects = 10'000;
  ASSERT_EQ(plane().Call("POST", "/api/v1/namespaces", R"({"metadata":{"name":"many"}})").code, 201);
  const std::string many = "/api/v1/namespaces/many/configmaps";
  // As pods and jobs: words, and a few bytes that nothing can squeeze.
  const auto data = [](int i) {
    std::string text;
    for (std::uint64_t at = static_cast<std::uint64_t>(i); text.size() < 60;
         at = at * 6364136223846793005u + 1442695040888963407u)
      absl::StrAppend(&text, absl::Hex(at >> 32));
    return absl::StrCat(
        R"(,"data":{"text":")", text,
        R"(","restartPolicy":"OnFailure","terminationMessagePath":"/dev/termination-log","dnsPolicy":"ClusterFirst"})");
  };
  int made = 0;
  for (int begin = 0; begin < kObjects; begin += 1000) {  // each has its time from when it is sent
    std::vector<std::unique_ptr<Inbox<Remote::Answer>>> answers;
    for (int i = begin; i < begin + 1000; ++i)
      answers.push_back(remote.Begin({"POST", many, "", "", "", MapNamed(absl::StrCat("m", i), data(i))}));
    for (const auto& answer : answers) {
      const auto taken = answer->Take();
      made += taken.has_value() && taken->ok() && (*taken)->code == 201 ? 1 : 0;
    }
  }
  ASSERT_EQ(made, kObjects);

  HttpClientOptions plainly;
  plainly.compress = false;
  Remote plain(plane().admin_connection(), plainly);
  for (Remote* one : {&plain, &remote}) {
    std::vector<absl::Duration> times;
    const absl::Duration server_before = CpuTimeOf(plane().api_server_pid()), own_before = CpuTimeOf(getpid());
    std::size_t bytes = 0;
    for (int round = 0; round < 9; ++round) {
      const absl::Time begin = absl::Now();
      const auto whole = one->Get(many);
      GW_ASSERT_OK(whole);
      times.push_back(absl::Now() - begin);
      bytes = whole->body->size();
    }
    std::sort(times.begin(), times.end());
    std::printf("a list of %zu bytes%s: median %s, CPU of the server %s, ours %s\n", bytes,
                one == &remote ? ", compressed on its way" : "", absl::FormatDuration(times[4]).c_str(),
                absl::FormatDuration((CpuTimeOf(plane().api_server_pid()) - server_before) / 9).c_str(),
                absl::FormatDuration((CpuTimeOf(getpid()) - own_before) / 9).c_str());
  }
  // Of one version: others write between two lists.
  const std::string once =
      absl::StrCat("resourceVersionMatch=Exact&resourceVersion=", Remote::VersionIn(*plain.Get(many)->body));
  EXPECT_TRUE(*plain.Get(many, once)->body == *remote.Get(many, once)->body);

  Metrics metrics;
  InformerOptions options;
  options.ns = "many";
  options.metrics = &metrics;
  Inbox<bool> synced;
  std::set<std::string> names;
  std::unique_ptr<Informer<api::core::ConfigMap>> cache;
  const absl::Time begin = absl::Now();
  remote.thread().Run([&] {
    cache = std::make_unique<Informer<api::core::ConfigMap>>(remote.thread().loop(), remote.client(), api::kConfigMaps,
                                                             options);
    cache->Start([&](const api::NamespacedName& key, const auto&,
                     const auto& after) { after == nullptr ? names.erase(key.name) : names.insert(key.name).second; },
                 [&] { synced.Put(true); });
  });
  EXPECT_TRUE(synced.Take().has_value());
  std::printf("%d objects in pages of %d, decoded: %s\n", kObjects, options.page_size,
              absl::FormatDuration(absl::Now() - begin).c_str());
  EXPECT_EQ(remote.thread().Run([&] { return names.size(); }), static_cast<std::size_t>(kObjects));

  // A watch that stands breaks off with the server, and requests say that nobody is there.
  const std::string early = Remote::VersionIn(*remote.Get(many, "limit=1")->body);
  Remote::Seen seen;
  auto watch = remote.StartWatch(many, early, seen);
  ASSERT_EQ(remote.Send({"POST", many, "", "", "", MapNamed("before")})->code, 201);
  EXPECT_EQ(seen.names.Take().value_or("nothing came"), "before");
  plane().StopApiServer();
  EXPECT_THAT(seen.end.Take().value_or(absl::OkStatus()), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(remote.Get(many, "limit=1"), StatusIs(absl::StatusCode::kUnavailable));

  // Meanwhile the history goes on without us, and is forgotten up to its end.
  Connection connection;
  connection.server = plane().etcd_url();
  Remote etcd(connection);
  const auto put = etcd.Send({"POST", "/v3/kv/put", "", "", "", R"({"key":"Z2FuZ3dheQ==","value":"MQ=="})"});
  GW_ASSERT_OK(put);
  const std::string last(api::ParseJson(*put->body)->at("header").at("revision").as_string());
  const auto compacted =
      etcd.Send({"POST", "/v3/kv/compaction", "", "", "", absl::StrCat(R"({"revision":")", last, "\"}")});
  GW_ASSERT_OK(compacted);
  EXPECT_EQ(compacted->code, 200) << *compacted->body;
  GW_ASSERT_OK(plane().StartApiServer());

  // The same client goes on, without being told.
  const auto after = remote.Send({"POST", many, "", "", "", MapNamed("after")});
  GW_ASSERT_OK(after);
  EXPECT_EQ(after->code, 201);
  EXPECT_TRUE(Eventually(
      [&] { return remote.thread().Run([&] { return names.contains("after") && names.contains("before"); }); }));
  // A watch from before is told that its history is gone, and the cache has listed again.
  Remote::Seen late;
  watch = remote.StartWatch(many, early, late);
  EXPECT_THAT(late.end.Take().value_or(absl::OkStatus()), StatusIs(absl::StatusCode::kOutOfRange));
  EXPECT_THAT(metrics.Expose(), ::testing::ContainsRegex(R"(gangway_cache_lists_total\{[^}]*\} 2)"));
  remote.thread().Run([&] { cache.reset(); });
}

}  // namespace
}  // namespace gangway::kube
