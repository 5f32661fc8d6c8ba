#include "kube/client/limited_client.h"

#include <utility>

#include "kube/client/write_fence.h"

namespace gangway::kube {

void LimitedClient::SetRate(double per_second, int burst) {
  limiter_ = RateLimiter(per_second, burst);
  loop_.Cancel(std::exchange(timer_, 0));
  Pump();
}

void LimitedClient::Send(Request request, Token owner, Done done) {
  if (!IsWriteMethod(request.method)) return client_.Send(std::move(request), std::move(owner), std::move(done));
  waiting_.push_back({std::move(request), std::move(owner), std::move(done)});
  if (timer_ == 0) Pump();
}

void LimitedClient::Pump() {
  while (!waiting_.empty()) {
    if (!limiter_.TryTake(loop_.Now())) {
      timer_ = loop_.PostAt(limiter_.NextAt(), alive_.token(), [this] {
        timer_ = 0;
        Pump();
      });
      return;
    }
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    client_.Send(std::move(next.request), std::move(next.owner), std::move(next.done));
  }
}

std::unique_ptr<Watch> LimitedClient::StartWatch(Request request, Token owner, OnFrames on_frames, OnEnd on_end) {
  return client_.StartWatch(std::move(request), std::move(owner), std::move(on_frames), std::move(on_end));
}

}  // namespace gangway::kube
