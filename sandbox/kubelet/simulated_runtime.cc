#include "sandbox/kubelet/simulated_runtime.h"

#include "absl/strings/str_cat.h"

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

absl::Status SimulatedRuntime::CheckStream(const HostedPod& pod, absl::string_view) const {
  return absl::UnimplementedError(absl::StrCat("the containers of pod ", pod.metadata.name,
                                               " are simulated: nothing runs in them; gangway sandbox --run=process "
                                               "runs containers as processes"));
}
absl::StatusOr<std::unique_ptr<ContainerStream>> SimulatedRuntime::Exec(const HostedPod& pod, const ExecOrder&,
                                                                        StreamEvents) {
  return CheckStream(pod, "");
}
absl::StatusOr<std::unique_ptr<ContainerStream>> SimulatedRuntime::Dial(const HostedPod& pod, int, StreamEvents) {
  return CheckStream(pod, "");
}

}  // namespace gangway::sandbox
