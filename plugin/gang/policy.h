// How to decide: everything a cluster's owner may turn.
#pragma once

namespace gangway::gang {

struct Policy {
  // A gang is let in while what is placed and let in stays below this share of the cluster's total.
  // volcano: plugins/overcommit, overcommit-factor 1.2
  int overcommit_percent = 120;
  // Looks at one node that the search for one gang may take after the first try did not fit.
  int search_budget = 20'000;
};

}  // namespace gangway::gang
