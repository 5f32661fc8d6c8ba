#include "plugin/model/shapes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace gangway::model {

std::string Shapes::KeyWith(std::string wants, const std::vector<TermId>& kept_off) const {
  for (const TermId term : kept_off) absl::StrAppend(&wants, "|k", anti_affinities_.key(term));
  return wants;
}

ShapeId Shapes::FindFor(const std::string& key) {
  const auto it = by_key_.find(key);
  if (it == by_key_.end()) return kNone;
  ++table_[it->second].shape.users;
  return it->second;
}

ShapeId Shapes::Intern(const Wants& wants, const std::vector<TermId>& kept_off) {
  std::string wants_key = ShapeKey(wants);
  const std::size_t size = wants_key.size();
  std::string key = KeyWith(std::move(wants_key), kept_off);
  if (const ShapeId there = FindFor(key); there != kNone) return there;
  Shape shape = MakeShape(wants, dims_, names_);
  shape.key = std::move(key);
  shape.wants_size = size;
  shape.kept_off = kept_off;
  const ShapeId id = Add(std::move(shape));
  for (const std::string& claim : wants.claims) table_[id].shape.claims.push_back(volumes_.Use(claim, id));
  return id;
}

ShapeId Shapes::InternLike(ShapeId alike, const std::vector<TermId>& kept_off) {
  const Shape& like = table_[alike].shape;
  std::string key = KeyWith(like.key.substr(0, like.wants_size), kept_off);
  if (const ShapeId there = FindFor(key); there != kNone) return there;
  Shape shape = like;
  shape.key = std::move(key);
  shape.kept_off = kept_off;
  const ShapeId id = Add(std::move(shape));
  for (const ClaimId claim : table_[id].shape.claims) volumes_.Use(claim, id);
  return id;
}

ShapeId Shapes::Add(Shape shape) {
  const ShapeId id = table_.Add();
  shape.users = 1;
  for (const TermId term : shape.kept_off) anti_affinities_.Use(term);
  if (!shape.kept_off.empty()) kept_off_.push_back(id);
  by_key_.emplace(shape.key, id);
  table_[id] = {std::move(shape), ++last_version_};
  return id;
}

void Shapes::Release(ShapeId id) {
  Shape& shape = table_[id].shape;
  if (--shape.users > 0) return;
  by_key_.erase(shape.key);
  for (const ClaimId claim : shape.claims) volumes_.Unuse(claim, id);
  for (const TermId term : shape.kept_off) anti_affinities_.Unuse(term);
  if (!shape.kept_off.empty()) std::erase(kept_off_, id);
  table_.Remove(id);
}

void Shapes::Stir(const std::vector<ShapeId>& shapes) {
  for (const ShapeId id : shapes) table_[id].version = ++last_version_;
}

std::vector<ShapeId> Shapes::KeptOffBy(TermId term) const {
  std::vector<ShapeId> shapes;
  for (const ShapeId id : kept_off_) {
    const std::vector<TermId>& terms = table_[id].shape.kept_off;
    if (std::find(terms.begin(), terms.end(), term) != terms.end()) shapes.push_back(id);
  }
  return shapes;
}

bool Shapes::IsOf(ShapeId id, const Wants& wants) const {
  const Shape& shape = table_[id].shape;
  return absl::string_view(shape.key).substr(0, shape.wants_size) == ShapeKey(wants);
}

void Shapes::Audit(const SlotTable<Task>& tasks, std::vector<std::string>& wrong) const {
  std::map<ShapeId, int> users;
  tasks.ForEach([&](TaskId, const Task& task) { ++users[task.shape]; });
  table_.ForEach([&](ShapeId id, const Entry& entry) {
    if (entry.shape.users != users[id]) wrong.push_back(absl::StrCat("shape ", entry.shape.key, ": users are ", entry.shape.users, ", of its pods ", users[id]));
    const auto it = by_key_.find(entry.shape.key);
    if (it == by_key_.end() || it->second != id) wrong.push_back(absl::StrCat("shape ", entry.shape.key, ": is not found by its key"));
    const bool listed = std::find(kept_off_.begin(), kept_off_.end(), id) != kept_off_.end();
    if (listed == entry.shape.kept_off.empty()) wrong.push_back(absl::StrCat("shape ", entry.shape.key, ": is kept off nodes and not listed so, or the other way round"));
  });
  if (static_cast<int>(by_key_.size()) != table_.size()) wrong.push_back(absl::StrCat("shapes: ", by_key_.size(), " keys of ", table_.size()));
}

}  // namespace gangway::model
