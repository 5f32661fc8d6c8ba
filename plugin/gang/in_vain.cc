#include "plugin/gang/in_vain.h"

#include <algorithm>

namespace gangway::gang {

using model::EvictFor;

std::optional<InVain::Wish> InVain::WishOf(EvictFor what_for, const Preemptor& preemptor) const {
  const model::Gang& gang = cluster_.gang(preemptor.gang);
  if (gang.ready() > 0 || gang.nominated > 0 || gang.topology.has_value() || !gang.sub_groups.empty() ||
      preemptor.by_shape.empty())
    return std::nullopt;
  Wish wish{gang.queue, cluster_.PriorityOf(gang), preemptor.by_shape};
  if (what_for == EvictFor::kShare) {
    wish.patient = preemptor.patient;
    wish.spares = preemptor.spares;
  }
  if (wish.by_shape.size() == 1) {
    wish.by_shape.front().second = preemptor.count;
    return wish;
  }
  // Which of several kinds its minimum is made of, the counts do not tell unless it is all of them.
  int all = 0;
  for (const auto& [shape, count] : wish.by_shape) all += count;
  if (all != preemptor.count) return std::nullopt;
  return wish;
}

bool InVain::Knows(EvictFor what_for, const Preemptor& preemptor) const {
  if (wishes_.empty() && fewest_.empty()) return false;
  std::optional<Wish> wish = WishOf(what_for, preemptor);
  if (!wish.has_value()) return false;
  if (wishes_.contains({what_for, *wish})) return true;
  if (!IsPlain(preemptor)) return false;
  wish->by_shape.front().second = 0;
  const auto fewest = fewest_.find({what_for, *wish});
  return fewest != fewest_.end() && preemptor.count >= fewest->second;
}

void InVain::Note(EvictFor what_for, const Preemptor& preemptor) {
  std::optional<Wish> wish = WishOf(what_for, preemptor);
  if (!wish.has_value()) return;
  const bool more_is_less = what_for == EvictFor::kNobody || what_for == EvictFor::kPriority;
  if (!more_is_less || !IsPlain(preemptor)) {
    wishes_.insert({what_for, *std::move(wish)});
    return;
  }
  wish->by_shape.front().second = 0;
  const auto [it, fresh] = fewest_.emplace(std::pair(what_for, *std::move(wish)), preemptor.count);
  it->second = std::min(it->second, preemptor.count);
}

bool InVain::KnowsBetweenQueues(const Preemptor& preemptor, int levels, double most_gain) const {
  if (Knows(EvictFor::kShare, preemptor)) return true;
  if (lacked_places_.empty()) return false;
  const std::optional<Wish> wish = WishOf(EvictFor::kShare, preemptor);
  if (!wish.has_value() || !IsPlain(preemptor)) return false;
  const auto lacked =
      lacked_places_.find({wish->queue, wish->by_shape.front().first, levels, wish->patient, wish->spares});
  if (lacked == lacked_places_.end() || lacked->second.begin()->first > preemptor.count) return false;
  if (lacked->second.contains(preemptor.count)) return true;
  return std::any_of(lacked->second.begin(), lacked->second.lower_bound(preemptor.count),
                     [&](const auto& fewer) { return most_gain <= fewer.second; });
}

void InVain::NoteBetweenQueues(const Preemptor& preemptor, int levels, std::optional<double> lacks_places_up_to) {
  const std::optional<Wish> wish = WishOf(EvictFor::kShare, preemptor);
  if (!lacks_places_up_to.has_value() || !wish.has_value() || !IsPlain(preemptor))
    return Note(EvictFor::kShare, preemptor);
  lacked_places_[{wish->queue, wish->by_shape.front().first, levels, wish->patient, wish->spares}].emplace(
      preemptor.count, *lacks_places_up_to);
}

void InVain::RoomTaken() {
  wishes_.clear();
  lacked_places_.clear();
}

void InVain::RoomFreed() {
  wishes_.clear();
  fewest_.clear();
  lacked_places_.clear();
}

}  // namespace gangway::gang
