#include "plugin/extender/follow_stream.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "plugin/extender/calls/following.h"
#include "proto/gangway/v1/extender.pb.h"

namespace gangway::extender {
namespace {

constexpr char kMethod[] = "Follow";

// One that is not accepted.
class RefusedStream final : public FollowStreams::Stream {
 public:
  explicit RefusedStream(const absl::Status& why) { Finish(ToGrpc(why)); }
  void OnDone() override { delete this; }
};

}  // namespace

// Of reading, working and writing one is under way at a time; only End comes from elsewhere.
class FollowStream final : public FollowStreams::Stream {
 public:
  FollowStream(FollowStreams& streams, grpc::CallbackServerContext& context)
      : streams_(streams), context_(context), following_(streams.desk_.options().max_stream_bytes) {}

  void Read() {
    {
      const MutexLock lock(mu_);
      if (!ending_) {
        reading_ = true;
        StartRead(&request_);
        return;
      }
    }
    End(Gone());
  }
  void OnReadDone(bool ok) override {
    {
      const MutexLock lock(mu_);
      reading_ = false;
      if (finished_) return;
    }
    // Without another message the caller has said all it has to say.
    if (!ok)
      return End(context_.IsCancelled() ? absl::CancelledError("the caller has cancelled the call") : absl::OkStatus());
    if (streams_.pool_.Offer([this] { Work(); }, {this, "", nullptr}) != WorkPool::Answer::kTaken) End(Gone());
  }
  void OnWriteDone(bool ok) override {
    if (!ok) return End(absl::CancelledError("the caller does not read any more"));
    Read();
  }
  // A place that nobody waits for is free at once.
  void OnCancel() override {
    if (streams_.pool_.Withdraw(this)) End(absl::CancelledError("the caller has cancelled the call"));
  }
  void OnDone() override {
    streams_.Ended(this);
    delete this;
  }
  // The server goes.
  void Close() {
    {
      const MutexLock lock(mu_);
      ending_ = true;
      if (!reading_) return;  // it ends when it would read
    }
    End(Gone());
  }

 private:
  static absl::Status Gone() { return absl::UnavailableError("the server is about to go"); }

  void Work() {
    const Clock::time_point begin = Clock::now();
    const auto still_wanted = [&] { return Wanted(context_, context_.deadline()); };
    if (streams_.desk_.options().before_call) streams_.desk_.options().before_call(kMethod, still_wanted);
    absl::StatusOr<std::optional<v1::FollowResponse>> response = Decide(still_wanted);
    streams_.desk_.CountMessage(kMethod, request_.Length(), begin);
    request_.Clear();
    if (!response.ok()) return End(response.status());
    if (!response->has_value()) return Read();
    response_ = BytesOf(**response);
    StartWrite(&response_);
  }

  absl::StatusOr<std::optional<v1::FollowResponse>> Decide(StillWanted still_wanted) {
    if (absl::Status wanted = still_wanted(); !wanted.ok()) return wanted;
    const absl::StatusOr<v1::FollowRequest> request = ReadMessage<v1::FollowRequest>(request_);
    if (!request.ok()) return request.status();
    return following_.Take(*request, *streams_.policy_.Get(), absl::FromChrono(Clock::now()), still_wanted);
  }

  void End(const absl::Status& status) {
    {
      const MutexLock lock(mu_);
      if (std::exchange(finished_, true)) return;
    }
    streams_.desk_.CountCall(kMethod, status);
    Finish(ToGrpc(status));
  }

  FollowStreams& streams_;
  grpc::CallbackServerContext& context_;
  Following following_;
  grpc::ByteBuffer request_, response_;
  Mutex mu_;
  bool reading_ ABSL_GUARDED_BY(mu_) = false;   // waits for the caller
  bool ending_ ABSL_GUARDED_BY(mu_) = false;    // the server goes: what is under way is answered, nothing more is read
  bool finished_ ABSL_GUARDED_BY(mu_) = false;  // Finish was called, which may be once
};

FollowStreams::FollowStreams(Desk& desk, const CurrentPolicy& policy, Metrics& metrics)
    : desk_(desk),
      policy_(policy),
      open_(metrics.AddGauge("gangway_extender_streams", "streams of Follow that are open")),
      // A stream's next message may come while a thread is about to be done with the one before.
      pool_(desk.options().threads, desk.options().max_streams + desk.options().threads) {}

FollowStreams::Stream* FollowStreams::Begin(grpc::CallbackServerContext& context) {
  absl::Status refused;
  FollowStream* stream = nullptr;
  {
    const MutexLock lock(mu_);
    if (absl::Status metadata = CheckMetadata(context); !metadata.ok()) {
      refused = std::move(metadata);
    } else if (closed_) {
      refused = absl::UnavailableError("the server is about to go");
    } else if (static_cast<int>(streams_.size()) >= desk_.options().max_streams) {
      refused = absl::ResourceExhaustedError(absl::StrCat(
          desk_.options().max_streams, " streams are open already, which is this server's limit; try again later"));
    } else {
      stream = new FollowStream(*this, context);  // deletes itself when gRPC is done with it
      streams_.insert(stream);
    }
  }
  if (stream == nullptr) {
    desk_.CountCall(kMethod, refused);
    return new RefusedStream(refused);
  }
  open_.Add(1);
  stream->Read();
  return stream;
}

void FollowStreams::Ended(FollowStream* stream) {
  const MutexLock lock(mu_);
  streams_.erase(stream);
  open_.Add(-1);
}

void FollowStreams::Close() {
  const MutexLock lock(mu_);
  closed_ = true;
  // None can go meanwhile: Ended waits for the lock. gRPC calls OnDone from its executor, not from within the Finish
  // that this comes to (ServerReactor::InternalInlineable).
  for (FollowStream* const stream : streams_) stream->Close();
}

}  // namespace gangway::extender
