// Where the front's threads and the loop meet: requests wait here for the loop, answers for the thread of their
// connection. Private to the front.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "base/loop.h"
#include "base/mutex.h"
#include "kube/client/client.h"
#include "kube/serve/http_front.h"

namespace gangway::kube {

using ConnectionId = std::uint64_t;  // never used twice

// From the loop to one connection.
struct Mail {
  enum class What {
    kAnswer,      // response
    kBeginWatch,  // content_type, text, queued_bytes
    kFrames,      // frames
    kEndWatch,    // orderly
    kCut,         // close it now: the client does not read
    kUpgrade,     // protocol, queued_bytes: it is a WebSocket from now on
    kMessage,     // message
    kReadOn,      // the next message
    kFinish,      // close it after what was sent
  };
  What what = What::kAnswer;
  ConnectionId to = 0;
  HttpHandler::Reply response;
  std::string content_type;
  bool text = false;                                       // frames are written without their envelopes
  std::shared_ptr<std::atomic<std::size_t>> queued_bytes;  // of objects; the connection takes off what it has written
  std::vector<Frame> frames;
  bool orderly = true;
  std::string protocol, message;
};

// The mail of one I/O thread. Thread-safe; outlives the thread in the hands of those who answer late.
class Mailbox {
 public:
  // `wake` makes the thread call Take, and may be called when the thread is gone.
  explicit Mailbox(absl::AnyInvocable<void() const> wake) : wake_(std::move(wake)) {}
  void Put(Mail mail);
  std::vector<Mail> Take();
  void Close();  // what comes later is dropped

 private:
  const absl::AnyInvocable<void() const> wake_;  // called by whoever fills an empty box, on any thread
  Mutex mu_;
  std::vector<Mail> mail_ ABSL_GUARDED_BY(mu_);
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
};

// The bytes that one request holds, among those of all. Outlives the front in the hands of those who answer late.
class Held {
 public:
  explicit Held(std::shared_ptr<std::atomic<std::size_t>> all) : all_(std::move(all)) {}
  Held(Held&& other) noexcept : all_(other.all_), bytes_(std::exchange(other.bytes_, 0)) {}
  ~Held() { Set(0); }
  // Returns those of all.
  std::size_t Set(std::size_t bytes) {
    const std::size_t before = std::exchange(bytes_, bytes);
    return all_->fetch_add(bytes - before) + bytes - before;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  const std::shared_ptr<std::atomic<std::size_t>> all_;
  std::size_t bytes_ = 0;
};

// From a connection to the loop.
struct Arrival {
  enum class What {
    kRequest,  // all that follows
    kGone,     // the watch or WebSocket of this connection is over
    kMessage,  // message: of its WebSocket
    kRoom,     // its WebSocket has sent what there was
  };
  What what = What::kRequest;
  ConnectionId from = 0;
  std::shared_ptr<Mailbox> reply_to;
  Request request;
  HttpCaller caller;
  bool head_only = false;
  std::optional<Held> held;                           // of the body
  std::optional<std::vector<std::string>> protocols;  // it asks for a WebSocket, in one of these
  std::string message;
};

// Made and destroyed like the front; the threads that call Arrive have ended before.
class HttpDesk {
 public:
  HttpDesk(Loop& loop, HttpHandler& handler, const HttpFrontOptions& options);
  ~HttpDesk();

  void Arrive(Arrival arrival);  // any thread
  // Any thread.
  std::optional<HttpHandler::Reply> AnswerAtOnce(const Request& request, const HttpCaller& caller) const {
    return handler_.AnswerAtOnce(request, caller);
  }
  void Gone(ConnectionId watcher);  // any thread: it had a watch or a WebSocket

 private:
  // One watch on its way to one connection. `over`, on the loop: nothing more is sent.
  struct Flow {
    ConnectionId watcher;
    std::shared_ptr<Mailbox> mailbox;
    std::shared_ptr<std::atomic<std::size_t>> queued_bytes;
    bool over = false;
  };

  void Drain();
  void Serve(Arrival arrival);
  void StartWatch(Arrival arrival);
  void OpenWebSocket(Arrival arrival);
  void OnFrames(Flow& flow, std::vector<Frame> frames);
  void EndWatch(Flow& flow, Mail::What what, bool orderly);

  Loop& loop_;
  HttpHandler& handler_;
  const std::size_t max_watch_queue_bytes_, max_web_sockets_;

  Mutex mu_;
  std::vector<Arrival> arrivals_ ABSL_GUARDED_BY(mu_);
  bool posted_ ABSL_GUARDED_BY(mu_) = false;

  // On the loop.
  std::deque<Arrival> backlog_;
  absl::flat_hash_map<ConnectionId, std::unique_ptr<Watch>> watches_;
  class Socket;  // one WebSocket on its way to one connection, and its user
  absl::flat_hash_map<ConnectionId, std::unique_ptr<Socket>> sockets_;
  Owner owner_;
};

}  // namespace gangway::kube
