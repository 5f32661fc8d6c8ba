#include "kube/serve/web_socket.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/serve/http_front.h"
#include "tests/testing/fake_http_handler.h"
#include "tests/testing/loop_thread.h"
#include "tests/testing/raw_socket.h"

namespace gangway::kube {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testutil::Eventually;
using testutil::RawSocket;

// Sends back what comes, with "> " before it; "close" closes it, and after "hold" nothing is read until Release.
class EchoHandler final : public testutil::FakeHttpHandler {
 public:
  WebSocketAnswer OpenWebSocket(Request request, HttpCaller, const std::vector<std::string>& protocols,
                                WebSocket& socket) override {
    offered = protocols;
    WebSocketAnswer answer;
    if (request.path == "/no") {
      answer.refused = testutil::MakeResponse(403, "not you");
      return answer;
    }
    answer.protocol = protocols.back();
    socket.Send("hello");
    answer.user = std::make_unique<User>(*this, socket);
    user = static_cast<User*>(answer.user.get());
    return answer;
  }
  class User final : public WebSocketUser {
   public:
    User(EchoHandler& handler, WebSocket& its) : socket(its), handler_(handler) {}
    ~User() override {
      handler_.user = nullptr;
      handler_.gone.Put("gone");
    }
    bool OnMessage(std::string message) override {
      if (message == "close") socket.Close();
      if (message == "much") socket.Send(std::string(4u << 20, 'm'));
      socket.Send("> " + message);
      return message != "hold";
    }
    void OnRoom() override { handler_.room.Put("room"); }
    WebSocket& socket;

   private:
    EchoHandler& handler_;
  };
  std::vector<std::string> offered;
  testutil::Inbox<std::string> gone, room;
  User* user = nullptr;
};

class WebSocketTest : public ::testing::Test {
 protected:
  explicit WebSocketTest() { Serve({}); }
  ~WebSocketTest() override {
    thread_.Run([&] { front_.reset(); });
  }
  void Serve(HttpFrontOptions options) {
    thread_.Run([&] {
      front_.reset();
      front_ = *HttpFront::Start(thread_.loop(), handler_, options);
    });
  }
  static std::string UpgradeOf(const std::string& path, const std::string& more = "") {
    return absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
                        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
                        "Sec-WebSocket-Protocol: v4.channel.k8s.io, v5.channel.k8s.io\r\n", more, "\r\n");
  }
  // A whole message of a client, masked with zeros; RFC 6455, 5.2.
  static std::string Frame(absl::string_view text, unsigned char opcode = 2) {
    std::string out(1, static_cast<char>(0x80 | opcode));
    if (text.size() < 126) {
      out.push_back(static_cast<char>(0x80 | text.size()));
    } else {
      out.push_back(static_cast<char>(0x80 | 127));
      for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>(text.size() >> shift & 0xff));
    }
    return absl::StrCat(out, std::string(4, '\0'), text);
  }
  // A short one of the server's.
  static std::string Answer(absl::string_view text) {
    return absl::StrCat("\x82", std::string(1, static_cast<char>(text.size())), text);
  }

  EchoHandler handler_;
  testutil::LoopThread thread_;
  std::unique_ptr<HttpFront> front_;
};

TEST_F(WebSocketTest, MessagesGoBothWays) {
  RawSocket client(front_->port());
  ASSERT_TRUE(client.Send(UpgradeOf("/x")));
  const std::string answer = client.ReadAnswer(false);
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 101 "), HasSubstr("Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n"),
                            HasSubstr("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n")))
      << "the key's answer is that of RFC 6455, 1.3";
  EXPECT_THAT(handler_.offered, ElementsAre("v4.channel.k8s.io", "v5.channel.k8s.io"));
  EXPECT_TRUE(client.ReadUntil(Answer("hello"))) << "sent before it was open";
  ASSERT_TRUE(client.Send(Frame("a") + Frame("ping", 9) + Frame("b")));
  EXPECT_TRUE(client.ReadUntil(Answer("> a")));
  EXPECT_TRUE(client.ReadUntil(absl::StrCat("\x8a", "\4", "ping")));
  EXPECT_TRUE(client.ReadUntil(Answer("> b")));
}

TEST_F(WebSocketTest, AClosedOneEndsInOrder) {
  RawSocket client(front_->port());
  ASSERT_TRUE(client.Send(UpgradeOf("/x")));
  client.ReadAnswer(false);
  ASSERT_TRUE(client.Send(Frame("close")));
  EXPECT_TRUE(client.ReadUntil(absl::StrCat("\x88", "\2", "\x03\xe8"))) << "1000, after what was sent";
  ASSERT_TRUE(client.Send(Frame("\x03\xe8", 8)));
  client.ReadToEnd();
  EXPECT_EQ(handler_.gone.Take(), "gone");
}

TEST_F(WebSocketTest, WhoIsHeldUpIsReadLater) {
  RawSocket client(front_->port());
  ASSERT_TRUE(client.Send(UpgradeOf("/x")));
  client.ReadAnswer(false);
  ASSERT_TRUE(client.Send(Frame("hold") + Frame("later")));
  ASSERT_TRUE(client.ReadUntil(Answer("> hold")));
  thread_.Run([&] { handler_.user->socket.ReadOn(); });
  EXPECT_TRUE(client.ReadUntil(Answer("> later")));
}

TEST_F(WebSocketTest, WhatIsNotTakenIsCounted) {
  RawSocket client(front_->port(), 4096);
  ASSERT_TRUE(client.Send(UpgradeOf("/x")));
  client.ReadAnswer(false);
  ASSERT_TRUE(client.Send(Frame("much")));
  ASSERT_TRUE(client.ReadUntil("mmm"));
  EXPECT_GT(thread_.Run([&] { return handler_.user->socket.unsent(); }), 1u << 20);
  ASSERT_TRUE(client.ReadUntil("> much"));
  EXPECT_EQ(handler_.room.Take(), "room");
  EXPECT_TRUE(Eventually([&] { return thread_.Run([&] { return handler_.user->socket.unsent(); }) == 0; }));
}

TEST_F(WebSocketTest, AClientThatGoesIsNoticed) {
  {
    RawSocket client(front_->port());
    ASSERT_TRUE(client.Send(UpgradeOf("/x")));
    client.ReadAnswer(false);
  }
  EXPECT_EQ(handler_.gone.Take(), "gone");
  EXPECT_TRUE(Eventually([&] { return front_->connections() == 0; }));
}

TEST_F(WebSocketTest, AClientThatGoesWhileNobodyReadsIsNoticed) {
  {
    RawSocket client(front_->port());
    ASSERT_TRUE(client.Send(UpgradeOf("/x")));
    client.ReadAnswer(false);
    ASSERT_TRUE(client.Send(Frame("hold")));
    ASSERT_TRUE(client.ReadUntil(Answer("> hold")));
    EXPECT_EQ(handler_.gone.size(), 0u);
  }
  EXPECT_EQ(handler_.gone.Take(), "gone");
}

TEST_F(WebSocketTest, WhatIsNoMessageOfOursEndsIt) {
  for (const std::string& bytes : {Frame("text", 1), Frame(std::string(kMaxWebSocketMessage + 1, 'x')),
                                   std::string("\x82\x01x"), std::string(20, '\xff')}) {
    SCOPED_TRACE(absl::StrCat(bytes.size(), " bytes"));
    RawSocket client(front_->port());
    ASSERT_TRUE(client.Send(UpgradeOf("/x")));
    client.ReadAnswer(false);
    client.Send(bytes);
    client.ReadToEnd();
    EXPECT_EQ(handler_.gone.Take(), "gone");
  }
}

TEST_F(WebSocketTest, RefusalsAreAnswersOverHttp) {
  RawSocket client(front_->port());
  ASSERT_TRUE(client.Send(UpgradeOf("/no")));
  EXPECT_THAT(client.ReadAnswer(), AllOf(StartsWith("HTTP/1.1 403 "), HasSubstr("not you")));
  ASSERT_TRUE(client.Send("GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  EXPECT_THAT(client.ReadAnswer(), HasSubstr("GET /x")) << "the connection is kept";
  RawSocket eager(front_->port());
  ASSERT_TRUE(eager.Send(UpgradeOf("/x") + Frame("early")));
  EXPECT_THAT(eager.ReadAnswer(), StartsWith("HTTP/1.1 400 "));
  RawSocket page(front_->port());
  ASSERT_TRUE(page.Send(UpgradeOf("/x", "Origin: http://elsewhere.example\r\n")));
  EXPECT_THAT(page.ReadAnswer(), StartsWith("HTTP/1.1 403 "));
}

TEST_F(WebSocketTest, ThereAreOnlySoMany) {
  HttpFrontOptions options;
  options.max_web_sockets = 1;
  Serve(options);
  RawSocket first(front_->port()), second(front_->port());
  ASSERT_TRUE(first.Send(UpgradeOf("/x")));
  EXPECT_THAT(first.ReadAnswer(false), StartsWith("HTTP/1.1 101 "));
  ASSERT_TRUE(second.Send(UpgradeOf("/x")));
  EXPECT_THAT(second.ReadAnswer(), AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("all 1 WebSockets")));
}

TEST_F(WebSocketTest, OpenOnesEndWithTheFront) {
  RawSocket client(front_->port());
  ASSERT_TRUE(client.Send(UpgradeOf("/x")));
  client.ReadAnswer(false);
  thread_.Run([&] { front_.reset(); });
  client.ReadToEnd();
  EXPECT_EQ(handler_.gone.Take(), "gone");
}

}  // namespace
}  // namespace gangway::kube
