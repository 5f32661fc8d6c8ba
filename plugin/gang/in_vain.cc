#include "plugin/gang/in_vain.h"

#include <algorithm>

namespace gangway::gang {

using model::EvictFor;

std::optional<InVain::Wish> InVain::WishOf(const Preemptor& preemptor) const {
  const model::Gang& gang = cluster_.gang(preemptor.gang);
  if (gang.ready() > 0 || gang.nominated > 0 || gang.topology.has_value() || !gang.sub_groups.empty() ||
      preemptor.by_shape.empty())
    return std::nullopt;
  Wish wish{gang.queue, cluster_.PriorityOf(gang), preemptor.by_shape};
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

bool InVain::IsPlain(const Wish& wish) const {
  if (wish.by_shape.size() != 1) return false;
  const model::Shape& shape = cluster_.shape(wish.by_shape.front().first);
  return shape.ports.empty() && shape.claims.empty() && shape.near.empty() && shape.away.empty() &&
         shape.spreads.empty();
}

bool InVain::Knows(EvictFor what_for, const Preemptor& preemptor) const {
  if (wishes_.empty() && fewest_.empty()) return false;
  std::optional<Wish> wish = WishOf(preemptor);
  if (!wish.has_value()) return false;
  if (wishes_.contains({what_for, *wish})) return true;
  if (!IsPlain(*wish)) return false;
  wish->by_shape.front().second = 0;
  const auto fewest = fewest_.find({what_for, *wish});
  return fewest != fewest_.end() && preemptor.count >= fewest->second;
}

void InVain::Note(EvictFor what_for, const Preemptor& preemptor, bool lacked_places) {
  std::optional<Wish> wish = WishOf(preemptor);
  if (!wish.has_value()) return;
  const bool more_is_less = what_for == EvictFor::kNobody || what_for == EvictFor::kPriority ||
                            (what_for == EvictFor::kShare && lacked_places);
  if (!more_is_less || !IsPlain(*wish)) {
    wishes_.insert({what_for, *std::move(wish)});
    return;
  }
  wish->by_shape.front().second = 0;
  const auto [it, fresh] = fewest_.emplace(std::pair(what_for, *std::move(wish)), preemptor.count);
  it->second = std::min(it->second, preemptor.count);
}

void InVain::RoomTaken() {
  wishes_.clear();
  std::erase_if(fewest_, [](const auto& each) { return each.first.first == EvictFor::kShare; });
}

void InVain::RoomFreed() {
  wishes_.clear();
  fewest_.clear();
}

}  // namespace gangway::gang
