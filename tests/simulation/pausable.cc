#include "tests/simulation/pausable.h"

#include <algorithm>
#include <utility>

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
  Handle(std::shared_ptr<Callbacks> callbacks, std::unique_ptr<kube::Watch> watch) : callbacks_(std::move(callbacks)), watch_(std::move(watch)) {}
  ~Handle() override { callbacks_->wanted.Reset(); }

 private:
  const std::shared_ptr<Callbacks> callbacks_;
  const std::unique_ptr<kube::Watch> watch_;
};

}  // namespace

void PausableLoop::Arrive(TimerId timer, const Token& owner, Task task) {
  if (paused_ || !held_.empty()) {
    held_.push_back({timer, owner, std::move(task)});
  } else {
    task();
  }
}

void PausableLoop::Post(Token owner, Task task) {
  under_.Post(owner, [this, alive = alive_.token(), owner, task = std::move(task)]() mutable {
    if (!alive.expired()) Arrive(0, owner, std::move(task));
  });
}

Loop::TimerId PausableLoop::PostAt(absl::Time when, Token owner, Task task) {
  const TimerId timer = ++last_;
  timers_[timer] = under_.PostAt(when, owner, [this, alive = alive_.token(), timer, owner, task = std::move(task)]() mutable {
    if (alive.expired()) return;
    timers_.erase(timer);
    Arrive(timer, owner, std::move(task));
  });
  return timer;
}

void PausableLoop::Cancel(TimerId timer) {
  if (timer == 0) return;
  if (const auto it = timers_.find(timer); it != timers_.end()) {
    under_.Cancel(it->second);
    timers_.erase(it);
  }
  std::erase_if(held_, [timer](const Held& held) { return held.timer == timer; });
}

void PausableLoop::Resume() {
  paused_ = false;
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
  network_.Send(std::move(request), alive_.token(), [this, owner, done = std::move(done)](absl::StatusOr<kube::Response> reply) mutable {
    loop_.Post(owner, [reply = std::move(reply), done = std::move(done)]() mutable { done(std::move(reply)); });
  });
}

std::unique_ptr<kube::Watch> PausableClient::StartWatch(kube::Request request, Token owner, OnFrames on_frames, OnEnd on_end) {
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
