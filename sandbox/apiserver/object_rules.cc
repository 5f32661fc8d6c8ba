#include "sandbox/apiserver/object_rules.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/core/pod_validation.h"
#include "api/json.h"
#include "api/json_value.h"
#include "api/name.h"
#include "boost/json/array.hpp"
#include "sandbox/apiserver/facts.h"
#include "sandbox/apiserver/schemas/discovery.h"

namespace gangway::sandbox {
namespace {

namespace json = boost::json;
using api::FieldError;
using api::FieldErrors;

void Add(FieldErrors& errors, FieldError::Type type, absl::string_view field, absl::string_view value_json,
         absl::string_view rule) {
  errors.push_back({.type = type,
                    .field = std::string(field),
                    .value = std::string(value_json),
                    .rule = std::string(rule),
                    .fix = ""});
}
void AddInvalid(FieldErrors& errors, absl::string_view field, absl::string_view text, absl::string_view rule) {
  Add(errors, FieldError::Type::kInvalid, field, api::JsonString(text), rule);
}
void AddImmutable(FieldErrors& errors, absl::string_view field, const json::value* value) {
  Add(errors, FieldError::Type::kInvalid, field, value == nullptr ? "null" : api::ToJson(*value), "field is immutable");
}

api::Complaints CheckName(const api::Resource& resource, absl::string_view name) {
  if (&resource == &api::kServices) return api::CheckDns1035Label(name);
  if (&resource == &api::kNamespaces) return api::CheckDns1123Label(name);
  return api::CheckDns1123Subdomain(name);
}

void CheckNames(const api::Resource& resource, const json::object& metadata, FieldErrors& errors) {
  const absl::string_view name = FindText(metadata, "name");
  if (name.empty()) {
    Add(errors, FieldError::Type::kRequired, "metadata.name", "", "name or generateName is required");
    return;
  }
  for (const std::string& complaint : CheckName(resource, name)) AddInvalid(errors, "metadata.name", name, complaint);
}

void CheckFinalizers(const json::object& metadata, FieldErrors& errors) {
  const json::array* finalizers = FindArray(metadata, "finalizers");
  if (finalizers == nullptr) return;
  bool orphan = false, foreground = false;
  for (std::size_t i = 0; i < finalizers->size(); ++i) {
    if (!(*finalizers)[i].is_string()) continue;  // the schema's business
    const absl::string_view text = FromBjs((*finalizers)[i].get_string());
    orphan = orphan || text == kOrphanFinalizer;
    foreground = foreground || text == kForegroundFinalizer;
    for (const std::string& complaint : api::CheckQualifiedName(text)) {
      AddInvalid(errors, absl::StrCat("metadata.finalizers[", i, "]"), text, complaint);
    }
  }
  if (orphan && foreground) {
    Add(errors, FieldError::Type::kInvalid, "metadata.finalizers", api::ToJson(*finalizers),
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
    const std::string path = absl::StrCat("metadata.ownerReferences[", i, "]");
    for (const absl::string_view field : {"apiVersion", "kind", "name", "uid"}) {
      if (FindText(*owner, field).empty()) {
        Add(errors, FieldError::Type::kInvalid, absl::StrCat(path, ".", field), "\"\"", "must not be empty");
      }
    }
    if (BoolAt(*owner, "controller") && ++controllers == 2) {
      Add(errors, FieldError::Type::kInvalid, "metadata.ownerReferences", api::ToJson(*owners),
          "only one reference can have controller set to true");
    }
  }
}

void CheckEvent(const json::object& object, FieldErrors& errors) {
  const absl::string_view ns = TextAt(object, "metadata.namespace");
  const absl::string_view involved = TextAt(object, "involvedObject.namespace");
  const bool fits = involved.empty() ? ns == "default" || ns == "kube-system" : ns == involved;
  if (!fits) AddInvalid(errors, "involvedObject.namespace", involved, "does not match event.namespace");
}

void CheckPodParts(const api::Resource& resource, const json::object& object, FieldErrors& errors) {
  FieldErrors found;
  if (&resource == &api::kPods) {
    if (const json::value* spec = FindPath(object, "spec"); spec != nullptr) {
      found = api::core::CheckPodSpec(*spec, "spec");
    } else {
      Add(found, FieldError::Type::kRequired, "spec", "", "must have containers");
    }
  } else if (&resource == &api::kDeployments || &resource == &api::kReplicaSets || &resource == &api::kStatefulSets) {
    if (const json::value* pod = FindPath(object, "spec.template"); pod != nullptr) {
      found = api::core::CheckPodTemplate(*pod, "spec.template");
    }
  }
  errors.insert(errors.end(), found.begin(), found.end());
}

// --- changes

bool Same(const json::value* a, const json::value* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return Equal(*a, *b);
}

// Containers may change their image only; the list may not grow or shrink.
bool SameButImages(const json::value* before, const json::value* after) {
  if (before == nullptr || after == nullptr) return before == after;
  const json::array* a = before->if_array();
  const json::array* b = after->if_array();
  if (a == nullptr || b == nullptr || a->size() != b->size()) return false;
  for (std::size_t i = 0; i < a->size(); ++i) {
    if (!(*a)[i].is_object() || !(*b)[i].is_object()) return false;
    json::object x = (*a)[i].get_object();
    json::object y = (*b)[i].get_object();
    if (FindText(y, "image").empty()) return false;
    x.erase("image");
    y.erase("image");
    if (!Equal(x, y)) return false;
  }
  return true;
}

bool OnlyAdded(const json::value* before, const json::value* after) {
  if (before == nullptr) return true;
  const json::array* a = before->if_array();
  const json::array* b = after == nullptr ? nullptr : after->if_array();
  if (a == nullptr) return false;
  return std::all_of(a->begin(), a->end(), [&](const json::value& each) {
    return b != nullptr &&
           std::any_of(b->begin(), b->end(), [&](const json::value& other) { return Equal(each, other); });
  });
}

bool OnlyRemoved(const json::value* before, const json::value* after) {
  return after == nullptr || OnlyAdded(after, before);
}

void CheckPodChange(const json::object& before, const json::object& after, FieldErrors& errors) {
  const json::object* a = FindObject(before, "spec");
  const json::object* b = FindObject(after, "spec");
  if (a == nullptr || b == nullptr || Equal(*a, *b)) return;
  std::vector<std::string> changed;
  const auto judge = [&](absl::string_view name) {
    const json::value* x = a->if_contains(Bjs(name));
    const json::value* y = b->if_contains(Bjs(name));
    const bool fine = name == "containers" || name == "initContainers" ? SameButImages(x, y)
                      : name == "tolerations"                          ? OnlyAdded(x, y)
                      : name == "schedulingGates"                      ? OnlyRemoved(x, y)
                      : name == "activeDeadlineSeconds"                ? y != nullptr
                                                                       : Same(x, y);
    if (!fine) changed.push_back(absl::StrCat("spec.", name));
  };
  for (const auto& member : *a) {
    if (!Same(&member.value(), b->if_contains(member.key()))) judge(FromBjs(member.key()));
  }
  for (const auto& member : *b) {
    if (!a->contains(member.key())) judge(FromBjs(member.key()));
  }
  if (changed.empty()) return;
  std::sort(changed.begin(), changed.end());
  Add(errors, FieldError::Type::kForbidden, "spec", "",
      absl::StrCat("pod updates may not change fields other than `spec.containers[*].image`, "
                   "`spec.initContainers[*].image`, `spec.activeDeadlineSeconds`, `spec.tolerations` (only additions) "
                   "and `spec.schedulingGates` (only removals); changed: ",
                   absl::StrJoin(changed, ", ")));
}

void CheckDataChange(const api::Resource& resource, const json::object& before, const json::object& after,
                     FieldErrors& errors) {
  if (&resource == &api::kSecrets && !Same(FindPath(before, "type"), FindPath(after, "type"))) {
    AddImmutable(errors, "type", FindPath(after, "type"));
  }
  if (!BoolAt(before, "immutable")) return;
  if (!BoolAt(after, "immutable")) {
    Add(errors, FieldError::Type::kForbidden, "immutable", "", "field is immutable when `immutable` is set");
  }
  for (const absl::string_view field : {"data", "binaryData", "stringData"}) {
    if (!Same(FindPath(before, field), FindPath(after, field))) {
      Add(errors, FieldError::Type::kForbidden, field, "", "field is immutable when `immutable` is set");
    }
  }
}

void CheckMetadataChange(const json::object& before, const json::object& after, FieldErrors& errors) {
  for (const absl::string_view field : {"metadata.uid", "metadata.creationTimestamp", "metadata.deletionTimestamp",
                                        "metadata.deletionGracePeriodSeconds"}) {
    if (!Same(FindPath(before, field), FindPath(after, field))) AddImmutable(errors, field, FindPath(after, field));
  }
  if (TextAt(before, "metadata.deletionTimestamp").empty()) return;
  const json::object* metadata = FindObject(after, "metadata");
  const json::array* finalizers = metadata == nullptr ? nullptr : FindArray(*metadata, "finalizers");
  if (finalizers == nullptr) return;
  for (const json::value& each : *finalizers) {
    if (each.is_string() && !HasFinalizer(before, FromBjs(each.get_string()))) {
      Add(errors, FieldError::Type::kForbidden, "metadata.finalizers", "",
          absl::StrCat("no new finalizers can be added if the object is being deleted, found new finalizer ",
                       api::ToJson(each)));
    }
  }
}

}  // namespace

bool HasGeneration(const api::Resource& resource) {
  if (resource.group.find('.') != std::string_view::npos && resource.group.find("volcano.sh") != std::string_view::npos) {
    return true;
  }
  return &resource == &api::kPods || &resource == &api::kDeployments || &resource == &api::kReplicaSets ||
         &resource == &api::kStatefulSets || &resource == &api::kPodDisruptionBudgets ||
         &resource == &api::kNetworkPolicies || &resource == &api::kPriorityClasses;
}

bool HasStatusSubresource(const api::Resource& resource) { return FindSubresource(resource, "status") != nullptr; }

FieldErrors CheckObject(const api::Resource& resource, const json::object& object, bool is_new) {
  FieldErrors errors;
  static const json::object kEmpty;
  const json::object* found = FindObject(object, "metadata");
  const json::object& metadata = found == nullptr ? kEmpty : *found;
  if (is_new) CheckNames(resource, metadata, errors);
  if (const json::value* value = object.if_contains("metadata"); value != nullptr) {
    api::core::CheckLabelsAndAnnotations(*value, "metadata", errors);
  }
  CheckFinalizers(metadata, errors);
  CheckOwners(metadata, errors);
  if (is_new) {
    CheckPodParts(resource, object, errors);
    if (&resource == &api::kEvents) CheckEvent(object, errors);
  }
  return errors;
}

FieldErrors CheckChange(const api::Resource& resource, const json::object& before, const json::object& after) {
  FieldErrors errors;
  CheckMetadataChange(before, after, errors);
  if (&resource == &api::kPods) CheckPodChange(before, after, errors);
  if (&resource == &api::kConfigMaps || &resource == &api::kSecrets) CheckDataChange(resource, before, after, errors);
  const auto immutable = [&](absl::string_view field) {
    if (!Same(FindPath(before, field), FindPath(after, field))) AddImmutable(errors, field, FindPath(after, field));
  };
  if (&resource == &api::kPriorityClasses) immutable("value");
  if (&resource == &api::kServices && !TextAt(before, "spec.clusterIP").empty()) immutable("spec.clusterIP");
  if (&resource == &api::kDeployments || &resource == &api::kReplicaSets || &resource == &api::kStatefulSets) {
    immutable("spec.selector");
    if (SpecChanged(resource, before, after)) CheckPodParts(resource, after, errors);
  }
  return errors;
}

bool SpecChanged(const api::Resource& resource, const json::object& before, const json::object& after) {
  const bool status_apart = HasStatusSubresource(resource);
  const auto counts = [&](json::string_view key) { return key != "metadata" && !(status_apart && key == "status"); };
  for (const auto& member : before) {
    if (counts(member.key()) && !Same(&member.value(), after.if_contains(member.key()))) return true;
  }
  for (const auto& member : after) {
    if (counts(member.key()) && !before.contains(member.key())) return true;
  }
  return false;
}

}  // namespace gangway::sandbox
