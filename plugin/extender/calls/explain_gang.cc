#include "plugin/extender/calls/explain_gang.h"

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "plugin/explain/suggest.h"
#include "plugin/explain/trial.h"
#include "plugin/extender/calls/decision_message.h"
#include "plugin/extender/calls/field_path.h"
#include "plugin/extender/calls/request_facts.h"
#include "plugin/extender/calls/typed_facts.h"
#include "plugin/model/queues.h"

namespace gangway::extender {
namespace {

using model::AmountText;

template <class Map>
void PutAmounts(const model::NamedAmounts& amounts, Map& to) {
  for (const auto& [name, amount] : amounts) to[name] = AmountText(name, amount);
}

void PutSpots(const std::vector<explain::Spot>& spots, google::protobuf::RepeatedPtrField<v1::Spot>& to) {
  for (const explain::Spot& spot : spots) {
    v1::Spot& out = *to.Add();
    out.set_node(spot.node);
    out.set_task(spot.role);
    out.set_pods(spot.pods);
  }
}

void PutNodes(const std::vector<explain::RoleNodes>& roles, google::protobuf::RepeatedPtrField<v1::TaskNodes>& to) {
  for (const explain::RoleNodes& role : roles) {
    v1::TaskNodes& out = *to.Add();
    out.set_task(role.role);
    out.set_pods(role.pods);
    for (const explain::NodeGroup& group : role.groups) {
      v1::NodeGroup& nodes = *out.add_groups();
      nodes.set_obstacle(group.obstacle);
      nodes.set_words(group.words.English());
      nodes.set_too_small(group.too_small);
      nodes.set_copies(group.copies);
      nodes.set_example(group.example);
      for (const std::string& node : group.nodes) nodes.add_nodes(node);
      for (const explain::NodeAmount& amount : group.amounts) {
        v1::NodeAmount& put = *nodes.add_amounts();
        put.set_resource(amount.dim);
        put.set_needed(AmountText(amount.dim, amount.needed));
        put.set_free(AmountText(amount.dim, amount.free));
        put.set_allocatable(AmountText(amount.dim, amount.allocatable));
      }
    }
  }
}

void PutLines(const std::vector<explain::GangLine>& lines, google::protobuf::RepeatedPtrField<v1::GangLine>& to) {
  for (const explain::GangLine& line : lines) {
    v1::GangLine& out = *to.Add();
    out.set_namespace_(line.gang.ns);
    out.set_name(line.gang.name);
    out.set_queue(line.queue);
    out.set_state(std::string(explain::NameOf(line.state)));
    out.set_sentence(line.sentence.English());
    out.set_priority(line.priority);
    out.set_min_member(line.min_member);
    out.set_pods(line.pods);
    out.set_placed(line.placed);
    PutAmounts(line.holds, *out.mutable_holds());
    PutAmounts(line.asks, *out.mutable_asks());
  }
}

v1::QueueAccount AccountOf(const explain::QueueAccount& queue) {
  v1::QueueAccount out;
  out.set_name(queue.name);
  out.set_parent(queue.parent);
  out.set_known(queue.known);
  out.set_open(queue.open);
  out.set_weight(queue.weight);
  out.set_priority(queue.priority);
  for (const explain::QueueAmount& amount : queue.amounts) {
    v1::QueueAmount& put = *out.add_amounts();
    const auto text = [&](std::int64_t value) { return AmountText(amount.dim, value); };
    put.set_resource(amount.dim);
    if (amount.capability.has_value()) put.set_capability(text(*amount.capability));
    if (amount.deserved.has_value()) put.set_deserved(text(*amount.deserved));
    put.set_guarantee(text(amount.guarantee));
    put.set_held(text(amount.held));
    put.set_promised(text(amount.promised));
    if (amount.limit != model::kUnlimited) put.set_limit(text(amount.limit));
    if (amount.share.has_value()) put.set_share(text(*amount.share));
  }
  return out;
}

v1::ExplainResponse MessageOf(const explain::Explanation& seen) {
  v1::ExplainResponse out;
  out.set_state(std::string(explain::NameOf(seen.state)));
  out.set_sentence(seen.sentence.English());
  if (seen.reason.has_value()) *out.mutable_reason() = extender::MessageOf(*seen.reason);
  out.set_let_in(seen.admitted);
  out.set_min_member(seen.min_member);
  out.set_pods(seen.pods);
  out.set_pods_placed(seen.placed);
  out.set_priority_class(seen.priority_class);
  out.set_priority(seen.priority);
  for (const explain::Ask& ask : seen.asks) {
    v1::Ask& put = *out.add_asks();
    put.set_task(ask.role);
    put.set_pods(ask.pods);
    put.set_placed(ask.placed);
    put.set_min(ask.min);
    put.set_wants(ask.wants.English());
    PutAmounts(ask.requests, *put.mutable_requests());
  }
  PutNodes(seen.nodes, *out.mutable_nodes());
  out.set_cluster_nodes(seen.cluster_nodes);
  for (const explain::ClusterAmount& amount : seen.cluster) {
    v1::ClusterAmount& put = *out.add_cluster();
    put.set_resource(amount.dim);
    put.set_total(AmountText(amount.dim, amount.total));
    put.set_held(AmountText(amount.dim, amount.held));
    put.set_outside_of_gangs(AmountText(amount.dim, amount.outside));
  }
  *out.mutable_queue() = AccountOf(seen.queue);
  PutLines(seen.before, *out.mutable_before());
  PutLines(seen.holders, *out.mutable_holders());
  PutSpots(seen.spots, *out.mutable_spots());
  return out;
}

// As its spec says; the explanation has only what a controller wrote down.
void PutDeserved(const std::vector<model::QueueFacts>& queues, v1::QueueAccount& to) {
  for (const model::QueueFacts& queue : queues) {
    if (queue.name != to.name()) continue;
    for (v1::QueueAmount& amount : *to.mutable_amounts()) {
      for (const auto& [name, deserved] : queue.deserved) {
        if (name == amount.resource()) amount.set_deserved(AmountText(name, deserved));
      }
    }
  }
}

absl::StatusOr<std::vector<explain::Change>> ChangesOf(const v1::ExplainRequest& request) {
  if (request.what_if_size() > kMaxWhatIf)
    return Wrong("what_if",
                 absl::StrCat(request.what_if_size(), " changes are more than one call tries, which is ", kMaxWhatIf));
  std::vector<explain::Change> changes;
  for (int i = 0; i < request.what_if_size(); ++i) {
    const std::string path = At("what_if", static_cast<std::size_t>(i));
    absl::StatusOr<explain::Change> change = explain::ParseChange(request.what_if(i));
    if (!change.ok())
      return Wrong(path, absl::StrCat(Quoted(request.what_if(i)),
                                      " is no change; write nodes=+2, queue=NAME, min=3, priority=CLASS, "
                                      "uncordon=NODE or without=NAMESPACE/PODGROUP"));
    const auto* const nodes = std::get_if<explain::MoreNodes>(&*change);
    if (nodes != nullptr && nodes->count > kMaxNodesAdded)
      return Wrong(path, absl::StrCat(nodes->count, " nodes are more than one call adds, which is ", kMaxNodesAdded));
    changes.push_back(*std::move(change));
  }
  return changes;
}

// The cluster with them is one that a call may have, too.
absl::Status CheckNodesAdded(const explain::ClusterFacts& facts, const std::vector<explain::Change>& changes) {
  int nodes = 0;
  for (const explain::Change& change : changes) {
    const auto* const more = std::get_if<explain::MoreNodes>(&change);
    if (more != nullptr) nodes += more->count;
  }
  return nodes == 0 ? absl::OkStatus() : CheckSizes(facts, nodes);
}

// nodes=+2 leaves open what they are like.
absl::Status SayWhichNodes(explain::Trial& trial, const explain::GangKey& gang, std::vector<explain::Change>& changes) {
  for (std::size_t i = 0; i < changes.size(); ++i) {
    explain::MoreNodes* const nodes = std::get_if<explain::MoreNodes>(&changes[i]);
    if (nodes == nullptr || !nodes->like.empty()) continue;
    nodes->like = explain::NodeToCopy(trial, gang);
    if (nodes->like.empty())
      return Wrong(At("what_if", i),
                   "no node of this cluster would take one of its members even when empty; write "
                   "nodes=+1:NODE for nodes like that one");
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::WhatIf> TryChanges(explain::Trial& trial, const explain::GangKey& gang,
                                      std::vector<explain::Change> changes) {
  GW_RETURN_IF_ERROR(SayWhichNodes(trial, gang, changes));
  const absl::StatusOr<explain::Outcome> outcome = trial.Try(gang, changes);
  if (absl::IsNotFound(outcome.status()) || absl::IsInvalidArgument(outcome.status()))
    return Wrong("what_if", Quoted(outcome.status().message()));
  GW_RETURN_IF_ERROR(outcome.status());
  GW_ASSIGN_OR_RETURN(const explain::Explanation then, trial.ExplainWith(gang, changes));
  v1::WhatIf out;
  for (const explain::Change& change : changes) out.add_texts(explain::TextOf(change).English());
  out.set_starts(outcome->starts);
  out.set_state(std::string(explain::NameOf(then.state)));
  out.set_sentence(then.sentence.English());
  PutNodes(then.nodes, *out.mutable_nodes());
  PutSpots(then.spots, *out.mutable_spots());
  return out;
}

}  // namespace

absl::StatusOr<v1::ExplainResponse> ExplainGang(const v1::ExplainRequest& request, const gang::Policy& policy,
                                                StillWanted still_wanted) {
  GW_ASSIGN_OR_RETURN(const absl::Time now, NowOf(request, absl::UnixEpoch()));
  GW_ASSIGN_OR_RETURN(std::vector<explain::Change> changes, ChangesOf(request));
  GW_ASSIGN_OR_RETURN(const Asked asked,
                      ReadRequest(request.has_gang() ? &request.gang() : nullptr, request.cluster(), still_wanted));
  GW_RETURN_IF_ERROR(CheckNodesAdded(asked.facts, changes));
  explain::Trial trial(asked.facts, policy, now, still_wanted);
  GW_RETURN_IF_ERROR(still_wanted());
  GW_ASSIGN_OR_RETURN(const explain::Explanation seen, trial.Explain(asked.gang));
  v1::ExplainResponse out = MessageOf(seen);
  PutDeserved(asked.facts.queues, *out.mutable_queue());
  GW_RETURN_IF_ERROR(still_wanted());
  if (!changes.empty()) {
    GW_ASSIGN_OR_RETURN(*out.mutable_what_if(), TryChanges(trial, asked.gang, std::move(changes)));
  }
  GW_RETURN_IF_ERROR(still_wanted());
  if (!request.suggest()) return out;
  for (const explain::Suggestion& suggestion : explain::Suggest(trial, seen)) {
    v1::Suggestion& put = *out.add_suggestions();
    put.set_text(suggestion.text.English());
    put.set_what_if(suggestion.what_if);
    PutSpots(suggestion.spots, *put.mutable_spots());
  }
  GW_RETURN_IF_ERROR(still_wanted());  // what was left untried is no answer
  return out;
}

}  // namespace gangway::extender
