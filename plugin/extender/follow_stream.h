// The streams of GangScheduler.Follow. A part of the server, which alone sees gRPC.
//
// A stream reads one message, decides, writes its answer, and only then reads the next: a caller that does not read
// soon cannot write. The work is done by a few threads of its own, so that streams and calls do not keep each other
// waiting; a stream has one piece of work at most.
#pragma once

#include <memory>
#include <set>

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "absl/base/thread_annotations.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "plugin/extender/desk.h"
#include "plugin/extender/work/work_pool.h"

namespace gangway::extender {

class FollowStream;

// Thread-safe.
class FollowStreams {
 public:
  using Stream = grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>;

  // All must outlive it.
  FollowStreams(Desk& desk, const CurrentPolicy& policy, Metrics& metrics);
  // Beyond options.max_streams one that ends at once, with RESOURCE_EXHAUSTED.
  Stream* Begin(grpc::CallbackServerContext& context);
  // Ends those that wait for a message with UNAVAILABLE, the others when they have answered; no new ones.
  void Close();

 private:
  friend class FollowStream;
  void Ended(FollowStream* stream);

  Desk& desk_;
  const CurrentPolicy& policy_;
  Gauge open_;
  Mutex mu_;
  std::set<FollowStream*> streams_ ABSL_GUARDED_BY(mu_);
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  WorkPool pool_;  // last: its threads use the rest
};

}  // namespace gangway::extender
