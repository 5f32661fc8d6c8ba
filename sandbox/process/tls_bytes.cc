#include "sandbox/process/tls_bytes.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace gangway::sandbox {
namespace {

struct FreeTls {
  void operator()(SSL_CTX* p) const { SSL_CTX_free(p); }
  void operator()(SSL* p) const { SSL_free(p); }
};

}  // namespace

struct TlsBytes::State {
  std::unique_ptr<SSL_CTX, FreeTls> context{SSL_CTX_new(TLS_client_method())};
  std::unique_ptr<SSL, FreeTls> session;
  BIO* from_wire = nullptr;  // both are the session's
  BIO* to_wire = nullptr;
  std::string waiting;  // until there is a session
  bool begun = false;   // something has come

  absl::Status Failure() const {
    const unsigned long error = ERR_peek_last_error();
    const char* const reason = error == 0 ? nullptr : ERR_reason_error_string(error);
    ERR_clear_error();
    return absl::InvalidArgumentError(absl::StrCat("tls: ", reason == nullptr ? "it ended" : reason));
  }
};

TlsBytes::TlsBytes() : state_(std::make_unique<State>()) {
  GW_CHECK(state_->context != nullptr);
  SSL_CTX_set_verify(state_->context.get(), SSL_VERIFY_NONE, nullptr);
  SSL_CTX_set_min_proto_version(state_->context.get(), TLS1_2_VERSION);  // crypto/tls: a client's default
  state_->session.reset(SSL_new(state_->context.get()));
  state_->from_wire = BIO_new(BIO_s_mem());
  state_->to_wire = BIO_new(BIO_s_mem());
  GW_CHECK(state_->session != nullptr && state_->from_wire != nullptr && state_->to_wire != nullptr);
  SSL_set_bio(state_->session.get(), state_->from_wire, state_->to_wire);
  SSL_set_connect_state(state_->session.get());
  SSL_do_handshake(state_->session.get());  // it says the first word
  ERR_clear_error();
}

TlsBytes::~TlsBytes() = default;

void TlsBytes::Write(absl::string_view plain) {
  state_->waiting.append(plain.data(), plain.size());
  if (!SSL_is_init_finished(state_->session.get()) || state_->waiting.empty()) return;
  const std::string text = std::exchange(state_->waiting, {});
  SSL_write(state_->session.get(), text.data(), static_cast<int>(text.size()));  // memory takes all of it
  ERR_clear_error();
}

absl::StatusOr<std::string> TlsBytes::Take(absl::string_view wire) {
  if (!std::exchange(state_->begun, true) && absl::StartsWith(wire, "HTTP/"))
    return absl::InvalidArgumentError(kHttpForHttps);
  ERR_clear_error();
  BIO_write(state_->from_wire, wire.data(), static_cast<int>(wire.size()));
  std::string plain;
  char piece[4096];
  while (true) {
    const int size = SSL_read(state_->session.get(), piece, sizeof piece);  // goes on with the handshake, too
    if (size > 0) {
      plain.append(piece, static_cast<std::size_t>(size));
      continue;
    }
    const int error = SSL_get_error(state_->session.get(), size);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_ZERO_RETURN) return state_->Failure();
    break;
  }
  Write("");
  return plain;
}

std::string TlsBytes::TakeOutput() {
  std::string out(BIO_ctrl_pending(state_->to_wire), '\0');
  if (!out.empty()) BIO_read(state_->to_wire, out.data(), static_cast<int>(out.size()));
  return out;
}

}  // namespace gangway::sandbox
