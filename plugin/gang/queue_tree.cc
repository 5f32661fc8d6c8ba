#include "plugin/gang/queue_tree.h"

#include <algorithm>

namespace gangway::gang {

using model::Dim;
using model::kNone;
using model::QueueId;
using model::Resources;

namespace {

// What of so much is kept for others, of all that is kept for them and one that lies beside them: cut in proportion
// where it is more than there is, as the shares are (shares.h).
std::int64_t KeptForOthers(std::int64_t all, std::int64_t others, std::int64_t beside) {
  __extension__ using Wide = __int128;
  if (beside <= all) return others;
  return all <= 0 ? 0 : static_cast<std::int64_t>(Wide{all} * others / beside);
}

}  // namespace

bool QueueTree::InCircle(QueueId queue) const {
  QueueId at = cluster_.queue(queue).parent;
  for (int steps = cluster_.queue_slots(); at != kNone && steps > 0; --steps) {
    if (at == queue) return true;
    at = cluster_.queue(at).parent;
  }
  return false;
}

QueueTree::QueueTree(const model::Cluster& cluster)
    : cluster_(cluster), nodes_(static_cast<std::size_t>(cluster.queue_slots())), outside_(cluster.used()) {
  for (QueueId id = 0; id < cluster.queue_slots(); ++id) {
    Node& node = nodes_[static_cast<std::size_t>(id)];
    node.parent = InCircle(id) ? kNone : cluster.queue(id).parent;
    node.held = cluster.queue(id).held;
    outside_.Subtract(node.held);
    limits_ = limits_ || !cluster.queue(id).capability.empty() || !cluster.queue(id).guarantee.zero();
    deepest_first_.push_back(id);
  }
  for (const model::TaskId id : cluster.terminating()) {
    const model::Task& task = cluster.task(id);
    if (cluster.present(task.row) && (task.gang == kNone || cluster.gang(task.gang).queue == kNone))
      outside_going_.Add(cluster.shape(task.shape).request);
  }
  for (QueueId id = 0; id < cluster.queue_slots(); ++id) {
    for (QueueId at = id; at != kNone; at = At(at).parent) nodes_[static_cast<std::size_t>(id)].path.push_back(at);
  }
  int tops = 0;
  for (QueueId id = 0; id < cluster.queue_slots(); ++id) {
    const model::Queue& queue = cluster.queue(id);
    if (At(id).parent != kNone || (!queue.known && queue.children == 0 && queue.held.zero())) continue;
    above_all_ = ++tops == 1 ? id : kNone;
  }
  std::sort(deepest_first_.begin(), deepest_first_.end(),
            [&](QueueId a, QueueId b) { return path(a).size() > path(b).size(); });
  for (const QueueId id : deepest_first_) {
    Node& node = nodes_[static_cast<std::size_t>(id)];
    node.kept = node.kept_below;
    node.kept.RaiseTo(cluster.queue(id).guarantee);
    (node.parent == kNone ? kept_at_top_ : nodes_[static_cast<std::size_t>(node.parent)].kept_below).Add(node.kept);
    if (node.parent != kNone) nodes_[static_cast<std::size_t>(node.parent)].held.Add(node.held);
  }
}

std::int64_t QueueTree::Limit(QueueId queue, Dim dim) const {
  std::int64_t limit = cluster_.total()[dim];
  const std::vector<QueueId>& upwards = path(queue);
  for (auto at = upwards.rbegin(); at != upwards.rend(); ++at) {
    const Node& node = At(*at);
    const Resources& beside = node.parent == kNone ? kept_at_top_ : At(node.parent).kept_below;
    limit = std::min(limit - KeptForOthers(limit, beside[dim] - node.kept[dim], beside[dim]),
                     cluster_.queue(*at).Limit(dim));
  }
  return std::max<std::int64_t>(limit, 0);
}

std::int64_t QueueTree::Beside(std::int64_t held, Dim dim) const {
  const std::int64_t total = cluster_.total()[dim];
  return std::clamp<std::int64_t>(total - held, 0, total);
}

std::int64_t QueueTree::ToShare(Dim dim) const { return Beside(outside_[dim] - outside_going_[dim], dim); }

std::int64_t QueueTree::PlaceLimit(QueueId queue, Dim dim) const {
  const std::int64_t capability = cluster_.queue(queue).Limit(dim);
  if (kept_at_top_[dim] == 0) return capability;
  std::int64_t left = Beside(outside_[dim], dim);
  bool others = false;
  const std::vector<QueueId>& upwards = path(queue);
  for (auto at = upwards.rbegin(); at != upwards.rend(); ++at) {
    const Node& node = At(*at);
    const std::int64_t beside = (node.parent == kNone ? kept_at_top_ : At(node.parent).kept_below)[dim];
    others = others || beside != node.kept[dim];
    left -= KeptForOthers(left, beside - node.kept[dim], beside);
  }
  return others ? std::min(capability, std::max<std::int64_t>(left, 0)) : capability;
}

}  // namespace gangway::gang
