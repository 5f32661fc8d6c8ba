#include "plugin/gang/constraint/volumes.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "plugin/gang/constraint/most_often.h"
#include "plugin/gang/constraint/placed.h"

namespace gangway::constraint {
namespace {

using model::ClaimId;
using model::Row;

// Claims that one pod at a time may use, and how many pods do: on a row, or somewhere.
class UsedClaims final : public State {
 public:
  explicit UsedClaims(const model::Volumes& volumes) : volumes_(volumes) {}
  void Add(Row row, const model::Shape& shape, int pods) override {
    for (const ClaimId claim : shape.claims) {
      if (volumes_.one_pod(claim)) (row == model::kNone ? promised_ : used_)[claim] += pods;
    }
  }
  void Remove(Row row, const model::Shape& shape, int pods) override { Add(row, shape, -pods); }

  bool used(ClaimId claim) const { return Has(used_, claim); }
  bool promised(ClaimId claim) const { return Has(promised_, claim); }

 private:
  using Counts = absl::flat_hash_map<ClaimId, int>;
  static bool Has(const Counts& counts, ClaimId claim) {
    const auto it = counts.find(claim);
    return it != counts.end() && it->second > 0;
  }

  const model::Volumes& volumes_;
  Counts used_, promised_;
};

class Volumes final : public Constraint {
 public:
  Volumes(const model::Cluster& cluster, const UsedClaims& used, const model::Shape& shape) : cluster_(cluster), used_(used), claims_(shape.claims) {}

  int Copies(Row row) const override {
    const auto reached = [&](const model::Volumes::Selector& selector) { return cluster_.MatchesAny(row, selector.terms); };
    return cluster_.volumes().AllSelectors(claims_, reached) ? kAnyNumber : 0;
  }

  bool blocks() const override { return true; }
  std::optional<Blocked> BlockedByFacts() const override {
    model::ClaimProblem problem = cluster_.volumes().ProblemOf(claims_);
    if (problem.trouble == model::ClaimTrouble::kNothing) return std::nullopt;
    return Blocked{model::Reason::Kind::kClaim, std::move(problem.claim), problem.trouble, std::move(problem.detail)};
  }
  std::optional<Blocked> BlockedByPlaced() const override {
    const bool used = std::any_of(claims_.begin(), claims_.end(), [&](ClaimId claim) { return used_.used(claim); });
    for (const ClaimId claim : claims_) {
      if (used ? cluster_.volumes().one_pod(claim) : used_.promised(claim)) {
        return Blocked{model::Reason::Kind::kClaim, cluster_.volumes().NameOf(claim), model::ClaimTrouble::kInUse, ""};
      }
    }
    return std::nullopt;
  }
  bool exclusive() const override {
    return std::any_of(claims_.begin(), claims_.end(), [&](ClaimId claim) { return cluster_.volumes().one_pod(claim); });
  }

  void Explain(absl::Span<const Refusal> refused, model::RoleReason& reason) const override {
    // "pv1 (zone=b)": the first volume that the node does not reach.
    const std::string volume = MostOften(refused, [&](Row row) {
      return cluster_.volumes().TextOfFirst(claims_, [&](const model::Volumes::Selector& selector) { return cluster_.MatchesAny(row, selector.terms); });
    });
    reason.AddHindrance(kVolumes, static_cast<int>(refused.size()), "does not reach volume", "do not reach volume", volume);
  }

 private:
  const model::Cluster& cluster_;
  const UsedClaims& used_;
  const std::vector<ClaimId>& claims_;
};

}  // namespace

std::unique_ptr<State> BeginVolumes(const model::Cluster& cluster) { return std::make_unique<UsedClaims>(cluster.volumes()); }

std::unique_ptr<Constraint> AskVolumes(const Placed& placed, const State* state, const model::Shape& shape) {
  if (shape.claims.empty()) return nullptr;
  return std::make_unique<Volumes>(placed.cluster(), static_cast<const UsedClaims&>(*state), shape);
}

}  // namespace gangway::constraint
