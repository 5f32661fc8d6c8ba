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
#include "plugin/model/shapes.h"

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
  if (volume.known || !volume.claims.empty() || volume.promises > 0) return;
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
  selector.text = terms.empty() ? "no node" : TermText(selector.terms.front(), names_);
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
      claim.selected_node == facts.selected_node && claim.bytes == facts.bytes &&
      claim.access_modes == facts.access_modes && claim.block == facts.block && claim.selector == facts.selector;
  if (same) return {};
  claim.known = true;
  claim.uid = facts.uid;
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
  FreeClaimIfUnused(id);
  return shapes;
}

std::vector<ShapeId> Volumes::SetVolume(const VolumeFacts& facts) {
  const int id = InternVolume(facts.name);
  std::vector<int> selectors;
  for (const std::vector<TermFacts>& terms : facts.selectors) selectors.push_back(InternSelector(terms));
  SetClassOf(id, facts.storage_class);
  Volume& volume = volumes_[id];
  const bool same = volume.known && volume.selectors == selectors && volume.not_modelled == facts.not_modelled;
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
  FreeVolumeIfUnused(id);
  return shapes;
}

std::vector<ShapeId> Volumes::SetStorageClass(const StorageClassFacts& facts) {
  StorageClass& there = classes_[facts.name];
  std::string key;
  for (const TermFacts& term : facts.topologies) AddTerm(key, term);
  if (there.known && there.waits_for_pod == facts.waits_for_pod && there.makes_volumes == facts.makes_volumes &&
      there.topologies_key == key)
    return {};
  there.known = true;
  there.waits_for_pod = facts.waits_for_pod;
  there.makes_volumes = facts.makes_volumes;
  there.topologies_key = std::move(key);
  there.topologies.clear();
  for (const TermFacts& term : facts.topologies) there.topologies.push_back(MakeTerm(term, names_));
  return ShapesOfClass(facts.name);
}

std::vector<ShapeId> Volumes::RemoveStorageClass(absl::string_view name) {
  const auto it = classes_.find(name);
  if (it == classes_.end() || !it->second.known) return {};
  std::vector<int> volumes = std::move(it->second.volumes);
  it->second = {};
  it->second.volumes = std::move(volumes);
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

bool Volumes::Reached(int volume, Meets meets) const {
  const std::vector<int>& selectors = volumes_[volume].selectors;
  return std::all_of(selectors.begin(), selectors.end(),
                     [&](int selector) { return meets(selectors_[selector].terms); });
}

std::optional<int> Volumes::VolumeOn(ClaimId id, absl::string_view node, Meets meets,
                                     absl::FunctionRef<bool(int volume)> taken) const {
  const Claim& claim = claims_[id];
  if (claim.promises > 0) {
    const bool there = claim.promised == kMade || (claim.promised != kNoVolume && Reached(claim.promised, meets));
    return there ? std::optional<int>(claim.promised) : std::nullopt;
  }
  if (!claim.selected_node.empty() && claim.selected_node != node) return std::nullopt;
  const StorageClass* const its_class = ClassOf(claim);
  if (its_class == nullptr) return std::nullopt;
  // One that is kept for it, then the smallest.
  const auto rank = [this](int volume) {
    const Volume& v = volumes_[volume];
    return std::tuple<bool, std::int64_t, absl::string_view>(v.claim.empty(), v.bytes, v.name);
  };
  int best = kNoVolume;
  for (const int volume : its_class->volumes) {
    if (!Suits(volumes_[volume], claim) || volumes_[volume].promises > 0 || taken(volume)) continue;
    if ((best == kNoVolume || rank(volume) < rank(best)) && Reached(volume, meets)) best = volume;
  }
  if (best != kNoVolume) return best;
  if (!its_class->makes_volumes || !(its_class->topologies.empty() || meets(its_class->topologies)))
    return std::nullopt;
  return kMade;
}

void Volumes::Promise(ClaimId id, absl::string_view node, Meets meets) {
  const std::optional<int> volume = VolumeOn(id, node, meets, [](int) { return false; });
  Claim& claim = claims_[id];
  if (claim.promises++ > 0) return;
  claim.promised = volume.value_or(kNoVolume);
  claim.node = std::string(node);
  if (claim.promised >= 0) ++volumes_[claim.promised].promises;
}

void Volumes::Unpromise(ClaimId id) {
  Claim& claim = claims_[id];
  GW_CHECK(claim.promises > 0);
  if (--claim.promises > 0) return;
  claim.node.clear();
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

bool Volumes::ready(ClaimId id) const {
  const Claim& claim = claims_[id];
  return claim.known && !claim.ending && claim.phase == ClaimPhase::kBound && claim.volume != kNoVolume &&
         volumes_[claim.volume].known;
}

// ---- uses

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

ClaimProblem Volumes::ProblemOf(const std::vector<ClaimId>& claims) const {
  for (const ClaimId id : claims) {
    const Claim& claim = claims_[id];
    const auto problem = [&](ClaimTrouble trouble, std::string detail = {}) {
      return ClaimProblem{trouble, NameOf(id), std::move(detail)};
    };
    if (!claim.known) return problem(readable_ ? ClaimTrouble::kMissing : ClaimTrouble::kUnreadable);
    if (claim.ending) return problem(ClaimTrouble::kEnding);
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

std::string Volumes::TextOf(int volume, int selector) const {
  return absl::StrCat(volumes_[volume].name, " (", selectors_[selector].text, ")");
}

void Volumes::Audit(const SlotTable<Task>& tasks, const Shapes& shapes, std::vector<std::string>& wrong) const {
  std::map<ClaimId, int> held, promises;
  std::map<ClaimId, std::multiset<ShapeId>> users;
  std::set<ShapeId> seen;
  tasks.ForEach([&](TaskId, const Task& task) {
    for (const ClaimId claim : shapes[task.shape].claims) {
      if (task.holds_room()) ++held[claim];
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
    if (!volume.known && volume.claims.empty() && volume.promises == 0)
      wrong.push_back(absl::StrCat("volume ", volume.name, ": is kept for nobody"));
  });
  selectors_.ForEach([&](int id, const Selector& selector) {
    if (selector.users != selector_users[id])
      wrong.push_back(absl::StrCat("selector ", selector.text, ": users are ", selector.users, ", one by one ",
                                   selector_users[id]));
  });
}

}  // namespace gangway::model
