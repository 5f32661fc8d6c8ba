// How to decide: everything a cluster's owner may turn.
#pragma once

namespace gangway::gang {

struct Policy {
  // A gang is let in while what is placed and let in stays below this share of the cluster's total.
  // volcano: plugins/overcommit, overcommit-factor 1.2
  int overcommit_percent = 120;
  // Looks at one node that the search for one gang may take after the first try did not fit.
  int search_budget = 20'000;
  // Looks at one node that keeping room from surplus may take in one call; gangs that come later in order have nothing kept then.
  int keep_budget = 200'000;
  // Whether what gangs want beyond their minimum is placed; when not, it is left undecided.
  bool place_surplus = true;
};

}  // namespace gangway::gang
