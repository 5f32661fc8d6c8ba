// How to decide: everything a cluster's owner may turn.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "plugin/gang/constraint/packing.h"

namespace gangway::gang {

// What a queue deserves of the cluster (shares.h).
enum class Sharing : std::uint8_t {
  kByWeight,   // volcano: plugins/proportion
  kAsWritten,  // volcano: plugins/capacity
};

struct Policy {
  // A gang is let in while what is placed and let in stays below this share of the cluster's total; absent: whatever
  // that is. volcano: plugins/overcommit, overcommit-factor 1.2
  std::optional<int> overcommit_percent = 120;
  // Whether a gang is let in only while its queue has room for it. volcano: plugins/proportion, plugins/capacity
  bool admit_by_queues = true;
  Sharing sharing = Sharing::kByWeight;
  // Whether what queues held of late lowers their weights (shares.h): what was held so long ago counts half. Whoever
  // reckons it sets it in the cluster; absent: nobody does.
  std::optional<absl::Duration> use_half_life;
  // Whether a gang is let in only while the ResourceQuotas of its namespace have room for it. volcano:
  // plugins/resourcequota
  bool admit_by_quotas = false;
  // Whether of gangs of the same priority the one goes first whose waiting time is over first; those without one go
  // last. volcano: plugins/sla
  bool by_deadline = false;
  // The waiting time of gangs that say none of their own; absent: they have none.
  std::optional<absl::Duration> waiting_time;
  // Which resources count when fuller nodes are filled first. volcano: plugins/binpack
  constraint::Packing packing;
  // Looks at one node that the search for one gang may take after the first try did not fit.
  int search_budget = 20'000;
  // The same for gangs that are packed together anew (repack.h), in one call: gangs that come later in order find no
  // other way then.
  int repack_budget = 30'000;
  // Looks at one node that keeping room from surplus may take in one call; gangs that come later in order have nothing
  // kept then.
  int keep_budget = 200'000;
  // Whether pods are evicted for gangs of a higher priority in their queue; for queues that hold less than they deserve
  // (evict.h). volcano: actions preempt and gangpreempt, reclaim and gangreclaim
  bool preempt = true, reclaim = true;
  // Pods are evicted for a queue's share only when one of its gangs has had no room for so long though its queue is
  // entitled to it, unless together they have not done more than that gang would in five minutes (reclaim.h).
  absl::Duration reclaim_after = absl::ZeroDuration();
  // A gang that was evicted once keeps its minimum for so long from when it began again, before another queue takes it
  // back, and twice as long after each eviction more (reclaim.h).
  absl::Duration rests_for = absl::Minutes(10);
  // Whether gangs that may be moved are, where another finds room then (consolidation.h); and how long after that they
  // stay.
  bool consolidate = true;
  absl::Duration moves_again_after = absl::Minutes(10);
  // Whether it is looked at whom to evict; when not, who waits goes on waiting.
  bool choose_victims = true;
  // Pods that trials of evictions may take away in one call; gangs that come later in order are not tried then.
  int evict_budget = 200'000;
  // So long after its grace a pod that is terminating counts as one that goes.
  absl::Duration victims_take = absl::Minutes(5);
  // So long a gang that lost a member is completed before all others, where its queue does not say (lost_member.h).
  absl::Duration lost_member_grace = absl::Minutes(5);
  // A gang that is older than this and finds no room has nodes kept for it, one gang at a time (reservation.h).
  absl::Duration keeps_after = absl::Minutes(1);
  // After so long in which none of the pods that it waits for has ended, they are given up, and it has none for as
  // long.
  absl::Duration keeps_for = absl::Hours(1);
  // How often the nodes that are kept are looked for anew; and how long who waits is not tried again when nothing could
  // let it begin (standstill.h).
  absl::Duration keeps_same = absl::Seconds(1);
  // How long pods that were given nodes wait for their volumes before the nodes are given back. volcano:
  // plugins/predicates, bindTimeoutSeconds
  absl::Duration volumes_take = absl::Minutes(10);
  // Whether what gangs want beyond their minimum is placed; when not, it is left undecided.
  bool place_surplus = true;

  friend bool operator==(const Policy&, const Policy&) = default;
};

}  // namespace gangway::gang
