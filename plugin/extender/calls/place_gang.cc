#include "plugin/extender/calls/place_gang.h"

#include <map>
#include <string>

#include "base/status_macros.h"
#include "plugin/extender/calls/decision_message.h"
#include "plugin/extender/calls/request_facts.h"
#include "plugin/extender/calls/typed_facts.h"
#include "plugin/gang/admit.h"
#include "plugin/gang/schedule.h"
#include "plugin/model/cluster.h"

namespace gangway::extender {
namespace {

// A gang without a decision wants nothing more, or is one of which nobody asks anything: no pod of it is there.
v1::PlaceGangResponse ReplyOf(const model::Cluster& cluster, const model::Decisions& decisions, model::GangId gang,
                              const v1::Gang& asked) {
  std::map<std::string, int> task_order;
  for (const v1::Task& task : asked.tasks()) task_order.emplace(task.name(), static_cast<int>(task_order.size()));
  v1::PlaceGangResponse reply;
  reply.set_placed(cluster.gang(gang).ready() >= cluster.gang(gang).min_member);
  if (!reply.placed())
    *reply.mutable_reason() = MessageOf(gang::ReasonOf(model::Reason::Kind::kTooFewTasks, cluster.gang(gang)));
  for (const model::Decision& decision : decisions) {
    if (decision.gang != gang) continue;
    reply.set_placed(!decision.short_of_minimum);
    AddPlacements(cluster, decision.placements, task_order, *reply.mutable_placements());
    if (decision.nominations.has_value())
      AddPlacements(cluster, *decision.nominations, task_order, *reply.mutable_nominations());
    AddEvictions(cluster, decision, *reply.mutable_evictions());
    reply.clear_reason();
    if (decision.reason.has_value()) *reply.mutable_reason() = MessageOf(*decision.reason);
  }
  return reply;
}

}  // namespace

absl::StatusOr<v1::PlaceGangResponse> PlaceGang(const v1::PlaceGangRequest& request, const gang::Policy& policy,
                                                StillWanted still_wanted) {
  GW_ASSIGN_OR_RETURN(const absl::Time now, NowOf(request, absl::UnixEpoch()));
  GW_ASSIGN_OR_RETURN(const Asked asked,
                      ReadRequest(request.has_gang() ? &request.gang() : nullptr, request.cluster(), still_wanted));
  model::Cluster cluster;
  explain::Tell(asked.facts, cluster);
  GW_RETURN_IF_ERROR(still_wanted());
  gang::Scratch scratch;
  const model::Decisions decisions = gang::Schedule(cluster, policy, now, scratch);
  GW_RETURN_IF_ERROR(still_wanted());
  return ReplyOf(cluster, decisions, cluster.FindGang(asked.gang.ns, asked.gang.name, asked.gang.kind), request.gang());
}

}  // namespace gangway::extender
