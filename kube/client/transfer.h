// One request or watch as libcurl sees it. Private to this folder; used on the curl thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <curl/curl.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/loop.h"
#include "kube/client/client.h"
#include "kube/client/connection.h"
#include "kube/client/credentials.h"
#include "kube/client/curl_multi.h"
#include "kube/client/frame_splitter.h"
#include "kube/client/http_client.h"
#include "kube/client/watch_stream.h"

namespace gangway::kube {

// A Connection taken apart and checked; what all transfers of a client share.
class Endpoint {
 public:
  // InvalidArgument names the field that cannot be used.
  static absl::StatusOr<Endpoint> Make(Connection connection);

  std::string Url(const Request& request) const;
  // Address, TLS and proxy. `easy` refers to this endpoint, to the credentials and to the options from then on.
  void Configure(CURL* easy, const Credentials& credentials, const HttpClientOptions& options) const;
  // Of every request: whom to act as, and "Host: 10.0.0.1:6443" when the URL says tls_server_name.
  const std::vector<std::string>& headers() const { return headers_; }
  // What the signature of this request covers beside libcurl's own headers; none when it is not signed.
  std::vector<std::string> SignedHeaders(const Request& request) const;
  bool signs() const { return connection_.signing.has_value(); }
  bool disable_compression() const { return connection_.disable_compression; }

 private:
  explicit Endpoint(Connection connection) : connection_(std::move(connection)) {}
  absl::Status ParseServer();
  absl::Status ParseProxy();
  absl::Status WriteHeaders();
  absl::Status CheckSigning() const;

  Connection connection_;
  std::string base_url_;                    // without a slash at the end
  std::shared_ptr<curl_slist> connect_to_;  // where tls_server_name really is: "::10.0.0.1:6443"
  std::vector<std::string> headers_;
  std::string proxy_;  // as libcurl wants it
  bool loopback_ = false;
  bool tls_ = false;
};

// InvalidArgument when the request cannot be put on a wire as it is.
absl::Status CheckRequest(const Request& request);

class Transfer {
 public:
  Transfer(Request request, Token owner, Client::Done done);
  // A watch; without `max_frame_bytes` a stream of text, whose pieces travel as the objects of frames.
  Transfer(Request request, std::shared_ptr<WatchStream> stream, std::optional<std::size_t> max_frame_bytes);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // Makes `easy`, which the transfer borrows, ready to go.
  absl::Status Prepare(CURL* easy, const Endpoint& endpoint, CredentialsPtr credentials,
                       const HttpClientOptions& options, SteadyTime now);

  // The server did not believe who we are, and has done nothing; it may be asked once more, as if nothing had been
  // sent.
  bool MayTryAgain(CURLcode code) const { return code == CURLE_OK && http_code() == 401 && !refused_; }
  // As if nothing had been sent. `refused`: it is because of a 401.
  void Rewind(bool refused);
  const CredentialsPtr& credentials() const { return credentials_; }

  // What came of it.
  absl::StatusOr<Response> RequestResult(CURLcode code);
  absl::Status WatchResult(CURLcode code);

  bool is_watch() const { return stream_ != nullptr; }
  bool is_write() const { return IsWriteMethod(request_.method); }
  // What it asks for, whatever it says about it: "POST /api/v1/pods", "WATCH /api/v1/pods".
  std::string Subject() const;
  const std::shared_ptr<WatchStream>& stream() const { return stream_; }
  CURL* easy() const { return easy_; }

  // When libcurl was given it; when a request was written to a connection, and to which (its own port); when a byte
  // came: of a watch the first, of a request the last.
  SteadyTime started_at() const { return started_at_; }
  std::optional<SteadyTime> sent_at() const { return sent_at_; }
  int port() const { return port_; }
  std::optional<SteadyTime> heard_at() const { return heard_at_; }
  // An answered request: over HTTP/2, on a connection that was opened for it.
  bool MadeSharedConnection() const;
  // Another one has heard something on the same connection.
  void Heard(SteadyTime when) { heard_at_ = when; }

  // When a watch will have been silent for too long; never while it is paused.
  std::optional<SteadyTime> silent_until(const HttpClientOptions& options) const;
  // Whether a watch that is not paused has brought nothing since.
  bool SilentSince(SteadyTime when) const { return !paused_ && last_byte_ < when; }
  // When a watch last brought something, or was started.
  SteadyTime last_byte() const { return last_byte_; }
  // A watch must bring something until then; who is suspect already gets no more time.
  void Suspect(SteadyTime until) { suspect_until_ = std::min(until, suspect_until_.value_or(until)); }
  void Resume(SteadyTime now);
  absl::Status SilenceError(const HttpClientOptions& options) const;
  absl::Status GivenUp(absl::string_view why) const;

  SteadyTime deadline;              // of a request
  SteadyTime::duration patience{};  // with a connection that says nothing; of a watch until its first byte
  std::shared_ptr<CurlLane> lane;   // that it runs in
  Token owner;
  Client::Done done;

 private:
  static std::size_t OnBody(char* bytes, std::size_t one, std::size_t size, void* self);
  static std::size_t OnHeader(char* bytes, std::size_t one, std::size_t size, void* self);
  static std::size_t OnBodyWanted(char* into, std::size_t one, std::size_t room, void* self);
  static int OnBodySought(void* self, curl_off_t offset, int origin);
  static int OnReadyToSend(void* self, char* peer, char* own, int peer_port, int own_port);
  bool FenceOpen();
  void Brought(SteadyTime when);  // a watch, a byte
  std::size_t TakeBody(absl::string_view bytes);
  std::size_t TakeFrames(absl::string_view bytes);
  void SetMethod();
  void SetHeaders(const Endpoint& endpoint);
  Response MakeResponse();
  absl::Status TransportError(CURLcode code) const;
  int http_code() const;

  const Request request_;
  const std::shared_ptr<WatchStream> stream_;  // null for a request
  std::optional<FrameSplitter> splitter_;      // of a watch

  CURL* easy_ = nullptr;
  CredentialsPtr credentials_;
  bool refused_ = false;  // once, by a 401
  curl_slist* headers_ = nullptr;
  std::string url_;
  std::array<char, CURL_ERROR_SIZE> error_{};
  std::shared_ptr<const WriteFence> fence_;  // of a write; else null
  std::size_t body_sent_ = 0;                // with a fence: given to libcurl
  std::size_t max_body_bytes_ = 0;
  std::string body_;
  absl::Status failure_;  // found by us while reading
  SteadyTime started_at_;
  std::optional<SteadyTime> sent_at_, heard_at_;
  std::optional<SteadyTime> suspect_until_;  // of a watch, until its next byte
  int port_ = 0;
  SteadyTime last_byte_;  // of a watch
  bool paused_ = false;
};

}  // namespace gangway::kube
