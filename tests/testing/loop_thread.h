// A running loop for tests of the edges, and a way to wait for what its callbacks bring.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "base/asio_loop.h"
#include "base/loop.h"

namespace gangway::testutil {

// Longer than anything takes on a busy machine; waiting ends as soon as there is something.
inline constexpr std::chrono::seconds kPatience{30};

// Values from any thread, taken in order.
template <class T>
class Inbox {
 public:
  void Put(T value) {
    const std::lock_guard<std::mutex> lock(mu_);
    values_.push_back(std::move(value));
    filled_.notify_all();  // under the lock: whoever takes the last value may destroy us
  }
  // nullopt when nothing comes within kPatience.
  std::optional<T> Take() {
    std::unique_lock<std::mutex> lock(mu_);
    if (!filled_.wait_for(lock, kPatience, [this] { return !values_.empty(); })) return std::nullopt;
    std::optional<T> value(std::move(values_.front()));
    values_.pop_front();
    return value;
  }
  std::size_t size() const {
    const std::lock_guard<std::mutex> lock(mu_);
    return values_.size();
  }

 private:
  mutable std::mutex mu_;
  std::condition_variable filled_;
  std::deque<T> values_;
};

class LoopThread {
 public:
  LoopThread() : loop_(1), thread_([this] { loop_.Run(); }) {}
  ~LoopThread() { Join(); }
  Loop& loop() { return loop_; }

  // The loop no longer runs; what lives on it may be destroyed by this thread.
  void Join() {
    if (!thread_.joinable()) return;
    loop_.Stop();
    thread_.join();
  }

  // Runs `f` on the loop and waits for what it returns.
  template <class F>
  auto Run(F f) -> std::invoke_result_t<F> {
    std::packaged_task<std::invoke_result_t<F>()> task(std::move(f));
    auto result = task.get_future();
    loop_.Post(owner_.token(), [&task] { task(); });
    return result.get();
  }

 private:
  AsioLoop loop_;
  Owner owner_;
  std::thread thread_;
};

// Whether `condition` becomes true.
inline bool Eventually(const std::function<bool()>& condition, std::chrono::seconds patience = kPatience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(
        std::chrono::milliseconds(1));  // a state without notification: looked at, not waited for
  }
  return true;
}

}  // namespace gangway::testutil
