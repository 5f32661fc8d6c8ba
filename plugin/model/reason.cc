#include "plugin/model/reason.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "plugin/model/facts.h"
#include "plugin/phrases/phrases.h"

namespace gangway::model {
namespace {

using phrases::kAnd;

Words Exist(int pods) { return pods == 0 ? Words(phrases::kNoPodYet) : Words(phrases::kPodsExist(pods), pods); }

Words Amount(absl::string_view dim, std::int64_t amount) {
  return Words::Name(absl::StrCat(dim, " ", AmountText(dim, amount)));
}

Words Needs(const RoleReason& role) {
  std::vector<Words> needs;
  for (const Lack& lack : role.lacks) needs.push_back(Amount(lack.dim, lack.needed));
  if (needs.empty()) {
    for (const Hindrance& hindrance : role.hindrances) needs.push_back(hindrance.needs);
  }
  Words all = Words::Joined(std::move(needs), kAnd);
  if (all.empty()) all = role.request_text.empty() ? Words(phrases::kANode) : Words::Name(role.request_text);
  return role.role.empty() ? Words(phrases::kTaskNeeds, all) : Words(phrases::kRoleNeeds, role.role, all);
}

Words FreeOf(const RoleReason& role, const Lack& lack) {
  const bool named = role.lacks.size() > 1 || lack.dim == "pods";
  const Words free = named ? Amount(lack.dim, lack.best_free) : Words::Name(AmountText(lack.dim, lack.best_free));
  return Words(lack.nodes == 1       ? phrases::kHasFree
               : lack.best_free == 0 ? phrases::kHaveFree
                                     : phrases::kHaveFreeAtMost,
               Words(phrases::kNodes(lack.nodes), lack.nodes), free);
}

// "12 nodes have 4 free, 20 are tainted, 0 fit"
Words NodeCounts(const RoleReason& role) {
  if (role.nodes == 0) return phrases::kNoNodes;
  std::vector<Words> parts;
  for (const Lack& lack : role.lacks) parts.push_back(FreeOf(role, lack));
  for (const Hindrance& hindrance : role.hindrances) {
    const bool said = role.lacks.empty() && !hindrance.needs.empty();
    const Words so =
        said || hindrance.detail.empty() ? hindrance.words : Words(phrases::kSoMore, hindrance.words, hindrance.detail);
    const Phrase& nodes = parts.empty() ? phrases::kNodes(hindrance.nodes) : phrases::kSoMany;
    parts.emplace_back(phrases::kSo, Words(nodes, hindrance.nodes), so);
  }
  parts.emplace_back(phrases::kFit(role.fit), role.fit);
  return Words::Joined(std::move(parts), phrases::kComma);
}

Words NoRoom(const Reason& reason) {
  Words text;
  if (!reason.within.empty()) text.Add({phrases::kInHyperNode, reason.within});
  const bool rest_placed = reason.existing > 0 && reason.missing > 0;
  std::vector<Words> roles;
  for (const RoleReason& role : reason.roles) {
    roles.push_back(Needs(role));
    Words counts;
    if (rest_placed) counts.Add({phrases::kWithPlaced, reason.existing});
    roles.push_back(counts.Add(NodeCounts(role)));
  }
  text.Add(Words::Joined(std::move(roles), phrases::kSemicolon));
  if (reason.kept_nodes == 0) return text;
  text.Add({phrases::kRoomKeptOn, Words(phrases::kNodes(reason.kept_nodes), reason.kept_nodes),
            reason.kept_for.empty() ? Words(phrases::kIt) : Words(phrases::kOther, reason.kept_for)});
  const int ends = reason.kept_until_ends;
  if (ends > 0) text.Add({phrases::kUntilEnd(ends), ends});
  return text;
}

Words Claim(const Reason& reason) {
  const Words& claim = reason.subject;
  const std::string& detail = reason.detail;
  switch (reason.trouble) {
    case ClaimTrouble::kNothing:
      return {phrases::kClaim, claim};
    case ClaimTrouble::kMissing:
      return {phrases::kNoClaim, claim};
    case ClaimTrouble::kUnreadable:
      return {phrases::kClaimUnreadable, claim};
    case ClaimTrouble::kUnbound:
      return detail.empty() ? Words(phrases::kClaimUnbound, claim) : Words(phrases::kClaimUnboundOf, claim, detail);
    case ClaimTrouble::kLost:
      return detail.empty() ? Words(phrases::kClaimLost, claim) : Words(phrases::kClaimLostOf, claim, detail);
    case ClaimTrouble::kEnding:
      return {phrases::kClaimEnding, claim};
    case ClaimTrouble::kOfAnother:
      return {phrases::kClaimOfAnother, claim};
    case ClaimTrouble::kInUse:
      return {phrases::kClaimInUse, claim};
    case ClaimTrouble::kVolumeMissing:
      return {phrases::kVolumeMissing, detail, claim};
    case ClaimTrouble::kVolumeNotModelled:
      return {phrases::kVolumeNotModelled, claim, detail};
  }
  return claim;
}

// Of a cluster the numbers are what it has: a reader compares them with their nodes. Too many is what must go before it
// is let in, by what gangs are let in for.
Words Sums(const Reason& reason, const Words& holder) {
  const bool cluster = reason.kind == Reason::Kind::kClusterFull;
  std::vector<Words> sums;
  for (const SumLack& sum : reason.sums) {
    const std::int64_t there = cluster ? sum.capacity : sum.limit, room = sum.limit - sum.in_use;
    const auto text = [&](std::int64_t amount) { return AmountText(sum.dim, amount); };
    if (room >= sum.needed && !reason.kept_for.empty()) {
      sums.push_back({phrases::kUsesAndIsKept, sum.dim, text(sum.needed), holder, text(sum.in_use), text(there),
                      Words(phrases::kOther, reason.kept_for)});
      continue;
    }
    if (cluster && there == 0) {
      sums.push_back({phrases::kNoNodeHas, sum.dim, text(sum.needed)});
      continue;
    }
    Words words(phrases::kUses, sum.dim, text(sum.needed), holder, text(sum.in_use - sum.promised), text(there));
    if (sum.promised > 0) words.Add({phrases::kMorePromisedBefore, text(sum.promised)});
    if (sum.limit != there) words.Add({phrases::kLetInUpToSum, text(sum.limit)});
    words.Add({phrases::kSoMuchTooMany, text(sum.needed - std::max<std::int64_t>(room, 0))});
    sums.push_back(std::move(words));
  }
  return Words::Joined(std::move(sums), phrases::kSemicolon);
}

Words NotModelled(const Words& subject) {
  const std::string field = subject.English();
  absl::string_view fields = field;
  if (absl::ConsumeSuffix(&fields, kNameTwoGangs)) {
    std::vector<Words> each;
    for (const absl::string_view one : absl::StrSplit(fields, " and ")) each.push_back(Words::Name(one));
    return {phrases::kNameTwoGangs, Words::Joined(std::move(each), kAnd)};
  }
  Words instead = InsteadOf(field);
  return instead.empty() ? Words(phrases::kNotModelled, subject)
                         : Words(phrases::kNotModelledInstead, subject, std::move(instead));
}

Words RoomAwaited(const Reason& reason) {
  const Words others = reason.size <= 1   ? Words()
                       : reason.size == 2 ? Words(phrases::kAndAnotherGang)
                                          : Words(phrases::kAndOtherGangs, reason.size - 1);
  return {phrases::kRoomAwaited(reason.ending), reason.ending, reason.subject, others};
}

// What is in its way, of those that wait for so many of their minimum.
Words Obstacle(const Reason& reason) {
  switch (reason.kind) {
    case Reason::Kind::kNoRoom:
      return NoRoom(reason);
    case Reason::Kind::kRoomAwaited:
      return RoomAwaited(reason);
    case Reason::Kind::kKeptForMinimum:
      return {phrases::kKeptForMinimum, reason.subject};
    case Reason::Kind::kTooFewTasks: {
      Words text = Exist(reason.existing);
      if (reason.ending > 0) text.Add({phrases::kAreEnding(reason.ending), reason.ending});
      return text;
    }
    case Reason::Kind::kTooFewOfRole:
      return Exist(reason.existing);
    case Reason::Kind::kTooFewSubGroups:
      return {phrases::kSubGroupsHave(reason.existing), reason.existing,
              Words(phrases::kPods(reason.size), reason.size)};
    case Reason::Kind::kGated:
      return {phrases::kGated, reason.subject};
    case Reason::Kind::kNotModelled:
      return NotModelled(reason.subject);
    case Reason::Kind::kClaim:
      return Claim(reason);
    case Reason::Kind::kNoHyperNode:
      return Words(reason.existing == 0 ? phrases::kNoHyperNodeHasNodes : phrases::kNoHyperNodeHasAll, reason.subject)
          .Add(reason.broken);
    case Reason::Kind::kBindFailed:
      return reason.subject;
    case Reason::Kind::kQueueMissing:
      return {phrases::kNoQueue, reason.subject};
    case Reason::Kind::kQueueClosed:
      return {phrases::kQueueIsClosed, reason.subject};
    case Reason::Kind::kQueueFull: {
      Words text = Sums(reason, {phrases::kTheQueue, reason.subject});
      const int ends = reason.kept_until_ends;
      if (ends > 0) text.Add(phrases::kQueueKept).Add({phrases::kUntilEnd(ends), ends});
      return text;
    }
    case Reason::Kind::kQuotaFull:
      return Sums(reason, {phrases::kTheQuota, reason.subject});
    case Reason::Kind::kClusterFull:
      return Sums(reason, phrases::kTheCluster);
  }
  return {};
}

}  // namespace

void RoleReason::AddHindrance(absl::string_view constraint, int of_nodes, Words words, Words detail, Words needs) {
  hindrances.push_back({std::string(constraint), of_nodes, std::move(words), std::move(detail), std::move(needs)});
}

int RoleReason::HinderedBy(absl::string_view constraint) const {
  int count = 0;
  for (const Hindrance& hindrance : hindrances) count += hindrance.constraint == constraint ? hindrance.nodes : 0;
  return count;
}

absl::string_view KindText(Reason::Kind kind) {
  switch (kind) {
    case Reason::Kind::kNoRoom:
      return "no_room";
    case Reason::Kind::kRoomAwaited:
      return "room_awaited";
    case Reason::Kind::kKeptForMinimum:
      return "kept_for_minimum";
    case Reason::Kind::kTooFewTasks:
      return "too_few_tasks";
    case Reason::Kind::kTooFewOfRole:
      return "too_few_of_role";
    case Reason::Kind::kTooFewSubGroups:
      return "too_few_sub_groups";
    case Reason::Kind::kGated:
      return "gated";
    case Reason::Kind::kNotModelled:
      return "not_modelled";
    case Reason::Kind::kClaim:
      return "claim";
    case Reason::Kind::kNoHyperNode:
      return "no_hyper_node";
    case Reason::Kind::kBindFailed:
      return "bind_failed";
    case Reason::Kind::kQueueMissing:
      return "queue_missing";
    case Reason::Kind::kQueueClosed:
      return "queue_closed";
    case Reason::Kind::kQueueFull:
      return "queue_full";
    case Reason::Kind::kQuotaFull:
      return "quota_full";
    case Reason::Kind::kClusterFull:
      return "cluster_full";
  }
  return "unknown";
}

Words InsteadOf(absl::string_view field) {
  if (absl::StrContains(field, "spec.resourceClaims")) return phrases::kDevicesInstead;
  if (absl::StrContains(field, "].resources.")) return phrases::kPartsOfCardsInstead;
  if (absl::StrContains(field, "numa-topology-policy") || absl::EndsWith(field, "topologyPolicy"))
    return phrases::kNumaInstead;
  return {};
}

Words Tell(const Reason& reason) {
  const int least = reason.min_member;
  if (reason.kind == Reason::Kind::kTooFewOfRole)
    return {phrases::kWaitsForNamed, reason.missing, Words(phrases::kTasks(least), least), reason.subject,
            Obstacle(reason)};
  if (reason.kind == Reason::Kind::kTooFewSubGroups)
    return {phrases::kWaitsForSubGroups, reason.missing, Words(phrases::kSubGroups(least), least), reason.subject,
            Obstacle(reason)};
  return {phrases::kWaitsFor, reason.missing, Words(phrases::kTasks(least), least), Obstacle(reason)};
}

std::string Render(const Reason& reason) { return Tell(reason).English(); }

Words Tell(const Resting& resting) {
  const Words queue =
      resting.queue.empty() ? Words(phrases::kSeveralQueues) : Words(phrases::kQueueNamed, resting.queue);
  return {phrases::kCouldLeaveLater(resting.gangs), resting.gangs, queue, TimeText(resting.from)};
}

std::string TimeText(absl::Time time) { return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone()); }

Words GroupMissing(absl::string_view resource, absl::string_view name, bool served) {
  return served ? Words(phrases::kGroupMissing, resource, name) : Words(phrases::kGroupsNotServed, name, resource);
}

}  // namespace gangway::model
