#include "kube/serve/http_front.h"

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/fake_http_handler.h"
#include "tests/testing/loop_thread.h"
#include "tests/testing/raw_socket.h"
#include "tests/testing/status_matchers.h"

namespace gangway::kube {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testutil::Eventually;
using testutil::FakeHttpHandler;
using testutil::Inbox;
using testutil::MakeResponse;
using testutil::RawSocket;
using testutil::RunningFront;
using testutil::StatusIs;

std::string GetOf(const std::string& target, const std::string& headers = "") {
  return absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: 127.0.0.1\r\n", headers, "\r\n");
}
std::string PostOf(const std::string& target, const std::string& body) {
  return absl::StrCat("POST ", target, " HTTP/1.1\r\nHost: localhost:80\r\nContent-Length: ", body.size(), "\r\n\r\n",
                      body);
}
// An answer with this HTTP status whose body is a metav1.Status that says the same.
auto IsRefusal(int code) {
  return AllOf(StartsWith(absl::StrCat("HTTP/1.1 ", code, " ")), HasSubstr("Content-Type: application/json\r\n"),
               HasSubstr("\"kind\":\"Status\""), HasSubstr("\"status\":\"Failure\""),
               EndsWith(absl::StrCat("\"code\":", code, "}")));
}

TEST(HttpFrontTest, AnswersOnAKeptConnection) {
  RunningFront front;
  RawSocket client(front.port());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.Send(GetOf("/api/v1/pods?limit=5&x=%20")));
    EXPECT_THAT(client.ReadAnswer(), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("Content-Length: 30\r\n"),
                                           EndsWith("\r\n\r\nGET /api/v1/pods?limit=5&x=%20")));
  }
  EXPECT_EQ(front.connections(), 1);
}

TEST(HttpFrontTest, PipelinedRequestsAreAnsweredInOrder) {
  RunningFront front;
  RawSocket client(front.port());
  std::string requests;
  for (int i = 0; i < 200; ++i)
    requests += i % 2 == 0 ? GetOf(absl::StrCat("/", i)) : PostOf(absl::StrCat("/", i), "b");
  ASSERT_TRUE(client.Send(requests));
  for (int i = 0; i < 200; ++i) {
    ASSERT_THAT(client.ReadAnswer(),
                EndsWith(i % 2 == 0 ? absl::StrCat("\r\n\r\nGET /", i) : absl::StrCat("\r\n\r\nPOST /", i, " b")));
  }
}

TEST(HttpFrontTest, ARequestMayArriveByteByByte) {
  RunningFront front;
  RawSocket client(front.port());
  for (const char c : PostOf("/x", "body")) ASSERT_TRUE(client.Send(std::string(1, c)));
  EXPECT_THAT(client.ReadAnswer(), EndsWith("POST /x body"));
}

TEST(HttpFrontTest, ChunksMayArriveByteByByte) {
  RunningFront front;
  RawSocket client(front.port());
  for (const char c :
       std::string("POST /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n")) {
    ASSERT_TRUE(client.Send(std::string(1, c)));
  }
  EXPECT_THAT(client.ReadAnswer(), EndsWith("POST /x body"));
}

TEST(HttpFrontTest, AbsoluteTargetsAndOddWritings) {
  RunningFront front;
  RawSocket client(front.port());
  ASSERT_TRUE(client.Send("\r\n" + GetOf("http://127.0.0.1/a?b")));
  EXPECT_THAT(client.ReadAnswer(), EndsWith("GET /a?b"));
  ASSERT_TRUE(
      client.Send("POST /c HTTP/1.1\r\nhOST: LOCALHOST\r\ntransfer-encoding: Chunked\r\n\r\n"
                  "3;ext=1\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n"));
  EXPECT_THAT(client.ReadAnswer(), EndsWith("POST /c abc0123456789"));
}

TEST(HttpFrontTest, TheCallerIsNamedByItsUserAgent) {
  RunningFront front([](Request, HttpCaller caller, auto respond) {
    respond(MakeResponse(200, absl::StrCat(caller.name, "|", caller.peer)));
  });
  RawSocket client(front.port());
  ASSERT_TRUE(client.Send(GetOf("/", "User-Agent: kubectl/v1.32.0 (linux/amd64) kubernetes/70d3cc9\r\n")));
  EXPECT_THAT(client.ReadAnswer(), HasSubstr("kubectl|127.0.0.1:"));
  ASSERT_TRUE(client.Send(GetOf("/")));
  EXPECT_THAT(client.ReadAnswer(), HasSubstr("unknown|127.0.0.1:"));
}

TEST(HttpFrontTest, HeadHasTheHeadersOfGetAndNoBody) {
  RunningFront front;
  RawSocket client(front.port());
  ASSERT_TRUE(client.Send("HEAD /x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" + GetOf("/y")));
  EXPECT_THAT(client.ReadAnswer(false), AllOf(HasSubstr("Content-Length: 6\r\n"), EndsWith("\r\n\r\n")));
  EXPECT_THAT(client.ReadAnswer(), EndsWith("GET /y"));
}

TEST(HttpFrontTest, OldAndLeavingClientsAreClosed) {
  RunningFront front;
  RawSocket old(front.port());
  ASSERT_TRUE(old.Send("GET /a HTTP/1.0\r\n\r\n"));
  EXPECT_THAT(old.ReadToEnd(), EndsWith("GET /a"));
  RawSocket leaving(front.port());
  ASSERT_TRUE(leaving.Send(GetOf("/b", "Connection: close\r\n")));
  EXPECT_THAT(leaving.ReadToEnd(), AllOf(HasSubstr("Connection: close\r\n"), EndsWith("GET /b")));
}

TEST(HttpFrontTest, ExtraHeadersOfAnAnswerCannotForgeOthers) {
  RunningFront front([](Request, HttpCaller, auto respond) {
    Response response = MakeResponse(503, "");
    response.retry_after = absl::Milliseconds(1500);
    response.warnings = {"a \"b\"\r\nX-Forged: 1"};
    response.content_type = "text/plain\r\nX-Forged: 2";
    respond(std::move(response));
  });
  RawSocket client(front.port());
  ASSERT_TRUE(client.Send(GetOf("/")));
  EXPECT_THAT(client.ReadAnswer(),
              AllOf(HasSubstr("Retry-After: 2\r\n"), HasSubstr("Warning: 299 - \"a \\\"b\\\"  X-Forged: 1\"\r\n"),
                    Not(HasSubstr("\nX-Forged"))));
}

TEST(HttpFrontTest, ADroppedRequestIsAnInternalError) {
  RunningFront front([](Request, HttpCaller, auto) {});
  RawSocket client(front.port());
  ASSERT_TRUE(client.Send(GetOf("/")));
  EXPECT_THAT(client.ReadAnswer(), IsRefusal(500));
}

// --- what is refused

TEST(HttpFrontTest, BodiesUpToTheLimitAndNotBeyond) {
  HttpFrontOptions options;
  options.max_body_bytes = 100'000;
  RunningFront front(
      [](Request r, HttpCaller, auto respond) { respond(MakeResponse(200, absl::StrCat(r.body.size()))); }, options);
  RawSocket at_limit(front.port());
  ASSERT_TRUE(at_limit.Send(PostOf("/x", std::string(100'000, 'x'))));
  EXPECT_THAT(at_limit.ReadAnswer(), EndsWith("\r\n\r\n100000"));
  // Refused by the header alone: no body byte is ever sent.
  ASSERT_TRUE(at_limit.Send("POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100001\r\n\r\n"));
  EXPECT_THAT(at_limit.ReadToEnd(), IsRefusal(413));
  // And a client that sends it all before it reads still gets the answer.
  {
    RawSocket deaf(front.port());
    ASSERT_TRUE(deaf.Send(PostOf("/x", std::string(5'000'000, 'x'))));
    EXPECT_THAT(deaf.ReadToEnd(), IsRefusal(413));
  }
  RawSocket chunked(front.port());
  ASSERT_TRUE(chunked.Send("POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"));
  const std::string chunk = absl::StrCat("2710\r\n", std::string(10'000, 'x'), "\r\n");
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(chunked.Send(chunk));
  ASSERT_TRUE(chunked.Send("1\r\nx\r\n"));
  EXPECT_THAT(chunked.ReadToEnd(), IsRefusal(413));
}

TEST(HttpFrontTest, ContinueIsSaidOnlyToWhatWillBeRead) {
  RunningFront front;
  RawSocket client(front.port());
  ASSERT_TRUE(client.Send("POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"));
  ASSERT_TRUE(client.ReadUntil("HTTP/1.1 100 Continue\r\n\r\n"));
  ASSERT_TRUE(client.Send("body"));
  EXPECT_TRUE(client.ReadUntil("POST /x body"));
  RawSocket large(front.port());
  ASSERT_TRUE(
      large.Send("POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3145729\r\nExpect: 100-continue\r\n\r\n"));
  EXPECT_THAT(large.ReadToEnd(), IsRefusal(413));
}

TEST(HttpFrontTest, HeadersUpToTheLimitAndNotBeyond) {
  RunningFront front;
  RawSocket client(front.port());
  ASSERT_TRUE(client.Send(GetOf("/x", absl::StrCat("A: ", std::string(16 << 10, 'a'), "\r\n"))));
  EXPECT_THAT(client.ReadAnswer(), EndsWith("GET /x"));
  ASSERT_TRUE(client.Send(GetOf("/x", absl::StrCat("A: ", std::string(33 << 10, 'a'), "\r\n"))));
  EXPECT_THAT(client.ReadToEnd(), IsRefusal(431));
  RawSocket endless(front.port());  // a chunk extension that never ends
  ASSERT_TRUE(endless.Send("POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n1;" +
                           std::string(200'000, 'e')));
  EXPECT_THAT(endless.ReadToEnd(), StartsWith("HTTP/1.1 4"));
}

std::string Fields(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) absl::StrAppend(&out, "X-", i, ": ", i, "\r\n");
  return out;
}

// To find the place of each among so many takes longer than all else, so they are counted first.
TEST(HttpFrontTest, FieldsUpToTheLimitAndNotBeyond) {
  HttpFrontOptions options;
  options.max_header_fields = 20;
  RunningFront front(nullptr, options);
  RawSocket client(front.port());
  for (int i = 0; i < 2; ++i) {  // the second is counted anew
    ASSERT_TRUE(client.Send(absl::StrCat("POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 60\r\n", Fields(18),
                                         "\r\n", std::string(60, '\n'))));
    EXPECT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 200")) << "lines of the body are no fields";
  }
  ASSERT_TRUE(client.Send(GetOf("/x", Fields(20))));
  EXPECT_THAT(client.ReadToEnd(), AllOf(IsRefusal(431), HasSubstr("more than the limit of 20 fields")));
  RawSocket unended(front.port());
  ASSERT_TRUE(unended.Send("GET /x HTTP/1.1\r\n"));
  for (int i = 0; i < 21; ++i) ASSERT_TRUE(unended.Send("A: b\r\n"));
  EXPECT_THAT(unended.ReadToEnd(), IsRefusal(431)) << "the end of the header is not waited for";
}

TEST(HttpFrontTest, FieldsOfATrailerUpToTheLimitAndNotBeyond) {
  HttpFrontOptions options;
  options.max_header_fields = 20;
  RunningFront front(nullptr, options);
  const auto with_trailer = [](int fields) {
    return absl::StrCat(
        "POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n\n\n\n\r\n0;a=b\r\n",
        Fields(fields), "\r\n");
  };
  RawSocket client(front.port());
  ASSERT_TRUE(client.Send(absl::StrCat(with_trailer(20), with_trailer(20))));
  EXPECT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 200")) << "what follows the trailer is no part of it";
  ASSERT_TRUE(client.Send(with_trailer(21)));
  EXPECT_THAT(client.ReadToEnd(), AllOf(IsRefusal(431), HasSubstr("trailer has more than the limit of 20 fields")));
  RawSocket pieces(front.port());
  for (const char c : with_trailer(21)) pieces.Send(std::string(1, c));
  EXPECT_THAT(pieces.ReadToEnd(), IsRefusal(431)) << "however it comes";
}

// Whoever takes names and rights out of the headers on the way does not look there.
TEST(HttpFrontTest, WhatATrailerSaysIsNotBelieved) {
  RunningFront front([](Request, HttpCaller caller, HttpHandler::Respond respond) {
    respond(MakeResponse(200, absl::StrCat(caller.name, " ", caller.authorization, " ", caller.impersonate.size())));
  });
  RawSocket client(front.port());
  ASSERT_TRUE(client.Send(
      "POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: me\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"
      "Authorization: Bearer b\r\nImpersonate-User: admin\r\n\r\n"));
  EXPECT_THAT(client.ReadAnswer(), EndsWith("\r\n\r\nme  0"));
}

// Beyond some, pieces that are small are read in turn with others of their kind.
TEST(HttpFrontTest, ABodyInManySmallPiecesArrivesWholeAndNobodyWaitsForIt) {
  HttpFrontOptions options;
  options.io_threads = 1;
  RunningFront front([](Request r, HttpCaller, auto respond) { respond(MakeResponse(200, r.body)); }, options);
  std::vector<std::unique_ptr<RawSocket>> dripping;
  for (int i = 0; i < 12; ++i) {
    dripping.push_back(std::make_unique<RawSocket>(front.port()));
    dripping.back()->SendAtOnce();
    ASSERT_TRUE(dripping.back()->Send("POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 60\r\n\r\n"));
  }
  RawSocket other(front.port());
  for (int byte = 0; byte < 60; ++byte) {
    for (const auto& each : dripping) ASSERT_TRUE(each->Send("x"));
    ASSERT_TRUE(other.Send(PostOf("/x", "yz")));
    EXPECT_THAT(other.ReadAnswer(), EndsWith("yz"));
    if (byte == 30) dripping.resize(10);  // whoever goes meanwhile is not waited for
  }
  for (const auto& each : dripping) EXPECT_THAT(each->ReadAnswer(), EndsWith("\r\n\r\n" + std::string(60, 'x')));
}

struct BadRequest {
  const char* name;
  std::string bytes;
  int code;
};
class HttpFrontRefusesTest : public ::testing::TestWithParam<BadRequest> {};
TEST_P(HttpFrontRefusesTest, WithAStatusAndServesOthersOn) {
  Inbox<std::string> reached;
  RunningFront front([&](Request request, HttpCaller, auto respond) {
    reached.Put(request.path);
    respond(MakeResponse(200, ""));
  });
  RawSocket client(front.port());
  ASSERT_TRUE(client.Send(GetParam().bytes));
  EXPECT_THAT(client.ReadToEnd(), IsRefusal(GetParam().code));
  EXPECT_EQ(reached.size(), 0u);
  RawSocket other(front.port());
  ASSERT_TRUE(other.Send(GetOf("/other")));
  EXPECT_THAT(other.ReadAnswer(), StartsWith("HTTP/1.1 200"));
}
INSTANTIATE_TEST_SUITE_P(
    All, HttpFrontRefusesTest,
    ::testing::Values(
        BadRequest{"Garbage", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a TLS hello\r\n\r\n", 400},
        BadRequest{"NoTarget", "GET\r\n\r\n", 400}, BadRequest{"LineWithoutColon", GetOf("/", "nonsense\r\n"), 400},
        BadRequest{"TwoLengths",
                   "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400},
        BadRequest{
            "LengthAndChunked",
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            400},
        BadRequest{"NegativeLength", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", 400},
        BadRequest{"BadChunk", "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
        BadRequest{"OtherEncoding", "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
        BadRequest{"Compressed", GetOf("/", "Content-Encoding: gzip\r\n"), 415},
        BadRequest{"RelativeTarget", GetOf("api"), 400}, BadRequest{"Fragment", GetOf("/a#b"), 400},
        BadRequest{"HighBytes", GetOf("/\xc3\xa4"), 400}, BadRequest{"NoHost", "GET / HTTP/1.1\r\n\r\n", 400},
        BadRequest{"TwoHosts", GetOf("/", "Host: 127.0.0.1\r\n"), 400},
        BadRequest{"ForeignHost", "GET / HTTP/1.1\r\nHost: rebound.example.com:80\r\n\r\n", 403},
        BadRequest{"LookalikeHost", "GET / HTTP/1.1\r\nHost: localhost.example.com\r\n\r\n", 403},
        BadRequest{"ForeignPage", GetOf("/", "Origin: https://example.com\r\n"), 403},
        BadRequest{"SandboxedPage", GetOf("/", "Origin: null\r\n"), 403},
        BadRequest{"Connect", "CONNECT a:1 HTTP/1.1\r\nHost: localhost\r\n\r\n", 405},
        BadRequest{"Trace", "TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405},
        BadRequest{"OwnVerb", "BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405},
        BadRequest{"OtherExpectation", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nExpect: tea\r\n\r\n",
                   417},
        BadRequest{"OtherExpectationWithTheBodyAtOnce",
                   "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nExpect: tea\r\n\r\na", 417},
        BadRequest{"Http2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505}),
    [](const auto& c) { return c.param.name; });

TEST(HttpFrontTest, RandomBytesHarmNobody) {
  RunningFront front;
  std::mt19937 random(7);
  const std::string valid = PostOf("/x?a=b", "{\"a\":1}") + GetOf("/y", "Accept: */*\r\n");
  for (int i = 0; i < 300; ++i) {
    std::string bytes = valid;
    for (int n = 0; n < 1 + i % 7; ++n) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (i % 3 == 0) bytes.resize(random() % bytes.size());
    RawSocket client(front.port());
    client.Send(bytes);
  }
  RawSocket client(front.port());
  ASSERT_TRUE(client.Send(GetOf("/z")));
  EXPECT_THAT(client.ReadAnswer(), EndsWith("GET /z"));
}

TEST(HttpFrontTest, ATokenIsAskedFor) {
  HttpFrontOptions options;
  options.token = "secret";
  RunningFront front(nullptr, options);
  for (const char* header : {"", "Authorization: Bearer secre\r\n", "Authorization: Bearer secret2\r\n",
                             "Authorization: Basic secret\r\n"}) {
    RawSocket client(front.port());
    ASSERT_TRUE(client.Send(GetOf("/x", header)));
    EXPECT_THAT(client.ReadToEnd(), AllOf(IsRefusal(401), HasSubstr("WWW-Authenticate: Bearer\r\n")));
  }
  RawSocket client(front.port());
  ASSERT_TRUE(client.Send(GetOf("/x", "Authorization: Bearer secret\r\n")));
  EXPECT_THAT(client.ReadAnswer(), EndsWith("GET /x"));
}

TEST(HttpFrontTest, OneConnectionTooManyIsToldSoAtOnce) {
  HttpFrontOptions options;
  options.max_connections = 2;
  RunningFront front(nullptr, options);
  auto first = std::make_unique<RawSocket>(front.port());
  RawSocket second(front.port());
  ASSERT_TRUE(Eventually([&] { return front.connections() == 2; }));
  RawSocket third(front.port());
  EXPECT_THAT(third.ReadToEnd(), AllOf(IsRefusal(503), HasSubstr("Retry-After: 1\r\n")));
  first.reset();
  ASSERT_TRUE(Eventually([&] { return front.connections() == 1; }));
  RawSocket fourth(front.port());
  ASSERT_TRUE(fourth.Send(GetOf("/x")));
  EXPECT_THAT(fourth.ReadAnswer(), EndsWith("GET /x"));
}

// Each that is told stays a while, until it has read that.
TEST(HttpFrontTest, OfAFloodOnlySomeAreToldThatTheyAreTooMany) {
  HttpFrontOptions options;
  options.max_connections = 1;
  RunningFront front(nullptr, options);
  RawSocket first(front.port());
  ASSERT_TRUE(Eventually([&] { return front.connections() == 1; }));
  std::vector<std::unique_ptr<RawSocket>> flood;
  for (int i = 0; i < 400; ++i) flood.push_back(std::make_unique<RawSocket>(front.port()));
  int told = 0;
  for (const auto& each : flood) told += each->ReadToEnd().empty() ? 0 : 1;
  EXPECT_GT(told, 0);
  EXPECT_LT(told, 400);
  ASSERT_TRUE(first.Send(GetOf("/x")));
  EXPECT_THAT(first.ReadAnswer(), EndsWith("GET /x")) << "it is served on";
}

// A refusal ends with the client closing, too; one that does not is not waited for.
TEST(HttpFrontTest, WhoIsRefusedAndStaysIsClosed) {
  RunningFront front;
  RawSocket client(front.port());
  ASSERT_TRUE(client.Send("nonsense\r\n\r\n"));
  EXPECT_THAT(client.ReadToEnd(), IsRefusal(400));
  EXPECT_TRUE(Eventually([&] { return front.connections() == 0; }));
}

HttpFrontOptions Replacing(int max_connections) {
  HttpFrontOptions options;
  options.io_threads = 1;
  options.max_connections = max_connections;
  options.replace_idle = true;
  return options;
}

TEST(HttpFrontTest, ANewConnectionTakesThePlaceOfTheOneThatHasWaitedLongest) {
  RunningFront front(nullptr, Replacing(3));
  RawSocket idle(front.port());
  ASSERT_TRUE(Eventually([&] { return front.connections() == 1; }));
  RawSocket dripping(front.port());
  ASSERT_TRUE(dripping.Send("GET /x HTTP/1.1\r\nHost: 127"));
  RawSocket asked(front.port());
  ASSERT_TRUE(asked.Send(GetOf("/a")));
  EXPECT_THAT(asked.ReadAnswer(), EndsWith("GET /a"));
  std::vector<std::unique_ptr<RawSocket>> fresh;
  for (RawSocket* replaced : {&idle, &dripping}) {
    fresh.push_back(std::make_unique<RawSocket>(front.port()));
    ASSERT_TRUE(fresh.back()->Send(GetOf("/fresh")));
    EXPECT_THAT(fresh.back()->ReadAnswer(), EndsWith("GET /fresh"));
    EXPECT_TRUE(replaced->ClosedByPeer());
    EXPECT_TRUE(Eventually([&] { return front.connections() == 3; })) << front.connections();
    ASSERT_TRUE(asked.Send(GetOf("/b")));
    EXPECT_THAT(asked.ReadAnswer(), EndsWith("GET /b")) << "it waited less";
  }
}

// However many strangers come, and however long ago it asked.
TEST(HttpFrontTest, WhoWasServedBeforeStaysWhereStrangersCome) {
  RunningFront front(nullptr, Replacing(4));
  RawSocket served(front.port());
  ASSERT_TRUE(served.Send(GetOf("/a")));
  EXPECT_THAT(served.ReadAnswer(), EndsWith("GET /a"));
  std::vector<std::unique_ptr<RawSocket>> strangers;
  for (int i = 0; i < 20; ++i) {
    strangers.push_back(std::make_unique<RawSocket>(front.port()));
    ASSERT_TRUE(strangers.back()->Send("GET"));
  }
  for (int i = 0; i < 16; ++i) EXPECT_TRUE(strangers[static_cast<std::size_t>(i)]->ReadPart().empty()) << i;
  ASSERT_TRUE(served.Send(GetOf("/b")));
  EXPECT_THAT(served.ReadAnswer(), EndsWith("GET /b"));
}

TEST(HttpFrontTest, NobodyAtWorkMakesRoomForANewConnection) {
  Inbox<FakeHttpHandler::Respond> held;
  RunningFront front([&](Request, HttpCaller, auto respond) { held.Put(std::move(respond)); }, Replacing(2));
  RawSocket first(front.port()), second(front.port());
  ASSERT_TRUE(first.Send(GetOf("/x")));
  ASSERT_TRUE(second.Send(GetOf("/x")));
  auto respond = held.Take(), other = held.Take();
  ASSERT_TRUE(respond.has_value() && other.has_value());
  RawSocket third(front.port());
  EXPECT_THAT(third.ReadToEnd(), IsRefusal(503));
  (*respond)(MakeResponse(200, "late"));
  (*other)(MakeResponse(200, "late"));
  EXPECT_THAT(first.ReadAnswer(), EndsWith("late"));
  EXPECT_THAT(second.ReadAnswer(), EndsWith("late"));
  EXPECT_EQ(front.connections(), 2);
}

TEST(HttpFrontTest, ABurstOfIdleConnectionsKeepsNobodyOut) {
  RunningFront front(nullptr, Replacing(8));
  std::vector<std::unique_ptr<RawSocket>> idle;
  for (int i = 0; i < 500; ++i) idle.push_back(std::make_unique<RawSocket>(front.port()));
  RawSocket client(front.port());
  ASSERT_TRUE(client.Send(GetOf("/x")));
  EXPECT_THAT(client.ReadAnswer(), EndsWith("GET /x"));
  EXPECT_TRUE(Eventually([&] { return front.connections() == 8; })) << front.connections();
}

std::string PartOf(const std::string& target, std::size_t announced, std::size_t sent) {
  return absl::StrCat("POST ", target, " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ", announced, "\r\n\r\n",
                      std::string(sent, 'x'));
}

TEST(HttpFrontTest, OfBodiesThatHaveNoRoomTogetherTheSlowestIsRefused) {
  HttpFrontOptions options;
  options.io_threads = 1;
  options.max_bytes_in_flight = 100'000;
  RunningFront front(
      [](Request r, HttpCaller, auto respond) { respond(MakeResponse(200, absl::StrCat(r.body.size()))); }, options);
  RawSocket slow(front.port());
  ASSERT_TRUE(slow.Send(PartOf("/slow", 80'000, 60'000)));
  ASSERT_TRUE(Eventually([&] { return front.connections() == 1; }));
  for (int i = 0; i < 3; ++i) {
    RawSocket quick(front.port());
    ASSERT_TRUE(quick.Send(PostOf("/quick", std::string(80'000, 'x'))));
    EXPECT_THAT(quick.ReadAnswer(), EndsWith("\r\n\r\n80000")) << "the room is given back";
  }
  EXPECT_THAT(slow.ReadToEnd(),
              AllOf(IsRefusal(503), HasSubstr("Retry-After: 1\r\n"), HasSubstr("hold 100000 bytes together")));
}

TEST(HttpFrontTest, ABodyHoldsItsRoomUntilItIsAnswered) {
  HttpFrontOptions options;
  options.max_bytes_in_flight = 100'000;
  Inbox<FakeHttpHandler::Respond> held;
  RunningFront front(
      [&](Request r, HttpCaller, auto respond) {
        r.path == "/held" ? held.Put(std::move(respond)) : respond(MakeResponse(200, "done"));
      },
      options);
  auto waiting = std::make_unique<RawSocket>(front.port());
  ASSERT_TRUE(waiting->Send(PostOf("/held", std::string(80'000, 'x'))));
  auto respond = held.Take();
  ASSERT_TRUE(respond.has_value());
  RawSocket second(front.port());
  ASSERT_TRUE(second.Send(PostOf("/x", std::string(30'000, 'x'))));
  EXPECT_THAT(second.ReadToEnd(), IsRefusal(503)) << "the first is at work";
  waiting.reset();  // nobody waits for it any more, and yet it is there
  RawSocket third(front.port());
  ASSERT_TRUE(third.Send(PostOf("/x", std::string(30'000, 'x'))));
  EXPECT_THAT(third.ReadToEnd(), IsRefusal(503));
  (*respond)(MakeResponse(200, "late"));
  RawSocket fourth(front.port());
  ASSERT_TRUE(fourth.Send(PostOf("/x", std::string(80'000, 'x'))));
  EXPECT_THAT(fourth.ReadAnswer(), EndsWith("done"));
}

TEST(HttpFrontTest, APortInUseIsSaid) {
  RunningFront front;
  FakeHttpHandler handler;
  HttpFrontOptions options;
  options.port = front.port();
  const auto second =
      front.thread.Run([&] { return HttpFront::Start(front.thread.loop(), handler, options).status(); });
  EXPECT_THAT(second, StatusIs(absl::StatusCode::kUnavailable, HasSubstr(absl::StrCat("127.0.0.1:", front.port()))));
}

// --- slow and idle clients

HttpFrontOptions Hasty() {
  HttpFrontOptions options;
  options.header_timeout = options.body_timeout = options.idle_timeout = options.write_timeout = absl::Hours(1);
  return options;
}

TEST(HttpFrontTest, AHeaderMustArriveInTime) {
  HttpFrontOptions options = Hasty();
  options.header_timeout = absl::Milliseconds(40);
  RunningFront front(nullptr, options);
  RawSocket client(front.port());
  ASSERT_TRUE(client.Send("GET /x HTTP/1.1\r\nHost: 127"));
  EXPECT_THAT(client.ReadToEnd(), IsRefusal(408));
}

TEST(HttpFrontTest, ABodyMustArriveInTime) {
  HttpFrontOptions options = Hasty();
  options.body_timeout = absl::Milliseconds(40);
  RunningFront front(nullptr, options);
  RawSocket client(front.port());
  ASSERT_TRUE(client.Send("POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\nabc"));
  EXPECT_THAT(client.ReadToEnd(), IsRefusal(408));
}

TEST(HttpFrontTest, AnIdleConnectionIsClosedWithoutAWord) {
  HttpFrontOptions options = Hasty();
  options.idle_timeout = absl::Milliseconds(40);
  RunningFront front(nullptr, options);
  RawSocket silent(front.port());
  EXPECT_TRUE(silent.ClosedByPeer());
  // One that had an answer; on a busy machine a request may come too late, as such requests do.
  EXPECT_TRUE(Eventually([&] {
    RawSocket client(front.port());
    if (!client.Send(GetOf("/x")) || !absl::EndsWith(client.ReadAnswer(), "GET /x")) return false;
    EXPECT_TRUE(client.ClosedByPeer());
    return true;
  }));
}

TEST(HttpFrontTest, AnAnswerThatIsNotTakenIsGivenUp) {
  HttpFrontOptions options = Hasty();
  options.write_timeout = absl::Milliseconds(40);
  Inbox<std::string> asked;
  RunningFront front(
      [&](Request r, HttpCaller, auto respond) {
        asked.Put(r.path);
        respond(MakeResponse(200, std::string(40 << 20, 'x')));
      },
      options);
  RawSocket client(front.port(), 4096);
  ASSERT_TRUE(client.Send(GetOf("/x")));
  EXPECT_EQ(asked.Take(), "/x") << "it is connected";
  EXPECT_TRUE(Eventually([&] { return front.connections() == 0; }));
}

TEST(HttpFrontTest, ALargeAnswerArrivesWhole) {
  const std::string body(30 << 20, 'x');
  RunningFront front([&](Request, HttpCaller, auto respond) { respond(MakeResponse(200, body)); });
  RawSocket client(front.port());
  ASSERT_TRUE(client.Send(GetOf("/x")));
  const std::string answer = client.ReadAnswer();
  EXPECT_EQ(answer.size() - (answer.find("\r\n\r\n") + 4), body.size());
  EXPECT_THAT(answer.substr(answer.size() - 4), "xxxx");
}

bool EndsWithText(absl::string_view text, absl::string_view end) {
  return absl::EndsWith(text, end);
}  // without printing them

TEST(HttpFrontTest, AnAnswerInPiecesArrivesWhole) {
  const std::vector<std::size_t> sizes = {1, 100, 300'000, 0, 7, 5'000'000, 255'000, 2'000, 12, 1'000'000};
  std::string whole = "{";
  std::vector<Bytes> pieces;
  for (const std::size_t size : sizes) {
    pieces.push_back(MakeBytes(std::string(size, static_cast<char>('a' + pieces.size()))));
    whole += *pieces.back();
  }
  RunningFront front([&](Request, HttpCaller, auto respond) {
    HttpHandler::Reply answer(MakeResponse(200, "{"));
    answer.more = pieces;
    respond(std::move(answer));
  });
  RawSocket client(front.port());
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(client.Send(GetOf("/x")));
    const std::string answer = client.ReadAnswer();
    EXPECT_TRUE(answer.substr(answer.find("\r\n\r\n") + 4) == whole);
  }
  ASSERT_TRUE(client.Send("HEAD /x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"));
  EXPECT_THAT(client.ReadAnswer(false), HasSubstr(absl::StrCat("Content-Length: ", whole.size(), "\r\n")));
  ASSERT_TRUE(client.Send("GET /x HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(EndsWithText(client.ReadToEnd(), whole));
}

TEST(HttpFrontTest, SlowReadersShareWhatTheyWaitForAndTheSlowestMakeRoom) {
  HttpFrontOptions options = Hasty();
  options.max_unread_bytes = 20 << 20;
  const Bytes list = MakeBytes(std::string(16 << 20, 'x'));
  RunningFront front(
      [&](Request request, HttpCaller, auto respond) {
        HttpHandler::Reply answer(MakeResponse(200, ""));
        answer.more = {request.path == "/list" ? list : MakeBytes(std::string(list->size(), 'y'))};
        respond(std::move(answer));
      },
      options);
  std::vector<std::unique_ptr<RawSocket>> slow;
  for (int i = 0; i < 10; ++i) {
    slow.push_back(std::make_unique<RawSocket>(front.port(), 4096));
    ASSERT_TRUE(slow.back()->Send(GetOf("/list")));
    ASSERT_TRUE(slow.back()->ReadUntil("\r\n\r\n"));
  }
  RawSocket quick(front.port());
  ASSERT_TRUE(quick.Send(GetOf("/list")));
  EXPECT_GT(quick.ReadAnswer().size(), list->size());
  EXPECT_EQ(front.connections(), 11);  // one list, however many read it
  RawSocket another(front.port(), 4096);
  ASSERT_TRUE(another.Send(GetOf("/another")));
  EXPECT_TRUE(Eventually([&] { return front.connections() < 12; }));  // there is room for one of the two
  ASSERT_TRUE(quick.Send(GetOf("/list")));
  EXPECT_GT(quick.ReadAnswer().size(), list->size());
  slow.clear();
  EXPECT_TRUE(Eventually([&] { return list.use_count() == 1; }));
}

// --- watches

Frame Added(std::string object) { return {FrameType::kAdded, MakeBytes(std::move(object))}; }

TEST(HttpFrontTest, AWatchIsAChunkedStreamOfLines) {
  RunningFront front;
  RawSocket client(front.port());
  ASSERT_TRUE(client.Send(GetOf("/w?watch=true")));
  EXPECT_EQ(front.handler.started.Take(), "/w");
  ASSERT_TRUE(
      client.ReadUntil("Transfer-Encoding: chunked\r\nCache-Control: no-cache, private\r\n\r\n"));  // before any frame
  front.Send("/w", {Added("{\"a\":1}")});
  ASSERT_TRUE(client.ReadUntil("\r\n22\r\n{\"type\":\"ADDED\",\"object\":{\"a\":1}}\n\r\n")) << client.ReadToEnd();
  front.End("/w", absl::OkStatus());
  ASSERT_TRUE(client.ReadUntil("0\r\n\r\n"));
  EXPECT_EQ(front.handler.ended.Take(), "/w");
  ASSERT_TRUE(client.Send(GetOf("/x")));
  EXPECT_TRUE(client.ReadUntil("GET /x"));
}

TEST(HttpFrontTest, ARequestSentDuringAWatchIsAnsweredAfterIt) {
  RunningFront front;
  RawSocket client(front.port());
  ASSERT_TRUE(client.Send(GetOf("/w?watch=true") + GetOf("/next")));
  EXPECT_EQ(front.handler.started.Take(), "/w");
  front.Send("/w", {Added("{}")});
  front.End("/w", absl::OkStatus());
  EXPECT_TRUE(client.ReadUntil("0\r\n\r\nHTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(client.ReadUntil("GET /next"));
}

TEST(HttpFrontTest, AnOldClientsWatchEndsWithItsConnection) {
  RunningFront front;
  RawSocket client(front.port());
  ASSERT_TRUE(client.Send("GET /w?watch=true HTTP/1.0\r\n\r\n"));
  EXPECT_EQ(front.handler.started.Take(), "/w");
  front.Send("/w", {Added("{}")});
  front.End("/w", absl::OkStatus());
  EXPECT_THAT(client.ReadToEnd(),
              AllOf(EndsWith("\r\n\r\n{\"type\":\"ADDED\",\"object\":{}}\n"), Not(HasSubstr("chunked"))));
}

TEST(HttpFrontTest, ARefusedWatchIsAnAnswer) {
  RunningFront front;
  front.handler.RefuseWatch("/w", MakeResponse(410, "gone"));
  RawSocket client(front.port());
  ASSERT_TRUE(client.Send(GetOf("/w?watch=true")));
  EXPECT_THAT(client.ReadAnswer(), AllOf(StartsWith("HTTP/1.1 410 Gone\r\n"), EndsWith("gone")));
  ASSERT_TRUE(client.Send("HEAD /v?watch=true HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  EXPECT_THAT(client.ReadAnswer(false), StartsWith("HTTP/1.1 405 "));
}

TEST(HttpFrontTest, APageForBrowsersIsOnlyReadAndEveryAnswerSaysWhatTheyMayDo) {
  HttpFrontOptions options;
  options.read_only = true;
  options.headers = {{"X-Content-Type-Options", "nosniff"}, {"X-Two", "a\r\nX-Three: b"}};
  RunningFront front([](Request, HttpCaller caller, auto respond) { respond(MakeResponse(200, caller.languages)); },
                     options);
  RawSocket client(front.port());
  const auto lines =
      AllOf(HasSubstr("\r\nX-Content-Type-Options: nosniff\r\n"), HasSubstr("\r\nX-Two: a  X-Three: b\r\n"));
  ASSERT_TRUE(client.Send(GetOf("/", "Accept-Language: zh-CN, en;q=0.5\r\n")));
  EXPECT_THAT(client.ReadAnswer(), AllOf(StartsWith("HTTP/1.1 200"), lines, EndsWith("zh-CN, en;q=0.5")));
  ASSERT_TRUE(client.Send(GetOf("/w?watch=true")));
  ASSERT_TRUE(client.ReadUntil("nosniff\r\nX-Two"));
  RawSocket writer(front.port());
  ASSERT_TRUE(writer.Send(PostOf("/", "ab")));
  EXPECT_THAT(writer.ReadAnswer(), AllOf(IsRefusal(405), HasSubstr("\r\nAllow: GET, HEAD\r\n"), lines));
}

TEST(HttpFrontTest, AWatcherThatLeavesIsNoticed) {
  RunningFront front;
  auto client = std::make_unique<RawSocket>(front.port());
  ASSERT_TRUE(client->Send(GetOf("/w?watch=true")));
  EXPECT_EQ(front.handler.started.Take(), "/w");
  client.reset();
  EXPECT_EQ(front.handler.ended.Take(), "/w");
  EXPECT_TRUE(Eventually([&] { return front.connections() == 0; }));
}

// Its end stands behind what it sent, where nobody reads.
TEST(HttpFrontTest, AWatcherThatSendsMuchAheadIsNotKept) {
  RunningFront front;
  auto client = std::make_unique<RawSocket>(front.port());
  ASSERT_TRUE(client->Send(GetOf("/w?watch=true")));
  EXPECT_EQ(front.handler.started.Take(), "/w");
  ASSERT_TRUE(client->ReadUntil("\r\n\r\n"));
  client->Send(std::string(40'000, 'A'));
  EXPECT_EQ(front.handler.ended.Take(), "/w") << "it is still there, and so is what it sent";
  EXPECT_TRUE(Eventually([&] { return front.connections() == 0; }));
}

TEST(HttpFrontTest, AWatcherThatDoesNotReadIsCutOff) {
  HttpFrontOptions options;
  options.max_watch_queue_bytes = 1 << 20;
  RunningFront front(nullptr, options);
  RawSocket slow(front.port(), 4096);
  RawSocket quick(front.port());
  ASSERT_TRUE(slow.Send(GetOf("/slow?watch=true")));
  ASSERT_TRUE(quick.Send(GetOf("/quick?watch=true")));
  ASSERT_TRUE(front.handler.started.Take().has_value());
  ASSERT_TRUE(front.handler.started.Take().has_value());
  const Bytes object = MakeBytes("{\"p\":\"" + std::string(100'000, 'x') + "\"}");
  int sent = 0;
  while (front.handler.ended.size() == 0 && sent < 1000) {
    front.Send("/slow", {{FrameType::kAdded, object}});
    ++sent;
  }
  EXPECT_EQ(front.handler.ended.Take(), "/slow");
  EXPECT_LT(sent, 200);  // the queue and what the sockets hold, no more
  EXPECT_LE(object.use_count(), 1 + 20);
  front.Send("/quick", {Added("{\"still\":\"here\"}")});
  EXPECT_TRUE(quick.ReadUntil("{\"still\":\"here\"}"));
}

TEST(HttpFrontTest, AWatchMayBeginWithMoreThanItsQueueHolds) {
  HttpFrontOptions options;
  options.max_watch_queue_bytes = 1 << 20;
  RunningFront front(nullptr, options);
  RawSocket client(front.port());
  ASSERT_TRUE(client.Send(GetOf("/w?watch=true")));
  EXPECT_EQ(front.handler.started.Take(), "/w");
  const Bytes object = MakeBytes("\"" + std::string(100'000, 'x') + "\"");
  std::vector<Frame> beginning(50, Frame{FrameType::kAdded, object});
  beginning.push_back(Added("\"last\""));
  front.Send("/w", std::move(beginning));
  EXPECT_TRUE(client.ReadUntil("last"));
  EXPECT_EQ(front.connections(), 1);
}

TEST(HttpFrontTest, ClosingTheFrontEndsItsWatchesAndSurvivesLateAnswers) {
  Inbox<FakeHttpHandler::Respond> held;
  RunningFront front([&](Request, HttpCaller, auto respond) { held.Put(std::move(respond)); });
  RawSocket watcher(front.port()), waiting(front.port()), idle(front.port());
  ASSERT_TRUE(watcher.Send(GetOf("/w?watch=true")));
  ASSERT_TRUE(waiting.Send(GetOf("/x")));
  ASSERT_TRUE(front.handler.started.Take().has_value());
  auto respond = held.Take();
  ASSERT_TRUE(respond.has_value());
  front.Stop();
  EXPECT_EQ(front.handler.ended.Take(), "/w");
  (*respond)(MakeResponse(200, "late"));
  EXPECT_THAT(watcher.ReadToEnd(), Not(HasSubstr("0\r\n\r\n")));  // broken off, not ended
  EXPECT_EQ(waiting.ReadToEnd(), "");
  EXPECT_EQ(idle.ReadToEnd(), "");
}

TEST(HttpFrontTest, AnAnswerGivenIsStillWrittenWhenTheFrontCloses) {
  const std::string body(8 << 20, 'x');
  RunningFront front([&](Request, HttpCaller, auto respond) { respond(MakeResponse(200, body)); });
  RawSocket client(front.port());
  ASSERT_TRUE(client.Send(GetOf("/x")));
  ASSERT_TRUE(client.ReadUntil("\r\n\r\n"));
  std::string answer;
  std::thread reads([&] { answer = client.ReadAnswer(); });
  front.Stop();
  reads.join();
  EXPECT_GE(answer.size(), body.size());
}

// Finds the answers to GET /known... without the loop, and says of which paths it was asked.
class KnowingHandler final : public FakeHttpHandler {
 public:
  std::optional<Reply> AnswerAtOnce(const Request& request, const HttpCaller&) override {
    asked.Put(request.path);
    if (!absl::StartsWith(request.path, "/known")) return std::nullopt;
    Reply reply = MakeResponse(200, "known ");
    reply.more.push_back(MakeBytes(request.path));
    return reply;
  }
  Inbox<std::string> asked;
};

class AnswersAtOnceTest : public ::testing::Test {
 protected:
  ~AnswersAtOnceTest() override {
    thread_.Run([&] { front_.reset(); });
  }
  KnowingHandler handler_;
  testutil::LoopThread thread_;
  std::unique_ptr<HttpFront> front_ =
      thread_.Run([&] { return *HttpFront::Start(thread_.loop(), handler_, HttpFrontOptions()); });
};

TEST_F(AnswersAtOnceTest, WhatTakesNoTimeIsAnsweredWhileTheLoopIsBusy) {
  RawSocket client(front_->port());
  client.Send(GetOf("/known"));
  ASSERT_THAT(client.ReadAnswer(), EndsWith("known /known")) << "the loop was asked, for which is not waited below";
  thread_.Run([&] {
    for (int i = 0; i < 3; ++i) {
      client.Send(GetOf("/known"));
      EXPECT_THAT(client.ReadAnswer(), AllOf(HasSubstr("Content-Length: 12\r\n"), EndsWith("\r\n\r\nknown /known")));
    }
  });
  client.Send(GetOf("/else"));
  EXPECT_THAT(client.ReadAnswer(), EndsWith("\r\n\r\nGET /else"));
  client.Send("HEAD /known HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(client.ReadToEnd(), AllOf(HasSubstr("Content-Length: 12\r\n"), EndsWith("\r\n\r\n")));
}

// Else a client could have each answered within the one before, deeper and deeper.
TEST_F(AnswersAtOnceTest, RequestsThatOthersFollowAreTheLoops) {
  RawSocket client(front_->port());
  client.Send(absl::StrCat(GetOf("/known/1"), GetOf("/else"), GetOf("/known/2")));
  EXPECT_THAT(client.ReadAnswer(), EndsWith("GET /known/1"));
  EXPECT_THAT(client.ReadAnswer(), EndsWith("GET /else"));
  EXPECT_THAT(client.ReadAnswer(), EndsWith("known /known/2"));
  EXPECT_EQ(handler_.asked.Take(), "/known/2");
  EXPECT_EQ(handler_.asked.size(), 0u);
}

}  // namespace
}  // namespace gangway::kube
