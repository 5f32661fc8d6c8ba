#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sandbox/streams/exec_session.h"
#include "sandbox/streams/port_forward_session.h"
#include "sandbox/streams/remote_command.h"
#include "tests/sandbox/streams/spdy_client.h"
#include "tests/testing/status_matchers.h"

namespace gangway::sandbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testutil::SpdyClient;
using testutil::StatusIs;

struct FakeSocket final : kube::WebSocket {
  void Send(std::string message) override { sent.push_back(std::move(message)); }
  std::size_t unsent() const override { return left; }
  void Close() override { closed = true; }
  void ReadOn() override { ++read_on; }
  std::vector<std::string> sent;
  std::size_t left = 0;
  int read_on = 0;
  bool closed = false;
};

// What the container's side was told.
struct Heard {
  StreamEvents events;
  std::string input, said;
  std::size_t took = 0, unwritten = 0;
  int port = 0;
  bool ended = false;
};

class FakeStream final : public ContainerStream {
 public:
  explicit FakeStream(Heard& heard) : heard_(heard) {}
  ~FakeStream() override { heard_.ended = true; }
  void Write(absl::string_view bytes) override { absl::StrAppend(&heard_.input, bytes); }
  std::size_t unwritten() const override { return heard_.unwritten; }
  void CloseInput() override { heard_.said += "close "; }
  void Resize(int columns, int rows) override { absl::StrAppend(&heard_.said, columns, "x", rows, " "); }
  void Took(std::size_t bytes) override { heard_.took += bytes; }

 private:
  Heard& heard_;
};

class ExecSessionTest : public ::testing::Test {
 protected:
  std::unique_ptr<ExecSession> Start(ExecOutputs outputs = {}) {
    auto session = ExecSession::Start(socket_, outputs, [this](StreamEvents events) {
      heard_.events = std::move(events);
      return absl::StatusOr<std::unique_ptr<ContainerStream>>(std::make_unique<FakeStream>(heard_));
    });
    EXPECT_EQ(session.status(), absl::OkStatus());
    socket_.sent.clear();
    return *std::move(session);
  }
  FakeSocket socket_;
  Heard heard_;
};

TEST_F(ExecSessionTest, ChannelsGoToTheCommandAndBack) {
  const auto session = Start();
  EXPECT_TRUE(session->OnMessage(std::string("\0ls\n", 4)));
  EXPECT_TRUE(session->OnMessage("\4{\"Width\":120,\"Height\":40}"));
  EXPECT_TRUE(session->OnMessage("\4{\"Width\":-1}"));
  EXPECT_TRUE(session->OnMessage("\4nonsense"));
  EXPECT_TRUE(session->OnMessage("\7?"));
  EXPECT_TRUE(session->OnMessage(""));
  EXPECT_TRUE(session->OnMessage(std::string("\xff\0", 2)));
  EXPECT_EQ(heard_.input, "ls\n");
  EXPECT_EQ(heard_.said, "120x40 close ");
  heard_.events.on_output(false, "out");
  heard_.events.on_output(true, "err");
  heard_.events.on_end({"", 3});
  EXPECT_THAT(socket_.sent,
              ElementsAre("\1out", "\2err",
                          "\3{\"metadata\":{},\"status\":\"Failure\",\"message\":\"command terminated with non-zero "
                          "exit code: 3\",\"reason\":\"NonZeroExitCode\",\"details\":{\"causes\":[{\"reason\":"
                          "\"ExitCode\",\"message\":\"3\"}]}}"));
  EXPECT_TRUE(socket_.closed);
}

TEST_F(ExecSessionTest, ItSaysThatItIsOpenAndHowItEnds) {
  ExecSession::Start(socket_, {false, true}, [this](StreamEvents) {
    return absl::StatusOr<std::unique_ptr<ContainerStream>>(std::make_unique<FakeStream>(heard_));
  }).IgnoreError();
  EXPECT_THAT(socket_.sent, ElementsAre("\2"));
  EXPECT_EQ(RemoteStatus({"", 0}), "{\"metadata\":{},\"status\":\"Success\"}");
  EXPECT_THAT(RemoteStatus({"exec: \"no\": not found", 128}),
              HasSubstr("error executing command in container: exec: \\\"no\\\": not found"));
  EXPECT_THAT(ExecSession::Start(socket_, {}, [](StreamEvents) { return absl::InvalidArgumentError("no"); }).status(),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(ExecSessionTest, WhatIsNotAskedForIsDroppedAndTaken) {
  const auto session = Start({false, true});
  heard_.events.on_output(false, "out");
  EXPECT_THAT(socket_.sent, IsEmpty());
  EXPECT_EQ(heard_.took, 3u);
}

TEST_F(ExecSessionTest, EachSideWaitsForTheOther) {
  const auto session = Start();
  heard_.unwritten = kMaxUntaken + 1;
  EXPECT_FALSE(session->OnMessage(std::string("\0x", 2)));
  heard_.events.on_room();
  EXPECT_EQ(socket_.read_on, 1);
  heard_.events.on_room();
  EXPECT_EQ(socket_.read_on, 1) << "nobody waits";
  socket_.left = kMaxUntaken + 1;
  heard_.events.on_output(false, "1234");
  EXPECT_EQ(heard_.took, 0u);
  session->OnRoom();
  EXPECT_EQ(heard_.took, 4u);
}

TEST_F(ExecSessionTest, AfterTheEndOfItsInputTheCommandHearsNothing) {
  const auto session = Start();
  EXPECT_TRUE(session->OnMessage(std::string("\0a", 2)));
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(session->OnMessage(std::string("\xff\0", 2)));
  EXPECT_TRUE(session->OnMessage(std::string("\0b", 2)));
  EXPECT_EQ(heard_.input, "a");
  EXPECT_EQ(heard_.said, "close ");
}

class PortForwardSessionTest : public ::testing::Test {
 protected:
  PortForwardSessionTest()
      : session_(socket_, "web", [this](int port, StreamEvents events) {
          heard_.events = std::move(events);
          heard_.port = port;
          return refused_.empty()
                     ? absl::StatusOr<std::unique_ptr<ContainerStream>>(std::make_unique<FakeStream>(heard_))
                     : absl::UnavailableError(refused_);
        }) {}
  std::string Headers(std::uint32_t id, const char* type, const char* port = "8080", const char* request = "0") {
    return client_.Open(id, {{"streamtype", type}, {"port", port}, {"requestid", request}});
  }
  void Connect() {
    EXPECT_TRUE(session_.OnMessage(Headers(1, "error") + SpdyClient::Data(1, "", true)));
    EXPECT_TRUE(session_.OnMessage(Headers(3, "data")));
    socket_.sent.clear();
  }
  FakeSocket socket_;
  Heard heard_;
  std::string refused_;
  SpdyClient client_;
  PortForwardSession session_;
};

TEST_F(PortForwardSessionTest, TwoStreamsAreOneConnection) {
  EXPECT_TRUE(session_.OnMessage(Headers(1, "error") + SpdyClient::Data(1, "", true)));
  EXPECT_EQ(heard_.port, 0);
  EXPECT_TRUE(session_.OnMessage(Headers(3, "data") + SpdyClient::Data(3, "GET /")));
  EXPECT_EQ(heard_.port, 8080);
  EXPECT_EQ(heard_.input, "GET /");
  ASSERT_EQ(socket_.sent.size(), 2u) << "each stream is accepted";
  socket_.sent.clear();
  heard_.events.on_output(false, "200");
  session_.OnMessage(SpdyClient::Data(3, "", true));
  EXPECT_EQ(heard_.said, "close ");
  heard_.events.on_end({});
  EXPECT_THAT(socket_.sent,
              ElementsAre(SpdyClient::Data(3, "200"), SpdyClient::Data(1, "", true), SpdyClient::Data(3, "", true)));
  EXPECT_TRUE(heard_.ended);
  EXPECT_FALSE(socket_.closed) << "more connections may come";
}

TEST_F(PortForwardSessionTest, DataMayComeBeforeItsStreamIsWhole) {
  session_.OnMessage(Headers(1, "data") + SpdyClient::Data(1, "early", true));
  EXPECT_EQ(heard_.port, 0);
  session_.OnMessage(Headers(3, "error"));
  EXPECT_EQ(heard_.input, "early");
  EXPECT_EQ(heard_.said, "close ");
}

TEST_F(PortForwardSessionTest, LittleIsKeptForStreamsThatAreNotWhole) {
  const std::string half(kMaxUntaken / 2, 'x');
  session_.OnMessage(Headers(1, "data", "80", "a") + SpdyClient::Data(1, half));
  session_.OnMessage(Headers(3, "data", "80", "b") + SpdyClient::Data(3, half));
  EXPECT_FALSE(socket_.closed);
  session_.OnMessage(SpdyClient::Data(1, "y"));
  EXPECT_TRUE(socket_.closed);
}

TEST_F(PortForwardSessionTest, WhatIsWrongWithAPortIsToldOnItsErrorStream) {
  refused_ = "pod web does not run";
  EXPECT_TRUE(session_.OnMessage(Headers(1, "error") + Headers(3, "data")));
  ASSERT_EQ(socket_.sent.size(), 4u);
  EXPECT_EQ(socket_.sent[2], SpdyClient::Data(1, "error forwarding port 8080 to pod web: pod web does not run", true));
}

TEST_F(PortForwardSessionTest, StreamsThatMeanNothingAreRefusedAlone) {
  session_.OnMessage(Headers(1, "other"));
  session_.OnMessage(Headers(3, "data", "0"));
  session_.OnMessage(Headers(5, "data", "65536"));
  session_.OnMessage(Headers(6, "data"));
  EXPECT_THAT(socket_.sent,
              ElementsAre(SpdyWriter::Reset(1), SpdyWriter::Reset(3), SpdyWriter::Reset(5), SpdyWriter::Reset(6)));
  EXPECT_FALSE(socket_.closed);
  socket_.sent.clear();
  session_.OnMessage(SpdyClient::Data(99, "to nobody"));
  EXPECT_THAT(socket_.sent, IsEmpty());
  for (std::uint32_t i = 0; i <= PortForwardSession::kMaxConnections; ++i)
    session_.OnMessage(Headers(101 + 2 * i, "error", "80", absl::StrCat("r", i).c_str()));
  EXPECT_EQ(socket_.sent.back(), SpdyWriter::Reset(101 + 2 * PortForwardSession::kMaxConnections));
}

TEST_F(PortForwardSessionTest, ANumberThatWasUsedIsNoStreamsAgain) {
  Connect();
  heard_.events.on_end({});
  socket_.sent.clear();
  session_.OnMessage(Headers(3, "data") + Headers(1, "error"));
  EXPECT_THAT(socket_.sent, ElementsAre(SpdyWriter::Reset(3), SpdyWriter::Reset(1)));
}

TEST_F(PortForwardSessionTest, AResetEndsTheConnectionAndAPingIsAnswered) {
  Connect();
  session_.OnMessage(SpdyClient::Control(6, SpdyClient::Word(7)) + SpdyClient::Control(6, SpdyClient::Word(8)));
  session_.OnMessage(SpdyClient::Control(3, SpdyClient::Word(3) + SpdyClient::Word(5)));
  EXPECT_THAT(socket_.sent, ElementsAre(SpdyWriter::Ping(7), SpdyClient::Data(1, "", true)));
  EXPECT_TRUE(heard_.ended);
}

TEST_F(PortForwardSessionTest, EachSideWaitsForTheOther) {
  Connect();
  heard_.unwritten = kMaxUntaken + 1;
  EXPECT_FALSE(session_.OnMessage(SpdyClient::Data(3, "x")));
  heard_.events.on_room();
  EXPECT_EQ(socket_.read_on, 1);
  socket_.left = kMaxUntaken + 1;
  heard_.events.on_output(false, "1234");
  EXPECT_EQ(heard_.took, 0u);
  session_.OnRoom();
  EXPECT_EQ(heard_.took, 4u);
}

TEST_F(PortForwardSessionTest, AConnectionThatEndsHoldsUpNoOther) {
  Connect();
  heard_.unwritten = kMaxUntaken + 1;
  EXPECT_FALSE(session_.OnMessage(SpdyClient::Data(3, "x")));
  heard_.events.on_end({"", 0});
  EXPECT_EQ(socket_.read_on, 1);
}

TEST_F(PortForwardSessionTest, WhoDoesNotReadAnswersIsNotReadEither) {
  socket_.left = kMaxUntaken + 1;
  EXPECT_FALSE(session_.OnMessage(SpdyClient::Control(6, SpdyClient::Word(7))));
  socket_.left = 0;
  session_.OnRoom();
  EXPECT_EQ(socket_.read_on, 1);
}

TEST_F(PortForwardSessionTest, NothingIsObeyedBehindAFarewell) {
  Connect();
  EXPECT_TRUE(session_.OnMessage(SpdyClient::Control(7, SpdyClient::Word(3) + SpdyClient::Word(0)) +
                                 SpdyClient::Data(3, "x") + SpdyClient::Control(6, SpdyClient::Word(7))));
  EXPECT_TRUE(heard_.ended);
  EXPECT_TRUE(socket_.closed);
  EXPECT_THAT(socket_.sent, IsEmpty());
}

TEST_F(PortForwardSessionTest, NonsenseClosesIt) {
  session_.OnMessage("\x80\x02 is no SPDY of ours");
  EXPECT_TRUE(socket_.closed);
  EXPECT_TRUE(session_.OnMessage("more"));
}

}  // namespace
}  // namespace gangway::sandbox
