#include "sandbox/apiserver/facts.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "boost/json/array.hpp"
#include "sandbox/apiserver/served_kind.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;

void AddField(absl::string_view field, const json::object& object, PackedPairs& out) {
  const json::value* value = FindPath(object, field == "source" ? "source.component" : field);
  if (value == nullptr) return;
  if (value->is_string()) {
    if (!value->get_string().empty()) out.Add(field, AbslView(value->get_string()));
  } else if (value->is_bool()) {
    if (value->get_bool()) out.Add(field, "true");
  } else if (value->is_int64()) {
    out.Add(field, absl::StrCat(value->get_int64()));
  }
}

void ReadMetadata(const json::object& metadata, Record& record) {
  record.key = {std::string(FindText(metadata, "namespace")), std::string(FindText(metadata, "name"))};
  record.uid = std::string(FindText(metadata, "uid"));
  record.deleting = !FindText(metadata, "deletionTimestamp").empty();
  if (const json::object* labels = FindObject(metadata, "labels"); labels != nullptr) {
    for (const auto& label : *labels) {
      if (label.value().is_string()) record.labels.Add(AbslView(label.key()), AbslView(label.value().get_string()));
    }
  }
  if (const json::array* owners = FindArray(metadata, "ownerReferences"); owners != nullptr) {
    for (const json::value& owner : *owners) {
      if (!owner.is_object()) continue;
      const absl::string_view uid = FindText(owner.get_object(), "uid");
      if (!uid.empty()) record.owner_uids.emplace_back(uid);
    }
  }
}

// Selectors speak of booleans as "true" and "false"; what is absent or false is not kept.
bool IsFlag(absl::string_view field) { return field == "spec.unschedulable" || field == "spec.hostNetwork"; }

}  // namespace

bool HasFinalizer(const json::object& object, absl::string_view finalizer) {
  const json::object* metadata = FindObject(object, "metadata");
  const json::array* finalizers = metadata == nullptr ? nullptr : FindArray(*metadata, "finalizers");
  if (finalizers == nullptr) return false;
  return std::any_of(finalizers->begin(), finalizers->end(), [&](const json::value& each) {
    return each.is_string() && AbslView(each.get_string()) == finalizer;
  });
}

void ReadFacts(const api::Resource& resource, const json::object& object, Record& record) {
  record.resource = &resource;
  if (const json::object* metadata = FindObject(object, "metadata"); metadata != nullptr) {
    ReadMetadata(*metadata, record);
  }
  record.collecting = HasFinalizer(object, kForegroundFinalizer) || HasFinalizer(object, kOrphanFinalizer);
  // What may be asked of a declared kind changes with its definition: it is read from the bytes.
  if (resource.declared != nullptr) return;
  for (const absl::string_view field : ServedAs(resource).field_labels) AddField(field, object, record.fields);
}

bool HasFieldLabel(const api::Resource& resource, absl::string_view field) {
  if (field == "metadata.name") return true;
  if (field == "metadata.namespace") return resource.namespaced;
  const absl::Span<const absl::string_view> fields = ServedAs(resource).field_labels;
  return std::find(fields.begin(), fields.end(), field) != fields.end();
}

bool Selects(const api::LabelSelector& labels, const api::FieldSelector& fields, const Record& record) {
  if (!fields.selects_everything()) {
    PackedPairs read;
    if (record.resource->declared != nullptr) {
      const Draft draft = Draft::OfStored(*record.json);
      for (const auto& requirement : fields.requirements()) AddField(requirement.field, draft.object(), read);
    }
    const PackedPairs& pairs = record.resource->declared != nullptr ? read : record.fields;
    const bool matches = fields.Matches([&](absl::string_view field) -> std::string {
      if (field == "metadata.name") return record.key.name;
      if (field == "metadata.namespace") return record.key.ns;
      const absl::string_view value = pairs.Get(field);
      return value.empty() && IsFlag(field) ? "false" : std::string(value);
    });
    if (!matches) return false;
  }
  if (labels.selects_everything()) return true;
  std::string scratch;
  absl::flat_hash_map<absl::string_view, absl::string_view> all;
  const bool mapped = record.labels.is_long() && labels.requirements().size() > 1;
  if (mapped) all = record.labels.ToMap();
  return labels.MatchesWith([&](const std::string& key) -> const std::string* {
    absl::string_view value;
    if (mapped) {
      const auto found = all.find(key);
      if (found == all.end()) return nullptr;
      value = found->second;
    } else if (!record.labels.Find(key, &value)) {
      return nullptr;
    }
    scratch.assign(value.data(), value.size());
    return &scratch;
  });
}

}  // namespace gangway::sandbox
