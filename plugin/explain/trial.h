// A cluster of one's own on which changes are tried: the answers are what the scheduler would decide, not what somebody
// thinks it would.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "plugin/explain/change.h"
#include "plugin/explain/explain.h"
#include "plugin/explain/explanation.h"
#include "plugin/explain/known_claims.h"
#include "plugin/explain/still_wanted.h"
#include "plugin/gang/schedule.h"

namespace gangway::explain {

// Used on one thread.
class Trial {
 public:
  // The facts must outlive it, and so must what `still_wanted` refers to: asked before each round of the scheduler's,
  // its error is the answer of whatever was asked for.
  Trial(const ClusterFacts& facts, const gang::Policy& policy, absl::Time now, StillWanted still_wanted = AlwaysWanted);

  const FactIndex& index() const { return index_; }
  // Kinds of pods: those that ask for the same are one.
  int kinds() const { return cluster_.shape_slots(); }
  bool Has(const GangKey& gang) const { return index_.FindGang(gang) != nullptr; }

  // As things are, but for suggestions (suggest.h). NotFound: there is no such gang, or queue.
  absl::StatusOr<Explanation> Explain(const GangKey& gang);
  absl::StatusOr<QueueExplanation> ExplainQueue(absl::string_view queue);

  // As they would be with all of the changes, and with the pods to come; the start, too, is what is expected then.
  // NotFound also of what a change names.
  absl::StatusOr<Explanation> ExplainWith(const GangKey& gang, absl::Span<const Change> changes);
  absl::StatusOr<Outcome> Try(const GangKey& gang, absl::Span<const Change> changes);

 private:
  // When gangs that wait start, as ends are said, and as they are likely (expected.h).
  struct Starts {
    std::map<std::string, absl::Time> expected, likely;
  };
  template <class F>
  auto With(const GangKey& gang, absl::Span<const Change> changes, F look)
      -> absl::StatusOr<decltype(look(std::declval<const Events&>()))>;
  // What is expected of these facts, which the cluster has, when the decisions have been carried out.
  Events WhoGoes(const FactIndex& index, const model::Decisions& decisions) const;
  Starts StartsAfter(const ClusterFacts& facts, const model::Decisions& decisions) const;
  const Starts& StartsAsThingsAre(const model::Decisions& decisions);
  // Of a GangLine or an Explanation.
  template <class T>
  static void AddStart(const Starts& starts, const GangKey& gang, T& out);
  void LetCome(bool there);
  void Apply(const Events& events);
  void Revert(const Events& events);
  // Before anything is changed.
  void FindClaims();
  model::Decisions Decide() {
    claims_->Tell(cluster_);
    return gang::Schedule(cluster_, policy_, now_, scratch_);
  }
  model::GangId Find(const GangKey& gang) const { return cluster_.FindGang(gang.ns, gang.name, gang.kind); }

  const FactIndex index_;
  const gang::Policy policy_;
  const absl::Time now_;
  const StillWanted still_wanted_;
  model::Cluster cluster_;  // between calls as the facts are, but that the pods to come may be there
  gang::Scratch scratch_;
  bool came_ = false;
  std::optional<KnownClaims> claims_;
  std::optional<Starts> starts_;  // as the facts are, with the pods to come
};

}  // namespace gangway::explain
