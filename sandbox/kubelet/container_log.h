// The log of one run of a container. A simulated one writes a line when it starts, one now and then, and one when it
// ends, at the same times and with the same words whenever it is read. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "sandbox/kubelet/behaviour.h"
#include "sandbox/kubelet/hosted_pod.h"
#include "sandbox/kubelet/pod_sync.h"
#include "sandbox/kubelet/written_log.h"

namespace gangway::sandbox {

// Lines are counted from 0. Those of a simulated container are made when they are asked for, none is stored.
struct ContainerLog {
  std::string subject;  // "ctr-volcano-trainer-0/trainer"
  std::string node;
  int restarts = 0;  // runs of the container before this one
  absl::Time started;
  std::optional<absl::Time> ended;
  int exit_code = 0;
  absl::Time ends =
      absl::InfiniteFuture();  // when it was meant to end: no step from then on, though the end comes a little later
  LogLines lines;
  std::shared_ptr<const WrittenLog> written;  // of a container that really wrote; null: simulated

  // Of a log the last so many lines are kept, as a kubelet's rotation does.
  static constexpr std::int64_t kKept = 10'000;

  std::int64_t Count(absl::Time now) const;  // written by `now`
  std::int64_t FirstKept(absl::Time now) const;
  // FirstKept <= index.
  LogLine Line(std::int64_t index) const;       // index < Count(of some time)
  absl::Time TimeOf(std::int64_t index) const;  // InfiniteFuture: not as things are

 private:
  std::int64_t Steps(absl::Time until) const;  // written before `until`
  std::int64_t AllSteps() const;               // of one that has ended
};

// `previous`: the run before the last restart. A container between two runs shows the one that ended. `memory` may be
// null: then times are those of the pod's status, whole seconds. Errors as a kubelet has them: NotFound when the pod
// has no such container, InvalidArgument when it has not started or there is no previous run.
//
// `outcome` is what will become of the containers, as SyncPod is told. An init container writes its first and its last
// line only.
absl::StatusOr<ContainerLog> LogOf(const HostedPod& pod, const PodMemory* memory, absl::string_view container,
                                   bool previous, LogLines lines, const std::optional<RunOutcome>& outcome);

}  // namespace gangway::sandbox
