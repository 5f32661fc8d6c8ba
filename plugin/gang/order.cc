#include "plugin/gang/order.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace gangway::gang {

using model::Cluster;
using model::Dim;
using model::Gang;
using model::GangId;
using model::kNone;
using model::Queue;
using model::QueueId;
using model::Resources;
using model::Task;
using model::TaskId;

namespace {

// volcano: plugins/sla, JobOrderFn
absl::Time DeadlineOf(const Gang& gang, const Policy& policy) {
  const std::optional<absl::Duration> wait = gang.waiting_time.has_value() ? gang.waiting_time : policy.waiting_time;
  return policy.by_deadline && wait.has_value() ? gang.created + *wait : absl::InfiniteFuture();
}

}  // namespace

// ---- queues

QueueOrder::QueueOrder(const Overlay& overlay, const Shares* shares, const std::vector<QueueId>& queues)
    : overlay_(overlay), shares_(shares), later_(queues) {
  const Cluster& cluster = overlay.cluster();
  if (shares_ == nullptr) return;
  const auto slots = static_cast<std::size_t>(cluster.queue_slots());
  places_.resize(2 * slots + 1);
  std::sort(later_.begin(), later_.end(),
            [&](QueueId a, QueueId b) { return cluster.queue(a).priority < cluster.queue(b).priority; });
  Enter();
}

// Those of the highest priority that is left.
void QueueOrder::Enter() {
  const Cluster& cluster = overlay_.cluster();
  if (later_.empty()) return;
  const std::int32_t priority = cluster.queue(later_.back()).priority;
  while (!later_.empty() && cluster.queue(later_.back()).priority == priority) {
    Insert(GangsOf(later_.back()));
    later_.pop_back();
  }
}

int QueueOrder::Above(int place) const {
  const QueueId queue = place / 2;
  if (place == GangsOf(queue)) return TreeOf(queue);
  const QueueId parent = overlay_.tree().parent(queue);
  return parent == kNone ? static_cast<int>(places_.size()) - 1 : TreeOf(parent);
}

std::int64_t QueueOrder::Held(int place, Dim dim) const {
  const QueueId queue = place / 2;
  const auto at = static_cast<std::size_t>(queue);
  const bool own = place == GangsOf(queue);
  const std::int64_t counted = counted_.empty() ? 0 : (own ? counted_ : below_)[at][dim];
  return counted + (own ? overlay_.cluster().queue(queue).held[dim] + overlay_.taken_from(queue)[dim]
                        : overlay_.tree().held(queue)[dim] + overlay_.taken_below(queue)[dim]);
}

std::int64_t QueueOrder::Deserved(int place, Dim dim) const {
  const QueueId queue = place / 2;
  return place == GangsOf(queue) ? shares_->OwnDeserved(queue, dim) : shares_->Deserved(queue, dim);
}

Part QueueOrder::ShareOf(int place) const {
  const Resources& total = overlay_.cluster().total();
  const QueueId queue = place / 2;
  const bool own = place == GangsOf(queue);
  Part share;
  bool deserves = false;
  for (Dim dim = 0; dim < total.size(); ++dim) deserves = deserves || (dim != model::kPods && Deserved(place, dim) > 0);
  for (Dim dim = 0; dim < total.size(); ++dim) {
    if (total[dim] <= 0 || dim == model::kPods) continue;
    const std::int64_t held = Held(place, dim), deserved = Deserved(place, dim);
    const std::int64_t weight = own ? Shares::kOne : shares_->TurnWeight(queue, dim);
    Part of_dim{held, own ? deserved : shares_->Due(queue, dim)};
    if (deserved == 0) {
      const Part::Wide per_weight = Part::Wide{held} * Shares::kOne / weight;
      of_dim = held > 0 || !deserves ? Part{total[dim] + per_weight, total[dim]} : Part();
    }
    if (share < of_dim) share = of_dim;
  }
  return share;
}

bool QueueOrder::Before(int a, int b) const {
  const Part& x = places_[static_cast<std::size_t>(a)].share;
  const Part& y = places_[static_cast<std::size_t>(b)].share;
  if (x < y || y < x) return x < y;
  const Queue& p = overlay_.cluster().queue(a / 2);
  const Queue& q = overlay_.cluster().queue(b / 2);
  return std::tie(p.created, p.name, b) < std::tie(q.created, q.name, a);  // of one queue its own gangs come first
}

void QueueOrder::Insert(int place) {
  const auto top = static_cast<int>(places_.size()) - 1;
  while (place != top) {
    places_[static_cast<std::size_t>(place)].share = ShareOf(place);
    const int above = Above(place);
    std::vector<int>& siblings = places_[static_cast<std::size_t>(above)].children;
    const bool there = !siblings.empty();
    siblings.insert(
        std::upper_bound(siblings.begin(), siblings.end(), place, [&](int a, int b) { return Before(a, b); }), place);
    if (there) break;
    place = above;
  }
}

void QueueOrder::Erase(int place) {
  const auto top = static_cast<int>(places_.size()) - 1;
  while (place != top) {
    const int above = Above(place);
    std::vector<int>& siblings = places_[static_cast<std::size_t>(above)].children;
    siblings.erase(std::find(siblings.begin(), siblings.end(), place));
    if (!siblings.empty()) break;
    place = above;
  }
}

QueueId QueueOrder::First() const {
  if (shares_ == nullptr) return later_.empty() ? kNone : later_.front();
  auto place = static_cast<int>(places_.size()) - 1;
  while (!places_[static_cast<std::size_t>(place)].children.empty())
    place = places_[static_cast<std::size_t>(place)].children.front();
  return place == static_cast<int>(places_.size()) - 1 ? kNone : place / 2;
}

void QueueOrder::Done(QueueId queue) {
  if (shares_ == nullptr) return later_.clear();
  Erase(GangsOf(queue));
  if (places_.back().children.empty()) Enter();
}

void QueueOrder::Moved(QueueId queue) {
  if (shares_ == nullptr) return;
  const auto top = static_cast<int>(places_.size()) - 1;
  for (int place = GangsOf(queue); place != top; place = Above(place)) {
    std::vector<int>& siblings = places_[static_cast<std::size_t>(Above(place))].children;
    const auto at = std::find(siblings.begin(), siblings.end(), place);
    const bool served = at != siblings.end();
    if (served) siblings.erase(at);
    places_[static_cast<std::size_t>(place)].share = ShareOf(place);
    if (!served) continue;
    siblings.insert(
        std::upper_bound(siblings.begin(), siblings.end(), place, [&](int a, int b) { return Before(a, b); }), place);
  }
}

void QueueOrder::Count(QueueId queue, const Resources& amounts) {
  if (shares_ == nullptr) return;
  counted_.resize(static_cast<std::size_t>(overlay_.cluster().queue_slots()));
  below_.resize(counted_.size());
  counted_[static_cast<std::size_t>(queue)].Add(amounts);
  for (const QueueId level : overlay_.tree().path(queue)) below_[static_cast<std::size_t>(level)].Add(amounts);
  Moved(queue);
}

bool QueueOrder::Within(QueueId queue, const Resources& more) const {
  if (shares_ == nullptr) return true;
  for (Dim dim = 0; dim < more.size(); ++dim) {
    if (more[dim] <= 0 || dim == model::kPods) continue;
    if (Held(GangsOf(queue), dim) + more[dim] > Deserved(GangsOf(queue), dim)) return false;
    for (const QueueId level : overlay_.tree().path(queue)) {
      if (overlay_.tree().IsAboveAll(level)) continue;
      if (Held(TreeOf(level), dim) + more[dim] > Deserved(TreeOf(level), dim)) return false;
    }
  }
  return true;
}

// ---- gangs

namespace {

struct InLine {
  std::int32_t priority;
  absl::Time deadline;
  GangId id;
};

InLine InLineOf(const Cluster& cluster, const Policy& policy, GangId id) {
  const Gang& gang = cluster.gang(id);
  return {cluster.PriorityOf(gang), DeadlineOf(gang, policy), id};
}

bool IsBefore(const Cluster& cluster, const InLine& a, const InLine& b) {
  const Gang& x = cluster.gang(a.id);
  const Gang& y = cluster.gang(b.id);
  return std::tie(b.priority, a.deadline, x.created, x.ns, x.name, x.kind) <
         std::tie(a.priority, b.deadline, y.created, y.ns, y.name, y.kind);
}

}  // namespace

bool GoesBefore(const Cluster& cluster, const Policy& policy, GangId a, GangId b) {
  return IsBefore(cluster, InLineOf(cluster, policy, a), InLineOf(cluster, policy, b));
}

void SortGangs(const Cluster& cluster, const Policy& policy, std::vector<GangId>& gangs) {
  std::vector<InLine> entries;
  for (const GangId id : gangs) entries.push_back(InLineOf(cluster, policy, id));
  std::sort(entries.begin(), entries.end(), [&](const InLine& a, const InLine& b) { return IsBefore(cluster, a, b); });
  for (std::size_t i = 0; i < gangs.size(); ++i) gangs[i] = entries[i].id;
}

Turns::Turns(const Overlay& overlay, const Shares* shares, const Policy& policy, const std::vector<GangId>& gangs)
    : overlay_(overlay), shares_(shares) {
  for (const GangId id : gangs) lines_[overlay.cluster().gang(id).queue].gangs.push_back(id);
  for (auto& [queue, line] : lines_) SortGangs(overlay.cluster(), policy, line.gangs);
  OrderFirst();
}

Turns::Turns(const Overlay& overlay, const Shares* shares, std::map<QueueId, std::vector<GangId>> gangs)
    : overlay_(overlay), shares_(shares) {
  for (auto& [queue, line] : gangs) lines_[queue].gangs = std::move(line);
  OrderFirst();
}

void Turns::OrderFirst() {
  Order();
  if (shares_ != nullptr) first_order_.emplace(*order_);
  first_changes_ = overlay_.queue_changes();
}

void Turns::Order() {
  std::vector<QueueId> queues;
  for (const auto& [queue, line] : lines_) {
    if (line.next < line.gangs.size()) queues.push_back(queue);
  }
  order_.emplace(overlay_, shares_, queues);
  for (const auto& [queue, amounts] : counted_) order_->Count(queue, amounts);
  last_ = kNone;
}

GangId Turns::NextWithin(Needs needs) {
  const Cluster& cluster = overlay_.cluster();
  LookAtLast();
  for (QueueId queue = order_->First(); queue != kNone; queue = order_->First()) {
    Line& line = lines_.at(queue);
    std::optional<Resources> too_much;  // of the one before, while nothing is placed
    for (; line.next < line.gangs.size(); ++line.next) {
      if (shares_ == nullptr) return Take(queue);
      const GangId id = line.gangs[line.next];
      const Resources& more = needs(id);
      if (!too_much.has_value() || !(more == *too_much)) {
        const bool behind = !line.beyond.empty() && cluster.PriorityOf(cluster.gang(id)) <
                                                        cluster.PriorityOf(cluster.gang(line.beyond.front()));
        if (!behind && order_->Within(queue, more)) return Take(queue);
        if (!behind) too_much = more;
      }
      if (line.beyond.empty()) line.beyond.reserve(line.gangs.size() - line.next);
      line.beyond.push_back(id);
    }
    order_->Done(queue);
  }
  return kNone;
}

GangId Turns::NextBeyond() {
  if (!beyond_) {
    beyond_ = true;
    for (auto& [queue, line] : lines_) {
      line.gangs = std::move(line.beyond);
      line.beyond.clear();
      line.next = 0;
    }
    // Mostly nobody was placed, or counted, since.
    if (first_order_.has_value() && first_changes_ == overlay_.queue_changes() && counted_.empty()) {
      order_.emplace(*first_order_);
      last_ = kNone;
    } else {
      Order();
    }
  }
  LookAtLast();
  for (QueueId queue = order_->First(); queue != kNone; queue = order_->First()) {
    if (const Line& line = lines_.at(queue); line.next < line.gangs.size()) return Take(queue);
    order_->Done(queue);
  }
  return kNone;
}

// The queue that was served last may hold more.
void Turns::LookAtLast() {
  if (last_ != kNone && changes_ != overlay_.queue_changes()) order_->Moved(last_);
  last_ = kNone;
}

GangId Turns::Take(QueueId queue) {
  Line& line = lines_.at(queue);
  last_ = queue;
  changes_ = overlay_.queue_changes();
  return line.gangs[line.next++];
}

void Turns::Count(GangId gang, const Resources& amounts) {
  const QueueId queue = overlay_.cluster().gang(gang).queue;
  counted_.emplace_back(queue, amounts);
  order_->Count(queue, amounts);
}

void SortTasks(const Cluster& cluster, std::vector<TaskId>& tasks) {
  const auto before = [&](TaskId a, TaskId b) {
    const Task& x = cluster.task(a);
    const Task& y = cluster.task(b);
    if (x.priority != y.priority) return x.priority > y.priority;
    if (x.index != y.index) return x.index < y.index;  // mostly that is all
    return std::tie(x.created, x.name) < std::tie(y.created, y.name);
  };
  // Mostly they were made in this order.
  if (!std::is_sorted(tasks.begin(), tasks.end(), before)) std::sort(tasks.begin(), tasks.end(), before);
}

}  // namespace gangway::gang
