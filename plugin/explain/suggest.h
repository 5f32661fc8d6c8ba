// What would help a gang that waits: each change was tried, and with it alone the gang starts.
#pragma once

#include <vector>

#include "plugin/explain/explanation.h"
#include "plugin/explain/trial.h"

namespace gangway::explain {

// `seen` is what Trial::Explain said of it. Of each sort of change the smallest that is enough; nothing when it needs
// no help. For one that runs partly: with which each of its pods has a node.
std::vector<Suggestion> Suggest(Trial& trial, const Explanation& seen);

// The node that more nodes for this gang would be like when nobody says: of the sorts of nodes that there are, by
// allocatable, taints and the labels that its pods ask for, the first in number on which an empty node takes one of its
// pods. "": no sort does.
std::string NodeToCopy(Trial& trial, const GangKey& gang);

}  // namespace gangway::explain
