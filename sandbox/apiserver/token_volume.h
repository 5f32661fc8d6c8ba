// The token of its service account that a pod has mounted (admission: plugin/pkg/admission/serviceaccount).
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "sandbox/apiserver/draft/draft.h"
#include "sandbox/apiserver/store/store.h"

namespace gangway::sandbox {

// The config map of each namespace from which pods have the authority that the API server's certificate is of.
inline constexpr absl::string_view kRootCaName = "kube-root-ca.crt";
inline constexpr absl::string_view kTokenVolumePrefix = "kube-api-access-";
// What the token asks for; by that it is known, and good for longer (pkg/serviceaccount:
// WarnOnlyBoundTokenExpirationPeriod).
inline constexpr std::int64_t kMountedTokenSeconds = 3607;

// `pod` is a new pod that names its account. Each container that mounts nothing there sees token, ca.crt and namespace
// at /var/run/secrets/kubernetes.io/serviceaccount, in a volume of that name; unless automountServiceAccountToken of
// the pod, or else of the account, is false.
void MountToken(const Store& store, const std::string& volume, boost::json::object& pod);

}  // namespace gangway::sandbox
