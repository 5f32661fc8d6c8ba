#include "kube/client/transfer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "kube/client/status.h"

namespace gangway::kube {
namespace {

// Of a refusal we keep as much as its message may need.
constexpr std::size_t kMaxRefusalBytes = 1u << 20;
// Of each request under way: for what comes, which is short where it answers a write, and for what is sent.
constexpr long kBufferBytes = 128 << 10, kBufferBytesOfWrites = 16 << 10, kUploadBufferBytes = 16 << 10;

bool HasSpaceOrControl(absl::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7f; });
}

// The text of `299 - "text"` with its escapes taken away; code and agent say nothing.
std::string WarningText(absl::string_view header) {
  const std::size_t open = header.find('"');
  if (open == absl::string_view::npos) return std::string(header);
  std::string text;
  for (std::size_t i = open + 1; i < header.size() && header[i] != '"'; ++i) {
    if (header[i] == '\\' && i + 1 < header.size()) ++i;
    text.push_back(header[i]);
  }
  return text;
}

long Milliseconds(SteadyTime::duration d) {
  return static_cast<long>(std::chrono::ceil<std::chrono::milliseconds>(d).count());
}

}  // namespace

absl::Status CheckRequest(const Request& request) {
  static constexpr absl::string_view kMethods[] = {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"};
  if (std::find(std::begin(kMethods), std::end(kMethods), request.method) == std::end(kMethods)) {
    return absl::InvalidArgumentError(absl::StrCat("request: unknown method \"", request.method, "\""));
  }
  if (!absl::StartsWith(request.path, "/") || HasSpaceOrControl(request.path) || absl::StrContains(request.path, '?') ||
      absl::StrContains(request.path, '#')) {
    return absl::InvalidArgumentError(absl::StrCat("request: path \"", request.path, "\" is not percent-encoded"));
  }
  if (HasSpaceOrControl(request.query) || absl::StrContains(request.query, '#')) {
    return absl::InvalidArgumentError(absl::StrCat("request: query \"", request.query, "\" is not percent-encoded"));
  }
  if (HasControl(request.content_type) || HasControl(request.accept)) {
    return absl::InvalidArgumentError("request: a header contains control characters");
  }
  return absl::OkStatus();
}

Transfer::Transfer(Request request, Token task_owner, Client::Done when_done)
    : owner(std::move(task_owner)), done(std::move(when_done)), request_(std::move(request)) {}

Transfer::Transfer(Request request, std::shared_ptr<WatchStream> stream, std::optional<std::size_t> max_frame_bytes)
    : request_(std::move(request)), stream_(std::move(stream)) {
  if (max_frame_bytes.has_value()) splitter_.emplace(*max_frame_bytes);
}

Transfer::~Transfer() { curl_slist_free_all(headers_); }

absl::Status Transfer::Prepare(CURL* easy, const Endpoint& endpoint, CredentialsPtr credentials,
                               const HttpClientOptions& options, SteadyTime now) {
  easy_ = easy;
  credentials_ = std::move(credentials);
  started_at_ = last_byte_ = now;
  max_body_bytes_ = is_watch() ? kMaxRefusalBytes : options.max_response_bytes;
  GW_RETURN_IF_ERROR(CheckRequest(request_));
  url_ = endpoint.Url(request_);
  if (IsWriteMethod(request_.method)) fence_ = options.fence;
  if (!FenceOpen()) return std::move(failure_);
  endpoint.Configure(easy, *credentials_, options);
  if (options.compress && !endpoint.disable_compression()) curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
  curl_easy_setopt(easy, CURLOPT_URL, url_.c_str());
  curl_easy_setopt(easy, CURLOPT_PRIVATE, this);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error_.data());
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Transfer::OnBody);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, IsWriteMethod(request_.method) ? kBufferBytesOfWrites : kBufferBytes);
  curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, kUploadBufferBytes);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, options.user_agent.c_str());
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                   std::max(1L, static_cast<long>(absl::ToInt64Milliseconds(options.connect_timeout))));
  if (is_watch()) {
    // On a connection of its own: over HTTP/2 an API server hands each event from one goroutine to the next, behind all
    // its answers to us, so that under load watches lag for seconds.
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 0L);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &Transfer::OnHeader);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
  } else {
    if (now >= deadline)
      return absl::DeadlineExceededError(absl::StrCat(request_.method, " ", url_, ": not sent in time"));
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, std::max(1L, Milliseconds(deadline - now)));
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, &Transfer::OnReadyToSend);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, this);
  }
  SetMethod();
  SetHeaders(endpoint);
  return absl::OkStatus();
}

std::string Transfer::Subject() const {
  return absl::StrCat(is_watch() ? "WATCH" : request_.method, " ", request_.path);
}

void Transfer::Rewind(bool refused) {
  refused_ = refused_ || refused;
  easy_ = nullptr;
  lane.reset();
  sent_at_ = heard_at_ = std::nullopt;
  port_ = 0;
  curl_slist_free_all(std::exchange(headers_, nullptr));
  error_.fill('\0');
  body_.clear();
  body_sent_ = 0;
}

// Remembers the refusal.
bool Transfer::FenceOpen() {
  if (fence_ == nullptr || fence_->open()) return true;
  failure_ = FencedOff(absl::StrCat(request_.method, " ", url_));
  return false;
}

std::size_t Transfer::OnBodyWanted(char* into, std::size_t, std::size_t room, void* self) {
  auto* transfer = static_cast<Transfer*>(self);
  if (!transfer->FenceOpen()) return CURL_READFUNC_ABORT;
  const std::string& body = transfer->request_.body;
  const std::size_t count = std::min(room, body.size() - transfer->body_sent_);
  body.copy(into, count, transfer->body_sent_);
  transfer->body_sent_ += count;
  return count;
}

// A request is sent again when its kept connection turned out dead.
int Transfer::OnBodySought(void* self, curl_off_t offset, int origin) {
  auto* transfer = static_cast<Transfer*>(self);
  if (origin != SEEK_SET || offset < 0 || static_cast<std::size_t>(offset) > transfer->request_.body.size())
    return CURL_SEEKFUNC_FAIL;
  transfer->body_sent_ = static_cast<std::size_t>(offset);
  return CURL_SEEKFUNC_OK;
}

int Transfer::OnReadyToSend(void* self, char*, char*, int, int own_port) {
  auto* transfer = static_cast<Transfer*>(self);
  if (!transfer->FenceOpen()) return CURL_PREREQFUNC_ABORT;
  transfer->sent_at_ = std::chrono::steady_clock::now();
  transfer->port_ = own_port;
  return CURL_PREREQFUNC_OK;
}

void Transfer::SetMethod() {
  if (request_.method == "HEAD") {
    curl_easy_setopt(easy_, CURLOPT_NOBODY, 1L);
    return;
  }
  const bool has_body = !request_.body.empty() ||
                        (request_.method != "GET" && request_.method != "DELETE" && request_.method != "OPTIONS");
  if (has_body) {
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
    if (fence_ == nullptr)
      curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, request_.body.data());  // refers to it; we outlive the transfer
  }
  if (fence_ != nullptr && has_body) {
    curl_easy_setopt(easy_, CURLOPT_POST, 1L);
    curl_easy_setopt(easy_, CURLOPT_READFUNCTION, &Transfer::OnBodyWanted);
    curl_easy_setopt(easy_, CURLOPT_READDATA, this);
    curl_easy_setopt(easy_, CURLOPT_SEEKFUNCTION, &Transfer::OnBodySought);
    curl_easy_setopt(easy_, CURLOPT_SEEKDATA, this);
  }
  curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
}

void Transfer::SetHeaders(const Endpoint& endpoint) {
  const auto add = [this](const std::string& line) { headers_ = curl_slist_append(headers_, line.c_str()); };
  add(absl::StrCat("Accept: ", request_.accept.empty() ? "application/json" : request_.accept));
  if (!request_.body.empty()) {
    add(absl::StrCat("Content-Type: ", request_.content_type.empty() ? "application/json" : request_.content_type));
  } else if (!endpoint.signs()) {  // libcurl signs the header that it then leaves out
    add("Content-Type:");          // its own would be a form's
  }
  for (const std::string& header : endpoint.SignedHeaders(request_)) add(header);
  if (!credentials_->authorization.empty()) add(credentials_->authorization);
  for (const std::string& header : endpoint.headers()) add(header);
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_);
}

std::size_t Transfer::OnHeader(char*, std::size_t, std::size_t size, void* self) {
  auto* transfer = static_cast<Transfer*>(self);
  transfer->Brought(std::chrono::steady_clock::now());
  if (!transfer->heard_at_) transfer->heard_at_ = transfer->last_byte_;
  return size;
}

std::size_t Transfer::OnBody(char* bytes, std::size_t, std::size_t size, void* self) {
  auto* transfer = static_cast<Transfer*>(self);
  const absl::string_view text(bytes, size);
  const int code = transfer->is_watch() ? transfer->http_code() : 0;
  return code >= 200 && code < 300 ? transfer->TakeFrames(text) : transfer->TakeBody(text);
}

std::size_t Transfer::TakeBody(absl::string_view bytes) {
  heard_at_ = std::chrono::steady_clock::now();
  if (body_.empty()) {
    curl_off_t length = -1;
    curl_easy_getinfo(easy_, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    if (length > 0) body_.reserve(std::min(static_cast<std::size_t>(length), max_body_bytes_));
  }
  if (body_.size() + bytes.size() > max_body_bytes_) {
    failure_ = absl::ResourceExhaustedError(
        absl::StrCat("the answer is larger than the limit of ", max_body_bytes_, " bytes"));
    return 0;
  }
  body_.append(bytes.data(), bytes.size());
  return bytes.size();
}

std::size_t Transfer::TakeFrames(absl::string_view bytes) {
  if (stream_->MustWait()) {
    paused_ = true;
    return CURL_WRITEFUNC_PAUSE;  // libcurl hands us the same bytes again later
  }
  Brought(std::chrono::steady_clock::now());
  std::vector<Frame> frames;
  absl::Status fed;
  if (splitter_.has_value()) {
    fed = splitter_->Feed(bytes, frames);
  } else {
    frames.push_back({FrameType::kAdded, MakeBytes(std::string(bytes))});
  }
  stream_->Push(std::move(frames));
  if (fed.ok()) return bytes.size();
  failure_ = std::move(fed);
  return 0;
}

void Transfer::Brought(SteadyTime when) {
  last_byte_ = when;
  suspect_until_.reset();
}

void Transfer::Resume(SteadyTime now) {
  if (!paused_) return;
  paused_ = false;
  Brought(now);
  curl_easy_pause(easy_, CURLPAUSE_CONT);
}

std::optional<SteadyTime> Transfer::silent_until(const HttpClientOptions& options) const {
  if (paused_) return std::nullopt;
  if (suspect_until_) return suspect_until_;
  return last_byte_ + (heard_at_ ? absl::ToChronoMilliseconds(options.watch_idle_timeout) : patience);
}

absl::Status Transfer::SilenceError(const HttpClientOptions& options) const {
  const absl::Duration silence = heard_at_ && !suspect_until_ ? options.watch_idle_timeout : absl::FromChrono(patience);
  return absl::DeadlineExceededError(absl::StrCat("watch ", url_, ": not a byte for ", absl::FormatDuration(silence)));
}

absl::Status Transfer::GivenUp(absl::string_view why) const {
  return absl::UnavailableError(absl::StrCat(is_watch() ? "watch" : request_.method, " ", url_, ": ", why));
}

int Transfer::http_code() const {
  long code = 0;
  curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &code);
  return static_cast<int>(code);
}

bool Transfer::MadeSharedConnection() const {
  long version = 0, connects = 0;
  curl_easy_getinfo(easy_, CURLINFO_HTTP_VERSION, &version);
  curl_easy_getinfo(easy_, CURLINFO_NUM_CONNECTS, &connects);
  return version == CURL_HTTP_VERSION_2_0 && connects > 0;
}

absl::Status Transfer::TransportError(CURLcode code) const {
  if (absl::IsFailedPrecondition(failure_))
    return absl::Status(failure_.code(), failure_.message());  // the fence's; it names the request
  const std::string what = absl::StrCat(request_.method, " ", url_, ": ");
  if (!failure_.ok()) return absl::Status(failure_.code(), absl::StrCat(what, failure_.message()));
  const std::string why = error_[0] != '\0' ? error_.data() : curl_easy_strerror(code);
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return absl::DeadlineExceededError(absl::StrCat(what, why));
    case CURLE_URL_MALFORMAT:
      return absl::InvalidArgumentError(absl::StrCat(what, why));
    default:
      return absl::UnavailableError(absl::StrCat(what, why));
  }
}

Response Transfer::MakeResponse() {
  Response response;
  response.code = http_code();
  char* content_type = nullptr;
  if (curl_easy_getinfo(easy_, CURLINFO_CONTENT_TYPE, &content_type) == CURLE_OK && content_type != nullptr) {
    response.content_type = content_type;
  }
  curl_off_t retry_after = 0;  // seconds, also when the header was a date
  curl_header* header = nullptr;
  if (curl_easy_header(easy_, "Retry-After", 0, CURLH_HEADER, -1, &header) == CURLHE_OK &&
      curl_easy_getinfo(easy_, CURLINFO_RETRY_AFTER, &retry_after) == CURLE_OK) {
    response.retry_after = absl::Seconds(retry_after);
  }
  for (std::size_t i = 0; curl_easy_header(easy_, "Warning", i, CURLH_HEADER, -1, &header) == CURLHE_OK; ++i) {
    response.warnings.push_back(WarningText(header->value));
  }
  response.body = MakeBytes(std::move(body_));
  return response;
}

absl::StatusOr<Response> Transfer::RequestResult(CURLcode code) {
  if (code != CURLE_OK) return TransportError(code);
  return MakeResponse();
}

absl::Status Transfer::WatchResult(CURLcode code) {
  const int answer = http_code();
  if (code != CURLE_OK) return TransportError(code);
  if (answer < 200 || answer >= 300) return StatusFromResponse(MakeResponse());
  return splitter_.has_value() ? splitter_->Finish() : absl::OkStatus();
}

}  // namespace gangway::kube
