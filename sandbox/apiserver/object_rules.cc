#include "sandbox/apiserver/object_rules.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/cluster_resources.h"
#include "api/core/pod_validation.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/kinds/kinds.h"
#include "api/name.h"
#include "boost/json/array.hpp"
#include "sandbox/apiserver/facts.h"
#include "sandbox/apiserver/refusal.h"
#include "sandbox/apiserver/served_kind.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;
using api::FieldError;
using api::FieldErrors;

void AddInvalid(FieldErrors& errors, absl::string_view field, absl::string_view text, absl::string_view rule) {
  AddError(errors, FieldError::Type::kInvalid, field, api::JsonString(text), rule);
}
void AddImmutable(FieldErrors& errors, absl::string_view field, const json::value* value) {
  AddError(errors, FieldError::Type::kInvalid, field, value == nullptr ? "null" : api::ToJson(*value),
           "field is immutable");
}

void CheckNames(const api::Resource& resource, const json::object& metadata, FieldErrors& errors) {
  if (const absl::string_view base = FindText(metadata, "generateName"); !base.empty()) {
    // The dash at its end will have letters behind it.
    const std::string whole =
        base.back() == '-' && base.size() > 1 ? absl::StrCat(base.substr(0, base.size() - 1), "a") : std::string(base);
    for (const std::string& complaint : ServedAs(resource).check_name(whole))
      AddInvalid(errors, "metadata.generateName", base, complaint);
  }
  const absl::string_view name = FindText(metadata, "name");
  if (name.empty()) {
    AddError(errors, FieldError::Type::kRequired, "metadata.name", "", "name or generateName is required");
    return;
  }
  for (const std::string& complaint : ServedAs(resource).check_name(name))
    AddInvalid(errors, "metadata.name", name, complaint);
}

// pkg/apis/core/validation: ValidateFinalizerName
bool IsFinalizerOfCore(absl::string_view text) {
  return absl::StrContains(text, '/') || text == "kubernetes" || text == kOrphanFinalizer ||
         text == kForegroundFinalizer;
}

void CheckFinalizers(const api::Resource& resource, const json::object& metadata, bool is_new, FieldErrors& errors) {
  const json::array* finalizers = FindArray(metadata, "finalizers");
  if (finalizers == nullptr) return;
  bool orphan = false, foreground = false;
  for (std::size_t i = 0; i < finalizers->size(); ++i) {
    if (!(*finalizers)[i].is_string()) continue;  // the schema's business
    const absl::string_view text = AbslView((*finalizers)[i].get_string());
    orphan = orphan || text == kOrphanFinalizer;
    foreground = foreground || text == kForegroundFinalizer;
    const std::string path = absl::StrCat("metadata.finalizers[", i, "]");
    for (const std::string& complaint : api::CheckQualifiedName(text)) AddInvalid(errors, path, text, complaint);
    const bool core = !api::IsCustom(resource) && &resource != &api::kCustomResourceDefinitions;
    if (is_new && core && !IsFinalizerOfCore(text)) {
      AddInvalid(errors, path, text, "name is neither a standard finalizer name nor is it fully qualified");
    }
  }
  if (orphan && foreground) {
    AddError(errors, FieldError::Type::kInvalid, "metadata.finalizers", api::ToJson(*finalizers),
             "finalizers orphan and foregroundDeletion cannot be both set");
  }
}

void CheckOwners(const json::object& metadata, FieldErrors& errors) {
  const json::array* owners = FindArray(metadata, "ownerReferences");
  if (owners == nullptr) return;
  int controllers = 0;
  for (std::size_t i = 0; i < owners->size(); ++i) {
    const json::object* owner = (*owners)[i].if_object();
    if (owner == nullptr) continue;
    for (const absl::string_view field : {"apiVersion", "kind", "name", "uid"}) {
      if (FindText(*owner, field).empty()) {
        AddError(errors, FieldError::Type::kInvalid, absl::StrCat("metadata.ownerReferences.", field), "\"\"",
                 "must not be empty");
      }
    }
    if (BoolAt(*owner, "controller") && ++controllers == 2) {
      AddError(errors, FieldError::Type::kInvalid, "metadata.ownerReferences", api::ToJson(*owners),
               "only one reference can have controller set to true");
    }
  }
}

void CheckPodParts(const api::Resource& resource, const json::object& object, FieldErrors& errors) {
  FieldErrors found;
  if (&resource == &api::kPods) {
    if (const json::value* spec = FindPath(object, "spec"); spec != nullptr) {
      found = api::core::CheckPodSpec(*spec, "spec");
    } else {
      AddError(found, FieldError::Type::kRequired, "spec", "", "must have containers");
    }
  } else if (ServedAs(resource).pod_template) {
    const json::value* pod = FindPath(object, "spec.template");
    found = api::core::CheckPodTemplate(pod == nullptr ? json::value() : *pod, "spec.template");
  }
  errors.insert(errors.end(), found.begin(), found.end());
}

// --- changes

void CheckMetadataChange(const json::object& before, const json::object& after, FieldErrors& errors) {
  for (const absl::string_view field : {"metadata.uid", "metadata.creationTimestamp", "metadata.deletionTimestamp",
                                        "metadata.deletionGracePeriodSeconds"}) {
    if (!Equal(FindPath(before, field), FindPath(after, field))) AddImmutable(errors, field, FindPath(after, field));
  }
  if (TextAt(before, "metadata.deletionTimestamp").empty()) return;
  const json::object* metadata = FindObject(after, "metadata");
  const json::array* finalizers = metadata == nullptr ? nullptr : FindArray(*metadata, "finalizers");
  if (finalizers == nullptr) return;
  absl::flat_hash_set<absl::string_view> known;
  if (const json::value* list = FindPath(before, "metadata.finalizers"); list != nullptr && list->is_array()) {
    for (const json::value& each : list->get_array()) {
      if (each.is_string()) known.insert(AbslView(each.get_string()));
    }
  }
  std::vector<std::string> fresh;
  for (const json::value& each : *finalizers) {
    if (each.is_string() && !known.contains(AbslView(each.get_string()))) fresh.push_back(api::ToJson(each));
  }
  if (fresh.empty()) return;
  AddError(errors, FieldError::Type::kForbidden, "metadata.finalizers", "",
           absl::StrCat("no new finalizers can be added if the object is being deleted, found new finalizers []string{",
                        absl::StrJoin(fresh, ", "), "}"));
}

}  // namespace

void DropEmptyMetadata(json::object& metadata) {
  for (const absl::string_view field : {"labels", "annotations", "finalizers", "ownerReferences"}) {
    const json::value* value = metadata.if_contains(JsonView(field));
    if (value == nullptr) continue;
    const bool empty =
        (value->is_object() && value->get_object().empty()) || (value->is_array() && value->get_array().empty());
    if (empty) metadata.erase(JsonView(field));
  }
}

bool HasStatusSubresource(const api::Resource& resource) { return api::RowOf(resource).status; }

FieldErrors CheckObject(const api::Resource& resource, const json::object& object, bool is_new) {
  FieldErrors errors;
  static const json::object kEmpty;
  const json::object* found = FindObject(object, "metadata");
  const json::object& metadata = found == nullptr ? kEmpty : *found;
  if (is_new) CheckNames(resource, metadata, errors);
  if (const json::value* value = object.if_contains("metadata"); value != nullptr) {
    api::core::CheckLabelsAndAnnotations(*value, "metadata", errors);
  }
  CheckFinalizers(resource, metadata, is_new, errors);
  CheckOwners(metadata, errors);
  const ServedKind& served = ServedAs(resource);
  if (served.check != nullptr) served.check(object, errors);
  if (is_new) {
    CheckPodParts(resource, object, errors);
    if (served.check_new != nullptr) served.check_new(object, errors);
  }
  return errors;
}

FieldErrors CheckChange(const api::Resource& resource, const json::object& before, const json::object& after) {
  FieldErrors errors;
  CheckMetadataChange(before, after, errors);
  const ServedKind& served = ServedAs(resource);
  if (served.check_change != nullptr) served.check_change(before, after, errors);
  const auto immutable = [&](absl::string_view field) {
    if (!Equal(FindPath(before, field), FindPath(after, field))) AddImmutable(errors, field, FindPath(after, field));
  };
  if (served.pod_template && &resource != &api::kBatchJobs) {
    immutable("spec.selector");
    if (SpecChanged(resource, before, after)) CheckPodParts(resource, after, errors);
  }
  return errors;
}

bool SpecChanged(const api::Resource& resource, const json::object& before, const json::object& after) {
  const bool status_apart = HasStatusSubresource(resource);
  const auto counts = [&](json::string_view key) { return key != "metadata" && !(status_apart && key == "status"); };
  for (const auto& member : before) {
    if (counts(member.key()) && !Equal(&member.value(), after.if_contains(member.key()))) return true;
  }
  for (const auto& member : after) {
    if (counts(member.key()) && !before.contains(member.key())) return true;
  }
  return false;
}

}  // namespace gangway::sandbox
