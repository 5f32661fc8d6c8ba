// The front in TLS, asked by our own client.
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/client/http_client.h"
#include "kube/serve/certificates.h"
#include "kube/serve/http_front.h"
#include "tests/certificates/identity.h"
#include "tests/process/process.h"
#include "tests/testing/fake_http_handler.h"
#include "tests/testing/loop_thread.h"
#include "tests/testing/raw_socket.h"
#include "tests/testing/status_matchers.h"

namespace gangway::kube {
namespace {

using ::testing::HasSubstr;
using testutil::Eventually;
using testutil::FakeHttpHandler;
using testutil::Identity;
using testutil::Inbox;
using testutil::LoopThread;
using testutil::MakeResponse;
using testutil::RunningFront;
using testutil::StatusIs;

class TlsFrontTest : public ::testing::Test {
 protected:
  TlsFrontTest() { Show(first_); }

  void Show(const Identity& identity) const {
    testutil::WriteFile(certificate(), identity.CertificatePem());
    testutil::WriteFile(key(), identity.KeyPem());
  }
  std::string certificate() const { return folder_.path() + "/tls.crt"; }
  std::string key() const { return folder_.path() + "/tls.key"; }
  HttpFrontOptions Options() const {
    HttpFrontOptions options;
    options.tls_certificate_file = certificate();
    options.tls_key_file = key();
    return options;
  }
  static Connection Believing(const Identity& ca, const std::string& url) {
    Connection connection;
    connection.server = url;
    connection.ca.data = ca.CertificatePem();
    return connection;
  }
  static absl::StatusOr<Response> Ask(Connection connection, Request request) {
    LoopThread thread;
    Owner owner;
    auto client = HttpClient::Make(thread.loop(), std::move(connection));
    if (!client.ok()) return client.status();
    Inbox<absl::StatusOr<Response>> answers;
    (*client)->Send(std::move(request), owner.token(), [&](absl::StatusOr<Response> r) { answers.Put(std::move(r)); });
    auto answer = answers.Take();
    client->reset();
    thread.Join();
    if (!answer.has_value()) return absl::InternalError("no answer");
    return *std::move(answer);
  }

  const testutil::TemporaryFolder folder_{"gangway-tls"};
  const Identity ca_{{.common_name = "first authority"}, nullptr};
  const Identity other_ca_{{.common_name = "second authority"}, nullptr};
  const Identity first_{{.common_name = "server", .alternative_names = "IP:127.0.0.1"}, &ca_};
  const Identity second_{{.common_name = "server", .alternative_names = "IP:127.0.0.1"}, &other_ca_};
};

TEST_F(TlsFrontTest, ServesInTls) {
  RunningFront front(nullptr, Options());
  EXPECT_THAT(front.url(), ::testing::StartsWith("https://127.0.0.1:"));
  const auto answer = Ask(Believing(ca_, front.url()), {"GET", "/a", "b=c", "", "", ""});
  GW_ASSERT_OK(answer);
  EXPECT_EQ(*answer->body, "GET /a?b=c");
}

// Who is asked for a certificate is served without, too, and what it says is the handler's to judge.
TEST_F(TlsFrontTest, AClientsCertificateIsJudgedAndTold) {
  const absl::Time now = absl::Now();
  const Certificate authority = *MakeAuthority("clients", now, absl::Hours(1));
  HttpFrontOptions options = Options();
  options.tls_client_ca = authority.certificate;
  RunningFront front(
      [](Request, HttpCaller caller, auto respond) {
        const auto& shown = caller.certificate;
        respond(MakeResponse(200, shown == nullptr
                                      ? "none"
                                      : absl::StrCat(shown->name, " of ", absl::StrJoin(shown->groups, ","), " ",
                                                     shown->fingerprint.size(), " ", shown->wrong)));
      },
      options);
  const auto ask = [&](const std::string& certificate, const std::string& key) {
    Connection connection = Believing(ca_, front.url());
    connection.client_certificate.data = certificate;
    connection.client_key.data = key;
    const auto answer = Ask(connection, {"GET", "/", "", "", "", ""});
    return answer.ok() ? *answer->body : answer.status().ToString();
  };
  const auto made = [&](const Certificate& by, absl::Time at, const std::string& server = "") {
    const Certificate one = *MakeCertificate(by, {"jane", {"team-a", "team-b"}, server}, at, absl::Hours(1));
    return ask(one.certificate, one.key);
  };
  EXPECT_EQ(ask("", ""), "none");
  EXPECT_EQ(made(authority, now), "jane of team-a,team-b 64 ");
  EXPECT_THAT(made(*MakeAuthority("clients", now, absl::Hours(1)), now), HasSubstr("unable to verify"))
      << "another authority of that name";
  EXPECT_THAT(made(authority, now - absl::Hours(2)), HasSubstr("expired"));
  EXPECT_THAT(made(authority, now, "DNS:jane"), HasSubstr("purpose")) << "it is a server's";
}

TEST_F(TlsFrontTest, WhatACertificateHasNoRoomForIsSaid) {
  const Certificate authority = *MakeAuthority("clients", absl::Now(), absl::Hours(1));
  const auto make = [&](const CertificateSubject& subject) {
    return MakeCertificate(authority, subject, absl::Now(), absl::Hours(1)).status();
  };
  GW_EXPECT_OK(make({std::string(64, 'x'), {}, ""}));
  EXPECT_THAT(make({std::string(65, 'x'), {}, ""}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1 to 64")));
  EXPECT_THAT(make({"", {}, ""}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1 to 64")));
  EXPECT_THAT(make({"jane", {""}, ""}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1 to 64")));
}

// As of a network namespace that the front is not in.
TEST_F(TlsFrontTest, ASocketThatListensIsTakenOver) {
  HttpFrontOptions options = Options();
  options.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(options.listener, reinterpret_cast<const sockaddr*>(&here), sizeof here), 0);
  ASSERT_EQ(listen(options.listener, 8), 0);
  socklen_t size = sizeof here;
  ASSERT_EQ(getsockname(options.listener, reinterpret_cast<sockaddr*>(&here), &size), 0);
  RunningFront front(nullptr, options);
  EXPECT_EQ(front.port(), ntohs(here.sin_port));
  const auto answer = Ask(Believing(ca_, front.url()), {"GET", "/a", "", "", "", ""});
  GW_ASSERT_OK(answer);
  EXPECT_EQ(*answer->body, "GET /a");
}

TEST_F(TlsFrontTest, LargeBodiesGoBothWaysWhole) {
  std::string large(2 << 20, 'x');
  for (std::size_t i = 0; i < large.size(); i += 101) large[i] = static_cast<char>('a' + i % 26);
  RunningFront front(
      [](Request r, HttpCaller, auto respond) { respond(MakeResponse(200, absl::StrCat(r.body, r.body, r.body))); },
      Options());
  const auto answer = Ask(Believing(ca_, front.url()), {"POST", "/", "", "", "", large});
  GW_ASSERT_OK(answer);
  EXPECT_EQ(*answer->body == absl::StrCat(large, large, large), true);
}

TEST_F(TlsFrontTest, AWatchStreams) {
  RunningFront front(nullptr, Options());
  LoopThread thread;
  Owner owner;
  auto client = *HttpClient::Make(thread.loop(), Believing(ca_, front.url()));
  Inbox<std::string> frames;
  Inbox<absl::Status> ends;
  auto watch = client->StartWatch(
      {"GET", "/w", "watch=true", "", "", ""}, owner.token(),
      [&](std::vector<Frame> batch) {
        for (const Frame& f : batch) frames.Put(*f.object);
      },
      [&](absl::Status status) { ends.Put(std::move(status)); });
  ASSERT_EQ(front.handler.started.Take(), "/w");
  front.Send("/w", {{FrameType::kAdded, MakeBytes(R"({"a":1})")}});
  EXPECT_EQ(frames.Take(), R"({"a":1})");
  front.Send("/w", {{FrameType::kModified, MakeBytes(R"({"a":2})")}});
  EXPECT_EQ(frames.Take(), R"({"a":2})");
  front.End("/w", absl::OkStatus());
  EXPECT_EQ(ends.Take(), absl::OkStatus());
  watch.reset();
  client.reset();
  thread.Join();
}

TEST_F(TlsFrontTest, PlainHttpIsToldSo) {
  RunningFront front(nullptr, Options());
  testutil::RawSocket raw(front.port());
  ASSERT_TRUE(raw.Send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  EXPECT_THAT(raw.ReadToEnd(), HasSubstr("Client sent an HTTP request to an HTTPS server"));
}

TEST_F(TlsFrontTest, AHandshakeMustArriveInTime) {
  HttpFrontOptions options = Options();
  options.header_timeout = absl::Milliseconds(50);
  RunningFront front(nullptr, options);
  testutil::RawSocket silent(front.port());
  EXPECT_TRUE(silent.ClosedByPeer());
}

TEST_F(TlsFrontTest, FilesThatChangeAreShownToWhoComesThen) {
  RunningFront front(nullptr, Options());
  GW_ASSERT_OK(Ask(Believing(ca_, front.url()), {"GET", "/", "", "", "", ""}));
  EXPECT_FALSE(Ask(Believing(other_ca_, front.url()), {"GET", "/", "", "", "", ""}).ok());
  Show(second_);
  EXPECT_TRUE(Eventually([&] { return Ask(Believing(other_ca_, front.url()), {"GET", "/", "", "", "", ""}).ok(); }));
}

TEST_F(TlsFrontTest, AChangeForTheWorseLeavesTheLastGoodPair) {
  RunningFront front(nullptr, Options());
  testutil::WriteFile(certificate(), "half a certif");
  for (int i = 0; i < 3; ++i) GW_EXPECT_OK(Ask(Believing(ca_, front.url()), {"GET", "/", "", "", "", ""}));
  Show(second_);
  EXPECT_TRUE(Eventually([&] { return Ask(Believing(other_ca_, front.url()), {"GET", "/", "", "", "", ""}).ok(); }));
}

TEST_F(TlsFrontTest, FilesThatCannotBeUsedStopTheStart) {
  LoopThread thread;
  FakeHttpHandler handler;
  const auto start = [&](const HttpFrontOptions& options) {
    return thread.Run([&] { return HttpFront::Start(thread.loop(), handler, options).status(); });
  };
  HttpFrontOptions options = Options();
  options.tls_certificate_file = folder_.path() + "/none.crt";
  EXPECT_THAT(start(options),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("none.crt: not a PEM certificate")));
  options = Options();
  testutil::WriteFile(key(), second_.KeyPem());
  EXPECT_THAT(start(options), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("tls.key: not the PEM key of")));
  thread.Join();
}

TEST(HttpFrontAddressTest, ElsewhereThanOnLoopbackAnyHostNameServes) {
  HttpFrontOptions options;
  options.address = "0.0.0.0";
  RunningFront front(nullptr, options);
  testutil::RawSocket raw(front.port());
  ASSERT_TRUE(raw.Send("GET /healthz HTTP/1.1\r\nHost: 10.1.2.3:8081\r\n\r\n"));
  EXPECT_THAT(raw.ReadAnswer(), HasSubstr("200 OK"));
}

TEST(HttpFrontAddressTest, WhatIsNoAddressIsSaid) {
  LoopThread thread;
  FakeHttpHandler handler;
  HttpFrontOptions options;
  options.address = "everywhere";
  const absl::Status status = thread.Run([&] { return HttpFront::Start(thread.loop(), handler, options).status(); });
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"everywhere\" is no IP address")));
  thread.Join();
}

}  // namespace
}  // namespace gangway::kube
