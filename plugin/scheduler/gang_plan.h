// Everything the scheduler would write now about one gang: bindings, the PodGroup's status, its pods' conditions,
// events.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "kube/plan/plan.h"
#include "plugin/model/cluster.h"
#include "plugin/scheduler/evictions.h"
#include "plugin/scheduler/group_kinds.h"
#include "plugin/scheduler/release.h"
#include "plugin/scheduler/telling.h"
#include "plugin/scheduler/volume_binding.h"

namespace gangway::scheduler {

// A pod's PodScheduled=False condition, as one text; "" when it has none.
std::string ConditionText(absl::string_view reason, absl::string_view message);

struct GangView {
  const model::Cluster& cluster;
  model::GangId id;
  GroupRef group;
  Telling& telling;  // told that its news are written, once the PodGroup has them
  // Whether the API server has accepted the binding of this pod already.
  absl::FunctionRef<bool(const model::Task&)> accepted;
  // What ConditionText says of the pod's condition as it is.
  absl::FunctionRef<std::string(const model::Task&)> written;
  const std::optional<Leftovers>& leftovers;
  absl::Time half_bound_since;  // since when there are any, as this process saw it
  absl::Duration release_after;
  std::string transition_id;
  const VolumesOfGang& volumes;                           // until they are ready nothing is bound
  std::optional<Removal> removal = std::nullopt;          // pods of it that are evicted
  std::vector<Evictions::Nomination> nominations = {};    // that its pods do not say yet
  absl::Time counts_from = absl::InfinitePast();          // until then how many of its pods run is not written alone
  bool bindings_put_off = false;                          // the API server did not take them yet
  absl::Time volumes_told_from = absl::InfiniteFuture();  // pods say from then on that they wait for them
};

// One stage with the bindings, or with what their volumes need first, the status and the conditions (while bindings
// that were not put off make it whole, no status: they bring it about); or, for leftovers whose time has come and for
// pods that are evicted, three: the record of it in the PodGroup, the pods' DisruptionTarget, the deletions. Pods of a
// Job that go for others have theirs after that, where they are still there: the Job goes by the record, and somebody
// waits for their room.
kube::Plan PlanGang(const GangView& view, absl::Time now);

// Pods that wait for a PodGroup which is not there are told so by `text` from `due` on: it may be on its way.
kube::Plan PlanWithoutGroup(const model::Cluster& cluster, const model::Gang& gang, const std::string& text,
                            absl::FunctionRef<std::string(const model::Task&)> written, absl::Time due, absl::Time now);

}  // namespace gangway::scheduler
