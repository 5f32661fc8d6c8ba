#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "kube/client/transfer.h"

namespace gangway::kube {
namespace {

// A peer that acknowledges nothing for so long is gone, whatever the kernel hopes.
constexpr absl::Duration kPeerTimeout = absl::Seconds(30);
constexpr absl::Duration kLeastPeerTimeout = absl::Seconds(4);

absl::Duration PeerTimeout(const HttpClientOptions& options) {
  return std::clamp(2 * options.silence_timeout, kLeastPeerTimeout, kPeerTimeout);
}

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

// Keys of Impersonate-Extra- headers: what a header's name may not hold is percent-encoded.
std::string HeaderKey(absl::string_view key) {
  static constexpr absl::string_view kAllowed = "!#$&'*+-.^_`|~";
  std::string out;
  for (const char c : key) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains(kAllowed, c)) {
      out.push_back(c);
    } else {
      absl::StrAppend(&out, "%", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    }
  }
  return out;
}

void SetBlob(CURL* easy, CURLoption option, const std::string& text) {
  curl_blob blob{};
  blob.data = const_cast<char*>(text.data());  // curl only reads it
  blob.len = text.size();
  blob.flags = CURL_BLOB_NOCOPY;
  curl_easy_setopt(easy, option, &blob);
}

int OnNewSocket(void* options, curl_socket_t socket, curlsocktype) {
  const auto milliseconds =
      static_cast<unsigned>(absl::ToInt64Milliseconds(PeerTimeout(*static_cast<const HttpClientOptions*>(options))));
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof(milliseconds));
  return CURL_SOCKOPT_OK;
}

}  // namespace

std::string WithoutSecrets(absl::string_view url) {
  std::string out;
  // Up to the last '@': a password may hold any character when it was not encoded.
  if (const std::size_t at = url.rfind('@'); at != absl::string_view::npos) {
    if (const std::size_t scheme = url.find("://"); scheme < at) out = std::string(url.substr(0, scheme + 3));
    absl::StrAppend(&out, "***");
    url.remove_prefix(at);
  }
  const std::size_t query = url.find_first_of("?#");
  absl::StrAppend(&out, url.substr(0, query));
  if (query != absl::string_view::npos) absl::StrAppend(&out, url.substr(query, 1), "***");
  return out;
}

absl::StatusOr<Endpoint> Endpoint::Make(Connection connection) {
  Endpoint endpoint(std::move(connection));
  GW_RETURN_IF_ERROR(endpoint.ParseServer());
  GW_RETURN_IF_ERROR(endpoint.ParseProxy());
  GW_RETURN_IF_ERROR(endpoint.WriteHeaders());
  GW_RETURN_IF_ERROR(endpoint.CheckSigning());
  return endpoint;
}

absl::Status Endpoint::ParseProxy() {
  if (connection_.proxy_url.empty()) return absl::OkStatus();
  const auto wrong = [this](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat("proxy-url \"", WithoutSecrets(connection_.proxy_url), "\": ", why,
                                                   "; write it like http://10.0.0.1:3128"));
  };
  const std::unique_ptr<CURLU, UrlCleanup> url(curl_url());
  if (curl_url_set(url.get(), CURLUPART_URL, connection_.proxy_url.c_str(), CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
    return wrong("is no URL");
  const std::string scheme = UrlPart(url.get(), CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https" && scheme != "socks5") return wrong("is none of http, https, socks5");
  // As Go's: the proxy looks up the server's name.
  proxy_ = scheme == "socks5" ? absl::StrCat("socks5h", absl::string_view(connection_.proxy_url).substr(6))
                              : connection_.proxy_url;
  return absl::OkStatus();
}

absl::Status Endpoint::WriteHeaders() {
  const Impersonation& as = connection_.impersonate;
  if (as.user.empty()) {
    if (as.uid.empty() && as.groups.empty() && as.extra.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError("impersonation: groups, a uid or extra fields are given, but no user to act as");
  }
  headers_.push_back(absl::StrCat("Impersonate-User: ", as.user));
  if (!as.uid.empty()) headers_.push_back(absl::StrCat("Impersonate-Uid: ", as.uid));
  for (const std::string& group : as.groups) headers_.push_back(absl::StrCat("Impersonate-Group: ", group));
  for (const auto& [key, values] : as.extra) {
    for (const std::string& value : values)
      headers_.push_back(absl::StrCat("Impersonate-Extra-", HeaderKey(key), ": ", value));
  }
  for (const std::string& header : headers_) {
    if (HasControl(header)) return absl::InvalidArgumentError("impersonation: a name contains control characters");
  }
  return absl::OkStatus();
}

absl::Status Endpoint::ParseServer() {
  const auto wrong = [this](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat("server \"", WithoutSecrets(connection_.server), "\": ", why,
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
    headers_.push_back(absl::StrCat("Host: ", host, ":", port));
  }
  return absl::OkStatus();
}

// libcurl 7.88 signs the body's hash and does not send it, which S3 insists on.
std::vector<std::string> Endpoint::SignedHeaders(const Request& request) const {
  std::vector<std::string> out;
  if (!signs()) return out;
  std::array<unsigned char, 32> hash{};
  unsigned size = 0;
  GW_CHECK(EVP_Digest(request.body.data(), request.body.size(), hash.data(), &size, EVP_sha256(), nullptr) == 1);
  out.push_back(absl::StrCat("x-amz-content-sha256: ",
                             absl::BytesToHexString({reinterpret_cast<const char*>(hash.data()), size})));
  if (const std::string& token = connection_.signing->session_token; !token.empty())
    out.push_back(absl::StrCat("x-amz-security-token: ", token));
  return out;
}

absl::Status Endpoint::CheckSigning() const {
  if (!signs()) return absl::OkStatus();
  const AwsSigning& signing = *connection_.signing;
  if (signing.key_id.empty() || signing.secret.empty())
    return absl::InvalidArgumentError("signing: needs a key's id and its secret");
  for (const std::string* text :
       {&signing.region, &signing.service, &signing.key_id, &signing.secret, &signing.session_token}) {
    if (HasControl(*text)) return absl::InvalidArgumentError("signing: a credential contains control characters");
  }
  for (const std::string* text : {&signing.region, &signing.service}) {
    if (text->empty() || absl::StrContains(*text, ":") || absl::StrContains(*text, "/"))
      return absl::InvalidArgumentError(absl::StrCat("signing: \"", *text, "\" is no region or service"));
  }
  return absl::OkStatus();
}

std::string Endpoint::Url(const Request& request) const {
  return absl::StrCat(base_url_, request.path, request.query.empty() ? "" : "?", request.query);
}

void Endpoint::Configure(CURL* easy, const Credentials& credentials, const HttpClientOptions& options) const {
  const Connection& c = connection_;
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  // Share an HTTP/2 connection rather than open one more. Without TLS there is none, and libcurl would wait for an
  // answer to learn that.
  curl_easy_setopt(easy, CURLOPT_PIPEWAIT, tls_ ? 1L : 0L);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  // Of a peer that is silent the kernel asks whether it is still there: three times within its time.
  const auto peer_seconds = static_cast<long>(absl::ToInt64Seconds(PeerTimeout(options)));
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, peer_seconds / 2);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, peer_seconds / 4);
  curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, &OnNewSocket);
  curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, const_cast<HttpClientOptions*>(&options));  // only read
  curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, static_cast<long>(absl::ToInt64Seconds(options.max_connection_rest)));
  curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
  if (!c.ca.data.empty()) {
    SetBlob(easy, CURLOPT_CAINFO_BLOB, c.ca.data);
  } else if (!c.ca.file.empty()) {
    curl_easy_setopt(easy, CURLOPT_CAINFO, c.ca.file.c_str());
  }
  if (c.ca.set()) curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);  // that authority and no other
  curl_easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, 60L);
  // As bytes, not as files: libcurl shares a connection only among those who show the same, and a server looks at the
  // date of the certificate with each request.
  if (!credentials.certificate.empty()) {
    SetBlob(easy, CURLOPT_SSLCERT_BLOB, credentials.certificate);
    SetBlob(easy, CURLOPT_SSLKEY_BLOB, credentials.key);
  }
  if (c.insecure_skip_tls_verify) {
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
  }
  if (!c.token.set() && !c.username.empty()) {
    curl_easy_setopt(easy, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
    curl_easy_setopt(easy, CURLOPT_USERNAME, c.username.c_str());
    curl_easy_setopt(easy, CURLOPT_PASSWORD, c.password.c_str());
  }
  if (c.signing.has_value()) {
    curl_easy_setopt(easy, CURLOPT_AWS_SIGV4,
                     absl::StrCat("aws:amz:", c.signing->region, ":", c.signing->service).c_str());
    curl_easy_setopt(easy, CURLOPT_USERNAME, c.signing->key_id.c_str());
    curl_easy_setopt(easy, CURLOPT_PASSWORD, c.signing->secret.c_str());
  }
  if (connect_to_ != nullptr) curl_easy_setopt(easy, CURLOPT_CONNECT_TO, connect_to_.get());
  if (!proxy_.empty()) {
    curl_easy_setopt(easy, CURLOPT_PROXY, proxy_.c_str());
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "");  // NO_PROXY speaks of the environment's
  } else if (loopback_) {
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
  }
}

}  // namespace gangway::kube
