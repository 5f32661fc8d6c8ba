#include "plugin/extender/calls/decision_message.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "plugin/extender/calls/typed_facts.h"
#include "plugin/gang/constraint/cordon.h"
#include "plugin/gang/constraint/node.h"
#include "plugin/gang/constraint/ports.h"
#include "plugin/gang/constraint/taints.h"

namespace gangway::extender {
namespace {

std::string TroubleText(model::ClaimTrouble trouble) {
  using model::ClaimTrouble;
  switch (trouble) {
    case ClaimTrouble::kNothing:
      return "";
    case ClaimTrouble::kMissing:
      return "missing";
    case ClaimTrouble::kUnreadable:
      return "unreadable";
    case ClaimTrouble::kUnbound:
      return "unbound";
    case ClaimTrouble::kLost:
      return "lost";
    case ClaimTrouble::kEnding:
      return "ending";
    case ClaimTrouble::kOfAnother:
      return "of_another";
    case ClaimTrouble::kInUse:
      return "in_use";
    case ClaimTrouble::kVolumeMissing:
      return "volume_missing";
    case ClaimTrouble::kVolumeNotModelled:
      return "volume_not_modelled";
  }
  return "";
}

v1::TaskReason TaskMessageOf(const model::RoleReason& role) {
  v1::TaskReason task;
  task.set_task(role.role);
  task.set_missing(role.missing);
  task.set_nodes(role.nodes);
  task.set_fit(role.fit);
  task.set_cordoned(role.HinderedBy(constraint::kCordon));
  task.set_selector(role.HinderedBy(constraint::kNode));
  task.set_tainted(role.HinderedBy(constraint::kTaints));
  task.set_ports(role.HinderedBy(constraint::kPorts));
  for (const model::Lack& lack : role.lacks) {
    v1::Lack& out = *task.add_lacks();
    out.set_resource(lack.dim);
    out.set_needed(model::AmountText(lack.dim, lack.needed));
    out.set_best_free(model::AmountText(lack.dim, lack.best_free));
    out.set_nodes(lack.nodes);
  }
  for (const model::Hindrance& hindrance : role.hindrances) {
    v1::Hindrance& out = *task.add_hindrances();
    out.set_constraint(hindrance.constraint);
    out.set_nodes(hindrance.nodes);
    out.set_words(hindrance.words.English());
    out.set_detail(hindrance.detail.English());
    out.set_needs(hindrance.needs.English());
  }
  return task;
}

}  // namespace

v1::Reason MessageOf(const model::Reason& reason) {
  v1::Reason to;
  to.set_kind(std::string(model::KindText(reason.kind)));
  to.set_text(model::Render(reason));
  to.set_missing(reason.missing);
  to.set_min_member(reason.min_member);
  to.set_existing(reason.existing);
  to.set_subject(reason.subject.English());
  to.set_within(reason.within.English());
  to.set_size(reason.size);
  to.set_ending(reason.ending);
  to.set_trouble(TroubleText(reason.trouble));
  to.set_detail(reason.detail);
  to.set_overcommit_percent(reason.overcommit_percent);
  to.set_kept_nodes(reason.kept_nodes);
  to.set_kept_until_ends(reason.kept_until_ends);
  to.set_kept_for(reason.kept_for);
  for (const model::RoleReason& role : reason.roles) *to.add_tasks() = TaskMessageOf(role);
  for (const model::SumLack& sum : reason.sums) {
    v1::SumLack& out = *to.add_sums();
    out.set_resource(sum.dim);
    out.set_needed(model::AmountText(sum.dim, sum.needed));
    out.set_limit(model::AmountText(sum.dim, sum.limit));
    out.set_in_use(model::AmountText(sum.dim, sum.in_use));
    if (reason.kind == model::Reason::Kind::kClusterFull) out.set_capacity(model::AmountText(sum.dim, sum.capacity));
  }
  return to;
}

void AddPlacements(const model::Cluster& cluster, const std::vector<model::Placement>& placements,
                   const std::map<std::string, int>& task_order,
                   google::protobuf::RepeatedPtrField<v1::Placement>& to) {
  std::vector<model::Placement> sorted = placements;
  const auto place_of = [&](const model::Placement& placement) {
    const model::Task& task = cluster.task(placement.task);
    const auto order = task_order.find(std::string(cluster.names().Text(task.role)));
    const bool member = IsMemberName(task.name);
    return std::tuple(member ? 0 : 1, order == task_order.end() ? 0 : order->second, member ? task.index : 0,
                      task.name.view());
  };
  std::sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) { return place_of(a) < place_of(b); });
  for (const model::Placement& placement : sorted) {
    const model::Task& task = cluster.task(placement.task);
    v1::Placement& out = *to.Add();
    out.set_task(std::string(cluster.names().Text(task.role)));
    out.set_index(task.index);
    out.set_node(std::string(cluster.node_name(placement.row)));
    if (IsMemberName(task.name)) continue;
    out.set_namespace_(std::string(task.ns));
    out.set_pod(std::string(task.name));
  }
}

void AddEvictions(const model::Cluster& cluster, const model::Decision& decision,
                  google::protobuf::RepeatedPtrField<v1::Eviction>& to) {
  for (const model::TaskId id : decision.evicted) {
    const model::Task& task = cluster.task(id);
    v1::Eviction& out = *to.Add();
    out.set_namespace_(std::string(task.ns));
    out.set_pod(std::string(task.name));
    if (task.row != model::kNone) out.set_node(std::string(cluster.node_name(task.row)));
    out.set_why(std::string(model::NameOf(decision.evict_for)));
    for (const model::Placement& move : decision.moves) {
      if (move.task == id) out.set_moves_to(std::string(cluster.node_name(move.row)));
    }
  }
}

}  // namespace gangway::extender
