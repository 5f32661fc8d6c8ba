#include "plugin/model/reason.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

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
    if (role.selector > 0 && !role.selector_text.empty()) return absl::StrCat(text, "nodes with ", role.selector_text);
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
  const auto count = [&](int nodes, absl::string_view one, absl::string_view several) {
    if (nodes == 0) return;
    parts.push_back(parts.empty() ? absl::StrCat(Nodes(nodes), " ", nodes == 1 ? one : several)
                                  : absl::StrCat(nodes, " ", nodes == 1 ? one : several));
  };
  const std::string labels = role.selector_text.empty() || role.lacks.empty()
                                 ? std::string()
                                 : absl::StrCat(" ", role.selector_text);
  count(role.selector, absl::StrCat("does not match", labels), absl::StrCat("do not match", labels));
  const std::string taint = role.taint_text.empty() ? std::string() : absl::StrCat(" with ", role.taint_text);
  count(role.tainted, absl::StrCat("is tainted", taint), absl::StrCat("are tainted", taint));
  count(role.cordoned, "is cordoned", "are cordoned");
  count(role.ports, "has its host port taken", "have its host port taken");
  parts.push_back(absl::StrCat(role.fit, role.fit == 1 ? " fits" : " fit"));
  return absl::StrJoin(parts, ", ");
}

std::string NoRoom(const Reason& reason) {
  std::string text = absl::StrCat("waits for ", reason.missing, " of ", Tasks(reason.min_member), ": ");
  const bool rest_placed = reason.existing > 0 && reason.missing > 0;
  absl::StrAppend(&text, absl::StrJoin(reason.roles, "; ", [&](std::string* out, const RoleReason& role) {
    absl::StrAppend(out, Needs(role), "; ");
    if (rest_placed) absl::StrAppend(out, "with ", reason.existing, " placed, ");
    absl::StrAppend(out, NodeCounts(role));
  }));
  return text;
}

std::string Sums(const Reason& reason, absl::string_view holder) {
  return absl::StrJoin(reason.sums, "; ", [&](std::string* out, const SumLack& sum) {
    const std::int64_t room = sum.limit - sum.in_use;
    absl::StrAppend(out, "needs ", sum.dim, " ", AmountText(sum.dim, sum.needed), ", ", holder, " uses ",
                    AmountText(sum.dim, sum.in_use), " of ", AmountText(sum.dim, sum.limit), ", ",
                    AmountText(sum.dim, sum.needed - (room > 0 ? room : 0)), " too many");
  });
}

}  // namespace

absl::string_view KindText(Reason::Kind kind) {
  switch (kind) {
    case Reason::Kind::kNoRoom:
      return "no_room";
    case Reason::Kind::kTooFewTasks:
      return "too_few_tasks";
    case Reason::Kind::kTooFewOfRole:
      return "too_few_of_role";
    case Reason::Kind::kGated:
      return "gated";
    case Reason::Kind::kNotModelled:
      return "not_modelled";
    case Reason::Kind::kBindFailed:
      return "bind_failed";
    case Reason::Kind::kQueueMissing:
      return "queue_missing";
    case Reason::Kind::kQueueClosed:
      return "queue_closed";
    case Reason::Kind::kQueueFull:
      return "queue_full";
    case Reason::Kind::kClusterFull:
      return "cluster_full";
  }
  return "unknown";
}

std::string Render(const Reason& reason) {
  const std::string waits = absl::StrCat("waits for ", reason.missing, " of ", Tasks(reason.min_member), ": ");
  switch (reason.kind) {
    case Reason::Kind::kNoRoom:
      return NoRoom(reason);
    case Reason::Kind::kTooFewTasks:
      return absl::StrCat(waits, Exist(reason.existing),
                          reason.ending == 0 ? std::string() : absl::StrCat(", ", reason.ending, reason.ending == 1 ? " is" : " are", " ending"));
    case Reason::Kind::kTooFewOfRole:
      return absl::StrCat("waits for ", reason.missing, " of ", Tasks(reason.min_member), " named ", reason.subject, ": ",
                          Exist(reason.existing));
    case Reason::Kind::kGated:
      return absl::StrCat(waits, "pods are held by scheduling gates, the first is ", reason.subject);
    case Reason::Kind::kNotModelled:
      return absl::StrCat(waits, reason.subject, " asks for something this scheduler does not know");
    case Reason::Kind::kBindFailed:
      return absl::StrCat(waits, reason.subject);
    case Reason::Kind::kQueueMissing:
      return absl::StrCat(waits, "there is no queue ", reason.subject);
    case Reason::Kind::kQueueClosed:
      return absl::StrCat(waits, "queue ", reason.subject, " is closed");
    case Reason::Kind::kQueueFull:
      return absl::StrCat(waits, Sums(reason, absl::StrCat("queue ", reason.subject)));
    case Reason::Kind::kClusterFull:
      return absl::StrCat(waits, Sums(reason, "the cluster"),
                          reason.overcommit_percent == 100
                              ? std::string()
                              : absl::StrCat(" (counting every node at ", reason.overcommit_percent, "%)"));
  }
  return {};
}

}  // namespace gangway::model
