// Gangway on a real control plane of its own, as the measurements begin with it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "kube/client/client.h"
#include "tests/e2e/installed_gangway.h"

namespace gangway::bench {

// Without kubelets and without an audit log; the nodes are there. What fails ends the program.
std::unique_ptr<testutil::InstalledGangway> InstallOn(std::vector<kube::Request> nodes);
void MakeNamespace(testutil::InstalledGangway& gangway, const std::string& name);

std::string Seconds(absl::Duration duration);  // "1.25 s"

}  // namespace gangway::bench
