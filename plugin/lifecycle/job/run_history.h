// How long Jobs of the very same spec took before: of their namespace, as far as they are still there.
//
// Told of each Job in any order it knows the same. Used on one loop.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "api/meta.h"
#include "api/volcano/job.h"
#include "api/volcano/past_runs.h"

namespace gangway::lifecycle {

// From when as many pods ran as it needs, for the last time, until it had Completed with all of them gone; rounded up
// to seconds. nullopt: it has not Completed, or its status does not say.
std::optional<absl::Duration> HowLongItRan(const api::volcano::Job& job);

class RunHistory {
 public:
  // So many of the last that Completed count, the longest of them.
  static constexpr std::size_t kCounts = 10;

  // nullptr: it is gone.
  void Put(const api::NamespacedName& key, const api::volcano::Job* job);
  // Before this one, which does not count itself.
  api::volcano::PastRuns Before(const api::volcano::Job& job) const;

 private:
  using Work = std::pair<std::string, std::uint64_t>;  // a namespace, and a spec by its hash
  static Work WorkOf(const api::volcano::Job& job);

  struct Run {
    Work work;
    std::string uid;
    absl::Time ended;
    absl::Duration took;
  };
  absl::flat_hash_map<api::NamespacedName, Run> runs_;
  absl::flat_hash_map<Work, std::set<std::tuple<absl::Time, std::string>>> by_work_;  // the names of Jobs
};

}  // namespace gangway::lifecycle
