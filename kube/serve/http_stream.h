// The bytes of one connection, plain or in TLS; and the certificate that the front shows. Private to the front.
#pragma once

#include <openssl/ssl.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kube/serve/client_certificate.h"

namespace gangway::kube {

// Certificate chain and key in files, looked at again when they change. Used on one thread; the contexts it gives are
// shared.
class TlsIdentity {
 public:
  // InvalidArgument names the file that cannot be used. `client_ca`: see HttpFrontOptions.
  static absl::StatusOr<std::unique_ptr<TlsIdentity>> Load(std::string certificate_file, std::string key_file,
                                                           std::string client_ca);

  // For the next connection. Files that changed since are read, at most once a second; while they cannot be used (half
  // written, not yet a pair) the last ones that could be serve on.
  std::shared_ptr<SSL_CTX> Current();

 private:
  TlsIdentity(std::string certificate_file, std::string key_file, std::string client_ca)
      : certificate_file_(std::move(certificate_file)),
        key_file_(std::move(key_file)),
        client_ca_(std::move(client_ca)) {}
  std::string Version() const;  // of the two files

  const std::string certificate_file_, key_file_, client_ca_;
  std::shared_ptr<SSL_CTX> context_;
  std::string version_;  // of what context_ holds, or of what was refused last
  std::chrono::steady_clock::time_point looked_at_;
};

// Reads and writes what there is room for, and never waits: error would_block says so. Used on one thread.
class HttpStream {
 public:
  using Pieces = std::array<boost::asio::const_buffer, 3>;

  // `tls` null: plain. The handshake is part of the first reads.
  HttpStream(boost::asio::ip::tcp::socket socket, const std::shared_ptr<SSL_CTX>& tls);

  boost::asio::ip::tcp::socket& socket() { return socket_; }
  bool secure() const { return ssl_ != nullptr; }
  // After would_block: whether the socket must take bytes before reading can go on (a handshake's), and not give some.
  bool read_needs_room() const { return read_needs_room_; }

  // After the handshake; null: plain, or the client has shown none.
  std::shared_ptr<const ClientCertificate> Certificate() const;

  std::size_t ReadSome(boost::asio::mutable_buffer into, boost::system::error_code& error);
  std::size_t WriteSome(const Pieces& pieces, boost::system::error_code& error);
  // Says that nothing more will be written.
  void FinishWriting(boost::system::error_code& error);
  void Close();

  struct FreeSsl {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  // The session of TLS, for whoever takes the socket over; null: plain. Nothing is read or written here any more.
  std::unique_ptr<SSL, FreeSsl> TakeSession() { return std::move(ssl_); }

 private:
  boost::system::error_code Judge(int result);

  boost::asio::ip::tcp::socket socket_;
  std::unique_ptr<SSL, FreeSsl> ssl_;
  bool read_needs_room_ = false;
  bool broken_ = false;  // of TLS: nothing more can be said in it
};

}  // namespace gangway::kube
