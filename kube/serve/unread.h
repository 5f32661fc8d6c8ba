// What the clients of a front have not taken of their answers and watches: counted once however many wait for the same
// bytes, and bounded. Private to the front.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "kube/serve/http_desk.h"

namespace gangway::kube {

// Only clients that have fallen behind are known here: most take what they asked for at once. When all of it together
// is more than the budget, whoever took least lately is cut off (Mail::What::kCut) and forgotten, until there is room.
// Thread-safe.
class Unread {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  explicit Unread(std::size_t budget) : budget_(budget) {}

  // A client that waits for room, having taken `taken` bytes just now. It is still to get `pieces`, in this order.
  void FallBehind(ConnectionId client, std::shared_ptr<Mailbox> mailbox, absl::Span<const Bytes> pieces,
                  std::size_t taken, SteadyTime now);
  // More for the end of its queue. Of one that is not known, this and the following do nothing.
  void Append(ConnectionId client, absl::Span<const Bytes> pieces, SteadyTime now);
  // The first `count` pieces are gone; it has `own` bytes that are nobody else's.
  void Drop(ConnectionId client, std::size_t count, std::size_t own);
  void Take(ConnectionId client, std::size_t taken, SteadyTime now);
  // It has caught up, or is gone.
  void Forget(ConnectionId client);

  // Of all.
  std::size_t bytes() const;

 private:
  struct Piece {
    std::size_t size = 0, holders = 0;
  };
  struct Client {
    std::shared_ptr<Mailbox> mailbox;
    std::deque<Bytes> pieces;
    std::size_t own = 0;
    double lately = 0;  // bytes taken; a second halves what came before
    SteadyTime at;      // of `lately`
  };

  struct Cut {
    std::shared_ptr<Mailbox> mailbox;
    ConnectionId client = 0;
  };

  void Hold(Client& client, absl::Span<const Bytes> pieces) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Release(Client& client, std::size_t count) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SetOwn(Client& client, std::size_t own) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Remove(ConnectionId client) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::vector<Cut> MakeRoom(SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  static void Tell(const std::vector<Cut>& cuts);
  static double LatelyAt(const Client& client, SteadyTime now);

  const std::size_t budget_;
  mutable Mutex mu_;
  absl::flat_hash_map<ConnectionId, Client> clients_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<const std::string*, Piece> pieces_ ABSL_GUARDED_BY(mu_);
  std::size_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace gangway::kube
