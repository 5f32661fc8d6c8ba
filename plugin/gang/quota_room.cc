#include "plugin/gang/quota_room.h"

#include <algorithm>

#include "plugin/gang/admit.h"

namespace gangway::gang {

using model::Gang;
using model::Reason;

QuotaRoom::QuotaRoom(const model::Cluster& cluster) : cluster_(cluster) {
  if (cluster.quotas().empty()) return;
  for (const model::GangId id : cluster.awaiting_pods()) {
    const Gang& gang = cluster.gang(id);
    const auto there = static_cast<std::int64_t>(gang.tasks.size());
    Promise(gang, std::max<std::int64_t>(gang.min_member - there, 0), gang.min_member);
  }
}

std::optional<Reason> QuotaRoom::Refusal(const Gang& gang) const {
  const model::Quotas::ByName* const quotas = cluster_.quotas().Of(gang.ns);
  if (quotas == nullptr) return std::nullopt;
  const auto promised = promised_.find(gang.ns);
  for (const auto& [name, quota] : *quotas) {
    Reason reason = ReasonOf(Reason::Kind::kQuotaFull, gang);
    reason.subject = name;
    for (const model::QuotaLimit& limit : quota.limits) {
      const auto asks = std::find_if(gang.quota_asks.begin(), gang.quota_asks.end(),
                                     [&](const auto& one) { return one.first == limit.name; });
      if (asks == gang.quota_asks.end() || asks->second <= 0) continue;
      std::int64_t in_use = limit.used;
      if (promised != promised_.end()) {
        if (const auto at = promised->second.find(limit.name); at != promised->second.end()) in_use += at->second;
      }
      if (in_use + asks->second > limit.hard) reason.sums.push_back({limit.name, asks->second, limit.hard, in_use});
    }
    if (!reason.sums.empty()) return reason;
  }
  return std::nullopt;
}

void QuotaRoom::LetIn(const Gang& gang) { Promise(gang, 1, 1); }

void QuotaRoom::Promise(const Gang& gang, std::int64_t parts, std::int64_t whole) {
  if (gang.quota_asks.empty() || parts == 0) return;
  auto& promised = promised_[gang.ns];
  for (const auto& [name, amount] : gang.quota_asks) {
    std::int64_t& sum = promised[name];
    sum = std::min(sum + amount / whole * parts + amount % whole * parts / whole, model::kMaxAmount);
  }
}

}  // namespace gangway::gang
