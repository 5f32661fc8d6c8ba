// Explain.Explain: why a gang waits or where it runs, and what would help, as messages.
#pragma once

#include "absl/status/statusor.h"
#include "plugin/extender/calls/still_wanted.h"
#include "plugin/gang/policy.h"
#include "proto/gangway/v1/explain.pb.h"

namespace gangway::extender {

// Changes that one call may try together.
inline constexpr int kMaxWhatIf = 32;
// Nodes that what_if may add.
inline constexpr int kMaxNodesAdded = 10'000;

// InvalidArgument names the field, of the request or of a change; what `still_wanted` says ends the work. Pure
// otherwise; thread-safe.
absl::StatusOr<v1::ExplainResponse> ExplainGang(const v1::ExplainRequest& request, const gang::Policy& policy,
                                                StillWanted still_wanted);

}  // namespace gangway::extender
