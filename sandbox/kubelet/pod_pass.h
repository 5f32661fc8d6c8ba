// What every pass of a kubelet over one pod has in common, whoever runs the containers: the statuses at the beginning,
// waiting for what other objects should give, events, the end of a pod whose node is gone, and the status that is
// written. Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "api/core/pod.h"
#include "kube/plan/plan.h"
#include "sandbox/kubelet/hosted_pod.h"
#include "sandbox/kubelet/pod_sync.h"

namespace gangway::sandbox {

bool IsSidecar(const HostedContainer& container);
absl::string_view RestartPolicyOf(const HostedPod& pod);
bool Restarts(const HostedPod& pod, int exit_code);

api::core::ContainerState WaitingState(absl::string_view reason, std::string message = {});
api::core::ContainerState RunningState(absl::Time since);
// Of one that ran as `running` says; its reason is Completed or Error.
api::core::ContainerState TerminatedState(const api::core::ContainerState& running, int exit_code, absl::Time now);

// The first restart is at once, later ones wait (kubelet: MaxContainerBackOff).
absl::Duration RestartBackoff(int restarts, const KubeletTimes& times);
// When a container that runs counts as ready.
absl::Duration ReadyAfter(const HostedContainer& container);

class PodPass {
 protected:
  // `runtime` begins the IDs of containers: "simulated".
  PodPass(const PodView& view, const KubeletTimes& times, PodMemory& memory, absl::Time now, absl::string_view runtime)
      : pod_(view.pod),
        view_(view),
        times_(times),
        memory_(memory),
        now_(now),
        runtime_(runtime),
        status_(view.pod.status) {}

  // At or past `when`; otherwise the pass is repeated then.
  bool Due(absl::Time when);
  // Removes the pod once its node has been missed for long enough.
  kube::Plan RemoveOrphan();
  void Remove();
  void Create();
  // Whether a container has ever run.
  bool Begun() const;
  // pkg/kubelet: syncPod waits for its volumes and then asks for the secrets of its images.
  bool WaitsForVolumes();
  // pkg/kubelet/kuberuntime: generateContainerConfig. "" when there is all that the container needs.
  std::string WhyNotConfigured(const std::string& container);
  // The plan, with the status if it is another than before.
  kube::Plan Finish();
  void TellAgain(std::vector<kube::EventNote> notes);
  // CrashLoopBackOff, and its event when the container did not wait before.
  void BackOff(api::core::ContainerStatus& container, absl::Duration wait, int exit_code);

  void Note(absl::string_view container, absl::string_view reason, std::string message, bool warning = false);
  void NoteWarning(absl::string_view container, absl::string_view reason, std::string message) {
    Note(container, reason, std::move(message), true);
  }
  void NoteOnce(absl::string_view container, absl::string_view reason, const std::string& message);

  const HostedPod& pod_;
  const PodView& view_;
  const KubeletTimes& times_;
  PodMemory& memory_;
  const absl::Time now_;
  const absl::string_view runtime_;
  api::core::PodStatus status_;
  kube::Plan plan_;
};

}  // namespace gangway::sandbox
