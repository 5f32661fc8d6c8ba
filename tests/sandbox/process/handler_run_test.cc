// What a probe or a hook does with its connection, against a server that a test plays.
#include "sandbox/process/handler_run.h"

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "api/json_value.h"
#include "base/simulated_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sandbox/process/scripted_host.h"
#include "tests/sandbox/process/tls_peer.h"

namespace gangway::sandbox {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;
using Answer = HandlerResult::Answer;

class HandlerRunTest : public ::testing::Test {
 protected:
  void Begin(absl::string_view handler, HandlerUse use = HandlerUse::kReadiness) {
    const HostedProbe probe = *api::Decode<HostedProbe>(handler);
    run_ = std::make_unique<HandlerRun>(loop_, streams_, probe.handler(), use,
                                        HandlerPlace{"u1/main/0", "u1", "10.1.0.1", {}},
                                        use == HandlerUse::kPostStart ? absl::InfiniteDuration() : absl::Seconds(3),
                                        [this](const HandlerResult& result) { result_ = result; });
  }
  const std::string& stream() const { return host_.opened.back().id; }
  void Says(absl::string_view bytes) { streams_.OnOutput(stream(), false, bytes); }
  void Ends(const std::string& error = "", int exit_code = 0) {
    News news;
    news.id = stream();
    news.error = error;
    news.exit_code = exit_code;
    streams_.OnEnded(news);
  }
  // "success", "failure: WHY", "unknown: WHY", "none".
  std::string Result() {
    loop_.RunUntilIdle();
    if (!result_) return "none";
    const char* const name = result_->answer == Answer::kSuccess   ? "success"
                             : result_->answer == Answer::kFailure ? "failure"
                                                                   : "unknown";
    return result_->message.empty() ? name : absl::StrCat(name, ": ", result_->message);
  }
  // Bytes to and fro until there are none; what the server heard.
  std::string Exchange(TlsPeer& server) {
    std::string heard;
    while (!host_.written.empty()) {
      heard += server.Take(std::exchange(host_.written, {}));
      if (const std::string out = server.TakeOutput(); !out.empty()) Says(out);
    }
    return heard;
  }

  SimulatedLoop loop_{7};
  ScriptedHost host_;
  ContainerStreams streams_{host_};
  std::optional<HandlerResult> result_;
  std::unique_ptr<HandlerRun> run_;
};

constexpr absl::string_view kGrpc = R"({"grpc":{"port":50051,"service":"trainer"}})";
// Settings; header fields with :status 200; a message, SERVING; grpc-status 0.
const std::string kSettings("\0\0\0\4\0\0\0\0\0", 9);
const std::string kServes = std::string("\0\0\1\1\4\0\0\0\1\x88", 10) +
                            std::string("\0\0\7\0\0\0\0\0\1\0\0\0\0\2\x08\1", 16) +
                            std::string(
                                "\0\0\x0f\1\5\0\0\0\1\0\x0bgrpc-status\1"
                                "0",
                                24);

TEST_F(HandlerRunTest, ByGrpcItsServiceIsAskedFor) {
  Begin(kGrpc);
  EXPECT_EQ(host_.opened.back().ip, "10.1.0.1");
  EXPECT_EQ(host_.opened.back().port, 50051);
  EXPECT_THAT(host_.written, StartsWith("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
  EXPECT_THAT(host_.written, HasSubstr("\x07trainer"));
  host_.written.clear();
  Says(kSettings);
  EXPECT_EQ(host_.written, std::string("\0\0\0\4\1\0\0\0\0", 9));
  EXPECT_EQ(Result(), "none");
  Says(kServes);
  EXPECT_EQ(Result(), "success");
  EXPECT_THAT(host_.left, SizeIs(1));
}

TEST_F(HandlerRunTest, ByGrpcNobodyIsThere) {
  Begin(kGrpc);
  Ends("connect to 10.1.0.1:50051: Connection refused");
  EXPECT_EQ(Result(),
            "failure: error: failed to connect service at \"10.1.0.1:50051\": dial tcp 10.1.0.1:50051: connect: "
            "connection refused");
}

TEST_F(HandlerRunTest, ByGrpcTheServerLeaves) {
  Begin(kGrpc);
  Says(kSettings);
  Ends();
  EXPECT_EQ(Result(),
            "failure: error: health rpc probe failed: rpc error: code = Unavailable desc = error reading from server: "
            "EOF");
}

TEST_F(HandlerRunTest, ByGrpcItIsNoSuchServer) {
  Begin(kGrpc);
  Says("HTTP/1.1 400 Bad Request\r\n");
  EXPECT_EQ(Result(),
            "failure: error: failed to connect service at \"10.1.0.1:50051\": http2: the answer does not begin as one "
            "does: PROTOCOL_ERROR: SETTINGS expected");
}

TEST_F(HandlerRunTest, ByGrpcTheTimeIsUp) {
  Begin(kGrpc);
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Result(),
            "failure: timeout: failed to connect service \"10.1.0.1:50051\" within 3s: context deadline exceeded");
  result_.reset();
  Begin(kGrpc);
  Says(kSettings);
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Result(), "failure: timeout: health rpc did not complete within 3s");
}

TEST_F(HandlerRunTest, ByHttpsNoCertificateIsLookedAt) {
  Begin(R"({"httpGet":{"port":8443,"path":"/up","scheme":"HTTPS"}})");
  TlsPeer server;
  EXPECT_THAT(Exchange(server), StartsWith("GET /up HTTP/1.1\r\nHost: 10.1.0.1:8443\r\n"));
  server.Write("HTTP/1.1 200 OK\r\n\r\n");
  Says(server.TakeOutput());
  EXPECT_EQ(Result(), "success");
}

TEST_F(HandlerRunTest, ByHttpsAnAnswerOfHttpIsToldOf) {
  Begin(R"({"httpGet":{"port":8443,"path":"/up","scheme":"HTTPS"}})");
  Says("HTTP/1.0 400 Bad Request\r\n\r\n");
  EXPECT_EQ(Result(), "failure: Get \"https://10.1.0.1:8443/up\": http: server gave HTTP response to HTTPS client");
}

TEST_F(HandlerRunTest, FromHttpARedirectionLeadsToHttps) {
  Begin(R"({"httpGet":{"port":80}})");
  host_.written.clear();
  Says("HTTP/1.1 301 Moved\r\nLocation: https://10.1.0.1:8443/x\r\n\r\n");
  EXPECT_EQ(host_.opened.back().port, 8443);
  TlsPeer server;
  EXPECT_THAT(Exchange(server), StartsWith("GET /x HTTP/1.1\r\n"));
  server.Write("HTTP/1.1 503 No\r\n\r\n");
  Says(server.TakeOutput());
  EXPECT_EQ(Result(), "failure: HTTP probe failed with statuscode: 503");
}

// pkg/kubelet/lifecycle: runHTTPHandler
TEST_F(HandlerRunTest, AHookThatFindsHttpForHttpsIsAskedByHttp) {
  Begin(R"({"httpGet":{"port":8443,"path":"/up","scheme":"HTTPS"}})", HandlerUse::kPostStart);
  host_.written.clear();
  Says("HTTP/1.0 400 Bad Request\r\n\r\n");
  EXPECT_THAT(host_.opened, SizeIs(2));
  EXPECT_THAT(host_.written, StartsWith("GET /up HTTP/1.1\r\n"));
  Says("HTTP/1.1 500 No\r\n\r\n");
  EXPECT_EQ(Result(),
            "success: request to HTTPS lifecycle hook 10.1.0.1:8443 got HTTP response, retry with HTTP succeeded");
}

TEST_F(HandlerRunTest, ACommandsOutputIsAProbesMessageAndBesideAHooks) {
  for (const HandlerUse use : {HandlerUse::kReadiness, HandlerUse::kPostStart}) {
    result_.reset();
    Begin(R"({"exec":{"command":["sh","-c","x"]}})", use);
    streams_.OnOutput(stream(), false, "out ");
    streams_.OnOutput(stream(), true, "err");
    Ends("", 3);
    if (use == HandlerUse::kReadiness) {
      EXPECT_EQ(Result(), "failure: out err");
      EXPECT_EQ(result_->output, "");
    } else {
      EXPECT_EQ(Result(), "failure: command 'sh -c x' exited with 3: err");
      EXPECT_EQ(result_->output, "out err");
    }
  }
}

}  // namespace
}  // namespace gangway::sandbox
