#include "plugin/extender/work_pool.h"

#include <mutex>
#include <utility>

namespace gangway::extender {

WorkPool::WorkPool(int threads, int max_accepted) : max_accepted_(max_accepted) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

WorkPool::~WorkPool() {
  {
    MutexLock lock(mu_);
    ending_ = true;
  }
  offered_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

WorkPool::Answer WorkPool::Offer(Work work) {
  {
    MutexLock lock(mu_);
    if (closed_) return Answer::kClosed;
    if (accepted_ >= max_accepted_) return Answer::kFull;
    ++accepted_;
    waiting_.push_back(std::move(work));
  }
  offered_.notify_one();
  return Answer::kTaken;
}

void WorkPool::Close(std::chrono::steady_clock::time_point until) {
  std::unique_lock<Mutex> lock(mu_);
  closed_ = true;
  done_.wait_until(lock, until, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return accepted_ == 0; });
}

void WorkPool::Run() {
  for (;;) {
    Work work;
    {
      std::unique_lock<Mutex> lock(mu_);
      offered_.wait(lock, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return ending_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    work();
    work = nullptr;
    MutexLock lock(mu_);
    if (--accepted_ == 0) done_.notify_all();
  }
}

}  // namespace gangway::extender
