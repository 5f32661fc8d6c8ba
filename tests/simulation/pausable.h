// A process that can be stopped for a while (SIGSTOP, a suspended machine) and goes on where it was: with its old
// caches, its timers overdue, and what reached it meanwhile still unread. What it had sent before is carried out. Its
// clock may be another than the loop's.
#pragma once

#include <deque>
#include <memory>

#include "absl/container/btree_map.h"
#include "absl/time/time.h"
#include "base/loop.h"
#include "kube/client/client.h"

namespace gangway::testutil {

// The process's view of the loop under it. Used on that loop, which must outlive it.
class PausableLoop final : public Loop {
 public:
  // `ahead` of the clock under it; less than nothing: behind.
  explicit PausableLoop(Loop& under, absl::Duration ahead = absl::ZeroDuration()) : under_(under), ahead_(ahead) {}

  void Pause() { paused_ = true; }
  // What came due meanwhile runs at once, in the order in which it did. A machine that was suspended counts no time for
  // it: its clock is `behind` by it from now on.
  void Resume(absl::Duration behind = absl::ZeroDuration());
  bool paused() const { return paused_; }

  // The clock jumps ahead: it never goes back while a process runs (base/asio_loop.h). What is due by then runs at
  // once.
  void Jump(absl::Duration by);

  absl::Time Now() const override { return under_.Now() + ahead_; }
  void Post(Token owner, Task task) override;
  TimerId PostAt(absl::Time when, Token owner, Task task) override;
  void Cancel(TimerId timer) override;
  std::uint64_t Random() override { return under_.Random(); }

 private:
  struct Held {
    TimerId timer = 0;  // 0: a task
    absl::Time when;    // of a timer
    Token owner;
    Task task;
  };
  struct Timer {
    absl::Time when;  // by our clock
    Token owner;
    Task task;
    TimerId under = 0;
  };
  void Arrive(Held what);
  void Arm(TimerId id, Timer& timer);
  void ForgetDead();
  // Puts the clock back by what a suspended machine did not count. Nothing is due by it that came due meanwhile.
  void CountNoTime(absl::Duration behind);

  Loop& under_;
  bool paused_ = false;
  TimerId last_ = 0;
  absl::Duration ahead_;
  absl::btree_map<TimerId, Timer> timers_;  // not yet due
  std::size_t forget_at_ = 64;
  std::deque<Held> held_;
  Owner alive_;
};

// The process's connection: answers and frames wait while it is stopped. `network` works on the loop under the
// process's.
class PausableClient final : public kube::Client {
 public:
  PausableClient(PausableLoop& loop, kube::Client& network) : loop_(loop), network_(network) {}
  void Send(kube::Request request, Token owner, Done done) override;
  [[nodiscard]] std::unique_ptr<kube::Watch> StartWatch(kube::Request request, Token owner, OnFrames on_frames,
                                                        OnEnd on_end) override;

 private:
  PausableLoop& loop_;
  kube::Client& network_;
  Owner alive_;
};

}  // namespace gangway::testutil
