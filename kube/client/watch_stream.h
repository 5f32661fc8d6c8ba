// Frames on their way from the thread that reads them to the loop that wants them. Private to this folder.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "base/loop.h"
#include "base/mutex.h"
#include "kube/client/client.h"

namespace gangway::kube {

// Thread-safe. Batches what arrives while the loop is busy into one call.
class WatchStream : public std::enable_shared_from_this<WatchStream> {
 public:
  // `resume` is called with this stream, on the loop, when the reader was told to wait and may go on.
  WatchStream(Loop& loop, Token owner, Client::OnFrames on_frames, Client::OnEnd on_end,
              std::size_t max_undelivered_bytes, absl::AnyInvocable<void(std::shared_ptr<WatchStream>)> resume);

  // By the reader. Frames after the end are not allowed.
  void Push(std::vector<Frame> frames);
  void End(absl::Status status);
  // Whether the loop is so far behind that the reader must wait for `resume`.
  bool MustWait();

  // From any thread: nothing is called back afterwards. Waits for a callback that runs on another thread.
  void Cancel();

 private:
  void Post();  // without the lock
  void Deliver();
  // False when cancelled; otherwise the loop's thread is marked as being in a callback.
  bool Enter();
  bool Leave();  // false when cancelled meanwhile

  Loop& loop_;
  const Token owner_;
  const std::size_t max_undelivered_bytes_;
  absl::AnyInvocable<void(std::shared_ptr<WatchStream>)> resume_;
  // Called on the loop, destroyed there or by Cancel.
  Client::OnFrames on_frames_;
  Client::OnEnd on_end_;

  Mutex mu_;
  std::condition_variable_any left_;
  std::vector<Frame> frames_ ABSL_GUARDED_BY(mu_);
  std::size_t undelivered_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mu_);
  bool posted_ ABSL_GUARDED_BY(mu_) = false;
  bool waiting_ ABSL_GUARDED_BY(mu_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
  bool cancelled_inside_ ABSL_GUARDED_BY(mu_) = false;  // by a callback of this stream
  std::thread::id inside_ ABSL_GUARDED_BY(mu_);         // the thread in a callback
};

}  // namespace gangway::kube
