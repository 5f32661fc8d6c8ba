// `gangway controller --webhook` asked by a real API server on loopback: a certificate of the cluster's authority, and
// the configurations of deploy/volcano/components/webhook with an address in place of the Service.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tests/e2e/control_plane.h"

namespace gangway::testutil {

// Flags of the controller. Writes the certificate and its key into the control plane's folder.
std::vector<std::string> WebhookFlags(const ControlPlane& plane);

// Tells the API server of the webhook that the controller's log (a path) names. A call that is lost is an error here.
// Returns when the API server asks before it writes.
absl::Status InstallWebhook(ControlPlane& plane, const std::string& log);

}  // namespace gangway::testutil
