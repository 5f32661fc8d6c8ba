// Leftovers of a gang: pods that were bound while the rest of their gang was not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "plugin/model/cluster.h"

namespace gangway::scheduler {

struct Leftovers {
  std::vector<model::TaskId>
      released;  // to be deleted when their time has come: they have not begun to run; sorted by name
  std::vector<std::string>
      staying;      // names of others that no controller would make again, or that name another scheduler
  int running = 0;  // never deleted
};

// Its status does not say that it ever was whole, fewer of its pods than the minimum, or than a task's or of whole
// sub-groups, have a node or have succeeded, and some of them have not ended. A binding that is under way gives no node
// yet: one that is refused again and again would put the release off for ever.
bool IsHalfBound(const model::Cluster& cluster, const model::Gang& gang);

// Set when the gang is half-bound and no binding is under way.
std::optional<Leftovers> FindLeftovers(const model::Cluster& cluster, model::GangId gang);

// "released 2 of 4 tasks: the gang did not become whole within 30s, it waits for 2 of 4 tasks: ...; 1 pod without a
// controller stays: p1". `waits`: the sentence that says why it waits, "" when there is none. Without the part up to
// the colon when none is released.
std::string ReleaseSentence(const model::Gang& gang, const Leftovers& leftovers, absl::Duration release_after,
                            absl::string_view waits);

}  // namespace gangway::scheduler
