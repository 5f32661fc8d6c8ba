#include "plugin/gang/shares.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "plugin/gang/lost_member.h"

namespace gangway::gang {

using model::Dim;
using model::Gang;
using model::GangId;
using model::kNone;
using model::Queue;
using model::QueueId;
using model::Resources;

namespace {

__extension__ using Wide = __int128;

// What the gang's queue is said to hold for pods that it lost (nominated_room.h), and that nobody asks for yet.
Resources LostAndNotMadeAgain(const model::Cluster& cluster, GangId id) {
  Resources lost;
  const Gang& gang = cluster.gang(id);
  if (cluster.lost_room().empty() || !HasLostMember(cluster, gang)) return lost;
  for (const model::LostRoom* const room : RoomLeftTo(cluster, id)) {
    if (cluster.FindTask(gang.ns, room->pod) == kNone) lost.Add(cluster.shape(room->shape).request);
  }
  return lost;
}

// Of a gang's pods those that are being deleted, and that nobody decided to evict.
absl::flat_hash_map<GangId, Resources> LeavingForGood(const model::Cluster& cluster) {
  absl::flat_hash_map<GangId, Resources> leaving;
  for (const model::TaskId id : cluster.terminating()) {
    const model::Task& task = cluster.task(id);
    if (task.gang != kNone && !task.evicted && !task.leaving) leaving[task.gang].Add(cluster.shape(task.shape).request);
  }
  return leaving;
}

// Of a * b / c, none of them negative.
std::int64_t PartOf(std::int64_t a, std::int64_t b, std::int64_t c) {
  return c == 0 ? 0 : static_cast<std::int64_t>(Wide{a} * b / c);
}

}  // namespace

// One of those that share something of one resource.
struct Shares::Child {
  std::int64_t* share;
  std::int64_t weight, least, most;  // least <= most
  double used = 0;
  bool settled = false;
};

namespace {

// Shares for which sum(shares) <= all and each is its weight times one level, within its least and its most; as if
// poured. Children whose bounds the level breaks are settled at them, those first that miss it on the side on which
// more is missed.
template <class Child>
void Pour(std::int64_t all, std::vector<Child>& children) {
  std::int64_t kept = 0, asked = 0;
  for (const Child& child : children) {
    kept += child.least;
    asked += child.most;
  }
  if (kept >= all || asked <= all) {
    for (Child& child : children) *child.share = asked <= all ? child.most : PartOf(all, child.least, kept);
    return;
  }
  std::int64_t left = all, weights = 0;
  for (const Child& child : children) weights += child.weight;
  for (bool settled = true; settled && weights > 0;) {
    Wide beyond_most = 0, below_least = 0;
    for (Child& child : children) {
      if (child.settled) continue;
      *child.share = PartOf(left, child.weight, weights);
      beyond_most += std::max<std::int64_t>(*child.share - child.most, 0);
      below_least += std::max<std::int64_t>(child.least - *child.share, 0);
    }
    settled = false;
    const bool at_most = beyond_most >= below_least;
    std::int64_t left_now = left, weights_now = weights;
    for (Child& child : children) {
      if (child.settled || !(at_most ? *child.share >= child.most : *child.share < child.least)) continue;
      child.settled = settled = true;
      *child.share = at_most ? child.most : child.least;
      left_now -= *child.share;
      weights_now -= child.weight;
    }
    left = std::max<std::int64_t>(left_now, 0);
    weights = weights_now;
  }
}

// What is left of a weight of one that used so much of what all used.
double PartLeft(double used, double all_used, double weight, double all_weights) {
  return std::exp2(-used / all_used * all_weights / weight);
}

// Lowers weights by what was used; 1 becomes Shares::kOne, so that little stays something.
template <class Child>
void LowerByUse(std::vector<Child>& children) {
  double all_used = 0, all_weights = 0;
  for (const Child& child : children) {
    if (child.most <= 0) continue;
    all_used += child.used;
    all_weights += static_cast<double>(child.weight);
  }
  if (all_used <= 0) return;
  for (Child& child : children) {
    const auto weight = static_cast<double>(child.weight);
    const double left = child.most <= 0 ? 1 : PartLeft(child.used, all_used, weight, all_weights);
    child.weight = std::max<std::int64_t>(std::llround(static_cast<double>(Shares::kOne) * weight * left), 1);
  }
}

}  // namespace

Shares::Shares(const model::Cluster& cluster, const QueueTree& tree, Sharing sharing)
    : cluster_(cluster), tree_(tree), dims_(cluster.dims().count()) {
  const std::size_t size = static_cast<std::size_t>(cluster.queue_slots()) * static_cast<std::size_t>(dims_);
  for (auto* const amounts : {&deserved_, &own_deserved_, &asked_, &own_asked_}) amounts->assign(size, 0);
  SumWhatIsAsked();
  Divide(sharing);
  if (sharing == Sharing::kAsWritten) LowerTurnsByUse();
}

void Shares::SumWhatIsAsked() {
  const absl::flat_hash_map<GangId, Resources> leaving = LeavingForGood(cluster_);
  for (const auto& [id, amounts] : leaving) {
    const QueueId queue = cluster_.gang(id).queue;
    for (Dim dim = 0; queue != kNone && dim < amounts.size(); ++dim) own_asked_[At(queue, dim)] -= amounts[dim];
  }
  const auto add = [&](GangId id) {
    const Gang& gang = cluster_.gang(id);
    const Resources lost = LostAndNotMadeAgain(cluster_, id);
    const auto goes = leaving.find(id);
    Resources stays = gang.held;
    if (goes != leaving.end()) stays.Subtract(goes->second);
    // All of its pods are deleted: most often it ends, and its PodGroup is about to go.
    const bool ends = goes != leaving.end() && stays.zero() && gang.Count(model::TaskStatus::kPending) == 0;
    for (Dim dim = 0; dim < dims_; ++dim) {
      std::int64_t asks = gang.asks[dim] + lost[dim];
      if (gang.has_min_resources && !ends) asks = std::max(asks, gang.min_resources[dim] - stays[dim]);
      if (asks > 0) own_asked_[At(gang.queue, dim)] += asks;
    }
  };
  for (const GangId id : cluster_.waiting()) add(id);
  for (const GangId id : cluster_.awaiting_pods()) {
    if (!cluster_.waiting().contains(id)) add(id);
  }
  for (const QueueId id : tree_.deepest_first()) {
    const Queue& queue = cluster_.queue(id);
    const QueueId parent = tree_.parent(id);
    for (Dim dim = 0; dim < dims_; ++dim) {
      own_asked_[At(id, dim)] += queue.held[dim];
      std::int64_t& asked = asked_[At(id, dim)];
      asked = std::min(asked + own_asked_[At(id, dim)], queue.Limit(dim));
      if (parent != kNone) asked_[At(parent, dim)] += asked;
    }
  }
}

// The most that each may have, by what is written.
std::vector<std::int64_t> Shares::Written() const {
  std::vector<std::int64_t> written(deserved_.size());
  for (const QueueId id : tree_.deepest_first()) {
    const Queue& queue = cluster_.queue(id);
    const QueueId parent = tree_.parent(id);
    for (const auto& [dim, amount] : queue.deserved) written[At(id, dim)] = amount;  // so far that of the queues below
    for (Dim dim = 0; dim < dims_; ++dim) {
      std::int64_t& amount = written[At(id, dim)];
      amount = std::min(amount, queue.Limit(dim));
      if (parent != kNone) written[At(parent, dim)] += amount;
    }
  }
  return written;
}

double Shares::UsedByOwn(QueueId queue, Dim dim) const {
  const std::vector<double>& used = cluster_.queue(queue).used;
  return static_cast<std::size_t>(dim) < used.size() ? used[static_cast<std::size_t>(dim)] : 0;
}

std::vector<double> Shares::UsedWithThoseBelow() const {
  std::vector<double> used(deserved_.size());
  for (const QueueId id : tree_.deepest_first()) {
    const QueueId parent = tree_.parent(id);
    for (Dim dim = 0; dim < dims_; ++dim) {
      used[At(id, dim)] += UsedByOwn(id, dim);
      if (parent != kNone) used[At(parent, dim)] += used[At(id, dim)];
    }
  }
  return used;
}

void Shares::Divide(Sharing sharing) {
  const bool by_weight = sharing == Sharing::kByWeight;
  const std::vector<std::int64_t> written = by_weight ? std::vector<std::int64_t>() : Written();
  const std::vector<std::int64_t>& most = by_weight ? asked_ : written;
  const std::vector<double> used = UsedWithThoseBelow();
  std::vector<QueueId> top_first(tree_.deepest_first().rbegin(), tree_.deepest_first().rend());
  std::vector<std::vector<QueueId>> below(top_first.size());
  std::vector<QueueId> top;
  for (const QueueId id : top_first) {
    const QueueId parent = tree_.parent(id);
    (parent == kNone ? top : below[static_cast<std::size_t>(parent)]).push_back(id);
  }
  std::vector<Child> children;
  const auto divide = [&](QueueId of, Dim dim, const std::vector<QueueId>& queues) {
    children.clear();
    for (const QueueId id : queues) {
      const std::int64_t least = std::min(Kept(id, dim), cluster_.queue(id).Limit(dim));
      const std::int64_t all = std::max(most[At(id, dim)], least);
      children.push_back(
          {&deserved_[At(id, dim)], by_weight ? cluster_.queue(id).weight : all, least, all, used[At(id, dim)]});
    }
    if (of != kNone && by_weight)
      children.push_back({&own_deserved_[At(of, dim)], 1, 0, own_asked_[At(of, dim)], UsedByOwn(of, dim)});
    if (by_weight) LowerByUse(children);
    Pour(of == kNone ? tree_.ToShare(dim) : Deserved(of, dim), children);
  };
  for (Dim dim = 0; dim < dims_; ++dim) {
    divide(kNone, dim, top);
    for (const QueueId id : top_first) {
      if (const auto& queues = below[static_cast<std::size_t>(id)]; !queues.empty()) {
        divide(id, dim, queues);
      } else {
        own_deserved_[At(id, dim)] = Deserved(id, dim);
      }
    }
  }
}

// Among queues beside each other, those that deserve something and those that do not each for themselves.
void Shares::LowerTurnsByUse() {
  const std::vector<double> used = UsedWithThoseBelow();
  if (std::all_of(used.begin(), used.end(), [](double amount) { return amount <= 0; })) return;
  due_ = deserved_;
  turn_weights_.resize(deserved_.size());
  struct Sums {
    double used = 0, weights = 0;
  };
  std::map<std::tuple<QueueId, Dim, bool>, Sums> sums;  // by the queue above
  const auto look = [&](auto visit) {
    for (const QueueId id : tree_.deepest_first()) {
      for (Dim dim = 0; dim < dims_; ++dim) {
        const bool deserves = Deserved(id, dim) > 0;
        const std::int64_t weight = deserves ? Deserved(id, dim) : cluster_.queue(id).weight;
        visit(At(id, dim), static_cast<double>(weight), sums[{tree_.parent(id), dim, deserves}], deserves);
      }
    }
  };
  look([&](std::size_t at, double weight, Sums& of, bool) {
    of.used += used[at];
    of.weights += weight;
  });
  look([&](std::size_t at, double weight, Sums& of, bool deserves) {
    const double left = of.used <= 0 ? weight : weight * PartLeft(used[at], of.used, weight, of.weights);
    const double scale = deserves ? 1 : static_cast<double>(kOne);
    (deserves ? due_ : turn_weights_)[at] = std::max<std::int64_t>(std::llround(scale * left), 1);
  });
}

}  // namespace gangway::gang
