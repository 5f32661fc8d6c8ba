// One handler of a container at work: a command within it, a request or a connection to its pod, or a sleep.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/loop.h"
#include "sandbox/kubelet/container_stream.h"
#include "sandbox/kubelet/hosted_pod.h"
#include "sandbox/process/container_streams.h"
#include "sandbox/process/health/health_call.h"
#include "sandbox/process/http_get.h"
#include "sandbox/process/probe_state.h"
#include "sandbox/process/tls_bytes.h"

namespace gangway::sandbox {

// Where it is at work.
struct HandlerPlace {
  std::string run;              // id: where commands run
  std::string pod_uid, pod_ip;  // where requests go
  HostedContainer container;    // whose ports may be named
};

// Used on the loop. Its end ends what it does.
class HandlerRun {
 public:
  using OnEnd = std::function<void(const HandlerResult&)>;
  // `on_end` is called once, later, and may destroy this. `timeout`: then it has failed.
  HandlerRun(Loop& loop, ContainerStreams& streams, HostedHandler handler, HandlerUse use, HandlerPlace place,
             absl::Duration timeout, OnEnd on_end);
  HandlerRun(const HandlerRun&) = delete;
  HandlerRun& operator=(const HandlerRun&) = delete;

 private:
  using Answer = HandlerResult::Answer;

  void Begin();
  void Command();
  void Get(const HttpTarget& target);
  void ReadAnswer(const HttpTarget& target, absl::string_view bytes);
  void Refused(const HttpTarget& target, absl::string_view why);
  void Connect(int port);
  void Health();
  void ReadHealth(absl::string_view bytes);
  std::string timeout_text() const;
  StreamOrder Towards(const std::string& host, int port) const;
  void Finish(Answer answer, absl::string_view message = {});
  bool hook() const { return use_ == HandlerUse::kPostStart || use_ == HandlerUse::kPreStop; }

  Loop& loop_;
  ContainerStreams& streams_;
  const HostedHandler handler_;
  const HandlerUse use_;
  const HandlerPlace place_;
  const absl::Duration timeout_;
  OnEnd on_end_;
  std::string output_, error_output_, too_late_;
  std::string warning_;  // that comes with success
  int redirects_ = 0;
  bool over_ = false;
  std::unique_ptr<TlsBytes> tls_;  // of an httpGet by HTTPS
  std::optional<HealthCall> health_;
  std::unique_ptr<ContainerStream> stream_;
  Owner owner_;
};

}  // namespace gangway::sandbox
