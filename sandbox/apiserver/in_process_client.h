// kube::Client to an ApiServer on the same loop. Requests and replies are posted, so no call answers from within
// another, and a fault hook may lose, delay or break what a network would.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "base/loop.h"
#include "kube/client/client.h"
#include "kube/client/text_source.h"
#include "sandbox/apiserver/api_server.h"

namespace gangway::sandbox {

// What becomes of one request. Lost requests and replies end with Unavailable after `reply_delay`.
struct RequestFate {
  enum class Loss {
    kNone,
    kRequest,  // never arrives
    kReply,    // is carried out, its reply lost
  };
  Loss loss = Loss::kNone;
  // The answer of somebody in between (a proxy, an admission plugin, a quota); the server never sees the request. Of a
  // watch: it is refused.
  std::optional<kube::Response> answer = std::nullopt;
  // When not empty, what arrives instead of the request's own query: a replica that lags answers as of an older
  // resourceVersion.
  std::string query = {};
  absl::Duration request_delay = absl::ZeroDuration();
  absl::Duration reply_delay = absl::ZeroDuration();
};

// What becomes of one batch of frames of a watch. Batches of one watch overtake one another only where it says so.
//
// A client that is told nothing cannot survive frames that are missing or in another order. Kubernetes tells it: a
// watch that lost its place ends with an ERROR frame of 410. So here, `found_out_after` the loss; and when the stream
// ends before, its holder's next watch, which would go on behind the loss, is refused with 410.
struct WatchFate {
  enum class Place {
    kInOrder,
    kBehindNext,  // the next batch comes first
    kNever,
  };
  bool break_before = false;  // the stream ends with Unavailable and this batch is not delivered
  bool end_before = false;    // the same, in an orderly way
  std::optional<kube::Response> error_before = std::nullopt;  // the same, with an ERROR frame of this Status
  std::size_t repeat = 0;  // so many frames that were delivered before come again first, in their order, as from a
                           // server that resumed early
  Place place = Place::kInOrder;
  absl::Duration found_out_after = absl::ZeroDuration();
  absl::Duration delay = absl::ZeroDuration();
};

// Asked on the loop for every request and batch; empty hooks mean no faults. A hook draws from the loop's Random().
struct Faults {
  absl::AnyInvocable<RequestFate(const kube::Request&)> request;
  absl::AnyInvocable<WatchFate(const kube::Request& watch, const std::vector<kube::Frame>&)> frames;
};

class InProcessClient final : public kube::Client, public kube::TextSource {
 public:
  // `name` goes into the journal. Requests to a server that is gone are lost.
  InProcessClient(Loop& loop, ApiServer& server, std::string name, Faults faults = {});
  ~InProcessClient() override;

  void Send(kube::Request request, Token owner, Done done) override;
  [[nodiscard]] std::unique_ptr<kube::Watch> StartWatch(kube::Request request, Token owner, OnFrames on_frames,
                                                        OnEnd on_end) override;
  // `request` is a GET pods/log. Faults are those of a watch.
  [[nodiscard]] std::unique_ptr<kube::Watch> StartText(kube::Request request, Token owner, OnText on_text,
                                                       OnEnd on_end) override;

  // From now on objects come with metadata.managedFields, as a client over the network sees them.
  void ShowManagedFields();

  // From now on its requests are this user's, whose rights count where RBAC is on.
  void ActAs(User user);

  // Breaks the watches that are open now, as a network would.
  void BreakWatches();

  // A client that is destroyed loses what it had not yet received; requests that were sent are still carried out.
 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace gangway::sandbox
