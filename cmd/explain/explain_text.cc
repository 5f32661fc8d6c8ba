#include "cmd/explain/explain_text.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "api/field_table.h"
#include "api/json.h"
#include "base/printable.h"
#include "plugin/explain/explain.h"
#include "plugin/phrases/phrases.h"

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

// A Job's PodGroup is named as the Job, with the Job's UID behind: people know the Job's name. One of pods that no Job
// made is "podgroup-<UID>", and known by nothing else.
std::string ShortName(const explain::GangKey& gang) {
  constexpr std::size_t kUid = 36;
  const std::string full = gang.ToString();
  if (full.size() <= kUid + 1) return full;
  const absl::string_view uid = absl::string_view(full).substr(full.size() - kUid);
  for (std::size_t i = 0; i < uid.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? uid[i] != '-' : !absl::ascii_isxdigit(static_cast<unsigned char>(uid[i]))) return full;
  }
  const std::string name = full.substr(0, full.size() - kUid - 1);
  return full[name.size()] == '-' && !absl::EndsWith(name, "/podgroup") ? name : full;
}

// Adds lines, each on its own whatever stands in it.
class Page {
 public:
  Page(bool wide, Language language) : wide_(wide), language_(language) {}
  void Line(int depth, const Words& words) {
    absl::StrAppend(&text_, std::string(static_cast<std::size_t>(depth) * 2, ' '), OneLine(words.In(language_)), "\n");
  }
  // Of a long list the first few, unless all are wanted.
  template <class T, class F>  // void(const T&)
  void List(int depth, const std::vector<T>& items, F line) {
    const std::size_t shown = wide_ ? items.size() : std::min(items.size(), kShortList);
    for (std::size_t i = 0; i < shown; ++i) line(items[i]);
    if (shown < items.size()) Line(depth, {phrases::kMoreByName, items.size() - shown});
  }
  bool wide() const { return wide_; }
  Language language() const { return language_; }
  std::string Take() { return std::move(text_); }

 private:
  const bool wide_;
  const Language language_;
  std::string text_;
};

// The phrase with what stands in its places, or nothing.
template <class... Parts>
Words If(bool so, const Phrase& phrase, Parts&&... parts) {
  return so ? Words(phrase, std::forward<Parts>(parts)...) : Words();
}

// " (75%)"; nothing is ever more than all.
std::string Percent(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return "";
  const double share = static_cast<double>(std::clamp<std::int64_t>(part, 0, whole)) / static_cast<double>(whole);
  return absl::StrCat(" (", static_cast<int>(share * 100), "%)");
}

Words FreeText(const std::vector<NodeAmount>& amounts) {
  std::vector<Words> parts;
  for (const NodeAmount& amount : amounts) {
    parts.emplace_back(phrases::kFreeOf, amount.dim, AmountText(amount.dim, amount.free),
                       AmountText(amount.dim, amount.allocatable));
  }
  return Words::Joined(std::move(parts), phrases::kComma);
}

// "8 asked, at most 4 of 8 free"
Words AskedText(const NodeGroup& group, const NodeAmount& amount) {
  const bool one = group.nodes.size() == 1;
  const std::string needed = AmountText(amount.dim, amount.needed);
  const std::string there = AmountText(amount.dim, amount.allocatable);
  if (group.too_small) return {one ? phrases::kAskedThere : phrases::kAskedThereAtMost, needed, there};
  return {one ? phrases::kAskedFree : phrases::kAskedFreeAtMost, needed, AmountText(amount.dim, amount.free), there};
}

// "3 nodes lack nvidia.com/gpu: 8 asked, at most 4 of 8 free (n17)"
Words GroupText(const NodeGroup& group) {
  const bool one = group.nodes.size() == 1;
  Words nodes(phrases::kSo, Counted(static_cast<std::int64_t>(group.nodes.size()), phrases::kNodes), group.words);
  const Phrase& example = one ? phrases::kNamely : phrases::kSuchAs;
  if (group.obstacle.empty()) {
    if (group.copies > 0) nodes.Add({phrases::kForPods, Counted(group.copies, phrases::kPods)});
    return {example, nodes, Words(phrases::kNodeWith, group.example, FreeText(group.amounts))};
  }
  if (group.amounts.empty()) return {example, nodes, group.example};
  std::vector<Words> asked;
  for (const NodeAmount& amount : group.amounts) {
    const Words of_one = AskedText(group, amount);
    asked.push_back(group.amounts.size() > 1 ? Words(phrases::kOfResource, amount.dim, of_one) : of_one);
  }
  return {phrases::kNamelyOn, nodes, Words::Joined(std::move(asked), phrases::kComma), group.example};
}

void AddAsks(const Explanation& seen, Page& page) {
  page.Line(0, {phrases::kAsks, Counted(std::max(seen.pods + seen.to_come, seen.min_member), phrases::kPods),
                seen.min_member, seen.placed});
  for (const explain::Ask& ask : seen.asks) {
    const Words role = ask.role.empty() ? Words(phrases::kPodsRole) : Words::Name(ask.role);
    page.Line(1, {phrases::kAsk, role, ask.pods, AmountsText(ask.requests),
                  If(!ask.wants.empty(), phrases::kOnNodesWith, ask.wants), If(ask.min > 0, phrases::kAtLeast, ask.min),
                  ask.placed, If(ask.to_come > 0, phrases::kNotMadeYet, ask.to_come)});
  }
}

void AddNodes(const Explanation& seen, Page& page) {
  if (seen.nodes.empty()) return;
  page.Line(0, {phrases::kNodesTitle, seen.cluster_nodes});
  for (const RoleNodes& role : seen.nodes) {
    const bool named = seen.nodes.size() > 1;
    if (named)
      page.Line(1, {phrases::kForPodsOf, Counted(role.pods, phrases::kPods),
                    role.role.empty() ? Words(phrases::kNoRole) : Words::Name(role.role)});
    for (const NodeGroup& group : role.groups) {
      page.Line(named ? 2 : 1, GroupText(group));
      if (page.wide() && group.nodes.size() > 1) page.Line(named ? 3 : 2, Words::Name(absl::StrJoin(group.nodes, " ")));
    }
  }
}

Words HeldText(const QueueAmount& amount) {
  const auto text = [&](std::int64_t value) { return AmountText(amount.dim, value); };
  Words line(phrases::kHolds, amount.dim, text(amount.held), text(amount.limit), Percent(amount.held, amount.limit));
  if (amount.promised > 0) line.Add({phrases::kPromised, text(amount.promised)});
  if (amount.capability.has_value()) line.Add({phrases::kCapability, text(*amount.capability)});
  if (amount.deserved.has_value())
    line.Add({amount.deserved_counts ? phrases::kDeserved : phrases::kDeservedNotRead, text(*amount.deserved)});
  if (amount.guarantee > 0) line.Add({phrases::kGuaranteed, text(amount.guarantee)});
  if (amount.used.has_value()) line.Add({phrases::kOfLate, text(*amount.used)});
  if (amount.share.has_value()) line.Add({phrases::kShareWhileOthersWait, text(*amount.share)});
  return line;
}

void AddQueue(const explain::QueueAccount& queue, Page& page) {
  const Phrase& state = !queue.known ? phrases::kIsNotThere : queue.open ? phrases::kOpen : phrases::kClosed;
  page.Line(0, {phrases::kQueueTitle, queue.name, state, queue.weight, queue.priority,
                If(!queue.parent.empty(), phrases::kBelow, queue.parent)});
  for (const QueueAmount& amount : queue.amounts) page.Line(1, HeldText(amount));
}

void AddCluster(const Explanation& seen, Page& page) {
  if (seen.cluster.empty()) return;
  page.Line(0, {phrases::kClusterTitle, Counted(seen.cluster_nodes, phrases::kNodes)});
  for (const explain::ClusterAmount& amount : seen.cluster) {
    const auto text = [&](std::int64_t value) { return AmountText(amount.dim, value); };
    page.Line(
        1, {phrases::kPodsHoldOf, amount.dim, text(amount.held), text(amount.total), Percent(amount.held, amount.total),
            If(amount.outside > 0, phrases::kOutsideOfGangs, text(amount.outside))});
  }
}

// As known, as likely, or both; of a GangLine or an Explanation.
template <class T>
Words StartText(const T& seen) {
  Words text;
  if (seen.expected_start.has_value()) text = {phrases::kStartsBy, api::FormatTime(*seen.expected_start)};
  if (!seen.likely_start.has_value()) return text;
  const Words likely(phrases::kLikelyStarts, api::FormatTime(*seen.likely_start));
  return seen.expected_start.has_value() ? text.Add({phrases::kAndMore, likely}) : likely;
}
template <class T>
bool StartIsKnown(const T& seen) {
  return seen.expected_start.has_value() || seen.likely_start.has_value();
}
template <class T>
void AddStart(const T& seen, api::JsonWriter& json) {
  if (seen.expected_start.has_value()) json.Field("expectedStart", api::FormatTime(*seen.expected_start));
  if (seen.likely_start.has_value()) json.Field("likelyStart", api::FormatTime(*seen.likely_start));
}

void AddGangs(const Words& title, const std::vector<GangLine>& lines, Page& page) {
  if (lines.empty()) return;
  page.Line(0, title);
  page.List(1, lines, [&](const GangLine& line) {
    page.Line(
        1, {phrases::kGangLine, page.wide() ? line.gang.ToString() : ShortName(line.gang), line.queue, line.priority,
            AmountsText(line.holds), If(!line.asks.empty(), phrases::kAndAsks, AmountsText(line.asks)), line.sentence,
            StartIsKnown(line) ? Words(phrases::kAndMore, StartText(line)) : Words()});
  });
}

void AddPlaces(const std::vector<Spot>& spots, Page& page, int depth) {
  page.List(depth, spots, [&](const Spot& spot) {
    page.Line(depth, Words::Name(absl::StrCat(spot.node, ": ", spot.pods, spot.role.empty() ? "" : " x ", spot.role)));
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
  page.Line(0, seen.suggestions.empty() ? phrases::kNoHelp : let_in_only ? phrases::kWouldLetIn : phrases::kWouldHelp);
  for (const explain::Suggestion& suggestion : seen.suggestions) {
    std::string line = absl::StrCat(suggestion.text.In(page.language()),
                                    suggestion.what_if.empty() ? "" : "  --what-if ", suggestion.what_if);
    for (const GangLine& other : seen.holders) {
      if (!page.wide()) absl::StrReplaceAll({{other.gang.ToString(), ShortName(other.gang)}}, &line);
    }
    page.Line(1, Words::Name(line));
    if (page.wide()) AddPlaces(suggestion.spots, page, 2);
  }
}

// Whose pods go for it in the next round.
void AddEvicted(const Explanation& seen, Page& page) {
  if (seen.evicted.empty()) return;
  page.Line(0, {seen.evict_for == model::EvictFor::kRoom ? phrases::kMovedTitle : phrases::kEvictedTitle,
                explain::EvictedForText(seen.evict_for)});
  page.List(1, seen.evicted, [&](const explain::Evicted& evicted) {
    page.Line(1, {phrases::kEvictedLine, page.wide() ? evicted.gang.ToString() : ShortName(evicted.gang), evicted.queue,
                  evicted.priority, evicted.pods.size(), Counted(evicted.of, phrases::kPods)});
    if (page.wide()) page.Line(2, Words::Name(absl::StrJoin(evicted.pods, " ")));
  });
}

void AddWhatIf(const ExplainAnswer& answer, Page& page) {
  const WhatIf& what_if = *answer.what_if;
  const explain::State state = what_if.then.state;
  const bool later = what_if.starts && (state == explain::State::kQueued || state == explain::State::kWaits);
  page.Line(0, {later            ? phrases::kWithYesLater
                : what_if.starts ? phrases::kWithYes
                                 : phrases::kWithNo,
                Words::Joined(what_if.texts, phrases::kAnd), what_if.then.sentence});
  AddEvicted(what_if.then, page);
  if (StartIsKnown(what_if.then)) page.Line(0, {phrases::kAsFarAsKnown, StartText(what_if.then)});
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

void EvictedPods(const Explanation& seen, api::JsonWriter& json) {
  json.Key("evicts").BeginArray();
  for (const explain::Evicted& evicted : seen.evicted) {
    json.BeginObject()
        .Field("namespace", evicted.gang.ns)
        .Field("name", evicted.gang.name)
        .Field("queue", evicted.queue)
        .Field("priority", evicted.priority)
        .Field("for", model::NameOf(seen.evict_for))
        .Key("pods")
        .BeginArray();
    for (const std::string& pod : evicted.pods) json.String(pod);
    json.EndArray().EndObject();
  }
  json.EndArray();
}

void Roles(const std::vector<RoleNodes>& roles, Language language, api::JsonWriter& json) {
  json.Key("nodes").BeginArray();
  for (const RoleNodes& role : roles) {
    json.BeginObject().Field("role", role.role).Field("pods", role.pods).Key("groups").BeginArray();
    for (const NodeGroup& group : role.groups) {
      json.BeginObject()
          .Field("obstacle", group.obstacle)
          .Field("words", group.words.In(language))
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

void Gangs(absl::string_view key, const std::vector<GangLine>& lines, Language language, api::JsonWriter& json) {
  json.Key(key).BeginArray();
  for (const GangLine& line : lines) {
    json.BeginObject()
        .Field("namespace", line.gang.ns)
        .Field("name", line.gang.name)
        .Field("queue", line.queue)
        .Field("state", explain::NameOf(line.state));
    json.Field("sentence", line.sentence.In(language))
        .Field("priority", line.priority)
        .Field("minMember", line.min_member)
        .Field("pods", line.pods)
        .Field("placed", line.placed);
    Amounts(line.holds, "holds", json);
    Amounts(line.asks, "asks", json);
    AddStart(line, json);
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
  json.Field("subject", reason->subject.English()).EndObject();
}

}  // namespace

std::string ExplainText(const ExplainAnswer& answer, bool wide, Language language) {
  const Explanation& seen = answer.explanation;
  Page page(wide, language);
  if (!answer.prelude.empty()) page.Line(0, answer.prelude);
  page.Line(0, {phrases::kSubjectSays, answer.subject, seen.sentence});
  if (answer.what_if.has_value()) {
    AddWhatIf(answer, page);
    return page.Take();
  }
  if (seen.state == explain::State::kStarts && !seen.awaits_volume) page.Line(0, phrases::kNobodySchedules);
  AddEvicted(seen, page);
  if (StartIsKnown(seen)) page.Line(0, {phrases::kAsFarAsKnown, StartText(seen)});
  AddAsks(seen, page);
  if (!Waits(seen)) {
    if (!seen.spots.empty()) page.Line(0, phrases::kPlacesTitle);
    AddPlaces(seen.spots, page, 1);
  }
  AddNodes(seen, page);
  AddQueue(seen.queue, page);
  AddCluster(seen, page);
  AddGangs({phrases::kBeforeTitle, Counted(static_cast<std::int64_t>(seen.before.size()), phrases::kGangs)},
           seen.before, page);
  if (Waits(seen) || wide) AddGangs(phrases::kHoldRoomTitle, seen.holders, page);
  AddSuggestions(seen, page);
  return page.Take();
}

std::string ExplainJson(const ExplainAnswer& answer, Language language) {
  const Explanation& seen = answer.explanation;
  std::string out;
  api::JsonWriter json(out);
  json.BeginObject()
      .Field("version", 1)
      .Field("subject", answer.subject)
      .Field("namespace", seen.gang.ns)
      .Field("podGroup", seen.gang.name)
      .Field("podGroupGroup", explain::GroupOf(seen.gang.kind));
  json.Field("state", explain::NameOf(seen.state)).Field("sentence", seen.sentence.In(language));
  ReasonOf(seen.reason, json);
  AddStart(seen, json);
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
        .Field("wants", ask.wants.In(language));
    Amounts(ask.requests, "requests", json);
    json.EndObject();
  }
  json.EndArray().Field("clusterNodes", seen.cluster_nodes);
  Roles(seen.nodes, language, json);
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
  Gangs("before", seen.before, language, json);
  Gangs("holders", seen.holders, language, json);
  Places(seen.spots, json);
  EvictedPods(seen, json);
  json.Key("suggestions").BeginArray();
  for (const explain::Suggestion& suggestion : seen.suggestions) {
    json.BeginObject().Field("text", suggestion.text.In(language)).Field("whatIf", suggestion.what_if);
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
        .Field("sentence", what_if.then.sentence.In(language));
    AddStart(what_if.then, json);
    Roles(what_if.then.nodes, language, json);
    Places(what_if.then.spots, json);
    EvictedPods(what_if.then, json);
    json.EndObject();
  }
  json.EndObject();
  return PrintableJson(out) + "\n";
}

std::string QueueExplainText(const explain::QueueExplanation& queue, bool wide, Language language) {
  Page page(wide, language);
  page.Line(0, {phrases::kSubjectSays, absl::StrCat("queue ", queue.queue.name), queue.sentence});
  AddQueue(queue.queue, page);
  if (!queue.children.empty()) page.Line(0, phrases::kBelowTitle);
  for (const explain::QueueAccount& child : queue.children) {
    std::vector<Words> held;
    for (const QueueAmount& amount : child.amounts)
      held.emplace_back(phrases::kHeldOf, amount.dim, AmountText(amount.dim, amount.held),
                        AmountText(amount.dim, amount.limit));
    page.Line(1, {phrases::kChild, child.name, child.open ? phrases::kOpen : phrases::kClosed, child.weight,
                  Words::Joined(std::move(held), phrases::kComma)});
  }
  AddGangs(phrases::kHoldRoomTitle, queue.holders, page);
  AddGangs(phrases::kWaitTitle, queue.waiting, page);
  return page.Take();
}

std::string QueueExplainJson(const explain::QueueExplanation& queue, Language language) {
  std::string out;
  api::JsonWriter json(out);
  json.BeginObject()
      .Field("version", 1)
      .Field("subject", absl::StrCat("queue ", queue.queue.name))
      .Field("sentence", queue.sentence.In(language));
  Account(queue.queue, json);
  json.Key("children").BeginArray();
  for (const explain::QueueAccount& child : queue.children) json.String(child.name);
  json.EndArray();
  Gangs("holders", queue.holders, language, json);
  Gangs("waiting", queue.waiting, language, json);
  json.EndObject();
  return PrintableJson(out) + "\n";
}

}  // namespace gangway::cmd
