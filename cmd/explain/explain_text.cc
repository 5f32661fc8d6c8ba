#include "cmd/explain/explain_text.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "api/field_table.h"
#include "api/json.h"
#include "base/printable.h"
#include "plugin/explain/explain.h"

namespace gangway::cmd {
namespace {

using explain::AmountsText;
using explain::Counted;
using explain::Explanation;
using explain::GangLine;
using explain::NodeAmount;
using explain::NodeGroup;
using explain::QueueAmount;
using explain::RoleNodes;
using explain::Spot;
using model::AmountText;

constexpr std::size_t kShortList = 5;

// A Job's PodGroup is named as the Job, with the Job's UID behind: people know the Job's name.
std::string ShortName(const explain::GangKey& gang) {
  constexpr std::size_t kUid = 36;
  const std::string full = gang.ToString();
  if (full.size() <= kUid + 1) return full;
  const absl::string_view uid = absl::string_view(full).substr(full.size() - kUid);
  for (std::size_t i = 0; i < uid.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? uid[i] != '-' : !absl::ascii_isxdigit(static_cast<unsigned char>(uid[i]))) return full;
  }
  return full[full.size() - kUid - 1] == '-' ? full.substr(0, full.size() - kUid - 1) : full;
}

// Adds lines, each on its own whatever stands in it.
class Page {
 public:
  explicit Page(bool wide) : wide_(wide) {}
  void Line(int depth, absl::string_view text) {
    absl::StrAppend(&text_, std::string(static_cast<std::size_t>(depth) * 2, ' '), OneLine(text), "\n");
  }
  // Of a long list the first few, unless all are wanted.
  template <class T, class F>  // void(const T&)
  void List(int depth, const std::vector<T>& items, F line) {
    const std::size_t shown = wide_ ? items.size() : std::min(items.size(), kShortList);
    for (std::size_t i = 0; i < shown; ++i) line(items[i]);
    if (shown < items.size()) Line(depth, absl::StrCat("and ", items.size() - shown, " more (-o wide names them)"));
  }
  bool wide() const { return wide_; }
  std::string Take() { return std::move(text_); }

 private:
  const bool wide_;
  std::string text_;
};

// " (75%)"; nothing is ever more than all.
std::string Percent(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return "";
  const double share = static_cast<double>(std::clamp<std::int64_t>(part, 0, whole)) / static_cast<double>(whole);
  return absl::StrCat(" (", static_cast<int>(share * 100), "%)");
}

std::string FreeText(const std::vector<NodeAmount>& amounts) {
  return absl::StrJoin(amounts, ", ", [](std::string* out, const NodeAmount& amount) {
    absl::StrAppend(out, amount.dim, " ", AmountText(amount.dim, amount.free), " of ",
                    AmountText(amount.dim, amount.allocatable), " free");
  });
}

// "3 nodes lack nvidia.com/gpu: 8 asked, at most 4 of 8 free (n17)"
std::string GroupText(const NodeGroup& group) {
  const std::string nodes =
      absl::StrCat(Counted(static_cast<std::int64_t>(group.nodes.size()), "node"), " ", group.words);
  const bool one = group.nodes.size() == 1;
  if (group.obstacle.empty())
    return absl::StrCat(nodes, group.copies > 0 ? absl::StrCat(" for ", Counted(group.copies, "pod")) : std::string(),
                        one ? ": " : ", such as ", group.example, " with ", FreeText(group.amounts));
  if (group.amounts.empty()) return absl::StrCat(nodes, one ? ": " : ", such as ", group.example);
  return absl::StrCat(nodes, ": ",
                      absl::StrJoin(group.amounts, ", ",
                                    [&](std::string* out, const NodeAmount& amount) {
                                      absl::StrAppend(
                                          out, group.amounts.size() > 1 ? absl::StrCat(amount.dim, " ") : std::string(),
                                          AmountText(amount.dim, amount.needed), " asked, ");
                                      if (group.too_small) {
                                        absl::StrAppend(out, AmountText(amount.dim, amount.allocatable),
                                                        one ? " there" : " there at most");
                                      } else {
                                        absl::StrAppend(out, one ? "" : "at most ", AmountText(amount.dim, amount.free),
                                                        " of ", AmountText(amount.dim, amount.allocatable), " free");
                                      }
                                    }),
                      " (", group.example, ")");
}

void AddAsks(const Explanation& seen, Page& page) {
  page.Line(0, absl::StrCat("Asks: ", Counted(std::max(seen.pods + seen.to_come, seen.min_member), "pod"),
                            ", at least ", seen.min_member, " together; ", seen.placed, " placed"));
  for (const explain::Ask& ask : seen.asks) {
    page.Line(
        1, absl::StrCat(ask.role.empty() ? "pods" : ask.role, ": ", ask.pods, " x ", AmountsText(ask.requests),
                        ask.wants.empty() ? "" : " on nodes with ", ask.wants,
                        ask.min > 0 ? absl::StrCat(", at least ", ask.min) : std::string(), "; ", ask.placed, " placed",
                        ask.to_come > 0 ? absl::StrCat(", ", ask.to_come, " not made yet") : std::string()));
  }
}

void AddNodes(const Explanation& seen, Page& page) {
  if (seen.nodes.empty()) return;
  page.Line(0, absl::StrCat("Nodes: ", seen.cluster_nodes));
  for (const RoleNodes& role : seen.nodes) {
    const bool named = seen.nodes.size() > 1;
    if (named)
      page.Line(1, absl::StrCat("for ", Counted(role.pods, "pod"), " of ", role.role.empty() ? "no role" : role.role));
    for (const NodeGroup& group : role.groups) {
      page.Line(named ? 2 : 1, GroupText(group));
      if (page.wide() && group.nodes.size() > 1) page.Line(named ? 3 : 2, absl::StrJoin(group.nodes, " "));
    }
  }
}

void AddQueue(const explain::QueueAccount& queue, Page& page) {
  page.Line(0, absl::StrCat("Queue ", queue.name, ": ",
                            !queue.known ? "is not there"
                            : queue.open ? "open"
                                         : "closed",
                            ", weight ", queue.weight, ", priority ", queue.priority,
                            queue.parent.empty() ? "" : ", below ", queue.parent));
  for (const QueueAmount& amount : queue.amounts) {
    const auto text = [&](std::int64_t value) { return AmountText(amount.dim, value); };
    std::string line = absl::StrCat(amount.dim, ": holds ", text(amount.held), " of ", text(amount.limit),
                                    Percent(amount.held, amount.limit));
    if (amount.promised > 0) absl::StrAppend(&line, ", ", text(amount.promised), " promised to gangs that were let in");
    if (amount.capability.has_value()) absl::StrAppend(&line, ", capability ", text(*amount.capability));
    if (amount.deserved.has_value()) absl::StrAppend(&line, ", deserved ", text(*amount.deserved));
    if (amount.guarantee > 0) absl::StrAppend(&line, ", guaranteed ", text(amount.guarantee));
    if (amount.used.has_value()) absl::StrAppend(&line, ", of late ", text(*amount.used), " on average");
    if (amount.share.has_value()) absl::StrAppend(&line, ", its share while others wait is ", text(*amount.share));
    page.Line(1, line);
  }
}

void AddCluster(const Explanation& seen, Page& page) {
  if (seen.cluster.empty()) return;
  page.Line(0, absl::StrCat("Cluster: ", Counted(seen.cluster_nodes, "node")));
  for (const explain::ClusterAmount& amount : seen.cluster) {
    const auto text = [&](std::int64_t value) { return AmountText(amount.dim, value); };
    page.Line(1, absl::StrCat(amount.dim, ": pods hold ", text(amount.held), " of ", text(amount.total),
                              Percent(amount.held, amount.total),
                              amount.outside > 0 ? absl::StrCat(", ", text(amount.outside), " of it outside of gangs")
                                                 : std::string()));
  }
}

// "": it is not known.
std::string StartText(const std::optional<absl::Time>& start) {
  return start.has_value() ? absl::StrCat("starts by ", api::FormatTime(*start),
                                          " if nobody comes before it, and nobody leaves later than is known")
                           : std::string();
}

void AddGangs(absl::string_view title, const std::vector<GangLine>& lines, Page& page) {
  if (lines.empty()) return;
  page.Line(0, title);
  page.List(1, lines, [&](const GangLine& line) {
    page.Line(1,
              absl::StrCat(page.wide() ? line.gang.ToString() : ShortName(line.gang), " (queue ", line.queue,
                           ", priority ", line.priority, "): holds ", AmountsText(line.holds),
                           line.asks.empty() ? "" : "; asks ", line.asks.empty() ? "" : AmountsText(line.asks), "; ",
                           line.sentence, line.expected_start.has_value() ? "; " : "", StartText(line.expected_start)));
  });
}

void AddPlaces(const std::vector<Spot>& spots, Page& page, int depth) {
  page.List(depth, spots, [&](const Spot& spot) {
    page.Line(depth, absl::StrCat(spot.node, ": ", spot.pods, spot.role.empty() ? "" : " x ", spot.role));
  });
}

bool Waits(const Explanation& seen) {
  return seen.state == explain::State::kQueued || seen.state == explain::State::kWaits ||
         (seen.state == explain::State::kRunsPartly && seen.reason.has_value());
}

void AddSuggestions(const Explanation& seen, Page& page) {
  if (!Waits(seen)) return;
  if (seen.reason.has_value() && seen.reason->kind == model::Reason::Kind::kRoomAwaited) return;  // it comes
  // Of a gang that is not let in and has no pods nobody knows where they would go.
  const bool let_in_only = seen.state == explain::State::kQueued && seen.nodes.empty();
  page.Line(0, seen.suggestions.empty() ? "Would help: no single change of those that were tried"
               : let_in_only            ? "Would let it in, each alone, as was tried:"
                                        : "Would help, each alone, as was tried:");
  for (const explain::Suggestion& suggestion : seen.suggestions) {
    std::string line =
        absl::StrCat(suggestion.text, suggestion.what_if.empty() ? "" : "  --what-if ", suggestion.what_if);
    for (const GangLine& other : seen.holders) {
      if (!page.wide()) absl::StrReplaceAll({{other.gang.ToString(), ShortName(other.gang)}}, &line);
    }
    page.Line(1, line);
    if (page.wide()) AddPlaces(suggestion.spots, page, 2);
  }
}

void AddWhatIf(const ExplainAnswer& answer, Page& page) {
  const WhatIf& what_if = *answer.what_if;
  page.Line(0, absl::StrCat("With ", absl::StrJoin(what_if.texts, " and "), ": ",
                            what_if.starts ? "yes, it " : "no, it ", what_if.then.sentence));
  if (what_if.starts) {
    AddPlaces(what_if.then.spots, page, 1);
  } else {
    AddNodes(what_if.then, page);
  }
}

// ---- JSON

void Amounts(const model::NamedAmounts& amounts, absl::string_view key, api::JsonWriter& json) {
  json.Key(key).BeginObject();
  for (const auto& [dim, amount] : amounts) json.Field(dim, amount);
  json.EndObject();
}

void Places(const std::vector<Spot>& spots, api::JsonWriter& json) {
  json.Key("places").BeginArray();
  for (const Spot& spot : spots)
    json.BeginObject().Field("node", spot.node).Field("role", spot.role).Field("pods", spot.pods).EndObject();
  json.EndArray();
}

void Roles(const std::vector<RoleNodes>& roles, api::JsonWriter& json) {
  json.Key("nodes").BeginArray();
  for (const RoleNodes& role : roles) {
    json.BeginObject().Field("role", role.role).Field("pods", role.pods).Key("groups").BeginArray();
    for (const NodeGroup& group : role.groups) {
      json.BeginObject()
          .Field("obstacle", group.obstacle)
          .Field("words", group.words)
          .Field("tooSmall", group.too_small)
          .Field("takes", group.copies);
      json.Field("count", static_cast<std::int64_t>(group.nodes.size()))
          .Field("example", group.example)
          .Key("amounts")
          .BeginArray();
      for (const NodeAmount& amount : group.amounts) {
        json.BeginObject()
            .Field("resource", amount.dim)
            .Field("asked", amount.needed)
            .Field("free", amount.free)
            .Field("allocatable", amount.allocatable)
            .EndObject();
      }
      json.EndArray().Key("names").BeginArray();
      for (const std::string& node : group.nodes) json.String(node);
      json.EndArray().EndObject();
    }
    json.EndArray().EndObject();
  }
  json.EndArray();
}

void Account(const explain::QueueAccount& queue, api::JsonWriter& json) {
  json.Key("queue")
      .BeginObject()
      .Field("name", queue.name)
      .Field("found", queue.known)
      .Field("open", queue.open)
      .Field("weight", queue.weight);
  json.Field("priority", queue.priority).Field("parent", queue.parent).Key("amounts").BeginArray();
  for (const QueueAmount& amount : queue.amounts) {
    json.BeginObject()
        .Field("resource", amount.dim)
        .Field("held", amount.held)
        .Field("promised", amount.promised)
        .Field("limit", amount.limit)
        .Field("guarantee", amount.guarantee);
    if (amount.capability.has_value()) json.Field("capability", *amount.capability);
    if (amount.deserved.has_value()) json.Field("deserved", *amount.deserved);
    if (amount.share.has_value()) json.Field("share", *amount.share);
    if (amount.used.has_value()) json.Field("used", *amount.used);
    json.EndObject();
  }
  json.EndArray().EndObject();
}

void Gangs(absl::string_view key, const std::vector<GangLine>& lines, api::JsonWriter& json) {
  json.Key(key).BeginArray();
  for (const GangLine& line : lines) {
    json.BeginObject()
        .Field("namespace", line.gang.ns)
        .Field("name", line.gang.name)
        .Field("queue", line.queue)
        .Field("state", explain::NameOf(line.state));
    json.Field("sentence", line.sentence)
        .Field("priority", line.priority)
        .Field("minMember", line.min_member)
        .Field("pods", line.pods)
        .Field("placed", line.placed);
    Amounts(line.holds, "holds", json);
    Amounts(line.asks, "asks", json);
    if (line.expected_start.has_value()) json.Field("expectedStart", api::FormatTime(*line.expected_start));
    json.EndObject();
  }
  json.EndArray();
}

void ReasonOf(const std::optional<model::Reason>& reason, api::JsonWriter& json) {
  if (!reason.has_value()) return;
  json.Key("reason")
      .BeginObject()
      .Field("kind", model::KindText(reason->kind))
      .Field("missing", reason->missing)
      .Field("of", reason->min_member);
  json.Field("subject", reason->subject).EndObject();
}

}  // namespace

std::string ExplainText(const ExplainAnswer& answer, bool wide) {
  const Explanation& seen = answer.explanation;
  Page page(wide);
  if (!answer.prelude.empty()) page.Line(0, answer.prelude);
  page.Line(0, absl::StrCat(answer.subject, " ", seen.sentence));
  if (answer.what_if.has_value()) {
    AddWhatIf(answer, page);
    return page.Take();
  }
  if (seen.state == explain::State::kStarts)
    page.Line(0, "If it stays so, nobody schedules it: gangway doctor says whether a scheduler is at work");
  if (seen.expected_start.has_value())
    page.Line(0, absl::StrCat("As far as ends of pods are known it ", StartText(seen.expected_start)));
  AddAsks(seen, page);
  if (!Waits(seen)) {
    if (!seen.spots.empty()) page.Line(0, "Places:");
    AddPlaces(seen.spots, page, 1);
  }
  AddNodes(seen, page);
  AddQueue(seen.queue, page);
  AddCluster(seen, page);
  AddGangs(absl::StrCat("Before it in order: ", Counted(static_cast<std::int64_t>(seen.before.size()), "gang")),
           seen.before, page);
  if (Waits(seen) || wide) AddGangs("Hold room:", seen.holders, page);
  AddSuggestions(seen, page);
  return page.Take();
}

std::string ExplainJson(const ExplainAnswer& answer) {
  const Explanation& seen = answer.explanation;
  std::string out;
  api::JsonWriter json(out);
  json.BeginObject()
      .Field("version", 1)
      .Field("subject", answer.subject)
      .Field("namespace", seen.gang.ns)
      .Field("podGroup", seen.gang.name)
      .Field("podGroupGroup", explain::GroupOf(seen.gang.kind));
  json.Field("state", explain::NameOf(seen.state)).Field("sentence", seen.sentence);
  ReasonOf(seen.reason, json);
  if (seen.expected_start.has_value()) json.Field("expectedStart", api::FormatTime(*seen.expected_start));
  json.Field("letIn", seen.admitted)
      .Field("minMember", seen.min_member)
      .Field("pods", seen.pods)
      .Field("placed", seen.placed)
      .Field("toCome", seen.to_come);
  json.Field("priorityClass", seen.priority_class).Field("priority", seen.priority).Key("asks").BeginArray();
  for (const explain::Ask& ask : seen.asks) {
    json.BeginObject()
        .Field("role", ask.role)
        .Field("pods", ask.pods)
        .Field("placed", ask.placed)
        .Field("toCome", ask.to_come)
        .Field("min", ask.min)
        .Field("wants", ask.wants);
    Amounts(ask.requests, "requests", json);
    json.EndObject();
  }
  json.EndArray().Field("clusterNodes", seen.cluster_nodes);
  Roles(seen.nodes, json);
  json.Key("cluster").BeginArray();
  for (const explain::ClusterAmount& amount : seen.cluster) {
    json.BeginObject()
        .Field("resource", amount.dim)
        .Field("total", amount.total)
        .Field("held", amount.held)
        .Field("outsideOfGangs", amount.outside)
        .EndObject();
  }
  json.EndArray();
  Account(seen.queue, json);
  Gangs("before", seen.before, json);
  Gangs("holders", seen.holders, json);
  Places(seen.spots, json);
  json.Key("suggestions").BeginArray();
  for (const explain::Suggestion& suggestion : seen.suggestions) {
    json.BeginObject().Field("text", suggestion.text).Field("whatIf", suggestion.what_if);
    Places(suggestion.spots, json);
    json.EndObject();
  }
  json.EndArray();
  if (answer.what_if.has_value()) {
    const WhatIf& what_if = *answer.what_if;
    json.Key("whatIf").BeginObject().Key("changes").BeginArray();
    for (const std::string& word : what_if.words) json.String(word);
    json.EndArray()
        .Field("starts", what_if.starts)
        .Field("state", explain::NameOf(what_if.then.state))
        .Field("sentence", what_if.then.sentence);
    Roles(what_if.then.nodes, json);
    Places(what_if.then.spots, json);
    json.EndObject();
  }
  json.EndObject();
  return PrintableJson(out) + "\n";
}

std::string QueueExplainText(const explain::QueueExplanation& queue, bool wide) {
  Page page(wide);
  page.Line(0, absl::StrCat("queue ", queue.queue.name, " ", queue.sentence));
  AddQueue(queue.queue, page);
  if (!queue.children.empty()) page.Line(0, "Below it:");
  for (const explain::QueueAccount& child : queue.children) {
    page.Line(1, absl::StrCat(child.name, " (", child.open ? "open" : "closed", ", weight ", child.weight, "): ",
                              absl::StrJoin(child.amounts, ", ", [](std::string* out, const QueueAmount& amount) {
                                absl::StrAppend(out, amount.dim, " ", AmountText(amount.dim, amount.held), " of ",
                                                AmountText(amount.dim, amount.limit));
                              })));
  }
  AddGangs("Hold room:", queue.holders, page);
  AddGangs("Wait, in the order in which they are served:", queue.waiting, page);
  return page.Take();
}

std::string QueueExplainJson(const explain::QueueExplanation& queue) {
  std::string out;
  api::JsonWriter json(out);
  json.BeginObject()
      .Field("version", 1)
      .Field("subject", absl::StrCat("queue ", queue.queue.name))
      .Field("sentence", queue.sentence);
  Account(queue.queue, json);
  json.Key("children").BeginArray();
  for (const explain::QueueAccount& child : queue.children) json.String(child.name);
  json.EndArray();
  Gangs("holders", queue.holders, json);
  Gangs("waiting", queue.waiting, json);
  json.EndObject();
  return PrintableJson(out) + "\n";
}

}  // namespace gangway::cmd
