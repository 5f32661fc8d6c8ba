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

}  // namespace

Trial::Trial(const ClusterFacts& facts, const gang::Policy& policy, absl::Time now, StillWanted still_wanted)
    : index_(facts), policy_(policy), now_(now), still_wanted_(still_wanted) {
  Tell(facts, cluster_);
  if (policy_.use_half_life.has_value()) CountedUse(index_, cluster_, *policy_.use_half_life, now_);
}

template <class T>
void Trial::AddStart(const GangKey& gang, T& out) {
  if (out.state != State::kQueued && out.state != State::kWaits) return;
  if (!expected_.has_value()) {
    const std::vector<model::GangFacts>& gangs = index_.facts().gangs;
    const bool history =
        std::any_of(gangs.begin(), gangs.end(), [](const auto& each) { return each.past_runs.runs > 0; });
    expected_ = ExpectedStarts(index_, policy_, now_, Ends::kKnown, still_wanted_);
    likely_.emplace();
    if (history) likely_ = ExpectedStarts(index_, policy_, now_, Ends::kLikely, still_wanted_);
  }
  const auto in = [&](const std::map<std::string, absl::Time>& starts) {
    const auto start = starts.find(gang.ToString());
    return start == starts.end() ? std::nullopt : std::optional(start->second);
  };
  out.expected_start = in(*expected_);
  out.likely_start = in(*likely_);
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
auto Trial::With(const GangKey& gang, absl::Span<const Change> changes, F look) -> absl::StatusOr<decltype(look())> {
  if (!Has(gang)) return NoSuchGang(gang);
  GW_RETURN_IF_ERROR(still_wanted_());
  GW_ASSIGN_OR_RETURN(const Events events, EventsOf(index_, gang, changes));
  LetCome(true);
  Apply(events);
  auto seen = look();
  Revert(events);
  return seen;
}

absl::StatusOr<Explanation> Trial::Explain(const GangKey& gang) {
  if (!Has(gang)) return NoSuchGang(gang);
  GW_RETURN_IF_ERROR(still_wanted_());
  LetCome(false);
  Explanation out = ExplainGang(cluster_, Decide(), Find(gang), policy_.sharing);
  AddStart(gang, out);
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
  LetCome(false);
  const model::QueueId id = FindQueue(cluster_, queue);
  if (id == model::kNone) return absl::NotFoundError(absl::StrCat("there is no queue ", queue));
  QueueExplanation out = explain::ExplainQueue(cluster_, Decide(), id, policy_.sharing);
  for (GangLine& line : out.waiting) AddStart(line.gang, line);
  return out;
}

absl::StatusOr<Explanation> Trial::ExplainWith(const GangKey& gang, absl::Span<const Change> changes) {
  return With(gang, changes, [&] { return ExplainGang(cluster_, Decide(), Find(gang), policy_.sharing); });
}

absl::StatusOr<Outcome> Trial::Try(const GangKey& gang, absl::Span<const Change> changes) {
  return With(gang, changes, [&] { return OutcomeOf(cluster_, Decide(), Find(gang)); });
}

}  // namespace gangway::explain
