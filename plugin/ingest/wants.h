// What a pod asks of its node, and the field that asks for more than the scheduler knows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "plugin/model/facts.h"

namespace gangway::ingest {

// Everything, for a pod that waits for a node. Of several fields that are not known the first is named.
model::Wants WantsOf(const api::core::Pod& pod);
// Paths of the fields that ask for more than the scheduler knows, "spec.workloadRef"; "spec.volumes[cache]" is the
// volume of that name, "spec.resourceClaims[gpu]" the claim.
std::vector<std::string> UnknownFields(const api::core::Pod& pod);
// For a pod that has a node: only what it takes of it, its claims, whom it keeps away, and what it wishes near it.
model::Wants HoldsOf(const api::core::Pod& pod);
// Labels that a selector asks for. One that is absent, or that no API server takes, selects nothing.
std::vector<model::RequirementFacts> RequirementsOf(const api::Document& selector);
// Nothing when an operator is unknown, or a field other than the name is asked for.
std::optional<model::TermFacts> TermOf(const api::core::NodeSelectorTerm& term);

}  // namespace gangway::ingest
