// Tokens of service accounts that pods have in projected volumes, asked of the API server as a kubelet does.
#pragma once

#include <functional>
#include <set>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/loop.h"
#include "kube/client/client.h"
#include "sandbox/kubelet/hosted_pod.h"
#include "sandbox/process/environment.h"

namespace gangway::sandbox {

// Used on the client's loop.
class AccountTokens {
 public:
  using Done = std::function<void(absl::StatusOr<PodTokens>)>;

  explicit AccountTokens(kube::Client& client) : client_(client) {}

  // Tokens of the pod's account, bound to the pod; `wishes` are not empty. Called back later, once: with all of them,
  // or with why there is not one of them, in a kubelet's words. Never after this has gone.
  void Ask(const HostedPod& pod, const std::set<TokenWish>& wishes, Done done);

 private:
  kube::Client& client_;
  Owner owner_;
};

// When they are asked for anew: four fifths of the shortest of their times after `asked`, but after a day at the latest
// (pkg/kubelet/token: requiresRefresh).
absl::Time RenewalOf(const std::set<TokenWish>& wishes, absl::Time asked);

}  // namespace gangway::sandbox
