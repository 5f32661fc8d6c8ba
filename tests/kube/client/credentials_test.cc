// Who the client is: tokens and certificates in files that change, programs that make them, whom it acts as, and the
// way it takes.
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/client/credentials.h"
#include "kube/client/http_client.h"
#include "tests/testing/files.h"
#include "tests/testing/loop_thread.h"
#include "tests/testing/scripted_server.h"
#include "tests/testing/status_matchers.h"

namespace gangway::kube {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testutil::Inbox;
using testutil::LoopThread;
using testutil::ScriptedAnswer;
using testutil::ScriptedServer;
using testutil::StatusIs;

constexpr char kV1[] = "client.authentication.k8s.io/v1";

class CredentialsTest : public ::testing::Test {
 protected:
  ~CredentialsTest() override {
    client_.reset();
    thread_.Join();
  }

  std::string Path(const std::string& name) const { return absl::StrCat(folder_.path(), "/", name); }
  std::string Write(const std::string& name, const std::string& text) {
    testutil::WriteFile(Path(name), text);
    return Path(name);
  }
  std::string Read(const std::string& name) const { return testutil::ReadFile(Path(name)); }
  // A program that is a script of the shell; every run appends a line to the file "runs".
  CredentialProgram Script(const std::string& text) {
    const std::string path = Write("program", absl::StrCat("#!/bin/sh\necho run >> ", Path("runs"), "\n", text));
    chmod(path.c_str(), 0700);
    CredentialProgram program;
    program.api_version = kV1;
    program.command = path;
    return program;
  }
  static std::string GivesToken(const std::string& token, const std::string& more = "") {
    return absl::StrCat(
        R"(echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":")", token,
        "\"", more, "}}'\n");
  }
  int CountRuns() const {
    int lines = 0;
    for (const char c : Read("runs")) lines += c == '\n' ? 1 : 0;
    return lines;
  }

  absl::Status Connect(Connection connection, HttpClientOptions options = {}) {
    if (connection.server.empty()) connection.server = server_.url();
    auto made = HttpClient::Make(thread_.loop(), std::move(connection), std::move(options));
    if (!made.ok()) return made.status();
    client_ = *std::move(made);
    return absl::OkStatus();
  }
  std::unique_ptr<Inbox<absl::StatusOr<Response>>> Begin(const std::string& path) {
    auto inbox = std::make_unique<Inbox<absl::StatusOr<Response>>>();
    client_->Send({"GET", path, "", "", "", ""}, owner_.token(),
                  [box = inbox.get()](absl::StatusOr<Response> answer) { box->Put(std::move(answer)); });
    return inbox;
  }
  absl::StatusOr<Response> Ask(const std::string& path = "/") {
    auto answer = Begin(path)->Take();
    return answer.has_value() ? *std::move(answer) : absl::StatusOr<Response>(absl::InternalError("no answer"));
  }
  // "200 Bearer a"
  std::string Shown() {
    const absl::StatusOr<Response> answer = Ask();
    return answer.ok() ? absl::StrCat(answer->code, " ", *answer->body) : answer.status().ToString();
  }

  // Answers with the Authorization header, or 401 when it is not the accepted one.
  ScriptedServer server_{[this](const std::string& head) {
    const std::lock_guard<std::mutex> lock(mu_);
    heads_.push_back(head);
    const std::string shown = ScriptedServer::HeaderOf(head, "Authorization");
    if (!accepted_.empty() && shown != accepted_) return ScriptedAnswer{.code = 401};
    return ScriptedAnswer{.body = shown};
  }};
  void Accept(const std::string& header) {
    const std::lock_guard<std::mutex> lock(mu_);
    accepted_ = header;
  }
  std::vector<std::string> Heads() {
    const std::lock_guard<std::mutex> lock(mu_);
    return heads_;
  }

  const testutil::TemporaryFolder folder_{"gangway-credentials"};
  LoopThread thread_;
  Owner owner_;
  std::unique_ptr<HttpClient> client_;

 private:
  std::mutex mu_;
  std::string accepted_;
  std::vector<std::string> heads_;
};

TEST_F(CredentialsTest, ATokenFileIsReadAgainWhenItChanges) {
  Connection connection;
  connection.token.file = Write("token", "first\n");
  GW_ASSERT_OK(Connect(connection));
  EXPECT_EQ(Shown(), "200 Bearer first");
  Write("token", "second\n");
  EXPECT_EQ(Shown(), "200 Bearer second");
  Write("token", "");  // somebody is writing it: the last one serves on
  EXPECT_EQ(Shown(), "200 Bearer second");
  fs::remove(Path("token"));
  EXPECT_EQ(Shown(), "200 Bearer second");
}

TEST_F(CredentialsTest, ARefusedTokenThatStaysTheSameIsRefusedOnce) {
  Connection connection;
  connection.token.file = Write("token", "old");
  GW_ASSERT_OK(Connect(connection));
  Accept("Bearer new");
  EXPECT_EQ(Shown(), "401 {}");
  EXPECT_EQ(Heads().size(), 1u);
  Write("token", "new");
  EXPECT_EQ(Shown(), "200 Bearer new");
}

TEST_F(CredentialsTest, AProgramsTokenIsUsedUntilItRunsOut) {
  Connection connection;
  connection.program = Script(GivesToken("made"));
  GW_ASSERT_OK(Connect(connection));
  EXPECT_EQ(Shown(), "200 Bearer made");
  EXPECT_EQ(Shown(), "200 Bearer made");
  EXPECT_EQ(CountRuns(), 1);
}

TEST_F(CredentialsTest, OneThatHasRunOutIsMadeAnew) {
  Connection connection;
  connection.program = Script(GivesToken(absl::StrCat("t'$(grep -c run ", Path("runs"), ")'"),
                                         R"(,"expirationTimestamp":"2020-01-01T00:00:00Z")"));
  GW_ASSERT_OK(Connect(connection));
  EXPECT_EQ(Shown(), "200 Bearer t1");
  // Not with each request, though: a clock that is wrong must not make us a storm.
  EXPECT_EQ(Shown(), "200 Bearer t1");
  EXPECT_TRUE(testutil::Eventually([&] { return Shown() == "200 Bearer t2"; }));
}

TEST_F(CredentialsTest, RequestsThatComeMeanwhileWaitForOneRun) {
  Connection connection;
  connection.program = Script("read line < " + Path("gate") + "\n" + GivesToken("made"));
  ASSERT_EQ(mkfifo(Path("gate").c_str(), 0600), 0);
  GW_ASSERT_OK(Connect(connection));
  std::vector<std::unique_ptr<Inbox<absl::StatusOr<Response>>>> answers;
  for (int i = 0; i < 20; ++i) answers.push_back(Begin("/"));
  std::ofstream(Path("gate")) << "go\n";
  for (const auto& answer : answers) {
    const auto taken = answer->Take();
    ASSERT_TRUE(taken.has_value());
    GW_ASSERT_OK(*taken);
    EXPECT_EQ(*(*taken)->body, "Bearer made");
  }
  EXPECT_EQ(CountRuns(), 1);
}

TEST_F(CredentialsTest, A401RunsTheProgramAgainAndTheRequestIsSentAgain) {
  Connection connection;
  connection.program = Script("cat " + Path("answer"));
  const auto answer = [](const std::string& token) {
    return absl::StrCat(
        R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":")", token,
        "\"}}");
  };
  Write("answer", answer("old"));
  GW_ASSERT_OK(Connect(connection));
  EXPECT_EQ(Shown(), "200 Bearer old");
  Write("answer", answer("new"));
  Accept("Bearer new");
  // The program has just run: the server's word is passed on.
  EXPECT_EQ(Shown(), "401 {}");
  EXPECT_TRUE(testutil::Eventually([&] { return Shown() == "200 Bearer new"; }));
  EXPECT_EQ(CountRuns(), 2);
}

// Who sets the clock back by an hour does not make us wait that hour before a program is run again.
TEST_F(CredentialsTest, AClockThatIsSetBackHoldsNothingUp) {
  Connection connection;
  connection.program = Script("exit 1");
  absl::Time wall = absl::Now(), steady = absl::UnixEpoch() + absl::Hours(1);
  auto source = CredentialSource::Make(connection, absl::Minutes(1), {[&] { return wall; }, [&] { return steady; }});
  GW_ASSERT_OK(source);
  Inbox<bool> arrived;
  (*source)->OnArrival([&] { arrived.Put(true); });
  const auto get = [&] {  // what comes of it when a program runs for it
    absl::StatusOr<CredentialsPtr> got = (*source)->Get();
    if (!got.ok() || *got != nullptr) return got;
    EXPECT_TRUE(arrived.Take().has_value());
    return (*source)->Get();
  };
  EXPECT_THAT(get(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(get(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(CountRuns(), 1) << "not again at once";
  wall -= absl::Hours(1);
  steady += absl::Seconds(3);
  Script(GivesToken("made"));
  const absl::StatusOr<CredentialsPtr> made = get();
  GW_ASSERT_OK(made);
  EXPECT_EQ((*made)->authorization, "Authorization: Bearer made");
  wall -= absl::Hours(1);
  EXPECT_FALSE((*source)->Renew(*made)) << "it has just run";
  steady += absl::Seconds(3);
  EXPECT_TRUE((*source)->Renew(*made));
}

TEST_F(CredentialsTest, TheProgramLearnsWhichServerItIsFor) {
  Connection connection;
  connection.program = Script("printf %s \"$KUBERNETES_EXEC_INFO\" > " + Path("info") +
                              "\nprintf %s \"$REGION $1\" > " + Path("rest") + "\n" + GivesToken("made"));
  connection.program->args = {"--fast"};
  connection.program->env = {{"REGION", "here"}};
  connection.program->provide_cluster_info = true;
  connection.program->cluster_config = R"({"audience":"x"})";
  GW_ASSERT_OK(Connect(connection));
  EXPECT_EQ(Shown(), "200 Bearer made");
  EXPECT_EQ(
      Read("info"),
      absl::StrCat(
          R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":{"server":")",
          server_.url(), R"(","config":{"audience":"x"}},"interactive":false}})"));
  EXPECT_EQ(Read("rest"), "here --fast");
}

TEST_F(CredentialsTest, ATokenOfTheUsersOwnComesBeforeTheProgram) {
  Connection connection;
  connection.program = Script("exit 1\n");
  connection.token.data = "mine";
  GW_ASSERT_OK(Connect(connection));
  EXPECT_EQ(Shown(), "200 Bearer mine");
  EXPECT_EQ(CountRuns(), 0);
}

TEST_F(CredentialsTest, WhatTheProgramGetsWrongIsSaid) {
  struct Case {
    std::string script, message;
  };
  for (
      const Case& c :
      {Case{"echo no login >&2; exit 3\n", "ended with exit code 3: no login"},
       Case{"echo hello\n", "its answer is no ExecCredential in JSON"}, Case{"kill -9 $$\n", "was ended by signal 9"},
       Case{"echo '{\"kind\":\"Pod\"}'\n", "it has another kind"},
       Case{
           R"(echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","status":{"token":"t"}}')",
           "is not in client.authentication.k8s.io/v1,"},
       Case{R"(echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{}}')",
            "neither a token nor a client certificate"},
       Case{
           R"(echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"clientKeyData":"k"}}')",
           "only one of clientCertificateData"},
       Case{"yes\n", "says more than"}}) {
    Connection connection;
    connection.program = Script(c.script);
    GW_ASSERT_OK(Connect(connection));
    EXPECT_THAT(Ask(), StatusIs(absl::StatusCode::kUnavailable,
                                AllOf(HasSubstr("credentials: "), HasSubstr("/program: "), HasSubstr(c.message))))
        << c.script;
    client_.reset();
  }
  Connection connection;
  connection.program = Script("");
  connection.program->command = "gangway-no-such-program";
  connection.program->install_hint = "get it from your administrator";
  GW_ASSERT_OK(Connect(connection));
  EXPECT_THAT(Ask(), StatusIs(absl::StatusCode::kUnavailable, AllOf(HasSubstr("there is no such program"),
                                                                    HasSubstr("get it from your administrator"))));
}

TEST_F(CredentialsTest, AProgramThatHangsIsEndedWithItsChildren) {
  Connection connection;
  connection.program = Script("sleep 1000 & echo $! > " + Path("child") + "\nwait\n");
  HttpClientOptions options;
  options.program_timeout = absl::Milliseconds(300);
  GW_ASSERT_OK(Connect(connection, options));
  int child = 0;
  EXPECT_TRUE(testutil::Eventually([&] {  // on a busy machine it may be ended before it has begun
    EXPECT_THAT(Ask(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("did not end within 300ms")));
    child = std::atoi(Read("child").c_str());
    return child > 0;
  }));
  ASSERT_GT(child, 0);
  EXPECT_TRUE(testutil::Eventually([&] { return kill(child, 0) != 0; }));
}

TEST_F(CredentialsTest, ClosingTheClientEndsAProgramThatRuns) {
  Connection connection;
  connection.program = Script("echo $$ > " + Path("pid") + "\nsleep 1000\n");
  GW_ASSERT_OK(Connect(connection));
  auto answer = Begin("/");
  ASSERT_TRUE(testutil::Eventually([&] { return !Read("pid").empty(); }));
  client_.reset();
  EXPECT_THAT(*answer->Take(), StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(CredentialsTest, AWatchThatWaitsForTheProgramCanBeGivenUp) {
  Connection connection;
  connection.program = Script("read line < " + Path("gate") + "\n" + GivesToken("made"));
  ASSERT_EQ(mkfifo(Path("gate").c_str(), 0600), 0);
  GW_ASSERT_OK(Connect(connection));
  Inbox<absl::Status> ends;
  auto watch = client_->StartWatch(
      {"GET", "/pods", "watch=true", "", "", ""}, owner_.token(), [](std::vector<Frame>) {},
      [&](absl::Status status) { ends.Put(std::move(status)); });
  auto answer = Begin("/");
  watch.reset();
  std::ofstream(Path("gate")) << "go\n";
  GW_EXPECT_OK(*answer->Take());
  EXPECT_EQ(Heads().size(), 1u);
  EXPECT_EQ(ends.size(), 0u);
}

TEST_F(CredentialsTest, WhomToActAsGoesWithEachRequest) {
  Connection connection;
  connection.impersonate = {"jane", "7", {"dev", "ops"}, {{"example.com/Team", {"a", "b"}}}};
  GW_ASSERT_OK(Connect(connection));
  EXPECT_EQ(Shown(), "200 ");
  const std::string head = Heads()[0];
  EXPECT_EQ(ScriptedServer::HeaderOf(head, "Impersonate-User"), "jane");
  EXPECT_EQ(ScriptedServer::HeaderOf(head, "Impersonate-Uid"), "7");
  EXPECT_THAT(head, HasSubstr("\r\nImpersonate-Group: dev\r\nImpersonate-Group: ops\r\n"));
  EXPECT_THAT(head,
              HasSubstr("\r\nImpersonate-Extra-example.com%2fTeam: a\r\nImpersonate-Extra-example.com%2fTeam: b\r\n"));
  connection.impersonate.user = "";
  EXPECT_THAT(Connect(connection), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no user to act as")));
  connection.impersonate.user = "a\r\nAuthorization: b";
  EXPECT_THAT(Connect(connection), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("control characters")));
}

TEST_F(CredentialsTest, AProxyOfTheConnectionIsUsedWhateverTheEnvironmentSays) {
  setenv("NO_PROXY", "*", 1);
  Connection connection;
  connection.server = "http://api.invalid:8080";
  connection.proxy_url = server_.url();
  GW_ASSERT_OK(Connect(connection));
  EXPECT_EQ(Shown(), "200 ");
  unsetenv("NO_PROXY");
  EXPECT_THAT(Heads()[0], ::testing::StartsWith("GET http://api.invalid:8080/ HTTP/1.1\r\n"));
  connection.proxy_url = "ftp://x";
  EXPECT_THAT(Connect(connection), StatusIs(absl::StatusCode::kInvalidArgument,
                                            HasSubstr("proxy-url \"ftp://x\": is none of http, https, socks5")));
}

TEST_F(CredentialsTest, TheEnvironmentsProxyIsForOtherMachines) {
  setenv("http_proxy", "http://127.0.0.1:1", 1);  // nobody is there
  GW_ASSERT_OK(Connect({}));
  EXPECT_EQ(Shown(), "200 ");
  setenv("http_proxy", server_.url().c_str(), 1);
  Connection connection;
  connection.server = "http://api.invalid:8080";
  GW_ASSERT_OK(Connect(connection));
  EXPECT_EQ(Shown(), "200 ");
  setenv("no_proxy", ".invalid", 1);
  GW_ASSERT_OK(Connect(connection));
  EXPECT_THAT(Ask(), StatusIs(absl::StatusCode::kUnavailable));
  unsetenv("http_proxy");
  unsetenv("no_proxy");
}

TEST_F(CredentialsTest, GzipIsAskedForUnlessSomebodyDoesNotWantIt) {
  GW_ASSERT_OK(Connect({}));
  EXPECT_EQ(Shown(), "200 ");
  Connection connection;
  connection.disable_compression = true;
  GW_ASSERT_OK(Connect(connection));
  EXPECT_EQ(Shown(), "200 ");
  HttpClientOptions options;
  options.compress = false;
  GW_ASSERT_OK(Connect({}, options));
  EXPECT_EQ(Shown(), "200 ");
  EXPECT_EQ(ScriptedServer::HeaderOf(Heads()[0], "Accept-Encoding"), "gzip");
  EXPECT_EQ(ScriptedServer::HeaderOf(Heads()[1], "Accept-Encoding"), "");
  EXPECT_EQ(ScriptedServer::HeaderOf(Heads()[2], "Accept-Encoding"), "");
}

}  // namespace
}  // namespace gangway::kube
