#include "plugin/explain/trial.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "plugin/explain/counted_use.h"
#include "plugin/explain/expected.h"

namespace gangway::explain {
namespace {

absl::Status NoSuchGang(const GangKey& gang) {
  return absl::NotFoundError(absl::StrCat("there is no podgroup ", gang.ToString()));
}

bool LooksForStart(State state) { return state == State::kQueued || state == State::kWaits; }

}  // namespace

Trial::Trial(const ClusterFacts& facts, const gang::Policy& policy, absl::Time now, StillWanted still_wanted)
    : index_(facts), policy_(policy), now_(now), still_wanted_(still_wanted) {
  Tell(facts, cluster_);
  if (policy_.use_half_life.has_value()) CountedUse(index_, cluster_, *policy_.use_half_life, now_);
}

// Who is evicted ends within its grace, and whom room is kept for knows where; that nobody is evicted changes nothing.
Events Trial::WhoGoes(const FactIndex& index, const model::Decisions& decisions) const {
  std::map<std::string, model::PodFacts> pods;
  const auto pod_of = [&](model::TaskId id) -> model::PodFacts* {
    const model::Task& task = cluster_.task(id);
    const model::PodFacts* const fact = index.FindPod(task.ns, task.name);
    return fact == nullptr ? nullptr : &pods.try_emplace(model::KeyOf(task.ns, task.name), *fact).first->second;
  };
  for (const model::Decision& decision : decisions) {
    if (decision.evicted.empty()) continue;
    for (const model::TaskId id : decision.evicted) {
      if (model::PodFacts* const pod = pod_of(id); pod != nullptr) {
        pod->terminating = true;
        pod->grace_ends = now_ + pod->grace;
      }
    }
    if (!decision.nominations.has_value()) continue;
    for (const model::Placement& placement : *decision.nominations) {
      if (model::PodFacts* const pod = pod_of(placement.task); pod != nullptr)
        pod->nominated = std::string(cluster_.node_name(placement.row));
    }
  }
  Events events;
  for (auto& [name, pod] : pods) events.pods.push_back(std::move(pod));
  return events;
}

void Trial::FindClaims() {
  if (claims_.has_value()) return;
  LetCome(false);
  claims_.emplace(cluster_, policy_, now_, scratch_);
}

Trial::Starts Trial::StartsAfter(const ClusterFacts& facts, const model::Decisions& decisions) const {
  const FactIndex index(facts);
  const Events events = WhoGoes(index, decisions);
  if (!events.pods.empty()) return StartsAfter(FactsWith(facts, events), {});
  Starts out;
  out.expected = ExpectedStarts(index, *claims_, policy_, now_, Ends::kKnown, still_wanted_);
  const bool history =
      std::any_of(facts.gangs.begin(), facts.gangs.end(), [](const auto& each) { return each.past_runs.runs > 0; });
  out.likely = history ? ExpectedStarts(index, *claims_, policy_, now_, Ends::kLikely, still_wanted_) : out.expected;
  return out;
}

const Trial::Starts& Trial::StartsAsThingsAre(const model::Decisions& decisions) {
  if (!starts_.has_value()) starts_ = StartsAfter(index_.facts(), decisions);
  return *starts_;
}

template <class T>
void Trial::AddStart(const Starts& starts, const GangKey& gang, T& out) {
  const auto in = [&](const std::map<std::string, absl::Time>& by_gang) {
    const auto start = by_gang.find(gang.ToString());
    return start == by_gang.end() ? std::nullopt : std::optional(start->second);
  };
  out.expected_start = in(starts.expected);
  out.likely_start = in(starts.likely);
  if (out.likely_start == out.expected_start) out.likely_start.reset();
}

void Trial::LetCome(bool there) {
  if (std::exchange(came_, there) == there) return;
  for (const model::PodFacts& pod : index_.facts().to_come) {
    if (there) {
      cluster_.SetPod(pod);
    } else {
      cluster_.RemovePod(pod.ns, pod.name);
    }
  }
}

void Trial::Apply(const Events& events) {
  for (const auto& each : events.priority_classes) cluster_.SetPriorityClass(each);
  for (const auto& each : events.queues) cluster_.SetQueue(each);
  for (const auto& each : events.nodes) cluster_.SetNode(each);
  for (const auto& each : events.gangs) cluster_.SetGang(each);
  for (const auto& each : events.pods) cluster_.SetPod(each);
  for (const auto& each : events.gone_pods) cluster_.RemovePod(each.ns, each.name);
  for (const auto& each : events.gone_gangs) cluster_.RemoveGang(each.ns, each.name, each.kind);
}

// An event states what is: telling of each object as the facts have it undoes all.
void Trial::Revert(const Events& events) {
  const auto restore = [](const auto* fact, auto set, auto remove) {
    if (fact != nullptr) {
      set(*fact);
    } else {
      remove();
    }
  };
  const auto restore_pod = [&](absl::string_view ns, absl::string_view name) {
    restore(
        index_.FindPod(ns, name), [&](const auto& fact) { cluster_.SetPod(fact); },
        [&] { cluster_.RemovePod(ns, name); });
  };
  const auto restore_gang = [&](const GangKey& key) {
    restore(
        index_.FindGang(key), [&](const auto& fact) { cluster_.SetGang(fact); },
        [&] { cluster_.RemoveGang(key.ns, key.name, key.kind); });
  };
  for (const auto& each : events.gone_gangs) restore_gang(each);
  for (const auto& each : events.gone_pods) restore_pod(each.ns, each.name);
  for (const auto& each : events.pods) restore_pod(each.ns, each.name);
  for (const auto& each : events.gangs) restore_gang({each.ns, each.name, each.kind});
  for (const auto& each : events.nodes) {
    restore(
        index_.FindNode(each.name), [&](const auto& fact) { cluster_.SetNode(fact); },
        [&] { cluster_.RemoveNode(each.name); });
  }
  for (const auto& each : events.queues) {
    restore(
        index_.FindQueue(each.name), [&](const auto& fact) { cluster_.SetQueue(fact); },
        [&] { cluster_.RemoveQueue(each.name); });
  }
  for (const auto& each : events.priority_classes) {
    restore(
        index_.FindClass(each.name), [&](const auto& fact) { cluster_.SetPriorityClass(fact); },
        [&] { cluster_.RemovePriorityClass(each.name); });
  }
}

template <class F>
auto Trial::With(const GangKey& gang, absl::Span<const Change> changes, F look)
    -> absl::StatusOr<decltype(look(std::declval<const Events&>()))> {
  if (!Has(gang)) return NoSuchGang(gang);
  GW_RETURN_IF_ERROR(still_wanted_());
  GW_ASSIGN_OR_RETURN(const Events events, EventsOf(index_, gang, changes));
  FindClaims();
  LetCome(true);
  Apply(events);
  auto seen = look(events);
  Revert(events);
  return seen;
}

absl::StatusOr<Explanation> Trial::Explain(const GangKey& gang) {
  if (!Has(gang)) return NoSuchGang(gang);
  GW_RETURN_IF_ERROR(still_wanted_());
  FindClaims();
  LetCome(false);
  const model::Decisions decisions = Decide();
  Explanation out = ExplainGang(cluster_, decisions, Find(gang), policy_, now_);
  if (LooksForStart(out.state)) AddStart(StartsAsThingsAre(decisions), gang, out);
  out.to_come = static_cast<int>(index_.facts().to_come.size());
  if (out.to_come == 0) return out;
  std::vector<Ask> made = std::move(out.asks);
  LetCome(true);
  out.asks = AsksOf(cluster_, Find(gang));
  for (Ask& ask : out.asks) {
    ask.to_come = ask.pods;
    for (const Ask& before : made) {
      if (before.role == ask.role && before.requests == ask.requests) ask.to_come -= before.pods;
    }
  }
  out.nodes = NodesFor(cluster_, Decide(), Find(gang));
  return out;
}

absl::StatusOr<QueueExplanation> Trial::ExplainQueue(absl::string_view queue) {
  GW_RETURN_IF_ERROR(still_wanted_());
  FindClaims();
  LetCome(false);
  const model::QueueId id = FindQueue(cluster_, queue);
  if (id == model::kNone) return absl::NotFoundError(absl::StrCat("there is no queue ", queue));
  const model::Decisions decisions = Decide();
  QueueExplanation out = explain::ExplainQueue(cluster_, decisions, id, policy_.sharing);
  for (GangLine& line : out.waiting) {
    if (LooksForStart(line.state)) AddStart(StartsAsThingsAre(decisions), line.gang, line);
  }
  return out;
}

absl::StatusOr<Explanation> Trial::ExplainWith(const GangKey& gang, absl::Span<const Change> changes) {
  return With(gang, changes, [&](const Events& events) {
    const model::Decisions decisions = Decide();
    Explanation out = ExplainGang(cluster_, decisions, Find(gang), policy_, now_);
    if (LooksForStart(out.state)) AddStart(StartsAfter(FactsWith(index_.facts(), events), decisions), gang, out);
    return out;
  });
}

absl::StatusOr<Outcome> Trial::Try(const GangKey& gang, absl::Span<const Change> changes) {
  return With(gang, changes, [&](const Events&) { return OutcomeOf(cluster_, Decide(), Find(gang)); });
}

}  // namespace gangway::explain
