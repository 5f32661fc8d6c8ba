// A Loop whose clock stands still while tasks run and jumps to the next timer when none is left.
//
// The order of tasks due at the same time comes from the seed, except that tasks one owner posted run in the order
// posted. The same seed and the same calls give the same run. Used from one thread, Post() included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "base/loop.h"
#include "base/random.h"

namespace gangway {

class SimulatedLoop final : public Loop {
 public:
  static constexpr std::uint64_t kMaxSteps = 100'000'000;

  // The default start is a round date far from any other clock's.
  explicit SimulatedLoop(std::uint64_t seed, absl::Time start = absl::FromUnixSeconds(1'767'225'600));  // 2026-01-01
  // Drops what has not run.
  ~SimulatedLoop() override;
  SimulatedLoop(const SimulatedLoop&) = delete;
  SimulatedLoop& operator=(const SimulatedLoop&) = delete;

  absl::Time Now() const override { return now_; }
  void Post(Token owner, Task task) override;
  TimerId PostAt(absl::Time when, Token owner, Task task) override;
  void Cancel(TimerId timer) override;
  std::uint64_t Random() override { return random_.Next(); }

  // Runs one task, moving the clock to it. False: there is none.
  bool Step() { return StepUntil(absl::InfiniteFuture()); }
  // Runs tasks until nothing is due within `quiet` from then: true. A component always has a timer somewhere (a watch's
  // time-out, a lease), so idle means quiet for a while, not for ever. False when `max_steps` tasks did not get there.
  bool RunUntilIdle(absl::Duration quiet = absl::ZeroDuration(), std::uint64_t max_steps = kMaxSteps);
  // Runs tasks until done() says so, asked first and after each task: true. False when the next task is due after
  // `limit`, and the clock then stands at `limit`; or when `max_steps` tasks did not get there.
  bool RunUntil(absl::FunctionRef<bool()> done, absl::Time limit, std::uint64_t max_steps = kMaxSteps);
  // Runs everything due in the next `duration` and leaves the clock at its end. False when `max_steps` tasks did not
  // get there.
  bool RunFor(absl::Duration duration, std::uint64_t max_steps = kMaxSteps);

  // Tasks and timers not yet run; it may count some whose owners are gone.
  std::size_t pending() const { return ready_tasks_ + timers_.size(); }
  // Tasks run so far.
  std::uint64_t steps() const { return steps_; }

 private:
  struct Timer {
    Token owner;
    Task task;
  };
  // Ready tasks that keep their order: those one owner posted, or a single timer.
  struct Lane {
    Token owner;
    const void* key = nullptr;  // of lanes_; null for a timer
    TimerId timer = 0;
    std::size_t next = 0;  // of tasks; those before have run
    std::vector<Task> tasks;
  };
  using TimerKey = std::pair<absl::Time, TimerId>;

  bool StepUntil(absl::Time limit);
  void MakeDueReady();
  Lane& NewLane(Token owner);
  // The next ready task, taken out; false when none is ready. Cancelled ones and those of owners that are gone are
  // dropped.
  bool TakeReady(Task& task);
  void DropDeadTimers();

  RandomStream random_;  // Random()'s
  RandomStream order_;   // of ties
  absl::Time now_;
  TimerId last_timer_ = 0;
  std::uint64_t steps_ = 0;
  std::size_t ready_tasks_ = 0;
  std::vector<std::unique_ptr<Lane>> ready_, spare_;
  // A lane keeps its owner's control block, so an address names one owner as long as its lane is here.
  absl::flat_hash_map<const void*, Lane*> lanes_;
  absl::btree_map<TimerKey, Timer> timers_;           // not yet due
  absl::flat_hash_map<TimerId, absl::Time> waiting_;  // not yet run nor cancelled
};

}  // namespace gangway
