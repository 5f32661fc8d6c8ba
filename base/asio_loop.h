// The production Loop: one thread in Run(), real time.
//
// Time is the steady clock, set once by the wall clock when the loop is made: it never jumps back, whatever happens to
// the machine's date. Owners of tasks are destroyed on the loop's thread, or while Run() is not running.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "base/loop.h"

namespace gangway {

class AsioLoop final : public Loop {
 public:
  explicit AsioLoop(std::uint64_t seed);
  // Drops what has not run.
  ~AsioLoop() override;
  AsioLoop(const AsioLoop&) = delete;
  AsioLoop& operator=(const AsioLoop&) = delete;

  // Runs tasks until Stop(), waiting when there are none. May be called again after it returned.
  void Run();
  // From any thread, also from a task: Run() returns after the task under way, or at once when called next. Never
  // blocks.
  void Stop();

  // Calls `handle` with the number of each such signal (SIGINT, SIGTERM...) the process receives, on the loop. Called
  // before Run(); at most one loop of a process.
  void OnSignals(const std::vector<int>& signals, Token owner, absl::AnyInvocable<void(int)> handle);

  // Outside of a task it is the time now.
  absl::Time Now() const override;
  void Post(Token owner, Task task) override;
  TimerId PostAt(absl::Time when, Token owner, Task task) override;
  void Cancel(TimerId timer) override;
  std::uint64_t Random() override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gangway
