#include "kube/runtime/pulse.h"

#include <algorithm>
#include <utility>

namespace gangway::kube {

absl::Duration QuietFor(absl::Duration deadline) { return std::min(kQuiet, deadline / 4); }

Pulse::Pulse(Loop& loop, Client& client, absl::Duration quiet) : loop_(loop), client_(client), quiet_(quiet) {}

void Pulse::Start() { Beat(); }

void Pulse::Beat() {
  // API servers answer this page to everybody, and do not let it wait behind other requests.
  if (!asking_ && loop_.Now() - answered_at_ >= quiet_) {
    asking_ = true;
    Send({"GET", "/livez", "", "", "", ""}, owner_.token(),
         [this](const absl::StatusOr<Response>&) { asking_ = false; });
  }
  loop_.PostAt(loop_.Now() + quiet_ / 2, owner_.token(), [this] { Beat(); });
}

void Pulse::Note(const absl::StatusOr<Response>& reply) {
  if (reply.ok() && reply->code != 502 && reply->code != 503 && reply->code != 504) answered_at_ = loop_.Now();
}

void Pulse::Send(Request request, Token owner, Done done) {
  client_.Send(std::move(request), std::move(owner),
               [this, alive = owner_.token(), done = std::move(done)](absl::StatusOr<Response> reply) mutable {
                 if (!alive.expired()) Note(reply);
                 done(std::move(reply));
               });
}

std::unique_ptr<Watch> Pulse::StartWatch(Request request, Token owner, OnFrames on_frames, OnEnd on_end) {
  return client_.StartWatch(std::move(request), std::move(owner), std::move(on_frames), std::move(on_end));
}

}  // namespace gangway::kube
