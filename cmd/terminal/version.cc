#include "cmd/terminal/version.h"

namespace gangway::cmd {

std::string VersionLine() {
  return "gangway " GW_VERSION
         " (Kubernetes API 1.36, Volcano API batch.volcano.sh/v1alpha1 scheduling.volcano.sh/v1beta1)";
}

}  // namespace gangway::cmd
