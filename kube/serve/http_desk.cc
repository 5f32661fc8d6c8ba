#include "kube/serve/http_desk.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kube/serve/http_wire.h"

namespace gangway::kube {
namespace {

// Requests served in one task of the loop; then others get their turn.
constexpr int kMaxBatch = 64;

// One answer and no more; a handler that drops it has failed.
class Once {
 public:
  Once(std::shared_ptr<Mailbox> mailbox, ConnectionId to) : mailbox_(std::move(mailbox)), to_(to) {}
  Once(Once&& other) noexcept = default;
  ~Once() {
    if (mailbox_ != nullptr) Answer(RefusalResponse(500, "the server dropped the request"));
  }
  void Answer(HttpHandler::Reply response) {
    if (mailbox_ == nullptr) return;
    Mail mail;
    mail.what = Mail::What::kAnswer;
    mail.to = to_;
    mail.response = std::move(response);
    std::exchange(mailbox_, nullptr)->Put(std::move(mail));
  }
  void Release() { mailbox_ = nullptr; }  // it is no answer that follows

 private:
  std::shared_ptr<Mailbox> mailbox_;
  const ConnectionId to_;
};

}  // namespace

void Mailbox::Put(Mail mail) {
  {
    MutexLock lock(mu_);
    if (closed_) return;
    mail_.push_back(std::move(mail));
    if (mail_.size() > 1) return;
  }
  wake_();
}

std::vector<Mail> Mailbox::Take() {
  MutexLock lock(mu_);
  return std::exchange(mail_, {});
}

void Mailbox::Close() {
  std::vector<Mail> dropped;
  MutexLock lock(mu_);
  closed_ = true;
  dropped.swap(mail_);
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): who overrides it may keep them
WebSocketAnswer HttpHandler::OpenWebSocket(Request, HttpCaller, const std::vector<std::string>&, WebSocket&) {
  WebSocketAnswer answer;
  answer.refused = RefusalResponse(400, "nothing here speaks WebSocket");
  return answer;
}

class HttpDesk::Socket final : public WebSocket {
 public:
  Socket(std::shared_ptr<Mailbox> mailbox, ConnectionId to) : mailbox_(std::move(mailbox)), to_(to) {}

  // What was sent before goes out then.
  void Begin(std::unique_ptr<WebSocketUser> by, std::string protocol) {
    user = std::move(by);
    Mail mail;
    mail.what = Mail::What::kUpgrade;
    mail.to = to_;
    mail.protocol = std::move(protocol);
    mail.queued_bytes = queued_bytes_;
    mailbox_->Put(std::move(mail));
    for (Mail& each : early_) mailbox_->Put(std::move(each));
    early_.clear();
  }
  void Send(std::string message) override {
    queued_bytes_->fetch_add(message.size());
    Tell(Mail::What::kMessage, std::move(message));
  }
  std::size_t unsent() const override { return queued_bytes_->load(); }
  void Close() override { Tell(Mail::What::kFinish); }
  void ReadOn() override { Tell(Mail::What::kReadOn); }

  std::unique_ptr<WebSocketUser> user;

 private:
  void Tell(Mail::What what, std::string message = {}) {
    Mail mail;
    mail.what = what;
    mail.to = to_;
    mail.message = std::move(message);
    user == nullptr ? early_.push_back(std::move(mail)) : mailbox_->Put(std::move(mail));
  }

  const std::shared_ptr<Mailbox> mailbox_;
  const ConnectionId to_;
  const std::shared_ptr<std::atomic<std::size_t>> queued_bytes_ = std::make_shared<std::atomic<std::size_t>>(0);
  std::vector<Mail> early_;
};

HttpDesk::HttpDesk(Loop& loop, HttpHandler& handler, const HttpFrontOptions& options)
    : loop_(loop),
      handler_(handler),
      max_watch_queue_bytes_(options.max_watch_queue_bytes),
      max_web_sockets_(static_cast<std::size_t>(std::max(0, options.max_web_sockets))) {}
HttpDesk::~HttpDesk() = default;

void HttpDesk::Arrive(Arrival arrival) {
  {
    MutexLock lock(mu_);
    arrivals_.push_back(std::move(arrival));
    if (std::exchange(posted_, true)) return;
  }
  loop_.Post(owner_.token(), [this] { Drain(); });
}

void HttpDesk::Gone(ConnectionId watcher) {
  Arrival arrival;
  arrival.what = Arrival::What::kGone;
  arrival.from = watcher;
  Arrive(std::move(arrival));
}

void HttpDesk::Drain() {
  {
    MutexLock lock(mu_);
    for (Arrival& arrival : arrivals_) backlog_.push_back(std::move(arrival));
    arrivals_.clear();
  }
  for (int i = 0; i < kMaxBatch && !backlog_.empty(); ++i) {
    Arrival next = std::move(backlog_.front());
    backlog_.pop_front();
    Serve(std::move(next));
  }
  {
    MutexLock lock(mu_);
    posted_ = !backlog_.empty() || !arrivals_.empty();
    if (!posted_) return;
  }
  loop_.Post(owner_.token(), [this] { Drain(); });
}

void HttpDesk::Serve(Arrival arrival) {
  if (arrival.what == Arrival::What::kGone) {
    watches_.erase(arrival.from);
    sockets_.erase(arrival.from);
    return;
  }
  if (arrival.what != Arrival::What::kRequest) {
    const auto socket = sockets_.find(arrival.from);
    if (socket == sockets_.end()) return;
    if (arrival.what == Arrival::What::kRoom) return socket->second->user->OnRoom();
    if (socket->second->user->OnMessage(std::move(arrival.message))) socket->second->ReadOn();
    return;
  }
  if (arrival.protocols.has_value()) return OpenWebSocket(std::move(arrival));
  if (handler_.IsWatch(arrival.request)) {
    StartWatch(std::move(arrival));
    return;
  }
  handler_.HandleRequest(std::move(arrival.request), std::move(arrival.caller),
                         [once = Once(std::move(arrival.reply_to), arrival.from),
                          held = std::move(arrival.held)](HttpHandler::Reply response) mutable {
                           held.reset();
                           once.Answer(std::move(response));
                         });
}

void HttpDesk::StartWatch(Arrival arrival) {
  const ConnectionId watcher = arrival.from;
  const std::shared_ptr<Mailbox> mailbox = std::move(arrival.reply_to);
  if (arrival.head_only) {
    Once(mailbox, watcher).Answer(RefusalResponse(405, "a watch has no HEAD"));
    return;
  }
  auto flow = std::make_shared<Flow>(Flow{watcher, mailbox, std::make_shared<std::atomic<std::size_t>>(0)});
  HttpHandler::WatchAnswer answer = handler_.StartWatch(
      std::move(arrival.request), std::move(arrival.caller),
      [this, flow](std::vector<Frame> frames) { OnFrames(*flow, std::move(frames)); },
      [this, flow](const absl::Status& status) { EndWatch(*flow, Mail::What::kEndWatch, status.ok()); });
  if (answer.watch == nullptr) {
    Once(mailbox, watcher)
        .Answer(answer.refused.has_value() ? *std::move(answer.refused)
                                           : RefusalResponse(500, "the watch was refused without a reason"));
    return;
  }
  watches_[watcher] = std::move(answer.watch);
  Mail begin;
  begin.what = Mail::What::kBeginWatch;
  begin.to = watcher;
  begin.content_type = std::move(answer.content_type);
  begin.text = answer.text;
  begin.queued_bytes = flow->queued_bytes;
  mailbox->Put(std::move(begin));
}

void HttpDesk::OpenWebSocket(Arrival arrival) {
  Once once(arrival.reply_to, arrival.from);
  if (sockets_.size() >= max_web_sockets_) {
    return once.Answer(RefusalResponse(503, absl::StrCat("all ", max_web_sockets_, " WebSockets are in use")));
  }
  auto socket = std::make_unique<Socket>(std::move(arrival.reply_to), arrival.from);
  WebSocketAnswer answer =
      handler_.OpenWebSocket(std::move(arrival.request), std::move(arrival.caller), *arrival.protocols, *socket);
  if (answer.user == nullptr) return once.Answer(std::move(answer.refused));
  once.Release();
  socket->Begin(std::move(answer.user), std::move(answer.protocol));
  sockets_[arrival.from] = std::move(socket);
}

void HttpDesk::OnFrames(Flow& flow, std::vector<Frame> frames) {
  if (flow.over) return;
  std::size_t bytes = 0;
  for (const Frame& frame : frames) bytes += frame.object->size();
  // A watch may begin with more than its queue holds: it is cut off when more comes before that is taken.
  const std::size_t before = flow.queued_bytes->fetch_add(bytes);
  if (before > 0 && before + bytes > max_watch_queue_bytes_) {
    EndWatch(flow, Mail::What::kCut, false);
    return;
  }
  Mail mail;
  mail.what = Mail::What::kFrames;
  mail.to = flow.watcher;
  mail.frames = std::move(frames);
  flow.mailbox->Put(std::move(mail));
}

void HttpDesk::EndWatch(Flow& flow, Mail::What what, bool orderly) {
  if (std::exchange(flow.over, true)) return;
  Mail mail;
  mail.what = what;
  mail.to = flow.watcher;
  mail.orderly = orderly;
  flow.mailbox->Put(std::move(mail));
  // We are in a callback of the watch: it dies in a task of its own, before the connection can have begun another.
  const auto found = watches_.find(flow.watcher);
  if (found == watches_.end()) return;
  std::unique_ptr<Watch> dying = std::move(found->second);
  watches_.erase(found);
  loop_.Post(owner_.token(), [dying = std::move(dying)]() mutable { dying.reset(); });
}

}  // namespace gangway::kube
