// The client against TLS servers: whose certificates it believes, and what it shows of itself.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/client/http_client.h"
#include "tests/certificates/identity.h"
#include "tests/testing/files.h"
#include "tests/testing/loop_thread.h"
#include "tests/testing/status_matchers.h"

namespace gangway::kube {
namespace {

using ::testing::HasSubstr;
using testutil::Identity;
using testutil::Inbox;
using testutil::LoopThread;
using testutil::StatusIs;

struct Free {
  void operator()(X509* p) const { X509_free(p); }
  void operator()(SSL_CTX* p) const { SSL_CTX_free(p); }
  void operator()(SSL* p) const { SSL_free(p); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

// Answers every request on a connection of its own with "<name asked for>|<client certificate's name>|<Host header>".
class TlsServer {
 public:
  TlsServer(const Identity& identity, const Identity& client_ca) : context_(SSL_CTX_new(TLS_server_method())) {
    SSL_CTX_use_certificate(context_.get(), identity.certificate());
    SSL_CTX_use_PrivateKey(context_.get(), identity.key());
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), client_ca.certificate());
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    listen(listener_, 16);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~TlsServer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  std::string url() const { return absl::StrCat("https://127.0.0.1:", port_); }
  int port() const { return port_; }

 private:
  void Serve() {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);  // OpenSSL writes to clients that have left
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    for (int fd = 0; (fd = accept(listener_, nullptr, nullptr)) >= 0;) {
      {
        const Owned<SSL> ssl(SSL_new(context_.get()));
        SSL_set_fd(ssl.get(), fd);
        if (SSL_accept(ssl.get()) == 1) Answer(ssl.get());
      }
      close(fd);
    }
  }
  static void Answer(SSL* ssl) {
    std::string request;
    char buffer[4096];
    while (!absl::StrContains(request, "\r\n\r\n")) {
      const int count = SSL_read(ssl, buffer, sizeof(buffer));
      if (count <= 0) return;
      request.append(buffer, static_cast<std::size_t>(count));
    }
    const char* const asked = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    char client[100] = "";
    const Owned<X509> shown(SSL_get1_peer_certificate(ssl));
    if (shown != nullptr)
      X509_NAME_get_text_by_NID(X509_get_subject_name(shown.get()), NID_commonName, client, sizeof(client));
    const std::size_t host = request.find("Host: ") + 6;
    const std::string body = absl::StrCat(asked == nullptr ? "" : asked, "|", client, "|",
                                          request.substr(host, request.find("\r\n", host) - host));
    const std::string answer =
        absl::StrCat("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ", body.size(), "\r\n\r\n", body);
    SSL_write(ssl, answer.data(), static_cast<int>(answer.size()));
    SSL_shutdown(ssl);
  }

  const Owned<SSL_CTX> context_;
  const int listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int port_ = 0;
  std::thread thread_;
};

class TlsTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::string> Ask(Connection connection) {
    LoopThread thread;
    Owner owner;
    auto client = HttpClient::Make(thread.loop(), std::move(connection));
    if (!client.ok()) return client.status();
    Inbox<absl::StatusOr<Response>> answers;
    (*client)->Send({"GET", "/", "", "", "", ""}, owner.token(),
                    [&](absl::StatusOr<Response> r) { answers.Put(std::move(r)); });
    const auto answer = answers.Take();
    client->reset();
    thread.Join();
    if (!answer.has_value()) return absl::InternalError("no answer");
    if (!answer->ok()) return answer->status();
    return *(*answer)->body;
  }
  Connection To(const TlsServer& server) const {
    Connection connection;
    connection.server = server.url();
    connection.ca.data = ca_.CertificatePem();
    return connection;
  }

  const Identity ca_{{.common_name = "test authority"}, nullptr};
  const Identity other_ca_{{.common_name = "other authority"}, nullptr};
  const Identity by_address_{{.common_name = "server", .alternative_names = "IP:127.0.0.1"}, &ca_};
  const Identity by_name_{{.common_name = "server", .alternative_names = "DNS:kubernetes"}, &ca_};
  const Identity user_{{.common_name = "robot"}, &ca_};
};

TEST_F(TlsTest, BelievesTheGivenAuthorityAndNoOther) {
  const TlsServer server(by_address_, ca_);
  Connection connection = To(server);
  EXPECT_EQ(Ask(connection).value_or("failed"), absl::StrCat("||127.0.0.1:", server.port()));
  connection.ca.data = other_ca_.CertificatePem();
  EXPECT_THAT(Ask(connection).status(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("certificate")));
  connection.ca.data = "";
  EXPECT_THAT(Ask(connection).status(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("certificate")));
  connection.insecure_skip_tls_verify = true;
  EXPECT_EQ(Ask(connection).value_or("failed"), absl::StrCat("||127.0.0.1:", server.port()));
}

TEST_F(TlsTest, TheNameToVerifyMayDiffer) {
  const TlsServer server(by_name_, ca_);
  Connection connection = To(server);
  EXPECT_THAT(Ask(connection).status(), StatusIs(absl::StatusCode::kUnavailable));
  connection.tls_server_name = "kubernetes";
  EXPECT_EQ(Ask(connection).value_or("failed"), absl::StrCat("kubernetes||127.0.0.1:", server.port()));
  connection.tls_server_name = "kubernete";
  EXPECT_THAT(Ask(connection).status(), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(TlsTest, ShowsItsCertificateFromDataOrFiles) {
  const TlsServer server(by_address_, ca_);
  Connection connection = To(server);
  connection.client_certificate.data = user_.CertificatePem();
  connection.client_key.data = user_.KeyPem();
  EXPECT_EQ(Ask(connection).value_or("failed"), absl::StrCat("|robot|127.0.0.1:", server.port()));

  const testutil::TemporaryFolder folder("gangway-tls");
  connection.ca = {"", folder.path() + "/ca.crt"};
  connection.client_certificate = {"", folder.path() + "/tls.crt"};
  connection.client_key = {"", folder.path() + "/tls.key"};
  testutil::WriteFile(connection.ca.file, ca_.CertificatePem());
  testutil::WriteFile(connection.client_certificate.file, user_.CertificatePem());
  testutil::WriteFile(connection.client_key.file, user_.KeyPem());
  EXPECT_EQ(Ask(connection).value_or("failed"), absl::StrCat("|robot|127.0.0.1:", server.port()));
}

TEST_F(TlsTest, APlainServerIsNoTlsServer) {
  const TlsServer server(by_address_, ca_);
  Connection connection = To(server);
  connection.server = absl::StrCat("http://127.0.0.1:", server.port());
  EXPECT_THAT(Ask(connection).status(), StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace gangway::kube
