// Pods that the scheduler has said it will delete and has not told to go yet, as PodGroups and pods show it.
//
// In: PodGroups and pods as they are shown. Out: until when deletions are still to be sent. Meanwhile what becomes of
// those who go is not urgent: their restart would take the API server's time from the deletions that somebody waits
// for. Pure; used on the controller's loop.
#pragma once

#include <deque>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "plugin/lifecycle/job/job_view.h"

namespace gangway::controller {

class EvictionsSeen {
 public:
  // A scheduler that stopped in between deletes none: of what was named longer ago nothing is expected.
  static constexpr absl::Duration kPatience = absl::Seconds(5);
  // Where many go the next are named as soon as the last were told, and kubelets end those.
  static constexpr absl::Duration kPause = absl::Milliseconds(500);

  // The release in a PodGroup's status names a pod that is there and not told to go.
  void Named(const std::string& uid, absl::Time now);
  // It is told to go, or gone. True: it was the last.
  bool Settled(const std::string& uid, absl::Time now);
  bool IsNamed(const std::string& uid) const { return named_.contains(uid); }
  // When they are over if nothing happens before; InfinitePast: they are.
  absl::Time Until(absl::Time now);

 private:
  void DropOld(absl::Time now);

  absl::flat_hash_map<std::string, absl::Time> named_;       // UIDs, and when
  std::deque<std::pair<absl::Time, std::string>> in_order_;  // those, and some that are settled
  absl::Time settled_ = absl::InfinitePast();                // when the last was
};

// All pods of the Job go by the scheduler's doing, or are gone by it, and nobody commands it.
bool IsEvicted(const lifecycle::JobView& view, const EvictionsSeen& evictions);

}  // namespace gangway::controller
