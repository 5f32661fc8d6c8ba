#include "kube/client/http_client.h"

#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "base/check.h"
#include "base/log.h"
#include "base/mutex.h"
#include "kube/client/credentials.h"
#include "kube/client/curl_multi.h"
#include "kube/client/transfer.h"
#include "kube/client/watch_stream.h"

namespace gangway::kube {
namespace {

constexpr std::size_t kMaxSpareHandles = 256;
constexpr std::size_t kMaxPatience = 1000;

}  // namespace

// Orders come in from any thread under the mutex; everything else belongs to the curl thread.
class HttpClient::Core {
 public:
  Core(Loop& loop, Endpoint endpoint, std::unique_ptr<CredentialSource> credentials, HttpClientOptions options)
      : loop_(loop),
        options_(std::move(options)),
        endpoint_(std::move(endpoint)),
        credentials_(std::move(credentials)),
        multi_([this](CURL* easy, CURLcode code) { OnDone(easy, code); }),
        request_lane_(multi_.NewLane()),
        watch_lane_(multi_.NewLane()),
        thread_([this] { Run(); }) {}

  ~Core() {
    for (CURL* easy : spare_) curl_easy_cleanup(easy);
  }

  // By the client's destructor; the core itself lives on as long as a watch's handle does.
  void Stop() {
    {
      MutexLock lock(mu_);
      stopped_ = true;
    }
    multi_.Wake();
    thread_.join();
  }

  void Submit(std::unique_ptr<Transfer> transfer) {
    transfer->deadline = std::chrono::steady_clock::now() + absl::ToChronoMilliseconds(options_.request_timeout);
    Give({Order::kStart, std::move(transfer), nullptr});
  }
  void Cancel(std::shared_ptr<WatchStream> stream) { Give({Order::kCancel, nullptr, std::move(stream)}); }
  void Resume(std::shared_ptr<WatchStream> stream) { Give({Order::kResume, nullptr, std::move(stream)}); }

  Loop& loop() { return loop_; }
  const HttpClientOptions& options() const { return options_; }

 private:
  struct Order {
    enum What { kStart, kCancel, kResume, kCredentials } what;
    std::unique_ptr<Transfer> transfer;
    std::shared_ptr<WatchStream> stream;
  };

  void Give(Order order) {
    {
      MutexLock lock(mu_);
      if (stopped_) return;
      orders_.push_back(std::move(order));
      if (orders_.size() > 1) return;  // it has been woken for the first
    }
    multi_.Wake();
  }

  void Run() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);  // signals are the main thread's business
    credentials_->OnArrival([this] { Give({Order::kCredentials, nullptr, nullptr}); });
    bool stop = false;
    while (!stop) {
      std::vector<Order> orders;
      {
        MutexLock lock(mu_);
        orders.swap(orders_);
        stop = stopped_;
      }
      for (Order& order : orders) Carry(order);
      EndWhatIsSilent();
      StartWaiting();
      if (!stop) multi_.RunOnce(next_look_);
    }
    AbortAll();
    credentials_.reset();
  }

  void Carry(Order& order) {
    switch (order.what) {
      case Order::kStart:
        if (order.transfer->is_watch()) {
          Start(std::move(order.transfer));
        } else {
          waiting_.push_back(std::move(order.transfer));
        }
        return;
      case Order::kCancel:
        if (const auto found = watches_.find(order.stream.get()); found != watches_.end()) {
          Abort(found->second->easy(), absl::CancelledError("cancelled"));
        } else {
          std::erase_if(parked_,
                        [&](const std::unique_ptr<Transfer>& parked) { return parked->stream() == order.stream; });
        }
        return;
      case Order::kCredentials:
        for (std::unique_ptr<Transfer>& parked : std::exchange(parked_, {})) Again(std::move(parked));
        return;
      case Order::kResume:
        if (const auto found = watches_.find(order.stream.get()); found != watches_.end()) {
          found->second->Resume(std::chrono::steady_clock::now());
          LookAtWatch(*found->second);
        }
        return;
    }
  }

  void StartWaiting() {
    for (std::deque<std::unique_ptr<Transfer>>* queue : {&again_, &waiting_}) {
      while (!queue->empty() && transfers_.size() - watches_.size() < options_.max_in_flight) {
        std::unique_ptr<Transfer> next = std::move(queue->front());
        queue->pop_front();
        Start(std::move(next));
      }
    }
  }

  // What was under way already goes before what waits.
  void Again(std::unique_ptr<Transfer> transfer) {
    if (transfer->is_watch()) return Start(std::move(transfer));
    again_.push_back(std::move(transfer));
  }

  void Start(std::unique_ptr<Transfer> transfer) {
    absl::StatusOr<CredentialsPtr> credentials = credentials_->Get();
    if (!credentials.ok()) return Finish(std::move(transfer), std::move(credentials).status());
    if (*credentials == nullptr) return parked_.push_back(std::move(transfer));
    CURL* easy = nullptr;
    if (spare_.empty()) {
      easy = curl_easy_init();
      GW_CHECK(easy != nullptr);
    } else {
      easy = spare_.back();
      spare_.pop_back();
    }
    absl::Status ready =
        transfer->Prepare(easy, endpoint_, *std::move(credentials), options_, std::chrono::steady_clock::now());
    if (!ready.ok()) {
      Finish(std::move(transfer), std::move(ready));
      return;
    }
    transfer->patience = PatienceFor(*transfer);
    transfer->lane = transfer->is_watch() ? watch_lane_ : request_lane_;
    if (transfer->is_watch()) {
      watches_[transfer->stream().get()] = transfer.get();
      LookAtWatch(*transfer);
    } else {
      LookAtRequest(*transfer, std::nullopt);
    }
    transfer->lane->Add(easy);
    transfers_[easy] = std::move(transfer);
  }

  std::unique_ptr<Transfer> Forget(CURL* easy) {
    auto node = transfers_.extract(easy);
    GW_CHECK(!node.empty());
    std::unique_ptr<Transfer> transfer = std::move(node.mapped());
    if (!transfer->is_watch()) return transfer;
    watches_.erase(transfer->stream().get());
    if (transfer->heard_at()) NotePace(*transfer, transfer->started_at(), *transfer->heard_at());
    return transfer;
  }

  // Takes a running transfer off the wire.
  void Abort(CURL* easy, absl::Status why) {
    transfers_.at(easy)->lane->Remove(easy);
    Finish(Forget(easy), std::move(why));
  }

  void OnDone(CURL* easy, CURLcode code) {
    std::unique_ptr<Transfer> transfer = Forget(easy);
    if (!transfer->is_watch()) NoteAnswer(*transfer, code);
    if (transfer->MayTryAgain(code) && credentials_->Renew(transfer->credentials()))
      return SendAgain(std::move(transfer), true);
    if (transfer->is_watch()) {
      absl::Status result = transfer->WatchResult(code);
      Finish(std::move(transfer), std::move(result));
    } else {
      absl::StatusOr<Response> result = transfer->RequestResult(code);
      Finish(std::move(transfer), std::move(result));
    }
  }

  // Statuses are moved on, never copied: the packaged Abseil counts their references where ThreadSanitizer cannot see
  // it.
  void Finish(std::unique_ptr<Transfer> transfer, absl::StatusOr<Response> result) {
    if (transfer->is_watch()) {
      transfer->stream()->End(std::move(result).status());
    } else {
      // The callback goes with the task even when the owner is gone: it must not die on this thread.
      loop_.Post(transfer->owner,
                 [done = std::move(transfer->done), result = std::move(result)]() mutable { done(std::move(result)); });
    }
    CURL* const easy = transfer->easy();
    if (easy == nullptr) return;
    transfer.reset();
    PutAway(easy);
  }
  void SendAgain(std::unique_ptr<Transfer> transfer, bool refused) {
    PutAway(transfer->easy());
    transfer->Rewind(refused);
    Again(std::move(transfer));
  }
  void PutAway(CURL* easy) {
    if (spare_.size() < kMaxSpareHandles) {
      curl_easy_reset(easy);
      spare_.push_back(easy);
    } else {
      curl_easy_cleanup(easy);
    }
  }
  void Finish(std::unique_ptr<Transfer> transfer, absl::Status status) {
    if (transfer->is_watch() && status.ok()) {
      Finish(std::move(transfer), absl::StatusOr<Response>(Response{}));
    } else {
      Finish(std::move(transfer), absl::StatusOr<Response>(std::move(status)));
    }
  }

  // --- connections that say nothing

  bool looks_for_silence() const { return options_.silence_timeout < absl::InfiniteDuration(); }

  SteadyTime::duration PatienceFor(const Transfer& transfer) const {
    const auto found = patience_.find(transfer.Subject());
    return absl::ToChronoMilliseconds(
        std::min(found == patience_.end() ? options_.silence_timeout : found->second, options_.request_timeout));
  }

  // `heard`: when its connection last brought something.
  SteadyTime SilentRequestUntil(const Transfer& transfer, std::optional<SteadyTime> heard) const {
    // One that waits for a connection is libcurl's business for as long as connecting may take.
    if (!transfer.sent_at())
      return transfer.started_at() + absl::ToChronoMilliseconds(options_.connect_timeout + options_.silence_timeout);
    return std::max(*transfer.sent_at(), heard.value_or(*transfer.sent_at())) + transfer.patience;
  }

  void NoteAnswer(const Transfer& transfer, CURLcode code) {
    const SteadyTime now = std::chrono::steady_clock::now();
    if (code == CURLE_OPERATION_TIMEDOUT && transfer.lane == request_lane_)
      request_lane_ = multi_.NewLane();  // it may never say anything again
    if (code != CURLE_OK || !looks_for_silence() || !transfer.sent_at()) return;
    answered_at_ = now;
    NotePace(transfer, *transfer.sent_at(), now);
    // What took away the connection before it may have left the watches hanging.
    if (transfer.MadeSharedConnection() && std::exchange(connected_, true))
      SuspectWatches(transfer.started_at(), [&](const Transfer& watch) { return now + watch.patience; });
    for (const auto& [easy, other] : transfers_) {
      if (other->lane == transfer.lane && other->port() == transfer.port() && other->sent_at()) other->Heard(now);
    }
  }

  // Looks at everything only when something may have been silent for too long.
  void EndWhatIsSilent() {
    const SteadyTime now = std::chrono::steady_clock::now();
    if (!next_look_.has_value() || now < *next_look_) return;
    next_look_.reset();
    EndSilentWatches(now);
    if (looks_for_silence()) LeaveSilentConnections(now);
  }

  void EndSilentWatches(SteadyTime now) {
    std::vector<CURL*> silent;
    for (const auto& [stream, transfer] : watches_) {
      const std::optional<SteadyTime> until = transfer->silent_until(options_);
      if (until.has_value() && *until <= now) {
        silent.push_back(transfer->easy());
        if (!transfer->heard_at()) BePatient(*transfer, transfer->started_at());
      } else {
        LookAtWatch(*transfer);
      }
    }
    for (CURL* easy : silent) Abort(easy, transfers_.at(easy)->SilenceError(options_));
  }

  void LeaveSilentConnections(SteadyTime now) {
    using Wire = std::pair<const CurlLane*, int>;  // a connection; those not sent yet are of none
    const auto wire_of = [](const Transfer& transfer) {
      return Wire(transfer.lane.get(), transfer.sent_at() ? transfer.port() : -1);
    };
    absl::flat_hash_map<Wire, SteadyTime> heard;
    for (const auto& [easy, transfer] : transfers_) {
      if (transfer->is_watch() || !transfer->heard_at()) continue;
      SteadyTime& last = heard.try_emplace(wire_of(*transfer), *transfer->heard_at()).first->second;
      last = std::max(last, *transfer->heard_at());
    }
    absl::flat_hash_set<Wire> silent;
    for (const auto& [easy, transfer] : transfers_) {
      if (transfer->is_watch()) continue;
      const auto found = heard.find(wire_of(*transfer));
      const std::optional<SteadyTime> last = found == heard.end() ? std::nullopt : std::optional(found->second);
      if (SilentRequestUntil(*transfer, last) > now) {
        LookAtRequest(*transfer, last);
      } else {
        silent.insert(wire_of(*transfer));
        if (transfer->sent_at()) BePatient(*transfer, *transfer->sent_at());
      }
    }
    if (silent.empty()) return;
    request_lane_ = multi_.NewLane();
    watch_lane_ = multi_.NewLane();
    std::vector<CURL*> left;
    for (const auto& [easy, transfer] : transfers_) {
      if (!transfer->is_watch() && silent.contains(wire_of(*transfer))) left.push_back(easy);
    }
    for (CURL* easy : left) LeaveConnection(easy, now);
    EndSuspectWatches(now);
    log::Warning("a connection to the API server brought nothing: left behind for a fresh one",
                 {{"for", options_.silence_timeout}, {"requests", static_cast<std::int64_t>(left.size())}});
  }

  void LeaveConnection(CURL* easy, SteadyTime now) {
    const Transfer& transfer = *transfers_.at(easy);
    const bool sent = transfer.sent_at().has_value();
    // What was never sent, and has waited too long, would wait as long again.
    const bool again = sent ? !transfer.is_write() : SilentRequestUntil(transfer, std::nullopt) > now;
    if (!again) {
      const absl::string_view why =
          sent ? "its connection has fallen silent; it may have been carried out" : "not sent: there is no connection";
      return Abort(easy, transfer.GivenUp(why));
    }
    transfer.lane->Remove(easy);
    SendAgain(Forget(easy), false);
  }

  // They may hang where the requests hung: those that were silent as long end, the others show that they are well.
  void EndSuspectWatches(SteadyTime now) {
    std::vector<CURL*> silent;
    for (const auto& [stream, transfer] : watches_) {
      if (transfer->SilentSince(now - absl::ToChronoMilliseconds(options_.silence_timeout)))
        silent.push_back(transfer->easy());
    }
    for (CURL* easy : silent)
      Abort(easy, transfers_.at(easy)->GivenUp("silent, as a connection beside it that owed an answer"));
    SuspectWatches(now, [](const Transfer& watch) { return watch.last_byte() + watch.patience; });
  }

  // Those that have been silent since then must bring something until their time.
  void SuspectWatches(SteadyTime silent_since, absl::FunctionRef<SteadyTime(const Transfer&)> until) {
    for (const auto& [stream, transfer] : watches_) {
      if (!transfer->SilentSince(silent_since)) continue;
      transfer->Suspect(until(*transfer));
      LookAtWatch(*transfer);
    }
  }

  // An answer that came in time takes back what BePatient gave.
  void NotePace(const Transfer& transfer, SteadyTime asked, SteadyTime answered) {
    if (!patience_.empty() && answered - asked < absl::ToChronoMilliseconds(options_.silence_timeout))
      patience_.erase(transfer.Subject());
  }

  // When others were answered meanwhile it may just take its time: it is given more of it.
  void BePatient(const Transfer& transfer, SteadyTime since) {
    if (answered_at_ < since) return;
    if (patience_.size() >= kMaxPatience) patience_.clear();
    patience_[transfer.Subject()] = 2 * absl::FromChrono(transfer.patience);
  }

  // Once it is sent it may be silent for less.
  void LookAtRequest(const Transfer& transfer, std::optional<SteadyTime> heard) {
    if (!looks_for_silence()) return;
    const SteadyTime until = SilentRequestUntil(transfer, heard);
    LookAt(transfer.sent_at() ? until : std::min(until, std::chrono::steady_clock::now() + transfer.patience));
  }
  // From its first byte on it may be silent for another time, perhaps a shorter one.
  void LookAtWatch(const Transfer& transfer) {
    const auto shortest = absl::ToChronoMilliseconds(std::min(options_.watch_idle_timeout, options_.request_timeout));
    if (const auto until = transfer.silent_until(options_))
      LookAt(std::min(*until, std::chrono::steady_clock::now() + shortest));
  }
  void LookAt(SteadyTime when) {
    if (!next_look_.has_value() || when < *next_look_) next_look_ = when;
  }

  void AbortAll() {
    for (std::deque<std::unique_ptr<Transfer>>* queue : {&parked_, &again_, &waiting_}) {
      for (std::unique_ptr<Transfer>& transfer : *queue)
        Finish(std::move(transfer), absl::CancelledError("the client was closed"));
      queue->clear();
    }
    while (!transfers_.empty()) Abort(transfers_.begin()->first, absl::CancelledError("the client was closed"));
  }

  Loop& loop_;
  const HttpClientOptions options_;

  Mutex mu_;
  std::vector<Order> orders_ ABSL_GUARDED_BY(mu_);
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;

  const Endpoint endpoint_;
  std::unique_ptr<CredentialSource> credentials_;
  CurlMulti multi_;
  std::shared_ptr<CurlLane> request_lane_, watch_lane_;  // of what starts now
  std::deque<std::unique_ptr<Transfer>> parked_;         // that wait for a credential program
  std::deque<std::unique_ptr<Transfer>> again_;          // requests that have had their turn
  std::deque<std::unique_ptr<Transfer>> waiting_;        // requests whose turn has not come
  absl::flat_hash_map<CURL*, std::unique_ptr<Transfer>> transfers_;
  absl::flat_hash_map<const WatchStream*, Transfer*> watches_;  // those of transfers_ that are watches
  std::vector<CURL*> spare_;
  std::optional<SteadyTime> next_look_;
  SteadyTime answered_at_ = SteadyTime::min();                 // any request
  bool connected_ = false;                                     // once, with a connection that requests share
  absl::flat_hash_map<std::string, absl::Duration> patience_;  // by subject, of those that took longer than silence may

  std::thread thread_;  // the last member: it uses all the others
};

namespace {

// What the user of a watch holds.
class WatchHandle final : public Watch {
 public:
  WatchHandle(std::shared_ptr<WatchStream> stream, absl::AnyInvocable<void(std::shared_ptr<WatchStream>)> cancel)
      : stream_(std::move(stream)), cancel_(std::move(cancel)) {}
  ~WatchHandle() override {
    stream_->Cancel();
    cancel_(std::move(stream_));
  }

 private:
  std::shared_ptr<WatchStream> stream_;
  absl::AnyInvocable<void(std::shared_ptr<WatchStream>)> cancel_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HttpClient>> HttpClient::Make(Loop& loop, Connection connection,
                                                             HttpClientOptions options) {
  absl::StatusOr<std::unique_ptr<CredentialSource>> credentials =
      CredentialSource::Make(connection, options.program_timeout);
  if (!credentials.ok()) return credentials.status();
  absl::StatusOr<Endpoint> endpoint = Endpoint::Make(std::move(connection));
  if (!endpoint.ok()) return endpoint.status();
  auto core = std::make_shared<Core>(loop, *std::move(endpoint), *std::move(credentials), std::move(options));
  return std::unique_ptr<HttpClient>(new HttpClient(std::move(core)));
}

HttpClient::HttpClient(std::shared_ptr<Core> core) : core_(std::move(core)) {}

HttpClient::~HttpClient() { core_->Stop(); }

void HttpClient::Send(Request request, Token owner, Done done) {
  core_->Submit(std::make_unique<Transfer>(std::move(request), std::move(owner), std::move(done)));
}

std::unique_ptr<Watch> HttpClient::StartWatch(Request request, Token owner, OnFrames on_frames, OnEnd on_end) {
  return StartStream(std::move(request), false, std::move(owner), std::move(on_frames), std::move(on_end));
}

std::unique_ptr<Watch> HttpClient::StartText(Request request, Token owner, OnText on_text, OnEnd on_end) {
  return StartStream(std::move(request), true, std::move(owner), TextOfFrames(std::move(on_text)), std::move(on_end));
}

std::unique_ptr<Watch> HttpClient::StartStream(Request request, bool text, Token owner, OnFrames on_frames,
                                               OnEnd on_end) {
  // Weak: the core holds the stream while it runs.
  const std::weak_ptr<Core> core = core_;
  auto stream = std::make_shared<WatchStream>(core_->loop(), std::move(owner), std::move(on_frames), std::move(on_end),
                                              core_->options().max_undelivered_bytes,
                                              [core](std::shared_ptr<WatchStream> resumed) {
                                                if (const auto alive = core.lock()) alive->Resume(std::move(resumed));
                                              });
  core_->Submit(std::make_unique<Transfer>(
      std::move(request), stream, text ? std::nullopt : std::optional<std::size_t>(core_->options().max_frame_bytes)));
  return std::make_unique<WatchHandle>(std::move(stream), [core](std::shared_ptr<WatchStream> cancelled) {
    if (const auto alive = core.lock()) alive->Cancel(std::move(cancelled));
  });
}

}  // namespace gangway::kube
