// Beast 1.81 asserts that a last chunk of which a part has come has five bytes; where the rest comes byte by byte it
// has four, and is read rightly.
#define BOOST_DISABLE_ASSERTS
#include "kube/serve/http_connection.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/verb.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kube/client/frame_splitter.h"
#include "kube/serve/http_wire.h"

namespace gangway::kube {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::beast::error_code;

namespace {

constexpr std::size_t kMaxChunkBytes = 256u << 10;  // of frames or pieces in one write, unless one of them is larger
constexpr std::size_t kSmallBody = 16u << 10;       // copied behind its header rather than gathered
constexpr std::size_t kMaxLingerBytes = 64u << 20;
constexpr absl::Duration kLingerTime = absl::Seconds(2);
constexpr std::size_t kMaxWrittenKept = 64u << 10;
// A request that comes in more small pieces than these is read in turn with others of its kind, so that those who drip
// on a hundred connections do not take a thread from everybody else.
constexpr std::size_t kCrumbBytes = 1u << 10;
constexpr int kFreeCrumbs = 16;

absl::string_view Header(const http::request<http::string_body>& request, http::field field) {
  const auto value = request[field];
  return {value.data(), value.size()};
}

constexpr absl::string_view kImpersonate = "impersonate-";

// Those of Kubernetes' headers Impersonate-*, in lower case and without that.
std::vector<std::pair<std::string, std::string>> Impersonation(const http::request<http::string_body>& request) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& field : request) {
    const auto name = field.name_string(), value = field.value();
    if (field.name() != http::field::unknown) continue;  // it is none of those that everybody knows
    if (!absl::StartsWithIgnoreCase({name.data(), name.size()}, kImpersonate)) continue;
    out.emplace_back(absl::AsciiStrToLower({name.data() + kImpersonate.size(), name.size() - kImpersonate.size()}),
                     std::string(value.data(), value.size()));
  }
  return out;
}

std::string PeerName(const asio::ip::tcp::socket& socket) {
  error_code error;
  const auto endpoint = socket.remote_endpoint(error);
  return error ? "" : absl::StrCat(endpoint.address().to_string(), ":", endpoint.port());
}

std::vector<std::string> ProtocolsOf(absl::string_view header) {
  std::vector<std::string> out;
  for (const absl::string_view each : absl::StrSplit(header, ',')) out.emplace_back(absl::StripAsciiWhitespace(each));
  return out;
}

bool IsServed(http::verb verb, bool read_only) {
  if (read_only) return verb == http::verb::get || verb == http::verb::head;
  switch (verb) {
    case http::verb::get:
    case http::verb::head:
    case http::verb::post:
    case http::verb::put:
    case http::verb::patch:
    case http::verb::delete_:
      return true;
    default:
      return false;
  }
}

}  // namespace

HttpConnection::HttpConnection(ConnectionContext& context, asio::ip::tcp::socket socket,
                               const std::shared_ptr<SSL_CTX>& tls, ConnectionId id)
    : context_(context),
      stream_(std::move(socket), tls),
      id_(id),
      peer_(PeerName(stream_.socket())),
      held_(context.bytes_in_flight) {}

void HttpConnection::Start() {
  NextRequest();
  if (stream_.secure()) SetDeadline(context_.options.header_timeout);  // of the handshake
}

void HttpConnection::Refuse(bool with_words) {
  refused_ = true;
  if (!with_words) return Close();
  linger_ = true;
  Response busy =
      RefusalResponse(503, absl::StrCat("all ", context_.options.max_connections, " connections are in use"));
  busy.retry_after = absl::Seconds(1);
  keep_alive_ = false;
  BeginAnswer(busy);
}

// --- reading

void HttpConnection::NextRequest() {
  state_ = State::kIdle;
  since_ = SteadyTime::clock::now();
  head_seen_ = head_only_ = http10_ = false;
  counted_ = 0;
  lines_ = crumbs_ = 0;
  parser_.emplace();  // not eager: the header is looked at before what follows it
  parser_->header_limit(static_cast<std::uint32_t>(context_.options.max_header_bytes));
  parser_->body_limit(context_.options.max_body_bytes);
  SetDeadline(context_.options.idle_timeout);
  if (shutting_down_) return Close();
  if (input_.empty()) return WaitForBytes();
  Parse();
}

void HttpConnection::WaitForBytes() {
  if (waiting_to_read_) return;
  waiting_to_read_ = true;
  const auto what = stream_.read_needs_room() ? asio::ip::tcp::socket::wait_write : asio::ip::tcp::socket::wait_read;
  stream_.socket().async_wait(what, [self = shared_from_this()](error_code error) {
    self->waiting_to_read_ = false;
    if (self->state_ == State::kClosed) return;
    if (error) return self->Close();
    self->OnReadable();
  });
}

void HttpConnection::OnReadable() {
  // Not now: what a client sends ahead waits in the kernel, but for a watcher, whose going away we must notice.
  if (state_ == State::kHandling || state_ == State::kWriting || state_ == State::kUpgraded) return;
  error_code error;
  const std::size_t count = stream_.ReadSome(asio::buffer(context_.scratch), error);
  if (error == asio::error::would_block || error == asio::error::interrupted) return WaitForBytes();
  if (error) return Close();
  if (state_ == State::kLingering) {
    lingered_bytes_ += count;
    return lingered_bytes_ > kMaxLingerBytes ? Close() : WaitForBytes();
  }
  input_.append(context_.scratch.data(), count);
  if (state_ == State::kWatching) {
    // The next request, sent early. Nobody sends so much of it behind a watch; and its end would stand behind it,
    // unseen.
    return input_.size() > context_.options.max_header_bytes ? Close() : WaitForBytes();
  }
  if (count < kCrumbBytes) ++crumbs_;
  Parse();
}

bool HttpConnection::HasTooManyFields() {
  for (std::size_t end; (end = input_.find('\n', counted_)) != std::string::npos;) {
    const bool empty = end == counted_ || (end == counted_ + 1 && input_[counted_] == '\r');
    counted_ = end + 1;
    if (empty) return false;
    if (++lines_ > context_.options.max_header_fields + 1) return true;  // one is the request's
  }
  return false;
}

void HttpConnection::Parse() {
  if (state_ == State::kIdle) {
    input_.erase(0, input_.find_first_not_of("\r\n"));  // empty lines before a request are allowed
    if (input_.empty()) return WaitForBytes();
    state_ = State::kReading;
    SetDeadline(context_.options.header_timeout);
  }
  // Before Beast has them, which compares each with many before it.
  if (!head_seen_ && HasTooManyFields()) {
    return RefuseAndClose(431, absl::StrCat("the request header has more than the limit of ",
                                            context_.options.max_header_fields, " fields"));
  }
  error_code error;
  std::size_t used = parser_->put(asio::buffer(input_), error);
  if (!error && parser_->is_header_done() && !head_seen_) {
    head_seen_ = true;
    SetDeadline(context_.options.body_timeout);
    if (!CheckHead(used < input_.size())) return;
    TakeHead();
    parser_->eager(true);
    if (!parser_->is_done() && used < input_.size()) used += parser_->put(asio::buffer(input_) + used, error);
  }
  input_.erase(0, used);
  counted_ -= std::min(counted_, used);
  if (error && error != http::error::need_more) return OnParseError(error);
  if (!Hold(parser_->get().body().size())) return;
  if (parser_->is_done()) return Dispatch();
  // Beast keeps what it cannot yet read; a chunk's extension or a trailer could grow for ever.
  if (input_.size() > context_.options.max_header_bytes + context_.scratch.size()) {
    return RefuseAndClose(431, "a part of the request is too large");
  }
  crumbs_ > kFreeCrumbs ? context_.in_turn(id_) : WaitForBytes();
}

bool HttpConnection::Hold(std::size_t bytes) {
  while (held_.Set(bytes) > context_.options.max_bytes_in_flight) {
    HttpConnection* const slowest = context_.slowest();
    if (slowest == nullptr || slowest == this) {
      RefuseForRoom();
      return false;
    }
    slowest->RefuseForRoom();
  }
  return true;
}

void HttpConnection::OnParseError(error_code error) {
  if (trailer_is_too_long_) {
    return RefuseAndClose(431, absl::StrCat("the request's trailer has more than the limit of ",
                                            context_.options.max_header_fields, " fields"));
  }
  if (error == http::error::body_limit) {
    return RefuseAndClose(413, absl::StrCat("Request entity too large: limit is ", context_.options.max_body_bytes));
  }
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return RefuseAndClose(431, absl::StrCat("the request header is larger than the limit of ",
                                            context_.options.max_header_bytes, " bytes"));
  }
  if (error == http::error::bad_version) return RefuseAndClose(505, "this server speaks HTTP/1.1");
  RefuseAndClose(400, absl::StrCat("malformed HTTP request: ", error.message()));
}

void HttpConnection::CountTrailer(const char* begin, error_code& error) {
  const absl::string_view rest(begin, static_cast<std::size_t>(input_.data() + input_.size() - begin));
  int fields = 0;
  for (std::size_t at = 0, end; (end = rest.find('\n', at)) != absl::string_view::npos; at = end + 1) {
    if (end - at < 2) return;  // the line that ends it
    if (++fields <= context_.options.max_header_fields) continue;
    trailer_is_too_long_ = true;
    error = http::error::header_limit;
    return;
  }
}

bool HttpConnection::CheckHead(bool more_is_there) {
  const auto& request = parser_->get();
  const auto refuse = [this](int code, absl::string_view message) {
    RefuseAndClose(code, message);
    return false;
  };
  head_only_ = request.method() == http::verb::head;
  http10_ = request.version() == 10;
  keep_alive_ = request.keep_alive();
  if (request.version() != 10 && request.version() != 11) return refuse(505, "this server speaks HTTP/1.1");
  if (!IsServed(request.method(), context_.options.read_only)) {
    const auto method = request.method_string();
    return refuse(405, absl::StrCat("method ", absl::string_view(method.data(), method.size()), " is not supported"));
  }
  const absl::string_view host = Header(request, http::field::host);
  if (request.count(http::field::host) > 1 || (host.empty() && !http10_))
    return refuse(400, "one Host header is needed");
  if (context_.loopback_only && !host.empty() && !IsLoopbackHost(host))
    return refuse(403, "this server is reached as 127.0.0.1 or localhost only");
  const absl::string_view origin = Header(request, http::field::origin);
  if (context_.loopback_only && !origin.empty() && !IsLoopbackOrigin(origin))
    return refuse(403, "requests made by pages from elsewhere are not served");
  if (!context_.options.token.empty() &&
      !SameSecret(Header(request, http::field::authorization), absl::StrCat("Bearer ", context_.options.token))) {
    return refuse(401, "Unauthorized");
  }
  if (request.count(http::field::transfer_encoding) > 0 &&
      !absl::EqualsIgnoreCase(Header(request, http::field::transfer_encoding), "chunked")) {
    return refuse(501, "no transfer encoding but chunked is supported");
  }
  const absl::string_view encoding = Header(request, http::field::content_encoding);
  if (!encoding.empty() && !absl::EqualsIgnoreCase(encoding, "identity")) {
    return refuse(415, absl::StrCat("content encoding \"", encoding, "\" is not supported"));
  }
  const absl::string_view expect = Header(request, http::field::expect);
  if (expect.empty()) return true;
  if (!absl::EqualsIgnoreCase(expect, "100-continue")) return refuse(417, "only 100-continue can be expected");
  if (parser_->is_done()) return true;
  if (!http10_ && !more_is_there) {
    // A few bytes into an empty socket buffer: they fit, or the client is gone.
    error_code error;
    static constexpr absl::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    const HttpStream::Pieces pieces{asio::buffer(kContinue.data(), kContinue.size())};
    if (stream_.WriteSome(pieces, error) != kContinue.size() || error) {
      Close();
      return false;
    }
  }
  return true;
}

// Trailers are read and told nobody: who takes headers away on our clients' way, as a proxy does with names and
// rights, does not look there.
void HttpConnection::TakeHead() {
  const auto& message = parser_->get();
  trailer_is_too_long_ = false;
  if (parser_->chunked()) {
    on_chunk_ = [this](std::uint64_t size, boost::beast::string_view extension, error_code& error) {
      if (size == 0) CountTrailer(extension.data() + extension.size() + 2, error);
    };
    parser_->on_chunk_header(on_chunk_);
  }
  Arrival& arrival = arrival_.emplace();
  const auto method = message.method_string();
  arrival.request.method = head_only_ ? "GET" : std::string(method.data(), method.size());
  arrival.request.content_type = std::string(Header(message, http::field::content_type));
  arrival.request.accept = std::string(Header(message, http::field::accept));
  arrival.caller.name = CallerName(Header(message, http::field::user_agent));
  arrival.caller.languages = std::string(Header(message, http::field::accept_language));
  arrival.caller.authorization = std::string(Header(message, http::field::authorization));
  arrival.caller.impersonate = Impersonation(message);
  if (boost::beast::websocket::is_upgrade(message))
    arrival.protocols = ProtocolsOf(Header(message, http::field::sec_websocket_protocol));
}

void HttpConnection::Dispatch() {
  auto message = parser_->release();
  parser_.reset();
  Arrival arrival = *std::exchange(arrival_, std::nullopt);
  if (!SplitTarget({message.target().data(), message.target().size()}, arrival.request.path, arrival.request.query)) {
    return RefuseAndClose(400, "malformed request target");
  }
  arrival.from = id_;
  arrival.reply_to = context_.mailbox;
  arrival.head_only = head_only_;
  arrival.request.body = std::move(message.body());
  arrival.held.emplace(std::move(held_));
  arrival.caller.peer = peer_;
  if (!context_.options.tls_client_ca.empty() && !certificate_.has_value()) certificate_ = stream_.Certificate();
  arrival.caller.certificate = certificate_.value_or(nullptr);
  if (arrival.protocols.has_value()) {
    if (!input_.empty()) return RefuseAndClose(400, "nothing can be sent before the WebSocket is open");
    upgrade_ = std::move(message);
  }
  state_ = State::kHandling;
  deadline_.reset();  // all is answered
  // Of those that follow each other each would be answered within the answer to the one before.
  if (input_.empty() && !arrival.protocols.has_value()) {
    if (std::optional<HttpHandler::Reply> reply = context_.desk.AnswerAtOnce(arrival.request, arrival.caller)) {
      arrival.held.reset();
      std::vector<Bytes> more = std::move(reply->more);
      return BeginAnswer(*reply, std::move(more));
    }
  }
  context_.desk.Arrive(std::move(arrival));
}

// --- answering

void HttpConnection::Receive(Mail mail) {
  switch (mail.what) {
    case Mail::What::kAnswer:
      if (state_ == State::kHandling) BeginAnswer(mail.response, std::move(mail.response.more));
      return;
    case Mail::What::kBeginWatch:
      if (state_ == State::kHandling) BeginWatch(std::move(mail));
      return;
    case Mail::What::kFrames:
      if (state_ != State::kWatching) return;
      if (behind_) {
        std::vector<Bytes> objects;
        objects.reserve(mail.frames.size());
        for (const Frame& frame : mail.frames) objects.push_back(frame.object);
        context_.unread.Append(id_, objects, SteadyTime::clock::now());
      }
      for (Frame& frame : mail.frames) frames_.push_back(std::move(frame));
      if (!waiting_to_write_ && FillChunk()) Flush();
      return;
    case Mail::What::kEndWatch:
      if (state_ != State::kWatching) return;
      watch_ended_ = true;
      watch_orderly_ = mail.orderly;
      if (!waiting_to_write_ && FillChunk()) Flush();
      return;
    case Mail::What::kCut:
      return Close();
    case Mail::What::kUpgrade:
      if (state_ == State::kHandling) Upgrade(std::move(mail));
      return;
    case Mail::What::kMessage:
      if (state_ == State::kUpgraded) web_socket_->Send(std::move(mail.message));
      return;
    case Mail::What::kReadOn:
      if (state_ == State::kUpgraded) web_socket_->ReadOn();
      return;
    case Mail::What::kFinish:
      if (state_ == State::kUpgraded) web_socket_->Finish();
      return;
  }
}

void HttpConnection::RefuseAndClose(int code, absl::string_view message) {
  RefuseAndClose(RefusalResponse(code, message));
}

void HttpConnection::RefuseForRoom() {
  Response busy = RefusalResponse(503, absl::StrCat("the bodies under way hold ", context_.options.max_bytes_in_flight,
                                                    " bytes together, which is the limit"));
  busy.retry_after = absl::Seconds(1);
  RefuseAndClose(busy);
}

void HttpConnection::RefuseAndClose(const Response& refusal) {
  keep_alive_ = false;
  linger_ = true;
  parser_.reset();  // what was read of it is not needed any more
  held_.Set(0);
  BeginAnswer(refusal);
}

void HttpConnection::BeginAnswer(const Response& response, std::vector<Bytes> more) {
  state_ = State::kWriting;
  served_ = served_ || response.code < 400;
  if (shutting_down_) keep_alive_ = false;
  AnswerHead head;
  head.code = response.code;
  head.content_type = response.content_type;
  head.content_length = response.body->size();
  for (const Bytes& piece : more) head.content_length += piece->size();
  head.keep_alive = keep_alive_;
  head.http10 = http10_;
  head.read_only = context_.options.read_only;
  head.more_lines = context_.more_lines;
  AppendHead(head, &response, head_);
  if (!head_only_ && response.code != 204 && response.code != 304) {
    if (response.body->size() <= kSmallBody) {
      head_.append(*response.body);
    } else {
      body_ = response.body;
      body_is_piece_ = true;
    }
    pieces_.assign(std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  Flush();
}

void HttpConnection::BeginWatch(Mail mail) {
  state_ = State::kWatching;
  queued_bytes_ = std::move(mail.queued_bytes);
  text_ = mail.text;
  watch_ended_ = false;
  watch_orderly_ = true;
  if (http10_) keep_alive_ = false;
  AnswerHead head;
  head.content_type = mail.content_type;
  head.chunked = !http10_;
  head.no_length = http10_;
  head.keep_alive = keep_alive_;
  head.more_lines = context_.more_lines;
  AppendHead(head, nullptr, head_);
  WaitForBytes();
  Flush();
}

void HttpConnection::Upgrade(Mail mail) {
  state_ = State::kUpgraded;
  deadline_.reset();
  const auto tell = [self = weak_from_this()](Arrival::What what, std::string message) {
    const auto here = self.lock();
    if (here == nullptr || here->state_ != State::kUpgraded) return;
    if (what == Arrival::What::kGone) return here->Close();
    Arrival arrival;
    arrival.what = what;
    arrival.from = here->id_;
    arrival.message = std::move(message);
    here->context_.desk.Arrive(std::move(arrival));
  };
  WebSocketStream::Events events;
  events.on_message = [tell](std::string message) { tell(Arrival::What::kMessage, std::move(message)); };
  events.on_room = [tell] { tell(Arrival::What::kRoom, {}); };
  events.on_gone = [tell] { tell(Arrival::What::kGone, {}); };
  web_socket_ =
      WebSocketStream::Accept(std::move(stream_.socket()), stream_.TakeSession().release(), std::move(upgrade_),
                              mail.protocol, std::move(mail.queued_bytes), std::move(events));
}

bool HttpConnection::FillChunk() {
  if (frames_.empty()) {
    if (!watch_ended_) {
      deadline_.reset();
      CaughtUp();
      return false;
    }
    queued_bytes_.reset();
    if (!watch_orderly_) {
      Close();
      return false;
    }
    state_ = State::kWriting;
    if (!http10_) head_ = "0\r\n\r\n";
    return true;
  }
  std::string chunk;
  std::size_t taken = 0, count = 0;
  while (!frames_.empty() && (chunk.empty() || chunk.size() + frames_.front().object->size() <= kMaxChunkBytes)) {
    if (text_) {
      chunk.append(*frames_.front().object);
    } else {
      AppendFrame(frames_.front(), chunk);
    }
    taken += frames_.front().object->size();
    frames_.pop_front();
    ++count;
  }
  if (behind_) context_.unread.Drop(id_, count, chunk.size());
  queued_bytes_->fetch_sub(taken);
  if (!http10_) {
    absl::StrAppend(&head_, absl::Hex(chunk.size()), "\r\n");
    tail_ = "\r\n";
  }
  body_ = MakeBytes(std::move(chunk));
  return true;
}

// Small pieces are written together, large ones as they are.
void HttpConnection::FillBody() {
  if (pieces_.front()->size() >= kMaxChunkBytes) {
    body_ = std::move(pieces_.front());
    pieces_.pop_front();
    body_is_piece_ = true;
    return;
  }
  std::string chunk;
  std::size_t count = 0;
  for (; !pieces_.empty() && chunk.size() + pieces_.front()->size() <= kMaxChunkBytes; ++count) {
    chunk.append(*pieces_.front());
    pieces_.pop_front();
  }
  if (behind_) context_.unread.Drop(id_, count, chunk.size());
  body_ = MakeBytes(std::move(chunk));
}

void HttpConnection::Flush() {
  while (WriteOut() && OnFlushed()) {
  }
}

bool HttpConnection::WriteOut() {
  const std::size_t body_size = body_ == nullptr ? 0 : body_->size();
  const std::size_t total = head_.size() + body_size + tail_.size();
  while (written_ < total) {
    HttpStream::Pieces pieces{asio::buffer(head_), asio::buffer(body_ ? body_->data() : "", body_size),
                              asio::buffer(tail_.data(), tail_.size())};
    std::size_t skip = written_;
    for (asio::const_buffer& piece : pieces) {
      const std::size_t here = std::min(skip, piece.size());
      piece += here;
      skip -= here;
    }
    error_code error;
    const std::size_t count = stream_.WriteSome(pieces, error);
    written_ += count;
    Took(count);
    if (error == asio::error::would_block) {
      SetDeadline(context_.options.write_timeout);
      WaitForRoom();
      return false;
    }
    if (error && error != asio::error::interrupted) {
      Close();
      return false;
    }
  }
  return true;
}

void HttpConnection::Took(std::size_t count) {
  taken_ += count;
  if (behind_ && count > 0) context_.unread.Take(id_, count, SteadyTime::clock::now());
}

void HttpConnection::CaughtUp() {
  taken_ = 0;
  if (std::exchange(behind_, false)) context_.unread.Forget(id_);
}

void HttpConnection::WaitForRoom() {
  waiting_to_write_ = true;
  if (!std::exchange(behind_, true)) {
    std::vector<Bytes> left;
    left.reserve(1 + pieces_.size() + frames_.size());
    if (body_is_piece_) left.push_back(body_);
    left.insert(left.end(), pieces_.begin(), pieces_.end());
    for (const Frame& frame : frames_) left.push_back(frame.object);
    context_.unread.FallBehind(id_, context_.mailbox, left, taken_, SteadyTime::clock::now());
    if (!body_is_piece_ && body_ != nullptr) context_.unread.Drop(id_, 0, body_->size());
  }
  stream_.socket().async_wait(asio::ip::tcp::socket::wait_write, [self = shared_from_this()](error_code error) {
    self->waiting_to_write_ = false;
    if (self->state_ == State::kClosed) return;
    if (error) return self->Close();
    self->Flush();
  });
}

bool HttpConnection::OnFlushed() {
  written_ = 0;
  if (head_.capacity() > kMaxWrittenKept) head_ = std::string();
  head_.clear();
  body_.reset();
  tail_ = {};
  if (behind_) context_.unread.Drop(id_, body_is_piece_ ? 1 : 0, 0);
  body_is_piece_ = false;
  if (state_ == State::kWatching) return FillChunk();
  if (!pieces_.empty()) {
    FillBody();
    return true;
  }
  CaughtUp();
  keep_alive_ ? NextRequest() : linger_ ? Linger() : Close();
  return false;
}

void HttpConnection::Linger() {
  state_ = State::kLingering;
  SetDeadline(kLingerTime);
  input_ = std::string();
  error_code error;
  stream_.FinishWriting(error);
  if (error) return Close();
  WaitForBytes();
}

// --- ending

void HttpConnection::SetDeadline(absl::Duration from_now) {
  deadline_ = std::chrono::steady_clock::now() + absl::ToChronoMicroseconds(from_now);
}

void HttpConnection::CheckDeadline(SteadyTime now) {
  if (state_ == State::kUpgraded && !deadline_.has_value() && web_socket_->closing()) SetDeadline(kLingerTime);
  if (!deadline_.has_value() || now < *deadline_) return;
  if (state_ == State::kReading) {
    return RefuseAndClose(408, "the request did not arrive in time");
  }
  Close();
}

void HttpConnection::Shutdown() {
  shutting_down_ = true;
  keep_alive_ = false;
  if (state_ != State::kWriting) Close();
}

void HttpConnection::Close() {
  if (state_ == State::kClosed) return;
  const auto self = shared_from_this();  // the thread forgets us
  const bool watching = queued_bytes_ != nullptr || web_socket_ != nullptr;
  state_ = State::kClosed;
  stream_.Close();
  if (web_socket_ != nullptr) web_socket_->Close();
  CaughtUp();
  if (watching) context_.desk.Gone(id_);
  context_.on_closed(id_);
}

}  // namespace gangway::kube
