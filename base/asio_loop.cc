#include "base/asio_loop.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/clock.h"
#include "base/check.h"
#include "base/mutex.h"
#include "base/random.h"

namespace gangway {
namespace {

using Steady = std::chrono::steady_clock;

constexpr int kRoundsPerDrain = 64;

}  // namespace

// Posted tasks stand in a queue of ours, and one Asio handler drains it in batches: a post costs a short lock, not a
// handler. Timers stand in one map, and one Asio timer waits for the first.
class AsioLoop::Impl {
 public:
  explicit Impl(std::uint64_t seed)
      : wall_start_(absl::Now()),
        steady_start_(Steady::now()),
        random_(seed),
        work_(context_.get_executor()),
        timer_(context_) {}

  ~Impl() {
    // What a dropped task owns may post or cancel as it dies.
    closed_ = true;
    due_.clear();
    const auto timers = std::exchange(timers_, {});
    const auto batch = std::exchange(batch_, {});
    DropPosted();
  }

  void Run() {
    context_.restart();
    if (!stop_asked_) {
      boost::asio::post(context_, [this] { Drain(); });  // what an earlier Run() left, timers included
      context_.run();
    }
    stop_asked_ = false;
  }

  void Stop() {
    stop_asked_ = true;
    context_.stop();
  }

  void OnSignals(const std::vector<int>& signals, Token owner, absl::AnyInvocable<void(int)> handle) {
    GW_CHECK(signals_ == nullptr);
    signals_ = std::make_unique<boost::asio::signal_set>(context_);
    for (const int signal : signals) {
      boost::system::error_code error;
      signals_->add(signal, error);
      GW_CHECK(!error);
    }
    signal_owner_ = std::move(owner);
    on_signal_ = std::move(handle);
    WaitForSignal();
  }

  absl::Time Now() const { return in_task_ ? now_ : Clock(); }

  void Post(Token owner, Task task) {
    bool wake = false;
    {
      MutexLock lock(mu_);
      posted_.push_back({std::move(owner), std::move(task)});
      wake = !std::exchange(draining_, true);
    }
    if (wake) boost::asio::post(context_, [this] { Drain(); });
  }

  TimerId PostAt(absl::Time when, Token owner, Task task) {
    const TimerId id = ++last_timer_;
    if (closed_ || when == absl::InfiniteFuture()) return id;
    due_.emplace(id, when);
    timers_.emplace(TimerKey{when, id}, Item{std::move(owner), std::move(task)});
    if (!in_drain_) Arm();
    return id;
  }

  void Cancel(TimerId id) {
    const auto due = due_.find(id);
    if (due == due_.end()) return;
    const auto it = timers_.find({due->second, id});
    due_.erase(due);
    if (it == timers_.end()) return;
    const Item dropped = std::move(it->second);  // dies after the maps are whole again
    timers_.erase(it);
  }

  std::uint64_t Random() { return random_.Next(); }

 private:
  struct Item {
    Token owner;
    Task task;
  };
  using TimerKey = std::pair<absl::Time, TimerId>;

  absl::Time Clock() const { return wall_start_ + absl::FromChrono(Steady::now() - steady_start_); }

  // Asio's own handlers (signals) get a turn between two drains, and that costs a system call; so a drain takes several
  // rounds.
  void Drain() {
    in_drain_ = true;
    for (int round = 0; round < kRoundsPerDrain && !stop_asked_; ++round) {
      RunDueTimers();
      if (batch_.empty() && !TakePosted()) break;
      while (!batch_.empty() && !stop_asked_) {
        Item item = std::move(batch_.front());
        batch_.pop_front();
        RunItem(item);
      }
    }
    in_drain_ = false;
    if (!DoneDraining()) boost::asio::post(context_, [this] { Drain(); });
    Arm();
  }

  void RunDueTimers() {
    if (timers_.empty()) return;
    const absl::Time now = Clock();
    const TimerId newest =
        last_timer_;  // one set meanwhile waits for the next drain, or a timer that sets itself would starve the rest
    for (auto it = timers_.begin(); it != timers_.end() && it->first.first <= now && !stop_asked_;) {
      if (it->first.second > newest) {
        ++it;
        continue;
      }
      const TimerKey key = it->first;
      Item item = std::move(it->second);
      timers_.erase(it);
      due_.erase(key.second);
      RunItem(item);
      it = timers_.upper_bound(key);
    }
  }

  void RunItem(Item& item) {
    if (item.owner.expired()) return;
    now_ = Clock();
    in_task_ = true;
    item.task();
    item.task = nullptr;  // what it holds dies within the task
    in_task_ = false;
  }

  bool TakePosted() {
    MutexLock lock(mu_);
    draining_ = true;
    batch_.swap(posted_);
    return !batch_.empty();
  }

  // True when nothing is left to drain; from then on a Post() wakes the loop.
  bool DoneDraining() {
    MutexLock lock(mu_);
    draining_ = !batch_.empty() || !posted_.empty();
    return !draining_;
  }

  void DropPosted() {
    std::deque<Item> dropped;
    do {
      dropped.clear();
      MutexLock lock(mu_);
      draining_ = true;  // nobody will run what is posted from here on
      dropped.swap(posted_);
    } while (!dropped.empty());
  }

  void Arm() {
    if (closed_ || timers_.empty()) return;
    const absl::Time first = timers_.begin()->first.first;
    if (first >= armed_for_) return;
    armed_for_ = first;
    const absl::Duration wait = std::min(std::max(first - Clock(), absl::ZeroDuration()), absl::Hours(24));
    timer_.expires_after(absl::ToChronoNanoseconds(wait));
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (error) return;  // armed for an earlier time instead
      armed_for_ = absl::InfiniteFuture();
      Drain();
    });
  }

  void WaitForSignal() {
    signals_->async_wait([this](const boost::system::error_code& error, int signal) {
      if (error) return;
      Post(signal_owner_, [this, signal] { on_signal_(signal); });
      WaitForSignal();
    });
  }

  const absl::Time wall_start_;
  const Steady::time_point steady_start_;

  // The loop's thread only.
  absl::Time now_;
  bool in_task_ = false;
  bool in_drain_ = false;
  bool closed_ = false;
  RandomStream random_;
  TimerId last_timer_ = 0;
  absl::btree_map<TimerKey, Item> timers_;
  absl::flat_hash_map<TimerId, absl::Time> due_;
  absl::Time armed_for_ = absl::InfiniteFuture();
  std::deque<Item> batch_;  // taken from posted_, being run
  Token signal_owner_;
  absl::AnyInvocable<void(int)> on_signal_;

  std::atomic<bool> stop_asked_ = false;

  Mutex mu_;
  std::deque<Item> posted_ ABSL_GUARDED_BY(mu_);
  bool draining_ ABSL_GUARDED_BY(mu_) = false;  // a Drain() is posted or under way

  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::steady_timer timer_;
  std::unique_ptr<boost::asio::signal_set> signals_;
};

AsioLoop::AsioLoop(std::uint64_t seed) : impl_(std::make_unique<Impl>(seed)) {}
AsioLoop::~AsioLoop() = default;
void AsioLoop::Run() { impl_->Run(); }
void AsioLoop::Stop() { impl_->Stop(); }
void AsioLoop::OnSignals(const std::vector<int>& signals, Token owner, absl::AnyInvocable<void(int)> handle) {
  impl_->OnSignals(signals, std::move(owner), std::move(handle));
}
absl::Time AsioLoop::Now() const { return impl_->Now(); }
void AsioLoop::Post(Token owner, Task task) { impl_->Post(std::move(owner), std::move(task)); }
Loop::TimerId AsioLoop::PostAt(absl::Time when, Token owner, Task task) {
  return impl_->PostAt(when, std::move(owner), std::move(task));
}
void AsioLoop::Cancel(TimerId timer) { impl_->Cancel(timer); }
std::uint64_t AsioLoop::Random() { return impl_->Random(); }

}  // namespace gangway
