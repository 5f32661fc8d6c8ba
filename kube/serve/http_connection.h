// One connection of the front. Private to it; used on the I/O thread that owns it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
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
#include "kube/serve/unread.h"
#include "kube/serve/web_socket_stream.h"

namespace gangway::kube {

class HttpConnection;

// What all connections of one I/O thread share.
struct ConnectionContext {
  const HttpFrontOptions& options;
  const bool loopback_only;      // Host and Origin must name this machine
  const std::string more_lines;  // of every answer's head
  HttpDesk& desk;
  std::shared_ptr<Mailbox> mailbox;
  std::vector<char> scratch;                                  // what was just read
  std::shared_ptr<std::atomic<std::size_t>> bytes_in_flight;  // of all threads
  Unread& unread;                                             // of all threads
  absl::AnyInvocable<void(ConnectionId)> on_closed;
  absl::AnyInvocable<HttpConnection*()> slowest;   // of those that hold a part of a body; called by one
  absl::AnyInvocable<void(ConnectionId)> in_turn;  // ReadOn is called later, when it is this one's turn
};

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  // `tls` null: plain.
  HttpConnection(ConnectionContext& context, boost::asio::ip::tcp::socket socket, const std::shared_ptr<SSL_CTX>& tls,
                 ConnectionId id);

  void Start();
  // Says 503, or nothing, and goes.
  void Refuse(bool with_words);
  void Receive(Mail mail);
  void ReadOn() { WaitForBytes(); }
  // Closes it when a deadline has passed.
  void CheckDeadline(SteadyTime now);
  // The front is closing: an answer under way is finished, everything else ends now.
  void Shutdown();
  void Close();

  bool refused() const { return refused_; }
  // Who makes room for another: the least first. Who was served before is no stranger, and goes after those that are. A
  // watch and a WebSocket count as work.
  enum class Stays { kStranger, kWaits, kWrites, kWorks };
  Stays stays() const {
    const bool waits = state_ == State::kIdle || state_ == State::kReading || state_ == State::kLingering;
    if (waits && !refused_) return served_ ? Stays::kWaits : Stays::kStranger;
    return state_ == State::kWriting && !refused_ ? Stays::kWrites : Stays::kWorks;
  }
  bool holds_part() const { return state_ == State::kReading && held_.bytes() > 0; }
  // When it came, or was answered last.
  SteadyTime since() const { return since_; }

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  enum class State {
    kIdle,      // between requests
    kReading,   // within one
    kHandling,  // the loop has it
    kWriting,   // its answer
    kWatching,
    kUpgraded,   // web_socket_ has the bytes
    kLingering,  // has answered and closed its side; reads until the client does
    kClosed,
  };

  void WaitForBytes();
  void OnReadable();
  // Feeds the parser with what there is and goes on from there.
  void Parse();
  bool HasTooManyFields();  // of a header that is not parsed yet
  // Of a trailer, behind the last chunk's header.
  void CountTrailer(const char* begin, boost::beast::error_code& error);
  bool CheckHead(bool more_is_there);  // false: refused
  void TakeHead();                     // what of it is for the handler, and not for a trailer to say
  void Dispatch();
  void OnParseError(boost::beast::error_code error);
  void NextRequest();

  // Counts what is there of a body; false: there was no room, and this one is refused.
  bool Hold(std::size_t bytes);
  void RefuseAndClose(int code, absl::string_view message);
  void RefuseAndClose(const Response& refusal);
  void RefuseForRoom();
  void BeginAnswer(const Response& response, std::vector<Bytes> more = {});
  void BeginWatch(Mail mail);
  void Upgrade(Mail mail);
  // Takes the next frames to be written; when there are none, waits or ends the stream. False: there is nothing to
  // write.
  bool FillChunk();
  // Takes the next of an answer's pieces.
  void FillBody();

  void Flush();
  bool WriteOut();   // false: it waits for room, or is closed
  bool OnFlushed();  // true: the next part is there to be written
  void WaitForRoom();
  void Took(std::size_t count);
  void CaughtUp();
  void Linger();
  void SetDeadline(absl::Duration from_now);

  ConnectionContext& context_;
  HttpStream stream_;
  const ConnectionId id_;
  const std::string peer_;
  std::optional<std::shared_ptr<const ClientCertificate>> certificate_;  // looked at with the first request
  State state_ = State::kIdle;
  std::optional<SteadyTime> deadline_;
  SteadyTime since_ = SteadyTime::clock::now();

  std::optional<Parser> parser_;
  std::string input_;  // read, not parsed
  Held held_;          // of the body in the parser
  bool head_seen_ = false;
  std::size_t counted_ = 0;  // of input_, while the header is not parsed: its lines are in lines_
  int lines_ = 0;
  int crumbs_ = 0;                  // reads that brought little of the request
  std::optional<Arrival> arrival_;  // when the header is there
  std::function<void(std::uint64_t, boost::beast::string_view, boost::beast::error_code&)> on_chunk_;
  bool trailer_is_too_long_ = false;
  bool served_ = false;
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
  std::deque<Bytes> pieces_;  // what comes behind, of an answer
  bool waiting_to_write_ = false;
  bool behind_ = false;         // known to context_.unread: body_ when it is one of its pieces, pieces_, frames_
  bool body_is_piece_ = false;  // not made here
  std::size_t taken_ = 0;       // since it last had nothing to take

  // While watching.
  std::deque<Frame> frames_;
  std::shared_ptr<std::atomic<std::size_t>> queued_bytes_;
  bool text_ = false;
  bool watch_ended_ = false;
  bool watch_orderly_ = true;

  UpgradeRequest upgrade_;  // of a request for a WebSocket, until it is answered
  std::shared_ptr<WebSocketStream> web_socket_;
};

}  // namespace gangway::kube
