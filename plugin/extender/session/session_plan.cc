#include "plugin/extender/session/session_plan.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/extender/session/awaited_members.h"
#include "plugin/gang/queue_tree.h"
#include "plugin/gang/schedule.h"
#include "plugin/gang/shares.h"
#include "plugin/model/names.h"

namespace gangway::extender {

using model::Cluster;
using model::Decision;
using model::Decisions;
using model::Gang;
using model::GangId;
using model::Reason;
using Verdict = PlannedGang::Verdict;

namespace {

// Which HyperNodes there are is in no session: where none are known, a gang that must lie in one is left to the
// scheduler.
bool KnowsNoHyperNodes(const Cluster& cluster, const Reason& reason) {
  return reason.kind == Reason::Kind::kNoHyperNode && cluster.hyper_nodes().Resolve().empty();
}

// Of a gang that has not got its minimum. What the scheduler sees as well as we do, that pods are missing or gated, is
// left to it, as is what we do not see: claims and their volumes are in no session.
Verdict VerdictOf(const Reason& reason) {
  switch (reason.kind) {
    case Reason::Kind::kRoomAwaited:
      return Verdict::kMakesRoom;
    case Reason::Kind::kNoRoom:
    case Reason::Kind::kKeptForMinimum:
    case Reason::Kind::kNoHyperNode:
    case Reason::Kind::kQueueMissing:
    case Reason::Kind::kQueueClosed:
    case Reason::Kind::kQueueFull:
    case Reason::Kind::kQuotaFull:
    case Reason::Kind::kClusterFull:
      return Verdict::kWaits;
    case Reason::Kind::kTooFewTasks:
    case Reason::Kind::kTooFewOfRole:
    case Reason::Kind::kTooFewSubGroups:
    case Reason::Kind::kGated:
    case Reason::Kind::kNotModelled:
    case Reason::Kind::kClaim:
    case Reason::Kind::kBindFailed:
      return Verdict::kNotJudged;
  }
  return Verdict::kNotJudged;
}

bool LosesKeptNodes(const Reason& reason) {
  return reason.kind == Reason::Kind::kKeptForMinimum || !reason.kept_for.empty();
}

PlannedGang Untold(const Cluster& cluster, GangId id) {
  const Gang& gang = cluster.gang(id);
  PlannedGang planned;
  planned.job = model::KeyOf(gang.ns, gang.name);
  planned.uid = gang.uid;
  const bool waits = cluster.waiting().contains(id) || cluster.awaiting_pods().contains(id);
  planned.verdict = waits || !gang.not_modelled.empty() ? Verdict::kNotJudged : Verdict::kSettled;
  return planned;
}

// A reason names what a pod asks for, which may be thousands of labels; it is told for each node that is asked about.
std::string Shortened(std::string text) {
  constexpr std::size_t kMost = 1000;
  if (text.size() <= kMost) return text;
  std::size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // inside of a character
  text.resize(end);
  return text + "...";
}

void Judge(const Cluster& cluster, const SessionPlanOptions& options, const Decision& decision, PlannedGang& planned) {
  const Gang& gang = cluster.gang(decision.gang);
  const bool goes = decision.evict_for == model::EvictFor::kLost;
  planned.placed = static_cast<int>(decision.placements.size());
  if (decision.reason.has_value()) planned.why = Shortened(model::Render(*decision.reason));
  if (!gang.not_modelled.empty() || (decision.reason.has_value() && KnowsNoHyperNodes(cluster, *decision.reason))) {
    planned.verdict = Verdict::kNotJudged;
  } else if (decision.short_of_minimum && decision.reason.has_value()) {
    planned.verdict = decision.evicted.empty() || goes ? VerdictOf(*decision.reason) : Verdict::kMakesRoom;
    planned.may_start = planned.verdict != Verdict::kWaits || !LosesKeptNodes(*decision.reason);
  } else if (!decision.placements.empty()) {
    planned.verdict = Verdict::kPlaced;
  } else {
    planned.verdict = gang.tasks.empty() ? Verdict::kNotJudged : Verdict::kSettled;
  }
  if (!gang.admitted) planned.let_in = decision.admit && !(options.whole_gangs && planned.verdict == Verdict::kWaits);
  if (goes) return;  // Volcano asks for whom others go
  planned.evict_for = decision.evict_for;
  for (const model::TaskId task : decision.evicted) planned.victims.push_back(cluster.task(task).uid);
  std::sort(planned.victims.begin(), planned.victims.end());
}

// What a session's scheduler can carry out: it does not move pods, and asks once for all that it has to place.
gang::Policy PolicyFor(const SessionPlanOptions& options) {
  gang::Policy policy = options.policy;
  if (!options.sums) {
    policy.overcommit_percent.reset();
    policy.admit_by_queues = false;
  }
  policy.consolidate = false;
  policy.place_surplus = true;
  return policy;
}

}  // namespace

absl::string_view VerdictText(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNotJudged:
      return "not judged";
    case Verdict::kSettled:
      return "settled";
    case Verdict::kPlaced:
      return "placed";
    case Verdict::kMakesRoom:
      return "makes room";
    case Verdict::kWaits:
      return "waits";
  }
  return "";
}

std::shared_ptr<const SessionPlan> SessionPlan::Make(Cluster& cluster, const SessionPlanOptions& options,
                                                     absl::Time now, gang::Scratch& scratch,
                                                     const SessionPlan* previous) {
  std::shared_ptr<SessionPlan> plan(new SessionPlan());
  plan->made_ = now;
  if (previous != nullptr) previous->KeepOn(cluster, now);
  for (GangId id = 0; id < cluster.gang_slots(); ++id) plan->tasks_ += static_cast<int>(cluster.gang(id).tasks.size());
  std::optional<AwaitedMembers> members;
  if (options.whole_gangs) members.emplace(cluster);
  const gang::Policy policy = PolicyFor(options);
  const Decisions decisions = gang::Schedule(cluster, policy, now, scratch);
  plan->Take(cluster, options, decisions, previous);
  plan->FindOverused(cluster, policy, decisions);
  return plan;
}

void SessionPlan::KeepOn(Cluster& cluster, absl::Time now) const {
  for (const PassedOver& passed : passed_over_) {
    const GangId id = cluster.FindGang(passed.ns, passed.name);
    if (passed.until > now && id != model::kNone && cluster.gang(id).uid == passed.uid)
      cluster.PassOver(id, passed.until);
  }
  for (GangId id = 0; id < cluster.gang_slots(); ++id) {
    if (cluster.gang(id).claim.has_value()) cluster.Claim(id, std::nullopt);
  }
  for (const Claims& claims : claims_) {
    const GangId id = cluster.FindGang(claims.ns, claims.name);
    if (id != model::kNone && cluster.gang(id).uid == claims.uid) cluster.Claim(id, claims.claim);
  }
  if (!kept_.has_value()) return cluster.SetReservation(std::nullopt);
  const GangId id = cluster.FindGang(kept_->ns, kept_->name);
  if (id == model::kNone || cluster.gang(id).uid != kept_->uid) return cluster.SetReservation(std::nullopt);
  model::Reservation reservation{id, kept_->uid, {}};
  for (const Kept::Spot& spot : kept_->spots) {
    const model::Row row = cluster.FindNode(spot.node);
    if (row == model::kNone) return cluster.SetReservation(std::nullopt);  // looked for anew
    model::Resources amounts;
    for (const auto& [name, amount] : spot.amounts) {
      if (const model::Dim dim = cluster.dims().Find(name); dim != model::kNone) amounts.Set(dim, amount);
    }
    std::vector<model::HostPort> ports;
    for (const model::HostPortFacts& port : spot.ports) {
      // Where nobody names its protocol or address nobody has it.
      const int protocol = cluster.names().Find(port.protocol), ip = cluster.names().Find(port.ip);
      if (protocol != -1 && (port.ip.empty() || ip != -1))
        ports.push_back({protocol, port.ip.empty() ? -1 : ip, port.port});
    }
    reservation.nodes.spots.push_back({row, amounts, std::move(ports)});
  }
  reservation.nodes.ends = kept_->ends;
  reservation.nodes.start = kept_->start;
  reservation.nodes.expected = kept_->expected;
  reservation.nodes.found = kept_->found;
  reservation.nodes.since = kept_->since;
  cluster.SetReservation(std::move(reservation));
}

void SessionPlan::Take(const Cluster& cluster, const SessionPlanOptions& options, const Decisions& decisions,
                       const SessionPlan* previous) {
  nodes_ = cluster.present_nodes();
  std::vector<std::size_t> at(static_cast<std::size_t>(cluster.gang_slots()), 0);
  for (GangId id = 0; id < cluster.gang_slots(); ++id) {
    const Gang& gang = cluster.gang(id);
    for (const model::TaskId task : gang.tasks) {
      if (cluster.task(task).asks_for_room() && !cluster.task(task).uid.empty())
        node_by_task_[cluster.task(task).uid.text()];
    }
    if (!gang.known || gang.kind != model::GangKind::kVolcano) continue;
    at[static_cast<std::size_t>(id)] = gangs_.size() + 1;
    gangs_.push_back(Untold(cluster, id));
  }
  for (const Decision& decision : decisions) {
    look_again_ = std::min(look_again_, decision.look_again);
    NotePlaces(cluster, decision);
    NoteKept(cluster, decision);
    const std::size_t index = at[static_cast<std::size_t>(decision.gang)];
    if (index == 0) continue;
    PlannedGang& planned = gangs_[index - 1];
    Judge(cluster, options, decision, planned);
    const Gang& gang = cluster.gang(decision.gang);
    planned.pinned =
        previous == nullptr || planned.verdict != Verdict::kPlaced || !previous->PlacedInVain(cluster, gang);
  }
  std::sort(gangs_.begin(), gangs_.end(), [](const auto& a, const auto& b) { return a.job < b.job; });
}

void SessionPlan::NotePlaces(const Cluster& cluster, const Decision& decision) {
  const auto note = [&](const model::Placement& placement) {
    const auto waits = node_by_task_.find(cluster.task(placement.task).uid.text());
    if (waits == node_by_task_.end() || placement.row == model::kNone) return;
    placed_ += waits->second.empty() ? 1 : 0;
    waits->second = std::string(cluster.node_name(placement.row));
  };
  if (decision.nominations.has_value()) std::for_each(decision.nominations->begin(), decision.nominations->end(), note);
  std::for_each(decision.placements.begin(), decision.placements.end(), note);
}

void SessionPlan::NoteKept(const Cluster& cluster, const Decision& decision) {
  const Gang& gang = cluster.gang(decision.gang);
  if (decision.passed_over_until != absl::InfinitePast())
    passed_over_.push_back({gang.ns, gang.name, gang.uid, decision.passed_over_until});
  else if (gang.passed_over_until > made_)
    passed_over_.push_back({gang.ns, gang.name, gang.uid, gang.passed_over_until});
  if (decision.claim.has_value()) claims_.push_back({gang.ns, gang.name, gang.uid, *decision.claim});
  if (!decision.kept.has_value()) return;
  const model::KeptNodes& nodes = *decision.kept;
  kept_ = Kept{gang.ns, gang.name, gang.uid, {}, nodes.ends, nodes.start, nodes.expected, nodes.found, nodes.since};
  for (const model::KeptNodes::Spot& spot : nodes.spots) {
    Kept::Spot& named = kept_->spots.emplace_back();
    named.node = std::string(cluster.node_name(spot.row));
    for (const model::HostPort& port : spot.ports) {
      named.ports.push_back({std::string(cluster.names().Text(port.protocol)),
                             port.ip == -1 ? "" : std::string(cluster.names().Text(port.ip)), port.port});
    }
    for (model::Dim dim = 0; dim < spot.amounts.size(); ++dim) {
      if (spot.amounts[dim] != 0) named.amounts.emplace_back(cluster.dims().Name(dim), spot.amounts[dim]);
    }
  }
}

// volcano: plugins/proportion, OverusedFn; plugins/capacity has none
void SessionPlan::FindOverused(const Cluster& cluster, const gang::Policy& policy, const Decisions& decisions) {
  if (policy.sharing != gang::Sharing::kByWeight) return;
  const gang::QueueTree tree(cluster);
  const gang::Shares shares(cluster, tree, policy.sharing);
  absl::flat_hash_set<model::QueueId> served;
  for (const Decision& decision : decisions) {
    if (!decision.placements.empty() || !decision.evicted.empty() || decision.nominations.has_value())
      served.insert(cluster.gang(decision.gang).queue);
  }
  for (model::QueueId id = 0; id < cluster.queue_slots(); ++id) {
    const model::Queue& queue = cluster.queue(id);
    if (!queue.known || served.contains(id) || queue.held.zero()) continue;
    bool overused = true;
    for (model::Dim dim = 0; dim < cluster.dims().count() && overused; ++dim)
      overused = shares.Deserved(id, dim) <= shares.Held(id, dim);
    if (overused) overused_.insert(queue.name);
  }
}

bool SessionPlan::PlacedInVain(const Cluster& cluster, const Gang& gang) const {
  const PlannedGang* const before = Find(model::KeyOf(gang.ns, gang.name));
  if (before == nullptr || before->uid != gang.uid || before->verdict != Verdict::kPlaced) return false;
  return std::any_of(gang.tasks.begin(), gang.tasks.end(), [&](model::TaskId task) {
    return cluster.task(task).asks_for_room() && !NodeOf(cluster.task(task).uid.text()).empty();
  });
}

const PlannedGang* SessionPlan::Find(absl::string_view job) const {
  const auto at = std::lower_bound(gangs_.begin(), gangs_.end(), job,
                                   [](const PlannedGang& gang, absl::string_view name) { return gang.job < name; });
  return at == gangs_.end() || at->job != job ? nullptr : &*at;
}

std::vector<const PlannedGang*> SessionPlan::Unsettled() const {
  std::vector<const PlannedGang*> unsettled;
  for (const PlannedGang& gang : gangs_) {
    if (gang.let_in && gang.verdict == Verdict::kSettled) continue;
    if (unsettled.size() == kMaxUnsettled) break;
    unsettled.push_back(&gang);
  }
  return unsettled;
}

Vote SessionPlan::JobEnqueueable(absl::string_view job) const {
  const PlannedGang* const gang = Find(job);
  return gang == nullptr || gang->let_in ? Vote::kAbstain : Vote::kReject;
}

bool SessionPlan::MayStart(absl::string_view job) const {
  const PlannedGang* const gang = Find(job);
  return gang == nullptr || gang->may_start;
}

absl::string_view SessionPlan::NodeOf(absl::string_view task_uid) const {
  const auto at = node_by_task_.find(task_uid);
  return at == node_by_task_.end() ? absl::string_view() : absl::string_view(at->second);
}

PredicateAnswer SessionPlan::Predicate(absl::string_view job, absl::string_view task_uid,
                                       absl::string_view node) const {
  const PlannedGang* const gang = Find(job);
  if (gang == nullptr || gang->verdict == Verdict::kNotJudged || !gang->pinned) return {};
  const auto at = node_by_task_.find(task_uid);
  if (at == node_by_task_.end() || at->second == node) return {};
  if (!at->second.empty()) return {false, absl::StrCat("its gang is placed with this pod on ", at->second)};
  return {false, gang->why.empty() ? "its gang has no room for this pod" : gang->why};
}

VictimsAnswer SessionPlan::Victims(EvictAction action, absl::string_view job,
                                   absl::Span<const absl::string_view> offered_uids) const {
  const PlannedGang* const gang = Find(job);
  if (gang == nullptr || gang->verdict == Verdict::kNotJudged) return {};
  VictimsAnswer answer{Vote::kReject, {}};
  const model::EvictFor purpose =
      action == EvictAction::kPreempt ? model::EvictFor::kPriority : model::EvictFor::kShare;
  if (gang->evict_for != purpose) return answer;
  for (std::size_t i = 0; i < offered_uids.size(); ++i) {
    if (std::binary_search(gang->victims.begin(), gang->victims.end(), offered_uids[i])) answer.victims.push_back(i);
  }
  if (!answer.victims.empty()) answer.vote = Vote::kPermit;
  return answer;
}

}  // namespace gangway::extender
