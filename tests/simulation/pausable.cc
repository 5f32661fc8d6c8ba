#include "tests/simulation/pausable.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace gangway::testutil {
namespace {

struct Callbacks {
  Token owner;
  kube::Client::OnFrames on_frames;
  kube::Client::OnEnd on_end;
  Owner wanted;  // dies with the watch
};

class Handle final : public kube::Watch {
 public:
  Handle(std::shared_ptr<Callbacks> callbacks, std::unique_ptr<kube::Watch> watch)
      : callbacks_(std::move(callbacks)), watch_(std::move(watch)) {}
  ~Handle() override { callbacks_->wanted.Reset(); }

 private:
  const std::shared_ptr<Callbacks> callbacks_;
  const std::unique_ptr<kube::Watch> watch_;
};

}  // namespace

void PausableLoop::Arrive(Held what) {
  if (paused_ || !held_.empty()) {
    held_.push_back(std::move(what));
  } else {
    what.task();
  }
}

void PausableLoop::Post(Token owner, Task task) {
  under_.Post(owner, [this, alive = alive_.token(), owner, task = std::move(task)]() mutable {
    if (!alive.expired()) Arrive({0, {}, owner, std::move(task)});
  });
}

Loop::TimerId PausableLoop::PostAt(absl::Time when, Token owner, Task task) {
  if (timers_.size() >= forget_at_) ForgetDead();
  const TimerId id = ++last_;
  Timer& timer = timers_[id];
  timer = {when, std::move(owner), std::move(task)};
  Arm(id, timer);
  return id;
}

// Those of owners that are gone never come due.
void PausableLoop::ForgetDead() {
  std::vector<Timer> dead;  // dies when the map is whole again: what a task owns may cancel
  for (auto it = timers_.begin(); it != timers_.end();) {
    if (it->second.owner.expired()) {
      dead.push_back(std::move(it->second));
      it = timers_.erase(it);
    } else {
      ++it;
    }
  }
  forget_at_ = 2 * timers_.size() + 64;
}

void PausableLoop::Arm(TimerId id, Timer& timer) {
  timer.under = under_.PostAt(timer.when - ahead_, timer.owner, [this, alive = alive_.token(), id] {
    if (alive.expired()) return;
    const auto it = timers_.find(id);
    Timer due = std::move(it->second);
    timers_.erase(it);
    Arrive({id, due.when, due.owner, std::move(due.task)});
  });
}

void PausableLoop::CountNoTime(absl::Duration behind) {
  for (Held& each : held_) {
    if (each.timer == 0 || each.when <= Now() - behind) continue;
    timers_[each.timer] = {each.when, each.owner, std::move(each.task)};
    each.owner = {};  // dropped when its turn comes
  }
  Jump(-behind);
}

void PausableLoop::Jump(absl::Duration by) {
  ahead_ += by;
  for (auto& [id, timer] : timers_) {
    under_.Cancel(timer.under);
    Arm(id, timer);
  }
}

void PausableLoop::Cancel(TimerId timer) {
  if (timer == 0) return;
  if (const auto it = timers_.find(timer); it != timers_.end()) {
    under_.Cancel(it->second.under);
    timers_.erase(it);
  }
  std::erase_if(held_, [timer](const Held& held) { return held.timer == timer; });
}

void PausableLoop::Resume(absl::Duration behind) {
  paused_ = false;
  if (behind > absl::ZeroDuration()) CountNoTime(behind);
  under_.Post(alive_.token(), [this, alive = alive_.token()] {
    while (!paused_ && !held_.empty()) {
      Held next = std::move(held_.front());
      held_.pop_front();
      if (!next.owner.expired()) next.task();
      if (alive.expired()) return;  // the process ended itself
    }
  });
}

void PausableClient::Send(kube::Request request, Token owner, Done done) {
  network_.Send(std::move(request), alive_.token(),
                [this, owner, done = std::move(done)](absl::StatusOr<kube::Response> reply) mutable {
                  loop_.Post(owner,
                             [reply = std::move(reply), done = std::move(done)]() mutable { done(std::move(reply)); });
                });
}

std::unique_ptr<kube::Watch> PausableClient::StartWatch(kube::Request request, Token owner, OnFrames on_frames,
                                                        OnEnd on_end) {
  auto callbacks = std::make_shared<Callbacks>();
  callbacks->owner = std::move(owner);
  callbacks->on_frames = std::move(on_frames);
  callbacks->on_end = std::move(on_end);
  auto watch = network_.StartWatch(
      std::move(request), alive_.token(),
      [this, callbacks](std::vector<kube::Frame> frames) {
        loop_.Post(callbacks->wanted.token(), [callbacks, frames = std::move(frames)]() mutable {
          if (!callbacks->owner.expired()) callbacks->on_frames(std::move(frames));
        });
      },
      [this, callbacks](absl::Status status) {
        loop_.Post(callbacks->wanted.token(), [callbacks, status = std::move(status)] {
          if (!callbacks->owner.expired()) callbacks->on_end(status);
        });
      });
  return std::make_unique<Handle>(std::move(callbacks), std::move(watch));
}

}  // namespace gangway::testutil
