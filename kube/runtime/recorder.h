// Writes core/v1 Events, counting repeats: the same note (object's UID, type, reason, message) again raises the count
// and the lastTimestamp of the Event it made, at most once in `repeat_interval`.
//
// Best effort, as events are: a note is tried a few times and then dropped, and when too many wait new ones are
// dropped. An Event's name is made from its content, so a restarted process finds it again. Used on its loop.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "base/backoff.h"
#include "base/loop.h"
#include "base/metrics.h"
#include "kube/client/client.h"
#include "kube/plan/plan.h"

namespace gangway::kube {

struct RecorderOptions {
  std::string component = {};  // source.component: "volcano", "vc-controller-manager"
  std::string host = {};       // source.host
  double qps = 50;             // zero: no limit
  int burst = 500;
  absl::Duration repeat_interval = absl::Seconds(1);
  std::size_t remembered = 4096;     // notes whose repeats are counted
  std::size_t max_waiting = 20'000;  // notes not yet written; more are dropped
  int max_in_flight = 64;
  int attempts = 4;
  // While it says so, notes wait behind more urgent writes; one goes through each `patience`.
  std::function<bool()> busy = nullptr;
  absl::Duration patience = absl::Seconds(1);
  Backoff backoff = {absl::Milliseconds(200), absl::Seconds(10)};
  Metrics* metrics = nullptr;
};

class Recorder {
 public:
  Recorder(Loop& loop, Client& client, RecorderOptions options);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Notes about cluster-scoped objects go to the namespace "default".
  void Record(const EventNote& note);

  // Notes not yet written, repeats not counted.
  std::size_t waiting() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gangway::kube
