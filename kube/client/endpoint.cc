#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kube/client/transfer.h"

namespace gangway::kube {
namespace {

// A peer that acknowledges nothing for so long is gone, whatever the kernel hopes.
constexpr unsigned kTcpUserTimeoutMs = 30'000;

struct UrlCleanup {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

std::string UrlPart(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return "";
  std::string out(text);
  curl_free(text);
  return out;
}

bool IsLoopback(absl::string_view host) {
  return host == "localhost" || host == "[::1]" || absl::StartsWith(host, "127.");
}

bool IsPrintable(absl::string_view text) {
  for (const char c : text) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) return false;
  }
  return true;
}

absl::Status CheckReadable(absl::string_view what, const Secret& secret) {
  if (!secret.data.empty() || secret.file.empty()) return absl::OkStatus();
  if (std::ifstream(secret.file).good()) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat(what, ": cannot read the file ", secret.file));
}

void SetPem(CURL* easy, CURLoption blob_option, CURLoption file_option, const Secret& secret) {
  if (!secret.data.empty()) {
    curl_blob blob{};
    blob.data = const_cast<char*>(secret.data.data());  // curl only reads it
    blob.len = secret.data.size();
    blob.flags = CURL_BLOB_NOCOPY;
    curl_easy_setopt(easy, blob_option, &blob);
  } else if (!secret.file.empty()) {
    curl_easy_setopt(easy, file_option, secret.file.c_str());
  }
}

int OnNewSocket(void*, curl_socket_t socket, curlsocktype) {
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &kTcpUserTimeoutMs, sizeof(kTcpUserTimeoutMs));
  return CURL_SOCKOPT_OK;
}

}  // namespace

absl::StatusOr<Endpoint> Endpoint::Make(Connection connection) {
  Endpoint endpoint(std::move(connection));
  const Connection& c = endpoint.connection_;
  GW_RETURN_IF_ERROR(endpoint.ParseServer());
  GW_RETURN_IF_ERROR(CheckReadable("certificate authority", c.ca));
  GW_RETURN_IF_ERROR(CheckReadable("client certificate", c.client_certificate));
  GW_RETURN_IF_ERROR(CheckReadable("client key", c.client_key));
  GW_RETURN_IF_ERROR(CheckReadable("token", c.token));
  if (c.client_certificate.set() != c.client_key.set()) {
    return absl::InvalidArgumentError("a client certificate and its key go together: one of them is missing");
  }
  if (!IsPrintable(absl::StripAsciiWhitespace(c.token.data))) {
    return absl::InvalidArgumentError("the token contains control characters");
  }
  return endpoint;
}

absl::Status Endpoint::ParseServer() {
  const auto wrong = [this](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat("server \"", connection_.server, "\": ", why,
                                                   "; write it like https://10.0.0.1:6443"));
  };
  const std::unique_ptr<CURLU, UrlCleanup> url(curl_url());
  if (curl_url_set(url.get(), CURLUPART_URL, connection_.server.c_str(), 0) != CURLUE_OK) return wrong("is no URL");
  const std::string scheme = UrlPart(url.get(), CURLUPART_SCHEME);
  const std::string host = UrlPart(url.get(), CURLUPART_HOST);
  const std::string port = UrlPart(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  if (scheme != "http" && scheme != "https") return wrong("is neither http nor https");
  if (!UrlPart(url.get(), CURLUPART_QUERY).empty() || !UrlPart(url.get(), CURLUPART_FRAGMENT).empty()) {
    return wrong("has a query or a fragment");
  }
  if (!UrlPart(url.get(), CURLUPART_USER).empty()) return wrong("has a user name in it");
  loopback_ = IsLoopback(host);
  tls_ = scheme == "https";
  std::string path = UrlPart(url.get(), CURLUPART_PATH);
  while (!path.empty() && path.back() == '/') path.pop_back();
  if (connection_.tls_server_name.empty() || !tls_) {
    base_url_ = absl::StrCat(scheme, "://", host, ":", port, path);
  } else {
    base_url_ = absl::StrCat(scheme, "://", connection_.tls_server_name, ":", port, path);
    connect_to_.reset(curl_slist_append(nullptr, absl::StrCat("::", host, ":", port).c_str()), &curl_slist_free_all);
    host_header_ = absl::StrCat("Host: ", host, ":", port);
  }
  return absl::OkStatus();
}

std::string Endpoint::Url(const Request& request) const {
  return absl::StrCat(base_url_, request.path, request.query.empty() ? "" : "?", request.query);
}

void Endpoint::Configure(CURL* easy) const {
  const Connection& c = connection_;
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  // Share an HTTP/2 connection rather than open one more. Without TLS there is none, and libcurl would wait for an answer to
  // learn that.
  curl_easy_setopt(easy, CURLOPT_PIPEWAIT, tls_ ? 1L : 0L);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 30L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 15L);
  curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, &OnNewSocket);
  curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
  SetPem(easy, CURLOPT_CAINFO_BLOB, CURLOPT_CAINFO, c.ca);
  if (c.ca.set()) curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);  // that authority and no other
  curl_easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, 60L);
  SetPem(easy, CURLOPT_SSLCERT_BLOB, CURLOPT_SSLCERT, c.client_certificate);
  SetPem(easy, CURLOPT_SSLKEY_BLOB, CURLOPT_SSLKEY, c.client_key);
  if (c.insecure_skip_tls_verify) {
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
  }
  if (!c.token.set() && !c.username.empty()) {
    curl_easy_setopt(easy, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
    curl_easy_setopt(easy, CURLOPT_USERNAME, c.username.c_str());
    curl_easy_setopt(easy, CURLOPT_PASSWORD, c.password.c_str());
  }
  if (connect_to_ != nullptr) curl_easy_setopt(easy, CURLOPT_CONNECT_TO, connect_to_.get());
  if (!c.proxy_url.empty()) {
    curl_easy_setopt(easy, CURLOPT_PROXY, c.proxy_url.c_str());
  } else if (loopback_) {
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
  }
}

absl::StatusOr<std::string> Endpoint::Authorization() {
  const Secret& secret = connection_.token;
  if (!secret.set()) return std::string();
  if (!secret.data.empty()) return absl::StrCat("Authorization: Bearer ", absl::StripAsciiWhitespace(secret.data));
  struct stat info {};
  std::string version;
  if (stat(secret.file.c_str(), &info) == 0) {
    version = absl::StrCat(info.st_dev, " ", info.st_ino, " ", info.st_size, " ", info.st_mtim.tv_sec, ".",
                           info.st_mtim.tv_nsec);
  }
  if (!version.empty() && version != token_version_) {
    std::ifstream in(secret.file, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const absl::string_view token = absl::StripAsciiWhitespace(text);
    if (!token.empty() && IsPrintable(token)) {
      token_ = std::string(token);
      token_version_ = version;
    }
  }
  if (token_.empty()) return absl::UnavailableError(absl::StrCat("no token in the file ", secret.file));
  return absl::StrCat("Authorization: Bearer ", token_);
}

}  // namespace gangway::kube
