// A Client that knows when it was last answered, and asks something small when nobody else asks.
//
// It goes in front of the client that a process works through: what keeps a lease and what says that a process lives
// ask it. And the connection that requests share is never so quiet that its silence would mean nothing
// (kube/client/http_client.h).
#pragma once

#include <memory>

#include "absl/time/time.h"
#include "base/loop.h"
#include "kube/client/client.h"

namespace gangway::kube {

constexpr absl::Duration kQuiet = absl::Seconds(2);

// After how long without an answer it is asked where who keeps a lease must be answered within `deadline`: early enough
// that the answer comes well before that.
absl::Duration QuietFor(absl::Duration deadline);

// Used on the loop. The client outlives it.
class Pulse final : public Client {
 public:
  // `quiet`: after so long without an answer it asks, one question at a time.
  Pulse(Loop& loop, Client& client, absl::Duration quiet = kQuiet);

  void Start();
  // By the loop's clock. An answer is any response but that nobody stands behind the door (502, 503, 504), to any
  // request; what a watch brings is none, since watches have connections of their own. The infinite past before the
  // first.
  absl::Time answered_at() const { return answered_at_; }

  void Send(Request request, Token owner, Done done) override;
  [[nodiscard]] std::unique_ptr<Watch> StartWatch(Request request, Token owner, OnFrames on_frames,
                                                  OnEnd on_end) override;

 private:
  void Beat();
  void Note(const absl::StatusOr<Response>& reply);

  Loop& loop_;
  Client& client_;
  const absl::Duration quiet_;
  absl::Time answered_at_ = absl::InfinitePast();
  bool asking_ = false;
  Owner owner_;
};

}  // namespace gangway::kube
