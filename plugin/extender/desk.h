// What every method of the server does around its translation: a place among the accepted calls, the deadline, the
// bounds, the figures. A part of the server, which alone sees gRPC.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/status.h>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "plugin/extender/calls/message_budget.h"
#include "plugin/extender/calls/still_wanted.h"
#include "plugin/extender/server.h"
#include "plugin/extender/work/call_figures.h"
#include "plugin/extender/work/work_pool.h"
#include "plugin/gang/policy.h"

namespace gangway::extender {

using Clock = std::chrono::system_clock;
using Reactor = grpc::ServerUnaryReactor;

// absl's codes are gRPC's, number by number.
grpc::Status ToGrpc(const absl::Status& status);
Clock::time_point After(absl::Duration duration);

// Why the answer is not waited for any more; OK while it is.
absl::Status Wanted(const grpc::CallbackServerContext& context, Clock::time_point deadline);

// What may come with a call besides its message, each field counted as HTTP/2 does.
constexpr std::size_t kMaxMetadataBytes = 16 << 10;
// RESOURCE_EXHAUSTED beyond. gRPC has this limit too, but keeps to it only when the client has said that it knows it.
absl::Status CheckMetadata(const grpc::CallbackServerContext& context);

// Counts the message, then parses it.
template <class In>
absl::StatusOr<In> ReadMessage(const grpc::ByteBuffer& request) {
  grpc::Slice bytes;
  if (request.Length() > 0 && !request.DumpToSingleSlice(&bytes).ok())
    return absl::InternalError("the request cannot be read");
  const absl::string_view text(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
  if (absl::Status counted = CheckEntries(text, *In::descriptor()); !counted.ok()) return counted;
  In in;
  if (!in.ParseFromArray(text.data(), static_cast<int>(text.size()))) {
    return absl::InvalidArgumentError(
        absl::StrCat("the bytes are no ", In::descriptor()->full_name(), ", or a text in it is not UTF-8"));
  }
  return in;
}

template <class Out>
grpc::ByteBuffer BytesOf(const Out& out) {
  const grpc::Slice slice(out.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

// Thread-safe.
class Desk {
 public:
  // The options and the metrics outlive it.
  Desk(const ServerOptions& options, Metrics& metrics);

  // On the pool. `answer`: StatusOr<Out>(const In&, StillWanted).
  template <class In, class Out, class F>
  Reactor* Serve(absl::string_view method, grpc::CallbackServerContext& context, const grpc::ByteBuffer& request,
                 grpc::ByteBuffer& response, F answer) {
    auto* const call = new PooledCall(*this, method, request.Length());  // deletes itself when gRPC is done with it
    auto work = WorkOf<In, Out>(method, context, request, response, std::move(answer), call, call->begin());
    under_way_.Add(1);
    if (absl::Status metadata = CheckMetadata(context); !metadata.ok()) {
      call->EndUndone(metadata);
      return call;
    }
    const WorkPool::Answer taken = pool_.Offer(
        std::move(work), {call, context.peer(), [this, call] { call->EndUndone(Refusal(WorkPool::Answer::kFull)); }});
    if (taken != WorkPool::Answer::kTaken) call->EndUndone(Refusal(taken));
    return call;
  }

  // The same where the answer is found in less time than another thread takes to wake: a small request is answered on
  // gRPC's own.
  template <class In, class Out, class F>
  Reactor* LookUp(absl::string_view method, grpc::CallbackServerContext& context, const grpc::ByteBuffer& request,
                  grpc::ByteBuffer& response, F answer) {
    if (request.Length() > kSmallRequest) return Serve<In, Out>(method, context, request, response, std::move(answer));
    Reactor* const reactor = context.DefaultReactor();
    if (absl::Status metadata = CheckMetadata(context); !metadata.ok()) {
      CountCall(method, metadata);
      reactor->Finish(ToGrpc(metadata));
      return reactor;
    }
    under_way_.Add(1);
    WorkOf<In, Out>(method, context, request, response, std::move(answer), reactor, Clock::now())();
    return reactor;
  }

  // How a call ended, and the size and time of one message.
  void CountCall(absl::string_view method, const absl::Status& status);
  void CountMessage(absl::string_view method, std::size_t bytes, Clock::time_point begin);
  const ServerOptions& options() const { return options_; }
  void Close() { pool_.Close(std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(options_.drain)); }

 private:
  static constexpr std::size_t kSmallRequest = 16 << 10;  // bytes

  // A call that may have to wait for a thread.
  class PooledCall final : public Reactor {
   public:
    PooledCall(Desk& desk, absl::string_view method, std::size_t bytes) : desk_(desk), method_(method), bytes_(bytes) {}
    Clock::time_point begin() const { return begin_; }
    // No thread looks at it.
    void EndUndone(const absl::Status& why) {
      desk_.under_way_.Add(-1);
      desk_.Count(method_, why, bytes_, begin_);
      Finish(ToGrpc(why));
    }
    // A place that nobody waits for is free at once.
    void OnCancel() override {
      if (desk_.pool_.Withdraw(this)) EndUndone(absl::CancelledError("the caller has cancelled the call"));
    }
    void OnDone() override { delete this; }

   private:
    Desk& desk_;
    const absl::string_view method_;  // a constant
    const std::size_t bytes_;
    const Clock::time_point begin_ = Clock::now();
  };

  template <class In, class Out, class F>
  auto WorkOf(absl::string_view method, grpc::CallbackServerContext& context, const grpc::ByteBuffer& request,
              grpc::ByteBuffer& response, F answer, Reactor* reactor, Clock::time_point begin) {
    const Clock::time_point deadline =
        std::min(context.deadline(), context.deadline() == Clock::time_point::max() ? After(options_.default_deadline)
                                                                                    : Clock::time_point::max());
    return [=, this, &context, &request, &response] {
      const auto still_wanted = [&] { return Wanted(context, deadline); };
      if (options_.before_call) options_.before_call(method, still_wanted);
      const absl::Status status = Carry<In, Out>(request, response, still_wanted, answer);
      Count(method, status, request.Length(), begin);
      under_way_.Add(-1);
      reactor->Finish(ToGrpc(status));
    };
  }

  template <class In, class Out, class F>
  static absl::Status Carry(const grpc::ByteBuffer& request, grpc::ByteBuffer& response, StillWanted still_wanted,
                            const F& answer) {
    if (absl::Status wanted = still_wanted(); !wanted.ok()) return wanted;
    const absl::StatusOr<In> in = ReadMessage<In>(request);
    if (!in.ok()) return in.status();
    if (absl::Status wanted = still_wanted(); !wanted.ok()) return wanted;
    const absl::StatusOr<Out> out = answer(*in, still_wanted);
    if (!out.ok()) return out.status();
    response = BytesOf(*out);
    return absl::OkStatus();
  }

  absl::Status Refusal(WorkPool::Answer taken) const;
  void Count(absl::string_view method, const absl::Status& status, std::size_t bytes, Clock::time_point begin) {
    CountCall(method, status);
    CountMessage(method, bytes, begin);
  }

  const ServerOptions& options_;
  CallFigures calls_;
  Gauge under_way_;
  WorkPool pool_;  // last: its threads use the rest
};

// What gangs are placed by. Thread-safe.
class CurrentPolicy {
 public:
  explicit CurrentPolicy(const gang::Policy& policy) : policy_(std::make_shared<const gang::Policy>(policy)) {}
  std::shared_ptr<const gang::Policy> Get() const {
    const MutexLock lock(mu_);
    return policy_;
  }
  void Set(gang::Policy policy) {
    auto fresh = std::make_shared<const gang::Policy>(std::move(policy));
    const MutexLock lock(mu_);
    policy_.swap(fresh);
  }

 private:
  mutable Mutex mu_;
  std::shared_ptr<const gang::Policy> policy_ ABSL_GUARDED_BY(mu_);
};

}  // namespace gangway::extender
