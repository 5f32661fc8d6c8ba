// A process that can be stopped for a while (SIGSTOP, a suspended machine) and goes on where it was: with its old caches, its timers
// overdue, and what reached it meanwhile still unread. What it had sent before is carried out.
#pragma once

#include <deque>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "base/loop.h"
#include "kube/client/client.h"

namespace gangway::testutil {

// The process's view of the loop under it. Used on that loop, which must outlive it.
class PausableLoop final : public Loop {
 public:
  explicit PausableLoop(Loop& under) : under_(under) {}

  void Pause() { paused_ = true; }
  // What came due meanwhile runs at once, in the order in which it did.
  void Resume();
  bool paused() const { return paused_; }

  absl::Time Now() const override { return under_.Now(); }
  void Post(Token owner, Task task) override;
  TimerId PostAt(absl::Time when, Token owner, Task task) override;
  void Cancel(TimerId timer) override;
  std::uint64_t Random() override { return under_.Random(); }

 private:
  struct Held {
    TimerId timer = 0;  // 0: a task
    Token owner;
    Task task;
  };
  void Arrive(TimerId timer, const Token& owner, Task task);

  Loop& under_;
  bool paused_ = false;
  TimerId last_ = 0;
  absl::flat_hash_map<TimerId, TimerId> timers_;  // ours -> the loop's, not yet due
  std::deque<Held> held_;
  Owner alive_;
};

// The process's connection: answers and frames wait while it is stopped. `network` works on the loop under the process's.
class PausableClient final : public kube::Client {
 public:
  PausableClient(PausableLoop& loop, kube::Client& network) : loop_(loop), network_(network) {}
  void Send(kube::Request request, Token owner, Done done) override;
  [[nodiscard]] std::unique_ptr<kube::Watch> StartWatch(kube::Request request, Token owner, OnFrames on_frames, OnEnd on_end) override;

 private:
  PausableLoop& loop_;
  kube::Client& network_;
  Owner alive_;
};

}  // namespace gangway::testutil
