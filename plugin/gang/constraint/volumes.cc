#include "plugin/gang/constraint/volumes.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "plugin/gang/constraint/most_often.h"
#include "plugin/gang/constraint/placed.h"
#include "plugin/phrases/phrases.h"

namespace gangway::constraint {
namespace {

using model::ClaimId;
using model::Row;

// Claims that one pod at a time may use, and how many pods do: on a row, or somewhere; and what open claims get.
class UsedClaims final : public State {
 public:
  explicit UsedClaims(const model::Cluster& cluster) : volumes_(cluster.volumes()) {}
  void Add(Row row, const model::Shape& shape, int pods) override {
    bool open = false;
    for (const ClaimId claim : shape.claims) {
      if (volumes_.one_pod(claim)) (row == model::kNone ? promised_ : used_)[claim] += pods;
      open = open || volumes_.open(claim);
    }
    if (row == model::kNone || !open) return;
    for (const ClaimId claim : volumes_.InOrder(shape.claims)) {
      if (volumes_.open(claim)) Choose(claim, row, pods);
    }
  }
  void Remove(Row row, const model::Shape& shape, int pods) override { Add(row, shape, -pods); }

  bool used(ClaimId claim) const { return Has(used_, claim); }
  bool promised(ClaimId claim) const { return Has(promised_, claim); }

  // Goes through open claims, in order, that get something on the row beside each other, until one gets nothing: that
  // one; kNone: all get something.
  ClaimId FirstWithout(const std::vector<ClaimId>& open, Row row) const {
    if (open.size() == 1) return OfferOn(open.front(), row, nullptr).has_value() ? model::kNone : open.front();
    Given before;
    for (const ClaimId claim : open) {
      const std::optional<Offer> offer = OfferOn(claim, row, &before);
      if (!offer.has_value()) return claim;
      if (!decided(claim)) before.Give(*offer, volumes_.bytes(claim), 1);
    }
    return model::kNone;
  }
  // The volume that an open claim would get on the row.
  int VolumeOn(ClaimId claim, Row row) const {
    const std::optional<Offer> offer = OfferOn(claim, row, nullptr);
    return offer.has_value() ? offer->volume : model::Volumes::kMade;
  }
  bool decided(ClaimId claim) const { return chosen_.contains(claim); }

 private:
  using Volumes = model::Volumes;
  using Offer = Volumes::Offer;
  using Counts = absl::flat_hash_map<ClaimId, int>;
  // Volumes, and room for such as are made.
  struct Given {
    absl::flat_hash_set<int> volumes;
    absl::flat_hash_map<int, std::int64_t> bytes;  // by capacity
    void Give(const Offer& offer, std::int64_t size, int times) {
      if (offer.volume >= 0) {
        if (times > 0) {
          volumes.insert(offer.volume);
        } else {
          volumes.erase(offer.volume);
        }
      }
      if (offer.capacity != model::kNone) bytes[offer.capacity] += size * times;
    }
    std::int64_t Of(int capacity) const {
      const auto it = bytes.find(capacity);
      return it == bytes.end() ? 0 : it->second;
    }
  };

  static bool Has(const Counts& counts, ClaimId claim) {
    const auto it = counts.find(claim);
    return it != counts.end() && it->second > 0;
  }
  // `more`: what is given beside all that is.
  std::optional<Offer> OfferOn(ClaimId claim, Row row, const Given* more) const {
    if (const auto it = chosen_.find(claim); it != chosen_.end()) {
      const bool there = it->second.offer.volume == Volumes::kMade || volumes_.Reached(it->second.offer.volume, row);
      return there ? std::optional<Offer>(it->second.offer) : std::nullopt;
    }
    return volumes_.OfferOn(
        claim, row,
        {[&](int volume) {
           return given_.volumes.contains(volume) || (more != nullptr && more->volumes.contains(volume));
         },
         [&](int capacity) { return given_.Of(capacity) + (more == nullptr ? 0 : more->Of(capacity)); }});
  }
  // The first pod of a claim chooses for all of them.
  void Choose(ClaimId claim, Row row, int pods) {
    auto it = chosen_.find(claim);
    if (it == chosen_.end()) {
      const Offer offer = OfferOn(claim, row, nullptr).value_or(Offer{});
      it = chosen_.emplace(claim, Chosen{offer, 0}).first;
      given_.Give(offer, volumes_.bytes(claim), 1);
    }
    if ((it->second.pods += pods) > 0) return;
    given_.Give(it->second.offer, volumes_.bytes(claim), -1);
    chosen_.erase(it);
  }

  struct Chosen {
    Offer offer;
    int pods = 0;
  };
  const Volumes& volumes_;
  Counts used_, promised_;
  absl::flat_hash_map<ClaimId, Chosen> chosen_;
  Given given_;
};

class VolumesConstraint final : public Constraint {
 public:
  VolumesConstraint(const model::Cluster& cluster, const UsedClaims& used, const model::Shape& shape)
      : cluster_(cluster), used_(used), shape_(shape), claims_(shape.claims) {
    std::copy_if(claims_.begin(), claims_.end(), std::back_inserter(open_),
                 [&](ClaimId claim) { return cluster.volumes().open(claim); });
    open_ = cluster.volumes().InOrder(std::move(open_));
  }

  int Copies(Row row) const override { return ReachesBound(row) && Lacking(row) == model::kNone ? kAnyNumber : 0; }
  // What one pod gets another does not, and pods of one claim go where its volume can be reached.
  Changes changes() const override { return open_.empty() ? Changes::kNothing : Changes::kBeyond; }
  // Room is kept, and no volumes: who is placed first gets them.
  bool KeptOffBy(const model::Shape&) const override { return false; }
  // Who has a claim that one pod at a time may use, and where an open one has its volume, may be otherwise then.
  bool more_fit_less() const override { return false; }
  void Decides(Row row, std::vector<int>& domains) const override {
    for (const ClaimId claim : open_) {
      if (!used_.decided(claim) && cluster_.volumes().shared(claim, shape_.users))
        domains.push_back(used_.VolumeOn(claim, row));
    }
  }

  bool blocks() const override { return true; }
  std::optional<Blocked> BlockedByFacts() const override {
    model::ClaimProblem problem = cluster_.volumes().ProblemOf(shape_);
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
      const Words volume = MostOften(unreached, [&](Row row) {
        return cluster_.volumes().TextOfFirst(claims_, [&](const model::Volumes::Selector& selector) {
          return cluster_.MatchesAny(row, selector.terms);
        });
      });
      const int nodes = static_cast<int>(unreached.size());
      reason.AddHindrance(kVolumes, nodes, phrases::kVolumeOutOfReach(nodes), volume);
    }
    std::vector<Refusal> full;
    std::erase_if(without, [&](const Refusal& refusal) {
      const ClaimId lacking = Lacking(refusal.row);
      const bool room = lacking != model::kNone && cluster_.volumes().MadeButForRoom(lacking, refusal.row);
      if (room) full.push_back(refusal);
      return room;
    });
    const auto lacking = [&](Row row) {
      const ClaimId claim = Lacking(row);
      return claim == model::kNone ? std::string() : cluster_.volumes().NameOf(claim);
    };
    if (!without.empty()) {
      const int nodes = static_cast<int>(without.size());
      reason.AddHindrance(kVolumes, nodes, phrases::kNoVolumeFor(nodes), Words::Name(MostOften(without, lacking)));
    }
    if (full.empty()) return;
    const auto text = [&](Row row) {
      const ClaimId claim = Lacking(row);
      return claim == model::kNone ? Words()
                                   : Words(phrases::kClaimOfClass, cluster_.volumes().NameOf(claim),
                                           cluster_.volumes().storage_class(claim));
    };
    const int nodes = static_cast<int>(full.size());
    reason.AddHindrance(kVolumes, nodes, phrases::kNoStorageFor(nodes), MostOften(full, text));
  }

 private:
  bool ReachesBound(Row row) const {
    const auto reached = [&](const model::Volumes::Selector& selector) {
      return cluster_.MatchesAny(row, selector.terms);
    };
    return cluster_.volumes().AllSelectors(claims_, reached);
  }
  // The first open claim that gets no volume on the row.
  ClaimId Lacking(Row row) const { return open_.empty() ? model::kNone : used_.FirstWithout(open_, row); }

  const model::Cluster& cluster_;
  const UsedClaims& used_;
  const model::Shape& shape_;
  const std::vector<ClaimId>& claims_;
  std::vector<ClaimId> open_;
};

}  // namespace

std::unique_ptr<State> BeginVolumes(const model::Cluster& cluster) { return std::make_unique<UsedClaims>(cluster); }

std::unique_ptr<Constraint> AskVolumes(const Placed& placed, const State* state, const model::Shape& shape) {
  if (shape.claims.empty()) return nullptr;
  return std::make_unique<VolumesConstraint>(placed.cluster(), static_cast<const UsedClaims&>(*state), shape);
}

}  // namespace gangway::constraint
