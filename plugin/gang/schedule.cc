#include "plugin/gang/schedule.h"

#include <optional>

#include "plugin/gang/decide_all.h"
#include "plugin/gang/decide_few.h"
#include "plugin/gang/standstill.h"

namespace gangway::gang {

using model::Cluster;
using model::Decisions;
using model::GangId;

Decisions Schedule(const Cluster& cluster, const Policy& policy, absl::Time now, Scratch& scratch) {
  return Schedule(cluster, policy, now, scratch, [](GangId, model::Reason::Kind) { return false; });
}

Decisions Schedule(const Cluster& cluster, const Policy& policy, absl::Time now, Scratch& scratch, IsTold is_told) {
  scratch.Begin(cluster);
  scratch.standstill().Begin(cluster, policy, now);
  Decisions decisions = DecideOnAll(cluster, policy, now, scratch, is_told);
  scratch.standstill().End(cluster, decisions);
  scratch.End();
  return decisions;
}

std::optional<Decisions> ScheduleFew(const Cluster& cluster, const Policy& policy, absl::Time now, Scratch& scratch) {
  if (!scratch.standstill().MayLookAtFew(cluster, policy, now)) return std::nullopt;
  scratch.Begin(cluster);
  std::optional<Decisions> decisions = DecideOnFew(cluster, policy, now, scratch);
  if (!decisions.has_value()) scratch.standstill().LookAtAll();
  scratch.End();
  return decisions;
}

bool StandsStill(const Cluster& cluster, const Policy& policy, absl::Time now, Scratch& scratch) {
  return scratch.standstill().Holds(cluster, policy, now, scratch);
}

}  // namespace gangway::gang
