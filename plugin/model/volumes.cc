#include "plugin/model/volumes.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
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
  if (claim.known || !claim.shapes.empty()) return;
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
  if (volume.known || !volume.claims.empty()) return;
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
  const bool same = claim.known && claim.ending == facts.ending && claim.one_pod == facts.one_pod && claim.phase == facts.phase &&
                    claim.volume == volume && claim.storage_class == facts.storage_class;
  if (same) return {};
  claim.known = true;
  claim.ending = facts.ending;
  claim.one_pod = facts.one_pod;
  claim.phase = facts.phase;
  claim.storage_class = facts.storage_class;
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
  SetVolumeOf(id, kNoVolume);
  FreeClaimIfUnused(id);
  return shapes;
}

std::vector<ShapeId> Volumes::SetVolume(const VolumeFacts& facts) {
  const int id = InternVolume(facts.name);
  std::vector<int> selectors;
  for (const std::vector<TermFacts>& terms : facts.selectors) selectors.push_back(InternSelector(terms));
  Volume& volume = volumes_[id];
  const bool same = volume.known && volume.selectors == selectors && volume.not_modelled == facts.not_modelled;
  ReleaseSelectors(volume);
  volume.selectors = std::move(selectors);
  volume.known = true;
  volume.not_modelled = facts.not_modelled;
  return same ? std::vector<ShapeId>() : ShapesOf(volume);
}

std::vector<ShapeId> Volumes::RemoveVolume(absl::string_view name) {
  const auto it = volume_by_name_.find(name);
  if (it == volume_by_name_.end()) return {};
  const int id = it->second;
  Volume& volume = volumes_[id];
  std::vector<ShapeId> shapes = ShapesOf(volume);
  ReleaseSelectors(volume);
  volume.known = false;
  volume.not_modelled.clear();
  FreeVolumeIfUnused(id);
  return shapes;
}

std::vector<ShapeId> Volumes::SetStorageClass(const StorageClassFacts& facts) {
  const auto it = class_waits_for_pod_.find(facts.name);
  if (it != class_waits_for_pod_.end() && it->second == facts.waits_for_pod) return {};
  class_waits_for_pod_[facts.name] = facts.waits_for_pod;
  return ShapesOfClass(facts.name);
}

std::vector<ShapeId> Volumes::RemoveStorageClass(absl::string_view name) {
  if (class_waits_for_pod_.erase(name) == 0) return {};
  return ShapesOfClass(name);
}

std::vector<ShapeId> Volumes::SetReadable(bool readable) {
  if (readable_ == readable) return {};
  readable_ = readable;
  std::vector<ShapeId> shapes;
  claims_.ForEach([&](ClaimId, const Claim& claim) { shapes.insert(shapes.end(), claim.shapes.begin(), claim.shapes.end()); });
  return shapes;
}

std::vector<ShapeId> Volumes::ShapesOf(const Volume& volume) const {
  std::vector<ShapeId> shapes;
  for (const ClaimId id : volume.claims) shapes.insert(shapes.end(), claims_[id].shapes.begin(), claims_[id].shapes.end());
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
    if (claim.phase == ClaimPhase::kPending || claim.volume == kNoVolume) {
      const auto waits = class_waits_for_pod_.find(claim.storage_class);
      const bool for_pod = volume.empty() && waits != class_waits_for_pod_.end() && waits->second;
      return problem(for_pod ? ClaimTrouble::kWaitsForPod : ClaimTrouble::kUnbound, claim.storage_class);
    }
    if (!volumes_[claim.volume].known) return problem(ClaimTrouble::kVolumeMissing, volume);
    const std::string& field = volumes_[claim.volume].not_modelled;
    if (!field.empty()) return problem(ClaimTrouble::kVolumeNotModelled, absl::StrCat(field, " of volume ", volume));
    if (claim.one_pod && claim.held > 0) return problem(ClaimTrouble::kInUse);
  }
  return {};
}

std::string Volumes::TextOf(int volume, int selector) const {
  return absl::StrCat(volumes_[volume].name, " (", selectors_[selector].text, ")");
}

void Volumes::Audit(const SlotTable<Task>& tasks, const Shapes& shapes, std::vector<std::string>& wrong) const {
  std::map<ClaimId, int> held;
  std::map<ClaimId, std::multiset<ShapeId>> users;
  std::set<ShapeId> seen;
  tasks.ForEach([&](TaskId, const Task& task) {
    for (const ClaimId claim : shapes[task.shape].claims) {
      if (task.holds_room()) ++held[claim];
      if (!seen.contains(task.shape)) users[claim].insert(task.shape);
    }
    seen.insert(task.shape);
  });
  std::map<int, std::multiset<ClaimId>> named;
  claims_.ForEach([&](ClaimId id, const Claim& claim) {
    if (claim.volume != kNoVolume) named[claim.volume].insert(id);
    if (claim.held != held[id]) wrong.push_back(absl::StrCat("claim ", claim.key, ": pods that hold it are ", claim.held, ", one by one ", held[id]));
    if (std::multiset<ShapeId>(claim.shapes.begin(), claim.shapes.end()) != users[id]) {
      wrong.push_back(absl::StrCat("claim ", claim.key, ": shapes are ", claim.shapes.size(), ", of those that name it ", users[id].size()));
    }
    if (!claim.known && claim.shapes.empty()) wrong.push_back(absl::StrCat("claim ", claim.key, ": is kept for nobody"));
  });
  std::map<int, int> selector_users;
  volumes_.ForEach([&](int id, const Volume& volume) {
    for (const int selector : volume.selectors) ++selector_users[selector];
    if (std::multiset<ClaimId>(volume.claims.begin(), volume.claims.end()) != named[id]) {
      wrong.push_back(absl::StrCat("volume ", volume.name, ": claims are ", volume.claims.size(), ", of those that name it ", named[id].size()));
    }
    if (!volume.known && volume.claims.empty()) wrong.push_back(absl::StrCat("volume ", volume.name, ": is kept for nobody"));
  });
  selectors_.ForEach([&](int id, const Selector& selector) {
    if (selector.users != selector_users[id]) wrong.push_back(absl::StrCat("selector ", selector.text, ": users are ", selector.users, ", one by one ", selector_users[id]));
  });
}

}  // namespace gangway::model
