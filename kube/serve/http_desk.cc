#include "kube/serve/http_desk.h"

#include <utility>

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

HttpDesk::HttpDesk(Loop& loop, HttpHandler& handler, std::size_t max_watch_queue_bytes)
    : loop_(loop), handler_(handler), max_watch_queue_bytes_(max_watch_queue_bytes) {}

void HttpDesk::Arrive(Arrival arrival) {
  {
    MutexLock lock(mu_);
    arrivals_.push_back(std::move(arrival));
    if (std::exchange(posted_, true)) return;
  }
  loop_.Post(owner_.token(), [this] { Drain(); });
}

void HttpDesk::WatchGone(ConnectionId watcher) {
  Arrival arrival;
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
  if (arrival.reply_to == nullptr) {
    watches_.erase(arrival.from);
    return;
  }
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
