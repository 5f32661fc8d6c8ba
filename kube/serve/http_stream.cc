#include "kube/serve/http_stream.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <climits>
#include <utility>

#include <boost/asio/error.hpp>

#include "absl/strings/escaping.h"
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

// Clients may show a certificate, and are served whatever it is: a wrong one is the handler's to refuse, with words.
absl::Status AskForCertificates(SSL_CTX* context, const std::string& authority) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> text(
      BIO_new_mem_buf(authority.data(), static_cast<int>(authority.size())), BIO_free);
  const std::unique_ptr<X509, decltype(&X509_free)> ca(PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr),
                                                       X509_free);
  if (ca == nullptr || X509_STORE_add_cert(SSL_CTX_get_cert_store(context), ca.get()) != 1 ||
      SSL_CTX_add_client_CA(context, ca.get()) != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("the authority of clients: no PEM certificate: ", LastOpenSslError()));
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, [](int, X509_STORE_CTX*) { return 1; });
  // A session taken up again would tell of the certificate as it was judged then.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context, 0);
  return absl::OkStatus();
}

// Of a name: its values of that kind, in their order.
std::vector<std::string> Values(const X509_NAME* name, int nid) {
  std::vector<std::string> out;
  for (int at = -1; (at = X509_NAME_get_index_by_NID(name, nid, at)) >= 0;) {
    unsigned char* text = nullptr;
    const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (size < 0) continue;
    out.emplace_back(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
    OPENSSL_free(text);
  }
  return out;
}

absl::StatusOr<std::shared_ptr<SSL_CTX>> MakeContext(const std::string& certificate_file, const std::string& key_file,
                                                     const std::string& client_ca) {
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
  if (!client_ca.empty()) GW_RETURN_IF_ERROR(AskForCertificates(context.get(), client_ca));
  return context;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TlsIdentity>> TlsIdentity::Load(std::string certificate_file, std::string key_file,
                                                               std::string client_ca) {
  std::unique_ptr<TlsIdentity> identity(
      new TlsIdentity(std::move(certificate_file), std::move(key_file), std::move(client_ca)));
  identity->version_ = identity->Version();
  GW_ASSIGN_OR_RETURN(identity->context_,
                      MakeContext(identity->certificate_file_, identity->key_file_, identity->client_ca_));
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
  absl::StatusOr<std::shared_ptr<SSL_CTX>> fresh = MakeContext(certificate_file_, key_file_, client_ca_);
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

std::shared_ptr<const ClientCertificate> HttpStream::Certificate() const {
  if (!secure() || broken_) return nullptr;
  const std::unique_ptr<X509, decltype(&X509_free)> shown(SSL_get1_peer_certificate(ssl_.get()), X509_free);
  if (shown == nullptr) return nullptr;
  auto out = std::make_shared<ClientCertificate>();
  const X509_NAME* const name = X509_get_subject_name(shown.get());
  const std::vector<std::string> names = Values(name, NID_commonName);
  if (!names.empty()) out->name = names.back();  // as Go's pkix.Name
  out->groups = Values(name, NID_organizationName);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (X509_digest(shown.get(), EVP_sha256(), digest, &size) == 1)
    out->fingerprint = absl::BytesToHexString({reinterpret_cast<const char*>(digest), size});
  if (const long verdict = SSL_get_verify_result(ssl_.get()); verdict != X509_V_OK)
    out->wrong = X509_verify_cert_error_string(verdict);
  return out;
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
