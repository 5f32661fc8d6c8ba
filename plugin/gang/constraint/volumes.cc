#include "plugin/gang/constraint/volumes.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "plugin/gang/constraint/most_often.h"
#include "plugin/gang/constraint/placed.h"

namespace gangway::constraint {
namespace {

using model::ClaimId;
using model::Row;

// Claims that one pod at a time may use, and how many pods do: on a row, or somewhere; and the volumes that open claims
// get.
class UsedClaims final : public State {
 public:
  explicit UsedClaims(const model::Cluster& cluster) : cluster_(cluster), volumes_(cluster.volumes()) {}
  void Add(Row row, const model::Shape& shape, int pods) override {
    for (const ClaimId claim : shape.claims) {
      if (volumes_.one_pod(claim)) (row == model::kNone ? promised_ : used_)[claim] += pods;
      if (row != model::kNone && volumes_.open(claim)) Choose(claim, row, pods);
    }
  }
  void Remove(Row row, const model::Shape& shape, int pods) override { Add(row, shape, -pods); }

  bool used(ClaimId claim) const { return Has(used_, claim); }
  bool promised(ClaimId claim) const { return Has(promised_, claim); }

  // That an open claim would get on the row.
  std::optional<int> VolumeOn(ClaimId claim, Row row) const {
    const auto meets = [&](const std::vector<model::Term>& terms) { return cluster_.MatchesAny(row, terms); };
    if (const auto it = chosen_.find(claim); it != chosen_.end()) {
      return it->second.volume == Volumes::kMade || volumes_.Reached(it->second.volume, meets)
                 ? std::optional<int>(it->second.volume)
                 : std::nullopt;
    }
    return volumes_.VolumeOn(claim, cluster_.node_name(row), meets,
                             [&](int volume) { return taken_.contains(volume); });
  }
  bool decided(ClaimId claim) const { return chosen_.contains(claim); }

 private:
  using Volumes = model::Volumes;
  using Counts = absl::flat_hash_map<ClaimId, int>;
  static bool Has(const Counts& counts, ClaimId claim) {
    const auto it = counts.find(claim);
    return it != counts.end() && it->second > 0;
  }
  // The first pod of a claim chooses for all of them.
  void Choose(ClaimId claim, Row row, int pods) {
    auto it = chosen_.find(claim);
    if (it == chosen_.end()) {
      const int volume = VolumeOn(claim, row).value_or(Volumes::kMade);
      it = chosen_.emplace(claim, Chosen{volume, 0}).first;
      if (volume != Volumes::kMade) taken_.insert(volume);
    }
    if ((it->second.pods += pods) > 0) return;
    taken_.erase(it->second.volume);
    chosen_.erase(it);
  }

  struct Chosen {
    int volume = Volumes::kMade;
    int pods = 0;
  };
  const model::Cluster& cluster_;
  const Volumes& volumes_;
  Counts used_, promised_;
  absl::flat_hash_map<ClaimId, Chosen> chosen_;
  absl::flat_hash_set<int> taken_;  // volumes
};

class VolumesConstraint final : public Constraint {
 public:
  VolumesConstraint(const model::Cluster& cluster, const UsedClaims& used, const model::Shape& shape)
      : cluster_(cluster), used_(used), claims_(shape.claims), users_(shape.users) {
    std::copy_if(claims_.begin(), claims_.end(), std::back_inserter(open_),
                 [&](ClaimId claim) { return cluster.volumes().open(claim); });
  }

  int Copies(Row row) const override { return ReachesBound(row) && Lacking(row) == nullptr ? kAnyNumber : 0; }
  // What one pod gets another does not, and pods of one claim go where its volume can be reached.
  Changes changes() const override { return open_.empty() ? Changes::kNothing : Changes::kBeyond; }
  void Decides(Row row, std::vector<int>& domains) const override {
    for (const ClaimId claim : open_) {
      if (!used_.decided(claim) && cluster_.volumes().shared(claim, users_))
        domains.push_back(used_.VolumeOn(claim, row).value_or(model::Volumes::kMade));
    }
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
    return std::any_of(claims_.begin(), claims_.end(),
                       [&](ClaimId claim) { return cluster_.volumes().one_pod(claim); });
  }

  void Explain(absl::Span<const Refusal> refused, model::RoleReason& reason) const override {
    std::vector<Refusal> unreached, without;
    for (const Refusal& refusal : refused) (ReachesBound(refusal.row) ? without : unreached).push_back(refusal);
    if (!unreached.empty()) {
      // "pv1 (zone=b)": the first volume that the node does not reach.
      const std::string volume = MostOften(unreached, [&](Row row) {
        return cluster_.volumes().TextOfFirst(claims_, [&](const model::Volumes::Selector& selector) {
          return cluster_.MatchesAny(row, selector.terms);
        });
      });
      reason.AddHindrance(kVolumes, static_cast<int>(unreached.size()), "does not reach volume", "do not reach volume",
                          volume);
    }
    if (without.empty()) return;
    const std::string claim = MostOften(without, [&](Row row) {
      const ClaimId* const lacking = Lacking(row);
      return lacking == nullptr ? std::string() : cluster_.volumes().NameOf(*lacking);
    });
    reason.AddHindrance(kVolumes, static_cast<int>(without.size()), "has no volume for claim",
                        "have no volume for claim", claim);
  }

 private:
  bool ReachesBound(Row row) const {
    const auto reached = [&](const model::Volumes::Selector& selector) {
      return cluster_.MatchesAny(row, selector.terms);
    };
    return cluster_.volumes().AllSelectors(claims_, reached);
  }
  // The first open claim that gets no volume on the row.
  const ClaimId* Lacking(Row row) const {
    const auto it = std::find_if(open_.begin(), open_.end(),
                                 [&](ClaimId claim) { return !used_.VolumeOn(claim, row).has_value(); });
    return it == open_.end() ? nullptr : &*it;
  }

  const model::Cluster& cluster_;
  const UsedClaims& used_;
  const std::vector<ClaimId>& claims_;
  const int users_;  // pods of the shape
  std::vector<ClaimId> open_;
};

}  // namespace

std::unique_ptr<State> BeginVolumes(const model::Cluster& cluster) { return std::make_unique<UsedClaims>(cluster); }

std::unique_ptr<Constraint> AskVolumes(const Placed& placed, const State* state, const model::Shape& shape) {
  if (shape.claims.empty()) return nullptr;
  return std::make_unique<VolumesConstraint>(placed.cluster(), static_cast<const UsedClaims&>(*state), shape);
}

}  // namespace gangway::constraint
