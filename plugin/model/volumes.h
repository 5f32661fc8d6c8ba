// Claims, the volumes they are bound to, and storage classes: as far as they decide whether and where a pod may go. A
// part of the Cluster.
//
// A claim of a class that waits for its pod is open until it is bound: on a node it gets a volume that is there and
// that the node reaches, the smallest that suits, or one that is made for it, where its driver says that there is room.
// Once its pod is assumed to be on a node it is promised that volume, and the room for it.
//
// Each claim stands for a volume that a driver attaches: its own, or, while it has none, one of its own that its class
// would make. Room is that of a storage class on some nodes, as StorageCapacities tell; claims that are promised
// volumes which are not there yet share it. kubernetes: plugins/volumebinding counts each as if it were alone.
//
// A claim has a slot while it is known or a shape uses it, a volume while it is known or a claim names it. What volumes
// ask of nodes is kept once for all that ask the same. Used on one loop; const calls may run together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "plugin/model/attachments.h"
#include "plugin/model/facts.h"
#include "plugin/model/names.h"
#include "plugin/model/reason.h"
#include "plugin/model/shape.h"
#include "plugin/model/slot_table.h"
#include "plugin/model/task.h"
#include "plugin/phrases/words.h"

namespace gangway::model {

class Nodes;
class Shapes;

// What keeps a pod from every node because of a claim, and what there is to say of it.
struct ClaimProblem {
  ClaimTrouble trouble = ClaimTrouble::kNothing;
  std::string claim;   // its name
  std::string detail;  // storage class, volume, or field of the volume, as the trouble says
};

class Volumes {
 public:
  Volumes(Names& names, Nodes& nodes) : names_(names), nodes_(nodes), attachments_(names, nodes) {}

  // Events. They return the shapes whose nodes may have changed; a change that concerns none is none.
  std::vector<ShapeId> SetClaim(const ClaimFacts& facts);
  std::vector<ShapeId> RemoveClaim(absl::string_view ns, absl::string_view name);
  std::vector<ShapeId> SetVolume(const VolumeFacts& facts);
  std::vector<ShapeId> RemoveVolume(absl::string_view name);
  std::vector<ShapeId> SetStorageClass(const StorageClassFacts& facts);
  std::vector<ShapeId> RemoveStorageClass(absl::string_view name);
  // False: nobody lets us see claims, so that none is known.
  std::vector<ShapeId> SetReadable(bool readable);
  // These change which rows take pods: such rows are touched.
  void SetCsiNode(const CsiNodeFacts& facts) { attachments_.SetNode(facts); }
  void RemoveCsiNode(absl::string_view name) { attachments_.RemoveNode(name); }
  void SetAttachment(const VolumeAttachmentFacts& facts);
  void RemoveAttachment(absl::string_view name);
  // These change what open claims get; whether anything did.
  bool SetDriver(const CsiDriverFacts& facts);
  bool RemoveDriver(absl::string_view name);
  bool SetCapacity(const StorageCapacityFacts& facts);
  bool RemoveCapacity(absl::string_view ns, absl::string_view name);

  // Of a shape's claim, "namespace/name".
  ClaimId Use(absl::string_view key, ShapeId shape);
  void Use(ClaimId claim, ShapeId shape) { claims_[claim].shapes.push_back(shape); }
  void Unuse(ClaimId claim, ShapeId shape);
  // One pod more, or less, that uses it holds room on the row.
  void Hold(ClaimId claim, Row row, int pods);

  // Of claims without a volume.
  static constexpr int kMade = -2;  // a volume that is made for it
  bool open(ClaimId claim) const;
  // What an open claim gets on a node.
  struct Offer {
    int volume = kMade;
    int capacity = kNone;  // whose room a volume takes that is made; kNone: nobody counts it
  };
  // What is given away beside the facts: whether the volume is; bytes of the capacity.
  struct Beside {
    absl::FunctionRef<bool(int volume)> taken;
    absl::FunctionRef<std::int64_t(int capacity)> charged;
  };
  // Nothing: an open claim gets none on the row. What it is promised already it keeps, wherever the row.
  std::optional<Offer> OfferOn(ClaimId claim, Row row, const Beside& beside) const;
  // A volume would be made for it on the row, were there room.
  bool MadeButForRoom(ClaimId claim, Row row) const;
  // Those of one pod in the order in which they choose: the smallest first.
  std::vector<ClaimId> InOrder(std::vector<ClaimId> claims) const;
  std::int64_t bytes(ClaimId claim) const { return claims_[claim].bytes; }
  const std::string& storage_class(ClaimId claim) const { return claims_[claim].storage_class; }
  // Its pods may be several: where one goes the others must follow.
  bool shared(ClaimId claim, int users) const { return users > 1 || claims_[claim].shapes.size() > 1; }
  bool Reached(int volume, Row row) const;

  // Pods that use these are assumed to be on the row, or are so no more.
  void Promise(const std::vector<ClaimId>& claims, Row row);
  void Unpromise(ClaimId claim);

  // Volumes that drivers attach; of a claim: the one it stands for, kNone: none that anybody attaches.
  const Attachments& attachments() const { return attachments_; }
  Attachments::VolumeId attachable(ClaimId claim) const { return claims_[claim].attachable; }

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

  // Of an open claim: the node for which a volume is being made, "": none is.
  absl::string_view MadeFor(ClaimId claim) const;

  std::string NameOf(ClaimId claim) const;
  // Only one pod may use it at a time.
  bool one_pod(ClaimId claim) const { return claims_[claim].one_pod; }
  // The first of its claims that keeps the shape from every node; nothing: none does.
  ClaimProblem ProblemOf(const Shape& shape) const;
  // Each of these must be met by the node: any of its terms.
  struct Selector {
    std::vector<Term> terms;
    std::string key;
    Words text;
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
  Words TextOfFirst(const std::vector<ClaimId>& claims, F holds) const {
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
  int capacity_slots() const { return capacities_.size(); }

  void Audit(const SlotTable<Task>& tasks, const Shapes& shapes, std::vector<std::string>& wrong) const;

 private:
  static constexpr int kNoVolume = -1;
  struct Claim {
    std::string key;
    bool known = false, ending = false, one_pod = false;
    ClaimPhase phase = ClaimPhase::kPending;
    int volume = kNoVolume;
    std::string uid, storage_class, selected_node, owner;
    std::int64_t bytes = 0;
    std::vector<std::string> access_modes;
    bool block = false;
    std::vector<RequirementFacts> selector;
    int held = 0;
    std::vector<std::pair<int, int>> on;  // so many of them by the names of their nodes, sorted
    Attachments::VolumeId attachable = kNone;
    std::vector<ShapeId> shapes;
    int promises = 0;  // pods that are assumed to be somewhere
    int promised = kNoVolume;
    std::string node;          // of the first of them
    int capacity = kNone;      // whose room it is promised
    std::int64_t charged = 0;  // bytes of it
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
    std::string driver, handle;
    bool in_tree = false;
    std::vector<int> attachments;  // that name it
  };
  // What capacities of a class are found by: a label that all of their nodes have; {kNone, kNone}: there is none.
  using Label = std::pair<int, int>;
  struct StorageClass {
    bool known = false, waits_for_pod = false, makes_volumes = true;
    std::string provisioner, driver, topologies_key;
    std::vector<Term> topologies;
    std::vector<int> volumes;  // that say they are of it
    absl::flat_hash_map<Label, std::vector<int>> capacities;
    std::vector<std::pair<int, int>> capacity_keys;  // of these labels, and how many labels
  };
  struct Attachment {
    std::string name, driver;
    int node = kNone;  // its name
    int volume = kNoVolume;
    Attachments::VolumeId counts = kNone;
  };
  struct Capacity {
    std::string key, storage_class, topology_key;
    Term topology;
    std::optional<std::int64_t> bytes, a_volumes;
    std::int64_t promised = 0;  // bytes
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
  Words TextOf(int volume, int selector) const;
  bool Suits(const Volume& volume, const Claim& claim) const;
  const StorageClass* ClassOf(const Claim& claim) const;
  void SetClassOf(int volume, const std::string& storage_class);
  bool Meets(Row row, const std::vector<Term>& terms) const;
  void Identify(ClaimId id);
  void IdentifyOfClass(absl::string_view name);
  void IdentifyThoseOf(const Volume& volume);
  void IdentifyAttachment(int id);
  bool CountsRoom(const StorageClass& its_class) const;
  std::optional<int> CapacityFor(const StorageClass& its_class, const Claim& claim, Row row,
                                 absl::FunctionRef<std::int64_t(int)> charged) const;
  static Label LabelFor(const Term& topology);
  void AddToClass(int capacity);
  void RemoveFromClass(int capacity);
  void Uncharge(Claim& claim);
  void AuditAttachments(std::vector<std::string>& wrong) const;
  void AuditCapacities(std::vector<std::string>& wrong) const;

  Names& names_;
  Nodes& nodes_;
  Attachments attachments_;
  bool readable_ = true;
  SlotTable<Claim> claims_;
  absl::flat_hash_map<std::string, ClaimId> claim_by_key_;
  SlotTable<Volume> volumes_;
  absl::flat_hash_map<std::string, int> volume_by_name_;
  SlotTable<Selector> selectors_;
  absl::flat_hash_map<std::string, int> selector_by_key_;
  absl::flat_hash_map<std::string, StorageClass> classes_;
  SlotTable<Attachment> attached_;
  absl::flat_hash_map<std::string, int> attached_by_name_;
  absl::flat_hash_map<std::string, bool> drivers_;  // whether they count room
  SlotTable<Capacity> capacities_;
  absl::flat_hash_map<std::string, int> capacity_by_key_;
};

}  // namespace gangway::model
