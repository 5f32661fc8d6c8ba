#include "api/schemas/strategic_merge.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/field_error.h"
#include "api/json_value.h"
#include "api/schemas/schema_node.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "boost/json.hpp"

namespace gangway::schemas {
namespace {

namespace json = boost::json;

constexpr absl::string_view kPatch = "$patch", kRetainKeys = "$retainKeys";
constexpr absl::string_view kDeleteFrom = "$deleteFromPrimitiveList/", kElementOrder = "$setElementOrder/";

bool IsDirective(absl::string_view key) {
  return key == kPatch || key == kRetainKeys || absl::StartsWith(key, kDeleteFrom) ||
         absl::StartsWith(key, kElementOrder);
}

// kube-apiserver takes this for a mistake of its own.
absl::Status NoKey(absl::string_view path, absl::string_view what) {
  return absl::InternalError(absl::StrCat("strategic merge patch: ", path, ": ", what));
}

absl::Status Malformed(absl::string_view path, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("strategic merge patch: ", path, path.empty() ? "" : ": ", what));
}

// The value of $patch; "" when there is none. `directive` "merge" is what happens anyway.
absl::StatusOr<absl::string_view> PatchDirective(const json::object& patch, absl::string_view path) {
  const json::value* directive = patch.if_contains(api::JsonView(kPatch));
  if (directive == nullptr) return absl::string_view();
  if (directive->is_string()) {
    const absl::string_view text = api::AbslView(directive->get_string());
    if (text == "replace" || text == "delete" || text == "merge") return text;
  }
  return Malformed(path, "$patch must be \"replace\", \"merge\" or \"delete\"");
}

const SchemaNode* Below(const SchemaNode* node, absl::string_view key) {
  if (node == nullptr) return nullptr;
  if (node->shape == Shape::kMap) return node->element;
  const SchemaProperty* property = node->Find(StdView(key));
  return property == nullptr ? nullptr : property->node;
}

// What a part of the patch means where the target has nothing: itself, without directives and nulls.
json::value WithoutDirectives(const json::value& patch) {
  if (patch.is_object()) {
    json::object out;
    for (const json::key_value_pair& member : patch.get_object()) {
      if (IsDirective(api::AbslView(member.key())) || member.value().is_null()) continue;
      out.emplace(member.key(), WithoutDirectives(member.value()));
    }
    return out;
  }
  if (patch.is_array()) {
    json::array out;
    for (const json::value& element : patch.get_array()) {
      const json::value* directive =
          element.is_object() ? element.get_object().if_contains(api::JsonView(kPatch)) : nullptr;
      if (directive != nullptr && *directive != json::value("merge")) continue;
      out.push_back(WithoutDirectives(element));
    }
    return out;
  }
  return patch;
}

// How elements of one list are told apart: by the value of a key, or plain values by themselves.
class Identity {
 public:
  explicit Identity(absl::string_view merge_key) : merge_key_(merge_key) {}

  // As text; nullopt: the element has no key.
  std::optional<std::string> Of(const json::value& element) const {
    if (merge_key_.empty()) return api::ToJson(element);
    const json::value* id = element.is_object() ? element.get_object().if_contains(api::JsonView(merge_key_)) : nullptr;
    return id == nullptr ? std::nullopt : std::optional(api::ToJson(*id));
  }

 private:
  const absl::string_view merge_key_;
};

// Where the elements of a list stand, by identity; of equal ones the first.
class Places {
 public:
  Places(const json::array& list, const Identity& identity) : identity_(identity) {
    for (const json::value& element : list) Add(element);
  }
  void Add(const json::value& element) {
    if (std::optional<std::string> id = identity_.Of(element)) places_.try_emplace(*std::move(id), size_);
    ++size_;
  }
  std::optional<std::size_t> Find(const json::value& element) const {
    const std::optional<std::string> id = identity_.Of(element);
    const auto at = id.has_value() ? places_.find(*id) : places_.end();
    return at == places_.end() ? std::nullopt : std::optional(at->second);
  }

 private:
  const Identity& identity_;
  absl::flat_hash_map<std::string, std::size_t> places_;
  std::size_t size_ = 0;
};

// An element on its way into the merged list.
struct Placed {
  json::value value;
  std::optional<std::size_t> in_patch, before;
};

// Elements that the patch orders come in its order; the others keep their places relative to what stood before them in
// `before` (apimachinery: strategicpatch, normalizeElementOrder and mergeSortedSlice).
json::array InOrder(json::array merged, const json::array& patch_order, const json::array& before,
                    const Identity& identity) {
  const Places in_patch(patch_order, identity), was(before, identity);
  std::vector<Placed> ordered, others;
  for (json::value& item : merged) {
    Placed placed{{}, in_patch.Find(item), was.Find(item)};
    placed.value = std::move(item);
    (placed.in_patch.has_value() ? ordered : others).push_back(std::move(placed));
  }
  const auto by = [](auto member) {
    return [member](const Placed& a, const Placed& b) {
      return (a.*member).value_or(SIZE_MAX) < (b.*member).value_or(SIZE_MAX);
    };
  };
  std::stable_sort(ordered.begin(), ordered.end(), by(&Placed::in_patch));
  std::stable_sort(others.begin(), others.end(), by(&Placed::before));
  json::array out;
  std::size_t i = 0, j = 0;
  while (i < others.size() || j < ordered.size()) {
    bool other_first = j == ordered.size();
    if (!other_first && i < others.size()) {
      const std::optional<std::size_t> a = others[i].before, b = ordered[j].before;
      other_first = a.has_value() && b.has_value() && *a < *b;
    }
    out.push_back(std::move(other_first ? others[i++].value : ordered[j++].value));
  }
  return out;
}

absl::Status MergeObject(json::object& target, const json::object& patch, const SchemaNode* node,
                         const std::string& path);

// Drops the fields of `target` that $retainKeys does not name.
absl::Status RetainKeys(json::object& target, const json::object& patch, const std::string& path) {
  const json::value* directive = patch.if_contains(api::JsonView(kRetainKeys));
  if (directive == nullptr) return absl::OkStatus();
  if (!directive->is_array()) return Malformed(path, "$retainKeys must be a list");
  absl::flat_hash_set<absl::string_view> retained;
  for (const json::value& key : directive->get_array()) {
    if (key.is_string()) retained.insert(api::AbslView(key.get_string()));
  }
  for (const json::key_value_pair& member : patch) {
    if (!IsDirective(api::AbslView(member.key())) && !member.value().is_null() &&
        !retained.contains(api::AbslView(member.key()))) {
      return Malformed(
          path, absl::StrCat("$retainKeys does not name ", api::AbslView(member.key()), ", which the patch sets"));
    }
  }
  for (auto at = target.begin(); at != target.end();)
    at = retained.contains(api::AbslView(at->key())) ? at + 1 : api::EraseMember(target, at);
  return absl::OkStatus();
}

// Removes the elements of `list` that have the identity of one of `gone`.
void RemoveElements(json::array& list, const json::array& gone, const Identity& identity) {
  if (gone.empty()) return;
  const Places places(gone, identity);
  const auto is_gone = [&](const json::value& element) { return places.Find(element).has_value(); };
  list.erase(std::remove_if(list.begin(), list.end(), is_gone), list.end());
}

absl::Status DeleteFromPrimitiveLists(json::object& target, const json::object& patch, const std::string& path) {
  for (const json::key_value_pair& member : patch) {
    absl::string_view field = api::AbslView(member.key());
    if (!absl::ConsumePrefix(&field, kDeleteFrom)) continue;
    if (!member.value().is_array())
      return Malformed(path, absl::StrCat(api::AbslView(member.key()), " must be a list"));
    json::value* list = target.if_contains(api::JsonView(field));
    if (list == nullptr || !list->is_array()) continue;
    RemoveElements(list->get_array(), member.value().get_array(), Identity(""));
  }
  return absl::OkStatus();
}

// Elements that the patch removes are removed from `target`; true when it replaces the whole list.
absl::StatusOr<bool> ObeyElementDirectives(json::array& target, const json::array& patch, const Identity& identity,
                                           const std::string& path) {
  bool replace = false;
  json::array gone;
  for (std::size_t i = 0; i < patch.size(); ++i) {
    if (!patch[i].is_object()) continue;
    const std::string at = api::IndexPath(path, i);
    GW_ASSIGN_OR_RETURN(const absl::string_view directive, PatchDirective(patch[i].get_object(), at));
    if (directive == "replace") replace = true;
    if (directive != "delete") continue;
    if (!identity.Of(patch[i]).has_value()) return Malformed(at, "names no element: its merge key is missing");
    gone.push_back(patch[i]);
  }
  RemoveElements(target, gone, identity);
  return replace;
}

absl::Status MergeElements(json::array& target, const json::array& patch, const SchemaNode& node,
                           const Identity& identity, const std::string& path) {
  Places places(target, identity);
  for (std::size_t i = 0; i < patch.size(); ++i) {
    const json::value& element = patch[i];
    const json::value* directive =
        element.is_object() ? element.get_object().if_contains(api::JsonView(kPatch)) : nullptr;
    if (directive != nullptr && *directive != json::value("merge")) continue;
    const std::string at = api::IndexPath(path, i);
    if (!identity.Of(element).has_value()) {
      return NoKey(at, absl::StrCat("has no ", View(node.keys.merge_key), ", by which the list is merged"));
    }
    const std::optional<std::size_t> found = places.Find(element);
    if (!found.has_value()) {
      target.push_back(WithoutDirectives(element));
      places.Add(element);
    } else if (element.is_object() && target[*found].is_object()) {
      GW_RETURN_IF_ERROR(MergeObject(target[*found].get_object(), element.get_object(), node.element, at));
    }
  }
  return absl::OkStatus();
}

// What the patch lists must stand in $setElementOrder, in the same order.
absl::Status CheckElementOrder(const json::array& patch, const json::array& order, const Identity& identity,
                               const std::string& path) {
  const Places places(order, identity);
  std::size_t next = 0;
  for (const json::value& element : patch) {
    if (element.is_object() && element.get_object().contains(api::JsonView(kPatch))) continue;
    const std::optional<std::size_t> at = places.Find(element);
    if (!at.has_value() || *at < next)
      return Malformed(path, "the order of its elements differs from $setElementOrder");
    next = *at;
  }
  return absl::OkStatus();
}

// `order` is the field's $setElementOrder, or null.
absl::Status MergeList(json::array& target, const json::array& patch, const SchemaNode& node, const json::array* order,
                       const std::string& path) {
  const Identity identity(View(node.keys.merge_key));
  const json::array before = target;
  if (order != nullptr) GW_RETURN_IF_ERROR(CheckElementOrder(patch, *order, identity, path));
  GW_ASSIGN_OR_RETURN(const bool replace, ObeyElementDirectives(target, patch, identity, path));
  if (replace) target.clear();
  GW_RETURN_IF_ERROR(MergeElements(target, patch, node, identity, path));
  if (!replace) target = InOrder(std::move(target), order != nullptr ? *order : patch, before, identity);
  return absl::OkStatus();
}

absl::Status MergeMember(json::object& target, absl::string_view key, const json::value& patch, const SchemaNode* node,
                         const json::array* order, const std::string& path) {
  json::value* present = target.if_contains(api::JsonView(key));
  if (patch.is_null()) {
    if (present != nullptr) api::EraseMember(target, target.find(api::JsonView(key)));
    return absl::OkStatus();
  }
  if (patch.is_object()) {
    if (present == nullptr || !present->is_object()) {
      target[api::JsonView(key)] = WithoutDirectives(patch);
      return PatchDirective(patch.get_object(), path).status();
    }
    return MergeObject(present->get_object(), patch.get_object(), node, path);
  }
  if (patch.is_array() && node != nullptr && node->shape == Shape::kList && node->keys.merges) {
    if (present == nullptr || !present->is_array()) present = &(target[api::JsonView(key)] = json::array());
    return MergeList(present->get_array(), patch.get_array(), *node, order, path);
  }
  target[api::JsonView(key)] = WithoutDirectives(patch);
  return absl::OkStatus();
}

// Lists that the patch orders without changing an element.
absl::Status OrderUnpatchedLists(json::object& target, const json::object& patch, const SchemaNode* node,
                                 const std::string& path) {
  for (const json::key_value_pair& member : patch) {
    absl::string_view field = api::AbslView(member.key());
    if (!absl::ConsumePrefix(&field, kElementOrder)) continue;
    if (!member.value().is_array())
      return Malformed(path, absl::StrCat(api::AbslView(member.key()), " must be a list"));
    const SchemaNode* list = Below(node, field);
    json::value* present = target.if_contains(api::JsonView(field));
    if (patch.contains(api::JsonView(field)) || present == nullptr || !present->is_array() || list == nullptr ||
        !list->keys.merges) {
      continue;
    }
    const json::array before = present->get_array();
    *present = InOrder(before, member.value().get_array(), before, Identity(View(list->keys.merge_key)));
  }
  return absl::OkStatus();
}

absl::Status MergeObject(json::object& target, const json::object& patch, const SchemaNode* node,
                         const std::string& path) {
  GW_ASSIGN_OR_RETURN(const absl::string_view directive, PatchDirective(patch, path));
  if (directive == "delete") {
    target.clear();
    return absl::OkStatus();
  }
  if (directive == "replace") {
    target = std::move(WithoutDirectives(patch).get_object());
    return absl::OkStatus();
  }
  GW_RETURN_IF_ERROR(RetainKeys(target, patch, path));
  GW_RETURN_IF_ERROR(DeleteFromPrimitiveLists(target, patch, path));
  GW_RETURN_IF_ERROR(OrderUnpatchedLists(target, patch, node, path));
  for (const json::key_value_pair& member : patch) {
    const absl::string_view key = api::AbslView(member.key());
    if (IsDirective(key)) continue;
    const json::value* order = patch.if_contains(api::JsonView(absl::StrCat(kElementOrder, key)));
    GW_RETURN_IF_ERROR(MergeMember(target, key, member.value(), Below(node, key),
                                   order == nullptr ? nullptr : &order->get_array(), api::ChildPath(path, key)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status StrategicMergePatch(json::value& target, const json::value& patch, const Schema& schema) {
  if (!patch.is_object()) return Malformed("", "must be an object");
  if (!target.is_object()) target.emplace_object();
  return MergeObject(target.get_object(), patch.get_object(), schema.root, "");
}

}  // namespace gangway::schemas
