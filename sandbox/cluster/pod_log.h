// What the API server answers GET pods/log with: the lines of simulated containers, cut and stamped as the query asks
// (kubelet: since, tail, timestamps, limit).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/loop.h"
#include "kube/client/client.h"
#include "sandbox/apiserver/api_server.h"
#include "sandbox/kubelet/container_log.h"

namespace gangway::sandbox {

// Renders a log piece by piece; what has been rendered does not come again. Pure but for its own place in the log.
class LogText {
 public:
  LogText(LogQuery query, absl::Time now) : query_(std::move(query)), began_(now) {}
  // Appends what `log` has by `now`. The next call may bring a later state of the same log.
  void Append(const ContainerLog& log, absl::Time now, std::string& out);
  // limitBytes is reached.
  bool full() const { return full_; }
  // The line that comes next.
  std::int64_t next() const { return next_; }

 private:
  void Begin(const ContainerLog& log);

  const LogQuery query_;
  const absl::Time began_;
  std::int64_t next_ = -1;
  std::int64_t written_ = 0;  // bytes
  bool full_ = false;
  bool line_begins_ = true;  // a long one comes in parts
};

// The logs that are being followed. Used on the loop.
class PodLogFollower {
 public:
  // The log of that pod's container as it is now.
  using Read = std::function<absl::StatusOr<ContainerLog>(const LogQuery&)>;
  PodLogFollower(Loop& loop, Read read) : loop_(loop), read_(std::move(read)) {}
  PodLogFollower(const PodLogFollower&) = delete;
  PodLogFollower& operator=(const PodLogFollower&) = delete;

  // Ends with the run of the container that it began with, or with the pod. The error of Read when there is no log to
  // begin with.
  absl::StatusOr<std::unique_ptr<kube::Watch>> Start(const LogQuery& query, kube::Client::OnFrames on_frames,
                                                     kube::Client::OnEnd on_end);
  // The pod has changed or gone.
  void Poke(const std::string& uid);
  // The kubelets are gone: streams break off.
  void BreakAll();

 private:
  struct Stream;
  class Handle;
  void Look(const std::shared_ptr<Stream>& stream);
  void End(const std::shared_ptr<Stream>& stream, absl::Status status);

  Loop& loop_;
  const Read read_;
  std::uint64_t last_id_ = 0;
  absl::btree_map<std::uint64_t, std::shared_ptr<Stream>> streams_;
  std::shared_ptr<PodLogFollower*> self_ = std::make_shared<PodLogFollower*>(this);  // for handles that outlive us
  Owner owner_;
};

}  // namespace gangway::sandbox
