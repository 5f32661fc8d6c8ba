#include "plugin/extender/work/work_pool.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

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

WorkPool::Answer WorkPool::Offer(Work work, Claim claim) {
  std::optional<Waiting> displaced;
  {
    const MutexLock lock(mu_);
    if (closed_) return Answer::kClosed;
    if (accepted_ >= max_accepted_) {
      displaced = Displace(claim.connection);
      if (!displaced.has_value()) return Answer::kFull;
    } else {
      ++accepted_;
    }
    waiting_.push_back({std::move(work), std::move(claim)});
  }
  offered_.notify_one();
  if (displaced.has_value()) displaced->claim.displaced();
  return Answer::kTaken;
}

std::optional<WorkPool::Waiting> WorkPool::Displace(const std::string& by) {
  if (by.empty()) return std::nullopt;
  absl::flat_hash_map<absl::string_view, int> places;
  for (const Waiting& each : waiting_) ++places[each.claim.connection];
  const int would_have = places[by] + 1;
  auto last_of_most = waiting_.end();
  int most = would_have;
  for (auto each = waiting_.begin(); each != waiting_.end(); ++each) {
    const int has = each->claim.connection.empty() ? 0 : places[each->claim.connection];
    if (has > most || (has == most && last_of_most != waiting_.end())) {
      most = has;
      last_of_most = each;
    }
  }
  if (last_of_most == waiting_.end()) return std::nullopt;
  Waiting out = std::move(*last_of_most);
  waiting_.erase(last_of_most);
  return out;
}

bool WorkPool::Withdraw(const void* of) {
  Work dropped;  // outside the lock
  const MutexLock lock(mu_);
  const auto at =
      std::find_if(waiting_.begin(), waiting_.end(), [of](const Waiting& each) { return each.claim.of == of; });
  if (at == waiting_.end()) return false;
  dropped = std::move(at->work);
  waiting_.erase(at);
  Left();
  return true;
}

void WorkPool::Left() {
  if (--accepted_ == 0) done_.notify_all();
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
      work = std::move(waiting_.front().work);
      waiting_.pop_front();
    }
    work();
    work = nullptr;
    MutexLock lock(mu_);
    Left();
  }
}

}  // namespace gangway::extender
