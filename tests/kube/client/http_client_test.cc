#include "kube/client/http_client.h"

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <future>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/client/frame_splitter.h"
#include "kube/client/status.h"
#include "tests/testing/fake_http_handler.h"
#include "tests/testing/loop_thread.h"
#include "tests/testing/status_matchers.h"

namespace gangway::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testutil::FakeHttpHandler;
using testutil::Inbox;
using testutil::IsOk;
using testutil::LoopThread;
using testutil::MakeResponse;
using testutil::RunningFront;
using testutil::StatusIs;

Request Get(std::string path, std::string query = "") { return {"GET", std::move(path), std::move(query), "", "", ""}; }
Request Post(std::string path, std::string body) { return {"POST", std::move(path), "", "", "", std::move(body)}; }
Frame Added(std::string object) { return {FrameType::kAdded, MakeBytes(std::move(object))}; }

// What a watch brought.
struct Seen {
  Inbox<std::string> objects;
  Inbox<absl::Status> end;
};

class HttpClientTest : public ::testing::Test {
 protected:
  void Connect(const std::string& server, HttpClientOptions options = {}, Connection connection = {}) {
    connection.server = server;
    auto made = HttpClient::Make(thread_.loop(), connection, options);
    GW_ASSERT_OK(made);
    client_ = *std::move(made);
  }
  std::unique_ptr<Inbox<absl::StatusOr<Response>>> Begin(Request request) {
    auto inbox = std::make_unique<Inbox<absl::StatusOr<Response>>>();
    client_->Send(std::move(request), owner_.token(),
                  [box = inbox.get()](absl::StatusOr<Response> answer) { box->Put(std::move(answer)); });
    return inbox;
  }
  absl::StatusOr<Response> Send(Request request) {
    auto answer = Begin(std::move(request))->Take();
    return answer.has_value() ? *std::move(answer) : absl::StatusOr<Response>(absl::InternalError("no answer"));
  }
  std::string BodyOf(Request request) {
    absl::StatusOr<Response> answer = Send(std::move(request));
    return answer.ok() ? *answer->body : answer.status().ToString();
  }
  std::unique_ptr<Watch> StartWatch(const std::string& path, Seen& seen) {
    return client_->StartWatch(
        Get(path, "watch=true"), owner_.token(),
        [&seen](std::vector<Frame> frames) {
          for (const Frame& frame : frames)
            seen.objects.Put(absl::StrCat(FrameTypeName(frame.type), " ", *frame.object));
        },
        [&seen](absl::Status status) { seen.end.Put(std::move(status)); });
  }
  void TearDown() override {
    client_.reset();
    thread_.Join();
  }

  LoopThread thread_;
  Owner owner_;
  std::unique_ptr<HttpClient> client_;
};

TEST_F(HttpClientTest, CarriesARequestAndItsAnswerWhole) {
  Inbox<std::pair<Request, kube::HttpCaller>> asked;
  RunningFront front([&](Request request, kube::HttpCaller caller, auto respond) {
    asked.Put({std::move(request), std::move(caller)});
    Response answer = MakeResponse(429, "busy");
    answer.retry_after = absl::Seconds(7);
    answer.warnings = {"unknown field \"spec.x\"", "second \\ one"};
    respond(std::move(answer));
  });
  HttpClientOptions options;
  options.user_agent = "gangway-test/1.0 (linux)";
  Connect(front.url() + "/", options);
  const absl::StatusOr<Response> answer =
      Send({"PATCH", "/api/v1/pods/a%20b", "x=1&y=%2F", "application/merge-patch+json", "application/json;as=Table",
            "{\"a\":1}"});
  GW_ASSERT_OK(answer);
  EXPECT_EQ(answer->code, 429);
  EXPECT_EQ(*answer->body, "busy");
  EXPECT_EQ(answer->content_type, "application/json");
  EXPECT_EQ(answer->retry_after, absl::Seconds(7));
  EXPECT_THAT(answer->warnings, ElementsAre("unknown field \"spec.x\"", "second \\ one"));
  const auto request = asked.Take();
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->first.method, "PATCH");
  EXPECT_EQ(request->first.path, "/api/v1/pods/a%20b");
  EXPECT_EQ(request->first.query, "x=1&y=%2F");
  EXPECT_EQ(request->first.content_type, "application/merge-patch+json");
  EXPECT_EQ(request->first.accept, "application/json;as=Table");
  EXPECT_EQ(request->first.body, "{\"a\":1}");
  EXPECT_EQ(request->second.name, "gangway-test");
}

TEST_F(HttpClientTest, EveryMethodWithAndWithoutABody) {
  RunningFront front;
  Connect(front.url() + "/base/");
  EXPECT_EQ(BodyOf(Get("/x", "a=b")), "GET /base/x?a=b");
  EXPECT_EQ(BodyOf(Post("/x", "body")), "POST /base/x body");
  EXPECT_EQ(BodyOf(Post("/x", "")), "POST /base/x");
  EXPECT_EQ(BodyOf({"PUT", "/x", "", "", "", "b"}), "PUT /base/x b");
  EXPECT_EQ(BodyOf({"DELETE", "/x", "", "", "", ""}), "DELETE /base/x");
  EXPECT_EQ(BodyOf({"DELETE", "/x", "", "", "", "options"}), "DELETE /base/x options");
  EXPECT_EQ(BodyOf({"PATCH", "/x/../y", "", "", "", "p"}), "PATCH /base/x/../y p");
  EXPECT_EQ(BodyOf({"HEAD", "/x", "", "", "", ""}), "");
  EXPECT_EQ(BodyOf(Get("/z")), "GET /base/z");
  EXPECT_EQ(BodyOf(Post("/x", std::string(2'500'000, 'b'))).size(), 2'500'000u + strlen("POST /base/x "));
}

TEST_F(HttpClientTest, KeepsItsConnection) {
  RunningFront front;
  Connect(front.url());
  for (int i = 0; i < 50; ++i) EXPECT_EQ(BodyOf(Get("/x")), "GET /x");
  EXPECT_EQ(front.connections(), 1);
}

TEST_F(HttpClientTest, WhatCannotBeSentIsAnInvalidArgument) {
  Connect("http://127.0.0.1:1");
  for (const Request& request : {Get("relative"), Get("/a b"), Get("/a?b"), Get("/a", "x y"), Get("/a\r\nX: y"),
                                 Request{"FETCH", "/", "", "", "", ""}, Request{"GET", "/", "", "a\nb", "", ""}}) {
    EXPECT_THAT(Send(request), StatusIs(absl::StatusCode::kInvalidArgument)) << request.path;
  }
}

TEST_F(HttpClientTest, WithoutAServerUnavailable) {
  std::string url;
  {
    RunningFront front;
    url = front.url();
  }
  Connect(url);
  EXPECT_THAT(Send(Get("/x")), StatusIs(absl::StatusCode::kUnavailable, HasSubstr(url + "/x")));
}

TEST_F(HttpClientTest, WithoutAnAnswerDeadlineExceeded) {
  std::vector<FakeHttpHandler::Respond> never;
  RunningFront front([&](Request, kube::HttpCaller, auto respond) { never.push_back(std::move(respond)); });
  HttpClientOptions options;
  options.request_timeout = absl::Milliseconds(50);
  options.max_in_flight = 1;
  Connect(front.url(), options);
  auto first = Begin(Get("/a"));
  auto second = Begin(Get("/b"));  // waits for its turn, and for no longer than its own time
  EXPECT_THAT(first->Take().value(), StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(second->Take().value(), StatusIs(absl::StatusCode::kDeadlineExceeded));
  front.thread.Run([&] { never.clear(); });
}

TEST_F(HttpClientTest, TooLargeAnAnswerIsNotKept) {
  RunningFront front(
      [](Request, kube::HttpCaller, auto respond) { respond(MakeResponse(200, std::string(100'001, 'x'))); });
  HttpClientOptions options;
  options.max_response_bytes = 100'000;
  Connect(front.url(), options);
  EXPECT_THAT(Send(Get("/x")), StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("100000")));
}

TEST_F(HttpClientTest, MoreRequestsThanMayBeInFlightTakeTurns) {
  RunningFront front;
  HttpClientOptions options;
  options.max_in_flight = 4;
  Connect(front.url(), options);
  Inbox<std::string> bodies;
  for (int i = 0; i < 200; ++i) {
    client_->Send(Get(absl::StrCat("/", i)), owner_.token(),
                  [&](absl::StatusOr<Response> r) { bodies.Put(r.ok() ? *r->body : ""); });
  }
  std::set<std::string> all;
  for (int i = 0; i < 200; ++i) all.insert(bodies.Take().value_or("nothing"));
  EXPECT_EQ(all.size(), 200u);
  EXPECT_EQ(all.count("GET /199"), 1u);
  EXPECT_LE(front.connections(), 4);
}

TEST_F(HttpClientTest, ClosingEndsWhatIsUnderWay) {
  Inbox<FakeHttpHandler::Respond> never;
  RunningFront front([&](Request, kube::HttpCaller, auto respond) { never.Put(std::move(respond)); });
  Connect(front.url());
  auto answer = Begin(Get("/x"));
  Seen seen;
  auto watch = StartWatch("/w", seen);
  ASSERT_TRUE(front.handler.started.Take().has_value());
  auto respond = never.Take();
  client_.reset();
  EXPECT_THAT(answer->Take().value(), StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(seen.end.Take().value(), StatusIs(absl::StatusCode::kCancelled));
  watch.reset();  // after its client
}

TEST_F(HttpClientTest, AnAnswerForAnOwnerThatIsGoneIsDropped) {
  Inbox<FakeHttpHandler::Respond> held;
  RunningFront front([&](Request request, kube::HttpCaller, auto respond) {
    if (request.path == "/last") return respond(MakeResponse(200, ""));
    held.Put(std::move(respond));
  });
  Connect(front.url());
  auto owner = std::make_unique<Owner>();
  std::atomic<bool> called = false;
  client_->Send(Get("/x"), owner->token(), [&](absl::StatusOr<Response>) { called = true; });
  auto respond = held.Take();
  ASSERT_TRUE(respond.has_value());
  thread_.Run([&] { owner.reset(); });
  (*respond)(MakeResponse(200, ""));
  GW_EXPECT_OK(Send(Get("/last")));
  EXPECT_FALSE(called);
}

TEST_F(HttpClientTest, ARestartedServerIsFoundAgain) {
  auto front = std::make_unique<RunningFront>();
  kube::HttpFrontOptions options;
  options.port = front->port();
  Connect(front->url());
  EXPECT_EQ(BodyOf(Get("/before")), "GET /before");
  Seen seen;
  auto watch = StartWatch("/w", seen);
  ASSERT_TRUE(front->handler.started.Take().has_value());
  front.reset();
  EXPECT_THAT(seen.end.Take().value(), StatusIs(absl::StatusCode::kUnavailable));
  RunningFront again(nullptr, options);
  EXPECT_EQ(BodyOf(Get("/after")), "GET /after");
}

TEST_F(HttpClientTest, ATokenFileThatChangesIsReadAgain) {
  const std::string file = ::testing::TempDir() + "gangway-token-" + std::to_string(getpid());
  std::ofstream(file) << "old\n";
  kube::HttpFrontOptions options;
  options.token = "new";
  RunningFront front(nullptr, options);
  Connection connection;
  connection.token.file = file;
  Connect(front.url(), {}, connection);
  EXPECT_THAT(StatusFromResponse(Send(Get("/x")).value()), StatusIs(absl::StatusCode::kUnauthenticated));
  std::ofstream(file + ".2") << "new\n";
  std::filesystem::rename(file + ".2", file);
  EXPECT_EQ(BodyOf(Get("/x")), "GET /x");
  std::filesystem::remove(file);
  EXPECT_EQ(BodyOf(Get("/y")), "GET /y");  // the last one serves on
}

TEST(HttpClientMakeTest, MessagesHoldNoSecrets) {
  EXPECT_EQ(WithoutSecrets("https://10.0.0.1:6443"), "https://10.0.0.1:6443");
  EXPECT_EQ(WithoutSecrets("https://jane:s3cret@10.0.0.1:6443/x"), "https://***@10.0.0.1:6443/x");
  EXPECT_EQ(WithoutSecrets("https://a/?token=s3cret"), "https://a/?***");
  EXPECT_EQ(WithoutSecrets("jane:s3@cr/et@a"), "***@a");
  EXPECT_EQ(WithoutSecrets(""), "");
}

TEST(HttpClientMakeTest, RefusesAConnectionThatCannotWork) {
  LoopThread thread;
  const auto make = [&](Connection connection) {
    return HttpClient::Make(thread.loop(), std::move(connection)).status();
  };
  Connection connection;
  for (const char* server : {"", "127.0.0.1:80x", "ftp://a", "http://a/?q=1", "http://user@a"}) {
    connection.server = server;
    EXPECT_THAT(make(connection), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("server"))) << server;
  }
  for (const char* server : {"https://jane:s3cret@10.0.0.1", "https://jane:s3c/r@et@10.0.0.1:6443", "ftp://:s3cret@a",
                             "https://a/?token=s3cret", "https://a:s3cret @b/"}) {
    connection.server = server;
    EXPECT_THAT(make(connection),
                StatusIs(absl::StatusCode::kInvalidArgument, ::testing::Not(::testing::ContainsRegex("s3c|r@et"))))
        << server;
    connection.server = "https://127.0.0.1";
    connection.proxy_url =
        absl::StrCat("gopher", absl::string_view(server).substr(absl::string_view(server).find(':')));
    EXPECT_THAT(make(connection),
                StatusIs(absl::StatusCode::kInvalidArgument, ::testing::Not(::testing::ContainsRegex("s3c|r@et"))))
        << connection.proxy_url;
    connection.proxy_url = "";
  }
  connection.ca.file = "/nowhere/ca.crt";
  EXPECT_THAT(make(connection), StatusIs(absl::StatusCode::kNotFound, HasSubstr("/nowhere/ca.crt")));
  connection.ca.file = "";
  connection.client_key.data = "key";
  EXPECT_THAT(make(connection), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("certificate")));
  connection.client_key.data = "";
  connection.token.data = "two\nlines";
  EXPECT_THAT(make(connection), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("token")));
}

// --- watches

TEST_F(HttpClientTest, AWatchBringsFramesInOrderAndEnds) {
  RunningFront front;
  Connect(front.url());
  Seen seen;
  auto watch = StartWatch("/w", seen);
  ASSERT_TRUE(front.handler.started.Take().has_value());
  front.Send("/w", {Added("{\"a\":1}"), {FrameType::kModified, MakeBytes("{\"s\":\"}\\\"{\"}")}});
  front.Send("/w", {{FrameType::kDeleted, MakeBytes("{}")},
                    {FrameType::kBookmark, MakeBytes("{\"b\":[]}")},
                    {FrameType::kError, MakeBytes("{\"code\":410}")}});
  front.End("/w", absl::OkStatus());
  for (const char* expected : {"ADDED {\"a\":1}", "MODIFIED {\"s\":\"}\\\"{\"}", "DELETED {}", "BOOKMARK {\"b\":[]}",
                               "ERROR {\"code\":410}"}) {
    EXPECT_EQ(seen.objects.Take(), expected);
  }
  EXPECT_THAT(seen.end.Take().value(), IsOk());
}

TEST_F(HttpClientTest, TextComesAsItIsWritten) {
  RunningFront front;
  front.handler.TellText("/log");
  front.handler.RefuseWatch(
      "/waits", MakeResponse(400, StatusBody(400, "BadRequest", "container \"c\" in pod \"p\" is waiting to start")));
  Connect(front.url());
  Seen seen;
  const auto read = [&](const char* path) {
    return client_->StartText(
        Get(path, "watch=true"), owner_.token(),
        [&seen](absl::string_view text) { seen.objects.Put(std::string(text)); },
        [&seen](absl::Status status) { seen.end.Put(std::move(status)); });
  };
  const auto text = [&](std::size_t size) {  // pieces may come cut in another way
    std::string all;
    while (all.size() < size) all += seen.objects.Take().value();
    return all;
  };
  auto log = read("/log");
  ASSERT_TRUE(front.handler.started.Take().has_value());
  const std::string bytes("\0\xff half", 7), both = absl::StrCat("line 1\n{\"no\": frame", bytes);
  front.Send("/log", {Added("line 1\n{\"no\": frame"), Added(bytes)});
  EXPECT_EQ(text(both.size()), both);
  const std::string large(300'000, 'x');
  front.Send("/log", {Added(large)});
  EXPECT_EQ(text(large.size()), large);
  front.End("/log", absl::OkStatus());
  EXPECT_THAT(seen.end.Take().value(), IsOk());
  log = read("/log");
  ASSERT_TRUE(front.handler.started.Take().has_value());
  front.Send("/log", {Added("cut o")});
  EXPECT_EQ(text(5), "cut o");
  front.End("/log", absl::UnavailableError("the kubelet is gone"));
  EXPECT_THAT(seen.end.Take().value(), StatusIs(absl::StatusCode::kUnavailable));
  log = read("/waits");
  EXPECT_THAT(seen.end.Take().value(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("waiting to start")));
}

TEST_F(HttpClientTest, AConnectionServesOnAfterItsWatchEnded) {
  RunningFront front;
  Connect(front.url());
  for (int i = 0; i < 5; ++i) {
    const std::string path = absl::StrCat("/w", i);
    Seen seen;
    auto watch = StartWatch(path, seen);
    ASSERT_TRUE(front.handler.started.Take().has_value());
    front.End(path, absl::OkStatus());
    EXPECT_THAT(seen.end.Take().value(), IsOk());
    EXPECT_EQ(BodyOf(Get("/x")), "GET /x");
  }
  EXPECT_EQ(front.connections(), 2) << "one for requests, one for one watch after another";
}

TEST_F(HttpClientTest, ARefusedWatchEndsWithTheServersReason) {
  RunningFront front;
  front.handler.RefuseWatch("/w", MakeResponse(410, StatusBody(410, "Expired", "too old resource version: 3 (9)")));
  Connect(front.url());
  Seen seen;
  auto watch = StartWatch("/w", seen);
  EXPECT_THAT(seen.end.Take().value(), StatusIs(absl::StatusCode::kOutOfRange, "too old resource version: 3 (9)"));
}

TEST_F(HttpClientTest, ABrokenStreamIsAnError) {
  RunningFront front;
  Connect(front.url());
  Seen seen;
  auto watch = StartWatch("/w", seen);
  ASSERT_TRUE(front.handler.started.Take().has_value());
  front.Send("/w", {Added("{\"a\":1}"), Added("{}}\nno frame")});
  EXPECT_EQ(seen.objects.Take(), "ADDED {\"a\":1}");
  EXPECT_THAT(seen.end.Take().value(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("watch frame")));
  EXPECT_EQ(front.handler.ended.Take(), "/w");
}

TEST_F(HttpClientTest, TooLargeAFrameEndsTheWatch) {
  RunningFront front;
  HttpClientOptions options;
  options.max_frame_bytes = 1000;
  Connect(front.url(), options);
  Seen seen;
  auto watch = StartWatch("/w", seen);
  ASSERT_TRUE(front.handler.started.Take().has_value());
  front.Send("/w", {Added("{\"a\":\"" + std::string(2000, 'x') + "\"}")});
  EXPECT_THAT(seen.end.Take().value(), StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_F(HttpClientTest, AServerThatGivesUpTheStreamIsNoOrderlyEnd) {
  RunningFront front;
  Connect(front.url());
  Seen seen;
  auto watch = StartWatch("/w", seen);
  ASSERT_TRUE(front.handler.started.Take().has_value());
  front.End("/w", absl::UnavailableError("shutting down"));
  EXPECT_THAT(seen.end.Take().value(), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(HttpClientTest, ASilentWatchEnds) {
  RunningFront front;
  HttpClientOptions options;
  options.watch_idle_timeout = absl::Milliseconds(60);
  Connect(front.url(), options);
  // On a busy machine it may have ended before it was sent; then another one is begun.
  ASSERT_TRUE(testutil::Eventually([&] {
    Seen seen;
    auto watch = StartWatch("/w", seen);
    EXPECT_THAT(seen.end.Take().value(), StatusIs(absl::StatusCode::kDeadlineExceeded));
    return front.handler.started.size() > 0;
  }));
  EXPECT_EQ(front.handler.ended.Take(), "/w");
}

TEST_F(HttpClientTest, NothingComesAfterAHandleIsDestroyed) {
  RunningFront front;
  Connect(front.url());
  for (int round = 0; round < 20; ++round) {
    const std::string path = absl::StrCat("/w", round);
    auto seen = std::make_unique<Seen>();
    auto watch = StartWatch(path, *seen);
    ASSERT_TRUE(front.handler.started.Take().has_value());
    std::thread pushes([&] {
      for (int i = 0; i < 50; ++i) front.Send(path, {Added("{}")});
    });
    ASSERT_TRUE(seen->objects.Take().has_value());
    watch.reset();  // on this thread, frames still coming
    seen.reset();   // a late callback would be a use after free
    EXPECT_EQ(front.handler.ended.Take(), path);
    pushes.join();
  }
}

TEST_F(HttpClientTest, AHandleMayBeDestroyedByItsOwnCallback) {
  RunningFront front;
  Connect(front.url());
  std::unique_ptr<Watch> watch;
  Inbox<int> called;
  thread_.Run([&] {
    watch = client_->StartWatch(
        Get("/w", "watch=true"), owner_.token(),
        [&](std::vector<Frame>) {
          watch.reset();
          called.Put(1);
        },
        [&](absl::Status) { called.Put(2); });
  });
  ASSERT_TRUE(front.handler.started.Take().has_value());
  front.Send("/w", {Added("{}")});
  EXPECT_EQ(called.Take(), 1);
  EXPECT_EQ(front.handler.ended.Take(), "/w");
  GW_EXPECT_OK(Send(Get("/x")));
  EXPECT_EQ(called.size(), 0u);
}

TEST_F(HttpClientTest, ManyWatchesOnOneClient) {
  constexpr int kWatches = 150;
  RunningFront front;
  Connect(front.url());
  std::vector<Seen> seen(kWatches);
  std::vector<std::unique_ptr<Watch>> watches;
  for (int i = 0; i < kWatches; ++i)
    watches.push_back(StartWatch(absl::StrCat("/w", i), seen[static_cast<std::size_t>(i)]));
  for (int i = 0; i < kWatches; ++i) ASSERT_TRUE(front.handler.started.Take().has_value());
  for (int i = 0; i < kWatches; ++i) front.Send(absl::StrCat("/w", i), {Added(absl::StrCat("{\"n\":", i, "}"))});
  for (int i = 0; i < kWatches; ++i) {
    EXPECT_EQ(seen[static_cast<std::size_t>(i)].objects.Take(), absl::StrCat("ADDED {\"n\":", i, "}"));
  }
  EXPECT_EQ(BodyOf(Get("/x")), "GET /x");
  watches.clear();
  for (int i = 0; i < kWatches; ++i) ASSERT_TRUE(front.handler.ended.Take().has_value());
  EXPECT_EQ(front.thread.Run([&] { return front.handler.watches(); }), 0u);
}

// The loop is held up while frames come: reading stops at the limit, goes on later, and nothing is lost or out of
// order.
TEST_F(HttpClientTest, ALoopThatLagsHoldsTheStreamBack) {
  constexpr int kFrames = 400;
  RunningFront front;
  HttpClientOptions options;
  options.max_undelivered_bytes = 100'000;
  options.watch_idle_timeout = absl::Seconds(5);
  Connect(front.url(), options);
  Seen seen;
  auto watch = StartWatch("/w", seen);
  ASSERT_TRUE(front.handler.started.Take().has_value());
  std::promise<void> go_on;
  std::promise<void> held;
  thread_.loop().Post(owner_.token(), [&] {
    held.set_value();
    go_on.get_future().wait();
  });
  held.get_future().wait();
  const std::string padding(40'000, 'x');
  for (int i = 0; i < kFrames; ++i) front.Send("/w", {Added(absl::StrCat("{\"n\":", i, ",\"p\":\"", padding, "\"}"))});
  EXPECT_EQ(seen.objects.size(), 0u);
  go_on.set_value();
  for (int i = 0; i < kFrames; ++i) {
    const auto object = seen.objects.Take();
    ASSERT_TRUE(object.has_value()) << i;
    ASSERT_THAT(*object, HasSubstr(absl::StrCat("{\"n\":", i, ","))) << i;
  }
}

TEST(HttpClientsTest, SixteenAtOnce) {
  constexpr int kClients = 16, kRequests = 100;
  RunningFront front;
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int c = 0; c < kClients; ++c) {
    threads.emplace_back([&, c] {
      LoopThread thread;
      Owner owner;
      Connection connection;
      connection.server = front.url();
      auto client = *HttpClient::Make(thread.loop(), connection);
      Inbox<std::string> bodies;
      for (int i = 0; i < kRequests; ++i) {
        const std::string body = absl::StrCat(c, "-", i);
        client->Send(Post("/x", body), owner.token(),
                     [&](absl::StatusOr<Response> r) { bodies.Put(r.ok() ? *r->body : ""); });
        if (bodies.Take() == absl::StrCat("POST /x ", body)) ++right;
      }
      client.reset();
      thread.Join();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, kClients * kRequests);
}

}  // namespace
}  // namespace gangway::kube
