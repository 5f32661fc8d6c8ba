// A Client that sends at most so many writes a second; the others wait their turn, in order. Reads and watches never
// wait.
#pragma once

#include <deque>
#include <memory>

#include "base/loop.h"
#include "base/rate_limiter.h"
#include "kube/client/client.h"

namespace gangway::kube {

// Used on the loop. The client outlives it; what waits when it is destroyed is not sent.
class LimitedClient final : public Client {
 public:
  // Zero per second: no limit.
  LimitedClient(Loop& loop, Client& client, double per_second, int burst)
      : loop_(loop), client_(client), limiter_(per_second, burst) {}

  void SetRate(double per_second, int burst);
  std::size_t waiting() const { return waiting_.size(); }

  void Send(Request request, Token owner, Done done) override;
  [[nodiscard]] std::unique_ptr<Watch> StartWatch(Request request, Token owner, OnFrames on_frames,
                                                  OnEnd on_end) override;

 private:
  struct Waiting {
    Request request;
    Token owner;
    Done done;
  };
  void Pump();

  Loop& loop_;
  Client& client_;
  RateLimiter limiter_;
  std::deque<Waiting> waiting_;
  Loop::TimerId timer_ = 0;
  Owner alive_;
};

}  // namespace gangway::kube
