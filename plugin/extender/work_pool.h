// A few threads for calls, and a bound on how many are accepted.
#pragma once

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

  // False, and `work` is dropped, when there are too many already.
  bool Offer(Work work);

 private:
  void Run();

  const int max_accepted_;
  Mutex mu_;
  std::condition_variable_any offered_;
  std::deque<Work> waiting_ ABSL_GUARDED_BY(mu_);
  int accepted_ ABSL_GUARDED_BY(mu_) = 0;
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace gangway::extender
