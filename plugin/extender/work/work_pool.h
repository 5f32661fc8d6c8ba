// A few threads for calls, and a bound on how many are accepted.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "base/mutex.h"

namespace gangway::extender {

// Thread-safe.
class WorkPool {
 public:
  using Work = absl::AnyInvocable<void()>;

  // `max_accepted`: running and waiting ones together.
  WorkPool(int threads, int max_accepted);
  // Runs what was accepted, then ends.
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  enum class Answer { kTaken, kFull, kClosed };
  struct Claim {
    const void* of = nullptr;  // whose work it is, for Withdraw; null: nobody takes it back
    std::string connection;    // that it came by; empty: it displaces nothing, and is not displaced
    Work displaced;            // called instead of the work, outside the lock, on the thread that displaced it
  };
  // Dropped unless it is taken. When all places are taken, the last that waits of the connection with most of them
  // makes room, provided that the one that asks would not have as many itself: no connection can have all places.
  Answer Offer(Work work, Claim claim);
  Answer Offer(Work work) { return Offer(std::move(work), Claim()); }
  // Drops the work of `of` where it waits still, so that its place is free; false: none does.
  bool Withdraw(const void* of);
  // Takes no more; returns when what was accepted is done, or at `until`.
  void Close(std::chrono::steady_clock::time_point until);

 private:
  struct Waiting {
    Work work;
    Claim claim;
  };
  // Takes out whoever is to make room.
  std::optional<Waiting> Displace(const std::string& by) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Run();
  void Left() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const int max_accepted_;
  Mutex mu_;
  std::condition_variable_any offered_, done_;
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mu_);
  int accepted_ ABSL_GUARDED_BY(mu_) = 0;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace gangway::extender
