#include "plugin/gang/lines.h"

#include "absl/hash/hash.h"
#include "plugin/gang/alike_minimum.h"
#include "plugin/gang/order.h"

namespace gangway::gang {

using model::Cluster;
using model::Gang;
using model::GangId;
using model::ShapeId;

namespace {

std::size_t WhoIs(const Gang& gang) { return absl::HashOf(gang.kind, gang.ns, gang.name, gang.created); }

}  // namespace

void Lines::Clear() {
  lines_.clear();
  needs_.clear();
  places_.clear();
}

// Of most clusters there are few.
int Lines::Find(ShapeId shape, std::int64_t copies, bool beside_kept, bool listed) {
  for (std::size_t at = needs_.size(); at-- > 0;) {
    const Need& need = needs_[at];
    if (need.shape == shape && need.copies == copies && need.beside_kept == beside_kept && need.listed == listed)
      return static_cast<int>(at);
  }
  needs_.push_back({shape, copies, beside_kept, listed, 0, absl::InfiniteFuture()});
  return static_cast<int>(needs_.size()) - 1;
}

void Lines::Become(GangId gang, int state) {
  const auto at = static_cast<std::size_t>(gang);
  if (at >= places_.size()) places_.resize(at + 1);
  int& now = places_[at].state;
  if (now >= 0) --needs_[static_cast<std::size_t>(now)].gangs;
  now = state;
  if (now >= 0) ++needs_[static_cast<std::size_t>(now)].gangs;
}

void Lines::Waits(const Cluster& cluster, GangId id, const AlikeMinimum& needs, bool beside_kept) {
  const Gang& gang = cluster.gang(id);
  const int need = Find(needs.shape, needs.count, beside_kept, true);
  Become(id, need);
  places_[static_cast<std::size_t>(id)].who = WhoIs(gang);
  absl::Time& created = needs_[static_cast<std::size_t>(need)].created;
  created = std::min(created, gang.created);
}

void Lines::NeedsOfAny(ShapeId shape, std::int64_t copies, bool beside_kept) {
  Need& need = needs_[static_cast<std::size_t>(Find(shape, copies, beside_kept, false))];
  ++need.gangs;
  need.created = absl::InfinitePast();  // nobody knows
}

bool Lines::WaitsAsBefore(const Cluster& cluster, GangId id, const AlikeMinimum& needs) const {
  const int state = StateOf(id);
  if (state < 0) return false;
  const Need& need = needs_[static_cast<std::size_t>(state)];
  return need.shape == needs.shape && need.copies == needs.count &&
         places_[static_cast<std::size_t>(id)].who == WhoIs(cluster.gang(id));
}

void Lines::TakeOut(GangId gang) {
  for (auto line = lines_.begin(); line != lines_.end(); ++line) {
    if (std::erase(line->second, gang) == 0) continue;
    if (line->second.empty()) lines_.erase(line);
    return;
  }
}

void Lines::Enter(const Cluster& cluster, const Policy& policy, GangId gang) {
  TakeOut(gang);
  Line& line = lines_[cluster.gang(gang).queue];
  line.insert(std::upper_bound(line.begin(), line.end(), gang,
                               [&](GangId a, GangId b) { return GoesBefore(cluster, policy, a, b); }),
              gang);
}

void Lines::Leave(GangId gang) {
  if (Knows(gang)) Become(gang, kUnknown);
  TakeOut(gang);
}

}  // namespace gangway::gang
