// Claims, the volumes they are bound to, and storage classes: as far as they decide whether and where a pod may go. A part of the Cluster.
//
// A claim has a slot while it is known or a shape uses it, a volume while it is known or a claim names it. What volumes ask of nodes is
// kept once for all that ask the same. Used on one loop; const calls may run together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "plugin/model/facts.h"
#include "plugin/model/names.h"
#include "plugin/model/reason.h"
#include "plugin/model/shape.h"
#include "plugin/model/slot_table.h"
#include "plugin/model/task.h"

namespace gangway::model {

class Shapes;

// What keeps a pod from every node because of a claim, and what there is to say of it.
struct ClaimProblem {
  ClaimTrouble trouble = ClaimTrouble::kNothing;
  std::string claim;   // its name
  std::string detail;  // storage class, volume, or field of the volume, as the trouble says
};

class Volumes {
 public:
  explicit Volumes(Names& names) : names_(names) {}

  // Events. They return the shapes whose nodes may have changed; a change that concerns none is none.
  std::vector<ShapeId> SetClaim(const ClaimFacts& facts);
  std::vector<ShapeId> RemoveClaim(absl::string_view ns, absl::string_view name);
  std::vector<ShapeId> SetVolume(const VolumeFacts& facts);
  std::vector<ShapeId> RemoveVolume(absl::string_view name);
  std::vector<ShapeId> SetStorageClass(const StorageClassFacts& facts);
  std::vector<ShapeId> RemoveStorageClass(absl::string_view name);
  // False: nobody lets us see claims, so that none is known.
  std::vector<ShapeId> SetReadable(bool readable);

  // Of a shape's claim, "namespace/name".
  ClaimId Use(absl::string_view key, ShapeId shape);
  void Use(ClaimId claim, ShapeId shape) { claims_[claim].shapes.push_back(shape); }
  void Unuse(ClaimId claim, ShapeId shape);
  // One pod more, or less, that uses it holds room on a node.
  void Hold(ClaimId claim, int pods) { claims_[claim].held += pods; }

  std::string NameOf(ClaimId claim) const;
  // Only one pod may use it at a time.
  bool one_pod(ClaimId claim) const { return claims_[claim].one_pod; }
  // The first of the claims that keeps a pod from every node; nothing: none does.
  ClaimProblem ProblemOf(const std::vector<ClaimId>& claims) const;
  // Each of these must be met by the node: any of its terms.
  struct Selector {
    std::vector<Term> terms;
    std::string key, text;
    int users = 0;
  };
  template <class F>  // bool(const Selector&)
  bool AllSelectors(const std::vector<ClaimId>& claims, F holds) const {
    for (const ClaimId claim : claims) {
      const int volume = claims_[claim].volume;
      if (volume == kNoVolume) continue;
      for (const int selector : volumes_[volume].selectors) {
        if (!holds(selectors_[selector])) return false;
      }
    }
    return true;
  }
  // "pv1 (zone=b)": the first volume of the claims whose selector `holds` does not hold for.
  template <class F>
  std::string TextOfFirst(const std::vector<ClaimId>& claims, F holds) const {
    for (const ClaimId claim : claims) {
      const int volume = claims_[claim].volume;
      if (volume == kNoVolume) continue;
      for (const int selector : volumes_[volume].selectors) {
        if (!holds(selectors_[selector])) return TextOf(volume, selector);
      }
    }
    return {};
  }
  int claim_slots() const { return claims_.size(); }
  int volume_slots() const { return volumes_.size(); }
  int selector_slots() const { return selectors_.size(); }

  void Audit(const SlotTable<Task>& tasks, const Shapes& shapes, std::vector<std::string>& wrong) const;

 private:
  static constexpr int kNoVolume = -1;
  struct Claim {
    std::string key;
    bool known = false, ending = false, one_pod = false;
    ClaimPhase phase = ClaimPhase::kPending;
    int volume = kNoVolume;
    std::string storage_class;
    int held = 0;
    std::vector<ShapeId> shapes;
  };
  struct Volume {
    std::string name;
    bool known = false;
    std::string not_modelled;
    std::vector<int> selectors;
    std::vector<ClaimId> claims;  // that name it
  };

  ClaimId InternClaim(absl::string_view key);
  int InternVolume(absl::string_view name);
  void FreeClaimIfUnused(ClaimId id);
  void FreeVolumeIfUnused(int id);
  void SetVolumeOf(ClaimId id, int volume);
  int InternSelector(const std::vector<TermFacts>& terms);
  void ReleaseSelectors(Volume& volume);
  std::vector<ShapeId> ShapesOf(const Volume& volume) const;
  std::vector<ShapeId> ShapesOfClass(absl::string_view name) const;
  std::string TextOf(int volume, int selector) const;

  Names& names_;
  bool readable_ = true;
  SlotTable<Claim> claims_;
  absl::flat_hash_map<std::string, ClaimId> claim_by_key_;
  SlotTable<Volume> volumes_;
  absl::flat_hash_map<std::string, int> volume_by_name_;
  SlotTable<Selector> selectors_;
  absl::flat_hash_map<std::string, int> selector_by_key_;
  absl::flat_hash_map<std::string, bool> class_waits_for_pod_;
};

}  // namespace gangway::model
