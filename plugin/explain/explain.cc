#include "plugin/explain/explain.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "plugin/gang/constraint/asks.h"
#include "plugin/gang/constraint/resources.h"
#include "plugin/gang/minimum.h"
#include "plugin/gang/nobody_leaves.h"
#include "plugin/gang/overlay.h"
#include "plugin/gang/queue_tree.h"
#include "plugin/gang/resting.h"
#include "plugin/gang/shares.h"
#include "plugin/gang/usable.h"
#include "plugin/phrases/phrases.h"

namespace gangway::explain {

using model::AmountText;
using model::Cluster;
using model::Decision;
using model::Decisions;
using model::Dim;
using model::Gang;
using model::GangId;
using model::NamedAmounts;
using model::QueueId;
using model::Reason;
using model::Resources;
using model::Row;
using model::ShapeId;
using model::Task;
using model::TaskId;
using model::TaskStatus;
using model::TimeText;

namespace {

// cpu and memory first, then by name: the numbers of dimensions depend on the order of events.
auto DimOrder(absl::string_view dim) {
  return std::tuple(dim == "cpu" ? 0 : dim == "memory" ? 1 : 2, std::string(dim));
}

NamedAmounts Named(const Cluster& cluster, const Resources& amounts) {
  NamedAmounts out;
  for (Dim dim = 0; dim < amounts.size(); ++dim) {
    if (amounts[dim] > 0 && dim != model::kPods) out.emplace_back(std::string(cluster.dims().Name(dim)), amounts[dim]);
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return DimOrder(a.first) < DimOrder(b.first); });
  return out;
}

GangKey KeyOf(const Gang& gang) { return {gang.ns, gang.name, gang.kind}; }

// Decisions by gang.
class Decided {
 public:
  explicit Decided(const Decisions& decisions) : list_(decisions) {
    for (const Decision& decision : decisions) by_gang_.emplace(decision.gang, &decision);
  }
  const Decisions& list() const { return list_; }
  // nullptr: nothing is decided of it.
  const Decision* Find(GangId gang) const {
    const auto found = by_gang_.find(gang);
    return found == by_gang_.end() ? nullptr : found->second;
  }

 private:
  const Decisions& list_;
  absl::flat_hash_map<GangId, const Decision*> by_gang_;
};

bool HasNode(const Task& task) {
  return task.status == TaskStatus::kBinding || task.status == TaskStatus::kBound ||
         task.status == TaskStatus::kRunning || task.status == TaskStatus::kSucceeded;
}

// What it may still get from us.
bool LooksForNode(const Task& task) { return task.status == TaskStatus::kPending && task.ours; }

bool HasEnded(const Gang& gang) {
  if (gang.phase == model::GangPhase::kCompleted) return true;
  const auto ended = static_cast<std::size_t>(gang.Count(TaskStatus::kSucceeded) + gang.Count(TaskStatus::kFailed));
  return gang.admitted && !gang.tasks.empty() && ended == gang.tasks.size() && gang.Count(TaskStatus::kFailed) == 0;
}

struct Verdict {
  State state = State::kWaits;
  std::optional<Reason> reason;
};

Verdict Judge(const Cluster& cluster, const Gang& gang, const Decision* decision) {
  if (HasEnded(gang)) return {State::kEnded, std::nullopt};
  if (decision == nullptr) {
    // With all its pods placed, or none made.
    if (std::optional<Reason> reason = gang::WhyNotTried(cluster, gang);
        reason.has_value() && gang.ready() < gang.min_member)
      return {State::kWaits, std::move(reason)};
    return {State::kRuns, std::nullopt};
  }
  if (decision->short_of_minimum)
    return {gang.admitted || decision->admit ? State::kWaits : State::kQueued, decision->reason};
  if (!gang.admitted) return {State::kStarts, decision->reason};
  if (!decision->placements.empty() && !gang::HasMinimum(cluster, gang)) return {State::kStarts, decision->reason};
  if (decision->reason.has_value() || !decision->placements.empty()) return {State::kRunsPartly, decision->reason};
  return {State::kRuns, std::nullopt};
}

std::vector<Spot> SpotsOf(const std::map<std::pair<std::string, std::string>, int>& counts) {
  std::vector<Spot> out;
  for (const auto& [key, pods] : counts) out.push_back({key.first, key.second, pods});
  return out;
}

// Where its pods are, and where the next round puts others.
std::vector<Spot> Places(const Cluster& cluster, const Gang& gang, const Decision* decision) {
  std::map<std::pair<std::string, std::string>, int> counts;
  const auto count = [&](Row row, const Task& task) {
    ++counts[{std::string(cluster.node_name(row)), std::string(cluster.names().Text(task.role))}];
  };
  for (const TaskId id : gang.tasks) {
    const Task& task = cluster.task(id);
    if (task.holds_room()) count(task.row, task);
  }
  if (decision != nullptr) {
    for (const model::Placement& placement : decision->placements) count(placement.row, cluster.task(placement.task));
  }
  return SpotsOf(counts);
}

std::size_t NodesOf(const std::vector<Spot>& spots) {
  std::set<std::string> nodes;
  for (const Spot& spot : spots) nodes.insert(spot.node);
  return nodes.size();
}

// A sum that is too large. A reader compares its numbers with what they have: what is promised is told beside what is
// held, which is never more than there is because of it.
Words SumsText(const Cluster& cluster, const Reason& reason) {
  const bool of_cluster = reason.kind == Reason::Kind::kClusterFull, of_quota = reason.kind == Reason::Kind::kQuotaFull;
  const QueueId queue = of_cluster || of_quota ? model::kNone : FindQueue(cluster, reason.subject.English());
  const Resources held_in_all =
      of_cluster || queue == model::kNone ? cluster.used() : gang::QueueTree(cluster).held(queue);
  std::vector<Words> sums;
  for (const model::SumLack& sum : reason.sums) {
    const std::int64_t held =
        of_quota ? sum.in_use : std::min(held_in_all[std::max(cluster.dims().Find(sum.dim), 0)], sum.in_use);
    const std::int64_t room = std::max<std::int64_t>(sum.limit - sum.in_use, 0);
    const auto text = [&](std::int64_t amount) { return AmountText(sum.dim, amount); };
    if (of_cluster && sum.capacity == 0) {
      sums.emplace_back(phrases::kNoNodeHas, sum.dim, text(sum.needed));
      continue;
    }
    Words use = of_cluster ? Words(phrases::kPodsHold, text(held), text(sum.capacity))
                           : Words(of_quota ? phrases::kQuotaCounts : phrases::kQueueHolds, reason.subject, text(held),
                                   text(sum.limit));
    if (sum.in_use > held) use.Add({phrases::kMorePromised, text(sum.in_use - held)});
    if (room >= sum.needed && !reason.kept_for.empty()) {
      sums.emplace_back(phrases::kIsKept, sum.dim, text(sum.needed), std::move(use), reason.kept_for);
      continue;
    }
    if (of_cluster) use.Add({phrases::kLetInUpToSum, text(sum.limit)});
    sums.emplace_back(phrases::kTooMany, sum.dim, text(sum.needed), std::move(use), text(sum.needed - room));
  }
  Words text = Words::Joined(std::move(sums), phrases::kSemicolon);
  const int ends = reason.kind == Reason::Kind::kQueueFull ? reason.kept_until_ends : 0;
  if (ends > 0) text.Add(phrases::kQueueKept).Add({phrases::kUntilEnd(ends), ends});
  return text;
}

std::vector<Evicted> EvictedBy(const Cluster& cluster, const Decision& decision) {
  std::map<std::string, Evicted> by_gang;
  for (const TaskId id : decision.evicted) {
    const Task& task = cluster.task(id);
    const Gang& gang = cluster.gang(task.gang);
    Evicted& evicted = by_gang[KeyOf(gang).ToString()];
    evicted.gang = KeyOf(gang);
    evicted.queue = cluster.queue(gang.queue).name;
    evicted.priority = cluster.PriorityOf(gang);
    evicted.of = static_cast<int>(gang.tasks.size());
    evicted.pods.emplace_back(task.name);
  }
  std::vector<Evicted> out;
  for (auto& [name, evicted] : by_gang) out.push_back(std::move(evicted));
  return out;
}

// "2 pods of ads/low and 1 pod of ads/other"
Words EvictedText(const Cluster& cluster, const Decision& decision) {
  std::vector<Words> parts;
  for (const Evicted& evicted : EvictedBy(cluster, decision)) {
    parts.emplace_back(phrases::kPodsOf, Counted(static_cast<std::int64_t>(evicted.pods.size()), phrases::kPods),
                       evicted.gang.ToString());
  }
  return Words::Joined(std::move(parts), phrases::kAnd);
}

// Where nodes are kept for it, and all pods that must end there say how long they may run, or others took before.
Words StartText(const Decision* decision) {
  if (decision == nullptr || !decision->kept.has_value()) return {};
  Words text;
  if (decision->kept->start != absl::InfiniteFuture())
    text.Add({phrases::kMustHaveEnded, TimeText(decision->kept->start)});
  if (decision->kept->expected < decision->kept->start)
    text.Add({phrases::kLikelyHaveEnded, TimeText(decision->kept->expected)});
  return text;
}

// From what it is known, when all of its pods that hold room say so; and how long others took before it.
Words EndText(const Cluster& cluster, const Gang& gang) {
  absl::Time said = absl::InfinitePast(), began = absl::InfinitePast();
  for (const TaskId id : gang.tasks) {
    const Task& task = cluster.task(id);
    if (!task.holds_room()) continue;
    said = std::max(said, absl::Time(task.departure().ends));
    began = std::max(began, absl::Time(task.started));
  }
  Words text;
  if (said != absl::InfinitePast() && said != absl::InfiniteFuture())
    text.Add({phrases::kEndsAsItSays, TimeText(said)});
  const model::PastRuns& past = gang.past_runs;
  if (past.runs > 0 && began != absl::InfinitePast()) {
    text.Add({phrases::kEndsAsBefore, Counted(past.runs, phrases::kLastRuns), absl::FormatDuration(past.longest),
              TimeText(began + past.longest)});
  }
  return text;
}

Words WaitsText(const Cluster& cluster, const Verdict& verdict, const Decision* decision) {
  if (!verdict.reason.has_value()) return phrases::kWaits;
  if (verdict.state == State::kQueued && !verdict.reason->sums.empty())
    return {phrases::kIsNotLetIn, SumsText(cluster, *verdict.reason)};
  Words text = model::Tell(*verdict.reason);
  if (verdict.state == State::kQueued) text = {phrases::kIsNotLetInAnd, text};
  if (decision != nullptr && !decision->evicted.empty()) {
    const bool moves = decision->evict_for == model::EvictFor::kRoom;
    text.Add({moves ? phrases::kNextRoundMoves : phrases::kNextRoundEvicts, EvictedText(cluster, *decision),
              EvictedForText(decision->evict_for)});
  }
  return text.Add(StartText(decision));
}

// Of one that holds room: the disruption budgets that would not let it go as a whole.
Words BudgetText(const Cluster& cluster, const Gang& gang) {
  if (!cluster.has_budgets()) return {};
  // By name: how many it lets go, and of how many of the gang's pods it is.
  std::map<std::string, std::pair<int, int>> budgets;
  for (const TaskId id : gang.tasks) {
    if (!cluster.task(id).holds_room()) continue;
    for (const model::BudgetFacts* const budget : cluster.BudgetsOf(id)) {
      budgets.try_emplace(budget->name, budget->allowed, 0).first->second.second += 1;
    }
  }
  Words text;
  for (const auto& [name, counts] : budgets) {
    const auto& [allowed, pods] = counts;
    if (allowed < pods) text.Add({phrases::kBudgetLets, name, allowed, Counted(pods, phrases::kPods)});
  }
  return text;
}

// Of one for which nobody goes, though its queue holds less than its share.
Words NobodyLeavesText(const Cluster& cluster, const Gang& gang, const gang::NobodyLeaves& leaves) {
  const auto text = [&](Words why) {
    return Words(phrases::kNobodyLeaves, cluster.queue(gang.queue).name, std::move(why));
  };
  switch (leaves.why) {
    case gang::NobodyLeaves::Why::kNothingIsTakenBack:
      return text(phrases::kNothingIsTakenBack);
    case gang::NobodyLeaves::Why::kEvictsNever:
      return text(phrases::kEvictsNever);
    case gang::NobodyLeaves::Why::kNobodyIsAbove:
      return text(phrases::kNobodyIsAbove);
    case gang::NobodyLeaves::Why::kNoneGoes:
      break;
  }
  std::vector<Words> parts;
  const auto add = [&](int gangs, const CountedPhrase& how) {
    if (gangs > 0) parts.push_back(Counted(gangs, how));
  };
  add(leaves.never, phrases::kMayNeverLeave);
  add(leaves.kept_by_queue, phrases::kKeptByItsQueue);
  add(leaves.kept_by_budget, phrases::kKeptByBudget);
  add(leaves.later, phrases::kMayLeaveLater);
  add(leaves.dear, phrases::kIsTooDear);
  add(leaves.could_go, leaves.fits_then ? phrases::kAllAreTooDear : phrases::kNoRoomEvenSo);
  return text({phrases::kOfThoseAbove, Counted(leaves.above, phrases::kGangs),
               Words::Joined(std::move(parts), phrases::kComma)});
}

// Whose volume is being made, of pods that start: the scheduler has given them nodes, and no object but their claims
// says so. kNone: nobody's.
model::ClaimId AwaitedClaim(const Cluster& cluster, const Verdict& verdict, const Decision* decision) {
  if (verdict.state != State::kStarts) return model::kNone;
  for (const model::Placement& placement : decision->placements) {
    for (const model::ClaimId claim : cluster.shape(cluster.task(placement.task).shape).claims) {
      if (!cluster.volumes().MadeFor(claim).empty()) return claim;
    }
  }
  return model::kNone;
}

Words SentenceOf(const Cluster& cluster, const Gang& gang, const Verdict& verdict, const Decision* decision) {
  const Words pods = Counted(static_cast<std::int64_t>(gang.tasks.size()), phrases::kPods);
  const auto where = [&] {
    const auto nodes = static_cast<std::int64_t>(NodesOf(Places(cluster, gang, decision)));
    return Words(phrases::kOnNodes, Counted(nodes, phrases::kNodes));
  };
  switch (verdict.state) {
    case State::kEnded:
      return phrases::kHasEnded;
    case State::kRuns:
      if (gang.tasks.empty()) return phrases::kAsksForNoPods;
      return Words(phrases::kRuns, gang.ready(), pods, gang.min_member, where())
          .Add(EndText(cluster, gang))
          .Add(BudgetText(cluster, gang));
    case State::kRunsPartly:
      return Words(phrases::kRunsWith, gang.ready(), pods, gang.min_member,
                   verdict.reason.has_value() ? model::Tell(*verdict.reason)
                                              : Words(phrases::kGetsMore, decision->placements.size()))
          .Add(BudgetText(cluster, gang));
    case State::kStarts:
      if (decision->placements.empty()) return phrases::kLetInNext;
      if (const model::ClaimId claim = AwaitedClaim(cluster, verdict, decision); claim != model::kNone)
        return {phrases::kVolumeIsMade, cluster.volumes().NameOf(claim), cluster.volumes().MadeFor(claim)};
      return {phrases::kStartsNext, Counted(static_cast<std::int64_t>(decision->placements.size()), phrases::kPods),
              where()};
    case State::kQueued:
    case State::kWaits:
      break;
  }
  return WaitsText(cluster, verdict, decision);
}

// What it waits for: of its pods without a node, or, while it has too few pods, of its minimum.
Resources Wanted(const Cluster& cluster, const Gang& gang) {
  Resources sum;
  for (const TaskId id : gang.tasks) {
    const Task& task = cluster.task(id);
    if (LooksForNode(task)) sum.Add(cluster.shape(task.shape).request);
  }
  if (!sum.zero() || !gang.has_min_resources) return sum;
  for (Dim dim = 0; dim < gang.min_resources.size(); ++dim)
    sum.Set(dim, std::max<std::int64_t>(gang.min_resources[dim] - gang.held[dim], 0));
  return sum;
}

GangLine LineOf(const Cluster& cluster, const Decided& decided, GangId id) {
  const Gang& gang = cluster.gang(id);
  const Decision* const decision = decided.Find(id);
  const Verdict verdict = Judge(cluster, gang, decision);
  GangLine line;
  line.gang = KeyOf(gang);
  line.queue = cluster.queue(gang.queue).name;
  line.state = verdict.state;
  line.sentence = SentenceOf(cluster, gang, verdict, decision);
  line.priority = cluster.PriorityOf(gang);
  line.min_member = gang.min_member;
  line.pods = static_cast<int>(gang.tasks.size());
  line.placed = gang.ready();
  line.holds = Named(cluster, gang.held);
  if (verdict.state != State::kEnded) line.asks = Named(cluster, Wanted(cluster, gang));
  return line;
}

// Whether the gang belongs to the queue, or to one below it.
bool IsIn(const gang::QueueTree& tree, const Gang& gang, QueueId queue) {
  const auto& path = tree.path(gang.queue);
  return std::find(path.begin(), path.end(), queue) != path.end();
}

// Who holds room; of `queue` and those below it unless it is kNone; but for `but`. Who holds most of `dim` first.
std::vector<GangLine> Holders(const Cluster& cluster, const Decided& decided, QueueId queue, GangId but, Dim dim) {
  const gang::QueueTree tree(cluster);
  std::vector<GangId> ids;
  for (GangId id = 0; id < cluster.gang_slots(); ++id) {
    const Gang& gang = cluster.gang(id);
    if (id == but || !gang.known || gang.held.zero() || (queue != model::kNone && !IsIn(tree, gang, queue))) continue;
    ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end(), [&](GangId a, GangId b) {
    const Gang& x = cluster.gang(a);
    const Gang& y = cluster.gang(b);
    if (x.held[dim] != y.held[dim]) return x.held[dim] > y.held[dim];
    return std::tie(x.ns, x.name, x.kind) < std::tie(y.ns, y.name, y.kind);
  });
  std::vector<GangLine> lines;
  for (const GangId id : ids) lines.push_back(LineOf(cluster, decided, id));
  return lines;
}

// The first thing that the reason says is lacking, or cpu.
Dim LackedBy(const Cluster& cluster, const std::optional<Reason>& reason) {
  Dim dim = -1;
  if (reason.has_value() && !reason->sums.empty()) dim = cluster.dims().Find(reason->sums.front().dim);
  if (reason.has_value() && dim < 0) {
    for (const model::RoleReason& role : reason->roles) {
      if (dim < 0 && !role.lacks.empty()) dim = cluster.dims().Find(role.lacks.front().dim);
    }
  }
  return dim < 0 ? model::kCpu : dim;
}

// What is promised to gangs that were let in, by queue and those above it.
std::map<QueueId, Resources> Promised(const Cluster& cluster, const gang::QueueTree& tree) {
  std::map<QueueId, Resources> out;
  for (const GangId id : cluster.awaiting_pods()) {
    const Gang& gang = cluster.gang(id);
    if (!gang.has_min_resources) continue;
    Resources missing;
    for (Dim dim = 0; dim < gang.min_resources.size(); ++dim)
      missing.Set(dim, std::max<std::int64_t>(gang.min_resources[dim] - gang.held[dim], 0));
    for (const QueueId level : tree.path(gang.queue)) out[level].Add(missing);
  }
  return out;
}

// What the queue and those below it held of late, by dimension; empty: that does not count.
std::vector<double> UsedBelow(const Cluster& cluster, const gang::QueueTree& tree, QueueId id) {
  std::vector<double> sum;
  for (const QueueId other : tree.deepest_first()) {
    const std::vector<QueueId>& path = tree.path(other);
    if (std::find(path.begin(), path.end(), id) == path.end()) continue;
    const std::vector<double>& used = cluster.queue(other).used;
    sum.resize(std::max(sum.size(), used.size()));
    for (std::size_t dim = 0; dim < used.size(); ++dim) sum[dim] += used[dim];
  }
  return sum;
}

// `asked`: told of even when the queue neither limits nor holds it.
QueueAccount AccountOf(const Cluster& cluster, const gang::Shares& shares, QueueId id, const Resources& asked) {
  const gang::QueueTree& tree = shares.tree();
  const model::Queue& queue = cluster.queue(id);
  QueueAccount out;
  out.name = queue.name;
  out.known = queue.known;
  out.open = queue.open;
  out.weight = queue.weight;
  out.priority = queue.priority;
  if (queue.parent != model::kNone) out.parent = cluster.queue(queue.parent).name;
  const Resources promised = Promised(cluster, tree)[id];
  const Resources& held = tree.held(id);
  const std::vector<double> used = UsedBelow(cluster, tree, id);
  const auto used_of = [&](Dim dim) -> std::optional<std::int64_t> {
    if (static_cast<std::size_t>(dim) >= used.size() || dim == model::kPods) return std::nullopt;
    return std::llround(used[static_cast<std::size_t>(dim)]);
  };
  for (Dim dim = 0; dim < cluster.dims().count(); ++dim) {
    QueueAmount amount;
    const std::int64_t capability = queue.Limit(dim);
    if (capability != model::kUnlimited) amount.capability = capability;
    amount.used = used_of(dim);
    const bool of_interest =
        dim != model::kPods && (asked[dim] > 0 || held[dim] > 0 || promised[dim] > 0 || amount.used.value_or(0) > 0);
    if (!amount.capability.has_value() && queue.guarantee[dim] == 0 && !of_interest) continue;
    amount.dim = std::string(cluster.dims().Name(dim));
    amount.guarantee = queue.guarantee[dim];
    amount.held = held[dim];
    amount.promised = promised[dim];
    amount.limit = tree.Limit(id, dim);
    const std::int64_t share = shares.Deserved(id, dim);
    if (dim != model::kPods && share < amount.limit && share < std::max(held[dim], shares.Asked(id, dim)))
      amount.share = share;
    out.amounts.push_back(std::move(amount));
  }
  std::sort(out.amounts.begin(), out.amounts.end(),
            [](const QueueAmount& a, const QueueAmount& b) { return DimOrder(a.dim) < DimOrder(b.dim); });
  return out;
}

std::vector<ClusterAmount> ClusterAmounts(const Cluster& cluster, const Resources& asked) {
  Resources of_gangs;
  for (GangId id = 0; id < cluster.gang_slots(); ++id) {
    for (const TaskId task : cluster.gang(id).tasks) {
      // What is held on nodes that are not there is no part of the total.
      if (cluster.task(task).holds_room() && cluster.present(cluster.task(task).row))
        of_gangs.Add(cluster.shape(cluster.task(task).shape).request);
    }
  }
  std::vector<ClusterAmount> out;
  for (Dim dim = 0; dim < cluster.dims().count(); ++dim) {
    if (dim == model::kPods || asked[dim] <= 0) continue;
    out.push_back({std::string(cluster.dims().Name(dim)), cluster.total()[dim], cluster.used()[dim],
                   std::max<std::int64_t>(cluster.used()[dim] - of_gangs[dim], 0)});
  }
  std::sort(out.begin(), out.end(),
            [](const ClusterAmount& a, const ClusterAmount& b) { return DimOrder(a.dim) < DimOrder(b.dim); });
  return out;
}

// The cluster as it is when the gang's turn comes.
void TakeWhatComesBefore(const Cluster& cluster, const Decisions& decisions, GangId gang, gang::Overlay& overlay) {
  overlay.Begin();
  for (const Decision& decision : decisions) {
    if (decision.gang == gang) break;
    for (const model::Placement& placement : decision.placements) {
      const ShapeId shape = cluster.task(placement.task).shape;
      overlay.Take(placement.row, shape, 1);
      overlay.TakeFromQueue(cluster.gang(decision.gang).queue, cluster.shape(shape).request);
    }
  }
  overlay.Keep();
}

// Nodes as one shape sees them.
class ShapeView {
 public:
  ShapeView(const Cluster& cluster, const gang::Overlay& overlay, ShapeId shape)
      : cluster_(cluster), overlay_(overlay), shape_(cluster.shape(shape)), asks_(overlay.AsksOf(shape)) {}

  std::vector<NodeGroup> Groups() const {
    std::map<std::tuple<std::string, bool, std::vector<Dim>>, std::vector<Row>> rows;
    for (Row row = 0; row < cluster_.rows(); ++row) {
      if (!cluster_.present(row)) continue;
      const absl::string_view obstacle = asks_.ObstacleAt(row);
      const bool room = obstacle == constraint::kResources;
      const std::vector<Dim> lacking = room ? Lacking(row, false) : std::vector<Dim>();
      const std::vector<Dim> for_good = room ? Lacking(row, true) : std::vector<Dim>();
      rows[{std::string(obstacle), !for_good.empty(), for_good.empty() ? lacking : for_good}].push_back(row);
    }
    const model::RoleReason reason = asks_.Explain(false);
    std::vector<NodeGroup> groups;
    for (const auto& [key, of_group] : rows)
      groups.push_back(GroupOf(std::get<0>(key), std::get<1>(key), std::get<2>(key), of_group, reason));
    std::sort(groups.begin(), groups.end(), [](const NodeGroup& a, const NodeGroup& b) {
      return std::tuple(!a.obstacle.empty(), b.nodes.size(), a.obstacle, a.words.English()) <
             std::tuple(!b.obstacle.empty(), a.nodes.size(), b.obstacle, b.words.English());
    });
    return groups;
  }

 private:
  // What one pod more lacks; for good: even on the empty node.
  std::vector<Dim> Lacking(Row row, bool for_good) const {
    std::vector<Dim> out;
    for (Dim dim = 0; dim < shape_.request.size(); ++dim) {
      const std::int64_t there = for_good ? cluster_.allocatable(row, dim) : overlay_.free(row, dim);
      if (shape_.request[dim] > 0 && there < shape_.request[dim]) out.push_back(dim);
    }
    return out;
  }

  NodeAmount AmountOf(Row row, Dim dim) const {
    const std::int64_t allocatable = cluster_.allocatable(row, dim);
    return {std::string(cluster_.dims().Name(dim)), shape_.request[dim],
            std::clamp<std::int64_t>(overlay_.free(row, dim), 0, std::max<std::int64_t>(allocatable, 0)), allocatable};
  }

  NodeGroup GroupOf(const std::string& obstacle, bool too_small, std::vector<Dim> dims, const std::vector<Row>& rows,
                    const model::RoleReason& reason) const {
    NodeGroup group;
    group.obstacle = obstacle;
    group.too_small = too_small;
    for (const Row row : rows) {
      group.nodes.emplace_back(cluster_.node_name(row));
      if (obstacle.empty() && !asks_.changes_beyond()) group.copies += asks_.At(row).copies;
    }
    if (obstacle.empty()) {
      for (Dim dim = 0; dim < shape_.request.size(); ++dim) {
        if (shape_.request[dim] > 0 && dim != model::kPods) dims.push_back(dim);
      }
    }
    std::sort(dims.begin(), dims.end(),
              [&](Dim a, Dim b) { return DimOrder(cluster_.dims().Name(a)) < DimOrder(cluster_.dims().Name(b)); });
    const Row example = Best(rows, dims, too_small);
    group.example = std::string(cluster_.node_name(example));
    for (const Dim dim : dims) group.amounts.push_back(AmountOf(example, dim));
    group.words = WordsOf(group, static_cast<int>(rows.size()), reason);
    std::sort(group.nodes.begin(), group.nodes.end());
    return group;
  }

  // Who comes nearest to what is asked; the name ends ties.
  Row Best(const std::vector<Row>& rows, const std::vector<Dim>& dims, bool too_small) const {
    return *std::min_element(rows.begin(), rows.end(), [&](Row a, Row b) {
      for (const Dim dim : dims) {
        const std::int64_t x = too_small ? cluster_.allocatable(a, dim) : overlay_.free(a, dim);
        const std::int64_t y = too_small ? cluster_.allocatable(b, dim) : overlay_.free(b, dim);
        if (x != y) return x > y;
      }
      return cluster_.node_name(a) < cluster_.node_name(b);
    });
  }

  static Words WordsOf(const NodeGroup& group, int nodes, const model::RoleReason& reason) {
    if (group.obstacle.empty()) return phrases::kHasRoom(nodes);
    if (!group.amounts.empty()) {
      std::vector<Words> dims;
      for (const NodeAmount& amount : group.amounts) dims.push_back(Words::Name(amount.dim));
      return {group.too_small ? phrases::kIsTooSmall(nodes) : phrases::kLacks(nodes),
              Words::Joined(std::move(dims), phrases::kAnd)};
    }
    for (const model::Hindrance& hindrance : reason.hindrances) {
      if (hindrance.constraint != group.obstacle) continue;
      return hindrance.detail.empty() ? hindrance.words : Words(phrases::kSoMore, hindrance.words, hindrance.detail);
    }
    return {phrases::kKeptBy(nodes), group.obstacle};
  }

  const Cluster& cluster_;
  const gang::Overlay& overlay_;
  const model::Shape& shape_;
  const constraint::Asks& asks_;
};

}  // namespace

Words EvictedForText(model::EvictFor what_for) {
  switch (what_for) {
    case model::EvictFor::kPriority:
      return phrases::kForItsPriority;
    case model::EvictFor::kShare:
      return phrases::kForItsShare;
    case model::EvictFor::kRoom:
      return phrases::kForItsRoom;
    case model::EvictFor::kLost:
      return phrases::kSinceItLostAMember;
    case model::EvictFor::kNobody:
      break;
  }
  return {};
}

Words Counted(std::int64_t count, const CountedPhrase& things) { return {things(count), count}; }

Words AmountsText(const NamedAmounts& amounts) {
  if (amounts.empty()) return phrases::kNothing;
  return Words::Name(absl::StrJoin(amounts, ", ", [](std::string* out, const auto& amount) {
    absl::StrAppend(out, amount.first, " ", AmountText(amount.first, amount.second));
  }));
}

absl::string_view NameOf(State state) {
  switch (state) {
    case State::kQueued:
      return "queued";
    case State::kWaits:
      return "waiting";
    case State::kStarts:
      return "starting";
    case State::kRunsPartly:
      return "running-partly";
    case State::kRuns:
      return "running";
    case State::kEnded:
      return "ended";
  }
  return "unknown";
}

std::vector<Ask> AsksOf(const Cluster& cluster, GangId id) {
  const Gang& gang = cluster.gang(id);
  std::map<std::pair<std::string, NamedAmounts>, Ask> asks;
  const gang::Overlay overlay(cluster);
  for (const TaskId task_id : gang.tasks) {
    const Task& task = cluster.task(task_id);
    const std::string role(cluster.names().Text(task.role));
    const NamedAmounts requests = Named(cluster, cluster.shape(task.shape).request);
    Ask& ask = asks[{role, requests}];
    ask.role = role;
    ask.requests = requests;
    ++ask.pods;
    ask.placed += HasNode(task) ? 1 : 0;
    // A pod that has a node tells only of what it takes there.
    if (ask.wants.empty() && LooksForNode(task)) ask.wants = overlay.AsksOf(task.shape).Explain(false).asks;
    if (!gang::RolesCount(gang)) continue;
    for (const auto& [of_role, count] : gang.min_task_member) ask.min = of_role == task.role ? count : ask.min;
  }
  std::vector<Ask> out;
  for (auto& [key, ask] : asks) out.push_back(std::move(ask));
  return out;
}

std::vector<RoleNodes> NodesFor(const Cluster& cluster, const Decisions& decisions, GangId id) {
  gang::Overlay overlay(cluster);
  TakeWhatComesBefore(cluster, decisions, id, overlay);
  std::map<std::pair<std::string, std::string>, std::pair<ShapeId, int>> shapes;  // by role and what is asked
  for (const TaskId task_id : cluster.gang(id).tasks) {
    const Task& task = cluster.task(task_id);
    if (!LooksForNode(task)) continue;
    auto& entry = shapes[{std::string(cluster.names().Text(task.role)), cluster.shape(task.shape).key}];
    entry.first = task.shape;
    ++entry.second;
  }
  std::vector<RoleNodes> out;
  for (const auto& [key, shape] : shapes)
    out.push_back({key.first, shape.second, ShapeView(cluster, overlay, shape.first).Groups()});
  return out;
}

Explanation ExplainGang(const Cluster& cluster, const Decisions& decisions, GangId id, const gang::Policy& policy,
                        absl::Time now) {
  const Gang& gang = cluster.gang(id);
  const Decided decided(decisions);
  const Decision* const decision = decided.Find(id);
  Verdict verdict = Judge(cluster, gang, decision);
  Explanation out;
  out.gang = KeyOf(gang);
  out.state = verdict.state;
  out.sentence = SentenceOf(cluster, gang, verdict, decision);
  if (verdict.state == State::kWaits && verdict.reason.has_value() && verdict.reason->kind == Reason::Kind::kNoRoom) {
    const std::optional<model::Resting> resting = gang::FindResting(cluster, policy, now, id);
    if (resting.has_value()) out.sentence.Add(model::Tell(*resting));
    const std::optional<gang::NobodyLeaves> leaves = gang::WhyNobodyLeaves(cluster, policy, now, id);
    if (leaves.has_value()) out.sentence.Add(NobodyLeavesText(cluster, gang, *leaves));
  }
  out.admitted = gang.admitted;
  out.awaits_volume = AwaitedClaim(cluster, verdict, decision) != model::kNone;
  out.min_member = gang.min_member;
  out.pods = static_cast<int>(gang.tasks.size());
  out.placed = gang.ready();
  if (gang.priority_class != model::kNone) out.priority_class = std::string(cluster.names().Text(gang.priority_class));
  out.priority = cluster.PriorityOf(gang);
  out.asks = AsksOf(cluster, id);
  out.nodes = NodesFor(cluster, decisions, id);
  out.cluster_nodes = cluster.present_nodes();
  Resources asked = Wanted(cluster, gang);
  asked.Add(gang.held);
  out.cluster = ClusterAmounts(cluster, asked);
  const gang::QueueTree tree(cluster);
  out.queue = AccountOf(cluster, gang::Shares(cluster, tree, policy.sharing), gang.queue, asked);
  if (decision != nullptr) {
    out.evicted = EvictedBy(cluster, *decision);
    out.evict_for = decision->evict_for;
    for (const Decision& other : decisions) {
      if (other.gang == id) break;
      out.before.push_back(LineOf(cluster, decided, other.gang));
    }
  }
  out.holders = Holders(cluster, decided, model::kNone, id, LackedBy(cluster, verdict.reason));
  out.spots = Places(cluster, gang, decision);
  out.reason = std::move(verdict.reason);
  return out;
}

Outcome OutcomeOf(const Cluster& cluster, const Decisions& decisions, GangId id) {
  const Gang& gang = cluster.gang(id);
  const Decided decided(decisions);
  const Decision* const decision = decided.Find(id);
  const Verdict verdict = Judge(cluster, gang, decision);
  const std::size_t placed = decision == nullptr ? 0 : decision->placements.size();
  Outcome out;
  out.let_in = gang.admitted || (decision != nullptr && decision->admit);
  out.at_once = verdict.state == State::kRuns || verdict.state == State::kRunsPartly ||
                (verdict.state == State::kStarts && (placed > 0 || gang::HasMinimum(cluster, gang)));
  out.starts = out.at_once || (verdict.reason.has_value() && verdict.reason->kind == Reason::Kind::kRoomAwaited);
  out.complete = out.at_once && !verdict.reason.has_value() &&
                 placed == static_cast<std::size_t>(gang.Count(TaskStatus::kPending));
  if (out.starts && decision != nullptr && !decision->evicted.empty()) out.evicts = EvictedText(cluster, *decision);
  out.sentence = SentenceOf(cluster, gang, verdict, decision);
  out.spots = Places(cluster, gang, decision);
  return out;
}

QueueId FindQueue(const Cluster& cluster, absl::string_view name) {
  for (QueueId id = 0; id < cluster.queue_slots(); ++id) {
    const model::Queue& queue = cluster.queue(id);
    if (queue.name == name && (queue.known || queue.gangs > 0 || queue.children > 0)) return id;
  }
  return model::kNone;
}

QueueExplanation ExplainQueue(const Cluster& cluster, const Decisions& decisions, QueueId id, gang::Sharing sharing) {
  const Decided decided(decisions);
  QueueExplanation out;
  const gang::QueueTree tree(cluster);
  const gang::Shares shares(cluster, tree, sharing);
  out.queue = AccountOf(cluster, shares, id, cluster.total());
  for (QueueId other = 0; other < cluster.queue_slots(); ++other) {
    if (cluster.queue(other).parent == id && other != id)
      out.children.push_back(AccountOf(cluster, shares, other, cluster.total()));
  }
  std::sort(out.children.begin(), out.children.end(),
            [](const QueueAccount& a, const QueueAccount& b) { return a.name < b.name; });
  out.holders = Holders(cluster, decided, id, model::kNone, model::kCpu);
  for (const Decision& decision : decisions) {
    if (IsIn(tree, cluster.gang(decision.gang), id)) out.waiting.push_back(LineOf(cluster, decided, decision.gang));
  }
  // Let in, and without a pod: nothing is decided of them.
  for (const GangId gang : cluster.awaiting_pods()) {
    if (IsIn(tree, cluster.gang(gang), id) && decided.Find(gang) == nullptr)
      out.waiting.push_back(LineOf(cluster, decided, gang));
  }
  const auto holders = static_cast<std::int64_t>(out.holders.size()),
             waiting = static_cast<std::int64_t>(out.waiting.size());
  out.sentence = {phrases::kQueueStands(holders),
                  !out.queue.known ? phrases::kIsNotThere
                  : out.queue.open ? phrases::kIsOpen
                                   : phrases::kIsClosed,
                  Counted(holders, phrases::kGangs), Words(phrases::kWait(waiting), waiting)};
  return out;
}

}  // namespace gangway::explain
