// One thread of work with a clock: post now, post at a time. A component (scheduler, controller, API server, kubelet)
// lives on one Loop and has no mutex.
//
// Two implementations: base/asio_loop.h for production and base/simulated_loop.h, whose clock jumps from task to task
// and whose order of ties comes from a seed.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"

namespace gangway {

// Says whose task it is. Tasks of an owner that is gone are dropped unrun, so a component may capture `this`.
using Token = std::weak_ptr<const void>;

// A member of a component; make it the last one, so that it dies first.
class Owner {
 public:
  Owner() : alive_(std::make_shared<const char>('\0')) {}
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  Token token() const { return alive_; }
  // Drops every task posted so far under this owner.
  void Reset() { alive_ = std::make_shared<const char>('\0'); }

 private:
  std::shared_ptr<const void> alive_;
};

class Loop {
 public:
  using Task = absl::AnyInvocable<void()>;
  using TimerId = std::uint64_t;  // 0 is never given out

  virtual ~Loop() = default;

  // The time of the task being run; monotonic within one loop.
  virtual absl::Time Now() const = 0;
  // From any thread. Runs later, never within this call; tasks of one owner run in the order posted.
  virtual void Post(Token owner, Task task) = 0;
  // On the loop's thread only. A time in the past means as soon as possible.
  virtual TimerId PostAt(absl::Time when, Token owner, Task task) = 0;
  // On the loop's thread only. Unknown and past timers are ignored.
  virtual void Cancel(TimerId timer) = 0;
  // On the loop's thread only: for jitter and generated names. Seeded by whoever makes the loop.
  virtual std::uint64_t Random() = 0;
};

}  // namespace gangway
