#include "sandbox/kubelet/simulated_runtime.h"

namespace gangway::sandbox {

kube::Plan SimulatedRuntime::Sync(const PodView& view, absl::Time now) {
  PodView played = view;
  played.outcome = behaviour_.For(view.pod);
  return SyncPod(played, times_, memory_[view.pod.metadata.uid], now);
}

absl::StatusOr<ContainerLog> SimulatedRuntime::Log(const HostedPod& pod, absl::string_view container,
                                                   bool previous) const {
  const auto memory = memory_.find(pod.metadata.uid);
  return LogOf(pod, memory == memory_.end() ? nullptr : &memory->second, container, previous,
               behaviour_.LogLinesOf(pod), behaviour_.For(pod));
}

}  // namespace gangway::sandbox
