#pragma once

#include <string>

namespace gangway::cmd {

// "gangway 0.1.0 (Kubernetes API 1.36, Volcano API batch.volcano.sh/v1alpha1 scheduling.volcano.sh/v1beta1)"
std::string VersionLine();

}  // namespace gangway::cmd
