#include "sandbox/process/tls_bytes.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sandbox/process/tls_peer.h"
#include "tests/testing/status_matchers.h"

namespace gangway::sandbox {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Both sides' bytes go to and fro until there are none; what each said.
struct Said {
  std::string client, server;
};
Said Exchange(TlsBytes& client, TlsPeer& server, std::size_t piece = 1 << 20) {
  Said said;
  for (bool more = true; more;) {
    const std::string to_server = client.TakeOutput();
    said.client += server.Take(to_server);
    const std::string to_client = server.TakeOutput();
    for (std::size_t at = 0; at < to_client.size(); at += piece) {
      const auto plain = client.Take(to_client.substr(at, piece));
      EXPECT_TRUE(plain.ok()) << plain.status();
      if (plain.ok()) said.server += *plain;
    }
    more = !to_server.empty() || !to_client.empty();
  }
  return said;
}

TEST(TlsBytesTest, BothSpeakThoughNobodyVouchesForTheServer) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{100'000}}) {
    TlsBytes client;
    TlsPeer server;
    client.Write("GET / HTTP/1.1\r\n\r\n");
    EXPECT_EQ(Exchange(client, server, piece).client, "GET / HTTP/1.1\r\n\r\n");
    const std::string answer(50'000, 'x');
    server.Write(answer);
    EXPECT_EQ(Exchange(client, server, piece).server, answer);
    client.Write("more");
    EXPECT_EQ(Exchange(client, server, piece).client, "more");
  }
}

TEST(TlsBytesTest, WhoSpeaksNoTlsIsToldOf) {
  TlsBytes http, other, short_one;
  EXPECT_EQ(http.Take("HTTP/1.1 400 Bad Request\r\n\r\n").status().message(), kHttpForHttps);
  EXPECT_THAT(other.Take("SSH-2.0-OpenSSH_9.2\r\n").status().message(), StartsWith("tls: "));
  GW_EXPECT_OK(short_one.Take("\x16\x03"));
}

TEST(TlsBytesTest, OldVersionsAreRefused) {
  TlsBytes client;
  TlsPeer server(TLS1_1_VERSION);
  server.Take(client.TakeOutput());
  EXPECT_THAT(client.Take(server.TakeOutput()).status().message(), HasSubstr("tls: "));
}

}  // namespace
}  // namespace gangway::sandbox
