#include "plugin/model/attachments.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "plugin/model/nodes.h"

namespace gangway::model {
namespace {

// Of few drivers.
int CountOf(const std::vector<std::pair<int, int>>& by_driver, int driver) {
  const auto it =
      std::find_if(by_driver.begin(), by_driver.end(), [&](const auto& each) { return each.first == driver; });
  return it == by_driver.end() ? 0 : it->second;
}

void AddTo(std::vector<std::pair<int, int>>& by_driver, int driver, int count) {
  const auto it =
      std::find_if(by_driver.begin(), by_driver.end(), [&](const auto& each) { return each.first == driver; });
  if (it == by_driver.end()) {
    by_driver.emplace_back(driver, count);
  } else if ((it->second += count) == 0) {
    by_driver.erase(it);
  }
}

}  // namespace

// ---- events

void Attachments::SetNode(const CsiNodeFacts& facts) {
  std::vector<std::pair<DriverId, int>> limits;
  for (const auto& [driver, most] : facts.limits) limits.emplace_back(names_.Intern(driver), most);
  SetLimits(names_.Intern(facts.name), std::move(limits));
}

void Attachments::RemoveNode(absl::string_view name) {
  if (const int node = names_.Find(name); node != kNone) SetLimits(node, {});
}

void Attachments::SetLimits(int node, std::vector<std::pair<DriverId, int>> limits) {
  const auto it = on_.find(node);
  if (it == on_.end() ? limits.empty() : it->second.limits == limits) return;
  OnNode& on = on_[node];
  for (const auto& [driver, most] : on.limits) {
    if (--limiting_[driver] == 0) limiting_.erase(driver);
  }
  for (const auto& [driver, most] : limits) ++limiting_[driver];
  on.limits = std::move(limits);
  EraseIfEmpty(node);
  Touch(node);
}

void Attachments::EraseIfEmpty(int node) {
  const auto it = on_.find(node);
  if (it->second.limits.empty() && it->second.volumes.empty()) on_.erase(it);
}

// What is asked of the row is answered anew.
void Attachments::Touch(int node) {
  if (const Row row = nodes_.Find(names_.Text(node)); row != kNone) nodes_.Touch(row);
}

// ---- volumes

Attachments::VolumeId Attachments::Use(absl::string_view driver, absl::string_view handle) {
  std::string key = absl::StrCat(driver, "/", handle);  // kubernetes: getVolumeUniqueName
  const auto it = by_key_.find(key);
  const VolumeId id = it == by_key_.end() ? volumes_.Add() : it->second;
  ++volumes_[id].users;
  if (it != by_key_.end()) return id;
  volumes_[id].driver = names_.Intern(driver);
  volumes_[id].key = key;
  by_key_.emplace(std::move(key), id);
  return id;
}

void Attachments::Unuse(VolumeId id) {
  if (--volumes_[id].users > 0) return;
  by_key_.erase(volumes_[id].key);
  volumes_.Remove(id);
}

void Attachments::Count(int node, VolumeId volume, int pods, int attached) {
  OnNode& on = on_[node];
  Uses& uses = on.volumes[volume];
  const bool counted = uses.pods + uses.attached > 0, held = uses.pods > 0;
  uses.pods += pods;
  uses.attached += attached;
  GW_CHECK(uses.pods >= 0 && uses.attached >= 0);
  const bool counts = uses.pods + uses.attached > 0, holds = uses.pods > 0;
  if (counted != counts) AddTo(on.counts, driver(volume), counts ? 1 : -1);
  const bool matters = (counted != counts || held != holds) && limited(driver(volume));
  if (!counts) {
    on.volumes.erase(volume);
    EraseIfEmpty(node);
  }
  if (matters) Touch(node);
}

// ---- what there is

const Attachments::OnNode* Attachments::Find(Row row) const {
  const auto it = on_.find(nodes_.name_id(row));
  return it == on_.end() ? nullptr : &it->second;
}

std::optional<Attachments::Limit> Attachments::LimitOn(Row row, DriverId driver) const {
  const OnNode* const on = Find(row);
  if (on == nullptr) return std::nullopt;
  const auto it =
      std::find_if(on->limits.begin(), on->limits.end(), [&](const auto& each) { return each.first == driver; });
  if (it == on->limits.end()) return std::nullopt;
  return Limit{it->second, it->second - CountOf(on->counts, driver)};
}

bool Attachments::HeldOn(Row row, VolumeId volume) const {
  const OnNode* const on = Find(row);
  if (on == nullptr) return false;
  const auto it = on->volumes.find(volume);
  return it != on->volumes.end() && it->second.pods > 0;
}

bool Attachments::CountedOn(Row row, VolumeId volume) const {
  const OnNode* const on = Find(row);
  return on != nullptr && on->volumes.contains(volume);
}

void Attachments::Audit(const Counts& pods, const Counts& attached, const absl::flat_hash_map<VolumeId, int>& users,
                        std::vector<std::string>& wrong) const {
  const auto of = [](const Counts& counts, int node, VolumeId volume) {
    const auto it = counts.find({node, volume});
    return it == counts.end() ? 0 : it->second;
  };
  absl::flat_hash_map<DriverId, int> limiting;
  std::size_t there = 0;
  for (const auto& [node, on] : on_) {
    const std::string name = absl::StrCat("volumes attached to node ", names_.Text(node), ": ");
    absl::flat_hash_map<DriverId, int> counts;
    for (const auto& [volume, uses] : on.volumes) {
      ++counts[driver(volume)];
      if (uses.pods != of(pods, node, volume) || uses.attached != of(attached, node, volume)) {
        wrong.push_back(absl::StrCat(name, volumes_[volume].key, " is used ", uses.pods, " and ", uses.attached,
                                     " times, one by one ", of(pods, node, volume), " and ",
                                     of(attached, node, volume)));
      }
    }
    there += on.volumes.size();
    if (absl::flat_hash_map<DriverId, int>(on.counts.begin(), on.counts.end()) != counts)
      wrong.push_back(absl::StrCat(name, "counts of drivers are not those of the volumes"));
    for (const auto& [driver, most] : on.limits) ++limiting[driver];
    if (on.limits.empty() && on.volumes.empty()) wrong.push_back(absl::StrCat(name, "is kept for nobody"));
  }
  absl::flat_hash_map<std::pair<int, VolumeId>, int> all = pods;
  for (const auto& [key, count] : attached) all[key] += count;
  if (there != all.size()) wrong.push_back(absl::StrCat("volumes attached are ", there, ", one by one ", all.size()));
  if (limiting != limiting_) wrong.push_back("volumes attached: drivers with limits are not those of the nodes");
  volumes_.ForEach([&](VolumeId id, const Volume& volume) {
    const auto it = users.find(id);
    const int one_by_one = it == users.end() ? 0 : it->second;
    if (volume.users != one_by_one)
      wrong.push_back(
          absl::StrCat("attachable volume ", volume.key, ": users are ", volume.users, ", one by one ", one_by_one));
  });
}

}  // namespace gangway::model
