#include "kube/client/watch_stream.h"

#include <utility>

namespace gangway::kube {

WatchStream::WatchStream(Loop& loop, Token owner, Client::OnFrames on_frames, Client::OnEnd on_end,
                         std::size_t max_undelivered_bytes,
                         absl::AnyInvocable<void(std::shared_ptr<WatchStream>)> resume)
    : loop_(loop),
      owner_(std::move(owner)),
      max_undelivered_bytes_(max_undelivered_bytes),
      resume_(std::move(resume)),
      on_frames_(std::move(on_frames)),
      on_end_(std::move(on_end)) {}

void WatchStream::Push(std::vector<Frame> frames) {
  if (frames.empty()) return;
  {
    MutexLock lock(mu_);
    if (cancelled_) return;
    for (Frame& frame : frames) {
      undelivered_bytes_ += frame.object->size();
      frames_.push_back(std::move(frame));
    }
    if (std::exchange(posted_, true)) return;
  }
  Post();
}

void WatchStream::End(absl::Status status) {
  {
    MutexLock lock(mu_);
    if (cancelled_) return;
    end_ = std::move(status);
    if (std::exchange(posted_, true)) return;
  }
  Post();
}

bool WatchStream::MustWait() {
  MutexLock lock(mu_);
  if (cancelled_ || undelivered_bytes_ <= max_undelivered_bytes_) return false;
  waiting_ = true;
  return true;
}

void WatchStream::Post() {
  loop_.Post(owner_, [self = shared_from_this()] { self->Deliver(); });
}

bool WatchStream::Enter() {
  MutexLock lock(mu_);
  if (cancelled_) return false;
  inside_ = std::this_thread::get_id();
  return true;
}

bool WatchStream::Leave() {
  bool cancelled = false, drop = false;
  {
    MutexLock lock(mu_);
    inside_ = std::thread::id();
    cancelled = cancelled_;
    drop = cancelled_inside_;
  }
  left_.notify_all();
  if (drop) {
    on_frames_ = nullptr;
    on_end_ = nullptr;
  }
  return !cancelled;
}

void WatchStream::Deliver() {
  std::vector<Frame> frames;
  std::optional<absl::Status> end;
  bool resume = false;
  {
    MutexLock lock(mu_);
    if (cancelled_) return;
    posted_ = false;
    frames.swap(frames_);
    end = std::exchange(end_, std::nullopt);
    undelivered_bytes_ = 0;
    resume = std::exchange(waiting_, false);
  }
  if (!frames.empty()) {
    if (!Enter()) return;
    on_frames_(std::move(frames));
    if (!Leave()) return;
  }
  if (resume) resume_(shared_from_this());
  if (end.has_value()) {
    if (!Enter()) return;
    on_end_(*std::move(end));
    Leave();
  }
}

void WatchStream::Cancel() {
  std::vector<Frame> dropped;  // dies outside the lock
  {
    MutexLock lock(mu_);
    cancelled_ = true;
    dropped.swap(frames_);
    if (inside_ == std::this_thread::get_id()) {
      cancelled_inside_ = true;  // a running callback cannot be destroyed: Leave does it
      return;
    }
    while (inside_ != std::thread::id()) left_.wait(mu_);
  }
  on_frames_ = nullptr;
  on_end_ = nullptr;
}

}  // namespace gangway::kube
