// A few threads for calls, and a bound on how many are accepted.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <thread>
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
  // Dropped unless it is taken.
  Answer Offer(Work work);
  // Takes no more; returns when what was accepted is done, or at `until`.
  void Close(std::chrono::steady_clock::time_point until);

 private:
  void Run();

  const int max_accepted_;
  Mutex mu_;
  std::condition_variable_any offered_, done_;
  std::deque<Work> waiting_ ABSL_GUARDED_BY(mu_);
  int accepted_ ABSL_GUARDED_BY(mu_) = 0;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace gangway::extender
