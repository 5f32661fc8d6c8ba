// The other side of a TlsBytes: a server in memory.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "tests/certificates/identity.h"

namespace gangway::sandbox {

class TlsPeer {
 public:
  // `max_version`: of TLS.
  explicit TlsPeer(int max_version = TLS1_3_VERSION) {
    SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context_.get(), max_version);
    SSL_CTX_use_certificate(context_.get(), identity_.certificate());
    SSL_CTX_use_PrivateKey(context_.get(), identity_.key());
    session_.reset(SSL_new(context_.get()));
    SSL_set_bio(session_.get(), in_, out_);
    SSL_set_accept_state(session_.get());
  }

  // What the client sent over the wire; what it said by that.
  std::string Take(absl::string_view wire) {
    BIO_write(in_, wire.data(), static_cast<int>(wire.size()));
    char piece[4096];
    std::string plain;
    for (int size = 0; (size = SSL_read(session_.get(), piece, sizeof piece)) > 0;)
      plain.append(piece, static_cast<std::size_t>(size));
    return plain;
  }
  void Write(absl::string_view plain) { SSL_write(session_.get(), plain.data(), static_cast<int>(plain.size())); }
  std::string TakeOutput() {
    std::string out(BIO_ctrl_pending(out_), '\0');
    if (!out.empty()) BIO_read(out_, out.data(), static_cast<int>(out.size()));
    return out;
  }

 private:
  struct Free {
    void operator()(SSL_CTX* p) const { SSL_CTX_free(p); }
    void operator()(SSL* p) const { SSL_free(p); }
  };
  // Nobody vouches for it, and it has expired.
  const testutil::Identity identity_{{.common_name = "nobody", .valid_for = absl::Minutes(-30)}, nullptr};
  const std::unique_ptr<SSL_CTX, Free> context_{SSL_CTX_new(TLS_server_method())};
  std::unique_ptr<SSL, Free> session_;
  BIO* const in_ = BIO_new(BIO_s_mem());
  BIO* const out_ = BIO_new(BIO_s_mem());
};

}  // namespace gangway::sandbox
