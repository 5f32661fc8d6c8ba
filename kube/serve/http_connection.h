// One connection of the front. Private to it; used on the I/O thread that owns it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "absl/functional/any_invocable.h"
#include "kube/serve/http_desk.h"
#include "kube/serve/http_front.h"
#include "kube/serve/http_stream.h"

namespace gangway::kube {

// What all connections of one I/O thread share.
struct ConnectionContext {
  const HttpFrontOptions& options;
  const bool loopback_only;  // Host and Origin must name this machine
  HttpDesk& desk;
  std::shared_ptr<Mailbox> mailbox;
  std::vector<char> scratch;  // what was just read
  absl::AnyInvocable<void(ConnectionId)> on_closed;
};

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  // `tls` null: plain.
  HttpConnection(ConnectionContext& context, boost::asio::ip::tcp::socket socket, const std::shared_ptr<SSL_CTX>& tls, ConnectionId id);

  void Start();
  // Says 503 and goes.
  void Refuse();
  void Receive(Mail mail);
  // Closes it when a deadline has passed.
  void CheckDeadline(SteadyTime now);
  // The front is closing: an answer under way is finished, everything else ends now.
  void Shutdown();
  void Close();

  bool refused() const { return refused_; }

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  enum class State {
    kIdle,      // between requests
    kReading,   // within one
    kHandling,  // the loop has it
    kWriting,   // its answer
    kWatching,
    kLingering,  // has answered and closed its side; reads until the client does
    kClosed,
  };

  void WaitForBytes();
  void OnReadable();
  // Feeds the parser with what there is and goes on from there.
  void Parse();
  bool CheckHead();  // false: refused
  void Dispatch();
  void OnParseError(boost::beast::error_code error);
  void NextRequest();

  void RefuseAndClose(int code, absl::string_view message);
  void BeginAnswer(const Response& response);
  void BeginWatch(Mail mail);
  void FillChunk();

  void Flush();
  void OnFlushed();
  void WaitForRoom();
  void Linger();
  void SetDeadline(absl::Duration from_now);

  ConnectionContext& context_;
  HttpStream stream_;
  const ConnectionId id_;
  const std::string peer_;
  State state_ = State::kIdle;
  std::optional<SteadyTime> deadline_;

  std::optional<Parser> parser_;
  std::string input_;         // read, not parsed
  bool head_seen_ = false;
  bool waiting_to_read_ = false;
  std::size_t lingered_bytes_ = 0;

  // Of the request in hand.
  bool head_only_ = false;
  bool http10_ = false;
  bool keep_alive_ = true;
  bool linger_ = false;  // the request was not read whole: closing at once could lose the answer
  bool shutting_down_ = false;
  bool refused_ = false;  // as a whole: it was one too many

  // Being written: three pieces and how much of them is gone.
  std::string head_;
  Bytes body_;
  absl::string_view tail_;
  std::size_t written_ = 0;
  bool waiting_to_write_ = false;

  // While watching.
  std::deque<Frame> frames_;
  std::shared_ptr<std::atomic<std::size_t>> queued_bytes_;
  bool text_ = false;
  bool watch_ended_ = false;
  bool watch_orderly_ = true;
};

}  // namespace gangway::kube
