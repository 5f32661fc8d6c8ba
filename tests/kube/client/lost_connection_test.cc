// The client on connections that end, end by halves, break off in the middle, or fall silent without ending.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/client/http_client.h"
#include "tests/certificates/identity.h"
#include "tests/testing/fake_http_handler.h"
#include "tests/testing/files.h"
#include "tests/testing/loop_thread.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/tcp_proxy.h"

namespace gangway::kube {
namespace {

using ::testing::HasSubstr;
using testutil::FakeHttpHandler;
using testutil::Inbox;
using testutil::IsOk;
using testutil::LoopThread;
using testutil::MakeResponse;
using testutil::RunningFront;
using testutil::StatusIs;
using testutil::TcpProxy;

using Answer = absl::StatusOr<Response>;

struct Seen {
  Inbox<std::string> objects;
  Inbox<absl::Status> end;
};

class LostConnectionTest : public ::testing::Test {
 protected:
  ~LostConnectionTest() override {
    client_.reset();
    thread_.Join();
  }
  // Through the proxy.
  void Connect(absl::Duration silence = absl::Seconds(1)) {
    HttpClientOptions options;
    options.silence_timeout = silence;
    options.connect_timeout = absl::Seconds(5);
    ConnectTo(proxy_.url(), options);
  }
  void ConnectTo(const std::string& server, HttpClientOptions options, Connection connection = {}) {
    connection.server = server;
    auto made = HttpClient::Make(thread_.loop(), std::move(connection), std::move(options));
    GW_ASSERT_OK(made);
    client_ = *std::move(made);
  }
  std::unique_ptr<Inbox<Answer>> Begin(const std::string& method, const std::string& path) {
    auto inbox = std::make_unique<Inbox<Answer>>();
    client_->Send({method, path, "", "", "", ""}, owner_.token(),
                  [box = inbox.get()](Answer answer) { box->Put(std::move(answer)); });
    return inbox;
  }
  Answer Send(const std::string& method, const std::string& path) {
    auto answer = Begin(method, path)->Take();
    return answer.has_value() ? *std::move(answer) : Answer(absl::InternalError("no answer"));
  }
  // Its body, or what went wrong.
  std::string Get(const std::string& path) {
    const Answer answer = Send("GET", path);
    return answer.ok() ? *answer->body : answer.status().ToString();
  }
  std::unique_ptr<Watch> StartWatch(const std::string& path, Seen& seen) {
    auto watch = client_->StartWatch(
        {"GET", path, "watch=true", "", "", ""}, owner_.token(),
        [&seen](const std::vector<Frame>& frames) {
          for (const Frame& frame : frames) seen.objects.Put(*frame.object);
        },
        [&seen](absl::Status status) { seen.end.Put(std::move(status)); });
    EXPECT_EQ(front_.handler.started.Take(), path);
    Tell(path, "{}");
    EXPECT_EQ(seen.objects.Take(), "{}");
    return watch;
  }
  // By the client's loop; libcurl's and its own clocks are the machine's.
  bool TimePasses(absl::Duration time) {
    Inbox<bool> passed;
    Loop& loop = thread_.loop();
    thread_.Run([&] { loop.PostAt(loop.Now() + time, owner_.token(), [&] { passed.Put(true); }); });
    return passed.Take().has_value();
  }
  void Tell(const std::string& path, const std::string& object) {
    front_.Send(path, {{FrameType::kAdded, MakeBytes(object)}});
  }

  // Answers "/held" never, "/slow" after 250 ms, "/large" with 4 MB, everything else at once with its method and path.
  RunningFront front_{[this](Request request, HttpCaller, FakeHttpHandler::Respond respond) {
    ++asked_;
    if (request.path == "/held") return held_.Put(std::move(respond));
    if (request.path == "/large") return respond(MakeResponse(200, std::string(4'000'000, 'x')));
    auto answer = [respond = std::move(respond), body = absl::StrCat(request.method, " ", request.path)]() mutable {
      respond(MakeResponse(200, std::move(body)));
    };
    if (request.path != "/slow") return answer();
    Loop& loop = front_.thread.loop();
    loop.PostAt(loop.Now() + absl::Milliseconds(250), front_owner_.token(), std::move(answer));
  }};
  Owner front_owner_;
  std::atomic<int> asked_ = 0;
  Inbox<FakeHttpHandler::Respond> held_;
  TcpProxy proxy_{{front_.port()}};
  LoopThread thread_;
  Owner owner_;
  std::unique_ptr<HttpClient> client_;
};

TEST_F(LostConnectionTest, RequestsNeverUseAWatchsConnection) {
  Connect(absl::InfiniteDuration());
  EXPECT_EQ(Get("/before"), "GET /before");
  Seen seen;
  auto watch = StartWatch("/w", seen);
  EXPECT_EQ(proxy_.accepted(), 2) << "the request's connection rests, and stays the requests'";
  front_.End("/w", absl::OkStatus());
  EXPECT_THAT(seen.end.Take().value(), IsOk());
  EXPECT_EQ(Get("/after"), "GET /after");
  watch = StartWatch("/w", seen);
  EXPECT_EQ(proxy_.accepted(), 2) << "each kind uses its own again";
}

TEST_F(LostConnectionTest, AConnectionThatRestedTooLongIsNotUsedAgain) {
  HttpClientOptions options;
  options.max_connection_rest = absl::ZeroDuration();  // libcurl counts whole seconds
  ConnectTo(proxy_.url(), options);
  // A busy machine may need a second for one; of some the next one follows sooner.
  EXPECT_TRUE(testutil::Eventually([&] {
    EXPECT_EQ(Get("/x"), "GET /x");
    const int before = proxy_.accepted();
    EXPECT_EQ(Get("/x"), "GET /x");
    return proxy_.accepted() == before;
  }));
  const int before = proxy_.accepted();
  ASSERT_TRUE(TimePasses(absl::Milliseconds(1100)));
  EXPECT_EQ(Get("/x"), "GET /x");
  EXPECT_EQ(proxy_.accepted(), before + 1);
}

TEST_F(LostConnectionTest, EveryWayToEndOneIsLivedWith) {
  Connect();
  const std::vector<std::pair<const char*, std::function<void()>>> ways = {
      {"dropped", [this] { proxy_.Drop(); }},
      {"closed by half", [this] { proxy_.HalfClose(); }},
      {"cut off", [this] { proxy_.Truncate(0); }},
      {"silent", [this] { proxy_.Stall(); }}};
  for (const auto& [name, end] : ways) {
    EXPECT_EQ(Get("/before"), "GET /before") << name;
    Seen seen;
    auto watch = StartWatch("/w", seen);
    end();
    EXPECT_EQ(Get("/after"), "GET /after") << name;
    EXPECT_THAT(seen.end.Take().value_or(absl::OkStatus()), StatusIs(absl::StatusCode::kUnavailable)) << name;
    watch = StartWatch("/w2", seen);
  }
}

TEST_F(LostConnectionTest, AnAnswerThatBreaksOffIsNone) {
  Connect(absl::Seconds(5));
  EXPECT_EQ(Get("/x"), "GET /x");
  proxy_.Truncate(1'000'000);
  EXPECT_THAT(Send("GET", "/large"), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("/large")));
  EXPECT_EQ(Get("/large").size(), 4'000'000u);
}

TEST_F(LostConnectionTest, AWriteOnASilentConnectionIsNotSentTwice) {
  Connect();
  auto write = Begin("POST", "/held");  // taken, and its answer swallowed
  const auto held = held_.Take();       // dropped it would be an answer
  ASSERT_TRUE(held.has_value());
  proxy_.Stall();
  EXPECT_THAT(write->Take().value(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("may have been carried out")));
  EXPECT_EQ(asked_, 1);
  EXPECT_THAT(Send("POST", "/next"), IsOk());
}

TEST_F(LostConnectionTest, WithoutASilenceTimeoutARequestWaitsItsTimeOut) {
  HttpClientOptions options;
  options.request_timeout = absl::Seconds(1);
  ConnectTo(proxy_.url(), options);
  EXPECT_EQ(Get("/x"), "GET /x");
  proxy_.Stall();
  EXPECT_THAT(Send("GET", "/x"), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(Get("/x"), "GET /x") << "on a fresh connection";
}

// A watch is no evidence for the requests, nor they for it; but when theirs hangs, one that is silent as well is not
// believed.
TEST_F(LostConnectionTest, AWatchThatSpeaksOutlivesASilentConnection) {
  Connect(absl::Seconds(1));  // which the machine does not stand still for
  EXPECT_EQ(Get("/x"), "GET /x");
  Seen speaks, silent;
  auto one = StartWatch("/speaks", speaks);
  auto other = StartWatch("/silent", silent);
  proxy_.StallOnly(0);
  auto asked = Begin("GET", "/again");
  std::optional<Answer> answer;
  while (asked->size() == 0) {  // until the request has its answer
    Tell("/speaks", "{}");
    ASSERT_EQ(speaks.objects.Take(), "{}");
  }
  EXPECT_THAT(asked->Take().value(), IsOk());
  EXPECT_THAT(silent.end.Take().value_or(absl::OkStatus()), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(speaks.end.size(), 0u);
  Tell("/speaks", "{\"still\":1}");
  EXPECT_EQ(speaks.objects.Take(), "{\"still\":1}");
}

TEST_F(LostConnectionTest, AWatchThatSpokeJustBeforeShowsThatItIsWell) {
  Connect(absl::Seconds(2));
  Seen seen;
  auto watch = StartWatch("/w", seen);
  auto request = Begin("POST", "/held");
  const auto held = held_.Take();  // dropped it would be an answer
  ASSERT_TRUE(held.has_value());
  ASSERT_TRUE(TimePasses(absl::Milliseconds(200)));
  Tell("/w", "{}");
  ASSERT_EQ(seen.objects.Take(), "{}");
  proxy_.Stall();
  EXPECT_THAT(request->Take().value(), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_FALSE(seen.end.Take().value_or(absl::OkStatus()).ok())
      << "it has been quiet for a shorter time than the request";
}

TEST_F(LostConnectionTest, AWatchWithoutAnAnswerIsGivenUp) {
  Connect();
  proxy_.StallNew(true);
  Seen seen;
  auto watch = client_->StartWatch(
      {"GET", "/w", "watch=true", "", "", ""}, owner_.token(), [](const std::vector<Frame>&) {},
      [&seen](absl::Status status) { seen.end.Put(std::move(status)); });
  EXPECT_THAT(seen.end.Take().value_or(absl::OkStatus()), StatusIs(absl::StatusCode::kDeadlineExceeded));
}

// Over HTTP/1.1 nobody can tell a slow answer from none: it is given up, and has twice the time when it is asked for
// again.
TEST_F(LostConnectionTest, WhatIsOnlySlowIsAnsweredInTheEnd) {
  for (const char* method : {"GET", "PUT"}) {
    Connect(absl::Milliseconds(100));
    int tries = 0;
    for (Answer answer = absl::UnavailableError(""); !answer.ok() && tries < 10; ++tries) {
      auto slow = Begin(method, "/slow");
      while (slow->size() == 0) ASSERT_EQ(Get("/quick"), "GET /quick");  // others are answered meanwhile
      answer = *slow->Take();
    }
    EXPECT_GE(tries, method == std::string("GET") ? 1 : 2) << method;
    EXPECT_LE(tries, method == std::string("GET") ? 1 : 5) << method << ": 100 ms, 200 ms, 400 ms";
  }
}

// Nobody is answered: it is the path, not the request, and patience would only cost time.
TEST_F(LostConnectionTest, APathThatHangsIsTriedAsSoonEachTime) {
  Connect(absl::Milliseconds(100));
  EXPECT_EQ(Get("/x"), "GET /x");
  proxy_.StallNew(true);
  proxy_.Stall();
  auto asked = Begin("GET", "/x");
  ASSERT_TRUE(
      testutil::Eventually([&] { return proxy_.accepted() >= 12; }));  // doubled each time this would take minutes
  proxy_.StallNew(false);
  EXPECT_THAT(asked->Take().value(), IsOk());
}

TEST_F(LostConnectionTest, AHandshakeThatHangsIsGivenUp) {
  const testutil::Identity ca({.common_name = "test authority"}, nullptr),
      server({.common_name = "server", .alternative_names = "IP:127.0.0.1"}, &ca);
  const testutil::TemporaryFolder folder("gangway-lost");
  HttpFrontOptions tls;
  tls.tls_certificate_file = folder.path() + "/tls.crt";
  tls.tls_key_file = folder.path() + "/tls.key";
  testutil::WriteFile(tls.tls_certificate_file, server.CertificatePem());
  testutil::WriteFile(tls.tls_key_file, server.KeyPem());
  RunningFront front(nullptr, tls);
  TcpProxy proxy({front.port()});
  proxy.StallNew(true);
  Connection connection;
  connection.ca.data = ca.CertificatePem();
  HttpClientOptions options;
  options.silence_timeout = absl::Milliseconds(100);
  options.connect_timeout = absl::Milliseconds(300);
  ConnectTo(proxy.url("https"), options, connection);
  // The first connects, the others wait for what becomes of it.
  std::vector<std::unique_ptr<Inbox<Answer>>> asked;
  for (int i = 0; i < 5; ++i) asked.push_back(Begin("POST", "/x"));
  for (const auto& one : asked) EXPECT_FALSE(one->Take().value_or(absl::InternalError("nothing")).ok());
  proxy.StallNew(false);
  EXPECT_TRUE(testutil::Eventually([&] { return Get("/x") == "GET /x"; }));
}

}  // namespace
}  // namespace gangway::kube
