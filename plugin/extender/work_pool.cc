#include "plugin/extender/work_pool.h"

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
  MutexLock lock(mu_);
  closed_ = true;
  while (accepted_ > 0 && done_.wait_until(mu_, until) == std::cv_status::no_timeout) {
  }
}

void WorkPool::Run() {
  for (;;) {
    Work work;
    {
      MutexLock lock(mu_);
      while (!ending_ && waiting_.empty()) offered_.wait(mu_);
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
