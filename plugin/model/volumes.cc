#include "plugin/model/volumes.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "plugin/model/labels.h"
#include "plugin/model/nodes.h"
#include "plugin/model/shapes.h"
#include "plugin/phrases/phrases.h"

namespace gangway::model {
namespace {

std::string NameIn(const std::string& key) { return key.substr(key.find('/') + 1); }

}  // namespace

// ---- slots

ClaimId Volumes::InternClaim(absl::string_view key) {
  if (auto it = claim_by_key_.find(key); it != claim_by_key_.end()) return it->second;
  const ClaimId id = claims_.Add();
  claims_[id].key = std::string(key);
  claim_by_key_.emplace(std::string(key), id);
  return id;
}

void Volumes::FreeClaimIfUnused(ClaimId id) {
  Claim& claim = claims_[id];
  if (claim.known || !claim.shapes.empty() || claim.promises > 0) return;
  GW_CHECK(claim.held == 0);
  claim_by_key_.erase(claim.key);
  claims_.Remove(id);
}

int Volumes::InternVolume(absl::string_view name) {
  if (auto it = volume_by_name_.find(name); it != volume_by_name_.end()) return it->second;
  const int id = volumes_.Add();
  volumes_[id].name = std::string(name);
  volume_by_name_.emplace(std::string(name), id);
  return id;
}

void Volumes::FreeVolumeIfUnused(int id) {
  Volume& volume = volumes_[id];
  if (volume.known || !volume.claims.empty() || volume.promises > 0 || !volume.attachments.empty()) return;
  volume_by_name_.erase(volume.name);
  volumes_.Remove(id);
}

void Volumes::SetVolumeOf(ClaimId id, int volume) {
  const int before = claims_[id].volume;
  if (before == volume) return;
  claims_[id].volume = volume;
  if (volume != kNoVolume) volumes_[volume].claims.push_back(id);
  if (before == kNoVolume) return;
  std::erase(volumes_[before].claims, id);
  FreeVolumeIfUnused(before);
}

int Volumes::InternSelector(const std::vector<TermFacts>& terms) {
  Wants alike;  // as a shape's node affinity
  alike.has_affinity = true;
  alike.affinity = terms;
  std::string key = ShapeKey(alike);
  if (auto it = selector_by_key_.find(key); it != selector_by_key_.end()) {
    ++selectors_[it->second].users;
    return it->second;
  }
  const int id = selectors_.Add();
  Selector& selector = selectors_[id];
  for (const TermFacts& term : terms) selector.terms.push_back(MakeTerm(term, names_));
  selector.text = terms.empty() ? Words(phrases::kNoNode) : TermText(selector.terms.front(), names_);
  selector.key = key;
  selector.users = 1;
  selector_by_key_.emplace(std::move(key), id);
  return id;
}

void Volumes::ReleaseSelectors(Volume& volume) {
  for (const int id : volume.selectors) {
    Selector& selector = selectors_[id];
    if (--selector.users > 0) continue;
    selector_by_key_.erase(selector.key);
    selectors_.Remove(id);
  }
  volume.selectors.clear();
}

// ---- events

std::vector<ShapeId> Volumes::SetClaim(const ClaimFacts& facts) {
  readable_ = true;
  const ClaimId id = InternClaim(KeyOf(facts.ns, facts.name));
  const int volume = facts.volume.empty() ? kNoVolume : InternVolume(facts.volume);
  Claim& claim = claims_[id];
  const bool same =
      claim.known && claim.ending == facts.ending && claim.one_pod == facts.one_pod && claim.phase == facts.phase &&
      claim.volume == volume && claim.storage_class == facts.storage_class && claim.uid == facts.uid &&
      claim.owner == facts.owner && claim.selected_node == facts.selected_node && claim.bytes == facts.bytes &&
      claim.access_modes == facts.access_modes && claim.block == facts.block && claim.selector == facts.selector;
  if (same) return {};
  claim.known = true;
  claim.uid = facts.uid;
  claim.owner = facts.owner;
  claim.ending = facts.ending;
  claim.one_pod = facts.one_pod;
  claim.phase = facts.phase;
  claim.storage_class = facts.storage_class;
  claim.selected_node = facts.selected_node;
  claim.bytes = facts.bytes;
  claim.access_modes = facts.access_modes;
  claim.block = facts.block;
  claim.selector = facts.selector;
  SetVolumeOf(id, volume);
  Identify(id);
  if (!open(id)) Uncharge(claims_[id]);
  return claims_[id].shapes;
}

std::vector<ShapeId> Volumes::RemoveClaim(absl::string_view ns, absl::string_view name) {
  const auto it = claim_by_key_.find(KeyOf(ns, name));
  if (it == claim_by_key_.end()) return {};
  const ClaimId id = it->second;
  std::vector<ShapeId> shapes = claims_[id].shapes;
  Claim& claim = claims_[id];
  claim.known = claim.ending = claim.one_pod = false;
  claim.phase = ClaimPhase::kPending;
  claim.storage_class.clear();
  claim.selected_node.clear();
  claim.selector.clear();
  SetVolumeOf(id, kNoVolume);
  Identify(id);
  Uncharge(claim);
  FreeClaimIfUnused(id);
  return shapes;
}

std::vector<ShapeId> Volumes::SetVolume(const VolumeFacts& facts) {
  const int id = InternVolume(facts.name);
  std::vector<int> selectors;
  for (const std::vector<TermFacts>& terms : facts.selectors) selectors.push_back(InternSelector(terms));
  SetClassOf(id, facts.storage_class);
  Volume& volume = volumes_[id];
  const bool same = volume.known && volume.selectors == selectors && volume.not_modelled == facts.not_modelled &&
                    volume.driver == facts.driver && volume.handle == facts.handle && volume.in_tree == facts.in_tree;
  const std::string labels = PackLabels(facts.labels);
  // To claims without a volume another offer matters, too.
  const bool same_offer = volume.known && volume.available == facts.available && volume.claim == facts.claim &&
                          volume.bytes == facts.bytes && volume.access_modes == facts.access_modes &&
                          volume.block == facts.block && volume.labels == labels;
  ReleaseSelectors(volume);
  volume.selectors = std::move(selectors);
  volume.known = true;
  volume.not_modelled = facts.not_modelled;
  volume.uid = facts.uid;
  volume.resource_version = facts.resource_version;
  volume.claim = facts.claim;
  volume.labels = labels;
  volume.available = facts.available;
  volume.bytes = facts.bytes;
  volume.access_modes = facts.access_modes;
  volume.block = facts.block;
  volume.driver = facts.driver;
  volume.handle = facts.handle;
  volume.in_tree = facts.in_tree;
  if (!same) IdentifyThoseOf(volume);
  std::vector<ShapeId> shapes = same ? std::vector<ShapeId>() : ShapesOf(volume);
  if (same_offer || facts.storage_class.empty()) return shapes;
  const std::vector<ShapeId> of_class = ShapesOfClass(facts.storage_class);
  shapes.insert(shapes.end(), of_class.begin(), of_class.end());
  return shapes;
}

void Volumes::SetClassOf(int id, const std::string& storage_class) {
  Volume& volume = volumes_[id];
  if (volume.storage_class == storage_class) return;
  if (!volume.storage_class.empty()) std::erase(classes_[volume.storage_class].volumes, id);
  volume.storage_class = storage_class;
  if (!storage_class.empty()) classes_[storage_class].volumes.push_back(id);
}

std::vector<ShapeId> Volumes::RemoveVolume(absl::string_view name) {
  const auto it = volume_by_name_.find(name);
  if (it == volume_by_name_.end()) return {};
  const int id = it->second;
  Volume& volume = volumes_[id];
  std::vector<ShapeId> shapes = ShapesOf(volume);
  ReleaseSelectors(volume);
  SetClassOf(id, "");
  volume.known = volume.available = false;
  volume.not_modelled.clear();
  IdentifyThoseOf(volume);
  FreeVolumeIfUnused(id);
  return shapes;
}

std::vector<ShapeId> Volumes::SetStorageClass(const StorageClassFacts& facts) {
  StorageClass& there = classes_[facts.name];
  std::string key;
  for (const TermFacts& term : facts.topologies) AddTerm(key, term);
  if (there.known && there.waits_for_pod == facts.waits_for_pod && there.makes_volumes == facts.makes_volumes &&
      there.provisioner == facts.provisioner && there.driver == facts.driver && there.topologies_key == key)
    return {};
  there.known = true;
  there.waits_for_pod = facts.waits_for_pod;
  there.makes_volumes = facts.makes_volumes;
  there.provisioner = facts.provisioner;
  there.driver = facts.driver;
  there.topologies_key = std::move(key);
  there.topologies.clear();
  for (const TermFacts& term : facts.topologies) there.topologies.push_back(MakeTerm(term, names_));
  IdentifyOfClass(facts.name);
  return ShapesOfClass(facts.name);
}

std::vector<ShapeId> Volumes::RemoveStorageClass(absl::string_view name) {
  const auto it = classes_.find(name);
  if (it == classes_.end() || !it->second.known) return {};
  StorageClass left;  // what says it is of it
  left.volumes = std::move(it->second.volumes);
  left.capacities = std::move(it->second.capacities);
  left.capacity_keys = std::move(it->second.capacity_keys);
  it->second = std::move(left);
  IdentifyOfClass(name);
  return ShapesOfClass(name);
}

std::vector<ShapeId> Volumes::SetReadable(bool readable) {
  if (readable_ == readable) return {};
  readable_ = readable;
  std::vector<ShapeId> shapes;
  claims_.ForEach(
      [&](ClaimId, const Claim& claim) { shapes.insert(shapes.end(), claim.shapes.begin(), claim.shapes.end()); });
  return shapes;
}

std::vector<ShapeId> Volumes::ShapesOf(const Volume& volume) const {
  std::vector<ShapeId> shapes;
  for (const ClaimId id : volume.claims)
    shapes.insert(shapes.end(), claims_[id].shapes.begin(), claims_[id].shapes.end());
  return shapes;
}

// Classes change hardly ever: all claims are looked at.
std::vector<ShapeId> Volumes::ShapesOfClass(absl::string_view name) const {
  std::vector<ShapeId> shapes;
  claims_.ForEach([&](ClaimId, const Claim& claim) {
    if (claim.storage_class == name) shapes.insert(shapes.end(), claim.shapes.begin(), claim.shapes.end());
  });
  return shapes;
}

// ---- claims without a volume

const Volumes::StorageClass* Volumes::ClassOf(const Claim& claim) const {
  const auto it = classes_.find(claim.storage_class);
  return it == classes_.end() || !it->second.known ? nullptr : &it->second;
}

bool Volumes::open(ClaimId id) const {
  const Claim& claim = claims_[id];
  if (!claim.known || claim.ending || claim.phase != ClaimPhase::kPending || claim.volume != kNoVolume) return false;
  const StorageClass* const its_class = ClassOf(claim);
  return its_class != nullptr && its_class->waits_for_pod;
}

// kubernetes: component-helpers/storage/volume, FindMatchingVolume; nodes aside.
bool Volumes::Suits(const Volume& volume, const Claim& claim) const {
  if (!volume.known || !volume.not_modelled.empty() || volume.storage_class != claim.storage_class) return false;
  if (volume.claim.empty() ? !volume.available : volume.claim != claim.key) return false;
  return volume.bytes >= claim.bytes && volume.block == claim.block && AllHold(claim.selector, volume.labels) &&
         std::includes(volume.access_modes.begin(), volume.access_modes.end(), claim.access_modes.begin(),
                       claim.access_modes.end());
}

bool Volumes::Meets(Row row, const std::vector<Term>& terms) const {
  return std::any_of(terms.begin(), terms.end(), [&](const Term& term) { return nodes_.Matches(row, term); });
}

bool Volumes::Reached(int volume, Row row) const {
  const std::vector<int>& selectors = volumes_[volume].selectors;
  return std::all_of(selectors.begin(), selectors.end(),
                     [&](int selector) { return Meets(row, selectors_[selector].terms); });
}

std::optional<Volumes::Offer> Volumes::OfferOn(ClaimId id, Row row, const Beside& beside) const {
  const Claim& claim = claims_[id];
  if (claim.promises > 0) {
    const bool there = claim.promised == kMade || (claim.promised != kNoVolume && Reached(claim.promised, row));
    return there ? std::optional<Offer>(Offer{claim.promised}) : std::nullopt;
  }
  if (!claim.selected_node.empty() && claim.selected_node != nodes_.name(row)) return std::nullopt;
  const StorageClass* const its_class = ClassOf(claim);
  if (its_class == nullptr) return std::nullopt;
  // One that is kept for it, then the smallest.
  const auto rank = [this](int volume) {
    const Volume& v = volumes_[volume];
    return std::tuple<bool, std::int64_t, absl::string_view>(v.claim.empty(), v.bytes, v.name);
  };
  int best = kNoVolume;
  for (const int volume : its_class->volumes) {
    if (!Suits(volumes_[volume], claim) || volumes_[volume].promises > 0 || beside.taken(volume)) continue;
    if ((best == kNoVolume || rank(volume) < rank(best)) && Reached(volume, row)) best = volume;
  }
  if (best != kNoVolume) return Offer{best};
  if (!its_class->makes_volumes || !(its_class->topologies.empty() || Meets(row, its_class->topologies)))
    return std::nullopt;
  if (!CountsRoom(*its_class) || claim.bytes == 0) return Offer{kMade};
  const std::optional<int> capacity = CapacityFor(*its_class, claim, row, beside.charged);
  return capacity.has_value() ? std::optional<Offer>(Offer{kMade, *capacity}) : std::nullopt;
}

bool Volumes::MadeButForRoom(ClaimId id, Row row) const {
  const Claim& claim = claims_[id];
  const StorageClass* const its_class = ClassOf(claim);
  return claim.promises == 0 && (claim.selected_node.empty() || claim.selected_node == nodes_.name(row)) &&
         its_class != nullptr && its_class->makes_volumes &&
         (its_class->topologies.empty() || Meets(row, its_class->topologies));
}

std::vector<ClaimId> Volumes::InOrder(std::vector<ClaimId> claims) const {
  if (claims.size() < 2) return claims;
  std::sort(claims.begin(), claims.end(), [this](ClaimId a, ClaimId b) {
    return std::tie(claims_[a].bytes, claims_[a].key) < std::tie(claims_[b].bytes, claims_[b].key);
  });
  return claims;
}

void Volumes::Promise(const std::vector<ClaimId>& claims, Row row) {
  for (const ClaimId id : InOrder(claims)) {
    const std::optional<Offer> offer =
        OfferOn(id, row, {[](int) { return false; }, [](int) { return std::int64_t{0}; }});
    Claim& claim = claims_[id];
    if (claim.promises++ > 0) continue;
    claim.promised = offer.has_value() ? offer->volume : kNoVolume;
    claim.node = std::string(nodes_.name(row));
    if (claim.promised >= 0) ++volumes_[claim.promised].promises;
    if (!offer.has_value() || offer->capacity == kNone || !open(id)) continue;
    claim.capacity = offer->capacity;
    claim.charged = claim.bytes;
    capacities_[claim.capacity].promised += claim.charged;
  }
}

void Volumes::Uncharge(Claim& claim) {
  if (claim.capacity == kNone) return;
  capacities_[claim.capacity].promised -= claim.charged;
  claim.capacity = kNone;
  claim.charged = 0;
}

void Volumes::Unpromise(ClaimId id) {
  Claim& claim = claims_[id];
  GW_CHECK(claim.promises > 0);
  if (--claim.promises > 0) return;
  claim.node.clear();
  Uncharge(claim);
  const int volume = claim.promised;
  claim.promised = kNoVolume;
  if (volume >= 0) {
    --volumes_[volume].promises;
    FreeVolumeIfUnused(volume);
  }
  FreeClaimIfUnused(id);
}

std::optional<Volumes::Promised> Volumes::PromisedTo(ClaimId id) const {
  const Claim& claim = claims_[id];
  if (claim.promises == 0 || !open(id)) return std::nullopt;
  Promised promised;
  promised.ns = claim.key.substr(0, claim.key.find('/'));
  promised.name = NameIn(claim.key);
  promised.uid = claim.uid;
  promised.node = claim.node;
  promised.selected_node = claim.selected_node;
  promised.made = claim.promised == kMade;
  promised.lost = claim.promised == kNoVolume;
  if (claim.promised < 0) return promised;
  const Volume& volume = volumes_[claim.promised];
  promised.volume = volume.name;
  promised.volume_uid = volume.uid;
  promised.volume_version = volume.resource_version;
  promised.kept = volume.claim == claim.key;
  promised.lost = !Suits(volume, claim);
  return promised;
}

bool Volumes::awaited(ClaimId id) const {
  const Claim& claim = claims_[id];
  return claim.known && !claim.ending && claim.phase == ClaimPhase::kPending;
}

absl::string_view Volumes::MadeFor(ClaimId id) const {
  return open(id) ? absl::string_view(claims_[id].selected_node) : absl::string_view();
}

bool Volumes::ready(ClaimId id) const {
  const Claim& claim = claims_[id];
  return claim.known && !claim.ending && claim.phase == ClaimPhase::kBound && claim.volume != kNoVolume &&
         volumes_[claim.volume].known;
}

// ---- room for volumes that are made

bool Volumes::SetDriver(const CsiDriverFacts& facts) {
  const auto [it, fresh] = drivers_.emplace(facts.name, facts.counts_room);
  if (!fresh && it->second == facts.counts_room) return false;
  it->second = facts.counts_room;
  return true;
}

bool Volumes::RemoveDriver(absl::string_view name) { return drivers_.erase(name) > 0; }

bool Volumes::CountsRoom(const StorageClass& its_class) const {
  if (drivers_.empty()) return false;
  const auto it = drivers_.find(its_class.provisioner);
  return it != drivers_.end() && it->second;
}

// Most capacities are of the nodes with one label.
Volumes::Label Volumes::LabelFor(const Term& topology) {
  for (const Requirement& requirement : topology) {
    if (requirement.op == Op::kIn && requirement.key >= 0 && requirement.values.size() == 1)
      return {requirement.key, requirement.values.front()};
  }
  return {kNone, kNone};
}

void Volumes::AddToClass(int id) {
  const Capacity& capacity = capacities_[id];
  StorageClass& its_class = classes_[capacity.storage_class];
  const Label label = LabelFor(capacity.topology);
  std::vector<int>& alike = its_class.capacities[label];
  alike.push_back(id);
  if (alike.size() > 1) return;
  const auto key = std::find_if(its_class.capacity_keys.begin(), its_class.capacity_keys.end(),
                                [&](const auto& each) { return each.first == label.first; });
  if (key == its_class.capacity_keys.end()) {
    its_class.capacity_keys.emplace_back(label.first, 1);
  } else {
    ++key->second;
  }
}

void Volumes::RemoveFromClass(int id) {
  const Capacity& capacity = capacities_[id];
  StorageClass& its_class = classes_[capacity.storage_class];
  const auto alike = its_class.capacities.find(LabelFor(capacity.topology));
  std::erase(alike->second, id);
  if (!alike->second.empty()) return;
  const auto key = std::find_if(its_class.capacity_keys.begin(), its_class.capacity_keys.end(),
                                [&](const auto& each) { return each.first == alike->first.first; });
  if (--key->second == 0) its_class.capacity_keys.erase(key);
  its_class.capacities.erase(alike);
}

bool Volumes::SetCapacity(const StorageCapacityFacts& facts) {
  const std::string key = KeyOf(facts.ns, facts.name);
  std::string topology_key;
  AddTerm(topology_key, facts.topology);
  const auto it = capacity_by_key_.find(key);
  if (it != capacity_by_key_.end()) {
    const Capacity& there = capacities_[it->second];
    if (there.storage_class == facts.storage_class && there.topology_key == topology_key &&
        there.bytes == facts.bytes && there.a_volumes == facts.a_volumes)
      return false;
    RemoveFromClass(it->second);
  }
  const int id = it == capacity_by_key_.end() ? capacities_.Add() : it->second;
  Capacity& capacity = capacities_[id];
  if (it == capacity_by_key_.end()) capacity_by_key_.emplace(key, id);
  capacity.key = key;
  capacity.storage_class = facts.storage_class;
  capacity.topology_key = std::move(topology_key);
  capacity.topology = MakeTerm(facts.topology, names_);
  capacity.bytes = facts.bytes;
  capacity.a_volumes = facts.a_volumes;
  AddToClass(id);
  return true;
}

bool Volumes::RemoveCapacity(absl::string_view ns, absl::string_view name) {
  const auto it = capacity_by_key_.find(KeyOf(ns, name));
  if (it == capacity_by_key_.end()) return false;
  const int id = it->second;
  RemoveFromClass(id);
  if (capacities_[id].promised > 0) {
    for (ClaimId claim = 0; claim < claims_.slots(); ++claim) {
      if (claims_.Has(claim) && claims_[claim].capacity == id) Uncharge(claims_[claim]);
    }
  }
  capacity_by_key_.erase(it);
  capacities_.Remove(id);
  return true;
}

// kubernetes: plugins/volumebinding, hasEnoughCapacity. Of several the first by name.
std::optional<int> Volumes::CapacityFor(const StorageClass& its_class, const Claim& claim, Row row,
                                        absl::FunctionRef<std::int64_t(int)> charged) const {
  const auto has_room = [&](const Capacity& capacity, int id) {
    const std::optional<std::int64_t>& most = capacity.a_volumes.has_value() ? capacity.a_volumes : capacity.bytes;
    if (!most.has_value() || *most < claim.bytes) return false;
    const std::int64_t given = capacity.promised + charged(id);
    return given == 0 || !capacity.bytes.has_value() || *capacity.bytes - given >= claim.bytes;
  };
  int best = kNone;
  for (const auto& [key, labels] : its_class.capacity_keys) {
    const Label label{key, key == kNone ? kNone : nodes_.LabelOf(row, key)};
    const auto alike = its_class.capacities.find(label);
    if (alike == its_class.capacities.end()) continue;
    for (const int id : alike->second) {
      const Capacity& capacity = capacities_[id];
      if (best != kNone && capacities_[best].key < capacity.key) continue;
      if (nodes_.Matches(row, capacity.topology) && has_room(capacity, id)) best = id;
    }
  }
  return best == kNone ? std::nullopt : std::optional<int>(best);
}

// ---- volumes that drivers attach

// kubernetes: plugins/nodevolumelimits, getCSIDriverInfo. What stands for a volume to come is no handle of a driver's.
void Volumes::Identify(ClaimId id) {
  Claim& claim = claims_[id];
  Attachments::VolumeId now = kNone;
  if (claim.known && claim.volume != kNoVolume && volumes_[claim.volume].known) {
    const Volume& volume = volumes_[claim.volume];
    if (!volume.driver.empty() && !volume.handle.empty()) now = attachments_.Use(volume.driver, volume.handle);
  } else if (const StorageClass* const its_class = claim.known ? ClassOf(claim) : nullptr; its_class != nullptr) {
    if (!its_class->driver.empty()) now = attachments_.Use(its_class->driver, absl::StrCat("claim\n", claim.key));
  }
  const Attachments::VolumeId before = std::exchange(claim.attachable, now);
  if (before != now) {
    for (const auto& [node, pods] : claim.on) {
      if (before != kNone) attachments_.Hold(node, before, -pods);
      if (now != kNone) attachments_.Hold(node, now, pods);
    }
  }
  if (before != kNone) attachments_.Unuse(before);
}

// Those that have no volume yet.
void Volumes::IdentifyOfClass(absl::string_view name) {
  for (ClaimId id = 0; id < claims_.slots(); ++id) {
    if (claims_.Has(id) && claims_[id].storage_class == name) Identify(id);
  }
}

void Volumes::IdentifyThoseOf(const Volume& volume) {
  for (const ClaimId id : volume.claims) Identify(id);
  for (const int id : volume.attachments) IdentifyAttachment(id);
}

// kubernetes: plugins/nodevolumelimits, getNodeVolumeAttachmentInfo
void Volumes::IdentifyAttachment(int id) {
  Attachment& attachment = attached_[id];
  const Volume* const volume = attachment.volume == kNoVolume ? nullptr : &volumes_[attachment.volume];
  Attachments::VolumeId now = kNone;
  if (volume != nullptr && volume->known && !volume->in_tree && !volume->handle.empty() && !attachment.driver.empty())
    now = attachments_.Use(attachment.driver, volume->handle);
  const Attachments::VolumeId before = std::exchange(attachment.counts, now);
  if (before != now) {
    if (before != kNone) attachments_.Attach(attachment.node, before, -1);
    if (now != kNone) attachments_.Attach(attachment.node, now, 1);
  }
  if (before != kNone) attachments_.Unuse(before);
}

void Volumes::SetAttachment(const VolumeAttachmentFacts& facts) {
  if (const auto it = attached_by_name_.find(facts.name); it != attached_by_name_.end()) {
    const Attachment& there = attached_[it->second];
    if (there.driver == facts.driver && names_.Text(there.node) == facts.node &&
        volumes_[there.volume].name == facts.volume)
      return;
    RemoveAttachment(facts.name);
  }
  if (facts.volume.empty() || facts.node.empty()) return;
  const int id = attached_.Add();
  attached_by_name_.emplace(facts.name, id);
  Attachment& attachment = attached_[id];
  attachment.name = facts.name;
  attachment.driver = facts.driver;
  attachment.node = names_.Intern(facts.node);
  attachment.volume = InternVolume(facts.volume);
  volumes_[attachment.volume].attachments.push_back(id);
  IdentifyAttachment(id);
}

void Volumes::RemoveAttachment(absl::string_view name) {
  const auto it = attached_by_name_.find(name);
  if (it == attached_by_name_.end()) return;
  const int id = it->second, volume = std::exchange(attached_[id].volume, kNoVolume);
  IdentifyAttachment(id);
  std::erase(volumes_[volume].attachments, id);
  FreeVolumeIfUnused(volume);
  attached_by_name_.erase(it);
  attached_.Remove(id);
}

// ---- uses

void Volumes::Hold(ClaimId id, Row row, int pods) {
  Claim& claim = claims_[id];
  claim.held += pods;
  const int node = nodes_.name_id(row);
  auto it = std::lower_bound(claim.on.begin(), claim.on.end(), std::pair(node, 0));
  if (it == claim.on.end() || it->first != node) it = claim.on.insert(it, {node, 0});
  if ((it->second += pods) == 0) claim.on.erase(it);
  if (claim.attachable != kNone) attachments_.Hold(node, claim.attachable, pods);
}

ClaimId Volumes::Use(absl::string_view key, ShapeId shape) {
  const ClaimId id = InternClaim(key);
  Use(id, shape);
  return id;
}

void Volumes::Unuse(ClaimId claim, ShapeId shape) {
  std::erase(claims_[claim].shapes, shape);
  FreeClaimIfUnused(claim);
}

std::string Volumes::NameOf(ClaimId claim) const { return NameIn(claims_[claim].key); }

ClaimProblem Volumes::ProblemOf(const Shape& shape) const {
  const auto of_another = [&](ClaimId id) {
    return std::any_of(shape.made_claims.begin(), shape.made_claims.end(),
                       [&](const auto& made) { return made.first == id && made.second != claims_[id].owner; });
  };
  for (const ClaimId id : shape.claims) {
    const Claim& claim = claims_[id];
    const auto problem = [&](ClaimTrouble trouble, std::string detail = {}) {
      return ClaimProblem{trouble, NameOf(id), std::move(detail)};
    };
    if (!claim.known) return problem(readable_ ? ClaimTrouble::kMissing : ClaimTrouble::kUnreadable);
    if (claim.ending) return problem(ClaimTrouble::kEnding);
    if (of_another(id)) return problem(ClaimTrouble::kOfAnother);
    const std::string volume = claim.volume == kNoVolume ? "" : volumes_[claim.volume].name;
    if (claim.phase == ClaimPhase::kLost) return problem(ClaimTrouble::kLost, volume);
    if (!open(id)) {
      if (claim.phase == ClaimPhase::kPending || claim.volume == kNoVolume)
        return problem(ClaimTrouble::kUnbound, claim.storage_class);
      if (!volumes_[claim.volume].known) return problem(ClaimTrouble::kVolumeMissing, volume);
      const std::string& field = volumes_[claim.volume].not_modelled;
      if (!field.empty()) return problem(ClaimTrouble::kVolumeNotModelled, absl::StrCat(field, " of volume ", volume));
    }
    if (claim.one_pod && claim.held > 0) return problem(ClaimTrouble::kInUse);
  }
  return {};
}

Words Volumes::TextOf(int volume, int selector) const {
  return {phrases::kVolumeOf, volumes_[volume].name, selectors_[selector].text};
}

void Volumes::Audit(const SlotTable<Task>& tasks, const Shapes& shapes, std::vector<std::string>& wrong) const {
  std::map<ClaimId, int> held, promises;
  std::map<ClaimId, std::map<int, int>> on;
  std::map<ClaimId, std::multiset<ShapeId>> users;
  std::set<ShapeId> seen;
  tasks.ForEach([&](TaskId, const Task& task) {
    for (const ClaimId claim : shapes[task.shape].claims) {
      if (task.holds_room()) {
        ++held[claim];
        ++on[claim][nodes_.name_id(task.row)];
      }
      if (task.promised) ++promises[claim];
      if (!seen.contains(task.shape)) users[claim].insert(task.shape);
    }
    seen.insert(task.shape);
  });
  std::map<int, std::multiset<ClaimId>> named;
  std::map<int, int> promised;
  claims_.ForEach([&](ClaimId id, const Claim& claim) {
    if (claim.volume != kNoVolume) named[claim.volume].insert(id);
    if (claim.held != held[id])
      wrong.push_back(
          absl::StrCat("claim ", claim.key, ": pods that hold it are ", claim.held, ", one by one ", held[id]));
    if (std::map<int, int>(claim.on.begin(), claim.on.end()) != on[id])
      wrong.push_back(absl::StrCat("claim ", claim.key, ": its pods are not on the nodes that it counts"));
    if (std::multiset<ShapeId>(claim.shapes.begin(), claim.shapes.end()) != users[id]) {
      wrong.push_back(absl::StrCat("claim ", claim.key, ": shapes are ", claim.shapes.size(),
                                   ", of those that name it ", users[id].size()));
    }
    if (claim.promises != promises[id])
      wrong.push_back(
          absl::StrCat("claim ", claim.key, ": promises are ", claim.promises, ", of assumed pods ", promises[id]));
    if (claim.promised >= 0) ++promised[claim.promised];
    if (!claim.known && claim.shapes.empty())
      wrong.push_back(absl::StrCat("claim ", claim.key, ": is kept for nobody"));
  });
  std::map<int, int> selector_users;
  volumes_.ForEach([&](int id, const Volume& volume) {
    for (const int selector : volume.selectors) ++selector_users[selector];
    if (std::multiset<ClaimId>(volume.claims.begin(), volume.claims.end()) != named[id]) {
      wrong.push_back(absl::StrCat("volume ", volume.name, ": claims are ", volume.claims.size(),
                                   ", of those that name it ", named[id].size()));
    }
    if (volume.promises != promised[id])
      wrong.push_back(
          absl::StrCat("volume ", volume.name, ": promises are ", volume.promises, ", of claims ", promised[id]));
    if (!volume.known && volume.claims.empty() && volume.promises == 0 && volume.attachments.empty())
      wrong.push_back(absl::StrCat("volume ", volume.name, ": is kept for nobody"));
  });
  selectors_.ForEach([&](int id, const Selector& selector) {
    if (selector.users != selector_users[id])
      wrong.push_back(absl::StrCat("selector ", selector.text.English(), ": users are ", selector.users,
                                   ", one by one ", selector_users[id]));
  });
  AuditAttachments(wrong);
  AuditCapacities(wrong);
}

void Volumes::AuditAttachments(std::vector<std::string>& wrong) const {
  Attachments::Counts pods, attached;
  absl::flat_hash_map<Attachments::VolumeId, int> users;
  claims_.ForEach([&](ClaimId, const Claim& claim) {
    if (claim.attachable == kNone) return;
    ++users[claim.attachable];
    for (const auto& [node, count] : claim.on) pods[{node, claim.attachable}] += count;
  });
  std::map<int, int> named;
  attached_.ForEach([&](int, const Attachment& attachment) {
    ++named[attachment.volume];
    if (attachment.counts == kNone) return;
    ++users[attachment.counts];
    ++attached[{attachment.node, attachment.counts}];
  });
  volumes_.ForEach([&](int id, const Volume& volume) {
    if (static_cast<int>(volume.attachments.size()) != named[id])
      wrong.push_back(absl::StrCat("volume ", volume.name, ": attachments are ", volume.attachments.size(),
                                   ", of those that name it ", named[id]));
  });
  attachments_.Audit(pods, attached, users, wrong);
}

void Volumes::AuditCapacities(std::vector<std::string>& wrong) const {
  std::map<int, std::int64_t> promised;
  claims_.ForEach([&](ClaimId, const Claim& claim) {
    if (claim.capacity != kNone) promised[claim.capacity] += claim.charged;
  });
  std::size_t listed = 0;
  for (const auto& [name, its_class] : classes_) {
    for (const auto& [label, alike] : its_class.capacities) listed += alike.size();
  }
  if (listed != static_cast<std::size_t>(capacities_.size()))
    wrong.push_back(absl::StrCat("storage capacities: ", capacities_.size(), ", of classes ", listed));
  capacities_.ForEach([&](int id, const Capacity& capacity) {
    if (capacity.promised != promised[id])
      wrong.push_back(absl::StrCat("storage capacity ", capacity.key, ": promised are ", capacity.promised,
                                   " bytes, claim by claim ", promised[id]));
  });
}

}  // namespace gangway::model
