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
#include "base/check.h"
#include "base/mutex.h"
#include "kube/client/credentials.h"
#include "kube/client/curl_multi.h"
#include "kube/client/transfer.h"
#include "kube/client/watch_stream.h"

namespace gangway::kube {
namespace {

constexpr std::size_t kMaxSpareHandles = 256;

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
      StartWaiting();
      if (!stop) multi_.RunOnce(EndSilentWatches());
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
          std::erase_if(parked_, [&](const std::unique_ptr<Transfer>& parked) { return parked->stream() == order.stream; });
        }
        return;
      case Order::kCredentials:
        for (std::unique_ptr<Transfer>& parked : std::exchange(parked_, {})) Again(std::move(parked));
        return;
      case Order::kResume:
        if (const auto found = watches_.find(order.stream.get()); found != watches_.end()) {
          found->second->Resume(std::chrono::steady_clock::now());
          LookAtSilence(std::chrono::steady_clock::now() + ShortestSilence());
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
    absl::Status ready = transfer->Prepare(easy, endpoint_, *std::move(credentials), options_, std::chrono::steady_clock::now());
    if (!ready.ok()) {
      Finish(std::move(transfer), std::move(ready));
      return;
    }
    if (transfer->is_watch()) {
      watches_[transfer->stream().get()] = transfer.get();
      LookAtSilence(std::chrono::steady_clock::now() + ShortestSilence());
    }
    transfers_[easy] = std::move(transfer);
    multi_.Add(easy);
  }

  std::unique_ptr<Transfer> Forget(CURL* easy) {
    auto node = transfers_.extract(easy);
    GW_CHECK(!node.empty());
    std::unique_ptr<Transfer> transfer = std::move(node.mapped());
    if (transfer->is_watch()) watches_.erase(transfer->stream().get());
    return transfer;
  }

  // Takes a running transfer off the wire.
  void Abort(CURL* easy, absl::Status why) {
    multi_.Remove(easy);
    Finish(Forget(easy), std::move(why));
  }

  void OnDone(CURL* easy, CURLcode code) {
    std::unique_ptr<Transfer> transfer = Forget(easy);
    if (transfer->MayTryAgain(code) && credentials_->Renew(transfer->credentials())) {
      transfer->Rewind();
      PutAway(easy);
      return Again(std::move(transfer));
    }
    if (transfer->is_watch()) {
      absl::Status result = transfer->WatchResult(code);
      Finish(std::move(transfer), std::move(result));
    } else {
      absl::StatusOr<Response> result = transfer->RequestResult(code);
      Finish(std::move(transfer), std::move(result));
    }
  }

  // Statuses are moved on, never copied: the packaged Abseil counts their references where ThreadSanitizer cannot see it.
  void Finish(std::unique_ptr<Transfer> transfer, absl::StatusOr<Response> result) {
    if (transfer->is_watch()) {
      transfer->stream()->End(std::move(result).status());
    } else {
      // The callback goes with the task even when the owner is gone: it must not die on this thread.
      loop_.Post(transfer->owner, [done = std::move(transfer->done), result = std::move(result)]() mutable {
        done(std::move(result));
      });
    }
    CURL* const easy = transfer->easy();
    if (easy == nullptr) return;
    transfer.reset();
    PutAway(easy);
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

  // Returns when to look again. Looks at all watches only when one of them may have been silent for too long.
  std::optional<SteadyTime> EndSilentWatches() {
    const SteadyTime now = std::chrono::steady_clock::now();
    if (!next_silence_.has_value() || now < *next_silence_) return next_silence_;
    next_silence_.reset();
    std::vector<CURL*> silent;
    for (const auto& [stream, transfer] : watches_) {
      const std::optional<SteadyTime> until = transfer->silent_until(options_);
      if (until.has_value() && *until <= now) {
        silent.push_back(transfer->easy());
      } else if (until.has_value()) {
        LookAtSilence(std::min(*until, now + ShortestSilence()));
      }
    }
    for (CURL* easy : silent) Abort(easy, transfers_.at(easy)->SilenceError(options_));
    return next_silence_;
  }
  void LookAtSilence(SteadyTime when) {
    if (!next_silence_.has_value() || when < *next_silence_) next_silence_ = when;
  }
  std::chrono::milliseconds ShortestSilence() const {
    return absl::ToChronoMilliseconds(std::min(options_.watch_idle_timeout, options_.request_timeout));
  }

  void AbortAll() {
    for (std::deque<std::unique_ptr<Transfer>>* queue : {&parked_, &again_, &waiting_}) {
      for (std::unique_ptr<Transfer>& transfer : *queue) Finish(std::move(transfer), absl::CancelledError("the client was closed"));
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
  std::deque<std::unique_ptr<Transfer>> parked_;   // that wait for a credential program
  std::deque<std::unique_ptr<Transfer>> again_;    // requests that have had their turn
  std::deque<std::unique_ptr<Transfer>> waiting_;  // requests whose turn has not come
  absl::flat_hash_map<CURL*, std::unique_ptr<Transfer>> transfers_;
  absl::flat_hash_map<const WatchStream*, Transfer*> watches_;  // those of transfers_ that are watches
  std::vector<CURL*> spare_;
  std::optional<SteadyTime> next_silence_;

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
  absl::StatusOr<std::unique_ptr<CredentialSource>> credentials = CredentialSource::Make(connection, options.program_timeout);
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

std::unique_ptr<Watch> HttpClient::StartStream(Request request, bool text, Token owner, OnFrames on_frames, OnEnd on_end) {
  // Weak: the core holds the stream while it runs.
  const std::weak_ptr<Core> core = core_;
  auto stream = std::make_shared<WatchStream>(
      core_->loop(), std::move(owner), std::move(on_frames), std::move(on_end), core_->options().max_undelivered_bytes,
      [core](std::shared_ptr<WatchStream> resumed) {
        if (const auto alive = core.lock()) alive->Resume(std::move(resumed));
      });
  core_->Submit(std::make_unique<Transfer>(std::move(request), stream,
                                           text ? std::nullopt : std::optional<std::size_t>(core_->options().max_frame_bytes)));
  return std::make_unique<WatchHandle>(std::move(stream), [core](std::shared_ptr<WatchStream> cancelled) {
    if (const auto alive = core.lock()) alive->Cancel(std::move(cancelled));
  });
}

}  // namespace gangway::kube
