#include "kube/serve/http_stream.h"

#include <openssl/err.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <climits>
#include <utility>

#include <boost/asio/error.hpp>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status_macros.h"

namespace gangway::kube {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr std::chrono::seconds kLookInterval{1};
constexpr absl::string_view kPlainRequest =
    "HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nClient sent an HTTP request to "
    "an HTTPS server.\n";

std::string LastOpenSslError() {
  char text[256] = "unknown";
  if (const unsigned long code = ERR_peek_last_error(); code != 0) ERR_error_string_n(code, text, sizeof(text));
  ERR_clear_error();
  return text;
}

absl::StatusOr<std::shared_ptr<SSL_CTX>> MakeContext(const std::string& certificate_file, const std::string& key_file) {
  ERR_clear_error();
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (context == nullptr) return absl::InternalError(absl::StrCat("TLS: ", LastOpenSslError()));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  if (SSL_CTX_use_certificate_chain_file(context.get(), certificate_file.c_str()) != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(certificate_file, ": not a PEM certificate that can be used: ", LastOpenSslError()));
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(key_file, ": not the PEM key of ", certificate_file, ": ", LastOpenSslError()));
  }
  return context;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TlsIdentity>> TlsIdentity::Load(std::string certificate_file, std::string key_file) {
  std::unique_ptr<TlsIdentity> identity(new TlsIdentity(std::move(certificate_file), std::move(key_file)));
  identity->version_ = identity->Version();
  GW_ASSIGN_OR_RETURN(identity->context_, MakeContext(identity->certificate_file_, identity->key_file_));
  identity->looked_at_ = std::chrono::steady_clock::now();
  return identity;
}

// Files are replaced by a rename or through a symbolic link (a mounted Secret); either changes the inode.
std::string TlsIdentity::Version() const {
  std::string version;
  for (const std::string& file : {certificate_file_, key_file_}) {
    struct stat now{};
    if (stat(file.c_str(), &now) != 0) continue;
    absl::StrAppend(&version, now.st_ino, ":", now.st_size, ":", now.st_mtim.tv_sec, ".", now.st_mtim.tv_nsec, " ");
  }
  return version;
}

std::shared_ptr<SSL_CTX> TlsIdentity::Current() {
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_at_ < kLookInterval) return context_;
  looked_at_ = now;
  std::string version = Version();
  if (version == version_) return context_;
  version_ = std::move(version);
  absl::StatusOr<std::shared_ptr<SSL_CTX>> fresh = MakeContext(certificate_file_, key_file_);
  if (fresh.ok()) {
    context_ = *std::move(fresh);
    log::Info("TLS certificate read again", {{"file", certificate_file_}});
  } else {
    log::Warning("TLS certificate changed and cannot be used; the last one serves on", {{"error", fresh.status()}});
  }
  return context_;
}

HttpStream::HttpStream(asio::ip::tcp::socket socket, const std::shared_ptr<SSL_CTX>& tls)
    : socket_(std::move(socket)), ssl_(tls == nullptr ? nullptr : SSL_new(tls.get())) {
  error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  socket_.set_option(asio::socket_base::keep_alive(true), ignored);
  socket_.non_blocking(true, ignored);
  if (tls == nullptr) return;
  broken_ = ssl_ == nullptr || SSL_set_fd(ssl_.get(), static_cast<int>(socket_.native_handle())) != 1;
  if (!broken_) SSL_set_accept_state(ssl_.get());
}

error_code HttpStream::Judge(int result) {
  read_needs_room_ = false;
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return asio::error::would_block;
    case SSL_ERROR_WANT_WRITE:
      read_needs_room_ = true;
      return asio::error::would_block;
    case SSL_ERROR_ZERO_RETURN:
      return asio::error::eof;
    default:
      break;
  }
  broken_ = true;
  if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST) {
    [[maybe_unused]] const ssize_t sent =
        send(static_cast<int>(socket_.native_handle()), kPlainRequest.data(), kPlainRequest.size(), MSG_NOSIGNAL);
  }
  ERR_clear_error();
  return asio::error::connection_reset;
}

std::size_t HttpStream::ReadSome(asio::mutable_buffer into, error_code& error) {
  if (!secure()) return socket_.read_some(into, error);
  error = asio::error::connection_reset;
  if (broken_) return 0;
  ERR_clear_error();
  const int count = SSL_read(ssl_.get(), into.data(), static_cast<int>(std::min<std::size_t>(into.size(), INT_MAX)));
  error = count > 0 ? error_code() : Judge(count);
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

std::size_t HttpStream::WriteSome(const Pieces& pieces, error_code& error) {
  if (!secure()) return socket_.write_some(pieces, error);
  error = asio::error::connection_reset;
  if (broken_) return 0;
  ERR_clear_error();
  const auto first = std::find_if(pieces.begin(), pieces.end(), [](const auto& piece) { return piece.size() > 0; });
  if (first == pieces.end()) {
    error = {};
    return 0;
  }
  const int count =
      SSL_write(ssl_.get(), first->data(), static_cast<int>(std::min<std::size_t>(first->size(), INT_MAX)));
  error = count > 0 ? error_code() : Judge(count);
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

void HttpStream::FinishWriting(error_code& error) {
  if (secure() && !broken_ && SSL_is_init_finished(ssl_.get()) != 0) SSL_shutdown(ssl_.get());
  ERR_clear_error();
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, error);
}

void HttpStream::Close() {
  if (secure() && !broken_ && SSL_is_init_finished(ssl_.get()) != 0) SSL_shutdown(ssl_.get());
  ERR_clear_error();
  error_code ignored;
  socket_.close(ignored);
}

}  // namespace gangway::kube
