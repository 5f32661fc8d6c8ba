#include "plugin/gang/constraint/table.h"

#include "plugin/gang/constraint/anti_affinity.h"
#include "plugin/gang/constraint/attach_limits.h"
#include "plugin/gang/constraint/cordon.h"
#include "plugin/gang/constraint/node.h"
#include "plugin/gang/constraint/placed_terms.h"
#include "plugin/gang/constraint/pod_affinity.h"
#include "plugin/gang/constraint/pod_anti_affinity.h"
#include "plugin/gang/constraint/pod_preference.h"
#include "plugin/gang/constraint/ports.h"
#include "plugin/gang/constraint/resources.h"
#include "plugin/gang/constraint/spread.h"
#include "plugin/gang/constraint/taints.h"
#include "plugin/gang/constraint/volumes.h"

namespace gangway::constraint {

absl::Span<const Kind> AllKinds() {
  static constexpr Kind kKinds[] = {
      {kCordon, 5, AskCordon},
      {kNode, 2, AskNode},
      {kVolumes, 4, AskVolumes, BeginVolumes},
      {kAttachLimits, 12, AskAttachLimits, BeginAttachLimits},
      {kTaints, 3, AskTaints},
      {kPodAffinity, 6, AskPodAffinity, BeginPlacedTerms},
      {kPodAntiAffinity, 7, AskPodAntiAffinity, BeginPlacedTerms},
      {kAntiAffinity, 8, AskAntiAffinity, BeginPlacedTerms},
      {kSpread, 9, AskSpread, BeginPlacedTerms},
      {kPodPreference, 10, AskPodPreference, BeginPlacedTerms},
      {kPorts, 11, AskPorts, BeginPorts, KeepPorts},
      {kResources, 1, AskResources},
  };
  return kKinds;
}

}  // namespace gangway::constraint
