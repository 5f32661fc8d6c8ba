#include "sandbox/apiserver/apply/field_set.h"

#include <algorithm>

#include "api/json.h"
#include "boost/json.hpp"

namespace gangway::sandbox::apply {
namespace {

namespace json = boost::json;

bool Before(const FieldSet::Node& node, const PathElement& step) { return PathElement::Compare(node.step, step) < 0; }

const FieldSet& ChildrenOf(const FieldSet::Node& node) {
  static const FieldSet kNone;
  return node.children == nullptr ? kNone : *node.children;
}

// Walks two sorted lists at once; one of the two may be null.
template <class Visit>
void Zip(const std::vector<FieldSet::Node>& a, const std::vector<FieldSet::Node>& b, Visit visit) {
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const int order = i == a.size() ? 1 : j == b.size() ? -1 : PathElement::Compare(a[i].step, b[j].step);
    visit(order <= 0 ? &a[i] : nullptr, order >= 0 ? &b[j] : nullptr);
    if (order <= 0) ++i;
    if (order >= 0) ++j;
  }
}

}  // namespace

void FieldSet::Add(PathElement step, bool member, FieldSet children) {
  if (!member && children.Empty()) return;
  Node& node = nodes_.emplace_back();
  node.step = std::move(step);
  node.member = member;
  if (!children.Empty()) node.children = std::make_unique<FieldSet>(std::move(children));
}

void FieldSet::Sort() {
  const auto before = [](const Node& a, const Node& b) { return PathElement::Compare(a.step, b.step) < 0; };
  const auto not_before = [&](const Node& a, const Node& b) { return !before(a, b); };
  if (std::adjacent_find(nodes_.begin(), nodes_.end(), not_before) == nodes_.end()) return;
  std::stable_sort(nodes_.begin(), nodes_.end(), before);
  std::size_t kept = 0;
  for (std::size_t i = 1; i < nodes_.size(); ++i) {
    if (!(nodes_[kept].step == nodes_[i].step)) {
      if (++kept != i) nodes_[kept] = std::move(nodes_[i]);
      continue;
    }
    nodes_[kept].member = nodes_[kept].member || nodes_[i].member;
    FieldSet joined = Union(ChildrenOf(nodes_[kept]), ChildrenOf(nodes_[i]));
    nodes_[kept].children = joined.Empty() ? nullptr : std::make_unique<FieldSet>(std::move(joined));
  }
  nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(kept) + 1, nodes_.end());
}

FieldSet FieldSet::Copy() const {
  FieldSet out;
  out.nodes_.reserve(nodes_.size());
  for (const Node& node : nodes_) out.Add(node.step, node.member, ChildrenOf(node).Copy());
  return out;
}

std::size_t FieldSet::Size() const {
  std::size_t size = 0;
  for (const Node& node : nodes_) size += (node.member ? 1 : 0) + ChildrenOf(node).Size();
  return size;
}

void FieldSet::Insert(const Path& path) {
  FieldSet* set = this;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const auto at = std::lower_bound(set->nodes_.begin(), set->nodes_.end(), path[i], Before);
    Node& node = at != set->nodes_.end() && at->step == path[i] ? *at : *set->nodes_.emplace(at);
    node.step = path[i];
    if (i + 1 == path.size()) {
      node.member = true;
      return;
    }
    if (node.children == nullptr) node.children = std::make_unique<FieldSet>();
    set = node.children.get();
  }
}

const FieldSet::Node* FieldSet::Find(const PathElement& step) const {
  const auto at = std::lower_bound(nodes_.begin(), nodes_.end(), step, Before);
  return at != nodes_.end() && at->step == step ? &*at : nullptr;
}

bool FieldSet::Has(const Path& path) const {
  const FieldSet* set = this;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Node* node = set->Find(path[i]);
    if (node == nullptr) return false;
    if (i + 1 == path.size()) return node->member;
    if (node->children == nullptr) return false;
    set = node->children.get();
  }
  return false;
}

FieldSet FieldSet::Union(const FieldSet& a, const FieldSet& b) {
  FieldSet out;
  Zip(a.nodes_, b.nodes_, [&](const Node* x, const Node* y) {
    if (x == nullptr || y == nullptr) {
      const Node& one = x == nullptr ? *y : *x;
      out.Add(one.step, one.member, ChildrenOf(one).Copy());
    } else {
      out.Add(x->step, x->member || y->member, Union(ChildrenOf(*x), ChildrenOf(*y)));
    }
  });
  return out;
}

FieldSet FieldSet::Intersection(const FieldSet& a, const FieldSet& b) {
  FieldSet out;
  Zip(a.nodes_, b.nodes_, [&](const Node* x, const Node* y) {
    if (x == nullptr || y == nullptr) return;
    out.Add(x->step, x->member && y->member, Intersection(ChildrenOf(*x), ChildrenOf(*y)));
  });
  return out;
}

FieldSet FieldSet::Difference(const FieldSet& a, const FieldSet& b) {
  FieldSet out;
  Zip(a.nodes_, b.nodes_, [&](const Node* x, const Node* y) {
    if (x == nullptr) return;
    if (y == nullptr) {
      out.Add(x->step, x->member, ChildrenOf(*x).Copy());
    } else {
      out.Add(x->step, x->member && !y->member, Difference(ChildrenOf(*x), ChildrenOf(*y)));
    }
  });
  return out;
}

FieldSet FieldSet::Difference(FieldSet&& a, const FieldSet& b) { return Without(std::move(a), b, false); }
FieldSet FieldSet::RecursiveDifference(FieldSet&& a, const FieldSet& b) { return Without(std::move(a), b, true); }

FieldSet FieldSet::Without(FieldSet&& a, const FieldSet& b, bool with_children) {
  FieldSet out = std::move(a);
  const auto is_empty = [](const Node& node) { return !node.member && node.children == nullptr; };
  bool emptied = false;
  for (const Node& gone : b.nodes_) {
    const auto at = std::lower_bound(out.nodes_.begin(), out.nodes_.end(), gone.step, Before);
    if (at == out.nodes_.end() || !(at->step == gone.step)) continue;
    if (gone.member) {
      at->member = false;
      if (with_children) at->children = nullptr;
    }
    if (at->children != nullptr && gone.children != nullptr) {
      *at->children = Without(std::move(*at->children), *gone.children, with_children);
      if (at->children->Empty()) at->children = nullptr;
    }
    emptied = emptied || is_empty(*at);
  }
  if (emptied) std::erase_if(out.nodes_, is_empty);
  return out;
}

FieldSet FieldSet::RecursiveDifference(const FieldSet& a, const FieldSet& b) {
  FieldSet out;
  Zip(a.nodes_, b.nodes_, [&](const Node* x, const Node* y) {
    if (x == nullptr || (y != nullptr && y->member)) return;
    if (y == nullptr) {
      out.Add(x->step, x->member, ChildrenOf(*x).Copy());
    } else {
      out.Add(x->step, x->member, RecursiveDifference(ChildrenOf(*x), ChildrenOf(*y)));
    }
  });
  return out;
}

bool operator==(const FieldSet& a, const FieldSet& b) {
  return std::equal(a.nodes_.begin(), a.nodes_.end(), b.nodes_.begin(), b.nodes_.end(),
                    [](const FieldSet::Node& x, const FieldSet::Node& y) {
                      return x.step == y.step && x.member == y.member && ChildrenOf(x) == ChildrenOf(y);
                    });
}

void FieldSet::ForEachBelow(Path& path, absl::FunctionRef<void(const Path&)> visit) const {
  for (const Node& node : nodes_) {
    if (!node.member) continue;
    path.push_back(node.step);
    visit(path);
    path.pop_back();
  }
  for (const Node& node : nodes_) {
    if (node.children == nullptr) continue;
    path.push_back(node.step);
    node.children->ForEachBelow(path, visit);
    path.pop_back();
  }
}

void FieldSet::ForEach(absl::FunctionRef<void(const Path&)> visit) const {
  Path path;
  ForEachBelow(path, visit);
}

void FieldSet::AppendFieldsV1(bool self, std::string& out) const {
  out.push_back('{');
  if (self && !Empty()) out.append("\".\":{}");
  bool comma = self && !Empty();
  std::string key;
  for (const Node& node : nodes_) {
    if (comma) out.push_back(',');
    comma = true;
    key.clear();
    node.step.AppendFieldsV1(key);
    api::AppendJsonString(key, out);
    out.push_back(':');
    ChildrenOf(node).AppendFieldsV1(node.member, out);
  }
  out.push_back('}');
}

std::string FieldSet::ToFieldsV1() const {
  std::string out;
  AppendFieldsV1(false, out);
  return out;
}

namespace {

// False: broken. `*member`: the path that leads here is one itself.
bool ReadBelow(const json::value& fields, FieldSet& out, bool* member) {
  if (!fields.is_object()) return false;
  *member = false;
  for (const auto& entry : fields.get_object()) {
    const absl::string_view key(entry.key().data(), entry.key().size());
    if (key == ".") {
      *member = true;
      continue;
    }
    PathElement step;
    switch (PathElement::Read(key, &step)) {
      case PathElement::Reading::kBroken:
        return false;
      case PathElement::Reading::kUnknownKind:
        continue;
      case PathElement::Reading::kOk:
        break;
    }
    FieldSet children;
    bool child_is_member = false;
    if (!ReadBelow(entry.value(), children, &child_is_member)) return false;
    out.Add(std::move(step), child_is_member, std::move(children));
  }
  out.Sort();
  if (out.Empty()) *member = true;
  return true;
}

}  // namespace

std::optional<FieldSet> FieldSet::FromFieldsV1(const json::value& fields) {
  FieldSet out;
  bool ignored = false;
  if (!ReadBelow(fields, out, &ignored)) return std::nullopt;
  return out;
}

std::optional<FieldSet> FieldSet::FromFieldsV1(absl::string_view text) {
  json::error_code error;
  json::parse_options options;
  options.max_depth = 256;
  const json::value value = json::parse(json::string_view(text.data(), text.size()), error, {}, options);
  if (error) return std::nullopt;
  return FromFieldsV1(value);
}

}  // namespace gangway::sandbox::apply
