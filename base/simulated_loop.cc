#include "base/simulated_loop.h"

#include <algorithm>

namespace gangway {

SimulatedLoop::SimulatedLoop(std::uint64_t seed, absl::Time start) : random_(seed), order_(~seed), now_(start) {}

SimulatedLoop::~SimulatedLoop() {
  // What a dropped task owns may post or cancel as it dies.
  while (pending() > 0) {
    waiting_.clear();
    lanes_.clear();
    ready_tasks_ = 0;
    const auto timers = std::exchange(timers_, {});
    const auto ready = std::exchange(ready_, {});
  }
}

void SimulatedLoop::Post(Token owner, Task task) {
  const std::shared_ptr<const void> alive = owner.lock();
  if (alive == nullptr) return;
  ++ready_tasks_;
  Lane*& lane = lanes_[alive.get()];
  if (lane == nullptr) {
    lane = &NewLane(std::move(owner));
    lane->key = alive.get();
  }
  lane->tasks.push_back(std::move(task));
}

Loop::TimerId SimulatedLoop::PostAt(absl::Time when, Token owner, Task task) {
  const TimerId id = ++last_timer_;
  if (when == absl::InfiniteFuture()) return id;
  when = std::max(when, now_);
  waiting_.emplace(id, when);
  timers_.emplace(TimerKey{when, id}, Timer{std::move(owner), std::move(task)});
  return id;
}

void SimulatedLoop::Cancel(TimerId timer) {
  const auto waiting = waiting_.find(timer);
  if (waiting == waiting_.end()) return;
  const auto it = timers_.find({waiting->second, timer});
  waiting_.erase(waiting);  // one that is ready already is skipped when its turn comes
  if (it == timers_.end()) return;
  const Timer dropped = std::move(it->second);  // dies after the maps are whole again
  timers_.erase(it);
}

SimulatedLoop::Lane& SimulatedLoop::NewLane(Token owner) {
  if (spare_.empty()) spare_.push_back(std::make_unique<Lane>());
  ready_.push_back(std::move(spare_.back()));
  spare_.pop_back();
  ready_.back()->owner = std::move(owner);
  return *ready_.back();
}

void SimulatedLoop::MakeDueReady() {
  while (!timers_.empty() && timers_.begin()->first.first <= now_) {
    const auto it = timers_.begin();
    Lane& lane = NewLane(std::move(it->second.owner));
    lane.timer = it->first.second;
    lane.tasks.push_back(std::move(it->second.task));
    timers_.erase(it);
    ++ready_tasks_;
  }
}

bool SimulatedLoop::TakeReady(Task& task) {
  MakeDueReady();
  while (!ready_.empty()) {
    const std::size_t index = order_.Below(ready_.size());
    Lane& lane = *ready_[index];
    task = std::move(lane.tasks[lane.next++]);
    --ready_tasks_;
    const bool cancelled = lane.timer != 0 && waiting_.erase(lane.timer) == 0;
    const bool dead = lane.owner.expired();
    if (lane.next == lane.tasks.size()) {
      if (lane.key != nullptr) lanes_.erase(lane.key);
      lane.tasks.clear();
      lane.owner.reset();
      lane.key = nullptr;
      lane.timer = 0;
      lane.next = 0;
      std::swap(ready_[index], ready_.back());
      spare_.push_back(std::move(ready_.back()));
      ready_.pop_back();
    }
    if (!cancelled && !dead) return true;
    task = nullptr;
  }
  return false;
}

void SimulatedLoop::DropDeadTimers() {
  while (!timers_.empty() && timers_.begin()->second.owner.expired()) {
    waiting_.erase(timers_.begin()->first.second);
    const Timer dropped = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
  }
}

bool SimulatedLoop::StepUntil(absl::Time limit) {
  Task task;
  while (!TakeReady(task)) {
    DropDeadTimers();
    if (timers_.empty() || timers_.begin()->first.first > limit) return false;
    now_ = timers_.begin()->first.first;
  }
  ++steps_;
  task();
  return true;
}

bool SimulatedLoop::RunUntilIdle(absl::Duration quiet, std::uint64_t max_steps) {
  const std::uint64_t last = steps_ + max_steps;
  while (steps_ < last) {
    if (!StepUntil(now_ + quiet)) return true;
  }
  return false;
}

bool SimulatedLoop::RunUntil(absl::FunctionRef<bool()> done, absl::Time limit, std::uint64_t max_steps) {
  const std::uint64_t last = steps_ + max_steps;
  while (!done()) {
    if (steps_ >= last) return false;
    if (!StepUntil(limit)) {
      if (limit != absl::InfiniteFuture()) now_ = std::max(now_, limit);
      return false;
    }
  }
  return true;
}

bool SimulatedLoop::RunFor(absl::Duration duration, std::uint64_t max_steps) {
  const absl::Time end = now_ + duration;
  const std::uint64_t last = steps_ + max_steps;
  while (steps_ < last) {
    if (StepUntil(end)) continue;
    now_ = std::max(now_, end);
    return true;
  }
  return false;
}

}  // namespace gangway
