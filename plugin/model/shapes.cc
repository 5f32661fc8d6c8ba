#include "plugin/model/shapes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace gangway::model {

std::string Shapes::KeyWith(std::string wants, const std::vector<TermId>& matched) const {
  for (const TermId term : matched) absl::StrAppend(&wants, "|k", pod_terms_.key(term));
  return wants;
}

ShapeId Shapes::FindFor(const std::string& key) {
  const auto it = by_key_.find(key);
  if (it == by_key_.end()) return kNone;
  ++table_[it->second].shape.users;
  return it->second;
}

ShapeId Shapes::Intern(const Wants& wants, absl::FunctionRef<std::vector<TermId>()> matched,
                       std::vector<TaskId>& rematched) {
  Shape terms;
  pod_terms_.Intern(wants, terms, rematched);
  const std::vector<TermId> hold = matched();
  std::string wants_key = ShapeKey(wants);
  const std::size_t size = wants_key.size();
  std::string key = KeyWith(std::move(wants_key), hold);
  ShapeId id = FindFor(key);
  if (id == kNone) {
    Shape shape = MakeShape(wants, dims_, names_);
    shape.key = std::move(key);
    shape.wants_size = size;
    shape.near = terms.near;
    shape.away = terms.away;
    shape.pod_preferences = terms.pod_preferences;
    shape.spreads = terms.spreads;
    shape.matched = hold;
    id = Add(std::move(shape));
    for (const std::string& claim : wants.claims) table_[id].shape.claims.push_back(volumes_.Use(claim, id));
    for (const auto& [claim, uid] : wants.made_claims) {
      const auto at = std::find(wants.claims.begin(), wants.claims.end(), claim) - wants.claims.begin();
      table_[id].shape.made_claims.emplace_back(table_[id].shape.claims[static_cast<std::size_t>(at)], uid);
    }
  }
  pod_terms_.Unuse(terms);
  return id;
}

ShapeId Shapes::InternLike(ShapeId alike, const std::vector<TermId>& matched) {
  const Shape& like = table_[alike].shape;
  std::string key = KeyWith(like.key.substr(0, like.wants_size), matched);
  if (const ShapeId there = FindFor(key); there != kNone) return there;
  Shape shape = like;
  shape.key = std::move(key);
  shape.matched = matched;
  const ShapeId id = Add(std::move(shape));
  for (const ClaimId claim : table_[id].shape.claims) volumes_.Use(claim, id);
  return id;
}

ShapeId Shapes::Add(Shape shape) {
  const ShapeId id = table_.Add();
  shape.users = 1;
  pod_terms_.Use(shape);
  shape.selector_topologies.clear();
  for (const Requirement& requirement : shape.selector)
    shape.selector_topologies.push_back(domains_.Use(names_.Text(requirement.key)));
  by_key_.emplace(shape.key, id);
  table_[id] = {std::move(shape), ++last_version_};
  return id;
}

void Shapes::Release(ShapeId id) {
  Shape& shape = table_[id].shape;
  if (--shape.users > 0) return;
  by_key_.erase(shape.key);
  for (const ClaimId claim : shape.claims) volumes_.Unuse(claim, id);
  pod_terms_.Unuse(shape);
  for (const TopologyId topology : shape.selector_topologies) domains_.Unuse(topology);
  table_.Remove(id);
}

void Shapes::Stir(const std::vector<ShapeId>& shapes) {
  for (const ShapeId id : shapes) table_[id].version = ++last_version_;
}

void Shapes::Audit(const SlotTable<Task>& tasks, const std::vector<ShapeId>& others,
                   std::vector<std::string>& wrong) const {
  std::map<ShapeId, int> users;
  for (const ShapeId id : others) ++users[id];
  tasks.ForEach([&](TaskId, const Task& task) { ++users[task.shape]; });
  table_.ForEach([&](ShapeId id, const Entry& entry) {
    if (entry.shape.users != users[id])
      wrong.push_back(
          absl::StrCat("shape ", entry.shape.key, ": users are ", entry.shape.users, ", of its pods ", users[id]));
    const auto it = by_key_.find(entry.shape.key);
    if (it == by_key_.end() || it->second != id)
      wrong.push_back(absl::StrCat("shape ", entry.shape.key, ": is not found by its key"));
  });
  if (static_cast<int>(by_key_.size()) != table_.size())
    wrong.push_back(absl::StrCat("shapes: ", by_key_.size(), " keys of ", table_.size()));
}

}  // namespace gangway::model
