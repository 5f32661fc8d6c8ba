#include "plugin/gang/quota_room.h"

#include <algorithm>

#include "plugin/gang/admit.h"

namespace gangway::gang {

using model::Gang;
using model::Reason;

namespace {

// What of `amount`, which its minimum of pods asks for, is asked for pods that are not there yet: the quota counts the
// others already.
std::int64_t StillAsked(const Gang& gang, std::int64_t amount) {
  const std::int64_t whole = std::max(gang.min_member, 1), there = static_cast<std::int64_t>(gang.tasks.size());
  const std::int64_t parts = std::max<std::int64_t>(whole - there, 0);
  return amount / whole * parts + amount % whole * parts / whole;
}

}  // namespace

QuotaRoom::QuotaRoom(const model::Cluster& cluster) : cluster_(cluster) {
  if (cluster.quotas().empty()) return;
  for (const model::GangId id : cluster.awaiting_pods()) LetIn(cluster.gang(id));
}

std::optional<Reason> QuotaRoom::Refusal(const Gang& gang) const {
  const model::Quotas::ByName* const quotas = cluster_.quotas().Of(gang.ns);
  if (quotas == nullptr) return std::nullopt;
  const auto promised = promised_.find(gang.ns);
  for (const auto& [name, quota] : *quotas) {
    Reason reason = ReasonOf(Reason::Kind::kQuotaFull, gang);
    reason.subject = Words::Name(name);
    for (const model::QuotaLimit& limit : quota.limits) {
      const auto asks = std::find_if(gang.quota_asks.begin(), gang.quota_asks.end(),
                                     [&](const auto& one) { return one.first == limit.name; });
      const std::int64_t asked = asks == gang.quota_asks.end() ? 0 : StillAsked(gang, asks->second);
      if (asked <= 0) continue;
      std::int64_t more = 0;
      if (promised != promised_.end()) {
        if (const auto at = promised->second.find(limit.name); at != promised->second.end()) more = at->second;
      }
      if (limit.used + more + asked > limit.hard)
        reason.sums.push_back({limit.name, asked, limit.hard, limit.used + more, 0, more});
    }
    if (!reason.sums.empty()) return reason;
  }
  return std::nullopt;
}

void QuotaRoom::LetIn(const Gang& gang) {
  if (gang.quota_asks.empty()) return;
  auto& promised = promised_[gang.ns];
  for (const auto& [name, amount] : gang.quota_asks) {
    std::int64_t& sum = promised[name];
    sum = std::min(sum + StillAsked(gang, amount), model::kMaxAmount);
  }
}

}  // namespace gangway::gang
