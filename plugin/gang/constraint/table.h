// The one list of constraints.
#pragma once

#include "absl/types/span.h"
#include "plugin/gang/constraint/constraint.h"

namespace gangway::constraint {

// In the order in which obstacles are named: of several that stand against a pod on a node the first is told. Room
// comes last, so that a node is said to lack room only where nothing else would keep the pod away.
absl::Span<const Kind> AllKinds();

}  // namespace gangway::constraint
