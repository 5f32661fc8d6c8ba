#include "sandbox/apiserver/schemas/strategic_merge.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "api/field_error.h"
#include "base/status_macros.h"
#include "base/strings.h"
#include "boost/json.hpp"
#include "sandbox/apiserver/schemas/schema_node.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;

constexpr absl::string_view kPatch = "$patch", kRetainKeys = "$retainKeys";
constexpr absl::string_view kDeleteFrom = "$deleteFromPrimitiveList/", kElementOrder = "$setElementOrder/";

absl::string_view Text(const json::string& s) { return {s.data(), s.size()}; }
absl::string_view KeyOf(const json::key_value_pair& member) { return {member.key().data(), member.key().size()}; }
json::string_view Key(absl::string_view key) { return {key.data(), key.size()}; }

bool IsDirective(absl::string_view key) {
  return key == kPatch || key == kRetainKeys || absl::StartsWith(key, kDeleteFrom) || absl::StartsWith(key, kElementOrder);
}

absl::Status Malformed(absl::string_view path, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("strategic merge patch: ", path, path.empty() ? "" : ": ", what));
}

// The value of $patch; "" when there is none. `directive` "merge" is what happens anyway.
absl::StatusOr<absl::string_view> PatchDirective(const json::object& patch, absl::string_view path) {
  const json::value* directive = patch.if_contains(Key(kPatch));
  if (directive == nullptr) return absl::string_view();
  if (directive->is_string()) {
    const absl::string_view text = Text(directive->get_string());
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
      if (IsDirective(KeyOf(member)) || member.value().is_null()) continue;
      out.emplace(member.key(), WithoutDirectives(member.value()));
    }
    return out;
  }
  if (patch.is_array()) {
    json::array out;
    for (const json::value& element : patch.get_array()) {
      const json::value* directive = element.is_object() ? element.get_object().if_contains(Key(kPatch)) : nullptr;
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

  // nullptr: the element has no key.
  const json::value* Of(const json::value& element) const {
    if (merge_key_.empty()) return &element;
    return element.is_object() ? element.get_object().if_contains(Key(merge_key_)) : nullptr;
  }
  std::optional<std::size_t> IndexIn(const json::array& list, const json::value& element) const {
    const json::value* id = Of(element);
    if (id == nullptr) return std::nullopt;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const json::value* other = Of(list[i]);
      if (other != nullptr && *other == *id) return i;
    }
    return std::nullopt;
  }

 private:
  const absl::string_view merge_key_;
};

void SortByOrder(std::vector<json::value>& items, const json::array& order, const Identity& identity) {
  std::vector<std::pair<std::size_t, json::value>> keyed;
  for (json::value& item : items) {
    const std::size_t at = identity.IndexIn(order, item).value_or(order.size());
    keyed.emplace_back(at, std::move(item));
  }
  std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = std::move(keyed[i].second);
}

// Elements that the patch orders come in its order; the others keep their places relative to what stood before them in `before`
// (apimachinery: strategicpatch, normalizeElementOrder and mergeSortedSlice).
json::array InOrder(json::array merged, const json::array& patch_order, const json::array& before, const Identity& identity) {
  std::vector<json::value> ordered, others;
  for (json::value& item : merged) {
    (identity.IndexIn(patch_order, item).has_value() ? ordered : others).push_back(std::move(item));
  }
  SortByOrder(ordered, patch_order, identity);
  SortByOrder(others, before, identity);
  json::array out;
  std::size_t i = 0, j = 0;
  while (i < others.size() || j < ordered.size()) {
    bool other_first = j == ordered.size();
    if (!other_first && i < others.size()) {
      const std::optional<std::size_t> a = identity.IndexIn(before, others[i]), b = identity.IndexIn(before, ordered[j]);
      other_first = a.has_value() && b.has_value() && *a < *b;
    }
    out.push_back(std::move(other_first ? others[i++] : ordered[j++]));
  }
  return out;
}

absl::Status MergeObject(json::object& target, const json::object& patch, const SchemaNode* node, const std::string& path);

// Drops the fields of `target` that $retainKeys does not name.
absl::Status RetainKeys(json::object& target, const json::object& patch, const std::string& path) {
  const json::value* directive = patch.if_contains(Key(kRetainKeys));
  if (directive == nullptr) return absl::OkStatus();
  if (!directive->is_array()) return Malformed(path, "$retainKeys must be a list");
  const json::array& keys = directive->get_array();
  const auto retained = [&](absl::string_view key) {
    return std::any_of(keys.begin(), keys.end(),
                       [&](const json::value& k) { return k.is_string() && Text(k.get_string()) == key; });
  };
  for (const json::key_value_pair& member : patch) {
    if (!IsDirective(KeyOf(member)) && !member.value().is_null() && !retained(KeyOf(member))) {
      return Malformed(path, absl::StrCat("$retainKeys does not name ", KeyOf(member), ", which the patch sets"));
    }
  }
  for (auto at = target.begin(); at != target.end();) at = retained(KeyOf(*at)) ? at + 1 : target.stable_erase(at);
  return absl::OkStatus();
}

absl::Status DeleteFromPrimitiveLists(json::object& target, const json::object& patch, const std::string& path) {
  for (const json::key_value_pair& member : patch) {
    absl::string_view field = KeyOf(member);
    if (!absl::ConsumePrefix(&field, kDeleteFrom)) continue;
    if (!member.value().is_array()) return Malformed(path, absl::StrCat(KeyOf(member), " must be a list"));
    json::value* list = target.if_contains(Key(field));
    if (list == nullptr || !list->is_array()) continue;
    json::array& values = list->get_array();
    for (const json::value& gone : member.value().get_array()) {
      values.erase(std::remove(values.begin(), values.end(), gone), values.end());
    }
  }
  return absl::OkStatus();
}

// Elements that the patch removes are removed from `target`; true when it replaces the whole list.
absl::StatusOr<bool> ObeyElementDirectives(json::array& target, const json::array& patch, const Identity& identity,
                                           const std::string& path) {
  bool replace = false;
  for (std::size_t i = 0; i < patch.size(); ++i) {
    if (!patch[i].is_object()) continue;
    const std::string at = api::IndexPath(path, i);
    GW_ASSIGN_OR_RETURN(const absl::string_view directive, PatchDirective(patch[i].get_object(), at));
    if (directive == "replace") replace = true;
    if (directive != "delete") continue;
    if (identity.Of(patch[i]) == nullptr) return Malformed(at, "names no element: its merge key is missing");
    while (const std::optional<std::size_t> found = identity.IndexIn(target, patch[i])) {
      target.erase(target.begin() + static_cast<std::ptrdiff_t>(*found));
    }
  }
  return replace;
}

absl::Status MergeElements(json::array& target, const json::array& patch, const SchemaNode& node, const Identity& identity,
                           const std::string& path) {
  for (std::size_t i = 0; i < patch.size(); ++i) {
    const json::value& element = patch[i];
    const json::value* directive = element.is_object() ? element.get_object().if_contains(Key(kPatch)) : nullptr;
    if (directive != nullptr && *directive != json::value("merge")) continue;
    const std::string at = api::IndexPath(path, i);
    if (identity.Of(element) == nullptr) {
      return Malformed(at, absl::StrCat("has no ", View(node.keys.merge_key), ", by which the list is merged"));
    }
    const std::optional<std::size_t> found = identity.IndexIn(target, element);
    if (!found.has_value()) {
      target.push_back(WithoutDirectives(element));
    } else if (element.is_object() && target[*found].is_object()) {
      GW_RETURN_IF_ERROR(MergeObject(target[*found].get_object(), element.get_object(), node.element, at));
    }
  }
  return absl::OkStatus();
}

// What the patch lists must stand in $setElementOrder, in the same order.
absl::Status CheckElementOrder(const json::array& patch, const json::array& order, const Identity& identity,
                               const std::string& path) {
  std::size_t next = 0;
  for (const json::value& element : patch) {
    if (element.is_object() && element.get_object().contains(Key(kPatch))) continue;
    const std::optional<std::size_t> at = identity.IndexIn(order, element);
    if (!at.has_value() || *at < next) return Malformed(path, "the order of its elements differs from $setElementOrder");
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
  json::value* present = target.if_contains(Key(key));
  if (patch.is_null()) {
    if (present != nullptr) target.stable_erase(target.find(Key(key)));
    return absl::OkStatus();
  }
  if (patch.is_object()) {
    if (present == nullptr || !present->is_object()) {
      target[Key(key)] = WithoutDirectives(patch);
      return PatchDirective(patch.get_object(), path).status();
    }
    return MergeObject(present->get_object(), patch.get_object(), node, path);
  }
  if (patch.is_array() && node != nullptr && node->shape == Shape::kList && node->keys.merges) {
    if (present == nullptr || !present->is_array()) present = &(target[Key(key)] = json::array());
    return MergeList(present->get_array(), patch.get_array(), *node, order, path);
  }
  target[Key(key)] = WithoutDirectives(patch);
  return absl::OkStatus();
}

// Lists that the patch orders without changing an element.
absl::Status OrderUnpatchedLists(json::object& target, const json::object& patch, const SchemaNode* node,
                                 const std::string& path) {
  for (const json::key_value_pair& member : patch) {
    absl::string_view field = KeyOf(member);
    if (!absl::ConsumePrefix(&field, kElementOrder)) continue;
    if (!member.value().is_array()) return Malformed(path, absl::StrCat(KeyOf(member), " must be a list"));
    const SchemaNode* list = Below(node, field);
    json::value* present = target.if_contains(Key(field));
    if (patch.contains(Key(field)) || present == nullptr || !present->is_array() || list == nullptr || !list->keys.merges) {
      continue;
    }
    const json::array before = present->get_array();
    *present = InOrder(before, member.value().get_array(), before, Identity(View(list->keys.merge_key)));
  }
  return absl::OkStatus();
}

absl::Status MergeObject(json::object& target, const json::object& patch, const SchemaNode* node, const std::string& path) {
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
    const absl::string_view key = KeyOf(member);
    if (IsDirective(key)) continue;
    const json::value* order = patch.if_contains(Key(absl::StrCat(kElementOrder, key)));
    GW_RETURN_IF_ERROR(MergeMember(target, key, member.value(), Below(node, key), order == nullptr ? nullptr : &order->get_array(),
                                   api::ChildPath(path, key)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status StrategicMergePatch(json::value& target, const json::value& patch, const Schema& schema) {
  if (!patch.is_object()) return Malformed("", "must be an object");
  if (!target.is_object()) target.emplace_object();
  return MergeObject(target.get_object(), patch.get_object(), schema.root, "");
}

}  // namespace gangway::sandbox
