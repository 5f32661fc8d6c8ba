#include "plugin/model/reason.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/model/facts.h"

namespace gangway::model {
namespace {

std::string Tasks(int count) { return absl::StrCat(count, count == 1 ? " task" : " tasks"); }
std::string Nodes(int count) { return absl::StrCat(count, count == 1 ? " node" : " nodes"); }

std::string Exist(int pods) {
  if (pods == 0) return "none exists yet";
  return pods == 1 ? "1 pod exists" : absl::StrCat(pods, " pods exist");
}

std::string Needs(const RoleReason& role) {
  std::string text = role.role.empty() ? std::string("a task needs ") : absl::StrCat(role.role, " needs ");
  if (role.lacks.empty()) {
    std::vector<std::string> needs;
    for (const Hindrance& hindrance : role.hindrances) {
      if (!hindrance.needs.empty()) needs.push_back(hindrance.needs);
    }
    if (!needs.empty()) return absl::StrCat(text, absl::StrJoin(needs, " and "));
    return absl::StrCat(text, role.request_text.empty() ? "a node" : role.request_text);
  }
  return absl::StrCat(text, absl::StrJoin(role.lacks, " and ", [](std::string* out, const Lack& lack) {
                        absl::StrAppend(out, lack.dim, " ", AmountText(lack.dim, lack.needed));
                      }));
}

// "12 nodes have 4 free, 20 are tainted, 0 fit"
std::string NodeCounts(const RoleReason& role) {
  if (role.nodes == 0) return "the cluster has no nodes";
  std::vector<std::string> parts;
  const bool many = role.lacks.size() > 1;
  for (const Lack& lack : role.lacks) {
    const bool pods = lack.dim == "pods";
    parts.push_back(absl::StrCat(Nodes(lack.nodes), lack.nodes == 1 ? " has " : " have ",
                                 lack.nodes == 1 || lack.best_free == 0 ? "" : "at most ",
                                 many || pods ? absl::StrCat(lack.dim, " ") : "", AmountText(lack.dim, lack.best_free),
                                 " free"));
  }
  for (const Hindrance& hindrance : role.hindrances) {
    const bool said = role.lacks.empty() && !hindrance.needs.empty();
    const std::string nodes = parts.empty() ? Nodes(hindrance.nodes) : absl::StrCat(hindrance.nodes);
    parts.push_back(absl::StrCat(nodes, " ", hindrance.words, said || hindrance.detail.empty() ? "" : " ",
                                 said ? "" : hindrance.detail));
  }
  parts.push_back(absl::StrCat(role.fit, role.fit == 1 ? " fits" : " fit"));
  return absl::StrJoin(parts, ", ");
}

std::string NoRoom(const Reason& reason) {
  std::string text = absl::StrCat("waits for ", reason.missing, " of ", Tasks(reason.min_member), ": ");
  if (!reason.within.empty()) absl::StrAppend(&text, "in HyperNode ", reason.within, ", ");
  const bool rest_placed = reason.existing > 0 && reason.missing > 0;
  absl::StrAppend(&text, absl::StrJoin(reason.roles, "; ", [&](std::string* out, const RoleReason& role) {
    absl::StrAppend(out, Needs(role), "; ");
    if (rest_placed) absl::StrAppend(out, "with ", reason.existing, " placed, ");
    absl::StrAppend(out, NodeCounts(role));
  }));
  if (reason.kept_nodes > 0) {
    absl::StrAppend(&text, "; on ", Nodes(reason.kept_nodes), " room is kept for ",
                    reason.kept_for.empty() ? "it" : reason.kept_for);
    const int ends = reason.kept_until_ends;
    if (ends > 0) absl::StrAppend(&text, " until ", ends, ends == 1 ? " pod ends" : " pods end");
  }
  return text;
}

std::string Claim(const Reason& reason) {
  const std::string claim = absl::StrCat("claim ", reason.subject);
  switch (reason.trouble) {
    case ClaimTrouble::kNothing:
      return claim;
    case ClaimTrouble::kMissing:
      return absl::StrCat("there is no ", claim);
    case ClaimTrouble::kUnreadable:
      return absl::StrCat(claim, " cannot be read: the scheduler may not list persistentvolumeclaims");
    case ClaimTrouble::kUnbound:
      return absl::StrCat(claim, " is not bound yet",
                          reason.detail.empty() ? "" : absl::StrCat(" (storage class ", reason.detail, ")"));
    case ClaimTrouble::kLost:
      return absl::StrCat(claim, " has lost its volume", reason.detail.empty() ? "" : " ", reason.detail);
    case ClaimTrouble::kEnding:
      return absl::StrCat(claim, " is being deleted");
    case ClaimTrouble::kOfAnother:
      return absl::StrCat(claim, " is not the pod's own, though its volume is ephemeral: delete that claim");
    case ClaimTrouble::kInUse:
      return absl::StrCat(claim, " is for one pod at a time (ReadWriteOncePod), and another has it");
    case ClaimTrouble::kVolumeMissing:
      return absl::StrCat("volume ", reason.detail, " of ", claim,
                          " is not known: it is gone, or the scheduler may not list persistentvolumes");
    case ClaimTrouble::kVolumeNotModelled:
      return absl::StrCat(claim, ": ", reason.detail, " asks for something this scheduler does not know");
  }
  return claim;
}

// How much gangs are let in for, where that is not what there is.
std::string LetIn(const Reason& reason) {
  std::vector<std::string> limits;
  for (const SumLack& sum : reason.sums) {
    if (sum.limit != sum.capacity) limits.push_back(absl::StrCat(sum.dim, " ", AmountText(sum.dim, sum.limit)));
  }
  return limits.empty() ? "" : absl::StrCat(" (gangs are let in for up to ", absl::StrJoin(limits, " and "), ")");
}

// Of a cluster the numbers are what it has, not what is let in: a reader compares them with their nodes.
std::string Sums(const Reason& reason, absl::string_view holder) {
  const bool cluster = reason.kind == Reason::Kind::kClusterFull;
  return absl::StrJoin(reason.sums, "; ", [&](std::string* out, const SumLack& sum) {
    const std::int64_t there = cluster ? sum.capacity : sum.limit, room = there - sum.in_use;
    absl::StrAppend(out, "needs ", sum.dim, " ", AmountText(sum.dim, sum.needed), ", ", holder, " uses ",
                    AmountText(sum.dim, sum.in_use), " of ", AmountText(sum.dim, there), ", ",
                    AmountText(sum.dim, sum.needed - (room > 0 ? room : 0)), " too many");
  });
}

}  // namespace

void RoleReason::AddHindrance(absl::string_view constraint, int of_nodes, absl::string_view one,
                              absl::string_view several, std::string detail, std::string needs) {
  hindrances.push_back({std::string(constraint), of_nodes, std::string(of_nodes == 1 ? one : several),
                        std::move(detail), std::move(needs)});
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

std::string InsteadOf(absl::string_view field) {
  if (!absl::StrContains(field, "spec.resourceClaims")) return {};
  return "it allocates no devices of resource.k8s.io; ask for devices as resources of a device plugin "
         "(resources.limits), or give the pods to a scheduler that allocates them (schedulerName: default-scheduler)";
}

std::string Render(const Reason& reason) {
  const std::string waits = absl::StrCat("waits for ", reason.missing, " of ", Tasks(reason.min_member), ": ");
  switch (reason.kind) {
    case Reason::Kind::kNoRoom:
      return NoRoom(reason);
    case Reason::Kind::kRoomAwaited:
      return absl::StrCat(waits, "room is kept for it until ", reason.ending, reason.ending == 1 ? " pod" : " pods",
                          " of ", reason.subject,
                          reason.size <= 1   ? ""
                          : reason.size == 2 ? " and another gang"
                                             : absl::StrCat(" and ", reason.size - 1, " other gangs"),
                          reason.ending == 1 ? " has ended" : " have ended");
    case Reason::Kind::kKeptForMinimum:
      return absl::StrCat(waits, "room is kept for gangs that lack their minimum, the first is ", reason.subject);
    case Reason::Kind::kTooFewTasks:
      return absl::StrCat(waits, Exist(reason.existing),
                          reason.ending == 0
                              ? std::string()
                              : absl::StrCat(", ", reason.ending, reason.ending == 1 ? " is" : " are", " ending"));
    case Reason::Kind::kTooFewOfRole:
      return absl::StrCat("waits for ", reason.missing, " of ", Tasks(reason.min_member), " named ", reason.subject,
                          ": ", Exist(reason.existing));
    case Reason::Kind::kTooFewSubGroups:
      return absl::StrCat("waits for ", reason.missing, " of ", reason.min_member,
                          reason.min_member == 1 ? " sub-group" : " sub-groups", " of task ", reason.subject, ": ",
                          reason.existing, reason.existing == 1 ? " has" : " have", " all of ", reason.size,
                          reason.size == 1 ? " pod" : " pods");
    case Reason::Kind::kGated:
      return absl::StrCat(waits, "pods are held by scheduling gates, the first is ", reason.subject);
    case Reason::Kind::kNotModelled:
      if (absl::EndsWith(reason.subject, kNameTwoGangs)) return absl::StrCat(waits, reason.subject);
      return absl::StrCat(waits, reason.subject, " asks for something this scheduler does not know",
                          InsteadOf(reason.subject).empty() ? "" : ": ", InsteadOf(reason.subject));
    case Reason::Kind::kClaim:
      return absl::StrCat(waits, Claim(reason));
    case Reason::Kind::kNoHyperNode:
      return absl::StrCat(waits, "no HyperNode of tier ", reason.subject,
                          reason.existing == 0 ? " has nodes" : " has all nodes where its pods are");
    case Reason::Kind::kBindFailed:
      return absl::StrCat(waits, reason.subject);
    case Reason::Kind::kQueueMissing:
      return absl::StrCat(waits, "there is no queue ", reason.subject);
    case Reason::Kind::kQueueClosed:
      return absl::StrCat(waits, "queue ", reason.subject, " is closed");
    case Reason::Kind::kQueueFull:
      return absl::StrCat(waits, Sums(reason, absl::StrCat("queue ", reason.subject)));
    case Reason::Kind::kQuotaFull:
      return absl::StrCat(waits, Sums(reason, absl::StrCat("quota ", reason.subject)));
    case Reason::Kind::kClusterFull:
      return absl::StrCat(waits, Sums(reason, "the cluster"), LetIn(reason));
  }
  return {};
}

std::string GroupMissing(absl::string_view resource, absl::string_view name, bool served) {
  if (served) return absl::StrCat("waits for its PodGroup: there is no ", resource, " ", name);
  return absl::StrCat("waits for its PodGroup ", name, ": the cluster has no ", resource,
                      ", or the scheduler may not list them");
}

}  // namespace gangway::model
