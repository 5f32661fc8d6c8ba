#include "plugin/gang/constraint/table.h"

#include "plugin/gang/constraint/anti_affinity.h"
#include "plugin/gang/constraint/cordon.h"
#include "plugin/gang/constraint/node.h"
#include "plugin/gang/constraint/ports.h"
#include "plugin/gang/constraint/resources.h"
#include "plugin/gang/constraint/taints.h"
#include "plugin/gang/constraint/volumes.h"

namespace gangway::constraint {

absl::Span<const Kind> AllKinds() {
  static constexpr Kind kKinds[] = {
      {kCordon, 5, AskCordon},
      {kNode, 2, AskNode},
      {kVolumes, 4, AskVolumes, BeginVolumes},
      {kTaints, 3, AskTaints},
      {kAntiAffinity, 6, AskAntiAffinity},
      {kPorts, 7, AskPorts, BeginPorts},
      {kResources, 1, AskResources},
  };
  return kKinds;
}

}  // namespace gangway::constraint
