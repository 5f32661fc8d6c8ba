// Claims, the volumes they are bound to, and storage classes: as far as they decide whether and where a pod may go. A
// part of the Cluster.
//
// A claim of a class that waits for its pod is open until it is bound: on a node it gets a volume that is there and
// that the node reaches, the smallest that suits, or one that is made for it. Once its pod is assumed to be on a node
// it is promised that volume.
//
// A claim has a slot while it is known or a shape uses it, a volume while it is known or a claim names it. What volumes
// ask of nodes is kept once for all that ask the same. Used on one loop; const calls may run together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
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

  // Of claims without a volume.
  static constexpr int kMade = -2;  // a volume that is made for it
  bool open(ClaimId claim) const;
  // Whether the node meets any of these terms.
  using Meets = absl::FunctionRef<bool(const std::vector<Term>&)>;
  // The volume that an open claim gets on the node, of those that are not `taken`, or kMade; nothing: it gets none
  // there. What it is promised already it keeps, wherever the node.
  std::optional<int> VolumeOn(ClaimId claim, absl::string_view node, Meets meets,
                              absl::FunctionRef<bool(int volume)> taken) const;
  // Its pods may be several: where one goes the others must follow.
  bool shared(ClaimId claim, int users) const { return users > 1 || claims_[claim].shapes.size() > 1; }
  bool Reached(int volume, Meets meets) const;

  // A pod that uses it is assumed to be on the node, or is so no more.
  void Promise(ClaimId claim, absl::string_view node, Meets meets);
  void Unpromise(ClaimId claim);
  // What must be written so that an open claim gets what it is promised.
  struct Promised {
    std::string ns, name, uid;  // of the claim
    std::string node;           // for which it is
    std::string selected_node;  // as the claim says
    bool made = false;          // else the volume:
    std::string volume, volume_uid, volume_version;
    bool kept = false;  // the volume says that it is for the claim
    bool lost = false;  // the volume suits no more
  };
  std::optional<Promised> PromisedTo(ClaimId claim) const;
  // It is not bound, and may be yet: also while its volume is named and not bound to it.
  bool awaited(ClaimId claim) const;
  // It is bound to a volume that is there.
  bool ready(ClaimId claim) const;

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
    std::string uid, storage_class, selected_node;
    std::int64_t bytes = 0;
    std::vector<std::string> access_modes;
    bool block = false;
    std::vector<RequirementFacts> selector;
    int held = 0;
    std::vector<ShapeId> shapes;
    int promises = 0;  // pods that are assumed to be somewhere
    int promised = kNoVolume;
    std::string node;  // of the first of them
  };
  struct Volume {
    std::string name;
    bool known = false;
    std::string not_modelled;
    std::vector<int> selectors;
    std::vector<ClaimId> claims;                                      // that name it
    std::string uid, resource_version, claim, storage_class, labels;  // labels: packed
    bool available = false;
    std::int64_t bytes = 0;
    std::vector<std::string> access_modes;
    bool block = false;
    int promises = 0;  // claims: one
  };
  struct StorageClass {
    bool known = false, waits_for_pod = false, makes_volumes = true;
    std::string topologies_key;
    std::vector<Term> topologies;
    std::vector<int> volumes;  // that say they are of it
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
  bool Suits(const Volume& volume, const Claim& claim) const;
  const StorageClass* ClassOf(const Claim& claim) const;
  void SetClassOf(int volume, const std::string& storage_class);

  Names& names_;
  bool readable_ = true;
  SlotTable<Claim> claims_;
  absl::flat_hash_map<std::string, ClaimId> claim_by_key_;
  SlotTable<Volume> volumes_;
  absl::flat_hash_map<std::string, int> volume_by_name_;
  SlotTable<Selector> selectors_;
  absl::flat_hash_map<std::string, int> selector_by_key_;
  absl::flat_hash_map<std::string, StorageClass> classes_;
};

}  // namespace gangway::model
